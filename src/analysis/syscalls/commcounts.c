/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/commcounts.h"

#include "base/escape.h"
#include "base/hash.h"
#include "report/json.h"

#include <stdio.h>
#include <string.h>

enum { NAMED = 3, MAX_COMMS = 1 << 14, COMM_SIZE = 16 };

struct commcount {
	char comm[COMM_SIZE];
	uint64_t calls;
	UT_hash_handle hh;
};

static struct commcount *find(const struct commcounts *c, const char *comm, char key[COMM_SIZE])
{
	struct commcount *one;

	memset(key, 0, COMM_SIZE);
	memcpy(key, comm ? comm : "", comm ? strnlen(comm, COMM_SIZE - 1) : 0);
	HASH_FIND(hh, c->all, key, COMM_SIZE, one);
	return one;
}

void commcounts_add(struct commcounts *c, const char *comm)
{
	char key[COMM_SIZE];
	struct commcount *one = find(c, comm, key);

	c->total++;
	if (!one && HASH_COUNT(c->all) < MAX_COMMS && (one = calloc(1, sizeof(*one)))) {
		memcpy(one->comm, key, COMM_SIZE);
		HASH_ADD(hh, c->all, comm, COMM_SIZE, one);
		one = HASH_KEPT(one);
	}
	if (one)
		one->calls++;
}

static int more_calls(const struct commcount *a, const struct commcount *b)
{
	return a->calls == b->calls ? strcmp(a->comm, b->comm) : a->calls < b->calls ? 1 : -1;
}

char *commcounts_text(struct commcounts *c, char *buf, size_t size)
{
	uint64_t rest = c->total;
	size_t used = 0, n = 0;
	char safe[4 * COMM_SIZE];

	buf[0] = '\0';
	HASH_SORT(c->all, more_calls);
	for (const struct commcount *one = c->all; one && n < NAMED && used < size; one = one->hh.next, n++) {
		escape_terminal(*one->comm ? one->comm : "?", *one->comm ? strlen(one->comm) : 1, safe, sizeof(safe));
		used += (size_t)snprintf(buf + used, size - used, "%s%s %llu", n ? ", " : "", safe, (unsigned long long)one->calls);
		rest -= one->calls;
	}
	if (rest && used < size)
		snprintf(buf + used, size - used, "%sothers %llu", n ? ", " : "", (unsigned long long)rest);
	return buf;
}

struct json_object *commcounts_json(struct commcounts *c, const char *name)
{
	json_object *all = json_object_new_array();
	bool good = all;

	HASH_SORT(c->all, more_calls);
	for (const struct commcount *one = c->all; one && good; one = one->hh.next) {
		json_object *row = json_object_new_object();

		good = json_append(all, row) && json_put_text(row, name, one->comm) && json_put_unsigned(row, "calls", one->calls);
	}
	if (good)
		return all;
	json_object_put(all);
	return NULL;
}

void commcounts_free(struct commcounts *c)
{
	HASH_FREE(c->all);
	*c = (struct commcounts){ .total = 0 };
}
