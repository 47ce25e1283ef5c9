/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/taskmemory.h"

#include <sys/uio.h>

ssize_t taskmemory_read(pid_t tid, uint64_t from, void *to, size_t n)
{
	const struct iovec local = { to, n }, remote = { (void *)(uintptr_t)from, n };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0);
}
