/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions over the fields of events: -k, and the attributes key=, top-by=, comm=, ... */
#ifndef ENGINE_KEYS_H
#define ENGINE_KEYS_H

#include "engine/functions.h"

/* The expression, over the fields of that event and with the functions of analyses.
 * option: where it stood, such as "-k". 0, or -1 with f. */
int key_compile(struct analysis *a, struct expr **key, const struct stream_event *event,
		const char *text, const char *option, struct fault *f);
/* The same over other fields; name: whose they are. */
int key_compile_over(struct expr **key, const struct expr_schema *schema, const char *name,
		     const char *text, const char *option, struct fault *f);
/* What a text would read of the event's samples: PERF_SAMPLE_* bits; of NULL, and of what is no expression, none. */
uint64_t key_reads(struct analysis *a, const struct stream_event *event, const char *text);
/* What is wrong with an expression at that byte of it. -1 with f. */
int key_fault(struct fault *f, const char *option, const char *text, const char *name, size_t at,
	      const char *message, const char *expected);

/* What expressions are evaluated on, for one sample after the other. */
struct key_run {
	struct expr_run run;
	struct function_ctx ctx;
	char text[FUNCTION_TEXT];
};
void key_run_set(struct key_run *run, struct analysis *a, const struct analysis_sample *s);
/* As expr_eval(); a text lives until the next call. */
int key_eval(const struct expr *key, struct key_run *run, struct expr_value *value);
/* A value as a number; of text a hash. */
uint64_t key_number(const struct expr_value *value);
/* Whether an expression is the thread alone: then the key is the sample's tid, which tells tasks outside of
 * a PID namespace apart. */
bool key_is_thread(const char *text);
/* The key of a sample as such a number. False: it has none for this sample. */
bool key_of(struct analysis *a, const struct expr *key, const struct analysis_sample *s, uint64_t *value);
#endif
