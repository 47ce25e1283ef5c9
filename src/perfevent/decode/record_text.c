/* SPDX-License-Identifier: Apache-2.0 */
/* A record in one line: its name, misc, its fields, the sample_id. */
#include "perfevent/decode/text.h"

#include <stdio.h>
#include <sys/mman.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ARGS struct text *t, const struct pev_record *r, const struct pev_format *fmt

enum { MAX_BYTES = 64 };

typedef unsigned long long ull;

static void put_task_ids(struct text *t, uint32_t pid, uint32_t tid)
{
	pev_text_put_(t, " pid %u tid %u", pid, tid);
}

static void put_sample(ARGS)
{
	pev_text_sample_(t, &r->sample, fmt);
}

static void put_lost(ARGS)
{
	if (r->type == PERF_RECORD_LOST)
		pev_text_put_(t, " id %llu", (ull)r->lost.id);
	pev_text_put_(t, " lost %llu", (ull)r->lost.lost);
}

static void put_comm(ARGS)
{
	put_task_ids(t, r->comm.pid, r->comm.tid);
	pev_text_put_(t, " comm ");
	pev_text_name_(t, r->comm.comm);
}

static void put_task(ARGS)
{
	put_task_ids(t, r->task.pid, r->task.tid);
	pev_text_put_(t, " ppid %u ptid %u at %llu", r->task.ppid, r->task.ptid, (ull)r->task.time);
}

static void put_mmap_file(struct text *t, const struct pev_mmap *m)
{
	if (m->has_build_id) {
		pev_text_put_(t, " build-id ");
		pev_text_bytes_(t, m->build_id, m->build_id_size, sizeof(m->build_id));
	} else {
		pev_text_put_(t, " dev %02x:%02x ino %llu gen %llu", m->maj, m->min, (ull)m->ino,
			      (ull)m->ino_generation);
	}
	pev_text_put_(t, " %c%c%c%c", m->prot & PROT_READ ? 'r' : '-', m->prot & PROT_WRITE ? 'w' : '-',
		      m->prot & PROT_EXEC ? 'x' : '-', m->flags & MAP_SHARED ? 's' : 'p');
}

static void put_mmap(ARGS)
{
	const struct pev_mmap *m = &r->mmap;

	put_task_ids(t, m->pid, m->tid);
	pev_text_put_(t, " addr 0x%llx len 0x%llx pgoff 0x%llx", (ull)m->addr, (ull)m->len,
		      (ull)m->pgoff);
	if (r->type == PERF_RECORD_MMAP2)
		put_mmap_file(t, m);
	pev_text_put_(t, " file ");
	pev_text_name_(t, m->filename);
}

static void put_throttle(ARGS)
{
	const struct pev_throttle *h = &r->throttle;

	pev_text_put_(t, " at %llu id %llu stream_id %llu", (ull)h->time, (ull)h->id,
		      (ull)h->stream_id);
}

static void put_read(ARGS)
{
	put_task_ids(t, r->read.pid, r->read.tid);
	pev_text_read_(t, &r->read.read);
}

static void put_aux(ARGS)
{
	char flags[128];

	pev_aux_flags_text(r->aux.flags, flags, sizeof(flags));
	pev_text_put_(t, " offset 0x%llx size 0x%llx flags 0x%llx(%s)", (ull)r->aux.offset,
		      (ull)r->aux.size, (ull)r->aux.flags, flags);
}

static void put_itrace_start(ARGS)
{
	put_task_ids(t, r->itrace_start.pid, r->itrace_start.tid);
}

static void put_switch(ARGS)
{
	if (!r->context_switch.out)
		pev_text_put_(t, " (in)");
	if (r->type == PERF_RECORD_SWITCH_CPU_WIDE)
		pev_text_put_(t, " %s pid %u tid %u", r->context_switch.out ? "next" : "prev",
			      r->context_switch.next_prev_pid, r->context_switch.next_prev_tid);
}

static void put_namespaces(ARGS)
{
	const struct pev_namespaces *n = &r->namespaces;

	put_task_ids(t, n->pid, n->tid);
	pev_text_put_(t, " [");
	for (uint64_t i = 0; i < n->nr; i++) {
		const char *name = pev_namespace_name(i);

		pev_text_put_(t, "%s%s:%llu/0x%llx", i ? " " : "", name ? name : "?",
			      (ull)n->entries[i].dev, (ull)n->entries[i].inode);
	}
	pev_text_put_(t, "]");
}

static void put_type(struct text *t, const char *name, unsigned int number)
{
	if (name)
		pev_text_put_(t, " type %s", name);
	else
		pev_text_put_(t, " type %u", number);
}

static void put_ksymbol(ARGS)
{
	const struct pev_ksymbol *k = &r->ksymbol;

	pev_text_put_(t, " %s addr 0x%llx len %u", k->unregister ? "unregister" : "register",
		      (ull)k->addr, k->len);
	put_type(t, pev_ksymbol_type_name(k->type), k->type);
	pev_text_put_(t, " flags 0x%x name ", k->flags);
	pev_text_name_(t, k->name);
}

static void put_bpf_event(ARGS)
{
	const struct pev_bpf_event *b = &r->bpf_event;

	put_type(t, pev_bpf_event_name(b->type), b->type);
	pev_text_put_(t, " flags 0x%x id %u tag ", b->flags, b->id);
	pev_text_bytes_(t, b->tag, sizeof(b->tag), sizeof(b->tag));
}

static void put_cgroup(ARGS)
{
	pev_text_put_(t, " cgroup %llu path ", (ull)r->cgroup.id);
	pev_text_name_(t, r->cgroup.path);
}

static void put_text_poke(ARGS)
{
	const struct pev_text_poke *p = &r->text_poke;

	pev_text_put_(t, " addr 0x%llx old %u ", (ull)p->addr, p->old_len);
	pev_text_bytes_(t, p->old_bytes, p->old_len, MAX_BYTES);
	pev_text_put_(t, " new %u ", p->new_len);
	pev_text_bytes_(t, p->new_bytes, p->new_len, MAX_BYTES);
}

static void put_aux_output_hw_id(ARGS)
{
	pev_text_put_(t, " hw_id 0x%llx", (ull)r->aux_output_hw_id.hw_id);
}

static void put_callchain_deferred(ARGS)
{
	const struct pev_callchain_deferred *d = &r->callchain_deferred;

	pev_text_put_(t, " cookie 0x%llx", (ull)d->cookie);
	pev_text_callchain_(t, d->ips, d->nr);
}

static void (*const bodies[])(ARGS) = {
	[PERF_RECORD_MMAP] = put_mmap,
	[PERF_RECORD_LOST] = put_lost,
	[PERF_RECORD_COMM] = put_comm,
	[PERF_RECORD_EXIT] = put_task,
	[PERF_RECORD_THROTTLE] = put_throttle,
	[PERF_RECORD_UNTHROTTLE] = put_throttle,
	[PERF_RECORD_FORK] = put_task,
	[PERF_RECORD_READ] = put_read,
	[PERF_RECORD_SAMPLE] = put_sample,
	[PERF_RECORD_MMAP2] = put_mmap,
	[PERF_RECORD_AUX] = put_aux,
	[PERF_RECORD_ITRACE_START] = put_itrace_start,
	[PERF_RECORD_LOST_SAMPLES] = put_lost,
	[PERF_RECORD_SWITCH] = put_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = put_switch,
	[PERF_RECORD_NAMESPACES] = put_namespaces,
	[PERF_RECORD_KSYMBOL] = put_ksymbol,
	[PERF_RECORD_BPF_EVENT] = put_bpf_event,
	[PERF_RECORD_CGROUP] = put_cgroup,
	[PERF_RECORD_TEXT_POKE] = put_text_poke,
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = put_aux_output_hw_id,
	[PEV_RECORD_CALLCHAIN_DEFERRED] = put_callchain_deferred,
};

/* After a bar: task, time and event of the record. */
static void put_trailer(struct text *t, const struct pev_sample_id *id)
{
	if (id->present)
		pev_text_put_(t, " |");
	if (id->present & PERF_SAMPLE_CPU)
		pev_text_put_(t, " cpu %u", id->cpu);
	if (id->present & PERF_SAMPLE_TID)
		put_task_ids(t, id->pid, id->tid);
	if (id->present & PERF_SAMPLE_TIME)
		pev_text_put_(t, " time %llu", (ull)id->time);
	if (id->present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		pev_text_put_(t, " id %llu", (ull)id->id);
	if (id->present & PERF_SAMPLE_STREAM_ID)
		pev_text_put_(t, " stream_id %llu", (ull)id->stream_id);
}

static void put_head(struct text *t, const struct pev_record *r)
{
	const char *name = pev_record_name(r->type);
	char misc[96];

	if (name)
		pev_text_put_(t, "%s", name);
	else
		pev_text_put_(t, "type %u size %u", r->type, r->size);
	if (pev_misc_text(r->type, r->misc, misc, sizeof(misc)))
		pev_text_put_(t, " (%s)", misc);
}

int pev_record_text(const struct pev_record *rec, const struct pev_format *fmt, char *buf, size_t size)
{
	struct text t = pev_text_(buf, size);

	put_head(&t, rec);
	if (rec->type < COUNT(bodies) && bodies[rec->type])
		bodies[rec->type](&t, rec, fmt);
	if (rec->type != PERF_RECORD_SAMPLE)
		put_trailer(&t, &rec->sample_id);
	return (int)t.n;
}
