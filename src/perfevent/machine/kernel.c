/* SPDX-License-Identifier: Apache-2.0 */
/* Support in the kernel: the system call, its sysctls, tracefs. */
#include "perfevent/machine/kernel.h"

#include "base/textfile.h"
#include "perfevent/attr/complain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_number(const char *path, long long *value)
{
	char text[64], *end;
	ssize_t rc = textfile_read(path, text, sizeof(text));

	if (rc < 0)
		return (int)rc;
	errno = 0;
	*value = strtoll(text, &end, 10);
	return end == text || errno ? -EINVAL : 0;
}

int pev_sysctl_(const char *name, long long *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return read_number(path, value);
}

const char *pev_rate_unlock_(void)
{
	long long percent;

	return !pev_sysctl_("perf_cpu_time_max_percent", &percent) && (percent == 0 || percent == 100) ?
	       "kernel.perf_cpu_time_max_percent=25 " : "";
}

int pev_supported(void)
{
	/* the kernel checks the size first: E2BIG (EINVAL on old kernels) shows that the system
	 * call exists and may be called */
	struct perf_event_attr attr = { .size = 1 };
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);

	if (fd >= 0) {
		close((int)fd);
		return 0;
	}
	return errno == ENOSYS || errno == EPERM || errno == EACCES ? -errno : 0;
}

int pev_max_stack(void)
{
	long long n;
	int rc = pev_sysctl_("perf_event_max_stack", &n);

	return rc ? rc : (int)n;
}

int pev_paranoid(int *level)
{
	long long n;
	int rc = pev_sysctl_("perf_event_paranoid", &n);

	if (!rc)
		*level = (int)n;
	return rc;
}

/* ---- tracefs ----------------------------------------------------------------- */

static const char *const usual_places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* Opens it: access(2) knows the capabilities of root only, not those that another user was given. */
static int usable(const char *dir)
{
	char events[PATH_MAX];
	int fd;

	/* "events" must be readable, and its "." searchable */
	snprintf(events, sizeof(events), "%s/events/.", dir);
	fd = open(events, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	close(fd);
	return 0;
}

/* False for a bind mount of one of its instances, which have "events", too. */
static bool is_whole(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/available_events", dir);
	return textfile_exists(path);
}

/*
 * Looks in what is mounted elsewhere: 0, and place has the path of one that can be used; -EACCES: of the first that cannot;
 * -ENOENT: none is mounted. Only a user who may mount file systems can add such a line.
 */
static int find_mounted(char *place, size_t size)
{
	FILE *m = setmntent("/proc/self/mounts", "re");
	struct mntent e;
	char text[PEV_MOUNT_TEXT_];
	int rc, found = -ENOENT;

	while (m && found && getmntent_r(m, &e, text, sizeof(text))) {
		if (strcmp(e.mnt_type, "tracefs") || strlen(e.mnt_dir) >= size)
			continue;
		rc = usable(e.mnt_dir);
		if (rc == -ENOENT || rc == found || (!rc && !is_whole(e.mnt_dir)))
			continue;
		found = rc;
		snprintf(place, size, "%s", e.mnt_dir);
	}
	if (m)
		endmntent(m);
	return found;
}

static void explain_tracefs(struct pev_error *err, int rc, const char *place)
{
	int level;

	pev_ask_(err, -rc, "look up tracepoints in tracefs");
	if (rc == -EACCES) {
		pev_say_(err, "this user may not read %s", place);
		pev_advise_(err, "run as root (sudo), or let a group read it: mount -o remount,gid=GROUP,mode=0750 %s%s", place,
			    !pev_paranoid(&level) && level >= 0 ? " (to sample tracepoints other than syscalls:*, its users need "
			    "CAP_PERFMON or kernel.perf_event_paranoid=-1, too)" : "");
	} else {
		pev_say_(err, "tracefs is not mounted");
		pev_advise_(err, "as root: mount -t tracefs nodev %s; in a container, which may not mount it: start the container "
			    "with -v %s:%s (docker, podman)", place, place, place);
	}
}

int pev_tracefs_path(char *buf, size_t size, struct pev_error *err)
{
	char place[PATH_MAX] = "";
	bool refused = false;
	int worst = -ENOENT, rc;

	for (size_t i = 0; i < sizeof(usual_places) / sizeof(*usual_places); i++) {
		rc = usable(usual_places[i]);
		if (!rc) {
			snprintf(buf, size, "%s", usual_places[i]);
			return 0;
		}
		if (rc == -EACCES)
			worst = rc;
		refused |= rc == -EACCES && i == 0;   /* the debugfs above the other may be what refuses */
	}
	rc = find_mounted(place, size < sizeof(place) ? size : sizeof(place));
	if (!rc) {
		snprintf(buf, size, "%s", place);
		return 0;
	}
	if (rc != -ENOENT)
		worst = -EACCES;
	explain_tracefs(err, worst, *place && !refused ? place : usual_places[0]);
	return worst;
}

static int explain_unknown(struct pev_error *err, const char *sys, const char *name, int rc)
{
	pev_ask_(err, -rc, "look up the tracepoint %s:%s", sys, name);
	pev_say_(err, "%s", strerror(-rc));
	pev_advise_(err, "`perf-prof list '%s:*'` or the folder events/%s of tracefs lists them", sys, sys);
	return rc;
}

int64_t pev_tracepoint_id(const char *sys, const char *name, struct pev_error *err)
{
	char root[256], path[1024];
	long long id;
	int rc = pev_tracefs_path(root, sizeof(root), err);

	if (rc)
		return rc;
	/* both names must be single folders, without leaving `events` */
	if (strchr(sys, '/') || strchr(name, '/') || sys[0] == '.' || name[0] == '.')
		return explain_unknown(err, sys, name, -ENOENT);
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, sys, name);
	rc = read_number(path, &id);
	return rc ? explain_unknown(err, sys, name, rc) : id;
}

int pev_attr_tracepoint(struct perf_event_attr *attr, const char *sys, const char *name,
			struct pev_error *err)
{
	int64_t id = pev_tracepoint_id(sys, name, err);

	if (id < 0)
		return (int)id;
	pev_attr_init(attr, PERF_TYPE_TRACEPOINT, (uint64_t)id);
	return 0;
}
