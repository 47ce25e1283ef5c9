/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about files, which a thread answers by reading them, if there is one. Until a question is answered, the
 * dso is late, and only the thread may access the fields marked * in dso_private.h.
 */
#include "base/now.h"
#include "symbols/dso_private.h"

/* ---- in the thread --------------------------------------------------------- */

static void answer_symbol(struct dsos *d, struct dso *dso, uint64_t offset)
{
	const char *name;
	uint64_t into;

	if (dso->state == DSO_READ && symfile_find(dso->file, offset, &name, &into))
		demangled_name(&dso->names, d->parser, name);
}

static void answer_inlines(struct dsos *d, struct dso *dso, uint64_t offset)
{
	struct inline_frame frame;
	uint64_t vaddr;

	if (dso->state != DSO_READ || dso->dwarf < 0 || !symfile_vaddr(dso->file, offset, &vaddr))
		return;
	if (!dso->inlines) {
		dso->inlines = inlines_new(d->parser, dso->dwarf);
		dso_find_alt_(d, dso);
	}
	inlines_find(dso->inlines, vaddr, &frame, 1);
}

static void answer_cfi(struct dsos *d, struct dso *dso, uint64_t offset)
{
	uint64_t vaddr;

	if (dso->state != DSO_READ || dso->code < 0 || !symfile_vaddr(dso->file, offset, &vaddr))
		return;
	if (!dso->cfi)
		dso->cfi = cfi_new(d->parser, dso->code);
	if (dso->cfi)
		cfi_find(dso->cfi, vaddr);
}

static void answer_code(struct dsos *d, struct dso *dso, uint64_t offset)
{
	uint64_t start, end;

	disasm_free(dso->disasm);
	dso->disasm = NULL;
	if (dso->state == DSO_READ && dso->code >= 0 && symfile_range(dso->file, offset, &start, &end))
		dso->disasm = disasm_new(d->parser, dso->code, start, end);
}

static void answer_name(struct dsos *d, struct dso *dso, const char *name)
{
	demangled_name(&dso->names, d->parser, name);
}

static void answer(struct errand *e)
{
	struct dso_question *q = (struct dso_question *)e;
	struct dso *dso = q->dso;

	if (q->what >= ASK_MAP) {
		dso_jit_answer_(q->d, dso);
		return;
	}
	if (dso->state == DSO_UNREAD)
		dso_read_(q->d, dso);   /* calls dso_begin_reading_() itself */
	if (!dso_begin_reading_(q->d, dso))
		return;
	if (q->what == ASK_SYMBOL)
		answer_symbol(q->d, dso, q->offset);
	else if (q->what == ASK_INLINES)
		answer_inlines(q->d, dso, q->offset);
	else if (q->what == ASK_CFI)
		answer_cfi(q->d, dso, q->offset);
	else if (q->what == ASK_CODE)
		answer_code(q->d, dso, q->offset);
	else
		answer_name(q->d, dso, q->name);
	dso_end_reading_(q->d, dso);
}

/* ---- processes of the parser -------------------------------------------------- */

void dsos_helper_started_(void *ctx, pid_t pid)
{
	struct dsos *d = ctx;
	unsigned int n = atomic_load(&d->nstarted);

	if (!d->errands || !errands_is_thread(d->errands)) {
		helpers_started(&d->helpers, pid);
		return;
	}
	d->started[n % DSO_STARTED] = pid;
	atomic_store(&d->nstarted, n + 1);
}

void dsos_tell_started_(struct dsos *d)
{
	while (d->told_started != atomic_load(&d->nstarted))
		helpers_started(&d->helpers, d->started[d->told_started++ % DSO_STARTED]);
}

/* ---- in the asking thread --------------------------------------------------- */

static bool is_done(struct dsos *d, struct dso *dso)
{
	struct errand *e = &dso->question.errand;
	bool firm = dso->question.what == ASK_CFI;   /* callers cannot be added to a stack later */
	uint64_t begin, ns;

	if (!d->errands || (d->hurried && d->patience.is_pressed) || !errands_is_here(d->errands))
		return atomic_load(&e->done);
	while (!atomic_load(&e->done) && (ns = patience_left(&d->patience, firm))) {
		begin = now_ns(CLOCK_MONOTONIC);
		errands_wait(d->errands, e, ns);
		patience_end(&d->patience, begin);
	}
	return atomic_load(&e->done);
}

static void take_answer(struct dsos *d, struct dso *dso)
{
	dsos_tell_started_(d);
	dso->late = false;
	if (dso->question.what >= ASK_MAP)
		dso_jit_took_(d, dso);
	else
		dso_account_(d, dso);
}

bool dso_settle_(struct dsos *d, struct dso *dso)
{
	if (!dso->late)
		return true;
	if (!is_done(d, dso))
		return false;
	take_answer(d, dso);
	return true;
}

bool dso_poll_(struct dsos *d, struct dso *dso)
{
	if (dso->late && atomic_load(&dso->question.errand.done))
		take_answer(d, dso);
	return !dso->late;
}

/* Starts the parser's process here and not in the thread, so that `helpers` know at once that it belongs to
 * perf-prof. A perf map needs no parser. */
static void warm(struct dsos *d, enum dso_asked what)
{
	if (d->warm || what >= ASK_MAP)
		return;
	d->warm = true;
	if (d->errands && d->parser)
		parser_warm(d->parser);
}

void dso_send_(struct dsos *d, struct dso *dso, enum dso_asked what, uint64_t offset, const char *name)
{
	dso->question = (struct dso_question){
		.errand.run = answer, .d = d, .dso = dso, .what = what, .offset = offset, .name = name,
		.place = dso->place, .keeps_code = d->keeps_code,
	};
	warm(d, what);
	dso->late = d->errands && errands_send(d->errands, &dso->question.errand, what == ASK_OPEN);
	if (dso->late)
		return;
	answer(&dso->question.errand);
	take_answer(d, dso);
}

bool dso_ask_(struct dsos *d, struct dso *dso, enum dso_asked what, uint64_t offset, const char *name)
{
	dso_send_(d, dso, what, offset, name);
	return dso_settle_(d, dso);
}

bool dso_is_late(const struct dso *dso)
{
	return dso->late && !dso_jit_has_names_(dso);
}

void dsos_hurry(struct dsos *d, bool hurried)
{
	d->hurried = hurried;
}

void dsos_live(struct dsos *d, bool (*is_pressed)(void *ctx), void *ctx)
{
	d->errands = errands_new();
	d->patience.is_pressed = is_pressed;
	d->patience.ctx = ctx;
}

void dsos_finish(struct dsos *d)
{
	d->patience.is_pressed = NULL;
}
