/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each structure has its own memory and reference, because consumers may move children out of their
 * parent and release them alone. */

/* ---- schemas ----------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i] && s->children[i]->release)
			s->children[i]->release(s->children[i]);
		free(s->children[i]);
	}
	if (s->dictionary && s->dictionary->release)
		s->dictionary->release(s->dictionary);
	free(s->dictionary);
	free(s->children);
	free(s->private_data);
	s->release = NULL;
}

static const char *const formats[COLUMN_NTYPES] = {
	[COLUMN_U8] = "C", [COLUMN_U16] = "S", [COLUMN_U32] = "I", [COLUMN_U64] = "L",
	[COLUMN_S8] = "c", [COLUMN_S16] = "s", [COLUMN_S32] = "i", [COLUMN_S64] = "l", [COLUMN_TIMESTAMP] = "tsn:UTC", [COLUMN_F64] = "g",
	[COLUMN_TEXT] = "i", [COLUMN_BYTES] = "z",
};

/* format lives as long as the program. */
static int begin_schema(struct ArrowSchema *out, const char *format, const char *name, int64_t flags)
{
	char *copy = strdup(name);

	*out = (struct ArrowSchema){
		.format = format, .name = copy, .flags = flags, .private_data = copy, .release = release_schema,
	};
	return copy ? 0 : -ENOMEM;
}

static int failed_schema(struct ArrowSchema *out)
{
	out->release(out);
	return -ENOMEM;
}

int export_column_schema(const struct columns *columns, size_t column, struct ArrowSchema *out)
{
	const struct column *c = &columns->v[column];

	if (begin_schema(out, formats[c->type], c->name, ARROW_FLAG_NULLABLE))
		return failed_schema(out);
	if (c->type != COLUMN_TEXT)
		return 0;
	out->dictionary = calloc(1, sizeof(*out->dictionary));
	if (!out->dictionary || begin_schema(out->dictionary, "u", "", 0))
		return failed_schema(out);
	return 0;
}

int export_schema(const struct columns *columns, struct ArrowSchema *out)
{
	if (begin_schema(out, "+s", "", 0))
		return failed_schema(out);
	out->children = calloc(columns->n, sizeof(*out->children));
	if (!out->children)
		return failed_schema(out);
	out->n_children = (int64_t)columns->n;
	for (size_t i = 0; i < columns->n; i++) {
		out->children[i] = calloc(1, sizeof(**out->children));
		if (!out->children[i] || export_column_schema(columns, i, out->children[i]))
			return failed_schema(out);
	}
	return 0;
}

/* ---- arrays ------------------------------------------------------------------------ */

enum { MAX_BUFFERS = 3 };

struct held {
	struct batch *batch;            /* kept; or NULL */
	struct texts *texts;            /* kept; or NULL */
	const void *buffers[MAX_BUFFERS];
};

static void release_array(struct ArrowArray *a)
{
	struct held *held = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++) {
		if (a->children[i] && a->children[i]->release)
			a->children[i]->release(a->children[i]);
		free(a->children[i]);
	}
	if (a->dictionary && a->dictionary->release)
		a->dictionary->release(a->dictionary);
	free(a->dictionary);
	free(a->children);
	if (held) {
		batch_release(held->batch);
		texts_release(held->texts);
	}
	free(held);
	a->release = NULL;
}

static struct held *begin_array(struct ArrowArray *out, size_t from, size_t n, int64_t nbuffers)
{
	struct held *held = calloc(1, sizeof(*held));

	*out = (struct ArrowArray){
		.length = (int64_t)n, .offset = (int64_t)from, .n_buffers = nbuffers, .private_data = held,
		.buffers = held ? held->buffers : NULL, .release = release_array,
	};
	return held;
}

static int failed_array(struct ArrowArray *out)
{
	out->release(out);
	return -ENOMEM;
}

static int export_texts(struct texts *texts, struct ArrowArray *out)
{
	struct held *held = begin_array(out, 0, texts->n, 3);

	if (!held)
		return failed_array(out);
	held->texts = texts_keep(texts);
	held->buffers[1] = texts->offsets;
	held->buffers[2] = texts->bytes;
	return 0;
}

/* How many of these rows are null; -1, "not computed", if that would take time. */
static int64_t nulls_in(const struct batch *b, size_t column, size_t from, size_t n)
{
	return !b->v[column].nulls ? 0 : from == 0 && n == b->rows ? (int64_t)b->v[column].nulls : -1;
}

int export_column(struct batch *b, size_t column, size_t from, size_t n, struct ArrowArray *out)
{
	const struct batch_column *c = &b->v[column];
	enum column_type type = b->columns->v[column].type;
	struct held *held = begin_array(out, from, n, type == COLUMN_BYTES ? 3 : 2);

	if (!held)
		return failed_array(out);
	held->batch = batch_keep(b);
	held->buffers[0] = c->valid;
	held->buffers[1] = c->values;
	held->buffers[2] = c->bytes;
	out->null_count = nulls_in(b, column, from, n);
	if (type != COLUMN_TEXT)
		return 0;
	out->dictionary = calloc(1, sizeof(*out->dictionary));
	return out->dictionary && !export_texts(c->texts, out->dictionary) ? 0 : failed_array(out);
}

int export_batch(struct batch *b, size_t from, size_t n, struct ArrowArray *out)
{
	struct held *held = begin_array(out, 0, n, 1);

	if (!held)
		return failed_array(out);
	out->children = calloc(b->columns->n, sizeof(*out->children));
	if (!out->children)
		return failed_array(out);
	out->n_children = (int64_t)b->columns->n;
	for (size_t i = 0; i < b->columns->n; i++) {
		out->children[i] = calloc(1, sizeof(**out->children));
		if (!out->children[i] || export_column(b, i, from, n, out->children[i]))
			return failed_array(out);
	}
	return 0;
}
