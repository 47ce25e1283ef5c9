/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code that this process pretends to have made, at the end of recordings that are written here. */
#include "checks.h"
#include "tree.h"

#include "perfdata/read/reader.h"
#include "perfdata/write/writer.h"
#include "perfevent.h"
#include "stream/live/attention.h"
#include "stream/code/jitmarks.h"
#include "stream/code/jitnames.h"
#include "tasks/cputime.h"
#include "tasks/procstart.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/jitnames-XXXXXX";
static char path[64], map[64];

static struct jitnames *j;
static struct perfdata_writer *w;

struct mapping {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff, file[3];
	uint32_t prot, flags;
	char filename[32];
};

static struct mapping mapping_of(pid_t pid)
{
	return (struct mapping){
		.header = { .type = PERF_RECORD_MMAP2, .size = sizeof(struct mapping) },
		.pid = (uint32_t)pid, .tid = (uint32_t)pid, .addr = 0x1000, .len = 0x10000,
		.prot = PROT_READ | PROT_EXEC, .filename = "//anon",
	};
}

struct sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t caller;
};

static void begin(bool compressed)
{
	struct perf_event_attr attr;
	uint64_t id = 1;

	w = perfdata_new(path);
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR;
	perfdata_put_attr(w, &attr, &id, 1);
	if (compressed && perfdata_compress(w, NULL)) {
		print_message("# skip: built without zstd\n");
		skip();
	}
	perfdata_end_of_head(w);
	assert_int_equal(perfdata_open(w, NULL), 0);
}

static void put_sample(pid_t pid, uint64_t ip, uint64_t caller)
{
	struct sample s = { { PERF_RECORD_SAMPLE, 0, sizeof(s) }, 1, ip, (uint32_t)pid, (uint32_t)pid, caller };

	if (jitnames_any(j))
		jitnames_sampled(j, &s.header);
	perfdata_put(w, &s, sizeof(s));
}

/* Reads it to its end, with so many samples: "pid: lines" of all that is kept; of folders, "0: lines". */
static char *kept(int nsamples)
{
	static char text[4096];
	struct fault f = { 0 };
	const struct perf_event_header *rec;
	struct perfdata_reader *r = perfdata_reader_open(open(path, O_RDONLY | O_CLOEXEC), path, &f);
	const struct perfdata_info *info;
	size_t n = 0;

	assert_non_null(r);
	info = perfdata_info(r);
	*text = '\0';
	for (size_t i = 0; i < info->nfolders; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d: %.*s", info->folders[i].pid, (int)info->folders[i].size,
				      info->folders[i].text);
	for (size_t i = 0; i < info->njit_maps; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d: %.*s", info->jit_maps[i].pid == getpid() ? 1 : 2,
				      (int)info->jit_maps[i].size, info->jit_maps[i].text);
	while (perfdata_next(r, &rec, &f) > 0)
		nsamples -= rec->type == PERF_RECORD_SAMPLE;
	ARE(NUMBERS(f.exit_code, nsamples), NUMBERS(0, 0));
	assert_int_equal(perfdata_counts(r)->other, 0);
	perfdata_reader_close(r);
	return text;
}

/* The recording ends: so many samples it has, and keeps that; NULL: anything, a negative number: nobody reads it. */
static void ends(int nsamples, const char *text)
{
	assert_int_equal(perfdata_close(w, NULL), 0);
	if (nsamples >= 0)
		kept(nsamples);
	if (text)
		assert_string_equal(kept(nsamples), text);
}

/* This process's map is made, and an executable page of that process seen. */
static void saw_code(pid_t pid, uint64_t time)
{
	const struct mapping m = mapping_of(pid);

	jitnames_saw(j, &m.header, time);
}

/* FORK or EXIT. */
static void saw_task(uint32_t type, pid_t pid, pid_t parent, uint64_t time)
{
	const struct { struct perf_event_header header; uint32_t pid, ppid, tid, ptid; uint64_t time; } task = {
		.header = { .type = type, .size = sizeof(task) }, .pid = (uint32_t)pid, .tid = (uint32_t)pid, .ppid = (uint32_t)parent,
	};

	jitnames_saw(j, &task.header, time);
}

/* Its map is that, and a sample is in it, from a caller. */
static void runs(const char *names, uint64_t ip, uint64_t caller)
{
	tree_put("", map, names);
	saw_code(getpid(), 1);
	put_sample(getpid(), ip, caller);
}

static void is_missing(const char *words)
{
	SAYS(jitnames_missing(j), words);
	assert_null(jitnames_missing(j));
}

static int fresh(void **state)
{
	unlink(map);
	j = jitnames_new();
	begin(false);
	return 0;
}

static int done(void **state)
{
	jitnames_free(j);
	return 0;
}

/* The map is there when all has happened; of its functions those are kept that a sample points into. */
static void what_was_sampled(void)
{
	saw_code(getpid(), 1);
	put_sample(getpid(), 0x1008, 0x2fff);
	put_sample(getpid() + 1, 0x4000, 0x4000);   /* another process's */
	put_sample(getpid(), 0x3000, UINT64_MAX);
	tree_put("", map, "1000 10 leaf\n2000 1000 caller\n3000 10 other one\n4000 10 never\n5000 10 never\n");
	jitnames_put(j, w);
	assert_null(jitnames_missing(j));
	ends(3, "1: 1000 10 leaf\n2000 1000 caller\n3000 10 other one\n");
}

TEST_WITH(a_map_that_is_late, fresh, done)
{
	what_was_sampled();
}

TEST_WITH(behind_compressed_records, fresh, done)
{
	ends(-1, NULL);
	begin(true);
	what_was_sampled();
}

/* Folders of processes stand before the maps, and also without any. */
TEST_WITH(folders_and_maps, fresh, done)
{
	static const char lines[] = "1 0 5 -1 /srv\n1 6 7 3 /etc\n";

	put_sample(getpid(), 0x1000, 0);
	assert_true(perfdata_put_folders(w, lines, strlen(lines)));
	ends(1, "0: 1 0 5 -1 /srv\n1 6 7 3 /etc\n");
	begin(true);
	saw_code(getpid(), 1);
	put_sample(getpid(), 0x1008, 0);
	tree_put("", map, "1000 10 leaf\n");
	assert_true(perfdata_put_folders(w, lines, strlen(lines)));
	jitnames_put(j, w);
	ends(1, "0: 1 0 5 -1 /srv\n1 6 7 3 /etc\n1: 1000 10 leaf\n");
}

/* Each file has what was sampled in it. */
TEST_WITH(one_file_after_the_other, fresh, done)
{
	char second[80];

	runs("1000 10 a\n2000 10 b\n", 0x1000, 0);
	jitnames_put(j, w);
	snprintf(second, sizeof(second), "%s.1", path);
	assert_int_equal(perfdata_switch(w, second, NULL), 0);
	jitnames_next_file(j);
	put_sample(getpid(), 0x2000, 0);
	jitnames_put(j, w);
	perfdata_put_end(w);             /* as a dump does, before it is closed */
	ends(1, "1: 2000 10 b\n");
	assert_int_equal(rename(second, path), 0);
	assert_string_equal(kept(1), "1: 1000 10 a\n");
}

/* A child that maps nothing itself; its parent's names are its own. One that writes its map as its last act. */
TEST_WITH(of_processes_that_are_gone, fresh, done)
{
	int wait_for[2], byte;
	char last[64];
	pid_t child;

	assert_int_equal(pipe(wait_for), 0);
	child = fork();
	if (!child)
		_exit(read(wait_for[0], &byte, 1) != 1);
	tree_put("", map, "1000 10 parents\n2000 10 nobodys\n");
	saw_code(getpid(), 1);
	saw_code(child, 1);
	assert_int_equal(write(wait_for[1], "x", 1), 1);
	waitpid(child, NULL, 0);
	snprintf(last, sizeof(last), "/tmp/perf-%d.map", child);
	tree_put("", last, "3000 10 late\n");
	saw_task(PERF_RECORD_EXIT, child, 0, 1);
	unlink(last);
	/* never there: 1 << 22 is the most that a number can be */
	saw_task(PERF_RECORD_FORK, (1 << 22) + 1, getpid(), 1);
	put_sample((1 << 22) + 1, 0x1000, 0);
	put_sample(child, 0x3000, 0);
	jitnames_put(j, w);
	ends(2, "1: 1000 10 parents\n2: 3000 10 late\n");
	close(wait_for[0]);
	close(wait_for[1]);
}

static void saw_exec(pid_t pid, uint64_t time)
{
	struct { struct perf_event_header header; uint32_t pid, tid; char comm[8]; } comm = {
		{ PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(comm) }, (uint32_t)pid, (uint32_t)pid, "x",
	};

	jitnames_saw(j, &comm.header, time);
}

static void next_file(void)
{
	static int n;
	char name[80];

	jitnames_put(j, w);
	snprintf(name, sizeof(name), "%s.%d", path, n++);
	assert_int_equal(perfdata_switch(w, name, NULL), 0);
	unlink(name);
	jitnames_next_file(j);
}

/* The later program truncates the map of the earlier one; each has its names, as long as samples may come. */
TEST_WITH(a_program_that_becomes_another, fresh, done)
{
	runs("1000 10 first\n", 0x1000, 0);
	saw_exec(getpid(), 2);
	runs("8000 10 second\n9000 10 never\n", 0x8000, 0);
	jitnames_put(j, w);
	ends(2, "1: 1000 10 first\n1: 8000 10 second\n");
	for (int i = 0; i < 3; i++) {
		begin(false);
		if (i)
			next_file();
		put_sample(getpid(), 0x1000, 0x8000);
		jitnames_put(j, w);
		ends(-1, NULL);
		assert_string_equal(kept(1), i < 2 ? "1: 1000 10 first\n1: 8000 10 second\n" : "1: 8000 10 second\n");
	}
}

/* CPUs have rings of their own: the mapping of the later program may be read before its exec. */
TEST_WITH(records_that_come_out_of_order, fresh, done)
{
	struct mapping other = mapping_of(getpid());
	pid_t child = (1 << 22) + 1;

	saw_code(getpid(), 1);
	other.addr = 0x100000;
	jitnames_saw(j, &other.header, 3);
	saw_exec(getpid(), 2);
	tree_put("", map, "100000 10 later\n101000 10 never\n");
	put_sample(getpid(), 0x100000, 0);
	/* of a child that has ended, its mapping and fork come behind that */
	saw_task(PERF_RECORD_EXIT, child, getpid(), 6);
	saw_code(child, 5);
	saw_task(PERF_RECORD_FORK, child, getpid(), 4);
	put_sample(child, 0x101000, 0);
	jitnames_put(j, w);
	ends(2, "1: 100000 10 later\n101000 10 never\n");
}

/* A map may be larger than what is read of it; what comes with the next file is read then. */
TEST_WITH(what_is_left_out_is_told, fresh, done)
{
	tree_put("", map, "1000 10 first\n");
	saw_code(getpid(), 1);
	assert_int_equal(truncate(map, 1ll << 40), 0);
	put_sample(getpid(), 0x1000, 0);
	next_file();
	assert_non_null(strstr(jitnames_missing(j), "128 MiB"));
	assert_non_null(strstr(jitnames_missing(j), "more functions than are read"));
	assert_null(jitnames_missing(j));
	tree_put("", map, "1000 10 anew\n");
	put_sample(getpid(), 0x1000, 0);
	jitnames_put(j, w);
	assert_null(jitnames_missing(j));
	ends(1, "1: 1000 10 anew\n");
}

/* What was read before stays; what is not is told. */
TEST_WITH(a_signal_ends_the_reading, fresh, done)
{
	struct attention attn = { .bits = 0 };

	runs("1000 10 first\n", 0x1000, 0x2000);
	jitnames_heed(j, &attn);
	next_file();
	put_sample(getpid(), 0x1000, 0x2000);
	tree_put("", map, "1000 10 first\n2000 10 second\n");
	attn.bits = ATTN_STOP;
	jitnames_put(j, w);
	SAYS(jitnames_missing(j), "a signal ended the reading");
	ends(1, "1: 1000 10 first\n");
}

/* All of them together have one bound. */
TEST_WITH(one_bound_for_all_maps, fresh, done)
{
	enum { N = 3, BYTES = 60 << 20 };
	char names[N][64];
	pid_t pids[N];
	int wait_for[2];

	assert_int_equal(pipe(wait_for), 0);
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(wait_for[1]);
			_exit((int)read(wait_for[0], names, 1));
		}
		snprintf(names[i], sizeof(names[i]), "/tmp/perf-%d.map", pids[i]);
		tree_put("", names[i], "1000 10 one\n");
		assert_int_equal(truncate(names[i], BYTES), 0);
		saw_code(pids[i], 1);
		put_sample(pids[i], 0x1000, 0);
	}
	jitnames_put(j, w);
	is_missing("128 MiB");
	ends(N, NULL);
	close(wait_for[0]);
	close(wait_for[1]);
	for (int i = 0; i < N; i++) {
		waitpid(pids[i], NULL, 0);
		unlink(names[i]);
	}
}

/* Nobody's map but that of processes that this user may look into. */
TEST_WITH(a_map_that_may_not_be_read, fresh, done)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(2);
		saw_code(1, 1);
		jitnames_put(j, w);
		if (jitnames_missing(j))   /* nothing of it was sampled */
			_exit(3);
		put_sample(1, 0x1000, 0);
		jitnames_put(j, w);
		_exit(jitnames_missing(j) ? 0 : 4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ends(-1, NULL);
}

/* More processes than there are places: those that are gone make room. */
TEST_WITH(many_processes, fresh, done)
{
	enum { N = JITMARKS_OWNERS };
	pid_t pids[N];
	int wait_for[2], byte;

	tree_put("", map, "1000 10 kept\n");
	assert_int_equal(pipe(wait_for), 0);
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(wait_for[1]);
			_exit((int)read(wait_for[0], &byte, 1));
		}
		assert_true(pids[i] > 0);
	}
	for (int i = -1; i < N; i++)     /* all but two are gone: the most that a number can be is 1 << 22 */
		saw_code(i < 0 ? getpid() : i < N - 1 ? (1 << 22) + 1 + i : pids[0], 1);
	put_sample(getpid(), 0x1000, 0);
	jitnames_put(j, w);
	assert_null(jitnames_missing(j));
	for (int i = 0; i < N; i++)
		saw_code(pids[i], 1);
	put_sample(getpid(), 0x1000, 0);
	jitnames_put(j, w);
	SAYS(jitnames_missing(j), "256 processes");
	ends(2, NULL);
	close(wait_for[0]);
	close(wait_for[1]);
	for (int i = 0; i < N; i++)
		waitpid(pids[i], NULL, 0);
}

/* ---- which addresses --------------------------------------------------------------- */

static unsigned int marked(const struct jitmarks *m, unsigned int owner)
{
	unsigned int who, n = 0;
	uint64_t addr;

	for (size_t at = 0; jitmarks_next(m, &at, &who, &addr);)
		n += who == owner;
	return n;
}

TEST(addresses_in_code)
{
	uint64_t words[] = { 0, 0xfff, 0x1000, 0x1fff, 0x2000, 0x1000, 0x100000, UINT64_MAX };
	struct jitmarks *m = jitmarks_new();
	struct jitcode code = { 0 };

	jitmarks_add(m, 0, &code, words, 8);
	assert_int_equal(marked(m, 0), 0);
	jitcode_add(&code, 0x1000, 0x2000);
	jitcode_add(&code, 0x5000, 0x5000);
	jitmarks_add(m, 0, &code, words, 8);
	jitmarks_add(m, 255, &code, words, 3);
	ARE(NUMBERS(marked(m, 0), marked(m, 255)), NUMBERS(2, 1));
	/* more ranges than are kept: those that are near each other become one, none is lost */
	for (uint64_t i = 1; i < 100; i++)
		jitcode_add(&code, i << 20, (i << 20) + 0x10);
	for (uint64_t i = 1; i < 100; i++) {
		uint64_t word = (i << 20) + 0xf;

		jitmarks_add(m, 7, &code, &word, 1);
	}
	assert_int_equal(marked(m, 7), 99);
	assert_true(code.n <= JITCODE_RANGES);
	jitmarks_clear(m);
	assert_int_equal(marked(m, 7), 0);
	jitmarks_free(m);
}

TEST(more_addresses_than_there_is_place_for)
{
	struct jitmarks *m = jitmarks_new();
	struct jitcode code = { 0 };

	jitcode_add(&code, 0x1000, UINT64_C(1) << 40);
	for (uint64_t addr = 0x1000; addr < 0x1000 + (1 << 20); addr++)
		jitmarks_add(m, 1, &code, &addr, 1);
	assert_true(jitmarks_are_cut(m));
	assert_in_range(marked(m, 1), 1 << 18, 1 << 20);
	jitmarks_clear(m);
	assert_false(jitmarks_are_cut(m));
	jitmarks_free(m);
}

/* Nothing is kept of what could be another's, and no file is none the worse. */
TEST_WITH(others_files, fresh, done)
{
	char real[80];

	snprintf(real, sizeof(real), "%s/real", folder);
	tree_put("", real, "1000 10 bait\n");
	unlink(map);
	assert_int_equal(symlink(real, map), 0);
	saw_code(getpid(), 1);
	put_sample(getpid(), 0x1000, 0);
	jitnames_put(j, w);
	ends(1, "");
	unlink(real);
}

/* What stands at the end of a file is hostile, too. */
TEST_WITH(damaged_ends, fresh, done)
{
	struct perfdata_jit_map v = { getpid(), "1000 10 name\n2000 10 other\n", 27 };
	struct fault f = { 0 };
	struct stat st;
	char *bytes;
	int fd;

	perfdata_put_folders(w, "1 0 5 -1 /srv\n", 14);
	perfdata_put_jit_maps(w, &v, 1);
	ends(0, "0: 1 0 5 -1 /srv\n1: 1000 10 name\n2000 10 other\n");
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	for (off_t at = st.st_size - 184; at < st.st_size; at++)
		for (int bit = 0; bit < 8; bit++) {
			char c = (char)(bytes[at] ^ 1 << bit);
			struct perfdata_reader *r;

			assert_int_equal(pwrite(fd, &c, 1, at), 1);
			r = perfdata_reader_open(open(path, O_RDONLY | O_CLOEXEC), path, &f);
			for (size_t i = 0; r && i < perfdata_info(r)->njit_maps; i++)
				assert_true(perfdata_info(r)->jit_maps[i].size <= 64);
			for (size_t i = 0; r && i < perfdata_info(r)->nfolders; i++)
				assert_true(perfdata_info(r)->folders[i].size <= 128);
			perfdata_reader_close(r);
			assert_int_equal(pwrite(fd, bytes + at, 1, at), 1);
		}
	free(bytes);
	close(fd);
}

TEST(when_processes_began)
{
	static const struct timespec never = { 0 };
	struct timespec now;
	const int64_t tick = 1000000000 / sysconf(_SC_CLK_TCK);

	assert_int_equal(procstart_parse("1 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 500 x"), 500 * tick);
	assert_int_equal(procstart_parse("1 (a) S 1 2 3"), -1);
	assert_int_equal(procstart_parse(""), -1);
	assert_int_equal(procstart_parse("1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99999999999999999999 x"), -1);
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec++;
	assert_true(procstart_before(&opener_direct, getpid(), &now));
	assert_false(procstart_before(&opener_direct, getpid(), &never));
	assert_false(procstart_before(&opener_direct, (1 << 22) + 1, &now));
}

TEST(cpu_time_of_processes)
{
	const uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct cputime t = { 0 }, sum = { 0 };

	assert_true(cputime_parse("1 (a b) c) S 1 2 3 4 5 6 7 8 9 10 110 12 3 40 15", &t));
	ARE(NUMBERS(t.user, t.kernel, t.faults), NUMBERS(113 * tick, 52 * tick, 7 + 8 + 9 + 10));
	assert_false(cputime_parse("1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13", &t));
	assert_false(cputime_parse("", &t));
	assert_true(cputime_add(getpid(), &sum));
	assert_false(cputime_add((1 << 22) + 1, &sum));
}

static int set_up(void **state)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.data", folder);
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
	return 0;
}

static int tear_down(void **state)
{
	char old[80];

	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	unlink(path);
	unlink(map);
	return rmdir(folder);
}

AROUND_ALL(set_up, tear_down)
