/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the other byte order, swapped in place, field by field: a 64-bit word is not two
 * 32-bit words. Raw data stays as it is, since only the tracepoint's format knows its fields.
 */
#include "perfdata/read/reading.h"
#include "perfevent/decode/body.h"

struct turn {
	char *p, *end;
};

static size_t turn_left(const struct turn *t)
{
	return (size_t)(t->end - t->p);
}

#define TURN(bits)                                                                                 \
	static bool turn##bits(struct turn *t, uint##bits##_t *v)                                  \
	{                                                                                          \
		if (turn_left(t) < sizeof(*v))                                                     \
			return false;                                                              \
		memcpy(v, t->p, sizeof(*v));                                                       \
		*v = bswap_##bits(*v);                                                             \
		memcpy(t->p, v, sizeof(*v));                                                       \
		t->p += sizeof(*v);                                                                \
		return true;                                                                       \
	}

TURN(16)
TURN(32)
TURN(64)

static bool turn_words(struct turn *t, uint64_t n)
{
	uint64_t v;

	if (n > turn_left(t) / 8)
		return false;
	while (n--)
		turn64(t, &v);
	return true;
}

static bool turn_pair(struct turn *t)
{
	uint32_t v;

	return turn32(t, &v) && turn32(t, &v);
}

static bool pass(struct turn *t, uint64_t n)
{
	if (n > turn_left(t))
		return false;
	t->p += n;
	return true;
}

void swap_header(struct perf_event_header *rec)
{
	rec->type = bswap_32(rec->type);
	rec->misc = bswap_16(rec->misc);
	rec->size = bswap_16(rec->size);
}

/* ---- attr ------------------------------------------------------------------- */

static uint64_t reversed(uint64_t v, unsigned int bits)
{
	uint64_t out = 0;

	for (unsigned int i = 0; i < bits; i++)
		out |= (v >> i & 1) << (bits - 1 - i);
	return out;
}

/* Bit fields start at the other end of the word. Fields of several bits keep their value. */
enum { FLAGS_AT = 40, PRECISE_AT = 15 };

static uint64_t turn_flags(uint64_t flags)
{
	flags = reversed(flags, 64);
	return (flags & ~(UINT64_C(3) << PRECISE_AT)) |
	       reversed(flags >> PRECISE_AT & 3, 2) << PRECISE_AT;
}

/* Sizes of the fields of struct perf_event_attr. Fields that are newer than the table are not swapped. */
static const uint8_t attr_sizes[] = { 4, 4, 8, 8, 8, 8, 8, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8, 8, 8 };

void swap_attr(struct perf_event_attr *attr, size_t size)
{
	struct turn t = { (char *)attr, (char *)attr + size };
	uint64_t flags;

	for (size_t i = 0; i < sizeof(attr_sizes); i++) {
		uint16_t v2;
		uint32_t v4;
		uint64_t v8;

		if (attr_sizes[i] == 2 ? !turn16(&t, &v2) : attr_sizes[i] == 4 ? !turn32(&t, &v4)
									       : !turn64(&t, &v8))
			break;
	}
	memcpy(&flags, (char *)attr + FLAGS_AT, 8);
	flags = turn_flags(flags);
	memcpy((char *)attr + FLAGS_AT, &flags, 8);
}

/* ---- samples ---------------------------------------------------------------- */

static bool turn_read(struct turn *t, uint64_t format)
{
	unsigned int times = (unsigned int)__builtin_popcountll(
		format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	unsigned int each = 1 + (unsigned int)__builtin_popcountll(format & (PERF_FORMAT_ID | 1u << 4));
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP && !turn64(t, &nr))
		return false;
	return nr <= turn_left(t) / 8 && turn_words(t, times + nr * each);
}

/* The flags of a branch start at the other end, too. */
static uint64_t turn_branch_flags(uint64_t v)
{
	static const uint8_t widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	unsigned int at = 0;
	uint64_t out = 0;

	for (size_t i = 0; i < sizeof(widths); i++) {
		uint64_t mask = (UINT64_C(1) << widths[i]) - 1;

		out |= (v >> (64 - at - widths[i]) & mask) << at;
		at += widths[i];
	}
	return out;
}

static bool turn_branches(struct turn *t, const struct pev_format *fmt)
{
	uint64_t nr, v = 0;

	if (!turn64(t, &nr) || (fmt->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX && !turn64(t, &v)) ||
	    nr > turn_left(t) / 24)
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		turn_words(t, 2);
		turn64(t, &v);
		v = turn_branch_flags(v);
		memcpy(t->p - 8, &v, 8);
	}
	return !(fmt->branch_sample_type & PEV_SAMPLE_BRANCH_COUNTERS) || turn_words(t, nr);
}

static bool turn_regs(struct turn *t, uint64_t mask)
{
	uint64_t abi;

	if (!turn64(t, &abi))
		return false;
	return !abi || turn_words(t, (uint64_t)__builtin_popcountll(mask));
}

static bool turn_counted_bytes(struct turn *t, bool then_word)
{
	uint64_t size, v;

	return turn64(t, &size) && (!size || (pass(t, size) && (!then_word || turn64(t, &v))));
}

static bool turn_raw(struct turn *t)
{
	uint32_t size;

	if (!turn32(t, &size) || !pass(t, size))
		return false;
	size = (0u - (size + 4)) & 7;
	return pass(t, size < turn_left(t) ? size : turn_left(t));
}

static bool turn_chain(struct turn *t)
{
	uint64_t nr;

	return turn64(t, &nr) && turn_words(t, nr);
}

/* ---- fields ------------------------------------------------------------------- */

static bool turn_identity(struct turn *t, uint16_t misc)
{
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return pass(t, 24);
	return turn_pair(t) && turn_words(t, 2);
}

/* 2, 4, 8: a number of that size; p: two of size 4; b: device and inode, or build id; r: read_format; w: words up to the
 * end; the others are parts of samples. */
static bool turn_field(struct turn *t, char field, uint16_t misc, const struct pev_format *fmt)
{
	uint16_t v2;
	uint32_t v4;

	switch (field) {
	case '2':
		return turn16(t, &v2);
	case '4':
		return turn32(t, &v4);
	case '8':
		return turn_words(t, 1);
	case 'p':
		return turn_pair(t);
	case 'b':
		return turn_identity(t, misc);
	case 'r':
		return turn_read(t, fmt->read_format);
	case 'c':
		return turn_chain(t);
	case 'R':
		return turn_raw(t);
	case 'B':
		return turn_branches(t, fmt);
	case 'U':
		return turn_regs(t, fmt->regs_user);
	case 'I':
		return turn_regs(t, fmt->regs_intr);
	case 'S':
		return turn_counted_bytes(t, true);
	case 'A':
		return turn_counted_bytes(t, false);
	default:
		return turn_words(t, turn_left(t) / 8);
	}
}

struct part {
	uint64_t bits;               /* of sample_type: one of them */
	char field;
};

static bool turn_parts(struct turn *t, const struct part *parts, size_t n, const struct pev_format *fmt)
{
	for (size_t i = 0; i < n; i++)
		if (fmt->sample_type & parts[i].bits && !turn_field(t, parts[i].field, 0, fmt))
			return false;
	return true;
}

static const struct part sample_parts[] = {
	{ PERF_SAMPLE_IDENTIFIER, '8' }, { PERF_SAMPLE_IP, '8' }, { PERF_SAMPLE_TID, 'p' }, { PERF_SAMPLE_TIME, '8' },
	{ PERF_SAMPLE_ADDR, '8' }, { PERF_SAMPLE_ID, '8' }, { PERF_SAMPLE_STREAM_ID, '8' }, { PERF_SAMPLE_CPU, 'p' },
	{ PERF_SAMPLE_PERIOD, '8' }, { PERF_SAMPLE_READ, 'r' }, { PERF_SAMPLE_CALLCHAIN, 'c' }, { PERF_SAMPLE_RAW, 'R' },
	{ PERF_SAMPLE_BRANCH_STACK, 'B' }, { PERF_SAMPLE_REGS_USER, 'U' }, { PERF_SAMPLE_STACK_USER, 'S' },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, '8' }, { PERF_SAMPLE_DATA_SRC, '8' },
	{ PERF_SAMPLE_TRANSACTION, '8' }, { PERF_SAMPLE_REGS_INTR, 'I' }, { PERF_SAMPLE_PHYS_ADDR, '8' },
	{ PERF_SAMPLE_CGROUP, '8' }, { PERF_SAMPLE_DATA_PAGE_SIZE, '8' }, { PERF_SAMPLE_CODE_PAGE_SIZE, '8' },
	{ PERF_SAMPLE_AUX, 'A' },
};

static const struct part trailer_parts[] = {
	{ PERF_SAMPLE_TID, 'p' }, { PERF_SAMPLE_TIME, '8' }, { PERF_SAMPLE_ID, '8' }, { PERF_SAMPLE_STREAM_ID, '8' },
	{ PERF_SAMPLE_CPU, 'p' }, { PERF_SAMPLE_IDENTIFIER, '8' },
};

/* ---- records ------------------------------------------------------------------ */

/* Texts and bytes behind these are not swapped. */
static const char *const bodies[] = {
	[PERF_RECORD_MMAP] = "44888",
	[PERF_RECORD_LOST] = "88",
	[PERF_RECORD_COMM] = "44",
	[PERF_RECORD_EXIT] = "44448",
	[PERF_RECORD_THROTTLE] = "888",
	[PERF_RECORD_UNTHROTTLE] = "888",
	[PERF_RECORD_FORK] = "44448",
	[PERF_RECORD_READ] = "44r",
	[PERF_RECORD_MMAP2] = "44888b44",
	[PERF_RECORD_AUX] = "888",
	[PERF_RECORD_ITRACE_START] = "44",
	[PERF_RECORD_LOST_SAMPLES] = "8",
	[PERF_RECORD_SWITCH] = "",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "44",
	[PERF_RECORD_NAMESPACES] = "44w",
	[PERF_RECORD_KSYMBOL] = "8422",
	[PERF_RECORD_BPF_EVENT] = "224",
	[PERF_RECORD_CGROUP] = "8",
	[PERF_RECORD_TEXT_POKE] = "822",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "8",
	[PEV_RECORD_CALLCHAIN_DEFERRED] = "w",
};

static bool turn_trailer(struct turn *t, const struct pev_format *fmt)
{
	size_t size = fmt->sample_id_all ? 8 * (size_t)__builtin_popcountll(fmt->sample_type & PEV_TRAILER_) : 0;
	struct turn trailer;

	if (size > turn_left(t))
		return false;
	trailer = (struct turn){ t->end - size, t->end };
	t->end -= size;
	return !size || turn_parts(&trailer, trailer_parts, sizeof(trailer_parts) / sizeof(*trailer_parts), fmt);
}

bool swap_record(struct perf_event_header *rec, const struct pev_format *fmt)
{
	struct turn t = { (char *)(rec + 1), (char *)rec + rec->size };
	const char *body;

	if (rec->type == PERF_RECORD_SAMPLE)
		return turn_parts(&t, sample_parts, sizeof(sample_parts) / sizeof(*sample_parts), fmt);
	if (rec->type >= sizeof(bodies) / sizeof(*bodies) || !bodies[rec->type])
		return true;
	t.end = (char *)rec + pev_true_size_(rec, rec->size, fmt, true);
	if (!turn_trailer(&t, fmt))
		return false;
	for (body = bodies[rec->type]; *body; body++)
		if (!turn_field(&t, *body, rec->misc, fmt))
			return false;
	return true;
}
