/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	int rc = pev_supported(), level, frames;

	if (rc) {
		printf("no perf_event_open(2): %s\n", strerror(-rc));
		return 1;
	}
	puts("perf_event_open(2) is there");
	if (!pev_paranoid(&level))
		printf("kernel.perf_event_paranoid = %d\n", level);
	frames = pev_max_stack();
	if (frames > 0)
		printf("call chains of %d frames at most\n", frames);
	return 0;
}
