/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one protobuf message in pieces. Adjacent messages of a type are one message with the
 * repeated fields of all: protobuf defines it so. Only the current piece is in memory.
 */
#ifndef EXPORT_PROTOFILE_H
#define EXPORT_PROTOFILE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

struct protofile {
	FILE *out;                   /* failed writes are reported when it is closed */
	bool gzipped;
	bool lost;                   /* a piece was dropped for lack of memory */
	z_stream z;
	uint8_t *buf;
	size_t room;
};

/* 0 or -ENOMEM. */
int protofile_begin(struct protofile *p, FILE *out, bool gzipped);
void protofile_put(struct protofile *p, const ProtobufCMessage *piece);
/* 0; -ENOMEM also if a piece was dropped. */
int protofile_end(struct protofile *p);
/* Also for a zeroed struct, and after protofile_end(). */
void protofile_free(struct protofile *p);
#endif
