/* SPDX-License-Identifier: Apache-2.0 */
/* Without libelf no file has symbols. */
#include "symbols/elf/symfile.h"

#include <errno.h>

struct symfile *symfile_open(int fd, enum symfile_what what, const char *file)
{
	errno = ENOTSUP;
	return NULL;
}

struct symfile *symfile_from_image(void *image, size_t size, const char *file)
{
	errno = ENOTSUP;
	return NULL;
}

void symfile_free(struct symfile *f)
{
}

bool symfile_find(const struct symfile *f, uint64_t offset, const char **name, uint64_t *into)
{
	return false;
}

bool symfile_find_behind(const struct symfile *f, uint64_t offset, uint64_t distance, struct symfile_variable *v)
{
	return false;
}

bool symfile_range(const struct symfile *f, uint64_t offset, uint64_t *start, uint64_t *end)
{
	return false;
}

bool symfile_vaddr(const struct symfile *f, uint64_t offset, uint64_t *vaddr)
{
	return false;
}

size_t symfile_build_id(const struct symfile *f, uint8_t id[BUILD_ID_MAX])
{
	return 0;
}

bool symfile_is_complete(const struct symfile *f)
{
	return true;
}

const struct debug_link *symfile_debug_link(const struct symfile *f)
{
	return NULL;
}

int symfile_add_debug(struct symfile *f, int fd, bool by_link)
{
	return -ENOTSUP;
}

int symfile_pack(const struct symfile *f, struct parser_bytes *out)
{
	return -ENOTSUP;
}

struct symfile *symfile_unpack(const void *bytes, size_t size)
{
	return NULL;
}

size_t symfile_bytes(const struct symfile *f)
{
	return 0;
}
