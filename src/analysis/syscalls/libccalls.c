/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/libccalls.h"

#include "analysis/syscalls/callpaths.h"
#include "analysis/syscalls/callsites.h"
#include "analysis/syscalls/probeplaces.h"
#include "base/opener.h"
#include "engine/callnames.h"
#include "events/probename.h"
#include "symbols/elf/places.h"
#include "symbols/parser_kinds.h"
#include "tasks/mappedfiles.h"
#include "tasks/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By where the functions take their paths, which the probe fetches. Functions that call one of these have its probe: stat() and
 * lstat() of glibc 2.33 and musl call fstatat(). System calls have their arguments in the same registers, but for the fourth. */
static const struct site {
	const char *args, *functions, *calls;
} sites[] = {
	{ "path=+0($arg1):string",
	  " open open64 __open_nocancel __open64_nocancel creat creat64 access chdir chmod chown lchown"
	  " chroot mkdir mknod rmdir unlink readlink truncate truncate64 execve statfs statfs64 utime utimes lutimes umount"
	  " umount2 acct swapon swapoff getxattr lgetxattr setxattr lsetxattr listxattr llistxattr removexattr lremovexattr ",
	  " open creat access stat lstat chdir chmod chown lchown chroot mkdir mknod rmdir unlink readlink truncate execve statfs utime"
	  " utimes umount2 acct swapon swapoff getxattr lgetxattr setxattr lsetxattr listxattr llistxattr removexattr lremovexattr " },
	{ "path=+0($arg2):string",
	  " openat openat64 __openat_nocancel __openat64_nocancel fstatat fstatat64 __xstat __xstat64 __lxstat __lxstat64 statx"
	  " faccessat unlinkat mkdirat mknodat readlinkat fchmodat fchownat execveat utimensat futimesat"
	  " name_to_handle_at inotify_add_watch mount open_tree ",
	  " openat openat2 newfstatat statx faccessat faccessat2 unlinkat mkdirat mknodat readlinkat fchmodat fchmodat2 fchownat execveat"
	  " utimensat futimesat name_to_handle_at inotify_add_watch mount open_tree " },
	{ "path=+0($arg3):string", " __fxstatat __fxstatat64 ", " " },
	{ "path=+0($arg1):string path2=+0($arg2):string", " rename link symlink ", " rename link symlink " },
	{ "path=+0($arg1):string path2=+0($arg3):string", " symlinkat ", " symlinkat " },
	{ "path=+0($arg2):string path2=+0($arg4):string", " renameat renameat2 linkat ", " renameat renameat2 linkat " },
	{ CALLPATH_ADDRESS_ARGS, " connect bind ", " connect bind " },
};
enum { SITES = sizeof(sites) / sizeof(*sites) };
/* Functions and the calls that they make: which of them depends on the library and the architecture. Others make the call of their
 * name. */
static const char *const families[] = {
	" open open64 __open_nocancel __open64_nocancel creat creat64 openat openat64 __openat_nocancel __openat64_nocancel openat2 ",
	" fstatat fstatat64 __xstat __xstat64 __lxstat __lxstat64 __fxstatat __fxstatat64 statx stat lstat newfstatat ",
	" access faccessat faccessat2 ", " chmod fchmodat fchmodat2 ", " chown lchown fchownat ", " mkdir mkdirat ", " mknod mknodat ",
	" rmdir unlink unlinkat ", " readlink readlinkat ", " truncate truncate64 ", " execve execveat ", " statfs statfs64 ",
	" utime utimes lutimes utimensat futimesat ", " umount umount2 ", " rename renameat renameat2 ", " link linkat ",
	" symlink symlinkat ",
};
_Static_assert(2 * (int)SITES == (int)LIBCCALLS_EVENTS, "events of a file: before calls, and after; or those of Go");
_Static_assert((int)LIBCCALLS_FILES * LIBCCALLS_EVENTS <= (int)CALLPATH_EVENTS, "no event is left out");

struct finder {
	struct libccalls *files;
	struct question *q;
	const struct callset *wanted;
	bool of_root;            /* only files of root: any process can map a library of its own, and many of them */
	const char *tracefs;
	struct parser *parser;
	struct fault *why, *f;
	unsigned int events;
	bool failed;             /* f is set */
};

/* Offsets in a file, as the name of a probe: each once. */
struct offsets {
	char text[PROBE_FUNCTION_SIZE - 2];
	size_t used;
};

bool libccalls_is_among(const char *names, const char *name)
{
	const size_t len = name && !strchr(name, ' ') ? strlen(name) : 0;

	for (const char *at = names; len && (at = strstr(at, name)); at += len)
		if (at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

bool libccalls_has_path(int64_t call)
{
	for (size_t i = 0; i < SITES; i++)
		if (libccalls_is_among(sites[i].calls, syscall_name(call)))
			return true;
	return false;
}

/* Whether the function makes calls of the set. */
static bool is_of(const char *function, const struct callset *wanted)
{
	const char *family = NULL;

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (libccalls_is_among(families[i], function))
			family = families[i];
	for (int64_t i = 0; i < CALLSET_NUMBERS; i++) {
		const char *name = wanted->has[i] ? syscall_name(i) : NULL;

		if (name && (family ? libccalls_is_among(family, name) : !strcmp(name, function)))
			return true;
	}
	return false;
}

static bool is_wanted_call(int64_t call, const struct callset *wanted)
{
	return call >= 0 && call < CALLSET_NUMBERS && wanted->has[call];
}

/* ---- events ------------------------------------------------------------------------------- */

static void put_offset(struct offsets *o, uint64_t offset)
{
	char number[32];
	const int n = snprintf(number, sizeof(number), " 0x%" PRIx64 " ", offset);

	if (strstr(o->text, number) || o->used + (size_t)n >= sizeof(o->text))
		return;
	memcpy(o->text + o->used, number, (size_t)n + 1);
	o->used += (size_t)n;
}

/* Whether the kernel takes such a probe, at the first of the offsets. */
static bool is_possible(struct finder *x, const char *path, const struct offsets *o, const char *args)
{
	char expanded[2048], where[PATH_MAX + 64];
	struct probe_definition def = { .space = PROBE_USER, .where = where, .args = expanded };

	if (probe_args_of_function(args, expanded, sizeof(expanded)))
		return false;
	snprintf(where, sizeof(where), "%.*s:%.*s", PATH_MAX, path, (int)strcspn(o->text + 1, " "), o->text + 1);
	return !probes_try(x->tracefs, &def, x->why);
}

static void add_event(struct finder *x, const char *path, const struct offsets *o, const char *args, const char *alias,
		      const char *filter)
{
	if (x->failed || !o->used || !is_possible(x, path, o, args))
		return;
	x->failed = analysis_add_event(x->q->a, x->f, "uprobe:'%s'@%s/%s/alias=%s%u/args=\"%s\"/", o->text, path, filter, alias, x->events,
				       args);
	x->events++;
}

/* ---- functions of a library, system calls of other code ------------------------------------ */

/* "path=+0($arg2):string path2=+0($arg4):string" -> "... path2=+0(%r10):string" */
static void put_registers(const char *args, char *buf, size_t size)
{
	static const char fourth[] = "$arg4";
	const char *at = strstr(args, fourth);

	if (at)
		snprintf(buf, size, "%.*s%%r10%s", (int)(at - args), args, at + strlen(fourth));
	else
		snprintf(buf, size, "%s", args);
}

/* The probe sees the registers before its instruction. */
static bool is_set(const char *args, unsigned int reg)
{
	static const struct { const char *arg; unsigned int reg; } used[] = { { "$arg1", 7 }, { "$arg2", 6 }, { "$arg3", 2 }, { "$arg4", 10 } };

	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
		if (used[i].reg == reg && strstr(args, used[i].arg))
			return false;
	return true;
}

/* Whether the arguments are still there when these registers were set; the fourth one was copied to %r10. */
static bool are_kept(const char *args, uint32_t sets)
{
	for (unsigned int reg = 0; reg < 10; reg++)
		if (sets & 1u << reg && !is_set(args, reg))
			return false;
	return !strstr(args, "$arg4") || sets & 1u << 10;
}

/* Puts where the probe of a function goes, and whether that is behind the system call; then no registers of the paths were set, and
 * the thread's calls of that number are watched. execve(2) does not return. */
static void put_function(struct finder *x, int fd, const struct site *site, uint64_t offset, struct offsets *before, struct offsets *after)
{
	const struct probeplace place = probeplaces_in_file(fd, offset);
	const char *call = place.after ? syscall_name(place.call) : NULL;
	const bool fits = call && libccalls_is_among(site->calls, call) && strcmp(call, "execve") && strcmp(call, "execveat") &&
			  are_kept(site->args, place.sets);

	if (!place.after)
		put_offset(before, offset + place.at);
	else if (!fits)
		put_offset(before, offset);
	else if (is_wanted_call(place.call, x->wanted))
		put_offset(after, offset + place.at);
}

static void add_functions(struct finder *x, int fd, const char *path, const char *here)
{
	struct places places;
	char args[1024];

	if (places_find(&places, x->parser, fd, path, PLACES_FUNCTIONS, "*"))
		return;
	for (size_t i = 0; i < SITES; i++) {
		struct offsets before = { .used = 0 }, after = { .used = 0 };

		for (size_t k = 0; k < places.n; k++)
			if (libccalls_is_among(sites[i].functions, places.all[k].bare) && is_of(places.all[k].bare, x->wanted))
				put_function(x, fd, &sites[i], places.all[k].offset, &before, &after);
		add_event(x, here, &before, sites[i].args, LIBCCALLS_ALIAS, "");
		put_registers(sites[i].args, args, sizeof(args));
		add_event(x, here, &after, args, LIBCCALLS_ALIAS_AFTER, "");
	}
	places_free(&places);
}

/* "nr==82||nr==86"; "": no such call is watched. */
static void put_numbers(const struct finder *x, const struct site *site, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int64_t i = 0; i < CALLSET_NUMBERS && used + 16 < size; i++)
		if (x->wanted->has[i] && libccalls_is_among(site->calls, syscall_name(i)))
			used += (size_t)snprintf(buf + used, size - used, "%snr==%d", used ? "||" : "", (int)i);
}

/* "path=+0($arg1):string" -> "nr=%ax:s64 path=+0(%bx):string", the other arguments as the kernel gets them. */
static void put_go_registers(const char *args, char *buf, size_t size)
{
	static const char first[] = "$arg1";
	char registers[1000];
	const char *at;

	put_registers(args, registers, sizeof(registers));
	at = strstr(registers, first);
	if (at)
		snprintf(buf, size, "nr=%%ax:s64 %.*s%%bx%s", (int)(at - registers), registers, at + strlen(first));
	else
		snprintf(buf, size, "nr=%%ax:s64 %s", registers);
}

/* All calls go through one function: an event for each kind of arguments, which the kernel delivers for the calls that have such. */
static void add_go_calls(struct finder *x, const struct callsites *calls, const char *here)
{
	struct offsets o = { .used = 0 };
	char args[1024], numbers[1024];

	for (size_t k = 0; k < calls->n; k++)
		if (calls->all[k].call == CALLSITE_OF_GO)
			put_offset(&o, calls->all[k].offset);
	for (size_t i = 0; o.used && i < SITES; i++) {
		put_go_registers(sites[i].args, args, sizeof(args));
		put_numbers(x, &sites[i], numbers, sizeof(numbers));
		if (*numbers)
			add_event(x, here, &o, args, LIBCCALLS_ALIAS, numbers);
	}
}

static void add_calls(struct finder *x, int fd, const char *here)
{
	struct callsites calls;
	char args[1024];

	callsites_find(&calls, fd);
	for (size_t i = 0; i < SITES; i++) {
		struct offsets o = { .used = 0 };

		for (size_t k = 0; k < calls.n; k++)
			if (libccalls_is_among(sites[i].calls, syscall_name(calls.all[k].call)) &&
			    is_wanted_call(calls.all[k].call, x->wanted) && is_set(sites[i].args, calls.all[k].sets))
				put_offset(&o, calls.all[k].offset);
		put_registers(sites[i].args, args, sizeof(args));
		add_event(x, here, &o, args, LIBCCALLS_ALIAS, "");
	}
	add_go_calls(x, &calls, here);
	callsites_free(&calls);
}

/* ---- the files ----------------------------------------------------------------------------- */

static bool begins_with(const char *path, const char *const *names, size_t n)
{
	const char *name = strrchr(path, '/');

	for (size_t i = 0; name && i < n; i++)
		if (!strncmp(name + 1, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_libc(const char *path)
{
	static const char *const names[] = { "libc.so", "libc-2.", "ld-musl-", "libc.musl-" };

	return begins_with(path, names, sizeof(names) / sizeof(*names));
}

/* It searches for libraries, and calls the kernel itself. */
static bool is_loader(const char *path)
{
	static const char *const names[] = { "ld-linux", "ld-2." };

	return begins_with(path, names, sizeof(names) / sizeof(*names));
}

static bool is_wanted(const char *path)
{
	return is_libc(path) || is_loader(path);
}

static int take_file(void *ctx, int fd, const char *path, const char *here)
{
	struct finder *x = ctx;
	const unsigned int before = x->events;
	char file[64];
	struct stat st;
	int kept;

	if (x->files->n == LIBCCALLS_FILES || fstat(fd, &st) || (x->of_root && st.st_uid))
		return 0;
	kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", kept);
	if (kept >= 0 && is_libc(path))
		add_functions(x, fd, path, file);
	else if (kept >= 0)
		add_calls(x, fd, file);
	if (x->events > before)
		x->files->fds[x->files->n++] = kept;
	else if (kept >= 0)
		close(kept);
	return 0;
}

/* A program without libraries has the C library's code inside. */
static void take_program(struct finder *x, const char *path)
{
	const int at = open(path, O_PATH | O_CLOEXEC), fd = at < 0 ? -1 : opener_read_regular(at);

	if (fd < 0)
		return;
	take_file(x, fd, "", path);
	close(fd);
}

static void take_process(struct mappedfiles *files, pid_t pid)
{
	char exe[64];

	mappedfiles_of(files, pid);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	take_program(files->ctx, exe);
}

/* No process is named. */
static bool is_open(const struct stream_opts *o)
{
	return !o->command.argv && !o->pids.n && !o->tids.n;
}

/* A command's library is our own, unless it runs in a container. Processes that have ended have none. */
static void search(struct mappedfiles *files, const struct stream_opts *o)
{
	char path[PATH_MAX], full[PATH_MAX];

	if (o->command.argv)
		mappedfiles_of(files, getpid());
	if (o->command.argv && workload_find(o->command.argv[0], path, sizeof(path)) && realpath(path, full))
		take_program(files->ctx, full);
	for (size_t i = 0; i < o->pids.n; i++)
		take_process(files, o->pids.v[i]);
	for (size_t i = 0; i < o->tids.n; i++)
		take_process(files, o->tids.v[i]);
	if (is_open(o))
		mappedfiles_of_all(files);
}

int libccalls_watch(struct libccalls *l, struct question *q, const struct callset *wanted, const char *tracefs, struct fault *why,
		    struct fault *f)
{
	struct finder x = {
		.files = l, .q = q, .wanted = wanted, .of_root = is_open(q->targets), .tracefs = tracefs, .why = why, .f = f,
	};
	struct mappedfiles files = { .wants = is_wanted, .take = take_file, .ctx = &x };

	x.parser = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO });
	if (!x.parser)
		return fault_set(f, EXIT_FAILED, "%s: the process that reads programs' files did not start: %s", q->ops->name,
				 strerror(errno));
	search(&files, q->targets);
	parser_free(x.parser);
	mappedfiles_free(&files);
	if (!l->n && !why->exit_code)
		fault_set(why, EXIT_FAILED, "no watched program uses the C library");
	return x.failed ? -1 : 0;
}

void libccalls_free(struct libccalls *l)
{
	while (l->n)
		close(l->fds[--l->n]);
}
