/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof convert: a recording in the formats of other programs. Each format is a file of
 * this room and a row of a table; what all need of a sample, analysis.h has.
 */
#ifndef EXPORT_CONVERT_H
#define EXPORT_CONVERT_H

#include "base/artifact.h"
#include "engine/analysis.h"
#include "engine/progress.h"

struct convert;

struct convert_format {
	const char *name;            /* --to */
	const char *const *suffixes; /* of files that are of this format; NULL terminated */
	bool binary;                 /* nothing for a terminal */
	bool one;                    /* of one event alone, */
	bool marks;                  /* but for tracepoints */
	bool names_tasks;            /* has fields of tracepoints that name tasks, by the ids that samples have: stream/ids.h */
	const char *missing;         /* not NULL: this perf-prof was built without that library */
	/* Not NULL: does all of it, and the others are NULL. The exit code, or -1 with f. */
	int (*run)(struct convert *c, struct fault *f);
	/* Events are known, c->file is open. 0, or -1 with f. */
	int (*begin)(struct convert *c, struct analysis *a, struct fault *f);
	void (*sample)(struct convert *c, struct analysis *a, const struct analysis_sample *s);
	/* May be NULL. */
	void (*lost)(struct convert *c, struct analysis *a, const struct stream_loss *loss);
	/* Writes what is not yet written; also after a signal. 0, or -1 with f. */
	int (*end)(struct convert *c, struct analysis *a, struct fault *f);
	/* Frees c->state, which may be NULL. */
	void (*release)(struct convert *c);
};

struct convert {
	struct analysis_opts common;
	const struct source_ops *const *sources;     /* for formats that are rows */
	const struct convert_format *format;
	const char *out;             /* NULL: stdout */
	bool no_idle, csv_safe;
	struct artifact file;
	void *state;                 /* of the format */
	struct stream_event *profile;/* of analysis_profiled(), and `all` */
	bool all;                    /* those of all events, each as one */
	uint64_t samples, profiled;  /* all; those of the profile */
	const struct stream_event *other;   /* the first that has samples, which are not of the profile */
	uint64_t first, last;        /* times of samples; 0 without one */
	bool no_memory;              /* something is missing: there will be no file */
	struct progress progress;
};

extern const struct convert_format convert_folded, convert_speedscope, convert_pprof, convert_firefox,
	convert_perfetto, convert_csv, convert_jsonl;

/* Whether an event's samples are those of the profile. */
bool convert_profiles(const struct convert *c, const struct stream_event *event);
/* Of a format that has one event of several: a hint, which one it is. */
void convert_tell_event(const struct convert *c, struct analysis *a);
/* ns between two samples of the profile; 0: it isn't sampled by time. */
uint64_t convert_interval(const struct convert *c);
/* A copy that is valid UTF-8 and has no control characters; in buf, cut to its size. */
const char *convert_text(const char *text, char *buf, size_t size);
/* The event's own text: the tracepoint's fields. Valid until the next call; NULL: it has none. */
const char *convert_fields(struct analysis *a, const struct analysis_sample *s);
#endif
