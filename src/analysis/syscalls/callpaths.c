/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callpaths.h"

#include "base/hash.h"
#include "engine/callnames.h"
#include "events/probes.h"
#include "perfevent/kernel.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* The threads whose last path is kept; when there are more, it begins anew. */
enum { MAX_THREADS = 1 << 14 };

struct callpath {
	pid_t tid;
	bool early;              /* it belongs to the next call */
	uint64_t time;           /* of the sample; of the call's beginning, if the sample came before it */
	size_t second;           /* where the second path begins in the text; 0: it has none */
	char text[CALLPATH_SIZE];
	UT_hash_handle hh;
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
	struct callpath *one;

	HASH_FIND(hh, p->all, &tid, sizeof(tid), one);
	return one;
}

static struct callpath *thread_of(struct callpaths *p, pid_t tid)
{
	struct callpath *one = find(p, tid);

	if (one)
		return one;
	if (HASH_COUNT(p->all) >= MAX_THREADS)
		HASH_FREE(p->all);
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	one->tid = tid;
	HASH_ADD(hh, p->all, tid, sizeof(one->tid), one);
	return HASH_KEPT(one);
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
	const struct open_pair *call = early ? NULL : pairs_find((struct pairs *)&q->pairs, (uint64_t)s->tid);
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
	struct callpath *one = p->all ? find(p, s->tid) : NULL;

	if (!one || !one->early)
		return;
	one->early = false;
	one->time = s->time;
}

/* NULL: no probe saw one. */
static const char *seen(const struct callpaths *p, pid_t tid, uint64_t since)
{
	const struct callpath *one = p->all ? find(p, tid) : NULL;

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
	const struct callpath *one = p->all ? find(p, tid) : NULL;

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
	HASH_FREE(p->all);
	p->all = NULL;
}
