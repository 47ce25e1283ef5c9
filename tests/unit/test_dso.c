/* SPDX-License-Identifier: Apache-2.0 */
/* Files by their identity: the right one has names, any other has none. */
#include "checks.h"

#include "elf_image.h"
#include "symbols/dso.h"

#include <errno.h>
#include <fcntl.h>
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

static struct world *w;

static int counted_file(void *ctx, pid_t pid, const char *path)
{
	w->opens++;
	return pid && pid == w->gone ? -ESRCH : opener_file(&opener_direct, 0, path);
}

static int counted_proc(void *ctx, pid_t pid, const char *name)
{
	return -ESRCH;
}

/* Writes a program with one function. */
static void write_program(const char *function, const uint8_t *build_id)
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

static struct dso_id by_inode(void)
{
	struct stat st;

	assert_int_equal(stat(w->path, &st), 0);
	return (struct dso_id){ .has_inode = true, .maj = major(st.st_dev), .min = minor(st.st_dev), .ino = st.st_ino };
}

static struct dso *get(const struct dso_id *id)
{
	return dso_get(w->dsos, w->path, id, 1);
}

static const char *name_of(struct dso *dso)
{
	const char *name;
	uint64_t into;

	return dso_find(w->dsos, dso, IMAGE_CODE + 4, &name, &into) ? name : "none";
}

static int set_up(void **state)
{
	w = calloc(1, sizeof(*w));
	snprintf(w->folder, sizeof(w->folder), "/tmp/dso-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->path, sizeof(w->path), "%s/program", w->folder);
	w->opener = (struct opener){ counted_file, counted_proc, w };
	w->dsos = dsos_new(&w->opener, 1 << 20);
	write_program("right", id_a);
	return 0;
}

static int tear_down(void **state)
{
	dsos_free(w->dsos);
	unlink(w->path);
	rmdir(w->folder);
	free(w);
	return 0;
}

TEST_WITH(by_either_identity, set_up, tear_down)
{
	struct dso_id build = by_build_id(id_a), inode = by_inode();
	struct dso *a = get(&build), *b = get(&inode);

	assert_string_equal(name_of(a), "right");
	assert_string_equal(name_of(b), "right");
	assert_string_equal(dso_name(a), w->path);
	assert_int_not_equal(dso_serial(a), dso_serial(b));
	assert_ptr_equal(get(&build), a);
	assert_int_equal(w->opens, 2);
}

TEST_WITH(of_a_process_that_is_gone, set_up, tear_down)
{
	struct dso_id inode = by_inode();

	w->gone = 1;
	assert_string_equal(name_of(get(&inode)), "right");
}

TEST_WITH(another_build, set_up, tear_down)
{
	struct dso_id id = by_build_id(id_a);
	struct dso *dso = get(&id);

	write_program("wrong", id_b);
	assert_string_equal(name_of(dso), "none");
	w->opens = 0;
	assert_string_equal(name_of(dso), "none");
	assert_int_equal(w->opens, 0);       /* it is not tried for each address */
	write_program("right", id_a);
	assert_ptr_equal(get(&id), dso);  /* mapped again, so looked at again */
	assert_string_equal(name_of(dso), "right");
}

/* What is said with -v while the dso is asked for a name. */
static char *said(struct dso *dso, int verbose)
{
	static char text[1024];
	int before = dup(STDERR_FILENO);
	FILE *f = tmpfile();
	size_t n;

	assert_non_null(f);
	dsos_use(w->dsos, NULL, verbose);
	assert_int_equal(dup2(fileno(f), STDERR_FILENO), STDERR_FILENO);
	name_of(dso);
	assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
	close(before);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

TEST_WITH(why_it_was_refused, set_up, tear_down)
{
	struct dso_id build = by_build_id(id_a), inode = by_inode(), nothing = { 0 };
	char other[200];

	write_program("wrong", id_b);
	assert_string_equal(said(get(&build), 0), "");
	assert_non_null(strstr(said(get(&build), 1), "the file now has the build id 01020305, but the mapped one had the build id 01020304"));
	assert_non_null(strstr(said(get(&nothing), 1), "has no build id of it, and no inode that is valid on this machine"));
	snprintf(other, sizeof(other), "%s.new", w->path);
	assert_int_equal(rename(w->path, other), 0);
	build = by_build_id(id_c);
	assert_non_null(strstr(said(get(&build), 1), "no such file is there now"));
	write_program("wrong", id_a);
	assert_int_equal(unlink(other), 0);
	assert_non_null(strstr(said(get(&inode), 1), "what is there now is not what was mapped (inode"));
	assert_string_equal(said(get(&inode), 1), "");   /* once */
}

TEST_WITH(replaced_or_deleted, set_up, tear_down)
{
	struct dso_id id = by_inode();
	struct dso *dso = get(&id);
	char other[200];

	snprintf(other, sizeof(other), "%s.new", w->path);
	assert_int_equal(rename(w->path, other), 0);
	assert_string_equal(name_of(dso), "none");
	write_program("wrong", id_a);
	assert_int_equal(unlink(other), 0);
	assert_string_equal(name_of(get(&id)), "none");
	id = by_inode();
	assert_string_equal(name_of(get(&id)), "wrong");
	id.maj += 1;             /* another device; nothing that is known of it */
	assert_string_equal(name_of(get(&id)), "none");
	assert_string_equal(name_of(get(&(struct dso_id){ 0 })), "none");
}

static void set_mtime(time_t from_now)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec += from_now;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, w->path, times, 0), 0);
}

/* The inode stays the same: the time of the last change tells. */
TEST_WITH(rewritten_in_place, set_up, tear_down)
{
	struct dso_id id = by_inode();
	struct dso *dso = get(&id);
	uint64_t serial = dso_serial(dso);

	write_program("wrong", id_a);
	set_mtime(10);
	assert_string_equal(name_of(dso), "none");
	set_mtime(-10);
	dso = get(&id);
	assert_string_equal(name_of(dso), "wrong");   /* what is mapped now */
	write_program("third", id_a);
	dso = get(&id);
	assert_string_equal(name_of(dso), "third");
	assert_int_not_equal(dso_serial(dso), serial);
}

TEST_WITH(what_is_no_file, set_up, tear_down)
{
	static const char *const names[] = { "//anon", "[heap]", "[vsyscall]", "", "relative", "/",
					     "/dev/zero", "/nonexistent/file" };
	struct dso_id id = by_build_id(id_a);
	struct dso *vdso;

	for (size_t i = 0; i < COUNT(names); i++) {
		struct dso *dso = dso_get(w->dsos, names[i], &id, 0);

		assert_string_equal(name_of(dso), "none");
		assert_string_equal(dso_name(dso), names[i]);
	}
	unlink(w->path);
	assert_int_equal(mkfifo(w->path, 0600), 0);
	assert_string_equal(name_of(get(&id)), "none");   /* and does not hang */
	vdso = dso_get_vdso(w->dsos, 0x1000, 0x1000);
	assert_string_equal(dso_name(vdso), "[vdso]");
	assert_string_equal(name_of(vdso), "none");
}

/* Tables go when there are too many, and come back when they are asked for. */
TEST_WITH(memory_is_bounded, set_up, tear_down)
{
	enum { N = 40 };
	struct dso_id id = by_build_id(id_a);
	struct dso *dso[N];
	size_t one;

	assert_string_equal(name_of(get(&id)), "right");
	one = dsos_bytes(w->dsos);
	dsos_free(w->dsos);
	w->dsos = dsos_new(&w->opener, 4 * one);
	for (int i = 0; i < N; i++) {
		char path[200];

		snprintf(path, sizeof(path), "%s/%.*sprogram", w->folder, 2 * i, "././././././././././"
			 "././././././././././././././././././././././././././././././././././");
		dso[i] = dso_get(w->dsos, path, &id, 0);
		assert_string_equal(name_of(dso[i]), "right");
		assert_true(dsos_bytes(w->dsos) <= 4 * one);
	}
	w->opens = 0;
	assert_string_equal(name_of(dso[N - 1]), "right");
	assert_int_equal(w->opens, 0);
	assert_string_equal(name_of(dso[0]), "right");
	assert_int_equal(w->opens, 1);
}

static bool always(void *ctx)
{
	return true;
}

/* The program has ended before its answer came: its table counts all the same. */
TEST_WITH(answers_that_nobody_takes_are_bounded, set_up, tear_down)
{
	struct dso_id id = by_build_id(id_a), other = { .has_inode = true, .ino = 100 };
	const time_t end = time(NULL) + 20;

	dsos_live(w->dsos, always, NULL);
	dsos_hurry(w->dsos, true);
	name_of(get(&id));
	while (!dsos_bytes(w->dsos) && time(NULL) < end) {
		other.ino++;
		dso_put(w->dsos, get(&other));
	}
	assert_true(dsos_bytes(w->dsos) > 0);
}

/* Nobody's dsos are kept for a while, not for ever. */
TEST_WITH(unused_ones_go, set_up, tear_down)
{
	enum { N = 10000 };
	struct dso_id id = { .has_inode = true, .ino = 5 };
	struct dso *kept = get(&id), *again;
	uint64_t serial = dso_serial(kept);

	for (unsigned int i = 0; i < N; i++) {
		id.ino = 100 + i;
		dso_put(w->dsos, get(&id));
	}
	id.ino = 5;
	assert_int_equal(dso_serial(get(&id)), serial);
	id.ino = 100;
	again = get(&id);
	assert_true(dso_serial(again) > N);      /* made anew */
	id.ino = 100 + N - 1;
	assert_true(dso_serial(get(&id)) < dso_serial(again));
}
