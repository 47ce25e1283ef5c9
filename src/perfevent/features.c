/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features that this kernel offers this user, probed by using them. Versions and sysctls
 * alone do not decide: capabilities, security modules, seccomp and backports also matter.
 */
#include "perfevent/feature_rows.h"

#include "perfevent/attr/complain.h"
#include "perfevent/open/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct found {
	struct pev_feature pub;
	char said[256], remedy[512];
};

struct pev_features {
	size_t n;
	struct found rows[];
};

int pev_try_(struct pev_trial *t, const union pev_attr_buf *buf, struct pev_target target)
{
	struct pev_event *ev;
	int rc = pev_event_open(&ev, &buf->attr, target, NULL, &t->err);

	if (!rc)
		pev_event_close(ev);
	return rc;
}

int pev_try_levels_(struct pev_trial *t, const union pev_attr_buf *buf, struct pev_target target)
{
	union pev_attr_buf user = *buf;
	struct pev_error first;
	int rc = pev_try_(t, buf, target);

	if (rc != -EACCES && rc != -EPERM)
		return rc;
	first = t->err;
	user.attr.exclude_kernel = user.attr.exclude_hv = 1;
	rc = pev_try_(t, &user, target);
	/* an error other than permission, such as a missing counter, is the better reason */
	if (rc && rc != -EACCES && rc != -EPERM)
		return rc;
	t->partial = !rc;
	t->err = first;
	return rc;
}

/* ---- a tracepoint for the trials --------------------------------------------------- */

#define FIRST_ID 20      /* the first ids are ftrace's own, with special rules */
#define LAST_ID 4096

/* Without tracefs, ids can be guessed: an unknown one gives EINVAL. */
static int64_t guess_tracepoint(void)
{
	union pev_attr_buf buf;

	for (uint64_t id = FIRST_ID; id < LAST_ID; id++) {
		struct pev_event *ev;
		int rc;

		pev_attr_buf_init(&buf, PERF_TYPE_TRACEPOINT, id);
		/* err NULL: no search for the reason */
		rc = pev_event_open(&ev, &buf.attr, pev_target_self(), NULL, NULL);
		if (!rc)
			pev_event_close(ev);
		if (rc != -EINVAL && rc != -ENOENT)
			return (int64_t)id;
	}
	return -ENOENT;
}

static int64_t find_tracepoint(void)
{
	int64_t id = pev_tracepoint_id("sched", "sched_switch", NULL);

	return id >= 0 ? id : guess_tracepoint();
}

/* ---- remedies -------------------------------------------------------------------------- */

static const char *capability_of(const struct pev_feature_row *row)
{
	return row->capability ? row->capability : "CAP_PERFMON";
}

/* The row knows better than the errno which level of perf_event_paranoid is needed. */
static void set_remedy(struct found *f, const struct pev_feature_row *row,
		       const struct pev_trial *t)
{
	const char *group = strstr(t->err.remedy, "or let a group read it");   /* tracefs */
	int level;

	snprintf(f->remedy, sizeof(f->remedy), "%s", t->err.remedy);
	if ((f->pub.code != EACCES && f->pub.code != EPERM && !f->pub.partial) || pev_supported() ||
	    pev_paranoid(&level) ||
	    pev_explain_contained_(f->remedy, sizeof(f->remedy), capability_of(row), row->level))
		return;
	if (row->level == PEV_LEVEL_NEVER)
		snprintf(f->remedy, sizeof(f->remedy), "run as root (sudo), or with %s%s%.400s",
			 capability_of(row), group ? ", " : "", group ? group : "");
	else if (level > row->level)
		snprintf(f->remedy, sizeof(f->remedy), "kernel.perf_event_paranoid is %d: run as root "
			 "(sudo) or with %s, or, as root: sysctl kernel.perf_event_paranoid=%d", level,
			 capability_of(row), row->level);
}

static void probe(struct found *f, const struct pev_feature_row *row, int64_t tracepoint)
{
	struct pev_trial t = { .tracepoint = tracepoint };
	int rc = row->probe(&t, row);

	f->pub = (struct pev_feature){
		.name = row->name, .group = row->group, .what = row->what, .code = rc < 0 ? -rc : 0,
		.partial = t.partial, .said = f->said, .remedy = f->remedy,
	};
	if (!f->pub.code && !f->pub.partial) {
		snprintf(f->said, sizeof(f->said), "%s", t.remark ? t.remark : "");
		return;
	}
	if (!t.err.said[0])
		pev_say_errno_(&t.err, f->pub.code);
	snprintf(f->said, sizeof(f->said), "%s", t.err.said);
	set_remedy(f, row, &t);
}

/* A row opens at most four files at once: an event, and files in which to look something up. */
static int check_room(void)
{
	int fds[4], rc = 0;
	size_t n = 0;

	for (; n < sizeof(fds) / sizeof(*fds) && !rc; n++) {
		fds[n] = eventfd(0, EFD_CLOEXEC);
		if (fds[n] < 0)
			rc = -errno;
	}
	while (n-- > 0)
		if (fds[n] >= 0)
			close(fds[n]);
	return rc;
}

int pev_features_probe(struct pev_features **out)
{
	struct pev_features *all;
	int64_t tracepoint;
	int rc = check_room();

	*out = NULL;
	if (rc)
		return rc;
	all = calloc(1, sizeof(*all) + pev_feature_nrows_ * sizeof(*all->rows));
	if (!all)
		return -ENOMEM;
	tracepoint = find_tracepoint();
	for (; all->n < pev_feature_nrows_; all->n++)
		probe(&all->rows[all->n], &pev_feature_rows_[all->n], tracepoint);
	*out = all;
	return 0;
}

void pev_features_free(struct pev_features *features)
{
	free(features);
}

const struct pev_feature *pev_features_at(const struct pev_features *features, size_t i)
{
	return i < features->n ? &features->rows[i].pub : NULL;
}

const struct pev_feature *pev_features_find(const struct pev_features *features, const char *name)
{
	for (size_t i = 0; i < features->n; i++)
		if (!strcmp(features->rows[i].pub.name, name))
			return &features->rows[i].pub;
	return NULL;
}
