/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/pycallers.h"

#include "base/hash.h"
#include "pystack/pystack.h"

#include <stdio.h>
#include <string.h>

enum { FRAMES = 4, MAX_PROCESSES = 64 };

struct pycaller {
	pid_t pid;
	struct pystack *stack;       /* NULL: no Python, or one that cannot be read */
	UT_hash_handle hh;
};

static struct pystack *stack_of(struct pycallers *p, pid_t pid)
{
	struct fault f = { 0 };
	struct pycaller *one;

	HASH_FIND(hh, p->all, &pid, sizeof(pid), one);
	if (one || HASH_COUNT(p->all) >= MAX_PROCESSES || !(one = calloc(1, sizeof(*one))))
		return one ? one->stack : NULL;
	one->pid = pid;
	HASH_ADD(hh, p->all, pid, sizeof(one->pid), one);
	if (!HASH_KEPT(one))
		return NULL;
	one->stack = pystack_look(pid) ? NULL : pystack_open(pid, "syscalls", &f);
	return one->stack;
}

struct wanted {
	pid_t tid;
	char *buf;
	size_t size;
	bool found;
};

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void take(void *ctx, const struct pystack_thread *thread)
{
	struct wanted *w = ctx;
	size_t used = 0;

	if (thread->tid != w->tid || thread->torn)
		return;
	w->found = thread->n;
	for (size_t i = 0; i < thread->n && i < FRAMES && used < w->size; i++) {
		const struct pystack_frame *frame = &thread->frames[i];

		used += (size_t)snprintf(w->buf + used, w->size - used, "%s%s (%s:%d)", i ? " < " : "", frame->code->name,
					 file_name(frame->code->file), frame->line);
	}
}

bool pycallers_text(struct pycallers *p, const struct waitargs *c, char *buf, size_t size)
{
	const struct pystack_opts opts = { .idle = true };
	struct pystack *stack = c->pid ? stack_of(p, c->pid) : NULL;
	struct wanted w = { c->tid, buf, size, false };

	return stack && !pystack_read(stack, &opts, take, &w) && w.found && waitargs_is_still(c);
}

void pycallers_free(struct pycallers *p)
{
	for (struct pycaller *one = p->all; one; one = one->hh.next)
		pystack_close(one->stack);
	HASH_FREE(p->all);
	p->all = NULL;
}
