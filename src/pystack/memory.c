/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/memory.h"

#include "base/now.h"
#include "base/procstatus.h"
#include "tasks/taskmemory.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How many of the pieces `bytes` fill. */
static int complete(const struct memory_piece *pieces, size_t n, size_t bytes)
{
	size_t i = 0;

	while (i < n && pieces[i].size <= bytes)
		bytes -= pieces[i++].size;
	return (int)i;
}

/* Whether all of it is in memory now, so that a read waits for nobody: move_pages(2) without nodes says that, and brings no page. True
 * if it is refused. */
static bool is_there(pid_t pid, const struct iovec *from, size_t n)
{
	enum { MOST = 2 * MEMORY_MAX_PIECES };
	const uintptr_t page = (uintptr_t)getpagesize();
	void *pages[MOST];
	int nodes[MOST];
	size_t count = 0;
	bool refused;

	for (size_t i = 0; i < n; i++)
		for (uintptr_t at = (uintptr_t)from[i].iov_base & -page; at < (uintptr_t)from[i].iov_base + from[i].iov_len; at += page) {
			if (count == MOST)
				return false;
			pages[count++] = (void *)at;
		}
	refused = syscall(SYS_move_pages, pid, count, pages, NULL, nodes, 0);
	while (!refused && count && nodes[count - 1] >= 0)
		count--;
	return refused || !count;
}

static int read_process(const struct memory *m, const struct memory_piece *pieces, size_t n)
{
	struct iovec to[MEMORY_MAX_PIECES], from[MEMORY_MAX_PIECES];
	ssize_t got;

	if (!n)
		return 0;
	if (m->until && now_ns(CLOCK_MONOTONIC) >= m->until)
		return -ETIME;
	if (n > MEMORY_MAX_PIECES)
		n = MEMORY_MAX_PIECES;
	for (size_t i = 0; !i || i < n; i++) {
		to[i] = (struct iovec){ pieces[i].to, pieces[i].size };
		from[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].addr, pieces[i].size };
	}
	if (m->is_strange || !is_there(m->pid, from, n))
		got = taskmemory_readv(m->pid, to, from, n);
	else if ((got = process_vm_readv(m->pid, to, n, from, n, 0)) < 0)
		got = -errno;
	if (got < 0)
		return (int)got;
	return complete(pieces, n, (size_t)got);
}

struct memory memory_of(pid_t pid)
{
	return (struct memory){ .read = read_process, .pid = pid, .is_strange = procstatus_of(pid, "\nUid:") != (long)getuid() };
}

int memory_get(const struct memory *m, uint64_t addr, void *to, size_t size)
{
	const struct memory_piece piece = { addr, to, size };
	int rc = m->read(m, &piece, 1);

	return rc < 0 ? rc : rc == 1 ? 0 : -EFAULT;
}

int memory_word(const struct memory *m, uint64_t addr, uint64_t *word)
{
	return memory_get(m, addr, word, sizeof(*word));
}

uint64_t memory_field(const void *bytes, uint64_t offset, size_t size)
{
	uint64_t v = 0;

	/* programs of the other byte order do not run here; on big-endian ones the value is in the last bytes */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&v, (const char *)bytes + offset, size);
#else
	memcpy((char *)&v + sizeof(v) - size, (const char *)bytes + offset, size);
#endif
	return v;
}
