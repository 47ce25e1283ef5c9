/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process has a list of eras, each with a start time and an address space:
 *
 *   fork     the child's first era shares its parent's space
 *   exec     an era with an empty space
 *   mmap     an era with a copy, if the space is shared; else the space itself changes
 *
 * So fork and exec are cheap, and an event from before finds the era of its time.
 */
#include "tasks/maps.h"

#include "base/hash.h"
#include "base/room.h"
#include "base/search.h"
#include "symbols/elf/vdso.h"
#include "tasks/procmaps.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct space *space_new(bool partial)
{
	struct space *s = calloc(1, sizeof(*s));

	if (s) {
		s->refs = 1;
		s->partial = partial;
	}
	return s;
}

static struct space *space_ref(struct space *s)
{
	s->refs++;
	return s;
}

static void space_put(struct dsos *d, struct space *s)
{
	if (!s || --s->refs)
		return;
	for (size_t i = 0; i < s->nlive; i++)
		dso_put(d, s->live[i].dso);
	for (size_t i = 0; i < s->ngone; i++)
		dso_put(d, s->gone[i].m.dso);
	free(s->live);
	free(s->gone);
	free(s);
}

/* A copy of the current mappings, without the history. */
static struct space *space_copy(const struct space *s)
{
	struct space *copy = space_new(s->partial);

	if (copy && s->nlive) {
		copy->live = malloc(s->nlive * sizeof(*s->live));
		if (!copy->live) {
			free(copy);
			return NULL;
		}
		memcpy(copy->live, s->live, s->nlive * sizeof(*s->live));
		copy->nlive = copy->live_cap = s->nlive;
		for (size_t i = 0; i < s->nlive; i++)
			dso_ref(copy->live[i].dso);
	}
	if (copy)
		copy->changed = s->changed;
	return copy;
}

/* ---- history -------------------------------------------------------------- */

static void forget_before(struct dsos *d, struct space *s, uint64_t time)
{
	size_t n = 0;

	while (n < s->ngone && (s->gone[n].to < time || s->ngone - n >= SPACE_MAX_GONE))
		dso_put(d, s->gone[n++].m.dso);
	s->ngone -= n;
	if (n)
		memmove(s->gone, s->gone + n, s->ngone * sizeof(*s->gone));
}

/* Adds the part of `m` that `by` replaces to the history, with its own reference. */
static void remember(struct space *s, const struct mapping *m, const struct mapping *by)
{
	struct gone_mapping *g;

	if (!ROOM_FOR(s->gone, s->gone_cap, s->ngone, 1))
		return;
	g = &s->gone[s->ngone++];
	g->m = *m;
	g->to = by->from;
	dso_ref(m->dso);
	if (m->start < by->start) {
		g->m.pgoff += by->start - m->start;
		g->m.start = by->start;
	}
	if (m->end > by->end)
		g->m.end = by->end;
}

/* ---- mapping -------------------------------------------------------------- */

/* The first mapping that ends after addr. */
static size_t first_behind(const struct space *s, uint64_t addr)
{
	return FIRST_NOT(i, 0, s->nlive, s->live[i].end <= addr);
}

static bool is_there(const struct space *s, size_t at, const struct mapping *m)
{
	const struct mapping *have = at < s->nlive ? &s->live[at] : NULL;

	return have && have->start <= m->start && have->end >= m->end &&
	       have->dso == m->dso && have->data == m->data && have->pgoff + (m->start - have->start) == m->pgoff;
}

/* Replaces live[at..to) by the n mappings of `by`. */
static void splice(struct space *s, size_t at, size_t to, const struct mapping *by, size_t n)
{
	memmove(s->live + at + n, s->live + to, (s->nlive - to) * sizeof(*s->live));
	memcpy(s->live + at, by, n * sizeof(*by));
	s->nlive += n;
	s->nlive -= to - at;
}

/* Maps m at time m->from over what is there, and takes over m's reference to the dso. False:
 * nothing changed. Drops history older than `forget`. */
static bool space_map(struct dsos *d, struct space *s, const struct mapping *m, uint64_t forget)
{
	struct mapping parts[3];
	size_t n = 0, at = first_behind(s, m->start), to = at;

	if (is_there(s, at, m) || !ROOM_FOR(s->live, s->live_cap, s->nlive, 2) || s->nlive >= SPACE_MAX_LIVE) {
		dso_put(d, m->dso);
		return false;
	}
	forget_before(d, s, forget);
	while (to < s->nlive && s->live[to].start < m->end)
		remember(s, &s->live[to++], m);
	if (to > at && s->live[at].start < m->start) {
		parts[n] = s->live[at];
		parts[n].end = m->start;
		dso_ref(parts[n++].dso);
	}
	parts[n++] = *m;
	if (to > at && s->live[to - 1].end > m->end) {
		parts[n] = s->live[to - 1];
		parts[n].pgoff += m->end - parts[n].start;
		parts[n].start = m->end;
		dso_ref(parts[n++].dso);
	}
	for (size_t i = at; i < to; i++)
		dso_put(d, s->live[i].dso);
	splice(s, at, to, parts, n);
	s->changed = m->from > s->changed ? m->from : s->changed;
	return true;
}

/* Adds a mapping that is older than the first record, where nothing is mapped yet. */
static bool space_fill(struct dsos *d, struct space *s, const struct mapping *m)
{
	size_t at = first_behind(s, m->start);

	if ((at < s->nlive && s->live[at].start < m->end) || !ROOM_FOR(s->live, s->live_cap, s->nlive, 1) ||
	    s->nlive >= SPACE_MAX_LIVE) {
		dso_put(d, m->dso);
		return false;
	}
	splice(s, at, at, m, 1);
	return true;
}

/* Maps in `s` the mappings that `other` got after that time. */
static void space_carry(struct dsos *d, struct space *s, const struct space *other, uint64_t time)
{
	for (size_t i = 0; i < other->nlive; i++)
		if (other->live[i].from > time) {
			dso_ref(other->live[i].dso);
			space_map(d, s, &other->live[i], 0);
		}
}

/* ---- lookup --------------------------------------------------------------- */

static bool holds(const struct mapping *m, uint64_t addr, uint64_t time)
{
	return addr >= m->start && addr < m->end && time >= m->from;
}

static const struct mapping *space_find(const struct space *s, uint64_t addr, uint64_t time)
{
	size_t at = first_behind(s, addr);

	if (at < s->nlive && holds(&s->live[at], addr, time))
		return &s->live[at];
	for (size_t i = s->ngone; i-- > 0;)
		if (time < s->gone[i].to && holds(&s->gone[i].m, addr, time))
			return &s->gone[i].m;
	return NULL;
}

const struct mapping *space_code_before(const struct space *s, uint64_t addr, uint64_t time)
{
	const struct mapping *last = NULL;
	size_t at = first_behind(s, addr);

	at += at < s->nlive && s->live[at].start <= addr;
	while (at-- && !last)
		if (!s->live[at].data && time >= s->live[at].from)
			last = &s->live[at];
	for (size_t i = 0; i < s->ngone; i++)
		if (!s->gone[i].m.data && s->gone[i].m.start <= addr && time >= s->gone[i].m.from && time < s->gone[i].to &&
		    (!last || s->gone[i].m.start > last->start))
			last = &s->gone[i].m;
	return last;
}

enum {
	BUCKETS = 4096, MAX_PROCESSES = 16384, MAX_ERAS = 64, SWEEP_RECORDS = 4096,
	LOSSES = 64,             /* number of times remembered */
};

#define DEFAULT_BYTES (16u << 20)
#define SWEEP_NS UINT64_C(1000000000)
#define MAX_PROC_FILE (64u << 20)

struct era {
	uint64_t since;
	struct space *space;
	bool by_exec;
};

struct process {
	struct process *next;    /* in the bucket */
	pid_t pid, parent;       /* parent: 0: not known */
	bool used;               /* since the last sweep */
	uint64_t exited;         /* exit of the main thread, or last event after it; 0: running */
	uint64_t life;           /* unique; new after fork and exec */
	uint64_t nlosses;        /* losses that its eras take into account */
	struct era *eras;        /* by time; at least one */
	size_t neras, eras_cap;
};

struct maps {
	struct maps_opts opts;
	struct process *buckets[BUCKETS];
	size_t nprocesses;
	uint64_t versions, lives;
	uint64_t losses[LOSSES], nlosses;   /* times of LOST records; their number */
	uint64_t now, swept;     /* newest time of a record; time of the last sweep */
	unsigned int since_sweep;   /* records */
};

struct maps *maps_new(const struct maps_opts *opts)
{
	struct maps *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->opts = *opts;
	if (!m->opts.max_bytes)
		m->opts.max_bytes = DEFAULT_BYTES;
	m->versions = 1;
	return m;
}

/* ---- processes ------------------------------------------------------------ */

static struct process **bucket_of(struct maps *m, pid_t pid)
{
	return &m->buckets[hash_number((uint32_t)pid) % BUCKETS];
}

static void catch_up_with_losses(struct maps *m, struct process *p);

static struct process *find(struct maps *m, pid_t pid)
{
	struct process *p = *bucket_of(m, pid);

	while (p && p->pid != pid)
		p = p->next;
	if (p && p->nlosses != m->nlosses)
		catch_up_with_losses(m, p);
	return p;
}

static void free_process(struct maps *m, struct process *p)
{
	for (size_t i = 0; i < p->neras; i++)
		space_put(m->opts.dsos, p->eras[i].space);
	free(p->eras);
	free(p);
	m->nprocesses--;
}

void maps_free(struct maps *m)
{
	if (!m)
		return;
	for (size_t b = 0; b < BUCKETS; b++)
		for (struct process *p = m->buckets[b], *next; p; p = next) {
			next = p->next;
			free_process(m, p);
		}
	free(m);
}

/* ---- forgetting ----------------------------------------------------------- */

static size_t bytes_of(const struct process *p)
{
	size_t bytes = sizeof(*p) + p->eras_cap * sizeof(*p->eras);

	for (size_t i = 0; i < p->neras; i++) {
		const struct space *s = p->eras[i].space;

		bytes += (sizeof(*s) + s->live_cap * sizeof(*s->live) +
			  s->gone_cap * sizeof(*s->gone)) / s->refs;
	}
	return bytes;
}

size_t maps_bytes(const struct maps *m)
{
	size_t bytes = 0;

	for (size_t b = 0; b < BUCKETS; b++)
		for (const struct process *p = m->buckets[b]; p; p = p->next)
			bytes += bytes_of(p);
	return bytes;
}

size_t maps_processes(const struct maps *m)
{
	return m->nprocesses;
}

typedef bool doomed_fn(const struct maps *m, const struct process *p);

static bool out_of_grace(const struct maps *m, const struct process *p)
{
	return p->exited && p->exited < m->now && m->now - p->exited > TASKS_GRACE_NS;
}

static bool has_exited(const struct maps *m, const struct process *p)
{
	return p->exited;
}

static bool is_unused(const struct maps *m, const struct process *p)
{
	return !p->used;
}

static bool is_any(const struct maps *m, const struct process *p)
{
	return true;
}

static void forget(struct maps *m, doomed_fn *doomed)
{
	for (size_t b = 0; b < BUCKETS; b++)
		for (struct process **at = &m->buckets[b], *p; (p = *at);) {
			if (!doomed(m, p)) {
				at = &p->next;
				continue;
			}
			*at = p->next;
			free_process(m, p);
		}
}

/* Running processes can be read again from /proc, so dropping them bounds memory. */
static void sweep(struct maps *m)
{
	static doomed_fn *const harder[] = { has_exited, is_unused, is_any };

	forget(m, out_of_grace);
	for (size_t i = 0; i < sizeof(harder) / sizeof(*harder); i++)
		if (m->nprocesses >= MAX_PROCESSES || maps_bytes(m) > m->opts.max_bytes)
			forget(m, harder[i]);
	for (size_t b = 0; b < BUCKETS; b++)
		for (struct process *p = m->buckets[b]; p; p = p->next)
			p->used = false;
	m->swept = m->now;
	m->since_sweep = 0;
}

/* ---- eras ----------------------------------------------------------------- */

static struct era *last_era(const struct process *p)
{
	return &p->eras[p->neras - 1];
}

static struct era *era_at(const struct process *p, uint64_t time)
{
	for (size_t i = p->neras; i-- > 0;)
		if (p->eras[i].since <= time)
			return &p->eras[i];
	return NULL;
}

static void drop_old_eras(struct maps *m, struct process *p)
{
	size_t n = 0;

	while (n + 1 < p->neras &&
	       (p->eras[n + 1].since + TASKS_GRACE_NS < m->now || p->neras - n >= MAX_ERAS))
		space_put(m->opts.dsos, p->eras[n++].space);
	p->neras -= n;
	memmove(p->eras, p->eras + n, p->neras * sizeof(*p->eras));
}

/* Records of two CPUs can come out of order: mappings made after `since` belong into the era that
 * begins then, even if their records came first. */
static struct space *with_later_ones(struct maps *m, const struct process *p, uint64_t since,
				     struct space *space)
{
	const struct space *last = p->neras ? last_era(p)->space : NULL;
	struct space *own = space;

	if (!last || last == space || last_era(p)->since > since || last->changed <= since)
		return space;
	if (space->refs > 1) {
		own = space_copy(space);
		space_put(m->opts.dsos, space);
	}
	if (own)
		space_carry(m->opts.dsos, own, last, since);
	return own;
}

/* Takes over the reference. A space without a version gets one. */
static int begin_era(struct maps *m, struct process *p, uint64_t since, struct space *space)
{
	size_t at;

	if (space)
		space = with_later_ones(m, p, since, space);
	if (p->neras)
		drop_old_eras(m, p);
	if (!space || !ROOM_FOR(p->eras, p->eras_cap, p->neras, 1)) {
		space_put(m->opts.dsos, space);
		return -1;
	}
	if (!space->version)
		space->version = ++m->versions;
	for (at = p->neras++; at && p->eras[at - 1].since > since; at--)
		p->eras[at] = p->eras[at - 1];
	p->eras[at] = (struct era){ .since = since, .space = space };
	return 0;
}

/* After lost records the process may have mapped anything: a partial space begins at that time.
 * Done only when the process is looked up; most processes never are. */
static void catch_up_with_losses(struct maps *m, struct process *p)
{
	uint64_t first = p->nlosses;

	if (m->nlosses - first > LOSSES)
		first = m->nlosses - LOSSES;
	p->nlosses = m->nlosses;
	begin_era(m, p, m->losses[first % LOSSES], space_new(true));
}

static struct process *add_process(struct maps *m, pid_t pid, uint64_t since, struct space *space)
{
	struct process *p, **bucket = bucket_of(m, pid);

	if (m->nprocesses >= MAX_PROCESSES)
		sweep(m);
	p = calloc(1, sizeof(*p));
	if (!p || begin_era(m, p, since, space)) {
		if (!p)
			space_put(m->opts.dsos, space);
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->life = ++m->lives;
	p->nlosses = m->nlosses;
	p->used = true;
	p->next = *bucket;
	*bucket = p;
	m->nprocesses++;
	return p;
}

/* The process; if it is not known, a new one with a partial space. */
static struct process *get(struct maps *m, pid_t pid)
{
	struct process *p = find(m, pid);

	return p ? p : add_process(m, pid, 0, space_new(true));
}

/* The current space, unshared for a change. */
static struct space *own_space(struct maps *m, struct process *p, uint64_t time)
{
	struct space *s = last_era(p)->space;

	if (s->refs > 1) {
		if (begin_era(m, p, time, space_copy(s)))
			return NULL;
		s = last_era(p)->space;
	}
	return s;
}

/* ---- records -------------------------------------------------------------- */

static struct dso *get_file(struct maps *m, const struct process *p, const char *path,
			    const struct dso_id *id, uint64_t start, uint64_t end)
{
	struct dso *dso = dso_get(m->opts.dsos, path, id, p->pid);

	if (dso)
		dso_mapped_at(dso, start, end, p->parent);
	return dso;
}

static struct dso *dso_of(struct maps *m, const struct process *p, const struct pev_mmap *r)
{
	struct dso_id id = { .build_id_size = r->has_build_id ? r->build_id_size : 0 };

	if (!strcmp(r->filename, VDSO_NAME) && !r->has_build_id)
		return dso_get_vdso(m->opts.dsos, r->addr, r->len);
	if (dso_is_anonymous(r->filename))
		return dso_get_jit(m->opts.dsos, r->filename, p->pid, p->life, !r->data);
	if (id.build_id_size) {
		memcpy(id.build_id, r->build_id, id.build_id_size);
	} else if (r->ino) {
		id.has_inode = true;
		id.has_generation = r->ino_generation;   /* 0 when read from /proc */
		id.maj = r->maj;
		id.min = r->min;
		id.ino = r->ino;
		id.generation = r->ino_generation;
	}
	return get_file(m, p, r->filename, &id, r->addr, r->addr + r->len);
}

static void take_mmap(struct maps *m, const struct pev_mmap *r, uint64_t time)
{
	struct mapping mapping = { .start = r->addr, .end = r->addr + r->len, .pgoff = r->pgoff,
				   .data = r->data, .from = time };
	struct process *p;
	struct space *s;

	if ((r->data && !m->opts.data) || (int32_t)r->pid <= 0 || mapping.end <= mapping.start)
		return;
	p = get(m, (pid_t)r->pid);
	s = p ? own_space(m, p, time) : NULL;
	mapping.dso = s ? dso_of(m, p, r) : NULL;
	if (dso_is_anonymous(r->filename))
		mapping.pgoff = mapping.start;
	if (mapping.dso && space_map(m->opts.dsos, s, &mapping,
				     m->now > TASKS_GRACE_NS ? m->now - TASKS_GRACE_NS : 0))
		s->version = ++m->versions;
}

static void begin_life(struct maps *m, struct process *p)
{
	dsos_process_ended(m->opts.dsos, p->pid);
	p->life = ++m->lives;
	p->exited = 0;
}

/* A pid that is reused begins a new life. */
static void take_fork(struct maps *m, const struct pev_task *r, uint64_t time)
{
	struct process *parent, *child;
	struct space *s;

	if (r->pid == r->ppid || (int32_t)r->pid <= 0 || (int32_t)r->ppid <= 0)
		return;          /* a thread */
	parent = get(m, (pid_t)r->ppid);
	if (!parent)
		return;
	s = space_ref(last_era(parent)->space);
	child = find(m, (pid_t)r->pid);
	if (!child)
		child = add_process(m, (pid_t)r->pid, time, s);
	else if (!begin_era(m, child, time, s))
		begin_life(m, child);
	if (child)
		child->parent = (pid_t)r->ppid;
}

static void take_comm(struct maps *m, const struct pev_comm *r, uint64_t time)
{
	struct process *p;

	if (!r->exec || (int32_t)r->pid <= 0)
		return;
	p = find(m, (pid_t)r->pid);
	if (p && !begin_era(m, p, time, space_new(false))) {
		era_at(p, time)->by_exec = true;
		begin_life(m, p);
	} else if (!p) {
		add_process(m, (pid_t)r->pid, time, space_new(false));
	}
}

/* Threads may outlive the main thread: the grace period starts at their last event. */
static void see_alive(struct process *p, uint64_t time)
{
	if (p && p->exited && time > p->exited)
		p->exited = time;
}

static pid_t doer_of(const struct pev_record *rec)
{
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return (pid_t)rec->mmap.pid;
	case PERF_RECORD_COMM:
		return (pid_t)rec->comm.pid;
	case PERF_RECORD_FORK:
		return (pid_t)rec->task.ppid;
	case PERF_RECORD_EXIT:
		return (pid_t)rec->task.pid;
	default:
		return 0;
	}
}

static void take_exit(struct maps *m, const struct pev_task *r, uint64_t time)
{
	struct process *p = r->pid == r->tid ? find(m, (pid_t)r->pid) : NULL;

	if (!p)
		return;
	p->exited = time ? time : 1;
	dsos_process_ended(m->opts.dsos, p->pid);
}

/* Any process may have mapped anything in the records lost. */
static void take_lost(struct maps *m, uint64_t time)
{
	m->losses[m->nlosses++ % LOSSES] = time;
}

void maps_take(struct maps *m, const struct pev_record *rec)
{
	uint64_t time = rec->sample_id.time;

	if (time > m->now)
		m->now = time;
	see_alive(find(m, doer_of(rec)), time);
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		take_mmap(m, &rec->mmap, time);
		break;
	case PERF_RECORD_FORK:
		take_fork(m, &rec->task, time);
		break;
	case PERF_RECORD_COMM:
		take_comm(m, &rec->comm, time);
		break;
	case PERF_RECORD_EXIT:
		take_exit(m, &rec->task, time);
		break;
	case PERF_RECORD_LOST:
		take_lost(m, time);
		break;
	default:
		break;
	}
	if (++m->since_sweep >= SWEEP_RECORDS || m->now - m->swept > SWEEP_NS)
		sweep(m);
}

/* ---- /proc ---------------------------------------------------------------- */

static char *read_file(int fd, size_t *len)
{
	size_t cap = 64 << 10, n = 0;
	char *buf = malloc(cap), *more;
	ssize_t got;

	while (buf && (got = read(fd, buf + n, cap - n - 1)) > 0) {
		n += (size_t)got;
		if (cap - n > 4096)
			continue;
		more = cap < MAX_PROC_FILE ? realloc(buf, cap *= 2) : NULL;
		if (!more)
			break;
		buf = more;
	}
	*len = n;
	return buf;
}

static void fill_line(struct maps *m, struct space *s, const struct process *p,
		      const struct procmaps_line *l)
{
	struct mapping mapping = { .start = l->start, .end = l->end, .pgoff = l->pgoff, .data = !l->exec };
	struct dso_id id = { .has_inode = l->ino != 0, .maj = l->maj, .min = l->min, .ino = l->ino };
	struct dsos *dsos = m->opts.dsos;
	const char *path = *l->path ? l->path : "//anon";

	if (!l->exec && !m->opts.data)
		return;
	if (!strcmp(l->path, VDSO_NAME))
		mapping.dso = dso_get_vdso(dsos, l->start, l->end - l->start);
	else if (dso_is_anonymous(path))
		mapping.dso = dso_get_jit(dsos, path, p->pid, p->life, l->exec);
	else
		mapping.dso = get_file(m, p, path, &id, l->start, l->end);
	if (dso_is_anonymous(path))
		mapping.pgoff = mapping.start;
	if (mapping.dso)
		space_fill(dsos, s, &mapping);
}

static void fill(struct maps *m, struct space *s, const struct process *p, char *text, size_t len)
{
	struct procmaps_line line;
	char *end = text + len, *nl;

	for (char *at = text; at < end && (nl = memchr(at, '\n', (size_t)(end - at))); at = nl + 1)
		if (procmaps_parse(at, (size_t)(nl - at), &line))
			fill_line(m, s, p, &line);
}

static void catch_up(struct maps *m)
{
	if (m->opts.catch_up)
		m->opts.catch_up(m->opts.ctx);
}

static char *read_maps(const struct maps *m, pid_t task, size_t *len)
{
	int fd = opener_proc(m->opts.opener, task, "maps");
	char *text = fd >= 0 ? read_file(fd, len) : NULL;

	if (fd >= 0)
		close(fd);
	return text;
}

/* If the main thread has ended, the maps of another thread still show the space. */
static char *read_threads_maps(const struct maps *m, pid_t pid, size_t *len)
{
	char path[64], *text = NULL;
	struct dirent *d;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !*len && (d = readdir(tasks))) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (tid <= 0 || tid == pid)
			continue;
		free(text);
		text = read_maps(m, tid, len);   /* /proc/TID exists, though it is not listed */
	}
	if (tasks)
		closedir(tasks);
	return text;
}

/* exec(2) blocks readers of /proc/PID/maps until its COMM record is written. So if no such record
 * follows the read, the text belongs to the last known space. */
static void read_process(struct maps *m, pid_t pid)
{
	struct process *p;
	struct space *s;
	char *text = NULL;
	size_t len = 0;

	catch_up(m);
	text = read_maps(m, pid, &len);
	if (text && !len) {
		free(text);
		text = read_threads_maps(m, pid, &len);
	}
	if (text)
		catch_up(m);
	p = get(m, pid);
	s = p ? last_era(p)->space : NULL;
	if (s && s->partial) {
		s->partial = false;
		s->version = ++m->versions;
		if (text)
			fill(m, s, p, text, len);
	}
	free(text);
}

void maps_snapshot(struct maps *m)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			read_process(m, (pid_t)atoi(d->d_name));
	if (proc)
		closedir(proc);
}

/* ---- lookup --------------------------------------------------------------- */

/* The era of that time. /proc can add to the last one only. */
static struct era *look(struct maps *m, pid_t pid, uint64_t time)
{
	struct process *p = pid > 0 ? find(m, pid) : NULL;
	struct era *era = p ? era_at(p, time) : NULL;

	if (pid > 0 && (!p || (era && era->space->partial && era == last_era(p)))) {
		read_process(m, pid);
		p = find(m, pid);
		era = p ? era_at(p, time) : NULL;
	}
	see_alive(p, time);
	if (p)
		p->used = true;
	return era;
}

uint64_t maps_version(struct maps *m, pid_t pid, uint64_t time)
{
	const struct era *era = look(m, pid, time);

	return era && time >= era->space->changed ? era->space->version : 0;
}

static bool has_vdso(const struct space *s, uint64_t time)
{
	for (size_t i = 0; i < s->nlive; i++)
		if (s->live[i].from <= time && !strcmp(dso_mapped_name(s->live[i].dso), VDSO_NAME))
			return true;
	return false;
}

/* The vdso is the last that exec(2) maps. Until then, the registers of user space are those of the program before. */
static bool is_in_exec(const struct process *p, const struct era *era, uint64_t time)
{
	return era->by_exec && era > p->eras && !has_vdso(era->space, time) && has_vdso(era[-1].space, time);
}

const struct mapping *maps_find(struct maps *m, pid_t pid, uint64_t addr, uint64_t time)
{
	const struct era *era = look(m, pid, time);
	const struct mapping *found = era ? space_find(era->space, addr, time) : NULL;

	if (!found && era && is_in_exec(find(m, pid), era, time))
		found = space_find(era[-1].space, addr, time);
	return found;
}

const struct mapping *maps_code_before(struct maps *m, pid_t pid, uint64_t addr, uint64_t time)
{
	const struct era *era = look(m, pid, time);

	return era ? space_code_before(era->space, addr, time) : NULL;
}
