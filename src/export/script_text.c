/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as text, with the column widths of perf script, so that programs that read its output can read
 * this. */
#include "export/script.h"

#include "base/escape.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)

enum { COMM_WIDTH = 16, MISC_WIDTH = 6, MAX_COMM = 80, CLOCK = 32 };

static bool shows(const struct script_line *l, uint64_t bit)
{
	return l->event->shown & bit;
}

static void put_name(struct script_line *l, const char *name)
{
	outbuf_escaped(l->out, name, strlen(name));
}

/* Adds a space unless there is one. */
static void part(struct outbuf *b)
{
	if (!b->len || b->buf[b->len - 1] != ' ')
		outbuf_char(b, ' ');
}

/* ---- task, CPU, time --------------------------------------------------------------- */

void text_comm(struct script_line *l)
{
	const char *name = script_comm(l);
	char comm[MAX_COMM];
	size_t n = escape_terminal(name, strlen(name), comm, sizeof(comm));

	if (n < COMM_WIDTH && !l->event->has_chain)
		outbuf_pad(l->out, COMM_WIDTH - n);
	outbuf_bytes(l->out, comm, n);
	outbuf_char(l->out, ' ');
}

void text_pid(struct script_line *l)
{
	outbuf_signed(l->out, l->s->pid, 5);
	if (!shows(l, SCRIPT_BIT(TID)))
		outbuf_char(l->out, ' ');
}

/* Follows a pid: "  123/124   ". */
void text_tid(struct script_line *l)
{
	size_t begin;

	if (!shows(l, SCRIPT_BIT(PID))) {
		outbuf_signed(l->out, pidmap_shown(l->s->tid), 5);
		outbuf_char(l->out, ' ');
		return;
	}
	outbuf_room(l->out, 64);
	outbuf_char(l->out, '/');
	begin = l->out->len;
	outbuf_signed(l->out, pidmap_shown(l->s->tid), 0);
	begin = l->out->len - begin;
	outbuf_pad(l->out, begin < 5 ? 6 - begin : 1);
}

static void put_who(struct script_line *l)
{
	if (shows(l, SCRIPT_BIT(COMM)))
		text_comm(l);
	if (shows(l, SCRIPT_BIT(PID)))
		text_pid(l);
	if (shows(l, SCRIPT_BIT(TID)))
		text_tid(l);
}

void text_who(struct script_line *l)
{
	uint64_t bits = SCRIPT_BIT(COMM) | SCRIPT_BIT(PID) | SCRIPT_BIT(TID);

	script_put_who(l, put_who, (uint32_t)(l->event->shown & bits) << 1 | l->event->has_chain);
}

void text_cpu(struct script_line *l)
{
	uint32_t cpu = l->s->cpu;
	char text[] = { '[', (char)('0' + cpu / 100 % 10), (char)('0' + cpu / 10 % 10), (char)('0' + cpu % 10), ']', ' ' };

	if (__builtin_expect(cpu < 1000, 1)) {
		outbuf_bytes(l->out, text, sizeof(text));
		return;
	}
	outbuf_char(l->out, '[');
	outbuf_unsigned(l->out, cpu, 0, ' ');
	outbuf_bytes(l->out, "] ", 2);
}

void text_misc(struct script_line *l)
{
	const char *misc = script_misc(l);

	outbuf_word(l->out, misc);
	outbuf_pad(l->out, MISC_WIDTH - strlen(misc));
}

/* Sets the seconds in l->clock, which thousands of lines share. Returns the nanoseconds. */
static inline uint32_t split_time(struct script_line *l)
{
	uint64_t time = stream_time(l->a->stream, l->s->time), second = time / SECOND;

	if (__builtin_expect(second != l->second || !l->clock_len, 0))
		l->clock_len = (size_t)snprintf(l->clock, sizeof(l->clock), "%5llu.", (unsigned long long)second);
	l->second = second;
	return (uint32_t)(time % SECOND);
}

void text_time(struct script_line *l)
{
	uint32_t rest = split_time(l);

	outbuf_short(l->out, l->clock, l->clock_len, CLOCK);
	if (l->ns)
		outbuf_unsigned(l->out, rest, 9, '0');
	else
		outbuf_six(l->out, rest / 1000);
	outbuf_bytes(l->out, ": ", 2);
}

/* cpu, time and event at once in their usual form; otherwise one by one. */
void text_when(struct script_line *l)
{
	const struct script_event *e = l->event;
	uint32_t cpu = l->s->cpu, rest = split_time(l);
	const char number[] = { '[', (char)('0' + cpu / 100), (char)('0' + cpu / 10 % 10), (char)('0' + cpu % 10), ']', ' ' };
	char *at, *begin;

	if (__builtin_expect(cpu >= 1000 || l->ns || e->title_len > SCRIPT_SHORT, 0)) {
		text_cpu(l);
		text_time(l);
		text_event(l);
		return;
	}
	begin = at = outbuf_room(l->out, sizeof(number) + CLOCK + 8 + SCRIPT_SHORT);
	memcpy(at, number, sizeof(number));
	memcpy(at += sizeof(number), l->clock, CLOCK);
	outbuf_put_six(at += l->clock_len, rest / 1000);
	memcpy(at += 6, ": ", 2);
	memcpy(at += 2, e->title, SCRIPT_SHORT);
	l->out->len += (size_t)(at - begin) + e->title_len;
}

void text_realtime(struct script_line *l)
{
	char text[64];

	outbuf_word(l->out, analysis_time_text(l->a, l->s->time, text, sizeof(text)));
	outbuf_char(l->out, ' ');
}

/* ---- event, values ----------------------------------------------------------------- */

void text_period(struct script_line *l)
{
	outbuf_unsigned(l->out, l->period, 10, ' ');
	outbuf_char(l->out, ' ');
}

void text_event(struct script_line *l)
{
	const struct script_event *e = l->event;

	if (__builtin_expect(e->title_len <= SCRIPT_SHORT, 1))
		outbuf_short(l->out, e->title, e->title_len, SCRIPT_SHORT);
	else
		outbuf_bytes(l->out, e->title, e->title_len);
}

void text_trace(struct script_line *l)
{
	size_t len;
	const char *text = tracefmt_print(stream_formats(l->a->stream), l->event->event->fmt, l->s->view.raw,
					  l->s->view.raw_size, &len);

	outbuf_escaped(l->out, text, len);
}

static void put_hex(struct script_line *l, int64_t n)
{
	part(l->out);
	outbuf_hex(l->out, (uint64_t)n, 16);
}

static void put_number(struct script_line *l, int64_t n)
{
	part(l->out);
	outbuf_unsigned(l->out, (uint64_t)n, 16, ' ');
}

void text_data_src(struct script_line *l)
{
	char text[512];
	uint64_t word = (uint64_t)script_data_src(l);

	put_hex(l, (int64_t)word);
	pev_data_src_text(word, text, sizeof(text));
	outbuf_char(l->out, ' ');
	outbuf_word(l->out, text);
}

static void put_page_size(struct script_line *l, int64_t n)
{
	static const char units[] = "BKMGTPE";
	uint64_t size = (uint64_t)n;
	size_t unit = 0;

	part(l->out);
	if (!size) {
		outbuf_word(l->out, "N/A");
		return;
	}
	for (; size >= 1024 && unit + 1 < sizeof(units) - 1; unit++)
		size /= 1024;
	outbuf_unsigned(l->out, size, 0, ' ');
	outbuf_char(l->out, units[unit]);
}

#define VALUE(name, put)                                                                           \
	void text_##name(struct script_line *l)                                                    \
	{                                                                                          \
		put(l, script_##name(l));                                                          \
	}

VALUE(addr, put_hex)
VALUE(weight, put_number)
VALUE(ins_lat, put_number)
VALUE(phys_addr, put_hex)
VALUE(cgroup, put_number)
VALUE(id, put_number)
VALUE(data_page_size, put_page_size)
VALUE(code_page_size, put_page_size)

void text_transaction(struct script_line *l)
{
	char text[256];

	pev_transaction_text((uint64_t)script_transaction(l), text, sizeof(text));
	part(l->out);
	outbuf_word(l->out, *text ? text : "-");
}

void text_raw(struct script_line *l)
{
	part(l->out);
	outbuf_hex_bytes(l->out, l->s->view.raw, l->s->view.raw_size);
}

/* ---- code -------------------------------------------------------------------------- */

static void put_symbol(struct script_line *l, const struct resolve_words *w)
{
	outbuf_char(l->out, ' ');
	put_name(l, w->symbol ? w->symbol : "[unknown]");
	if (!w->symbol || !shows(l, SCRIPT_BIT(SYMOFF)))
		return;
	outbuf_bytes(l->out, "+0x", 3);
	outbuf_hex(l->out, w->offset, 0);
}

static void put_dso(struct script_line *l, const struct resolve_words *w, const struct chain_address *a,
		    const struct resolve_site *site)
{
	uint64_t offset;

	outbuf_bytes(l->out, " (", 2);
	put_name(l, w->dso);
	if (shows(l, SCRIPT_BIT(DSOFF)) && script_file_offset(a, site, &offset)) {
		outbuf_bytes(l->out, "+0x", 3);
		outbuf_hex(l->out, offset, 0);
	}
	outbuf_char(l->out, ')');
}

void text_ip(struct script_line *l)
{
	outbuf_char(l->out, ' ');
	outbuf_hex(l->out, (uint64_t)script_ip(l), 16);
}

void text_sym(struct script_line *l)
{
	script_name_ip(l);
	put_symbol(l, &l->words);
}

void text_dso(struct script_line *l)
{
	script_name_ip(l);
	put_dso(l, &l->words, &l->ip, &l->site);
}

void text_srcline(struct script_line *l)
{
	const char *line = script_srcline(l);

	if (!line)
		return;
	outbuf_bytes(l->out, "\n  ", 3);
	put_name(l, line);
}

static void put_source(struct script_line *l, const char *file, unsigned int line)
{
	if (!file || !shows(l, SCRIPT_BIT(SRCLINE)))
		return;
	outbuf_bytes(l->out, "\n  ", 3);
	put_name(l, file);
	outbuf_char(l->out, ':');
	outbuf_unsigned(l->out, line, 0, ' ');
}

static void begin_frame(struct script_line *l, uint64_t addr)
{
	outbuf_char(l->out, '\t');
	if (shows(l, SCRIPT_BIT(IP)))
		outbuf_hex(l->out, addr, 16);
}

/* An inlined call. */
static void put_inlined(struct script_line *l, const struct chain_address *a, const struct resolve_site *site,
			const struct inline_frame *frame)
{
	const char *name = script_inline_name(l, site, frame);

	begin_frame(l, a->ip);
	if (shows(l, SCRIPT_BIT(SYM))) {
		outbuf_char(l->out, ' ');
		put_name(l, name ? name : "[unknown]");
	}
	outbuf_word(l->out, " (inlined)");
	put_source(l, frame->file, frame->line);
	outbuf_char(l->out, '\n');
}

static void put_frame(struct script_line *l, const struct chain_address *a)
{
	struct inline_frame inner[INLINES_MAX_DEPTH];
	struct resolve_site site = resolve_site(l->a->names.maps, a, l->s->pid, l->s->time);
	struct resolve_words words;
	unsigned int line = 0;
	size_t n = 0;

	if (shows(l, SCRIPT_BIT(SYM) | SCRIPT_BIT(SRCLINE)))
		n = script_inlines(l, &site, inner, INLINES_MAX_DEPTH);
	for (size_t i = 0; i < n; i++) {
		if (inner[i].inlined) {
			put_inlined(l, a, &site, &inner[i]);
		} else if (inner[i].file) {   /* the next lookup overwrites it */
			line = inner[i].line;
			snprintf(l->srcline, sizeof(l->srcline), "%s", inner[i].file);
		}
	}
	resolve_words(l->a->names.symbolizer, a, &site, &words);
	begin_frame(l, a->ip);
	if (shows(l, SCRIPT_BIT(SYM)))
		put_symbol(l, &words);
	if (shows(l, SCRIPT_BIT(DSO)))
		put_dso(l, &words, a, &site);
	put_source(l, line ? l->srcline : NULL, line);
	outbuf_char(l->out, '\n');
}

void text_chain(struct script_line *l)
{
	size_t n = script_chain(l);

	outbuf_char(l->out, '\n');
	for (size_t i = 0; i < n; i++)
		put_frame(l, &l->chain[i]);
	l->named = false;
}

/* ---- registers, branches ----------------------------------------------------------- */

static void put_registers(struct script_line *l, const struct pev_regs *regs)
{
	uint64_t value;

	if (!regs || !regs->values)
		return;
	outbuf_printf(l->out, " ABI:%llu ", (unsigned long long)regs->abi);
	for (unsigned int i = 0; i < 64; i++) {
		const char *name = pev_reg_name(l->event->format.arch, regs->abi, i);
		char number[16];

		if (!pev_regs_value(regs, i, &value))
			continue;
		snprintf(number, sizeof(number), "reg%u", i);
		outbuf_printf(l->out, "%5s:0x%llx ", name ? name : number, (unsigned long long)value);
	}
}

SCRIPT_REGISTERS(text)

void text_branch(struct script_line *l, const struct pev_branch *b)
{
	const char *type = pev_branch_type_name(b);

	outbuf_printf(l->out, "0x%llx/0x%llx/%c/%c/%c/%u/%s", (unsigned long long)b->from,
		      (unsigned long long)b->to, b->mispred ? 'M' : b->predicted ? 'P' : '-', b->in_tx ? 'X' : '-',
		      b->abort ? 'A' : '-', b->cycles, b->type && type ? type : "");
}

void text_brstack(struct script_line *l)
{
	const struct pev_sample *s = script_sample(l);
	struct pev_branch b;

	for (uint64_t i = 0; s && i < s->branches.nr; i++) {
		pev_branch_entry(&s->branches, i, &b);
		part(l->out);
		text_branch(l, &b);
		outbuf_char(l->out, ' ');
	}
}

/* ---- a line ------------------------------------------------------------------------ */

void script_text(struct script_line *l)
{
	for (const struct script_field *const *f = l->event->fields; *f; f++)
		(*f)->text(l);
	outbuf_char(l->out, '\n');
}
