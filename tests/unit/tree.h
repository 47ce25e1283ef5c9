/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up folders of files, for what reads sysfs and tracefs. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
