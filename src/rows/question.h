/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question about durations: how long does something take, and for whom? It declares columns, and a state machine that
 * finds what begins and ends (pairs.h); it emits a row each time something ends. What happens to rows is decided here,
 * once for all questions:
 *
 *	                                 as a command (perf-prof rundelay)      tables at each interval: text, JSON, CSV
 *	samples -> sample() -> ended() -> question_emit() --> rows.c ---------> a heat map; rows above --than
 *	                                 \
 *	                                  as a source (-e 'rundelay/--than 5ms/')
 *	                                   --> made.c -------------------------> an event of the list
 *
 * A command's config begins with a struct question; QUESTION_COMMAND and QUESTION_SOURCE are the initializers that
 * commands and sources have in common.
 */
#ifndef ROWS_QUESTION_H
#define ROWS_QUESTION_H

#include "engine/history.h"
#include "report/heatmap.h"
#include "rows/grouping.h"
#include "rows/pairs.h"
#include "stream/source.h"

struct question;

/* ---- what a question declares ---------------------------------------------------------- */

enum column_kind {
	COLUMN_SIGNED, COLUMN_UNSIGNED,
	COLUMN_TASK,                 /* a task's id: shown as pidmap_shown() */
	COLUMN_TEXT,
};

/* Where a column is seen. */
enum column_place {
	COLUMN_KEY = 1 << 0,         /* in the table, where it identifies a row; up to DISTRIBUTION_KEYS - 1 of these do */
	COLUMN_PER_INSTANCE = 1 << 1,   /* likewise, but with --perins only */
	COLUMN_FIELD = 1 << 2,       /* in the event */
};

/* A column of its own. Events also have pid, tid, start and duration; where rows are tasks, tables have comm and tid. */
struct column {
	const char *name;
	enum column_kind kind;
	unsigned int places;         /* enum column_place */
	unsigned int size;           /* of text in an event: bytes with the final NUL */
	const char *title;           /* of the column in text; NULL: its name */
	/* The text of a number; NULL: the cell is the text itself, which only events can have. Returns buf or a text that
	 * stays. */
	const char *(*text)(struct question *q, uint64_t number, char *buf, size_t size);
};

/* A tracepoint that it needs, and fields of it. */
enum { QUESTION_EVENTS = 6, QUESTION_FIELDS = 4 };
struct question_event {
	const char *sys, *name;
	const char *fields[QUESTION_FIELDS];   /* numbers; NULL ends them */
	const char *text;                      /* a text, or NULL */
};

union cell {
	uint64_t number;
	const char *text;
};

enum { QUESTION_COLUMNS = 6 };

/* What question_emit() takes. */
struct happening {
	const struct analysis_sample *s;   /* it ended with this sample */
	struct pair_end end;
	pid_t pid, tid;              /* its task; pid 0: found by tid */
	const char *comm;            /* the task's name; NULL where rows are no tasks */
	uint64_t key;                /* of its pair */
	bool failed;                 /* counts as an error */
	union cell cells[QUESTION_COLUMNS];   /* in the order of columns */
};

struct question_ops {
	const char *name;            /* of the command, the source and the table */
	const struct column *columns;
	size_t ncolumns;             /* QUESTION_COLUMNS_ARE() sets both */
	const struct question_event *events;   /* QUESTION_EVENTS_ARE() sets both; or none, and watch() says it all */
	size_t nevents;
	bool everywhere;             /* as a source it sees these also of tasks that are not its targets */
	bool tasks;                  /* rows are tasks: comm and tid, or as --by says */
	enum group_by usual;         /* without --by. BY_DEFAULT: BY_TASK with targets, else BY_COMM */
	bool names;                  /* events have the task's name, and its process is looked up */
	bool states;                 /* something is always open: pairs that have not ended are not reported */
	const char *print;           /* the event as text, like "print fmt" of a tracepoint's format */
	const enum shown *shown;     /* of the durations; NULL: from calls to max */
	size_t nshown;
	const char *share_title;     /* SHOW_SHARE is the share of whole(), under this title; or NULL */
	uint64_t (*whole)(struct question *q);
	unsigned int attrs;          /* enum stream_attrs: besides stack */

	/* Other events: question_watch(). 0, or -1 with f. May be NULL, like all but sample(). */
	int (*watch)(struct question *q, struct fault *f);
	/* Parts of an event's samples that it reads (analysis_ops.reads); NULL: raw data. */
	uint64_t (*reads)(struct question *q, const struct stream_event *event);
	/* Events and fields are known: of others, question_event(), question_need(). 0, or -1 with f. */
	int (*begin)(struct question *q, struct fault *f);
	void (*sample)(struct question *q, const struct analysis_sample *s);
	/* A state of that task has ended, for state machines that questions share. */
	void (*ended)(struct question *q, const struct analysis_sample *s, pid_t tid, const struct pair_end *end);
	void (*task)(struct question *q, const struct pev_record *rec);
	void (*lost)(struct question *q, const struct stream_loss *loss);
	void (*before_table)(struct question *q);   /* adds rows that no sample reports */
	void (*after_table)(struct question *q, uint64_t from);   /* the table began at that time */
	bool (*is_over)(struct question *q);
	void (*end)(struct question *q);
	void (*release)(struct question *q);
	/* Of a duration above --than: "bash 12: asleep"; and whether a sample meanwhile belongs to it (NULL: it doesn't). */
	void (*title)(struct question *q, const struct happening *h, char *buf, size_t size);
	bool (*between)(struct question *q, const struct analysis_sample *s, const struct happening *h);
};

#define QUESTION_COLUMNS_ARE(array) .columns = array, .ncolumns = sizeof(array) / sizeof(*(array))
#define QUESTION_EVENTS_ARE(array) .events = array, .nevents = sizeof(array) / sizeof(*(array))

/* ---- one that is asked ----------------------------------------------------------------- */

/* At the head of the config, which the functions above get by it. */
struct question {
	/* options */
	struct analysis_opts common;
	uint64_t than;               /* ns; 0: none is printed by itself */
	bool per_instance;           /* --perins */
	enum group_by by;            /* --by */
	struct heatmap_config heatmap_opts;
	bool csv, csv_safe;
	/* the run */
	const struct question_ops *ops;
	struct analysis *a;          /* NULL: it is a source */
	struct maker *maker;         /* NULL: it is a command */
	const struct stream_opts *targets;
	const struct stream_event *events[QUESTION_EVENTS];   /* in the order of ops->events, */
	const struct trace_field *fields[QUESTION_EVENTS][QUESTION_FIELDS], *texts[QUESTION_EVENTS];   /* and their fields */
	struct pairs pairs;
	struct distributions rows;
	struct grouping grouping;
	bool has_targets;            /* -p, -t or a command */
	struct history *history;     /* samples, for --than */
	struct heatmap *heatmap;     /* NULL: no picture */
	uint64_t begun;              /* perf clock: the first sample of the run, */
	uint64_t from;               /* the interval's beginning, */
	uint64_t last;               /* and the newest sample */
	uint64_t reported;           /* rows above --than */
	bool has_titles;             /* CSV: the titles have been printed */
	struct made_layout {         /* of a source's event: where its fields lie, in bytes */
		uint16_t comm, cells[QUESTION_COLUMNS], start;   /* comm: 0 if it has none */
	} layout;
	char comm[16];               /* of question_comm() */
};

/* Which of ops->events it is of; ops->nevents: of none. */
static inline size_t question_index(const struct question *q, const struct analysis_sample *s)
{
	size_t i = 0;

	while (i < q->ops->nevents && s->event != q->events[i])
		i++;
	return i;
}

/* The number in a field of its sample, by the numbers of event and field. */
static inline uint64_t question_number(const struct question *q, const struct analysis_sample *s, size_t event, size_t field)
{
	return trace_field_uint(q->fields[event][field], s->view.raw);
}

/* The task's name at the time of the sample; a source knows it from that field. Valid until the next sample. */
const char *question_comm(struct question *q, const struct analysis_sample *s, pid_t tid, const struct trace_field *field);
/* For ops->watch: watches a tracepoint. everywhere: as a source also of tasks that are not its targets. 0, or -1 with f. */
int question_watch(struct question *q, const char *sys, const char *name, bool everywhere, struct fault *f);
/* For ops->begin: the event of that tracepoint, or NULL; with need: a missing event is an error. 0, or -1 with f. */
struct stream_event *question_event(struct question *q, const char *sys, const char *name);
int question_need(struct question *q, const char *sys, const char *name, const struct stream_event **event, struct fault *f);
struct tracefmt_db *question_formats(struct question *q);
/* Something has ended. */
void question_emit(struct question *q, const struct happening *h);
/* For ops->before_table: a task has slept since the last table; nothing has ended. value: of the key column. */
void question_add_asleep(struct question *q, const char *comm, pid_t tid, uint64_t value);

/* ---- commands and sources -------------------------------------------------------------- */

enum { QUESTION_NOPTS = 2, QUESTION_SOURCE_NOPTS = 1, QUESTION_BY_NOPTS = 1, QUESTION_FORMAT_NOPTS = 3 };
extern const struct opt question_opts[QUESTION_NOPTS];   /* --than, which sources have, too, and --perins */
extern const struct opt question_by_opts[QUESTION_BY_NOPTS];   /* --by */
extern const struct opt question_format_opts[QUESTION_FORMAT_NOPTS];   /* --json, --csv, --csv-safe */

/* Groups of options, before and behind those of the question. */
#define QUESTION_BY_GROUP { "Rows", question_by_opts, QUESTION_BY_NOPTS, 0 }
#define QUESTION_EVENTS_GROUP { "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 }
#define QUESTION_RUN_GROUPS \
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 }, \
	{ "Machine", analysis_all_opts, ANALYSIS_ALL_NOPTS, 0 }, \
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 }, \
	{ "Reading", stream_ring_opts, STREAM_RING_NOPTS, 0 }, \
	{ "Call chains", analysis_callchain_opts, ANALYSIS_CALLCHAIN_NOPTS, 0 }, \
	{ "Pictures", heatmap_opts, HEATMAP_OPTS, offsetof(struct question, heatmap_opts) }, \
	{ "For programs", question_format_opts, QUESTION_FORMAT_NOPTS, 0 }, \
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 }
/* Groups of a source: behind its own, or alone. */
#define QUESTION_SOURCE_GROUPS \
	{ "Durations", question_opts, QUESTION_SOURCE_NOPTS, 0 }, \
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 }

extern const struct opt_group question_task_groups[10];   /* of a command without own options, whose rows are tasks */
extern const struct opt_group question_source_groups[2];

#define QUESTION_USAGE "[options] [[--] COMMAND [ARGUMENT...]]"
/* The parts of a struct command and of a struct source_ops that all questions share. `config` begins with a question. */
#define QUESTION_COMMAND(question_ops, config) \
	.subject = &(question_ops), .mode = OPT_MODE_COMMAND, .config_size = sizeof(config), \
	.defaults = analysis_defaults, .release = analysis_release, \
	.run = question_run
#define QUESTION_SOURCE(question_ops, config) \
	.subject = &(question_ops), .makes = true, .config_size = sizeof(config), \
	.events = question_source_events
int question_run(void *config, const struct opt_parser *args, struct fault *f);
int question_source_events(struct source *source, void *config, struct fault *f);
#endif
