/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/keys.h"

#include <errno.h>
#include <string.h>

int key_fault(struct fault *f, const char *option, const char *text, const char *name, size_t at,
	      const char *message, const char *expected)
{
	const char *blank = option[strlen(option) - 1] == '=' ? "" : " ";
	bool named = strcmp(name, text);

	return fault_usage(f, "%s%s%s%s%s: %s\n  %s\n  %*s^\nexpected: %s", option, blank, text, named ? ", for " : "",
			   named ? name : "", message, text, (int)at, "", expected);
}

int key_compile_over(struct expr **key, const struct expr_schema *schema, const char *name,
		     const char *text, const char *option, struct fault *f)
{
	struct expr_error err = { 0 };
	int rc = expr_new(key, text, schema, &err);

	if (!rc)
		return 0;
	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return key_fault(f, option, text, name, err.at, err.message, err.expected);
}

int key_compile(struct analysis *a, struct expr **key, const struct stream_event *event,
		const char *text, const char *option, struct fault *f)
{
	struct expr_schema schema;
	int rc;

	if (schema_of_event(&schema, event))
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (a) {
		schema.funcs = analysis_functions;
		schema.nfuncs = FUNCTIONS;
		a->names.kernel |= functions_need_kernel(text);
	}
	rc = key_compile_over(key, &schema, event->name, text, option, f);
	schema_free(&schema);
	event->naming->needed |= !rc && expr_calls(*key, &schema_comm);
	return rc;
}

/* Reports no error in the text: the caller compiles it again later. */
uint64_t key_reads(struct analysis *a, const struct stream_event *event, const char *text)
{
	struct fault why = { 0 };
	struct expr *key;
	uint64_t parts;

	if (!text || key_compile(a, &key, event, text, "-k", &why))
		return 0;
	parts = schema_reads(key, event) | (expr_calls(key, &analysis_functions[FUNCTION_SYSCALL_NAME]) ? PERF_SAMPLE_REGS_USER : 0);
	expr_free(key);
	return parts;
}

void key_run_set(struct key_run *run, struct analysis *a, const struct analysis_sample *s)
{
	run->ctx = (struct function_ctx){ a, s, s->time, s->tid };
	run->sample = (struct schema_sample){ s->event, s->view.rec, s->view.raw };
	run->run.ctx = a ? (void *)&run->ctx : &run->sample;
	run->run.text = run->text;
	run->run.text_size = sizeof(run->text);
	schema_set_run(&run->run, s->event, s->view.rec, s->view.raw, s->view.raw_size, &s->cpu);
}

int key_eval(const struct expr *key, struct key_run *run, struct expr_value *value)
{
	run->run.text_used = 0;
	return expr_eval(key, &run->run, value);
}

uint64_t key_number(const struct expr_value *value)
{
	uint64_t h = UINT64_C(14695981039346656037);

	if (value->type != EXPR_TEXT)
		return value->u;
	for (uint32_t i = 0; i < value->len; i++)
		h = (h ^ (unsigned char)value->text[i]) * UINT64_C(1099511628211);
	return h;
}

bool key_is_thread(const char *text)
{
	return !strcmp(text, "_tid");
}

bool key_is_task(const char *key)
{
	size_t len = strlen(key);

	if (strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != len || len < 3)
		return false;
	if (strcmp(key + len - 3, "pid") && strcmp(key + len - 3, "tid"))
		return false;
	return len == 3 || key[len - 4] == '_';
}

bool key_of(struct analysis *a, const struct expr *key, const struct analysis_sample *s, uint64_t *value)
{
	struct key_run run;
	struct expr_value v;

	key_run_set(&run, a, s);
	if (key_eval(key, &run, &v))
		return false;
	*value = key_number(&v);
	return true;
}
