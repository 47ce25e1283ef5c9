/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof diff: which functions changed between two profiles, and with which confidence. BEFORE
 * is read first, then AFTER; only the shares (and folded stacks) of each are kept.
 */
#include "analysis/durations/switches.h"
#include "analysis/profiles/commands.h"
#include "analysis/profiles/diff_private.h"
#include "base/room.h"
#include "engine/framefold.h"
#include "keeper/reading.h"
#include "report/unnamed.h"
#include "stream/asked/branchchain.h"
#include "symbols/kernel/kallsyms.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Whose functions the frames of a call chain are: the program's own and its libraries', or those of the kernel, the C library and the
 * C++ library, which each program has. A difference in the latter is also one of the program's function that called them.
 */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

#define BEGINS_WITH_ONE(text, list) begins_with_one(text, list, sizeof(list) / sizeof(*(list)))

static bool begins_with_one(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins(text, list[i]))
			return true;
	return false;
}

/* libc.so.6, libc-2.31.so, libc.musl-x86_64.so.1, ld-linux-x86-64.so.2 */
static bool is_base_library(const char *file)
{
	static const char *const libraries[] = { "libc.so", "libc.musl", "ld-linux", "ld-musl", "ld-2.", "ld.so", "libpthread.so",
						 "libpthread-2.", "libstdc++.so", "libc++.so", "libgcc_s" };

	return BEGINS_WITH_ONE(file, libraries) || (begins(file, "libc-") && isdigit((unsigned char)file[strlen("libc-")]));
}

/* Functions in which each program and each thread begins. */
static bool is_start(const char *name)
{
	static const char *const starts[] = { "main", "_start", "_init", "_fini", "clone", "clone3", "start_thread",
					      "execute_native_thread_routine" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strcmp(name, starts[i]))
			return true;
	return begins(name, "__libc_start_");
}

/* Whether a function whose file is known is the program's own. */
static bool ownframes_in_file(const char *function, const char *dso)
{
	const char *slash = strrchr(dso, '/');

	/* [kernel.kallsyms], modules, [vdso] */
	if (!strcmp(function, "[unknown]") || (*dso == '[' && strcmp(dso, "[JIT]") != 0))
		return false;
	return !is_base_library(slash ? slash + 1 : dso) && !is_start(function);
}

/* Locks and tasks that are waited for, "futex lock (job)", and functions of Python, "__init__ (job.py:3)", have a space. */
static bool is_plain(const char *name)
{
	return !strchr(name, ' ');
}

/* C and C++ keep names with two underscores for the compiler, its libraries and the system. */
static bool is_of_base(const char *name)
{
	static const char *const heads[] = { "[", "__", "_dl_", "_IO_", "lll_", "futex_", "pthread_", "std::" };

	return is_start(name) || is_base_library(name) || (is_plain(name) && (BEGINS_WITH_ONE(name, heads) || strstr(name, "@GLIBC")));
}

/* The first functions of the kernel, and whether they are those of a system call. */
static bool is_syscall(const char *name)
{
	static const char *const entries[] = { "entry_SYSCALL", "entry_SYSENTER", "entry_INT80", "do_syscall_64", "el0t_64_sync", "el0_svc" };

	return BEGINS_WITH_ONE(name, entries);
}

static bool is_entry(const char *name)
{
	static const char *const entries[] = { "asm_exc_", "asm_sysvec_", "asm_common_interrupt", "el0t_", "ret_from_" };

	return is_syscall(name) || BEGINS_WITH_ONE(name, entries);
}

/* The stack of the task that ended a wait follows that of the one that waited, innermost first. */
static bool is_waker(const char *name)
{
	return begins(name, "[woken by ") || begins(name, "[because of ");
}

/* A call chain whose frames lie `step` apart, from its root on. */
static void mark(const char *const *names, size_t n, ptrdiff_t step, bool *own)
{
	size_t kernel = 0;
	bool within = false;

	/* one that has no frame of user space is the kernel's */
	for (; kernel < n && !is_entry(names[(ptrdiff_t)kernel * step]); kernel++)
		own[(ptrdiff_t)kernel * step] = !is_of_base(names[(ptrdiff_t)kernel * step]);
	for (size_t i = kernel; i < n; i++)
		own[(ptrdiff_t)i * step] = !is_plain(names[(ptrdiff_t)i * step]);
	if (kernel == n || !is_syscall(names[(ptrdiff_t)kernel * step]))
		return;
	/* what calls the kernel is the C library's, and so is a function between two of its own that one of the program called */
	for (size_t i = 0; i < kernel; i++) {
		const bool calls_kernel = i + 1 == kernel;
		const bool before = i && !own[(ptrdiff_t)(i - 1) * step], after = i + 2 == kernel || !own[(ptrdiff_t)(i + 1) * step];

		if (calls_kernel || (within && before && after))
			own[(ptrdiff_t)i * step] = false;
		within |= own[(ptrdiff_t)i * step];
	}
}

/* Of folded stacks, which show no files: by names, and by which calls which. names: root first. Sets own[0] to own[n - 1]. */
static void ownframes_in_stack(const char *const *names, size_t n, bool *own)
{
	size_t waker = 0;

	while (waker < n && !is_waker(names[waker]))
		waker++;
	mark(names, waker, 1, own);
	if (waker == n)
		return;
	own[waker] = false;
	if (waker + 1 < n)
		mark(names + n - 1, n - 1 - waker, -1, own + n - 1);
	/* a stack of a wait begins with the program, or with what it waits for and the program */
	for (size_t i = 0; i < 2 && i < waker; i++)
		own[i] = !is_plain(names[i]);
}

static enum share_side number_of(const struct diff *d)
{
	return (enum share_side)(d->side - d->sides);
}

/* ---- a recording ----------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
	char x[256], y[256];

	return !strcmp(analysis_event_key(a, x, sizeof(x)), analysis_event_key(b, y, sizeof(y)));
}

/* AFTER's event that is the same as BEFORE's (`what`); or NULL. */
static const struct stream_event *same_event(struct analysis *a, const char *what)
{
	size_t n;
	const struct stream_event *events = stream_events(a->stream, &n);
	char name[sizeof(((struct side *)0)->what)];

	for (size_t i = 0; i < n; i++)
		if (events[i].sampling && analysis_has_place(&events[i]) &&
		    is_same(analysis_family(a, &events[i], name, sizeof(name)), what))
			return &events[i];
	return NULL;
}

static enum chains chains_of(const struct stream_event *event)
{
	const struct perf_event_attr *attr = event->sampling ? &event->sampling->attr.attr : NULL;
	uint64_t parts = event->layout.sample_type;

	if (!(parts & PERF_SAMPLE_CALLCHAIN) || branchchain_has(event))
		return parts & PERF_SAMPLE_CALLCHAIN ? CHAINS_BRANCHES : CHAINS_NONE;
	if (parts & PERF_SAMPLE_STACK_USER)
		return CHAINS_DWARF;
	return attr && attr->exclude_callchain_user ? CHAINS_NONE : CHAINS_FP;
}

static bool is_first(const struct side *side)
{
	return !side->runs;
}

static int add_weight(struct side *side, uint64_t weight, struct fault *f)
{
	if (weight > UINT64_MAX - side->weight)
		return fault_set(f, EXIT_FAILED, "%s: the numbers of the files up to here add up to more than 18446744073709551615",
				 side->in->path);
	side->weight += weight;
	return 0;
}

static void see_rate(struct diff *d)
{
	const struct perf_event_attr *attr = !d->all && d->event->sampling ? &d->event->sampling->attr.attr : NULL;
	const uint64_t hz = attr && attr->freq ? attr->sample_freq : 0;
	struct side *side = d->side;

	if (hz && (!side->slowest || hz < side->slowest))
		side->slowest = hz;
	if (hz > side->fastest)
		side->fastest = hz;
}

/* Which event the recording that begins has, and whether it is the time of a command. */
static void describe_event(struct diff *d)
{
	struct side *side = d->side;
	const bool without_kernel = !d->all && analysis_excludes_kernel(d->event), in_ns = !d->all && analysis_is_clock(d->event);
	const bool of_command = !d->all && d->event->sampling && d->event->sampling->attr.attr.enable_on_exec;

	side->mixed |= !is_first(side) &&
		       (side->without_kernel != without_kernel || side->in_ns != in_ns || side->of_command != of_command || side->timed);
	side->timed = false;
	side->without_kernel = without_kernel;
	side->in_ns = in_ns;
	side->of_command = of_command;
	see_rate(d);
	side->chains = chains_of(d->event);
	if (!side->inlined)
		side->inlined = FOLDED_NO_INLINED;
}

static int begin(struct analysis *a, struct fault *f)
{
	struct diff *d = a->config;
	const struct stream_event *events, *same = NULL;
	char name[sizeof(d->side->what)];
	size_t n;

	events = stream_events(a->stream, &n);
	d->event = analysis_profiled(a, &d->all);
	if (*d->sides[SHARES_BEFORE].what)
		same = same_event(a, d->sides[SHARES_BEFORE].what);
	if (same) {
		d->event = same;
		d->all = false;
	}
	if (!d->event)
		return fault_set(f, EXIT_FAILED, "%s: none of its events has a call chain or an "
				 "address; record samples (`perf-prof record` without -e), or add "
				 "-g",
				 d->side->in->path);
	for (size_t i = 0; i < n; i++)
		d->side->off_cpu |= switches_is_switch(&events[i]) && events[i].layout.callchain && &events[i] != d->event;
	snprintf(d->side->what, sizeof(d->side->what), "%s", d->all && n > 1 ? "all events" :
		 analysis_family(a, d->event, name, sizeof(name)));
	describe_event(d);
	progress_begin(&d->progress, a);
	return 0;
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct diff *d = a->config;
	uint64_t weight = d->all ? 1 : analysis_weight(s);

	progress_step(&d->progress, a);
	if (d->all ? !analysis_has_place(s->event) : s->event->opened.family != d->event->opened.family || !s->tid)
		return;
	d->side->samples++;
	d->side->squares += (double)weight * (double)weight;
	hotspots_add(&d->hot, analysis_comm(a, s->tid), analysis_where(a, s), weight, false);
}

/* Addresses are the same functions in the same build of a file only, whose name they have. build: "": of a function with a name,
 * or not known; then each side has its own. */
static void put_frame(const struct diff *d, const char *function, const char *dso, const char *build, bool own)
{
	const char *at = strrchr(function, '+');
	char text[256] = "";

	if (at && is_unnamed(function, dso))
		snprintf(text, sizeof(text), "%s:%.*s", *build ? build : number_of(d) == SHARES_BEFORE ? "0" : "1", (int)(at - function),
			 function);
	shares_frame(d->shares, function, d->names_alone > 0 || d->of_folded ? "" : dso, text, own);
}

/* A caller of a function that --dso selects may be in another file. */
static bool is_selected(const struct diff *d, const struct frame *frame)
{
	return !frame->dso || hotspots_selects_dso(&d->common, frame->dso);
}

static void take_stack(void *ctx, const struct callstack *stack, uint64_t weight)
{
	struct diff *d = ctx;
	bool all = d->common.inline_rows || d->of_folded, own;
	char build[FOLDED_BUILD_SIZE];

	for (uint32_t i = 0; i < stack->n; i++)
		if (stack->frames[i]->inlined)
			d->side->inlined = FOLDED_HAS_INLINED;
	for (uint32_t i = 0; i < stack->n; i++) {
		const struct frame *frame = stack->frames[i];
		const char *function = frame->symbol ? frame->symbol : "[unknown]";

		if ((!all && frame->inlined) || (i && !is_selected(d, frame)))
			continue;
		own = frame->script || ownframes_in_file(function, frame->dso);
		put_frame(d, function, frame->dso, framefold_build(frame, build), own);
	}
	shares_end_stack(d->shares, number_of(d), weight);
}

static bool is_last(const struct diff *d)
{
	return d->side->in == d->side->inputs + d->side->n - 1;
}

static int end(struct analysis *a, struct fault *f)
{
	struct diff *d = a->config;
	struct stream_throttled throttled;
	struct stream_totals totals;

	progress_end(&d->progress);
	if (stream_was_interrupted(a->stream))
		return fault_set(f, EXIT_INTERRUPTED, "interrupted while reading %s: there is nothing to compare",
				 d->side->in->path);
	stream_totals(a->stream, &totals);
	d->side->lost += totals.lost;
	for (size_t i = 0; stream_throttled(a->stream, i, &throttled); i++)
		d->side->throttled += throttled.event->opened.family == d->event->opened.family ? throttled.ns : 0;
	if (add_weight(d->side, d->hot.weight, f))
		return -1;
	hotspots_each(a, &d->hot, take_stack, d);
	d->side->left_out += d->hot.left_out;
	if (d->side->folded)
		hotspots_fold(a, &d->hot, d->side->folded, NULL);
	return number_of(d) == SHARES_AFTER && is_last(d) && hotspots_selected(a, "either recording", "perf-prof report ", f) ? -1 : 0;
}

static void release(struct analysis *a)
{
	struct diff *d = a->config;

	progress_end(&d->progress);
	hotspots_free(&d->hot);
}

static const struct analysis_ops ops = {
	.name = "diff", .begin = begin, .sample = sample, .end = end, .release = release,
};

static int read_recording(struct diff *d, const struct opt_parser *args, struct fault *f)
{
	struct opt_parser none = *args;

	reading_wait(d->side->in->fd);
	none.noperands = 0;
	d->common.stream.input = d->side->in->path;
	d->common.stream.input_fd = d->side->in->fd;
	d->side->in->fd = -1;
	return analysis_run(&ops, d, &none, f) ? -1 : 0;
}

/* ---- folded stacks --------------------------------------------------------------------- */

static int take_folded(struct input *in, struct folded *folded, struct fault *f)
{
	int fd = in->fd;

	in->fd = -1;
	return folded_read_from(folded, fd, in->path, f);
}

/* How many samples they are, and of which event. */
static void add_samples(struct side *side, const struct folded *folded, struct fault *f)
{
	const double weight = (double)folded_total(folded);
	struct folded_samples samples;

	if (add_weight(side, folded_total(folded), f))
		return;
	if (folded_inlined(folded) > side->inlined)
		side->inlined = folded_inlined(folded);
	side->mixed |= !is_first(side) && (side->timed != folded_is_time(folded) || side->of_command != folded_is_of_command(folded));
	side->timed = folded_is_time(folded);
	side->in_ns = side->of_command = folded_is_of_command(folded);
	if (!folded_samples(folded, &samples)) {
		side->uncounted = true;
		return;
	}
	side->samples += samples.n;
	side->squares += weight * weight / samples.alike;
	snprintf(side->what, sizeof(side->what), "%s", samples.event);
}

/* To the picture. */
static void add_stacks(struct folded *to, const struct folded *from, const struct folded_stack *stacks, size_t n)
{
	uint32_t *frames = calloc(folded_frames(from) + 1, sizeof(*frames)), *of = NULL;
	size_t room = 0;

	for (size_t i = 0; frames && i < folded_frames(from); i++)
		frames[i] = folded_frame(to, folded_frame_name(from, (uint32_t)i), folded_frame_kind(from, (uint32_t)i));
	for (size_t i = 0; frames && i < n && ROOM_FOR(of, room, 0, stacks[i].n + 1); i++) {
		for (size_t k = 0; k < stacks[i].n; k++)
			of[k] = frames[stacks[i].frames[k]];
		folded_add(to, of, stacks[i].n, FOLDED_ROOT_FIRST, stacks[i].weight);
	}
	folded_mark_text(to);
	free(frames);
	free(of);
}

static bool is_ours(const struct folded *f)
{
	struct folded_samples samples;

	return folded_samples(f, &samples) || folded_is_time(f);
}

/* Whether a stack begins with the program, which is no function: those of perf-prof do. Waits may begin with a lock. */
static bool begins_with_program(const struct folded *f, const struct folded_stack *stack)
{
	if (stack->n < 2 || !is_ours(f))
		return false;
	for (size_t i = 1; i < stack->n; i++) {
		const char *name = folded_frame_name(f, stack->frames[i]);

		if (!strncmp(name, "[woken by ", 10) || !strncmp(name, "[because of ", 12))
			return false;
	}
	return true;
}

/* "futex cache (srv)" for "futex cache (/build/srv)", and "(libz.so)" for all its versions. To be freed; NULL: it has no file, or there is no
 * memory. */
static char *without_folder(const char *name)
{
	const char *path = strstr(name, " (/"), *file, *so;
	char *text;

	if (!path || name[strlen(name) - 1] != ')')
		return NULL;
	path += 2;
	file = strrchr(path, '/') + 1;
	so = strstr(file, ".so.");
	return asprintf(&text, "%.*s%.*s)", (int)(path - name), name, (int)(so ? so + 3 - file : (ptrdiff_t)strlen(file) - 1), file) < 0 ?
	       NULL : text;
}

/* The frames of a stack but those before `first`. of_waits: without folders of programs. 0 or -1: out of memory. */
static int put_folded(const struct diff *d, const struct folded *folded, const struct folded_stack *stack, size_t first, bool of_waits)
{
	const char **names = calloc(stack->n + 1, sizeof(*names));
	bool *own = calloc(stack->n + 1, sizeof(*own));
	const bool good = names && own;

	for (size_t k = 0; good && k < stack->n; k++)
		names[k] = folded_frame_name(folded, stack->frames[k]);
	if (good)
		ownframes_in_stack(names + first, stack->n - first, own + first);
	for (size_t k = good ? stack->n : first; k-- > first;) {
		char *plain = of_waits && d->names_alone >= 0 ? without_folder(names[k]) : NULL;

		put_frame(d, plain ? plain : names[k], "", folded_build(folded, names[k]), own[k]);
		free(plain);
	}
	free(names);
	free(own);
	return good ? 0 : -1;
}

static int read_folded(struct diff *d, struct fault *f)
{
	struct folded *folded = folded_new();
	struct folded_stack *stacks = NULL;
	size_t n = 0;

	if (!folded)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (!take_folded(d->side->in, folded, f) && !(stacks = folded_stacks(folded, &n)))
		fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < n; i++) {
		const size_t first = begins_with_program(folded, &stacks[i]);

		if (put_folded(d, folded, &stacks[i], first, !first && is_ours(folded)))
			fault_set(f, EXIT_FAILED, "out of memory");
		shares_end_stack(d->shares, number_of(d), stacks[i].weight);
	}
	add_samples(d->side, folded, f);
	if (d->side->folded)
		add_stacks(d->side->folded, folded, stacks, n);
	free(stacks);
	folded_free(folded);
	return f->exit_code ? -1 : 0;
}

/* ---- the picture ------------------------------------------------------------------------- */

static int draw(struct diff *d, struct fault *f)
{
	char text[700];
	const struct side *after = &d->sides[SHARES_AFTER];
	struct folded_samples samples = { .n = after->samples };
	struct flame_title title = { text, NULL };

	if (!d->flame.path)
		return 0;
	snprintf(samples.event, sizeof(samples.event), "%s", after->what);
	title.unit = after->timed ? "ns" : flame_unit_of(&samples, after->weight);
	snprintf(text, sizeof(text), "%s against %s", after->name, d->sides[SHARES_BEFORE].name);
	flame_compare(after->folded, d->sides[SHARES_BEFORE].folded, d->names_alone > 0 || d->of_folded || d->nrenamed);
	return flame_write(&d->flame, after->folded, &title, f);
}

/* ---- the command ----------------------------------------------------------------------- */

/* The effective sample size (Kish): the number of samples of equal weight that would be as precise. */
static double effective(const struct side *side)
{
	return side->squares > 0 ? (double)side->weight * (double)side->weight / side->squares : 0;
}

/* Time without samples, at most. */
static double missing(const struct side *side)
{
	const double each = side->samples ? (double)side->weight / (double)side->samples : 0;

	return (double)side->throttled + (double)side->lost * each;
}

static int check_event(const struct diff *d, const struct side *a, const struct side *b, struct fault *f)
{
	if (d->different || !*a->what || !*b->what || is_same(a->what, b->what))
		return 0;
	return fault_usage(f, "diff: %s %s samples of %s, %s of %s: shares of different events "
			   "are not comparable; choose an event of both with -e EVENT, or compare "
			   "them anyway with --different-events", a->name, has(a), a->what, b->name, b->what);
}

#define NO_SAMPLES "%s: it has no samples, or none that match the options"

/* One of several runs may have none: it was short, or the machine busy. */
static int read_input(struct diff *d, struct input *in, const struct opt_parser *args, struct fault *f)
{
	struct side *side = d->side, earlier = *side, now;
	struct fault left = { 0 };
	int rc;

	side->in = in;
	rc = in->is_folded ? read_folded(d, f) : read_recording(d, args, f);
	if (rc)
		return -1;
	if (side->weight == earlier.weight) {
		if (!earlier.runs && is_last(d))
			return fault_set(f, EXIT_FAILED, NO_SAMPLES, in->path);
		fault_set(&left, EXIT_FAILED, NO_SAMPLES ", and is left out", in->path);
		fault_print(&left);
		*side = earlier;
		return 0;
	}
	side->runs++;
	shares_end_run(d->shares, number_of(d), side->weight - earlier.weight);
	now = *side;
	now.n = earlier.n = 1;
	snprintf(now.name, sizeof(now.name), "%s", in->path);
	snprintf(earlier.name, sizeof(earlier.name), "%s", earlier.in ? earlier.in->path : in->path);
	return check_event(d, &earlier, &now, f);
}

static bool is_time(const struct side *side)
{
	return side->timed && !side->mixed;
}

static int read_side(struct diff *d, enum share_side number, const struct opt_parser *args, struct fault *f)
{
	struct side *side = &d->sides[number];

	d->side = side;
	if (d->flame.path && !(side->folded = folded_new()))
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < side->n; i++)
		if (read_input(d, &side->inputs[i], args, f))
			return -1;
	if (side->uncounted) {
		side->samples = 0;
		side->squares = 0;
	}
	shares_set(d->shares, number, &(struct shares_side){ side->weight, missing(side), effective(side), is_time(side) });
	return 0;
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct diff *d = config;
	struct reading reading = { 0 };
	int rc;

	d->csv |= d->csv_safe;
	if (d->csv && d->common.json)
		return fault_usage(f, "diff: --csv and --json: give one of them"), f->exit_code;
	if (diff_inputs(d, args, f)) {
		diff_close_inputs(d);
		return f->exit_code;
	}
	d->flame.compared = true;
	d->common.stream.kernel = &d->kernel;
	d->shares = shares_new();
	rc = !d->shares ? fault_set(f, EXIT_FAILED, "out of memory") :
	     flame_check(&d->flame, d->common.stream.verbose, f) ||
	     diff_open_inputs(d, &reading, args, f) || read_side(d, SHARES_BEFORE, args, f) ||
	     read_side(d, SHARES_AFTER, args, f) ||
	     check_event(d, &d->sides[SHARES_BEFORE], &d->sides[SHARES_AFTER], f) || diff_show(d, f) || draw(d, f);
	shares_free(d->shares);
	for (int k = 0; k < SHARES_SIDES; k++)
		folded_free(d->sides[k].folded);
	kallsyms_free(d->kernel);
	diff_close_inputs(d);
	reading_end(&reading);
	return rc ? f->exit_code : 0;
}

static int parse_percent(const char *text, const char *option, double low, double high, uint64_t *field,
			 struct fault *f)
{
	double percent;

	if (opt_percent(text, option, low, high, &percent, f))
		return -1;
	*field = (uint64_t)(percent * 100 + 0.5);
	return 0;
}

static int parse_confidence(const char *text, void *field, struct fault *f)
{
	return parse_percent(text, "--confidence", 50, 99.99, field, f);
}

static int parse_least(const char *text, void *field, struct fault *f)
{
	return parse_percent(text, "--than", 0, 100, field, f);
}

#define AT(member) offsetof(struct diff, member)

static const struct opt diff_opts[] = {
	{ "vs", 0, NULL, OPT_STRINGS, AT(vs), "AFTER",
	  "Compare several recordings of each side: those before --vs with this one and all that follow. A function has changed if it "
	  "differs by more than the recordings of one side do among themselves.", false, NULL },
	{ "total", 0, NULL, OPT_FLAG, AT(total), NULL,
	  "Compare functions including what they called; this needs call chains. "
	  "Default: without what they called.", false, NULL },
	{ "confidence", 0, NULL, OPT_CALL, AT(confidence), "PERCENT",
	  "Set the confidence level. Default: 99. With 95, about five of 100 functions that did not "
	  "change are shown as changed.", false, parse_confidence },
	{ "different-events", 0, NULL, OPT_FLAG, AT(different), NULL,
	  "Allow different events in BEFORE and AFTER, such as cpu-clock and cycles.", false, NULL },
	{ "ignore-files", 0, NULL, OPT_TRI, AT(names_alone), NULL,
	  "Match functions by name alone, not by the name of their file, too. Default: only functions of a program or library that "
	  "was renamed; with --no-ignore-files, none. Folded stacks are always matched by name alone; those of waits without "
	  "the folders of programs in names of locks, except with --no-ignore-files.", true, NULL },
	{ "than", 0, NULL, OPT_CALL, AT(least), "PERCENT",
	  "Show only functions with at least this share in one of the two profiles.", false, parse_least },
};

static const struct opt format_opts[] = {
	ANALYSIS_JSON_OPT, ANALYSIS_TEXT_OPT, ANALYSIS_FULL_OPT, ANALYSIS_WIDTH_OPT,
	{ "csv", 0, NULL, OPT_FLAG, AT(csv), NULL,
	  "Print CSV (RFC 4180): a header line, then the rows of the table, times in ns.", false, NULL },
	{ "csv-safe", 0, NULL, OPT_FLAG, AT(csv_safe), NULL,
	  "Print CSV for a spreadsheet: put an apostrophe before text that begins with =, +, - or @, so that it is "
	  "not taken for a formula. Numbers do not change.", false, NULL },
};

static const struct opt flame_rows[] = {
	{ "flame-graph", 0, NULL, OPT_OUTFILE, offsetof(struct flame_config, path), "FILE",
	  "Write a flame graph of AFTER (.svg or .html), coloured by the change: red if a share grew, blue if it shrank.",
	  false, NULL },
};

static void defaults(void *config)
{
	struct diff *d = config;

	analysis_defaults(config);
	d->confidence = 9900;
}

static void free_options(void *config)
{
	struct diff *d = config;

	opt_strings_free(&d->vs);
	analysis_release(config);
}

const struct command diff_command = {
	.name = "diff",
	.usual = "vs total rows than comms dsos flame-graph json csv",
	.summary = "show which functions changed between two profiles, with confidence intervals",
	.usage = "[options] BEFORE AFTER | BEFORE... --vs AFTER...",
	.description = COMMAND_TEXT(
		"Which functions changed from one profile to the next? BEFORE and AFTER are recordings from "
		"perf-prof record or perf record, or files of folded stacks (such as those of perf-prof "
		"convert --to folded). For each function it shows the share before and after, the change in "
		"percentage points, and the confidence interval of the change. If both are recordings of a clock, it also shows "
		"the CPU time. If both are also of a command from its start, it compares the time instead of the share: the change and "
		"its interval are in ms. So it does for folded stacks of profile --python of a command.",
		"If the interval contains 0, the samples do not show whether the function changed: the verdict is \"unclear\", and the row "
		"comes after all others. The other rows are sorted by the end of the interval that is nearer to 0, so the largest "
		"significant changes come first. Verdicts are grew, shrank, new (only in AFTER), gone (only in BEFORE), unclear and not "
		"compared (a function has no name in one of the two). "
		"If times are compared, grew and shrank mean both the time and the share; more time and less time: only the time; same "
		"time, which does not count as changed: only the share.",
		"Runs of the same program differ. With several recordings of a side (BEFORE... --vs AFTER...), a function has changed if the "
		"sides differ by more than the recordings of one side do among themselves; times are those of one run, the mean. Record "
		"both sides in turns, five times each. With one recording of each, changes may be such differences.",
		"With one recording of each, the interval of a share is that of the difference of two proportions (Agresti and Caffo), and "
		"covers only the randomness of sampling, not differences between two runs of the same program, nor samples that come in "
		"bursts. That of a time allows also for lost samples and throttling, and, unless the share changed in the same direction, for "
		"runs that are some percent faster or slower as a whole. Samples of different weight are "
		"reduced to their effective number. Files of folded stacks that perf-prof wrote have the number of "
		"samples in a comment at their end. In other files, and if lines were removed, it is not known, "
		"and there are no verdicts.",
		"Shares are those of one event, which is shown above the table: the one of -e, or the first of "
		"BEFORE that is not a tracepoint, and the same event of AFTER. Samples of "
		"idle CPUs are left out. Functions are matched by name and by the name of their file, without "
		"its folder and library version; a name in folded stacks has no file. Lambdas and functions of Python are also matched "
		"if they are on another line than before, and a line below the table says how many they are. An "
		"inlined function counts as part of the function that contains it, unless "
		"--inline-rows is given or one side is folded stacks, which do not show what was inlined. If "
		"a file is only in BEFORE, and a file that is only in AFTER has functions of the same names, the two are taken for one "
		"file that was renamed, and a line below the table says so; --no-ignore-files keeps them apart. "
		"--ignore-files matches by name alone."),
	OPT_GROUP_ROWS(
		{ "Comparison", diff_opts, sizeof(diff_opts) / sizeof(*diff_opts), 0 },
		{ "Table rows", &hotspots_opts[HOTSPOTS_ROWS], 1, 0 },
		{ "Samples", &hotspots_opts[HOTSPOTS_COMMS], 2, 0 },
		{ "Pictures", flame_rows, 1, AT(flame) },
		{ "Recordings", stream_input_opts + 1, 1, 0 },
		{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
		{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
		{ "Symbols", analysis_callchain_opts + STREAM_CALLCHAIN_NOPTS, ANALYSIS_NAMES_NOPTS, 0 },
		{ "Inlined functions", &hotspots_opts[HOTSPOTS_INLINE_ROWS], 1, 0 },
		{ "Output format", format_opts, sizeof(format_opts) / sizeof(*format_opts), 0 },
		{ "Output", stream_output_opts + STREAM_OUTPUT_NOPTS - 2, 2, 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof diff old.data new.data", "show which functions changed" },
		{ "perf-prof diff old?.data --vs new?.data", "compare several recordings of each side" },
		{ "perf-prof diff --total --than 1 old.data new.data", "include what functions call; show those of 1 % or more" },
		{ "perf-prof diff --flame-graph diff.svg old.data new.data", "also draw a flame graph, coloured by the change" },
		{ "perf-prof diff --json old.folded new.folded", "compare folded stacks, as JSON" }),
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct diff),
	.defaults = defaults,
	.release = free_options,
	.run = run,
};
