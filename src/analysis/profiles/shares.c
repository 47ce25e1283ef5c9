/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "report/lambdas.h"
#include "report/unnamed.h"
#include "table/groups.h"

enum { MAX_FUNCTIONS = 1 << 20, MAX_KEY = 4096 };

struct entry {
	struct share share;
	struct share moved;          /* for move_lambdas() */
	uint64_t seen;               /* number of the last stack with it: recursion counts once */
	bool hidden;                 /* without a name, and not of a build that is on both sides */
	size_t size;                 /* of key */
	char key[];                  /* function, NUL, dso, NUL, build */
};

struct shares {
	struct groups all;           /* of struct entry */
	struct share **sorted;
	struct entry **stack;        /* functions of the present stack, innermost first */
	size_t depth, room;
	uint64_t stacks;
	struct shares_side sides[SHARES_SIDES];
	size_t nruns[SHARES_SIDES];
	struct share_runs runs[SHARES_SIDES];   /* of their whole weights */
	size_t nplaces;              /* functions whose name has another place after */
	bool lost;
};

struct shares *shares_new(void)
{
	return calloc(1, sizeof(struct shares));
}

void shares_free(struct shares *s)
{
	if (!s)
		return;
	groups_free(&s->all);
	free(s->sorted);
	free(s->stack);
	free(s);
}

/* ---- stacks ---------------------------------------------------------------------------- */

/* perf-PID.map: its name changes with each run. */
static bool is_perf_map(const char *name)
{
	size_t digits = strncmp(name, "perf-", 5) ? 0 : strspn(name + 5, "0123456789");

	return digits && !strcmp(name + 5 + digits, ".map");
}

/* "/usr/lib/libz.so.1.2.13" becomes "libz.so", and "/tmp/perf-123.map" becomes "[JIT]". Returns the length. */
static size_t short_dso(const char **dso)
{
	const char *slash = strrchr(*dso, '/'), *so;

	if (slash && slash[1])
		*dso = slash + 1;
	if (is_perf_map(*dso))
		*dso = "[JIT]";
	so = strstr(*dso, ".so");
	return so && (so[3] == '.' || !so[3]) ? (size_t)(so + 3 - *dso) : strlen(*dso);
}

static struct entry *entry_of(struct shares *s, const char *function, const char *dso, const char *build)
{
	char key[MAX_KEY];
	size_t dso_len = short_dso(&dso), len = strnlen(function, MAX_KEY / 2), build_len, size;
	struct entry *e;

	if (dso_len > MAX_KEY / 4)
		dso_len = MAX_KEY / 4;
	memcpy(key, function, len);
	key[len] = '\0';
	memcpy(key + len + 1, dso, dso_len);
	key[len + 1 + dso_len] = '\0';
	size = len + dso_len + 2;
	build_len = strnlen(build, MAX_KEY / 4 - 2);
	memcpy(key + size, build, build_len);
	size += build_len;
	e = groups_text(&s->all, key, size, offsetof(struct entry, key), MAX_FUNCTIONS);
	if (e && !e->size) {
		e->size = size;
		e->share.function = e->key;
		e->share.dso = e->key + len + 1;
	}
	return e;
}

void shares_frame(struct shares *s, const char *function, const char *dso, const char *build, bool own)
{
	struct entry *e = entry_of(s, function, dso, build);

	if (!ROOM_FOR(s->stack, s->room, s->depth, 1)) {
		s->lost = true;
		return;
	}
	s->lost |= !e;
	if (e)
		e->share.own |= own;
	s->stack[s->depth++] = e;
}

void shares_end_stack(struct shares *s, enum share_side side, uint64_t weight)
{
	s->stacks++;
	for (size_t i = 0; i < s->depth; i++) {
		struct entry *e = s->stack[i];

		if (e && !i)
			e->share.self[side] += weight;
		if (e && e->seen != s->stacks)
			e->share.total[side] += weight;
		if (e)
			e->seen = s->stacks;
	}
	s->depth = 0;
}

static void end_run(struct share_runs *r, uint64_t sum, uint64_t weight)
{
	const double part = (double)(sum - r->ended);

	r->ended = sum;
	r->squares += part * part;
	r->products += part * (double)weight;
}

void shares_end_run(struct shares *s, enum share_side side, uint64_t weight)
{
	for (struct entry *e = groups_first(&s->all); e; e = groups_next(e)) {
		end_run(&e->share.self_runs[side], e->share.self[side], weight);
		end_run(&e->share.total_runs[side], e->share.total[side], weight);
	}
	s->nruns[side]++;
	end_run(&s->runs[side], s->runs[side].ended + weight, weight);
}

void shares_set(struct shares *s, enum share_side number, const struct shares_side *side)
{
	s->sides[number] = *side;
}

double shares_percent(const struct shares *s, enum share_side side, uint64_t weight)
{
	return s->sides[side].weight ? 100.0 * (double)weight / (double)s->sides[side].weight : 0;
}

/* ---- lambdas --------------------------------------------------------------------------- */

static size_t lambdas_of(const struct shares *s, enum share_side side, struct lambda *out)
{
	size_t n = 0;

	for (struct entry *e = groups_first(&s->all); e; e = groups_next(e))
		if (e->share.total[side] && lambda_has_place(e->share.function))
			out[n++] = (struct lambda){ .name = e->share.function, .file = e->share.dso, .item = e };
	return n;
}

static void add_runs(struct share_runs *to, const struct share_runs *from)
{
	to->ended += from->ended;
	to->squares += from->squares;
	to->products += from->products;
}

/* Adds what `from` has in BEFORE; `to` has nothing there, unless it stands for several functions. */
static void add_before(struct share *to, const struct share *from)
{
	to->self[SHARES_BEFORE] += from->self[SHARES_BEFORE];
	to->total[SHARES_BEFORE] += from->total[SHARES_BEFORE];
	add_runs(&to->self_runs[SHARES_BEFORE], &from->self_runs[SHARES_BEFORE]);
	add_runs(&to->total_runs[SHARES_BEFORE], &from->total_runs[SHARES_BEFORE]);
}

static void clear_before(struct share *share)
{
	share->self[SHARES_BEFORE] = share->total[SHARES_BEFORE] = 0;
	share->self_runs[SHARES_BEFORE] = share->total_runs[SHARES_BEFORE] = (struct share_runs){ 0 };
}

/* The weights of BEFORE go to the names of AFTER. All are taken out first: one's new name may be another one's old name. */
static void move_lambdas(struct shares *s, const struct lambda *before, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct entry *e = before[i].item;

		if (!before[i].other)
			continue;
		e->moved = e->share;
		clear_before(&e->share);
	}
	for (size_t i = 0; i < n; i++) {
		const struct entry *e = before[i].item;
		struct entry *now = before[i].other ? before[i].other->item : NULL;

		if (now)
			add_before(&now->share, &e->moved);
		s->nplaces += now && now != e;
	}
}

/* Without memory, they stay unmatched. */
static void match_lambdas(struct shares *s)
{
	struct lambda *sides[SHARES_SIDES];
	size_t n[SHARES_SIDES];

	for (int k = 0; k < SHARES_SIDES; k++) {
		sides[k] = calloc(s->all.n + 1, sizeof(*sides[k]));
		n[k] = sides[k] ? lambdas_of(s, k, sides[k]) : 0;
	}
	if (n[SHARES_BEFORE] && n[SHARES_AFTER]) {
		lambdas_pair(sides[SHARES_BEFORE], n[SHARES_BEFORE], sides[SHARES_AFTER], n[SHARES_AFTER]);
		move_lambdas(s, sides[SHARES_BEFORE], n[SHARES_BEFORE]);
	}
	for (int k = 0; k < SHARES_SIDES; k++)
		free(sides[k]);
}

size_t shares_at_other_places(const struct shares *s)
{
	return s->nplaces;
}

/* ---- comparing ------------------------------------------------------------------------- */

static int larger_first(double a, double b)
{
	return a < b ? 1 : -(a > b);
}

static int by_evidence(const void *a_, const void *b_)
{
	const struct share *a = *(struct share *const *)a_, *b = *(struct share *const *)b_;
	int order = larger_first(a->evidence, b->evidence);

	order = order ? order : larger_first(a->share_evidence, b->share_evidence);
	order = order ? order : larger_first(fabs(a->sum.difference), fabs(b->sum.difference));
	order = order ? order : larger_first(fabs(a->change.difference), fabs(b->change.difference));
	order = order ? order : strcmp(a->function, b->function);
	return order ? order : strcmp(a->dso, b->dso);
}

static int rank(const struct share *share)
{
	return share->evidence > 0 ? !share->own : 2;
}

static int own_first(const void *a, const void *b)
{
	const int order = rank(*(struct share *const *)a) - rank(*(struct share *const *)b);

	return order ? order : by_evidence(a, b);
}

/* The functions of a file that have no name on a side, as far as the other side does not have the same. */
struct hidden {
	double percent[SHARES_SIDES];
	char dso[];                  /* of a build: dso, NUL, build */
};

static struct hidden *hidden_at(struct groups *all, const char *key, size_t len, bool add)
{
	return add ? groups_text(all, key, len, offsetof(struct hidden, dso), UINT32_MAX) : groups_find(all, key, len);
}

static struct hidden *hidden_of(struct groups *all, const char *dso, bool add)
{
	return hidden_at(all, dso, strlen(dso), add);
}

/* The build of a function without a name; NULL: it has one, or the build is not known. */
static struct hidden *build_of(struct groups *all, const struct entry *e, bool add)
{
	const size_t head = (size_t)(e->share.dso - e->key) + strlen(e->share.dso) + 1;

	return e->size > head ? hidden_at(all, e->share.dso, e->size - (size_t)(e->share.dso - e->key), add) : NULL;
}

/* The builds, and the share of the stacks of each. */
static struct groups builds_of(const struct shares *s)
{
	struct groups builds = { 0 };
	struct hidden *build;

	for (struct entry *e = groups_first(&s->all); e; e = groups_next(e)) {
		build = build_of(&builds, e, true);
		for (int k = 0; build && k < SHARES_SIDES; k++)
			build->percent[k] += shares_percent(s, k, e->share.total[k]);
	}
	return builds;
}

/* Addresses of a build that is on both sides are as good as names. */
static void find_hidden(const struct shares *s, struct groups *all)
{
	struct groups builds = builds_of(s);
	struct hidden *build;

	for (struct entry *e = groups_first(&s->all); e; e = groups_next(e)) {
		const struct share *share = &e->share;
		struct hidden *h;

		build = build_of(&builds, e, false);
		e->hidden = is_unnamed(share->function, share->dso) &&
			    !(build && build->percent[SHARES_BEFORE] > 0 && build->percent[SHARES_AFTER] > 0);
		h = e->hidden ? hidden_of(all, share->dso, true) : NULL;

		for (int k = 0; h && k < SHARES_SIDES; k++) {
			double more = shares_percent(s, k, share->self[k]) - shares_percent(s, !k, share->self[!k]);

			h->percent[k] += more > 0 ? more : 0;
		}
	}
	groups_free(&builds);
}

/* Files with a name, and the share of the stacks in which they are. */
static struct groups files_of(const struct shares *s)
{
	struct groups files = { 0 };
	struct hidden *file;

	for (struct entry *e = groups_first(&s->all); e; e = groups_next(e)) {
		file = *e->share.dso && *e->share.dso != '[' ? hidden_of(&files, e->share.dso, true) : NULL;
		for (int k = 0; file && k < SHARES_SIDES; k++)
			file->percent[k] += shares_percent(s, k, e->share.total[k]);
	}
	return files;
}

/* Functions of all programs. */
static bool is_everywhere(const char *function)
{
	static const char *const everywhere[] = { "main", "_start", "_init", "_fini", "__libc_start_main" };

	for (size_t i = 0; i < sizeof(everywhere) / sizeof(*everywhere); i++)
		if (!strcmp(function, everywhere[i]))
			return true;
	return false;
}

/* A function that each program has is in a file that is on both sides, also if no call chain shows it: a function without a frame
 * pointer hides its caller. */
static void find_everywhere(struct shares *s)
{
	struct groups files = files_of(s);
	const struct hidden *file;

	for (struct entry *e = groups_first(&s->all); e; e = groups_next(e)) {
		struct share *share = &e->share;

		file = is_everywhere(share->function) ? hidden_of(&files, share->dso, false) : NULL;
		share->on_both = file && file->percent[SHARES_BEFORE] > 0 && file->percent[SHARES_AFTER] > 0;
	}
	groups_free(&files);
}

/* Marks functions of one side that may be on the other side at another address, or nameless there. */
static void find_unmatched(struct shares *s)
{
	struct groups all = { 0 };

	find_hidden(s, &all);
	for (struct entry *e = groups_first(&s->all); all.n && e; e = groups_next(e)) {
		struct share *share = &e->share;
		const int side = share->total[SHARES_AFTER] != 0;
		struct hidden *h = share->total[!side] ? NULL : hidden_of(&all, share->dso, false);

		share->unmatched = h && (e->hidden ||
					 (*share->dso && h->percent[!side] > shares_percent(s, side, share->self[side]) / 2));
	}
	groups_free(&all);
}

/* The CPU time of the same work differs by some percent from run to run: clock rates, caches and neighbours change. */
#define APART 0.03

bool shares_have_spread(const struct shares *s)
{
	return s->nruns[SHARES_BEFORE] > 1 || s->nruns[SHARES_AFTER] > 1;
}

bool shares_have_several(const struct shares *s)
{
	return s->nruns[SHARES_BEFORE] > 1 && s->nruns[SHARES_AFTER] > 1;
}

static bool is_exact(const struct shares *s)
{
	return s->sides[SHARES_BEFORE].exact && s->sides[SHARES_AFTER].exact;
}

/* The difference of times, which have no samples. A relative difference below 1e-9 is a rounding error. */
static struct stats_interval exactly(double before, double after)
{
	const double more = fabs(after - before) > 1e-9 * fmax(before, after) ? after - before : 0;

	return (struct stats_interval){ more, more, more };
}

static double runs_of(const struct shares *s, enum share_side side)
{
	return s->nruns[side] ? (double)s->nruns[side] : 1;
}

/* The variance of one run, from that of all of them: of a weight, or of its share. */
static double spread_of_weight(const struct shares *s, enum share_side side, const struct share_runs *r)
{
	const double n = runs_of(s, side), mean = (double)r->ended / n;

	return n > 1 ? fmax(0, r->squares - n * mean * mean) / (n - 1) : 0;
}

/* The variance of a ratio of two sums (Cochran, Sampling Techniques, 6.4): runs that are longer count more, as they do in the share. */
static double spread_of_share(const struct shares *s, enum share_side side, const struct share_runs *r)
{
	const struct share_runs *all = &s->runs[side];
	const double n = runs_of(s, side), mean = (double)all->ended / n, share = mean > 0 ? (double)r->ended / (double)all->ended : 0;
	const double rest = r->squares - 2 * share * r->products + share * share * all->squares;

	return n > 1 && mean > 0 ? fmax(0, rest) / (n - 1) / (mean * mean) : 0;
}

typedef double spread_fn(const struct shares *s, enum share_side side, const struct share_runs *r);

/* Widens an interval to that of the differences from run to run: by chance, those of a few runs may be smaller than sampling
 * allows. A side with one recording is taken to differ as the other one does. Times have no sampling below: their runs are taken
 * to differ by some percent of `larger`, the value of one of the sides, at least. */
static void widen(const struct shares *s, struct stats_interval *i, spread_fn *spread, const struct share_runs *runs, double larger,
		  double confidence)
{
	const double least = is_exact(s) ? APART * larger : 0;
	struct stats_spread side[SHARES_SIDES];

	if (!shares_have_spread(s))
		return;
	for (int k = 0; k < SHARES_SIDES; k++)
		side[k] = (struct stats_spread){ s->nruns[k], fmax(spread(s, k, &runs[k]), least * least) };
	stats_widen(i, &side[SHARES_BEFORE], &side[SHARES_AFTER], confidence);
}

static struct stats_interval compare_sums(const struct shares *s, const struct stats_share *side, double apart,
					  const struct share_runs *runs, double confidence)
{
	struct stats_sum sum[SHARES_SIDES];
	struct stats_interval i;
	double before, after;

	for (int k = 0; k < SHARES_SIDES; k++)
		sum[k] = (struct stats_sum){ side[k].part, side[k].n, (double)s->sides[k].weight / runs_of(s, k) / side[k].n,
					     shares_have_spread(s) ? 0 : apart };
	before = sum[SHARES_BEFORE].n * sum[SHARES_BEFORE].each;
	after = sum[SHARES_AFTER].n * sum[SHARES_AFTER].each;
	i = is_exact(s) ? exactly(before, after) : stats_compare_sums(&sum[SHARES_BEFORE], &sum[SHARES_AFTER], confidence);
	widen(s, &i, spread_of_weight, runs, fmax(before, after), confidence);
	i.low -= s->sides[SHARES_BEFORE].missing / runs_of(s, SHARES_BEFORE);
	i.high += s->sides[SHARES_AFTER].missing / runs_of(s, SHARES_AFTER);
	return i;
}

struct stats_interval shares_compare_sides(const struct shares *s, double confidence)
{
	struct stats_share side[SHARES_SIDES];

	for (int k = 0; k < SHARES_SIDES; k++)
		side[k] = is_exact(s) ? (struct stats_share){ 1, 1 } : (struct stats_share){ s->sides[k].n, s->sides[k].n };
	return compare_sums(s, side, APART, s->runs, confidence);
}

bool shares_agree(const struct share *share)
{
	return (share->sum.low > 0 && share->change.low > 0) || (share->sum.high < 0 && share->change.high < 0);
}

/* A machine that is slower as a whole changes all weights, but no share: if the share agrees, that is not the reason. */
static void compare_weights(const struct shares *s, struct share *share, const struct stats_share *side, const struct share_runs *runs,
			    double confidence)
{
	share->sum = compare_sums(s, side, 0, runs, confidence);
	if (!shares_agree(share))
		share->sum = compare_sums(s, side, APART, runs, confidence);
}

static void compare(const struct shares *s, struct share *share, const struct shares_terms *terms)
{
	const uint64_t *weight = terms->total ? share->total : share->self;
	const struct share_runs *runs = terms->total ? share->total_runs : share->self_runs;
	const bool known = s->sides[SHARES_BEFORE].n > 0 && s->sides[SHARES_AFTER].n > 0, exact = is_exact(s);
	const bool missed = terms->total && share->on_both && (!share->total[SHARES_BEFORE] || !share->total[SHARES_AFTER]);
	const bool judged = (exact ? shares_have_several(s) : known) && !share->unmatched && !missed;
	struct stats_share side[SHARES_SIDES];

	share->not_compared = share->unmatched || missed;
	for (int k = 0; k < SHARES_SIDES; k++) {
		double samples = known && !exact ? s->sides[k].n : 1;

		side[k] = (struct stats_share){ shares_percent(s, k, weight[k]) / 100 * samples, samples };
	}
	share->change = exact ? exactly(side[SHARES_BEFORE].part, side[SHARES_AFTER].part) :
			stats_compare_shares(&side[SHARES_BEFORE], &side[SHARES_AFTER], terms->confidence);
	widen(s, &share->change, spread_of_share, runs, fmax(side[SHARES_BEFORE].part, side[SHARES_AFTER].part), terms->confidence);
	share->change.low = fmax(share->change.low, -1);
	share->change.high = fmin(share->change.high, 1);
	share->sum = (struct stats_interval){ 0 };
	if ((known || exact) && terms->weights)
		compare_weights(s, share, side, runs, terms->confidence);
	share->share_evidence = judged ? stats_evidence(&share->change) : 0;
	share->evidence = judged && terms->weights ? stats_evidence(&share->sum) : share->share_evidence;
}

struct share **shares_compare(struct shares *s, const struct shares_terms *terms, size_t *n)
{

	*n = 0;
	free(s->sorted);
	s->sorted = calloc(s->all.n + 1, sizeof(struct share *));
	if (!s->sorted || s->lost)
		return NULL;
	match_lambdas(s);
	find_unmatched(s);
	find_everywhere(s);
	for (struct entry *e = groups_first(&s->all); e; e = groups_next(e)) {
		compare(s, &e->share, terms);
		s->sorted[(*n)++] = &e->share;
	}
	qsort(s->sorted, *n, sizeof(*s->sorted), terms->total ? own_first : by_evidence);
	return s->sorted;
}

/* ---- renamed files --------------------------------------------------------------------- */

/* NULL: there are too many pairs. */
static struct shares_move *move_of(struct shares_move *moves, size_t *n, const char *from, const char *to)
{
	size_t i = 0;

	while (i < *n && (strcmp(moves[i].from, from) || strcmp(moves[i].to, to)))
		i++;
	if (i == SHARES_MOVES)
		return NULL;
	if (i == *n)
		moves[(*n)++] = (struct shares_move){ from, to, 0 };
	return &moves[i];
}

static int by_name(const void *a_, const void *b_)
{
	const struct share *a = *(struct share *const *)a_, *b = *(struct share *const *)b_;

	return strcmp(a->function, b->function);
}

/* Whether a function says which program it is in: not one that all programs have. */
static bool is_telling(const char *function)
{
	const size_t len = strlen(function);

	return !is_everywhere(function) && (len < 4 || strcmp(function + len - 4, "@plt") != 0);
}

/* Functions with a name, in files that are on one side only, by name. NULL: out of memory. */
static struct share **alone(const struct shares *s, struct groups *files, enum share_side side, size_t *n)
{
	struct share **found = calloc(s->all.n + 1, sizeof(*found));

	*n = 0;
	for (struct entry *e = groups_first(&s->all); found && e; e = groups_next(e)) {
		const struct hidden *file = e->share.total[side] ? hidden_of(files, e->share.dso, false) : NULL;

		if (file && file->percent[!side] <= 0 && !is_unnamed(e->share.function, e->share.dso))
			found[(*n)++] = &e->share;
	}
	if (found)
		qsort(found, *n, sizeof(*found), by_name);
	return found;
}

/* The functions of one name on both sides. */
typedef void pair_fn(void *ctx, struct share *gone, struct share *came);

static void each_pair(struct share **gone, size_t ngone, struct share **came, size_t ncame, pair_fn *fn, void *ctx)
{
	for (size_t i = 0, first = 0; i < ngone; i++) {
		while (first < ncame && strcmp(came[first]->function, gone[i]->function) < 0)
			first++;
		for (size_t k = first; k < ncame && !strcmp(came[k]->function, gone[i]->function); k++)
			fn(ctx, gone[i], came[k]);
	}
}

struct moves {
	struct shares_move all[SHARES_MOVES];
	size_t n;
};

static void count_pair(void *ctx, struct share *gone, struct share *came)
{
	struct moves *m = ctx;
	struct shares_move *move = is_telling(gone->function) ? move_of(m->all, &m->n, gone->dso, came->dso) : NULL;

	if (!move)
		return;
	move->functions++;
	move->self[SHARES_BEFORE] += gone->self[SHARES_BEFORE];
	move->self[SHARES_AFTER] += came->self[SHARES_AFTER];
}

static uint64_t self_of(struct share *const *all, size_t n, const char *dso, enum share_side side)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += !strcmp(all[i]->dso, dso) && is_telling(all[i]->function) ? all[i]->self[side] : 0;
	return sum;
}

/* Different programs may have some functions in common: of the same one, these are most of its time, before or after. */
static bool is_one_file(const struct shares_move *m, struct share *const *const sides[SHARES_SIDES], const size_t n[SHARES_SIDES])
{
	const char *const names[SHARES_SIDES] = { [SHARES_BEFORE] = m->from, [SHARES_AFTER] = m->to };

	for (int k = 0; k < SHARES_SIDES; k++)
		if (m->self[k] > self_of(sides[k], n[k], names[k], k) / 2)
			return true;
	return false;
}

static void drop_others(struct moves *m, struct share *const *const sides[SHARES_SIDES], const size_t n[SHARES_SIDES])
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++)
		if (is_one_file(&m->all[i], sides, n))
			m->all[kept++] = m->all[i];
	m->n = kept;
}

static void join_pair(void *ctx, struct share *gone, struct share *came)
{
	const struct moves *m = ctx;

	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->all[i].from, gone->dso) || strcmp(m->all[i].to, came->dso))
			continue;
		add_before(came, gone);
		clear_before(gone);
	}
}

/* Chooses the pairs with the most functions, so that each file is in one pair. */
static void choose_pairs(const struct moves *m, struct moves *chosen)
{
	for (;;) {
		const struct shares_move *most = NULL;

		for (size_t i = 0; i < m->n; i++) {
			bool taken = false;

			for (size_t k = 0; k < chosen->n; k++)
				taken |= !strcmp(chosen->all[k].from, m->all[i].from) || !strcmp(chosen->all[k].to, m->all[i].to);
			if (!taken && (!most || m->all[i].functions > most->functions))
				most = &m->all[i];
		}
		if (!most)
			return;
		chosen->all[chosen->n++] = *most;
	}
}

/* Without memory, they stay apart. */
size_t shares_match_files(struct shares *s, struct shares_move pairs[SHARES_MOVES])
{
	struct moves moves = { .n = 0 }, chosen = { .n = 0 };
	struct groups files = files_of(s);
	struct share **sides[SHARES_SIDES];
	size_t n[SHARES_SIDES];

	for (int k = 0; k < SHARES_SIDES; k++)
		sides[k] = alone(s, &files, k, &n[k]);
	if (sides[SHARES_BEFORE] && sides[SHARES_AFTER]) {
		each_pair(sides[SHARES_BEFORE], n[SHARES_BEFORE], sides[SHARES_AFTER], n[SHARES_AFTER], count_pair, &moves);
		drop_others(&moves, (struct share *const *const *)sides, n);
		choose_pairs(&moves, &chosen);
		each_pair(sides[SHARES_BEFORE], n[SHARES_BEFORE], sides[SHARES_AFTER], n[SHARES_AFTER], join_pair, &chosen);
	}
	for (int k = 0; k < SHARES_SIDES; k++)
		free(sides[k]);
	groups_free(&files);
	memcpy(pairs, chosen.all, sizeof(chosen.all));
	return chosen.n;
}
