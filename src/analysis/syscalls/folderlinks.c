/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/folderlinks.h"

#include "base/hash.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

/* MAX_LINKS: when there are more, it begins anew. FRESH_NS: a link may lead elsewhere later. */
enum { MAX_LINKS = 1 << 14, FRESH_NS = 1000000000 };

struct folderlink {
	uint64_t at;
	char *real;              /* NULL: not known, or the same path */
	UT_hash_handle hh;
	char folder[];
};

/* One that was deleted has no path, and one that cannot be reached from our root none here. */
bool folderlinks_is_path(const char *text)
{
	static const char deleted[] = " (deleted)";
	const size_t n = strlen(text), end = strlen(deleted);

	return *text == '/' && (n < end || strcmp(text + n - end, deleted));
}

/* /proc/self leads to ourselves, not to the process that has called. */
static bool is_of_us(const char *path)
{
	char own[32];
	const int len = snprintf(own, sizeof(own), "/proc/%d", (int)getpid());

	return !strncmp(path, own, (size_t)len) && (path[len] == '/' || !path[len]);
}

/* O_PATH opens nothing, and with RESOLVE_CACHED (5.12) no file system is asked, which might mount something, or not answer. */
bool folderlinks_look(const char *folder, char real[PATH_MAX])
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS };
	const int fd = (int)syscall(SYS_openat2, AT_FDCWD, folder, &how, sizeof(how));
	char link[64];
	ssize_t n;

	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, PATH_MAX - 1);
	real[n > 0 ? n : 0] = '\0';
	close(fd);
	return n < PATH_MAX - 1 && folderlinks_is_path(real) && !is_of_us(real);
}

static void drop(struct folderlinks *l, struct folderlink *one)
{
	HASH_DEL(l->all, one);
	free(one->real);
	free(one);
}

static struct folderlink *add(struct folderlinks *l, const char *folder, size_t len)
{
	struct folderlink *one;

	if (HASH_COUNT(l->all) >= MAX_LINKS)
		folderlinks_free(l);
	one = calloc(1, sizeof(*one) + len + 1);
	if (!one)
		return NULL;
	memcpy(one->folder, folder, len);
	HASH_ADD_KEYPTR(hh, l->all, one->folder, len, one);
	return HASH_KEPT(one);
}

static void look(struct folderlink *one, uint64_t now)
{
	char real[PATH_MAX];

	free(one->real);
	one->real = folderlinks_look(one->folder, real) && strcmp(real, one->folder) ? strdup(real) : NULL;
	one->at = now;
}

const char *folderlinks_find(struct folderlinks *l, const char *folder, size_t len, uint64_t now)
{
	struct folderlink *one = NULL;

	if (l->all)
		HASH_FIND(hh, l->all, folder, len, one);
	if (one && now - one->at < FRESH_NS)
		return one->real;
	if (!one)
		one = add(l, folder, len);
	if (!one)
		return NULL;
	look(one, now);
	return one->real;
}

void folderlinks_free(struct folderlinks *l)
{
	struct folderlink *one, *next;

	HASH_ITER(hh, l->all, one, next)
		drop(l, one);
}
