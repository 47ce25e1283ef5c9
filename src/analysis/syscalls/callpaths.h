/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths and addresses that threads give to system calls. The kernel copies a path from the program's memory before it uses it;
 * a probe where that copy is returned has it exactly, even if the program changes its memory at once:
 *
 *	raw_syscalls:sys_enter -> kretprobe:getname_flags: the path -> raw_syscalls:sys_exit: ENOENT
 *
 * Addresses come from probes at the security hooks of connect() and bind(), which get the kernel's copy, too. A kernel without
 * kprobes has uprobes at functions of the C library instead (libccalls.h); such a probe comes before the call that it is about.
 * Events of -e and of recordings count as probes if they have a text field `path`.
 */
#ifndef ANALYSIS_SYSCALLS_CALLPATHS_H
#define ANALYSIS_SYSCALLS_CALLPATHS_H

#include "analysis/syscalls/callset.h"
#include "rows/question.h"

/*
 * Functions of the C library that make system calls with a path or an address, and probes at their entries, for kernels
 * without kprobes. The library is found in the run's processes, in containers too. The loader, and programs with the library
 * inside or in Go, have probes where they make such calls (callsites.h). Where a function is simple enough, its probe is at a later
 * instruction, which costs less (probeplaces.h).
 */

#define LIBCCALLS_ALIAS "path"   /* the events' names are this and a number; of probes behind the system call: */
#define LIBCCALLS_ALIAS_AFTER LIBCCALLS_ALIAS "after"
enum { LIBCCALLS_FILES = 16, LIBCCALLS_EVENTS = 14 };   /* at most; for each file */

/* The files with probes: the events name these descriptors, as another file may be at a path by the time when they are opened.
 * Initialized by zeros. */
struct libccalls {
	int fds[LIBCCALLS_FILES];
	size_t n;
};

enum { CALLPATH_SIZE = 1024, CALLPATH_EVENTS = 256, CALLPATH_NUMBERS = 6 };   /* bytes with the final NUL; events with paths */

/* What a probe fetches where the second argument is an address of a socket and the third its length. */
#define CALLPATH_ADDRESS_ARGS \
	"sa_family=+0($arg2):u16 sa_port=+2($arg2):u16 sa_addr=+4($arg2):u32 sa_addr6=+8($arg2):u64 sa_addr6_low=+16($arg2):u64 " \
	"sa_len=$arg3:s32 sa_path=+2($arg2):string sa_name=+3($arg2):string"

/* Initialized by zeros. */
struct callpaths {
	struct callpaths_event {
		const struct stream_event *event;
		const struct trace_field *text;                       /* the path */
		const struct trace_field *second;                     /* a second path, or NULL */
		bool after;                                           /* the call has returned: libccalls.h */
		const struct trace_field *abstract;                   /* of addresses: the name of a Unix socket without a path */
		const struct trace_field *numbers[CALLPATH_NUMBERS];  /* of addresses; NULL: it is a path */
	} events[CALLPATH_EVENTS];
	size_t n;
	struct groups all;           /* of struct callpath, by thread */
	struct libccalls programs;   /* probes in programs; none: in the kernel */
	bool unneeded;               /* none of the calls has a path */
	bool in_programs;            /* paths come from probes in programs, which do not see all calls */
	bool after;                  /* some of these see them when the call has returned */
	bool ordered;                /* a call's first path is its first argument that is one */
	char why[256];               /* why there are no paths; "": there are */
	uint8_t has_path[1024];      /* by the call's number: 0: not looked up, 1: it has none, 2: it has one */
};

/* Adds the probes for these calls to the run's events, if this kernel has them: all who make a call that is probed pay for it. 0, or
 * -1 with f. */
int callpaths_watch(struct callpaths *p, struct question *q, const struct callset *wanted, struct fault *f);
/* Finds the events that have paths. */
void callpaths_begin(struct callpaths *p, struct question *q);
/* True: the sample's event is one of them, and its path is stored. */
bool callpaths_take(struct callpaths *p, const struct question *q, const struct analysis_sample *s);
/* Whether the sample has the path of the thread's call that has returned. */
bool callpaths_is_after(const struct callpaths *p, const struct analysis_sample *s);
/* Stores it for the call that began then. */
void callpaths_take_after(struct callpaths *p, const struct analysis_sample *s, uint64_t since);
/* A thread begins a call. */
void callpaths_enter(struct callpaths *p, const struct analysis_sample *s);
/* The path of the thread's call that began then; "": it has none, or it is not known. Valid until the next sample. */
const char *callpaths_text(struct callpaths *p, pid_t tid, uint64_t since, int64_t call);
/* Where the second path begins in that text, behind ", "; NULL: it has none. */
const char *callpaths_second(const struct callpaths *p, pid_t tid, const char *text);
/* Whether that call has a path or an address that no probe saw. */
bool callpaths_is_missing(struct callpaths *p, pid_t tid, uint64_t since, int64_t call);
/* Whether a probe may still see the path of that call, which has returned. */
bool callpaths_may_follow(struct callpaths *p, pid_t tid, uint64_t since, int64_t call);
/* Once its probes are chosen: whether they can see a path of a call of that number. */
bool callpaths_may_have(const struct callpaths *p, int64_t call);
/* Whether calls of that number have two paths. */
bool callpaths_has_two(int64_t call);
/* The first path of a text whose second begins there. Returns buf. */
char *callpaths_first(const char *text, size_t second, char buf[CALLPATH_SIZE]);
void callpaths_free(struct callpaths *p);
#endif
