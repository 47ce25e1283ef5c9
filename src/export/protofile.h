/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is one protobuf message, written in pieces: messages of its type, one behind the
 * other, are one message with the repeated fields of all (that is protobuf's rule of merging).
 * So nothing is held but the piece.
 */
#ifndef EXPORT_PROTOFILE_H
#define EXPORT_PROTOFILE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

struct protofile {
	FILE *out;                   /* what it says about writing is seen when it is closed */
	bool gzipped;
	bool lost;                   /* a piece found no memory */
	z_stream z;
	uint8_t *buf;
	size_t room;
};

/* 0 or -ENOMEM. */
int protofile_begin(struct protofile *p, FILE *out, bool gzipped);
void protofile_put(struct protofile *p, const ProtobufCMessage *piece);
/* 0 or -ENOMEM, also where a piece found none. */
int protofile_end(struct protofile *p);
/* Also of a zeroed one, and after its end. */
void protofile_free(struct protofile *p);
#endif
