/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses untrusted ELF and DWARF in a process without any privilege (user nobody, no
 * capabilities, no_new_privs, a seccomp filter that allows reading, memory and the answer). If
 * this process has no privilege either, it parses them itself.
 *
 * A kind of question is a row in parser_kinds.c with a handler, which gets descriptors and bytes
 * and returns bytes. The asker need not know where the handler runs. The answer comes from a
 * process that a hostile file may have taken over, so it is checked like a file.
 *
 * A worker that crashes or takes too long is replaced by a new one, without state from earlier
 * questions. The question is answered by -EOWNERDEAD: that file has no names.
 *
 * One question at a time. Slow questions that must not delay others have a parser of their own: a
 * process takes some 0.3 ms to start and hardly any memory.
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
/* Without padding: the kernel fills the control buffer to its end, and could store one descriptor too many. */
_Static_assert(CMSG_SPACE(PARSER_MAX_FDS * sizeof(int)) == CMSG_LEN(PARSER_MAX_FDS * sizeof(int)), "padding");

/* Limit for the bytes of a question or an answer. */
#define PARSER_MAX_BYTES (256ull << 20)

enum parser_kind {
	PARSER_SYMBOLS = 1,      /* symsource.c: the functions of a file */
	PARSER_DEMANGLE,         /* demangled.c: names as in the source */
	PARSER_INLINES,          /* inline_unit.c: inlined calls and lines of a unit */
	PARSER_CFI,              /* cfi_answer.c: unwind rules of a page of code */
	PARSER_PERF_MAP,         /* perfmap.c: the functions of a perf map */
	PARSER_PLACES,           /* places_answer.c: where probes can be */
	PARSER_PARAMS,           /* params_answer.c: the parameters of a function */
	PARSER_FRAMEPTR,         /* frameptr_answer.c: whether functions keep frame pointers */
	PARSER_CODE,             /* disasm_answer.c: the instructions of a function */
	PARSER_KINDS,
};

struct parser_question {
	enum parser_kind kind;
	int fds[PARSER_MAX_FDS];     /* regular files, open for reading; the asker closes them */
	unsigned int nfds;
	const void *bytes;           /* defined by the kind */
	size_t size;
};

/* The answer of a handler. Zero at first; free it with parser_bytes_free(). */
struct parser_bytes {
	void *data;
	size_t size, cap;
};

/* 0 or -ENOMEM. */
int parser_put(struct parser_bytes *out, const void *data, size_t n);
void parser_bytes_free(struct parser_bytes *b);

/* Answers a question: 0, or -errno, which is passed on to the asker. `state` is NULL at first and
 * kept for the handler between questions, as long as the worker lives. The caller closes the
 * descriptors: use dup(2) to keep one. */
typedef int parser_handler(void **state, const struct parser_question *q, struct parser_bytes *out);

struct parser_row {
	parser_handler *answer;      /* NULL: there is no such kind */
	void (*forget)(void *state); /* frees the state if it is not NULL; may be NULL */
};

enum parser_place {
	PARSER_AUTO,             /* in another process if this one has privilege, else here */
	PARSER_HERE,
	PARSER_APART,
};

struct parser_opts {
	enum parser_place place;
	const struct parser_row *rows;   /* PARSER_KINDS rows; symbols/parser_kinds.h has all */
	unsigned int seconds;            /* limit for one question; 0: 20 */
	const struct opener *opener;     /* answers questions about tickets (base/ticket.h); NULL: there are none */
	struct helpers helpers;          /* notified of each process that is started */
};

/* Forks the process that starts the workers; call it early, while there is one thread. NULL with errno. */
struct parser *parser_new(const struct parser_opts *opts);
void parser_free(struct parser *p);

/* 0 with the answer in *out (empty at first); the handler's return value; -EOWNERDEAD: the worker
 * died; -ETIME: it took too long; -EPIPE: there are no workers. In a child of the process that
 * made the parser, the handler runs in that child. */
int parser_ask(struct parser *p, const struct parser_question *q, struct parser_bytes *out);
/* Why a file that a parser was asked about is not read: from parser_ask(), or from opening it. */
const char *parser_error_text(int err);
/* From now on questions, also a running one, end with -ETIME once is_over() is true; it is polled. */
void parser_bound(struct parser *p, bool (*is_over)(void *ctx), void *ctx);
/* Starts the answering process, if one is used and not started yet: before another thread asks. */
void parser_warm(struct parser *p);
/* Whether another process answers that question. */
bool parser_is_apart(const struct parser *p, const struct parser_question *q);
/* The user for root's workers, who owns nothing else; 0: this user namespace has no such user. */
uid_t parser_uid(void);
/* The callbacks for started processes. */
const struct helpers *parser_helpers(const struct parser *p);
/* Number of workers that died. */
unsigned int parser_deaths(const struct parser *p);
/* Process id of the current worker; -1: none. For tests. */
int parser_worker_pid(const struct parser *p);
#endif
