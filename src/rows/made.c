/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/sinks.h"

#include "base/note.h"

#include <string.h>

enum { COMM = 16, MAX_FIELDS = QUESTION_COLUMNS + 5, DECLARED = 48 };

/* The event's fields, each added at the end of the event. */
struct drawing {
	struct made_field fields[MAX_FIELDS];
	char declared[MAX_FIELDS][DECLARED];
	size_t n, size;
};

static const struct {
	const char *type;
	uint16_t size;
	bool is_signed;
} kinds[] = {
	[COLUMN_SIGNED] = { "s64", 8, true }, [COLUMN_UNSIGNED] = { "u64", 8, false },
	[COLUMN_TASK] = { "pid_t", 4, true }, [COLUMN_TEXT] = { "char", 1, false },
};

/* Returns the field's offset. length: for text, bytes with the final NUL; 0: a number. */
static uint16_t add(struct drawing *d, enum column_kind kind, const char *name, uint16_t length)
{
	uint16_t align = kinds[kind].size, at = (uint16_t)((d->size + align - 1) / align * align);
	char *declared = d->declared[d->n];

	if (length)
		snprintf(declared, DECLARED, "%s %s[%u]", kinds[kind].type, name, length);
	else
		snprintf(declared, DECLARED, "%s %s", kinds[kind].type, name);
	d->fields[d->n++] = (struct made_field){ declared, at, length ? length : align, kinds[kind].is_signed };
	d->size = at + (size_t)(length ? length : align);
	return at;
}

static void draw(struct drawing *d, const struct question_ops *ops, struct made_layout *layout)
{
	d->size = sizeof(struct made_head);
	add(d, COLUMN_TASK, "pid", 0);
	add(d, COLUMN_TASK, "tid", 0);
	if (ops->names)
		layout->comm = add(d, COLUMN_TEXT, "comm", COMM);
	for (size_t i = 0; i < ops->ncolumns; i++)
		if (ops->columns[i].places & COLUMN_FIELD)
			layout->cells[i] = add(d, ops->columns[i].kind, ops->columns[i].name, (uint16_t)ops->columns[i].size);
	layout->start = add(d, COLUMN_UNSIGNED, "start", 0);
	add(d, COLUMN_UNSIGNED, "duration", 0);
}

int made_begin(struct question *q, struct source *source, const struct maker_ops *ops, struct fault *f)
{
	struct drawing d = { .n = 0 };
	struct source_made made = { .print = q->ops->print, .ops = ops, .state = q, .order = true };

	draw(&d, q->ops, &q->layout);
	made.fields = d.fields;
	made.nfields = d.n;
	made.size = d.size;
	q->maker = source_make(source, &made, f);
	return q->maker ? 0 : -1;
}

static void put(struct question *q, const struct column *c, const union cell *cell, char *at)
{
	int32_t task = pidmap_shown((pid_t)cell->number);
	char text[64];

	if (c->kind == COLUMN_TASK)
		memcpy(at, &task, sizeof(task));
	else if (c->kind != COLUMN_TEXT)
		memcpy(at, &cell->number, sizeof(cell->number));
	else
		snprintf(at, c->size, "%s", c->text ? c->text(q, cell->number, text, sizeof(text)) : cell->text);
}

void made_emit(struct question *q, const struct happening *h)
{
	const struct made_layout *layout = &q->layout;
	pid_t pid = h->pid ? h->pid : processes_of(&q->grouping.processes, h->tid);
	const int32_t who[2] = { pidmap_shown(pid), pidmap_shown(h->tid) };
	const uint64_t when[2] = { h->end.start, h->end.duration };
	char *e = maker_fields(q->maker);

	memcpy(e + sizeof(struct made_head), who, sizeof(who));
	if (layout->comm)
		snprintf(e + layout->comm, COMM, "%s", h->comm);
	for (size_t i = 0; i < q->ops->ncolumns; i++)
		if (q->ops->columns[i].places & COLUMN_FIELD)
			put(q, &q->ops->columns[i], &h->cells[i], e + layout->cells[i]);
	memcpy(e + layout->start, when, sizeof(when));
	maker_emit(q->maker, h->s->time, who[0], who[1]);
}

void made_end(const struct question *q)
{
	const unsigned long long unknown = rows_unknown(q), refused = q->pairs.refused;

	if (unknown)
		note(note_kept(q->targets->verbose), "%s: %llu %s not among the events: the kernel did not report the beginning or the end",
		     q->ops->name, unknown, unknown == 1 ? "period is" : "periods are");
	if (refused)
		note(1, "%s: left out %llu durations: at most %d can be measured at once", q->ops->name, refused, PAIRS_MAX_OPEN);
}
