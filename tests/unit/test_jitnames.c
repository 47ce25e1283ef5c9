/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code that this process pretends to have made, at the end of recordings that are written here. */
#include "cmocka_all.h"

#include "perfdata/read/reader.h"
#include "perfdata/write/writer.h"
#include "perfevent.h"
#include "stream/live/attention.h"
#include "stream/code/jitmarks.h"
#include "stream/code/jitnames.h"
#include "tasks/cputime.h"
#include "tasks/procstart.h"

#include <errno.h>
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

static void write_map(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct perfdata_writer *begin(bool compressed)
{
	struct perfdata_writer *w = perfdata_new(path);
	struct perf_event_attr attr;
	uint64_t id = 1;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR;
	perfdata_put_attr(w, &attr, &id, 1);
	if (compressed && perfdata_compress(w, NULL)) {
		print_message("# skip: built without zstd\n");
		skip();
	}
	perfdata_end_of_head(w);
	assert_int_equal(perfdata_open(w, NULL), 0);
	return w;
}

static void put_sample(struct jitnames *j, struct perfdata_writer *w, pid_t pid, uint64_t ip, uint64_t caller)
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
	assert_int_equal(f.exit_code, 0);
	assert_int_equal(nsamples, 0);
	assert_int_equal(perfdata_counts(r)->other, 0);
	perfdata_reader_close(r);
	return text;
}

static void end(struct perfdata_writer *w)
{
	assert_int_equal(perfdata_close(w, NULL), 0);
}

/* The map is there when all has happened; of its functions those are kept that a sample points into. */
static void what_was_sampled(bool compressed)
{
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(compressed);

	jitnames_saw(j, &m.header, 1);
	put_sample(j, w, getpid(), 0x1008, 0x2fff);
	put_sample(j, w, getpid() + 1, 0x4000, 0x4000);   /* another process's */
	put_sample(j, w, getpid(), 0x3000, UINT64_MAX);
	write_map(map, "1000 10 leaf\n2000 1000 caller\n3000 10 other one\n4000 10 never\n5000 10 never\n");
	jitnames_put(j, w);
	assert_null(jitnames_missing(j));
	end(w);
	assert_string_equal(kept(3), "1: 1000 10 leaf\n2000 1000 caller\n3000 10 other one\n");
	jitnames_free(j);
}

static void a_map_that_is_late(void **state)
{
	what_was_sampled(false);
}

static void behind_compressed_records(void **state)
{
	what_was_sampled(true);
}

/* Folders of processes stand before the maps, and also without any. */
static void folders_and_maps(void **state)
{
	static const char lines[] = "1 0 5 -1 /srv\n1 6 7 3 /etc\n";
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);

	put_sample(j, w, getpid(), 0x1000, 0);
	assert_true(perfdata_put_folders(w, lines, strlen(lines)));
	end(w);
	assert_string_equal(kept(1), "0: 1 0 5 -1 /srv\n1 6 7 3 /etc\n");
	w = begin(true);
	jitnames_saw(j, &m.header, 1);
	put_sample(j, w, getpid(), 0x1008, 0);
	write_map(map, "1000 10 leaf\n");
	assert_true(perfdata_put_folders(w, lines, strlen(lines)));
	jitnames_put(j, w);
	end(w);
	assert_string_equal(kept(1), "0: 1 0 5 -1 /srv\n1 6 7 3 /etc\n1: 1000 10 leaf\n");
	jitnames_free(j);
}

/* Each file has what was sampled in it. */
static void one_file_after_the_other(void **state)
{
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	char second[80];

	write_map(map, "1000 10 a\n2000 10 b\n");
	jitnames_saw(j, &m.header, 1);
	put_sample(j, w, getpid(), 0x1000, 0);
	jitnames_put(j, w);
	snprintf(second, sizeof(second), "%s.1", path);
	assert_int_equal(perfdata_switch(w, second, NULL), 0);
	jitnames_next_file(j);
	put_sample(j, w, getpid(), 0x2000, 0);
	jitnames_put(j, w);
	perfdata_put_end(w);             /* as a dump does, before it is closed */
	end(w);
	assert_string_equal(kept(1), "1: 2000 10 b\n");
	assert_int_equal(rename(second, path), 0);
	assert_string_equal(kept(1), "1: 1000 10 a\n");
	jitnames_free(j);
}

/* A child that maps nothing itself; its parent's names are its own. One that writes its map as its last act. */
static void of_processes_that_are_gone(void **state)
{
	struct { struct perf_event_header header; uint32_t pid, ppid, tid, ptid; uint64_t time; } task = { 0 };
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	int wait_for[2], byte;
	char last[64];
	pid_t child;

	assert_int_equal(pipe(wait_for), 0);
	child = fork();
	if (!child)
		_exit(read(wait_for[0], &byte, 1) != 1);
	write_map(map, "1000 10 parents\n2000 10 nobodys\n");
	jitnames_saw(j, &m.header, 1);
	m = mapping_of(child);
	jitnames_saw(j, &m.header, 1);
	assert_int_equal(write(wait_for[1], "x", 1), 1);
	waitpid(child, NULL, 0);
	snprintf(last, sizeof(last), "/tmp/perf-%d.map", child);
	write_map(last, "3000 10 late\n");
	task.header = (struct perf_event_header){ .type = PERF_RECORD_EXIT, .size = sizeof(task) };
	task.pid = task.tid = (uint32_t)child;
	jitnames_saw(j, &task.header, 1);
	unlink(last);
	/* never there: 1 << 22 is the most that a number can be */
	task.header.type = PERF_RECORD_FORK;
	task.pid = task.tid = (1 << 22) + 1;
	task.ppid = (uint32_t)getpid();
	jitnames_saw(j, &task.header, 1);
	put_sample(j, w, (1 << 22) + 1, 0x1000, 0);
	put_sample(j, w, child, 0x3000, 0);
	jitnames_put(j, w);
	end(w);
	assert_string_equal(kept(2), "1: 1000 10 parents\n2: 3000 10 late\n");
	close(wait_for[0]);
	close(wait_for[1]);
	jitnames_free(j);
}

static void saw_exec(struct jitnames *j, pid_t pid, uint64_t time)
{
	struct { struct perf_event_header header; uint32_t pid, tid; char comm[8]; } comm = {
		{ PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(comm) }, (uint32_t)pid, (uint32_t)pid, "x",
	};

	jitnames_saw(j, &comm.header, time);
}

static void next_file(struct jitnames *j, struct perfdata_writer *w)
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
static void a_program_that_becomes_another(void **state)
{
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);

	write_map(map, "1000 10 first\n");
	jitnames_saw(j, &m.header, 1);
	put_sample(j, w, getpid(), 0x1000, 0);
	saw_exec(j, getpid(), 2);
	write_map(map, "8000 10 second\n9000 10 never\n");
	jitnames_saw(j, &m.header, 1);
	put_sample(j, w, getpid(), 0x8000, 0);
	jitnames_put(j, w);
	end(w);
	assert_string_equal(kept(2), "1: 1000 10 first\n1: 8000 10 second\n");
	for (int i = 0; i < 3; i++) {
		w = begin(false);
		if (i)
			next_file(j, w);
		put_sample(j, w, getpid(), 0x1000, 0x8000);
		jitnames_put(j, w);
		end(w);
		assert_string_equal(kept(1), i < 2 ? "1: 1000 10 first\n1: 8000 10 second\n" : "1: 8000 10 second\n");
	}
	jitnames_free(j);
}

/* CPUs have rings of their own: the mapping of the later program may be read before its exec. */
static void records_that_come_out_of_order(void **state)
{
	struct { struct perf_event_header header; uint32_t pid, ppid, tid, ptid; uint64_t time; } task = { 0 };
	struct mapping m = mapping_of(getpid()), other = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	pid_t child = (1 << 22) + 1;

	jitnames_saw(j, &m.header, 1);
	other.addr = 0x100000;
	jitnames_saw(j, &other.header, 3);
	saw_exec(j, getpid(), 2);
	write_map(map, "100000 10 later\n101000 10 never\n");
	put_sample(j, w, getpid(), 0x100000, 0);
	/* of a child that has ended, its mapping and fork come behind that */
	task.header = (struct perf_event_header){ .type = PERF_RECORD_EXIT, .size = sizeof(task) };
	task.pid = task.tid = (uint32_t)child;
	task.ppid = (uint32_t)getpid();
	jitnames_saw(j, &task.header, 6);
	m = mapping_of(child);
	jitnames_saw(j, &m.header, 5);
	task.header.type = PERF_RECORD_FORK;
	jitnames_saw(j, &task.header, 4);
	put_sample(j, w, child, 0x101000, 0);
	jitnames_put(j, w);
	end(w);
	assert_string_equal(kept(2), "1: 100000 10 later\n101000 10 never\n");
	jitnames_free(j);
}

/* A map may be larger than what is read of it; what comes with the next file is read then. */
static void what_is_left_out_is_told(void **state)
{
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);

	write_map(map, "1000 10 first\n");
	jitnames_saw(j, &m.header, 1);
	assert_int_equal(truncate(map, 1ll << 40), 0);
	put_sample(j, w, getpid(), 0x1000, 0);
	next_file(j, w);
	assert_non_null(strstr(jitnames_missing(j), "128 MiB"));
	assert_non_null(strstr(jitnames_missing(j), "more functions than are read"));
	assert_null(jitnames_missing(j));
	write_map(map, "1000 10 anew\n");
	put_sample(j, w, getpid(), 0x1000, 0);
	jitnames_put(j, w);
	assert_null(jitnames_missing(j));
	end(w);
	assert_string_equal(kept(1), "1: 1000 10 anew\n");
	jitnames_free(j);
}

/* What was read before stays; what is not is told. */
static void a_signal_ends_the_reading(void **state)
{
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	struct attention attn = { .bits = 0 };

	write_map(map, "1000 10 first\n");
	jitnames_saw(j, &m.header, 1);
	put_sample(j, w, getpid(), 0x1000, 0x2000);
	jitnames_heed(j, &attn);
	next_file(j, w);
	put_sample(j, w, getpid(), 0x1000, 0x2000);
	write_map(map, "1000 10 first\n2000 10 second\n");
	attn.bits = ATTN_STOP;
	jitnames_put(j, w);
	assert_non_null(strstr(jitnames_missing(j), "a signal ended the reading"));
	end(w);
	assert_string_equal(kept(1), "1: 1000 10 first\n");
	jitnames_free(j);
}

/* All of them together have one bound. */
static void one_bound_for_all_maps(void **state)
{
	enum { N = 3, BYTES = 60 << 20 };
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	char names[N][64];
	pid_t pids[N];
	int wait_for[2];

	assert_int_equal(pipe(wait_for), 0);
	for (int i = 0; i < N; i++) {
		struct mapping m;

		pids[i] = fork();
		if (!pids[i]) {
			close(wait_for[1]);
			_exit((int)read(wait_for[0], names, 1));
		}
		snprintf(names[i], sizeof(names[i]), "/tmp/perf-%d.map", pids[i]);
		write_map(names[i], "1000 10 one\n");
		assert_int_equal(truncate(names[i], BYTES), 0);
		m = mapping_of(pids[i]);
		jitnames_saw(j, &m.header, 1);
		put_sample(j, w, pids[i], 0x1000, 0);
	}
	jitnames_put(j, w);
	assert_non_null(strstr(jitnames_missing(j), "128 MiB"));
	assert_null(jitnames_missing(j));
	end(w);
	kept(N);
	close(wait_for[0]);
	close(wait_for[1]);
	for (int i = 0; i < N; i++) {
		waitpid(pids[i], NULL, 0);
		unlink(names[i]);
	}
	jitnames_free(j);
}

/* Nobody's map but that of processes that this user may look into. */
static void a_map_that_may_not_be_read(void **state)
{
	struct mapping m = mapping_of(1);
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	int status;
	pid_t child = fork();

	if (!child) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(2);
		jitnames_saw(j, &m.header, 1);
		jitnames_put(j, w);
		if (jitnames_missing(j))   /* nothing of it was sampled */
			_exit(3);
		put_sample(j, w, 1, 0x1000, 0);
		jitnames_put(j, w);
		_exit(jitnames_missing(j) ? 0 : 4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	end(w);
	jitnames_free(j);
}

/* More processes than there are places: those that are gone make room. */
static void many_processes(void **state)
{
	enum { N = JITMARKS_OWNERS };
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	const char *why;
	pid_t pids[N];
	int wait_for[2], byte;

	write_map(map, "1000 10 kept\n");
	assert_int_equal(pipe(wait_for), 0);
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(wait_for[1]);
			_exit((int)read(wait_for[0], &byte, 1));
		}
		assert_true(pids[i] > 0);
	}
	for (int i = -1; i < N; i++) {
		struct mapping m = mapping_of(i < 0 ? getpid() : i < N - 1 ? (1 << 22) + 1 + i : pids[0]);

		jitnames_saw(j, &m.header, 1);   /* all but two are gone: the most that a number can be is 1 << 22 */
	}
	put_sample(j, w, getpid(), 0x1000, 0);
	jitnames_put(j, w);
	assert_null(jitnames_missing(j));
	for (int i = 0; i < N; i++) {
		struct mapping m = mapping_of(pids[i]);

		jitnames_saw(j, &m.header, 1);
	}
	put_sample(j, w, getpid(), 0x1000, 0);
	jitnames_put(j, w);
	why = jitnames_missing(j);
	assert_non_null(why);
	assert_non_null(strstr(why, "256 processes"));
	end(w);
	kept(2);
	jitnames_free(j);
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

static void addresses_in_code(void **state)
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
	assert_int_equal(marked(m, 0), 2);
	assert_int_equal(marked(m, 255), 1);
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

static void more_addresses_than_there_is_place_for(void **state)
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
static void others_files(void **state)
{
	struct mapping m = mapping_of(getpid());
	struct jitnames *j = jitnames_new();
	struct perfdata_writer *w = begin(false);
	char real[80];

	snprintf(real, sizeof(real), "%s/real", folder);
	write_map(real, "1000 10 bait\n");
	unlink(map);
	assert_int_equal(symlink(real, map), 0);
	jitnames_saw(j, &m.header, 1);
	put_sample(j, w, getpid(), 0x1000, 0);
	jitnames_put(j, w);
	end(w);
	assert_string_equal(kept(1), "");
	unlink(real);
	jitnames_free(j);
}

/* What stands at the end of a file is hostile, too. */
static void damaged_ends(void **state)
{
	struct perfdata_jit_map v = { getpid(), "1000 10 name\n2000 10 other\n", 27 };
	struct perfdata_writer *w = begin(false);
	struct fault f = { 0 };
	struct stat st;
	char *bytes;
	int fd;

	perfdata_put_folders(w, "1 0 5 -1 /srv\n", 14);
	perfdata_put_jit_maps(w, &v, 1);
	end(w);
	assert_string_equal(kept(0), "0: 1 0 5 -1 /srv\n1: 1000 10 name\n2000 10 other\n");
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

static void when_processes_began(void **state)
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

static void cpu_time_of_processes(void **state)
{
	const uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct cputime t = { 0 }, sum = { 0 };

	assert_true(cputime_parse("1 (a b) c) S 1 2 3 4 5 6 7 8 9 10 110 12 3 40 15", &t));
	assert_int_equal(t.user, 113 * tick);
	assert_int_equal(t.kernel, 52 * tick);
	assert_int_equal(t.faults, 7 + 8 + 9 + 10);
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

static int no_map(void **state)
{
	unlink(map);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_map_that_is_late, no_map),
		cmocka_unit_test_setup(behind_compressed_records, no_map),
		cmocka_unit_test_setup(folders_and_maps, no_map),
		cmocka_unit_test_setup(one_file_after_the_other, no_map),
		cmocka_unit_test_setup(of_processes_that_are_gone, no_map),
		cmocka_unit_test_setup(others_files, no_map),
		cmocka_unit_test_setup(a_program_that_becomes_another, no_map),
		cmocka_unit_test_setup(records_that_come_out_of_order, no_map),
		cmocka_unit_test_setup(what_is_left_out_is_told, no_map),
		cmocka_unit_test_setup(a_signal_ends_the_reading, no_map),
		cmocka_unit_test_setup(one_bound_for_all_maps, no_map),
		cmocka_unit_test_setup(a_map_that_may_not_be_read, no_map),
		cmocka_unit_test_setup(many_processes, no_map),
		cmocka_unit_test(addresses_in_code),
		cmocka_unit_test(more_addresses_than_there_is_place_for),
		cmocka_unit_test(damaged_ends),
		cmocka_unit_test(when_processes_began),
		cmocka_unit_test(cpu_time_of_processes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
