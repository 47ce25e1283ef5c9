/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/asked/filter.h"

#include "base/note.h"
#include "stream/asked/kfilter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing and splitting ---------------------------------------------------------- */

struct split {
	struct expr_tree *tree;
	const struct expr_schema *schema;
	FILE *kernel, *text;
	size_t nkernel;               /* conditions given to the kernel */
	expr_node_ref here;
	bool all_here, failed;
};

static bool give_to_kernel(struct split *s, expr_node_ref ref)
{
	char *text = s->all_here ? NULL : kfilter_text(s->tree, ref, s->schema);
	bool fits = text && (size_t)ftell(s->kernel) + strlen(text) + 8 < KFILTER_MAX;
	bool parens = expr_at(s->tree, ref)->op == EXPR_OR;

	if (fits)
		fprintf(s->kernel, "%s%s%s%s", s->nkernel++ ? " && " : "", parens ? "(" : "", text,
			parens ? ")" : "");
	free(text);
	return fits;
}

static void keep_here(struct split *s, expr_node_ref ref)
{
	const struct expr_node *node = expr_at(s->tree, ref);

	fprintf(s->text, "%s%.*s", s->here ? " && " : "", (int)(node->to - node->from),
		s->tree->text + node->from);
	if (!s->here) {
		s->here = ref;
		return;
	}
	s->here = expr_tree_and(s->tree, s->here, ref);
	s->failed |= !s->here;
}

static void split_condition(struct split *s, expr_node_ref ref)
{
	/* a copy, because keep_here() may move the nodes */
	struct expr_node node = *expr_at(s->tree, ref);

	if (node.op == EXPR_AND) {
		split_condition(s, node.kid[0]);
		split_condition(s, node.kid[1]);
	} else if (!s->failed && !give_to_kernel(s, ref)) {
		keep_here(s, ref);
	}
}

static enum filter_fate compile_here(struct filter *filter, struct split *s, struct expr_error *err)
{
	int rc;

	if (!s->here)
		return FILTER_SPLIT;
	rc = expr_compile(&filter->here, s->tree, s->here, s->schema, err);
	if (!rc && expr_type(filter->here) == EXPR_TEXT)
		rc = expr_fail(err, expr_at(s->tree, s->here)->from, "a comparison, such as comm == \"x\"",
			       "text is neither true nor false");
	return rc == -ENOMEM ? FILTER_NO_MEMORY : rc ? FILTER_NO_FIELDS : FILTER_SPLIT;
}

static enum filter_fate split_tree(struct filter *filter, struct split *s, struct expr_error *err)
{
	size_t kernel_len, text_len;
	bool failed;

	s->kernel = open_memstream(&filter->kernel, &kernel_len);
	s->text = open_memstream(&filter->text, &text_len);
	if (s->kernel && s->text)
		split_condition(s, s->tree->root);
	failed = !s->kernel || !s->text || s->failed;
	if (s->kernel && fclose(s->kernel))
		failed = true;
	if (s->text && fclose(s->text))
		failed = true;
	if (!failed && !s->nkernel) {
		free(filter->kernel);
		filter->kernel = NULL;
	}
	return failed ? FILTER_NO_MEMORY : compile_here(filter, s, err);
}

enum filter_fate filter_split(struct filter *filter, const char *text,
			      const struct expr_schema *schema, bool all_here,
			      struct expr_error *err)
{
	struct expr_tree tree;
	struct split s = { .tree = &tree, .schema = schema, .all_here = all_here };
	int rc = expr_tree_parse(&tree, text, err);
	enum filter_fate fate;

	*filter = (struct filter){ 0 };
	if (rc)
		fate = rc == -ENOMEM ? FILTER_NO_MEMORY : FILTER_NO_EXPRESSION;
	else
		fate = split_tree(filter, &s, err);
	expr_tree_free(&tree);
	if (fate != FILTER_SPLIT)
		filter_free(filter);
	return fate;
}

/* The * of a glob may be empty. */
static size_t least_length(const struct expr_node *text, bool is_glob)
{
	size_t n = 0;

	for (uint32_t i = 0; i < text->len; i++)
		n += !is_glob || text->text[i] != '*';
	return is_glob && (*text->text == '!' || memchr(text->text, '[', text->len)) ? 0 : n;
}

bool filter_names_longer(const char *text, const struct expr_schema *schema, struct expr_error *err)
{
	enum { NAME_SIZE = 16 };   /* TASK_COMM_LEN */
	struct expr_tree tree;
	bool found = false;

	for (size_t i = expr_tree_parse(&tree, text, err) ? SIZE_MAX : 1; !found && i < tree.nnodes; i++) {
		const struct expr_node *n = &tree.nodes[i], *a = expr_at(&tree, n->kid[0]), *b = expr_at(&tree, n->kid[1]);
		const struct expr_field *field = NULL;

		if ((n->op == EXPR_EQ || n->op == EXPR_NE || n->op == EXPR_GLOB) && a->op == EXPR_NAME && b->op == EXPR_STRING)
			field = expr_field(schema, a->text, a->len);
		found = field && (field->kind == EXPR_FIELD_CALLED || (field->kind == EXPR_FIELD_CHARS && field->size == NAME_SIZE)) &&
			least_length(b, n->op == EXPR_GLOB) >= NAME_SIZE;
		if (found)
			expr_fail(err, b->from, "a shorter text, such as a glob: ~\"long-na*\"", "names of tasks have at most %d bytes, here \"%.*s\"",
				  NAME_SIZE - 1, NAME_SIZE - 1, b->text);
	}
	expr_tree_free(&tree);
	return found;
}

void filter_free(struct filter *filter)
{
	free(filter->kernel);
	free(filter->text);
	expr_free(filter->here);
	*filter = (struct filter){ 0 };
}

/* ---- evaluation --------------------------------------------------------------------- */

/* Such events are never dropped silently: the first one is reported here, their number at the end. */
static void no_value(const struct stream_event *event, int trouble)
{
	struct filter *filter = event->opened.filtered;

	if (!filter->failed++)
		note(1, "%s: %s in the filter %s: such events are left out", event->name, expr_trouble_text(trouble), filter->text);
}

bool filter_passes(const struct stream_event *event, const struct perf_event_header *rec,
		   const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct schema_sample sample = { event, rec, raw };
	struct expr_run run;
	struct expr_value value;
	int trouble;

	run.ctx = &sample;
	/* needs no buffer: functions of filters produce no text */
	run.text = NULL;
	run.text_size = run.text_used = 0;
	schema_set_run(&run, event, rec, raw, raw_size, &cpu);
	trouble = expr_eval(event->opened.filtered->here, &run, &value);
	if (__builtin_expect(trouble, 0))
		no_value(event, trouble);
	return !trouble && value.u;
}
