/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/tracefmt.h"

#include "base/escape.h"
#include "base/room.h"
#include "base/textfile.h"
#include "tracefmt/guard.h"
#include "tracefmt/printer.h"

#include <errno.h>
#include <event-parse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tracefmt_db {
	struct tep_handle *tep;
	struct printer *printer;
	struct tracefmt **fmts;
	size_t nfmts;
	bool has_texts;          /* those of this kernel were read */
};

struct tracefmt_db *tracefmt_db_new(void)
{
	struct tracefmt_db *db = calloc(1, sizeof(*db));

	if (!db)
		return NULL;
	tep_set_loglevel(TEP_LOG_NONE);
	db->tep = tep_alloc();
	db->printer = db->tep ? printer_new() : NULL;
	if (!db->printer) {
		if (db->tep)
			tep_free(db->tep);
		free(db);
		return NULL;
	}
	tep_set_file_bigendian(db->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(db->tep, sizeof(long));
	tep_set_page_size(db->tep, (int)sysconf(_SC_PAGESIZE));
	return db;
}

static void fmt_free(struct tracefmt *fmt)
{
	event_text_free(fmt->text);
	free(fmt->sys);
	free(fmt->name);
	free(fmt->fields);
	free(fmt);
}

void tracefmt_db_free(struct tracefmt_db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->nfmts; i++)
		fmt_free(db->fmts[i]);
	free(db->fmts);
	printer_free(db->printer);
	tep_free(db->tep);
	free(db);
}

/* Arrays of char are text, whatever sign the kernel reports; arrays of u8 and unsigned char are
 * bytes, such as addresses. libtraceevent treats all of them as text. */
static bool is_text(const struct tep_format_field *f)
{
	static const char *const before[] = { "__data_loc ", "__rel_loc ", "const " };
	const char *type = f->type;

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		if (!strncmp(type, before[i], strlen(before[i])))
			type += strlen(before[i]);
	return !strncmp(type, "char", 4) && (type[4] == '[' || type[4] == ' ' || !type[4]);
}

static enum field_kind field_kind(const struct tep_format_field *f)
{
	bool text = is_text(f);

	if (f->flags & TEP_FIELD_IS_DYNAMIC) {
		if (f->flags & TEP_FIELD_IS_RELATIVE)
			return text ? FIELD_REL_STR : FIELD_REL_BYTES;
		return text ? FIELD_DYN_STR : FIELD_DYN_BYTES;
	}
	if (f->flags & TEP_FIELD_IS_ARRAY)
		return text ? FIELD_STR : FIELD_BYTES;
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return FIELD_BYTES;
	return f->flags & TEP_FIELD_IS_SIGNED ? FIELD_SINT : FIELD_UINT;
}

static size_t count_fields(const struct tep_format_field *f)
{
	size_t n = 0;

	for (; f; f = f->next)
		n++;
	return n;
}

static void add_fields(struct tracefmt *fmt, const struct tep_format_field *f)
{
	for (; f; f = f->next) {
		struct trace_field *out = &fmt->fields[fmt->nfields];
		size_t end = (size_t)f->offset + (size_t)f->size;

		/* raw data has at most 64 KiB: a field beyond that cannot exist */
		if (f->offset < 0 || f->size <= 0 || end > UINT16_MAX)
			continue;
		*out = (struct trace_field){
			.name = f->name, .type = f->type, .kind = field_kind(f),
			.offset = (uint16_t)f->offset, .size = (uint16_t)f->size,
			.elem = f->flags & TEP_FIELD_IS_ARRAY && f->elementsize <= 8 ? (uint8_t)f->elementsize : 0,
		};
		if (end > fmt->min_size)
			fmt->min_size = (uint16_t)end;
		if (!strcmp(f->name, "common_type") && f->size == 2)
			fmt->id_offset = (uint16_t)f->offset;
		fmt->nfields++;
	}
}

static bool has_own(const struct tracefmt *fmt, const char *name)
{
	for (size_t i = fmt->ncommon; i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, name))
			return true;
	return false;
}

/* Fields that the kernel adds to events of kprobes, uprobes and fprobes (FIELD_STRING_IP and the like in trace_probe.h). */
static bool is_probe(const struct tracefmt *fmt)
{
	return fmt->returns || has_own(fmt, "__probe_ip") || has_own(fmt, "__probe_func");
}

static void mark_fetched(struct tracefmt *fmt)
{
	uint16_t next = 0;

	for (size_t i = fmt->nfields; i-- > fmt->ncommon;) {
		struct trace_field *f = &fmt->fields[i];

		f->fetched = f->kind == FIELD_DYN_STR || f->kind == FIELD_REL_STR;
		if (f->kind == FIELD_DYN_STR && f->size >= 4) {
			f->next = next;
			next = f->offset;
		}
	}
}

static struct tracefmt *fmt_from_tep(struct tep_event *ev, const char *text, size_t len)
{
	struct tracefmt *fmt = calloc(1, sizeof(*fmt));
	size_t n = count_fields(ev->format.common_fields) + count_fields(ev->format.fields);

	if (!fmt)
		return NULL;
	fmt->fields = calloc(n ? n : 1, sizeof(*fmt->fields));
	fmt->sys = escape_whole(ev->system);   /* the guard has looked at the other names */
	fmt->name = strdup(ev->name);
	fmt->id = (uint16_t)ev->id;
	fmt->tep_event = ev;
	fmt->text = event_text_new(text, len);
	if (!fmt->text || !fmt->fields || !fmt->sys || !fmt->name) {
		fmt_free(fmt);
		return NULL;
	}
	add_fields(fmt, ev->format.common_fields);
	fmt->ncommon = fmt->nfields;
	add_fields(fmt, ev->format.fields);
	fmt->returns = has_own(fmt, "__probe_ret_ip");
	if (is_probe(fmt))
		mark_fetched(fmt);
	return fmt;
}

static const struct tracefmt *db_add(struct tracefmt_db *db, struct tracefmt *fmt)
{
	if (!ROOM_FOR_ONE(db->fmts, db->nfmts)) {
		fmt_free(fmt);
		return NULL;
	}
	return db->fmts[db->nfmts++] = fmt;
}

/* Versions of libtraceevent keep the parser's place in the text in static variables. */
static pthread_mutex_t one_parser = PTHREAD_MUTEX_INITIALIZER;

/* libtraceevent only gets the fields: "print fmt" is compiled here (printfmt.h), and in a
 * recording its text is untrusted. */
static enum tep_errno parse(struct tracefmt_db *db, struct tep_event **ev, const char *text, size_t len,
			    const char *sys)
{
	static const char nothing[] = "print fmt: \"\"\n";
	const char *print = memmem(text, len, "\nprint fmt: ", 12);
	enum tep_errno rc = TEP_ERRNO__READ_FORMAT_FAILED;
	char *fields;
	size_t n;

	if (!guard_format(text, len) || !print)
		return rc;
	n = (size_t)(print + 1 - text);
	fields = malloc(n + sizeof(nothing));
	if (!fields)
		return TEP_ERRNO__MEM_ALLOC_FAILED;
	memcpy(fields, text, n);
	memcpy(fields + n, nothing, sizeof(nothing));
	pthread_mutex_lock(&one_parser);
	rc = tep_parse_format(db->tep, ev, fields, n + sizeof(nothing) - 1, sys);
	pthread_mutex_unlock(&one_parser);
	free(fields);
	return rc;
}

const struct tracefmt *tracefmt_parse(struct tracefmt_db *db, const char *text, size_t len,
				      const char *sys, struct fault *f)
{
	struct tep_event *ev = NULL;
	struct tracefmt *fmt;
	enum tep_errno rc = parse(db, &ev, text, len, sys);
	char *mended = ev ? NULL : guard_mended(text, len);
	const bool is_mended = mended;

	if (mended)
		rc = parse(db, &ev, mended, strlen(mended), sys);
	free(mended);
	if (!ev) {
		char why[128] = "";

		tep_strerror(db->tep, rc, why, sizeof(why));
		fault_set(f, EXIT_FAILED, "cannot parse the format of a tracepoint of %s: %s", sys, why);
		return NULL;
	}
	fmt = fmt_from_tep(ev, text, len);
	if (fmt)
		fmt->mended = is_mended;
	if (!fmt || !db_add(db, fmt)) {
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	return fmt;
}

static bool refers_to_text(const struct tracefmt *fmt)
{
	for (size_t i = fmt->ncommon; i < fmt->nfields; i++)
		if (strstr(fmt->fields[i].type, "char *"))
			return true;
	return false;
}

/* Once: the kernel writes the file anew for each reader. */
static void load_texts(struct tracefmt_db *db, const char *tracefs)
{
	char path[512], *text;
	size_t len;

	db->has_texts = true;
	snprintf(path, sizeof(path), "%s/printk_formats", tracefs);
	text = textfile_whole(open(path, O_RDONLY | O_CLOEXEC), SIZE_MAX, &len);
	if (text)
		tracefmt_add_texts(db, text, len);
	free(text);
}

const struct tracefmt *tracefmt_load(struct tracefmt_db *db, const char *tracefs, const char *sys,
				     const char *name, struct fault *f)
{
	const struct tracefmt *fmt;
	char path[512], *text;
	size_t len;

	for (size_t i = 0; i < db->nfmts; i++)
		if (!strcmp(db->fmts[i]->name, name) && !strcmp(db->fmts[i]->sys, sys))
			return db->fmts[i];
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs, sys, name);
	text = textfile_whole(open(path, O_RDONLY | O_CLOEXEC), SIZE_MAX, &len);
	if (!text) {
		fault_unreadable(f, path, errno);
		return NULL;
	}
	fmt = tracefmt_parse(db, text, len, sys, f);
	free(text);
	if (fmt && refers_to_text(fmt) && !db->has_texts)
		load_texts(db, tracefs);
	return fmt;
}

void tracefmt_set_machine(struct tracefmt_db *db, int long_size, int page_size)
{
	if (long_size == 4 || long_size == 8)
		tep_set_long_size(db->tep, long_size);
	if (page_size > 0)
		tep_set_page_size(db->tep, page_size);
}

const struct tracefmt *tracefmt_find(const struct tracefmt_db *db, uint64_t id)
{
	for (size_t i = 0; i < db->nfmts; i++)
		if (db->fmts[i]->id == id)
			return db->fmts[i];
	return NULL;
}

static void swap_numbers(char *p, size_t bytes, int each)
{
	for (size_t at = 0; each > 1 && at + (size_t)each <= bytes; at += (size_t)each)
		for (int i = 0; i < each / 2; i++) {
			char c = p[at + (size_t)i];

			p[at + (size_t)i] = p[at + (size_t)(each - 1 - i)];
			p[at + (size_t)(each - 1 - i)] = c;
		}
}

static bool is_number_size(int n)
{
	return n == 2 || n == 4 || n == 8;
}

/* Converts the data of a __data_loc or __rel_loc field; its own word is converted already. */
static void swap_dynamic(const struct tep_format_field *f, char *raw, uint32_t raw_size)
{
	uint32_t loc, at, len;

	memcpy(&loc, raw + f->offset, 4);
	at = (loc & 0xffff) + (f->flags & TEP_FIELD_IS_RELATIVE ? (uint32_t)f->offset + 4 : 0);
	len = loc >> 16;
	if (at <= raw_size && len <= raw_size - at && is_number_size(f->elementsize))
		swap_numbers(raw + at, len, f->elementsize);
}

static void swap_fields(const struct tep_format_field *f, char *raw, uint32_t raw_size)
{
	for (; f; f = f->next) {
		if (f->offset < 0 || f->size <= 0 || (uint32_t)f->offset + (uint32_t)f->size > raw_size)
			continue;
		if (f->flags & TEP_FIELD_IS_DYNAMIC && f->size == 4) {
			swap_numbers(raw + f->offset, 4, 4);
			swap_dynamic(f, raw, raw_size);
		} else if (f->flags & TEP_FIELD_IS_ARRAY) {
			if (is_number_size(f->elementsize))
				swap_numbers(raw + f->offset, (size_t)f->size, f->elementsize);
		} else if (is_number_size(f->size)) {
			swap_numbers(raw + f->offset, (size_t)f->size, f->size);
		}
	}
}

void tracefmt_swap(const struct tracefmt *fmt, void *raw, uint32_t raw_size)
{
	const struct tep_event *ev = fmt->tep_event;

	swap_fields(ev->format.common_fields, raw, raw_size);
	swap_fields(ev->format.fields, raw, raw_size);
}

void tracefmt_set_symbols(struct tracefmt_db *db, const struct tracefmt_symbols *symbols)
{
	printer_symbols(db->printer, symbols);
}

void tracefmt_add_texts(struct tracefmt_db *db, const char *lines, size_t len)
{
	printer_add_texts(db->printer, lines, len);
}

const char *tracefmt_print(struct tracefmt_db *db, const struct tracefmt *fmt, const void *raw,
			   uint32_t raw_size, size_t *len)
{
	size_t unused;

	return printer_text(db->printer, fmt, raw, raw_size, len ? len : &unused);
}

uint64_t trace_field_uint(const struct trace_field *field, const void *raw)
{
	return trace_number((const char *)raw + field->offset, field->size);
}

int64_t trace_field_sint(const struct trace_field *field, const void *raw)
{
	unsigned int unused = 64 - 8u * field->size;

	return (int64_t)(trace_field_uint(field, raw) << unused) >> unused;
}

static int dynamic_range(const struct trace_field *field, const void *raw, uint32_t *at,
			 uint32_t *len)
{
	uint32_t loc;

	if (field->size != 4)
		return -1;
	memcpy(&loc, (const char *)raw + field->offset, 4);
	*at = loc & 0xffff;
	*len = loc >> 16;
	if (field->kind == FIELD_REL_STR || field->kind == FIELD_REL_BYTES)
		*at += field->offset + 4u;
	return 0;
}

int trace_field_data(const struct trace_field *field, const void *raw, uint32_t raw_size,
		     const char **data, uint32_t *len)
{
	uint32_t at = field->offset;
	bool text = field->kind == FIELD_STR || field->kind == FIELD_DYN_STR ||
		    field->kind == FIELD_REL_STR;

	*len = field->size;
	if ((uint32_t)field->offset + field->size > raw_size)
		return -1;
	if (field->kind >= FIELD_DYN_STR && dynamic_range(field, raw, &at, len))
		return -1;
	if (at > raw_size || *len > raw_size - at)
		return -1;
	*data = (const char *)raw + at;
	if (field->next + 4u <= raw_size && trace_text_is_fault(field, raw, *len))
		return TRACE_FIELD_FAULT;
	if (text)
		*len = (uint32_t)strnlen(*data, *len);
	return 0;
}
