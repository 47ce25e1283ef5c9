/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/grants.h"

#include "base/opener.h"
#include "base/procstatus.h"
#include "symbols/elf/elfid.h"
#include "symbols/elf/idfile.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_GENERATIONS = 64 };

/* ---- targets ------------------------------------------------------------------------ */

static bool is_named(const struct keeper_targets *t, pid_t process)
{
	for (size_t i = 0; i < t->npids; i++)
		if (t->pids[i] == process)
			return true;
	for (size_t i = 0; i < t->ntids; i++)
		if (t->tids[i] == process || procstatus_of(t->tids[i], "\nTgid:") == process)
			return true;
	return false;
}

/* A watched process, or a descendant of one. */
static bool is_target(const struct grants *g, pid_t pid)
{
	int process = pid;

	if (pid <= 0 || g->targets.everybody)
		return pid > 0;
	process = (int)procstatus_of(pid, "\nTgid:");
	for (int i = 0; i < MAX_GENERATIONS && process > 0; i++) {
		if (is_named(&g->targets, process) || cgroups_have(&g->targets.cgroups, process))
			return true;
		process = (int)procstatus_of(process, "\nPPid:");
	}
	return false;
}

/* ---- programs ------------------------------------------------------------------------ */

/* True for programs and libraries, not for core dumps, which have secrets. */
static bool is_program(int fd)
{
	unsigned char head[18];
	unsigned int type;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	type = head[EI_DATA] == ELFDATA2MSB ? head[16] << 8 | head[17] : head[17] << 8 | head[16];
	return type == ET_EXEC || type == ET_DYN;
}

static bool is_line_of(pid_t pid, const char *line, const struct stat *file)
{
	unsigned long long start, end;
	char flags[5], path[128];
	struct stat st;

	if (sscanf(line, "%llx-%llx %4s", &start, &end, flags) != 3 || flags[2] != 'x')
		return false;
	/* the device and inode in the line differ from those of stat(2) on some file systems */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, start, end);
	return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Whether the process has an executable mapping of that file. */
static bool is_run_by(pid_t pid, const struct stat *file)
{
	size_t size = 0;
	char path[64], *line = NULL;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && !found && getline(&line, &size, maps) > 0)
		found = is_line_of(pid, line, file);
	if (maps)
		fclose(maps);
	free(line);
	return found;
}

/* Names of debug files, next to their programs or in the folders for debug files. */
static bool is_debug_file(const char *path, const struct stat *st)
{
	size_t n = strlen(path);

	return st->st_mode & S_IROTH &&
	       (strstr(path, "/.debug/") || strstr(path, "/.build-id/") || strstr(path, "/.dwz/") ||
		(n > 6 && !strcmp(path + n - 6, ".debug")));
}

/* Opens the file with the user's rights, if the path leads the user to the same file. */
static int open_as_user(struct grants *g, const char *path, const struct stat *st)
{
	struct caller_rights rights;
	struct stat own;
	int fd;

	caller_begin_as(&rights, &g->who);
	fd = opener_file(&opener_direct, 0, path);
	caller_end(&rights);
	if (fd < 0 || (!fstat(fd, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino))
		return fd;
	close(fd);
	return -ENOENT;
}

/* Whether the user may know the names in the file. Programs may end before the request: with
 * everybody watched, any file that everybody may read is allowed, in whatever folder. */
static bool has_names_for(const struct grants *g, pid_t pid, const char *path, const struct stat *st)
{
	if ((g->targets.everybody && st->st_mode & S_IROTH) || vault_has(g->vault, st))
		return true;
	if (g->targets.recorded)
		return !pid;
	return is_target(g, pid) && (is_debug_file(path, st) || is_run_by(pid, st));
}

/* Takes over the file. */
static int give_ticket(struct grants *g, int file)
{
	int fd = vault_ticket(g->vault, file);

	return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Takes over `file`, which the process sees at that path. */
static int give(struct grants *g, pid_t pid, const char *path, int file)
{
	struct stat st;
	int fd;

	if (file < 0)
		return file == -ESRCH ? file : -ENOENT;
	if (fstat(file, &st) || !is_program(file)) {
		close(file);
		return -ENOENT;
	}
	fd = open_as_user(g, path, &st);
	if (fd < 0 && has_names_for(g, pid, path, &st))
		return give_ticket(g, file);
	close(file);
	return fd < 0 ? -ENOENT : fd;
}

int grants_file(struct grants *g, pid_t pid, const char *path)
{
	if (pid && !is_target(g, pid))
		return -ESRCH;
	return give(g, pid, path, opener_file(&opener_direct, pid, path));
}

int grants_mapped(struct grants *g, pid_t pid, const char *range)
{
	unsigned long long start, end;
	char entry[128], path[PATH_MAX];
	ssize_t n;

	if (!is_target(g, pid))
		return -ESRCH;
	if (sscanf(range, "%llx-%llx", &start, &end) != 2)
		return -EINVAL;
	if (start)
		snprintf(entry, sizeof(entry), "/proc/%d/map_files/%llx-%llx", (int)pid, start, end);
	else
		snprintf(entry, sizeof(entry), "/proc/%d/exe", (int)pid);
	n = readlink(entry, path, sizeof(path) - 1);
	if (n < 0)
		return -ENOENT;
	path[n] = '\0';
	return give(g, pid, path, opener_mapped(&opener_direct, pid, start, end));
}

/* ---- other files ------------------------------------------------------------------------ */

int grants_proc(struct grants *g, pid_t pid, const char *name)
{
	if (!pid && g->targets.recorded && !strcmp(name, "kallsyms"))
		return opener_proc(&opener_direct, 0, name);
	if (!is_target(g, pid))
		return -ESRCH;
	if (strcmp(name, "maps") && strcmp(name, "comm"))
		return -ENOENT;
	return opener_proc(&opener_direct, pid, name);
}

int grants_perf_map(struct grants *g, pid_t pid)
{
	int file = g->targets.recorded || is_target(g, pid) ? opener_perf_map(&opener_direct, pid) : -ESRCH, own;
	char path[64];
	struct stat st;

	if (file < 0)
		return file == -ESRCH ? file : -ENOENT;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	own = fstat(file, &st) ? -ENOENT : open_as_user(g, path, &st);
	own = own < 0 ? vault_functions(g->vault, file) : own;
	close(file);
	return own;
}

/* Number of bytes in the id, or 0. */
static size_t parse_id(const char *text, uint8_t id[ELFID_MAX])
{
	size_t n = 0;

	while (n < ELFID_MAX && sscanf(text + 2 * n, "%2hhx", &id[n]) == 1 && isxdigit(text[2 * n + 1]))
		n++;
	return text[2 * n] == '/' ? n : 0;
}

int grants_cached(struct grants *g, const char *text)
{
	uint8_t id[ELFID_MAX];
	size_t n = g->targets.recorded ? parse_id(text, id) : 0;
	const char *what = text + 2 * n + 1;
	int fd;

	if (!n || (strcmp(what, "elf") && strcmp(what, "kallsyms")))
		return -ENOENT;
	fd = idfile_cached(id, n, what);
	if (fd < 0 || !strcmp(what, "kallsyms"))
		return fd < 0 ? -ENOENT : fd;
	if (is_program(fd))
		return give_ticket(g, fd);
	close(fd);
	return -ENOENT;
}
