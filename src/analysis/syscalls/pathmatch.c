/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/pathmatch.h"

#include "analysis/syscalls/openflags.h"
#include "base/room.h"
#include "engine/callnames.h"
#include "expr/expr.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static void callargs_forget(struct callargs *c);

/* When there are more, it begins anew. */
enum { MAX_THREADS = 1 << 14 };

struct callargs_call {
	pid_t tid;
	int64_t number;
	uint64_t args[CALLARGS];
};

/* The arguments of the call that begins with this sample. */
static void callargs_read(const struct callargs *c, const struct analysis_sample *s, uint64_t args[CALLARGS])
{
	const size_t size = CALLARGS * sizeof(*args);

	memset(args, 0, size);
	if (c->field->offset + size <= s->view.raw_size)
		memcpy(args, (const char *)s->view.raw + c->field->offset, size);
}

static struct callargs_call *find(const struct callargs *c, pid_t tid)
{
	return groups_find(&c->all, &tid, sizeof(tid));
}

static void callargs_keep(struct callargs *c, pid_t tid, int64_t number, const uint64_t args[CALLARGS])
{
	struct callargs_call *one = groups_recent(&c->all, &tid, sizeof(tid), sizeof(*one), MAX_THREADS);

	if (!one)
		return;
	one->number = number;
	memcpy(one->args, args, sizeof(one->args));
}

/* The arguments of the thread's last call, if it has that number and they were kept; else NULL. */
static const uint64_t *callargs_of(const struct callargs *c, pid_t tid, int64_t number)
{
	const struct callargs_call *one = find(c, tid);

	return one && one->number == number ? one->args : NULL;
}

static void callargs_exit(struct callargs *c, pid_t tid)
{
	struct callargs_call *one = find(c, tid);

	if (one)
		groups_drop(&c->all, one);
}

static void callargs_forget(struct callargs *c)
{
	groups_free(&c->all);
}

/* ---- kinds of calls --------------------------------------------------------------------- */

/* FROM_*: paths are relative to a descriptor, an argument. TARGET: the first path is the text of a link. LEAVES: paths mean
 * other files from then on. FOLLOWS: also a link at the end of its path. OPENS: the result is a descriptor of the path, FLAGS_*:
 * with that argument. */
enum {
	LOOKED_UP = 1 << 0, FROM_FIRST = 1 << 1, FROM_SECOND = 1 << 2, FROM_THIRD = 1 << 3, TARGET = 1 << 4, ADDRESS = 1 << 5,
	CHDIR = 1 << 6, FCHDIR = 1 << 7, LEAVES = 1 << 8, OPENS = 1 << 9, FLAGS_SECOND = 1 << 10, FLAGS_THIRD = 1 << 11, CREATES = 1 << 12,
	CLOSES = 1 << 13, CLOSES_RANGE = 1 << 14, DUPS = 1 << 15, DUPS_TO = 1 << 16, DUPS_BY_FCNTL = 1 << 17,
	UNSHARES = 1 << 18, CLONES = 1 << 19, FOLLOWS = 1 << 20,
	FROM_ANY = FROM_FIRST | FROM_SECOND | FROM_THIRD, FLAGS = FLAGS_SECOND | FLAGS_THIRD | CREATES,
	WITH_ARGS = FROM_ANY | FCHDIR | OPENS | FLAGS | DUPS | DUPS_TO | DUPS_BY_FCNTL | UNSHARES,
};
#ifdef __s390x__
enum { CLONE_FLAGS = 1 };   /* the argument of clone(2) */
#else
enum { CLONE_FLAGS = 0 };
#endif
static const struct {
	const char *name;
	uint32_t kind;
} calls[] = {
	{ "openat", FROM_FIRST | OPENS | FLAGS_THIRD | FOLLOWS }, { "openat2", FROM_FIRST | OPENS | FOLLOWS },
	{ "open", OPENS | FLAGS_SECOND | FOLLOWS }, { "creat", OPENS | CREATES | FOLLOWS },
	{ "stat", FOLLOWS }, { "access", FOLLOWS }, { "truncate", FOLLOWS }, { "chmod", FOLLOWS }, { "chown", FOLLOWS },
	{ "execve", FOLLOWS }, { "statfs", FOLLOWS }, { "newfstatat", FROM_FIRST }, { "fstatat64", FROM_FIRST },
	{ "statx", FROM_FIRST }, { "faccessat", FROM_FIRST | FOLLOWS }, { "faccessat2", FROM_FIRST }, { "unlinkat", FROM_FIRST },
	{ "mkdirat", FROM_FIRST }, { "mknodat", FROM_FIRST }, { "readlinkat", FROM_FIRST }, { "fchmodat", FROM_FIRST | FOLLOWS },
	{ "fchmodat2", FROM_FIRST }, { "fchownat", FROM_FIRST }, { "execveat", FROM_FIRST }, { "utimensat", FROM_FIRST },
	{ "futimesat", FROM_FIRST }, { "name_to_handle_at", FROM_FIRST }, { "open_tree", FROM_FIRST }, { "fspick", FROM_FIRST },
	{ "mount_setattr", FROM_FIRST }, { "setxattrat", FROM_FIRST }, { "getxattrat", FROM_FIRST }, { "listxattrat", FROM_FIRST },
	{ "removexattrat", FROM_FIRST }, { "renameat", FROM_FIRST | FROM_THIRD }, { "renameat2", FROM_FIRST | FROM_THIRD },
	{ "linkat", FROM_FIRST | FROM_THIRD }, { "move_mount", FROM_FIRST | FROM_THIRD }, { "symlinkat", FROM_SECOND | TARGET },
	{ "symlink", TARGET }, { "connect", ADDRESS | FOLLOWS }, { "bind", ADDRESS }, { "chdir", CHDIR | FOLLOWS }, { "fchdir", FCHDIR },
	{ "chroot", LEAVES }, { "pivot_root", LEAVES }, { "unshare", LEAVES | UNSHARES }, { "setns", LEAVES },
	{ "close", CLOSES }, { "close_range", CLOSES_RANGE }, { "dup", DUPS }, { "dup2", DUPS_TO }, { "dup3", DUPS_TO },
	{ "fcntl", DUPS_BY_FCNTL }, { "fcntl64", DUPS_BY_FCNTL }, { "clone", CLONES },
};

static uint32_t look_up(int64_t number)
{
	const char *name = syscall_name(number);

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].kind | LOOKED_UP;
	return LOOKED_UP;
}

static unsigned int kind_of(struct pathmatch *m, int64_t number)
{
	if (number < 0 || number >= (int64_t)(sizeof(m->kinds) / sizeof(*m->kinds)))
		return 0;
	if (!m->kinds[number])
		m->kinds[number] = look_up(number);
	return m->kinds[number];
}

/* ---- arguments -------------------------------------------------------------------------- */

bool pathmatch_follows(const char *glob)
{
	return *glob == '/' || !strncmp(glob, "*/", 2);
}

bool pathmatch_is_whole(const struct pathmatch *m)
{
	for (size_t i = 0; i < m->nwithout; i++)
		if (pathmatch_follows(m->without[i]))
			return true;
	for (size_t i = 0; i < m->nglobs; i++)
		if (pathmatch_follows(m->globs[i]))
			return true;
	return false;
}

int pathmatch_parse(const char *text, void *match, struct fault *f)
{
	struct pathmatch *m = match;
	const bool without = *text == '!';
	size_t *n = without ? &m->nwithout : &m->nglobs;

	if (without && !text[1])
		return fault_usage(f, "--match %s: expected a glob after !, such as '!/etc/ld.so.*'", text);
	if (*n == PATHMATCH_GLOBS)
		return fault_usage(f, "--match %s: at most %d globs %s ! can be given", text, PATHMATCH_GLOBS, without ? "with" : "without");
	(without ? m->without : m->globs)[(*n)++] = text + without;
	return 0;
}

bool pathmatch_is_following(const struct pathmatch *m)
{
	return m->keeps || pathmatch_is_whole(m);
}

bool pathmatch_follows_call(int64_t number)
{
	return look_up(number) & (CHDIR | FCHDIR | LEAVES | OPENS | CLOSES | CLOSES_RANGE | DUPS | DUPS_TO | DUPS_BY_FCNTL |
				    CLONES);
}

/* While close(2) runs, another thread may get the number already. */
static void take_close(struct pathmatch *m, const struct analysis_sample *s, unsigned int kind, const uint64_t args[CALLARGS])
{
	const unsigned int first = (unsigned int)args[0], last = kind & CLOSES ? first : (unsigned int)args[1];

	if (kind & CLOSES || !(args[2] & CLOSE_RANGE_CLOEXEC))
		dirfds_close(&m->dirfds, s->pid, first, last, s->time);
}

/* A child that is no thread, and shares the folder. The flags of clone3(2) are not in its arguments. */
static void take_clone(struct pathmatch *m, const struct analysis_sample *s, const uint64_t args[CALLARGS])
{
	const uint64_t flags = args[CLONE_FLAGS];

	if (flags & CLONE_FS && !(flags & CLONE_THREAD))
		folders_split(&m->folders, s->pid, true);
}

void pathmatch_enter(struct pathmatch *m, const struct analysis_sample *s, int64_t number)
{
	const unsigned int kind = kind_of(m, number);
	const bool follows = pathmatch_is_following(m);
	uint64_t args[CALLARGS];

	if (!(kind & (FLAGS | FROM_FIRST | (follows ? WITH_ARGS | CLOSES | CLOSES_RANGE | CLONES : 0))))
		return;
	callargs_read(&m->args, s, args);
	if (kind & (CLOSES | CLOSES_RANGE))
		take_close(m, s, kind, args);
	else if (kind & CLONES)
		take_clone(m, s, args);
	else
		callargs_keep(&m->args, s->tid, number, args);
}

static const uint64_t *args_of(struct pathmatch *m, pid_t tid, int64_t number)
{
	return m->args.field ? callargs_of(&m->args, tid, number) : NULL;
}

bool pathmatch_lacks_path(struct pathmatch *m, pid_t tid, int64_t number)
{
	const uint64_t *args = kind_of(m, number) & FROM_FIRST ? args_of(m, tid, number) : NULL;

	return args && !args[1];
}

uint32_t pathmatch_flags(struct pathmatch *m, pid_t tid, int64_t number)
{
	const unsigned int kind = kind_of(m, number);
	const uint64_t *args = kind & FLAGS ? args_of(m, tid, number) : NULL;

	if (!args)
		return 0;
	return openflags_code(kind & CREATES ? O_CREAT | O_WRONLY | O_TRUNC : args[kind & FLAGS_SECOND ? 1 : 2]);
}

/* ---- matching --------------------------------------------------------------------------- */

static bool has_match(const char *const *globs, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (expr_glob(globs[i], strlen(globs[i]), text, strlen(text)))
			return true;
	return false;
}

bool pathmatch_fits(const struct pathmatch *m, const char *text)
{
	return has_match(m->globs, m->nglobs, text);
}

/* Only by the globs for whole paths, or only by the others. */
static bool has_match_of(const struct pathmatch *m, bool whole, const char *text)
{
	for (size_t i = 0; i < m->nglobs; i++)
		if (pathmatch_follows(m->globs[i]) == whole && has_match(&m->globs[i], 1, text))
			return true;
	return false;
}

static bool fits_whole(const struct pathmatch *m, const char *text)
{
	return has_match_of(m, true, text);
}

static bool is_without(const struct pathmatch *m, const char *text)
{
	return has_match(m->without, m->nwithout, text);
}

/* The argument with the descriptor to which that path is relative; CALLARGS: none; CALLARGS + 1: not known which. */
static size_t place_of(const struct pathmatch *m, unsigned int kind, bool first, const uint64_t args[CALLARGS])
{
	if (kind & FROM_THIRD && !m->ordered)
		return (int32_t)args[0] == (int32_t)args[2] ? 0 : CALLARGS + 1;
	if (kind & FROM_FIRST && first)
		return 0;
	return kind & FROM_SECOND ? 1 : kind & FROM_THIRD ? 2 : CALLARGS;
}

/* The folder to which one of the call's paths is relative: that of the process, or of a descriptor. */
static bool put_below(struct pathmatch *m, const struct pathmatch_call *c, bool first, const char *given, char buf[PATH_MAX])
{
	const unsigned int kind = kind_of(m, c->number);
	const uint64_t *args = kind & FROM_ANY ? args_of(m, c->tid, c->number) : NULL;
	size_t place = CALLARGS;
	const char *folder;

	if (kind & FROM_ANY)
		place = args ? place_of(m, kind, first, args) : CALLARGS + 1;
	if (place > CALLARGS)
		return false;
	if (place == CALLARGS || (int32_t)args[place] == AT_FDCWD)
		return folders_resolve(&m->folders, c->pid, given, buf, PATH_MAX);
	folder = dirfds_path(&m->dirfds, &m->folders, c->pid, (int32_t)args[place]);
	return folder && folders_join(folder, given, buf, PATH_MAX);
}

/* Addresses are no paths, but for those of Unix sockets: "127.0.0.1:80", "[::1]:80", "@NAME". */
static bool is_internet(const char *given)
{
	const char *colon = strrchr(given, ':');
	struct in_addr four;
	char host[64];

	if (*given == '@' || *given == '[')
		return true;
	snprintf(host, sizeof(host), "%.*s", colon ? (int)(colon - given) : 0, given);
	return inet_pton(AF_INET, host, &four) == 1;
}

/* Whether the text is a path that has to be resolved. */
static bool is_path(struct pathmatch *m, const struct pathmatch_call *c, bool first, const char *given)
{
	const unsigned int kind = kind_of(m, c->number);
	const bool is_link = kind & TARGET && first && m->ordered;

	return *given && !is_link && !(kind & ADDRESS && is_internet(given));
}

/* Puts what one of the call's paths means. False: it is not known. */
static bool put_whole(struct pathmatch *m, const struct pathmatch_call *c, bool first, const char *given, char buf[PATH_MAX])
{
	snprintf(buf, PATH_MAX, "%s", given);
	if (!is_path(m, c, first, given))
		return true;
	if (*given == '/' ? folders_join("/", given, buf, PATH_MAX) : !m->untracked && put_below(m, c, first, given, buf))
		return true;
	snprintf(buf, PATH_MAX, "%s", given);
	return *given == '/';
}

/* put_whole(), if the glob is for whole paths; else the path as it was given, whose folder is looked up for the recording only. */
static bool put_meant(struct pathmatch *m, const struct pathmatch_call *c, bool first, const char *given, char buf[PATH_MAX])
{
	const bool known = !pathmatch_is_following(m) || put_whole(m, c, first, given, buf);

	if (pathmatch_is_whole(m))
		return known;
	snprintf(buf, PATH_MAX, "%s", given);
	return true;
}

/* The flags of an open(2); 0: there are none, or they are not known. */
static uint64_t open_flags(struct pathmatch *m, const struct pathmatch_call *c)
{
	const unsigned int kind = kind_of(m, c->number);
	const uint64_t *args = kind & (FLAGS_SECOND | FLAGS_THIRD) ? args_of(m, c->tid, c->number) : NULL;

	return args ? args[kind & FLAGS_SECOND ? 1 : 2] : 0;
}

/* Whether the call has followed a link at the end of its path. */
static bool has_followed(struct pathmatch *m, const struct pathmatch_call *c)
{
	return c->succeeded && kind_of(m, c->number) & FOLLOWS && !(open_flags(m, c) & O_NOFOLLOW);
}

typedef bool matcher(const struct pathmatch *m, const char *text);

/* Whether what the links of a path lead to matches, and which path that is. */
static bool is_behind_links(struct pathmatch *m, const struct pathmatch_call *c, bool first, const char *given, const char *meant,
			    matcher *fits, char real[PATH_MAX])
{
	const char *path = *given == '/' ? given : meant;

	if (!pathmatch_is_whole(m) || !is_path(m, c, first, given) || *meant != '/')
		return false;
	return (folders_follow(&m->folders, c->pid, path, real) && fits(m, real)) ||
	       (has_followed(m, c) && folders_follow_end(&m->folders, c->pid, path, real) && fits(m, real));
}

/* Whether a path matches; if it does only behind links, what they lead to takes its place. */
static bool is_match(struct pathmatch *m, const struct pathmatch_call *c, bool first, const char *given, char meant[PATH_MAX])
{
	char real[PATH_MAX];

	if (m->nwithout && (is_without(m, given) || is_without(m, meant) ||
			    is_behind_links(m, c, first, given, meant, is_without, real)))
		return false;
	if (pathmatch_fits(m, meant) || has_match_of(m, false, given))
		return true;
	if (!is_behind_links(m, c, first, given, meant, fits_whole, real))
		return false;
	memcpy(meant, real, PATH_MAX);
	return true;
}

enum pathmatch_found pathmatch_find(struct pathmatch *m, const struct pathmatch_call *c, const char **text)
{
	char given[CALLPATH_SIZE], one[PATH_MAX], other[PATH_MAX];
	const char *first = c->text;
	bool known, matching;

	*text = c->text;
	m->second = c->second ? (size_t)(c->second - c->text) : 0;
	other[0] = '\0';
	if (!m->nglobs && !m->keeps)
		return PATHMATCH_YES;
	if (c->second)
		first = callpaths_first(c->text, m->second, given);
	known = put_meant(m, c, true, first, one);
	matching = m->nglobs && is_match(m, c, true, first, one);
	if (c->second) {
		known &= put_meant(m, c, false, c->second, other);
		matching |= m->nglobs && is_match(m, c, false, c->second, other);
	}
	if (!m->nglobs)
		return PATHMATCH_YES;
	if (snprintf(m->text, sizeof(m->text), "%s%s%s", one, c->second ? ", " : "", other) >= 0)   /* it may be cut */
		*text = m->text;
	m->second = c->second && strlen(one) + 2 < sizeof(m->text) ? strlen(one) + 2 : 0;
	if (!matching && (pathmatch_is_whole(m) || m->nwithout || !pathmatch_fits(m, c->text)))
		return known ? PATHMATCH_NO : PATHMATCH_UNKNOWN;
	m->found = true;
	return PATHMATCH_YES;
}

/* ---- folders ---------------------------------------------------------------------------- */

static void take_open(struct pathmatch *m, const struct pathmatch_call *c, int fd, uint64_t time)
{
	const unsigned int kind = kind_of(m, c->number);
	const uint64_t flags = open_flags(m, c);
	char path[PATH_MAX];
	/* what can be written, or is created, is no folder */
	const bool may_be = *c->text && !(kind & CREATES) && !(flags & (O_WRONLY | O_RDWR | O_CREAT)) &&
			    put_whole(m, c, true, c->text, path) && *path == '/';

	dirfds_open(&m->dirfds, c->pid, fd, may_be ? path : NULL, time);
}

static void take_dup(struct pathmatch *m, const struct pathmatch_call *c, int fd, uint64_t time)
{
	const uint64_t *args = args_of(m, c->tid, c->number);
	const int what = args ? (int)args[1] : -1;

	if (args && (!(kind_of(m, c->number) & DUPS_BY_FCNTL) || what == F_DUPFD || what == F_DUPFD_CLOEXEC))
		dirfds_copy(&m->dirfds, c->pid, (int)args[0], fd, time);
}

static void take_fchdir(struct pathmatch *m, const struct pathmatch_call *c, uint64_t time)
{
	const uint64_t *args = args_of(m, c->tid, c->number);
	const char *path = args ? dirfds_path(&m->dirfds, &m->folders, c->pid, (int)args[0]) : NULL;

	folders_change(&m->folders, c->pid, path ? path : "", time);
}

/* A thread that leaves the others has a folder of its own from then on. */
static void take_leave(struct pathmatch *m, const struct pathmatch_call *c)
{
	const bool unshares = kind_of(m, c->number) & UNSHARES;
	const uint64_t *args = unshares ? args_of(m, c->tid, c->number) : NULL;
	const bool may = unshares && (!args || args[0] & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER));

	if (may && (c->tid != c->pid || folders_has_threads(&m->folders, c->pid)))
		folders_split(&m->folders, c->pid, false);
	folders_leave(&m->folders, c->pid);
}

void pathmatch_succeeded(struct pathmatch *m, const struct pathmatch_call *c, int64_t result, uint64_t time)
{
	const unsigned int kind = m->untracked ? 0 : kind_of(m, c->number);

	if (kind & CHDIR)
		folders_change(&m->folders, c->pid, c->text, time);
	else if (kind & FCHDIR)
		take_fchdir(m, c, time);
	else if (kind & LEAVES)
		take_leave(m, c);
	else if (kind & OPENS)
		take_open(m, c, (int)result, time);
	else if (kind & (DUPS | DUPS_TO | DUPS_BY_FCNTL))
		take_dup(m, c, (int)result, time);
}

/* ---- tasks ------------------------------------------------------------------------------ */

void pathmatch_at(struct pathmatch *m, uint64_t time)
{
	m->folders.at = time;
}

void pathmatch_task(struct pathmatch *m, const struct pev_record *rec)
{
	const uint64_t at = m->folders.at;

	if ((rec->type != PERF_RECORD_FORK && rec->type != PERF_RECORD_EXIT) || (!m->args.field && !pathmatch_is_following(m)))
		return;
	m->folders.at = rec->task.time;
	if (rec->type == PERF_RECORD_EXIT)
		callargs_exit(&m->args, (pid_t)rec->task.tid);
	folders_take(&m->folders, rec);
	dirfds_take(&m->dirfds, rec);
	m->folders.at = at;
}

void pathmatch_lost(struct pathmatch *m)
{
	folders_forget(&m->folders);
	dirfds_forget(&m->dirfds);
	callargs_forget(&m->args);
}

void pathmatch_free(struct pathmatch *m)
{
	pathmatch_lost(m);
	folders_free(&m->folders);
}
