/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many page faults does it take to write one byte into 64 MiB of fresh memory?
 *
 *   cc -O2 page_faults.c $(pkg-config --cflags --libs libperfevent) -o page_faults && ./page_faults
 *
 * One: pages are allocated when they are first accessed, not by mmap(2).
 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>
#include <sys/mman.h>

enum { SIZE = 64 << 20, POSITION = 63 << 20 };

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

static void ask_and_write(void *arg)
{
	volatile char **memory = arg;
	void *fresh = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*memory = fresh == MAP_FAILED ? NULL : fresh;
	if (*memory)
		(*memory)[POSITION] = 42;
}

int main(void)
{
	volatile char *memory = NULL;
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *faults;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr.disabled = 1;
	if (pev_event_open(&faults, &attr, pev_target_self(), NULL, &err))
		return fail(&err);

	/* The first run is discarded: it includes the faults of the code's own pages. */
	if (pev_event_measure(faults, ask_and_write, &memory, &count) || !memory)
		return 1;
	munmap((void *)memory, SIZE);
	if (pev_event_measure(faults, ask_and_write, &memory, &count) || !memory)
		return 1;
	printf("saw %" PRIu64 " page faults, wrote value %d\n", count.value, memory[POSITION]);
	munmap((void *)memory, SIZE);
	pev_event_close(faults);
	return 0;
}
