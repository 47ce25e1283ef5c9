/* SPDX-License-Identifier: Apache-2.0 */
/* Questions and answers on a stream socket, and what both sides of it know. */
#ifndef SYMBOLS_JAIL_WIRE_H
#define SYMBOLS_JAIL_WIRE_H

#include "symbols/jail/parser.h"

#include <sys/types.h>
#include <time.h>

struct wire_head {
	uint32_t kind;
	int32_t rc;
	uint64_t size;           /* of the bytes behind it */
};

/* How long to wait for the other side. */
struct wire_limit {
	struct timespec deadline;    /* CLOCK_MONOTONIC */
	bool (*is_over)(void *ctx);  /* asked now and then: it is over before that; may be NULL */
	void *ctx;
};

/* All: 0; -EPIPE if the other side has gone, or says what can't be; -ETIME beyond the
 * limit (NULL: none). The socket may be non-blocking. */
int wire_send(int socket, const void *data, size_t n, const struct wire_limit *limit);
int wire_receive(int socket, void *data, size_t n, const struct wire_limit *limit);
/* With descriptors; n bytes in one message. */
int wire_send_fds(int socket, const void *data, size_t n, const int *fds, unsigned int nfds);
int wire_receive_fds(int socket, void *data, size_t n, int *fds, unsigned int *nfds,
		     const struct wire_limit *limit);

/* worker.c: what the process does that was forked to have workers: one at a time,
 * on request (a byte). Never returns. */
enum { WIRE_NEW_WORKER, WIRE_NO_WORKER };   /* the one before ends in any case */
struct wire_worker {
	int32_t pid;             /* of the new worker; 0: it can't be forked */
	int32_t status;          /* of the one before, as wait(2) tells it */
};
_Noreturn void parser_serve(int control, const struct parser_row *rows);

/* jail.c: gives up what privilege there is. It may write files of that size. 0 or -errno. */
int jail_leave_privilege(uint64_t file_size);
/* From here on only reading, memory and answering. */
int jail_lock(void);
/* For one that asks a network: nothing is run, no other process is touched, and, where the kernel has Landlock,
 * nothing is written but below that folder. 0 or -errno. */
int jail_lock_fetching(const char *folder);
#endif
