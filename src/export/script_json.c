/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as JSON lines, written without building objects. */
#include "export/script_data.h"

#include "report/json.h"

#include <stdlib.h>
#include <string.h>

const struct script_style script_json_style = { outbuf_json, "\"", "null" };

static void put_key(struct outbuf *b, const char *key, bool first)
{
	if (!first)
		outbuf_char(b, ',');
	outbuf_char(b, '"');
	outbuf_word(b, key);
	outbuf_bytes(b, "\":", 2);
}

static void put_text(struct outbuf *b, const char *key, const char *text)
{
	if (!text)
		return;
	put_key(b, key, false);
	outbuf_json(b, text, strlen(text));
}

static void put_unsigned(struct outbuf *b, const char *key, uint64_t n, bool first)
{
	put_key(b, key, first);
	outbuf_number(b, n);
}

static void put_bool(struct outbuf *b, const char *key, bool value)
{
	put_key(b, key, false);
	outbuf_word(b, value ? "true" : "false");
}

/* ---- keys of an event -------------------------------------------------------------- */

static size_t count_fields(const struct script_event *e)
{
	size_t n = 0;

	while (e->fields[n])
		n++;
	return n;
}

static size_t count_keys(const struct script_event *e)
{
	const struct tracefmt *fmt = e->event->fmt;

	return count_fields(e) + (fmt ? fmt->nfields - fmt->ncommon : 0);
}

/* A text with its quotes and what stands around it. False: no memory. */
static bool write_text(FILE *out, char before, const char *content, const char *after)
{
	json_object *text = json_text(content, strlen(content));

	if (text)
		fprintf(out, "%c%s%s", before, json_object_to_json_string_ext(text, JSON_C_TO_STRING_NOSLASHESCAPE), after);
	json_object_put(text);
	return text;
}

static bool write_field_key(const struct script_event *e, size_t i, struct script_key *key, FILE *out)
{
	key->whole = e->fields[i] == &script_fields[SCRIPT_EVENT];
	return write_text(out, i ? ',' : '{', script_key(e->fields[i]), key->whole ? "" : ":") &&
	       (!key->whole || write_text(out, ':', e->event->name, ""));
}

/* Writes them one after the other, and their lengths. */
static bool write_keys(const struct script_event *e, FILE *out)
{
	const struct tracefmt *fmt = e->event->fmt;
	struct script_key *key = e->keys;
	bool good = true;
	long at = 0;

	for (size_t i = 0; good && e->fields[i]; i++, at += key++->len) {
		good = write_field_key(e, i, key, out);
		key->len = (uint32_t)(ftell(out) - at);
	}
	for (size_t i = fmt ? fmt->ncommon : 0; good && fmt && i < fmt->nfields; i++, at += key++->len) {
		good = write_text(out, i > fmt->ncommon ? ',' : '{', fmt->fields[i].name, ":");
		key->len = (uint32_t)(ftell(out) - at);
	}
	fprintf(out, "%*s", SCRIPT_KEY, "");
	return good && !ferror(out);
}

int script_json_keys(struct script_event *e, struct fault *f)
{
	size_t n = count_keys(e), size, at = 0;
	FILE *out = open_memstream(&e->key_text, &size);
	bool good;

	e->keys = calloc(n + 1, sizeof(*e->keys));
	good = out && e->keys && write_keys(e, out);
	good = out && !fclose(out) && good;
	for (size_t i = 0; good && i < n; at += e->keys[i++].len)
		e->keys[i].text = e->key_text + at;
	e->trace_keys = good ? e->keys + count_fields(e) : NULL;
	return good ? 0 : fault_set(f, EXIT_FAILED, "out of memory");
}

static inline void put_known_key(struct outbuf *b, const struct script_key *key)
{
	if (key->len <= SCRIPT_KEY)
		outbuf_short(b, key->text, key->len, SCRIPT_KEY);
	else
		outbuf_bytes(b, key->text, key->len);
}

/* ---- the thread -------------------------------------------------------------------- */

static void put_who(struct script_line *l)
{
	const char *comm = script_comm(l);

	outbuf_json(l->out, comm, strlen(comm));
	outbuf_word(l->out, ",\"pid\":");
	outbuf_integer(l->out, script_pid(l));
	outbuf_word(l->out, ",\"tid\":");
	outbuf_integer(l->out, script_tid(l));
}

void json_who(struct script_line *l)
{
	script_put_who(l, put_who, 1);
}

/* ---- fields of a tracepoint -------------------------------------------------------- */

static void put_trace(struct script_line *l, const struct script_key *key)
{
	const struct tracefmt *fmt = l->event->event->fmt;

	if (fmt->ncommon == fmt->nfields)
		outbuf_char(l->out, '{');
	for (size_t i = fmt->ncommon; i < fmt->nfields; i++) {
		put_known_key(l->out, key++);
		script_put_trace_field(l, &script_json_style, &fmt->fields[i]);
	}
	outbuf_char(l->out, '}');
}

void json_trace(struct script_line *l)
{
	put_trace(l, l->event->trace_keys);
}

/* ---- call chains ------------------------------------------------------------------- */

struct shown_frame {
	uint64_t addr, offset;
	const char *symbol, *dso, *file;
	unsigned int line;
	bool kernel, inlined;
};

static void put_frame(struct script_line *l, const struct shown_frame *frame)
{
	struct outbuf *b = l->out;

	if (b->len && b->buf[b->len - 1] == '}')
		outbuf_char(b, ',');
	outbuf_char(b, '{');
	put_unsigned(b, "addr", frame->addr, true);
	put_text(b, "symbol", frame->symbol);
	put_unsigned(b, "offset", frame->offset, false);
	put_text(b, "dso", frame->dso);
	put_bool(b, "kernel", frame->kernel);
	put_bool(b, "inlined", frame->inlined);
	put_text(b, "file", frame->file);
	if (frame->line)
		put_unsigned(b, "line", frame->line, false);
	outbuf_char(b, '}');
}

/* Writes the inlined calls at an address, and the function itself; its source line is left in l->srcline
 * and *line. */
static void put_inlined(struct script_line *l, const struct resolve_site *site, uint64_t addr,
			unsigned int *line)
{
	struct inline_frame inner[INLINES_MAX_DEPTH];
	size_t n = script_inlines(l, site, inner, INLINES_MAX_DEPTH);

	for (size_t i = 0; i < n; i++) {
		struct shown_frame frame = { .addr = addr, .inlined = true, .file = inner[i].file, .line = inner[i].line };

		if (inner[i].inlined) {
			frame.symbol = script_inline_name(l, site, &inner[i]);
			frame.dso = dso_name(site->dso);
			put_frame(l, &frame);
		} else if (inner[i].file) {   /* the next lookup overwrites it */
			*line = inner[i].line;
			snprintf(l->srcline, sizeof(l->srcline), "%s", inner[i].file);
		}
	}
}

static void put_address(struct script_line *l, const struct chain_address *a)
{
	struct resolve_site site = resolve_site(l->a->names.maps, a, l->s->pid, l->s->time);
	struct resolve_words words;
	struct shown_frame frame = { .addr = a->ip };

	put_inlined(l, &site, a->ip, &frame.line);
	resolve_words(l->a->names.symbolizer, a, &site, &words);
	frame.symbol = words.symbol;
	frame.dso = words.dso;
	frame.offset = words.offset;
	frame.kernel = words.kernel;
	frame.file = frame.line ? l->srcline : NULL;
	put_frame(l, &frame);
}

void json_chain(struct script_line *l)
{
	size_t n = script_chain(l);

	outbuf_char(l->out, '[');
	for (size_t i = 0; i < n; i++)
		put_address(l, &l->chain[i]);
	outbuf_char(l->out, ']');
	l->named = false;
}

/* ---- registers, branches ----------------------------------------------------------- */

static void put_registers(struct script_line *l, const struct pev_regs *regs)
{
	static const struct pev_regs none;
	char name[16];
	uint64_t value;

	regs = regs ? regs : &none;
	outbuf_char(l->out, '{');
	put_unsigned(l->out, "abi", regs->abi, true);
	for (unsigned int i = 0; i < 64; i++) {
		if (!pev_regs_value(regs, i, &value))
			continue;
		sample_register_name(&l->event->format, regs->abi, i, name, sizeof(name));
		put_unsigned(l->out, name, value, false);
	}
	outbuf_char(l->out, '}');
}

SCRIPT_REGISTERS(json)

static void put_branch(struct outbuf *b, const struct pev_branch *branch)
{
	outbuf_char(b, '{');
	put_unsigned(b, "from", branch->from, true);
	put_unsigned(b, "to", branch->to, false);
	put_bool(b, "mispred", branch->mispred);
	put_bool(b, "predicted", branch->predicted);
	put_bool(b, "in_tx", branch->in_tx);
	put_bool(b, "abort", branch->abort);
	put_unsigned(b, "cycles", branch->cycles, false);
	put_text(b, "type", branch->type ? pev_branch_type_name(branch) : NULL);
	outbuf_char(b, '}');
}

void json_brstack(struct script_line *l)
{
	const struct pev_sample *s = script_sample(l);
	struct pev_branch branch;

	outbuf_char(l->out, '[');
	for (uint64_t i = 0; s && i < s->branches.nr; i++) {
		if (i)
			outbuf_char(l->out, ',');
		pev_branch_entry(&s->branches, i, &branch);
		put_branch(l->out, &branch);
	}
	outbuf_char(l->out, ']');
}

/* ---- a line ------------------------------------------------------------------------ */

void script_json(struct script_line *l)
{
	const struct script_field *const *f = l->event->fields;
	const struct script_key *key = l->event->keys;

	if (!*f)
		outbuf_char(l->out, '{');
	for (; *f; f++) {
		put_known_key(l->out, key);
		if (!key++->whole)
			script_put_value(l, &script_json_style, *f, (*f)->json);
	}
	outbuf_bytes(l->out, "}\n", 2);
}
