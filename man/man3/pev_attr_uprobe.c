/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

__attribute__((noinline)) void visited(void);

void visited(void)
{
	__asm__ volatile("");
}

static void work(void *arg)
{
	(void)arg;
	for (int i = 0; i < 7; i++)
		visited();
}

int main(void)
{
	static const char self[] = "/proc/self/exe";
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;
	uint64_t offset;

	if (pev_elf_symbol(self, "visited", &offset, &err) ||
	    pev_attr_uprobe(&attr, self, offset, 0, false, &err))
		return fail(&err);
	attr.disabled = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (!pev_event_measure(ev, work, NULL, &count))
		printf("visited() was called %llu times\n", (unsigned long long)count.value);
	pev_event_close(ev);
	return 0;
}
