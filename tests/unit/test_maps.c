/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings by process, address and time: from records, and from made-up /proc files. */
#include "cmocka_all.h"

#include "tasks/maps.h"
#include "tasks/procmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 1000, CHILD = 1001, OTHER = 1002 };

struct world {
	struct opener opener;
	struct dsos *dsos;
	struct maps *maps;
	const char *proc;        /* /proc/PID/maps of everybody; NULL: all are gone */
	int reads, caught_up;
	pid_t execs;             /* catch_up() finds that this one called exec(2) */
};

static int open_maps(void *ctx, pid_t pid, const char *name)
{
	struct world *w = ctx;
	int fd;

	assert_string_equal(name, "maps");
	w->reads++;
	if (!w->proc)
		return -ESRCH;
	fd = memfd_create("maps", MFD_CLOEXEC);
	assert_int_equal(write(fd, w->proc, strlen(w->proc)), strlen(w->proc));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int open_file(void *ctx, pid_t pid, const char *path)
{
	return -ENOENT;
}

static void exec_at(struct world *w, pid_t pid, uint64_t time)
{
	struct pev_record rec = { .type = PERF_RECORD_COMM, .sample_id.time = time,
				  .comm = { (uint32_t)pid, (uint32_t)pid, "x", true } };

	maps_take(w->maps, &rec);
}

static void catch_up(void *ctx)
{
	struct world *w = ctx;

	if (++w->caught_up == 2 && w->execs)
		exec_at(w, w->execs, 50);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct maps_opts opts = { .opener = &w->opener, .catch_up = catch_up, .ctx = w };

	w->opener = (struct opener){ open_file, open_maps, w };
	w->dsos = dsos_new(&w->opener, 1 << 20);
	opts.dsos = w->dsos;
	w->maps = maps_new(&opts);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	maps_free(w->maps);
	dsos_free(w->dsos);
	free(w);
	return 0;
}

static void map(struct world *w, pid_t pid, uint64_t start, uint64_t end, const char *file,
		uint64_t time)
{
	struct pev_record rec = { .type = PERF_RECORD_MMAP2, .sample_id.time = time,
				  .mmap = { .pid = (uint32_t)pid, .addr = start, .len = end - start,
					    .pgoff = 0x1000, .filename = file, .ino = 7 } };

	maps_take(w->maps, &rec);
}

static void task(struct world *w, uint32_t type, pid_t pid, pid_t parent, uint64_t time)
{
	struct pev_record rec = { .type = type, .sample_id.time = time,
				  .task = { (uint32_t)pid, (uint32_t)parent, (uint32_t)pid,
					    (uint32_t)parent, time } };

	maps_take(w->maps, &rec);
}

static void is(struct world *w, pid_t pid, uint64_t addr, uint64_t time, const char *file)
{
	const struct mapping *m = maps_find(w->maps, pid, addr, time);

	if (!file) {
		assert_null(m);
		return;
	}
	assert_non_null(m);
	assert_string_equal(dso_name(m->dso), file);
	assert_true(m->start <= addr && addr < m->end);
}

static void mappings_come_and_go(void **state)
{
	struct world *w = *state;

	exec_at(w, PID, 10);
	map(w, PID, 0x10000, 0x20000, "/a", 11);
	map(w, PID, 0x30000, 0x40000, "/b", 12);
	is(w, PID, 0x10000, 11, "/a");
	is(w, PID, 0x1ffff, 100, "/a");
	is(w, PID, 0x20000, 100, NULL);
	is(w, PID, 0x10000, 10, NULL);
	is(w, PID, 0x30000, 11, NULL);
	is(w, PID, 0x30000, 12, "/b");
	is(w, PID, 0x10000, 9, NULL);
	is(w, OTHER, 0x10000, 100, NULL);
	is(w, -1, 0x10000, 100, NULL);
	is(w, 0, 0x10000, 100, NULL);
}

/* There are no records of munmap(2): what is mapped over it tells. */
static void overlaps(void **state)
{
	struct world *w = *state;
	const struct mapping *m;

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/a", 10);
	map(w, PID, 0x20000, 0x30000, "/b", 10);
	map(w, PID, 0x14000, 0x18000, "/c", 20);     /* a hole in the middle */
	is(w, PID, 0x13fff, 20, "/a");
	is(w, PID, 0x14000, 20, "/c");
	is(w, PID, 0x17fff, 20, "/c");
	is(w, PID, 0x18000, 20, "/a");
	is(w, PID, 0x14000, 19, "/a");
	m = maps_find(w->maps, PID, 0x18000, 20);
	assert_int_equal(m->pgoff - m->start, 0x1000 - 0x10000);
	m = maps_find(w->maps, PID, 0x15000, 15);
	assert_int_equal(m->pgoff - m->start, 0x1000 - 0x10000);
	map(w, PID, 0x1c000, 0x24000, "/d", 30);     /* the end of one, the start of another */
	is(w, PID, 0x1bfff, 30, "/a");
	is(w, PID, 0x1c000, 30, "/d");
	is(w, PID, 0x23fff, 30, "/d");
	is(w, PID, 0x24000, 30, "/b");
	is(w, PID, 0x1c000, 29, "/a");
	is(w, PID, 0x23000, 29, "/b");
	m = maps_find(w->maps, PID, 0x24000, 30);
	assert_int_equal(m->pgoff - m->start, 0x1000 - 0x20000);
	map(w, PID, 0, UINT64_MAX, "/all", 40);
	is(w, PID, 0x15000, 40, "/all");
	is(w, PID, 0x15000, 39, "/c");
	is(w, PID, 0x15000, 19, "/a");
}

static void a_child_inherits(void **state)
{
	struct world *w = *state;
	uint64_t version;

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/a", 10);
	task(w, PERF_RECORD_FORK, CHILD, PID, 20);
	is(w, CHILD, 0x10000, 20, "/a");
	version = maps_version(w->maps, CHILD, 20);
	assert_int_equal(maps_version(w->maps, PID, 20), version);   /* the same space */
	map(w, PID, 0x10000, 0x20000, "/parents", 30);
	is(w, CHILD, 0x10000, 30, "/a");
	is(w, PID, 0x10000, 30, "/parents");
	is(w, PID, 0x10000, 29, "/a");
	map(w, CHILD, 0x30000, 0x40000, "/childs", 40);
	is(w, PID, 0x30000, 40, NULL);
	is(w, CHILD, 0x30000, 40, "/childs");
	is(w, CHILD, 0x10000, 40, "/a");
	assert_int_not_equal(maps_version(w->maps, CHILD, 40), version);
	task(w, PERF_RECORD_FORK, PID, PID, 50);     /* a thread */
	is(w, PID, 0x10000, 50, "/parents");
	assert_int_equal(w->reads, 0);
}

static void exec_clears(void **state)
{
	struct world *w = *state;

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/a", 10);
	task(w, PERF_RECORD_FORK, CHILD, PID, 20);
	exec_at(w, CHILD, 30);
	map(w, CHILD, 0x10000, 0x20000, "/new", 31);
	is(w, CHILD, 0x10000, 29, "/a");
	is(w, CHILD, 0x10000, 30, NULL);
	is(w, CHILD, 0x10000, 31, "/new");
	is(w, PID, 0x10000, 31, "/a");
}

/* As long as the number is the same, so are the answers. */
static void versions(void **state)
{
	struct world *w = *state;
	uint64_t a, b;

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/a", 10);
	a = maps_version(w->maps, PID, 10);
	assert_true(a);
	assert_int_equal(maps_version(w->maps, PID, 1000), a);
	map(w, PID, 0x10000, 0x20000, "/a", 20);     /* the same again */
	assert_int_equal(maps_version(w->maps, PID, 1000), a);
	map(w, PID, 0x30000, 0x40000, "/b", 30);
	b = maps_version(w->maps, PID, 30);
	assert_int_not_equal(b, a);
	assert_int_equal(maps_version(w->maps, PID, 29), 0);
	exec_at(w, OTHER, 1);
	assert_int_not_equal(maps_version(w->maps, OTHER, 30), b);
}

#define SECOND UINT64_C(1000000000)

static void the_dead_are_remembered_for_a_while(void **state)
{
	struct world *w = *state;

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/a", 10);
	task(w, PERF_RECORD_EXIT, PID, 1, 1 * SECOND);
	exec_at(w, OTHER, 9 * SECOND);
	is(w, PID, 0x10000, 11, "/a");
	is(w, PID, 0x10000, 2 * SECOND, "/a");
	exec_at(w, OTHER, 13 * SECOND);
	is(w, PID, 0x10000, 11, NULL);
	assert_int_equal(w->reads, 1);
}

/* Its threads go on when the main one has ended: it isn't dead as long as they do. */
static void the_main_thread_ends_first(void **state)
{
	struct world *w = *state;
	struct pev_record thread = { .type = PERF_RECORD_EXIT, .sample_id.time = 31 * SECOND,
				     .task = { PID, 1, PID + 1, 1, 0 } };

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/a", 10);
	task(w, PERF_RECORD_EXIT, PID, 1, 1 * SECOND);
	for (uint64_t t = 8; t < 24; t += 8) {       /* by events */
		exec_at(w, OTHER, t * SECOND);
		is(w, PID, 0x10000, t * SECOND, "/a");
	}
	map(w, PID, 0x30000, 0x40000, "/b", 23 * SECOND);
	exec_at(w, OTHER, 30 * SECOND);
	maps_take(w->maps, &thread);
	exec_at(w, OTHER, 40 * SECOND);
	is(w, PID, 0x10000, 23 * SECOND, "/a");
	exec_at(w, OTHER, 43 * SECOND);
	is(w, PID, 0x10000, 23 * SECOND, NULL);
}

static int live_on(void *ctx)
{
	(void)ctx;
	while (pause() < 0)
		;
	return 0;
}

/*
 * A process whose main thread has ended. Its other thread is made by clone(2): under ASan a
 * pthread_create() after fork() hangs at times.
 */
static pid_t start_headless(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		clone(live_on, stack + sizeof(stack),
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
		syscall(SYS_exit, 0);
	}
	return pid;
}

static bool is_headless(pid_t pid)
{
	char path[64], c;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, &c, 1);
	close(fd);
	return !n;
}

static void a_space_without_main_thread(void **state)
{
	struct maps_opts opts = { .opener = &opener_direct };
	pid_t pid = start_headless();
	struct maps *maps;

	for (int i = 0; i < 2000 && !is_headless(pid); i++)
		usleep(1000);
	assert_true(is_headless(pid));
	opts.dsos = dsos_new(&opener_direct, 1 << 20);
	maps = maps_new(&opts);
	assert_non_null(maps_find(maps, pid, (uint64_t)(uintptr_t)is_headless, 1));
	maps_free(maps);
	dsos_free(opts.dsos);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_second_life(void **state)
{
	struct world *w = *state;

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/first", 10);
	task(w, PERF_RECORD_EXIT, PID, 1, 20);
	exec_at(w, OTHER, 1);
	map(w, OTHER, 0x10000, 0x20000, "/second", 25);
	task(w, PERF_RECORD_FORK, PID, OTHER, 30);
	is(w, PID, 0x10000, 15, "/first");
	is(w, PID, 0x10000, 30, "/second");
	exec_at(w, OTHER, 30 * SECOND);
	is(w, PID, 0x10000, 30 * SECOND, "/second");
}

static const char proc_text[] =
	"00010000-00020000 r--p 00000000 08:01 5   /data\n"
	"00020000-00030000 r-xp 00001000 08:01 5   /before us\n"
	"00030000-00040000 r-xp 00000000 00:00 0 \n"
	"nonsense\n"
	"00050000-00060000 r-xp 00000000 08:01 6   /new\\012line (deleted)\n"
	"7ffff0000000-7ffff0002000 r-xp 00000000 00:00 0   [vdso]\n";

static void what_was_there_before_us(void **state)
{
	struct world *w = *state;

	w->proc = proc_text;
	is(w, PID, 0x10000, 100, NULL);
	is(w, PID, 0x20000, 100, "/before us");
	is(w, PID, 0x30000, 100, "//anon");
	is(w, PID, 0x50000, 100, "/new\nline (deleted)");
	is(w, PID, 0x7ffff0000000, 100, "[vdso]");
	assert_int_equal(maps_find(w->maps, PID, 0x20000, 100)->pgoff, 0x1000);
	assert_int_equal(w->reads, 1);
	map(w, PID, 0x20000, 0x28000, "/later", 200);
	is(w, PID, 0x20000, 199, "/before us");
	is(w, PID, 0x20000, 200, "/later");
	assert_int_equal(w->reads, 1);
}

/* The first record of a process doesn't hide what it had before. */
static void records_come_first(void **state)
{
	struct world *w = *state;

	w->proc = proc_text;
	map(w, PID, 0x20000, 0x28000, "/by record", 50);
	is(w, PID, 0x30000, 60, "//anon");
	is(w, PID, 0x20000, 60, "/by record");
	task(w, PERF_RECORD_FORK, CHILD, OTHER, 70); /* of a parent that is not known */
	is(w, CHILD, 0x20000, 80, "/before us");
}

/* What /proc says is of after the exec: it is not laid into the time before. */
static void exec_while_proc_is_read(void **state)
{
	struct world *w = *state;

	w->proc = proc_text;
	w->execs = PID;
	is(w, PID, 0x20000, 40, NULL);
	is(w, PID, 0x20000, 60, NULL);
	assert_int_equal(w->caught_up, 2);
}

static void who_is_gone_is_asked_once(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 10; i++)
		is(w, PID, 0x20000, 40, NULL);
	assert_int_equal(w->reads, 1);
}

static void lost_records(void **state)
{
	struct world *w = *state;
	struct pev_record lost = { .type = PERF_RECORD_LOST, .sample_id.time = 50 };

	exec_at(w, PID, 1);
	map(w, PID, 0x20000, 0x30000, "/a", 10);
	maps_take(w->maps, &lost);
	w->proc = proc_text;
	is(w, PID, 0x20000, 40, "/a");
	assert_int_equal(w->reads, 0);
	is(w, PID, 0x20000, 60, "/before us");
	w->proc = NULL;
	exec_at(w, OTHER, 70);
	map(w, OTHER, 0x20000, 0x30000, "/b", 71);
	maps_take(w->maps, &(struct pev_record){ .type = PERF_RECORD_LOST, .sample_id.time = 80 });
	is(w, OTHER, 0x20000, 90, NULL);
}

/* However many losses there are: nothing is made for those whom nobody asks about, and who
 * asks late is told nothing of between them that was before the first. */
static void many_losses(void **state)
{
	struct world *w = *state;
	size_t bytes;

	for (int i = 0; i < 1000; i++) {
		exec_at(w, PID + i, 1);
		map(w, PID + i, 0x20000, 0x30000, "/a", 10);
	}
	bytes = maps_bytes(w->maps);
	for (uint64_t t = 50; t < 80; t++)
		maps_take(w->maps, &(struct pev_record){ .type = PERF_RECORD_LOST, .sample_id.time = t });
	assert_int_equal(maps_bytes(w->maps), bytes);
	w->proc = proc_text;
	is(w, PID + 1, 0x20000, 49, "/a");
	is(w, PID, 0x20000, 60, "/before us");
	is(w, PID, 0x20000, 90, "/before us");
	is(w, PID, 0x20000, 49, "/a");
	assert_int_equal(w->reads, 1);
	for (uint64_t t = 100; t < 400; t++)         /* more than are remembered */
		maps_take(w->maps, &(struct pev_record){ .type = PERF_RECORD_LOST, .sample_id.time = t });
	w->proc = NULL;
	is(w, PID, 0x20000, 400, NULL);
	is(w, PID, 0x20000, 90, "/before us");
}

/* Of two CPUs: what happened first may be told last. */
static void records_out_of_order(void **state)
{
	struct world *w = *state;

	exec_at(w, PID, 1);
	map(w, PID, 0x10000, 0x20000, "/old", 2);
	map(w, PID, 0x30000, 0x40000, "/new", 11);   /* of the program that is exec'ed at 10 */
	exec_at(w, PID, 10);
	is(w, PID, 0x10000, 9, "/old");
	is(w, PID, 0x10000, 12, NULL);
	is(w, PID, 0x30000, 12, "/new");
	w->proc = proc_text;
	exec_at(w, CHILD, 21);
	map(w, CHILD, 0x30000, 0x40000, "/childs", 22);
	task(w, PERF_RECORD_FORK, CHILD, PID, 20);
	is(w, CHILD, 0x30000, 20, "/new");
	is(w, CHILD, 0x30000, 21, NULL);
	is(w, CHILD, 0x30000, 22, "/childs");
	map(w, OTHER, 0x50000, 0x60000, "/others", 31);
	task(w, PERF_RECORD_FORK, OTHER, PID, 30);
	is(w, OTHER, 0x30000, 31, "/new");
	is(w, OTHER, 0x50000, 31, "/others");
	is(w, PID, 0x50000, 31, NULL);
}

/* A loader maps the whole file as data, and then its code over a part of that. */
static void code_over_data_of_the_same_file(void **state)
{
	struct world *w = *state;
	struct maps_opts opts = { .dsos = w->dsos, .opener = &w->opener, .data = true };
	struct pev_record rec = { .type = PERF_RECORD_MMAP2, .sample_id.time = 5,
				  .mmap = { .pid = PID, .addr = 0x10000, .len = 0x10000, .data = true, .filename = "/lib" } };
	struct maps *maps = maps_new(&opts);

	maps_take(maps, &rec);
	rec.sample_id.time = 6;
	rec.mmap.addr = 0x12000;
	rec.mmap.len = rec.mmap.pgoff = 0x2000;
	rec.mmap.data = false;
	maps_take(maps, &rec);
	assert_true(maps_find(maps, PID, 0x11fff, 7)->data);
	assert_false(maps_find(maps, PID, 0x12000, 7)->data);
	assert_true(maps_find(maps, PID, 0x12000, 5)->data);
	assert_true(maps_find(maps, PID, 0x14000, 7)->data);
	maps_free(maps);
}

static void records_that_make_no_sense(void **state)
{
	struct world *w = *state;
	struct pev_record data = { .type = PERF_RECORD_MMAP2, .sample_id.time = 5,
				   .mmap = { .pid = PID, .addr = 0x1000, .len = 0x1000, .data = true,
					     .filename = "/data" } };

	exec_at(w, PID, 1);
	map(w, PID, 0x1000, 0x1000, "/empty", 2);
	map(w, PID, UINT64_MAX - 5, 5, "/wraps", 2);
	map(w, -1, 0x1000, 0x2000, "/nobody", 2);
	map(w, 0, 0x1000, 0x2000, "/idle", 2);
	exec_at(w, -1, 2);
	task(w, PERF_RECORD_FORK, -1, PID, 3);
	task(w, PERF_RECORD_FORK, CHILD, -1, 3);
	task(w, PERF_RECORD_EXIT, OTHER, 1, 3);
	maps_take(w->maps, &data);
	maps_take(w->maps, &(struct pev_record){ .type = 9999 });
	is(w, PID, 0x1000, 10, NULL);
	is(w, PID, UINT64_MAX - 1, 10, NULL);
	assert_true(maps_processes(w->maps) <= 2);
}

/* Processes without an end, spaces without an end: memory has one. */
static void memory_is_bounded(void **state)
{
	struct world *w = *state;
	size_t most = 0;

	exec_at(w, 1, 1);
	for (int i = 0; i < 100000; i++) {
		task(w, PERF_RECORD_FORK, 10 + i, 1, 10 + (uint64_t)i);
		map(w, 10 + i, 0x1000, 0x2000, "/x", 10 + (uint64_t)i);
		task(w, PERF_RECORD_EXIT, 10 + i, 1, 10 + (uint64_t)i);
	}
	assert_true(maps_processes(w->maps) <= 16384);
	for (uint64_t i = 0; i < 200000; i++) {
		map(w, PID + (pid_t)(i % 40), 0x100000000 - i * 0x2000, 0x100000000 - i * 0x2000 + 0x1000,
		    "/x", 200000 + i);
		if (i % 1000 == 0)
			most = maps_bytes(w->maps) > most ? maps_bytes(w->maps) : most;
	}
	assert_true(most < 24 << 20);
	for (uint64_t i = 0; i < 100000; i++)        /* one place, mapped again and again */
		map(w, PID, 0x1000, 0x2000, i % 2 ? "/x" : "/y", 500000 + i);
	assert_true(maps_bytes(w->maps) < 24 << 20);
}

static void ourselves(void **state)
{
	struct maps_opts opts = { .opener = &opener_direct };
	struct maps *maps;

	opts.dsos = dsos_new(&opener_direct, 1 << 20);
	maps = maps_new(&opts);
	maps_snapshot(maps);
	assert_non_null(maps_find(maps, getpid(), (uint64_t)(uintptr_t)ourselves, 1));
	assert_null(maps_find(maps, getpid(), (uint64_t)(uintptr_t)&opts, 1));
	maps_free(maps);
	dsos_free(opts.dsos);
}

static void lines(void **state)
{
	static const struct { const char *text; bool good; } rows[] = {
		{ "1000-2000 r-xp 00000000 08:01 5 /x", true },
		{ "1000-2000 r-xp 00000000 08:01 5 ", true },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", true },
		{ "2000-1000 r-xp 00000000 08:01 5 /x", false },
		{ "1000-1000 r-xp 00000000 08:01 5 /x", false },
		{ "1000-2000 r-xp 00000000 08:01 5", false },
		{ "1000-2000 r-xp 00000000 0801 5 /x", false },
		{ "1000-2000 r-x 00000000 08:01 5 /x", false },
		{ "10000000000000000-20000000000000000 r-xp 0 08:01 5 /x", false },
		{ "1000-2000 r-xp 0 08:01 99999999999999999999999 /x", false },
		{ "", false }, { "1000", false }, { "1000-", false }, { "1000-2000", false },
		{ "1000-2000 ", false }, { "1000-2000 r", false }, { "-", false }, { "g-h", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct procmaps_line line;
		char *copy = malloc(strlen(rows[i].text) + 1);   /* an overrun shows */

		strcpy(copy, rows[i].text);
		assert_int_equal(procmaps_parse(copy, strlen(copy), &line), rows[i].good);
		free(copy);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mappings_come_and_go),
		TEST(overlaps),
		TEST(a_child_inherits),
		TEST(exec_clears),
		TEST(versions),
		TEST(the_dead_are_remembered_for_a_while),
		TEST(the_main_thread_ends_first),
		cmocka_unit_test(a_space_without_main_thread),
		TEST(a_second_life),
		TEST(what_was_there_before_us),
		TEST(records_come_first),
		TEST(exec_while_proc_is_read),
		TEST(who_is_gone_is_asked_once),
		TEST(lost_records),
		TEST(many_losses),
		TEST(records_out_of_order),
		TEST(code_over_data_of_the_same_file),
		TEST(records_that_make_no_sense),
		TEST(memory_is_bounded),
		cmocka_unit_test(ourselves),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
