/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/open/event.h"

#include "perfevent/attr/complain.h"
#include "perfevent/open/explain.h"
#include "perfevent/open/mixed.h"
#include "perfevent/open/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int pev_open_raw_(struct perf_event_attr *attr, struct pev_target target, int group_fd,
		  unsigned long flags)
{
	unsigned long target_flags;
	pid_t pid;
	int cpu, rc = pev_target_args(target, &pid, &cpu, &target_flags);
	long fd;

	if (rc)
		return rc;
	fd = TEMP_FAILURE_RETRY(syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
					flags | target_flags | PERF_FLAG_FD_CLOEXEC));
	return fd < 0 ? -errno : (int)fd;
}

static bool is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* An older kernel with a shorter attr stores its size and returns E2BIG. Then the bytes that it
 * does not know must be zero, else the caller asked for a feature that it lacks. */
static int open_sized(struct perf_event_attr *attr, struct pev_target target, int group_fd,
		      unsigned long flags)
{
	uint32_t full = attr->size;
	int fd;

	fd = pev_open_raw_(attr, target, group_fd, flags);
	if (fd != -E2BIG || attr->size >= full || attr->size < PERF_ATTR_SIZE_VER0)
		return fd;
	if (!is_zero((const char *)attr + attr->size, full - attr->size))
		return -E2BIG;
	return pev_open_raw_(attr, target, group_fd, flags);
}

/* What is wrong with the options, or NULL. */
static const char *wrong_opts(const struct pev_open_opts *opts, struct pev_target target,
			      const char **remedy)
{
	const size_t known = sizeof(*opts);

	*remedy = "zero struct pev_open_opts and set its size to sizeof(struct pev_open_opts)";
	if (opts->size < offsetof(struct pev_open_opts, group))
		return "opts.size is smaller than the field itself";
	if (opts->size > known && !is_zero((const char *)opts + known, opts->size - known))
		return "opts has more than this library knows, and it is not zero";
	/* flags without the object that they are about */
	*remedy = "opts.group says whose ring is meant";
	if (opts->size >= known && opts->flags & PERF_FLAG_FD_OUTPUT && !opts->group)
		return "PERF_FLAG_FD_OUTPUT without a group";
	*remedy = "pev_target_cgroup() makes such a target, and sets the flag itself";
	if (opts->size >= known && opts->flags & PERF_FLAG_PID_CGROUP && !pev_target_is_cgroup_(target))
		return "PERF_FLAG_PID_CGROUP with a target that is no control group";
	return NULL;
}

/* The caller's struct may be an older, shorter one, or a newer one whose additional bytes are
 * zero. Reads no more than its size. */
int pev_take_opts_(struct pev_open_opts *own, const struct pev_open_opts *opts,
		   struct pev_target target, struct pev_error *err)
{
	const char *remedy, *wrong = opts ? wrong_opts(opts, target, &remedy) : NULL;

	*own = (struct pev_open_opts){ .size = sizeof(*own) };
	if (wrong)
		return pev_refuse_(err, EINVAL, "open an event", wrong, remedy);
	if (opts)
		memcpy(own, opts, opts->size < sizeof(*own) ? opts->size : sizeof(*own));
	return 0;
}

/* PERF_FLAG_FD_OUTPUT has been broken since Linux 2.6.35; the ioctl does the same. */
static int open_output(struct pev_event *ev, const struct pev_open_opts *opts,
		       struct pev_error *err)
{
	int rc;

	if (!(opts->flags & PERF_FLAG_FD_OUTPUT))
		return 0;
	rc = pev_event_set_output(ev, opts->group);
	return rc ? pev_explain_output_(err, ev, opts->group, -rc) : 0;
}

/* The kernel checks privilege first: a refusal may hide that there is no such counter. */
static bool is_hidden_lack(const struct pev_event *ev)
{
	return (ev->fd == -EACCES || ev->fd == -EPERM) && pev_lacks_counter_(ev);
}

int pev_event_open(struct pev_event **out, const struct perf_event_attr *attr,
		   struct pev_target target, const struct pev_open_opts *opts,
		   struct pev_error *err)
{
	struct pev_open_opts own;
	struct pev_event *ev;
	int rc;

	*out = NULL;
	if (pev_take_opts_(&own, opts, target, err))
		return -EINVAL;
	opts = &own;
	ev = malloc(sizeof(*ev));   /* calloc() takes twice the time, and buf is filled anyway */
	if (!ev)
		return pev_no_memory_(err, "open an event");
	rc = pev_attr_buf_copy(&ev->buf, attr);
	ev->has_ring = ev->mapped = ev->foreign = ev->leads_mixed = ev->leader.mixed = false;
	ev->leader.fd = -1;
	ev->label[0] = '\0';
	ev->target = target;
	ev->group_fd = opts->group ? opts->group->fd : -1;
	ev->flags = opts->flags & ~PERF_FLAG_FD_OUTPUT;
	if (opts->label)
		snprintf(ev->label, sizeof(ev->label), "%s", opts->label);
	ev->fd = rc ? rc : open_sized(&ev->attr, target, ev->group_fd, ev->flags);
	if (ev->fd < 0) {
		pev_attr_buf_copy(&ev->buf, attr);
		rc = pev_explain_open(err, ev, is_hidden_lack(ev) ? ENOENT : -ev->fd);
		free(ev);
		return rc;
	}
	rc = open_output(ev, opts, err);
	if (rc) {
		pev_event_close(ev);
		return rc;
	}
	if (opts->group)
		pev_mixed_join_(ev, opts->group);
	*out = ev;
	return 0;
}

void pev_event_close(struct pev_event *ev)
{
	if (!ev)
		return;
	close(ev->fd);
	free(ev);
}

int pev_event_fd(const struct pev_event *ev)
{
	return ev->fd;
}

/* Looked up at the first call: that takes longer than opening an event. */
const char *pev_event_label(const struct pev_event *ev)
{
	struct pev_event *own = (struct pev_event *)ev;   /* the label is a cache */

	if (!ev->label[0])
		pev_attr_label(&ev->attr, own->label, sizeof(own->label));
	return ev->label;
}

const struct perf_event_attr *pev_event_attr(const struct pev_event *ev)
{
	return &ev->attr;
}

int pev_event_read(const struct pev_event *ev, struct pev_count *count)
{
	uint64_t v[5], format = ev->attr.read_format;
	const uint64_t *p = v;
	ssize_t n;

	memset(count, 0, sizeof(*count));
	if (format & PERF_FORMAT_GROUP)
		return -EINVAL;
	n = read(ev->fd, v, sizeof(v));
	if (n < 0)
		return -errno;
	if (n == 0)
		return -ENODATA;   /* a pinned event that lost its counter */
	count->value = *p++;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		count->time_enabled = *p++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		count->time_running = *p++;
	count->timed = pev_reads_times_(format);
	if (format & PERF_FORMAT_ID)
		count->id = *p++;
	if (format & PEV_FORMAT_LOST)
		count->lost = *p;
	return 0;
}
