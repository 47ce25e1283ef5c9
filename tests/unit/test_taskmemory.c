/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is read while its pages come late, or never: here from userfaultfd(2), whose other end is the test. */
#include "checks.h"

#include "tasks/taskmemory.h"

#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 65536 };

TEST(pieces_and_what_is_not_there)
{
	char here[] = "abcdefgh", got[8] = "", *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct iovec to[] = { { got, 3 }, { got + 3, 2 } }, from[] = { { here, 3 }, { here + 5, 2 } };

	assert_int_equal(taskmemory_readv(getpid(), to, from, 2), 5);
	assert_string_equal(got, "abcfg");
	memset(page, 'x', 2 * PAGE);
	munmap(page + PAGE, PAGE);
	assert_int_equal(taskmemory_read(getpid(), (uintptr_t)page + PAGE - 2, got, 8), 2);
	assert_string_equal(got, "xxcfg");
	assert_int_equal(taskmemory_read(getpid(), 8, got, 8), -EFAULT);
	munmap(page, PAGE);
}

TEST(memory_that_never_answers)
{
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register all = { { (uintptr_t)page, PAGE }, UFFDIO_REGISTER_MODE_MISSING, 0 };
	uint64_t word, here = 7;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all)) {
		printf("# skip: needs userfaultfd, as root has it\n");
		skip();
	}
	for (int i = 0; i < 6; i++)      /* the last ones at once */
		assert_int_equal(taskmemory_read(getpid(), (uintptr_t)page, &word, sizeof(word)), -ETIME);
	close(fd);                       /* the pages come */
	while (taskmemory_read(getpid(), (uintptr_t)&here, &word, sizeof(word)) != sizeof(word))
		;
	assert_int_equal(word, 7);
}
