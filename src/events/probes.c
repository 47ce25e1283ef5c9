/* SPDX-License-Identifier: Apache-2.0 */
#include "events/probes.h"

#include "base/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SWEEP_PATIENCE_MS = 2000 };

static const char *const files[] = { [PROBE_KERNEL] = "kprobe_events", [PROBE_USER] = "uprobe_events" };

void probes_init(struct probes *p)
{
	*p = (struct probes){ .sweeper = -1 };
}

bool probes_possible(const char *tracefs, enum probe_space space)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", tracefs, files[space]);
	return !access(path, F_OK);
}

/* ---- messages of the kernel --------------------------------------------------- */

/* The last message in error_log: "Invalid fetch arg"; "" if there is none. */
static void kernel_said(const char *tracefs, char *buf, size_t size)
{
	char path[512], line[512], *text;
	FILE *log;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "%s/error_log", tracefs);
	log = fopen(path, "re");
	while (log && fgets(line, sizeof(line), log)) {
		text = strstr(line, " error: ");
		if (!text)
			continue;
		text += strlen(" error: ");
		text[strcspn(text, "\n")] = '\0';
		escape_terminal(text, strlen(text), buf, size);
	}
	if (log)
		fclose(log);
}

static int refuse(const char *tracefs, const struct probe_definition *def, int err, struct fault *f)
{
	bool denied = err == EACCES || err == EPERM;
	char said[256];

	kernel_said(tracefs, said, sizeof(said));
	if (denied)
		return fault_set(f, EXIT_FAILED, "cannot create a probe: %s: %s; run as root "
				 "(kernel lockdown forbids probes to root, too)", files[def->space],
				 strerror(err));
	if (def->space == PROBE_KERNEL && (err == ENOENT || strstr(said, "probed address or symbol")))
		return fault_set(f, EXIT_USAGE, "the kernel has no function %s that can be probed", def->where);
	return fault_set(f, EXIT_USAGE, "the kernel refuses the probe at %s%s%s: %s%s%s", def->where,
			 *def->args ? " with " : "", def->args, strerror(err), *said ? "; it says: " : "",
			 said);
}

/* ---- definitions --------------------------------------------------------------- */

/* Each write(2) is one definition. */
static int write_line(const char *tracefs, enum probe_space space, const char *line)
{
	char path[512];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", tracefs, files[space]);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, line, strlen(line)) < 0)
		err = errno;
	close(fd);
	return err;
}

static int begin(struct probes *p, const char *tracefs, struct fault *f)
{
	if (p->n)
		return 0;
	snprintf(p->tracefs, sizeof(p->tracefs), "%s", tracefs);
	probes_group_name(p->group, sizeof(p->group));
	probes_sweep_dead(tracefs);
	p->sweeper = probes_start_sweeper(tracefs, p->group);
	if (p->sweeper < 0)
		return fault_set(f, EXIT_FAILED, "cannot create a probe: the process that would "
				 "remove it did not start: %s", strerror(errno));
	return 0;
}

int probes_define(struct probes *p, const char *tracefs, const struct probe_definition *def,
		  char *event, struct fault *f)
{
	char *line;
	int err;

	if (begin(p, tracefs, f))
		return -1;
	if (!event[0])
		snprintf(event, PROBE_NAME_SIZE, "p%u", ++p->n);
	if (asprintf(&line, "%c:%s/%s %s %s\n", def->at_return ? 'r' : 'p', p->group, event, def->where,
		     def->args) < 0)
		return fault_set(f, EXIT_FAILED, "out of memory");
	err = write_line(tracefs, def->space, line);
	free(line);
	return err ? refuse(tracefs, def, err, f) : 0;
}

/* The sweeper removes the probes: it still can when this process has dropped its privileges. */
void probes_end(struct probes *p)
{
	struct pollfd gone = { .fd = p->sweeper, .events = POLLIN };

	if (p->sweeper < 0)
		return;
	shutdown(p->sweeper, SHUT_WR);
	poll(&gone, 1, SWEEP_PATIENCE_MS);   /* probes still in use are removed a moment later */
	close(p->sweeper);
	probes_init(p);
}
