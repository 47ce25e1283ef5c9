/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes records: a row per type, and the sample_id trailer. Reads nothing outside [rec, rec +
 * min(size, avail)).
 */
#include "perfevent/decode/body.h"
#include "perfevent/decode/cursor.h"

#include <errno.h>

#define ARGS struct cursor *c, const struct pev_format *fmt, struct pev_record *r

enum { USER_TYPES = 64 };

/* ---- a function per record ------------------------------------------------------ */

/* A string that takes the rest of the body, and must end in it. */
static bool take_string(struct cursor *c, const char **out)
{
	if (!memchr(c->p, '\0', left(c)))
		return false;
	*out = c->p;
	c->p = c->end;
	return true;
}

static bool decode_lost(ARGS)
{
	return take_u64(c, &r->lost.id) && take_u64(c, &r->lost.lost);
}

static bool decode_lost_samples(ARGS)
{
	return take_u64(c, &r->lost.lost);
}

static bool decode_comm(ARGS)
{
	r->comm.exec = r->misc & PERF_RECORD_MISC_COMM_EXEC;
	return take_2u32(c, &r->comm.pid, &r->comm.tid) && take_string(c, &r->comm.comm);
}

static bool decode_task(ARGS)
{
	return take_2u32(c, &r->task.pid, &r->task.ppid) &&
	       take_2u32(c, &r->task.tid, &r->task.ptid) && take_u64(c, &r->task.time);
}

static bool decode_mmap(ARGS)
{
	struct pev_mmap *m = &r->mmap;

	m->data = r->misc & PERF_RECORD_MISC_MMAP_DATA;
	return take_2u32(c, &m->pid, &m->tid) && take_u64(c, &m->addr) && take_u64(c, &m->len) &&
	       take_u64(c, &m->pgoff) && take_string(c, &m->filename);
}

/* MMAP2 has the file's device and inode, or (misc bit 14) its build id. */
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

static bool decode_mmap2(ARGS)
{
	struct pev_mmap *m = &r->mmap;

	m->data = r->misc & PERF_RECORD_MISC_MMAP_DATA;
	return take_2u32(c, &m->pid, &m->tid) && take_u64(c, &m->addr) && take_u64(c, &m->len) &&
	       take_u64(c, &m->pgoff) && mmap2_identity(c, r) &&
	       take_2u32(c, &m->prot, &m->flags) && take_string(c, &m->filename);
}

static bool decode_throttle(ARGS)
{
	return take_u64(c, &r->throttle.time) && take_u64(c, &r->throttle.id) &&
	       take_u64(c, &r->throttle.stream_id);
}

static bool decode_sample(struct cursor *c, const struct pev_format *fmt, struct pev_record *r)
{
	r->sample.exact_ip = r->misc & PERF_RECORD_MISC_EXACT_IP;
	return pev_take_sample_(c, fmt, &r->sample);
}

static bool decode_read(struct cursor *c, const struct pev_format *fmt, struct pev_record *r)
{
	return take_2u32(c, &r->read.pid, &r->read.tid) &&
	       pev_take_read_(c, fmt->read_format, &r->read.read);
}

static bool decode_aux(ARGS)
{
	return take_u64(c, &r->aux.offset) && take_u64(c, &r->aux.size) && take_u64(c, &r->aux.flags);
}

static bool decode_itrace_start(ARGS)
{
	return take_2u32(c, &r->itrace_start.pid, &r->itrace_start.tid);
}

static bool decode_switch(ARGS)
{
	r->context_switch.out = r->misc & PERF_RECORD_MISC_SWITCH_OUT;
	r->context_switch.preempt = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	return true;
}

static bool decode_switch_cpu_wide(ARGS)
{
	struct pev_switch *s = &r->context_switch;

	return decode_switch(c, fmt, r) && take_2u32(c, &s->next_prev_pid, &s->next_prev_tid);
}

static bool decode_namespaces(ARGS)
{
	struct pev_namespaces *n = &r->namespaces;

	if (!take_2u32(c, &n->pid, &n->tid) || !take_u64(c, &n->nr))
		return false;
	if (n->nr > left(c) / sizeof(*n->entries))
		return false;
	n->entries = take_bytes(c, n->nr * sizeof(*n->entries));
	return true;
}

static bool decode_ksymbol(ARGS)
{
	struct pev_ksymbol *k = &r->ksymbol;

	if (!take_u64(c, &k->addr) || !take(c, &k->len, sizeof(k->len)) ||
	    !take_2u16(c, &k->type, &k->flags))
		return false;
	k->unregister = k->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	return take_string(c, &k->name);
}

static bool decode_bpf_event(ARGS)
{
	struct pev_bpf_event *b = &r->bpf_event;

	return take_2u16(c, &b->type, &b->flags) && take(c, &b->id, sizeof(b->id)) &&
	       take(c, b->tag, sizeof(b->tag));
}

static bool decode_cgroup(ARGS)
{
	return take_u64(c, &r->cgroup.id) && take_string(c, &r->cgroup.path);
}

static bool decode_text_poke(ARGS)
{
	struct pev_text_poke *t = &r->text_poke;

	if (!take_u64(c, &t->addr) || !take_2u16(c, &t->old_len, &t->new_len))
		return false;
	t->old_bytes = take_bytes(c, t->old_len);
	t->new_bytes = take_bytes(c, t->new_len);
	return t->old_bytes && t->new_bytes;
}

static bool decode_aux_output_hw_id(ARGS)
{
	return take_u64(c, &r->aux_output_hw_id.hw_id);
}

static bool decode_callchain_deferred(ARGS)
{
	struct pev_callchain_deferred *d = &r->callchain_deferred;

	if (!take_u64(c, &d->cookie) || !take_u64(c, &d->nr))
		return false;
	d->ips = take_words(c, d->nr);
	return d->ips != NULL;
}

static bool (*const decoders[])(ARGS) = {
	[PERF_RECORD_MMAP] = decode_mmap,
	[PERF_RECORD_LOST] = decode_lost,
	[PERF_RECORD_COMM] = decode_comm,
	[PERF_RECORD_EXIT] = decode_task,
	[PERF_RECORD_THROTTLE] = decode_throttle,
	[PERF_RECORD_UNTHROTTLE] = decode_throttle,
	[PERF_RECORD_FORK] = decode_task,
	[PERF_RECORD_READ] = decode_read,
	[PERF_RECORD_MMAP2] = decode_mmap2,
	[PERF_RECORD_AUX] = decode_aux,
	[PERF_RECORD_ITRACE_START] = decode_itrace_start,
	[PERF_RECORD_LOST_SAMPLES] = decode_lost_samples,
	[PERF_RECORD_SWITCH] = decode_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = decode_switch_cpu_wide,
	[PERF_RECORD_NAMESPACES] = decode_namespaces,
	[PERF_RECORD_KSYMBOL] = decode_ksymbol,
	[PERF_RECORD_BPF_EVENT] = decode_bpf_event,
	[PERF_RECORD_CGROUP] = decode_cgroup,
	[PERF_RECORD_TEXT_POKE] = decode_text_poke,
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = decode_aux_output_hw_id,
	[PEV_RECORD_CALLCHAIN_DEFERRED] = decode_callchain_deferred,
};

/* ---- the sample_id trailer --------------------------------------------------- */

/* Removes the trailer from the end of the body, so that strings end before it. */
static bool decode_trailer(struct cursor *c, const struct pev_format *fmt, struct pev_sample_id *id)
{
	uint64_t type = fmt->sample_type & PEV_TRAILER_;
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
	/* records made by user-space tools: no trailer, no decoder */
	if (r->type >= USER_TYPES)
		return true;
	c->end = (const char *)r->header + pev_true_size_(r->header, r->size, fmt, false);
	if (!decode_trailer(c, fmt, &r->sample_id))
		return false;
	if (r->type >= sizeof(decoders) / sizeof(*decoders) || !decoders[r->type])
		return true;
	return decoders[r->type](c, fmt, r);
}

/* GCC expands a memset() of known size into `rep stos`, which takes 12 ns for a record; the C
 * library takes 2. So the size is hidden from GCC. */
static void clear(struct pev_record *r)
{
	size_t size = sizeof(*r);

	__asm__("" : "+r"(size));
	memset(r, 0, size);
}

static void set_head(struct pev_record *r, const struct perf_event_header *rec)
{
	clear(r);
	r->type = rec->type;
	r->misc = rec->misc;
	r->size = rec->size;
	r->header = rec;
}

int pev_decode(const struct perf_event_header *rec, size_t avail, const struct pev_format *fmt,
	       struct pev_record *out)
{
	struct cursor c;

	if (avail < sizeof(*rec)) {
		clear(out);
		return -EBADMSG;
	}
	set_head(out, rec);
	c.p = (const char *)(rec + 1);
	c.end = (const char *)rec + out->size;
	if (out->size >= sizeof(*rec) && out->size <= avail && decode_body(&c, fmt, out))
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
