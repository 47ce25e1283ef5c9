/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/openflags.h"

#include <fcntl.h>
#include <stdio.h>

enum { MODE_BITS = 3, PATH_ONLY, MODES };   /* O_PATH neither reads nor writes */

/* O_TMPFILE has the bit of O_DIRECTORY, too. */
static const struct {
	uint64_t flag;
	const char *name;
} words[] = { { O_CREAT, "create" }, { O_TMPFILE, "tmpfile" }, { O_TRUNC, "trunc" }, { O_APPEND, "append" } };
enum { WORDS = sizeof(words) / sizeof(*words), SHIFT = 8 };

uint32_t openflags_code(uint64_t flags)
{
	uint32_t code = 0;

	if (flags & O_PATH)   /* the kernel ignores the rest */
		return PATH_ONLY + 1;
	for (size_t i = 0; i < WORDS; i++)
		code |= (uint32_t)((flags & words[i].flag) == words[i].flag) << i;
	return code << SHIFT | (uint32_t)((flags & MODE_BITS) + 1);
}

char *openflags_text(uint32_t code, char *buf, size_t size)
{
	/* 3 is for ioctl(2) alone */
	static const char *const modes[MODES] = { "r", "w", "rw", "ioctl", "path" };
	const uint32_t mode = (code & ((1 << SHIFT) - 1)) - 1;
	size_t used = (size_t)snprintf(buf, size, "%s", mode < MODES ? modes[mode] : "");

	for (size_t i = 0; i < WORDS && used < size; i++)
		if (code >> SHIFT >> i & 1)
			used += (size_t)snprintf(buf + used, size - used, " %s", words[i].name);
	return buf;
}
