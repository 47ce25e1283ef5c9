/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code in anonymous memory: a JIT compiler wrote the code there, and its names into the perf map of the
 * process, /tmp/perf-PID.map.
 *
 * The perf map is opened when code in such memory is first seen. It stays open, so that it can be read after the end
 * of the process. While the process lives, the file is opened again and new lines are read (a "look"): first after
 * SOON_NS, then at growing intervals, up to JIT_LOOK_NS. If an address has no name and the file has grown, the next
 * look is SOON_NS after the last one. If the recording contains the perf map, no looks are needed.
 *
 * A look is a question (dso_ask.c). In a live run, the thread opens the file and reads it into a new table. The asker
 * replaces the old table when it takes the answer. Until then, names come from the old table.
 */
#include "base/note.h"
#include "base/now.h"
#include "symbols/dso_private.h"
#include "symbols/jit/perfmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OPEN = 128, COST_SHARE = 20, PIECE = 1 << 20 };

#define JIT_LOOK_NS UINT64_C(200000000)
#define SOON_NS UINT64_C(10000000)

/* While the dso is late, only the thread may touch it. */
struct jit_file {
	int fd;                  /* -1: not open */
	dev_t dev;
	ino_t ino;
	off_t size;              /* when it was last read */
	bool all;                /* it was read to the end then */
	uid_t owner;             /* user who owns the file */
	uint64_t ns;             /* total time spent on reading it */
	/* the answer: */
	bool gone;               /* the process had ended before the question: only the open file is read */
	bool found_gone, found_other;    /* the process has ended; there is another file now */
	struct perfmap *map;     /* the new table; NULL: there are no new lines */
	uint64_t cost;           /* ns: elapsed time or, if that is more, CPU time times COST_SHARE */
};

struct jit {
	struct jit *next;        /* in dsos.jits */
	struct jit *next_read;   /* in dsos.jits_read: those that have names or a pending question */
	bool listed;             /* it is in dsos.jits_read */
	struct dso *dso;
	pid_t pid;
	bool is_code;            /* code was seen, and the file requested */
	_Atomic bool gone;       /* the process has ended or called exec(2) */
	bool answered;           /* an ASK_MAP question has been answered */
	bool told;               /* that the table is incomplete */
	bool kept;               /* the recording contains its perf map */
	bool open;               /* counted in dsos.jits_open */
	struct jit_file file;
	struct perfmap *map;     /* the table; NULL: not read */
	uint64_t next_look;      /* CLOCK_MONOTONIC, ns */
	uint64_t soonest;        /* the same, for an address without a name */
	uint64_t pause;          /* ns from the last look to the next */
	char path[40];
};

bool dso_is_anonymous(const char *name)
{
	static const char *const begins[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "/memfd:doublemapper", "/SYSV", "[heap]", "[stack",
		"[anon",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* ---- in the thread --------------------------------------------------------------------- */

/* Opens the path again. If there is another file now, it needs another table: found_other. */
static void open_file(const struct dsos *d, struct jit_file *f, pid_t pid)
{
	int fd = f->gone ? -ESRCH : opener_perf_map(d->opener, pid);
	struct stat st;

	f->found_gone = fd == -ESRCH;
	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	f->found_other = st.st_dev != f->dev || st.st_ino != f->ino;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = fd;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->owner = st.st_uid;
}

/* Reads in chunks while there is time. Returns whether there are new lines. */
static bool read_pieces(struct dsos *d, struct jit_file *f)
{
	uint64_t left = 0;
	bool news = false;
	int rc;

	if (!budget_begin(&d->map_budget, f->owner, &f->ns))
		return false;
	do {
		left = PIECE;
		rc = perfmap_read(f->map, f->fd, &left);
		news |= rc > 0;
	} while (!left && rc >= 0 && !budget_is_over(&d->map_budget));
	budget_end(&d->map_budget);
	f->all = left && rc >= 0;
	return news;
}

static void read_file(struct dsos *d, struct jit_file *f, const struct perfmap *old)
{
	bool is_first = !old || f->found_other;
	struct stat st;

	/* a shorter file is that of a new process with the same pid */
	if (fstat(f->fd, &st) || (f->gone && st.st_size < f->size))
		return;
	if (!is_first && f->all && st.st_size == f->size)
		return;
	f->size = st.st_size;
	f->all = false;
	f->map = is_first ? perfmap_new() : perfmap_copy(old);
	if (!f->map || read_pieces(d, f) || is_first)
		return;
	perfmap_free(f->map);
	f->map = NULL;
}

void dso_jit_answer_(struct dsos *d, struct dso *dso)
{
	uint64_t start = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), took;
	struct jit *j = dso->jit;
	struct jit_file *f = &j->file;

	f->map = NULL;
	f->gone = atomic_load(&j->gone);
	f->found_gone = f->found_other = false;
	open_file(d, f, j->pid);
	if (f->fd >= 0 && dso->question.what == ASK_MAP)
		read_file(d, f, j->map);
	took = now_ns(CLOCK_MONOTONIC) - start;
	if (f->found_other && j->map)    /* a new file from the keeper, whose parser has read the whole map */
		took *= COST_SHARE;
	f->cost = (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) * COST_SHARE;
	f->cost = f->cost > took ? f->cost : took;
}

/* ---- in the asking thread: answers ----------------------------------------------------- */

static void close_file(struct dsos *d, struct jit *j)
{
	if (j->file.fd >= 0)
		close(j->file.fd);
	j->file.fd = -1;
	d->jits_open -= j->open;
	j->open = false;
}

static void count_open(struct dsos *d, struct jit *j)
{
	bool open = j->file.fd >= 0;

	d->jits_open += (unsigned int)open - j->open;
	j->open = open;
	if (d->jits_open > MAX_OPEN)
		close_file(d, j);
}

static void list(struct dsos *d, struct jit *j)
{
	if (j->listed)
		return;
	j->listed = true;
	j->next_read = d->jits_read;
	d->jits_read = j;
}

static void unlist(struct dsos *d, struct jit *j)
{
	struct jit **at = &d->jits_read;

	if (!j->listed)
		return;
	j->listed = false;
	while (*at != j)
		at = &(*at)->next_read;
	*at = j->next_read;
}

static void drop_map(struct dsos *d, struct jit *j)
{
	if (!j->map)
		return;
	d->bytes -= perfmap_bytes(j->map);
	perfmap_free(j->map);
	j->map = NULL;
}

static void forget_names(struct dsos *d, struct jit *j)
{
	if (!j->map)
		return;
	unlist(d, j);
	drop_map(d, j);
	j->next_look = 0;
}

static void tell_if_cut(const struct dsos *d, struct jit *j)
{
	if (!perfmap_is_cut(j->map))
		return;
	if (!j->told)
		note(d->verbose, "%s: the perf map is too large: perf-prof reads only a part of it, "
		     "and some functions have no names", j->path);
	j->told = true;
}

/* Names that callers have cached may be wrong from now on: the new numbers show this. */
static void take_map(struct dsos *d, struct jit *j)
{
	drop_map(d, j);
	j->map = j->file.map;
	j->file.map = NULL;
	d->bytes += j->map ? perfmap_bytes(j->map) : 0;
	j->dso->serial = ++d->serials;
	d->answers++;
}

static void set_next_look(struct jit *j)
{
	const struct jit_file *f = &j->file;
	uint64_t end = now_ns(CLOCK_MONOTONIC);

	if (f->gone || f->found_gone) {  /* the file does not grow any more */
		j->next_look = UINT64_MAX;
		return;
	}
	j->pause = 2 * j->pause < JIT_LOOK_NS ? 2 * j->pause : JIT_LOOK_NS;
	j->next_look = end + (f->cost > j->pause ? f->cost : j->pause);
	j->soonest = end + (f->cost > SOON_NS ? f->cost : SOON_NS);
}

void dso_jit_took_(struct dsos *d, struct dso *dso)
{
	struct jit *j = dso->jit;
	const struct jit_file *f = &j->file;

	if (f->found_gone)
		atomic_store(&j->gone, true);
	if (f->map || (f->found_other && j->map))
		take_map(d, j);
	if (j->map)
		tell_if_cut(d, j);
	else
		unlist(d, j);
	count_open(d, j);
	if (dso->question.what == ASK_MAP) {
		j->answered = true;
		set_next_look(j);
	}
	dso_keep_bound_(d);              /* last: it may forget this one's names, too */
}

/* ---- in the asking thread: looks ------------------------------------------------ */

/* False: there is no answer yet. */
static bool look(struct dsos *d, struct jit *j, bool waits)
{
	list(d, j);
	dso_send_(d, j->dso, ASK_MAP, 0, NULL);
	return waits ? dso_settle_(d, j->dso) : dso_poll_(d, j->dso);
}

static void read_kept(struct dsos *d, struct jit *j)
{
	const char *text;
	size_t size;

	j->map = perfmap_new();
	for (size_t i = 0; j->map && (text = opener_kept_map(d->opener, j->pid, i, &size)); i++)
		perfmap_take(j->map, text, size);
	if (!j->map)
		return;
	perfmap_sort(j->map);
	d->bytes += perfmap_bytes(j->map);
	dso_keep_bound_(d);
}

/* Whether to wait for an answer: for the first one, and if there are no rings to read (a recording; dsos_finish()). */
static bool has_time(const struct dsos *d, const struct jit *j)
{
	return !j->answered || !d->patience.is_pressed;
}

static void look_if_due(struct dsos *d, struct jit *j)
{
	if (j->kept && !j->map)
		read_kept(d, j);
	if (!(has_time(d, j) ? dso_settle_(d, j->dso) : dso_poll_(d, j->dso)))
		return;
	if (!j->kept && (!j->gone || j->file.fd >= 0) && now_ns(CLOCK_MONOTONIC_COARSE) >= j->next_look)
		look(d, j, has_time(d, j));
}

/* Whether an address without a name may have one now. Unwinding needs the name of a trampoline at once. */
static bool look_soon(struct dsos *d, struct jit *j)
{
	struct stat st;

	if (j->dso->late)
		return dso_settle_(d, j->dso);
	if (j->file.fd < 0 || j->gone || j->next_look <= j->soonest || fstat(j->file.fd, &st) ||
	    st.st_size == j->file.size || now_ns(CLOCK_MONOTONIC_COARSE) < j->soonest)
		return false;
	return look(d, j, true);
}

/* ---- one dso --------------------------------------------------------------- */

/* NULL: out of memory. */
static struct jit *jit_of(struct dsos *d, struct dso *dso)
{
	struct jit *j = dso->jit;
	size_t size;

	if (j || !(j = calloc(1, sizeof(*j))))
		return j;
	*j = (struct jit){ .next = d->jits, .dso = dso, .pid = dso->place.pid, .file.fd = -1, .pause = SOON_NS / 2 };
	snprintf(j->path, sizeof(j->path), "/tmp/perf-%d.map", (int)j->pid);
	d->jits = dso->jit = j;
	j->kept = opener_kept_map(d->opener, j->pid, 0, &size);
	return j;
}

/* Takes the answers that have arrived: until then open files are not counted, and unused dsos not dropped. */
static void take_answers(struct dsos *d)
{
	for (struct jit *j = d->jits_read, *next; j; j = next) {
		next = j->next_read;
		dso_poll_(d, j->dso);
	}
}

/* Requests the file when code is first seen. */
static void open_if_code(struct dsos *d, struct dso *dso)
{
	struct jit *j = jit_of(d, dso);

	if (!j || j->is_code || j->kept || dso->late)
		return;
	take_answers(d);
	j->is_code = true;
	list(d, j);
	dso_send_(d, dso, ASK_OPEN, 0, NULL);
}

struct dso *dso_get_jit(struct dsos *d, const char *name, pid_t pid, uint64_t life, bool is_code)
{
	/* no real device has this major number */
	struct dso_id id = { .has_inode = true, .maj = UINT32_MAX, .ino = life };
	struct dso *dso = dso_get(d, name, &id, pid);

	if (!dso)
		return NULL;
	dso->memory = true;
	if (is_code)
		open_if_code(d, dso);
	return dso;
}

void dso_jit_free_(struct dsos *d, struct dso *dso)
{
	struct jit *j = dso->jit, **at = &d->jits;

	if (!j)
		return;
	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
	unlist(d, j);
	drop_map(d, j);
	if (!dso->late || atomic_load(&dso->question.errand.done))
		perfmap_free(j->file.map);       /* from an answer that was not taken */
	close_file(d, j);
	free(j);
	dso->jit = NULL;
}

void dso_jit_forget_(struct dsos *d, struct dso *dso)
{
	if (dso->jit)
		forget_names(d, dso->jit);
}

bool dso_jit_find_(struct dsos *d, struct dso *dso, uint64_t addr, const char **name, uint64_t *into)
{
	struct jit *j = dso->jit;

	if (!j)
		return false;            /* no code was seen in it */
	look_if_due(d, j);
	return (j->map && perfmap_find(j->map, addr, name, into)) ||
	       (look_soon(d, j) && j->map && perfmap_find(j->map, addr, name, into));
}

bool dso_jit_has_names_(const struct dso *dso)
{
	return dso->jit && dso->jit->map;
}

const char *dso_jit_name_(const struct dso *dso)
{
	return dso_jit_has_names_(dso) ? dso->jit->path : dso->name;
}

void dsos_process_ended(struct dsos *d, pid_t pid)
{
	for (struct jit *j = d->jits; j; j = j->next)
		if (j->pid == pid)
			atomic_store(&j->gone, true);
}

void dsos_look_again(struct dsos *d)
{
	for (struct jit *j = d->jits; j; j = j->next) {
		if (j->dso->question.what == ASK_MAP)
			dso_settle_(d, j->dso);
		if (j->next_look != UINT64_MAX)
			j->next_look = 0;
	}
}

uint64_t dsos_answers(struct dsos *d)
{
	dsos_tell_started_(d);
	/* a look may free the tables of others, to limit memory: dsos without a table are skipped */
	for (struct jit *j = d->jits_read, *next; j; j = next) {
		next = j->next_read;
		if (dso_poll_(d, j->dso) && j->map)
			look_if_due(d, j);
	}
	return d->answers;
}
