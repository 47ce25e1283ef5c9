/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/hotspots_private.h"
#include "engine/framefold.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HOTSPOTS = 1 << 21 };

#define ARRAY(a) (sizeof(a) / sizeof(*(a)))
#define AT(member) offsetof(struct analysis_opts, member)

static int parse_count(const char *text, uint64_t *n)
{
	char *end;

	*n = strtoull(text, &end, 10);
	return *text < '0' || *text > '9' || *end || *n > UINT32_MAX ? -1 : 0;
}

int hotspots_parse_rows(const char *text, void *field, struct fault *f)
{
	uint64_t *rows = field;

	if (parse_count(text, rows))
		return fault_usage(f, "--rows %s: expected a number of rows; 0: all", text);
	*rows = *rows ? *rows : UINT32_MAX;
	return 0;
}

static int parse_stacks(const char *text, void *field, struct fault *f)
{
	uint64_t *stacks = field;

	if (!strcmp(text, "all"))
		*stacks = UINT32_MAX;
	else if (parse_count(text, stacks))
		return fault_usage(f, "--stacks %s: expected a number of stacks (0: none), or all", text);
	*stacks = *stacks ? *stacks : HOTSPOTS_NO_STACKS;
	return 0;
}

static int parse_than(const char *text, void *field, struct fault *f)
{
	double percent;

	if (opt_percent(text, "--than", 0, 100, &percent, f))
		return -1;
	*(double *)field = percent > 0 ? percent : -1;
	return 0;
}

static int parse_sort(const char *text, void *field, struct fault *f)
{
	static const struct {
		const char *word;
		unsigned int by;
	} keys[] = {
		{ "comm", SORT_COMM }, { "pid", SORT_PID }, { "tid", SORT_TID | SORT_COMM }, { "cpu", SORT_CPU }, { "cgroup", SORT_CGROUP }, { "container", SORT_CGROUP },
		{ "symbol", SORT_SYMBOL }, { "line", SORT_LINE }, { "dso", SORT_DSO }, { "total", 0 },
		{ "sym", SORT_SYMBOL }, { "srcline", SORT_LINE },     /* perf's words */
	};
	struct analysis_opts *o = (void *)((char *)field - AT(sort));

	o->sort = 0;
	o->by_total = false;
	for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
		const size_t len = strcspn(word, ",");
		size_t i = 0;

		while (i < ARRAY(keys) && (strlen(keys[i].word) != len || memcmp(keys[i].word, word, len)))
			i++;
		if (i == ARRAY(keys))
			return fault_usage(f, "--sort %s: \"%.*s\" makes no rows; expected some of comm, pid, tid, cpu, cgroup, symbol, line, "
					   "dso, total, with commas between", text, (int)len, word);
		o->sort |= keys[i].by;
		o->by_total |= !keys[i].by;
	}
	o->stream.samples_cgroups = o->sort & SORT_CGROUP;
	return 0;
}

const struct opt hotspots_opts[] = {
	[HOTSPOTS_ROWS] = { "rows", 0, NULL, OPT_CALL, AT(rows), "N", "Show the first N rows; 0: all. Default: 30; JSON has all.", false,
	  hotspots_parse_rows },
	[HOTSPOTS_STACKS] = { "stacks", 0, NULL, OPT_CALL, AT(stacks), "N", "Show the N hottest stacks (needs call chains); 0: none; "
	  "all: all. Default: 5; 10 with --callers.", false, parse_stacks },
	[HOTSPOTS_SORT] = { "sort", 0, NULL, OPT_CALL, AT(sort), "KEY[,KEY...]",
	  "Make a row for each combination of these: comm (task name), pid (with its name), tid (likewise), cpu, cgroup (container, or control "
	  "group), symbol (function), line (of source), dso (program or library). Default: symbol,dso, and comm "
	  "if several programs ran (not in JSON). total is no row: it orders rows by total (the function and what it calls; needs -g) "
	  "instead of self.", false, parse_sort },
	[HOTSPOTS_COMMS] = { "comms", 0, "comm", OPT_STRINGS, AT(comms), "NAME",
	  "Show only samples of tasks with this name, or whose name matches this glob (work*). Shares stay those of all samples. "
	  "Repeatable.", false, NULL },
	[HOTSPOTS_DSOS] = { "dsos", 0, "dso", OPT_STRINGS, AT(dsos), "NAME",
	  "Show only samples in this program or library: a file's name or path, [kernel], or a glob (libc*). Shares stay those of all "
	  "samples. Repeatable.", false, NULL },
	[HOTSPOTS_THAN] = { "than", 0, NULL, OPT_CALL, AT(least), "PERCENT",
	  "Show only functions and stacks with at least this share; 0: all. Default: 0; 0.5 with --tree.", false, parse_than },
	[HOTSPOTS_BELOW] = { "below", 0, NULL, OPT_STRINGS, AT(below), "FUNCTION",
	  "Begin stacks below this function, as the table shows its name, or without its namespaces: leave out its innermost frame and "
	  "its callers. Stacks without it stay whole. If repeated, stacks begin below the innermost of these.", false, NULL },
	[HOTSPOTS_CALLERS] = { "callers", 0, NULL, OPT_STRING, AT(callers), "FUNCTION",
	  "Show who calls this function instead of the hottest stacks (needs call chains): the stacks that have it, from it to their "
	  "roots, the hottest first. A name from the table; namespaces and arguments may be left out (Cart::add).", false, NULL },
	[HOTSPOTS_CALLEES] = { "callees", 0, NULL, OPT_STRING, AT(callees), "FUNCTION",
	  "Show a call tree of what this function calls, as --tree does, instead of the hottest stacks (needs call chains). "
	  "A name from the table; namespaces and arguments may be left out (Cart::add).", false, NULL },
	[HOTSPOTS_TREE] = { "tree", 0, NULL, OPT_FLAG, AT(tree), NULL,
	  "Show a call tree instead of the hottest stacks (needs call chains): each function below its caller. "
	  "Functions with less than 0.5 % are left out (--than changes this). With --callers: the callers of that function.", false,
	  NULL },
	[HOTSPOTS_ANNOTATE] = { "annotate", 0, NULL, OPT_STRINGS, AT(annotate), "FUNCTION",
	  "Also show the source lines of this function, or its instructions if none are known, with the share of each: a name from "
	  "the table; namespaces and arguments may be left out (Cart::add). Repeatable.", false, NULL },
	[HOTSPOTS_INLINE_ROWS] = { "inline-rows", 0, NULL, OPT_FLAG, AT(inline_rows), NULL,
	  "Give inlined functions rows of their own. Default: list them below the function that contains them, as "
	  "part of it.", false, NULL },
};

const char *hotspots_stacks_option(const struct analysis_opts *o)
{
	return o->callees ? "--callees" : o->tree ? "--tree" : o->callers ? "--callers" : NULL;
}

int hotspots_check(struct analysis_opts *o, const char *command, struct fault *f)
{
	const char *option = hotspots_stacks_option(o);

	if (!option)
		return 0;
	if (o->callers && o->callees)
		return fault_usage(f, "%s: --callers shows who calls a function, --callees what it calls: leave one of them out", command);
	o->tree |= o->callees != NULL;
	if (o->json)
		return fault_usage(f, "%s: %s prints text, and --json JSON: leave one of them out; --flame-graph FILE.folded writes all "
				   "stacks", command, option);
	o->stream.call_graph = true;
	return 0;
}

struct task_name {
	uint64_t measured;           /* ns: hotspots_measure() */
	uint64_t sampled;            /* weight of its samples */
	struct task_name *program;   /* the name of its process, maybe the same; the last one counts. NULL: not known */
	uint64_t whole;              /* hotspots_have_programs(): weight of the tasks of this program */
	char text[];
};

struct process_name {
	int64_t pid;
	char text[COMMS_NAME];
};

void hotspots_free(struct hotspots *h)
{
	groups_free(&h->all);
	groups_free(&h->names);
	groups_free(&h->processes);
	*h = (struct hotspots){ .nmore = h->nmore };
}

/* The entry for a task's name. NULL: out of memory. */
static struct task_name *keep(struct hotspots *h, const char *comm)
{
	if (!h->recent || strcmp(h->recent->text, comm))
		h->recent = groups_text(&h->names, comm, strlen(comm), offsetof(struct task_name, text), UINT32_MAX);
	return h->recent;
}

static struct hotspot *spot_of(struct hotspots *h, const struct hotspot_key *key)
{
	const size_t size = sizeof(struct hotspot) + h->nmore * sizeof(uint64_t);

	return groups_get(&h->all, key, sizeof(*key), size, MAX_HOTSPOTS);
}

static void refuse(struct hotspots *h, uint64_t weight, bool blocked)
{
	h->refused += weight;
	h->refused_blocked += blocked ? weight : 0;
}

/* NULL: the weight is counted as refused. */
static struct hotspot *add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight, bool blocked)
{
	struct task_name *name = keep(h, comm);
	struct hotspot_key key = { name ? name->text : "", stack, blocked, h->pid, h->tid, h->cpu, h->cgroup };
	struct hotspot *spot = stack ? spot_of(h, &key) : NULL;

	if (name && h->program)
		name->program = h->program;
	h->program = NULL;
	h->weight += weight;
	h->squares += (double)weight * (double)weight;
	if (blocked)
		h->blocked += weight;
	else if (name)
		name->sampled += weight;
	if (spot)
		spot->weight += weight;
	else
		refuse(h, weight, blocked);
	return spot;
}

/* Asked for when the process is new, and as long as its first thread has samples: exec changes the name. */
/* The process of a task outside of the PID namespace is not known: PIDMAP_OUTER. */
static pid_t process_id(const struct analysis_sample *s)
{
	return !s->pid && pidmap_is_outer(s->tid) ? PIDMAP_OUTER : s->pid;
}

static void see_process(struct hotspots *h, struct analysis *a, const struct analysis_sample *s)
{
	const pid_t pid = process_id(s);
	struct process_name *process = groups_find(&h->processes, &h->pid, sizeof(h->pid));
	const char *name;

	if (process && s->tid != pid)
		return;
	if (!process)
		process = groups_get(&h->processes, &h->pid, sizeof(h->pid), sizeof(*process), MAX_HOTSPOTS);
	if (!process)
		return;
	name = analysis_comm(a, pid);
	if (comms_is_unknown(name) && pid != PIDMAP_OUTER)
		name = analysis_comm(a, s->tid);
	snprintf(process->text, sizeof(process->text), "%s", name);
}

const char *hotspots_process(const struct hotspots *h, int64_t pid)
{
	const struct process_name *process = groups_find(&h->processes, &pid, sizeof(pid));

	return process ? process->text : "";
}

static void see_program(struct hotspots *h, struct analysis *a, pid_t pid)
{
	const char *name = a->opts->sort || a->opts->json ? NULL : analysis_comm(a, pid);

	h->program = name && !comms_is_unknown(name) ? keep(h, name) : NULL;
}

bool hotspots_have_programs(const struct hotspots *h)
{
	enum { LEAST_PERCENT = 1 };
	uint64_t most = 0, all = 0;

	for (struct task_name *name = groups_first(&h->names); name; name = groups_next(name))
		name->whole = 0;
	for (struct task_name *name = groups_first(&h->names); name; name = groups_next(name)) {
		struct task_name *program = name->program ? name->program : name;

		program->whole += name->sampled;
		all += name->sampled;
		most = program->whole > most ? program->whole : most;
	}
	return hotspots_percent(all - most, all) >= LEAST_PERCENT;
}

void hotspots_see(struct hotspots *h, struct analysis *a, const struct analysis_sample *s)
{
	h->pid = a->opts->sort & SORT_PID ? (int64_t)names_task(&a->names, process_id(s)) : 0;
	h->tid = a->opts->sort & SORT_TID ? (int64_t)names_task(&a->names, s->tid) : 0;
	h->cpu = a->opts->sort & SORT_CPU ? s->cpu : 0;
	see_program(h, a, process_id(s));
	h->cgroup = a->opts->sort & SORT_CGROUP ? analysis_cgroup(a, s) : NULL;
	if (a->opts->sort & SORT_PID)
		see_process(h, a, s);
}

void hotspots_add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight,
		  bool blocked)
{
	struct hotspot *spot = add(h, comm, stack, weight, blocked);

	h->samples++;
	if (spot)
		spot->samples++;
}

void hotspots_add_counts(struct hotspots *h, const char *comm, struct callstack *stack, const uint64_t *counts)
{
	struct hotspot *spot = add(h, comm, stack, counts[0], false);

	h->samples += counts[0] > 0;
	if (!spot)
		return;
	spot->samples += counts[0] > 0;
	for (size_t i = 0; i < h->nmore; i++)
		spot->more[i] += counts[i + 1];
}

void hotspots_add_asleep(struct hotspots *h, const char *comm, uint64_t ns)
{
	struct task_name *name = keep(h, comm);
	const struct hotspot_key key = { name ? name->text : "", NULL, true };
	struct hotspot *spot = name ? spot_of(h, &key) : NULL;

	h->weight += ns;
	h->blocked += ns;
	if (spot)
		spot->weight += ns;
	else
		refuse(h, ns, true);
}

/* ---- measured time -------------------------------------------------------------------- */

void hotspots_measure(struct hotspots *h, const char *comm, uint64_t ns)
{
	struct task_name *name = ns ? keep(h, comm) : NULL;

	if (name)
		name->measured += ns;
}

static void name_unsampled(struct hotspots *h, const struct task_name *name)
{
	const struct hotspot_key key = { name->text, NULL, false };
	struct hotspot *spot = name->measured && !name->sampled ? spot_of(h, &key) : NULL;

	if (spot)
		spot->weight = name->measured;
}

/* The measured time per weight, over all names that have both. */
static double usual_rate(const struct hotspots *h)
{
	double measured = 0, sampled = 0;

	for (const struct task_name *name = groups_first(&h->names); name; name = groups_next(name))
		if (name->measured && name->sampled) {
			measured += (double)name->measured;
			sampled += (double)name->sampled;
		}
	return sampled > 0 ? measured / sampled : 1;
}

static double rate_of(const struct hotspots *h, const char *comm, double usual)
{
	const struct task_name *name = groups_find(&h->names, comm, strlen(comm));

	return name && name->measured && name->sampled ? (double)name->measured / (double)name->sampled : usual;
}

void hotspots_spread(struct hotspots *h)
{
	double usual = usual_rate(h);

	h->left_out = h->left_out_blocked + (uint64_t)((double)(h->left_out - h->left_out_blocked) * usual + 0.5);
	h->weight = h->refused_blocked + h->left_out;
	for (struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		if (!spot->key.blocked)
			spot->weight = (uint64_t)((double)spot->weight * rate_of(h, spot->key.comm, usual) + 0.5);
	h->refused = h->refused_blocked;
	for (const struct task_name *name = groups_first(&h->names); name; name = groups_next(name))
		name_unsampled(h, name);
	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		h->weight += spot->weight;
}

/* ---- stacks --------------------------------------------------------------------------- */

static const struct frame not_sampled = { .symbol = "[not sampled]", .dso = "" };
static const struct frame asleep = { .symbol = "[asleep throughout]", .dso = "" };
static const struct frame *const no_frames[] = { &not_sampled, &asleep };
static struct callstack nowhere[] = { { 1, &no_frames[0], NULL, false }, { 1, &no_frames[1], NULL, false } };

const struct callstack *hotspot_stack(const struct hotspot *spot)
{
	return spot->key.stack ? spot->key.stack : &nowhere[spot->key.blocked];
}

static bool is_of_scheduler(const struct frame *frame)
{
	return frame->symbol && strstr(frame->symbol, "schedule");
}

uint32_t hotspot_own_frame(const struct hotspot *spot)
{
	const struct callstack *stack = hotspot_stack(spot);

	for (uint32_t i = 0; spot->key.blocked && i < stack->n; i++)
		if (!stack->frames[i]->kernel)
			return i;
	for (uint32_t i = 0; spot->key.blocked && i < stack->n; i++)
		if (!is_of_scheduler(stack->frames[i]))
			return i;
	return 0;
}

void hotspots_prepare(struct analysis *a, struct hotspots *h)
{
	for (struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		if (spot->key.stack)
			callstacks_expand(a->stacks, spot->key.stack);
	hotspots_drop_own(a, h);
	hotspots_select(a, h);
}

/* ---- folded stacks -------------------------------------------------------------------- */

void hotspot_fold(const struct hotspot *spot, struct callstack part, enum folded_order order, unsigned int roots, struct folded *f)
{
	uint32_t frames[HOTSPOTS_FRAMES + 3];
	size_t n = 0;

	if (spot->key.blocked && order == FOLDED_LEAF_FIRST)
		frames[n++] = folded_frame(f, "[blocked]", FOLDED_BLOCKED);
	for (uint32_t i = 0; i < part.n && i < HOTSPOTS_FRAMES; i++) {
		const struct frame *frame = part.frames[i];

		frames[n++] = frame == &not_sampled ? folded_frame(f, frame->symbol, FOLDED_UNKNOWN) : framefold(f, frame);
	}
	if (roots & HOTSPOT_CUT && part.cut)
		frames[n++] = folded_frame(f, "[cut]", FOLDED_UNKNOWN);
	if (roots & HOTSPOT_TASK)
		frames[n++] = folded_frame(f, spot->key.comm, FOLDED_TASK);
	folded_add(f, frames, n, order, spot->weight);
}

/* Samples of stacks that are left out are taken as equally heavy: one by one they are not kept. */
static double squares(const struct hotspots *h)
{
	return h->weight ? h->squares * (1 - (double)h->left_out / (double)h->weight) : 0;
}

void hotspots_fold(struct analysis *a, struct hotspots *h, struct folded *f, const char *event)
{
	hotspots_prepare(a, h);
	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		hotspot_fold(spot, *hotspot_stack(spot), FOLDED_LEAF_FIRST, HOTSPOT_TASK, f);
	if (event)
		folded_sampled(f, event, h->samples - h->left_out_samples, h->weight - h->left_out - h->refused,
			       squares(h));
}

void hotspots_draw(struct analysis *a, struct hotspots *h, struct flame_config *flame, uint64_t to, const char *event)
{
	if (!flame->folded)
		return;
	if (to)
		analysis_name_interval(a, flame->folded, to);
	hotspots_fold(a, h, flame->folded, event);
}

void hotspots_each(struct analysis *a, struct hotspots *h,
		   void (*fn)(void *ctx, const struct callstack *stack, uint64_t weight), void *ctx)
{
	hotspots_prepare(a, h);
	for (struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		fn(ctx, hotspot_stack(spot), spot->weight);
}
