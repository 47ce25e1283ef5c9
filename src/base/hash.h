/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables: uthash, set up so that running out of memory is no exit(). After an add,
 * HASH_LOST(item) says whether it found no memory; the item is then in no table.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * By words, which takes a third of uthash's own by bytes: keys are numbers, pointers and call
 * chains, looked up for each event. The upper half of a product depends on all bits of its
 * factors.
 */
static inline unsigned int hash_words(const void *key, size_t len)
{
	uint64_t h = len, word;

	for (; len > sizeof(word); key = (const char *)key + sizeof(word), len -= sizeof(word)) {
		memcpy(&word, key, sizeof(word));
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, key, len);
	return (unsigned int)((h ^ word) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, len, hash) ((hash) = hash_words((key), (len)))
#include <uthash.h>

#define HASH_LOST(item) (!(item)->hh.tbl)

#endif
