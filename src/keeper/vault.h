/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that the user of the run cannot open. The run may know only the names in them. It gets
 * tickets (base/ticket.h); the files go only to a jailed parser of the keeper, which answers the
 * questions of the run about them.
 */
#ifndef KEEPER_VAULT_H
#define KEEPER_VAULT_H

#include "symbols/jail/parser.h"

#include <sys/stat.h>

struct vault;

struct vault *vault_new(void);
/* Takes over the descriptor. Its ticket, which belongs to the vault, or -errno. */
int vault_ticket(struct vault *v, int file);
/* Whether there is a ticket for that file already. */
bool vault_has(const struct vault *v, const struct stat *st);
/* As parser_ask(), for the files for which q has tickets. -EACCES: q also has a file that belongs neither to root
 * nor to the owner of the file with a ticket. A descriptor of a file with the answer, or -errno. */
int vault_ask(struct vault *v, const struct parser_question *q);
/* The same for a perf map (symbols/jit/perfmap.h): the answer is its functions, as lines of a perf map, and nothing else. */
int vault_functions(struct vault *v, int map);
/* Process id of the parser that answered last; -1: none. */
pid_t vault_worker(const struct vault *v);
#endif
