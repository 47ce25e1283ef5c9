/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/frameline.h"

#include "base/columns.h"
#include "base/escape.h"
#include "report/fit.h"

#include <inttypes.h>
#include <string.h>

enum { LEAST_NAME = 24, ADDRESS = 21, OFFSET_SIZE = 24, LINE_SIZE = 24 };   /* ADDRESS: columns before the name */

struct piece {
	enum fit fit;
	size_t least, columns;
	char text[FIT_MAX + LINE_SIZE];
};

static void set(struct piece *p, enum fit fit, const char *text)
{
	escape_terminal(text, strlen(text), p->text, FIT_MAX);
	p->fit = fit;
	p->columns = columns_of(p->text);
	p->least = fit == FIT_PATH ? fit_path_least(p->text) : LEAST_NAME;
}

static void set_source(struct piece *p, const struct frame *frame)
{
	set(p, FIT_PATH, frame->file && (frame->line || frame->script) ? frame->file : "");
	if (frame->line)
		p->columns += (size_t)sprintf(p->text + strlen(p->text), ":%u", frame->line);
	p->least = fit_path_least(p->text);
}

static void narrow(struct piece *p, size_t *excess)
{
	size_t gain = p->columns > p->least ? p->columns - p->least : 0;

	gain = gain < *excess ? gain : *excess;
	p->columns -= gain;
	*excess -= gain;
}

static void put(const struct piece *p, FILE *out)
{
	char buf[FIT_MAX];

	fputs(p->columns ? fit_text(p->fit, p->text, p->columns, buf) : "", out);
}

/* An inlined call has no offset of its own, and what has neither function nor file has none at all. */
static void offset_text(const struct frame *frame, char *text)
{
	*text = '\0';
	if (!frame->inlined && (frame->symbol || frame->object))
		snprintf(text, OFFSET_SIZE, "+0x%" PRIx64, frame->offset);
}

/* "                     [broken]" */
static void put_broken(FILE *out)
{
	fprintf(out, "%*s%s\n", ADDRESS, "", callstacks_broken()->symbol);
}

/* "    Job.run (/home/me/job.py:18)": an interpreter's frame has no address. */
static void put_script(const struct frame *frame, size_t columns, FILE *out)
{
	struct piece name, source;
	size_t all, excess;

	set(&name, FIT_NAME, frame->symbol ? frame->symbol : "[unknown]");
	set_source(&source, frame);
	all = strlen("     ()") + name.columns + source.columns;
	excess = columns && all > columns ? all - columns : 0;
	narrow(&source, &excess);
	narrow(&name, &excess);
	fputs("    ", out);
	put(&name, out);
	if (source.columns) {
		fputs(" (", out);
		put(&source, out);
		fputc(')', out);
	}
	fputc('\n', out);
}

void frameline_print(const struct frame *frame, size_t columns, FILE *out)
{
	struct piece name, dso, source;
	char offset[OFFSET_SIZE];
	size_t all, excess;

	if (frame == callstacks_broken()) {
		put_broken(out);
		return;
	}
	if (frame->script) {
		put_script(frame, columns, out);
		return;
	}
	set(&name, FIT_NAME, frame->symbol ? frame->symbol : "[unknown]");
	set(&dso, FIT_PATH, frame->inlined ? "" : frame->dso);
	set_source(&source, frame);
	offset_text(frame, offset);
	all = ADDRESS + name.columns + strlen(offset) + (frame->inlined ? strlen(" (inlined)") : strlen(" ()")) + dso.columns +
	      (frame->line ? 1 : 0) + source.columns;
	excess = columns && all > columns ? all - columns : 0;
	narrow(&source, &excess);
	narrow(&dso, &excess);
	narrow(&name, &excess);
	fprintf(out, "    %016llx ", (unsigned long long)frame->addr);
	put(&name, out);
	fprintf(out, "%s (", offset);
	if (frame->inlined)
		fputs("inlined", out);
	else
		put(&dso, out);
	fputc(')', out);
	if (frame->line) {
		fputc(' ', out);
		put(&source, out);
	}
	fputc('\n', out);
}
