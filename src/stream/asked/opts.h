/* SPDX-License-Identifier: Apache-2.0 */
/* The options that commands share, as the command line gives them. */
#ifndef STREAM_ASKED_OPTS_H
#define STREAM_ASKED_OPTS_H

#include "base/cpulist.h"
#include "base/fault.h"
#include "base/opener.h"
#include "base/options.h"
#include "base/output.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kallsyms;
struct source_ops;

/* A longer interval is a mistake; it must also fit as ns. */
#define STREAM_MAX_INTERVAL_MS UINT64_C(31622400000)
#define STREAM_MAX_INTERVAL_TEXT "31622400000 (366 days)"

/* A span of time in ns of the recording's clock; both ends are included. */
struct stream_span {
	uint64_t from, to;              /* to == 0: to the end */
};

/* A control group that --container found. */
struct stream_container {
	char *path, *label;             /* path: one of stream_opts.cgroups */
};

/* Attributes of event list items that a command can use. */
enum stream_attrs {
	STREAM_ATTR_STACK = 1 << 0,     /* stack, max-stack */
	STREAM_ATTR_KEY = 1 << 1,       /* key */
	STREAM_ATTR_PAIR = 1 << 2,      /* role, untraced */
	STREAM_ATTR_ROW = 1 << 3,       /* top-by, top-add, comm, printkey */
	STREAM_ATTR_TRIGGER = 1 << 4,   /* trigger */
	STREAM_ATTR_NOBODY = 1 << 5,    /* known from other tools, used by no command */
};

/* Values of the common options. The rows in options.c fill them in. */
struct stream_opts {
	struct opt_strings events;      /* -e */
	unsigned int attrs;             /* enum stream_attrs: those that the command uses */
	unsigned int passes;            /* enum stream_attrs: those that it accepts without using them, with a hint */
	const struct source_ops *const *sources;   /* commands that can be used as events in -e: source.h */
	struct numlist cpus;            /* -C; n == 0: all online */
	struct numlist pids, tids;
	struct opt_strings cgroups;
	struct stream_container *containers;   /* --container */
	size_t ncontainers;
	int inherit;                    /* OPT_TRI; on by default */
	bool samples_cgroups;           /* samples say the control group of their task */
	struct {
		uint64_t bytes;         /* 0: `usual` */
		uint64_t usual;         /* the command's default; 0: the stream's */
	} ring;
	uint64_t buffer;                /* --buffer: bytes of all buffers together; 0: none */
	uint64_t watermark;             /* percent of the ring; UINT64_MAX: chosen by the stream */
	uint64_t interval_ms;           /* -i; 0: never */
	uint64_t exit_n;                /* -N; 0: no limit */
	uint64_t run_ns;                /* --seconds: the run ends after this time; 0: no limit */
	uint64_t freq, period;          /* for perf events without freq or period; both 0: the default; freq may be
					 * RATE_MAX */
	bool strict_freq;               /* --strict-freq: fail rather than lower a frequency or raise a period */
	uint64_t sampling_limit;        /* events per second and ring; 0: no limit */
	const char *record;             /* --record FILE, or NULL */
	struct {
		bool by_default;        /* no event was named, so the default is recorded by its own name, not the source's */
		bool only;              /* records are written, and not delivered */
		bool compressed;
		bool no_build_ids;      /* files that code came from are known by their inodes only */
		bool keeps_files;       /* sampled files are copied at the end: code/codefiles.h */
		uint64_t max_size;      /* bytes after which the run ends; 0: no limit */
		uint64_t switch_size, switch_ms;   /* size in bytes and time in ms after which the next file
						    * begins; 0: never */
		bool switch_signal;     /* SIGUSR2 begins the next file */
		uint64_t keep;          /* number of older files to keep; 0: all */
		uint64_t flight_bytes;  /* --overwrite: bytes of memory that hold the newest records until a dump
					 * is requested; 0: write at once */
		uint64_t flight_ns;     /* a dump holds only the last flight_ns; 0: all in memory */
		uint64_t flight_dumps;  /* number of dumps after which the run ends; 0: no limit */
	} recording;
	const char *input;              /* --input FILE ("-": stdin): read a recording instead of the kernel's
					 * rings */
	int input_fd;                   /* the file, opened by whoever sets `input`: replay.h */
	const struct opener *opener;    /* opens files of this machine and of tasks */
	struct kallsyms **kernel;       /* for several recordings: the kernel's table, see symbolizer.h; or NULL */
	struct stream_span time;        /* --time, for a recording */
	bool keeps_ids;                 /* ids of tasks stay as samples have them, without translation between PID
					 * namespaces: ids.h */
	bool takes_counts;              /* for groups of a recording: see stream_leaders() */
	bool takes_rounds;              /* interval() is called for each round of counts in a recording of perf stat */
	bool needs_samples;             /* a recording of which no sample is delivered is an error: summary.h */
	uint64_t usage_ms;              /* --usage-self; 0: never */
	bool order;
	bool tsc, monotonic;            /* the clock of timestamps; neither: the kernel's default */
	int64_t clock_offset;
	bool call_graph;                /* -g */
	int user_callchain, kernel_callchain;   /* OPT_TRI */
	struct {
		bool said;              /* --call-graph has a value */
		bool of_calls;          /* chains of raw_syscalls:* begin in the C library, too: see chainways.c */
		uint32_t stack_bytes;   /* dwarf: bytes of user stack in each sample; 0: fp; CHAINS_AUTO */
	} chains;
	struct output output;           /* -o */
	int verbose;                    /* 1: -v, -1: -q (the last one counts); for note() */
	bool quiet;                     /* -q was given, even if -v came later */
	const char *filter;             /* for events without a filter of their own; NULL: none */
	bool embedded;                  /* the run is a part of another program: no signal handlers, nothing on stderr
					 * (base/note.h has the notes) */
	bool without_events;            /* nothing is opened: the consumer takes its samples by itself, when the descriptor of
					 * stream_watch() is readable */
	bool events_by_command;         /* the user named no event: those of -e are the command's own, whose output says what they are */
	bool takes_command;             /* the command accepts a workload to run; for messages */
	struct {
		char *const *argv;      /* the workload, if it is watched; else NULL */
		pid_t pid;              /* of its process, which waits for its exec(2) */
	} command;
	struct numlist meant;           /* processes and threads of -p and -t, if events are opened for all tasks and the
					 * command chooses among them; for programs.h */
};

/* Option rows, by group. */
enum {
	STREAM_EVENT_NOPTS = 1, STREAM_TARGET_NOPTS = 6, STREAM_RING_NOPTS = 11,
	STREAM_SOURCE_NOPTS = 2, STREAM_INPUT_NOPTS = 2,
	STREAM_CALLCHAIN_NOPTS = 3, STREAM_OUTPUT_NOPTS = 5, STREAM_RATE_NOPTS = 1,
};
extern const struct opt stream_event_opts[STREAM_EVENT_NOPTS],
	stream_target_opts[STREAM_TARGET_NOPTS], stream_ring_opts[STREAM_RING_NOPTS],
	stream_source_opts[STREAM_SOURCE_NOPTS], stream_input_opts[STREAM_INPUT_NOPTS],
	stream_callchain_opts[STREAM_CALLCHAIN_NOPTS], stream_output_opts[STREAM_OUTPUT_NOPTS],
	stream_rate_opts[STREAM_RATE_NOPTS];

void stream_opts_defaults(struct stream_opts *opts);
void stream_opts_free(struct stream_opts *opts);
/* What the user calls that one of opts->cgroups. */
const char *stream_cgroup_label(const struct stream_opts *opts, size_t i);
/* Parser for rows of --seconds; `ns` is run_ns. 0, or -1 with f. */
int stream_parse_run(const char *text, void *ns, struct fault *f);
/* Parser for rows of --call-graph; `opts` is the struct stream_opts. 0, or -1 with f. */
int stream_parse_call_graph(const char *text, void *opts, struct fault *f);
/* Bytes of stack that the stream chooses when it knows the watched programs: 0 if they keep frame pointers. */
#define CHAINS_AUTO UINT32_MAX
/* Bytes of stack by default; beside frame pointers, since functions that set up no frame are small, and few lie above another;
 * and beside those of tracepoints, which may come a million times a second. */
enum { CHAINS_STACK = 8192, CHAINS_MENDING = 4096, CHAINS_MENDING_FAST = 1024 };
/* Parses "auto", "fp", "dwarf" or "dwarf,4096" into bytes of stack (0: fp; CHAINS_AUTO). Sets *expected in any case.
 * False if text is none of these. */
bool stream_parse_chains(const char *text, uint32_t *stack_bytes, const char **expected);
/* Fails (-1 with f) if the first operand is obviously a misplaced argument of -g. */
int stream_check_operand(const struct stream_opts *opts, const struct opt_parser *args, struct fault *f);
/* Fails (-1 with f) if -a is given with -p or -t. */
int stream_check_everybody(const char *command, bool everybody, const struct stream_opts *opts, struct fault *f);
#endif
