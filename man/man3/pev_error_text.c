/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	char text[1200];

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, 4711);
	if (!pev_event_open(&ev, &attr, pev_target_self(), NULL, &err)) {
		pev_event_close(ev);
		return 1;
	}
	pev_error_text(&err, text, sizeof(text));
	puts(text);
	return 0;
}
