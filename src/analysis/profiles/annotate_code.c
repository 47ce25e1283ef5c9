/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --annotate: the instructions of a line, or of a function without source lines, with their shares. A sample counts for the
 * instruction that ran or, further out in the stack, for the call before the return address.
 */
#include "analysis/profiles/annotate.h"
#include "report/json.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3, MOST_ROWS = 2000 };

struct cost {
	uint64_t self, total;
};

static const struct table_column columns[] = {
	{ "shown_self", TABLE_TEXT, .title = "self%", .where = TABLE_ONLY_TEXT, .align = TABLE_RIGHT },
	{ "shown_total", TABLE_TEXT, .title = "total%", .where = TABLE_ONLY_TEXT, .align = TABLE_RIGHT },
	{ "self", TABLE_PERCENT, .where = TABLE_ONLY_JSON }, { "total", TABLE_PERCENT, .where = TABLE_ONLY_JSON },
	{ "address", TABLE_HEX }, { "instruction", TABLE_TEXT },
};

/* The index of the instruction at that address. */
static size_t insn_at(const struct disasm *d, uint64_t addr)
{
	size_t after = FIRST_NOT(i, 0, d->n, d->v[i].addr <= addr);

	return after ? after - 1 : 0;
}

/* delta: from offsets in the file to addresses. NULL: out of memory. */
static struct cost *costs_of(const struct disasm *d, const struct annotation *n, uint64_t delta)
{
	struct cost *costs = calloc(d->n, sizeof(*costs));

	for (const struct place *p = groups_first(&n->places); costs && p; p = groups_next(p)) {
		const uint64_t addr = p->key.at + delta;
		struct cost *cost = addr >= d->start && addr < d->end ? &costs[insn_at(d, addr)] : NULL;

		if (cost) {
			cost->self += p->self;
			cost->total += p->total;
		}
	}
	return costs;
}

static const struct disasm *code_at(struct analysis *a, const struct dso *object, uint64_t at, uint64_t *addr)
{
	return object && a->names.symbolizer ? dso_disasm(symbolizer_dsos(a->names.symbolizer), (struct dso *)object, at, addr) : NULL;
}

/* Where an instruction jumps or calls: its last word, a number. False: it does not, or by a register. */
static bool target_of(const char *text, uint64_t *target)
{
	static const char *const words[] = { "call", "jmp", "bl ", "b " };
	const char *last = strrchr(text, ' ');
	bool goes = false;
	char *end;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		goes |= !strncmp(text, words[i], strlen(words[i]));
	if (!goes || !last || strncmp(last + 1 + (last[1] == '#'), "0x", 2))
		return false;
	*target = strtoull(last + 1 + (last[1] == '#'), &end, 16);
	return !*end;
}

/* The text of an instruction, with the name of the function that it calls. delta: from offsets in the file to addresses. The
 * instruction itself may be invalid afterwards. */
static void put_text(struct analysis *a, const struct dso *object, const struct insn *insn, uint64_t delta, char buf[INSN_TEXT])
{
	uint64_t target, into;
	const char *name;
	int used = snprintf(buf, INSN_TEXT, "%s", insn->text);

	if (used > 0 && used < INSN_TEXT && target_of(buf, &target) &&
	    dso_find(symbolizer_dsos(a->names.symbolizer), (struct dso *)object, target - delta, &name, &into) && !into)
		snprintf(buf + used, INSN_TEXT - (size_t)used, " <%s>", name);
}

static void put_row(struct table *t, const struct hotspots *h, uint64_t addr, const char *text, const struct cost *cost)
{
	const double parts[] = { hotspots_percent(cost->self, h->weight), hotspots_percent(cost->total, h->weight) };

	table_row(t);
	for (int i = 0; i < 2; i++)
		if (cost->total)
			table_printf(t, "%.2f", parts[i]);
		else
			table_text(t, NULL);
	for (int i = 0; i < 2; i++)
		table_number(t, parts[i]);
	table_unsigned(t, addr);
	table_text(t, text);
}

/* Between instructions that do not follow each other. */
static void put_gap(struct table *t)
{
	table_row(t);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns) - 1; i++)
		if (i < 2)
			table_text(t, NULL);
		else
			table_none(t);
	table_text(t, "...");
}

/* The code of a function, which is asked for again for each row: names of other functions are looked up between. */
struct code {
	const struct dso *object;
	uint64_t at, delta;
	size_t n;                    /* instructions */
};

static void put_insn(struct table *t, struct analysis *a, const struct hotspots *h, const struct code *c, size_t i,
		     const struct cost *cost)
{
	uint64_t addr;
	const struct disasm *d = code_at(a, c->object, c->at, &addr);
	char text[INSN_TEXT];

	if (!d || i >= d->n)
		return;
	addr = d->v[i].addr;
	put_text(a, c->object, &d->v[i], c->delta, text);
	put_row(t, h, addr, text, cost);
}

/* Instructions that have samples, and a few around them; JSON has only these. */
static void put_rows(struct table *t, struct analysis *a, const struct hotspots *h, const struct code *c, const struct cost *costs)
{
	const size_t around = a->opts->json ? 0 : CONTEXT;
	const bool json = a->opts->json;
	size_t next = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (!costs[i].total)
			continue;
		if (!json && next && next + around < i && t->nrows < MOST_ROWS)
			put_gap(t);
		for (next = next + around < i ? i - around : next; next < c->n && next <= i + around && t->nrows < MOST_ROWS; next++)
			put_insn(t, a, h, c, next, &costs[next]);
	}
}

static const struct disasm *read_code(struct analysis *a, const struct annotation *n, uint64_t *delta)
{
	uint64_t vaddr = 0;
	const struct disasm *d = n->first ? code_at(a, n->object, n->first->key.at, &vaddr) : NULL;

	if (d)
		*delta = vaddr - n->first->key.at;
	return d;
}

bool annotate_code(struct analysis *a, const struct hotspots *h, const struct annotation *n)
{
	struct table_style style = { .terminal = analysis_terminal(a->opts) };
	uint64_t delta = 0;
	const struct disasm *d = read_code(a, n, &delta);
	struct cost *costs = d ? costs_of(d, n, delta) : NULL;
	struct table t;

	if (!costs)
		return false;
	table_init(&t, "annotate", columns, sizeof(columns) / sizeof(*columns));
	put_rows(&t, a, h, &(struct code){ n->object, n->first->key.at, delta, d->n }, costs);
	table_extra(&t, "function", json_text(n->symbol, strlen(n->symbol)));
	table_extra(&t, "dso", json_text(n->dso, strlen(n->dso)));
	table_caption(&t, "%s", a->opts->inlines < 0 ? "source lines are not looked up with --no-inline" :
		      "no source lines are known: build the program with -g");
	analysis_put_table(a, &t, &style);
	table_free(&t);
	free(costs);
	return true;
}

/* ---- the instructions of a line --------------------------------------------------------- */

static int by_total(const void *a, const void *b)
{
	const uint64_t x = ((const struct line_insn *)a)->total, y = ((const struct line_insn *)b)->total;

	return x > y ? -1 : x < y;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t x = ((const struct line_insn *)a)->addr, y = ((const struct line_insn *)b)->addr;

	return x < y ? -1 : x > y;
}

/* The instruction of a place, and the place's address; NULL: it is not known. Valid until the next call. */
static const struct insn *insn_of_place(struct analysis *a, const struct dso *object, uint64_t at, uint64_t *addr)
{
	const struct disasm *d = code_at(a, object, at, addr);

	return d && d->n && *addr >= d->start && *addr < d->end ? &d->v[insn_at(d, *addr)] : NULL;
}

/* The instructions at the line's places: a call has two, its own address and that to which it returns. */
static size_t list_insns(struct analysis *a, const struct place *line, struct line_insn *all, size_t most)
{
	size_t n = 0;

	for (const struct place *p = groups_first(&line->insns); p && most--; p = groups_next(p)) {
		uint64_t addr = 0;
		const struct insn *insn = insn_of_place(a, p->key.object, p->key.at, &addr);

		if (!insn)
			continue;
		if (!n || all[n - 1].object != p->key.object || all[n - 1].addr != insn->addr)
			all[n++] = (struct line_insn){ .object = p->key.object, .at = p->key.at, .addr = insn->addr };
		all[n - 1].self += p->self;
		all[n - 1].total += p->total;
	}
	return n;
}

/* A damaged line table may give all samples of a program to one line. */
enum { MOST_PLACES = 4096 };

size_t annotate_line(struct analysis *a, const struct place *line, struct line_insn out[LINE_INSNS])
{
	const size_t most = line->insns.n < MOST_PLACES ? line->insns.n : MOST_PLACES;
	struct line_insn *all = most ? calloc(most, sizeof(*all)) : NULL;
	size_t n;

	if (!all)
		return 0;
	n = list_insns(a, line, all, most);
	qsort(all, n, sizeof(*all), by_total);
	n = n < LINE_INSNS ? n : LINE_INSNS;
	qsort(all, n, sizeof(*all), by_address);
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = 0;
		const struct insn *insn = insn_of_place(a, all[i].object, all[i].at, &addr);

		if (insn)
			put_text(a, all[i].object, insn, addr - all[i].at, all[i].text);
		out[i] = all[i];
	}
	free(all);
	return n;
}
