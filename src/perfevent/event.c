/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/event.h"

#include "perfevent/explain.h"
#include "perfevent/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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
	do
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			     flags | target_flags | PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

static bool is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* An older kernel knows a shorter attr, writes its size and says E2BIG; then the tail
 * it doesn't know has to be zero, else the caller asked for something it can't do. */
static int open_sized(struct perf_event_attr *attr, struct pev_target target, int group_fd,
		      unsigned long flags)
{
	uint32_t full = sizeof(*attr);
	int fd;

	attr->size = full;
	fd = pev_open_raw_(attr, target, group_fd, flags);
	if (fd != -E2BIG || attr->size >= full || attr->size < PERF_ATTR_SIZE_VER0)
		return fd;
	if (!is_zero((const char *)attr + attr->size, full - attr->size))
		return -E2BIG;
	return pev_open_raw_(attr, target, group_fd, flags);
}

static const struct pev_open_opts no_opts = { .size = sizeof(no_opts) };

static int check_opts(const struct pev_open_opts *opts)
{
	size_t known = sizeof(*opts);

	if (opts->size < offsetof(struct pev_open_opts, group))
		return -EINVAL;
	if (opts->size > known && !is_zero((const char *)opts + known, opts->size - known))
		return -EINVAL;
	return 0;
}

static void set_label(struct pev_event *ev, const struct pev_open_opts *opts)
{
	uint64_t config;
	const char *name;

	if (opts->label) {
		snprintf(ev->label, sizeof(ev->label), "%s", opts->label);
		return;
	}
	snprintf(ev->label, sizeof(ev->label), "event of type %u, config 0x%llx", ev->attr.type,
		 (unsigned long long)ev->attr.config);
	for (unsigned int i = 0; ev->attr.type == PERF_TYPE_SOFTWARE &&
				 (name = pev_software_name(i, &config)); i++)
		if (config == ev->attr.config) {
			snprintf(ev->label, sizeof(ev->label), "%s", name);
			return;
		}
}

int pev_event_open(struct pev_event **out, const struct perf_event_attr *attr,
		   struct pev_target target, const struct pev_open_opts *opts,
		   struct pev_error *err)
{
	struct pev_event *ev;
	int rc;

	*out = NULL;
	if (!opts)
		opts = &no_opts;
	if (check_opts(opts))
		return -EINVAL;
	ev = calloc(1, sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	ev->attr = *attr;
	ev->target = target;
	set_label(ev, opts);
	ev->fd = open_sized(&ev->attr, target, opts->group ? opts->group->fd : -1, opts->flags);
	if (ev->fd < 0) {
		rc = ev->fd;
		ev->attr = *attr;
		pev_explain_open(err, ev, opts->group, opts->flags, -rc);
		free(ev);
		return rc;
	}
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

const struct perf_event_attr *pev_event_attr(const struct pev_event *ev)
{
	return &ev->attr;
}

static int control(const struct pev_event *ev, unsigned long request, unsigned long arg)
{
	return ioctl(ev->fd, request, arg) < 0 ? -errno : 0;
}

int pev_event_enable(struct pev_event *ev)
{
	return control(ev, PERF_EVENT_IOC_ENABLE, 0);
}

int pev_event_disable(struct pev_event *ev)
{
	return control(ev, PERF_EVENT_IOC_DISABLE, 0);
}

int pev_event_reset(struct pev_event *ev)
{
	return control(ev, PERF_EVENT_IOC_RESET, 0);
}

int pev_event_id(const struct pev_event *ev, uint64_t *id)
{
	return control(ev, PERF_EVENT_IOC_ID, (unsigned long)id);
}

int pev_event_set_output(struct pev_event *ev, struct pev_event *to)
{
	return control(ev, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)(to ? to->fd : -1));
}

int pev_event_set_filter(struct pev_event *ev, const char *filter, struct pev_error *err)
{
	int rc = control(ev, PERF_EVENT_IOC_SET_FILTER, (unsigned long)filter);

	return rc ? pev_explain_filter(err, ev, filter, -rc) : 0;
}

int pev_event_read(const struct pev_event *ev, struct pev_count *count)
{
	uint64_t v[5], format = ev->attr.read_format;
	ssize_t n = read(ev->fd, v, sizeof(v));
	const uint64_t *p = v;

	memset(count, 0, sizeof(*count));
	if (n < 0)
		return -errno;
	if (n == 0)
		return -ENODATA;   /* a pinned event that could not be kept on its counter */
	if (format & PERF_FORMAT_GROUP)
		return -EINVAL;
	count->value = *p++;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		count->time_enabled = *p++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		count->time_running = *p++;
	if (format & PERF_FORMAT_ID)
		count->id = *p++;
	if (format & PEV_FORMAT_LOST)
		count->lost = *p;
	return 0;
}
