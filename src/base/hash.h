/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables: uthash, set up so that running out of memory is no exit(). After an add,
 * HASH_LOST(item) says whether it found no memory; the item is then in no table.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define HASH_LOST(item) (!(item)->hh.tbl)

#endif
