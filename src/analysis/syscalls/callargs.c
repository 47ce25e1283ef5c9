/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callargs.h"

#include "base/hash.h"

/* When there are more, it begins anew. */
enum { MAX_THREADS = 1 << 14 };

struct callargs_call {
	pid_t tid;
	int64_t number;
	uint64_t args[CALLARGS];
	UT_hash_handle hh;
};

void callargs_read(const struct callargs *c, const struct analysis_sample *s, uint64_t args[CALLARGS])
{
	const size_t size = CALLARGS * sizeof(*args);

	memset(args, 0, size);
	if (c->field->offset + size <= s->view.raw_size)
		memcpy(args, (const char *)s->view.raw + c->field->offset, size);
}

static struct callargs_call *find(const struct callargs *c, pid_t tid)
{
	struct callargs_call *one = NULL;

	if (c->all)
		HASH_FIND(hh, c->all, &tid, sizeof(tid), one);
	return one;
}

void callargs_keep(struct callargs *c, pid_t tid, int64_t number, const uint64_t args[CALLARGS])
{
	struct callargs_call *one = find(c, tid);

	if (!one && (one = calloc(1, sizeof(*one)))) {
		if (HASH_COUNT(c->all) >= MAX_THREADS)
			callargs_forget(c);
		one->tid = tid;
		HASH_ADD(hh, c->all, tid, sizeof(one->tid), one);
		one = HASH_KEPT(one);
	}
	if (!one)
		return;
	one->number = number;
	memcpy(one->args, args, sizeof(one->args));
}

const uint64_t *callargs_of(const struct callargs *c, pid_t tid, int64_t number)
{
	const struct callargs_call *one = find(c, tid);

	return one && one->number == number ? one->args : NULL;
}

void callargs_exit(struct callargs *c, pid_t tid)
{
	struct callargs_call *one = find(c, tid);

	if (!one)
		return;
	HASH_DEL(c->all, one);
	free(one);
}

void callargs_forget(struct callargs *c)
{
	HASH_FREE(c->all);
	c->all = NULL;
}
