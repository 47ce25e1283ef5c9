/* SPDX-License-Identifier: Apache-2.0 */
/* Questions and answers on a stream socket, and declarations for both sides. */
#ifndef SYMBOLS_JAIL_WIRE_H
#define SYMBOLS_JAIL_WIRE_H

#include "symbols/jail/parser.h"

#include <sys/types.h>

struct wire_head {
	uint32_t kind;
	int32_t rc;
	uint64_t size;           /* bytes that follow */
};

/* Limit for waiting. */
struct wire_limit {
	uint64_t deadline;           /* CLOCK_MONOTONIC, ns */
	bool (*is_over)(void *ctx);  /* polled: true ends the wait before the deadline; may be NULL */
	void *ctx;
};

/* All return 0; -EPIPE if the other side has closed or sent something invalid; -ETIME after the
 * limit (NULL: none). The socket may be non-blocking. */
int wire_send(int socket, const void *data, size_t n, const struct wire_limit *limit);
int wire_receive(int socket, void *data, size_t n, const struct wire_limit *limit);
/* With descriptors; n bytes in one message. */
int wire_send_fds(int socket, const void *data, size_t n, const int *fds, unsigned int nfds);
int wire_receive_fds(int socket, void *data, size_t n, int *fds, unsigned int *nfds,
		     const struct wire_limit *limit);

/* worker.c: main loop of the process that forks the workers, one at a time, on request (a byte).
 * Never returns. */
enum { WIRE_NEW_WORKER, WIRE_NO_WORKER };   /* both end the previous worker */
struct wire_worker {
	int32_t pid;             /* of the new worker; 0: fork failed */
	int32_t status;          /* of the previous one, from wait(2) */
};
_Noreturn void parser_serve(int control, const struct parser_row *rows);

/* jail.c: drops all privilege. file_size: limit for files that it writes. 0 or -errno. */
int jail_leave_privilege(uint64_t file_size);
/* From here on it can only read, use memory and answer. */
int jail_lock(void);
/* For a process that uses the network: it cannot run programs or access other processes and, if
 * the kernel has Landlock, can only write below that folder. 0 or -errno. */
int jail_lock_fetching(const char *folder);
#endif
