/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions over the fields of events: -k, and the attributes key=, top-by=, comm=, ... */
#ifndef ENGINE_KEYS_H
#define ENGINE_KEYS_H

#include "engine/functions.h"
#include "stream/asked/schema.h"

/* Compiles an expression over the fields of that event, with analysis_functions. a NULL: a source, without these
 * functions. option: for messages, such as "-k". 0, or -1 with f. */
int key_compile(struct analysis *a, struct expr **key, const struct stream_event *event,
		const char *text, const char *option, struct fault *f);
/* The same over other fields; name: for messages, what has these fields. */
int key_compile_over(struct expr **key, const struct expr_schema *schema, const char *name,
		     const char *text, const char *option, struct fault *f);
/* The parts of the event's samples that an expression reads: PERF_SAMPLE_* bits; 0 if text is NULL or invalid. */
uint64_t key_reads(struct analysis *a, const struct stream_event *event, const char *text);
/* Sets f to an error in an expression at byte `at`. Returns -1. */
int key_fault(struct fault *f, const char *option, const char *text, const char *name, size_t at,
	      const char *message, const char *expected);

/* The input of expressions: key_run_set() sets it to a sample. a NULL: as in key_compile(). */
struct key_run {
	struct expr_run run;
	struct function_ctx ctx;
	struct schema_sample sample;     /* the ctx of a source */
	char text[FUNCTION_TEXT];
};
void key_run_set(struct key_run *run, struct analysis *a, const struct analysis_sample *s);
/* Like expr_eval(); a text result is valid until the next call. */
int key_eval(const struct expr *key, struct key_run *run, struct expr_value *value);
/* A value as a number; for text, a hash. */
uint64_t key_number(const struct expr_value *value);
/* Whether an expression is only the thread. Then the key is the sample's tid, which is also unique for tasks
 * outside of the PID namespace. */
bool key_is_thread(const char *text);
/* Whether it is a field with the id of a task: "pid", "tid", "next_pid", "_tid". */
bool key_is_task(const char *text);
/* The key of a sample, by key_number(). False: the expression has no value for this sample. */
bool key_of(struct analysis *a, const struct expr *key, const struct analysis_sample *s, uint64_t *value);
#endif
