/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a sample's fields, and what JSON and CSV have in common in writing them. */
#include "export/script_data.h"

#include <string.h>

enum { MAX_WHO = 1024 };    /* more than comm, pid and tid take, and what a call wants of room */

static const struct layout *layout(const struct script_line *l)
{
	return &l->s->event->layout;
}

static uint64_t word_at(const struct script_line *l, uint8_t at)
{
	return at ? layout_u64(l->s->view.rec, at) : 0;
}

/* ---- parts at fixed places --------------------------------------------------------- */

#define NUMBER(name, value)                                                                        \
	int64_t script_##name(struct script_line *l)                                               \
	{                                                                                          \
		return (int64_t)(value);                                                           \
	}

NUMBER(pid, l->s->pid)
NUMBER(tid, pidmap_shown(l->s->tid))
NUMBER(cpu, (int32_t)l->s->cpu)
NUMBER(time, l->s->time)
NUMBER(realtime, l->s->time + (uint64_t)stream_realtime_offset(l->a->stream))
NUMBER(period, l->period)
NUMBER(addr, word_at(l, layout(l)->addr))
NUMBER(ip, word_at(l, layout(l)->ip))
NUMBER(id, word_at(l, layout(l)->identifier ? layout(l)->identifier : layout(l)->id))

/* perf's name for unknown threads. */
const char *script_comm(struct script_line *l)
{
	const char *comm = analysis_comm(l->a, l->s->tid);

	if (__builtin_expect(*comm != '<' || !comms_is_unknown(comm) || !pidmap_has_number(l->s->tid), 1))
		return comm;
	snprintf(l->unknown, sizeof(l->unknown), ":%d", (int)pidmap_shown(l->s->tid));
	return l->unknown;
}

const char *script_event_name(struct script_line *l)
{
	return l->event->event->name;
}

const char *script_misc(struct script_line *l)
{
	static const char *const modes[] = { "", "K", "U", "H", "G", "g", "", "" };

	return modes[l->s->view.rec->misc & PERF_RECORD_MISC_CPUMODE_MASK];
}

void script_put_who(struct script_line *l, script_put_fn *write, uint32_t kind)
{
	const struct analysis_sample *s = l->s;
	struct script_who *w = &l->who[(uint32_t)s->tid % SCRIPT_NWHO];
	uint64_t changes = comms_changes(l->a->names.comms);
	size_t begin;

	if (__builtin_expect(w->tid == s->tid && w->pid == s->pid && w->kind == kind && w->changes == changes, 1)) {
		outbuf_short(l->out, w->text, w->len, sizeof(w->text));
		return;
	}
	outbuf_room(l->out, MAX_WHO);
	begin = l->out->len;
	write(l);
	w->len = (uint32_t)(l->out->len - begin);
	w->pid = s->pid;
	w->tid = s->tid;
	w->changes = comms_changes(l->a->names.comms);   /* the lookup can change it */
	w->kind = w->len <= sizeof(w->text) ? kind : 0;
	if (w->kind)
		memcpy(w->text, l->out->buf + begin, w->len);
}

/* ---- decoded parts ----------------------------------------------------------------- */

const struct pev_sample *script_sample(struct script_line *l)
{
	const struct perf_event_header *rec = l->s->view.rec;
	const struct script_event *own = l->s->event->consumer;   /* the leader's, not the group member's */

	if (!l->decoded)
		l->fits = !pev_decode(rec, rec->size, &own->format, &l->rec);
	l->decoded = true;
	return l->fits ? &l->rec.sample : NULL;
}

#define DECODED(name, member)                                                                      \
	int64_t script_##name(struct script_line *l)                                               \
	{                                                                                          \
		const struct pev_sample *s = script_sample(l);                                     \
                                                                                                   \
		return s ? (int64_t)s->member : 0;                                                 \
	}

DECODED(data_src, data_src)
DECODED(ins_lat, weight.var2)
DECODED(phys_addr, phys_addr)
DECODED(data_page_size, data_page_size)
DECODED(code_page_size, code_page_size)
DECODED(transaction, transaction)
DECODED(cgroup, cgroup)

const struct pev_regs *script_regs(struct script_line *l, bool user)
{
	const struct pev_sample *s = script_sample(l);

	return !s ? NULL : user ? &s->regs_user : &s->regs_intr;
}

/* With WEIGHT_STRUCT it is the lower half. */
int64_t script_weight(struct script_line *l)
{
	const struct pev_sample *s = script_sample(l);

	if (!s)
		return 0;
	return (int64_t)(l->event->parts & PERF_SAMPLE_WEIGHT_STRUCT ? s->weight.var1 : s->weight.full);
}

/* ---- names of addresses ------------------------------------------------------------ */

void script_name_address(struct script_line *l, const struct chain_address *a, struct resolve_site *site,
			 struct resolve_words *words)
{
	const struct names *names = &l->a->names;

	*site = resolve_site(names->maps, a, l->s->pid, l->s->time);
	resolve_words(names->symbolizer, a, site, words);
}

void script_name_ip(struct script_line *l)
{
	uint64_t ip = (uint64_t)script_ip(l);

	if (l->named)
		return;
	l->named = true;
	l->ip = (struct chain_address){ ip, ip - (ip && names_is_return(l->s->event)), chain_place_of(l->s->view.rec->misc) };
	script_name_address(l, &l->ip, &l->site, &l->words);
}

const char *script_sym(struct script_line *l)
{
	script_name_ip(l);
	return l->words.symbol;
}

const char *script_dso(struct script_line *l)
{
	script_name_ip(l);
	return l->words.dso;
}

bool script_file_offset(const struct chain_address *a, const struct resolve_site *site, uint64_t *offset)
{
	const char *name = site->dso ? dso_name(site->dso) : "";

	*offset = site->at + (a->ip - a->at);
	return (*name == '/' && !dso_is_anonymous(name)) || !strcmp(name, "[vdso]");
}

size_t script_inlines(struct script_line *l, const struct resolve_site *site, struct inline_frame *frames,
		      size_t max)
{
	if (!l->inlines || !site->dso || !l->a->names.symbolizer)
		return 0;
	return dso_inlines(symbolizer_dsos(l->a->names.symbolizer), site->dso, site->at, frames, max);
}

const char *script_inline_name(struct script_line *l, const struct resolve_site *site,
			       const struct inline_frame *frame)
{
	return frame->name ? dso_shown_name(symbolizer_dsos(l->a->names.symbolizer), site->dso, frame->name) : NULL;
}

const char *script_srcline(struct script_line *l)
{
	struct inline_frame frames[INLINES_MAX_DEPTH];

	script_name_ip(l);
	if (!script_inlines(l, &l->site, frames, INLINES_MAX_DEPTH) || !frames[0].file)
		return NULL;
	snprintf(l->srcline, sizeof(l->srcline), "%s:%u", frames[0].file, frames[0].line);
	l->named = false;   /* the lookup overwrote the names */
	return l->srcline;
}

size_t script_chain(struct script_line *l)
{
	uint64_t nr = 0;
	const uint64_t *ips = names_chain(&l->a->names, l->s->event, l->s->view.rec, &nr);

	if (!ips)
		return 0;
	return chain_addresses(ips, nr < SCRIPT_MAX_FRAMES ? nr : SCRIPT_MAX_FRAMES, l->chain);
}

/* ---- as JSON and CSV ----------------------------------------------------------------- */

static void put_number(struct script_line *l, bool there, uint64_t n)
{
	if (there)
		outbuf_number(l->out, n);
	else
		outbuf_word(l->out, l->style->none);
}

void data_symoff(struct script_line *l)
{
	bool there = script_sym(l);

	put_number(l, there, l->words.offset);
}

void data_dsoff(struct script_line *l)
{
	uint64_t offset;
	bool there;

	script_name_ip(l);
	there = script_file_offset(&l->ip, &l->site, &offset);
	put_number(l, there, offset);
}

void data_raw(struct script_line *l)
{
	script_put_bytes(l, l->style, l->s->view.raw, l->s->view.raw_size);
}
