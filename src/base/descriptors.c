/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Number of open descriptors; if it cannot be counted, the limit. */
static rlim_t count_open(const struct rlimit *now)
{
	DIR *dir = opendir("/proc/self/fd");
	rlim_t n = 0;

	if (!dir)
		return now->rlim_cur;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 3;   /* ".", ".." and the descriptor of the folder */
}

bool descriptors_reserve(size_t n)
{
	struct rlimit rl, more;

	if (getrlimit(RLIMIT_NOFILE, &rl))
		return true;
	more = rl;
	more.rlim_cur = count_open(&rl) + n;
	if (more.rlim_cur <= rl.rlim_cur)
		return true;
	if (more.rlim_cur > more.rlim_max)
		more.rlim_max = more.rlim_cur;
	if (!setrlimit(RLIMIT_NOFILE, &more))
		return true;
	rl.rlim_cur = rl.rlim_max;
	setrlimit(RLIMIT_NOFILE, &rl);
	return false;
}

static bool close_from(unsigned int first, unsigned int last)
{
	return first > last || !syscall(SYS_close_range, first, last, 0);
}

void descriptors_close_but(int one, int two)
{
	unsigned int low = (unsigned int)(one < two ? one : two), high = (unsigned int)(one < two ? two : one);

	if ((!low || close_from(0, low - 1)) && (low == high || close_from(low + 1, high - 1)) &&
	    close_from(high + 1, ~0U))
		return;
	for (int fd = 0; fd < 65536; fd++)   /* before Linux 5.9 */
		if (fd != one && fd != two)
			close(fd);
}

bool descriptors_close_inherited(int one, int two)
{
	DIR *dir = opendir("/proc/self/fd");

	for (struct dirent *d; dir && (d = readdir(dir));) {
		const int fd = atoi(d->d_name);

		if (fd > STDERR_FILENO && fd != one && fd != two && !fcntl(fd, F_GETFD))
			close(fd);
	}
	return dir && !closedir(dir);
}

const char *descriptors_remedy(size_t more, char *buf, size_t size)
{
	struct rlimit rl = { 0 };
	char to[32] = "", n[32] = "", unit[32] = "";

	getrlimit(RLIMIT_NOFILE, &rl);
	if (more) {
		const unsigned long long all = count_open(&rl) + more;

		snprintf(to, sizeof(to), " to %llu", all);
		snprintf(n, sizeof(n), " %llu", all);
		snprintf(unit, sizeof(unit), "%llu", all);
	}
	snprintf(buf, size, "the limit is %llu, and this process may not raise it: raise it%s for "
		 "the process (ulimit -n%s as root, LimitNOFILE=%s of a systemd unit)", (unsigned long long)rl.rlim_max, to, n, unit);
	return buf;
}

const char *descriptors_hint(int code, char *buf, size_t size)
{
	char remedy[256];

	buf[0] = '\0';
	if (code == EMFILE)
		snprintf(buf, size, "; %s", descriptors_remedy(0, remedy, sizeof(remedy)));
	else if (code == ENFILE)
		snprintf(buf, size, "; the whole system is out of file descriptors: raise "
			 "sysctl fs.file-max");
	return buf;
}

int descriptors_hide_stdout(void)
{
	int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), null = own < 0 ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	return own;
}

void descriptors_show_stdout(int own)
{
	if (own < 0)
		return;
	fflush(stdout);
	dup2(own, STDOUT_FILENO);
	close(own);
}
