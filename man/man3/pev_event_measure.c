/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

enum { PAGES = 64 };

static void touch(void *memory)
{
	for (long i = 0; i < PAGES; i++)
		*((volatile char *)memory + i * sysconf(_SC_PAGESIZE)) = 1;
}

int main(void)
{
	size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, size, MADV_NOHUGEPAGE);
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr.disabled = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (!pev_event_measure(ev, touch, memory, &count))
		printf("%llu page faults for %d pages\n", (unsigned long long)count.value, PAGES);
	pev_event_close(ev);
	munmap(memory, size);
	return 0;
}
