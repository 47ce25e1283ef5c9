/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tapped.h"

#include <stdlib.h>
#include <string.h>

int tapped_set(struct tapped *t, const char *source, const char *option, const char *text, const char *example,
	       struct fault *f)
{
	char *colon;

	if (!text)
		return fault_usage(f, "%s: no %s: expected a tracepoint, as in %s", source, option, example);
	t->sys = strdup(text);
	if (!t->sys)
		return fault_set(f, EXIT_FAILED, "out of memory");
	colon = strchr(t->sys, ':');
	if (!colon || colon == t->sys || !colon[1])
		return fault_usage(f, "%s: %s %s: expected a tracepoint, such as sched:sched_wakeup", source, option,
				   text);
	*colon = '\0';
	t->name = colon + 1;
	return 0;
}

void tapped_free(struct tapped *t)
{
	free(t->sys);
}
