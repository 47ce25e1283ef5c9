/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/mappedfiles.h"

#include "base/opener.h"
#include "base/room.h"
#include "tasks/procmaps.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct mappedfile_id {
	dev_t dev;
	ino_t ino;
};

/* 1: known already. */
static int is_known(struct mappedfiles *m, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	for (size_t i = 0; i < m->n; i++)
		if (m->known[i].ino == st.st_ino && m->known[i].dev == st.st_dev)
			return 1;
	if (!ROOM_FOR_ONE(m->known, m->n))
		return -ENOMEM;
	m->known[m->n++] = (struct mappedfile_id){ st.st_dev, st.st_ino };
	return 0;
}

/* In our root, or else in the process's. */
static void put_path(int fd, pid_t pid, const char *path, char *buf, size_t size)
{
	struct stat here, st;

	if (!stat(path, &here) && !fstat(fd, &st) && here.st_dev == st.st_dev && here.st_ino == st.st_ino)
		snprintf(buf, size, "%s", path);
	else
		snprintf(buf, size, "/proc/%d/root%s", (int)pid, path);
}

static int read_file(struct mappedfiles *m, int fd, pid_t pid, const char *path)
{
	char here[PATH_MAX + 64];
	int rc = is_known(m, fd);

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	put_path(fd, pid, path, here, sizeof(here));
	return m->take(m->ctx, fd, path, here);
}

static int read_line(struct mappedfiles *m, pid_t pid, char *text, size_t len)
{
	struct procmaps_line line;
	int fd, rc;

	if (!procmaps_parse(text, len, &line) || !line.exec || line.path[0] != '/' || (m->wants && !m->wants(line.path)))
		return 0;
	fd = opener_mapped(&opener_direct, pid, line.start, line.end);
	if (fd < 0)
		fd = opener_file(&opener_direct, pid, line.path);
	if (fd < 0)
		return 0;
	rc = read_file(m, fd, pid, line.path);
	close(fd);
	return rc;
}

int mappedfiles_of(struct mappedfiles *m, pid_t pid)
{
	int fd = opener_proc(&opener_direct, pid, "maps"), rc = 0;
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (!maps)
		return fd < 0 ? fd : -ENOMEM;
	while (!rc && (n = getline(&line, &size, maps)) > 0)
		rc = read_line(m, pid, line, (size_t)n - (line[n - 1] == '\n'));
	free(line);
	fclose(maps);
	return rc;
}

int mappedfiles_of_all(struct mappedfiles *m)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int rc = 0;

	while (proc && rc != -ENOMEM && (d = readdir(proc)))
		if (atoi(d->d_name) > 0)
			rc = mappedfiles_of(m, atoi(d->d_name));
	if (proc)
		closedir(proc);
	return rc == -ENOMEM ? rc : 0;
}

void mappedfiles_free(struct mappedfiles *m)
{
	free(m->known);
	m->known = NULL;
	m->n = 0;
}
