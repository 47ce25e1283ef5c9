/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/debuginfod.h"

#include "base/descriptors.h"
#include "base/now.h"
#include "symbols/jail/wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 30, CPU_SECONDS = 30, LEVELS = 8 };

/* The same limit as for programs. */
#define MAX_FILE (4ull << 30)

typedef struct debuginfod_client debuginfod_client;
typedef debuginfod_client *begin_fn(void);
typedef int find_fn(debuginfod_client *c, const unsigned char *id, int n, char **path);
typedef void end_fn(debuginfod_client *c);

/* ---- the child -------------------------------------------------------------- */

/* Settings that libdebuginfod would take from the environment. */
static void set_environment(const char *urls, const char *cache)
{
	clearenv();
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("DEBUGINFOD_URLS", urls, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	setenv("DEBUGINFOD_TIMEOUT", "20", 1);
}

static int find(const uint8_t *id, size_t size)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	begin_fn *begin = lib ? (begin_fn *)dlsym(lib, "debuginfod_begin") : NULL;
	find_fn *fetch = lib ? (find_fn *)dlsym(lib, "debuginfod_find_debuginfo") : NULL;
	end_fn *end = lib ? (end_fn *)dlsym(lib, "debuginfod_end") : NULL;
	debuginfod_client *client = begin && fetch && end ? begin() : NULL;
	int fd;

	if (!client)
		return -ENOSYS;
	fd = fetch(client, id, (int)size, NULL);
	end(client);
	return fd;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

/* Drops all rights that the download does not need. */
static int enter_jail(const char *cache)
{
	const struct rlimit seconds = { CPU_SECONDS, CPU_SECONDS };
	uid_t uid = geteuid() ? 0 : parser_uid();
	int rc;

	setsid();                /* without a terminal */
	setrlimit(RLIMIT_CPU, &seconds);
	if (uid && chown(cache, uid, uid))
		return -errno;
	rc = jail_leave_privilege(MAX_FILE);
	return rc ? rc : jail_lock_fetching(cache);
}

static _Noreturn void fetch_and_send(int socket, const char *urls, const uint8_t *id, size_t size, const char *cache)
{
	int32_t rc;
	int fd;

	/* closes root's events, ring buffers and files; 0 to 2 are /dev/null, as libdebuginfod
	 * prints its progress */
	descriptors_close_but(socket, socket);
	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd < 2)
		;
	if (fd > 2)
		close(fd);
	fd = -1;
	rc = enter_jail(cache);
	if (!rc) {
		set_environment(urls, cache);
		fd = find(id, size);
		rc = fd < 0 ? fd : 0;
	}
	wire_send_fds(socket, &rc, sizeof(rc), &fd, fd >= 0);
	nftw(cache, remove_one, LEVELS, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

/* ---- in the asking process -------------------------------------------------- */

static int receive(int socket)
{
	struct wire_limit limit = { .deadline = now_ns(CLOCK_MONOTONIC) + SECONDS * UINT64_C(1000000000) };
	int fds[PARSER_MAX_FDS];
	unsigned int nfds;
	int32_t answer;
	int rc;

	rc = wire_receive_fds(socket, &answer, sizeof(answer), fds, &nfds, &limit);
	if (rc)
		return rc;
	return nfds ? fds[0] : answer < 0 ? answer : -ENOENT;
}

int debuginfod_fetch(const char *urls, const uint8_t *build_id, size_t size, const struct helpers *helpers)
{
	/* for this file only: user nobody has no folder of its own */
	char cache[] = "/tmp/perf-prof-debuginfod-XXXXXX";
	int pair[2], fd;
	pid_t child;

	if (!size || !mkdtemp(cache))
		return -EINVAL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		rmdir(cache);
		return -EINVAL;
	}
	child = fork();
	if (child == 0)
		fetch_and_send(pair[1], urls, build_id, size, cache);
	helpers_started(helpers, child);
	close(pair[1]);
	fd = child < 0 ? -errno : receive(pair[0]);
	close(pair[0]);
	if (child > 0 && fd == -ETIME)
		kill(child, SIGKILL);
	if (child > 0)
		TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
	rmdir(cache);            /* its files are removed already */
	return fd;
}
