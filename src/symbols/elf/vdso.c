/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/vdso.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_VDSO = 1 << 20 };

/* The length of our own mapping, from /proc/self/maps: the image does not have it. */
static size_t own_length(uint64_t start)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512];
	size_t len = 0;

	while (maps && !len && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == start)
			len = to - from;
	if (maps)
		fclose(maps);
	return len <= MAX_VDSO ? len : 0;
}

void vdso_find(struct vdso *v)
{
	v->start = getauxval(AT_SYSINFO_EHDR);
	v->len = v->start ? own_length(v->start) : 0;
}

bool vdso_is_same(const struct vdso *v, uint64_t start, uint64_t len)
{
	return v->len && len == v->len && (start > UINT32_MAX) == (v->start > UINT32_MAX);
}

struct symfile *vdso_read(const struct vdso *v)
{
	void *copy = v->len ? malloc(v->len) : NULL;
	struct symfile *f;

	if (!copy)
		return NULL;
	memcpy(copy, (const void *)(uintptr_t)v->start, v->len);
	f = symfile_from_image(copy, v->len, "");
	free(copy);
	return f;
}

size_t vdso_build_id(uint8_t id[BUILD_ID_MAX])
{
	struct symfile *f;
	struct vdso v;
	size_t size;

	vdso_find(&v);
	f = vdso_read(&v);
	size = f ? symfile_build_id(f, id) : 0;
	symfile_free(f);
	return size;
}

int vdso_file(const struct vdso *v)
{
	int fd = v->len ? memfd_create(VDSO_NAME, MFD_CLOEXEC) : -1;

	if (fd < 0)
		return -1;
	if (pwrite(fd, (const void *)(uintptr_t)v->start, v->len, 0) == (ssize_t)v->len)
		return fd;
	close(fd);
	return -1;
}
