/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of sockets: which connection is socket:[4711]? */
#ifndef TASKS_SOCKETS_H
#define TASKS_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Initialized by zeros. */
struct sockets {
	struct socket_row *all;
	struct socket_space *spaces; /* network namespaces that were read */
	size_t nspaces;
};

/* "tcp 10.0.0.1:4711->10.0.0.2:5432", "udp 0.0.0.0:53", "unix /run/x.sock" for a socket's inode, of a task. False: not known,
 * as for a socket that is gone or has no address. The lists of a network namespace are read at most once a second, for 0.1 s. */
bool sockets_text(struct sockets *s, pid_t tid, uint64_t inode, char *buf, size_t size);
void sockets_free(struct sockets *s);
#endif
