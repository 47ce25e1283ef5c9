/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <perfevent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_ring *ring;
	struct pev_event *ev;
	int rc, go[2], records = 0;
	char byte = 0;
	pid_t child;

	if (pipe(go))
		return 1;
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) < 0)
			_exit(1);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.mmap = 1;                  /* executable mappings */
	pev_attr_wakeup_watermark(&attr, 1);
	if (pev_event_open(&ev, &attr, pev_target_thread(child), NULL, &err) ||
	    pev_ring_map(&ring, ev, 8, &err))
		return fail(&err);
	if (write(go[1], &byte, 1) != 1)
		return 1;
	while ((rc = pev_ring_wait(ring, 10000, -1)) == 1) {
		pev_ring_begin(ring);
		while (pev_ring_next(ring))
			records++;
		pev_ring_end(ring);
	}
	printf("%s; %s\n", records ? "mappings were seen" : "nothing was mapped",
	       rc == -ESRCH ? "then the task ended" : "then something else happened");
	pev_ring_unmap(ring);
	pev_event_close(ev);
	waitpid(child, NULL, 0);
	return 0;
}
