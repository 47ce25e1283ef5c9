/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as CSV (RFC 4180): a title line, then a row for each sample. All rows have the columns of
 * all events: first common fields, then fields of tracepoints, where fields of the same name share
 * a column. Cells that an event does not have are empty.
 */
#include "export/script_data.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

const struct script_style script_csv_style = { outbuf_csv, "", "" };

struct script_column {
	const char *name;
	uint32_t index;
	UT_hash_handle hh;
};

/* ---- columns ----------------------------------------------------------------------- */

static struct script_column *find_or_add(struct script_columns *c, const char *name)
{
	struct script_column *col = NULL;

	HASH_FIND_STR(c->trace, name, col);
	if (col)
		return col;
	col = calloc(1, sizeof(*col));
	if (!col)
		return NULL;
	col->name = name;
	col->index = c->ntrace++;
	HASH_ADD_KEYPTR(hh, c->trace, col->name, strlen(col->name), col);
	return HASH_KEPT(col);
}

static int by_column(const void *a, const void *b)
{
	const struct script_cell *x = a, *y = b;

	return x->column < y->column ? -1 : x->column > y->column;
}

static int add_event(struct script_columns *c, struct script_event *e)
{
	const struct tracefmt *fmt = e->event->fmt;

	e->cells = calloc(fmt->nfields + 1, sizeof(*e->cells));
	if (!e->cells)
		return -1;
	for (size_t i = fmt->ncommon; i < fmt->nfields; i++) {
		struct script_column *col = find_or_add(c, fmt->fields[i].name);

		if (!col)
			return -1;
		e->cells[e->ncells++] = (struct script_cell){ col->index, &fmt->fields[i] };
	}
	qsort(e->cells, e->ncells, sizeof(*e->cells), by_column);
	return 0;
}

/* A column of comm, pid and tid counts as comm's. */
static void list_fields(struct script_columns *c)
{
	size_t n = 0;

	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (c->shown & UINT64_C(1) << i && i != SCRIPT_TRACE)
			c->fields[n++] = &script_fields[i];
	script_join_who(c->fields);
	for (n = 0; c->fields[n]; n++)
		c->bits[n] = c->fields[n] == &script_who_field ? SCRIPT_BIT(COMM) : UINT64_C(1) << (c->fields[n] - script_fields);
}

int script_columns(struct script_columns *c, struct script_event *events, size_t n, struct fault *f)
{
	for (size_t i = 0; i < n; i++) {
		c->shown |= events[i].shown;
		if (events[i].shown & SCRIPT_BIT(TRACE) && add_event(c, &events[i]))
			return fault_set(f, EXIT_FAILED, "out of memory");
	}
	list_fields(c);
	return 0;
}

void script_columns_free(struct script_columns *c)
{
	HASH_FREE(c->trace);
}

/* ---- titles ------------------------------------------------------------------------ */

/* A tracepoint field `comm` is not the thread's name. */
static bool is_taken(const char *name)
{
	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (!strcmp(script_key(&script_fields[i]), name))
			return true;
	return false;
}

static void put_comma(struct outbuf *out, bool *first)
{
	if (!*first)
		outbuf_char(out, ',');
	*first = false;
}

void script_csv_head(const struct script_columns *c, struct outbuf *out)
{
	const struct script_column *col, *next;
	bool first = true;

	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (c->shown & UINT64_C(1) << i && i != SCRIPT_TRACE) {
			put_comma(out, &first);
			outbuf_word(out, script_key(&script_fields[i]));
		}
	HASH_ITER(hh, c->trace, col, next) {
		put_comma(out, &first);
		if (is_taken(col->name))
			outbuf_word(out, "fields.");
		outbuf_csv(out, col->name, strlen(col->name));
	}
	outbuf_char(out, '\n');
}

/* ---- cells ------------------------------------------------------------------------- */

static void put_trace(const struct script_columns *c, struct script_line *l, bool *first)
{
	const struct script_cell *cell = l->event->cells, *end = cell ? cell + l->event->ncells : NULL;

	for (uint32_t i = 0; i < c->ntrace; i++) {
		put_comma(l->out, first);
		for (bool filled = false; cell < end && cell->column == i; cell++) {
			if (!filled)
				script_put_trace_field(l, &script_csv_style, cell->field);
			filled = true;
		}
	}
}

static void put_who(struct script_line *l)
{
	const char *comm = script_comm(l);

	outbuf_csv(l->out, comm, strlen(comm));
	outbuf_char(l->out, ',');
	outbuf_integer(l->out, script_pid(l));
	outbuf_char(l->out, ',');
	outbuf_integer(l->out, script_tid(l));
}

void csv_who(struct script_line *l)
{
	script_put_who(l, put_who, 1);
}

/* Outermost first, as in folded stacks: main;run;work. */
void csv_chain(struct script_line *l)
{
	size_t n = script_chain(l), first = n - 1;

	outbuf_char(l->out, '"');
	while (n-- > 0) {
		struct resolve_site site;
		struct resolve_words words;

		script_name_address(l, &l->chain[n], &site, &words);
		if (words.symbol) {
			(n == first ? outbuf_csv_begin : outbuf_csv_inner)(l->out, words.symbol, strlen(words.symbol));
		} else {
			outbuf_bytes(l->out, "0x", 2);
			outbuf_hex(l->out, l->chain[n].ip, 0);
		}
		if (n)
			outbuf_char(l->out, ';');
	}
	outbuf_char(l->out, '"');
	l->named = false;
}

static void put_registers(struct script_line *l, const struct pev_regs *regs)
{
	char name[16];
	uint64_t value;

	if (!regs)
		return;
	outbuf_printf(l->out, "abi=%llu", (unsigned long long)regs->abi);
	for (unsigned int i = 0; i < 64; i++) {
		if (!pev_regs_value(regs, i, &value))
			continue;
		sample_register_name(&l->event->format, regs->abi, i, name, sizeof(name));
		outbuf_printf(l->out, " %s=0x%llx", name, (unsigned long long)value);
	}
}

SCRIPT_REGISTERS(csv)

/* As in text. */
void csv_brstack(struct script_line *l)
{
	const struct pev_sample *s = script_sample(l);
	struct pev_branch b;

	for (uint64_t i = 0; s && i < s->branches.nr; i++) {
		if (i)
			outbuf_char(l->out, ' ');
		pev_branch_entry(&s->branches, i, &b);
		text_branch(l, &b);
	}
}

void script_csv(struct script_line *l)
{
	const struct script_columns *c = l->columns;
	bool first = true;

	for (size_t i = 0; c->fields[i]; i++) {
		put_comma(l->out, &first);
		if (l->event->shown & c->bits[i])
			script_put_value(l, &script_csv_style, c->fields[i], c->fields[i]->csv);
		else if (c->fields[i] == &script_who_field)
			outbuf_bytes(l->out, ",,", 2);
	}
	put_trace(c, l, &first);
	outbuf_char(l->out, '\n');
}
