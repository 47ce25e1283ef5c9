/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

static void work(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		syscall(SYS_close, -1);
}

int main(int argc, char **argv)
{
	const char *symbol = argc > 1 ? argv[1] : "close_fd";
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count count;
	struct pev_event *ev;

	if (pev_attr_kprobe(&attr, symbol, 0, false, &err))
		return fail(&err);
	attr.disabled = 1;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	if (!pev_event_measure(ev, work, NULL, &count))
		printf("%s was called %llu times\n", symbol, (unsigned long long)count.value);
	pev_event_close(ev);
	return 0;
}
