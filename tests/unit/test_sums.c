/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by key of made-up batches, beside the same computed row by row; buckets; what is bounded. */
#include "checks.h"

#include "sums/sums.h"
#include "table/histogram.h"

enum { ROWS = 5000, KEYS = 300, BEGIN = LOSS_NAMES, END };
enum { TIME, EVENT, LOST, KEY, NUMBER, NCOLUMNS };

/* ---- batches ------------------------------------------------------------------------- */

static const char *const names[NCOLUMNS] = { "_time", "_event", "_lost", "key", "number" };
static const enum column_type types[NCOLUMNS] = { COLUMN_U64, COLUMN_TEXT, COLUMN_U64, COLUMN_S32, COLUMN_S64 };
static const char *const events[] = { "begin", "end", NULL };

struct row {
	uint64_t time;
	int32_t event;                  /* below BEGIN: a loss of that cause, of 3 events */
	int32_t key;
	int64_t number;
	bool has_key, has_number;
};

static uint64_t seed;

static uint64_t any(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return seed >> 33;
}

static struct columns *c;
static struct row rows[ROWS];
static struct sums *s;

static int set_up(void **state)
{
	c = calloc(1, sizeof(*c));
	c->refs = 1;
	c->n = NCOLUMNS;
	c->v = calloc(NCOLUMNS, sizeof(*c->v));
	for (size_t i = 0; i < NCOLUMNS; i++)
		c->v[i] = (struct column){ strdup(names[i]), types[i] };
	return 0;
}

static int tear_down(void **state)
{
	sums_free(s);
	columns_release(c);
	return 0;
}

static struct texts *event_names(void)
{
	struct dictionary d = { 0 };
	struct texts *t;

	for (size_t i = 0; i < LOSS_NAMES; i++)
		dictionary_number(&d, loss_names[i], strlen(loss_names[i]));
	for (size_t i = 0; events[i]; i++)
		dictionary_number(&d, events[i], strlen(events[i]));
	t = dictionary_take(&d);
	dictionary_end(&d);
	return t;
}

static void put(struct batch *b, size_t column, size_t row, uint64_t value, bool has)
{
	size_t width = column_width(types[column]);
	uint8_t *valid = (uint8_t *)b->v[column].valid;

	memcpy((char *)b->v[column].values + row * width, &value, width);
	if (has)
		valid[row / 8] |= (uint8_t)(1u << row % 8);
	else
		b->v[column].nulls++;
}

static struct batch *make_batch(const struct row *first, size_t n)
{
	struct batch *b = batch_new(c);
	char *at = b->block = block_alloc(NCOLUMNS * 16 * n);

	memset(at, 0, NCOLUMNS * 16 * n);
	b->rows = n;
	for (size_t i = 0; i < NCOLUMNS; i++, at += 16 * n) {
		b->v[i].values = at;
		b->v[i].valid = (uint8_t *)at + 8 * n;
	}
	b->v[EVENT].texts = event_names();
	for (size_t i = 0; i < n; i++) {
		bool lost = first[i].event < BEGIN;

		put(b, TIME, i, first[i].time, true);
		put(b, EVENT, i, (uint64_t)first[i].event, true);
		put(b, LOST, i, 3, lost);
		put(b, KEY, i, (uint64_t)first[i].key, !lost && first[i].has_key);
		put(b, NUMBER, i, (uint64_t)first[i].number, !lost && first[i].has_number);
	}
	for (size_t i = 0; i < NCOLUMNS; i++)
		if (!b->v[i].nulls)
			b->v[i].valid = NULL;
	return b;
}

static void make_rows(bool losses)
{
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = (struct row){
			.time = 1000 + i,
			.event = losses && any() % 500 == 0 ? (int32_t)(any() % LOSS_NAMES) : BEGIN + (int32_t)(any() % 2),
			.key = (int32_t)(any() % KEYS) - KEYS / 2, .number = (int64_t)(any() % 2000) - 1000,
			.has_key = any() % 10 != 0, .has_number = any() % 10 != 0,
		};
}

static void make_sums(const struct sums_word *values, size_t n, size_t max_keys)
{
	static const struct sums_word key = { "k", "key" };
	struct sums_asked asked = { .keys = &key, .nkeys = 1, .values = values, .nvalues = n, .max_keys = max_keys };
	struct fault f = { 0 };

	s = sums_new(&asked, c, events, &f);
	assert_string_equal(f.text, "");
	assert_non_null(s);
}

/* Adds the rows in batches of any size, and takes the result. */
static struct batch *sum(void)
{
	for (size_t from = 0, size; from < ROWS; from += size) {
		struct batch *b;
		size_t row = 0;

		size = 1 + any() % 2000;
		size = size < ROWS - from ? size : ROWS - from;
		b = make_batch(rows + from, size);
		assert_false(sums_add(s, b, &row));
		assert_int_equal(row, size);
		batch_release(b);
	}
	return sums_take(s);
}

/* ---- tests --------------------------------------------------------------------------- */

enum { OUT_EVENT = 1, OUT_LOST, OUT_KEY, OUT_VALUES };

static void check_row(const struct batch *b, size_t row)
{
	bool has_key = !batch_is_null(b, OUT_KEY, row);
	int32_t key = (int32_t)batch_number(b, OUT_KEY, row);
	int64_t total = 0, least = INT64_MAX, most = INT64_MIN, n = 0, values = 0;

	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];

		if (r->event < BEGIN || r->has_key != has_key || (has_key && r->key != key))
			continue;
		n++;
		if (!r->has_number)
			continue;
		values++;
		total += r->number;
		least = r->number < least ? r->number : least;
		most = r->number > most ? r->number : most;
	}
	assert_int_equal(batch_number(b, OUT_VALUES, row), n);
	assert_int_equal(!batch_is_null(b, OUT_VALUES + 1, row), values > 0);
	if (!values)
		return;
	assert_int_equal((int64_t)batch_number(b, OUT_VALUES + 1, row), total);
	assert_int_equal((int64_t)batch_number(b, OUT_VALUES + 2, row), least * 2);
	assert_int_equal((int64_t)batch_number(b, OUT_VALUES + 3, row), most);
}

TEST_WITH(by_key, set_up, tear_down)
{
	static const struct sums_word values[] = {
		{ "n", "count()" }, { "total", "sum(number)" }, { "least", "min(number * 2)" }, { "most", "max(number)" },
	};

	make_sums(values, COUNT(values), 100000);
	for (seed = 1; seed < 4; seed++) {   /* again: nothing is left of the time before */
		uint64_t n = 0, lost = 0, were = seed;
		struct batch *b;

		make_rows(true);
		b = sum();
		assert_non_null(b);
		for (size_t i = 0; i < b->rows; i++) {
			bool is_loss = !batch_is_null(b, OUT_LOST, i);

			n += is_loss ? 0 : batch_number(b, OUT_VALUES, i);
			lost += is_loss ? batch_number(b, OUT_LOST, i) / 3 : 0;
			if (!is_loss)
				check_row(b, i);
		}
		assert_int_equal(n + lost, ROWS);
		assert_true(lost > 0);
		batch_release(b);
		seed = were;
	}
	assert_true(sums_is_empty(s));
	assert_null(sums_take(s));
}

TEST_WITH(bounded, set_up, tear_down)
{
	static const struct sums_word values[] = { { "n", "count()" } };
	struct sums_stats stats;
	struct batch *b;
	uint64_t n = 0;

	make_sums(values, 1, 10);
	seed = 5;
	make_rows(false);
	b = sum();
	assert_int_equal(b->rows, 11);
	for (size_t i = 0; i < 10; i++)
		n += batch_number(b, OUT_VALUES, i);
	n += batch_number(b, OUT_LOST, 10);
	assert_int_equal(n, ROWS);
	sums_stats(s, &stats);
	assert_int_equal(stats.lost_keys, batch_number(b, OUT_LOST, 10));
	batch_release(b);
}

/* Keys come and go: the table of open pairs grows, and closes the gaps of those that ended. */
TEST_WITH(pairs, set_up, tear_down)
{
	static const struct sums_word values[] = {
		{ "total", "sum(pair(\"begin\", \"end\", key))" }, { "n", "count(pair(\"begin\", \"end\", key))" },
	};
	uint64_t since[KEYS] = { 0 }, total[KEYS] = { 0 }, n[KEYS] = { 0 }, open = 0, ended = 0;
	struct sums_stats stats;
	struct batch *b;

	make_sums(values, COUNT(values), 100000);
	seed = 7;
	make_rows(true);
	for (size_t i = 0; i < ROWS; i++) {
		size_t key = (size_t)(rows[i].key + KEYS / 2);

		if (rows[i].event < BEGIN) {
			memset(since, 0, sizeof(since));
		} else if (rows[i].has_key && rows[i].event == BEGIN) {
			since[key] = rows[i].time;
		} else if (rows[i].has_key && since[key]) {
			total[key] += rows[i].time - since[key];
			n[key]++;
			since[key] = 0;
		}
	}
	b = sum();
	for (size_t i = 0; i < b->rows; i++) {
		size_t key = (size_t)((int32_t)batch_number(b, OUT_KEY, i) + KEYS / 2);

		if (!batch_is_null(b, OUT_LOST, i))
			continue;
		assert_int_equal(batch_number(b, OUT_VALUES, i), total[key]);
		assert_int_equal(batch_number(b, OUT_VALUES + 1, i), n[key]);
		ended += n[key];
		n[key] = 0;
	}
	assert_true(ended > 100);
	for (size_t key = 0; key < KEYS; key++) {
		assert_int_equal(n[key], 0);   /* each had its row */
		open += since[key] != 0;
	}
	sums_stats(s, &stats);
	assert_int_equal(stats.open_pairs, open);
	batch_release(b);
}

static bool less(const struct buckets *b, uint64_t x, uint64_t y)
{
	return b->is_signed ? (int64_t)x < (int64_t)y : x < y;
}

static void check_bucket(const struct buckets *b, uint64_t value)
{
	uint64_t low, high, l, h;

	bucket_of(b, value, &low, &high);
	assert_false(less(b, value, low));
	assert_false(less(b, high, value));
	bucket_of(b, low, &l, &h);
	assert_true(l == low && h == high);
	bucket_of(b, high, &l, &h);
	assert_true(l == low && h == high);
}

TEST(buckets)
{
	static const struct buckets kinds[] = {
		{ BUCKETS_LOG2, false, 1 }, { BUCKETS_LINEAR, false, 10 }, { BUCKETS_LOGLINEAR, false, 8 },
		{ BUCKETS_LINEAR, false, INT64_MAX }, { BUCKETS_LOGLINEAR, false, 1024 }, { BUCKETS_LINEAR, false, 1 },
		{ BUCKETS_LOGLINEAR, false, 1 },
	};

	for (size_t k = 0; k < 2 * COUNT(kinds); k++) {
		struct buckets b = kinds[k / 2];

		b.is_signed = k % 2;
		for (unsigned int bit = 0; bit < 64; bit++)
			for (uint64_t near = 0; near < 5; near++) {
				check_bucket(&b, (UINT64_C(1) << bit) + near - 2);
				check_bucket(&b, -(UINT64_C(1) << bit) + near - 2);
			}
		for (size_t i = 0; i < 1000; i++)
			check_bucket(&b, (any() << 33 ^ any()) >> any() % 64);
	}
}
