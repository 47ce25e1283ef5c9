/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question about durations: how long does an operation take, and for which task? It declares columns, and a state
 * machine that finds the beginning and end of each operation (pairs.h) and emits a row at each end. The code here
 * processes the rows of all questions:
 *
 *	                                 as a command (perf-prof rundelay)      tables at each interval: text, JSON, CSV
 *	samples -> sample() -> ended() -> question_emit() --> rows.c ---------> a heat map; rows above --than
 *	                                 \
 *	                                  as a source (-e 'rundelay/--than 5ms/')
 *	                                   --> made.c -------------------------> an event for -e
 *
 * A command's config begins with a struct question; QUESTION_COMMAND and QUESTION_SOURCE are the initializers that
 * commands and sources have in common.
 */
#ifndef ROWS_QUESTION_H
#define ROWS_QUESTION_H

#include "engine/history.h"
#include "report/heatmap.h"
#include "rows/grouping.h"
#include "stream/list/source.h"
#include "table/pairs.h"

struct question;

/* ---- what a question declares ---------------------------------------------------------- */

enum column_kind {
	COLUMN_SIGNED, COLUMN_UNSIGNED,
	COLUMN_TASK,                 /* a task's id: shown as pidmap_shown() */
	COLUMN_TEXT,
};

/* The outputs that have a column. */
enum column_place {
	COLUMN_KEY = 1 << 0,         /* in tables, as part of the row's key; at most DISTRIBUTION_KEYS - 1 columns */
	COLUMN_PER_INSTANCE = 1 << 1,   /* likewise, but with --perins only */
	COLUMN_FIELD = 1 << 2,       /* in the source's event */
	COLUMN_COMM = 1 << 3,        /* with --perins: the happening's comm, if the question is `named` */
	COLUMN_ABOUT = 1 << 4,       /* in tables: another text for the number of the key column before it */
};

/* A question's own column. Events also have pid, tid, start, duration; if rows are tasks, tables have comm and tid. */
struct column {
	const char *name;
	enum column_kind kind;
	unsigned int places;         /* enum column_place */
	unsigned int size;           /* for text in an event: bytes with the final NUL */
	const char *title;           /* the column's title in text output; NULL: its name */
	/* The text for a number: buf, or a string that stays valid. NULL: the cell is the text itself (events only). */
	const char *(*text)(struct question *q, uint64_t number, char *buf, size_t size);
	unsigned int most;           /* table_column.most */
};

enum { QUESTION_EVENTS = 6, QUESTION_FIELDS = 4 };
struct question_event {
	const char *sys, *name;
	const char *fields[QUESTION_FIELDS];   /* numbers; NULL ends them */
	const char *text;                      /* a text, or NULL */
	const char *filter;                    /* for the event of a command (a source gets all samples), or NULL */
};

union cell {
	uint64_t number;
	const char *text;
};

enum { QUESTION_COLUMNS = 6 };

/* A row for question_emit(). */
struct happening {
	const struct analysis_sample *s;   /* the sample that ended the pair */
	struct pair_end end;
	pid_t pid, tid;              /* the task; pid 0: to be looked up by tid */
	const char *comm;            /* the task's name; NULL if rows are not tasks */
	uint64_t key;                /* the pair's key */
	int error;                   /* the errno with which it failed; 0: it did not */
	union cell cells[QUESTION_COLUMNS];   /* in the order of columns */
};

struct question_ops {
	const char *name;            /* name of the command, the source and the table */
	const struct column *columns;
	size_t ncolumns;             /* QUESTION_COLUMNS_ARE() sets both */
	const struct question_event *events;   /* QUESTION_EVENTS_ARE() sets both; none if watch() adds all events */
	size_t nevents;
	bool stacks;                 /* -g has a use without --than */
	const char *or_stacks;       /* where it has none: another option with which it has, for that message; or NULL */
	bool everywhere;             /* a source gets `events` from all tasks, not only from its targets */
	bool tasks;                  /* rows are tasks: with comm and tid, grouped by --by */
	enum group_by usual;         /* the default of --by. BY_DEFAULT: BY_TASK with targets, else BY_COMM */
	bool names;                  /* the source's event has the task's name, and its process is looked up */
	bool own_table;              /* after_table() prints the only table; pairs that have not ended are not reported */
	bool states;                 /* a pair is always open: pairs that have not ended are not reported */
	const char *print;           /* the event as text, like "print fmt" in a tracepoint's format */
	const enum shown *shown;     /* columns about durations; NULL: from calls to max */
	size_t nshown;
	const char *durations;       /* "calls": what lasts from a start to its end; NULL: pairs of any events */
	const char *if_unseen;       /* what shows pairs whose end was not seen; or NULL */
	const char *if_missing;      /* what it means that the kernel did not deliver events; NULL: that their pairs are missing, too */
	const char *share_title;     /* SHOW_SHARE is the share of whole(), under this title; or NULL */
	uint64_t (*whole)(struct question *q);
	unsigned int attrs;          /* enum stream_attrs, in addition to stack */
	const struct table_column *last;   /* the table's columns right of the durations: */
	size_t nlast;
	void (*put_last)(struct question *q, const struct distribution *d, struct table *t);   /* their cells */

	/* Adds events with question_watch(). 0, or -1 with f. May be NULL, like all functions but sample(). */
	int (*watch)(struct question *q, struct fault *f);
	/* Of a command: the filter of that one of `events`, in the place of its own; NULL: that one. Valid until release(). */
	const char *(*filter)(struct question *q, size_t event);
	/* Of a command: adds events to those of -e with analysis_add_event(). 0, or -1 with f. */
	int (*add)(struct question *q, struct fault *f);
	/* The parts that the question reads from an event's samples (analysis_ops.reads); NULL: raw data. */
	uint64_t (*reads)(struct question *q, const struct stream_event *event);
	/* Called when events and fields are known. Looks up those of watch(): question_event(), question_need(). 0, or
	 * -1 with f. */
	int (*begin)(struct question *q, struct fault *f);
	void (*started)(struct question *q);        /* of a command: all events are on */
	void (*sample)(struct question *q, const struct analysis_sample *s);
	/* Called by state machines that several questions share when a state of that task has ended. */
	void (*ended)(struct question *q, const struct analysis_sample *s, pid_t tid, const struct pair_end *end);
	void (*task)(struct question *q, const struct pev_record *rec);
	void (*lost)(struct question *q, const struct stream_loss *loss);
	void (*before_table)(struct question *q);   /* adds durations that have not ended: question_add_asleep() */
	void (*more)(struct question *q, struct table *t);   /* for JSON: adds members with table_extra() */
	void (*after_table)(struct question *q, uint64_t from);   /* from: the beginning of the table's interval */
	bool (*is_over)(struct question *q);
	void (*end)(struct question *q);
	int (*draw)(struct question *q, struct fault *f);   /* its own pictures, at the end: 0, or -1 with f */
	void (*release)(struct question *q);
	/* A duration was added to that row. */
	void (*added)(struct question *q, const struct happening *h, const struct distribution *d);
	/* Whether --than may print the sample: others are not kept. NULL: all are. */
	bool (*keeps)(struct question *q, const struct analysis_sample *s);
	/* For a duration above --than: more lines below the title, or for JSON, more members (false: out of memory). */
	void (*detail)(struct question *q, const struct happening *h);
	bool (*detail_json)(struct question *q, const struct happening *h, struct json_object *root);
	/* For a duration above --than: its title, such as "bash 12: asleep"; and whether a sample meanwhile is printed
	 * below it (NULL: all are). */
	void (*title)(struct question *q, const struct happening *h, char *buf, size_t size);
	bool (*between)(struct question *q, const struct analysis_sample *s, const struct happening *h);
};

#define QUESTION_COLUMNS_ARE(array) .columns = array, .ncolumns = sizeof(array) / sizeof(*(array))
#define QUESTION_EVENTS_ARE(array) .events = array, .nevents = sizeof(array) / sizeof(*(array))

/* ---- a run ----------------------------------------------------------------------------- */

/* The first member of the config: the functions above cast it to the config. */
struct question {
	/* options */
	struct analysis_opts common;
	uint64_t than;               /* --than, ns; 0: not given */
	bool per_instance;           /* --perins */
	bool hist;                   /* --hist */
	enum group_by by;            /* --by */
	struct heatmap_config heatmap_opts;
	bool csv, csv_safe;
	/* the run */
	const struct question_ops *ops;
	struct analysis *a;          /* NULL: it is a source */
	struct maker *maker;         /* NULL: it is a command */
	const struct stream_opts *targets;
	const struct stream_event *events[QUESTION_EVENTS];   /* in the order of ops->events */
	const struct trace_field *fields[QUESTION_EVENTS][QUESTION_FIELDS], *texts[QUESTION_EVENTS];   /* likewise */
	struct pairs pairs;
	struct distributions rows;
	struct grouping grouping;
	bool has_targets;            /* -p, -t or a command */
	bool named;                  /* set by begin(): keys are tasks, and happenings have their names */
	struct history *history;     /* samples, for --than */
	struct heatmap *heatmap;     /* NULL: no picture */
	uint64_t begun;              /* perf clock: the first sample of the run, */
	uint64_t from;               /* the interval's beginning, */
	uint64_t last;               /* and the newest sample */
	uint64_t reported;           /* rows above --than */
	uint64_t unknown;            /* durations of the run without a known beginning or end */
	bool ending;                 /* the table is the last one */
	bool has_titles;             /* CSV: the titles have been printed */
	struct made_layout {         /* offsets of the fields in a source's event, bytes */
		uint16_t comm, cells[QUESTION_COLUMNS], start;   /* comm: 0 if it has none */
	} layout;
	char comm[16];               /* for question_comm() */
};

/* Whether -g waits for --than: stacks are printed below longer durations. */
static inline bool question_lacks_than(const struct question *q)
{
	return q->common.stream.call_graph && !q->than && !q->ops->stacks;
}

/* The sample's event: an index into ops->events; ops->nevents: another event. */
static inline size_t question_index(const struct question *q, const struct analysis_sample *s)
{
	size_t i = 0;

	while (i < q->ops->nevents && s->event != q->events[i])
		i++;
	return i;
}

/* The value of a sample's field; event, field: indices into ops->events and its fields. */
static inline uint64_t question_number(const struct question *q, const struct analysis_sample *s, size_t event, size_t field)
{
	return trace_field_uint(q->fields[event][field], s->view.raw);
}

/* The name of a task for COLUMN_COMM and ops->title, of a question without rows by task; NULL: neither is shown. */
const char *question_shown_comm(struct question *q, pid_t tid);
/* The task's name at the time of the sample; for a source, from that field. Valid until the next sample. */
const char *question_comm(struct question *q, const struct analysis_sample *s, pid_t tid, const struct trace_field *field);
/* For ops->watch: adds a tracepoint. everywhere: a source gets it from all tasks. 0, or -1 with f. */
int question_watch(struct question *q, const char *sys, const char *name, bool everywhere, struct fault *f);
/* For ops->begin: the tracepoint's event, or NULL. question_need(): a missing event is an error. 0, or -1 with f. */
struct stream_event *question_event(struct question *q, const char *sys, const char *name);
int question_need(struct question *q, const char *sys, const char *name, const struct stream_event **event, struct fault *f);
struct tracefmt_db *question_formats(struct question *q);
/* To be called when a pair has ended. */
void question_emit(struct question *q, const struct happening *h);
/* For ops->before_table: adds a task that slept for the whole interval. value: for the key column. */
void question_add_asleep(struct question *q, const char *comm, pid_t tid, uint64_t value);
/* For ops->before_table: adds a pair that has not ended to the table; h needs no sample. now: perf clock. */
void question_add_unfinished(struct question *q, const struct happening *h);

/* ---- commands and sources -------------------------------------------------------------- */

enum { QUESTION_SOURCE_NOPTS = 2, QUESTION_FORMAT_NOPTS = 7 };
extern const struct opt question_source_opts[QUESTION_SOURCE_NOPTS];   /* --than, --perins */
extern const struct opt question_format_opts[QUESTION_FORMAT_NOPTS];   /* --json, --with-text, --full, --width, --csv, --csv-safe, --rows */

/* Option groups to combine with the question's own. */
/* --than, and --perins with what it prints a row for; --by with its default. Each command names its own. */
#define QUESTION_THAN_OPT \
	{ "than", 0, NULL, OPT_CALL, offsetof(struct question, than), "TIME", \
	  "Print each duration above TIME (10ms, 500us, 1s; a bare number is ns), and the events from its start to its end.", \
	  false, question_parse_than }
#define QUESTION_DURATIONS_OPTS(row) \
	{ QUESTION_THAN_OPT, { "perins", 0, NULL, OPT_FLAG, offsetof(struct question, per_instance), NULL, \
			       "Print a row for each " row ".", false, NULL } }
#define QUESTION_BY_OPTS(usual) \
	{ { "by", 0, NULL, OPT_CALL, offsetof(struct question, by), "task|pid|comm", \
	    "Print a row for each thread (task), process (pid) or name (comm). Default: " usual ". By default, a text table of more " \
	    "than 200 tasks has rows by comm instead, and says so below.", false, grouping_parse } }
#define QUESTION_BY_TARGET "task with a target (-p, -t, a command), else comm"
#define QUESTION_DURATIONS_GROUP(opts) { "Durations", opts, sizeof(opts) / sizeof(*(opts)), 0 }
#define QUESTION_BY_GROUP(opts) { "Rows", opts, sizeof(opts) / sizeof(*(opts)), 0 }
int question_parse_than(const char *text, void *field, struct fault *f);
#define QUESTION_EVENTS_GROUP { "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 }
#define QUESTION_RUN_GROUPS \
	ANALYSIS_RUN_GROUPS, ANALYSIS_CHAIN_GROUP, \
	{ "Pictures", heatmap_opts, HEATMAP_OPTS, offsetof(struct question, heatmap_opts) }, \
	{ "Output format", question_format_opts, QUESTION_FORMAT_NOPTS, 0 }, \
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 }
/* The last option groups of a source. */
#define QUESTION_SOURCE_GROUPS \
	{ "Durations", question_source_opts, QUESTION_SOURCE_NOPTS, 0 }, \
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 }

/* For a source without own options. */
extern const struct opt_group question_source_groups[2];

#define QUESTION_USAGE "[options] [[--] COMMAND [ARGUMENT...]]"
/* The common members of struct command and struct source_ops. `config` begins with a struct question. */
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
