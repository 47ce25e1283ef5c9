/* SPDX-License-Identifier: Apache-2.0 */
/* The options that commands share: what is asked for, as the command line says it. */
#ifndef STREAM_ASKED_OPTS_H
#define STREAM_ASKED_OPTS_H

#include "base/cpulist.h"
#include "base/fault.h"
#include "base/opener.h"
#include "base/options.h"
#include "base/output.h"

#include <stdbool.h>
#include <stdint.h>

struct source_ops;

/* From one time to another, both included, in ns of a recording's clock. */
struct stream_span {
	uint64_t from, to;              /* to == 0: no end */
};

/* What a command does with the attributes of an event list. */
enum stream_attrs {
	STREAM_ATTR_STACK = 1 << 0,     /* stack, max-stack */
	STREAM_ATTR_KEY = 1 << 1,       /* key */
	STREAM_ATTR_PAIR = 1 << 2,      /* role, untraced */
	STREAM_ATTR_ROW = 1 << 3,       /* top-by, top-add, comm, printkey */
	STREAM_ATTR_TRIGGER = 1 << 4,   /* trigger */
	STREAM_ATTR_NOBODY = 1 << 5,    /* what other tools have */
};

/* What the common options of a command say; rows of options.c fill it. */
struct stream_opts {
	struct opt_strings events;      /* -e */
	unsigned int attrs;             /* of enum stream_attrs: what the command uses */
	unsigned int passes;            /* of the same: what it takes though it has no use for it, which is a hint */
	const struct source_ops *const *sources;   /* commands that may stand in -e: source.h */
	struct numlist cpus;            /* -C; n == 0: all online */
	struct numlist pids, tids;
	struct opt_strings cgroups;
	int inherit;                    /* OPT_TRI; on by default */
	struct {
		uint64_t bytes;         /* 0: the usual */
		uint64_t usual;         /* the command's own, or 0 */
	} ring;
	uint64_t buffer;                /* --buffer: bytes behind all rings; 0: none */
	uint64_t watermark;             /* percent of the ring; UINT64_MAX: our choice */
	uint64_t interval_ms;           /* -i; 0: never */
	uint64_t exit_n;                /* -N; 0: no limit */
	uint64_t freq, period;          /* of perf events that say neither; both 0: the usual; RATE_MAX */
	bool strict_freq;               /* no frequency is lowered, no period raised to what the kernel allows */
	uint64_t sampling_limit;        /* of a ring in a second; 0: none */
	const char *record;             /* --record FILE, or NULL */
	struct {
		bool only;              /* nothing is delivered, all is written */
		bool compressed;
		uint64_t max_size;      /* bytes at which the run ends; 0: never */
		uint64_t switch_size, switch_ms;   /* when the next file begins; 0: never */
		bool switch_signal;     /* at SIGUSR2 */
		uint64_t keep;          /* so many files before the present one; 0: all */
		uint64_t flight_bytes;  /* written only when asked for, and kept in so much memory; 0: at once */
		uint64_t flight_ns;     /* of those the last; 0: all */
		uint64_t flight_dumps;  /* so often, then the run ends; 0: no limit */
	} recording;
	const char *input;              /* --input FILE ("-": stdin): a recording in place of the kernel */
	int input_fd;                   /* the same, opened; whoever sets `input` opens it: replay.h */
	const struct opener *opener;    /* of files that belong to the machine or to tasks */
	struct stream_span time;        /* --time, of a recording */
	bool keeps_ids;                 /* tasks have the ids that samples say, and nothing else: ids.h */
	bool takes_counts;              /* of a recording's groups: see stream_leaders() */
	uint64_t usage_ms;              /* --usage-self; 0: never */
	bool order;
	bool tsc, monotonic;            /* the clock of timestamps; neither: the kernel's */
	int64_t clock_offset;
	bool call_graph;                /* -g */
	int user_callchain, kernel_callchain;   /* OPT_TRI */
	struct {
		bool said;              /* --call-graph fp or dwarf */
		uint32_t stack_bytes;   /* dwarf: of the user's stack in each sample; 0: fp */
	} chains;
	struct output output;           /* -o */
	int verbose;                    /* 1: -v, -1: -q, whichever came later; for note() */
	bool quiet;                     /* -q, also before -v */
	bool takes_command;             /* the command line can name a command to watch; for messages */
};

/* Rows for the option groups of commands. */
enum {
	STREAM_EVENT_NOPTS = 1, STREAM_TARGET_NOPTS = 5, STREAM_RING_NOPTS = 10,
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
/* For rows of --call-graph, whose field is a struct stream_opts. */
int stream_parse_call_graph(const char *text, void *opts, struct fault *f);
/* "fp", "dwarf", "dwarf,4096": bytes of stack, 0 for fp. Else false, and what was expected. */
bool stream_parse_chains(const char *text, uint32_t *stack_bytes, const char **expected);
/* The first operand, where it can only be meant as the word behind -g: -1 with f. */
int stream_check_operand(const struct stream_opts *opts, const struct opt_parser *args, struct fault *f);
/* Of a first operand that is no program, f says so: adds what the word behind -g may be. */
void stream_doubt_operand(const struct stream_opts *opts, const struct opt_parser *args, struct fault *f);
#endif
