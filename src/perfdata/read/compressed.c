/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records within compressed records. The recording is one zstd stream, and a record can continue in
 * the next compressed record. Data is unpacked in bounded pieces, each only when the one before is
 * used up: a zip bomb costs time, which the user can interrupt, but no memory.
 */
#include "perfdata/read/reading.h"
#include "perfdata/read/resync.h"

#include <stdlib.h>

#ifdef HAVE_ZSTD
#include <zstd.h>

enum { ROOM = 128 << 10 };

struct decompressor {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	size_t pos, len;               /* in buf */
	bool more;                     /* zstd may hold output although its input is used up */
	bool lost;                     /* the start of the next record is not known */
	const char *bad;               /* why the stream cannot be read */
	_Alignas(8) char buf[ROOM];
};

static struct decompressor *decompressor_new(void)
{
	struct decompressor *z = calloc(1, sizeof(*z));

	if (z)
		z->stream = ZSTD_createDStream();
	if (z && z->stream)
		return z;
	free(z);
	return NULL;
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

/* Moves the rest of the buffer to its start, which is aligned. */
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

/* Unpacks until the buffer is full or the input is used up. False on an error: the rest of the frame is
 * lost, but the bytes unpacked before remain. */
static bool unpack(struct perfdata_reader *r, struct decompressor *z)
{
	ZSTD_outBuffer out;
	size_t rc;

	move_down(z);
	out = (ZSTD_outBuffer){ z->buf, ROOM, z->len };
	rc = ZSTD_decompressStream(z->stream, &out, &z->in);
	if (ZSTD_isError(rc)) {
		z->bad = ZSTD_getErrorName(rc);
		resync_count(r, z->in.size, true);
		ZSTD_initDStream(z->stream);
		z->in.pos = z->in.size;
		z->more = false;
		return false;
	}
	z->more = out.pos == ROOM;
	z->len = out.pos;
	return true;
}

static const char *see(struct perfdata_reader *r, size_t n)
{
	struct decompressor *z = r->z;

	while (z->len - z->pos < n)
		if (n > ROOM || (z->in.pos == z->in.size && !z->more) || !unpack(r, z))
			return NULL;
	return z->buf + z->pos;
}

/* Skips damage that zstd unpacked as data, up to where records continue. False: more bytes are needed
 * first. */
static bool find_records(struct perfdata_reader *r, struct decompressor *z)
{
	struct judged judged;
	const char *here;

	while ((here = see(r, sizeof(judged.head)))) {
		if (resync_begins(r, see, 0))
			break;
		here = see(r, sizeof(judged.head));
		if (!here || (verdict_of(r, here, sizeof(judged.head), &judged) == CUT && !see(r, judged.head.size)))
			return false;
		z->pos++;
		resync_count(r, 1, false);
		if (window_is_stopped(&r->w))
			return false;
	}
	z->lost = !here;
	return here;
}

/* The record at the current place, whole and accepted. NULL: more bytes are needed, or with *bad. */
static struct perf_event_header *take_one(struct perfdata_reader *r, struct decompressor *z, const char **bad)
{
	struct perf_event_header *rec, head;
	struct judged judged;
	const char *here;

	if (z->pos % 8)
		move_down(z);
	here = see(r, sizeof(head));
	if (!here)
		return NULL;
	*bad = "a record within it has a head that no recorder writes";
	if (verdict_of(r, here, sizeof(head), &judged) == BROKEN)
		return NULL;
	head = judged.head;
	*bad = NULL;
	if (!see(r, head.size))
		return NULL;
	*bad = resync_doubt(r, see, &head);
	if (*bad)
		return NULL;
	if (z->pos % 8)
		move_down(z);
	rec = (void *)(z->buf + z->pos);
	memcpy(rec, &head, sizeof(head));
	return rec;
}

static struct perf_event_header *find_next(struct perfdata_reader *r, struct decompressor *z, const char **bad)
{
	struct perf_event_header *rec;

	if (z->lost && !find_records(r, z))
		return NULL;
	if (z->pos % 8)
		move_down(z);
	rec = (void *)(z->buf + z->pos);
	if (!r->foreign && z->len - z->pos >= r->least && verdict_is_sound(r, rec, z->len - z->pos))
		return rec;
	return take_one(r, z, bad);
}

struct perf_event_header *decompressor_next(struct perfdata_reader *r, const char **bad)
{
	struct decompressor *z = r->z;
	struct perf_event_header *rec;

	*bad = NULL;
	rec = find_next(r, z, bad);
	if (rec) {
		z->pos += rec->size;
		return rec;
	}
	if (*bad) {
		z->pos += 1;
		z->lost = true;
		resync_count(r, 1, true);
	} else if (z->bad) {
		*bad = z->bad;
		z->bad = NULL;
		z->pos = z->len = 0;
		z->lost = true;
	}
	return NULL;
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
