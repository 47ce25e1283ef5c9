/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox_tables.h"

#include "report/quote.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct firefox_stack {
	uint32_t frame;
	int64_t parent;              /* -1: none */
};

struct firefox_frame {
	uint32_t function;
	uint32_t depth;              /* of inlining; 0: not inlined */
	unsigned int line;
	int64_t address;             /* offset in the file; -1: none */
	enum firefox_category category;
};

struct firefox_function {
	uint32_t name;               /* numbers in `words` */
	int64_t file, source;        /* -1: none */
};

struct firefox_file {
	uint32_t path, name;         /* numbers in `words`; name: without folders */
	const struct dso *object;    /* NULL: the kernel */
};

/* Row i of a table. */
static struct firefox_stack *stack_at(const struct firefox_tables *t, uint32_t i)
{
	return (struct firefox_stack *)t->stacks.rows + i;
}

static struct firefox_frame *frame_at(const struct firefox_tables *t, uint32_t i)
{
	return (struct firefox_frame *)t->frames.rows + i;
}

static struct firefox_function *function_at(const struct firefox_tables *t, uint32_t i)
{
	return (struct firefox_function *)t->functions.rows + i;
}

static struct firefox_file *file_at(const struct firefox_tables *t, uint32_t i)
{
	return (struct firefox_file *)t->files.rows + i;
}

void firefox_tables_begin(struct firefox_tables *t)
{
	*t = (struct firefox_tables){
		.stacks = { .words = 2, .row = sizeof(struct firefox_stack) },
		.frames = { .words = 2, .row = sizeof(struct firefox_frame) },
		.functions = { .words = 3, .row = sizeof(struct firefox_function) },
		.files = { .words = 1, .row = sizeof(struct firefox_file) },
		.sources = { .words = 1, .row = sizeof(uint32_t) },
	};
}

void firefox_tables_free(struct firefox_tables *t)
{
	numbers_free(&t->stacks);
	numbers_free(&t->frames);
	numbers_free(&t->functions);
	numbers_free(&t->files);
	numbers_free(&t->sources);
	wordlist_free(&t->words);
}

/* ---- rows ------------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int64_t file_of(struct firefox_tables *t, const struct frame *frame)
{
	uint32_t path = wordlist_of(&t->words, frame->dso);
	uint64_t key = path;
	bool fresh;
	uint32_t i;

	if (!frame->object && !frame->kernel && !frame->guest)
		return -1;
	i = numbers_of(&t->files, &key, &fresh);
	if (fresh)
		*file_at(t, i) = (struct firefox_file){ path, wordlist_of(&t->words, base_name(frame->dso)), frame->object };
	return i;
}

static int64_t source_of(struct firefox_tables *t, const struct frame *frame)
{
	uint32_t word = frame->file ? wordlist_of(&t->words, frame->file) : 0, i;
	uint64_t key = word;
	bool fresh;

	if (!frame->file)
		return -1;
	i = numbers_of(&t->sources, &key, &fresh);
	if (fresh)
		((uint32_t *)t->sources.rows)[i] = word;
	return i;
}

/* All addresses without a name are one function for each file. */
static uint32_t function_of(struct firefox_tables *t, const struct frame *frame)
{
	struct firefox_function fn = {
		wordlist_of(&t->words, frame->symbol ? frame->symbol : "[unknown]"), file_of(t, frame),
		source_of(t, frame),
	};
	uint64_t key[] = { fn.name, (uint64_t)fn.file, (uint64_t)fn.source };
	bool fresh;
	uint32_t i = numbers_of(&t->functions, key, &fresh);

	if (fresh)
		*function_at(t, i) = fn;
	return i;
}

/* Kernel addresses have no offset: they do not fit a JavaScript number. */
static uint32_t frame_of(struct firefox_tables *t, const struct frame *frame, uint32_t depth)
{
	uint64_t key[] = { (uint64_t)(uintptr_t)frame, depth };
	bool fresh;
	uint32_t i = numbers_of(&t->frames, key, &fresh);

	if (fresh)
		*frame_at(t, i) = (struct firefox_frame){
			function_of(t, frame), depth, frame->line,
			frame->object && frame->at < INT64_C(1) << 53 ? (int64_t)frame->at : -1,
			frame->guest ? FIREFOX_GUEST : frame->kernel ? FIREFOX_KERNEL : frame->symbol || frame->object ? FIREFOX_USER : FIREFOX_OTHER,
		};
	return i;
}

bool firefox_tables_lost(const struct firefox_tables *t)
{
	return t->words.lost || t->stacks.lost || t->frames.lost || t->functions.lost ||
	       t->files.lost || t->sources.lost;
}

int64_t firefox_stack(struct firefox_tables *t, struct callstack *stack)
{
	int64_t parent = -1;
	uint32_t depth = 0;

	if (!stack)
		return -1;
	if (stack->user)
		return (int64_t)(uintptr_t)stack->user - 1;
	for (uint32_t i = stack->n; i-- > 0;) {
		struct firefox_stack one;
		uint64_t key[2];
		bool fresh;
		uint32_t n;

		depth = stack->frames[i]->inlined ? depth + 1 : 0;
		one = (struct firefox_stack){ frame_of(t, stack->frames[i], depth), parent };
		key[0] = one.frame;
		key[1] = (uint64_t)parent;
		n = numbers_of(&t->stacks, key, &fresh);
		if (fresh)
			*stack_at(t, n) = one;
		parent = n;
	}
	stack->user = (void *)(uintptr_t)(parent + 1);
	return parent;
}

/* ---- JSON ------------------------------------------------------------------------------ */

/* Writes the value of a row. */
typedef void put_row(const struct firefox_tables *t, uint32_t i, FILE *out);

struct column {
	const char *name, *same;     /* same: constant text for all rows */
	put_row *put;
};

static void put_number(int64_t value, const char *none, FILE *out)
{
	if (value < 0)
		fputs(none, out);
	else
		fprintf(out, "%" PRId64, value);
}

static void put_table(const struct firefox_tables *t, const char *name, const struct column *columns,
		      uint32_t n, FILE *out)
{
	fprintf(out, "\"%s\":{\"length\":%" PRIu32, name, n);
	for (; columns->name; columns++) {
		fprintf(out, ",\n\"%s\":[", columns->name);
		for (uint32_t i = 0; i < n; i++) {
			if (i)
				fputc(',', out);
			if (columns->same)
				fputs(columns->same, out);
			else
				columns->put(t, i, out);
		}
		fputc(']', out);
	}
	fputs("},\n", out);
}

/* none: text for values below 0 */
#define COLUMN(name, value, none)                                                                  \
	static void name(const struct firefox_tables *t, uint32_t i, FILE *out)                    \
	{                                                                                          \
		put_number((int64_t)(value), none, out);                                           \
	}

COLUMN(stack_frame, stack_at(t, i)->frame, "")
COLUMN(stack_parent, stack_at(t, i)->parent, "null")
COLUMN(frame_address, frame_at(t, i)->address, "-1")
COLUMN(frame_depth, frame_at(t, i)->depth, "")
COLUMN(frame_category, frame_at(t, i)->category, "")
COLUMN(frame_function, frame_at(t, i)->function, "")
COLUMN(frame_line, frame_at(t, i)->line ? (int64_t)frame_at(t, i)->line : -1, "null")
COLUMN(function_name, function_at(t, i)->name, "")
COLUMN(function_file, function_at(t, i)->file, "-1")
COLUMN(function_source, function_at(t, i)->source, "null")
COLUMN(resource_file, i, "")
COLUMN(resource_name, file_at(t, i)->name, "")
COLUMN(source_name, ((uint32_t *)t->sources.rows)[i], "")

static const struct column stack_columns[] = {
	{ "frame", NULL, stack_frame }, { "prefix", NULL, stack_parent }, { NULL, NULL, NULL },
};

static const struct column frame_columns[] = {
	{ "address", NULL, frame_address }, { "inlineDepth", NULL, frame_depth },
	{ "category", NULL, frame_category }, { "subcategory", "0", NULL }, { "func", NULL, frame_function },
	{ "nativeSymbol", "null", NULL }, { "innerWindowID", "0", NULL }, { "line", NULL, frame_line },
	{ "column", "null", NULL }, { NULL, NULL, NULL },
};

static const struct column function_columns[] = {
	{ "name", NULL, function_name }, { "isJS", "false", NULL }, { "relevantForJS", "false", NULL },
	{ "resource", NULL, function_file }, { "source", NULL, function_source },
	{ "lineNumber", "null", NULL }, { "columnNumber", "null", NULL }, { NULL, NULL, NULL },
};

static const struct column resource_columns[] = {
	{ "lib", NULL, resource_file }, { "name", NULL, resource_name }, { "host", "null", NULL },
	{ "type", "1", NULL }, { NULL, NULL, NULL },
};

static const struct column symbol_columns[] = {
	{ "libIndex", "", NULL }, { "address", "", NULL }, { "name", "", NULL }, { "functionSize", "", NULL },
	{ NULL, NULL, NULL },
};

static const struct column source_columns[] = {
	{ "uuid", "null", NULL }, { "filename", NULL, source_name }, { NULL, NULL, NULL },
};

void firefox_put_tables(const struct firefox_tables *t, FILE *out)
{
	fputs("\"shared\":{\n", out);
	put_table(t, "stackTable", stack_columns, t->stacks.n, out);
	put_table(t, "frameTable", frame_columns, t->frames.n, out);
	put_table(t, "funcTable", function_columns, t->functions.n, out);
	put_table(t, "resourceTable", resource_columns, t->files.n, out);
	put_table(t, "nativeSymbols", symbol_columns, 0, out);
	put_table(t, "sources", source_columns, t->sources.n, out);
	fputs("\"stringArray\":[", out);
	for (uint32_t i = 0; i < t->words.n; i++) {
		fputs(i ? ",\n" : "", out);
		quote_json(wordlist_at(&t->words, i), out);
	}
	fputs("]}", out);
}

/* Breakpad's form of a build id: its first 16 bytes as a GUID of little-endian numbers, and an age of 0. */
static void put_breakpad_id(const uint8_t *id, size_t size, FILE *out)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	fputs("\"breakpadId\":\"", out);
	for (size_t i = 0; i < sizeof(order); i++)
		fprintf(out, "%02X", order[i] < size ? id[order[i]] : 0);
	fputs("0\",\"codeId\":", out);
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%s%02x", i ? "" : "\"", id[i]);
	fputs(size ? "\"" : "null", out);
}

static void put_file(const char *path, const struct dso *object, const char *arch, FILE *out)
{
	const char *name = base_name(path);
	size_t size = 0;
	const uint8_t *id = object ? dso_build_id(object, &size) : NULL;
	const char *const parts[][2] = {
		{ "arch", arch ? arch : "" }, { "name", name }, { "path", path }, { "debugName", name },
		{ "debugPath", path },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "{", parts[i][0]);
		quote_json(parts[i][1], out);
	}
	fputc(',', out);
	put_breakpad_id(id, size, out);
	fputc('}', out);
}

void firefox_put_files(const struct firefox_tables *t, const char *arch, FILE *out)
{
	fputs("\"libs\":[", out);
	for (uint32_t i = 0; i < t->files.n; i++) {
		fputs(i ? ",\n" : "", out);
		put_file(wordlist_at(&t->words, file_at(t, i)->path), file_at(t, i)->object, arch, out);
	}
	fputs("],\n", out);
}
