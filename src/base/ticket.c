/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ticket.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

struct ticket {
	char magic[16];          /* differs from an ELF file's */
	struct stat st;
	int has_generation;      /* not all file systems have one */
	int generation;
};

static const char magic[16] = "perf-prof ticket";

int ticket_make(int fd)
{
	struct ticket t = { .magic = "" };
	int made, rc;

	memcpy(t.magic, magic, sizeof(magic));
	if (fstat(fd, &t.st))
		return -errno;
	t.has_generation = !ioctl(fd, FS_IOC_GETVERSION, &t.generation);
	made = memfd_create("ticket", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (made < 0)
		return -errno;
	rc = write(made, &t, sizeof(t)) != sizeof(t) || fcntl(made, F_ADD_SEALS, SEALS) ? -EIO : 0;
	if (!rc)
		return made;
	close(made);
	return rc;
}

static bool read_ticket(int fd, struct ticket *t)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS && pread(fd, t, sizeof(*t), 0) == sizeof(*t) &&
	       !memcmp(t->magic, magic, sizeof(magic));
}

bool ticket_is(int fd)
{
	struct ticket t;

	return read_ticket(fd, &t);
}

int ticket_stat(int fd, struct stat *st)
{
	struct ticket t;

	if (!read_ticket(fd, &t))
		return fstat(fd, st) ? -errno : 0;
	*st = t.st;
	return 0;
}

int ticket_generation(int fd, int *generation)
{
	struct ticket t;

	if (!read_ticket(fd, &t))
		return ioctl(fd, FS_IOC_GETVERSION, generation) ? -errno : 0;
	*generation = t.generation;
	return t.has_generation ? 0 : -ENOTTY;
}
