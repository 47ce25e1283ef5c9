/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/keys.h"

#include "stream/schema.h"

int key_compile(struct expr **key, const struct stream_event *event, const char *text,
		const char *option, struct fault *f)
{
	struct expr_schema schema;
	struct expr_error err = { 0 };
	int rc = schema_of_event(&schema, event);

	if (!rc) {
		rc = expr_new(key, text, &schema, &err);
		schema_free(&schema);
	}
	if (!rc)
		return 0;
	if (!err.message[0])
		return fault_set(f, EXIT_FAILED, "out of memory");
	return fault_usage(f, "%s %s, for %s: %s\n  %s\n  %*s^\nexpected: %s", option, text, event->name,
			   err.message, text, (int)err.at, "", err.expected);
}

static uint64_t hash(const char *text, uint32_t len)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (uint32_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
	return h;
}

bool key_of(const struct expr *key, const struct analysis_sample *s, uint64_t *value)
{
	struct expr_run run = { 0 };
	struct expr_value v;

	schema_set_run(&run, s->view.rec, s->view.raw, s->view.raw_size, &s->cpu);
	if (expr_eval(key, &run, &v))
		return false;
	*value = v.type == EXPR_TEXT ? hash(v.text, v.len) : v.u;
	return true;
}
