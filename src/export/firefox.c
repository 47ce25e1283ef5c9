/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Firefox Profiler's processed profile, version 60 (see docs-developer/CHANGELOG-formats.md
 * there): JSON with columns. Later versions of the profiler upgrade it while loading. Samples are
 * kept by thread until the end. The stack of a sample is a row of a tree that all threads share.
 */
#include "base/room.h"
#include "engine/callstacks.h"
#include "export/convert.h"
#include "export/wordlist.h"
#include "report/quote.h"
#include "stream/replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tables that all threads of a Firefox profile share: strings, and stacks as a tree. Rows refer to
 * rows: stack -> frame -> function -> file. A parent's row comes before its children's.
 */

/* Categories of frames, in the order of meta.categories. */
enum firefox_category { FIREFOX_OTHER, FIREFOX_USER, FIREFOX_KERNEL, FIREFOX_GUEST };

struct firefox_tables {
	struct words words;
	struct numbers stacks, frames, functions, files, sources;
};

static int64_t firefox_stack(struct firefox_tables *t, struct callstack *stack);

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

static void firefox_tables_begin(struct firefox_tables *t)
{
	*t = (struct firefox_tables){
		.stacks = { .words = 2, .row = sizeof(struct firefox_stack) },
		.frames = { .words = 2, .row = sizeof(struct firefox_frame) },
		.functions = { .words = 3, .row = sizeof(struct firefox_function) },
		.files = { .words = 1, .row = sizeof(struct firefox_file) },
		.sources = { .words = 1, .row = sizeof(uint32_t) },
	};
}

static void firefox_tables_free(struct firefox_tables *t)
{
	numbers_free(&t->stacks);
	numbers_free(&t->frames);
	numbers_free(&t->functions);
	numbers_free(&t->files);
	numbers_free(&t->sources);
	words_free(&t->words);
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

/* Whether rows are missing for lack of memory. Then nothing can be written. */
static bool firefox_tables_lost(const struct firefox_tables *t)
{
	return t->words.full || t->stacks.lost || t->frames.lost || t->functions.lost ||
	       t->files.lost || t->sources.lost;
}

/* The row of a stack; -1 for an empty one. */
static int64_t firefox_stack(struct firefox_tables *t, struct callstack *stack)
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

struct table_column {
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

static void put_table(const struct firefox_tables *t, const char *name, const struct table_column *columns,
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

static const struct table_column stack_columns[] = {
	{ "frame", NULL, stack_frame }, { "prefix", NULL, stack_parent }, { NULL, NULL, NULL },
};

static const struct table_column frame_columns[] = {
	{ "address", NULL, frame_address }, { "inlineDepth", NULL, frame_depth },
	{ "category", NULL, frame_category }, { "subcategory", "0", NULL }, { "func", NULL, frame_function },
	{ "nativeSymbol", "null", NULL }, { "innerWindowID", "0", NULL }, { "line", NULL, frame_line },
	{ "column", "null", NULL }, { NULL, NULL, NULL },
};

static const struct table_column function_columns[] = {
	{ "name", NULL, function_name }, { "isJS", "false", NULL }, { "relevantForJS", "false", NULL },
	{ "resource", NULL, function_file }, { "source", NULL, function_source },
	{ "lineNumber", "null", NULL }, { "columnNumber", "null", NULL }, { NULL, NULL, NULL },
};

static const struct table_column resource_columns[] = {
	{ "lib", NULL, resource_file }, { "name", NULL, resource_name }, { "host", "null", NULL },
	{ "type", "1", NULL }, { NULL, NULL, NULL },
};

static const struct table_column symbol_columns[] = {
	{ "libIndex", "", NULL }, { "address", "", NULL }, { "name", "", NULL }, { "functionSize", "", NULL },
	{ NULL, NULL, NULL },
};

static const struct table_column source_columns[] = {
	{ "uuid", "null", NULL }, { "filename", NULL, source_name }, { NULL, NULL, NULL },
};

/* Writes "shared":{...}. */
static void firefox_put_tables(const struct firefox_tables *t, FILE *out)
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

/* Writes "libs":[...] for a machine of that architecture. */
static void firefox_put_files(const struct firefox_tables *t, const char *arch, FILE *out)
{
	fputs("\"libs\":[", out);
	for (uint32_t i = 0; i < t->files.n; i++) {
		fputs(i ? ",\n" : "", out);
		put_file(wordlist_at(&t->words, file_at(t, i)->path), file_at(t, i)->object, arch, out);
	}
	fputs("],\n", out);
}

enum { PROCESSED_VERSION = 60, GECKO_VERSION = 32 };

struct moment {
	uint64_t time;
	struct callstack *stack;     /* NULL: none */
	uint64_t weight;             /* of a sample */
};

struct marker {
	struct moment at;
	uint32_t event;              /* index of the event */
	uint32_t text;               /* number in `words` */
};

struct thread {
	uint64_t process;            /* names_task() */
	pid_t pid, tid;
	uint32_t nth;                /* how many processes had its pid before */
	uint32_t comm;               /* number in `words`: the last name */
	struct moment *samples;
	size_t nsamples, samples_room;
	struct marker *markers;
	size_t nmarkers, markers_room;
};

struct firefox {
	struct firefox_tables tables;
	struct numbers threads;      /* by names_task() of pid and tid */
	bool *marks;                 /* by event: whether it has markers */
	double usual;                /* mean weight of a sample */
	struct stream_event *events;
	size_t nevents;
};

/* ---- samples --------------------------------------------------------------------------- */

static int begin(struct convert *c, struct analysis *a, struct fault *f)
{
	struct firefox *x = c->state = calloc(1, sizeof(*x));

	if (!x)
		return fault_set(f, EXIT_FAILED, "out of memory");
	convert_tell_event(c, a);
	firefox_tables_begin(&x->tables);
	x->threads = (struct numbers){ .words = 2, .row = sizeof(struct thread) };
	x->events = stream_events(a->stream, &x->nevents);
	x->marks = calloc(x->nevents + 1, sizeof(*x->marks));
	return x->marks ? 0 : fault_set(f, EXIT_FAILED, "out of memory");
}

static struct thread *thread_at(const struct firefox *x, uint32_t i)
{
	return i < x->threads.n ? (struct thread *)x->threads.rows + i : NULL;
}

/* For the last thread of the table. */
static uint32_t nth_of(const struct firefox *x, pid_t pid, uint64_t process)
{
	uint32_t nth = 0;

	for (uint32_t i = 0; i + 1 < x->threads.n; i++) {
		const struct thread *t = thread_at(x, i);

		if (t->pid == pid && t->process == process)
			return t->nth;
		nth += t->pid == pid && t->nth == nth;
	}
	return nth;
}

static struct thread *thread_of(struct firefox *x, struct analysis *a, const struct analysis_sample *s)
{
	const uint64_t key[] = { names_task(&a->names, s->pid), names_task(&a->names, s->tid) };
	bool fresh;
	struct thread *t = thread_at(x, numbers_of(&x->threads, key, &fresh));

	if (t && fresh)
		*t = (struct thread){ .process = key[0], .pid = s->pid, .tid = s->tid, .nth = nth_of(x, s->pid, key[0]) };
	return t;
}

static bool add_marker(struct firefox *x, struct thread *t, struct analysis *a, const struct analysis_sample *s,
		       struct callstack *stack)
{
	uint32_t event = (uint32_t)(s->event - x->events);

	if (!ROOM_FOR(t->markers, t->markers_room, t->nmarkers, 1))
		return false;
	t->markers[t->nmarkers++] = (struct marker){ { s->time, stack, 0 }, event, wordlist_of(&x->tables.words, convert_fields(a, s)) };
	x->marks[event] = true;
	return true;
}

static bool add_sample(struct thread *t, const struct analysis_sample *s, struct callstack *stack)
{
	if (!ROOM_FOR(t->samples, t->samples_room, t->nsamples, 1))
		return false;
	t->samples[t->nsamples++] = (struct moment){ s->time, stack, analysis_weight(s) };
	return true;
}

/* Tracepoints are markers, even if they are the only events. */
static void sample(struct convert *c, struct analysis *a, const struct analysis_sample *s)
{
	struct firefox *x = c->state;
	struct thread *t = thread_of(x, a, s);
	struct callstack *stack = analysis_where(a, s);
	bool good = t;

	if (t)
		t->comm = wordlist_of(&x->tables.words, analysis_comm(a, s->tid));
	if (t && convert_profiles(c, s->event))
		good = add_sample(t, s, stack);
	if (t && good && (c->all || !convert_profiles(c, s->event)))
		good = add_marker(x, t, a, s, stack);
	c->no_memory |= !good;
}

/* ---- threads --------------------------------------------------------------------------- */

static void put_text(const char *text, FILE *out)
{
	char safe[1024];

	quote_json(convert_text(text ? text : "", safe, sizeof(safe)), out);
}

static double ms(const struct convert *c, uint64_t time)
{
	return (double)(int64_t)(time - c->first) / 1e6;
}

static void put_stack(struct firefox *x, struct callstack *stack, FILE *out)
{
	int64_t row = firefox_stack(&x->tables, stack);

	if (row < 0)
		fputs("null", out);
	else
		fprintf(out, "%" PRId64, row);
}

/*
 * A row of the sample table has two meanings: its CPU time is that of the span from the row before,
 * and its stack is what runs from there to the next row. A clock samples only while the thread
 * runs, so a sample stands for the interval before it. Longer gaps get two rows without a stack,
 * which show that the thread did not run.
 */
struct row {
	uint64_t time;
	struct callstack *stack;
	uint64_t cpu;                /* ns since the row before */
	uint64_t weight;
};

static size_t rows_of(const struct moment *m, size_t i, uint64_t interval, struct row rows[3])
{
	uint64_t gap = i && m[i].time > m[i - 1].time ? m[i].time - m[i - 1].time : 0;
	size_t n = 0;

	if (interval && gap > 3 * interval) {
		rows[n++] = (struct row){ m[i - 1].time + interval, NULL, 0, 0 };
		rows[n++] = (struct row){ m[i].time - interval, NULL, 0, 0 };
		gap = interval;
	}
	rows[n++] = (struct row){ m[i].time, m[i].stack, gap < interval ? gap : interval, m[i].weight };
	return n;
}

enum column { STACK, TIME, WEIGHT, CPU, COLUMNS };

static bool is_timed(const struct convert *c)
{
	return !c->all && c->profile && analysis_is_clock(c->profile);
}

/* ms for a clock. The profiler has no unit for other events, so they are shown in multiples of the mean
 * weight. */
static double shown_weight(const struct convert *c, uint64_t weight)
{
	const struct firefox *x = c->state;

	return (double)weight / (is_timed(c) ? 1e6 : x->usual);
}

static void weigh(struct firefox *x)
{
	double weight = 0, samples = 0;

	for (uint32_t i = 0; i < x->threads.n; i++)
		for (size_t k = 0; k < thread_at(x, i)->nsamples; k++, samples++)
			weight += (double)thread_at(x, i)->samples[k].weight;
	x->usual = weight > 0 ? weight / samples : 1;
}

static size_t put_rows(const struct convert *c, const struct thread *t, enum column column, FILE *out)
{
	struct row rows[3];
	size_t all = 0;

	for (size_t i = 0; i < t->nsamples; i++) {
		size_t n = rows_of(t->samples, i, convert_interval(c), rows);

		for (size_t k = 0; k < n; k++, all++) {
			if (all)
				fputc(',', out);
			if (column == STACK)
				put_stack(c->state, rows[k].stack, out);
			else if (column == TIME)
				fprintf(out, "%.6f", ms(c, rows[k].time));
			else if (column == WEIGHT)
				fprintf(out, "%.6f", shown_weight(c, rows[k].weight));
			else
				fprintf(out, "%" PRIu64, rows[k].cpu);
		}
	}
	return all;
}

static void put_samples(const struct convert *c, const struct thread *t, FILE *out)
{
	static const char *const names[COLUMNS] = { "stack", "time", "weight", "threadCPUDelta" };
	size_t n = 0;

	fprintf(out, "\"samples\":{\"weightType\":\"%s\"", is_timed(c) ? "tracing-ms" : "samples");
	for (int k = 0; k < (convert_interval(c) ? COLUMNS : CPU); k++) {
		fprintf(out, ",\n\"%s\":[", names[k]);
		n = put_rows(c, t, k, out);
		fputc(']', out);
	}
	fprintf(out, ",\"length\":%zu},\n", n);
}

static void put_marker_data(const struct convert *c, const struct marker *m, FILE *out)
{
	struct firefox *x = c->state;

	fputs("{\"type\":", out);
	put_text(x->events[m->event].name, out);
	fprintf(out, ",\"fields\":%" PRIu32, m->text);
	if (m->at.stack) {
		fprintf(out, ",\"cause\":{\"time\":%.6f,\"stack\":", ms(c, m->at.time));
		put_stack(x, m->at.stack, out);
		fputc('}', out);
	}
	fputc('}', out);
}

static void put_markers(const struct convert *c, const struct thread *t, FILE *out)
{
	struct firefox *x = c->state;

	fprintf(out, "\"markers\":{\"length\":%zu,\n\"name\":[", t->nmarkers);
	for (size_t i = 0; i < t->nmarkers; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "",
			wordlist_of(&x->tables.words, x->events[t->markers[i].event].name));
	fputs("],\n\"startTime\":[", out);
	for (size_t i = 0; i < t->nmarkers; i++)
		fprintf(out, "%s%.6f", i ? "," : "", ms(c, t->markers[i].at.time));
	for (int k = 0; k < 3; k++) {
		static const char *const same[][2] = { { "endTime", "null" }, { "phase", "0" }, { "category", "0" } };

		fprintf(out, "],\n\"%s\":[", same[k][0]);
		for (size_t i = 0; i < t->nmarkers; i++)
			fprintf(out, "%s%s", i ? "," : "", same[k][1]);
	}
	fputs("],\n\"data\":[", out);
	for (size_t i = 0; i < t->nmarkers; i++) {
		fputs(i ? ",\n" : "", out);
		put_marker_data(c, &t->markers[i], out);
	}
	fputs("]}", out);
}

/* The name of the process's first thread; if there is none, of this thread. */
static uint32_t process_name(const struct firefox *x, const struct thread *t)
{
	const uint64_t key[] = { t->process, t->process };
	const struct thread *first = thread_at(x, numbers_find(&x->threads, key));

	return first ? first->comm : t->comm;
}

static void put_thread(const struct convert *c, const struct thread *t, FILE *out)
{
	struct firefox *x = c->state;

	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n"
	      "\"name\":", out);
	quote_json(wordlist_at(&x->tables.words, t->comm), out);
	fputs(",\"processName\":", out);
	quote_json(wordlist_at(&x->tables.words, process_name(x, t)), out);
	fprintf(out, ",\"isMainThread\":%s,\"pid\":\"%d", t->pid == t->tid ? "true" : "false", t->pid);
	if (t->nth)
		fprintf(out, ".%u", t->nth);
	fprintf(out, "\",\"tid\":%d,\n", pidmap_shown(t->tid));
	put_samples(c, t, out);
	put_markers(c, t, out);
	fputc('}', out);
}

/* ---- the file -------------------------------------------------------------------------- */

static void put_schemas(const struct firefox *x, FILE *out)
{
	bool more = false;

	fputs("\"markerSchema\":[", out);
	for (size_t i = 0; i < x->nevents; i++) {
		if (!x->marks[i])
			continue;
		fputs(more ? ",\n{\"name\":" : "{\"name\":", out);
		put_text(x->events[i].name, out);
		fputs(",\"tooltipLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\",\"tableLabel\":"
		      "\"{marker.data.fields}\",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[{\"key\":"
		      "\"fields\",\"label\":\"Fields\",\"format\":\"unique-string\"}]}", out);
		more = true;
	}
	fputs("],\n", out);
}

static void put_command(const struct perfdata_info *info, FILE *out)
{
	char text[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < info->ncommand && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "", info->command[i]);
	fputs(",\"arguments\":", out);
	put_text(text, out);
}

static void put_machine(const struct perfdata_info *info, FILE *out)
{
	char text[512];

	snprintf(text, sizeof(text), "Linux %s %s", info->osrelease ? info->osrelease : "",
		 info->arch ? info->arch : "");
	fputs(",\"oscpu\":", out);
	put_text(text, out);
	if (info->cpu) {
		fputs(",\"CPUName\":", out);
		put_text(info->cpu, out);
	}
	if (info->cpus_online)
		fprintf(out, ",\"logicalCPUs\":%" PRIu32, info->cpus_online);
	if (info->memory_kib)
		fprintf(out, ",\"mainMemory\":%" PRIu64, info->memory_kib << 10);
	put_command(info, out);
}

static void put_meta(const struct convert *c, struct analysis *a, FILE *out)
{
	const struct firefox *x = c->state;
	const char *input = a->opts->stream.input, *slash = strrchr(input, '/');
	uint64_t interval = convert_interval(c);

	fprintf(out, "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"processType\":0,"
		"\"stackwalk\":1,\"debug\":false,\"platform\":\"X11\",\"importedFrom\":\"perf-prof\",\"symbolicated\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,\n\"product\":", GECKO_VERSION,
		PROCESSED_VERSION);
	put_text(slash && slash[1] ? slash + 1 : input, out);
	fprintf(out, ",\"interval\":%.6f,\"startTime\":%.6f,\"profilingStartTime\":0,\"profilingEndTime\":%.6f",
		interval ? (double)interval / 1e6 : 1.0,
		(double)(int64_t)(c->first + (uint64_t)stream_realtime_offset(a->stream)) / 1e6, ms(c, c->last));
	put_machine(replay_info(stream_replay(a->stream)), out);
	fputs(",\n\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n\"categories\":["
	      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Guest\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}],\n", out);
	put_schemas(x, out);
	fputs("\"extensions\":{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]}},\n", out);
}

/* Makes rows for all stacks first, so that a lack of memory shows before anything is written. */
static int end(struct convert *c, struct analysis *a, struct fault *f)
{
	struct firefox *x = c->state;
	FILE *out = c->file.out;

	for (struct callstack *s = NULL; (s = callstacks_next(a->stacks, s));) {
		callstacks_expand(a->stacks, s);
		firefox_stack(&x->tables, s);
	}
	for (size_t i = 0; i < x->nevents; i++)
		wordlist_of(&x->tables.words, x->events[i].name);
	if (firefox_tables_lost(&x->tables) || x->threads.lost)
		return fault_set(f, EXIT_FAILED, "--output %s: out of memory", c->out);
	weigh(x);
	put_meta(c, a, out);
	firefox_put_files(&x->tables, replay_info(stream_replay(a->stream))->arch, out);
	fputs("\"threads\":[", out);
	for (uint32_t i = 0; i < x->threads.n; i++) {
		fputs(i ? ",\n" : "", out);
		put_thread(c, thread_at(x, i), out);
	}
	fputs("],\n", out);
	firefox_put_tables(&x->tables, out);
	fputs("}\n", out);
	return 0;
}

static void release(struct convert *c)
{
	struct firefox *x = c->state;

	if (!x)
		return;
	for (uint32_t i = 0; i < x->threads.n; i++) {
		free(thread_at(x, i)->samples);
		free(thread_at(x, i)->markers);
	}
	firefox_tables_free(&x->tables);
	numbers_free(&x->threads);
	free(x->marks);
	free(x);
}

const struct convert_format convert_firefox = {
	.name = "firefox", .suffixes = (const char *const[]){ ".firefox.json", ".profile.json", NULL }, .one = true, .marks = true,
	.begin = begin, .sample = sample, .end = end, .release = release,
};
