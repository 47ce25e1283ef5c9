/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of small numbers as in sysfs and on the command line: "0-3,7". */
#ifndef BASE_CPULIST_H
#define BASE_CPULIST_H

#include <stddef.h>

struct numlist {
	int *v;               /* sorted, each once */
	size_t n;
};

/* Parses "0-3,7,12" with numbers from 0 to max. Spaces and a final newline are allowed. Returns
 * 0, -EINVAL (also for an empty list; *bad, if bad is not NULL, points to the error in text),
 * -ERANGE (number > max), -ENOMEM. */
int numlist_parse(struct numlist *list, const char *text, int max, const char **bad);
void numlist_free(struct numlist *list);
int numlist_has(const struct numlist *list, int v);
int numlist_add(struct numlist *list, int v);
void numlist_remove(struct numlist *list, int v);
/* "0-3,7" into buf; returns the length needed. */
size_t numlist_text(const struct numlist *list, char *buf, size_t size);

/* CPUs that are online now, from sysfs. Returns 0 or -errno. */
int cpulist_online(struct numlist *list);
#endif
