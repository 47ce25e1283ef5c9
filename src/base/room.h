/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow: their room doubles. */
#ifndef BASE_ROOM_H
#define BASE_ROOM_H

#include <stddef.h>
#include <stdlib.h>

/* The array with room for `more` elements behind `used`; NULL: out of memory, and the array is as before. */
static inline void *room_grown(void *array, size_t *room, size_t used, size_t more, size_t size, size_t first)
{
	size_t want = *room ? *room : first;

	if (*room && more <= *room - used)
		return array;
	while (want < used + more)
		want *= 2;
	array = reallocarray(array, want, size);
	if (array)
		*room = want;
	return array;
}

/* Makes room for `more` elements behind `used` in an array that has *room; `first`: the least room that it gets.
 * False: out of memory. */
#define ROOM_FOR(array, room, used, more, first)                                                   \
	({                                                                                         \
		void *grown_ = room_grown((array), (room), (used), (more), sizeof(*(array)), (first)); \
                                                                                                   \
		if (grown_)                                                                        \
			(array) = grown_;                                                          \
		grown_ != NULL;                                                                    \
	})
#endif
