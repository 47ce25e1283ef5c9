/* SPDX-License-Identifier: Apache-2.0 */
#include "base/magic.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* "PERFILE2", before Linux 3.3 "PERFFILE"; in the other byte order, reversed. */
bool magic_is_recording(const char magic[MAGIC_SIZE])
{
	static const char *const known[] = { "PERFILE", "2ELIFRE", "PERFFIL", "ELIFFRE" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!memcmp(magic, known[i], MAGIC_SIZE))
			return true;
	return false;
}

bool magic_names_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char magic[MAGIC_SIZE];
	bool is;

	if (fd < 0)
		return false;
	is = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && magic_is_recording(magic);
	close(fd);
	return is;
}
