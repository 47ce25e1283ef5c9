/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where strangers' ELF and DWARF are parsed: in a process without any privilege (nobody, no
 * capability, no_new_privs, a seccomp filter that leaves reading, memory and the answer),
 * or, where this process has none itself, right here.
 *
 * Whoever has something to parse defines a kind of request: a row in parser_kinds.c with a
 * handler, which gets descriptors and bytes and gives bytes. The asker needn't know where
 * the handler runs. What the handler gives comes from a process that may have been taken
 * over by a hostile file: the asker checks it as it checks a file.
 *
 * A worker that crashes or takes too long is replaced by a new one, which knows nothing of
 * earlier requests. What was asked of it is answered -EOWNERDEAD: that file has no names.
 *
 * One question at a time. What may take long and is not to hold up others has a parser of
 * its own: a process costs some 0.3 ms and hardly any memory.
 */
#ifndef SYMBOLS_JAIL_PARSER_H
#define SYMBOLS_JAIL_PARSER_H

#include "base/helpers.h"
#include "base/opener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct parser;

enum { PARSER_MAX_FDS = 4 };
/* The kernel fills a control buffer to its end: padding would let in a descriptor more than there is room for. */
_Static_assert(CMSG_SPACE(PARSER_MAX_FDS * sizeof(int)) == CMSG_LEN(PARSER_MAX_FDS * sizeof(int)), "padding");

/* Bytes of a question or an answer. */
#define PARSER_MAX_BYTES (256ull << 20)

enum parser_kind {
	PARSER_SYMBOLS = 1,      /* symsource.c: the functions of a file */
	PARSER_DEMANGLE,         /* demangled.c: names as they are in the source */
	PARSER_INLINES,          /* inlines_answer.c: inlined calls and lines of a unit */
	PARSER_CFI,              /* cfi_answer.c: the way to callers, of a page of code */
	PARSER_PERF_MAP,         /* perfmap.c: the functions of a perf map */
	PARSER_KINDS,
};

struct parser_question {
	enum parser_kind kind;
	int fds[PARSER_MAX_FDS];     /* regular files, open for reading; the asker's to close */
	unsigned int nfds;
	const void *bytes;           /* the rest is between the asker and the handler */
	size_t size;
};

/* What a handler writes. Zero at first; freed by parser_bytes_free(). */
struct parser_bytes {
	void *data;
	size_t size, cap;
};

/* 0 or -ENOMEM. */
int parser_put(struct parser_bytes *out, const void *data, size_t n);
void parser_bytes_free(struct parser_bytes *b);

/* Answers: 0, or -errno, which reaches the asker as it is. `state` is NULL at first and the
 * handler's own from one question to the next, for as long as the worker lives. Descriptors
 * are closed behind it: what keeps one beyond takes a dup(2). */
typedef int parser_handler(void **state, const struct parser_question *q, struct parser_bytes *out);

struct parser_row {
	parser_handler *answer;      /* NULL: there is no such kind */
	void (*forget)(void *state); /* at the end, where state isn't NULL; may be NULL */
};

enum parser_place {
	PARSER_AUTO,             /* apart if this process has privilege, else here */
	PARSER_HERE,
	PARSER_APART,
};

struct parser_opts {
	enum parser_place place;
	const struct parser_row *rows;   /* required: PARSER_KINDS of them; symbols/parser_kinds.h has them all */
	unsigned int seconds;            /* that one question may take; 0: 20 */
	const struct opener *opener;     /* where questions about tickets go (base/ticket.h); NULL: there are none */
	struct helpers helpers;          /* is told of each process that is started */
};

/* Forks the process that has the workers; to be called early, while there is one thread.
 * NULL with errno. */
struct parser *parser_new(const struct parser_opts *opts);
void parser_free(struct parser *p);

/* 0 with the answer in *out (empty at first); what the handler returned; -EOWNERDEAD: the
 * worker died of it; -ETIME: it took too long; -EPIPE: there are no workers. In a child of
 * the process that made the parser, the handler runs in that child. */
int parser_ask(struct parser *p, const struct parser_question *q, struct parser_bytes *out);
/* Questions end with -ETIME as soon as it is over, also one that is on: is_over() is asked now and then. */
void parser_bound(struct parser *p, bool (*is_over)(void *ctx), void *ctx);
/* Starts the process that answers, if one does and there is none yet: before others may ask. */
void parser_warm(struct parser *p);
/* Whether another process answers that question. */
bool parser_is_apart(const struct parser *p, const struct parser_question *q);
/* Who is nobody else, as whom root's workers run; 0: this user namespace has no such user. */
uid_t parser_uid(void);
/* Who is told of processes. */
const struct helpers *parser_helpers(const struct parser *p);
/* How many workers have died so far. */
unsigned int parser_deaths(const struct parser *p);
/* The present worker; -1: none. For tests. */
int parser_worker_pid(const struct parser *p);
#endif
