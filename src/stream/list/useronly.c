/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/useronly.h"

#include "base/note.h"
#include "perfevent/attr/attr_fields.h"
#include "stream/state/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What follows the last colon, if these are modifiers; else "". */
static const char *letters_of(const char *label)
{
	const char *colon = strrchr(label, ':');

	return colon && !colon[1 + strspn(colon + 1, "ukhpPGHIDeSW")] ? colon + 1 : "";
}

bool useronly_is_meant(const char *label)
{
	return !strchr(letters_of(label), 'k');
}

char *useronly_label(const char *label)
{
	char *text;

	return asprintf(&text, "%s%s", label, *letters_of(label) ? "u" : ":u") < 0 ? NULL : text;
}

static int try_on_self(const union pev_attr_buf *asked, bool user_only)
{
	union pev_attr_buf buf = *asked;
	struct pev_event *ev;
	int rc;

	buf.attr.disabled = 1;
	if (buf.attr.freq)
		buf.attr.sample_freq = 1;   /* the limit on frequencies does not matter here */
	if (user_only)
		buf.attr.exclude_kernel = buf.attr.exclude_hv = 1;
	rc = pev_event_open(&ev, &buf.attr, pev_target_self(), NULL, NULL);
	if (!rc)
		pev_event_close(ev);
	return rc;
}

/* Whether opening it on our own thread is refused, but allowed without the kernel. */
static bool only_user_is_allowed(const union pev_attr_buf *buf)
{
	int rc;

	if (buf->attr.exclude_kernel || buf->attr.exclude_user)
		return false;
	rc = try_on_self(buf, false);
	return (rc == -EACCES || rc == -EPERM) && !try_on_self(buf, true);
}

void useronly_advise(struct pev_error *err, const union pev_attr_buf *refused, bool command)
{
	char rest[sizeof(err->remedy)];

	if ((err->code != EACCES && err->code != EPERM) || refused->attr.exclude_user || (try_on_self(refused, false) && try_on_self(refused, true)))
		return;
	snprintf(rest, sizeof(rest), "%s", err->remedy);
	snprintf(err->remedy, sizeof(err->remedy), "user space of your own processes needs no privilege: -p PID%s; "
		 "for whole CPUs: %.400s", command ? ", or -- COMMAND without -a and -C" : "", rest);
}

static bool watches_tasks(const struct stream_opts *o)
{
	return !o->input && !o->cgroups.n && (o->pids.n || o->tids.n);
}

bool useronly_is_needed(struct stream *s)
{
	union pev_attr_buf buf;

	if (s->list.user_only == USER_ONLY_UNKNOWN) {
		/* any event will do, and this one is cheap */
		pev_attr_buf_init(&buf, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		s->list.user_only = watches_tasks(s->opts) && only_user_is_allowed(&buf) ? USER_ONLY : USER_ONLY_NOT;
	}
	return s->list.user_only == USER_ONLY;
}

int useronly_settle(const struct stream *s, struct stream_event *ev, int user_callchain, struct fault *f)
{
	const struct stream_opts *o = s->opts;
	struct stream_sampling *sampling = ev->sampling;
	struct perf_event_attr *attr = &sampling->attr.attr;
	char *what;

	if (!watches_tasks(o) || !useronly_is_meant(sampling->what) ||
	    pev_is_of_kernel_alone_(attr) || !only_user_is_allowed(&sampling->attr))
		return 0;
	what = useronly_label(sampling->what);
	if (!what)
		return fault_set(f, EXIT_FAILED, "out of memory");
	free(sampling->what);
	sampling->what = what;
	sampling->user_only = true;
	attr->exclude_kernel = attr->exclude_hv = 1;
	/* the kernel's part of call chains is empty now, so -g must mean the user's */
	ev->asked.chain_user |= user_callchain >= 0 && o->user_callchain >= 0;
	return 0;
}

void useronly_note(int verbose, const char *names, const char *dots)
{
	int level = 2;

	pev_paranoid(&level);
	note(verbose, "%s%s: user space only, as kernel.perf_event_paranoid is %d; to see the kernel, too: run as root "
	     "(sudo), with CAP_PERFMON (without names of its functions), or, as root: sysctl kernel.perf_event_paranoid=1", names, dots, level);
}

/* Those that were asked for, and cannot come. */
static void tell_empty(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents && !s->replay; i++) {
		const struct stream_sampling *sampling = s->list.events[i].sampling;

		if (sampling && sampling->attr.attr.exclude_kernel && pev_is_of_kernel_alone_(&sampling->attr.attr))
			note(s->opts->verbose < 0 ? -1 : 1, "%s: no samples: this happens in the kernel only, which :u leaves out",
			     sampling->what);
	}
}

void useronly_tell(const struct stream *s)
{
	int verbose = s->opts->verbose;
	char names[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < s->list.nevents; i++) {
		const struct stream_sampling *sampling = s->list.events[i].sampling;

		if (!sampling || !sampling->user_only)
			continue;
		if (!sampling->source || (!s->opts->events_by_command && s->opts->verbose >= 0))
			verbose = 1;
		if (n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", sampling->what);
	}
	tell_empty(s);
	if (n)
		useronly_note(verbose, names, n < sizeof(names) ? "" : "...");
}
