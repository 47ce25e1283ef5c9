/* SPDX-License-Identifier: Apache-2.0 */
/* The current folders of processes, and the folders behind their descriptors. */
#include "checks.h"

#include "analysis/syscalls/dirfds.h"
#include "analysis/syscalls/pathmatch.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SHELL = 10, CHILD = 11, NOBODY = 999999999 };   /* NOBODY: above the kernel's limit of ids */

static uint64_t the_time(void *ctx)
{
	return *(const uint64_t *)ctx;
}

/* A task's path is that one; NULL: it is not known. */
static void check(struct folders *f, pid_t pid, const char *path, const char *expected)
{
	char text[PATH_MAX];

	assert_int_equal(folders_resolve(f, pid, path, text, sizeof(text)), expected != NULL);
	if (expected)
		assert_string_equal(text, expected);
}

static void task(struct folders *f, uint32_t type, pid_t pid, pid_t ppid, uint64_t time)
{
	const struct pev_record rec = {
		.type = type,
		.task = { .pid = (uint32_t)pid, .tid = (uint32_t)pid, .ppid = (uint32_t)ppid, .ptid = (uint32_t)ppid, .time = time },
	};

	folders_take(f, &rec);
}

static struct folders folders;

static int tear_down(void **state)
{
	folders_free(&folders);
	memset(&folders, 0, sizeof(folders));
	return 0;
}

TEST_WITH(paths_lose_their_dots, NULL, tear_down)
{
	char text[8];

	folders_change(&folders, SHELL, "/srv//log/./x/../", 1);
	check(&folders, SHELL, "a.log", "/srv/log/a.log");
	check(&folders, SHELL, "./b//c/", "/srv/log/b/c");
	check(&folders, SHELL, "../../../etc", "/etc");
	check(&folders, SHELL, "..", "/srv");
	check(&folders, SHELL, "../..", "/");
	check(&folders, SHELL, ".", "/srv/log");
	assert_false(folders_resolve(&folders, SHELL, "a", text, sizeof(text)));
	folders_change(&folders, SHELL, "/", 2);
	check(&folders, SHELL, "a", "/a");
}

TEST_WITH(recordings_have_only_what_happens_in_them, NULL, tear_down)
{
	folders_change(&folders, SHELL, "below", 1);
	check(&folders, SHELL, "a", NULL);
	check(&folders, getpid(), "a", NULL);
	folders_change(&folders, SHELL, "/srv", 2);
	task(&folders, PERF_RECORD_FORK, CHILD, SHELL, 3);
	folders_change(&folders, CHILD, "log", 4);
	check(&folders, CHILD, "a", "/srv/log/a");
	check(&folders, SHELL, "a", "/srv/a");
	folders_change(&folders, SHELL, "", 5);
	check(&folders, SHELL, "a", NULL);
	task(&folders, PERF_RECORD_EXIT, CHILD, SHELL, 6);
	check(&folders, CHILD, "a", NULL);
}

TEST_WITH(what_was_read_is_newer_than_calls_before, NULL, tear_down)
{
	uint64_t time = 100;
	char here[PATH_MAX], expected[PATH_MAX + 2];

	folders = (struct folders){ .now = the_time, .ctx = &time };
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(expected, sizeof(expected), "%s/a", here);
	folders_read_all(&folders);
	check(&folders, getpid(), "a", expected);
	folders_change(&folders, getpid(), "/srv", 99);
	task(&folders, PERF_RECORD_FORK, getpid(), SHELL, 98);
	check(&folders, getpid(), "a", expected);
	folders_change(&folders, getpid(), "/srv", 101);
	check(&folders, getpid(), "a", "/srv/a");
	task(&folders, PERF_RECORD_FORK, NOBODY, getpid(), 102);
	check(&folders, NOBODY, "a", "/srv/a");
	folders_change(&folders, getpid(), "", 103);      /* it is read again */
	check(&folders, getpid(), "a", expected);
	folders_change(&folders, NOBODY, "", 104);
	check(&folders, NOBODY, "a", NULL);
}

TEST_WITH(folders_that_are_shared_are_not_known, NULL, tear_down)
{
	folders_change(&folders, SHELL, "/srv", 1);
	folders_split(&folders, SHELL, true);
	check(&folders, SHELL, "a", NULL);
	task(&folders, PERF_RECORD_FORK, CHILD, SHELL, 2);
	check(&folders, CHILD, "a", NULL);
	folders_change(&folders, CHILD, "/log", 3);      /* for both */
	check(&folders, SHELL, "a", NULL);
	check(&folders, CHILD, "a", NULL);
	task(&folders, PERF_RECORD_EXIT, CHILD, SHELL, 4);
	task(&folders, PERF_RECORD_FORK, CHILD, SHELL, 5);
	check(&folders, CHILD, "a", NULL);
	folders_change(&folders, CHILD, "/log", 6);      /* that one shares nothing */
	check(&folders, CHILD, "a", "/log/a");
}

/* ---- links, and what a recording keeps ------------------------------------------------------- */

struct kept_lines {
	uint64_t time;
	char text[4096];
};

static uint64_t kept_time(void *ctx)
{
	return ((const struct kept_lines *)ctx)->time;
}

static void keep(void *ctx, const char *line)
{
	char *text = ((struct kept_lines *)ctx)->text;

	strcat(strcat(text, line), "\n");
}

/* The process goes through a link, and uses a descriptor; what was read for that is enough for a recording. */
static void use(struct folders *f, const char *link, const char *real, int fd)
{
	struct dirfds d = { 0 };
	char expected[PATH_MAX + 2];

	folders_read_all(f);
	f->at = 105;
	folders_change(f, getpid(), link, 105);
	snprintf(expected, sizeof(expected), "%s/a", real);
	check(f, getpid(), "a", expected);
	task(f, PERF_RECORD_FORK, NOBODY, getpid(), 106);
	check(f, NOBODY, "a", expected);
	f->at = 107;
	assert_string_equal(dirfds_path(&d, f, getpid(), fd), real);
	f->at = 108;
	assert_null(dirfds_path(&d, f, getpid(), 999));
	dirfds_forget(&d);
	folders_free(f);
}

/* As the process does. The kernel keeps the time of a use that is the first since the link was made, by a clock with ticks of some ms: if
 * that is in the same tick, the next use counts as the first one, too, which RESOLVE_CACHED refuses. */
static void use_link(const char *link)
{
	const time_t end = time(NULL) + 2;   /* if the file system keeps no such times */
	struct stat st;

	do {
		assert_int_equal(close(open(link, O_PATH | O_DIRECTORY | O_CLOEXEC)), 0);
		assert_int_equal(lstat(link, &st), 0);
	} while ((st.st_atim.tv_sec < st.st_mtim.tv_sec ||
		  (st.st_atim.tv_sec == st.st_mtim.tv_sec && st.st_atim.tv_nsec <= st.st_mtim.tv_nsec)) && time(NULL) <= end);
}

static char base[] = "/tmp/folders-XXXXXX", link_[64], real[64];

static int make_link(void **state)
{
	strcpy(base + strlen(base) - 6, "XXXXXX");
	assert_non_null(mkdtemp(base));
	snprintf(real, sizeof(real), "%s/real", base);
	snprintf(link_, sizeof(link_), "%s/link", base);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(symlink("real", link_), 0);
	use_link(link_);
	return 0;
}

static int remove_link(void **state)
{
	unlink(link_);
	rmdir(real);
	return rmdir(base);
}

TEST_WITH(a_recording_has_what_was_read, make_link, remove_link)
{
	struct kept_lines kept = { .time = 100 };
	struct folders live = { .now = kept_time, .keep = keep, .ctx = &kept }, recorded = { 0 };
	int fd;

	fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	use(&live, link_, real, fd);
	keptfolders_take(&recorded.kept, kept.text, strlen(kept.text));
	use(&recorded, link_, real, fd);
	close(fd);
}

TEST_WITH(links_to_the_folder_of_a_path, make_link, remove_link)
{
	uint64_t time = 100;
	struct folders live = { .now = the_time, .ctx = &time, .at = 100 }, recorded = { 0 };
	char path[128], expected[128], text[PATH_MAX];

	snprintf(path, sizeof(path), "%s/a", link_);
	snprintf(expected, sizeof(expected), "%s/a", real);
	assert_true(folders_follow(&live, getpid(), path, text));
	assert_string_equal(text, expected);
	assert_false(folders_follow(&live, getpid(), expected, text));
	assert_false(folders_follow(&live, getpid(), link_, text));     /* a link at the end stays */
	assert_false(folders_follow(&live, NOBODY, path, text));
	assert_false(folders_follow(&live, getpid(), "/a", text));
	assert_false(folders_follow(&recorded, getpid(), path, text));
	unlink(link_);
	live.at = 1000;
	assert_true(folders_follow(&live, getpid(), path, text));
	live.at = 2000000000;                                           /* it is looked up again */
	assert_false(folders_follow(&live, getpid(), path, text));
	folders_free(&live);
}

TEST(lines_of_others_files)
{
	static const char text[] = "1 2 3 4 /good\n"
		"\n \n1\n1 2 3 4\n1 2 3 4 relative\n-1 2 3 5 /pid\n0 2 3 5 /pid\n1 -2 3 5 /time\n1 2 -3 5 /read\n1 2 3 -2 /fd\n"
		"99999999999 2 3 5 /pid\n1 99999999999999999999 3 5 /time\n1 2 3 99999999999 /fd\n1 2 3 4 /again\n1x2 3 5 /x\n1 2 3 6 /cut";
	static char large[PATH_MAX + 100] = "1 2 3 7 /";
	struct keptfolders k = { 0 };
	uint64_t read;

	keptfolders_take(&k, text, strlen(text));
	assert_string_equal(keptfolders_find(&k, &(struct keptfolder_key){ 1, 4, 2 }, &read), "/good");
	assert_int_equal(read, 3);
	for (int fd = -2; fd < 10; fd++)
		assert_true(fd == 4 || !keptfolders_find(&k, &(struct keptfolder_key){ 1, fd, 2 }, &read));
	memset(large + 9, 'x', PATH_MAX);
	strcat(large, "\n");
	keptfolders_take(&k, large, strlen(large));
	assert_null(keptfolders_find(&k, &(struct keptfolder_key){ 1, 7, 2 }, &read));
	assert_false(keptfolders_line(&(struct keptfolder_key){ 1, 4, 2 }, 3, "/a\nb", (char[KEPTFOLDER_LINE]){ 0 }));
	keptfolders_free(&k);
}

/* ---- descriptors ------------------------------------------------------------------------- */

static void check_fd(struct dirfds *d, pid_t pid, int fd, const char *expected)
{
	struct folders none = { 0 };
	const char *path = dirfds_path(d, &none, pid, fd);

	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
}

static void fork_of(struct dirfds *d, pid_t pid, pid_t ppid)
{
	const struct pev_record rec = {
		.type = PERF_RECORD_FORK,
		.task = { .pid = (uint32_t)pid, .tid = (uint32_t)pid, .ppid = (uint32_t)ppid, .ptid = (uint32_t)ppid, .time = 1 },
	};

	dirfds_take(d, &rec);
}

TEST(descriptors_follow_calls)
{
	struct dirfds d = { 0 };

	dirfds_open(&d, SHELL, 3, "/srv", 1);
	dirfds_copy(&d, SHELL, 3, 4, 2);
	dirfds_copy(&d, SHELL, 4, 4, 2);
	dirfds_close(&d, SHELL, 3, 3, 3);
	check_fd(&d, SHELL, 3, NULL);
	check_fd(&d, SHELL, 4, "/srv");
	dirfds_open(&d, SHELL, 3, "/etc", 4);
	fork_of(&d, CHILD, SHELL);
	dirfds_open(&d, SHELL, 3, NULL, 5);        /* not a folder */
	check_fd(&d, SHELL, 3, NULL);
	check_fd(&d, CHILD, 3, "/etc");
	dirfds_copy(&d, CHILD, 9, 3, 6);           /* not known which */
	check_fd(&d, CHILD, 3, NULL);
	dirfds_open(&d, CHILD, 100, "/far", 7);
	dirfds_close(&d, CHILD, 3, 99, 8);
	check_fd(&d, CHILD, 4, NULL);
	check_fd(&d, CHILD, 100, "/far");
	dirfds_close(&d, CHILD, 50, UINT_MAX, 9);
	check_fd(&d, CHILD, 100, NULL);
	check_fd(&d, SHELL, 4, "/srv");
	dirfds_forget(&d);
	check_fd(&d, SHELL, 4, NULL);
}

TEST(as_many_descriptors_as_are_kept)
{
	enum { MANY = 300, PROCESSES = 2000, LEAST = 200, MOST = 1 << 18 };
	struct dirfds d = { 0 };

	for (int fd = 3; fd < MANY; fd++)
		dirfds_open(&d, SHELL, fd, "/srv", 1);
	check_fd(&d, SHELL, MANY - 1, "/srv");
	check_fd(&d, SHELL, 3, NULL);              /* the oldest */
	for (pid_t pid = 1000; pid < 1000 + PROCESSES; pid++) {
		fork_of(&d, pid, pid == 1000 ? SHELL : pid - 1);
		dirfds_open(&d, pid, LEAST, "/etc", 1);
		assert_true(d.n <= MOST);
	}
	dirfds_forget(&d);
	assert_int_equal(d.n, 0);
}

/* A recording has any numbers of calls. */
TEST(calls_that_do_not_exist)
{
	struct {
		struct pathmatch match;
		uint32_t behind[4096];
	} *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	for (int64_t number = -2; number < 8192; number++)
		assert_int_equal(pathmatch_flags(&m->match, 1, number), 0);
	assert_int_equal(pathmatch_flags(&m->match, 1, INT64_MAX), 0);
	assert_int_equal(pathmatch_flags(&m->match, 1, INT64_MIN), 0);
	for (size_t i = 0; i < 4096; i++)
		assert_int_equal(m->behind[i], 0);
	free(m);
}
