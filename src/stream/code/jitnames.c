/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/code/jitnames.h"

#include "base/opener.h"
#include "events/layout.h"
#include "perfdata/write/writer.h"
#include "stream/code/jitmarks.h"
#include "stream/live/attention.h"
#include "symbols/dso.h"
#include "symbols/jit/jitdump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* MAX_MAKERS: processes; MAX_BYTES: all their tables in memory; MAX_READ: bytes read per file of
 * the recording; PIECE: bytes read between two checks for a signal. */
enum { MAX_MAKERS = JITMARKS_OWNERS, MAX_BYTES = 64 << 20, MAX_READ = 128 << 20, PIECE = 32 << 20 };
enum { FILTER = 4096 };

/* Recorded samples begin with header, identifier, ip; then pid and tid. */
enum { PID_AT = 24 };

/* Bits of `missing`, in the order of the texts in jitnames_missing(). */
enum {
	JIT_PROCESSES = 1, JIT_READ = 2, JIT_TABLES = 4, JIT_DENIED = 8, JIT_MEMORY = 16, JIT_WRITTEN = 32, JIT_FILES = 64,
	JIT_STOPPED = 128,
};

#define FIRST_PAUSE UINT64_C(200000000)
#define LAST_PAUSE UINT64_C(30000000000)

/* A process that may generate code; or its state before it exited or called exec(2). */
struct maker {
	pid_t pid;                   /* 0: unused */
	int from;                    /* index of the ancestor that made the code which existed at the fork; -1:
				      * none */
	bool gone;
	bool was_put, was_old;       /* written since it ended; also before the last file */
	bool sampled;
	struct perf_map_home home;
	int map, dump;               /* descriptors; -1: none yet */
	struct jitdump_place place;  /* position in the dump */
	uint64_t next, pause;        /* when to look for the map again, and the pause after that, ns */
	struct jitcode code;
	struct jitcode_range last;   /* the last range mapped, */
	uint64_t last_time;          /* at this time */
	struct perfmap *names;       /* the names read so far */
	bool marked;
	char *text;                  /* output, while a file is written */
	size_t size;
};

struct jitnames {
	struct maker v[MAX_MAKERS];
	unsigned int n;                 /* slots in use or used before */
	struct jitmarks *marks;
	uint64_t may_be[FILTER / 64];   /* bit set by the low bits of pids: a process whose bit is clear is not in
					 * `v` */
	unsigned int missing, told;     /* bits JIT_…: seen; reported */
	uint64_t budget;                /* bytes that may still be read before the file ends */
	const struct attention *attn;   /* whose stop ends the reading; or NULL */
};

struct jitnames *jitnames_new(void)
{
	struct jitnames *j = calloc(1, sizeof(struct jitnames));

	if (j)
		j->marks = jitmarks_new();
	if (!j || !j->marks) {
		free(j);
		return NULL;
	}
	j->budget = MAX_READ;
	return j;
}

static void close_it(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_maker(struct maker *m)
{
	if (!m->pid)
		return;
	perf_map_leave(&m->home);
	close_it(&m->map);
	close_it(&m->dump);
	perfmap_free(m->names);
	*m = (struct maker){ .map = -1, .dump = -1 };
}

/* Code that its children inherited loses its names. */
static void drop(struct jitnames *j, struct maker *m)
{
	for (unsigned int i = 0; i < j->n; i++)
		if (j->v[i].from == (int)(m - j->v))
			j->v[i].from = -1;
	end_maker(m);
}

void jitnames_free(struct jitnames *j)
{
	for (unsigned int i = 0; j && i < j->n; i++)
		end_maker(&j->v[i]);
	if (j)
		jitmarks_free(j->marks);
	free(j);
}

/* ---- reading ---------------------------------------------------------------------- */

static size_t bytes_of_all(const struct jitnames *j)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < j->n; i++)
		bytes += j->v[i].names ? perfmap_bytes(j->v[i].names) : 0;
	return bytes;
}

static bool is_stopped(struct jitnames *j)
{
	if (j->attn && attention_pending(j->attn) & ATTN_STOP)
		j->missing |= JIT_STOPPED;
	return j->missing & JIT_STOPPED;
}

void jitnames_heed(struct jitnames *j, const struct attention *attn)
{
	if (j)
		j->attn = attn;
}

/* Reads up to PIECE bytes. False: the files have no more. */
static bool read_piece(struct jitnames *j, struct maker *m, uint64_t *budget)
{
	const uint64_t piece = *budget < PIECE ? *budget : PIECE;
	int64_t read = 0, dumped = 0;
	uint64_t left = piece;

	if (m->map >= 0)
		read = perfmap_read(m->names, m->map, &left);
	if (m->dump >= 0)
		dumped = jitdump_read(m->names, m->dump, &m->place, &left);
	if (dumped > 0)
		perfmap_sort(m->names);
	if (read < 0 || dumped < 0)
		j->missing |= JIT_FILES;
	*budget -= piece - left;
	return !left;
}

/* Reads what was appended to the files since the last time. */
static void read_names(struct jitnames *j, struct maker *m, uint64_t *budget)
{
	if (bytes_of_all(j) >= MAX_BYTES) {
		j->missing |= JIT_TABLES;
		return;
	}
	m->names = m->names ? m->names : perfmap_new();
	if (!m->names) {
		j->missing |= JIT_MEMORY;
		return;
	}
	while (!is_stopped(j) && read_piece(j, m, budget) && *budget)
		;
	if (!*budget)
		j->missing |= JIT_READ;
	if (perfmap_is_cut(m->names) || m->place.cut)
		j->missing |= JIT_TABLES;
}

/* ---- processes that generate code ----------------------------------------------- */

static void note_pid(struct jitnames *j, pid_t pid)
{
	j->may_be[(unsigned int)pid % FILTER / 64] |= UINT64_C(1) << (unsigned int)pid % 64;
}

/* A fast check that excludes nearly all other pids. */
static bool may_be(const struct jitnames *j, pid_t pid)
{
	return j->may_be[(unsigned int)pid % FILTER / 64] >> (unsigned int)pid % 64 & 1;
}

static struct maker *find(struct jitnames *j, pid_t pid)
{
	for (unsigned int i = 0; i < j->n && may_be(j, pid); i++)
		if (j->v[i].pid == pid && !j->v[i].gone)
			return &j->v[i];
	return NULL;
}

static bool has_names(const struct maker *m)
{
	return m->map >= 0 || m->dump >= 0 || m->names;
}

/* A free slot. If all are taken, drops an ended process, preferably one without names. */
static struct maker *place_in(struct jitnames *j)
{
	struct maker *gone = NULL;

	for (unsigned int i = 0; i < j->n; i++) {
		struct maker *m = &j->v[i];

		if (!m->pid)
			return m;
		if (m->gone && (!gone || (has_names(gone) && !has_names(m))))
			gone = m;
	}
	if (j->n < MAX_MAKERS)
		return &j->v[j->n++];
	if (!gone || has_names(gone))
		j->missing |= JIT_PROCESSES;
	if (gone)
		drop(j, gone);
	return gone;
}

/* The uid of the process may have changed since the last look. Its root directory stays open for
 * when it has ended. */
static void look_for_map(struct jitnames *j, struct maker *m)
{
	struct perf_map_home home;
	int rc = m->gone ? 0 : perf_map_home(&home, m->pid);

	if (!m->gone && !rc) {
		perf_map_leave(&m->home);
		m->home = home;
	} else if (!m->gone) {
		perf_map_leave(&home);
	}
	m->gone |= rc == -ESRCH;
	if (m->sampled && (rc == -EACCES || rc == -EPERM))
		j->missing |= JIT_DENIED;
	m->map = perf_map_open(&m->home);
	m->map = m->map < 0 ? -1 : m->map;
}

static struct maker *maker_of(struct jitnames *j, pid_t pid)
{
	struct maker *m = find(j, pid);

	if (m)
		return m;
	m = place_in(j);
	if (!m)
		return NULL;
	*m = (struct maker){ .pid = pid, .from = -1, .home.root = -1, .map = -1, .dump = -1, .pause = FIRST_PAUSE };
	note_pid(j, pid);
	look_for_map(j, m);
	return m;
}

/* PERF_RECORD_MMAP2 up to the file name. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff, file[3];
	uint32_t prot, flags;
	char filename[];
};

/* "…/jit-1234.dump": a jitdump writer maps its file as a sign for profilers. */
static bool is_dump(const char *path)
{
	const char *slash = strrchr(path, '/'), *end = strrchr(path, '.');

	return slash && end > slash && !strncmp(slash, "/jit-", 5) && !strcmp(end, ".dump");
}

static void saw_code(struct maker *m, uint64_t start, uint64_t end, uint64_t time)
{
	jitcode_add(&m->code, start, end);
	if (time < m->last_time)
		return;
	m->last = (struct jitcode_range){ start, end };
	m->last_time = time;
}

static void saw_mapping(struct jitnames *j, const struct mmap2 *r, uint64_t time)
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
	if (m && !dump)
		saw_code(m, r->addr, r->addr + r->len, time);
	if (!m || !dump || m->dump >= 0)
		return;
	/* open the mapped file: its name may belong to another file by now */
	m->dump = opener_mapped(&opener_direct, m->pid, r->addr, r->addr + r->len);
	m->dump = m->dump < 0 ? -1 : m->dump;
}

/* The child inherits the code that its parent made. */
static void saw_fork(struct jitnames *j, pid_t pid, pid_t ppid)
{
	const struct maker *parent = find(j, ppid);
	struct maker *m;

	m = parent ? maker_of(j, pid) : NULL;
	if (!m)
		return;
	m->from = parent->from >= 0 ? parent->from : (int)(parent - j->v);
	for (unsigned int i = 0; i < parent->code.n; i++)
		jitcode_add(&m->code, parent->code.v[i].start, parent->code.v[i].end);
}

/* Some processes write their map when they exit. */
static void saw_exit(struct jitnames *j, pid_t pid)
{
	struct maker *m = find(j, pid);

	if (!m)
		return;
	m->gone = true;
	if (m->map < 0)
		look_for_map(j, m);
	perf_map_leave(&m->home);
}

/* The new program may write its own names into the same file, and may have generated code already. */
static void saw_exec(struct jitnames *j, pid_t pid, uint64_t time)
{
	struct maker *m = find(j, pid), *next;
	struct jitcode_range last = m ? m->last : (struct jitcode_range){ 0 };
	bool has_next = m && m->last_time > time;

	saw_exit(j, pid);
	if (m && has_names(m)) {
		read_names(j, m, &j->budget);
		close_it(&m->map);
		close_it(&m->dump);
	}
	next = has_next ? maker_of(j, pid) : NULL;
	if (next)
		saw_code(next, last.start, last.end, time + 1);
}

/* The start of FORK and EXIT records; COMM has only `pid` in common. */
struct who {
	struct perf_event_header header;
	uint32_t pid, ppid, tid;
};

void jitnames_saw(struct jitnames *j, const struct perf_event_header *rec, uint64_t time)
{
	const struct who *who = (const void *)rec;

	if (!j)
		return;
	if (rec->type == PERF_RECORD_MMAP2)
		saw_mapping(j, (const void *)rec, time);
	else if (rec->type == PERF_RECORD_FORK && rec->size >= sizeof(*who) && who->pid != who->ppid)
		saw_fork(j, (pid_t)who->pid, (pid_t)who->ppid);
	else if (rec->type == PERF_RECORD_EXIT && rec->size >= sizeof(*who) && who->pid == who->tid)
		saw_exit(j, (pid_t)who->pid);
	else if (rec->type == PERF_RECORD_COMM && rec->misc & PERF_RECORD_MISC_COMM_EXEC && rec->size >= sizeof(*who))
		saw_exec(j, (pid_t)who->pid, time);
}

void jitnames_look(struct jitnames *j, uint64_t now)
{
	for (unsigned int i = 0; j && i < j->n; i++) {
		struct maker *m = &j->v[i];

		if (!m->pid || m->gone || m->map >= 0 || now < m->next)
			continue;
		look_for_map(j, m);
		m->next = now + m->pause;
		m->pause = m->pause < LAST_PAUSE ? 2 * m->pause : LAST_PAUSE;
	}
}

/* ---- what was sampled ------------------------------------------------------------- */

/* Any word of a sample may be an address: its ip, its call chain, or its stack for later unwinding. */
void jitnames_sampled(struct jitnames *j, const struct perf_event_header *rec)
{
	pid_t pid = rec->size >= PID_AT + 8 ? (pid_t)layout_u32(rec, PID_AT) : 0;

	for (unsigned int i = 0; i < j->n && may_be(j, pid); i++)
		if (j->v[i].pid == pid) {
			j->v[i].sampled = true;
			jitmarks_add(j->marks, i, &j->v[i].code, (const void *)rec, rec->size / 8);
		}
}

bool jitnames_any(const struct jitnames *j)
{
	return j && j->n;
}

static void mark(struct maker *m, uint64_t addr)
{
	if (m->marked)
		perfmap_mark(m->names, &addr, 1);
}

/* If marks were dropped, all functions are written. */
static void mark_all(struct jitnames *j)
{
	unsigned int owner;
	uint64_t addr;

	for (unsigned int i = 0; i < j->n; i++)
		if (j->v[i].names)
			j->v[i].marked = perfmap_begin_marks(j->v[i].names, jitmarks_are_cut(j->marks));
	for (size_t at = 0; jitmarks_next(j->marks, &at, &owner, &addr);) {
		struct maker *m = &j->v[owner];

		mark(m, addr);
		if (m->pid && m->from >= 0)
			mark(&j->v[m->from], addr);
	}
}

/* ---- writing names ---------------------------------------------------------------- */

static void put_line(void *ctx, uint64_t start, uint64_t size, const char *name)
{
	fprintf(ctx, "%" PRIx64 " %" PRIx64 " ", start, size);
	for (; *name; name++)
		fputc(*name == '\n' ? ' ' : *name, ctx);
	fputc('\n', ctx);
}

static void write_names(struct jitnames *j, struct maker *m)
{
	FILE *f = m->names ? open_memstream(&m->text, &m->size) : NULL;

	if (!f && m->names)
		j->missing |= JIT_MEMORY;
	if (!f)
		return;
	perfmap_each(m->names, put_line, f);
	if (fclose(f))
		j->missing |= JIT_MEMORY;
}

static void read_all(struct jitnames *j)
{
	for (unsigned int i = 0; i < j->n && !is_stopped(j); i++) {
		struct maker *m = &j->v[i];

		if (m->pid && !m->gone && m->map < 0)
			look_for_map(j, m);
		if (m->map >= 0 || m->dump >= 0)
			read_names(j, m, &j->budget);
	}
}

void jitnames_put(struct jitnames *j, struct perfdata_writer *w)
{
	struct perfdata_jit_map maps[MAX_MAKERS];
	size_t n = 0;

	if (!jitnames_any(j))
		return;
	read_all(j);
	mark_all(j);
	for (unsigned int i = 0; i < j->n; i++) {
		write_names(j, &j->v[i]);
		j->v[i].was_put = j->v[i].gone;
		if (j->v[i].size)
			maps[n++] = (struct perfdata_jit_map){ j->v[i].pid, j->v[i].text, j->v[i].size };
	}
	if (!perfdata_put_jit_maps(w, maps, n))
		j->missing |= JIT_WRITTEN;
	for (unsigned int i = 0; i < j->n; i++) {
		free(j->v[i].text);
		j->v[i].text = NULL;
		j->v[i].size = 0;
	}
}

/* ---- the next file ---------------------------------------------------------------- */

/* A living child may run code that this process made. */
static bool is_needed(const struct jitnames *j, unsigned int i)
{
	for (unsigned int k = 0; k < j->n; k++)
		if (j->v[k].pid && j->v[k].from == (int)i)
			return true;
	return !j->v[i].gone;
}

void jitnames_next_file(struct jitnames *j)
{
	bool ends[MAX_MAKERS];

	if (!j)
		return;
	j->budget = MAX_READ;
	jitmarks_clear(j->marks);
	/* rings may still hold samples of processes that ended since the last file */
	for (unsigned int i = 0; i < j->n; i++)
		ends[i] = j->v[i].pid && j->v[i].was_put && j->v[i].was_old && !is_needed(j, i);
	memset(j->may_be, 0, sizeof(j->may_be));
	for (unsigned int i = 0; i < j->n; i++) {
		if (ends[i])
			drop(j, &j->v[i]);
		j->v[i].was_old = j->v[i].was_put;
		if (j->v[i].pid)
			note_pid(j, j->v[i].pid);
	}
}

/* ---- what is missing -------------------------------------------------------------- */

const char *jitnames_missing(struct jitnames *j)
{
	static const char *const why[] = {
		"more than 256 processes make code",
		"the perf maps and jitdump files grew by more than 128 MiB since the last file",
		"one perf map or jitdump has more functions than are read, or all names take more than 64 MiB",
		("this user may not read the perf map of a process that was sampled; record as root, or as the user who runs "
		 "that process"),
		"out of memory",
		"the names of the functions that were sampled take more than 64 MiB",
		"a perf map or jitdump file cannot be read",
		"a signal ended the reading of perf maps and jitdump files",
	};
	unsigned int news = j ? j->missing & ~j->told : 0;
	int i = __builtin_ffs((int)news);

	if (!i)
		return NULL;
	j->told |= 1u << (i - 1);
	return why[i - 1];
}
