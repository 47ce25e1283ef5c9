/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded cache of call chains and their frames. Chains that were not used recently are evicted. */
#ifndef PYTHON_STACKS_H
#define PYTHON_STACKS_H

#include "python/python.h"

#include <stdbool.h>
#include <stdint.h>

struct stacks;

/* A chain as the kernel wrote it, and the version of the mappings. */
struct stack_key {
	const uint64_t *ips;
	uint64_t nr, version, hash;
};

struct stacks *stacks_new(size_t max_bytes);
void stacks_free(struct stacks *s);

/* Sets key->hash. Returns whether the chain has user addresses. */
bool stack_key_init(struct stack_key *key, const uint64_t *ips, uint64_t nr);
void stack_key_set_version(struct stack_key *key, uint64_t version);
/* A new list of the frames. NULL without an exception if the chain is not in the cache. */
PyObject *stacks_find(struct stacks *s, const struct stack_key *key);
/* Adds the frames of a list. May fail silently. */
void stacks_add(struct stacks *s, const struct stack_key *key, PyObject *list);
/* Evicts some chains that were not used recently. */
void stacks_shed(struct stacks *s);
#endif
