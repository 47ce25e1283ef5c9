/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/jitnames.h"

#include "base/opener.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "stream/layout.h"
#include "symbols/dso.h"
#include "symbols/jitdump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_MAKERS = 256, MAX_BYTES = 64 << 20 };   /* processes; what their tables take at once */

#define FIRST_PAUSE UINT64_C(200000000)
#define LAST_PAUSE UINT64_C(30000000000)

/* A process that may make code. */
struct maker {
	pid_t pid;
	pid_t from;                  /* who made what was there when it was forked; 0: nobody */
	bool gone;
	struct perf_map_home home;
	int map, dump;               /* descriptors; -1: none, so far */
	uint64_t next, pause;        /* when to look for the map again */
	struct perfmap *names;       /* while they are put */
	char *text;
	size_t size;
};

struct jitnames {
	struct maker v[MAX_MAKERS];
	unsigned int n;
	unsigned int refused;   /* that had no place, or have lost it */
};

struct jitnames *jitnames_new(void)
{
	return calloc(1, sizeof(struct jitnames));
}

static void close_it(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_maker(struct maker *m)
{
	perf_map_leave(&m->home);
	close_it(&m->map);
	close_it(&m->dump);
}

void jitnames_free(struct jitnames *j)
{
	for (unsigned int i = 0; j && i < j->n; i++)
		end_maker(&j->v[i]);
	free(j);
}

/* ---- who makes code ------------------------------------------------------------- */

static struct maker *find(struct jitnames *j, pid_t pid)
{
	for (unsigned int i = 0; i < j->n; i++)
		if (j->v[i].pid == pid)
			return &j->v[i];
	return NULL;
}

/* One that is gone, best one that has no names. */
static struct maker *gone_one(struct jitnames *j)
{
	struct maker *m = NULL;

	for (unsigned int i = 0; i < j->n; i++) {
		if (!j->v[i].gone)
			continue;
		if (j->v[i].map < 0 && j->v[i].dump < 0)
			return &j->v[i];
		m = m ? m : &j->v[i];
	}
	j->refused++;
	return m;
}

/* The number of one that is gone is another's now, and of a full table one that is gone goes. */
static struct maker *place_for(struct jitnames *j, pid_t pid)
{
	struct maker *m = find(j, pid);

	if (!m && j->n == MAX_MAKERS)
		m = gone_one(j);
	if (m)
		end_maker(m);
	else if (j->n < MAX_MAKERS)
		m = &j->v[j->n++];
	return m;
}

/* Its uid may have changed since; its root is kept for when it is gone. */
static void look_for_map(struct maker *m)
{
	struct perf_map_home home;

	if (!m->gone && !perf_map_home(&home, m->pid)) {
		perf_map_leave(&m->home);
		m->home = home;
	} else if (!m->gone) {
		perf_map_leave(&home);
	}
	m->map = perf_map_open(&m->home);
	m->map = m->map < 0 ? -1 : m->map;
}

static struct maker *maker_of(struct jitnames *j, pid_t pid)
{
	struct maker *m = find(j, pid);

	if (m && !m->gone)
		return m;
	m = place_for(j, pid);
	if (!m)
		return NULL;
	*m = (struct maker){ .pid = pid, .home.root = -1, .map = -1, .dump = -1, .pause = FIRST_PAUSE };
	look_for_map(m);
	return m;
}

/* The record as the kernel writes it, up to the file's name. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff, file[3];
	uint32_t prot, flags;
	char filename[];
};

/* "…/jit-1234.dump": to map it is how its writer tells of it. */
static bool is_dump(const char *path)
{
	const char *slash = strrchr(path, '/'), *end = strrchr(path, '.');

	return slash && end > slash && !strncmp(slash, "/jit-", 5) && !strcmp(end, ".dump");
}

static void saw_mapping(struct jitnames *j, const struct mmap2 *r)
{
	bool dump;
	struct maker *m;

	if (r->header.size <= sizeof(*r) || !(r->prot & PROT_EXEC) || (int32_t)r->pid <= 0 || !r->addr ||
	    !memchr(r->filename, '\0', r->header.size - sizeof(*r)))
		return;
	dump = is_dump(r->filename);
	if (!dump && !dso_is_anonymous(r->filename))
		return;
	m = maker_of(j, (pid_t)r->pid);
	if (!m || !dump || m->dump >= 0)
		return;
	/* what it has mapped: by its name another's file could be meant */
	m->dump = opener_mapped(&opener_direct, m->pid, r->addr, r->addr + r->len);
	m->dump = m->dump < 0 ? -1 : m->dump;
}

/* What the parent has made is the child's, too. */
static void saw_fork(struct jitnames *j, pid_t pid, pid_t ppid)
{
	const struct maker *parent = find(j, ppid);
	struct maker *m;

	if (!parent || parent->gone)
		return;
	m = maker_of(j, pid);
	if (m)
		m->from = parent->from ? parent->from : ppid;
}

/* Some write their map when they end. */
static void saw_exit(struct jitnames *j, pid_t pid)
{
	struct maker *m = find(j, pid);

	if (!m || m->gone)
		return;
	m->gone = true;
	if (m->map < 0)
		look_for_map(m);
	perf_map_leave(&m->home);
}

/* The head of FORK and EXIT records, and up to the pid of COMM. */
struct who {
	struct perf_event_header header;
	uint32_t pid, ppid, tid;
};

void jitnames_saw(struct jitnames *j, const struct perf_event_header *rec)
{
	const struct who *who = (const void *)rec;

	if (!j)
		return;
	if (rec->type == PERF_RECORD_MMAP2)
		saw_mapping(j, (const void *)rec);
	else if (rec->type == PERF_RECORD_FORK && rec->size >= sizeof(*who) && who->pid != who->ppid)
		saw_fork(j, (pid_t)who->pid, (pid_t)who->ppid);
	else if (rec->type == PERF_RECORD_EXIT && rec->size >= sizeof(*who) && who->pid == who->tid)
		saw_exit(j, (pid_t)who->pid);
	else if (rec->type == PERF_RECORD_COMM && rec->misc & PERF_RECORD_MISC_COMM_EXEC && rec->size >= sizeof(*who))
		saw_exit(j, (pid_t)who->pid);
}

void jitnames_look(struct jitnames *j, uint64_t now)
{
	for (unsigned int i = 0; j && i < j->n; i++) {
		struct maker *m = &j->v[i];

		if (m->gone || m->map >= 0 || now < m->next)
			continue;
		look_for_map(m);
		m->next = now + m->pause;
		m->pause = m->pause < LAST_PAUSE ? 2 * m->pause : LAST_PAUSE;
	}
}

/* ---- what was sampled ------------------------------------------------------------- */

/* Any word of a sample may be an address: of where it was, of its callers, of what lies on its stack for
 * who unwinds it later. */
static void mark_sample(struct jitnames *j, const struct perf_event_header *rec, uint8_t tid_at)
{
	struct maker *m = tid_at && rec->size >= tid_at + 8u ? find(j, (pid_t)layout_u32(rec, tid_at)) : NULL;

	if (m && m->names)
		perfmap_mark(m->names, (const void *)rec, rec->size / 8);
	m = m && m->from ? find(j, m->from) : NULL;
	if (m && m->names)
		perfmap_mark(m->names, (const void *)rec, rec->size / 8);
}

/* Where the process's number lies in samples of an event; 0: nowhere. */
static uint8_t tid_at(struct perfdata_reader *r, const struct perf_event_header *rec)
{
	int event = perfdata_event_of(r, rec);
	uint64_t type = event < 0 ? 0 : perfdata_event(r, (size_t)event)->attr.attr.sample_type;

	if (!(type & PERF_SAMPLE_TID))
		return 0;
	return (uint8_t)(8 + (type & PERF_SAMPLE_IDENTIFIER ? 8 : 0) + (type & PERF_SAMPLE_IP ? 8 : 0));
}

/* Reads the recording once more. */
static void mark_all(struct jitnames *j, const struct perfdata_writer *w)
{
	int fd = perfdata_reopen(w);
	struct fault f = { 0 };
	struct perfdata_reader *r = fd < 0 ? NULL : perfdata_reader_open(fd, "the recording", &f);
	const struct perf_event_header *rec;
	bool good = r;

	for (unsigned int i = 0; i < j->n && good; i++)
		if (j->v[i].names)
			good = perfmap_begin_marks(j->v[i].names);
	while (good && perfdata_next(r, &rec, &f) > 0)
		if (rec->type == PERF_RECORD_SAMPLE)
			mark_sample(j, rec, tid_at(r, rec));
	perfdata_reader_close(r);
}

/* ---- putting ---------------------------------------------------------------------- */

/* False: some of it is left out. */
static bool read_names(struct maker *m, size_t *bytes)
{
	bool whole = true;

	if (m->map < 0 && m->dump < 0)
		return true;
	m->names = *bytes < MAX_BYTES ? perfmap_new() : NULL;
	if (!m->names)
		return false;
	if (m->map >= 0)
		whole = perfmap_read(m->names, m->map) >= 0;
	if (m->dump >= 0 && jitdump_read(m->names, m->dump) > 0)
		perfmap_sort(m->names);
	*bytes += perfmap_bytes(m->names);
	return whole && !perfmap_is_cut(m->names);
}

static void put_line(void *ctx, uint64_t start, uint64_t size, const char *name)
{
	fprintf(ctx, "%" PRIx64 " %" PRIx64 " ", start, size);
	for (; *name; name++)
		fputc(*name == '\n' ? ' ' : *name, ctx);
	fputc('\n', ctx);
}

static void write_names(struct maker *m)
{
	FILE *f = m->names ? open_memstream(&m->text, &m->size) : NULL;

	if (!f)
		return;
	perfmap_each(m->names, put_line, f);
	fclose(f);
}

static void forget_names(struct maker *m)
{
	perfmap_free(m->names);
	free(m->text);
	m->names = NULL;
	m->text = NULL;
	m->size = 0;
}

unsigned int jitnames_put(struct jitnames *j, struct perfdata_writer *w)
{
	struct perfdata_jit_map maps[MAX_MAKERS];
	unsigned int cut;
	size_t bytes = 0, n = 0;

	if (!j)
		return 0;
	cut = j->refused;
	j->refused = 0;
	for (unsigned int i = 0; i < j->n; i++) {
		if (j->v[i].map < 0 && !j->v[i].gone)
			look_for_map(&j->v[i]);
		cut += !read_names(&j->v[i], &bytes);
	}
	if (bytes)
		mark_all(j, w);
	for (unsigned int i = 0; i < j->n && bytes; i++) {
		write_names(&j->v[i]);
		if (j->v[i].size)
			maps[n++] = (struct perfdata_jit_map){ j->v[i].pid, j->v[i].text, j->v[i].size };
	}
	perfdata_put_jit_maps(w, maps, n);
	for (unsigned int i = 0; i < j->n; i++)
		forget_names(&j->v[i]);
	return cut;
}
