/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by one element at a time. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stdlib.h>

/* Room for one element after n: doubles whenever n is a power of two, so that the time is linear in the length. The array,
 * which may have moved; NULL: out of memory, and the array is as it was. */
static inline void *grown_by_one(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : reallocarray(array, n ? 2 * n : 1, size);
}
#endif
