/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/decode/body.h"

#include <byteswap.h>
#include <string.h>

enum { HEAD = sizeof(struct perf_event_header), BPF_EVENT_BYTES = 16 };
enum { NAME_AT = HEAD + 16 };          /* KSYMBOL: after address, length, type and flags */
enum { LENGTHS_AT = HEAD + 8 };        /* TEXT_POKE: two lengths, after the address */

static size_t on_grid(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static size_t ksymbol_size(const struct perf_event_header *rec, size_t size)
{
	const char *name = (const char *)rec + NAME_AT, *end;

	end = size > NAME_AT ? memchr(name, '\0', size - NAME_AT) : NULL;
	return end ? NAME_AT + on_grid((size_t)(end - name) + 1) : 0;
}

static size_t text_poke_size(const struct perf_event_header *rec, size_t size, bool foreign)
{
	uint16_t lens[2];

	if (size < LENGTHS_AT + sizeof(lens))
		return 0;
	memcpy(lens, (const char *)rec + LENGTHS_AT, sizeof(lens));
	if (foreign) {
		lens[0] = bswap_16(lens[0]);
		lens[1] = bswap_16(lens[1]);
	}
	return on_grid(LENGTHS_AT + sizeof(lens) + lens[0] + lens[1]);
}

size_t pev_body_size_(const struct perf_event_header *rec, size_t size, bool foreign)
{
	size_t body = rec->type == PERF_RECORD_KSYMBOL ? ksymbol_size(rec, size)
		    : rec->type == PERF_RECORD_BPF_EVENT ? HEAD + BPF_EVENT_BYTES
		    : rec->type == PERF_RECORD_TEXT_POKE ? text_poke_size(rec, size, foreign) : 0;

	return body <= size ? body : 0;
}

size_t pev_true_size_(const struct perf_event_header *rec, size_t size, const struct pev_format *fmt, bool foreign)
{
	size_t body = pev_body_size_(rec, size, foreign), end = body;

	if (fmt->sample_id_all)
		end += 8 * (size_t)__builtin_popcountll(fmt->sample_type & PEV_TRAILER_);
	return body && end < size ? end : size;
}
