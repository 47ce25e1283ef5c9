/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/breakdownrows.h"

#include "analysis/durations/breakdown.h"
#include "analysis/durations/breakdownparts.h"
#include "base/escape.h"
#include "base/units.h"
#include "engine/framefold.h"
#include "report/json.h"
#include "tasks/pidmap.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *words;
	const char *how;             /* what tasks of a part did; NULL: there are none */
} parts[BREAKDOWN_PARTS] = {
	[PART_RUNNING] = { "running", NULL },
	[PART_WAITING] = { "waiting for a CPU", "ran meanwhile" },
	[PART_ASLEEP] = { "asleep (S)", "woken by" },
	[PART_BLOCKED] = { "blocked (D)", "woken by" },
	[PART_OTHER] = { "stopped or other", "woken by" },
	[PART_UNKNOWN] = { "unknown", NULL },
};

const struct table_column breakdown_columns[BREAKDOWN_COLUMNS] = {
	[PART_RUNNING] = { "running", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_WAITING] = { "waiting", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_ASLEEP] = { "asleep", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_BLOCKED] = { "blocked", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_OTHER] = { "other", TABLE_DURATION, .where = TABLE_ONLY_JSON },
	[PART_UNKNOWN] = { "unknown", TABLE_DURATION, .where = TABLE_ONLY_JSON },
};

/* "asleep (S)"; and in JSON, "asleep". */
static const char *breakdown_part_words(enum breakdown_part part)
{
	return parts[part].words;
}

static const char *breakdown_part_name(enum breakdown_part part)
{
	return breakdown_columns[part].name;
}

/* "woken by": what the tasks of the part did; NULL: it has none. */
static const char *breakdown_part_how(enum breakdown_part part)
{
	return parts[part].how;
}

/* The stacks with which threads slept in their calls, and on what: the longest as text, all as JSON. */

/* ---- text ------------------------------------------------------------------------------- */

/* Waits with the same stack on the same object, whoever ended them; or, without stacks, those on the same object. */
struct merged {
	struct {
		uint64_t part, on;
		struct callstack *stack;
	} key;
	const struct breakdown_wait *longest;
	bool others;                 /* who ended them, too */
	uint64_t times, ns;
};

static void merge(struct groups *all, const struct breakdown_wait *wait, bool by_stack)
{
	const struct merged wanted = { .key = { wait->key.part, wait->key.on, by_stack ? wait->key.stack : NULL } };
	struct merged *m = groups_get(all, &wanted.key, sizeof(wanted.key), sizeof(*m), UINT32_MAX);

	if (!m)
		return;
	m->others |= m->longest && m->longest->key.waker != wait->key.waker;
	if (!m->longest || wait->ns > m->longest->ns)
		m->longest = wait;
	m->times += wait->times;
	m->ns += wait->ns;
}

static int longer(const void *x, const void *y)
{
	const struct merged *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Longest first, to be freed. */
static struct groups merge_all(const struct breakdown_sums *sums, bool by_stack)
{
	struct groups all = { 0 };

	for (const struct breakdown_wait *one = groups_first(&sums->waits); one; one = groups_next(one))
		merge(&all, one, by_stack);
	groups_sort(&all, longer);
	return all;
}

/* "futex queue (/tmp/server) 148381.923, read pipe:[4711] 98713.039 and 2 more", us; "" without --on. Returns its length. */
static size_t breakdown_put_objects(const struct breakdown *b, const struct breakdown_sums *sums, enum breakdown_part part, char *buf,
				    size_t size)
{
	enum { NAMED = 3 };
	size_t len = 0, seen = 0;
	struct groups all = merge_all(sums, false);

	*buf = '\0';
	for (const struct merged *m = groups_first(&all); m; m = groups_next(m)) {
		if (m->key.part != part || !m->key.on)
			continue;
		if (seen++ < NAMED && len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s %.3f", seen > 1 ? ", " : "",
						words_text(&b->words, m->key.on), (double)m->ns / 1e3);
	}
	if (seen > NAMED && len < size)
		len += (size_t)snprintf(buf + len, size - len, " and %zu more", seen - NAMED);
	groups_free(&all);
	return len;
}

/* ---- kinds ------------------------------------------------------------------------------ */

/* What the stack says; if it says nothing, what the call does. */
static waitkinds_set kinds_of(const struct breakdown *b, const struct breakdown_wait *wait)
{
	waitkinds_set kinds = 0;

	if (wait->key.stack) {
		callstacks_expand(b->states.question.a->stacks, wait->key.stack);
		kinds = waitkind_of_stack(wait->key.stack);
	}
	return kinds ? kinds : waitkinds_get(&b->kinds, wait->key.on);
}

struct kind {
	waitkinds_set kinds;
	uint64_t ns;
};

static int longer_kind(const void *x, const void *y)
{
	const struct kind *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Prints how long the calls waited on each kind of thing: nothing without --on. whose: " in the calls over 10 ms", or "". */
static void breakdown_kinds_print(const struct breakdown *b, const struct breakdown_sums *sums, const char *whose)
{
	struct groups all = { 0 };
	char buf[WAITKIND_SIZE];
	const char *before = "";

	for (const struct breakdown_wait *one = groups_first(&sums->waits); one && b->shows_on; one = groups_next(one)) {
		const waitkinds_set kinds = kinds_of(b, one);
		struct kind *k = groups_get(&all, &kinds, sizeof(kinds), sizeof(*k), UINT32_MAX);

		if (k)
			k->ns += one->ns;
	}
	groups_sort(&all, longer_kind);
	if (all.n)
		printf("waited%s on: ", whose);
	for (const struct kind *k = groups_first(&all); k; k = groups_next(k), before = ", ") {
		const char *kind = waitkind_text(k->kinds, buf, sizeof(buf));

		printf("%s%s %.3f ms (%.2f%%)", before, kind ? kind : "other", (double)k->ns / 1e6,
		       sums->total ? 100 * (double)k->ns / (double)sums->total : 0.0);
	}
	if (all.n)
		putchar('\n');
	groups_free(&all);
}

/* ---- stacks ----------------------------------------------------------------------------- */

/* A stack has up to 20 lines. */
static bool is_worth(uint64_t ns, uint64_t total)
{
	return (double)ns * 1000 >= (double)total;
}

static const char *shown(const struct breakdown *b, uint64_t number, char *buf, size_t size)
{
	const char *text = words_text(&b->words, number);

	escape_terminal(text, strlen(text), buf, size);
	return buf;
}

/* " 14.86%  asleep (S) in futex queue (/tmp/server), 8 times, 148.382 ms, woken by housekeeper" */
static void print_merged(const struct breakdown *b, const struct merged *m, uint64_t total)
{
	const uint64_t on = m->key.on;
	char waker[4 * WORD_SIZE], object[4 * WORD_SIZE];

	printf("%6.2f%%  %s%s%s, %llu time%s, %.3f ms, woken by %s%s\n", total ? 100 * (double)m->ns / (double)total : 0.0,
	       breakdown_part_words(m->key.part), on ? " in " : "", on ? shown(b, on, object, sizeof(object)) : "",
	       (unsigned long long)m->times, units_plural(m->times), (double)m->ns / 1e6,
	       shown(b, m->longest->key.waker, waker, sizeof(waker)), m->others ? " and others" : "");
	if (!m->longest->key.stack)
		puts("    (the stack is not known)");
	analysis_print_stack(b->states.question.a, m->longest->key.stack);
}

/* Prints the longest 10 from 0.1 % of the time, or all (--full), below a title with `whose`: "the 22 calls over 10 ms". */
static void breakdown_stacks_print(const struct breakdown *b, const struct breakdown_sums *sums, const char *whose)
{
	enum { MOST = 10 };
	const bool full = b->states.question.a->opts->full;
	struct groups all = merge_all(sums, true);
	const struct merged *m = groups_first(&all);
	size_t printed = 0;

	if (m)
		printf("\nstacks that slept or were blocked in %s (%% of their %.3f ms)\n", whose, (double)sums->total / 1e6);
	for (; m && (full || (printed < MOST && is_worth(m->ns, sums->total))); m = groups_next(m), printed++)
		print_merged(b, m, sums->total);
	if (all.n > printed)
		printf("... %zu more (--full shows all)\n", all.n - printed);
	groups_free(&all);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static bool put_stack(const struct breakdown *b, struct callstack *stack, struct json_object *to)
{
	char *text;
	bool good;

	if (!stack)
		return true;
	callstacks_expand(b->states.question.a->stacks, stack);
	text = framefold_text(stack);
	good = text && json_put_text(to, "stack", text);
	free(text);
	return good;
}

static bool put_wait(const struct breakdown *b, const struct breakdown_wait *wait, struct json_object *all)
{
	struct json_object *one = json_object_new_object();
	char kind[WAITKIND_SIZE];

	return json_append(all, one) && json_put_text(one, "state", breakdown_part_name((enum breakdown_part)wait->key.part)) &&
	       json_put_text(one, "waker", words_text(&b->words, wait->key.waker)) &&
	       json_put_text(one, "on", wait->key.on ? words_text(&b->words, wait->key.on) : NULL) &&
	       json_put_text(one, "kind", b->shows_on ? waitkind_text(kinds_of(b, wait), kind, sizeof(kind)) : NULL) &&
	       json_put_unsigned(one, "times", wait->times) && json_put_unsigned(one, "total", wait->ns) && put_stack(b, wait->key.stack, one);
}

static int longest_first(const void *x, const void *y)
{
	const struct breakdown_wait *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* An array for JSON; NULL: out of memory. */
static struct json_object *breakdown_stacks_json(const struct breakdown *b, struct breakdown_sums *sums)
{
	struct json_object *all = json_object_new_array();
	bool good = all;

	groups_sort(&sums->waits, longest_first);
	for (const struct breakdown_wait *one = groups_first(&sums->waits); one && good; one = groups_next(one))
		good = put_wait(b, one, all);
	return json_whole(all, good);
}

/* ---- tasks ------------------------------------------------------------------------------ */

static int by_part_and_time(const void *x, const void *y)
{
	const struct breakdown_whom *a = x, *b = y;

	return a->key.part != b->key.part ? (a->key.part > b->key.part) - (a->key.part < b->key.part) : (a->ns < b->ns) - (a->ns > b->ns);
}

static void sort(struct breakdown_sums *sums)
{
	groups_sort(&sums->whom, by_part_and_time);
}

static size_t put_task(const struct breakdown *b, const struct breakdown_whom *one, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "%s", words_text(&b->words, one->key.name));

	if (one->key.tid && n < size)
		n += (size_t)snprintf(buf + n, size - n, " %d", pidmap_shown((pid_t)one->key.tid));
	return n;
}

/* "woken by housekeeper 20689", "ran meanwhile: hog 20688 2655.198, kworker/1:1 29 18.000 and 2 more"; of several, with their
 * us. */
static size_t put_tasks(const struct breakdown *b, const struct breakdown_sums *sums, enum breakdown_part part, char *buf,
			size_t size)
{
	enum { NAMED = 3 };
	size_t n = 0, all = 0, seen = 0;

	for (const struct breakdown_whom *one = groups_first(&sums->whom); one; one = groups_next(one))
		all += one->key.part == part;
	if (!all || !breakdown_part_how(part))
		return (size_t)snprintf(buf, size, "%s", "");
	for (const struct breakdown_whom *one = groups_first(&sums->whom); one && seen < NAMED && n < size; one = groups_next(one)) {
		if (one->key.part != part || (one->key.name == WORDS_OTHERS && all > 1))
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s", seen ? ", " : breakdown_part_how(part));
		n += n < size && !seen++ ? (size_t)snprintf(buf + n, size - n, part == PART_WAITING ? ": " : " ") : 0;
		n += n < size ? put_task(b, one, buf + n, size - n) : 0;
		if (all > 1 && n < size)
			n += (size_t)snprintf(buf + n, size - n, " %.3f", (double)one->ns / 1e3);
	}
	if (all > seen && n < size)
		n += (size_t)snprintf(buf + n, size - n, " and %zu more", all - seen);
	return n;
}

/* ---- one call --------------------------------------------------------------------------- */

/* The next part with a smaller time; of equal ones, each once. */
static int next_part(const struct breakdown_sums *sums, unsigned int *seen)
{
	int best = -1;

	for (int i = 0; i < BREAKDOWN_PARTS; i++)
		if (!(*seen >> i & 1) && sums->ns[i] && (best < 0 || sums->ns[i] > sums->ns[best]))
			best = i;
	if (best >= 0)
		*seen |= 1u << best;
	return best;
}

char *breakdown_text(struct breakdown *b, char *buf, size_t size)
{
	struct breakdown_sums *sums = &b->call;
	unsigned int seen = 0;
	char tasks[512], objects[512];
	size_t n = 0;

	sort(sums);
	*buf = '\0';
	for (int i; n < size && (i = next_part(sums, &seen)) >= 0; ) {
		const size_t has = put_tasks(b, sums, (enum breakdown_part)i, tasks, sizeof(tasks));
		const size_t on = breakdown_put_objects(b, sums, (enum breakdown_part)i, objects, sizeof(objects));

		n += (size_t)snprintf(buf + n, size - n, "%s%s %.3f%s%s%s%s%s%s", n ? ", " : "",
				      breakdown_part_words((enum breakdown_part)i), (double)sums->ns[i] / 1e3, n ? "" : " us",
				      has ? " (" : "", tasks, has && on ? "; in " : "", objects, has ? ")" : "");
	}
	return buf;
}

static bool put_json(const struct breakdown *b, const struct breakdown_whom *one, struct json_object *ran,
		     struct json_object *wakers)
{
	struct json_object *row = json_object_new_object();

	return json_append(one->key.part == PART_WAITING ? ran : wakers, row) &&
	       json_put_text(row, "comm", words_text(&b->words, one->key.name)) &&
	       (!one->key.tid || json_put_integer(row, "tid", pidmap_shown((pid_t)one->key.tid))) &&
	       (one->key.part == PART_WAITING || json_put_text(row, "state", breakdown_columns[one->key.part].name)) &&
	       json_put_unsigned(row, "total", one->ns);
}

static bool put_why(const struct breakdown_sums *sums, struct json_object *to)
{
	static const char *const names[BREAKDOWN_WHYS] = {
		[WHY_UNREPORTED] = "unreported", [WHY_LOST] = "lost", [WHY_FULL] = "too_many_threads",
	};
	struct json_object *why = json_object_new_object();
	bool good = json_put(to, "unknown_why", why);

	for (size_t i = 0; i < BREAKDOWN_WHYS && good; i++)
		good = !sums->why[i] || json_put_unsigned(why, names[i], sums->why[i]);
	return good;
}

bool breakdown_json(const struct breakdown *b, struct breakdown_sums *sums, struct json_object *to)
{
	struct json_object *ran = json_object_new_array(), *wakers = json_object_new_array();
	bool good = json_put(to, "ran", ran);

	good &= json_put(to, "wakers", wakers);
	sort(sums);
	for (size_t i = 0; i < BREAKDOWN_PARTS && good; i++)
		good = json_put_unsigned(to, breakdown_columns[i].name, sums->ns[i]);
	for (const struct breakdown_whom *one = groups_first(&sums->whom); one && good; one = groups_next(one))
		good = put_json(b, one, ran, wakers);
	if (good && sums->ns[PART_UNKNOWN])
		good = put_why(sums, to);
	return good && ((!b->on_stack && !b->shows_on) || json_put(to, "waits", breakdown_stacks_json(b, sums)));
}

/* ---- rows ------------------------------------------------------------------------------- */

struct breakdown_row *breakdown_rows_add(struct breakdown_rows *rows, const uint64_t key[DISTRIBUTION_KEYS], bool *fresh)
{
	const struct breakdown_sums *call = &rows->from->call;
	const uint32_t n = rows->all.n;
	struct breakdown_row *row = groups_get(&rows->all, key, sizeof(row->key), sizeof(*row), UINT32_MAX);

	*fresh = rows->all.n > n;
	if (!row)
		return NULL;
	breakdown_sums_add(&row->all, call);
	if (rows->than && call->total > rows->than)
		breakdown_sums_add(&row->slow, call);
	return row;
}

void breakdown_rows_put(const struct breakdown_rows *rows, const struct distribution *d, struct table *t)
{
	const struct breakdown_row *row = groups_find(&rows->all, d->key, sizeof(d->key));

	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		if (row)
			table_unsigned(t, row->all.ns[i]);
		else
			table_none(t);
}

void breakdown_rows_clear(struct breakdown_rows *rows)
{
	for (struct breakdown_row *row = groups_first(&rows->all); row; row = groups_next(row)) {
		breakdown_sums_free(&row->all);
		breakdown_sums_free(&row->slow);
		json_object_put(row->labels);
	}
	groups_free(&rows->all);
}

static int by_total(const void *a_, const void *b_)
{
	const struct breakdown_row *a = a_, *b = b_;

	return (a->all.total < b->all.total) - (a->all.total > b->all.total);
}

/* ---- text ------------------------------------------------------------------------------- */

static void put_share(struct table *t, const struct breakdown_sums *sums, size_t part)
{
	table_unsigned(t, sums->ns[part]);
	if (sums->total)
		table_number(t, 100.0 * (double)sums->ns[part] / (double)sums->total);
	else
		table_none(t);
}

/* A part that none of the calls has is left out. */
static void put_part(const struct breakdown_rows *rows, const struct breakdown_row *row, size_t part, struct table *t)
{
	const struct breakdown_sums *whose = rows->than ? &row->slow : &row->all;
	char text[512];

	if (!row->all.ns[part])
		return;
	table_row(t);
	table_text(t, breakdown_part_words(part));
	put_share(t, &row->all, part);
	if (rows->than)
		put_share(t, &row->slow, part);
	put_tasks(rows->from, whose, (enum breakdown_part)part, text, sizeof(text));
	table_text(t, text);
	if (!rows->from->shows_on)
		return;
	breakdown_put_objects(rows->from, whose, (enum breakdown_part)part, text, sizeof(text));
	table_text(t, text);
}

static void caption(const struct breakdown_rows *rows, const struct breakdown_row *row, const char *over, struct table *t)
{
	char slow[128] = "";

	if (rows->than)
		snprintf(slow, sizeof(slow), ", %llu of them %s, %.3f ms", (unsigned long long)row->slow.calls, over,
			 (double)row->slow.total / 1e6);
	table_caption(t, "where the time went of %s: %llu call%s%s", row->name, (unsigned long long)row->all.calls,
		      units_plural(row->all.calls), slow);
}

static void print_kinds(const struct breakdown_rows *rows, const struct breakdown_row *row, const char *over)
{
	char whose[96] = "";

	if (rows->than)
		snprintf(whose, sizeof(whose), " in the calls %s", over);
	breakdown_kinds_print(rows->from, rows->than ? &row->slow : &row->all, whose);
}

static void print_stacks(const struct breakdown_rows *rows, const struct breakdown_row *row, const char *over)
{
	const struct breakdown_sums *whose = rows->than ? &row->slow : &row->all;
	char text[512];

	snprintf(text, sizeof(text), "the %llu call%s%s%s of %s", (unsigned long long)whose->calls, units_plural(whose->calls),
		 rows->than ? " " : "", rows->than ? over : "", row->name);
	breakdown_stacks_print(rows->from, whose, text);
}

/* "unknown: the kernel did not report a switch of the thread: 8985.010 us; events were lost: 12.000 us" */
static void print_why(const struct breakdown_row *row, const struct stream_opts *o)
{
	const char *const words[BREAKDOWN_WHYS] = {
		[WHY_UNREPORTED] = o->cpus.n ?
				   "a switch of the thread was on a CPU that -C leaves out, or the kernel did not report it" :
				   "the kernel did not report a switch of the thread (some kernels report none on idle CPUs)",
		[WHY_LOST] = o->input ? "events were lost when this was recorded" :
					"events were lost (-m sets larger rings, --buffer adds a buffer)",
		[WHY_FULL] = "too many threads were in calls",
	};
	size_t n = 0;

	for (size_t i = 0; i < BREAKDOWN_WHYS; i++)
		if (row->all.why[i])
			printf("%s%s: %.3f us", n++ ? "; " : "unknown: ", words[i], (double)row->all.why[i] / 1e3);
	if (n)
		putchar('\n');
}

static void print_row(const struct breakdown_rows *rows, const struct breakdown_row *row, struct analysis *a)
{
	const struct table_style style = { .terminal = analysis_terminal(a->opts) };
	struct table_column columns[7] = {
		{ "part", TABLE_TEXT, .title = "time" }, { "total", TABLE_DURATION }, { "share", TABLE_PERCENT, .title = "%total" },
	};
	size_t n = 3;
	struct table t;
	char over[64], than[48];

	snprintf(over, sizeof(over), "over %s", units_duration_text(rows->than, than, sizeof(than)));
	if (rows->than) {
		columns[n++] = (struct table_column){ "slow", TABLE_DURATION, .title = over };
		columns[n++] = (struct table_column){ "slow_share", TABLE_PERCENT, .title = "%over" };
	}
	columns[n++] = (struct table_column){ "whom", TABLE_TEXT, .title = "on whom (us)" };
	if (rows->from->shows_on)
		columns[n++] = (struct table_column){ "what", TABLE_TEXT, .title = "in what (us)" };
	table_init(&t, "breakdown", columns, n);
	caption(rows, row, over, &t);
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		put_part(rows, row, i, &t);
	putchar('\n');
	analysis_put_table(a, &t, &style);
	table_free(&t);
	print_why(row, &a->opts->stream);
	print_kinds(rows, row, over);
	if (rows->from->on_stack)
		print_stacks(rows, row, over);
}

void breakdown_rows_print(struct breakdown_rows *rows, struct analysis *a)
{
	enum { SHOWN_ROWS = 10 };
	size_t n = 0;

	groups_sort(&rows->all, by_total);
	for (struct breakdown_row *row = groups_first(&rows->all); row && n < SHOWN_ROWS; row = groups_next(row), n++) {
		sort(&row->all);
		sort(&row->slow);
		print_row(rows, row, a);
	}
	if (rows->all.n > n)
		printf("... %zu more (--json shows all)\n", rows->all.n - n);
	breakdown_rows_clear(rows);
}

/* ---- JSON ------------------------------------------------------------------------------- */

/* An object for all calls of the row, and with --than one for the longer ones. */
static bool put_sums(const struct breakdown_rows *rows, struct breakdown_row *row, uint64_t than, struct json_object *all)
{
	struct breakdown_sums *sums = than ? &row->slow : &row->all;
	struct json_object *one = json_object_new_object();

	if (!json_append(all, one))
		return false;
	json_object_object_foreach(row->labels, name, value)
		if (!json_put(one, name, json_object_get(value)))
			return false;
	return (!than || json_put_unsigned(one, "than", than)) && json_put_unsigned(one, "calls", sums->calls) &&
	       json_put_unsigned(one, "total", sums->total) && breakdown_json(rows->from, sums, one);
}

struct json_object *breakdown_rows_json(struct breakdown_rows *rows)
{
	struct json_object *all = json_object_new_array();
	bool good = all;

	groups_sort(&rows->all, by_total);
	for (struct breakdown_row *row = groups_first(&rows->all); row && good; row = groups_next(row))
		good = row->labels && put_sums(rows, row, 0, all) && (!rows->than || put_sums(rows, row, rows->than, all));
	return json_whole(all, good);
}
