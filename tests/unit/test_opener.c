/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other processes: what is no regular file isn't even opened. */
#include "checks.h"

#include "base/opener.h"

#include <sys/inotify.h>
#include <sys/stat.h>

TEST(only_regular_files_are_opened)
{
	char folder[] = "/tmp/opener-XXXXXX", file[64], fifo[64], link[64];
	const char *others[] = { fifo, link, folder, "/dev/null" };
	char events[4096];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	close(open(file, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink("fifo", link), 0);
	assert_true(inotify_add_watch(watch, fifo, IN_OPEN) >= 0);

	for (size_t i = 0; i < COUNT(others); i++)
		for (int pid = 0; pid <= getpid(); pid += getpid())
			assert_int_equal(opener_file(&opener_direct, pid, others[i]), -EINVAL);
	assert_int_equal(read(watch, events, sizeof(events)), -1);   /* nobody opened it */
	assert_int_equal(errno, EAGAIN);
	fd = open(fifo, O_RDONLY | O_NONBLOCK);                      /* which would show */
	assert_true(read(watch, events, sizeof(events)) > 0);
	close(fd);

	for (int pid = 0; pid <= getpid(); pid += getpid()) {
		fd = opener_file(&opener_direct, pid, file);
		assert_true(fd >= 0);
		assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH), O_RDONLY);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_int_equal(read(fd, events, 1), 0);
		close(fd);
	}
	close(watch);
	unlink(file);
	unlink(fifo);
	unlink(link);
	rmdir(folder);
}
