/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/printer.h"

#include "tracefmt/guard.h"
#include "tracefmt/kerneltexts.h"
#include "tracefmt/printfmt.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_TEXT = 4096,
	MAX_TEXT = 4 << 20,     /* far more than any kernel event has */
};

struct printer {
	struct tracefmt_symbols symbols;
	struct kerneltexts texts;
	char *text;
	size_t size;
};

/* ---- one event -------------------------------------------------------------------- */

struct event_text {
	struct printfmt *program;
	const char *why_not;
	bool tried;
	size_t ndynamic;        /* number of dynamic fields */
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

struct printer *printer_new(void)
{
	struct printer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->size = FIRST_TEXT;
	p->text = malloc(p->size);
	if (p->text)
		return p;
	free(p);
	return NULL;
}

void printer_free(struct printer *p)
{
	if (!p)
		return;
	kerneltexts_free(&p->texts);
	free(p->text);
	free(p);
}

void printer_symbols(struct printer *p, const struct tracefmt_symbols *symbols)
{
	p->symbols = *symbols;
	p->symbols.texts = &p->texts;
}

void printer_add_texts(struct printer *p, const char *lines, size_t len)
{
	kerneltexts_add(&p->texts, lines, len);
	p->symbols.texts = &p->texts;
}

/* ---- by its program --------------------------------------------------------------- */

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

/* ---- field by field --------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void put(struct printer *p, size_t *at, const char *format, ...)
{
	va_list args;
	int n = 0;

	do {
		va_start(args, format);
		n = vsnprintf(p->text + *at, p->size - *at, format, args);
		va_end(args);
		if (n < 0)
			return;
	} while ((size_t)n >= p->size - *at && grow(p, *at + (size_t)n + 1));
	*at += (size_t)n < p->size - *at ? (size_t)n : p->size - *at - 1;
}

static void put_field(struct printer *p, size_t *at, const struct trace_field *f, const void *raw, uint32_t raw_size)
{
	const char *data;
	uint32_t len;
	int rc;

	put(p, at, " %s=", f->name);
	if (f->kind == FIELD_UINT)
		put(p, at, "%" PRIu64, trace_field_uint(f, raw));
	else if (f->kind == FIELD_SINT)
		put(p, at, "%" PRId64, trace_field_sint(f, raw));
	else if ((rc = trace_field_data(f, raw, raw_size, &data, &len)))
		put(p, at, "%s", rc == TRACE_FIELD_FAULT ? TRACE_FAULT_TEXT : "");
	else if (trace_field_is_text(f))
		put(p, at, "%.*s", (int)len, data);
	else
		for (uint32_t i = 0; i < len; i++)
			put(p, at, "%s%02x", i ? " " : "", (unsigned char)data[i]);
}

static const char *fields_text(struct printer *p, const struct tracefmt *fmt, const void *raw, uint32_t raw_size, size_t *len)
{
	*len = 0;
	p->text[0] = '\0';
	for (size_t i = fmt->ncommon; i < fmt->nfields; i++)
		put_field(p, len, &fmt->fields[i], raw, raw_size);
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

	if (raw_size < fmt->min_size || raw_size > UINT16_MAX || fmt->min_size < 2)
		return trouble(p, len, "[truncated]", NULL, NULL);
	if (t->ndynamic)
		beyond = guard_dynamic(fmt, raw, raw_size);
	if (beyond)
		return trouble(p, len, "[%s reaches beyond the event]", beyond->name, NULL);
	if (!is_of(fmt, raw))
		return trouble(p, len, "[not of %s:%s]", fmt->sys, fmt->name);
	if (t->program)
		return program_text(p, t->program, raw, raw_size, len);
	return fields_text(p, fmt, raw, raw_size, len);
}
