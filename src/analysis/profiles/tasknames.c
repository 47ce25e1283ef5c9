/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/tasknames.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of them, in a table that the first one leads to. */
struct tasknames {
	uint64_t number;
	char *name;              /* "task NAME" */
	UT_hash_handle hh;
};

/* The numbers of functions of Python are larger: they have that of their process in the upper bits. */
enum { OTHERS = 1 };

static struct tasknames *add(struct tasknames **all, const char *task)
{
	struct tasknames *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	if (asprintf(&one->name, "task %s", task) < 0) {
		free(one);
		return NULL;
	}
	one->number = OTHERS + 1 + HASH_COUNT(*all);
	HASH_ADD_KEYPTR(hh, *all, one->name + strlen("task "), strlen(task), one);
	if (!HASH_LOST(one))
		return one;
	free(one->name);
	free(one);
	return NULL;
}

struct script_frame tasknames_frame(struct tasknames **all, const char *task)
{
	struct tasknames *one = NULL;

	HASH_FIND(hh, *all, task, strlen(task), one);
	if (!one && HASH_COUNT(*all) < TASKNAMES_MOST)
		one = add(all, task);
	return one ? (struct script_frame){ .function = one->number, .name = one->name } :
		     (struct script_frame){ .function = OTHERS, .name = "task [others]" };
}

void tasknames_free(struct tasknames *all)
{
	struct tasknames *one, *next;

	HASH_ITER(hh, all, one, next) {
		HASH_DEL(all, one);
		free(one->name);
		free(one);
	}
}
