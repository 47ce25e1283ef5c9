/* SPDX-License-Identifier: Apache-2.0 */
#include "export/protofile.h"

#include "base/room.h"

#include <errno.h>
#include <stdlib.h>

enum { OUT_BYTES = 1 << 16, LEVEL = 6, GZIP_WINDOW = 15 + 16, MEM_LEVEL = 8 };

int protofile_begin(struct protofile *p, FILE *out, bool gzipped)
{
	*p = (struct protofile){ .out = out };
	if (gzipped && deflateInit2(&p->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	p->gzipped = gzipped;
	return 0;
}

static void compress_bytes(struct protofile *p, uint8_t *bytes, size_t n, int flush)
{
	uint8_t out[OUT_BYTES];
	int rc;

	p->z.next_in = bytes;
	p->z.avail_in = (unsigned int)n;
	do {
		p->z.next_out = out;
		p->z.avail_out = sizeof(out);
		rc = deflate(&p->z, flush);
		fwrite(out, 1, sizeof(out) - p->z.avail_out, p->out);
	} while (rc == Z_OK && (p->z.avail_in || !p->z.avail_out || flush == Z_FINISH));
}

void protofile_put(struct protofile *p, const ProtobufCMessage *piece)
{
	size_t n = protobuf_c_message_get_packed_size(piece);

	if (n > UINT32_MAX || !ROOM_FOR(p->buf, p->room, 0, n)) {
		p->lost = true;
		return;
	}
	protobuf_c_message_pack(piece, p->buf);
	if (p->gzipped)
		compress_bytes(p, p->buf, n, Z_NO_FLUSH);
	else
		fwrite(p->buf, 1, n, p->out);
}

int protofile_end(struct protofile *p)
{
	if (p->gzipped)
		compress_bytes(p, NULL, 0, Z_FINISH);
	return p->lost ? -ENOMEM : 0;
}

void protofile_free(struct protofile *p)
{
	if (p->gzipped)
		deflateEnd(&p->z);
	free(p->buf);
	*p = (struct protofile){ 0 };
}
