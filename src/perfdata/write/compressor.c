/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/write/compressor.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZSTD
#include <zstd.h>

enum { VERSION = 1, TYPE_ZSTD = 1, LEVEL = 1 };

/* A record's size has 16 bits. All records of a piece but the last have sizes that are multiples of 8. */
enum { HEAD = sizeof(struct perf_event_header), PAYLOAD = UINT16_MAX - 7 - HEAD };

struct compressor {
	ZSTD_CCtx *stream;
	size_t room;
	char out[];
};

struct compressor *compressor_new(void)
{
	size_t bound = ZSTD_compressBound(COMPRESSOR_INPUT) + 1024;
	size_t room = bound + (bound / PAYLOAD + 2) * HEAD;
	struct compressor *z = malloc(sizeof(*z) + room);

	if (!z)
		return NULL;
	z->room = room;
	z->stream = ZSTD_createCCtx();
	if (z->stream)
		ZSTD_CCtx_setParameter(z->stream, ZSTD_c_compressionLevel, LEVEL);
	else
		free(z);
	return z->stream ? z : NULL;
}

void compressor_free(struct compressor *z)
{
	if (z)
		ZSTD_freeCCtx(z->stream);
	free(z);
}

void compressor_restart(struct compressor *z)
{
	ZSTD_CCtx_reset(z->stream, ZSTD_reset_session_only);
}

void compressor_describe(struct bytes *b)
{
	bytes_add_u32(b, VERSION);
	bytes_add_u32(b, TYPE_ZSTD);
	bytes_add_u32(b, LEVEL);
	bytes_add_u32(b, 0);   /* the ratio, not known yet */
	bytes_add_u32(b, COMPRESSOR_INPUT);
}

const char *compressor_run(struct compressor *z, const char *data, size_t size, size_t *n)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t at = 0, left;

	do {
		struct perf_event_header head = { .type = PERFDATA_COMPRESSED };
		ZSTD_outBuffer out = { z->out + at + HEAD, PAYLOAD, 0 };

		if (at + HEAD + PAYLOAD > z->room)
			out.size = z->room > at + HEAD ? z->room - at - HEAD : 0;
		left = ZSTD_compressStream2(z->stream, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(left) || !out.pos)
			return NULL;
		head.size = (uint16_t)(HEAD + out.pos);
		memcpy(z->out + at, &head, HEAD);
		at += head.size;
	} while (left);
	*n = at;
	return z->out;
}

#else

struct compressor *compressor_new(void)
{
	return NULL;
}

void compressor_free(struct compressor *z)
{
}

void compressor_restart(struct compressor *z)
{
}

void compressor_describe(struct bytes *b)
{
}

const char *compressor_run(struct compressor *z, const char *data, size_t size, size_t *n)
{
	return NULL;
}

#endif
