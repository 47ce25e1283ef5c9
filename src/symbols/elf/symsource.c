/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/symsource.h"

#include "base/descriptors.h"
#include "base/helpers.h"
#include "base/now.h"
#include "base/ticket.h"
#include "symbols/elf/idfile.h"
#include "symbols/jail/wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Debug files from a debuginfod server, only if the user asks for it: build ids reveal which
 * programs run here. Uses libdebuginfod, loaded when it is first needed, in a child process that
 * changes from root to nobody, cannot run programs and writes only to its own folder: answers
 * from the network are parsed without privilege. Servers and cache folders set in the environment
 * are ignored.
 */

enum { SECONDS = 30, CPU_SECONDS = 30, LEVELS = 8 };

/* The limit is that for programs. */
#define MAX_FILE (4ull << 30)

typedef struct debuginfod_client debuginfod_client;
typedef debuginfod_client *begin_fn(void);
typedef int find_fn(debuginfod_client *c, const unsigned char *id, int n, char **path);
typedef void end_fn(debuginfod_client *c);

/* ---- the child -------------------------------------------------------------- */

/* Settings that libdebuginfod would take from the environment. */
static void set_environment(const char *urls, const char *cache)
{
	clearenv();
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("DEBUGINFOD_URLS", urls, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	setenv("DEBUGINFOD_TIMEOUT", "20", 1);
}

static void *load(void)
{
#ifdef STATIC_PROGRAM
	return NULL;             /* the library is for the system's libc, which may be another one */
#else
	return dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
#endif
}

static int find(const uint8_t *id, size_t size)
{
	void *lib = load();
	begin_fn *begin = lib ? (begin_fn *)dlsym(lib, "debuginfod_begin") : NULL;
	find_fn *fetch = lib ? (find_fn *)dlsym(lib, "debuginfod_find_debuginfo") : NULL;
	end_fn *end = lib ? (end_fn *)dlsym(lib, "debuginfod_end") : NULL;
	debuginfod_client *client = begin && fetch && end ? begin() : NULL;
	int fd;

	if (!client)
		return -ENOSYS;
	fd = fetch(client, id, (int)size, NULL);
	end(client);
	return fd;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

/* Drops all rights that the download does not need. */
static int enter_jail(const char *cache)
{
	const struct rlimit seconds = { CPU_SECONDS, CPU_SECONDS };
	uid_t uid = geteuid() ? 0 : parser_uid();
	int rc;

	setsid();                /* without a terminal */
	setrlimit(RLIMIT_CPU, &seconds);
	if (uid && chown(cache, uid, uid))
		return -errno;
	rc = jail_leave_privilege(MAX_FILE);
	return rc ? rc : jail_lock_fetching(cache);
}

static _Noreturn void fetch_and_send(int socket, const char *urls, const uint8_t *id, size_t size, const char *cache)
{
	int32_t rc;
	int fd;

	/* closes root's events, ring buffers and files; 0 to 2 are /dev/null, as libdebuginfod
	 * prints its progress */
	descriptors_close_but(socket, socket);
	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd < 2)
		;
	if (fd > 2)
		close(fd);
	fd = -1;
	rc = enter_jail(cache);
	if (!rc) {
		set_environment(urls, cache);
		fd = find(id, size);
		rc = fd < 0 ? fd : 0;
	}
	wire_send_fds(socket, &rc, sizeof(rc), &fd, fd >= 0);
	nftw(cache, remove_one, LEVELS, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

/* ---- in the asking process -------------------------------------------------- */

static int receive(int socket)
{
	struct wire_limit limit = { .deadline = now_ns(CLOCK_MONOTONIC) + SECONDS * UINT64_C(1000000000) };
	int fds[PARSER_MAX_FDS];
	unsigned int nfds;
	int32_t answer;
	int rc;

	rc = wire_receive_fds(socket, &answer, sizeof(answer), fds, &nfds, &limit);
	if (rc)
		return rc;
	return nfds ? fds[0] : answer < 0 ? answer : -ENOENT;
}

/* A descriptor of the debug file for that build id. `urls` as in DEBUGINFOD_URLS. -ENOSYS:
 * libdebuginfod is missing; -ENOENT: no server has it; -ETIME. May take half a minute. */
static int debuginfod_fetch(const char *urls, const uint8_t *build_id, size_t size, const struct helpers *helpers)
{
	/* for this file only: user nobody has no folder of its own */
	char cache[] = "/tmp/perf-prof-debuginfod-XXXXXX";
	int pair[2], fd;
	pid_t child;

	if (!size || !mkdtemp(cache))
		return -EINVAL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		rmdir(cache);
		return -EINVAL;
	}
	child = fork();
	if (child == 0)
		fetch_and_send(pair[1], urls, build_id, size, cache);
	helpers_started(helpers, child);
	close(pair[1]);
	fd = child < 0 ? -errno : receive(pair[0]);
	close(pair[0]);
	if (child > 0 && fd == -ETIME)
		kill(child, SIGKILL);
	if (child > 0)
		TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
	rmdir(cache);            /* its files are removed already */
	return fd;
}

/* ---- questions to a parser -------------------------------------------------- */

/* The bytes of a question. */
struct request {
	uint8_t by_link, what;
	char file[SYMFILE_NAME_MAX + 1];
};

static int read_both(struct symfile **f, int fd, int debug, const struct request *r)
{
	int rc;

	*f = symfile_open(fd, (enum symfile_what)r->what, debug < 0 ? r->file : "");   /* else the debug file has the names */
	if (!*f)
		return -errno;
	rc = debug < 0 ? 0 : symfile_add_debug(*f, debug, r->by_link);
	if (!rc)
		return 0;
	symfile_free(*f);
	*f = NULL;
	return rc;
}

int symsource_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct request r;
	struct symfile *f;
	int rc;

	if (!q->nfds || q->nfds > 2 || q->size != sizeof(r))
		return -EINVAL;
	memcpy(&r, q->bytes, sizeof(r));
	rc = read_both(&f, q->fds[0], q->nfds > 1 ? q->fds[1] : -1, &r);
	if (!rc)
		rc = symfile_pack(f, out);
	symfile_free(f);
	return rc;
}

/* As symfile_open(), with names from the debug file if debug is not -1. NULL with errno if the
 * debug file does not belong to the file. EOWNERDEAD, ETIME: parsing failed. */
static struct symfile *read_file(struct parser *p, int fd, int debug, struct request r)
{
	struct parser_question q = { .kind = PARSER_SYMBOLS, .fds = { fd, debug },
				     .nfds = debug < 0 ? 1 : 2, .bytes = &r, .size = sizeof(r) };
	struct parser_bytes out = { 0 };
	struct symfile *f = NULL;
	int rc;

	if (!p || !parser_is_apart(p, &q)) {
		rc = read_both(&f, fd, debug, &r);
	} else {
		rc = parser_ask(p, &q, &out);
		f = rc ? NULL : symfile_unpack(out.data, out.size);
		rc = rc ? rc : f ? 0 : -ENOEXEC;
		parser_bytes_free(&out);
	}
	errno = -rc;
	return f;
}

/* ---- search for debug files ------------------------------------------------- */

struct search {
	struct parser *parser;
	const char *path;        /* of the file */
	const struct opener *opener;
	struct symfile *file;    /* the result so far */
	int fd;                  /* of the file */
	struct stat st;          /* of the file */
	pid_t pid;
	int debug;               /* debug file with the names in use; -1: none */
	enum symfile_what what;
	bool always;             /* also if the file itself names all its functions */
};

static struct symfile *read_with(const struct search *s, int debug, bool by_link)
{
	struct request r = { .by_link = by_link, .what = (uint8_t)s->what };
	const char *slash = strrchr(s->path, '/');

	snprintf(r.file, sizeof(r.file), "%s", slash ? slash + 1 : s->path);
	return read_file(s->parser, s->fd, debug, r);
}

/* Whether there is an open file, and it is the right one. Takes over the descriptor. */
static bool try_file(struct search *s, int debug, bool by_link)
{
	struct symfile *f = NULL;
	struct stat st;

	if (debug < 0)
		return false;
	/* a debug link or a link by build id may lead to the program itself */
	if (!ticket_stat(debug, &st) && (uint64_t)st.st_size <= SYMSOURCE_MAX_FILE &&
	    (st.st_ino != s->st.st_ino || st.st_dev != s->st.st_dev))
		f = read_with(s, debug, by_link);
	if (!f) {
		close(debug);
		return false;
	}
	if (s->debug >= 0)
		close(s->debug);
	s->debug = debug;
	symfile_free(s->file);
	s->file = f;
	return true;
}

static bool try(struct search *s, pid_t pid, const char *path, bool by_link)
{
	return try_file(s, opener_file(s->opener, pid, path), by_link);
}

/* A copy that was kept with its symbols. */
static bool try_cache(struct search *s)
{
	uint8_t id[BUILD_ID_MAX];
	size_t size = symfile_build_id(s->file, id);

	return size > 1 && (try_file(s, idfile_find(s->opener, id, size, "debug"), false) ||
			    try_file(s, idfile_find(s->opener, id, size, "elf"), false));
}

static bool try_build_id(struct search *s, pid_t pid)
{
	uint8_t id[BUILD_ID_MAX];
	size_t size = symfile_build_id(s->file, id);
	char path[128];

	if (size < 2)
		return false;
	idfile_path(path, sizeof(path), "/usr/lib/debug", id, size, ".debug");
	return try(s, pid, path, false);
}

/* The places where gdb looks: the file's folder, its subfolder .debug, and the global folder. */
static bool try_link(struct search *s, pid_t pid, const struct debug_link *link)
{
	static const char *const places[] = { "%s%.*s%s", "%s%.*s.debug/%s", "%s%.*s%s" };
	const char *slash = strrchr(s->path, '/');
	char candidate[PATH_MAX + DEBUG_LINK_MAX];

	for (unsigned int i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		int n = snprintf(candidate, sizeof(candidate), places[i], i == 2 ? "/usr/lib/debug" : "",
				 (int)(slash + 1 - s->path), s->path, link->name);

		if (n > 0 && n < PATH_MAX && try(s, pid, candidate, true))
			return true;
	}
	return false;
}

static bool try_root(struct search *s, pid_t pid)
{
	const struct debug_link *link = symfile_debug_link(s->file);
	struct debug_link copy;

	if (try_build_id(s, pid))
		return true;
	if (!link)
		return false;
	copy = *link;
	return try_link(s, pid, &copy);
}

static void search(struct search *s)
{
	s->file = read_with(s, -1, false);
	if (s->file && (s->always || !symfile_is_complete(s->file)) && !ticket_stat(s->fd, &s->st) &&
	    (!s->pid || !try_root(s, s->pid)) && !try_root(s, 0))
		try_cache(s);
}

struct symfile *symsource_variables(struct parser *p, const struct opener *o, int fd, pid_t pid, const char *path)
{
	struct search s = { .parser = p, .path = path, .opener = o, .fd = fd, .pid = pid, .debug = -1, .what = SYMFILE_VARIABLES };

	search(&s);
	if (s.debug >= 0)
		close(s.debug);
	return s.file;
}

struct symfile *symsource_open(struct parser *p, const struct opener *o, int fd, pid_t pid,
			       const char *path, int *dwarf)
{
	struct search s = { .parser = p, .path = path, .opener = o, .fd = fd, .pid = pid, .debug = -1 };

	search(&s);
	if (dwarf)
		*dwarf = !s.file ? -1 : s.debug >= 0 ? s.debug : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else if (s.debug >= 0)
		close(s.debug);
	return s.file;
}

int symsource_debug(struct parser *p, const struct opener *o, int fd, const char *path)
{
	struct search s = { .parser = p, .path = path, .opener = o, .fd = fd, .debug = -1, .always = true };

	search(&s);
	symfile_free(s.file);
	return s.debug;
}

struct symfile *symsource_ask_servers(struct parser *p, struct symfile *f, int fd, const char *urls)
{
	uint8_t id[BUILD_ID_MAX];
	size_t size = symfile_build_id(f, id);
	int debug = size && !symfile_is_complete(f) ? debuginfod_fetch(urls, id, size, parser_helpers(p)) : -ENOENT;
	struct symfile *more = debug < 0 ? NULL : read_file(p, fd, debug, (struct request){ .what = SYMFILE_FUNCTIONS });

	if (debug >= 0)
		close(debug);
	if (!more)
		return f;
	symfile_free(f);
	return more;
}

int symsource_find(const struct opener *o, pid_t pid, const uint8_t *build_id, size_t size)
{
	static const char *const folders[] = { "/usr/lib", "/usr/lib/debug" };
	char path[128];
	int fd;

	for (unsigned int i = 0; size > 1 && i < 4; i++) {
		idfile_path(path, sizeof(path), folders[i % 2], build_id, size, "");
		fd = i < 2 && !pid ? -ESRCH : opener_file(o, i < 2 ? pid : 0, path);
		if (fd >= 0)
			return fd;
	}
	return idfile_find(o, build_id, size, "elf");
}

int symsource_find_debug(const struct opener *o, pid_t pid, const uint8_t *build_id, size_t size)
{
	char path[128];

	if (size < 2)
		return -ENOENT;
	idfile_path(path, sizeof(path), "/usr/lib/debug", build_id, size, ".debug");
	return opener_file(o, pid, path);
}
