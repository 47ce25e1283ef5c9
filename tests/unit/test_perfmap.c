/* SPDX-License-Identifier: Apache-2.0 */
/* Names by which just-in-time compilers tell of their code; files that are hostile. */
#include "checks.h"

#include "symbols/dso.h"
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perfmap.h"

#include <dirent.h>
#include <inttypes.h>
#include <semaphore.h>
#include <sys/mman.h>

static void is(const struct perfmap *m, uint64_t addr, const char *name, uint64_t into)
{
	const char *found;
	uint64_t at;

	if (!perfmap_find(m, addr, &found, &at))
		found = NULL;
	if (!found != !name || (found && (strcmp(found, name) || at != into)))
		fail_msg("at %#" PRIx64 ": %s", addr, found ? found : "none");
}

struct look {
	uint64_t addr;
	const char *name;
	uint64_t into;
};

#define ARE_AT(m, ...) are_at(m, (const struct look[]){ __VA_ARGS__ }, COUNT(((struct look[]){ __VA_ARGS__ })))

static void are_at(const struct perfmap *m, const struct look *looks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		is(m, looks[i].addr, looks[i].name, looks[i].into);
}

static struct perfmap *of(const char *text)
{
	struct perfmap *m = perfmap_new();

	assert_int_equal(perfmap_take(m, text, strlen(text)), strlen(text));
	perfmap_sort(m);
	return m;
}

TEST(lines)
{
	struct perfmap *m = of("7f0000001000 10 py::main:/usr/lib/x.py\n"
			       "7f0000000000 20 LazyCompile:~f /a b.js:1:2\r\n"
			       "0x7f0000002000 0x8 prefixed\n"
			       "7F0000003000 A upper\n"
			       "7f0000004000 1 \xff\x1b[31mred\n");

	ARE_AT(m, { 0x7f0000001000, "py::main:/usr/lib/x.py", 0 }, { 0x7f000000100f, "py::main:/usr/lib/x.py", 15 },
		{ 0x7f0000001010, NULL, 0 }, { 0x7f000000001f, "LazyCompile:~f /a b.js:1:2", 31 },
		{ 0x7f0000002007, "prefixed", 7 }, { 0x7f0000003009, "upper", 9 },
		{ 0x7f0000004000, "\xff\x1b[31mred", 0 }, { 0, NULL, 0 }, { UINT64_MAX, NULL, 0 });
	perfmap_free(m);
	perfmap_free(NULL);
}

TEST(what_is_no_line)
{
	struct perfmap *m = of("\n\n \nmain\n1000\n1000 \n1000 10\n1000 10 \n1000 0 empty\nxyz 10 f\n"
			       "-1 10 f\n10000000000000001 10 seventeen\nffffffffffffffff 10 wraps\n"
			       "1000 ffffffffffffffff wraps\n 1000 10 blank before\n1000\t10\ttabs\n"
			       "0x 10 f\n2000 10 good\n");

	is(m, 0x2000, "good", 0);
	for (uint64_t a = 0; a < 0x2000; a += 8)
		is(m, a, NULL, 0);
	is(m, UINT64_MAX, NULL, 0);
	perfmap_free(m);
}

/* Code that was thrown away and written over. */
TEST(later_lines_win)
{
	struct perfmap *m = of("1000 100 old\n1000 100 new\n"
			       "2000 100 big\n2080 10 in_it\n"
			       "3080 10 small\n3000 100 over_it\n"
			       "4000 10 a\n4008 10 b\n4010 10 c\n"
			       "5000 10 x\n5010 10 y\n");

	is(m, 0x1050, "new", 0x50);
	is(m, 0x2000, NULL, 0);          /* a part of it was written over: it isn't that any more */
	ARE_AT(m, { 0x2081, "in_it", 1 }, { 0x3080, "over_it", 0x80 }, { 0x4000, NULL, 0 }, { 0x4008, NULL, 0 },
		{ 0x4010, "c", 0 }, { 0x500f, "x", 15 }, { 0x5010, "y", 0 });
	perfmap_free(m);
}

static void append(int fd, const char *text)
{
	assert_int_equal(lseek(fd, 0, SEEK_END) >= 0, 1);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

TEST(files_grow)
{
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct perfmap *m = perfmap_new();

	assert_int_equal(perfmap_read(m, fd, NULL), 0);
	append(fd, "1000 10 one\n2000 1");
	assert_int_equal(perfmap_read(m, fd, NULL), 1);
	ARE_AT(m, { 0x1000, "one", 0 }, { 0x2000, NULL, 0 });
	assert_int_equal(perfmap_read(m, fd, NULL), 0);
	append(fd, "0 two\n1000 10 other\n");
	assert_int_equal(perfmap_read(m, fd, NULL), 1);
	ARE_AT(m, { 0x1000, "other", 0 }, { 0x200f, "two", 15 });
	assert_int_equal(ftruncate(fd, 0), 0);
	append(fd, "3000 10 anew\n");
	assert_int_equal(perfmap_read(m, fd, NULL), 1);
	ARE_AT(m, { 0x1000, NULL, 0 }, { 0x3000, "anew", 0 });
	perfmap_free(m);
	close(fd);
	assert_true(perfmap_read(m = perfmap_new(), -1, NULL) < 0);
	perfmap_free(m);
}

/* A gigabyte of lines, of one line, and of nothing. */
TEST(huge_files)
{
	enum { PIECE = 1 << 20, LINE = 16 };
	int fd = memfd_create("map", MFD_CLOEXEC);
	char *piece = malloc(PIECE + 1);
	struct perfmap *m = perfmap_new();

	for (unsigned int mb = 0; mb < 40; mb++) {
		for (unsigned int i = 0; i < PIECE / LINE; i++)
			sprintf(piece + (size_t)i * LINE, "%08x 8 name\n", (mb * (PIECE / LINE) + i) * 16 + 16);
		assert_int_equal(write(fd, piece, PIECE), PIECE);
	}
	assert_int_equal(perfmap_read(m, fd, NULL), 1);
	assert_true(perfmap_is_cut(m));
	assert_true(perfmap_bytes(m) <= (size_t)PERFMAP_MAX_LINES * 32 + 2 * PERFMAP_MAX_NAMES);
	is(m, 16, "name", 0);
	perfmap_free(m);
	m = perfmap_new();
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ftruncate(fd, 1ll << 40), 0);
	assert_int_equal(perfmap_read(m, fd, NULL), 0);
	assert_true(perfmap_is_cut(m));
	assert_true(perfmap_bytes(m) < 100000);
	perfmap_free(m);
	free(piece);
	close(fd);
}

static void join(void *ctx, uint64_t start, uint64_t size, const char *name)
{
	sprintf((char *)ctx + strlen(ctx), "%llx+%llx %s;", (unsigned long long)start, (unsigned long long)size, name);
}

/* Those that a word points into, first and last byte, whatever else the words are. */
TEST(marked_ones)
{
	static const uint64_t words[] = { 0, UINT64_MAX, 0x0fff, 0x2000, 0x2010, 0x400f, 0x4010, 0x3fff };
	struct perfmap *m = of("1000 10 a\n2000 10 b\n3000 10 c\n4000 10 d\n");
	char text[200] = "";

	perfmap_each(m, join, text);
	assert_string_equal(text, "1000+10 a;2000+10 b;3000+10 c;4000+10 d;");
	assert_true(perfmap_begin_marks(m, false));
	perfmap_mark(m, words, 0);
	*text = '\0';
	perfmap_each(m, join, text);
	assert_string_equal(text, "");
	perfmap_mark(m, words, COUNT(words));
	perfmap_each(m, join, text);
	assert_string_equal(text, "2000+10 b;4000+10 d;");
	perfmap_free(m);
	m = perfmap_new();
	assert_true(perfmap_begin_marks(m, false));
	perfmap_mark(m, words, COUNT(words));
	perfmap_free(m);
}

/* ---- jitdump ------------------------------------------------------------------ */

struct load {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, addr, code_size, index;
	char name[16];           /* and the code */
};

struct move {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, from, to, code_size, index;
};

struct dump {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
	struct load first;
	struct { uint32_t id, size; uint64_t time; } unknown;
	struct load second;
	struct move move;
};

static struct dump a_dump(void)
{
	return (struct dump){
		.magic = 0x4a695444, .version = 1, .size = offsetof(struct dump, first),
		.first = { .size = sizeof(struct load), .addr = 0x1000, .code_size = 0x20, .name = "first" },
		.unknown = { 77, 16, 0 },
		.second = { .size = sizeof(struct load), .addr = 0x2000, .code_size = 0x10, .name = "second" },
		.move = { .id = 1, .size = sizeof(struct move), .from = 0x1000, .to = 0x3000, .code_size = 0x20 },
	};
}

static int64_t read_dump(struct perfmap *m, const void *bytes, size_t n)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);
	struct jitdump_place place = { 0 };
	uint64_t budget = 1 << 20;
	int64_t rc;

	assert_int_equal(write(fd, bytes, n), n);
	rc = jitdump_read(m, fd, &place, &budget);
	perfmap_sort(m);
	close(fd);
	return rc;
}

TEST(dumps)
{
	struct dump d = a_dump();
	struct perfmap *m = perfmap_new();

	assert_int_equal(read_dump(m, &d, sizeof(d)), 2);
	ARE_AT(m, { 0x101f, "first", 0x1f }, { 0x1020, NULL, 0 }, { 0x2000, "second", 0 }, { 0x3001, "first", 1 });
	perfmap_free(m);
	d.move.from = 0x1001;            /* no function begins there */
	d.second.addr = 0x1010;          /* code that was written over the first one */
	m = perfmap_new();
	assert_int_equal(read_dump(m, &d, sizeof(d)), 2);
	ARE_AT(m, { 0x1000, NULL, 0 }, { 0x1010, "second", 0 }, { 0x3001, NULL, 0 });
	perfmap_free(m);
}

TEST(dumps_that_are_none)
{
	static const uint32_t sizes[] = { 0, 15, 16, 55, 56, UINT32_MAX };
	struct dump d = a_dump();
	struct perfmap *m = perfmap_new();
	uint64_t budget = 100;

	for (size_t n = 0; n < sizeof(d); n++) {
		int64_t rc = read_dump(m, &d, n);

		assert_true(n < 12 ? rc == -ENOEXEC : rc >= 0 && rc <= 2);
	}
	for (size_t i = 0; i < COUNT(sizes); i++) {
		d.first.size = sizes[i];
		assert_true(read_dump(m, &d, sizeof(d)) >= 0);
	}
	d.magic = 0x12345678;
	assert_int_equal(read_dump(m, &d, sizeof(d)), -ENOEXEC);
	assert_true(jitdump_read(m, -1, &(struct jitdump_place){ 0 }, &budget) < 0);
	perfmap_free(m);
}

/* ---- as a dso --------------------------------------------------------------- */

struct world {
	struct opener opener;
	int fd;                  /* the file of process 7 */
	int rc;                  /* instead of it */
	int looks;
};

static int open_map(void *ctx, pid_t pid)
{
	struct world *w = ctx;

	w->looks++;
	assert_int_equal(pid, 7);
	return w->rc ? w->rc : dup(w->fd);
}

static int no_file(void *ctx, pid_t pid, const char *path)
{
	return -ENOENT;
}

static const char *name_of(struct dsos *d, struct dso *dso, uint64_t addr)
{
	const char *name;
	uint64_t into;

	return dso_find(d, dso, addr, &name, &into) ? name : "none";
}

static bool comes(struct dsos *d, struct dso *dso, uint64_t addr, const char *name)
{
	for (int i = 0; i < 500 && strcmp(name_of(d, dso, addr), name); i++)
		usleep(10000);
	return !strcmp(name_of(d, dso, addr), name);
}

TEST(of_a_process)
{
	struct world w = { .fd = memfd_create("map", MFD_CLOEXEC), .rc = -ENOENT };
	struct dsos *d;
	struct dso *dso, *other;
	uint64_t serial, answers;
	int soon = 0;

	w.opener = (struct opener){ no_file, no_file, &w, open_map, NULL };
	d = dsos_new(&w.opener, 1 << 20);
	assert_true(dso_is_anonymous("//anon"));
	assert_true(dso_is_anonymous("[heap]"));
	assert_false(dso_is_anonymous("/usr/bin/cat"));
	assert_false(dso_is_anonymous("[vdso]"));
	dso = dso_get_jit(d, "//anon", 7, 1, true);
	assert_ptr_equal(dso_get_jit(d, "//anon", 7, 1, true), dso);
	other = dso_get_jit(d, "//anon", 7, 2, true);
	assert_ptr_not_equal(other, dso);
	assert_string_equal(name_of(d, dso, 0x1000), "none");
	assert_string_equal(dso_name(dso), "//anon");
	w.looks = 0;
	for (int i = 0; i < 1000; i++)
		name_of(d, dso, 0x1000);
	assert_true(w.looks <= 100);         /* not at every question */
	w.rc = 0;
	append(w.fd, "1000 10 jitted\n");
	answers = dsos_answers(d);
	serial = dso_serial(dso);
	assert_true(comes(d, dso, 0x1000, "jitted"));
	assert_string_equal(dso_name(dso), "/tmp/perf-7.map");
	assert_int_not_equal(dso_serial(dso), serial);
	assert_int_not_equal(dsos_answers(d), answers);
	/* an address that had no name yet, and what is written meanwhile: not only with the next regular look */
	for (uint64_t addr = 0x3000; addr < 0x8000; addr += 0x1000) {
		char line[64];

		snprintf(line, sizeof(line), "%" PRIx64 " 10 new%" PRIx64 "\n", addr, addr);
		usleep(20000);       /* since the last look */
		append(w.fd, line);
		snprintf(line, sizeof(line), "new%" PRIx64, addr);
		soon += !strcmp(name_of(d, dso, addr), line);
		assert_true(comes(d, dso, addr, line));
	}
	assert_true(soon >= 2);              /* a busy machine may take longer than those 20 ms */
	/* it ends: lines that it wrote before count, those of a new process with its pid do not */
	append(w.fd, "2000 10 last\n");
	dsos_process_ended(d, 7);
	w.looks = 0;
	assert_true(comes(d, dso, 0x2000, "last"));
	assert_string_equal(name_of(d, dso, 0x1000), "jitted");
	assert_int_equal(w.looks, 0);
	dso_put(d, other);
	dsos_free(d);
	close(w.fd);
}

/* ---- live --------------------------------------------------------------------- */

struct gate {
	struct opener opener;
	int fd;
	_Atomic int looks;
	sem_t open;
};

static int open_behind_gate(void *ctx, pid_t pid)
{
	struct gate *g = ctx;

	(void)pid;
	g->looks++;
	while (sem_wait(&g->open))
		;
	return dup(g->fd);
}

static bool pressed(void *ctx)
{
	(void)ctx;
	return true;
}

/* A file of one function, which may be opened so often; in a live run whose rings are full. */
static struct dsos *behind_gate(struct gate *g, unsigned int times)
{
	struct dsos *d;

	g->fd = memfd_create("map", MFD_CLOEXEC);
	append(g->fd, "1000 10 first\n");
	assert_return_code(sem_init(&g->open, 0, times), errno);
	g->opener = (struct opener){ .file = no_file, .proc = no_file, .ctx = g, .perf_map = open_behind_gate };
	d = dsos_new(&g->opener, 1 << 20);
	dsos_live(d, pressed, NULL);
	return d;
}

static void gate_opens(struct gate *g)
{
	for (int i = 0; i < 1000; i++)
		assert_return_code(sem_post(&g->open), errno);
}

static void gate_shuts(struct gate *g)
{
	while (!sem_trywait(&g->open))
		;
}

/* The asker does not wait while a file is opened and read; the old names are used until then. */
TEST(nobody_waits)
{
	struct gate g = { .looks = 0 };
	struct dsos *d;
	struct dso *dso;
	uint64_t answers;

	d = behind_gate(&g, 0);
	dso = dso_get_jit(d, "[heap]", 7, 1, false);
	assert_int_equal(g.looks, 0);            /* only code needs names */
	assert_ptr_equal(dso_get_jit(d, "[heap]", 7, 1, true), dso);
	assert_string_equal(name_of(d, dso, 0x1000), "none");
	assert_true(dso_is_late(dso));
	answers = dsos_answers(d);
	gate_opens(&g);
	assert_true(comes(d, dso, 0x1000, "first"));
	assert_false(dso_is_late(dso));
	assert_int_not_equal(dsos_answers(d), answers);
	/* the file grows, and opening it is slow again */
	gate_shuts(&g);
	append(g.fd, "2000 10 second\n");
	for (int i = 0, looks = g.looks; i < 500 && g.looks == looks; i++, usleep(10000))
		assert_string_equal(name_of(d, dso, 0x1000), "first");
	assert_string_equal(name_of(d, dso, 0x2000), "none");
	assert_string_equal(name_of(d, dso, 0x1000), "first");
	assert_false(dso_is_late(dso));
	answers = dsos_answers(d);
	gate_opens(&g);
	for (int i = 0; i < 500 && dsos_answers(d) == answers; i++)
		usleep(10000);
	assert_int_not_equal(dsos_answers(d), answers);
	assert_string_equal(name_of(d, dso, 0x2000), "second");
	/* the last look reads the whole file, and the asker waits for it */
	append(g.fd, "3000 10 third\n");
	dsos_finish(d);
	dsos_look_again(d);
	assert_string_equal(name_of(d, dso, 0x3000), "third");
	assert_true(dsos_free(d));
	close(g.fd);
}

/* An answer that was never taken is freed, too. */
TEST(nobody_takes_it)
{
	struct gate g = { .looks = 0 };
	struct dsos *d;
	struct dso *dso;

	d = behind_gate(&g, 0);
	dso = dso_get_jit(d, "//anon", 7, 1, false);
	assert_string_equal(name_of(d, dso, 0x1000), "none");
	gate_opens(&g);
	assert_true(dsos_free(d));
	close(g.fd);
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Of thousands of processes that nobody asks about, neither their files stay open nor anything else. */
TEST(many_processes)
{
	struct gate g = { .looks = 0 };
	int before = descriptors();
	struct dsos *d;
	struct dso *dso;
	uint64_t first;

	d = behind_gate(&g, 1 << 20);
	dso = dso_get_jit(d, "//anon", 7, 0, true);
	first = dso_serial(dso);
	dso_put(d, dso);
	for (int life = 1; life <= 20000; life++) {
		dso_put(d, dso_get_jit(d, "//anon", 7, (uint64_t)life, true));
		if (life % 100)
			continue;
		for (int i = 0; i < 30000 && g.looks <= life - 1; i++)
			usleep(1000);    /* until all but the last are open; the last one takes their answers */
		dso_put(d, dso_get_jit(d, "//anon", 7, (uint64_t)++life, true));
		assert_true(descriptors() < before + 400);
	}
	for (int i = 0; i < 500 && descriptors() > before + 400; i++) {
		dsos_answers(d);
		usleep(10000);
	}
	assert_true(descriptors() <= before + 400);
	assert_int_not_equal(dso_serial(dso_get_jit(d, "//anon", 7, 0, true)), first);   /* it had been dropped */
	assert_true(dsos_free(d));
	close(g.fd);
}

/* ---- of a recording --------------------------------------------------------------- */

static const char *kept_map(void *ctx, pid_t pid, size_t i, size_t *size)
{
	static const char *const pieces[] = { "1000 10 first\n2000 10 over\n", "2000 8 second\nno line" };

	if (pid != 8 || i > 1)
		return NULL;
	*size = strlen(pieces[i]);
	return pieces[i];
}

/* What a recording has of a process that is gone; of any other nothing. */
TEST(kept_of_a_process)
{
	struct world w = { .fd = -1, .rc = -ENOENT };
	struct dsos *d;
	struct dso *dso;

	w.opener = (struct opener){ .file = no_file, .proc = no_file, .ctx = &w, .perf_map = open_map,
				    .kept_map = kept_map };
	d = dsos_new(&w.opener, 1 << 20);
	dsos_process_ended(d, 8);
	dso = dso_get_jit(d, "//anon", 8, 1, true);
	dsos_process_ended(d, 8);
	assert_string_equal(name_of(d, dso, 0x100f), "first");
	assert_string_equal(name_of(d, dso, 0x2007), "second");
	assert_string_equal(name_of(d, dso, 0x2008), "none");
	assert_string_equal(dso_name(dso), "/tmp/perf-8.map");
	assert_int_equal(w.looks, 0);
	assert_string_equal(name_of(d, dso_get_jit(d, "//anon", 7, 2, true), 0x1000), "none");
	assert_true(w.looks > 0);
	dsos_free(d);
}
