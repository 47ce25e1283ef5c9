/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of all commands that watch events and report on them: analysis_run() opens
 * the events on the targets, starts the workload, passes on each sample with its time, task and
 * CPU, and prints losses at the end. A command adds a struct analysis_ops and its options; the
 * run() of its struct command calls analysis_run().
 *
 *	config -> events named (by -e, or by the analysis) -> begin() -> samples, intervals -> end()
 */
#ifndef ENGINE_ANALYSIS_H
#define ENGINE_ANALYSIS_H

#include "base/command.h"
#include "engine/callstacks.h"
#include "engine/job.h"
#include "keeper/reading.h"
#include "report/eventline.h"
#include "report/flame.h"
#include "report/terminal.h"
#include "stream/rings/ids.h"
#include "stream/names.h"

/* The first member of each command's config. */
struct analysis_opts {
	struct stream_opts stream;
	bool json;
	bool with_text;              /* with json: each table also has its text */
	bool full;                   /* nothing is cut off to fit the terminal */
	uint64_t width;              /* --width: columns of a line; 0: the terminal's */
	int inlines;                 /* OPT_TRI; on by default */
	uint64_t rows;               /* --rows: functions in a table; 0: the default */
	uint64_t stacks;             /* --stacks: stacks below a table; 0: the default; UINT64_MAX: none */
	uint64_t sort;               /* --sort: what makes a row of a profile; 0: the default */
	bool by_total;               /* --sort total: the order of rows */
	struct opt_strings comms, dsos;   /* --comm, --dso: globs; stacks of other tasks, and that end in other files, are left out */
	bool comm_seen, dso_seen, selected;   /* a stack had such a task, such a file, both */
	char comm_near[128], dso_near[128];   /* similar names, until one had both; or "" */
	double least;                /* --than: the share in percent below which functions are not shown; 0: the default; below 0: none */
	const char *callers;         /* --callers: a function; or NULL */
	const char *callees;         /* --callees: a function; or NULL; tree is set, too */
	bool called;                 /* its callers or callees were printed */
	bool chainless;              /* it was printed that there are none, as samples have no call chains */
	char callers_near[128];      /* a function with a similar name, if none has it; or "" */
	bool tree;                   /* --tree: a call tree below the table, instead of stacks */
	struct opt_strings annotate; /* --annotate: functions */
	uint64_t annotated;          /* a bit for each of the first 64 whose lines were printed */
	char annotate_near[128];     /* a function with a name similar to that of the first that no stack had; or "" */
	bool inline_rows;            /* inlined functions have rows of their own */
	struct opt_strings below;    /* --below: callstacks_begin_below() */
	struct opt_strings without;  /* --without: functions of Python that are not sampled */
	bool merges_python;          /* callstacks_merge_python(): set by the command */
	const char *debuginfod;      /* servers, or NULL */
	uint64_t cache;              /* --cache: bytes for symbol tables and stacks */
	bool everybody;                /* -a: all tasks are targets, also if a command is started */
};
/* For struct command, if the config begins with analysis_opts. */
#define ANALYSIS_SOURCES_AT offsetof(struct analysis_opts, stream.sources)

/* Options for the option groups of commands. Their fields are in struct analysis_opts. */
enum { ANALYSIS_NAMES_NOPTS = 3 };   /* the last rows of analysis_callchain_opts */
enum { ANALYSIS_JSON_NOPTS = 4, ANALYSIS_ALL_NOPTS = 1, ANALYSIS_CALLCHAIN_NOPTS = STREAM_CALLCHAIN_NOPTS + ANALYSIS_NAMES_NOPTS };
#define ANALYSIS_JSON_OPT \
	{ "json", 0, NULL, OPT_FLAG, offsetof(struct analysis_opts, json), NULL, "Print JSON, one object per line.", false, NULL }
#define ANALYSIS_TEXT_OPT \
	{ "with-text", 0, NULL, OPT_FLAG, offsetof(struct analysis_opts, with_text), NULL, \
	  "With --json: add what the table looks like as text, as its member \"text\".", false, NULL }
#define ANALYSIS_FULL_OPT \
	{ "full", 0, NULL, OPT_FLAG, offsetof(struct analysis_opts, full), NULL, \
	  "Print whole names and paths on a terminal, too, and all columns. Default: shorten them to its width.", false, NULL }
#define ANALYSIS_WIDTH_OPT \
	{ "width", 0, NULL, OPT_U64, offsetof(struct analysis_opts, width), "COLUMNS", \
	  "Shorten names and paths to lines of this width, as on a terminal; also in a file or a pipe, where they are whole by default.", \
	  false, NULL, 40, 10000, "a number of columns, 40 to 10000" }
extern const struct opt analysis_json_opts[ANALYSIS_JSON_NOPTS];
/* -a, for live events. */
extern const struct opt analysis_all_opts[ANALYSIS_ALL_NOPTS];
/* Instead of stream_callchain_opts, for commands whose -g includes the user's part of call chains. */
extern const struct opt analysis_callchain_opts[ANALYSIS_CALLCHAIN_NOPTS];

/* Option groups, and members of struct command, that commands have in common. */
#define ANALYSIS_EVENT_GROUPS \
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 }, { "Sampling", stream_rate_opts, STREAM_RATE_NOPTS, 0 }
#define ANALYSIS_RUN_GROUPS \
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 }, { "Whole machine", analysis_all_opts, ANALYSIS_ALL_NOPTS, 0 }, \
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 }, { "Reading events", stream_ring_opts, STREAM_RING_NOPTS, 0 }
#define ANALYSIS_CHAIN_GROUP { "Call chains", analysis_callchain_opts, ANALYSIS_CALLCHAIN_NOPTS, 0 }
#define ANALYSIS_OUTPUT_GROUPS \
	{ "Output format", analysis_json_opts, ANALYSIS_JSON_NOPTS, 0 }, { "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 }
#define ANALYSIS_CONFIG(config, defaults_fn) \
	.config_size = sizeof(config), .defaults = defaults_fn, .sources_at = ANALYSIS_SOURCES_AT, .release = analysis_release

struct analysis;

/* A sample; valid during the call. */
struct analysis_sample {
	struct sample_view view;
	const struct stream_event *event;   /* the view's */
	uint64_t time;                      /* perf clock, ns */
	pid_t pid, tid;                     /* the task that ran; -1: it is exiting; tid: stream_tid() */
	uint32_t cpu;
};

/* From the arguments of stream_ops.sample(). */
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
	/* Called if there is no -e: adds the events with analysis_add_event(). NULL: -e is needed.
	 * 0, or -1 with f. */
	int (*events)(struct analysis *a, struct fault *f);
	/* Called if there is -e: adds events of the command's own. NULL: there are none. 0, or -1 with f. */
	int (*add)(struct analysis *a, struct fault *f);
	const char *instead;   /* what those may look for who gave no event; NULL: nothing */
	/* The parts of that event's samples that the command reads, besides task and time: PERF_SAMPLE_* bits, also for
	 * raw data and call chains. Other parts of live events are not sampled. NULL: all parts. */
	uint64_t (*reads)(struct analysis *a, const struct stream_event *event);
	/* Called when the events are known: looks up their fields. All events are `wanted`. 0, or -1 with f. */
	int (*begin)(struct analysis *a, struct fault *f);
	void (*started)(struct analysis *a);               /* all events are on; may be NULL */
	void (*sample)(struct analysis *a, const struct analysis_sample *s);
	void (*task)(struct analysis *a, const struct pev_record *rec);   /* stream_ops.task; may be NULL */
	void (*interval)(struct analysis *a, uint64_t now);   /* every -i; may be NULL */
	bool (*is_over)(struct analysis *a);               /* called 20 times a second; may be NULL */
	void (*idle)(struct analysis *a);                  /* up to 20 times a second, if no events wait; may be NULL */
	void (*abandon)(struct analysis *a);               /* stream_ops.abandon; may be NULL */
	void (*ready)(struct analysis *a);                 /* instead of events: stream_ops.ready; may be NULL */
	void (*lost)(struct analysis *a, const struct stream_loss *loss);   /* may be NULL */
	void (*print_stat)(struct analysis *a);            /* SIGUSR2; may be NULL */
	/* True: SIGUSR2 has another meaning for this command. May be NULL */
	bool (*takes_signal)(struct analysis *a);
	/* Called when all samples have been delivered. 0, or -1 with f. May be NULL */
	int (*end)(struct analysis *a, struct fault *f);
	void (*release)(struct analysis *a);               /* frees what the other functions put into the config; may be NULL */
	bool chains_of_users;      /* -g includes the user's part of call chains */
	unsigned int attrs;        /* enum stream_attrs: attributes of -e that the command uses */
};

struct analysis {
	const struct analysis_ops *ops;
	void *config;                  /* the command's */
	struct analysis_opts *opts;    /* the config's first member */
	struct stream *stream;
	struct names names;
	struct callstacks *stacks;
	struct eventline *line;
	struct job job;                /* the command */
	char *const *command;          /* after --; NULL: there is none */
	struct reading reading;        /* for a recording, unless the command has opened it itself */
	bool said_why_empty;           /* the table itself says why it may be empty */
	int output_error;              /* errno, if stdout cannot be written */
	char **added;                  /* texts of analysis_add_event() */
	size_t nadded;
};

void analysis_defaults(void *config);   /* for struct command */
void analysis_release(void *config);
/* The whole run: for the run() of a struct command. Returns the exit code. config begins with an analysis_opts; _of: that
 * may be anywhere. */
int analysis_run_of(const struct analysis_ops *ops, void *config, struct analysis_opts *opts, const struct opt_parser *args,
		    struct fault *f);
int analysis_run(const struct analysis_ops *ops, void *config, const struct opt_parser *args,
		 struct fault *f);

/* For commands that read a recording, whose name may follow -I or stand alone (default: perf.data): sets o->input. *rest:
 * the arguments without the name. 0, or -1 with f. */
int analysis_take_input(const char *command, struct stream_opts *o, const struct opt_parser *args, struct opt_parser *rest,
			struct fault *f);
/* Opens the recording of -I, if there is one, and begins to read it (reading_begin()). 0, or -1 with f. */
int analysis_open_input(struct stream_opts *o, struct reading *reading, const struct opt_parser *args, struct fault *f);

/* For ops->events: adds an item, as in -e. 0, or -1 with f. */
int analysis_add_event(struct analysis *a, struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The event of that tracepoint; NULL if it is not in the list. */
struct stream_event *analysis_event(struct analysis *a, const char *sys, const char *tracepoint);
/* Sets f: the analysis needs this tracepoint, but the recording, or the list of -e, lacks it. Returns -1. */
int analysis_lacks(const struct analysis *a, const char *sys, const char *tracepoint, struct fault *f);
/* An event of the scheduler is about other tasks than the one in which it happens: an error if a recording has it for a
 * command alone. `name`: of the analysis. 0, or -1 with f. */
int analysis_has_everybody(const struct stream *s, const char *name, const struct stream_event *event, struct fault *f);
/* A field of a tracepoint: with `text` a string, else a number. NULL with f (which may be
 * NULL): there is none with that name. */
const struct trace_field *analysis_field(const struct stream_event *event, const char *name,
					 bool text, struct fault *f);

/* `what`, with the event's rate: "cpu-clock, 997 Hz", "cycles:u every 100000". Returns buf. */
char *analysis_sampled(const struct stream_event *event, const char *what, char *buf, size_t size);
/* Whether an event's samples have a place: a call chain or an address. */
bool analysis_has_place(const struct stream_event *event);
/* The name of what an event counts: "cycles" for the source `profile`. */
const char *analysis_counted(const struct stream_event *event);
/* The same for all events of the family, one for each kind of CPU: "cpu_core/cycles/+cpu_atom/cycles/". Returns buf. */
char *analysis_family(struct analysis *a, const struct stream_event *event, char *buf, size_t size);
/* A name for comparing events: synonyms are replaced by the usual name, and only the modifiers for levels (:u, :k, :h)
 * are kept. "cpu-cycles:uP" becomes "cycles:u". Returns buf. */
char *analysis_event_key(const char *name, char *buf, size_t size);
/* Whether an event has user space only: ":u", or since this user may not sample the kernel. */
bool analysis_excludes_kernel(const struct stream_event *event);
/* Whether a sample is in the kernel although its event counts only user space: the CPU stopped too late. */
bool analysis_is_skid(const struct analysis_sample *s);
/* Whether an event counts ns: "cpu-clock", "task-clock". */
bool analysis_is_clock(const struct stream_event *event);
/* The event whose samples are the profile of a recording: its first perf event with a place
 * (analysis_has_place()). If only tracepoints have one: the first of these, and *all is true (then
 * the samples of all events with a place count, each as one). NULL: no event has a place. Also makes
 * the addresses of all events have names. For begin(). */
struct stream_event *analysis_profiled(struct analysis *a, bool *all);

struct table;
struct table_style;
/* Prints a table as text, or as JSON; says if memory ran out. Errors of the output: see ferror(3). */
void analysis_put_table(const struct analysis *a, struct table *t, const struct table_style *style);
/* Without the message: returns 0, -ENOMEM or -EIO. */
int analysis_put_table_of(const struct analysis_opts *o, struct table *t, const struct table_style *style);
/* Adds "lost" to a table in JSON, and "throttled" if an event was throttled. */
void analysis_put_losses(struct analysis *a, struct table *t);

/* About one sample: */
const char *analysis_comm(struct analysis *a, pid_t tid);   /* valid until the next call */
/* The name of its task's control group; equal names have equal addresses. For opts->stream.samples_cgroups. */
const char *analysis_cgroup(struct analysis *a, const struct analysis_sample *s);
/* Its call chain; NULL: it has none. */
struct callstack *analysis_stack(struct analysis *a, const struct analysis_sample *s);
/* The same; if it has no chain, a stack of one frame, for its ip. NULL: it has neither. */
struct callstack *analysis_where(struct analysis *a, const struct analysis_sample *s);
/* The parts of a sample that analysis_where() reads, and the part that analysis_weight() reads. */
#define ANALYSIS_WHERE (PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN)
uint64_t analysis_weight_part(const struct stream_event *event);
/* The sample's weight, in units of its event: the increase of its count if it has one, else its period. 1 for
 * tracepoints. */
uint64_t analysis_weight(const struct analysis_sample *s);
/* The sample's line of text, as trace prints it, and the lines of its stack. */
void analysis_print(struct analysis *a, const struct analysis_sample *s);
/* The same, with the task's name. */
void analysis_print_as(struct analysis *a, const struct analysis_sample *s, const char *comm);
/* To be called when a sample was printed: stdout is written in whole lines. */
void analysis_printed(struct analysis *a);
void analysis_print_stack(struct analysis *a, struct callstack *stack);
/* The terminal to print tables for; with --full, of unlimited width. */
struct terminal analysis_terminal(const struct analysis_opts *o);
/* The date and time for a time of the perf clock: "2026-01-15 10:30:45.123456". If a recording does not relate its clock
 * to real time: seconds of that clock, "50527.123456". Returns buf. */
char *analysis_time_text(struct analysis *a, uint64_t time, char *buf, size_t size);
/* The hash of a text. The highest bit is set, so that it differs from every tid. */
uint64_t analysis_hash(const char *text);
/* The present time of the perf clock; in a recording, the end of the present interval, or of the recording. */
uint64_t analysis_now(struct analysis *a);
/* The end of the time that a table covers: `last`, the time of the last sample; with -i, or if it is 0, analysis_now(). */
uint64_t analysis_end(struct analysis *a, uint64_t last);
/* 0; or -1 with f if the picture `path` (may be NULL) is incomplete: the reading of a recording was interrupted. */
int analysis_may_draw(const struct analysis *a, const char *path, struct fault *f);
/* analysis_may_draw(), then flame_write() of the picture's own stacks, if it has any. */
int analysis_draw(const struct analysis *a, struct flame_config *flame, const struct flame_title *title, struct fault *f);
/* With -i: the stacks that are added next are below a frame with the time `now`. */
void analysis_name_interval(struct analysis *a, struct folded *folded, uint64_t now);
#endif
