/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records within compressed records: one stream of zstd over the whole recording, in which
 * records go on from one compressed record to the next. A bounded piece is unpacked at a
 * time, and only once what was unpacked before is used up: so a bomb costs time, which can be
 * interrupted, and no memory.
 */
#include "perfdata/reading.h"

#include <stdlib.h>

#ifdef HAVE_ZSTD
#include <zstd.h>

enum { ROOM = 128 << 10 };

struct decompressor {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	size_t pos, len;               /* of buf */
	bool more;                     /* the stream may hold output though its input is used up */
	_Alignas(8) char buf[ROOM];
};

static struct decompressor *decompressor_new(void)
{
	struct decompressor *z = malloc(sizeof(*z));

	if (!z)
		return NULL;
	z->stream = ZSTD_createDStream();
	z->in = (ZSTD_inBuffer){ 0 };
	z->pos = z->len = 0;
	z->more = false;
	if (!z->stream) {
		free(z);
		return NULL;
	}
	return z;
}

bool decompressor_begin(struct perfdata_reader *r, const char *data, size_t size)
{
	if (!r->z)
		r->z = decompressor_new();
	if (!r->z)
		return false;
	r->z->in = (ZSTD_inBuffer){ data, size, 0 };
	return true;
}

bool decompressor_busy(const struct perfdata_reader *r)
{
	return r->z && (r->z->in.pos < r->z->in.size || r->z->more);
}

/* What is left lies at the beginning then, aligned. */
static void move_down(struct decompressor *z)
{
	z->len -= z->pos;
	memmove(z->buf, z->buf + z->pos, z->len);
	z->pos = 0;
}

size_t decompressor_left(const struct perfdata_reader *r)
{
	return r->z ? r->z->len - r->z->pos : 0;
}

/* Unpacks as much as there is room for; false on an error, with *bad. */
static bool unpack(struct decompressor *z, const char **bad)
{
	ZSTD_outBuffer out;
	size_t rc;

	move_down(z);
	out = (ZSTD_outBuffer){ z->buf, ROOM, z->len };
	rc = ZSTD_decompressStream(z->stream, &out, &z->in);
	if (ZSTD_isError(rc)) {
		*bad = ZSTD_getErrorName(rc);
		ZSTD_initDStream(z->stream);
		z->in.pos = z->in.size;
		z->len = 0;
		z->more = false;
		return false;
	}
	z->more = out.pos == ROOM;
	z->len = out.pos;
	return true;
}

static bool has(const struct decompressor *z, size_t n)
{
	return z->len - z->pos >= n;
}

struct perf_event_header *decompressor_next(struct perfdata_reader *r, const char **bad)
{
	struct decompressor *z = r->z;

	*bad = NULL;
	for (;;) {
		struct perf_event_header *rec, head;

		if (z->pos % 8)
			move_down(z);
		rec = (void *)(z->buf + z->pos);
		if (has(z, sizeof(head))) {
			memcpy(&head, rec, sizeof(head));
			if (r->foreign)
				swap_header(&head);
			if (head.size < sizeof(head)) {
				*bad = "a record within it is smaller than its own head";
				z->pos = z->len = 0;
				z->in.pos = z->in.size;
				z->more = false;
				return NULL;
			}
			if (has(z, head.size)) {
				memcpy(rec, &head, sizeof(head));
				z->pos += head.size;
				return rec;
			}
		}
		if (!decompressor_busy(r))
			return NULL;
		if (!unpack(z, bad))
			return NULL;
	}
}

void decompressor_free(struct decompressor *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z);
}

#else

bool decompressor_begin(struct perfdata_reader *r, const char *data, size_t size)
{
	return false;
}

bool decompressor_busy(const struct perfdata_reader *r)
{
	return false;
}

size_t decompressor_left(const struct perfdata_reader *r)
{
	return 0;
}

struct perf_event_header *decompressor_next(struct perfdata_reader *r, const char **bad)
{
	*bad = NULL;
	return NULL;
}

void decompressor_free(struct decompressor *z)
{
}

#endif
