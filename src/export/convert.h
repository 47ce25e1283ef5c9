/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof convert: converts a recording for other programs. Each format is a file in this room
 * and a row of a table. engine/analysis.h has what they need to know about samples.
 */
#ifndef EXPORT_CONVERT_H
#define EXPORT_CONVERT_H

#include "base/artifact.h"
#include "engine/analysis.h"
#include "engine/progress.h"

struct convert;

struct convert_format {
	const char *name;            /* --to */
	const char *const *suffixes; /* of output files; NULL terminated */
	bool binary;                 /* not for terminals */
	bool one;                    /* converts one event only, */
	bool marks;                  /* and all other events as markers */
	bool names_tasks;            /* shows fields that hold task ids, so ids are those of the samples: see
				      * stream/rings/ids.h */
	const char *missing;         /* not NULL: the library that this build lacks */
	/* Not NULL: does everything, and the members below are NULL. The exit code, or -1 with f. */
	int (*run)(struct convert *c, struct fault *f);
	/* Called once events are known and c->file is open. 0, or -1 with f. */
	int (*begin)(struct convert *c, struct analysis *a, struct fault *f);
	void (*sample)(struct convert *c, struct analysis *a, const struct analysis_sample *s);
	/* May be NULL. */
	void (*lost)(struct convert *c, struct analysis *a, const struct stream_loss *loss);
	/* Writes the rest, also after a signal. 0, or -1 with f. */
	int (*end)(struct convert *c, struct analysis *a, struct fault *f);
	/* Frees c->state, which may be NULL. */
	void (*release)(struct convert *c);
};

struct convert {
	struct analysis_opts common;
	const struct source_ops *const *sources;     /* for csv and jsonl */
	const struct convert_format *format;
	const char *out;             /* NULL: stdout */
	bool no_idle, csv_safe;
	const char *host, *date, *venv;      /* for parquet */
	const struct opt_parser *args;       /* the same */
	struct artifact file;
	void *state;                 /* the format's own */
	struct stream_event *profile;/* the event of the profile: analysis_profiled() */
	bool all;                    /* the profile has all events; each sample counts 1 */
	uint64_t samples, profiled;  /* all samples; those of the profile */
	const struct stream_event *other;   /* the first event with samples that are not part of the profile */
	uint64_t first, last;        /* times of samples; 0: no samples yet */
	bool no_memory;              /* data is missing, so the output file is not kept */
	struct progress progress;
};

extern const struct convert_format convert_folded, convert_speedscope, convert_pprof, convert_firefox,
	convert_perfetto, convert_csv, convert_jsonl, convert_parquet;

/* Whether samples of the event are part of the profile. */
bool convert_profiles(const struct convert *c, const struct stream_event *event);
/* For formats of one event: tells the user which event it is, if there are several. */
void convert_tell_event(const struct convert *c, struct analysis *a);
/* The sampling interval of the profile in ns; 0: not sampled by time. */
uint64_t convert_interval(const struct convert *c);
/* Copies text into buf as UTF-8 without control characters, cut to size. Returns buf. */
const char *convert_text(const char *text, char *buf, size_t size);
/* The fields of a tracepoint as text, valid until the next call; NULL for other events. */
const char *convert_fields(struct analysis *a, const struct analysis_sample *s);
#endif
