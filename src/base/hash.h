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

/* Random, from the start of the process on. Whoever doesn't know it, such as a program that is watched or that wrote a recording,
 * cannot choose keys that share a bucket. */
extern uint64_t hash_key[2];

/* Both halves of the product: the upper one depends on all bits of the factors. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_number(uint64_t n)
{
	return hash_fold(n ^ hash_key[0], hash_key[1]);
}

static inline uint64_t hash_step(uint64_t h, const void *key)
{
	uint64_t word;

	memcpy(&word, key, sizeof(word));
	return hash_fold(h ^ word, hash_key[1]);
}

/* Hashes words of 8 bytes, in a third of the time of uthash's own function: keys are numbers, pointers, texts and call
 * chains, looked up for each event. */
static inline uint64_t hash_words(const void *key, size_t len)
{
	uint64_t h = len ^ hash_key[0], word[2] = { 0 };
	const char *p = key;

	for (; len > 16; p += 16, len -= 16) {
		memcpy(word, p, 16);
		h = hash_fold(h ^ word[0], hash_key[1] ^ word[1]);
	}
	word[0] = word[1] = 0;
	if (len > 8) {
		memcpy(&word[0], p, 8);
		memcpy(&word[1], p + 8, len - 8);
	} else {
		memcpy(&word[0], p, len);
	}
	return hash_fold(h ^ word[0], hash_key[1] ^ word[1]);
}

static inline uint64_t hash_text(const char *text)
{
	return hash_words(text, strlen(text));
}

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned int)hash_words((key), (len)))
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
