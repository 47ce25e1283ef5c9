/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings by process, address and time: from records, and from made-up /proc files. */
#include "checks.h"

#include "tasks/maps.h"
#include "tasks/procmaps.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { PID = 1000, CHILD = 1001, OTHER = 1002 };

struct world {
	struct opener opener;
	struct dsos *dsos;
	struct maps *maps;
	const char *proc;        /* /proc/PID/maps of everybody; NULL: all are gone */
	int reads, caught_up;
	pid_t execs;             /* catch_up() finds that this one called exec(2) */
};

static struct world *w;

static int open_maps(void *ctx, pid_t pid, const char *name)
{
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

static void exec_at(pid_t pid, uint64_t time)
{
	struct pev_record rec = { .type = PERF_RECORD_COMM, .sample_id.time = time,
				  .comm = { (uint32_t)pid, (uint32_t)pid, "x", true } };

	maps_take(w->maps, &rec);
}

static void catch_up(void *ctx)
{
	if (++w->caught_up == 2 && w->execs)
		exec_at(w->execs, 50);
}

static int set_up(void **state)
{
	struct maps_opts opts = { .catch_up = catch_up };

	w = calloc(1, sizeof(*w));
	w->opener = (struct opener){ open_file, open_maps, NULL };
	opts.opener = &w->opener;
	w->dsos = dsos_new(&w->opener, 1 << 20);
	opts.dsos = w->dsos;
	w->maps = maps_new(&opts);
	return 0;
}

static int tear_down(void **state)
{
	maps_free(w->maps);
	dsos_free(w->dsos);
	free(w);
	return 0;
}

static void map(pid_t pid, uint64_t start, uint64_t end, const char *file, uint64_t time)
{
	struct pev_record rec = { .type = PERF_RECORD_MMAP2, .sample_id.time = time,
				  .mmap = { .pid = (uint32_t)pid, .addr = start, .len = end - start,
					    .pgoff = 0x1000, .filename = file, .ino = 7 } };

	maps_take(w->maps, &rec);
}

static void task(uint32_t type, pid_t pid, pid_t parent, uint64_t time)
{
	struct pev_record rec = { .type = type, .sample_id.time = time,
				  .task = { (uint32_t)pid, (uint32_t)parent, (uint32_t)pid,
					    (uint32_t)parent, time } };

	maps_take(w->maps, &rec);
}

static void lose(uint64_t time)
{
	maps_take(w->maps, &(struct pev_record){ .type = PERF_RECORD_LOST, .sample_id.time = time });
}

/* A process with one file. */
static void begin(void)
{
	exec_at(PID, 1);
	map(PID, 0x10000, 0x20000, "/a", 10);
}

static void is(pid_t pid, uint64_t addr, uint64_t time, const char *file)
{
	const struct mapping *m = maps_find(w->maps, pid, addr, time);

	if (!m != !file || (m && strcmp(dso_name(m->dso), file)))
		fail_msg("%#llx of %d at %llu: %s", (unsigned long long)addr, (int)pid, (unsigned long long)time, m ? dso_name(m->dso) : "none");
	assert_true(!m || (m->start <= addr && addr < m->end));
}

struct look {
	pid_t pid;
	uint64_t addr, time;
	const char *file;
};

#define ARE_AT(...) are_at((const struct look[]){ __VA_ARGS__ }, COUNT(((struct look[]){ __VA_ARGS__ })))

static void are_at(const struct look *looks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		is(looks[i].pid, looks[i].addr, looks[i].time, looks[i].file);
}

static void was_mapped_at(uint64_t start, uint64_t addr, uint64_t time)
{
	const struct mapping *m = maps_find(w->maps, PID, addr, time);

	assert_int_equal(m->pgoff - m->start, 0x1000 - start);
}

TEST_WITH(mappings_come_and_go, set_up, tear_down)
{
	exec_at(PID, 10);
	map(PID, 0x10000, 0x20000, "/a", 11);
	map(PID, 0x30000, 0x40000, "/b", 12);
	ARE_AT({ PID, 0x10000, 11, "/a" }, { PID, 0x1ffff, 100, "/a" }, { PID, 0x20000, 100, NULL },
		{ PID, 0x10000, 10, NULL }, { PID, 0x30000, 11, NULL }, { PID, 0x30000, 12, "/b" },
		{ PID, 0x10000, 9, NULL }, { OTHER, 0x10000, 100, NULL }, { -1, 0x10000, 100, NULL },
		{ 0, 0x10000, 100, NULL });
}

/* A sample within exec(2) has registers of the program before, until the vdso is mapped; where no vdso is, nothing is known. */
TEST_WITH(within_exec, set_up, tear_down)
{
	begin();
	exec_at(PID, 20);
	ARE_AT({ PID, 0x10000, 21, NULL });
	map(PID, 0x70000, 0x72000, "[vdso]", 22);
	exec_at(PID, 30);
	map(PID, 0x40000, 0x50000, "/b", 31);
	ARE_AT({ PID, 0x70000, 31, "[vdso]" }, { PID, 0x40000, 31, "/b" }, { PID, 0x10000, 31, NULL });
	map(PID, 0x60000, 0x62000, "[vdso]", 32);
	ARE_AT({ PID, 0x70000, 31, "[vdso]" }, { PID, 0x70000, 32, NULL }, { PID, 0x40000, 32, "/b" });
}

/* There are no records of munmap(2): what is mapped over it tells. */
TEST_WITH(overlaps, set_up, tear_down)
{
	begin();
	map(PID, 0x20000, 0x30000, "/b", 10);
	map(PID, 0x14000, 0x18000, "/c", 20);     /* a hole in the middle */
	ARE_AT({ PID, 0x13fff, 20, "/a" }, { PID, 0x14000, 20, "/c" }, { PID, 0x17fff, 20, "/c" },
		{ PID, 0x18000, 20, "/a" }, { PID, 0x14000, 19, "/a" });
	was_mapped_at(0x10000, 0x18000, 20);
	was_mapped_at(0x10000, 0x15000, 15);
	map(PID, 0x1c000, 0x24000, "/d", 30);     /* the end of one, the start of another */
	ARE_AT({ PID, 0x1bfff, 30, "/a" }, { PID, 0x1c000, 30, "/d" }, { PID, 0x23fff, 30, "/d" },
		{ PID, 0x24000, 30, "/b" }, { PID, 0x1c000, 29, "/a" }, { PID, 0x23000, 29, "/b" });
	was_mapped_at(0x20000, 0x24000, 30);
	map(PID, 0, UINT64_MAX, "/all", 40);
	ARE_AT({ PID, 0x15000, 40, "/all" }, { PID, 0x15000, 39, "/c" }, { PID, 0x15000, 19, "/a" });
}

TEST_WITH(a_child_inherits, set_up, tear_down)
{
	uint64_t version;

	begin();
	task(PERF_RECORD_FORK, CHILD, PID, 20);
	is(CHILD, 0x10000, 20, "/a");
	version = maps_version(w->maps, CHILD, 20);
	assert_int_equal(maps_version(w->maps, PID, 20), version);   /* the same space */
	map(PID, 0x10000, 0x20000, "/parents", 30);
	ARE_AT({ CHILD, 0x10000, 30, "/a" }, { PID, 0x10000, 30, "/parents" }, { PID, 0x10000, 29, "/a" });
	map(CHILD, 0x30000, 0x40000, "/childs", 40);
	ARE_AT({ PID, 0x30000, 40, NULL }, { CHILD, 0x30000, 40, "/childs" }, { CHILD, 0x10000, 40, "/a" });
	assert_int_not_equal(maps_version(w->maps, CHILD, 40), version);
	task(PERF_RECORD_FORK, PID, PID, 50);     /* a thread */
	is(PID, 0x10000, 50, "/parents");
	assert_int_equal(w->reads, 0);
}

/* As long as the number is the same, so are the answers. */
TEST_WITH(versions, set_up, tear_down)
{
	uint64_t a, b;

	begin();
	a = maps_version(w->maps, PID, 10);
	assert_true(a);
	assert_int_equal(maps_version(w->maps, PID, 1000), a);
	map(PID, 0x10000, 0x20000, "/a", 20);     /* the same again */
	assert_int_equal(maps_version(w->maps, PID, 1000), a);
	map(PID, 0x30000, 0x40000, "/b", 30);
	b = maps_version(w->maps, PID, 30);
	assert_int_not_equal(b, a);
	assert_int_equal(maps_version(w->maps, PID, 29), 0);
	exec_at(OTHER, 1);
	assert_int_not_equal(maps_version(w->maps, OTHER, 30), b);
}

#define SECOND UINT64_C(1000000000)

TEST_WITH(the_dead_are_remembered_for_a_while, set_up, tear_down)
{
	begin();
	task(PERF_RECORD_EXIT, PID, 1, 1 * SECOND);
	exec_at(OTHER, 9 * SECOND);
	ARE_AT({ PID, 0x10000, 11, "/a" }, { PID, 0x10000, 2 * SECOND, "/a" });
	exec_at(OTHER, 13 * SECOND);
	is(PID, 0x10000, 11, NULL);
	assert_int_equal(w->reads, 1);
}

/* Its threads go on when the main one has ended: it isn't dead as long as they do. */
TEST_WITH(the_main_thread_ends_first, set_up, tear_down)
{
	struct pev_record thread = { .type = PERF_RECORD_EXIT, .sample_id.time = 31 * SECOND,
				     .task = { PID, 1, PID + 1, 1, 0 } };

	begin();
	task(PERF_RECORD_EXIT, PID, 1, 1 * SECOND);
	for (uint64_t t = 8; t < 24; t += 8) {       /* by events */
		exec_at(OTHER, t * SECOND);
		is(PID, 0x10000, t * SECOND, "/a");
	}
	map(PID, 0x30000, 0x40000, "/b", 23 * SECOND);
	exec_at(OTHER, 30 * SECOND);
	maps_take(w->maps, &thread);
	exec_at(OTHER, 40 * SECOND);
	is(PID, 0x10000, 23 * SECOND, "/a");
	exec_at(OTHER, 43 * SECOND);
	is(PID, 0x10000, 23 * SECOND, NULL);
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

/* What /proc says of it, and not of its data. */
static bool has_code_of_ours(pid_t pid, bool snapshot)
{
	struct maps_opts opts = { .opener = &opener_direct, .dsos = dsos_new(&opener_direct, 1 << 20) };
	struct maps *maps = maps_new(&opts);
	bool has;

	if (snapshot)
		maps_snapshot(maps);
	has = maps_find(maps, pid, (uint64_t)(uintptr_t)is_headless, 1);
	assert_null(maps_find(maps, pid, (uint64_t)(uintptr_t)&opts, 1));
	maps_free(maps);
	dsos_free(opts.dsos);
	return has;
}

TEST(a_space_without_main_thread)
{
	pid_t pid = start_headless();

	for (int i = 0; i < 2000 && !is_headless(pid); i++)
		usleep(1000);
	assert_true(is_headless(pid));
	assert_true(has_code_of_ours(pid, false));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_WITH(a_second_life, set_up, tear_down)
{
	exec_at(PID, 1);
	map(PID, 0x10000, 0x20000, "/first", 10);
	task(PERF_RECORD_EXIT, PID, 1, 20);
	exec_at(OTHER, 1);
	map(OTHER, 0x10000, 0x20000, "/second", 25);
	task(PERF_RECORD_FORK, PID, OTHER, 30);
	ARE_AT({ PID, 0x10000, 15, "/first" }, { PID, 0x10000, 30, "/second" });
	exec_at(OTHER, 30 * SECOND);
	is(PID, 0x10000, 30 * SECOND, "/second");
}

static const char proc_text[] = "00010000-00020000 r--p 00000000 08:01 5   /data\n"
	"00020000-00030000 r-xp 00001000 08:01 5   /before us\n"
	"00030000-00040000 r-xp 00000000 00:00 0 \n"
	"nonsense\n"
	"00050000-00060000 r-xp 00000000 08:01 6   /new\\012line (deleted)\n"
	"7ffff0000000-7ffff0002000 r-xp 00000000 00:00 0   [vdso]\n";

TEST_WITH(what_was_there_before_us, set_up, tear_down)
{
	w->proc = proc_text;
	ARE_AT({ PID, 0x10000, 100, NULL }, { PID, 0x20000, 100, "/before us" }, { PID, 0x30000, 100, "//anon" },
		{ PID, 0x50000, 100, "/new\nline (deleted)" }, { PID, 0x7ffff0000000, 100, "[vdso]" });
	assert_int_equal(maps_find(w->maps, PID, 0x20000, 100)->pgoff, 0x1000);
	assert_int_equal(w->reads, 1);
	map(PID, 0x20000, 0x28000, "/later", 200);
	ARE_AT({ PID, 0x20000, 199, "/before us" }, { PID, 0x20000, 200, "/later" });
	assert_int_equal(w->reads, 1);
}

/* The first record of a process doesn't hide what it had before. */
TEST_WITH(records_come_first, set_up, tear_down)
{
	w->proc = proc_text;
	map(PID, 0x20000, 0x28000, "/by record", 50);
	ARE_AT({ PID, 0x30000, 60, "//anon" }, { PID, 0x20000, 60, "/by record" });
	task(PERF_RECORD_FORK, CHILD, OTHER, 70); /* of a parent that is not known */
	is(CHILD, 0x20000, 80, "/before us");
}

/* What /proc says is of after the exec: it is not laid into the time before. */
TEST_WITH(exec_while_proc_is_read, set_up, tear_down)
{
	w->proc = proc_text;
	w->execs = PID;
	ARE_AT({ PID, 0x20000, 40, NULL }, { PID, 0x20000, 60, NULL });
	assert_int_equal(w->caught_up, 2);
}

TEST_WITH(who_is_gone_is_asked_once, set_up, tear_down)
{
	for (int i = 0; i < 10; i++)
		is(PID, 0x20000, 40, NULL);
	assert_int_equal(w->reads, 1);
}

TEST_WITH(lost_records, set_up, tear_down)
{
	exec_at(PID, 1);
	map(PID, 0x20000, 0x30000, "/a", 10);
	lose(50);
	w->proc = proc_text;
	is(PID, 0x20000, 40, "/a");
	assert_int_equal(w->reads, 0);
	is(PID, 0x20000, 60, "/before us");
	w->proc = NULL;
	exec_at(OTHER, 70);
	map(OTHER, 0x20000, 0x30000, "/b", 71);
	lose(80);
	is(OTHER, 0x20000, 90, NULL);
}

/* However many losses there are: nothing is made for those whom nobody asks about, and who
 * asks late is told nothing of between them that was before the first. */
TEST_WITH(many_losses, set_up, tear_down)
{
	size_t bytes;

	for (int i = 0; i < 1000; i++) {
		exec_at(PID + i, 1);
		map(PID + i, 0x20000, 0x30000, "/a", 10);
	}
	bytes = maps_bytes(w->maps);
	for (uint64_t t = 50; t < 80; t++)
		lose(t);
	assert_int_equal(maps_bytes(w->maps), bytes);
	w->proc = proc_text;
	ARE_AT({ PID + 1, 0x20000, 49, "/a" }, { PID, 0x20000, 60, "/before us" },
		{ PID, 0x20000, 90, "/before us" }, { PID, 0x20000, 49, "/a" });
	assert_int_equal(w->reads, 1);
	for (uint64_t t = 100; t < 400; t++)         /* more than are remembered */
		lose(t);
	w->proc = NULL;
	ARE_AT({ PID, 0x20000, 400, NULL }, { PID, 0x20000, 90, "/before us" });
}

/* Of two CPUs: what happened first may be told last. */
TEST_WITH(records_out_of_order, set_up, tear_down)
{
	exec_at(PID, 1);
	map(PID, 0x10000, 0x20000, "/old", 2);
	map(PID, 0x30000, 0x40000, "/new", 11);   /* of the program that is exec'ed at 10 */
	exec_at(PID, 10);
	ARE_AT({ PID, 0x10000, 9, "/old" }, { PID, 0x10000, 12, NULL }, { PID, 0x30000, 12, "/new" });
	w->proc = proc_text;
	exec_at(CHILD, 21);
	map(CHILD, 0x30000, 0x40000, "/childs", 22);
	task(PERF_RECORD_FORK, CHILD, PID, 20);
	ARE_AT({ CHILD, 0x30000, 20, "/new" }, { CHILD, 0x30000, 21, NULL }, { CHILD, 0x30000, 22, "/childs" });
	map(OTHER, 0x50000, 0x60000, "/others", 31);
	task(PERF_RECORD_FORK, OTHER, PID, 30);
	ARE_AT({ OTHER, 0x30000, 31, "/new" }, { OTHER, 0x50000, 31, "/others" }, { PID, 0x50000, 31, NULL });
}

/* A loader maps the whole file as data, and then its code over a part of that. */
TEST_WITH(code_over_data_of_the_same_file, set_up, tear_down)
{
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

TEST_WITH(records_that_make_no_sense, set_up, tear_down)
{
	struct pev_record data = { .type = PERF_RECORD_MMAP2, .sample_id.time = 5,
				   .mmap = { .pid = PID, .addr = 0x1000, .len = 0x1000, .data = true,
					     .filename = "/data" } };

	exec_at(PID, 1);
	map(PID, 0x1000, 0x1000, "/empty", 2);
	map(PID, UINT64_MAX - 5, 5, "/wraps", 2);
	map(-1, 0x1000, 0x2000, "/nobody", 2);
	map(0, 0x1000, 0x2000, "/idle", 2);
	exec_at(-1, 2);
	task(PERF_RECORD_FORK, -1, PID, 3);
	task(PERF_RECORD_FORK, CHILD, -1, 3);
	task(PERF_RECORD_EXIT, OTHER, 1, 3);
	maps_take(w->maps, &data);
	maps_take(w->maps, &(struct pev_record){ .type = 9999 });
	ARE_AT({ PID, 0x1000, 10, NULL }, { PID, UINT64_MAX - 1, 10, NULL });
	assert_true(maps_processes(w->maps) <= 2);
}

/* Processes without an end, spaces without an end: memory has one. */
TEST_WITH(memory_is_bounded, set_up, tear_down)
{
	size_t most = 0;

	exec_at(1, 1);
	for (int i = 0; i < 100000; i++) {
		task(PERF_RECORD_FORK, 10 + i, 1, 10 + (uint64_t)i);
		map(10 + i, 0x1000, 0x2000, "/x", 10 + (uint64_t)i);
		task(PERF_RECORD_EXIT, 10 + i, 1, 10 + (uint64_t)i);
	}
	assert_true(maps_processes(w->maps) <= 16384);
	for (uint64_t i = 0; i < 200000; i++) {
		map(PID + (pid_t)(i % 40), 0x100000000 - i * 0x2000, 0x100000000 - i * 0x2000 + 0x1000, "/x", 200000 + i);
		if (i % 1000 == 0)
			most = maps_bytes(w->maps) > most ? maps_bytes(w->maps) : most;
	}
	assert_true(most < 24 << 20);
	for (uint64_t i = 0; i < 100000; i++)        /* one place, mapped again and again */
		map(PID, 0x1000, 0x2000, i % 2 ? "/x" : "/y", 500000 + i);
	assert_true(maps_bytes(w->maps) < 24 << 20);
}

TEST(ourselves)
{
	assert_true(has_code_of_ours(getpid(), true));
}

TEST(lines)
{
	static const struct { const char *text; bool good; } rows[] = {
		{ "1000-2000 r-xp 00000000 08:01 5 /x", true }, { "1000-2000 r-xp 00000000 08:01 5 ", true },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", true },
		{ "2000-1000 r-xp 00000000 08:01 5 /x", false }, { "1000-1000 r-xp 00000000 08:01 5 /x", false },
		{ "1000-2000 r-xp 00000000 08:01 5", false }, { "1000-2000 r-xp 00000000 0801 5 /x", false },
		{ "1000-2000 r-x 00000000 08:01 5 /x", false }, { "10000000000000000-20000000000000000 r-xp 0 08:01 5 /x", false },
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
