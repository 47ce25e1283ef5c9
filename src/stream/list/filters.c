/* SPDX-License-Identifier: Apache-2.0 */
/* The filters of all events: parsed, checked by the kernel, and at the end, what they dropped for
 * lack of a value. */
#include "base/note.h"
#include "expr/expr.h"
#include "expr/tree.h"
#include "stream/asked/event.h"
#include "stream/asked/filter.h"
#include "stream/asked/schema.h"
#include "stream/list/list.h"
#include "tracefmt/tracefmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Text behind a pointer of a system call, which is in the memory of the program: syscalls:sys_enter_openat has only the address
 * of `filename`. In filename=="x" the kernel takes the address for one of its own, and finds nothing: the filter is never true.
 * Since Linux 5.19 filename.ustring=="x" compares the text; since 6.19 the event has it, in __filename_val.
 */

struct pointertext {
	char field[64];                 /* as it is written in a filter for the kernel: "filename.ustring" */
	char instead[400];              /* the comparison with it */
};

static bool is_of_program(const struct stream_event *event, const struct expr_field *field)
{
	return field && field->kind == EXPR_FIELD_POINTER && event->fmt && !strcmp(event->fmt->sys, "syscalls");
}

/* How the field's text is named in filters. */
static void name_text(const struct expr_schema *schema, const char *name, char *buf, size_t size)
{
	int len = snprintf(buf, size, "__%s_val", name);

	if (!expr_field(schema, buf, (size_t)len))
		snprintf(buf, size, "%s.ustring", name);
}

/* ---- filename=="x" --------------------------------------------------------------------- */

static bool is_comparison_of_text(enum expr_op op)
{
	return op == EXPR_EQ || op == EXPR_NE || op == EXPR_GLOB;
}

/* The comparison of a name with a text; NULL: it is none. */
static const struct expr_node *compared_name(const struct expr_tree *tree, const struct expr_node *node,
					     const struct expr_node **text)
{
	const struct expr_node *a, *b;

	if (!is_comparison_of_text(node->op))
		return NULL;
	a = expr_at(tree, node->kid[0]);
	b = expr_at(tree, node->kid[1]);
	*text = a->op == EXPR_STRING ? a : b;
	a = a->op == EXPR_STRING ? b : a;
	return a->op == EXPR_NAME && (*text)->op == EXPR_STRING ? a : NULL;
}

static bool find_comparison(const struct stream_event *event, const struct expr_schema *schema, const struct expr_tree *tree,
			    struct pointertext *found, struct expr_error *err)
{
	static const char *const signs[] = { [EXPR_EQ] = "==", [EXPR_NE] = "!=", [EXPR_GLOB] = "~" };

	for (size_t i = 1; i < tree->nnodes; i++) {
		const struct expr_node *text, *name = compared_name(tree, &tree->nodes[i], &text);
		char field[48];

		if (!name || !is_of_program(event, expr_field(schema, name->text, name->len)))
			continue;
		snprintf(field, sizeof(field), "%.*s", (int)name->len, name->text);
		name_text(schema, field, found->field, sizeof(found->field));
		snprintf(found->instead, sizeof(found->instead), "%s%s%.*s", found->field, signs[tree->nodes[i].op],
			 (int)(text->to - text->from), tree->text + text->from);
		expr_fail(err, name->at, "", "%s is an address in the program: this does not compare the text there", field);
		return true;
	}
	return false;
}

/* Whether the event's filter compares such a text by the pointer. Then err says so, except what is expected. */
static bool pointertext_compared(const struct stream_event *event, const struct expr_schema *schema, struct pointertext *found,
				 struct expr_error *err)
{
	struct expr_tree tree;
	struct expr_error none;
	const bool is = !expr_tree_parse(&tree, event->asked.filter, &none) && find_comparison(event, schema, &tree, found, err);

	expr_tree_free(&tree);
	return is;
}

/* ---- trying filters on the kernel --------------------------------------------------- */

/*
 * Opens an event for trying filters, so that a filter that the kernel refuses is found before the
 * real events are opened. It belongs to our own thread, and stays open until the end, because
 * closing a tracepoint takes 40 ms. Such an event accepts one filter; after a refusal it can be
 * used again. False: it cannot be opened (opening the real event will report why).
 */
static bool open_trial(const struct stream_event *event, struct pev_event **ev)
{
	char label[256];
	struct pev_open_opts opts = { .size = sizeof(opts), .label = label };
	struct perf_event_attr attr;

	if (*ev)
		return true;
	if (!event->fmt)
		return false;   /* no tracepoint: the kernel does not filter it */
	snprintf(label, sizeof(label), "%s:%s", event->sys, event->tracepoint);
	pev_attr_init(&attr, PERF_TYPE_TRACEPOINT, event->fmt->id);
	attr.disabled = 1;
	return !pev_event_open(ev, &attr, pev_target_self(), &opts, NULL);
}

/* The kernel's reason for refusing a filter: what follows "parse_error: " ("Field not found").
 * Empty if there is only an error number. */
static void kernel_said(const struct pev_error *err, char *buf, size_t size)
{
	const char *words = strstr(err->said, "parse_error: ");

	snprintf(buf, size, "%s", words ? words + strlen("parse_error: ") : "");
	buf[strcspn(buf, "\n")] = '\0';
}

/* Whether the text is an attribute in the filter's slot: a common mistake, since attributes come
 * after the second slash. A field of the same name has priority. */
static bool is_attribute(const char *text, const struct expr_schema *schema)
{
	size_t len = strcspn(text, "=");
	char name[32];

	if (len >= sizeof(name) || text[len + !!text[len]] == '=' || expr_field(schema, text, len))
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	return event_attr_exists(name);
}

/* foo=1, whose "=" is the error. */
static bool assigns_unknown(const char *text, const struct expr_schema *schema, size_t at)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return len && len == at && text[at] == '=' && text[at + 1] != '=' && !expr_field(schema, text, len);
}

static void list_fields(const struct expr_schema *schema, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < schema->nfields && used < size; i++)
		if (!schema->fields[i].hidden)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 schema->fields[i].name);
}

/* The error with a caret, then the kernel's message, and the fields of the event. */
static int complain(const struct stream_event *event, const struct expr_schema *schema,
		    const struct expr_error *err, const char *kernel, struct fault *f)
{
	const struct spec_item *item = event->asked.item;
	char message[400], fields[512];
	size_t used;

	if (!item->filter) {
		list_fields(schema, fields, sizeof(fields));
		return fault_usage(f, "filter %s: %s: %s%s%s; expected %s%s%s", event->asked.filter, event->name, err->message,
				   *kernel ? "; the kernel says: " : "", kernel, err->expected,
				   err->lists_fields ? "" : "\nfields: ", err->lists_fields ? "" : fields);
	}
	if (is_attribute(event->asked.filter, schema))
		return spec_fault(f, item, item->filter_at, "an attribute in the place of the filter",
				  "an empty place before it: name//attribute/");
	if (assigns_unknown(event->asked.filter, schema, err->at))
		snprintf(message, sizeof(message), "%s: %.*s is neither an attribute nor a field, and = does not compare: use ==",
			 event->name, (int)(err->at < 64 ? err->at : 64), event->asked.filter);
	else
		snprintf(message, sizeof(message), "%s: %s", event->name, err->message);
	spec_fault(f, item, spec_place(item, item->filter_at, err->at), message, err->expected);
	list_fields(schema, fields, sizeof(fields));
	used = strlen(f->text);
	snprintf(f->text + used, sizeof(f->text) - used, "%s%s%s%s",
		 *kernel ? "\nthe kernel says: " : "", kernel, err->lists_fields ? "" : "\nfields: ",
		 err->lists_fields ? "" : fields);
	return -1;
}

/* CPUS{...}, FIELD.ustring and FIELD.function exist only in the kernel's filters. */
static bool is_kernels_own(const char *text, const struct expr_error *err)
{
	return text[err->at] == '{' || text[err->at] == '.';
}

/* Text that is no valid expression here may still be a valid filter of the kernel. If not, sets the
 * error. */
static int ask_kernel(const struct stream_event *event, struct pev_event **trial,
		      const struct expr_schema *schema, enum filter_fate fate,
		      const struct expr_error *err, struct fault *f)
{
	bool may = event->fmt && trial && (fate == FILTER_NO_FIELDS || is_kernels_own(event->asked.filter, err));
	struct pev_error said = { 0 };
	char words[256] = "";

	if (!event->fmt || !trial)   /* the kernel filters only tracepoints, and no recordings */
		return complain(event, schema, err, "", f);
	if (!open_trial(event, trial))
		return may ? 0 : complain(event, schema, err, "", f);
	if (pev_event_set_filter(*trial, event->asked.filter, &said))
		kernel_said(&said, words, sizeof(words));
	else if (may)
		return 0;
	return complain(event, schema, err, words, f);
}

/* Whether the kernel filters by FIELD.ustring; false, too, if the event cannot be opened. */
static bool reads_programs(const struct stream_event *event, struct pev_event **trial, const char *field)
{
	char text[128];

	snprintf(text, sizeof(text), "%s==\"x\"", field);
	return open_trial(event, trial) && !pev_event_set_filter(*trial, text, NULL);
}

/* trial: as in prepare(). */
static int refuse_pointer(const struct stream_event *event, const struct expr_schema *schema, struct pev_event **trial,
			  const struct pointertext *found, struct expr_error *err, struct fault *f)
{
	const bool by_kernel = strchr(found->field, '.');

	err->lists_fields = true;   /* they are no help */
	if (by_kernel && !trial)
		snprintf(err->expected, sizeof(err->expected), "a filter when the events are recorded: %s; the recording has no such text",
			 found->instead);
	else if (by_kernel && !reads_programs(event, trial, found->field))
		snprintf(err->expected, sizeof(err->expected), "%s, on Linux 5.19 or later; or `perf-prof syscalls --match GLOB`",
			 found->instead);
	else
		snprintf(err->expected, sizeof(err->expected), "%s", found->instead);
	return complain(event, schema, err, "", f);
}

static void hint(const struct stream *s, const struct stream_event *event)
{
	const struct filter *filter = event->opened.filtered;

	/* a glob makes many events from one item: one hint is enough */
	if (event > s->list.events && event[-1].asked.item == event->asked.item)
		return;
	note(s->opts->verbose, "%s: perf-prof evaluates %s for each event, as the "
	     "kernel's filters do not support it%s%s", event->name, filter->text,
	     filter->kernel ? "; the kernel's filter: " : "", filter->kernel ? filter->kernel : "");
}

static int no_memory(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "out of memory");
}

/* trial: NULL for a recording, whose filters are all evaluated here. */
static int prepare(struct stream *s, struct stream_event *event, const struct expr_schema *schema,
		   struct pev_event **trial, struct fault *f)
{
	struct filter *filter = event->opened.filtered;
	struct expr_error err = { 0 };
	struct pointertext pointer;
	enum filter_fate fate;

	if (pointertext_compared(event, schema, &pointer, &err))
		return refuse_pointer(event, schema, trial, &pointer, &err, f);
	if (trial && filter_names_longer(event->asked.filter, schema, &err))
		return complain(event, schema, &err, "", f);
	fate = filter_split(filter, event->asked.filter, schema, !event->fmt || !trial, &err);
	/* if the kernel refuses its part, all of the filter is evaluated here, which is only slower */
	if (fate == FILTER_SPLIT && filter->kernel && open_trial(event, trial) &&
	    pev_event_set_filter(*trial, filter->kernel, NULL)) {
		filter_free(filter);
		fate = filter_split(filter, event->asked.filter, schema, true, &err);
	}
	if (fate == FILTER_NO_EXPRESSION || fate == FILTER_NO_FIELDS) {
		filter->kernel = strdup(event->asked.filter);
		if (filter->kernel)
			return ask_kernel(event, trial, schema, fate, &err, f);
	}
	if (fate != FILTER_SPLIT)
		return no_memory(f);
	event->filter_here = filter->here;
	filter->named = expr_calls(filter->here, &schema_comm);
	event->naming->needed |= filter->named;
	if (filter->here && trial)
		hint(s, event);
	return 0;
}

static int prepare_event(struct stream *s, struct stream_event *event, struct pev_event **trial,
			 struct fault *f)
{
	struct expr_schema schema;
	int rc;

	/* sources have options in the filter's slot */
	if (event->maker || (event->sampling && event->sampling->source))
		return 0;
	if (!event->asked.filter && s->opts->filter && !(event->asked.filter = strdup(s->opts->filter)))
		return no_memory(f);
	if (!event->asked.filter)
		return 0;
	event->opened.filtered = calloc(1, sizeof(*event->opened.filtered));
	if (!event->opened.filtered || schema_of_event(&schema, event))
		return no_memory(f);
	rc = prepare(s, event, &schema, trial, f);
	schema_free(&schema);
	return rc;
}

int filters_prepare(struct stream *s, struct fault *f)
{
	s->list.trials = calloc(s->list.nevents, sizeof(*s->list.trials));
	if (!s->list.trials)
		return no_memory(f);
	for (size_t i = 0; i < s->list.nevents; i++)
		if (prepare_event(s, &s->list.events[i], s->replay ? NULL : &s->list.trials[i], f))
			return -1;
	return 0;
}

void filters_forget(struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++) {
		if (s->list.trials)
			pev_event_close(s->list.trials[i]);
		if (!s->list.events[i].opened.filtered)
			continue;
		filter_free(s->list.events[i].opened.filtered);
		free(s->list.events[i].opened.filtered);
		s->list.events[i].opened.filtered = NULL;
	}
	free(s->list.trials);
	s->list.trials = NULL;
}

/* ---- at the end ---------------------------------------------------------------------- */

void filters_tell(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++) {
		const struct filter *filter = s->list.events[i].opened.filtered;

		if (filter && filter->failed > 1)
			note(1, "%s: %" PRIu64 " events were left out: the filter %s had no value for them", s->list.events[i].name, filter->failed,
				filter->text);
	}
}
