/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code does a process load? Prints each executable mapping: the program, its libraries, and
 * plugins that it opens later.
 *
 *   cc -O2 exec_mappings.c $(pkg-config --cflags --libs libperfevent) -o exec_mappings
 *   ./exec_mappings /bin/ls        a command, from its first mapping to its end
 *   ./exec_mappings -p PID         a process, from now on
 *
 * It watches one thread: PID, or the first one of the command.
 */
#include <errno.h>
#include <inttypes.h>
#include <perfevent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

/* Starts a child that executes argv once it reads a byte from *go. */
static pid_t start(char **argv, int *go)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1) {
			close(ends[0]);
			execvp(argv[0], argv);
			perror(argv[0]);
		}
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void print_mappings(struct pev_ring *ring, const struct pev_format *format)
{
	const struct perf_event_header *raw;
	struct pev_record record;

	pev_ring_begin(ring);
	while ((raw = pev_ring_next(ring))) {
		if (pev_decode(raw, raw->size, format, &record))
			continue;
		if (record.type == PERF_RECORD_MMAP)
			printf("pid %u created a PROT_EXEC mapping at %#" PRIx64 ": %s\n",
			       record.mmap.pid, record.mmap.addr, record.mmap.filename);
		else if (record.type == PERF_RECORD_LOST)
			printf("%" PRIu64 " records were lost\n", record.lost.lost);
	}
	pev_ring_end(ring);
	fflush(stdout);
}

/* Prints mappings until the thread ends. */
static int watch(pid_t pid, int go)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_format format;
	struct pev_event *mappings;
	struct pev_ring *ring;
	int rc;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.mmap = 1;                          /* executable mappings; mmap_data adds the others */
	attr.exclude_kernel = 1;
	pev_attr_wakeup_watermark(&attr, 1);    /* wake up for each record */
	pev_format_from_attr(&format, &attr);
	if (pev_event_open(&mappings, &attr, pev_target_thread(pid), NULL, &err))
		return fail(&err);
	if (pev_ring_map(&ring, mappings, 0, &err)) {
		pev_event_close(mappings);
		return fail(&err);
	}
	if (go >= 0 && write(go, "", 1) != 1)
		return 1;
	do {
		rc = pev_ring_wait(ring, -1, -1);
		print_mappings(ring, &format);
	} while (rc > 0 || rc == -EINTR);
	pev_ring_unmap(ring);
	pev_event_close(mappings);
	if (rc != -ESRCH)
		fprintf(stderr, "waiting: %s\n", strerror(-rc));
	return rc == -ESRCH ? 0 : 1;
}

int main(int argc, char **argv)
{
	int rc, status = 0, go;
	pid_t child;

	if (argc < 2 || (argv[1][0] == '-' && (argc != 3 || strcmp(argv[1], "-p")))) {
		fprintf(stderr, "usage: %s COMMAND... | -p PID\n", argv[0]);
		return 2;
	}
	if (argv[1][0] == '-')
		return watch((pid_t)atoi(argv[2]), -1);
	child = start(argv + 1, &go);
	if (child < 0)
		return 1;
	rc = watch(child, go);
	close(go);                              /* if it could not be watched, the child does not run */
	waitpid(child, &status, 0);
	return rc ? rc : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
