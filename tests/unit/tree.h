/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up folders of files, for what reads sysfs and tracefs. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new folder under /tmp. Needs the includes of cmocka.h before. */
static inline char *tree_new(void)
{
	char *root = strdup("/tmp/pev-tree-XXXXXX");

	if (!root || !mkdtemp(root))
		abort();
	return root;
}

static inline void tree_path(char *path, size_t size, const char *root, const char *name)
{
	assert_true((size_t)snprintf(path, size, "%s/%s", root, name) < size);
}

/* Writes size bytes to root/name, with the folders on the way. */
static inline void tree_put_bytes(const char *root, const char *name, const void *data, size_t size)
{
	char path[1024];
	FILE *f;

	tree_path(path, sizeof(path), root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

static inline void tree_put(const char *root, const char *name, const char *text)
{
	tree_put_bytes(root, name, text, strlen(text));
}

/* What root/name holds, with a NUL behind it; free it. */
static inline char *tree_get(const char *root, const char *name)
{
	enum { MOST = 1 << 20 };
	char path[1024], *text = calloc(1, MOST);
	FILE *f;

	tree_path(path, sizeof(path), root, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, MOST - 1, f) < MOST - 1);
	fclose(f);
	return text;
}

/* A file without a name, to be read from its start. */
static inline int tree_fd(const void *data, size_t size)
{
	int fd = memfd_create("bytes", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, size, 0), size);
	return fd;
}

static inline int tree_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void tree_free(char *root)
{
	nftw(root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(root);
}
#endif
