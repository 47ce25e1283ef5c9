/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow: their room doubles, so that the time is linear in the length. */
#ifndef BASE_ROOM_H
#define BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The array with room for `more` elements behind `used`; NULL: out of memory, and the array is as before. */
static inline void *room_grown(void *array, size_t *room, size_t used, size_t more, size_t size)
{
	size_t want = *room ? *room : 4;

	if (*room && more <= *room - used)
		return array;
	if (more > SIZE_MAX / 2 - used)
		return NULL;
	while (want < used + more)
		want *= 2;
	array = reallocarray(array, want, size);
	if (array)
		*room = want;
	return array;
}

/* Makes room for `more` elements behind `used` in an array that has room for `room`. False: out of memory. */
#define ROOM_FOR(array, room, used, more)                                                          \
	({                                                                                         \
		size_t room_ = (room);                                                             \
		void *grown_ = room_grown((array), &room_, (used), (more), sizeof(*(array)));      \
                                                                                                   \
		if (grown_) {                                                                      \
			(array) = grown_;                                                          \
			(room) = (__typeof__(room))room_;                                          \
		}                                                                                  \
		grown_ != NULL;                                                                    \
	})

/* Makes room for one element behind `n` in an array without a member for its room, which is the power of two from n
 * upwards: it has to grow by these macros alone, but may shrink. False: out of memory. */
#define ROOM_FOR_ONE(array, n)                                                                     \
	({                                                                                         \
		void *grown_ = (n) & ((n) - 1) ? (void *)(array)                                   \
					       : reallocarray((array), (n) ? 2 * (size_t)(n) : 1, sizeof(*(array))); \
                                                                                                   \
		if (grown_)                                                                        \
			(array) = grown_;                                                          \
		grown_ != NULL;                                                                    \
	})

/* Appends a zeroed element to such an array and counts it in `n`: the element, or NULL: out of memory. */
#define APPENDED(array, n)                                                                         \
	(ROOM_FOR_ONE((array), (n)) ? (__typeof__(array))memset((array) + (n)++, 0, sizeof(*(array))) : NULL)

/* Makes an array of n elements have the element `at`; new elements are zeroed. False: out of memory. */
#define ROOM_AT(array, n, at)                                                                      \
	({                                                                                         \
		size_t had_ = (n), has_ = had_;                                                    \
		bool fits_ = (at) < had_ || ROOM_FOR((array), has_, had_, (size_t)(at) + 1 - had_); \
                                                                                                   \
		if (has_ > had_)                                                                   \
			memset((array) + had_, 0, (has_ - had_) * sizeof(*(array)));               \
		(n) = (__typeof__(n))has_;                                                         \
		fits_;                                                                             \
	})
#endif
