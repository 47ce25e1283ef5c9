/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In place of a file that this process may not open: a descriptor which says what the file
 * is (stat(2), generation), and nothing of what is in it. Who has the file itself knows it
 * again by the ticket. A sealed memfd, which nobody can change.
 */
#ifndef BASE_TICKET_H
#define BASE_TICKET_H

#include <stdbool.h>
#include <sys/stat.h>

/* A ticket (O_CLOEXEC) for the open file, or -errno. */
int ticket_make(int fd);
bool ticket_is(int fd);

/* Of an open file, or of the one that a ticket is for: 0 or -errno. */
int ticket_stat(int fd, struct stat *st);
int ticket_generation(int fd, int *generation);
#endif
