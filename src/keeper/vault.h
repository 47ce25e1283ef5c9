/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's files that the run may know the names of, and nothing else: programs that its
 * user can't open. The run has tickets (base/ticket.h); what it asks about them is answered
 * by a jailed parser of the keeper's, to which alone the files go.
 */
#ifndef KEEPER_VAULT_H
#define KEEPER_VAULT_H

#include "symbols/parser.h"

#include <sys/stat.h>

struct vault;

struct vault *vault_new(void);
/* Takes over the file. Its ticket, which stays the vault's, or -errno. */
int vault_ticket(struct vault *v, int file);
/* Whether there is a ticket for that file already. */
bool vault_has(const struct vault *v, const struct stat *st);
/* As parser_ask(), of the files of which q has tickets. Others beside them belong to root or to the
 * owner of such a file, or the answer is -EACCES. A descriptor of a file with the answer, or -errno. */
int vault_ask(struct vault *v, const struct parser_question *q);
/* The same of the functions in a perf map (symbols/perfmap.h): lines of that format, and nothing else of it. */
int vault_functions(struct vault *v, int map);
/* The process that answered last; -1: none. */
pid_t vault_worker(const struct vault *v);
#endif
