/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper.h"

#include "base/descriptors.h"
#include "base/helpers.h"
#include "base/opener.h"
#include "base/procstatus.h"
#include "base/textfile.h"
#include "base/ticket.h"
#include "keeper/outputs.h"
#include "symbols/elf/elfid.h"
#include "symbols/elf/idfile.h"
#include "symbols/jail/wire.h"
#include "symbols/parser_kinds.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
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

static struct vault *vault_new(void)
{
	return calloc(1, sizeof(struct vault));
}

/* Before the keeper exits: ends its parsers. */
static void vault_end(struct vault *v)
{
	parser_free(v->parser);
	parser_free(v->maps);
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

static int grants_keep(struct vault *v, int file, const struct stat *st)
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
		return grants_keep(v, file, &st);
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

static int grants_ask(struct parser **parser, const struct parser_question *q)
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

/* As parser_ask(), for the files for which q has tickets. -EACCES: q also has a file that belongs neither to root
 * nor to the owner of the file with a ticket. A descriptor of a file with the answer, or -errno. */
/* The run may only ask about programs. */
static int vault_ask(struct vault *v, const struct parser_question *q)
{
	struct parser_question real;
	int rc = q->kind == PARSER_PERF_MAP || q->kind == PARSER_PLACES || q->kind == PARSER_PARAMS || q->kind == PARSER_CODE ? -EACCES : take_files(v, q, &real);

	return rc ? rc : grants_ask(&v->parser, &real);
}

/* Answers for a perf map (symbols/jit/perfmap.h): the answer is its functions, as lines of a perf map, and nothing else. */
static int vault_functions(struct vault *v, int map)
{
	return grants_ask(&v->maps, &(struct parser_question){ .kind = PARSER_PERF_MAP, .fds = { map }, .nfds = 1 });
}

/* Process id of the parser that answered last; -1: none. */
static pid_t vault_worker(const struct vault *v)
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

/* Descriptors, or -errno as above. */
static int grants_file(struct grants *g, pid_t pid, const char *path)
{
	if (pid && !is_target(g, pid))
		return -ESRCH;
	return give(g, pid, path, opener_file(&opener_direct, pid, path));
}

static int grants_mapped(struct grants *g, pid_t pid, const char *range)
{
	unsigned long long start, end;
	char path[PATH_MAX];
	size_t n;

	if (!is_target(g, pid))
		return -ESRCH;
	if (sscanf(range, "%llx-%llx", &start, &end) != 2)
		return -EINVAL;
	if (start)
		n = textfile_link(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, start, end);
	else
		n = textfile_link(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (!n)
		return -ENOENT;
	return give(g, pid, path, opener_mapped(&opener_direct, pid, start, end));
}

/* ---- other files ------------------------------------------------------------------------ */

static int grants_proc(struct grants *g, pid_t pid, const char *name)
{
	if (!pid && g->targets.recorded && !strcmp(name, "kallsyms"))
		return opener_proc(&opener_direct, 0, name);
	if (!is_target(g, pid))
		return -ESRCH;
	if (strcmp(name, "maps") && strcmp(name, "comm"))
		return -ENOENT;
	return opener_proc(&opener_direct, pid, name);
}

static int grants_perf_map(struct grants *g, pid_t pid)
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

/* `text`: a build id in hexadecimal digits, '/', and "elf" or "kallsyms", as idfile_cached() takes them. */
static int grants_cached(struct grants *g, const char *text)
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

enum request_kind { REQUEST_FILE = 1, REQUEST_PROC, REQUEST_PERF_MAP, REQUEST_MAPPED, REQUEST_PARSE, REQUEST_CACHED,
		    REQUEST_WRITE };

/* One datagram. `text` ends with a NUL. For REQUEST_WRITE it holds an order (outputs.h). For
 * REQUEST_PARSE it holds a question, whose kind is in `pid`, and the datagram has descriptors. */
struct request {
	uint32_t kind;
	int32_t pid;
	char text[PATH_MAX];
};

struct answer {
	int32_t rc;              /* 0: with a descriptor; > 0: a completed order, plus one */
	int32_t worker;          /* of the vault; in the first answer the keeper's own id */
};

enum { REQUEST_HEAD = offsetof(struct request, text) };

/* Two processes, so that requests from the reader of the ring buffers never wait for the parser,
 * and at most PATIENCE_SECONDS for an output to be opened or renamed. */
enum lane_kind { LANE_AT_ONCE, LANE_FILES, LANES };

struct lane {
	int socket;
	int32_t process;         /* process id */
	pthread_mutex_t lock;    /* held from a question to its answer: the symbol thread asks, too */
};

enum { PATIENCE_SECONDS = 1, PARSE_SECONDS = 10 };

struct keeper {
	struct opener opener;
	struct lane lanes[LANES];
	pid_t pid;               /* the process it belongs to: a forked child would take its parent's answers */
};

/* ---- datagrams with descriptors --------------------------------------------- */

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(PARSER_MAX_FDS * sizeof(int))];
};

/* Receives one datagram: its size, 0 at the end, or -errno. */
static ssize_t get(int socket, void *data, size_t size, int fds[PARSER_MAX_FDS], unsigned int *nfds)
{
	union control control = {0};
	struct iovec iov = { data, size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c;
	ssize_t n;

	n = TEMP_FAILURE_RETRY(recvmsg(socket, &msg, MSG_CMSG_CLOEXEC));
	c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	*nfds = 0;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*nfds = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), *nfds * sizeof(int));
	}
	return n < 0 ? -errno : n;
}

static void close_all(const int *fds, unsigned int nfds)
{
	for (unsigned int i = 0; i < nfds; i++)
		close(fds[i]);
}

/* The descriptor, or -errno from the keeper. */
static int receive_answer(int socket, struct answer *a)
{
	int fds[PARSER_MAX_FDS];
	unsigned int nfds;
	ssize_t n = get(socket, a, sizeof(*a), fds, &nfds);

	if (n == sizeof(*a) && !a->rc && nfds == 1)
		return fds[0];
	close_all(fds, nfds);
	if (n == sizeof(*a) && a->rc)
		return a->rc < 0 ? a->rc : a->rc - 1;
	return -EPIPE;
}

/* ---- answers ------------------------------------------------------------------ */

static int answer_about_files(struct grants *g, const struct request *r, size_t size, const int *fds,
			      unsigned int nfds)
{
	struct parser_question q = { .kind = (enum parser_kind)r->pid, .nfds = nfds, .bytes = r->text, .size = size };

	memcpy(q.fds, fds, nfds * sizeof(*fds));
	return vault_ask(g->vault, &q);
}

static int answer(struct grants *g, const struct request *r, size_t size, const int *fds, unsigned int nfds)
{
	if (r->kind == REQUEST_PARSE)
		return answer_about_files(g, r, size, fds, nfds);
	if (r->pid >= 0 && r->kind == REQUEST_FILE)
		return grants_file(g, r->pid, r->text);
	if (r->kind == REQUEST_PROC)
		return grants_proc(g, r->pid, r->text);
	if (r->kind == REQUEST_PERF_MAP)
		return grants_perf_map(g, r->pid);
	if (r->kind == REQUEST_CACHED)
		return grants_cached(g, r->text);
	return r->kind == REQUEST_MAPPED ? grants_mapped(g, r->pid, r->text) : -EINVAL;
}

/* ---- the keeper's process ------------------------------------------------------ */

static void send_answer(int socket, const struct grants *g, int rc, int fd)
{
	struct answer a = { rc, vault_worker(g->vault) };

	if (wire_send_fds(socket, &a, sizeof(a), &fd, fd >= 0))
		a.rc = -EPIPE;   /* the run has ended: the next read returns 0 */
	if (fd >= 0)
		close(fd);
}

static void write_one(int socket, const struct grants *g, const struct opt_strings *outputs, const char *bytes,
		      size_t n)
{
	enum outfile_op op = OUTFILE_OPS;
	int rc = outputs_do(outputs, bytes, n, &op);
	bool opened = rc >= 0 && op == OUTFILE_OPEN;

	send_answer(socket, g, opened ? 0 : rc < 0 ? rc : rc + 1, opened ? rc : -1);
}

static void answer_one(int socket, struct grants *g, const struct opt_strings *outputs, const struct request *r,
		       size_t n, const int *fds, unsigned int nfds)
{
	bool whole = n > REQUEST_HEAD && !r->text[n - REQUEST_HEAD - 1];
	int fd;

	if (whole && r->kind == REQUEST_WRITE) {
		write_one(socket, g, outputs, r->text, n - REQUEST_HEAD);
		return;
	}
	fd = whole ? answer(g, r, n - REQUEST_HEAD - 1, fds, nfds) : -EINVAL;
	send_answer(socket, g, fd < 0 ? fd : 0, fd);
}

static void keep(int socket, const struct keeper_opts *opts)
{
	const struct identity *who = opts->who;
	struct grants g = {
		.who = { who->uid, who->gid, who->groups, who->ngroups }, .targets = opts->targets, .vault = vault_new(),
	};
	struct answer self = { 0, getpid() };
	static struct request r;
	int fds[PARSER_MAX_FDS];
	unsigned int nfds;
	ssize_t n;

	/* signals from the terminal are for the run; the keeper ends when the run has ended */
	for (int sig = 1; sig < 32; sig++)
		signal(sig, sig == SIGCHLD ? SIG_DFL : SIG_IGN);
	prctl(PR_SET_NAME, "perf-prof-keep");
	descriptors_close_but(socket, socket);   /* close the run's events, ring buffers and files */
	if (!g.vault)
		_exit(1);
	wire_send_fds(socket, &self, sizeof(self), NULL, 0);
	while ((n = get(socket, &r, sizeof(r), fds, &nfds)) > 0) {
		answer_one(socket, &g, &opts->outputs, &r, (size_t)n, fds, nfds);
		close_all(fds, nfds);
	}
	vault_end(g.vault);
	_exit(0);
}

/* ---- the run's side ---------------------------------------------------------- */

static int ask_with(struct keeper *k, struct request *r, size_t n, const int *fds, unsigned int nfds, struct answer *a)
{
	struct lane *lane = &k->lanes[r->kind == REQUEST_PROC || r->kind == REQUEST_WRITE ? LANE_AT_ONCE : LANE_FILES];
	struct timespec until;
	int rc;

	if (k->pid != getpid())
		return -EPERM;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += r->kind == REQUEST_PROC ? PATIENCE_SECONDS : PARSE_SECONDS;
	rc = -pthread_mutex_timedlock(&lane->lock, &until);
	if (rc)
		return rc;
	rc = wire_send_fds(lane->socket, r, REQUEST_HEAD + n + 1, fds, nfds);
	rc = rc ? rc : receive_answer(lane->socket, a);
	pthread_mutex_unlock(&lane->lock);
	return rc;
}

static int ask(struct keeper *k, enum request_kind kind, pid_t pid, const char *text)
{
	struct request r = { .kind = kind, .pid = pid };
	struct answer a;
	size_t n = strlen(text);

	if (n >= sizeof(r.text))
		return -ENAMETOOLONG;
	memcpy(r.text, text, n);
	return ask_with(k, &r, n, NULL, 0, &a);
}

static int ask_file(void *ctx, pid_t pid, const char *path)
{
	return ask(ctx, REQUEST_FILE, pid, path);
}

/* Files that the keeper does not give are opened with the run's own rights. */
static int ask_proc(void *ctx, pid_t pid, const char *name)
{
	int fd = ask(ctx, REQUEST_PROC, pid, name);

	return fd < 0 && (!pid || geteuid()) ? opener_proc(&opener_direct, pid, name) : fd;
}

static int ask_perf_map(void *ctx, pid_t pid)
{
	return ask(ctx, REQUEST_PERF_MAP, pid, "");
}

static int ask_mapped(void *ctx, pid_t pid, uint64_t start, uint64_t end)
{
	char text[64];

	snprintf(text, sizeof(text), "%llx-%llx", (unsigned long long)start, (unsigned long long)end);
	return ask(ctx, REQUEST_MAPPED, pid, text);
}

static int ask_cached(void *ctx, const uint8_t *id, size_t size, const char *what)
{
	char text[2 * ELFID_MAX + 32];
	size_t n = 0;

	for (size_t i = 0; i < size && i < ELFID_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%02x", id[i]);
	snprintf(text + n, sizeof(text) - n, "/%s", what);
	return ask(ctx, REQUEST_CACHED, 0, text);
}

static int take_bytes(struct opener_question *q, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || (uint64_t)st.st_size > PARSER_MAX_BYTES)
		return -EPIPE;
	q->answer_size = (size_t)st.st_size;
	q->answer = q->answer_size ? malloc(q->answer_size) : NULL;
	for (size_t done = 0; q->answer && done < q->answer_size;) {
		ssize_t n = pread(fd, (char *)q->answer + done, q->answer_size - done, (off_t)done);

		if (n <= 0)
			return -EPIPE;
		done += (size_t)n;
	}
	return q->answer || !q->answer_size ? 0 : -ENOMEM;
}

static int ask_about_files(void *ctx, struct opener_question *q)
{
	struct request r = { .kind = REQUEST_PARSE, .pid = q->kind };
	struct answer a = { 0, -1 };
	int fd, rc;

	if (q->size >= sizeof(r.text) || q->nfds > PARSER_MAX_FDS)
		return -E2BIG;
	memcpy(r.text, q->bytes, q->size);
	fd = ask_with(ctx, &r, q->size, q->fds, q->nfds, &a);
	q->worker = a.worker;
	if (fd < 0)
		return fd;
	rc = take_bytes(q, fd);
	close(fd);
	if (rc) {
		free(q->answer);
		q->answer = NULL;
		q->answer_size = 0;
	}
	return rc;
}

int keeper_write(struct keeper *k, const struct outfile_order *order)
{
	struct request r = { .kind = REQUEST_WRITE };
	ssize_t n = outputs_pack(order, r.text, sizeof(r.text));
	struct answer a;

	return n < 0 ? (int)n : ask_with(k, &r, (size_t)n - 1, NULL, 0, &a);
}

/* Children of the run shall not use the keeper, nor hold its socket open. A fork handler has no
 * argument, hence the static: the keeper that was started last. */
static struct keeper *_Atomic of_the_run;
static pid_t forking;

static void before_fork(void)
{
	forking = getpid();
}

/* In a helper, which clone(2) made, these numbers are descriptors of others. */
static void forget_in_child(void)
{
	struct keeper *k = atomic_exchange(&of_the_run, NULL);

	for (int i = 0; k && k->pid == forking && i < LANES; i++) {
		close(k->lanes[i].socket);
		k->lanes[i].socket = -1;
	}
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, NULL, forget_in_child);
}

static int receive_own_id(int socket, int32_t *id)
{
	int fds[PARSER_MAX_FDS];
	struct answer a;
	unsigned int nfds;
	ssize_t n = get(socket, &a, sizeof(a), fds, &nfds);

	*id = a.worker;
	return n == sizeof(a) ? 0 : -EPIPE;
}

static int fork_lane(struct lane *lane, const struct keeper_opts *opts)
{
	int pair[2], rc;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child = helpers_fork();
	if (child == 0) {
		close(pair[0]);
		keep(pair[1], opts);
	}
	rc = child < 0 ? -errno : 0;
	close(pair[1]);
	if (!rc)
		rc = receive_own_id(pair[0], &lane->process);
	if (rc)
		close(pair[0]);
	lane->socket = pair[0];
	pthread_mutex_init(&lane->lock, NULL);
	return rc;
}

static int fork_lanes(struct keeper *k, const struct keeper_opts *opts)
{
	int rc = fork_lane(&k->lanes[LANE_AT_ONCE], opts);

	if (rc)
		return rc;
	rc = fork_lane(&k->lanes[LANE_FILES], opts);
	if (rc)
		close(k->lanes[LANE_AT_ONCE].socket);
	return rc;
}

struct keeper *keeper_start(const struct keeper_opts *opts, struct fault *f)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct keeper *k = calloc(1, sizeof(*k));
	int rc = k ? fork_lanes(k, opts) : -ENOMEM;

	if (rc) {
		fault_set(f, EXIT_FAILED, "cannot start the process that keeps privilege: %s; check "
			  "ulimit -u and ulimit -n",
			  strerror(-rc));
		free(k);
		return NULL;
	}
	k->opener = (struct opener){
		ask_file, ask_proc, k, ask_perf_map, ask_mapped, NULL, ask_about_files, ask_cached,
	};
	k->pid = getpid();
	pthread_once(&once, watch_forks);
	atomic_store(&of_the_run, k);
	return k;
}

pid_t keeper_pid(const struct keeper *k, size_t i)
{
	return i < LANES ? k->lanes[i].process : 0;
}

const struct opener *keeper_opener(struct keeper *k)
{
	return &k->opener;
}

/* The keeper reads the end of the socket, cleans up and exits. False: an abandoned thread still
 * waits for an answer and holds the lock; that thread reads the end. */
static bool stop_lane(struct lane *lane)
{
	char c;

	shutdown(lane->socket, SHUT_WR);
	if (pthread_mutex_trylock(&lane->lock))
		return false;
	while (recv(lane->socket, &c, 1, 0) > 0 || errno == EINTR)
		errno = 0;
	close(lane->socket);
	helpers_wait(lane->process);
	lane->socket = -1;       /* an abandoned thread may still ask */
	pthread_mutex_unlock(&lane->lock);
	return true;
}

void keeper_stop(struct keeper *k)
{
	bool all = true;

	if (!k)
		return;
	if (k->pid != getpid()) {
		free(k);         /* the keeper belongs to the parent */
		return;
	}
	atomic_store(&of_the_run, NULL);
	for (int i = 0; i < LANES; i++)
		all &= stop_lane(&k->lanes[i]);
	if (all)
		free(k);
}
