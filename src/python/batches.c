/* SPDX-License-Identifier: Apache-2.0 */
#include "python/batches.h"

#include "base/note.h"
#include "base/now.h"
#include "base/room.h"
#include "columns/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The loop is idle at least every 50 ms, if it keeps up; its timer may be a little early. */
#define PATIENCE UINT64_C(40000000)

struct batch_function {
	struct batches *batches;
	PyObject *function;
	char *name;
	bool *takes;                    /* by event of the stream */
	struct plans plans;
	struct builder *builder;
	struct fields columns;
	uint64_t empty_ns;              /* when it had no rows for the last time */
};

struct batches {
	struct batches_opts opts;
	struct stream_event *events;
	size_t nevents;
	struct batch_function **v;
	size_t n;
	char **fields;                  /* __batch_fields__; NULL: all */
	size_t nfields;
};

/* ---- what the script asks for -------------------------------------------------------- */

static const char fields_name[] = "__batch_fields__";

static int no_memory(struct fault *f)
{
	PyErr_Clear();
	return fault_set(f, EXIT_FAILED, "out of memory");
}

struct batches *batches_new(const struct batches_opts *opts)
{
	struct batches *b = calloc(1, sizeof(*b));

	if (!b)
		return (struct batches *)PyErr_NoMemory();
	b->opts = *opts;
	b->events = stream_events(opts->stream, &b->nevents);
	b->fields = opts->fields != Py_None ? words_of(opts->fields, &b->nfields) : NULL;
	if (!PyErr_Occurred())
		return b;
	batches_free(b);
	return NULL;
}

static void free_function(struct batch_function *fn)
{
	builder_free(fn->builder);
	plans_free(&fn->plans);
	fields_release(&fn->columns);
	Py_XDECREF(fn->function);
	free(fn->takes);
	free(fn->name);
	free(fn);
}

void batches_free(struct batches *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n; i++)
		free_function(b->v[i]);
	free(b->v);
	for (size_t i = 0; i < b->nfields; i++)
		free(b->fields[i]);
	free(b->fields);
	free(b);
}

/* ---- functions ----------------------------------------------------------------------- */

static struct batch_function *function_named(const struct batches *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->v[i]->name, name))
			return b->v[i];
	return NULL;
}

static struct batch_function *function_add(struct batches *b, const char *name, PyObject *function)
{
	struct batch_function *fn = ROOM_FOR_ONE(b->v, b->n) ? calloc(1, sizeof(*fn)) : NULL;

	if (!fn)
		return NULL;
	fn->batches = b;
	fn->name = strdup(name);
	fn->takes = calloc(b->nevents, sizeof(*fn->takes));
	if (!fn->name || !fn->takes) {
		free_function(fn);
		return NULL;
	}
	Py_INCREF(function);
	fn->function = function;
	b->v[b->n++] = fn;
	return fn;
}

struct batch_function *batches_take(struct batches *b, const struct stream_event *event, const char *name, PyObject *function)
{
	struct batch_function *fn = function_named(b, name);

	if (!fn)
		fn = function_add(b, name, function);
	if (fn)
		fn->takes[event - b->events] = true;
	return fn;
}

/* ---- columns ------------------------------------------------------------------------- */

/* Columns are made for wanted events. fn NULL: those of all functions. */
static void want(struct batches *b, const struct batch_function *fn)
{
	for (size_t e = 0; e < b->nevents; e++) {
		b->events[e].wanted = fn && fn->takes[e];
		for (size_t i = 0; !fn && i < b->n; i++)
			b->events[e].wanted |= b->v[i]->takes[e];
	}
}

/* A field that no function's events have. "fields: none of the events …" is about the script's list. */
static int check_fields(struct batches *b, struct fault *f)
{
	struct plans all;
	int rc;

	want(b, NULL);
	rc = plans_make(&all, b->opts.stream, (const char *const *)b->fields, b->nfields, f);
	plans_free(&all);
	if (rc && !strncmp(f->text, "fields", strlen("fields"))) {
		char text[sizeof(f->text)];

		snprintf(text, sizeof(text), "%s", f->text + strlen("fields"));
		fault_usage(f, "%s%s", fields_name, text);
	}
	return rc;
}

/* Each function has the columns that its own events can fill. */
static int make_plans(struct batches *b, struct batch_function *fn, struct fault *f)
{
	const char **fields = b->fields ? calloc(b->nfields + 1, sizeof(*fields)) : NULL;
	size_t n = 0;
	int rc;

	if (b->fields && !fields)
		return no_memory(f);
	want(b, fn);
	for (size_t i = 0; fields && i < b->nfields; i++)
		if (plans_know(b->opts.stream, b->fields[i]))
			fields[n++] = b->fields[i];
	rc = plans_make(&fn->plans, b->opts.stream, fields, n, f);
	free(fields);
	return rc;
}

static int settle_function(struct batches *b, struct batch_function *fn, struct fault *f)
{
	if (make_plans(b, fn, f))
		return -1;
	fn->builder = builder_new(&fn->plans, b->opts.stream, b->opts.rows);
	fn->empty_ns = now_ns(CLOCK_MONOTONIC);
	return fn->builder && !fields_of_columns(&fn->columns, fn->plans.columns) ? 0 : no_memory(f);
}

int batches_settle(struct batches *b, int verbose, struct fault *f)
{
	if (!b->n && b->fields)
		note(verbose, "%s has no effect: the script has no function that takes batches", fields_name);
	if (!b->n)
		return 0;
	if (check_fields(b, f))
		return -1;
	for (size_t i = 0; i < b->n; i++)
		if (settle_function(b, b->v[i], f))
			return -1;
	return 0;
}

const struct row_plan *batches_plan(const struct batch_function *function, const struct stream_event *event)
{
	return &function->plans.v[event - function->batches->events];
}

/* ---- rows ---------------------------------------------------------------------------- */

static void deliver(struct batch_function *fn)
{
	const struct batches_opts *o = &fn->batches->opts;
	struct batch *rows;
	PyObject *batch;

	if (!builder_rows(fn->builder))
		return;
	rows = builder_take(fn->builder);
	fn->empty_ns = now_ns(CLOCK_MONOTONIC);
	batch = rows ? batch_object_new(o->types, rows, 0, rows->rows, &fn->columns) : PyErr_NoMemory();
	o->call(o->ctx, fn->function, fn->name, batch);
	Py_XDECREF(batch);
}

/* Delivers rows that have waited long enough. A recording has no time of ours. */
static void look(struct batches *b)
{
	uint64_t now = b->n && !stream_replay(b->opts.stream) ? now_ns(CLOCK_MONOTONIC) : 0;

	for (size_t i = 0; i < b->n; i++) {
		struct batch_function *fn = b->v[i];

		if (!builder_rows(fn->builder))
			fn->empty_ns = now;
		else if (now && now - fn->empty_ns >= PATIENCE)
			deliver(fn);
	}
}

/* Other functions' events may be rare: the loop is never idle while one kind floods it. */
static void deliver_full(struct batch_function *fn)
{
	deliver(fn);
	look(fn->batches);
}

void batches_add(struct batch_function *function, const struct row_plan *plan, const struct perf_event_header *rec,
		 const void *raw, uint32_t raw_size, uint32_t cpu)
{
	if (__builtin_expect(builder_add(function->builder, plan, rec, raw, raw_size, cpu), 0))
		deliver_full(function);
}

void batches_add_loss(struct batches *b, const struct stream_loss *loss)
{
	for (size_t i = 0; i < b->n; i++) {
		struct batch_function *fn = b->v[i];

		if (loss->event && !fn->takes[loss->event - b->events])
			continue;
		if (builder_add_loss(fn->builder, loss))
			deliver(fn);
	}
	look(b);
}

/* A recording from a pipe that is empty for now: it may be for long. */
void batches_idle(struct batches *b)
{
	if (stream_replay(b->opts.stream))
		batches_flush(b);
	else
		look(b);
}

void batches_flush(struct batches *b)
{
	for (size_t i = 0; i < b->n; i++)
		deliver(b->v[i]);
}

uint64_t batches_dropped(const struct batches *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += builder_dropped(b->v[i]->builder);
	return n;
}
