/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/write/format.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

void bytes_add(struct bytes *b, const void *data, size_t n)
{
	if (!n || b->failed)
		return;
	b->failed = n > SIZE_MAX / 4 || !ROOM_FOR(b->data, b->room, b->n, n);
	if (b->failed)
		return;
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

void bytes_add_u32(struct bytes *b, uint32_t v)
{
	bytes_add(b, &v, sizeof(v));
}

void bytes_add_u64(struct bytes *b, uint64_t v)
{
	bytes_add(b, &v, sizeof(v));
}

void bytes_add_text(struct bytes *b, const char *text)
{
	bytes_add(b, text, strlen(text) + 1);
}

void bytes_add_string(struct bytes *b, const char *text)
{
	size_t n = strlen(text) + 1, padded = (n + 63) & ~(size_t)63;

	bytes_add_u32(b, (uint32_t)padded);
	bytes_add(b, text, n);
	for (; n < padded; n++)
		bytes_add(b, "", 1);
}

void bytes_pad(struct bytes *b, size_t unit)
{
	static const char zeros[64];

	if (b->n % unit)
		bytes_add(b, zeros, unit - b->n % unit);
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}
