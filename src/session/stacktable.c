/* SPDX-License-Identifier: Apache-2.0 */
#include "session/stacktable.h"

#include "base/hash.h"
#include "base/note.h"
#include "base/now.h"
#include "base/room.h"
#include "columns/batch.h"
#include "engine/callstacks.h"
#include "engine/samplestack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Frames of call stacks by number, each different one once, with texts of its own: they outlive the processes and the
 * files that they are from. */

/* What equal frames have in common. Texts are numbers in the dictionaries of the table; -1: none. */
struct frame_row {
	uint64_t addr, offset;
	int32_t symbol, dso, file;
	uint32_t line;
	uint8_t kernel, inlined;
	uint8_t unused[6];              /* 0: rows are compared as bytes */
};

struct frame_number;

struct frametable {
	struct dictionary symbols, dsos, files;
	struct frame_row *v;
	size_t n, room;
	struct frame_number *numbers;   /* by content */
};

struct frame_number {
	struct frame_row row;
	int32_t number;
	UT_hash_handle hh;
};

static void frametable_end(struct frametable *t)
{
	HASH_FREE(t->numbers);
	free(t->v);
	dictionary_end(&t->symbols);
	dictionary_end(&t->dsos);
	dictionary_end(&t->files);
	*t = (struct frametable){ 0 };
}

/* False: no memory. */
static bool text_number(struct dictionary *d, const char *text, int32_t *number)
{
	*number = text ? dictionary_number(d, text, strlen(text)) : -1;
	return !text || *number >= 0;
}

static int32_t frametable_add(struct frametable *t, const struct frame_row *row)
{
	struct frame_number *one = t->n < INT32_MAX ? calloc(1, sizeof(*one)) : NULL;

	if (!one || !ROOM_FOR(t->v, t->room, t->n, 1)) {
		free(one);
		return -1;
	}
	one->row = *row;
	one->number = (int32_t)t->n;
	HASH_ADD(hh, t->numbers, row, sizeof(one->row), one);
	one = HASH_KEPT(one);
	if (!one)
		return -1;
	t->v[t->n++] = *row;
	return one->number;
}

/* The number of a frame with that content; -1: no memory. */
static int32_t frametable_number(struct frametable *t, const struct frame *frame)
{
	struct frame_row row;
	struct frame_number *one = NULL;

	memset(&row, 0, sizeof(row));
	row.addr = frame->addr;
	row.offset = frame->offset;
	row.line = frame->line;
	row.kernel = frame->kernel;
	row.inlined = frame->inlined;
	if (!text_number(&t->symbols, frame->symbol, &row.symbol) || !text_number(&t->dsos, frame->dso, &row.dso) ||
	    !text_number(&t->files, frame->file, &row.file))
		return -1;
	HASH_FIND(hh, t->numbers, &row, sizeof(row), one);
	return one ? one->number : frametable_add(t, &row);
}

enum { FRAMETABLE_FRAME, ADDR, SYMBOL, OFFSET, KERNEL, DSO, FILE_NAME, LINE, INLINED, FRAMETABLE_COLUMNS };

static const struct column frametable_columns[FRAMETABLE_COLUMNS] = {
	[FRAMETABLE_FRAME] = { "frame", COLUMN_S32 }, [ADDR] = { "addr", COLUMN_U64 }, [SYMBOL] = { "symbol", COLUMN_TEXT },
	[OFFSET] = { "offset", COLUMN_U64 }, [KERNEL] = { "kernel", COLUMN_U8 }, [DSO] = { "dso", COLUMN_TEXT },
	[FILE_NAME] = { "file", COLUMN_TEXT }, [LINE] = { "line", COLUMN_U32 }, [INLINED] = { "inlined", COLUMN_U8 },
};

static void set_text(struct batch *b, size_t column, size_t row, int32_t number)
{
	if (number < 0)
		batch_set_null(b, column, row);
	else
		((int32_t *)batch_values(b, column))[row] = number;
}

static void set_row(struct batch *b, size_t row, const struct frame_row *f, size_t number)
{
	((int32_t *)batch_values(b, FRAMETABLE_FRAME))[row] = (int32_t)number;
	((uint64_t *)batch_values(b, ADDR))[row] = f->addr;
	((uint64_t *)batch_values(b, OFFSET))[row] = f->offset;
	((uint32_t *)batch_values(b, LINE))[row] = f->line;
	((uint8_t *)batch_values(b, KERNEL))[row] = f->kernel;
	((uint8_t *)batch_values(b, INLINED))[row] = f->inlined;
	set_text(b, SYMBOL, row, f->symbol);
	set_text(b, DSO, row, f->dso);
	set_text(b, FILE_NAME, row, f->file);
	if (!f->line)
		batch_set_null(b, LINE, row);
}

/* The frames from number `from` on. NULL: no memory. */
static struct batch *frametable_batch(struct frametable *t, size_t from)
{
	struct columns *c = columns_copy(frametable_columns, FRAMETABLE_COLUMNS);
	size_t first = from < t->n ? from : t->n;
	struct batch *b = c ? batch_new_rows(c, t->n - first) : NULL;

	columns_release(c);
	if (!b)
		return NULL;
	b->v[SYMBOL].texts = dictionary_take(&t->symbols);
	b->v[DSO].texts = dictionary_take(&t->dsos);
	b->v[FILE_NAME].texts = dictionary_take(&t->files);
	for (size_t i = first; i < t->n; i++)
		set_row(b, i - first, &t->v[i], i);
	if (b->v[SYMBOL].texts && b->v[DSO].texts && b->v[FILE_NAME].texts)
		return b;
	batch_release(b);
	return NULL;
}

static size_t frametable_bytes(const struct frametable *t)
{
	return t->n * (sizeof(struct frame_number) + sizeof(*t->v)) + t->symbols.bytes + t->dsos.bytes +
	       t->files.bytes;
}

/* STACKS: bytes of stacks that have numbers. SPARE: of others before they are dropped. SHIFT: ns for one stacktable_answer(). */
#define STACKS ((size_t)64 << 20)
#define SPARE ((size_t)16 << 20)
#define SHIFT UINT64_C(20000000)

/* A stack, as others see it. */
struct known {
	struct callstack *stack;        /* the thread's; NULL after the run */
	size_t first, n;                /* in `numbers` */
	bool complete;
	_Atomic uint64_t samples;
};

struct stacktable {
	/* The session's thread's own. */
	struct names names;
	struct callstacks *stacks;      /* NULL: before stacktable_open() and after the run */
	size_t cursor;                  /* where stacktable_answer() goes on */
	size_t kept_bytes;              /* after the last callstacks_rest() */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock; the thread may read all but `wanted` without it. */
	struct known *v;
	size_t n, room;
	size_t wanted;                  /* stacks below this are asked for */
	size_t settled;                 /* stacks below this are complete */
	bool ended, over;               /* no more stacks come; all names are there */
	int32_t *numbers;               /* of frames */
	size_t nnumbers, numbers_room;
	struct frametable frames;
	uint64_t refused;
};

struct stacktable *stacktable_new(void)
{
	struct stacktable *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;

	if (!t)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, &attr);
	pthread_condattr_destroy(&attr);
	return t;
}

void stacktable_free(struct stacktable *t)
{
	if (!t)
		return;
	frametable_end(&t->frames);
	free(t->numbers);
	free(t->v);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* ---- the session's thread: numbers -------------------------------------------------- */

int stacktable_open(struct stacktable *t, struct stream *stream, const struct opener *opener, struct fault *f)
{
	if (names_begin(&t->names, stream, opener, f))
		return -1;
	t->stacks = callstacks_new(&t->names, true, STACKS);
	if (!t->stacks)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (names_open(&t->names, -1, f))
		return -1;
	if (t->names.symbolizer && symbolizer_read_kernel(t->names.symbolizer))
		note(1, "kernel functions have no names: this user may not see their addresses, or the recording is of another "
		     "kernel");
	return 0;
}

int stacktable_watch(struct stacktable *t, struct fault *f)
{
	return names_watch(&t->names, 1, f);
}

void stacktable_take(struct stacktable *t, const struct pev_record *rec)
{
	names_take(&t->names, rec);
}

static int32_t refuse(struct stacktable *t)
{
	pthread_mutex_lock(&t->lock);
	t->refused++;
	pthread_mutex_unlock(&t->lock);
	return -1;
}

static int32_t add(struct stacktable *t, struct callstack *stack)
{
	bool fits = t->n < INT32_MAX && callstacks_bytes(t->stacks) + frametable_bytes(&t->frames) <= STACKS;
	int32_t number = (int32_t)t->n;

	pthread_mutex_lock(&t->lock);
	fits = fits && ROOM_FOR(t->v, t->room, t->n, 1);
	if (fits)
		t->v[t->n++] = (struct known){ .stack = stack };
	pthread_mutex_unlock(&t->lock);
	if (!fits)
		return refuse(t);
	stack->user = (void *)((uintptr_t)number + 1);
	return number;
}

int32_t stacktable_number(void *table, const struct stream_event *event, const struct perf_event_header *rec)
{
	struct stacktable *t = table;
	uint64_t refused = callstacks_refused(t->stacks);
	struct callstack *stack = sample_stack(&t->names, t->stacks, event, rec);
	int32_t number;

	if (!stack)
		return callstacks_refused(t->stacks) > refused ? refuse(t) : -1;
	number = stack->user ? (int32_t)((uintptr_t)stack->user - 1) : stack->n ? add(t, stack) : -1;
	if (number >= 0)
		atomic_fetch_add_explicit(&t->v[number].samples, 1, memory_order_relaxed);
	return number;
}

static void keep_numbered(void *ctx)
{
	struct stacktable *t = ctx;

	for (size_t i = 0; i < t->n; i++)
		callstacks_keep(t->v[i].stack);
}

/* Once the table is full, the stacks that come then have no number and are dropped. */
static void drop_others(struct stacktable *t)
{
	if (callstacks_bytes(t->stacks) <= (t->kept_bytes > STACKS ? t->kept_bytes : STACKS) + SPARE)
		return;
	callstacks_rest(t->stacks, keep_numbered, t);
	t->kept_bytes = callstacks_bytes(t->stacks);
}

/* ---- the session's thread: names ---------------------------------------------------- */

/* Under the lock. Frames that have names now may have been there without. */
static void publish(struct stacktable *t, struct known *k, bool complete)
{
	const struct callstack *stack = k->stack;

	k->complete = complete;
	if (k->n != stack->n) {
		if (!ROOM_FOR(t->numbers, t->numbers_room, t->nnumbers, stack->n))
			return;
		k->first = t->nnumbers;
		k->n = stack->n;
		t->nnumbers += stack->n;
	}
	for (uint32_t i = 0; i < stack->n; i++)
		t->numbers[k->first + i] = frametable_number(&t->frames, stack->frames[i]);
}

static void look_up(struct stacktable *t, size_t i)
{
	bool complete = callstacks_expand(t->stacks, t->v[i].stack);

	if (!complete && t->v[i].n)
		return;
	pthread_mutex_lock(&t->lock);
	publish(t, &t->v[i], complete);
	pthread_mutex_unlock(&t->lock);
}

static size_t wanted(struct stacktable *t)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->wanted;
	pthread_mutex_unlock(&t->lock);
	return n;
}

static void settle(struct stacktable *t, bool over)
{
	pthread_mutex_lock(&t->lock);
	while (t->settled < t->n && t->v[t->settled].complete)
		t->settled++;
	t->over = over;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

/* One round over those that are not complete, from where the last one stopped: none keeps the others waiting. */
void stacktable_answer(struct stacktable *t)
{
	size_t from = t->settled, to = wanted(t);
	uint64_t end = now_ns(CLOCK_MONOTONIC) + SHIFT;

	drop_others(t);
	if (from >= to)
		return;
	for (size_t k = from; k < to && now_ns(CLOCK_MONOTONIC) < end; k++) {
		if (t->cursor < from || t->cursor >= to)
			t->cursor = from;
		if (!t->v[t->cursor].complete)
			look_up(t, t->cursor);
		t->cursor++;
	}
	settle(t, false);
}

void stacktable_end(struct stacktable *t)
{
	pthread_mutex_lock(&t->lock);
	t->ended = true;
	pthread_mutex_unlock(&t->lock);
}

static void finish_stack(struct stacktable *t, struct known *k)
{
	callstacks_expand(t->stacks, k->stack);
	pthread_mutex_lock(&t->lock);
	publish(t, k, true);
	k->stack = NULL;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

void stacktable_finish(struct stacktable *t)
{
	names_finish(&t->names);
	if (t->stacks)
		callstacks_name_late(t->stacks);
	for (size_t i = 0; i < t->n; i++)
		finish_stack(t, &t->v[i]);
	if (t->stacks)
		names_tell(&t->names, 1);
	settle(t, true);
	callstacks_free(t->stacks);
	t->stacks = NULL;
	names_end(&t->names);
}

/* ---- any thread --------------------------------------------------------------------- */

size_t stacktable_count(struct stacktable *t)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->n;
	pthread_mutex_unlock(&t->lock);
	return n;
}

uint64_t stacktable_samples(struct stacktable *t, size_t stack)
{
	uint64_t n;

	pthread_mutex_lock(&t->lock);
	n = stack < t->n ? t->v[stack].samples : 0;
	pthread_mutex_unlock(&t->lock);
	return n;
}

uint64_t stacktable_refused(struct stacktable *t)
{
	uint64_t n;

	pthread_mutex_lock(&t->lock);
	n = t->refused;
	pthread_mutex_unlock(&t->lock);
	return n;
}

static bool is_there(const struct stacktable *t, size_t stack, size_t n)
{
	return t->over || (stack == STACKS_ALL ? t->settled >= n : stack >= t->n || t->v[stack].complete);
}

bool stacktable_wait(struct stacktable *t, size_t stack, unsigned int ms)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);
	struct timespec until = { (time_t)(end / 1000000000), (long)(end % 1000000000) };
	bool there;
	size_t n;
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	n = t->wanted = t->n;   /* who asks for one asks for others soon */
	while (!(there = is_there(t, stack, n)) && !rc)
		rc = pthread_cond_timedwait(&t->changed, &t->lock, &until);
	pthread_mutex_unlock(&t->lock);
	return there;
}

bool stacktable_is_ending(struct stacktable *t)
{
	bool is;

	pthread_mutex_lock(&t->lock);
	is = t->ended && !t->over;
	pthread_mutex_unlock(&t->lock);
	return is;
}

size_t stacktable_settled(struct stacktable *t)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->over ? t->n : t->settled;
	pthread_mutex_unlock(&t->lock);
	return n;
}

ssize_t stacktable_frames(struct stacktable *t, size_t stack, int32_t **frames)
{
	ssize_t n = -1;

	pthread_mutex_lock(&t->lock);
	if (stack < t->n && (*frames = malloc(t->v[stack].n * sizeof(**frames) + 1))) {
		n = (ssize_t)t->v[stack].n;
		if (n)
			memcpy(*frames, t->numbers + t->v[stack].first, (size_t)n * sizeof(**frames));
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}

enum { STACK, DEPTH, FRAME, COLUMNS };

static const struct column columns[COLUMNS] = {
	[STACK] = { "stack", COLUMN_S32 }, [DEPTH] = { "depth", COLUMN_S32 }, [FRAME] = { "frame", COLUMN_S32 },
};

static size_t rows_of(const struct stacktable *t)
{
	size_t rows = 0;

	for (size_t i = 0; i < t->n; i++)
		rows += t->v[i].n;
	return rows;
}

/* A frame that there was no memory for is null. */
static void fill(const struct stacktable *t, struct batch *b)
{
	int32_t *stacks = batch_values(b, STACK), *depths = batch_values(b, DEPTH), *frames = batch_values(b, FRAME);
	size_t row = 0;

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->v[i].n; k++, row++) {
			stacks[row] = (int32_t)i;
			depths[row] = (int32_t)k;
			frames[row] = t->numbers[t->v[i].first + k];
			if (frames[row] < 0)
				batch_set_null(b, FRAME, row);
		}
}

struct batch *stacktable_stacks_batch(struct stacktable *t)
{
	struct columns *c = columns_copy(columns, COLUMNS);
	struct batch *b = NULL;

	pthread_mutex_lock(&t->lock);
	if (c)
		b = batch_new_rows(c, rows_of(t));
	if (b)
		fill(t, b);
	pthread_mutex_unlock(&t->lock);
	columns_release(c);
	return b;
}

struct batch *stacktable_frames_batch(struct stacktable *t, size_t from)
{
	struct batch *b;

	pthread_mutex_lock(&t->lock);
	b = frametable_batch(&t->frames, from);
	pthread_mutex_unlock(&t->lock);
	return b;
}
