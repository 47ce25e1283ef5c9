/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session inside another program: a stream that a thread of its own reads into batches.
 *
 *	s = session_new(&asked, &f);      everything is open and enabled
 *	session_next(s, &batch, &f)       does not wait; poll session_fd(s)
 *	session_close(s);                 from any thread
 *	session_release(s);
 *
 * The thread installs no signal handler and prints nothing. It opens the events, too, because the
 * rings' own events are of the thread that opens them. If its program takes no batches, it waits,
 * and the kernel counts what is lost. It never calls back into the program.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "session/stacktable.h"

struct session;

/* What is asked for. Fields of `stream` are as option parsers fill them in from `words`. */
struct session_asked {
	char **words;                   /* options, as on a command line; ends with NULL */
	struct stream_opts stream;
	char **fields;                  /* names of columns; NULL: all */
	size_t nfields;
	char *filter;                   /* see stream_opts; or NULL */
	char **command;                 /* a program to watch, ends with NULL; or NULL */
	uint64_t ns;                    /* the run ends after this time; 0: it does not */
	bool stacks;                    /* the column _stack is there if a recording has call chains */
	bool everybody;                 /* all tasks are watched, also those that the command did not start */
	bool hold;                      /* nothing is opened before the session is first read: session_choose() */
};

void session_asked_init(struct session_asked *asked);
/* Parses asked->words. 0, or -1 with f. */
int session_asked_parse(struct session_asked *asked, const struct source_ops *const *sources, struct fault *f);
void session_asked_free(struct session_asked *asked);
/* Frees words that end with NULL; NULL: nothing. */
void session_free_words(char **words);

/* Takes over *asked, also if it fails, and zeroes it. NULL with f. Waits until the run has begun; a recording, and a session
 * with `hold`, begin only when they are first read. */
struct session *session_new(struct session_asked *asked, struct fault *f);
/* Before it is first read: only these events (names, NULL: all) and these fields; both end with NULL, and are taken over, also
 * if it fails. Changes session_columns(). 0; 1: the run has begun, so nothing changes; or -1 with f: then it is over. */
int session_choose(struct session *s, char **events, char **fields, struct fault *f);
struct session *session_keep(struct session *s);
void session_release(struct session *s);

/* The columns of all its batches; they live as long as the session, or until session_choose(). */
struct columns *session_columns(struct session *s);
/* The names of its events; ends with NULL. */
const char *const *session_events(const struct session *s);
/* How the events fill them. */
const struct plans *session_plans(const struct session *s);
/* Readable while session_next() would not return SESSION_WAIT. */
int session_fd(struct session *s);

enum session_answer {
	SESSION_BATCH,                  /* *out is the caller's */
	SESSION_WAIT,
	SESSION_END,
	SESSION_FAILED,                 /* with f; reported once, then SESSION_END */
	SESSION_FORKED,                 /* this process is a fork of the one that has the session */
};
enum session_answer session_next(struct session *s, struct batch **out, struct fault *f);

/* Gives back the fault of SESSION_FAILED: session_next() reports it again. */
void session_fail(struct session *s, const struct fault *f);

/* Ends the run and waits for the thread. Batches that are ready can still be taken. */
void session_close(struct session *s);
bool session_is_closed(struct session *s);
/* In a fork of the process that has the session: the thread that is not there may have left its locks locked, so there is
 * nothing to ask, and it is not closed. */
bool session_is_forked(const struct session *s);
/* Drops the batches that nobody took. */
void session_drop(struct session *s);

/* The call stacks of its rows; NULL: it has no column _stack. It lives as long as the session. */
struct stacktable *session_stacktable(struct session *s);
/* stacktable_wait(), which the session's thread answers as soon as it can. */
bool session_wait_for_stack(struct session *s, size_t stack, unsigned int ms);

struct session_loss {
	int cpu;                        /* -1: not known */
	enum stream_loss_cause cause;
	uint64_t count, times;          /* events; losses (throttled: pauses) */
};

/* A gap in the events. */
struct session_gap {
	uint64_t start, end, count;     /* ns; 0: not known */
	int cpu;                        /* -1: not known */
	enum stream_loss_cause cause;
};

struct session_stats {
	struct stream_totals totals;
	uint64_t batches, rows;         /* made */
	uint64_t waiting;               /* batches not taken yet */
	uint64_t decoded;               /* values */
	uint64_t short_of_memory;       /* rows and values that are missing */
	uint64_t cpu_ns;                /* CPU time of the thread */
	uint64_t stacks, no_stack;      /* different call stacks; samples without one, because these are too many */
	int status;                     /* exit status of the command; -1: none, or it runs */
	struct session_loss *losses;
	size_t nlosses;
};

/* How it stands. False: no memory, or a fork. Free `losses` with free(). */
bool session_stats(struct session *s, struct session_stats *stats);
enum { SESSION_GAPS = 1 << 16 };
/* The i-th gap so far. False: there are no more, or it is not among the first SESSION_GAPS. */
bool session_gap(struct session *s, size_t i, struct session_gap *gap);
/* When the run has ended by itself: waits until the names of its stacks are there, which may bring notes, for `ms` at most.
 * False: they are not. */
bool session_wait_for_names(struct session *s, unsigned int ms);
/* Adds a note. */
void session_add_note(struct session *s, const char *text);
/* The i-th hint that the run had, such as a lowered frequency; NULL: there are no more. */
const char *session_note(struct session *s, size_t i);
#endif
