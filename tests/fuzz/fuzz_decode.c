/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes under any format decode or are refused, and nothing outside them is read.
 * An input is a struct pev_format's six words, then a stream of records.
 */
#include <perfevent.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_WORDS = 6, MAX_RECORDS = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += b[i];
	sink += sum;
}

static void touch_sample(const struct pev_sample *s)
{
	struct pev_count c;

	touch(s->callchain, s->callchain_nr * 8);
	touch(s->raw, s->raw_size);
	for (uint64_t i = 0; i < s->read.nr && s->read.values; i++)
		pev_read_value(&s->read, i, &c);
}

/* All that a decoded record points to lies in its bytes: ASan sees every step. */
static void touch_all(const struct pev_record *r)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		touch_sample(&r->sample);
		break;
	case PERF_RECORD_COMM:
		sink += strlen(r->comm.comm);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		sink += strlen(r->mmap.filename);
		assert(r->mmap.build_id_size <= sizeof(r->mmap.build_id));
		break;
	}
}

/* One record in an allocation of its own, aligned and ending where it does. */
static void decode_one(const uint8_t *bytes, size_t avail, const struct pev_format *fmt)
{
	void *copy = malloc(avail ? avail : 1);
	struct pev_record out;
	int rc;

	assert(copy);
	memcpy(copy, bytes, avail);
	rc = pev_decode(copy, avail, fmt, &out);
	if (!rc)
		touch_all(&out);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t w[FORMAT_WORDS];
	struct pev_format fmt;

	if (size < sizeof(w))
		return 0;
	memcpy(w, data, sizeof(w));
	fmt = (struct pev_format){ w[0], w[1], w[2], w[3], w[4], w[5] & 1 };
	data += sizeof(w);
	size -= sizeof(w);
	for (int n = 0; n < MAX_RECORDS; n++) {
		struct perf_event_header head = { 0 };
		size_t step;

		memcpy(&head, data, size < sizeof(head) ? size : sizeof(head));
		step = head.size < size ? head.size : size;
		decode_one(data, step, &fmt);
		if (step < sizeof(head))
			break;
		data += step;
		size -= step;
	}
	return 0;
}
