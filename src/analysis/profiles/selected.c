/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --comm and --dso: only stacks of these tasks that end in these files have rows. Shares stay those of all samples.
 */
#include "analysis/profiles/hotspots_private.h"
#include "base/nearest.h"
#include "expr/expr.h"

#include <string.h>

/* "[vdso]" is a name, too, though as a glob it is one letter. */
static bool has(const struct opt_strings *globs, const char *text)
{
	for (size_t i = 0; i < globs->n; i++)
		if (!strcmp(globs->v[i], text) || expr_glob(globs->v[i], strlen(globs->v[i]), text, strlen(text)))
			return true;
	return false;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* As the table names it: of a script's function, the dso says also where it begins. */
static const char *dso_of(const struct hotspot *spot)
{
	const struct callstack *stack = hotspot_stack(spot);
	const struct frame *frame = stack->n ? stack->frames[hotspot_own_frame(spot)] : NULL;

	return !frame ? "" : frame->script && frame->file ? frame->file : frame->dso ? frame->dso : "";
}

static bool has_comm(const struct analysis_opts *o, const struct hotspot *spot)
{
	return !o->comms.n || has(&o->comms, spot->key.comm);
}

bool hotspots_selects_dso(const struct analysis_opts *o, const char *dso)
{
	return !o->dsos.n || has(&o->dsos, dso) || has(&o->dsos, file_name(dso)) ||
	       (!strcmp(dso, "[kernel.kallsyms]") && has(&o->dsos, "[kernel]"));
}

static bool has_dso(const struct analysis_opts *o, const struct hotspot *spot)
{
	return hotspots_selects_dso(o, dso_of(spot));
}

/* Until a sample is selected: what resembles the first name of each option. */
static void suggest(struct analysis_opts *o, const struct hotspots *h)
{
	struct nearest comm, dso;

	nearest_begin(&comm, o->comms.n ? o->comms.v[0] : "");
	nearest_begin(&dso, o->dsos.n ? file_name(o->dsos.v[0]) : "");
	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot)) {
		nearest_offer(&comm, spot->key.comm);
		nearest_offer(&dso, file_name(dso_of(spot)));
	}
	snprintf(o->comm_near, sizeof(o->comm_near), "%s", o->comms.n && nearest_get(&comm) ? nearest_get(&comm) : "");
	snprintf(o->dso_near, sizeof(o->dso_near), "%s", o->dsos.n && nearest_get(&dso) ? nearest_get(&dso) : "");
}

static void see(struct analysis_opts *o, const struct hotspots *h)
{
	for (const struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot)) {
		const bool comm = has_comm(o, spot), dso = has_dso(o, spot);

		o->comm_seen |= comm;
		o->dso_seen |= dso;
		o->selected |= comm && dso;
	}
	if (!o->selected && h->all.n)
		suggest(o, h);
}

static void leave_out(struct hotspots *h, struct hotspot *spot)
{
	h->left_out += spot->weight;
	h->left_out_blocked += spot->key.blocked ? spot->weight : 0;
	h->left_out_samples += spot->samples;
	groups_drop(&h->all, spot);
}

void hotspots_select(struct analysis *a, struct hotspots *h)
{
	if (!a->opts->comms.n && !a->opts->dsos.n)
		return;
	see(a->opts, h);
	for (struct hotspot *spot = groups_first(&h->all); spot; spot = groups_next(spot))
		if (!has_comm(a->opts, spot) || !has_dso(a->opts, spot))
			leave_out(h, spot);
}

int hotspots_selected(const struct analysis *a, const char *what, const char *command, struct fault *f)
{
	const struct analysis_opts *o = a->opts;
	const char *near = o->comm_seen ? o->dso_near : o->comm_near;

	if (o->selected || (!o->comms.n && !o->dsos.n))
		return 0;
	if (o->comm_seen && o->dso_seen)
		return fault_set(f, EXIT_FAILED, "%s: --comm %s with --dso %s: no sample of %s has both", a->ops->name, o->comms.v[0],
				 o->dsos.v[0], what);
	return fault_set(f, EXIT_FAILED, "%s: %s %s: no sample of %s is %s; %s%s%s%s", a->ops->name,
			 o->comm_seen ? "--dso" : "--comm", o->comm_seen ? o->dsos.v[0] : o->comms.v[0], what,
			 o->comm_seen ? "in a file with this name" : "of a task with this name",
			 *near ? "did you mean " : command, *near ? near : o->comm_seen ? "--sort dso" : "--sort comm",
			 *near ? "" : o->comm_seen ? " shows their files" : " shows their tasks", *near ? "?" : "");
}
