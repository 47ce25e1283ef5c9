/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/tasknames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct taskname {
	uint64_t number;
	char *name;              /* "task NAME" */
	char task[];
};

/* The numbers of functions of Python are larger: they have that of their process in the upper bits. */
enum { OTHERS = 1 };

struct script_frame tasknames_frame(struct groups *all, const char *task)
{
	struct taskname *one = groups_text(all, task, strlen(task), offsetof(struct taskname, task), TASKNAMES_MOST);

	if (one && !one->number)
		one->number = OTHERS + all->n;
	if (one && !one->name && asprintf(&one->name, "task %s", task) < 0) {
		one->name = NULL;
		one = NULL;
	}
	return one ? (struct script_frame){ .function = one->number, .name = one->name } :
		     (struct script_frame){ .function = OTHERS, .name = "task [others]" };
}

void tasknames_free(struct groups *all)
{
	for (struct taskname *one = groups_first(all); one; one = groups_next(one))
		free(one->name);
	groups_free(all);
}
