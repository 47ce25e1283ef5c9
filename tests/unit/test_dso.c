/* SPDX-License-Identifier: Apache-2.0 */
/* Files by their identity: the right one has names, any other has none. */
#include "cmocka_all.h"

#include "elf_image.h"
#include "symbols/dso.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static const uint8_t id_a[4] = { 1, 2, 3, 4 }, id_b[4] = { 1, 2, 3, 5 }, id_c[4] = { 1, 2, 3, 6 };

struct world {
	char folder[64], path[128];
	struct opener opener;
	struct dsos *dsos;
	int opens;
	pid_t gone;              /* a process that is */
};

static int counted_file(void *ctx, pid_t pid, const char *path)
{
	struct world *w = ctx;

	w->opens++;
	return pid && pid == w->gone ? -ESRCH : opener_file(&opener_direct, 0, path);
}

static int counted_proc(void *ctx, pid_t pid, const char *name)
{
	return -ESRCH;
}

/* Writes a program with one function. */
static void write_program(const struct world *w, const char *function, const uint8_t *build_id)
{
	int fd = open(w->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct image m;

	image_init(&m, SHT_SYMTAB, build_id, sizeof(id_a));
	image_symbol(&m, function, 0, 0x10, FUNCTION);
	assert_int_equal(write(fd, m.bytes, sizeof(m.bytes)), sizeof(m.bytes));
	close(fd);
}

static struct dso_id by_build_id(const uint8_t *build_id)
{
	struct dso_id id = { .build_id_size = sizeof(id_a) };

	memcpy(id.build_id, build_id, sizeof(id_a));
	return id;
}

static struct dso_id by_inode(const struct world *w)
{
	struct stat st;

	assert_int_equal(stat(w->path, &st), 0);
	return (struct dso_id){ .has_inode = true, .maj = major(st.st_dev), .min = minor(st.st_dev),
				.ino = st.st_ino };
}

static struct dso *get(struct world *w, const struct dso_id *id)
{
	return dso_get(w->dsos, w->path, id, 1);
}

static const char *name_of(struct world *w, struct dso *dso)
{
	const char *name;
	uint64_t into;

	return dso_find(w->dsos, dso, IMAGE_CODE + 4, &name, &into) ? name : "none";
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->folder, sizeof(w->folder), "/tmp/dso-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->path, sizeof(w->path), "%s/program", w->folder);
	w->opener = (struct opener){ counted_file, counted_proc, w };
	w->dsos = dsos_new(&w->opener, 1 << 20);
	write_program(w, "right", id_a);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	dsos_free(w->dsos);
	unlink(w->path);
	rmdir(w->folder);
	free(w);
	return 0;
}

static void by_either_identity(void **state)
{
	struct world *w = *state;
	struct dso_id build = by_build_id(id_a), inode = by_inode(w);
	struct dso *a = get(w, &build), *b = get(w, &inode);

	assert_string_equal(name_of(w, a), "right");
	assert_string_equal(name_of(w, b), "right");
	assert_string_equal(dso_name(a), w->path);
	assert_int_not_equal(dso_serial(a), dso_serial(b));
	assert_ptr_equal(get(w, &build), a);
	assert_int_equal(w->opens, 2);
}

static void of_a_process_that_is_gone(void **state)
{
	struct world *w = *state;
	struct dso_id inode = by_inode(w);

	w->gone = 1;
	assert_string_equal(name_of(w, get(w, &inode)), "right");
}

static void another_build(void **state)
{
	struct world *w = *state;
	struct dso_id id = by_build_id(id_a);
	struct dso *dso = get(w, &id);

	write_program(w, "wrong", id_b);
	assert_string_equal(name_of(w, dso), "none");
	w->opens = 0;
	assert_string_equal(name_of(w, dso), "none");
	assert_int_equal(w->opens, 0);       /* it is not tried for each address */
	write_program(w, "right", id_a);
	assert_ptr_equal(get(w, &id), dso);  /* mapped again, so looked at again */
	assert_string_equal(name_of(w, dso), "right");
}

/* What is said with -v while the dso is asked for a name. */
static char *said(struct world *w, struct dso *dso, int verbose)
{
	static char text[1024];
	int before = dup(STDERR_FILENO);
	FILE *f = tmpfile();
	size_t n;

	assert_non_null(f);
	dsos_use(w->dsos, NULL, verbose);
	assert_int_equal(dup2(fileno(f), STDERR_FILENO), STDERR_FILENO);
	name_of(w, dso);
	assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
	close(before);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

static void why_it_was_refused(void **state)
{
	struct world *w = *state;
	struct dso_id build = by_build_id(id_a), inode = by_inode(w), nothing = { 0 };
	char other[200];

	write_program(w, "wrong", id_b);
	assert_string_equal(said(w, get(w, &build), 0), "");
	assert_non_null(strstr(said(w, get(w, &build), 1), "the file now has the build id 01020305, but the mapped one had the build id 01020304"));
	assert_non_null(strstr(said(w, get(w, &nothing), 1), "has no build id of it, and no inode that is valid on this machine"));
	snprintf(other, sizeof(other), "%s.new", w->path);
	assert_int_equal(rename(w->path, other), 0);
	build = by_build_id(id_c);
	assert_non_null(strstr(said(w, get(w, &build), 1), "no such file is there now"));
	write_program(w, "wrong", id_a);
	assert_int_equal(unlink(other), 0);
	assert_non_null(strstr(said(w, get(w, &inode), 1), "what is there now is not what was mapped (inode"));
	assert_string_equal(said(w, get(w, &inode), 1), "");   /* once */
}

static void replaced_by_another_inode(void **state)
{
	struct world *w = *state;
	struct dso_id id = by_inode(w);
	struct dso *dso = get(w, &id);
	char other[200];

	snprintf(other, sizeof(other), "%s.new", w->path);
	assert_int_equal(rename(w->path, other), 0);
	write_program(w, "wrong", id_a);
	assert_int_equal(unlink(other), 0);
	assert_string_equal(name_of(w, dso), "none");
}

static void deleted(void **state)
{
	struct world *w = *state;
	struct dso_id id = by_inode(w);
	struct dso *dso = get(w, &id);

	unlink(w->path);
	assert_string_equal(name_of(w, dso), "none");
}

static void set_mtime(const struct world *w, time_t from_now)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec += from_now;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, w->path, times, 0), 0);
}

/* The inode stays the same: the time of the last change tells. */
static void rewritten_in_place(void **state)
{
	struct world *w = *state;
	struct dso_id id = by_inode(w);
	struct dso *dso = get(w, &id);
	uint64_t serial = dso_serial(dso);

	write_program(w, "wrong", id_a);
	set_mtime(w, 10);
	assert_string_equal(name_of(w, dso), "none");
	set_mtime(w, -10);
	dso = get(w, &id);
	assert_string_equal(name_of(w, dso), "wrong");   /* what is mapped now */
	write_program(w, "third", id_a);
	dso = get(w, &id);
	assert_string_equal(name_of(w, dso), "third");
	assert_int_not_equal(dso_serial(dso), serial);
}

static void other_devices_and_generations(void **state)
{
	struct world *w = *state;
	struct dso_id id = by_inode(w);

	id.maj += 1;
	assert_string_equal(name_of(w, get(w, &id)), "none");
	id = (struct dso_id){ 0 };
	assert_string_equal(name_of(w, get(w, &id)), "none");
}

static void what_is_no_file(void **state)
{
	static const char *const names[] = { "//anon", "[heap]", "[vsyscall]", "", "relative", "/",
					     "/dev/zero", "/nonexistent/file" };
	struct world *w = *state;
	struct dso_id id = by_build_id(id_a);

	for (size_t i = 0; i < COUNT(names); i++) {
		struct dso *dso = dso_get(w->dsos, names[i], &id, 0);

		assert_string_equal(name_of(w, dso), "none");
		assert_string_equal(dso_name(dso), names[i]);
	}
	unlink(w->path);
	assert_int_equal(mkfifo(w->path, 0600), 0);
	assert_string_equal(name_of(w, get(w, &id)), "none");   /* and does not hang */
}

static void the_vdso(void **state)
{
	struct world *w = *state;
	struct dso *other = dso_get_vdso(w->dsos, 0x1000, 0x1000);

	assert_string_equal(dso_name(other), "[vdso]");
	assert_string_equal(name_of(w, other), "none");
}

/* Tables go when there are too many, and come back when they are asked for. */
static void memory_is_bounded(void **state)
{
	enum { N = 40 };
	struct world *w = *state;
	struct dso_id id = by_build_id(id_a);
	struct dso *dso[N];
	size_t one;

	assert_string_equal(name_of(w, get(w, &id)), "right");
	one = dsos_bytes(w->dsos);
	dsos_free(w->dsos);
	w->dsos = dsos_new(&w->opener, 4 * one);
	for (int i = 0; i < N; i++) {
		char path[200];

		snprintf(path, sizeof(path), "%s/%.*sprogram", w->folder, 2 * i, "././././././././././"
			 "././././././././././././././././././././././././././././././././././");
		dso[i] = dso_get(w->dsos, path, &id, 0);
		assert_string_equal(name_of(w, dso[i]), "right");
		assert_true(dsos_bytes(w->dsos) <= 4 * one);
	}
	w->opens = 0;
	assert_string_equal(name_of(w, dso[N - 1]), "right");
	assert_int_equal(w->opens, 0);
	assert_string_equal(name_of(w, dso[0]), "right");
	assert_int_equal(w->opens, 1);
}

/* Nobody's dsos are kept for a while, not for ever. */
static void unused_ones_go(void **state)
{
	enum { N = 10000 };
	struct world *w = *state;
	struct dso_id id = { .has_inode = true, .ino = 5 };
	struct dso *kept = get(w, &id), *again;
	uint64_t serial = dso_serial(kept);

	for (unsigned int i = 0; i < N; i++) {
		id.ino = 100 + i;
		dso_put(w->dsos, get(w, &id));
	}
	id.ino = 5;
	assert_int_equal(dso_serial(get(w, &id)), serial);
	id.ino = 100;
	again = get(w, &id);
	assert_true(dso_serial(again) > N);      /* made anew */
	id.ino = 100 + N - 1;
	assert_true(dso_serial(get(w, &id)) < dso_serial(again));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_either_identity),
		TEST(of_a_process_that_is_gone),
		TEST(another_build),
		TEST(why_it_was_refused),
		TEST(replaced_by_another_inode),
		TEST(deleted),
		TEST(rewritten_in_place),
		TEST(other_devices_and_generations),
		TEST(what_is_no_file),
		TEST(the_vdso),
		TEST(memory_is_bounded),
		TEST(unused_ones_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
