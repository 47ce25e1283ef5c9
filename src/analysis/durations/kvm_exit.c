/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof kvm-exit: the time from each exit of a guest until the host enters it again. */
#include "analysis/durations/commands.h"
#include "rows/question.h"

#include <stdlib.h>
#include <string.h>

/* ---- exit reasons: numbers, and the kernel's names for them ---------------------------- */

struct exit_reasons {
	const struct trace_field *code, *isa;   /* isa: x86; or NULL */
	const struct trace_field *kind;         /* arm64: esr_ec, the exception class; or NULL */
	struct groups known;                    /* of struct exit_reason */
};

struct exit_reason {
	uint64_t code;
	char name[48];
};

static const struct trace_field *maybe(const struct stream_event *event, const char *name)
{
	return analysis_field(event, name, false, NULL);
}

/* Looks up the fields of kvm:kvm_exit. On x86: exit_reason and isa; on arm64: ret and esr_ec. 0, or -1 with f. */
static int exit_reasons_begin(struct exit_reasons *all, const struct stream_event *leave, struct fault *f)
{
	all->isa = maybe(leave, "isa");
	all->kind = maybe(leave, "esr_ec");
	all->code = maybe(leave, all->kind ? "ret" : "exit_reason");
	if (!all->code)
		all->code = analysis_field(leave, "exit_reason", false, f);
	return all->code ? 0 : -1;
}

static void exit_reasons_free(struct exit_reasons *all)
{
	groups_free(&all->known);
}

/* The event's text has the reason's name: "... reason HLT rip ...", on arm64
 * "TRAP: HSR_EC: 0x0024 (DABT_LOW), PC: ...". */
static void read_name(struct tracefmt_db *formats, const struct analysis_sample *s, char *name, size_t size)
{
	const char *text = tracefmt_print(formats, s->event->fmt, s->view.raw, s->view.raw_size, NULL);
	const char *reason = strstr(text, "reason "), *paren = strchr(text, '(');

	if (reason)
		reason += strlen("reason ");
	else if (paren && !strncmp(text, "TRAP", 4))
		reason = paren + 1;
	else
		reason = text;
	snprintf(name, size, "%.*s", (int)strcspn(reason, " :),"), reason);
}

enum { MAX_REASONS = 4096 };   /* a damaged recording can have any number */

static void learn(struct exit_reasons *all, struct tracefmt_db *formats, const struct analysis_sample *s,
		  uint64_t code)
{
	const uint32_t n = all->known.n;
	struct exit_reason *r = groups_get(&all->known, &code, sizeof(code), sizeof(*r), MAX_REASONS);

	if (all->known.n > n)
		read_name(formats, s, r->name, sizeof(r->name));
}

/* The sample's exit reason, as a number for exit_reasons_name(). */
static uint64_t exit_reasons_code(struct exit_reasons *all, struct tracefmt_db *formats, const struct analysis_sample *s)
{
	uint64_t code = trace_field_uint(all->code, s->view.raw);

	if (all->isa)
		code |= trace_field_uint(all->isa, s->view.raw) << 32;
	if (all->kind)
		code |= trace_field_uint(all->kind, s->view.raw) << 32;
	learn(all, formats, s, code);
	return code;
}

static const char *exit_reasons_name(struct exit_reasons *all, uint64_t code)
{
	const struct exit_reason *r = groups_find(&all->known, &code, sizeof(code));

	return r ? r->name : "?";
}

/* ---- exits ------------------------------------------------------------------------------ */

struct kvm_exit {
	struct question question;
	struct exit_reasons reasons;
	struct groups vcpus;         /* of struct vcpu */
};

/* A virtual CPU's thread, and the times of its first and last event. */
struct vcpu {
	pid_t tid;
	uint64_t first, last;
};

enum { LEAVE, ENTER };
static const struct question_event events[] = {
	[LEAVE] = { "kvm", "kvm_exit" },
	[ENTER] = { "kvm", "kvm_entry" },
};

static const char *reason(struct question *q, uint64_t code, char *buf, size_t size)
{
	return exit_reasons_name(&((struct kvm_exit *)q)->reasons, code);
}

enum { ROW_REASON, ROW_COMM, ROW_TID, REASON };
static const struct column columns[] = {
	[ROW_REASON] = { "exit_reason", COLUMN_TEXT, COLUMN_KEY, .text = reason },
	[ROW_COMM] = { "comm", COLUMN_TEXT, COLUMN_COMM },
	[ROW_TID] = { "tid", COLUMN_TASK, COLUMN_PER_INSTANCE },
	[REASON] = { "reason", COLUMN_TEXT, COLUMN_FIELD, 48, .text = reason },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P99, SHOW_MAX, SHOW_SHARE,
};

/* The time from first to last event, summed over virtual CPUs, in the guest or not; begins the next interval. */
static uint64_t seen(struct question *q)
{
	uint64_t ns = 0;

	for (struct vcpu *v = groups_first(&((struct kvm_exit *)q)->vcpus); v; v = groups_next(v)) {
		ns += v->last - v->first;
		v->first = v->last;
	}
	return ns;
}

static void see_vcpu(struct kvm_exit *k, const struct analysis_sample *s)
{
	const uint32_t n = k->vcpus.n;
	struct vcpu *v = groups_get(&k->vcpus, &s->tid, sizeof(s->tid), sizeof(*v), UINT32_MAX);

	if (!v)
		return;
	if (k->vcpus.n > n)
		v->first = s->time;
	v->last = s->time;
}

static void sample(struct question *q, const struct analysis_sample *s)
{
	struct kvm_exit *k = (struct kvm_exit *)q;
	struct happening h = { .s = s, .pid = s->pid, .tid = s->tid };

	see_vcpu(k, s);
	if (s->event == q->events[LEAVE]) {
		pairs_start(&q->pairs, s->time, (uint64_t)s->tid, exit_reasons_code(&k->reasons, question_formats(q), s));
	} else if (s->event == q->events[ENTER] && pairs_end(&q->pairs, s->time, (uint64_t)s->tid, &h.end)) {
		h.cells[ROW_REASON].number = h.cells[REASON].number = h.end.value;
		h.cells[ROW_TID].number = (uint64_t)s->tid;
		h.comm = question_shown_comm(q, s->tid);
		question_emit(q, &h);
	}
}

/* kvm_entry ends an exit: its fields are not needed. */
static uint64_t reads(struct question *q, const struct stream_event *event)
{
	return event == question_event(q, events[ENTER].sys, events[ENTER].name) ? 0 : PERF_SAMPLE_RAW;
}

static int begin(struct question *q, struct fault *f)
{
	q->named = true;
	return exit_reasons_begin(&((struct kvm_exit *)q)->reasons, q->events[LEAVE], f);
}

static void release(struct question *q)
{
	struct kvm_exit *k = (struct kvm_exit *)q;

	groups_free(&k->vcpus);
	exit_reasons_free(&k->reasons);
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	snprintf(buf, size, "virtual CPU of thread %d (%s): exit %s", pidmap_shown(h->tid), h->comm, reason(q, h->end.value, NULL, 0));
}

static bool between(struct question *q, const struct analysis_sample *s, const struct happening *h)
{
	return s->tid == h->tid;
}

static void end(struct question *q)
{
	if (q->a && !q->last && !q->common.json && !q->csv)
		puts("no exits were seen: do guests run here?");
}

static const struct question_ops question = {
	.name = "kvm-exit", .durations = "exits", QUESTION_COLUMNS_ARE(columns), .shown = shown, .nshown = sizeof(shown) / sizeof(*shown),
	.share_title = "%gsys", .whole = seen,
	.print = "\"%s took %llu.%03llu us\", REC->reason, REC->duration / 1000, REC->duration % 1000",
	QUESTION_EVENTS_ARE(events), .reads = reads, .begin = begin, .sample = sample, .end = end, .release = release, .title = title,
	.between = between,
};

/* ---- the command ------------------------------------------------------------------------ */

static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("thread (virtual CPU)");

const struct command kvm_exit_command = {
	.usual = "than perins pids interval rows input json",
	QUESTION_COMMAND(question, struct kvm_exit),
	OPT_GROUP_ROWS(
		QUESTION_DURATIONS_GROUP(duration_opts), QUESTION_EVENTS_GROUP, QUESTION_RUN_GROUPS),
	.name = "kvm-exit", .usage = QUESTION_USAGE,
	.description = COMMAND_TEXT(
		"Why do guests exit to the host, and how long does the host take until it enters them again? "
		"Prints a row for each exit reason, as the kernel names it (VMX, SVM, arm64); with --perins also "
		"for each thread of a virtual CPU. HLT and WFx take long because the guest is idle.",
		"%gsys is the percentage of the time of all virtual CPUs seen that the host spent on exits of this reason.",
		"--than prints each longer exit when the guest is entered again.",
		"--heatmap draws all exits: when the guest was entered again, and how long that took.",
		"Run it on the host; for -p, give the process of the virtual machine."),
	.summary = "measure how long the host takes to handle the exits of its guests",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof kvm-exit -i 1000", "show the exits of all guests, each second" },
		{ "perf-prof kvm-exit -p 1234 --perins --than 1ms",
		  "show the exits of one guest by virtual CPU, and print those that took longer than 1 ms" }),
};

const struct source_ops kvm_exit_source = {
	QUESTION_SOURCE(question, struct kvm_exit), OPT_GROUPS(question_source_groups), .name = "kvm-exit",
	.summary = "each exit of a guest, when the guest is entered again",
};
