/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callpaths.h"

#include "analysis/syscalls/callsites.h"
#include "analysis/syscalls/probeplaces.h"
#include "base/opener.h"
#include "engine/callnames.h"
#include "events/probename.h"
#include "events/probes.h"
#include "perfevent/kernel.h"
#include "symbols/elf/places.h"
#include "symbols/parser_kinds.h"
#include "tasks/mappedfiles.h"
#include "tasks/workload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* By where the functions take their paths, which the probe fetches. Functions that call one of these have its probe: stat() and
 * lstat() of glibc 2.33 and musl call fstatat(). System calls have their arguments in the same registers, but for the fourth. */
static const struct libccalls_site {
	const char *args, *functions, *calls;
} libc_sites[] = {
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
enum { SITES = sizeof(libc_sites) / sizeof(*libc_sites) };
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

/* Whether the name, or NULL, is one of those, each of which has a space on both sides. */
static bool libccalls_is_among(const char *names, const char *name)
{
	const size_t len = name && !strchr(name, ' ') ? strlen(name) : 0;

	for (const char *at = names; len && (at = strstr(at, name)); at += len)
		if (at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

/* Whether calls of that number have a path or an address. */
static bool libccalls_has_path(int64_t call)
{
	for (size_t i = 0; i < SITES; i++)
		if (libccalls_is_among(libc_sites[i].calls, syscall_name(call)))
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
static void put_function(struct finder *x, int fd, const struct libccalls_site *libccalls_site, uint64_t offset, struct offsets *before, struct offsets *after)
{
	const struct probeplace place = probeplaces_in_file(fd, offset);
	const char *call = place.after ? syscall_name(place.call) : NULL;
	const bool fits = call && libccalls_is_among(libccalls_site->calls, call) && strcmp(call, "execve") && strcmp(call, "execveat") &&
			  are_kept(libccalls_site->args, place.sets);

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
			if (libccalls_is_among(libc_sites[i].functions, places.all[k].bare) && is_of(places.all[k].bare, x->wanted))
				put_function(x, fd, &libc_sites[i], places.all[k].offset, &before, &after);
		add_event(x, here, &before, libc_sites[i].args, LIBCCALLS_ALIAS, "");
		put_registers(libc_sites[i].args, args, sizeof(args));
		add_event(x, here, &after, args, LIBCCALLS_ALIAS_AFTER, "");
	}
	places_free(&places);
}

/* "nr==82||nr==86"; "": no such call is watched. */
static void put_numbers(const struct finder *x, const struct libccalls_site *libccalls_site, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int64_t i = 0; i < CALLSET_NUMBERS && used + 16 < size; i++)
		if (x->wanted->has[i] && libccalls_is_among(libccalls_site->calls, syscall_name(i)))
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
		put_go_registers(libc_sites[i].args, args, sizeof(args));
		put_numbers(x, &libc_sites[i], numbers, sizeof(numbers));
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
			if (libccalls_is_among(libc_sites[i].calls, syscall_name(calls.all[k].call)) &&
			    is_wanted_call(calls.all[k].call, x->wanted) && is_set(libc_sites[i].args, calls.all[k].sets))
				put_offset(&o, calls.all[k].offset);
		put_registers(libc_sites[i].args, args, sizeof(args));
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

/* Adds the probes for these calls to the run's events. 0, or -1 with f. *why: why there are none. */
static int libccalls_watch(struct libccalls *l, struct question *q, const struct callset *wanted, const char *tracefs, struct fault *why,
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

static void libccalls_free(struct libccalls *l)
{
	while (l->n)
		close(l->fds[--l->n]);
}

/* The threads whose last path is kept; when there are more, it begins anew. */
enum { MAX_THREADS = 1 << 14 };

struct callpath {
	pid_t tid;
	bool early;              /* it belongs to the next call */
	uint64_t time;           /* of the sample; of the call's beginning, if the sample came before it */
	size_t second;           /* where the second path begins in the text; 0: it has none */
	char text[CALLPATH_SIZE];
};

/* ---- probes ----------------------------------------------------------------------------- */

/* The result is a struct filename, whose first member points to the kernel's copy of the path. */
#define PATH_ARGS "path=+0(+0($retval)):string"
struct site {
	const char *function, *args;
	bool at_return;
};

/* Which of them exist depends on the kernel and its compiler. A part that was split off has all callers, also those in the
 * same file, which call it without the rest of the function. */
static const struct site path_sites[] = {
	{ "getname_flags.part.0", PATH_ARGS, true }, { "do_getname", PATH_ARGS, true }, { "getname_flags", PATH_ARGS, true },
};
static const struct site connect_sites[] = {
	{ "security_socket_connect", CALLPATH_ADDRESS_ARGS, false }, { "__sys_connect_file", CALLPATH_ADDRESS_ARGS, false },
};
static const struct site bind_sites[] = { { "security_socket_bind", CALLPATH_ADDRESS_ARGS, false } };

/* Adds the first of these probes that the kernel takes. 0, with *found; or -1 with f. *why: why it takes none. */
static int add_first(const char *tracefs, struct question *q, const struct site *sites, size_t n, bool *found, struct fault *why,
		     struct fault *f)
{
	*found = false;
	for (size_t i = 0; i < n; i++) {
		const struct probe_definition def = {
			.space = PROBE_KERNEL, .at_return = sites[i].at_return, .where = sites[i].function, .args = sites[i].args,
		};

		if (probes_try(tracefs, &def, why))
			continue;
		*found = true;
		return analysis_add_event(q->a, f, "%s:%s//args=\"%s\"/", sites[i].at_return ? "kretprobe" : "kprobe",
					  sites[i].function, sites[i].args);
	}
	return 0;
}

#define ADD_FIRST(sites, found) add_first(tracefs, q, sites, sizeof(sites) / sizeof(*(sites)), found, why, f)

/* Whose paths the kernel copies where the probes are, on some architecture. io_uring_enter(2) begins other calls. */
static bool copies_path(const char *name)
{
	static const char names[] =
		" access acct bind bpf chdir chmod chown chown32 chroot connect creat execve execveat faccessat faccessat2 fanotify_mark"
		" fchmodat fchmodat2 fchownat file_getattr file_setattr fsconfig fspick fstatat64 futimesat getxattr getxattrat"
		" inotify_add_watch io_uring_enter lchown lchown32 lgetxattr link linkat listxattr listxattrat llistxattr lremovexattr"
		" lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat mount mount_setattr move_mount mq_open mq_unlink name_to_handle_at"
		" newfstatat oldlstat oldstat open open_tree open_tree_attr openat openat2 pivot_root quotactl readlink readlinkat"
		" removexattr removexattrat rename renameat renameat2 rmdir setxattr setxattrat socketcall spu_create stat stat64 statfs"
		" statfs64 statx swapoff swapon symlink symlinkat truncate truncate64 umount umount2 unlink unlinkat uselib utime"
		" utimensat utimensat_time64 utimes ";

	return libccalls_is_among(names, name);
}

/* What the paths of these calls need. */
struct needs {
	bool path, connect, bind;
};

static void add_need(struct needs *n, const char *name)
{
	if (!copies_path(name))
		return;
	n->connect |= !strcmp(name, "connect") || !strcmp(name, "socketcall") || !strcmp(name, "io_uring_enter");
	n->bind |= !strcmp(name, "bind") || !strcmp(name, "socketcall") || !strcmp(name, "io_uring_enter");
	n->path |= strcmp(name, "connect") && strcmp(name, "bind") && strcmp(name, "socketcall");
}

static struct needs needs_of(const struct callset *wanted)
{
	struct needs n = { .path = wanted->newer };

	for (int64_t i = 0; i < CALLSET_NUMBERS; i++) {
		if (!wanted->has[i])
			continue;
		add_need(&n, syscall_name(i));
		add_need(&n, syscall_name(call_of_32(i)));
	}
	return n;
}

static int watch_kernel(struct question *q, const struct needs *n, const char *tracefs, bool *found, struct fault *why, struct fault *f)
{
	bool other;

	if (n->path && ADD_FIRST(path_sites, found))
		return -1;
	if (n->path && !*found)
		return 0;
	if (n->connect && ADD_FIRST(connect_sites, &other))
		return -1;
	*found |= n->connect && other;
	if (n->bind && ADD_FIRST(bind_sites, &other))
		return -1;
	*found |= n->bind && other;
	return 0;
}

int callpaths_watch(struct callpaths *p, struct question *q, const struct callset *wanted, struct fault *f)
{
	const struct needs needs = needs_of(wanted);
	struct fault why = { .text = "this kernel has neither kprobes nor uprobes (CONFIG_KPROBE_EVENTS, CONFIG_UPROBE_EVENTS)" };
	struct pev_error err = { 0 };
	char tracefs[256];
	bool found = false;
	int rc = 0;

	p->unneeded = !needs.path && !needs.connect && !needs.bind;
	if (!q->a || q->targets->input || p->unneeded)
		return 0;
	if (pev_tracefs_path(tracefs, sizeof(tracefs), &err)) {
		snprintf(p->why, sizeof(p->why), "tracefs is not mounted, or not readable");
		return 0;
	}
	if (probes_possible(tracefs, PROBE_KERNEL))
		rc = watch_kernel(q, &needs, tracefs, &found, &why, f);
	if (!rc && !found && probes_possible(tracefs, PROBE_USER))
		rc = libccalls_watch(&p->programs, q, wanted, tracefs, &why, f);
	if (!found && !p->programs.n)
		snprintf(p->why, sizeof(p->why), "%.*s", (int)sizeof(p->why) - 1, why.text);
	return rc;
}

/* ---- the events that have paths ---------------------------------------------------------- */

enum { FAMILY, PORT, ADDR, ADDR6, ADDR6_LOW, LENGTH };

static bool find_fields(struct callpaths_event *e)
{
	static const char *const numbers[CALLPATH_NUMBERS] = {
		[FAMILY] = "sa_family", [PORT] = "sa_port", [ADDR] = "sa_addr", [ADDR6] = "sa_addr6", [ADDR6_LOW] = "sa_addr6_low",
		[LENGTH] = "sa_len",
	};
	struct fault no;

	e->text = analysis_field(e->event, "path", true, &no);
	e->second = analysis_field(e->event, "path2", true, &no);
	if (e->text)
		return trace_field_is_text(e->text);
	e->text = analysis_field(e->event, "sa_path", true, &no);
	e->abstract = analysis_field(e->event, "sa_name", true, &no);
	for (size_t i = 0; i < CALLPATH_NUMBERS; i++) {
		e->numbers[i] = analysis_field(e->event, numbers[i], false, &no);
		if (!e->numbers[i])
			return false;
	}
	return e->text && e->abstract && trace_field_is_text(e->text) && trace_field_is_text(e->abstract);
}

/* Such a probe does not see the calls that a program makes without that function. */
static bool is_in_program(const struct stream_event *event)
{
	return !strncmp(event->name, "uprobe:", strlen("uprobe:")) || !strncmp(event->name, LIBCCALLS_ALIAS, strlen(LIBCCALLS_ALIAS));
}

void callpaths_begin(struct callpaths *p, struct question *q)
{
	size_t n;
	const struct stream_event *events = q->a ? stream_events(q->a->stream, &n) : NULL;

	p->in_programs = p->programs.n;
	for (size_t i = 0; events && i < n && p->n < CALLPATH_EVENTS; i++) {
		struct callpaths_event e = { .event = &events[i] };

		if (!events[i].fmt || !find_fields(&e))
			continue;
		e.after = !strncmp(events[i].name, LIBCCALLS_ALIAS_AFTER, strlen(LIBCCALLS_ALIAS_AFTER));
		p->after |= e.after;
		p->events[p->n++] = e;
		p->in_programs |= q->targets->input && is_in_program(&events[i]);
		p->ordered |= e.second != NULL;
	}
	if (!p->n && !*p->why && !p->unneeded)
		snprintf(p->why, sizeof(p->why), "%s has no event with a field `path`%s", q->targets->input ? q->targets->input : "-e",
			 q->targets->input ? "; `perf-prof syscalls --paths --record FILE` records paths, too" : "");
}

/* ---- texts ------------------------------------------------------------------------------- */

static void put_text(const struct trace_field *field, const struct analysis_sample *s, char *buf, size_t size)
{
	const char *text;
	uint32_t len;

	buf[0] = '\0';
	if (!field || trace_field_data(field, s->view.raw, s->view.raw_size, &text, &len))
		return;
	snprintf(buf, size, "%.*s", (int)(len < size ? len : size - 1), text);
}

/* The path ends at the address's length. In the abstract namespace it begins with a NUL, shown as "@". */
static void put_unix(const struct callpaths_event *e, const struct analysis_sample *s, int64_t len, char *buf, size_t size)
{
	const int64_t most = len - (int64_t)sizeof(sa_family_t);

	put_text(e->text, s, buf, size);
	if (!*buf && most > 0) {
		put_text(e->abstract, s, buf + 1, size - 1);
		buf[0] = '@';
	}
	if ((size_t)(most > 0 ? most : 0) < size)
		buf[most > 0 ? most : 0] = '\0';
}

static void put_address(const struct callpaths_event *e, const struct analysis_sample *s, char *buf, size_t size)
{
	uint64_t v[CALLPATH_NUMBERS], six[2];
	uint32_t four;
	char text[INET6_ADDRSTRLEN] = "";

	for (size_t i = 0; i < CALLPATH_NUMBERS; i++)
		v[i] = trace_field_uint(e->numbers[i], s->view.raw);
	four = (uint32_t)v[ADDR];
	six[0] = v[ADDR6];
	six[1] = v[ADDR6_LOW];
	buf[0] = '\0';
	if (v[FAMILY] == AF_UNIX)
		put_unix(e, s, (int32_t)v[LENGTH], buf, size);
	else if (v[FAMILY] == AF_INET && inet_ntop(AF_INET, &four, text, sizeof(text)))
		snprintf(buf, size, "%s:%u", text, ntohs((uint16_t)v[PORT]));
	else if (v[FAMILY] == AF_INET6 && inet_ntop(AF_INET6, six, text, sizeof(text)))
		snprintf(buf, size, "[%s]:%u", text, ntohs((uint16_t)v[PORT]));
}

/* ---- threads ----------------------------------------------------------------------------- */

static struct callpath *find(const struct callpaths *p, pid_t tid)
{
	return groups_find(&p->all, &tid, sizeof(tid));
}

static struct callpath *thread_of(struct callpaths *p, pid_t tid)
{
	return groups_recent(&p->all, &tid, sizeof(tid), sizeof(struct callpath), MAX_THREADS);
}

static void add_second(struct callpath *one, const char *text)
{
	const size_t used = one ? strlen(one->text) : 0;

	if (!one || !*text)
		return;
	if (used && !one->second && used + strlen(", ") < sizeof(one->text))
		one->second = used + strlen(", ");
	snprintf(one->text + used, sizeof(one->text) - used, "%s%s", used ? ", " : "", text);
}

/* rename(2) and the like have two paths. A path that several probes see is one. */
static void add(struct callpath *one, const char *text)
{
	if (one && strcmp(one->text, text))
		add_second(one, text);
}

static void keep(struct callpaths *p, const struct question *q, const struct analysis_sample *s, const char *text)
{
	const bool early = (s->view.rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	const struct open_pair *call = early ? NULL : pairs_find(&q->pairs, (uint64_t)s->tid);
	struct callpath *one = thread_of(p, s->tid);

	if (!one)
		return;
	if (!call || one->early || one->time < call->start) {
		one->text[0] = '\0';
		one->second = 0;
	}
	one->early = early;
	one->time = s->time;
	add(one, text);
}

static const struct callpaths_event *event_of(const struct callpaths *p, const struct analysis_sample *s)
{
	for (size_t i = 0; i < p->n; i++)
		if (s->event == p->events[i].event)
			return &p->events[i];
	return NULL;
}

static void put_first(const struct callpaths_event *e, const struct analysis_sample *s, char *buf, size_t size)
{
	if (e->numbers[FAMILY])
		put_address(e, s, buf, size);
	else
		put_text(e->text, s, buf, size);
}

bool callpaths_take(struct callpaths *p, const struct question *q, const struct analysis_sample *s)
{
	const struct callpaths_event *e = event_of(p, s);
	char text[CALLPATH_SIZE];

	if (!e)
		return false;
	put_first(e, s, text, sizeof(text));
	keep(p, q, s, text);
	put_text(e->second, s, text, sizeof(text));
	add_second(find(p, s->tid), text);
	return true;
}

bool callpaths_is_after(const struct callpaths *p, const struct analysis_sample *s)
{
	const struct callpaths_event *e = p->after ? event_of(p, s) : NULL;

	return e && e->after;
}

void callpaths_take_after(struct callpaths *p, const struct analysis_sample *s, uint64_t since)
{
	const struct callpaths_event *e = event_of(p, s);
	struct callpath *one = thread_of(p, s->tid);
	char text[CALLPATH_SIZE];

	if (!one)
		return;
	one->early = false;
	one->time = since;
	one->second = 0;
	put_first(e, s, one->text, sizeof(one->text));
	put_text(e->second, s, text, sizeof(text));
	add_second(one, text);
}

void callpaths_enter(struct callpaths *p, const struct analysis_sample *s)
{
	struct callpath *one = find(p, s->tid);

	if (!one || !one->early)
		return;
	one->early = false;
	one->time = s->time;
}

/* NULL: no probe saw one. */
static const char *seen(const struct callpaths *p, pid_t tid, uint64_t since)
{
	const struct callpath *one = find(p, tid);

	return one && !one->early && one->time >= since ? one->text : NULL;
}

static bool has_path(struct callpaths *p, int64_t call)
{
	enum { NO_PATH = 1, A_PATH };

	if (call < 0 || call >= (int64_t)sizeof(p->has_path))
		return false;
	if (!p->has_path[call])
		p->has_path[call] = libccalls_has_path(call) ? A_PATH : NO_PATH;
	return p->has_path[call] == A_PATH;
}

/* A signal handler may run between a probe in a program and the call that it is about: that one's calls have another number. */
const char *callpaths_text(struct callpaths *p, pid_t tid, uint64_t since, int64_t call)
{
	const char *text = p->in_programs && !has_path(p, call) ? NULL : seen(p, tid, since);

	return text ? text : "";
}

const char *callpaths_second(const struct callpaths *p, pid_t tid, const char *text)
{
	const struct callpath *one = find(p, tid);

	return one && text == one->text && one->second ? text + one->second : NULL;
}

bool callpaths_is_missing(struct callpaths *p, pid_t tid, uint64_t since, int64_t call)
{
	return p->in_programs && has_path(p, call) && !seen(p, tid, since);
}

/* A program that begins by execve(2) is another one. */
bool callpaths_may_follow(struct callpaths *p, pid_t tid, uint64_t since, int64_t call)
{
	return p->after && callpaths_is_missing(p, tid, since, call) && !libccalls_is_among(" execve execveat ", syscall_name(call));
}

bool callpaths_may_have(const struct callpaths *p, int64_t call)
{
	return p->programs.n ? libccalls_has_path(call) : copies_path(syscall_name(call)) || copies_path(syscall_name(call_of_32(call)));
}

bool callpaths_has_two(int64_t call)
{
	static const char names[] = " link linkat move_mount pivot_root rename renameat renameat2 symlink symlinkat ";

	return libccalls_is_among(names, syscall_name(call));
}

char *callpaths_first(const char *text, size_t second, char buf[CALLPATH_SIZE])
{
	const size_t len = second - strlen(", ");

	snprintf(buf, CALLPATH_SIZE, "%.*s", (int)len, text);
	return buf;
}

void callpaths_free(struct callpaths *p)
{
	libccalls_free(&p->programs);
	groups_free(&p->all);
}
