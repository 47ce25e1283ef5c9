/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains that were seen before, and their frames. Bounded: of the chains that were
 * not asked for lately the next one goes when there is no room. */
#ifndef PYHOST_STACKS_H
#define PYHOST_STACKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct stacks;

/* A chain as the kernel wrote it, and the version of what was mapped then. */
struct stack_key {
	const uint64_t *ips;
	uint64_t nr, version, hash;
};

struct stacks *stacks_new(size_t max_bytes);
void stacks_free(struct stacks *s);

/* Fills key->hash; returns whether the chain has a part in user space. */
bool stack_key_init(struct stack_key *key, const uint64_t *ips, uint64_t nr);
void stack_key_set_version(struct stack_key *key, uint64_t version);
/* A new list of the frames; NULL without an exception if the chain is not known. */
PyObject *stacks_find(struct stacks *s, const struct stack_key *key);
/* Remembers a list's frames. Failing is no harm. */
void stacks_add(struct stacks *s, const struct stack_key *key, PyObject *list);
/* Drops some of those that were not asked for lately. */
void stacks_shed(struct stacks *s);
#endif
