/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, addresses and masks as text, in a buffer that may be too small. */
#ifndef TRACEFMT_PRINTTEXT_H
#define TRACEFMT_PRINTTEXT_H

#include "tracefmt/printcode.h"

#include <string.h>

struct out {
	char *at, *end;
	size_t cut;              /* bytes that did not fit */
};

struct bytes {
	const unsigned char *at;
	size_t len;
};

void out_cut(struct out *o, const char *text, size_t len);
void out_fill(struct out *o, char c, size_t n);
void out_decimal(struct out *o, uint64_t n);
void out_hex(struct out *o, uint64_t n);
/* Applies all flags of spec; `negative`: print a minus sign before n. */
void out_int(struct out *o, const struct spec *spec, uint64_t n, bool negative, size_t width,
	     bool has_precision, size_t precision);
void out_hex_bytes(struct out *o, struct bytes b, char between);
void out_array(struct out *o, struct bytes b, size_t count, unsigned int size);
/* "00000000,0000000f", and "0-3,7". */
void out_mask(struct out *o, struct bytes b, size_t nbits);
void out_list(struct out *o, struct bytes b, size_t nbits);
/* %pM %pI4 %pI6 %pIS %pU: the first letter, and the optional letters after it: two for %pIS, else one. */
void out_mac(struct out *o, struct bytes b, char letter, const char *more);
void out_ip4(struct out *o, struct bytes b, char letter, const char *more);
void out_ip6(struct out *o, struct bytes b, char letter, const char *more);
void out_sockaddr(struct out *o, struct bytes b, char letter, const char *more);
void out_uuid(struct out *o, struct bytes b, char letter, const char *more);

static inline void out_text(struct out *o, const void *text, size_t len)
{
	if ((size_t)(o->end - o->at) < len) {
		out_cut(o, text, len);
		return;
	}
	memcpy(o->at, text, len);
	o->at += len;
}

static inline void out_char(struct out *o, char c)
{
	out_text(o, &c, 1);
}

#endif
