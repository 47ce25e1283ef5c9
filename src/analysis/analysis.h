/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a command that watches events and says what it saw: opens them on the
 * targets, starts the workload, hands over samples with what every analysis asks, prints
 * losses at the end. A command is a struct analysis_ops and its options; analysis_run()
 * is its struct command's run().
 *
 *	config -> events named (by -e, or by the analysis) -> begin() -> samples, intervals -> end()
 */
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include "analysis/callstacks.h"
#include "analysis/workload.h"
#include "base/command.h"
#include "keeper/reading.h"
#include "report/eventline.h"
#include "stream/ids.h"
#include "stream/names.h"

/* The head of each command's config. */
struct analysis_opts {
	struct stream_opts stream;
	bool json;
	int inlines;                 /* OPT_TRI; on by default */
	bool inline_rows;            /* inlined functions have rows as others have */
	const char *debuginfod;      /* servers, or NULL */
	uint64_t cache;              /* --cache: bytes of tables of symbols, and of stacks */
	bool everybody;                /* a command is started, but not the target */
};

/* Rows for the option groups of commands, at the offset of a struct analysis_opts. */
enum { ANALYSIS_NAMES_NOPTS = 3 };   /* the last rows of analysis_callchain_opts */
enum { ANALYSIS_JSON_NOPTS = 1, ANALYSIS_ALL_NOPTS = 1, ANALYSIS_CALLCHAIN_NOPTS = STREAM_CALLCHAIN_NOPTS + ANALYSIS_NAMES_NOPTS };
extern const struct opt analysis_json_opts[ANALYSIS_JSON_NOPTS];
/* Of live events. */
extern const struct opt analysis_all_opts[ANALYSIS_ALL_NOPTS];
/* In place of stream_callchain_opts where -g means the user's part, too. */
extern const struct opt analysis_callchain_opts[ANALYSIS_CALLCHAIN_NOPTS];

struct analysis;

/* A sample, borrowed. */
struct analysis_sample {
	struct sample_view view;
	const struct stream_event *event;   /* the view's */
	uint64_t time;                      /* perf clock, ns */
	pid_t pid, tid;                     /* of the task that ran; -1: on its way out; tid: stream_tid() */
	uint32_t cpu;
};

/* Of what stream_ops.sample() gets. */
static inline struct analysis_sample analysis_sample_of(const struct stream_event *event,
							const struct perf_event_header *rec, const void *raw,
							uint32_t raw_size, uint32_t cpu)
{
	return (struct analysis_sample){
		.view = { event, rec, raw, raw_size, cpu, event->counts },
		.event = event,
		.time = layout_u64(rec, event->layout.time),
		.pid = (pid_t)layout_u32(rec, event->layout.tid),
		.tid = stream_tid(event, rec, raw),
		.cpu = cpu,
	};
}

struct analysis_ops {
	const char *name;
	/* Names the events, by analysis_add_event(), where -e did not; NULL: -e is needed.
	 * 0, or -1 with f. */
	int (*events)(struct analysis *a, struct fault *f);
	/* What it reads of that event's samples, beside who and when: PERF_SAMPLE_* bits, of raw data and call
	 * chains, too; of live events the rest is not sampled. NULL: everything. */
	uint64_t (*reads)(struct analysis *a, const struct stream_event *event);
	/* They are known, and all wanted: looks up fields. 0, or -1 with f. */
	int (*begin)(struct analysis *a, struct fault *f);
	void (*sample)(struct analysis *a, const struct analysis_sample *s);
	void (*task)(struct analysis *a, const struct pev_record *rec);   /* stream_ops.task; may be NULL */
	void (*interval)(struct analysis *a);              /* every -i; may be NULL */
	bool (*is_over)(struct analysis *a);               /* asked 20 times a second; may be NULL */
	void (*idle)(struct analysis *a);                  /* 20 times a second while there is time; may be NULL */
	void (*abandon)(struct analysis *a);               /* stream_ops.abandon; may be NULL */
	void (*lost)(struct analysis *a, const struct stream_loss *loss);   /* may be NULL */
	void (*print_stat)(struct analysis *a);            /* SIGUSR2; may be NULL */
	/* SIGUSR2 means something else to it: true. May be NULL */
	bool (*takes_signal)(struct analysis *a);
	/* All has been delivered. 0, or -1 with f. May be NULL */
	int (*end)(struct analysis *a, struct fault *f);
	void (*release)(struct analysis *a);               /* frees what the config got since; may be NULL */
	bool chains_of_users;      /* -g means the user's part, too */
	unsigned int attrs;        /* enum stream_attrs: what of the event list's it uses */
};

struct analysis {
	const struct analysis_ops *ops;
	void *config;                  /* the command's */
	struct analysis_opts *opts;    /* its head */
	struct stream *stream;
	struct names names;
	struct callstacks *stacks;
	struct eventline *line;
	struct workload workload;
	char *const *command;          /* behind --; NULL: there is none */
	bool watches_command;          /* it is the target */
	struct reading reading;        /* of a recording, by itself */
	int output_error;              /* errno: stdout can't be written */
	char **added;                  /* texts of analysis_add_event() */
	size_t nadded;
};

void analysis_defaults(void *config);   /* for struct command */
void analysis_release(void *config);
/* The whole run, for struct command's run() once that has put its ops. The exit code. */
int analysis_run(const struct analysis_ops *ops, void *config, const struct opt_parser *args,
		 struct fault *f);

/* What -I names, if it names anything, and the reading of it begins. 0, or -1 with f. */
int analysis_open_input(struct stream_opts *o, struct reading *reading, const struct opt_parser *args, struct fault *f);

/* For ops->events: an item as in -e. 0, or -1 with f. */
int analysis_add_event(struct analysis *a, struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The event of that tracepoint; NULL if it is not in the list. */
struct stream_event *analysis_event(struct analysis *a, const char *sys, const char *tracepoint);
/* -1 with f: it needs that one, which the recording, or the list of -e, is without. */
int analysis_lacks(const struct analysis *a, const char *sys, const char *tracepoint, struct fault *f);
/* A field of a tracepoint, a number unless `text`; NULL with f (which may be
 * NULL) if it has none of that name. */
const struct trace_field *analysis_field(const struct stream_event *event, const char *name,
					 bool text, struct fault *f);

/* `what` it samples, and how often: "cpu-clock, 997 Hz", "cycles:u every 100000". Returns buf. */
char *analysis_sampled(const struct stream_event *event, const char *what, char *buf, size_t size);
/* Whether an event's samples say where they were, by a call chain or an address. */
bool analysis_has_place(const struct stream_event *event);
/* What an event counts, by name: of the source `profile` "cycles". */
const char *analysis_counted(const struct stream_event *event);
/* The same of all that count it, on other kinds of CPUs: "cpu_core/cycles/+cpu_atom/cycles/". Returns buf. */
char *analysis_family(struct analysis *a, const struct stream_event *event, char *buf, size_t size);
/* That name as all call the event, with levels and without how it is sampled: "cpu-cycles:uP" and "cycles:u" are
 * "cycles:u". Returns buf. */
char *analysis_event_key(const char *name, char *buf, size_t size);
/* Whether a sample is in the kernel, though its event is of user space alone: the CPU stopped too late. */
bool analysis_is_skid(const struct analysis_sample *s);
/* Whether it counts ns: "cpu-clock", "task-clock". */
bool analysis_is_clock(const struct stream_event *event);
/* The event whose samples are a recording's profile: its first perf event that says where it was,
 * or, where there are tracepoints alone, the first of these with *all (then those of all that say
 * it count, each as one); NULL: none says it. Addresses of all events get names. For begin(). */
struct stream_event *analysis_profiled(struct analysis *a, bool *all);

struct table;
/* What a table says beside its rows: "lost", and "throttled" where something was. */
void analysis_put_losses(struct analysis *a, struct table *t);

/* Questions about a sample. */
const char *analysis_comm(struct analysis *a, pid_t tid, uint64_t time);   /* valid until the next call */
/* NULL: it has no chain. */
struct callstack *analysis_stack(struct analysis *a, const struct analysis_sample *s);
/* The same, or without a chain the frame of its ip; NULL: it has neither. */
struct callstack *analysis_where(struct analysis *a, const struct analysis_sample *s);
/* The parts of the event's samples that analysis_where() and analysis_weight() read. */
#define ANALYSIS_WHERE (PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN)
uint64_t analysis_weight_part(const struct stream_event *event);
/* What a sample of a perf event stands for, of what it counts: what its count went on by, if it has one, else its
 * period. Of tracepoints 1. */
uint64_t analysis_weight(const struct analysis_sample *s);
/* The sample's line of text, as trace prints it, and the lines of its stack. */
void analysis_print(struct analysis *a, const struct analysis_sample *s);
/* The same of a task whose name is known. */
void analysis_print_as(struct analysis *a, const struct analysis_sample *s, const char *comm);
void analysis_print_stack(struct analysis *a, struct callstack *stack);
/* "2026-01-15 10:30:45.123456" of a time of the perf clock; of a recording that doesn't relate its clock
 * to it, "50527.123456", that clock's seconds. Returns buf. */
char *analysis_time_text(struct analysis *a, uint64_t time, char *buf, size_t size);
/* Of a text; the highest bit is set, so that it is no tid. */
uint64_t analysis_hash(const char *text);
/* The perf clock now; of a recording in intervals, how far it came. */
uint64_t analysis_now(struct analysis *a);
/* The end of what a table is about: with -i now, else the last sample, if there was one (not 0). */
uint64_t analysis_end(struct analysis *a, uint64_t last);
/* Whether all is there that a picture is to show: -1 with f where the reading of a recording was
 * interrupted. Path: the picture's, NULL: there is none. */
int analysis_may_draw(const struct analysis *a, const char *path, struct fault *f);
#endif
