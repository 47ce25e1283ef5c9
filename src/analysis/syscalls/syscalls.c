/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof syscalls: how long system calls take, and how they fail.
 *
 * sys_exit has the call's number. The fields of sys_enter (number and arguments) would be more than half of all
 * bytes, so the command samples them only with --than, and for rows with paths. Without them, a sys_enter and a sys_exit may belong to two
 * calls if events were lost between them on one of their CPUs: such a pair is not counted.
 */
#include "analysis/durations/gaps.h"
#include "analysis/syscalls/callerrors.h"
#include "analysis/syscalls/callpaths.h"
#include "analysis/syscalls/callset.h"
#include "analysis/syscalls/commands.h"
#include "analysis/syscalls/commchoice.h"
#include "analysis/syscalls/notfailed.h"
#include "analysis/syscalls/openflags.h"
#include "analysis/syscalls/pathmatch.h"
#include "analysis/syscalls/unreturned.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/nearest.h"
#include "base/options.h"
#include "base/procstatus.h"
#include "engine/callnames.h"
#include "expr/expr.h"
#include "perfdata/write/writer.h"
#include "perfevent.h"
#include "report/json.h"
#include "rows/question.h"
#include "stream/recording/facts.h"
#include "stream/stream.h"
#include "tasks/threads.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>

/* The process that has made each process, also after one of the two has ended: by FORK records, or for older ones by /proc. */

/* Initialized by zeros. */
struct parents {
	bool recorded;           /* the processes are of a recording: /proc does not know them */
	struct groups all;       /* of struct parent */
};

/* When there are more, it begins anew. */
enum { MAX_PROCESSES = 1 << 16 };

struct parent {
	pid_t pid, parent;
};

static void parents_free(struct parents *p)
{
	groups_free(&p->all);
}

static void set(struct parents *p, pid_t pid, pid_t parent)
{
	struct parent *one = groups_recent(&p->all, &pid, sizeof(pid), sizeof(*one), MAX_PROCESSES);

	if (one)
		one->parent = parent;
}

/* Takes FORK records; ignores others. */
static void parents_take(struct parents *p, const struct pev_record *rec)
{
	if (rec->type == PERF_RECORD_FORK && rec->task.pid != rec->task.ppid)
		set(p, (pid_t)rec->task.pid, (pid_t)rec->task.ppid);
}

/* 0: it has ended, or has no parent here. */
static pid_t read_parent(pid_t pid)
{
	const long parent = procstatus_of(pid, "\nPPid:");

	return parent > 0 ? (pid_t)parent : 0;
}

/* 0: not known. */
static pid_t parents_of(struct parents *p, pid_t pid)
{
	const struct parent *one = groups_find(&p->all, &pid, sizeof(pid));
	pid_t parent;

	if (one)
		return one->parent;
	if (p->recorded || pid <= 0)
		return 0;
	parent = read_parent(pid);
	if (parent)
		set(p, pid, parent);
	return parent;
}

static void take_process(void *ctx, pid_t pid)
{
	parents_of(ctx, pid);
}

/* Reads those of all running processes: of one that ends after its call, it could not be read any more. */
static void parents_read_all(struct parents *p)
{
	if (!p->recorded)
		threads_each_process(take_process, p);
}

/*
 * Calls that have returned, but whose path is not known yet: a probe behind the system call in the C library (probeplaces.h) sees it
 * next. A thread has one at most; its next call ends the wait.
 */

/* Initialized by zeros. */
struct heldcalls {
	struct groups all;           /* of struct heldcall, by thread */
};

enum { MAX_CALLS = 1 << 12 };

struct heldcall {
	pid_t tid;
	struct happening h;
	struct analysis_sample s;
	struct perf_event_header *rec;   /* of the sample */
};

static struct heldcall *of_thread(const struct heldcalls *c, pid_t tid)
{
	return groups_find(&c->all, &tid, sizeof(tid));
}

/* Keeps a copy of the call, and of its sample. False: it is not kept. */
static bool heldcalls_keep(struct heldcalls *c, const struct happening *h)
{
	const struct perf_event_header *rec = h->s->view.rec;
	const size_t raw_at = (size_t)((const char *)h->s->view.raw - (const char *)rec);
	struct perf_event_header *copy = c->all.n < MAX_CALLS && !of_thread(c, h->tid) ? malloc(rec->size) : NULL;
	struct heldcall *one = copy ? groups_add(&c->all, &h->tid, sizeof(h->tid), 0, sizeof(*one)) : NULL;

	if (!one) {
		free(copy);
		return false;
	}
	one->rec = memcpy(copy, rec, rec->size);
	one->s = *h->s;
	one->s.view.rec = copy;
	one->s.view.raw = (const char *)copy + raw_at;
	one->h = *h;
	one->h.s = &one->s;
	one->h.comm = NULL;
	return true;
}

/* The thread's call, whose comm is NULL; NULL: it has none. */
static struct happening *heldcalls_find(const struct heldcalls *c, pid_t tid)
{
	struct heldcall *one = of_thread(c, tid);

	return one ? &one->h : NULL;
}

/* Any call; NULL: there is none. */
static struct happening *heldcalls_any(const struct heldcalls *c)
{
	struct heldcall *one = groups_first(&c->all);

	return one ? &one->h : NULL;
}

static void heldcalls_remove(struct heldcalls *c, struct happening *h)
{
	struct heldcall *one = of_thread(c, h->tid);

	if (!one)
		return;
	free(one->rec);
	groups_drop(&c->all, one);
}

static void heldcalls_free(struct heldcalls *c)
{
	for (struct heldcall *one = groups_first(&c->all); one; one = groups_next(one))
		free(one->rec);
	groups_free(&c->all);
}

/* A line for each call when it returns, as strace prints it; with --json, an object. */

struct callline {
	int64_t number, result;
	pid_t parent;            /* of the process; 0: not known */
	const char *path;        /* "": none */
	size_t second;           /* where the second path begins in it, behind ", "; 0: it has none */
	uint32_t flags;          /* openflags_code(); 0: none */
};

enum { NAME_SIZE = 64 };

/* The parts of a line that are the same in text and in JSON; "": none. */
struct parts {
	char when[64], call[NAME_SIZE], error[NAME_SIZE], flags[OPENFLAGS_TEXT];
};

static void put_parts(struct question *q, const struct happening *h, const struct callline *line, struct parts *p)
{
	analysis_time_text(q->a, h->end.start, p->when, sizeof(p->when));
	call_name(line->number, p->call, sizeof(p->call));
	p->error[0] = p->flags[0] = '\0';
	if (h->error)
		error_name(h->error, p->error, sizeof(p->error));
	if (line->flags)
		openflags_text(line->flags, p->flags, sizeof(p->flags));
}

static const char *or_none(const char *text)
{
	return *text ? text : NULL;
}

/* Adds both paths of a call that has two. */
static bool put_both(json_object *root, const char *path, size_t second)
{
	char first[CALLPATH_SIZE];

	return !second || (json_put_text(root, "path1", callpaths_first(path, second, first)) && json_put_text(root, "path2", path + second));
}

static void print_json(struct question *q, const struct happening *h, const struct callline *line, const struct parts *p)
{
	const pid_t parent = line->parent;
	json_object *root = json_object_new_object();
	const bool has_result = syscall_has_result(line->number);

	json_line(root, json_put_text(root, "call", p->call) && json_put_text(root, "time", p->when) &&
		  json_put_unsigned(root, "start", h->end.start) && json_put_unsigned(root, "duration", h->end.duration) &&
		  json_put_text(root, "comm", h->comm) && json_put_integer(root, "pid", pidmap_shown(h->pid)) &&
		  json_put_integer(root, "tid", pidmap_shown(h->tid)) &&
		  (!parent || (json_put_text(root, "parent_comm", analysis_comm(q->a, parent)) &&
			       json_put_integer(root, "parent_pid", pidmap_shown(parent)))) &&
		  json_put_text(root, "flags", or_none(p->flags)) && json_put_text(root, "path", or_none(line->path)) &&
		  put_both(root, line->path, line->second) &&
		  (!has_result || json_put_integer(root, "ret", line->result)) &&
		  json_put_text(root, "error", or_none(p->error)), stdout);
}

/* " (of sh 5619)" */
static void put_parent(struct question *q, pid_t parent, char *buf, size_t size)
{
	const char *comm = parent ? analysis_comm(q->a, parent) : "";
	char name[4 * NAME_SIZE];

	buf[0] = '\0';
	escape_terminal(comm, strlen(comm), name, sizeof(name));
	if (parent)
		snprintf(buf, size, " (of %s %d)", name, pidmap_shown(parent));
}

/* "2026-11-27 18:47:35.580890 cat 5699 (of sh 5619) openat(257) r /etc/hostname = 3 after 2.895 us". Names and paths can have any
 * bytes. */
static void print_text(struct question *q, const struct happening *h, const struct callline *line, const struct parts *p)
{
	char name[4 * NAME_SIZE], parent[5 * NAME_SIZE], path[4 * 2 * CALLPATH_SIZE], result[NAME_SIZE + 32] = "";

	escape_terminal(h->comm, strlen(h->comm), name, sizeof(name));
	put_parent(q, line->parent, parent, sizeof(parent));
	escape_terminal(line->path, strlen(line->path), path, sizeof(path));
	if (syscall_has_result(line->number))
		snprintf(result, sizeof(result), " = %" PRId64 "%s%s", line->result, *p->error ? " " : "", p->error);
	printf("%s %s %d%s %s%s%s%s%s%s after %" PRIu64 ".%03u us\n", p->when, name, pidmap_shown(h->tid), parent, p->call,
	       *p->flags ? " " : "", p->flags, *path ? " " : "", path, result, h->end.duration / 1000, (unsigned int)(h->end.duration % 1000));
}

static void calllines_print(struct question *q, const struct happening *h, const struct callline *line)
{
	struct parts p;

	put_parts(q, h, line, &p);
	if (q->common.json)
		print_json(q, h, line, &p);
	else
		print_text(q, h, line, &p);
	analysis_printed(q->a);
}

/* The calls that the user has chosen by name: "connect,unlink*,rename*". */

/* Initialized by zeros. */
struct callchoice {
	const char *names;       /* NULL: all */
	uint8_t known[1024];     /* by the call's number; 0: not looked up */
};

enum { NO = 1, YES, NUMBERS = sizeof(((struct callchoice *)0)->known) };

static bool is_call(const char *glob, size_t len)
{
	const char *name;

	for (int64_t i = 0; i < NUMBERS; i++)
		if ((name = syscall_name(i)) && expr_glob(glob, len, name, strlen(name)))
			return true;
	return false;
}

static int unknown_call(const char *text, const char *name, size_t len, struct fault *f)
{
	char wanted[64];
	struct nearest near;
	const char *call;

	snprintf(wanted, sizeof(wanted), "%.*s", (int)len, name);
	nearest_begin(&near, wanted);
	for (int64_t i = 0; i < NUMBERS; i++)
		if ((call = syscall_name(i)))
			nearest_offer(&near, call);
	if (nearest_get(&near))
		return fault_usage(f, "--call %s: there is no system call '%s'; did you mean %s?", text, wanted, nearest_get(&near));
	return fault_usage(f, "--call %s: there is no system call '%s'; expected names or globs, such as connect,unlink*,rename*", text,
			   wanted);
}

/* For the option: each name has to be that of a call. 0, or -1 with f. */
static int callchoice_parse(const char *text, void *names, struct fault *f)
{
	if (!syscall_name(0))
		return fault_usage(f, "--call %s: perf-prof was built without libseccomp, which knows the names of system calls", text);
	for (const char *at = text;; at++) {
		const bool is_left_out = *at == '!';
		size_t len;

		if (is_left_out != (*text == '!'))
			return fault_usage(f, "--call %s: names with ! leave out calls: give only these, or none", text);
		at += is_left_out;
		len = strcspn(at, ",");
		if (*at == '!' || !is_call(at, len))
			return unknown_call(text, at, len, f);
		at += len;
		if (!*at)
			break;
	}
	*(const char **)names = text;
	return 0;
}

/* All names have a '!', or none has. */
static bool matches(const char *names, const char *name)
{
	const bool leave_out = *names == '!';

	for (const char *at = names; name; at++) {
		const char *glob = at + leave_out;
		const size_t len = strcspn(glob, ",");

		if (expr_glob(glob, len, name, strlen(name)))
			return !leave_out;
		at = glob + len;
		if (!*at)
			return leave_out;
	}
	return false;
}

static bool callchoice_has(struct callchoice *c, int64_t number)
{
	if (!c->names)
		return true;
	if (number < 0 || number >= NUMBERS)
		return matches(c->names, syscall_name(number));
	if (!c->known[number])
		c->known[number] = matches(c->names, syscall_name(number)) ? YES : NO;
	return c->known[number] == YES;
}

struct syscalls {
	struct question question;
	bool failed;                     /* --errors */
	bool by_path;                    /* --paths */
	bool lines;                      /* --lines */
	struct parents parents;          /* for these */
	struct pathmatch match;          /* --match */
	struct callchoice calls;         /* --call */
	struct callerrors errors;
	struct notfailed mild;           /* with --errors: those that are no failures */
	struct callpaths paths;          /* with --errors and --paths */
	struct heldcalls held;           /* whose path is still to come */
	const char *path;                /* of the call that has returned, for its row */
	bool numbered;                   /* sys_enter is sampled with the call's number */
	char *filters[2];                /* of the events; NULL: see chosen_filter() */
	struct gaps gaps;
	struct unreturned unreturned;
};

enum { MAX_ERRNO = 4095 };

enum { ENTER, LEAVE };
enum { FIELD_ID, FIELD_RET };
#ifdef __x86_64__
enum { IS_X86_64 = 1 };
#else
enum { IS_X86_64 = 0 };
#endif
static const struct question_event events[] = {
	[ENTER] = { "raw_syscalls", "sys_enter", { [FIELD_ID] = "id" } },
	[LEAVE] = { "raw_syscalls", "sys_exit", { [FIELD_ID] = "id", [FIELD_RET] = "ret" } },
};
/* The kernel leaves out the rest, and their call chains. leave() looks at the errors again: calls may return other negative numbers. */
static const struct question_event failed_events[] = {
	[ENTER] = { "raw_syscalls", "sys_enter", { [FIELD_ID] = "id" } },
	[LEAVE] = { "raw_syscalls", "sys_exit", { [FIELD_ID] = "id", [FIELD_RET] = "ret" }, .filter = "ret<0" },
};
/* With folders, also calls that succeed and change one, or open or copy a descriptor. */
#define NUMBER_TEXT(number) #number
#define OR_ID_IS(number) "||id==" NUMBER_TEXT(number)
#ifdef __NR_open   /* newer architectures lack these */
#define OLD_CALLS OR_ID_IS(__NR_open) OR_ID_IS(__NR_dup2)
#else
#define OLD_CALLS
#endif
static const struct question_event followed_events[] = {
	[ENTER] = { "raw_syscalls", "sys_enter", { [FIELD_ID] = "id" } },
	[LEAVE] = { "raw_syscalls", "sys_exit", { [FIELD_ID] = "id", [FIELD_RET] = "ret" },
		    .filter = "ret<0" OR_ID_IS(__NR_chdir) OR_ID_IS(__NR_fchdir) OR_ID_IS(__NR_chroot) OR_ID_IS(__NR_pivot_root)
			      OR_ID_IS(__NR_unshare) OR_ID_IS(__NR_setns) OR_ID_IS(__NR_openat) OR_ID_IS(__NR_openat2)
			      OR_ID_IS(__NR_dup) OR_ID_IS(__NR_dup3) OR_ID_IS(__NR_fcntl) OLD_CALLS },
};

/* Whether rows have paths. */
static bool has_paths(const struct syscalls *c)
{
	return c->failed || c->by_path;
}

/* Whether a call has a row of its own: not all calls have a path, and --match leaves out some. */
static bool is_wanted(struct syscalls *c, const struct happening *h, int64_t id, const char *given)
{
	const struct pathmatch_call call = { h->pid, h->tid, id, given, callpaths_second(&c->paths, h->tid, given), !h->error };
	const bool is_one = c->failed ? h->error : !c->by_path || *given;
	const enum pathmatch_found found = is_one ? pathmatch_find(&c->match, &call, &c->path) : PATHMATCH_NO;

	if (found == PATHMATCH_UNKNOWN && !(c->failed && notfailed_is(id, h->error)))
		commcounts_add(&c->errors.nowhere, h->comm);
	return found == PATHMATCH_YES;
}

/* In tables, "futex(202)"; in events, "futex" (call_word()). */
static const char *call_text(struct question *q, uint64_t nr, char *buf, size_t size)
{
	return call_name((int64_t)nr, buf, size);
}

static const char *call_word(struct question *q, uint64_t nr, char *buf, size_t size)
{
	call_name((int64_t)nr, buf, size);
	buf[strcspn(buf, "(")] = '\0';
	return buf;
}

static bool is_error(int64_t ret)
{
	return ret < 0 && ret >= -MAX_ERRNO;
}

/* "ENOENT"; "": none. */
static const char *error_word(struct question *q, uint64_t error, char *buf, size_t size)
{
	return error ? error_name((int)error, buf, size) : "";
}

enum { CALL, WORD, NR, RET, ERROR };
static const struct column columns[] = {
	[CALL] = { "call", COLUMN_TEXT, COLUMN_KEY, .text = call_text },
	[WORD] = { "call", COLUMN_TEXT, COLUMN_FIELD, 32, .text = call_word },
	[NR] = { "nr", COLUMN_SIGNED, COLUMN_FIELD },
	[RET] = { "ret", COLUMN_SIGNED, COLUMN_FIELD },
	[ERROR] = { "error", COLUMN_TEXT, COLUMN_FIELD, 24, .text = error_word },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX, SHOW_ERRORS, SHOW_ERRNOS,
};

/* The sys_exit of a call whose number was not sampled may be lost; of calls that succeed it is not there with --errors, so that the
 * next sys_enter, on any CPU, is needed to know that one has returned. */
static bool is_in(const struct question *q, const struct open_pair *o, int64_t call)
{
	const struct syscalls *c = (const struct syscalls *)q;

	if (c->numbered)
		return (int64_t)o->value == call && !(c->failed && gaps_anywhere_since(&c->gaps, o->start));
	return !gaps_since(&c->gaps, (uint32_t)o->value, o->start);
}

static bool wants(const struct question *q, int64_t call)
{
	return callchoice_has(&((struct syscalls *)q)->calls, call);
}

static void print_hint(const struct syscalls *c)
{
	const struct question *q = &c->question;

	if (q->common.json || q->csv || *c->paths.why)
		return;
	if (!c->match.found && c->match.nglobs)
		puts("no path matched: --match compares with whole paths, as '/etc/*' or '*/app.conf' does; files that are open already have none");
	for (size_t i = 0; q->targets->input && i < c->match.nglobs; i++) {
		if (*c->match.globs[i] != '/')
			continue;
		puts("in a recording, symbolic links in paths are not followed: calls that give such a path through a link are missing");
		return;
	}
}

/* Calls with a descriptor alone, such as read(2), have no path. */
static void print_pathless(struct syscalls *c)
{
	const struct question *q = &c->question;

	if (!c->by_path || !c->calls.names || q->common.json || q->csv || *c->paths.why)
		return;
	for (int64_t i = 0; i < CALLSET_NUMBERS; i++)
		if (callchoice_has(&c->calls, i) && callpaths_may_have(&c->paths, i))
			return;
	puts("none of the calls of --call has a path as an argument, such as openat has: read, write and the like have a descriptor");
}

static void after_table(struct question *q, uint64_t from)
{
	struct syscalls *c = (struct syscalls *)q;

	callerrors_print(&c->errors, q, from, c->paths.why);
	notfailed_print(&c->mild, q);
	if (q->ending) {
		print_hint(c);
		print_pathless(c);
	}
	if (!has_paths(c) || !q->targets->input)   /* whether calls hang is another question */
		unreturned_print(&c->unreturned, q, from);
}

/* ---- samples ---------------------------------------------------------------------------- */

/* The value of a pair, for belongs(): the call if its number is sampled, else the CPU; in both cases with the call's table. */
static uint64_t beginning(const struct syscalls *c, const struct analysis_sample *s)
{
	return (uint64_t)sampled_call(s, c->numbered ? trace_field_sint(c->question.fields[ENTER][FIELD_ID], s->view.raw) : s->cpu);
}

/* Whether a sys_exit belongs to the thread's last sys_enter. */
static bool belongs(const struct syscalls *c, const struct analysis_sample *s, const struct pair_end *end, int64_t id)
{
	if (c->numbered)   /* calls that succeed have no sys_exit with --errors: another one may be lost before that of this call */
		return (call_number((int64_t)end->value) == id || !(syscall_has_result((int64_t)end->value) || syscall_has_result(id))) &&
		       !(c->failed && gaps_since(&c->gaps, s->cpu, end->start));
	return !gaps_since(&c->gaps, (uint32_t)end->value, end->start) && !gaps_since(&c->gaps, s->cpu, end->start);
}

static void count(struct syscalls *c, const struct happening *h, const char *path)
{
	struct question *q = &c->question;
	const struct callerror one = {
		path, has_paths(c) ? c->match.second : 0, has_paths(c) ? pathmatch_flags(&c->match, h->tid, (int64_t)h->end.value) : 0,
		has_paths(c) && h->s->event->layout.callchain ? analysis_stack(q->a, h->s) : NULL,
	};

	callerrors_add(&c->errors, q, h, &one);
}

static void print_line(struct syscalls *c, const struct happening *h, int64_t id)
{
	const struct callline line = {
		id, (int64_t)h->cells[RET].number, parents_of(&c->parents, h->pid), has_paths(c) ? c->path : "",
		has_paths(c) ? c->match.second : 0, has_paths(c) ? pathmatch_flags(&c->match, h->tid, id) : 0,
	};
	struct happening named = *h;

	named.comm = analysis_comm(c->question.a, h->tid);   /* valid until the next look, and the row has looked up others */
	calllines_print(&c->question, &named, &line);
}

static void take_call(struct syscalls *c, const struct happening *h, int64_t id, const char *given)
{
	struct question *q = &c->question;

	if (!callchoice_has(&c->calls, id) || !commchoice_has(&c->question.common.comms, h->comm))
		return;
	if (has_paths(c) && (h->error || !c->failed) && callpaths_is_missing(&c->paths, h->tid, h->end.start, id) &&
	    !pathmatch_lacks_path(&c->match, h->tid, id))
		callerrors_add_unseen(&c->errors, h);
	if (!is_wanted(c, h, id, given))
		return;
	if (c->failed && notfailed_is(id, h->error)) {
		notfailed_add(&c->mild, id, h->error);
		return;
	}
	question_emit(q, h);
	if (q->a && (h->error || c->by_path))
		count(c, h, c->path);
	if (c->lines)
		print_line(c, h, id);   /* last: it looks up another name */
}

/* What follows for the paths of later calls. A path that was cut is not known. */
static void succeeded(struct syscalls *c, const struct happening *h, int64_t ret)
{
	const char *path = callpaths_text(&c->paths, h->tid, h->end.start, (int64_t)h->end.value);
	const struct pathmatch_call call = { h->pid, h->tid, (int64_t)h->end.value, strlen(path) < CALLPATH_SIZE - 1 ? path : "", NULL, true };

	pathmatch_succeeded(&c->match, &call, ret, h->s->time);
}

static void finish(struct syscalls *c, const struct happening *h)
{
	const int64_t id = (int64_t)h->end.value;

	take_call(c, h, id, callpaths_text(&c->paths, h->tid, h->end.start, id));
	if (!h->error && pathmatch_is_following(&c->match))
		succeeded(c, h, (int64_t)h->cells[RET].number);   /* after its path was resolved */
}

static void finish_held(struct syscalls *c, struct happening *h)
{
	if (!h)
		return;
	h->comm = analysis_comm(c->question.a, h->tid);
	finish(c, h);
	heldcalls_remove(&c->held, h);
}

/* The arguments of a call that is held are forgotten when its task ends. */
static bool may_path_follow(struct syscalls *c, const struct happening *h, int64_t id)
{
	return callpaths_may_follow(&c->paths, h->tid, h->end.start, id) && !pathmatch_lacks_path(&c->match, h->tid, id);
}

static void leave(struct question *q, const struct analysis_sample *s)
{
	struct syscalls *c = (struct syscalls *)q;
	const int64_t left = trace_field_sint(q->fields[LEAVE][FIELD_ID], s->view.raw);
	int64_t id = syscall_left(left);
	int64_t ret = trace_field_sint(q->fields[LEAVE][FIELD_RET], s->view.raw);
	struct happening h = { .s = s, .pid = s->pid, .tid = s->tid };

	if (!pairs_end(&q->pairs, s->time, (uint64_t)s->tid, &h.end))
		return;
	if (!belongs(c, s, &h.end, id)) {
		q->pairs.unbegun++;
		return;
	}
	id = left < 0 ? id : (int64_t)(h.end.value >> 32 << 32 | (uint64_t)id);
	h.end.value = (uint64_t)id;
	h.comm = q->a ? analysis_comm(q->a, s->tid) : NULL;
	h.error = syscall_has_result(id) && is_error(ret) ? (int)-ret : 0;
	h.cells[CALL].number = h.cells[WORD].number = (uint64_t)id;
	h.cells[NR].number = (uint64_t)call_number(id);
	h.cells[RET].number = (uint64_t)ret;
	h.cells[ERROR].number = (uint64_t)h.error;
	if (!may_path_follow(c, &h, id) || !heldcalls_keep(&c->held, &h))
		finish(c, &h);
}

static void take_path(struct syscalls *c, const struct analysis_sample *s)
{
	struct happening *h = heldcalls_find(&c->held, s->tid);

	if (!callpaths_is_after(&c->paths, s)) {
		callpaths_take(&c->paths, &c->question, s);
	} else if (h) {
		callpaths_take_after(&c->paths, s, h->end.start);
		finish_held(c, h);
	}
}

/* On x86-64 the kernel adds a system call, uretprobe(2), to a function whose return is probed. Like rt_sigreturn, it ends with the
 * number -1; so only a recording in which beginnings have numbers tells the two apart. */
static bool is_of_probe(struct syscalls *c, const struct analysis_sample *s)
{
	enum { URETPROBE = 335, UPROBE = 336 };
	struct question *q = &c->question;
	int64_t id;

	if (s->event == q->events[ENTER] && c->numbered) {
		id = (int64_t)beginning(c, s);
		return IS_X86_64 && (id == URETPROBE || id == UPROBE);
	}
	return c->numbered && s->event == q->events[LEAVE] && !pairs_find(&q->pairs, (uint64_t)s->tid) &&
	       trace_field_sint(q->fields[LEAVE][FIELD_ID], s->view.raw) == -1;
}

static void sample(struct question *q, const struct analysis_sample *s)
{
	struct syscalls *c = (struct syscalls *)q;

	if (is_of_probe(c, s))
		return;
	pathmatch_at(&c->match, s->time);
	if (s->event == q->events[ENTER]) {
		finish_held(c, heldcalls_find(&c->held, s->tid));
		pairs_start(&q->pairs, s->time, (uint64_t)s->tid, beginning(c, s));
		callpaths_enter(&c->paths, s);
		if (c->match.args.field)
			pathmatch_enter(&c->match, s, (int64_t)beginning(c, s));
	} else if (s->event == q->events[LEAVE]) {
		leave(q, s);
	} else {
		take_path(c, s);
	}
}

static void before_table(struct question *q)
{
	struct syscalls *c = (struct syscalls *)q;

	for (struct happening *h; q->ending && (h = heldcalls_any(&c->held));)
		finish_held(c, h);
}

/* Whether a filter, of --errors or the user, leaves out calls: then a sys_exit may be another one's. */
static bool leaves_out(struct question *q)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		const struct stream_event *event = question_event(q, events[i].sys, events[i].name);

		if (event && event->asked.filter)
			return true;
	}
	return false;
}

static uint64_t reads(struct question *q, const struct stream_event *event)
{
	const struct syscalls *c = (struct syscalls *)q;

	if (event == question_event(q, events[ENTER].sys, events[ENTER].name))
		return PERF_SAMPLE_REGS_USER | (leaves_out(q) || has_paths(c) ? PERF_SAMPLE_RAW : 0);
	if (has_paths(c) && event == question_event(q, events[LEAVE].sys, events[LEAVE].name))
		return PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN;
	return PERF_SAMPLE_RAW;
}

/* Whether only some calls can have a row: of those that fail, unless the glob matches no path at all, too. */
static bool is_of_paths(const struct syscalls *c)
{
	return c->by_path || (c->failed && c->match.nglobs && !pathmatch_fits(&c->match, ""));
}

/* Whether calls are followed for the paths of others: of a recording, others may be asked later. */
static bool follows(const struct syscalls *c)
{
	return is_of_paths(c) && (pathmatch_is_whole(&c->match) || c->question.targets->record);
}

static int watch_paths(struct question *q, struct fault *f)
{
	struct syscalls *c = (struct syscalls *)q;
	struct callset wanted = { .newer = c->calls.names ? 0 : CALLSET_NUMBERS };
	struct stream_opts *o = &q->common.stream;

	o->chains.of_calls = true;
	o->kernel_callchain = o->kernel_callchain ? o->kernel_callchain : -1;   /* at sys_exit it is always the same */
	for (int64_t i = 0; i < CALLSET_NUMBERS; i++)
		wanted.has[i] = callchoice_has(&c->calls, i) || callchoice_has(&c->calls, call_of_32(i)) || (follows(c) && pathmatch_follows_call(i));
	return callpaths_watch(&c->paths, q, &wanted, f);
}

/* The calls that can have a row, and those that are followed. */
static void choose(struct syscalls *c, struct callset *s)
{
	const bool paths = is_of_paths(c);
	int64_t newest = 0;

	for (int64_t i = 0; i < CALLSET_NUMBERS; i++) {
		s->has[i] = ((callchoice_has(&c->calls, i) || callchoice_has(&c->calls, call_of_32(i))) && (!paths || callpaths_may_have(&c->paths, i))) ||
			    (follows(c) && pathmatch_follows_call(i));
		newest = syscall_name(i) ? i : newest;
	}
	if (has_paths(c) && c->paths.programs.n && syscall_left(-1) > 0)
		s->has[syscall_left(-1)] = true;   /* ends the wait for a path of the handler's last call: the interrupted one's comes next */
	s->newer = paths && !c->calls.names && !c->paths.programs.n ? (int)newest + 1 : 0;
	s->left_signal = syscall_left(-1) > 0 && s->has[syscall_left(-1)];
}

/* The rest would cost the watched programs several times the time of a short call. */
static const char *chosen_filter(struct question *q, size_t event)
{
	struct syscalls *c = (struct syscalls *)q;
	struct callset calls = { .newer = 0 };
	const char *own = q->ops->events[event].filter;

	if (q->targets->input || !syscall_name(0) || !(c->calls.names || is_of_paths(c)))
		return NULL;
	choose(c, &calls);
	c->filters[event] = callset_filter(&calls, own);
	return c->filters[event];
}

static void task(struct question *q, const struct pev_record *rec)
{
	struct open_pair *o = rec->type == PERF_RECORD_EXIT ? pairs_find(&q->pairs, (uint64_t)rec->task.tid) : NULL;

	if (o)
		pairs_lose(&q->pairs, o);
	if (((struct syscalls *)q)->lines)
		parents_take(&((struct syscalls *)q)->parents, rec);
	pathmatch_task(&((struct syscalls *)q)->match, rec);
}

static void lost(struct question *q, const struct stream_loss *loss)
{
	gaps_add(&((struct syscalls *)q)->gaps, loss);
	pathmatch_lost(&((struct syscalls *)q)->match);
}

static uint64_t now(void *ctx)
{
	return analysis_now(ctx);
}

static void keep(void *ctx, const char *line)
{
	const struct analysis *a = ctx;

	stream_keep_folder(a->stream, line);
}

/* Whether the user leaves out calls, such as chdir(2): then no folder is known for long. */
static bool is_filtered(const struct question *q, size_t i)
{
	const char *chosen = ((const struct syscalls *)q)->filters[i], *own = chosen ? chosen : q->ops->events[i].filter;
	const char *filter = q->events[i]->asked.filter;

	return filter && (!own || strcmp(filter, own));
}

static void follow(struct syscalls *c)
{
	struct question *q = &c->question;
	const struct replay *replay = q->targets->input && q->a ? stream_replay(q->a->stream) : NULL;
	const struct perfdata_info *recorded = replay ? replay_info(replay) : NULL;

	c->match.ordered = c->paths.ordered;
	c->match.untracked = is_filtered(q, ENTER) || is_filtered(q, LEAVE);
	c->match.folders = (struct folders){ .now = q->targets->input ? NULL : now, .keep = q->targets->record ? keep : NULL, .ctx = q->a };
	for (size_t i = 0; recorded && i < recorded->nfolders; i++)
		keptfolders_take(&c->match.folders.kept, recorded->folders[i].text, recorded->folders[i].size);
}

static void begin_paths(struct syscalls *c)
{
	struct question *q = &c->question;
	struct fault no;

	callpaths_begin(&c->paths, q);
	c->match.args.field = c->numbered && q->a ? analysis_field(q->events[ENTER], "args", true, &no) : NULL;
	c->errors.has_flags = c->match.args.field;
	for (int64_t i = 0; i < CALLSET_NUMBERS; i++)
		c->errors.two |= callchoice_has(&c->calls, i) && callpaths_has_two(i);
}

static int begin(struct question *q, struct fault *f)
{
	struct syscalls *c = (struct syscalls *)q;

	c->numbered = q->events[ENTER]->layout.raw;
	c->parents.recorded = q->targets->input;
	c->errors.paths = has_paths(c);
	c->errors.all = c->by_path;
	if (has_paths(c))
		begin_paths(c);
	c->match.keeps = c->by_path && q->targets->record && q->a;
	if (pathmatch_is_following(&c->match))
		follow(c);
	c->unreturned.enter = q->events[ENTER];
	c->unreturned.is_in = is_in;
	c->unreturned.wants = wants;
	c->unreturned.is_whole = c->numbered && !c->failed && !leaves_out(q);
	c->unreturned.gaps = &c->gaps;
	if (q->a)
		unreturned_begin(&c->unreturned, q->targets);
	return 0;
}

static void started(struct question *q)
{
	struct syscalls *c = (struct syscalls *)q;

	if (pathmatch_is_following(&c->match) && !c->match.untracked)
		folders_read_all(&c->match.folders);
	if (c->lines)
		parents_read_all(&c->parents);
}

static void release(struct question *q)
{
	struct syscalls *c = (struct syscalls *)q;

	callerrors_free(&c->errors);
	notfailed_free(&c->mild);
	callpaths_free(&c->paths);
	parents_free(&c->parents);
	heldcalls_free(&c->held);
	pathmatch_free(&c->match);
	gaps_free(&c->gaps);
	unreturned_free(&c->unreturned);
	for (size_t i = 0; i < sizeof(c->filters) / sizeof(*c->filters); i++)
		free(c->filters[i]);
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	const char *path = ((struct syscalls *)q)->path;
	char call[64];

	snprintf(buf, size, "%s %d %s%s%s", h->comm, pidmap_shown(h->tid), call_name((int64_t)h->end.value, call, sizeof(call)),
		 *path ? " " : "", path);
}

static bool between(struct question *q, const struct analysis_sample *s, const struct happening *h)
{
	return s->tid == h->tid;
}

#define QUESTION \
	.name = "syscalls", .durations = "calls", QUESTION_COLUMNS_ARE(columns), .tasks = true, \
	.shown = shown, .nshown = sizeof(shown) / sizeof(*shown), \
	.print = "\"%s = %lld%s%s after %llu.%03llu us\", REC->call, REC->ret, REC->error[0] ? \" \" : \"\", REC->error, " \
		 "REC->duration / 1000, REC->duration % 1000", \
	.filter = chosen_filter, .reads = reads, .begin = begin, .started = started, .sample = sample, .task = task, .lost = lost, \
	.before_table = before_table, .after_table = after_table, .release = release, .title = title, .between = between
static const struct question_ops question = {
	QUESTION, QUESTION_EVENTS_ARE(events), .or_stacks = "; with --errors, those of calls that fail; with --paths, of calls that use a path",
};
/* Only one table is left: that with paths. */
#define PATHS_QUESTION QUESTION, .watch = watch_paths, .own_table = true, .stacks = true
static const struct question_ops failed_question = { PATHS_QUESTION, QUESTION_EVENTS_ARE(failed_events) };
static const struct question_ops followed_question = { PATHS_QUESTION, QUESTION_EVENTS_ARE(followed_events) };
static const struct question_ops paths_question = { PATHS_QUESTION, QUESTION_EVENTS_ARE(events) };

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct opt_parser chosen = *args;
	struct syscalls *c = config;

	if (c->lines && (c->question.csv || c->question.csv_safe))
		return fault_usage(f, "syscalls: --csv and --lines: give one of them");
	if (c->match.nwithout && !c->match.nglobs)
		c->match.globs[c->match.nglobs++] = "*";
	c->by_path = (c->by_path || c->match.nglobs) && !c->failed;   /* --errors has paths, too */
	if (c->failed)
		chosen.subject = pathmatch_is_whole(&c->match) ? &followed_question : &failed_question;
	else
		chosen.subject = c->by_path ? &paths_question : &question;
	return question_run(config, &chosen, f);
}

/* ---- the command ------------------------------------------------------------------------ */

#define ERRORS_OPT(help) { "errors", 0, NULL, OPT_FLAG, offsetof(struct syscalls, failed), NULL, help, false, NULL }
static const struct opt call_opts[] = {
	ERRORS_OPT("Show only calls that fail, the most frequent first, with their path or address. With -g, also the stacks "
		   "that make them."),
	{ "paths", 0, NULL, OPT_FLAG, offsetof(struct syscalls, by_path), NULL,
	  "Show which files and addresses calls use, the most frequent first: a row for each task, call and path. With -g, also the "
	  "stacks that make them.", false, NULL },
	{ "match", 0, NULL, OPT_CALL, offsetof(struct syscalls, match), "GLOB",
	  "As --paths, but only paths and addresses that match, such as '/etc/*', '*.log' or '*:443'; with --errors, only those of calls "
	  "that fail. For a glob that begins with / or */, relative paths are resolved (by the current folder of their process, or their "
	  "descriptor), and symbolic links to the folder of a path. Give it once for each glob: paths that match one of them are shown. "
	  "With '!', all but these: --match '/etc/*' --match '!/etc/ld.so.*'.", false, pathmatch_parse },
	{ "call", 0, NULL, OPT_CALL, offsetof(struct syscalls, calls.names), "NAMES",
	  "Show only these calls: names or globs with commas between them, such as 'connect,unlink*,rename*'; with '!', all but these: "
	  "'!futex,!poll'.", false, callchoice_parse },
	{ "comms", 0, "comm", OPT_STRINGS, offsetof(struct syscalls, question.common.comms), "NAMES",
	  "Show only calls of tasks with these names: names or globs with commas between them, such as 'app,work*'; with '!', of all but "
	  "these: '!systemd*'. Repeatable.", false, NULL },
	{ "lines", 0, NULL, OPT_FLAG, offsetof(struct syscalls, lines), NULL,
	  "Print a line for each of these calls when it returns, as strace does: time, task, the parent of its process, call and result; "
	  "with --paths, --match and --errors, also flags and path.", false, NULL },
};
static const struct opt source_opts[] = { ERRORS_OPT("Emit only calls that fail.") };
static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("thread");
static const struct opt by_opts[] = QUESTION_BY_OPTS(QUESTION_BY_TARGET);

const struct command syscalls_command = {
	.usual = "errors paths match call than by pids interval call-graph rows input json",
	.mode = OPT_MODE_COMMAND, .config_size = sizeof(struct syscalls), .defaults = analysis_defaults, .release = analysis_release,
	.run = run,
	OPT_GROUP_ROWS(
		{ "System calls", call_opts, sizeof(call_opts) / sizeof(*call_opts), 0 },
		QUESTION_DURATIONS_GROUP(duration_opts), QUESTION_BY_GROUP(by_opts), QUESTION_EVENTS_GROUP, QUESTION_RUN_GROUPS),
	.name = "syscalls", .usage = QUESTION_USAGE,
	.description = COMMAND_TEXT(
		"Which system calls take the time, and which fail? Prints a row for each thread and call; without a "
		"target, threads with the same name share a row (--by task: each has its own). Errors are counted, and "
		"listed by errno in a second table.",
		"--errors shows only calls that fail, in one table: a row for each task, call, error and path, the most frequent "
		"first. --paths shows all calls that use a path, in such a table. For connect and bind, the path is an address; for open and "
		"openat, the column flags says whether the file is opened to read or write (r, w, rw) and to create or truncate it. "
		"Paths are the kernel's copies, which the calls used; they come from kprobes, which exist during the run. If the "
		"kernel has no kprobes, they come from uprobes in the C library, the loader and static or Go programs (those of -p and "
		"the command) instead; lines count and name the calls whose path is not known. If you may not create probes, rows have no "
		"paths, and a line says why. "
		"Each table keeps at most 10,000 different paths, each cut after 1023 bytes; the rest share the path [others]. "
		"With -g, the ten stacks with the most calls follow, each for all threads of a process; with --by, for each row.",
		"--errors does not count EAGAIN, EINPROGRESS of connect, ETIMEDOUT of futex, EINTR and ERESTART*: a line below the "
		"table adds them up.",
		"With --paths, --match and --call, the kernel leaves out all other calls, so that they are slowed down little.",
		"--than prints each longer call when it returns; with -g, also the stack that made it.",
		"--heatmap draws all calls: when they returned, and how long they took.",
		"Calls that began before perf-prof, or did not return before its end, are not in the table, but counted "
		"below it. With -p, -t or a command, a line names each thread that hangs in a call, and what it waits on: a lock, file, "
		"socket, path, child or descriptors, and the Python functions that called it. With -i, the line comes after the first "
		"whole interval in which it hung, and at the end. "
		"The events are raw_syscalls:sys_enter and sys_exit; use -e to filter them, such as -e "
		"'raw_syscalls:sys_enter/id==0/,raw_syscalls:sys_exit/id==0/'."),
	.summary = "measure how long system calls take, and count their errors",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof syscalls -p 1234 -i 1000", "measure the calls of a process, each second" },
		{ "perf-prof syscalls --than 100ms -g", "print calls that take longer than 100 ms, and the stacks that made them" },
		{ "perf-prof syscalls --errors -g -p 1234", "show which calls of a process fail, on which files, and who calls them" },
		{ "perf-prof syscalls --match '/etc/*'", "show which processes open, look up or change files below /etc" },
		{ "perf-prof syscalls --match '/etc/*' --lines", "print a line for each such call, as strace does" },
		{ "perf-prof syscalls --match '/srv/*' --call 'unlink*,rename*'", "show which processes delete or rename files below /srv" },
		{ "perf-prof syscalls -- ls -R /usr/lib", "measure the calls of a command" },
		{ "perf-prof syscalls -p 1234 --heatmap calls.svg", "draw when the calls of a process were slow" }),
};

static const struct opt_group source_groups[] = {
	{ "System calls", source_opts, sizeof(source_opts) / sizeof(*source_opts), 0 }, QUESTION_SOURCE_GROUPS,
};

const struct source_ops syscalls_source = {
	QUESTION_SOURCE(question, struct syscalls), OPT_GROUPS(source_groups), .name = "syscalls",
	.summary = "each system call, when it returns",
};
