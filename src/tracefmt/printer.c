/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/printer.h"

#include "tracefmt/guard.h"
#include "tracefmt/printfmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

enum {
	FIRST_TEXT = 4096,
	MAX_TEXT = 4 << 20,     /* no event of the kernel's comes near */
};

struct printer {
	struct tep_handle *tep;
	struct tracefmt_symbols symbols;
	struct trace_seq seq;
	char *raw;              /* of the event that is printed, and zeroes behind it */
	char *text;
	size_t size;
};

/* ---- what is known of one event --------------------------------------------------- */

struct event_text {
	struct printfmt *program;
	const char *why_not;
	bool tried;
	size_t ndynamic;        /* fields */
	size_t len;
	char print_fmt[];
};

struct event_text *event_text_new(const char *text, size_t len)
{
	static const char head[] = "\nprint fmt: ";
	const char *at = memmem(text, len, head, strlen(head)), *end = text + len;
	struct event_text *t;

	at = at ? at + strlen(head) : end;
	t = calloc(1, sizeof(*t) + (size_t)(end - at) + 1);
	if (!t)
		return NULL;
	t->len = (size_t)(end - at);
	memcpy(t->print_fmt, at, t->len);
	return t;
}

void event_text_free(struct event_text *t)
{
	if (!t)
		return;
	printfmt_free(t->program);
	free(t);
}

static struct event_text *compiled(const struct tracefmt *fmt)
{
	struct event_text *t = fmt->text;

	if (t->tried)
		return t;
	t->tried = true;
	t->program = printfmt_compile(fmt, t->print_fmt, t->len, &t->why_not);
	for (size_t i = 0; i < fmt->nfields; i++)
		t->ndynamic += fmt->fields[i].kind >= FIELD_DYN_STR;
	return t;
}

bool tracefmt_prints_functions(const struct tracefmt *fmt)
{
	const char *at = fmt->text->print_fmt;

	while ((at = strstr(at, "%p")))
		if (*(at += 2) && strchr("FfSsB", *at))
			return true;
	return false;
}

const char *tracefmt_not_compiled(const struct tracefmt *fmt)
{
	return compiled(fmt)->program ? NULL : compiled(fmt)->why_not;
}

/* ---- by libtraceevent ------------------------------------------------------------- */

struct printer *printer_new(struct tep_handle *tep)
{
	struct printer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->tep = tep;
	p->size = FIRST_TEXT;
	p->text = malloc(p->size);
	p->raw = calloc(1, GUARD_REACH);   /* the end of it is never touched */
	trace_seq_init(&p->seq);
	if (p->text && p->raw)
		return p;
	printer_free(p);
	return NULL;
}

void printer_free(struct printer *p)
{
	if (!p)
		return;
	trace_seq_destroy(&p->seq);
	free(p->raw);
	free(p->text);
	free(p);
}

void printer_symbols(struct printer *p, const struct tracefmt_symbols *symbols)
{
	p->symbols = *symbols;
}

static void put_bytes(struct trace_seq *seq, const char *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		trace_seq_printf(seq, "%s%02x", i ? " " : "", (unsigned char)data[i]);
}

/* What no "print fmt" can be trusted with. */
static void put_field(struct trace_seq *seq, const struct trace_field *f, const char *raw,
		      uint32_t raw_size)
{
	const char *data;
	uint32_t len;

	trace_seq_printf(seq, " %s=", f->name);
	if (f->kind == FIELD_UINT)
		trace_seq_printf(seq, "%" PRIu64, trace_field_uint(f, raw));
	else if (f->kind == FIELD_SINT)
		trace_seq_printf(seq, "%" PRId64, trace_field_sint(f, raw));
	else if (trace_field_data(f, raw, raw_size, &data, &len))
		return;
	else if (f->kind == FIELD_STR || f->kind == FIELD_DYN_STR || f->kind == FIELD_REL_STR)
		trace_seq_printf(seq, "%.*s", (int)len, data);
	else
		put_bytes(seq, data, len);
}

static void put_fields(struct printer *p, const struct tracefmt *fmt, uint32_t raw_size)
{
	for (size_t i = fmt->ncommon; i < fmt->nfields; i++)
		put_field(&p->seq, &fmt->fields[i], p->raw, raw_size);
}

const char *printer_library_text(struct printer *p, const struct tracefmt *fmt, const void *raw,
				 uint32_t raw_size, size_t *len)
{
	struct tep_record rec = {
		.data = p->raw, .size = (int)raw_size, .record_size = (int)raw_size,
	};

	/* libtraceevent wants the last string to end, and numbers to be aligned */
	memcpy(p->raw, raw, raw_size);
	memset(p->raw + raw_size, 0, 8);
	trace_seq_reset(&p->seq);
	/* two formats of one id: the library would take either for it */
	if (!fmt->distrusted && tep_find_event(p->tep, fmt->id) == fmt->tep_event &&
	    guard_print_fmt(fmt->tep_event, p->raw, raw_size))
		tep_print_event(p->tep, &p->seq, &rec, "%s", TEP_PRINT_INFO);
	else
		put_fields(p, fmt, raw_size);
	trace_seq_terminate(&p->seq);
	*len = strlen(p->seq.buffer);
	return p->seq.buffer;
}

/* ---- by the program --------------------------------------------------------------- */

static bool grow(struct printer *p, size_t need)
{
	size_t size = p->size;
	char *bigger;

	while (size < need && size < MAX_TEXT)
		size *= 2;
	bigger = size > p->size ? realloc(p->text, size) : NULL;
	if (!bigger)
		return false;
	p->text = bigger;
	p->size = size;
	return true;
}

static const char *program_text(struct printer *p, const struct printfmt *program,
				const void *raw, uint32_t raw_size, size_t *len)
{
	size_t n;

	do
		n = printfmt_write(program, raw, raw_size, &p->symbols, p->text, p->size - 1);
	while (n >= p->size && grow(p, n + 1));
	*len = n < p->size ? n : p->size - 1;
	p->text[*len] = '\0';
	return p->text;
}

static const char *trouble(struct printer *p, size_t *len, const char *text, const char *a,
			   const char *b)
{
	int n = snprintf(p->text, p->size, text, a, b);

	*len = (size_t)n < p->size ? (size_t)n : p->size - 1;
	return p->text;
}

static bool is_of(const struct tracefmt *fmt, const char *raw)
{
	uint16_t id;

	memcpy(&id, raw + fmt->id_offset, 2);
	return id == fmt->id;
}

const char *printer_text(struct printer *p, const struct tracefmt *fmt, const void *raw,
			 uint32_t raw_size, size_t *len)
{
	const struct event_text *t = compiled(fmt);
	const struct trace_field *beyond = NULL;

	if (raw_size < fmt->min_size || raw_size > GUARD_MAX_RAW || fmt->min_size < 2)
		return trouble(p, len, "[truncated]", NULL, NULL);
	if (t->ndynamic)
		beyond = guard_dynamic(fmt, raw, raw_size);
	if (beyond)
		return trouble(p, len, "[%s reaches beyond the event]", beyond->name, NULL);
	if (!is_of(fmt, raw))
		return trouble(p, len, "[not of %s:%s]", fmt->sys, fmt->name);
	if (t->program)
		return program_text(p, t->program, raw, raw_size, len);
	return printer_library_text(p, fmt, raw, raw_size, len);
}
