/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/grants.h"

#include "base/opener.h"
#include "base/procstatus.h"
#include "base/ticket.h"
#include "symbols/elf/elfid.h"
#include "symbols/elf/idfile.h"
#include "symbols/parser_kinds.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 256, SECONDS = 5 };

struct kept {
	int file, ticket;
	struct stat st, ticket_st;
};

struct vault {
	struct parser *parser, *maps;   /* started on demand; maps: for perf maps, which any user can write */
	struct kept files[MAX_FILES];
	size_t nfiles, oldest;   /* oldest: replaced next when all are in use */
};

struct vault *vault_new(void)
{
	return calloc(1, sizeof(struct vault));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static struct kept *take_place(struct vault *v)
{
	struct kept *k;

	if (v->nfiles < MAX_FILES)
		return &v->files[v->nfiles++];
	k = &v->files[v->oldest++ % MAX_FILES];
	close(k->file);
	close(k->ticket);
	return k;
}

static int keep(struct vault *v, int file, const struct stat *st)
{
	struct kept k = { .file = file, .ticket = ticket_make(file), .st = *st };

	if (k.ticket < 0 || fstat(k.ticket, &k.ticket_st)) {
		close(file);
		return k.ticket < 0 ? k.ticket : -EIO;
	}
	*take_place(v) = k;
	return k.ticket;
}

static const struct kept *find_file(const struct vault *v, const struct stat *st)
{
	for (size_t i = 0; i < v->nfiles; i++)
		if (is_same(&v->files[i].st, st))
			return &v->files[i];
	return NULL;
}

/* Whether there is a ticket for that file already. */
static bool vault_has(const struct vault *v, const struct stat *st)
{
	return find_file(v, st);
}

/* Takes over the descriptor. Its ticket, which belongs to the vault, or -errno. */
static int vault_ticket(struct vault *v, int file)
{
	const struct kept *known;
	struct stat st;
	int rc = fstat(file, &st) ? -EIO : 0;

	known = rc ? NULL : find_file(v, &st);
	if (!rc && !known)
		return keep(v, file, &st);
	close(file);
	return known ? known->ticket : rc;
}

static const struct kept *find(const struct vault *v, int ticket)
{
	struct stat st;

	if (fstat(ticket, &st))
		return NULL;
	for (size_t i = 0; i < v->nfiles; i++)
		if (v->files[i].ticket_st.st_dev == st.st_dev && v->files[i].ticket_st.st_ino == st.st_ino)
			return &v->files[i];
	return NULL;
}

/* A file that the user may not read is only parsed together with files of root or of its owner. */
static bool is_fit_beside(int fd, uid_t owner)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (!st.st_uid || st.st_uid == owner);
}

static int take_files(const struct vault *v, const struct parser_question *q, struct parser_question *real)
{
	const struct kept *kept[PARSER_MAX_FDS], *one = NULL;

	*real = *q;
	for (unsigned int i = 0; i < q->nfds; i++) {
		kept[i] = find(v, q->fds[i]);
		if (kept[i]) {
			one = kept[i];
			real->fds[i] = kept[i]->file;
		}
	}
	for (unsigned int i = 0; one && i < q->nfds; i++)
		if (!kept[i] && !is_fit_beside(q->fds[i], one->st.st_uid))
			return -EACCES;
	return one ? 0 : -ESTALE;
}

/* Returns a file with those bytes, or -errno. */
static int put_bytes(const struct parser_bytes *b)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < b->size) {
		ssize_t n = write(fd, (const char *)b->data + done, b->size - done);

		if (n <= 0) {
			close(fd);
			return -ENOMEM;
		}
		done += (size_t)n;
	}
	return fd < 0 || lseek(fd, 0, SEEK_SET) ? -errno : fd;
}

static int ask(struct parser **parser, const struct parser_question *q)
{
	struct parser_bytes out = { 0 };
	int rc;

	if (!*parser)
		*parser = parser_new_all(&(struct parser_opts){ .place = PARSER_APART, .seconds = SECONDS });
	rc = *parser ? parser_ask(*parser, q, &out) : -EPIPE;
	rc = rc ? rc : put_bytes(&out);
	parser_bytes_free(&out);
	return rc;
}

/* The run may only ask about programs. */
int vault_ask(struct vault *v, const struct parser_question *q)
{
	struct parser_question real;
	int rc = q->kind == PARSER_PERF_MAP || q->kind == PARSER_PLACES || q->kind == PARSER_PARAMS || q->kind == PARSER_CODE ? -EACCES : take_files(v, q, &real);

	return rc ? rc : ask(&v->parser, &real);
}

/* The same for a perf map (symbols/jit/perfmap.h): the answer is its functions, as lines of a perf map, and nothing else. */
static int vault_functions(struct vault *v, int map)
{
	return ask(&v->maps, &(struct parser_question){ .kind = PARSER_PERF_MAP, .fds = { map }, .nfds = 1 });
}

pid_t vault_worker(const struct vault *v)
{
	return v->parser ? parser_worker_pid(v->parser) : -1;
}

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
