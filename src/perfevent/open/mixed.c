/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/open/mixed.h"

#include "perfevent/open/event.h"

#include <sys/ioctl.h>
#include <unistd.h>

/* ---- which groups are mixed ------------------------------------------------------ */

/* Software events join the PMU of a hardware group, which is then one. The clocks are PMUs of their own. */
static uint64_t software_pmu(const struct perf_event_attr *attr)
{
	enum { CLOCKS = 0x100000000 };

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return UINT64_MAX;
	case PERF_TYPE_SOFTWARE:
		if (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK)
			return CLOCKS + attr->config;
	}
	return attr->type;
}

static bool are_mixed(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	uint64_t x = software_pmu(a), y = software_pmu(b);

	return x != y && x != UINT64_MAX && y != UINT64_MAX;
}

/* ---- the leader ------------------------------------------------------------------ */

/* The time enabled is the second value, whether it is a group's or not. */
static bool read_enabled(int fd, uint64_t *ns)
{
	uint64_t v[16384 / sizeof(uint64_t)];   /* the kernel limits a group to that */

	if (read(fd, v, sizeof(v)) < (ssize_t)(2 * sizeof(*v)))
		return false;
	*ns = v[1];
	return true;
}

/* A leader off the CPU may be on, too: it starts with all members when its task is switched in. */
static bool is_counting(const struct pev_event *leader_or_member, int fd)
{
	uint64_t before, after;

	return leader_or_member->leader.timed && read_enabled(fd, &before) && read_enabled(fd, &after) &&
	       after > before;
}

/* The descriptor, -1 if it was closed meanwhile: then the number may be another event's. */
static int leader_fd(const struct pev_event *ev)
{
	uint64_t id;

	if (ev->leader.fd < 0 || ioctl(ev->leader.fd, PERF_EVENT_IOC_ID, &id) < 0 || id != ev->leader.id)
		return -1;
	return ev->leader.fd;
}

static void turn_off_and_on(int fd)
{
	if (!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* ---- joining and starting -------------------------------------------------------- */

void pev_mixed_join_(struct pev_event *ev, struct pev_event *leader)
{
	ev->leader.mixed = are_mixed(&ev->attr, &leader->attr);
	leader->leads_mixed |= ev->leader.mixed;
	if (software_pmu(&leader->attr) == UINT64_MAX)
		return;
	ev->leader.fd = leader->fd;
	ev->leader.timed = leader->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	if (ioctl(leader->fd, PERF_EVENT_IOC_ID, &ev->leader.id) < 0)   /* before Linux 3.12, which needs none of this */
		ev->leader.fd = -1;
	else if (!ev->attr.disabled)
		pev_mixed_start_(ev);
}

void pev_mixed_start_(const struct pev_event *ev)
{
	int fd = ev->leader.mixed ? leader_fd(ev) : -1;

	if (fd >= 0 && is_counting(ev, fd))
		turn_off_and_on(fd);
}

void pev_mixed_start_group_(const struct pev_event *ev)
{
	int fd = ev->leads_mixed ? ev->fd : leader_fd(ev);

	if (fd >= 0)
		turn_off_and_on(fd);
}
