/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from bytes. A cursor walks the record; every step is checked against what is
 * left, so a length or count that lies makes the record bad and nothing else. Only
 * [rec, rec + min(size, avail)) is ever read.
 */
#include "perfevent.h"

#include <errno.h>
#include <string.h>

struct cursor {
	const char *p, *end;
};

static size_t left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static bool take(struct cursor *c, void *out, size_t n)
{
	if (left(c) < n)
		return false;
	memcpy(out, c->p, n);
	c->p += n;
	return true;
}

static bool take_u64(struct cursor *c, uint64_t *v)
{
	return take(c, v, sizeof(*v));
}

static bool take_2u32(struct cursor *c, uint32_t *a, uint32_t *b)
{
	return take(c, a, sizeof(*a)) && take(c, b, sizeof(*b));
}

/* `n` u64 words in place. */
static const uint64_t *take_words(struct cursor *c, uint64_t n)
{
	const uint64_t *words = (const uint64_t *)c->p;

	if (n > left(c) / 8)
		return NULL;
	c->p += n * 8;
	return words;
}

/* ---- read values ---------------------------------------------------------- */

static bool take_read(struct cursor *c, uint64_t format, struct pev_read *r)
{
	r->format = format;
	r->nr = 1;
	r->stride = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PEV_FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP) {
		if (!take_u64(c, &r->nr))
			return false;
		if ((format & PERF_FORMAT_TOTAL_TIME_ENABLED && !take_u64(c, &r->time_enabled)) ||
		    (format & PERF_FORMAT_TOTAL_TIME_RUNNING && !take_u64(c, &r->time_running)))
			return false;
		if (r->nr > left(c) / 8)   /* also keeps the product below from overflowing */
			return false;
		r->values = take_words(c, r->nr * r->stride);
		return r->values != NULL;
	}
	/* single: value, times, id, lost; the value alone stays in place */
	r->values = take_words(c, 1);
	if (!r->values ||
	    (format & PERF_FORMAT_TOTAL_TIME_ENABLED && !take_u64(c, &r->time_enabled)) ||
	    (format & PERF_FORMAT_TOTAL_TIME_RUNNING && !take_u64(c, &r->time_running)))
		return false;
	return take_words(c, r->stride - 1) != NULL;
}

void pev_read_value(const struct pev_read *read, uint64_t i, struct pev_count *out)
{
	const uint64_t *v;

	memset(out, 0, sizeof(*out));
	if (i >= read->nr)
		return;
	v = read->values + i * read->stride;
	out->value = *v++;
	out->time_enabled = read->time_enabled;
	out->time_running = read->time_running;
	if (!(read->format & PERF_FORMAT_GROUP))
		v += !!(read->format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		     !!(read->format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (read->format & PERF_FORMAT_ID)
		out->id = *v++;
	if (read->format & PEV_FORMAT_LOST)
		out->lost = *v;
}

/* ---- sample ---------------------------------------------------------------- */

#define DECODED                                                                                    \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

static bool sample_head(struct cursor *c, uint64_t type, struct pev_sample *s)
{
	uint32_t reserved;

	return (!(type & PERF_SAMPLE_IDENTIFIER) || take_u64(c, &s->identifier)) &&
	       (!(type & PERF_SAMPLE_IP) || take_u64(c, &s->ip)) &&
	       (!(type & PERF_SAMPLE_TID) || take_2u32(c, &s->pid, &s->tid)) &&
	       (!(type & PERF_SAMPLE_TIME) || take_u64(c, &s->time)) &&
	       (!(type & PERF_SAMPLE_ADDR) || take_u64(c, &s->addr)) &&
	       (!(type & PERF_SAMPLE_ID) || take_u64(c, &s->id)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || take_u64(c, &s->stream_id)) &&
	       (!(type & PERF_SAMPLE_CPU) || take_2u32(c, &s->cpu, &reserved)) &&
	       (!(type & PERF_SAMPLE_PERIOD) || take_u64(c, &s->period));
}

static bool sample_callchain(struct cursor *c, struct pev_sample *s)
{
	if (!take_u64(c, &s->callchain_nr))
		return false;
	s->callchain = take_words(c, s->callchain_nr);
	return s->callchain != NULL;
}

static bool sample_raw(struct cursor *c, struct pev_sample *s)
{
	size_t padded;

	if (!take(c, &s->raw_size, sizeof(s->raw_size)) || s->raw_size > left(c))
		return false;
	s->raw = c->p;
	/* size and data together are padded to u64, where the record has that much */
	padded = ((s->raw_size + 4 + 7) & ~(size_t)7) - 4;
	c->p += padded < left(c) ? padded : left(c);
	return true;
}

static bool decode_sample(struct cursor *c, const struct pev_format *fmt, struct pev_record *r)
{
	struct pev_sample *s = &r->sample;
	uint64_t type = fmt->sample_type;

	s->undecoded = type & ~(uint64_t)DECODED;
	return sample_head(c, type, s) &&
	       (!(type & PERF_SAMPLE_READ) || take_read(c, fmt->read_format, &s->read)) &&
	       (!(type & PERF_SAMPLE_CALLCHAIN) || sample_callchain(c, s)) &&
	       (!(type & PERF_SAMPLE_RAW) || sample_raw(c, s));
}

/* ---- other records ---------------------------------------------------------- */

/* A string up to the end of the body; it must end in it. */
static bool take_string(struct cursor *c, const char **out)
{
	if (!memchr(c->p, '\0', left(c)))
		return false;
	*out = c->p;
	c->p = c->end;
	return true;
}

static bool decode_lost(struct cursor *c, struct pev_record *r)
{
	return take_u64(c, &r->lost.id) && take_u64(c, &r->lost.lost);
}

static bool decode_lost_samples(struct cursor *c, struct pev_record *r)
{
	return take_u64(c, &r->lost.lost);
}

static bool decode_comm(struct cursor *c, struct pev_record *r)
{
	r->comm.exec = r->misc & PERF_RECORD_MISC_COMM_EXEC;
	return take_2u32(c, &r->comm.pid, &r->comm.tid) && take_string(c, &r->comm.comm);
}

static bool decode_task(struct cursor *c, struct pev_record *r)
{
	return take_2u32(c, &r->task.pid, &r->task.ppid) &&
	       take_2u32(c, &r->task.tid, &r->task.ptid) && take_u64(c, &r->task.time);
}

static bool decode_mmap(struct cursor *c, struct pev_record *r)
{
	struct pev_mmap *m = &r->mmap;

	m->data = r->misc & PERF_RECORD_MISC_MMAP_DATA;
	return take_2u32(c, &m->pid, &m->tid) && take_u64(c, &m->addr) && take_u64(c, &m->len) &&
	       take_u64(c, &m->pgoff) && take_string(c, &m->filename);
}

/* In MMAP2 either the file's device and inode, or (misc bit 14) its build id. */
static bool mmap2_identity(struct cursor *c, struct pev_record *r)
{
	struct pev_mmap *m = &r->mmap;
	uint8_t head[4];

	m->has_build_id = r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (!m->has_build_id)
		return take_2u32(c, &m->maj, &m->min) && take_u64(c, &m->ino) &&
		       take_u64(c, &m->ino_generation);
	if (!take(c, head, sizeof(head)) || head[0] > sizeof(m->build_id))
		return false;
	m->build_id_size = head[0];
	return take(c, m->build_id, sizeof(m->build_id));
}

static bool decode_mmap2(struct cursor *c, struct pev_record *r)
{
	struct pev_mmap *m = &r->mmap;

	m->data = r->misc & PERF_RECORD_MISC_MMAP_DATA;
	return take_2u32(c, &m->pid, &m->tid) && take_u64(c, &m->addr) && take_u64(c, &m->len) &&
	       take_u64(c, &m->pgoff) && mmap2_identity(c, r) &&
	       take_2u32(c, &m->prot, &m->flags) && take_string(c, &m->filename);
}

static bool decode_throttle(struct cursor *c, struct pev_record *r)
{
	return take_u64(c, &r->throttle.time) && take_u64(c, &r->throttle.id) &&
	       take_u64(c, &r->throttle.stream_id);
}

static bool (*const decoders[])(struct cursor *c, struct pev_record *r) = {
	[PERF_RECORD_MMAP] = decode_mmap,
	[PERF_RECORD_LOST] = decode_lost,
	[PERF_RECORD_COMM] = decode_comm,
	[PERF_RECORD_EXIT] = decode_task,
	[PERF_RECORD_THROTTLE] = decode_throttle,
	[PERF_RECORD_UNTHROTTLE] = decode_throttle,
	[PERF_RECORD_FORK] = decode_task,
	[PERF_RECORD_MMAP2] = decode_mmap2,
	[PERF_RECORD_LOST_SAMPLES] = decode_lost_samples,
};

/* ---- the sample_id trailer --------------------------------------------------- */

#define TRAILER                                                                                    \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Cuts the trailer off the end of the body, so that strings end before it. */
static bool decode_trailer(struct cursor *c, const struct pev_format *fmt, struct pev_sample_id *id)
{
	uint64_t type = fmt->sample_type & TRAILER;
	size_t size = 8 * (size_t)__builtin_popcountll(type);
	struct cursor t;
	uint32_t reserved;

	if (!fmt->sample_id_all)
		return true;
	if (left(c) < size)
		return false;
	t = (struct cursor){ c->end - size, c->end };
	c->end = t.p;
	id->present = type;
	return (!(type & PERF_SAMPLE_TID) || take_2u32(&t, &id->pid, &id->tid)) &&
	       (!(type & PERF_SAMPLE_TIME) || take_u64(&t, &id->time)) &&
	       (!(type & PERF_SAMPLE_ID) || take_u64(&t, &id->id)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || take_u64(&t, &id->stream_id)) &&
	       (!(type & PERF_SAMPLE_CPU) || take_2u32(&t, &id->cpu, &reserved)) &&
	       (!(type & PERF_SAMPLE_IDENTIFIER) || take_u64(&t, &id->id));
}

static bool decode_body(struct cursor *c, const struct pev_format *fmt, struct pev_record *r)
{
	if (r->type == PERF_RECORD_SAMPLE)
		return decode_sample(c, fmt, r);
	/* records above MAX are made by user-space tools: no trailer, no decoder */
	if (r->type >= 64)
		return true;
	if (!decode_trailer(c, fmt, &r->sample_id))
		return false;
	if (r->type >= sizeof(decoders) / sizeof(*decoders) || !decoders[r->type])
		return true;
	return decoders[r->type](c, r);
}

static void set_head(struct pev_record *r, const struct perf_event_header *rec)
{
	memset(r, 0, sizeof(*r));
	r->type = rec->type;
	r->misc = rec->misc;
	r->size = rec->size;
	r->header = rec;
}

int pev_decode(const struct perf_event_header *rec, size_t avail, const struct pev_format *fmt,
	       struct pev_record *out)
{
	struct cursor c;

	memset(out, 0, sizeof(*out));
	if (avail < sizeof(*rec))
		return -EBADMSG;
	set_head(out, rec);
	if (rec->size < sizeof(*rec) || rec->size > avail)
		return -EBADMSG;
	c.p = (const char *)(rec + 1);
	c.end = (const char *)rec + rec->size;
	if (decode_body(&c, fmt, out))
		return 0;
	set_head(out, rec);
	return -EBADMSG;
}

void pev_format_from_attr(struct pev_format *fmt, const struct perf_event_attr *attr)
{
	*fmt = (struct pev_format){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user = attr->sample_regs_user,
		.regs_intr = attr->sample_regs_intr,
		.sample_id_all = attr->sample_id_all,
	};
}
