/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ticket stands for a file that this process may not open: a descriptor (a sealed memfd) that
 * identifies the file (stat(2), inode generation) without its contents. A process that has the
 * file open can match it with the ticket.
 */
#ifndef BASE_TICKET_H
#define BASE_TICKET_H

#include <stdbool.h>
#include <sys/stat.h>

/* A ticket (O_CLOEXEC) for the open file, or -errno. */
int ticket_make(int fd);
bool ticket_is(int fd);

/* The values of an open file, or of the file for which fd is a ticket: 0 or -errno. */
int ticket_stat(int fd, struct stat *st);
int ticket_generation(int fd, int *generation);
#endif
