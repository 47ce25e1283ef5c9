/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/tracefmt.h"

#include "base/escape.h"
#include "base/room.h"
#include "base/textfile.h"
#include "tracefmt/kerneltexts.h"
#include "tracefmt/printfmt.h"

#include <ctype.h>
#include <errno.h>
#include <event-parse.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Checks before an event is printed: that its format is one that the kernel could have written,
 * since libtraceevent does not check it, and that its dynamic fields lie within the raw data.
 */

/* ---- the text of a format ----------------------------------------------------- */

struct line {
	const char *at, *end;
};

/* Takes a line off *text; false if there is no complete one. */
static bool next_line(struct line *line, const char **text, const char *end)
{
	line->at = *text;
	line->end = *text < end ? memchr(*text, '\n', (size_t)(end - *text)) : NULL;
	if (line->end)
		*text = line->end + 1;
	return line->end != NULL;
}

static bool begins(const struct line *line, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(line->end - line->at) >= len && !memcmp(line->at, with, len);
}

/* Skips "KEY:NUMBER;" and the tab before it. */
static bool take_number(struct line *line, const char *key)
{
	bool digits = false;

	if (!begins(line, key))
		return false;
	for (line->at += strlen(key); line->at < line->end && isdigit((unsigned char)*line->at);
	     line->at++)
		digits = true;
	if (!digits || line->at == line->end || *line->at != ';')
		return false;
	line->at++;
	return true;
}

static const char *behind_word(const char *at, const char *end)
{
	while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.'))
		at++;
	return at;
}

/* Skips "[16]", "[TASK_COMM_LEN]", "[]"; NULL: malformed. */
static const char *behind_bracket(const char *at, const char *end)
{
	for (at++; at < end && *at != ']'; at++)
		if (!*at || (!isalnum((unsigned char)*at) && !strchr("_ +-*/()<>", *at)))
			return NULL;
	return at < end ? at + 1 : NULL;
}

/* Words, stars between them, brackets after a word: "__data_loc char[] name", "const char * x",
 * "u8 a[4]"; the last word is the name. */
static bool is_declaration(const char *at, const char *end)
{
	int words = 0;
	bool of_word = false;   /* the last token is a word, or its brackets */

	while (at < end) {
		const char *word = behind_word(at, end);

		if (word > at) {
			words++;
			of_word = true;
			at = word;
		} else if (*at == '[' && of_word) {
			at = behind_bracket(at, end);
			if (!at)
				return false;
		} else if (*at == '*' && words) {
			of_word = false;
			at++;
		} else if (*at++ != ' ') {
			return false;
		}
	}
	return words >= 2 && of_word;
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;"; old kernels lack the last part. */
static bool is_field(struct line line)
{
	const char *name;

	if (!begins(&line, "\tfield:"))
		return false;
	line.at += strlen("\tfield:");
	name = memchr(line.at, ';', (size_t)(line.end - line.at));
	if (!name || !is_declaration(line.at, name))
		return false;
	line.at = name + 1;
	return take_number(&line, "\toffset:") && take_number(&line, "\tsize:") &&
	       (line.at == line.end || take_number(&line, "\tsigned:")) && line.at == line.end;
}

/* "KEY" followed by nothing, or by one word, possibly a number. */
static bool is_head(struct line line, const char *key, bool word, bool number)
{
	if (!begins(&line, key))
		return false;
	line.at += strlen(key);
	if (!word)
		return line.at == line.end;
	for (const char *p = line.at; number && p < line.end; p++)
		if (!isdigit((unsigned char)*p))
			return false;
	return line.at < line.end && behind_word(line.at, line.end) == line.end;
}

/* Whether the text has the lines of a format before its "print fmt", with fields declared as the
 * kernel does. Otherwise, or if the text is truncated, libtraceevent would dereference null pointers. */
static bool guard_format(const char *text, size_t len)
{
	const char *end = text + len;
	struct line line;

	if (!next_line(&line, &text, end) || !is_head(line, "name: ", true, false) ||
	    !next_line(&line, &text, end) || !is_head(line, "ID: ", true, true) ||
	    !next_line(&line, &text, end) || !is_head(line, "format:", false, false))
		return false;
	while (next_line(&line, &text, end))
		if (begins(&line, "print fmt: \""))
			return true;
		else if (line.at != line.end && !is_field(line))
			return false;
	return false;
}

/* The last word before the brackets. False: there is none. */
static bool find_name(struct line *name, const char *at, const char *end)
{
	const char *bracket = memchr(at, '[', (size_t)(end - at));

	name->end = bracket ? bracket : end;
	while (name->end > at && name->end[-1] == ' ')
		name->end--;
	for (name->at = name->end; name->at > at && behind_word(name->at - 1, name->end) == name->end;)
		name->at--;
	return name->at < name->end;
}

/* Such a line as one of bytes, by its offset and size. Without these it is left out. */
static void put_mended(FILE *out, struct line line)
{
	const size_t head = strlen("\tfield:");
	const char *rest = memmem(line.at, (size_t)(line.end - line.at), ";\toffset:", strlen(";\toffset:"));
	struct line name;
	int size;

	if (rest && find_name(&name, line.at + head, rest) && sscanf(rest, ";\toffset:%*d;\tsize:%d", &size) == 1 && size > 0)
		fprintf(out, "\tfield:%s %.*s[%d]%.*s\n", begins(&line, "\tfield:char ") ? "char" : "u8", (int)(name.end - name.at),
			name.at, size, (int)(line.end - rest), rest);
}

/* The format with lines that are not well-formed replaced by fields of bytes, or left out. NULL: out of memory. */
static char *guard_mended(const char *text, size_t len)
{
	const char *end = text + len;
	char *mended = NULL;
	struct line line;
	size_t size;
	FILE *out = open_memstream(&mended, &size);

	while (out && next_line(&line, &text, end))
		if (begins(&line, "\tfield:") && !is_field(line))
			put_mended(out, line);
		else
			fprintf(out, "%.*s\n", (int)(line.end - line.at), line.at);
	return out && !fclose(out) ? mended : NULL;
}

/* The first dynamic field that reaches beyond the raw data, or NULL. */
/* ---- raw data ------------------------------------------------------------------ */
static const struct trace_field *guard_dynamic(const struct tracefmt *fmt, const void *raw,
					       uint32_t raw_size)
{
	const char *data;
	uint32_t len;

	for (size_t i = 0; i < fmt->nfields; i++)
		if (fmt->fields[i].kind >= FIELD_DYN_STR &&
		    trace_field_data(&fmt->fields[i], raw, raw_size, &data, &len) < 0)
			return &fmt->fields[i];
	return NULL;
}

/* The text of events: by the program of their "print fmt", or else field by field. */

struct printer;

/* A "print fmt", compiled when it is first used. */
struct event_text;

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

/* From the whole text of a format. NULL: out of memory. */
static struct event_text *event_text_new(const char *text, size_t len)
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

static void event_text_free(struct event_text *t)
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

static struct printer *printer_new(void)
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

static void printer_free(struct printer *p)
{
	if (!p)
		return;
	kerneltexts_free(&p->texts);
	free(p->text);
	free(p);
}

static void printer_symbols(struct printer *p, const struct tracefmt_symbols *symbols)
{
	p->symbols = *symbols;
	p->symbols.texts = &p->texts;
}

static void printer_add_texts(struct printer *p, const char *lines, size_t len)
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

/* Valid until the next call; *len bytes and a NUL. */
static const char *printer_text(struct printer *p, const struct tracefmt *fmt, const void *raw,
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
	if (fmt)
		db->fmts[db->nfmts - 1]->is_running = true;
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
