/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/asked/branchchain.h"

#include <stdlib.h>
#include <string.h>

/* Upper bound: a branch takes three words in a record and two in the chain; two more for the target
 * of the last call. */
enum { MAX_WORDS = UINT16_MAX / 8 + 3 };

static const uint64_t user = (uint64_t)PERF_CONTEXT_USER;

/* Number of words before the user's part; UINT64_MAX: the chain has none. */
static uint64_t kernel_words(const uint64_t *ips, uint64_t nr, const struct perf_event_attr *a)
{
	for (uint64_t i = 0; i < nr; i++)
		if (ips[i] == user)
			return i;
	return a->exclude_callchain_user ? nr : UINT64_MAX;
}

/* An address directly behind PERF_CONTEXT_USER is looked up as it is; others as return addresses,
 * one byte less. */
static uint64_t put(uint64_t *words, uint64_t n, uint64_t addr)
{
	words[n++] = user;
	words[n++] = addr;
	return n;
}

const uint64_t *branchchain_make(struct branchchain *b, const struct stream_event *event,
				 const struct perf_event_header *rec, const uint64_t *ips, uint64_t *nr)
{
	const struct stream_sampling *sampling = event->sampling;
	uint64_t n = kernel_words(ips, *nr, &sampling->attr.attr);
	struct pev_branch branch;
	struct pev_record r;

	if (n == UINT64_MAX || pev_decode(rec, rec->size, &sampling->format, &r) || !r.sample.branches.nr)
		return ips;
	if (!b->words && !(b->words = malloc(MAX_WORDS * sizeof(*b->words))))
		return ips;
	memcpy(b->words, ips, n * sizeof(*ips));
	pev_branch_entry(&r.sample.branches, 0, &branch);
	n = put(b->words, n, branch.to);
	for (uint64_t i = 0; i < r.sample.branches.nr && n + 2 <= MAX_WORDS; i++) {
		pev_branch_entry(&r.sample.branches, i, &branch);
		n = put(b->words, n, branch.from);
	}
	*nr = n;
	return b->words;
}

void branchchain_free(struct branchchain *b)
{
	free(b->words);
	b->words = NULL;
}
