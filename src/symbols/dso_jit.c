/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that no file is behind: what a just-in-time compiler wrote there, by the perf map
 * of the process. The file is opened when such memory is first heard of and kept open, so
 * that it serves beyond the end of the process; until then it is looked for anew: after SOON_NS,
 * then less and less often, up to each JIT_LOOK_NS; and SOON_NS after the last look if an address
 * has no name and the file has grown. What a recording has kept of a process needs no looks.
 */
#include "base/note.h"
#include "symbols/dso_private.h"
#include "symbols/perfmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OPEN = 128, COST_SHARE = 20, PIECE = 1 << 20 };

#define JIT_LOOK_NS UINT64_C(200000000)
#define SOON_NS UINT64_C(10000000)

struct jit {
	struct jit *next;        /* of all that there are */
	struct jit *next_read;   /* of those whose file was read */
	struct dso *dso;
	pid_t pid;
	bool gone;               /* whose number it was now runs something else, or nothing */
	bool told;
	bool kept;               /* its map is, in a recording */
	uid_t owner;             /* of the file; and how long it was read */
	uint64_t ns;
	int fd;                  /* -1: not open */
	dev_t dev;
	ino_t ino;
	off_t size;              /* when it was last read */
	struct perfmap *map;     /* NULL: not read */
	uint64_t next_look;      /* CLOCK_MONOTONIC, ns; */
	uint64_t soonest;        /* at least, if there is a reason; */
	uint64_t pause;          /* after the last look */
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

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- the file --------------------------------------------------------------- */

static void close_file(struct dsos *d, struct jit *j)
{
	if (j->fd < 0)
		return;
	close(j->fd);
	j->fd = -1;
	d->jits_open--;
}

static void unlink_read(struct dsos *d, const struct jit *j)
{
	struct jit **at = &d->jits_read;

	while (*at && *at != j)
		at = &(*at)->next_read;
	if (*at)
		*at = j->next_read;
}

static void forget_names(struct dsos *d, struct jit *j)
{
	if (!j->map)
		return;
	unlink_read(d, j);
	d->bytes -= perfmap_bytes(j->map);
	perfmap_free(j->map);
	j->map = NULL;
	j->next_look = 0;
}

/* Another file by that path is another table. */
static void open_file(struct dsos *d, struct jit *j)
{
	int fd = j->gone ? -ESRCH : opener_perf_map(d->opener, j->pid);
	struct stat st;

	if (fd == -ESRCH)
		j->gone = true;
	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (st.st_dev != j->dev || st.st_ino != j->ino)
		forget_names(d, j);
	close_file(d, j);
	j->fd = fd;
	j->dev = st.st_dev;
	j->ino = st.st_ino;
	j->owner = st.st_uid;
	d->jits_open++;
}

static void tell(const struct dsos *d, struct jit *j)
{
	if (!j->told)
		note(d->verbose, "%s: the file is larger than what perf-prof reads of it: some of "
		     "its functions have no names", j->path);
	j->told = true;
}

/* In pieces, as long as there is time; live one piece a look. */
static bool read_pieces(struct dsos *d, struct jit *j)
{
	uint64_t left = 0;
	bool news = false;

	if (!budget_begin(&d->map_budget, j->owner, &j->ns))
		return false;
	do {
		left = PIECE;
		news |= perfmap_read(j->map, j->fd, &left) > 0;
	} while (!left && !d->patience.is_pressed && !budget_is_over(&d->map_budget));
	budget_end(&d->map_budget);
	return news;
}

static bool read_file(struct dsos *d, struct jit *j)
{
	bool news = false;
	struct stat st;

	if (!j->map) {
		j->map = perfmap_new();
		news = j->map;
		d->bytes += j->map ? perfmap_bytes(j->map) : 0;
		if (j->map) {
			j->next_read = d->jits_read;
			d->jits_read = j;
		}
	}
	/* by another life of that number it was begun anew */
	if (!j->map || (j->gone && (fstat(j->fd, &st) || st.st_size < j->size)))
		return news;
	j->size = fstat(j->fd, &st) ? j->size : st.st_size;
	d->bytes -= perfmap_bytes(j->map);
	news |= read_pieces(d, j);
	d->bytes += perfmap_bytes(j->map);
	if (perfmap_is_cut(j->map))
		tell(d, j);
	return news;
}

/* What was said of an address before may be wrong from now on. */
static void look(struct dsos *d, struct jit *j)
{
	uint64_t start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), end, cost;

	if (!patience_left(&d->patience, false) || (d->patience.is_pressed && d->patience.is_pressed(d->patience.ctx))) {
		j->next_look = start + SOON_NS;          /* rings come first */
		return;
	}
	open_file(d, j);
	if (j->fd >= 0 && read_file(d, j)) {
		j->dso->serial = ++d->serials;
		d->answers++;
		dso_keep_bound_(d);
	}
	if (d->jits_open > MAX_OPEN)
		close_file(d, j);
	if (j->gone) {           /* that was its last word */
		j->next_look = UINT64_MAX;
		return;
	}
	/* CPU time is a small share; a look that waits for its file is not made more than half the time */
	end = now(CLOCK_MONOTONIC);
	patience_end(&d->patience, start);
	cost = (now(CLOCK_THREAD_CPUTIME_ID) - cpu) * COST_SHARE;
	cost = cost > end - start ? cost : end - start;
	j->pause = 2 * j->pause < JIT_LOOK_NS ? 2 * j->pause : JIT_LOOK_NS;
	j->next_look = end + (cost > j->pause ? cost : j->pause);
	j->soonest = end + (cost > SOON_NS ? cost : SOON_NS);
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

/* Whether it was. */
static bool look_if_due(struct dsos *d, struct jit *j)
{
	if (j->kept && !j->map) {
		read_kept(d, j);
		return true;
	}
	if (j->kept || (j->gone && j->fd < 0) || now(CLOCK_MONOTONIC_COARSE) < j->next_look)
		return false;
	look(d, j);
	return true;
}

/* Of an address without a name: whether it may have one now. Unwinding needs that of a trampoline at once. */
static bool look_soon(struct dsos *d, struct jit *j)
{
	struct stat st;

	if (j->fd < 0 || j->gone || j->next_look <= j->soonest || fstat(j->fd, &st) || st.st_size == j->size)
		return false;
	j->next_look = j->soonest;
	return look_if_due(d, j);
}

/* ---- of a dso --------------------------------------------------------------- */

struct dso *dso_get_jit(struct dsos *d, const char *name, pid_t pid, uint64_t life)
{
	/* no file has that number of a device */
	struct dso_id id = { .has_inode = true, .maj = UINT32_MAX, .ino = life };
	struct dso *dso = dso_get(d, name, &id, pid);
	struct jit *j;
	size_t size;

	if (!dso || dso->jit)
		return dso;
	j = calloc(1, sizeof(*j));
	if (!j)
		return dso;
	*j = (struct jit){ .next = d->jits, .dso = dso, .pid = pid, .fd = -1, .pause = SOON_NS / 2 };
	snprintf(j->path, sizeof(j->path), "/tmp/perf-%d.map", (int)pid);
	d->jits = dso->jit = j;
	j->kept = opener_kept_map(d->opener, pid, 0, &size);
	if (!j->kept)
		open_file(d, j);
	if (d->jits_open > MAX_OPEN)
		close_file(d, j);
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
	forget_names(d, j);
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

	look_if_due(d, j);
	return (j->map && perfmap_find(j->map, addr, name, into)) ||
	       (look_soon(d, j) && j->map && perfmap_find(j->map, addr, name, into));
}

const char *dso_jit_name_(const struct dso *dso)
{
	return dso->jit && dso->jit->map ? dso->jit->path : dso->name;
}

void dsos_process_ended(struct dsos *d, pid_t pid)
{
	for (struct jit *j = d->jits; j; j = j->next)
		if (j->pid == pid)
			j->gone = true;
}

void dsos_look_again(struct dsos *d)
{
	for (struct jit *j = d->jits; j; j = j->next)
		if (j->next_look != UINT64_MAX)
			j->next_look = 0;
}

uint64_t dsos_answers(struct dsos *d)
{
	dsos_tell_started_(d);
	/* a look may make others forget their names: those are passed over */
	for (struct jit *j = d->jits_read, *next; j; j = next) {
		next = j->next_read;
		if (j->map)
			look_if_due(d, j);
	}
	return d->answers;
}
