/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/builder.h"

#include "tasks/comms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { ALIGN = 64, FULL_BYTES = 64 << 20, FIRST_BYTES = 4096, BLOCK_BYTES = 1 << 20, LEAST_ROWS = 4096 };

struct store {
	char *values;
	uint8_t *valid;                 /* all bits are set, but those of nulls. _lost: none, but those of losses */
	size_t nulls;                   /* not for _lost */
	size_t width;
	enum column_type type;
	size_t values_at, valid_at;     /* in the block */
	struct dictionary texts;
	char *bytes;
	size_t nbytes, bytes_room;
};

struct builder {
	const struct plans *plans;
	struct stream *stream;
	size_t rows, most;              /* in the batch; that it can have */
	size_t losses;                  /* of these: rows that have _lost */
	char **values;                  /* those of `stores`, close together */
	char *block;
	struct block_pool *pool;
	size_t block_size;
	struct texts *names;            /* of the column _event */
	uint64_t last_time;             /* of the last sample, */
	uint32_t last_cpu;              /* and its CPU */
	uint64_t dropped, decoded;
	builder_stack_fn *stack;        /* NULL: stacks have no numbers */
	void *stack_ctx;
	bool fits;                      /* `most` depends on the columns */
	bool full;                      /* before it has `most` rows: bytes take much memory */
	bool one_event;                 /* all rows of the batch have the only event: the column _event is shared */
	struct store stores[];
};

/* ---- memory ------------------------------------------------------------------------ */

static size_t aligned(size_t n)
{
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t values_bytes(const struct store *s, size_t rows)
{
	return s->width * (rows + (s->type == COLUMN_BYTES));
}

/* Where columns of so many rows lie in a block. Its size. */
static size_t lay_out(const struct builder *b, size_t rows, size_t *values_at, size_t *valid_at)
{
	size_t at = 0;

	for (size_t i = 0; i < b->plans->columns->n; i++) {
		values_at[i] = at;
		at += aligned(values_bytes(&b->stores[i], rows));
		valid_at[i] = at;
		at += aligned((rows + 7) / 8);
	}
	return at;
}

/* The column _lost of batches without losses, all of it null: never written. */
static _Alignas(ALIGN) char no_losses[BATCH_ROWS * sizeof(uint64_t)];

/* The column _event of such batches, if the stream has one event. Written once. */
static _Alignas(ALIGN) int32_t only_event[BATCH_ROWS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(int32_t *to, int32_t value, size_t n)
{
	_Static_assert(sizeof(wchar_t) == sizeof(*to), "wmemset() fills numbers of 32 bits");
	wmemset((wchar_t *)to, value, n);
}

static void fill_only_event(void)
{
	fill(only_event, LOSS_NAMES, BATCH_ROWS);   /* the number of the first event: name_events() */
}

static void use_values(struct builder *b, ssize_t column, char *values)
{
	b->stores[column].values = b->values[column] = values;
}

/* The columns of a batch without losses. */
static void begin_shared(struct builder *b)
{
	use_values(b, b->plans->lost, no_losses);
	b->stores[b->plans->lost].valid = (uint8_t *)no_losses;
	b->one_event = b->plans->n == 1 && b->plans->v[0].number == LOSS_NAMES;
	if (!b->one_event)
		return;
	pthread_once(&once, fill_only_event);
	use_values(b, b->plans->event, (char *)only_event);
}

/* The first loss of the batch. */
static void own_shared(struct builder *b)
{
	struct store *s = &b->stores[b->plans->lost], *event = &b->stores[b->plans->event];

	use_values(b, b->plans->lost, b->block + s->values_at);
	s->valid = (uint8_t *)b->block + s->valid_at;
	memset(s->values, 0, b->most * s->width);
	memset(s->valid, 0, (b->most + 7) / 8);
	if (!b->one_event)
		return;
	b->one_event = false;
	use_values(b, b->plans->event, b->block + event->values_at);
	fill((int32_t *)event->values, LOSS_NAMES, b->rows);
}

static int begin_batch(struct builder *b)
{
	size_t valid = (b->most + 7) / 8;

	b->rows = b->losses = 0;
	b->full = false;
	if (!b->block)
		b->block = block_take(b->pool);
	if (!b->block)
		return -1;
	for (size_t i = 0; i < b->plans->columns->n; i++) {
		struct store *s = &b->stores[i];

		s->values = b->values[i] = b->block + s->values_at;
		s->valid = (uint8_t *)b->block + s->valid_at;
		s->nulls = s->nbytes = 0;
		if ((ssize_t)i != b->plans->lost)
			memset(s->valid, 0xff, valid);
		if (s->type == COLUMN_BYTES)
			memset(s->values, 0, s->width);
		if (s->type == COLUMN_TEXT)
			dictionary_rest(&s->texts);
	}
	begin_shared(b);
	return 0;
}

static struct texts *name_events(const struct plans *plans)
{
	struct dictionary d = { 0 };
	struct texts *t = NULL;
	bool whole = true;

	for (size_t i = 0; whole && i < LOSS_NAMES; i++)
		whole = dictionary_number(&d, loss_names[i], strlen(loss_names[i])) >= 0;
	for (size_t i = 0; whole && i < plans->n; i++) {
		int32_t number = dictionary_number(&d, plans->v[i].event->name, strlen(plans->v[i].event->name));

		whole = number >= 0;
		plans->v[i].number = number;   /* two items of -e may have one name */
	}
	if (whole)
		t = dictionary_take(&d);
	dictionary_end(&d);
	return t;
}

_Static_assert(BATCH_ROWS % LEAST_ROWS == 0 && !(BATCH_ROWS & (BATCH_ROWS - 1)), "halves of it end at LEAST_ROWS");

static int begin_stores(struct builder *b)
{
	size_t n = b->plans->columns->n, *places = calloc(2 * n, sizeof(*places));

	if (!places)
		return -1;
	for (size_t i = 0; i < n; i++) {
		b->stores[i].type = b->plans->columns->v[i].type;
		b->stores[i].width = column_width(b->stores[i].type);
	}
	b->block_size = lay_out(b, b->most, places, places + n);
	/* batches of many columns have fewer rows, as several wait for their reader; those of a few columns cost less if large */
	for (bool wide = b->fits && b->block_size > 2 * BLOCK_BYTES; wide && b->block_size > BLOCK_BYTES && b->most > LEAST_ROWS;) {
		b->most /= 2;
		b->block_size = lay_out(b, b->most, places, places + n);
	}
	for (size_t i = 0; i < n; i++) {
		b->stores[i].values_at = places[i];
		b->stores[i].valid_at = places[n + i];
	}
	free(places);
	return 0;
}

struct builder *builder_new(const struct plans *plans, struct stream *s, size_t rows)
{
	struct builder *b = calloc(1, sizeof(*b) + plans->columns->n * sizeof(*b->stores));

	if (!b)
		return NULL;
	b->plans = plans;
	b->stream = s;
	b->fits = !rows;
	b->most = rows ? rows : BATCH_ROWS;
	b->names = name_events(plans);
	b->values = calloc(plans->columns->n, sizeof(*b->values));
	if (b->names && b->values && !begin_stores(b) && (b->pool = block_pool_new(b->block_size)) && !begin_batch(b))
		return b;
	builder_free(b);
	return NULL;
}

void builder_free(struct builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->plans->columns->n; i++) {
		if (b->stores[i].type == COLUMN_TEXT)
			dictionary_end(&b->stores[i].texts);
		free(b->stores[i].bytes);
	}
	block_free(b->block);
	block_pool_free(b->pool);
	texts_release(b->names);
	free(b->values);
	free(b);
}

void builder_set_stacks(struct builder *b, builder_stack_fn *number, void *ctx)
{
	b->stack = number;
	b->stack_ctx = ctx;
}

/* ---- rows -------------------------------------------------------------------------- */

static inline void set_zero(struct store *s, size_t row)
{
	switch (s->width) {
	case 1:
		((uint8_t *)s->values)[row] = 0;
		break;
	case 2:
		((uint16_t *)s->values)[row] = 0;
		break;
	case 4:
		((uint32_t *)s->values)[row] = 0;
		break;
	default:
		((uint64_t *)s->values)[row] = 0;
	}
}

static void set_null(struct store *s, size_t row)
{
	if (s->type == COLUMN_BYTES)
		((int32_t *)s->values)[row + 1] = ((int32_t *)s->values)[row];
	else
		set_zero(s, row);
	s->valid[row / 8] &= (uint8_t)~(1u << (row % 8));
	s->nulls++;
}

static void add_nulls(struct builder *b, const struct row_plan *plan, size_t row)
{
	for (size_t i = 0; i < plan->nmissing; i++)
		set_null(&b->stores[plan->missing[i]], row);
}

static void add_text(struct builder *b, struct store *s, size_t row, const char *text, size_t len)
{
	int32_t number = dictionary_number(&s->texts, text, len);

	if (number >= 0) {
		((int32_t *)s->values)[row] = number;
		return;
	}
	set_null(s, row);
	b->dropped++;
}

static void add_bytes(struct builder *b, struct store *s, size_t row, const char *bytes, size_t len)
{
	if (s->bytes_room - s->nbytes < len) {
		size_t room = s->bytes_room ? s->bytes_room : FIRST_BYTES;
		char *more;

		while (room - s->nbytes < len)
			room *= 2;
		more = realloc(s->bytes, room);
		if (!more) {
			set_null(s, row);
			b->dropped++;
			return;
		}
		s->bytes = more;
		s->bytes_room = room;
	}
	if (len)
		memcpy(s->bytes + s->nbytes, bytes, len);
	s->nbytes += len;
	((int32_t *)s->values)[row + 1] = (int32_t)s->nbytes;
	b->full |= s->nbytes > FULL_BYTES;
}

/* What has no fixed size. A text that lies outside of the sample is null. */
static void add_variable(struct builder *b, const struct reader *r, struct store *s, size_t row, const void *raw,
			 uint32_t raw_size)
{
	const char *data;
	uint32_t len;

	if (trace_field_data(r->field, raw, raw_size, &data, &len))
		set_null(s, row);
	else if (r->kind == READ_TEXT)
		add_text(b, s, row, data, len);
	else
		add_bytes(b, s, row, data, len);
}

static void add_comm(struct builder *b, const struct stream_event *event, struct store *s, size_t row,
		     const struct perf_event_header *rec, const void *raw)
{
	const char *name = event->naming->comm(event->naming->stream, event, rec, raw);

	if (__builtin_expect(comms_is_unknown(name), 0))
		set_null(s, row);
	else
		add_text(b, s, row, name, strlen(name));
}

static void add_stack(struct builder *b, const struct stream_event *event, struct store *s, size_t row,
		      const struct perf_event_header *rec)
{
	int32_t number = b->stack ? b->stack(b->stack_ctx, event, rec) : -1;

	if (number < 0)
		set_null(s, row);
	else
		((int32_t *)s->values)[row] = number;
}

#define COPY(type, from) (*((type *)values + row) = *(const type *)(from))

/* Values of a fixed size: nearly all. */
__attribute__((always_inline)) static inline void
add_fixed(struct builder *b, const struct row_plan *plan, const struct reader *r, size_t row,
	  const struct perf_event_header *rec, const void *raw, uint32_t cpu)
{
	char *values = b->values[r->column];
	const char *in_record = (const char *)rec + r->offset, *in_raw = (const char *)raw + r->offset;

	switch (r->kind) {
	case READ_CPU:
		*((int32_t *)values + row) = (int32_t)cpu;
		if (__builtin_expect((int32_t)cpu < 0, 0))   /* a recording may lack it */
			set_null(&b->stores[r->column], row);
		break;
	case READ_EVENT:
		if (!b->one_event)
			*((int32_t *)values + row) = plan->number;
		break;
	case READ_TIME:
		*((uint64_t *)values + row) = stream_time(b->stream, *(const uint64_t *)in_record);
		break;
	case READ_REALTIME:
		*((uint64_t *)values + row) = *(const uint64_t *)in_record + (uint64_t)stream_realtime_offset(b->stream);
		break;
	case READ_EACH:
		*((uint64_t *)values + row) = plan->event->each;
		break;
	case READ_RECORD_32:
		COPY(uint32_t, in_record);
		break;
	case READ_RECORD_64:
		COPY(uint64_t, in_record);
		break;
	case READ_RAW_8:
		COPY(uint8_t, in_raw);
		break;
	case READ_RAW_16:
		COPY(uint16_t, in_raw);
		break;
	case READ_RAW_32:
		COPY(uint32_t, in_raw);
		break;
	default:
		memcpy((uint64_t *)values + row, in_raw, sizeof(uint64_t));
		break;
	}
}

bool builder_add(struct builder *b, const struct row_plan *plan, const struct perf_event_header *rec, const void *raw,
		 uint32_t raw_size, uint32_t cpu)
{
	const size_t row = b->rows;

	if (__builtin_expect(!b->block, 0) && begin_batch(b)) {
		b->dropped++;
		return false;
	}
	for (const struct reader *r = plan->readers, *end = r + plan->nreaders; r < end; r++) {
		if (r->kind == READ_STACK)
			add_stack(b, plan->event, &b->stores[r->column], row, rec);
		else if (__builtin_expect(r->kind >= READ_TEXT, 0))
			add_variable(b, r, &b->stores[r->column], row, raw, raw_size);
		else if (r->kind == READ_COMM)
			add_comm(b, plan->event, &b->stores[r->column], row, rec, raw);
		else
			add_fixed(b, plan, r, row, rec, raw, cpu);
	}
	if (plan->nmissing)
		add_nulls(b, plan, row);
	b->decoded += plan->nreaders;
	b->last_time = layout_u64(rec, plan->event->layout.time);
	b->last_cpu = cpu;
	return ++b->rows == b->most || b->full;
}

/* ---- many rows of one event, column by column -------------------------------------- */

/* The rows that the next call will fill. */
static void prefetch_next(const void *to, size_t bytes)
{
	for (const char *at = to, *end = at + bytes; at < end; at += ALIGN)
		__builtin_prefetch(at, 1);
}

/* n samples: in arrays, or alike. */
struct origin {
	size_t n;
	const struct perf_event_header *const *rec;   /* NULL: alike */
	const void *const *raw;
	const uint32_t *cpus;
	const char *first;              /* alike */
	size_t size, raw_at;
	uint32_t cpu;
};

static inline const char *record_of(const struct origin o, size_t i)
{
	return o.rec ? (const char *)o.rec[i] : o.first + i * o.size;
}

static inline const char *raw_of(const struct origin o, size_t i)
{
	return o.rec ? (const char *)o.raw[i] : record_of(o, i) + o.raw_at;
}

static inline uint32_t cpu_of(const struct origin o, size_t i)
{
	return o.rec ? o.cpus[i] : o.cpu;
}

#define EACH(type, value)                                                                          \
	do {                                                                                       \
		type *restrict to_ = (type *)values + b->rows;                                     \
		for (size_t i = 0; i < n; i++)                                                     \
			to_[i] = (type)(value);                                                    \
		prefetch_next(to_ + n, n * sizeof(type));                                          \
	} while (0)
#define IN_RECORD(type) (*(const type *)(record_of(o, i) + offset))
#define IN_RAW(type) (*(const type *)(raw_of(o, i) + offset))

static inline void add_cpus(struct builder *b, const struct reader *r, const struct origin o)
{
	int32_t *to = (int32_t *)b->values[r->column] + b->rows;

	for (size_t i = 0; i < o.n; i++) {
		to[i] = (int32_t)cpu_of(o, i);
		if (__builtin_expect(to[i] < 0, 0))
			set_null(&b->stores[r->column], b->rows + i);
	}
}

static uint64_t read_64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));   /* raw data is aligned to 4 bytes */
	return value;
}

__attribute__((always_inline)) static inline void
add_column(struct builder *b, const struct row_plan *plan, const struct reader *r, const struct origin o)
{
	char *values = b->values[r->column];
	struct store *s = &b->stores[r->column];
	const size_t offset = r->offset, n = o.n;
	uint64_t since_epoch;

	switch (r->kind) {
	case READ_CPU: add_cpus(b, r, o); break;
	case READ_EVENT:
		if (!b->one_event)
			fill((int32_t *)values + b->rows, plan->number, n);
		break;
	case READ_TIME: EACH(uint64_t, stream_time(b->stream, IN_RECORD(uint64_t))); break;
	case READ_REALTIME:
		since_epoch = (uint64_t)stream_realtime_offset(b->stream);
		EACH(uint64_t, IN_RECORD(uint64_t) + since_epoch);
		break;
	case READ_EACH: EACH(uint64_t, plan->event->each); break;
	case READ_RECORD_32: EACH(uint32_t, IN_RECORD(uint32_t)); break;
	case READ_RECORD_64: EACH(uint64_t, IN_RECORD(uint64_t)); break;
	case READ_RAW_8: EACH(uint8_t, IN_RAW(uint8_t)); break;
	case READ_RAW_16: EACH(uint16_t, IN_RAW(uint16_t)); break;
	case READ_RAW_32: EACH(uint32_t, IN_RAW(uint32_t)); break;
	case READ_RAW_64: EACH(uint64_t, read_64(raw_of(o, i) + offset)); break;
	case READ_COMM:
		for (size_t i = 0; i < n; i++)
			add_comm(b, plan->event, s, b->rows + i, (const void *)record_of(o, i), raw_of(o, i));
		break;
	default:
		for (size_t i = 0; i < n; i++)
			add_variable(b, r, s, b->rows + i, raw_of(o, i), stream_raw_size(raw_of(o, i)));
	}
}

__attribute__((always_inline)) static inline void
add_columns(struct builder *b, const struct row_plan *plan, const struct origin o)
{
	for (const struct reader *r = plan->readers, *end = r + plan->nreaders; r < end; r++)
		add_column(b, plan, r, o);
	for (size_t i = 0; plan->nmissing && i < o.n; i++)
		add_nulls(b, plan, b->rows + i);
	b->decoded += o.n * plan->nreaders;
	b->last_time = layout_u64((const void *)record_of(o, o.n - 1), plan->event->layout.time);
	b->last_cpu = cpu_of(o, o.n - 1);
	b->rows += o.n;
}

static size_t same_event(const struct stream_event *const *v, size_t n)
{
	const struct stream_event *first = *v;
	size_t i = 1;

	for (; i + 4 <= n; i += 4)
		if ((v[i] != first) | (v[i + 1] != first) | (v[i + 2] != first) | (v[i + 3] != first))
			break;
	while (i < n && v[i] == first)
		i++;
	return i;
}

bool builder_add_samples(struct builder *b, const struct stream_samples *v, size_t from, size_t n)
{
	const size_t end = from + n;

	if (__builtin_expect(!b->block, 0) && begin_batch(b)) {
		b->dropped += n;
		return false;
	}
	for (size_t i = from, most; i < end; i += most) {
		const struct row_plan *plan = v->event[i]->consumer;

		most = plan->by_rows ? 1 : same_event(v->event + i, end - i);
		if (most == 1)
			builder_add(b, plan, v->rec[i], v->raw[i], stream_raw_size(v->raw[i]), v->cpu[i]);
		else
			add_columns(b, plan, (struct origin){ most, v->rec + i, v->raw + i, v->cpu + i });
	}
	return b->rows == b->most || b->full;
}

bool builder_add_alike(struct builder *b, const struct stream_alike *v, size_t from, size_t n)
{
	const struct row_plan *plan = v->event->consumer;
	const struct origin o = {
		.n = n, .first = v->first + from * v->size, .size = v->size, .raw_at = v->raw_at, .cpu = v->cpu,
	};

	if (__builtin_expect(!b->block, 0) && begin_batch(b)) {
		b->dropped += n;
		return false;
	}
	if (!plan->by_rows) {
		add_columns(b, plan, o);
		return b->rows == b->most || b->full;
	}
	for (size_t i = 0; i < n; i++)
		builder_add(b, plan, (const void *)record_of(o, i), raw_of(o, i), v->raw_size, v->cpu);
	return b->rows == b->most || b->full;
}

size_t builder_room(const struct builder *b)
{
	return b->most - b->rows;
}

/* Of a row that was null. */
static void set_number(struct store *s, size_t row, uint64_t value)
{
	memcpy(s->values + row * s->width, &value, s->width);
	s->valid[row / 8] |= (uint8_t)(1u << (row % 8));
	s->nulls--;
}

static size_t nulls_of(const struct builder *b, size_t column)
{
	return (ssize_t)column == b->plans->lost ? b->rows - b->losses : b->stores[column].nulls;
}

/* By the perf clock; 0: not known. */
static uint64_t time_of(const struct builder *b, const struct stream_loss *loss)
{
	uint64_t time = loss->end ? loss->end : loss->start;

	return !time && (int32_t)b->last_cpu == loss->cpu ? b->last_time : time;
}

bool builder_add_loss(struct builder *b, const struct stream_loss *loss)
{
	const struct plans *p = b->plans;
	uint64_t time = time_of(b, loss);

	if (!b->block && begin_batch(b))
		return false;
	if (!b->losses)
		own_shared(b);
	add_nulls(b, &p->loss, b->rows);
	set_number(&b->stores[p->event], b->rows, (uint64_t)loss->cause);
	set_number(&b->stores[p->lost], b->rows, loss->count);
	if (p->time >= 0 && time)
		set_number(&b->stores[p->time], b->rows, stream_time(b->stream, time));
	if (p->realtime >= 0 && time)
		set_number(&b->stores[p->realtime], b->rows, time + (uint64_t)stream_realtime_offset(b->stream));
	if (p->cpu >= 0 && loss->cpu >= 0)
		set_number(&b->stores[p->cpu], b->rows, (uint64_t)loss->cpu);
	b->losses++;
	return ++b->rows == b->most;
}

size_t builder_rows(const struct builder *b)
{
	return b->rows;
}

/* ---- batches ----------------------------------------------------------------------- */

/* A small batch is copied, so that it does not hold the memory of a full one. */
static bool is_small(const struct builder *b)
{
	return b->rows < b->most / 4;
}

/* Copies the rows into a block of their size. */
static int copy_rows(struct builder *b, struct batch *out)
{
	size_t n = b->plans->columns->n, *at = calloc(2 * n, sizeof(*at));
	char *block = at ? block_alloc(lay_out(b, b->rows, at, at + n)) : NULL;

	for (size_t i = 0; block && i < n; i++) {
		struct store *s = &b->stores[i];

		memcpy(block + at[i], s->values, values_bytes(s, b->rows));
		memcpy(block + at[n + i], s->valid, (b->rows + 7) / 8);
		out->v[i].values = block + at[i];
		out->v[i].valid = nulls_of(b, i) ? (uint8_t *)block + at[n + i] : NULL;
	}
	free(at);
	out->block = block;
	return block ? 0 : -1;
}

static void hand_over_rows(struct builder *b, struct batch *out)
{
	for (size_t i = 0; i < b->plans->columns->n; i++) {
		out->v[i].values = b->stores[i].values;
		out->v[i].valid = nulls_of(b, i) ? b->stores[i].valid : NULL;
	}
	out->block = b->block;
	b->block = NULL;
}

static int take_others(struct builder *b, struct batch *out)
{
	for (size_t i = 0; i < b->plans->columns->n; i++) {
		struct store *s = &b->stores[i];

		out->v[i].nulls = nulls_of(b, i);
		if ((ssize_t)i == b->plans->event)
			out->v[i].texts = texts_keep(b->names);
		else if (s->type == COLUMN_TEXT && !(out->v[i].texts = dictionary_take(&s->texts)))
			return -1;
		if (s->type != COLUMN_BYTES)
			continue;
		out->v[i].bytes = s->bytes ? s->bytes : calloc(1, 1);
		s->bytes = NULL;
		s->bytes_room = 0;
	}
	return 0;
}

struct batch *builder_take(struct builder *b)
{
	struct batch *out;

	if (!b->rows)
		return NULL;
	out = batch_new(b->plans->columns);
	if (out && is_small(b) && copy_rows(b, out))
		goto short_of_memory;
	if (out && !is_small(b))
		hand_over_rows(b, out);
	if (!out || take_others(b, out))
		goto short_of_memory;
	out->rows = b->rows;
	begin_batch(b);
	return out;
short_of_memory:
	b->dropped += b->rows;
	batch_release(out);
	begin_batch(b);
	return NULL;
}

uint64_t builder_dropped(const struct builder *b)
{
	return b->dropped;
}

uint64_t builder_decoded(const struct builder *b)
{
	return b->decoded;
}
