/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of a kernel record is the sum of its parts, and a multiple of 8. This reveals most sizes
 * that were overwritten, even if another record begins at the wrong end.
 */
#include "perfdata/read/reading.h"

#include "perfevent/decode/body.h"
#include "perfevent/decode/cursor.h"

#include <stdlib.h>

enum { LAST_TYPE = PEV_RECORD_CALLCHAIN_DEFERRED, MOST_TYPES = 1 << 16, MISC_FREE = 0x0ff8 };
enum { MAX_TEXT = 4096 + 8, MAX_COMM = 16 };

/* ---- samples ------------------------------------------------------------------ */

#define HEAD_WORDS                                                                                 \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD)

#define REGISTERS (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR)

static struct shape shape_of(const struct pev_format *fmt)
{
	uint64_t type = fmt->sample_type;
	struct shape s = {
		.fixed = (uint16_t)(8 + 8 * words_of(type, HEAD_WORDS)),
		.chain = type & PERF_SAMPLE_CALLCHAIN,
		.raw = type & PERF_SAMPLE_RAW,
	};

	if (type & ~(uint64_t)(HEAD_WORDS | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW))
		s.fixed = 0;
	if (type & PERF_SAMPLE_TIME)
		s.time_at = (uint8_t)(8 + 8 * words_of(type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
	return s;
}

static inline uint64_t word(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Length of a sample, computed from its parts; 0: longer than `have`. */
static inline size_t length_of(const struct shape *s, const char *at, size_t have)
{
	size_t n = s->fixed;
	uint32_t raw;

	if (s->chain) {
		if (have < n + 8 || word(at + n) > have / 8)
			return 0;
		n += 8 + 8 * word(at + n);
	}
	if (!s->raw)
		return n;
	if (have < n + 8)
		return 0;
	memcpy(&raw, at + n, sizeof(raw));
	return n + ((sizeof(raw) + raw + 7) & ~UINT64_C(7));
}

/* Parts that the decoder does not know have no length, so the rest of the record is accepted. Except for
 * registers of an unknown kind: the decoder knows the parts behind them, but could not find them. */
static bool is_decoded_whole(const struct pev_format *fmt, const struct perf_event_header *rec)
{
	struct cursor c = { (const char *)(rec + 1), (const char *)rec + rec->size };
	struct pev_sample sample = { 0 };

	if (!pev_take_sample_(&c, fmt, &sample))
		return false;
	return c.p == c.end || (sample.undecoded && !(sample.undecoded & REGISTERS));
}

static const struct pev_format *format_of(const struct perfdata_reader *r, const struct perf_event_header *rec,
					  int *event)
{
	*event = r->by_id ? attrs_event_of(r, rec, false) : 0;
	return *event < 0 ? NULL : &r->events[*event].format;
}

static bool is_whole_sample(const struct perfdata_reader *r, const struct perf_event_header *rec)
{
	int event;
	const struct pev_format *fmt = format_of(r, rec, &event);

	if (!fmt)
		return false;
	if (!r->shapes[event].fixed)
		return is_decoded_whole(fmt, rec);
	return length_of(&r->shapes[event], (const char *)rec, rec->size) == rec->size;
}

/* ---- other records of the kernel ---------------------------------------------- */

enum body { NONE, FIXED, TEXT, COUNTED };

/* Bytes of a body before its text or array, or of the whole body. */
static const struct {
	uint8_t size, kind;
} bodies[] = {
	[PERF_RECORD_MMAP] = { 32, TEXT },
	[PERF_RECORD_LOST] = { 16, FIXED },
	[PERF_RECORD_COMM] = { 8, TEXT },
	[PERF_RECORD_EXIT] = { 24, FIXED },
	[PERF_RECORD_THROTTLE] = { 24, FIXED },
	[PERF_RECORD_UNTHROTTLE] = { 24, FIXED },
	[PERF_RECORD_FORK] = { 24, FIXED },
	[PERF_RECORD_READ] = { 8, COUNTED },
	[PERF_RECORD_MMAP2] = { 64, TEXT },
	[PERF_RECORD_AUX] = { 24, FIXED },
	[PERF_RECORD_ITRACE_START] = { 8, FIXED },
	[PERF_RECORD_LOST_SAMPLES] = { 8, FIXED },
	[PERF_RECORD_SWITCH] = { 0, FIXED },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { 8, FIXED },
	[PERF_RECORD_NAMESPACES] = { 16, COUNTED },
	[PERF_RECORD_KSYMBOL] = { 16, TEXT },
	[PERF_RECORD_BPF_EVENT] = { 16, FIXED },
	[PERF_RECORD_CGROUP] = { 8, TEXT },
	[PERF_RECORD_TEXT_POKE] = { 16, COUNTED },
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = { 8, FIXED },
	[PEV_RECORD_CALLCHAIN_DEFERRED] = { 16, COUNTED },
};

/* Size of the trailer (sample_id). */
static size_t trailer_size(const struct pev_format *fmt)
{
	return !fmt->sample_id_all ? 0 : 8u * words_of(fmt->sample_type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
						       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
}

/* A text with its NUL, padded to a multiple of 8. Some recorders pad a comm to its largest size. */
static bool is_padded_text(const char *text, size_t n, bool comm)
{
	size_t len = n <= MAX_TEXT ? strnlen(text, n) : n;

	return len < n && (len + 8 >= n || (comm && n == MAX_COMM));
}

/* Whether `left` bytes behind the fixed part are as many as its count says. */
static bool is_as_counted(const struct pev_format *fmt, const struct perf_event_header *rec, size_t left)
{
	const char *body = (const char *)(rec + 1);
	struct cursor c = { body + 8, body + 8 + left };
	struct pev_read read = { 0 };
	uint16_t old_bytes, new_bytes;

	switch (rec->type) {
	case PERF_RECORD_READ:
		return pev_take_read_(&c, fmt->read_format, &read) && c.p == c.end;
	case PERF_RECORD_NAMESPACES:
		return left % 16 == 0 && left / 16 == word(body + 8);
	case PERF_RECORD_TEXT_POKE:
		memcpy(&old_bytes, body + 8, 2);
		memcpy(&new_bytes, body + 10, 2);
		return ((12u + old_bytes + new_bytes + 7) & ~7u) == 16 + left;
	default:
		return left % 8 == 0 && left / 8 == word(body + 8);
	}
}

static bool is_whole_with(const struct pev_format *fmt, const struct perf_event_header *rec)
{
	size_t left = rec->size - sizeof(*rec), size = bodies[rec->type].size, trailer = trailer_size(fmt);

	if (bodies[rec->type].kind == NONE || left < size + trailer)
		return false;
	left -= size + trailer;
	switch (bodies[rec->type].kind) {
	case FIXED:
		return !left;
	case TEXT:
		return is_padded_text((const char *)(rec + 1) + size, left, rec->type == PERF_RECORD_COMM);
	default:
		return is_as_counted(fmt, rec, left);
	}
}

/* For events without a simple layout: no sample fits it. */
static const struct shape no_shape = { .fixed = UINT16_MAX, .chain = true };

/* If events have trailers of different sizes, nothing says which event a record belongs to: it may fit
 * any of them. */
static bool is_whole_other(const struct perfdata_reader *r, const struct perf_event_header *rec)
{
	int event;
	const struct pev_format *fmt = format_of(r, rec, &event);

	if (!r->by_id || r->id_behind)
		return is_whole_with(fmt, rec);
	for (int i = 0; i < r->nothers; i++)
		if (is_whole_with(&r->events[r->others[i]].format, rec))
			return true;
	return false;
}

int verdict_settle(struct perfdata_reader *r, struct fault *f)
{
	free(r->shapes);
	r->shapes = calloc(r->nevents, sizeof(*r->shapes));
	if (!r->shapes)
		return reading_no_memory(f);
	r->nothers = 0;
	r->shape = &no_shape;
	r->least = r->by_id ? r->id_at + 8u : (unsigned int)sizeof(struct perf_event_header);
	memset(r->sized, 0xff, sizeof(r->sized));
	for (size_t i = 0; i < r->nevents; i++) {
		const struct pev_format *fmt = &r->events[i].format;
		bool known = false;

		r->shapes[i] = shape_of(fmt);
		for (int k = 0; k < r->nothers; k++)
			known |= trailer_size(&r->events[r->others[k]].format) == trailer_size(fmt);
		if (!known && r->nothers < MAX_TRAILERS)
			r->others[r->nothers++] = (uint32_t)i;
	}
	return 0;
}

/* ---- time ---------------------------------------------------------------------- */

/* Records from before the recording have the time 0 or all ones. No clock has run for 292 years. */
static uint64_t believed(const char *p)
{
	return word(p) > INT64_MAX ? 0 : word(p);
}

uint64_t verdict_time(const struct perfdata_reader *r, const struct perf_event_header *rec)
{
	int event;
	const struct pev_format *fmt = format_of(r, rec, &event);
	size_t behind, size;

	if (!fmt || rec->type >= USER_TYPES || !(fmt->sample_type & PERF_SAMPLE_TIME))
		return 0;
	if (rec->type == PERF_RECORD_SAMPLE)
		return rec->size < r->shapes[event].time_at + 8u ? 0 : believed((const char *)rec + r->shapes[event].time_at);
	behind = trailer_size(fmt) - 8 * words_of(fmt->sample_type, PERF_SAMPLE_TID);
	size = pev_true_size_(rec, rec->size, fmt, false);
	return !fmt->sample_id_all || size < sizeof(*rec) + behind ? 0 : believed((const char *)rec + size - behind);
}

/* ---- all records --------------------------------------------------------------- */

/* The record in this machine's byte order and aligned: in place, or a copy. */
static const struct perf_event_header *in_order(struct perfdata_reader *r, const char *at,
						const struct perf_event_header *head)
{
	struct perf_event_header *rec = (void *)r->scratch;
	int event;

	if (!r->foreign && (uintptr_t)at % 8 == 0)
		return (const void *)at;
	memcpy(rec, at, head->size);
	memcpy(rec, head, sizeof(*head));
	event = r->foreign ? attrs_event_of(r, rec, true) : -1;
	if (event >= 0)
		swap_record(rec, &r->events[event].format);
	return rec;
}

static enum verdict head_verdict(const struct perf_event_header *head)
{
	if (!head->type || head->type >= MOST_TYPES || head->size < sizeof(*head) ||
	    (head->type < USER_TYPES && head->size % 8))
		return BROKEN;
	return head->type > LAST_TYPE && head->type < USER_TYPES ? DOUBTFUL : SOUND;
}

enum verdict verdict_of(struct perfdata_reader *r, const char *at, size_t have, struct judged *judged)
{
	struct perf_event_header *head = &judged->head;
	const struct perf_event_header *rec;
	enum verdict verdict;

	judged->time = 0;
	if (have < sizeof(*head))
		return CUT;
	memcpy(head, at, sizeof(*head));
	if (r->foreign)
		swap_header(head);
	verdict = head_verdict(head);
	if (verdict == BROKEN)
		return BROKEN;
	if (have < head->size)
		return CUT;
	if (head->type >= USER_TYPES)
		return user_fits(r, head, at) ? SOUND : DOUBTFUL;
	if (verdict != SOUND || head->misc & MISC_FREE)
		return DOUBTFUL;
	rec = in_order(r, at, head);
	if (!(head->type == PERF_RECORD_SAMPLE ? is_whole_sample(r, rec) : is_whole_other(r, rec)))
		return DOUBTFUL;
	judged->time = verdict_time(r, rec);
	return SOUND;
}

/* Most samples have the layout of the sample before; else the id says which. */
static bool is_sound_sample(struct perfdata_reader *r, const struct perf_event_header *rec)
{
	int event;

	if (rec->size >= r->shape->fixed && length_of(r->shape, (const char *)rec, rec->size) == rec->size)
		return true;
	if (rec->size % 8 || !is_whole_sample(r, rec))
		return false;
	event = r->by_id ? attrs_event_of(r, rec, false) : 0;
	r->shape = r->shapes[event].fixed ? &r->shapes[event] : &no_shape;
	return true;
}

static void remember(struct perfdata_reader *r, const struct perf_event_header *rec)
{
	uint64_t id = id_of_sample(r, rec);

	r->sized[id % SIZED] = (struct sized){ id, rec->size, r->by_id ? attrs_event_of(r, rec, false) : 0 };
}

bool verdict_is_sound(struct perfdata_reader *r, const struct perf_event_header *rec, size_t have)
{
	struct judged judged;

	if (rec->type != PERF_RECORD_SAMPLE)
		return rec->type < USER_TYPES && verdict_of(r, (const char *)rec, have, &judged) == SOUND;
	if (rec->size > have || rec->size < r->least || !is_sound_sample(r, rec))
		return false;
	if (!r->shape->chain)
		remember(r, rec);
	return true;
}
