/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables: uthash, set up not to exit() when out of memory. After an add, HASH_LOST(item) says whether it failed
 * for lack of memory; the item is then in no table.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t hash_step(uint64_t h, const void *key)
{
	uint64_t word;

	memcpy(&word, key, sizeof(word));
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/*
 * Hashes words of 8 bytes, in a third of the time of uthash's own function: keys are numbers, pointers and call
 * chains, looked up for each event. Long keys are hashed in two streams that the CPU computes in parallel. The upper
 * half of a product depends on all bits of its factors.
 */
static inline unsigned int hash_words(const void *key, size_t len)
{
	uint64_t h = len, other = 0, word = 0;
	const char *p = key;

	for (; len > 16; p += 16, len -= 16) {
		h = hash_step(h, p);
		other = hash_step(other, p + 8);
	}
	if (len > 8) {
		h = hash_step(h ^ other, p);
		other = 0;
		p += 8;
		len -= 8;
	}
	memcpy(&word, p, len);
	h ^= other ^ word;
	h ^= h >> 32;   /* else the upper bytes, such as the end of a text, would not reach the lower bits, which choose the bucket */
	return (unsigned int)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, len, hash) ((hash) = hash_words((key), (len)))
#include <uthash.h>

/* The table doubles when a bucket gets its 4th item and the table is more than half full, or when a bucket gets its
 * 10th (uthash's own limit): each item in a bucket costs a cache miss. Without the condition on the fill, single full
 * buckets would give 400,000 items a table of 16 million buckets. */
#undef HASH_BKT_CAPACITY_THRESH
#define HASH_BKT_CAPACITY_THRESH                                                                   \
	(_ha_head->hh_head->tbl->num_items * 2 > _ha_head->hh_head->tbl->num_buckets ? 4U : 10U)

#define HASH_LOST(item) (!(item)->hh.tbl)
/* The item that was added; if there was no memory, the item is freed and this is NULL. */
#define HASH_KEPT(item) (HASH_LOST(item) ? (free(item), NULL) : (item))
/* Frees all items; the table is then empty. */
#define HASH_FREE(head)                                                                            \
	do {                                                                                       \
		__typeof__(head) one_, next_;                                                      \
                                                                                                   \
		HASH_ITER(hh, head, one_, next_) {                                                 \
			HASH_DEL(head, one_);                                                      \
			free(one_);                                                                \
		}                                                                                  \
	} while (0)

#endif
