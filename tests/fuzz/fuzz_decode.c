/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes under any format decode or are refused, and nothing outside them is read.
 * An input is a struct pev_format's six words, then a stream of records.
 */
#include <perfevent.h>

#include <assert.h>
#include <errno.h>
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

static void touch_read(const struct pev_read *read)
{
	struct pev_count c;

	for (uint64_t i = 0; i < read->nr && read->values; i++) {
		pev_read_value(read, i, &c);
		sink += c.value + c.lost;
	}
}

static void touch_regs(const struct pev_regs *regs)
{
	uint64_t value;

	for (unsigned int reg = 0; reg <= 64; reg++)
		if (pev_regs_value(regs, reg, &value))
			sink += value;
}

static void touch_sample(const struct pev_sample *s)
{
	struct pev_branch b;

	touch(s->callchain, s->callchain_nr * 8);
	touch(s->raw, s->raw_size);
	touch(s->stack, s->stack_size);
	touch(s->aux, s->aux_size);
	assert(s->stack_dyn_size <= s->stack_size);
	touch_read(&s->read);
	touch_regs(&s->regs_user);
	touch_regs(&s->regs_intr);
	for (uint64_t i = 0; i < s->branches.nr; i++) {
		pev_branch_entry(&s->branches, i, &b);
		sink += b.from + b.counters;
	}
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
	case PERF_RECORD_READ:
		touch_read(&r->read.read);
		break;
	case PERF_RECORD_NAMESPACES:
		touch(r->namespaces.entries, r->namespaces.nr * sizeof(*r->namespaces.entries));
		break;
	case PERF_RECORD_KSYMBOL:
		sink += strlen(r->ksymbol.name);
		break;
	case PERF_RECORD_CGROUP:
		sink += strlen(r->cgroup.path);
		break;
	case PERF_RECORD_TEXT_POKE:
		touch(r->text_poke.old_bytes, r->text_poke.old_len);
		touch(r->text_poke.new_bytes, r->text_poke.new_len);
		break;
	case PEV_RECORD_CALLCHAIN_DEFERRED:
		touch(r->callchain_deferred.ips, r->callchain_deferred.nr * 8);
		break;
	}
}

/* One printable line of the told length, cut where the buffer ends. */
static void check_text(const struct pev_record *r, const struct pev_format *fmt)
{
	char text[4096];
	int len = pev_record_text(r, fmt, text, sizeof(text));

	assert(len > 0);
	assert(strlen(text) == ((size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1));
	for (const char *p = text; *p; p++)
		assert(*p >= ' ' && *p <= '~');
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
	assert(rc == 0 || rc == -EBADMSG);
	if (!rc)
		touch_all(&out);
	check_text(&out, fmt);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t w[FORMAT_WORDS];
	struct pev_format fmt;

	if (size < sizeof(w))
		return 0;
	memcpy(w, data, sizeof(w));
	fmt = (struct pev_format){ w[0], w[1], w[2], w[3], w[4], w[5] & 1, (uint8_t)(w[5] >> 8) };
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
