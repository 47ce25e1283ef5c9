/* SPDX-License-Identifier: Apache-2.0 */
/* A file is there as a whole, or as it was; it belongs to who called sudo. */
#include "checks.h"
#include "tree.h"

#include "base/artifact.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/test-artifact-XXXXXX";
static struct fault fault;

/* Two files are looked at while an artifact still borrows its path. */
static const char *at(const char *name)
{
	static char paths[4][300];
	static unsigned int last;
	char *path = paths[++last % COUNT(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	tree_put(folder, name, text);
}

static void holds(const char *name, const char *text)
{
	char *found = tree_get(folder, name);

	assert_string_equal(found, text);
	free(found);
}

static unsigned int files(void)
{
	DIR *dir = opendir(folder);
	unsigned int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;   /* . and .. */
}

static struct artifact a;

static int open_at(const char *path)
{
	memset(&fault, 0, sizeof(fault));
	return artifact_open(&a, "--x", path, &fault);
}

/* Writes that text to it as often. */
static void fill(const char *path, const char *text, int times)
{
	assert_int_equal(open_at(path), 0);
	for (int i = 0; i < times; i++)
		fputs(text, a.out);
}

TEST(appears_as_a_whole)
{
	struct stat st;
	mode_t mask = umask(027);

	put("x", "old");
	fill(at("x"), "new", 1);
	fflush(a.out);
	assert_int_equal(files(), 2);
	holds("x", "old");
	assert_int_equal(artifact_close(&a, &fault), 0);
	holds("x", "new");
	assert_int_equal(files(), 1);
	assert_int_equal(stat(at("x"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	umask(mask);
	artifact_abandon(&a);
	unlink(at("x"));
}

TEST(abandoned_leaves_nothing)
{
	struct artifact none = { 0 };

	put("x", "old");
	fill(at("x"), "new", 1);
	artifact_abandon(&a);
	artifact_abandon(&none);
	holds("x", "old");
	assert_int_equal(files(), 1);
	assert_int_equal(artifact_check("--x", at("y"), &fault), 0);
	assert_int_equal(files(), 1);
	unlink(at("x"));
}

/* Two artifacts are open when the signal comes. A forked child that dies of the signal leaves both files. */
static void dies_of(int sig)
{
	struct artifact b;
	int status;
	pid_t pid;

	signal(sig, SIG_DFL);
	if (open_at(at("x")) || artifact_open(&b, "--y", at("y"), &fault))
		_exit(1);
	pid = fork();
	if (!pid) {
		raise(sig);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status) || files() != 3)
		_exit(2);
	raise(sig);
	_exit(3);
}

TEST(a_signal_leaves_nothing)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	int status;

	put("x", "old");
	for (size_t i = 0; i < COUNT(sigs); i++) {
		pid_t pid = fork();

		if (!pid)
			dies_of(sigs[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), sigs[i]);
		assert_int_equal(files(), 1);
		holds("x", "old");
	}
	unlink(at("x"));
}

/* /dev/full is no regular file and refuses every byte. What was buffered fails long before the end, and what comes in between leaves
 * another errno. */
TEST(a_full_disk_is_told)
{
	static const int times[] = { 1, 100000 };

	for (size_t i = 0; i < COUNT(times); i++) {
		fill("/dev/full", "new", times[i]);
		assert_true(!i || ferror(a.out));
		assert_int_equal(close(-1), -1);
		assert_int_equal(artifact_close(&a, &fault), -1);
		assert_string_equal(fault.text, "--x /dev/full: No space left on device");
		artifact_abandon(&a);
	}
}

TEST(what_can_not_be_opened_is_told)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{ "/nonexistent/x", "--x /nonexistent/x: No such file or directory" }, { "/tmp", "--x /tmp: Is a directory" },
		{ "/dev/fd/999", "--x /dev/fd/999: Bad file descriptor" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		
		assert_int_equal(open_at(rows[i].path), -1);
		assert_string_equal(fault.text, rows[i].text);
		artifact_abandon(&a);
	}
}

/* A link that someone laid is replaced, not followed. */
TEST(links_are_replaced)
{
	char target[300];
	struct stat st;

	put("victim", "old");
	snprintf(target, sizeof(target), "%s", at("victim"));
	assert_int_equal(symlink(target, at("link")), 0);
	fill(at("link"), "new", 1);
	assert_int_equal(artifact_close(&a, &fault), 0);
	holds("victim", "old");
	holds("link", "new");
	assert_int_equal(lstat(at("link"), &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(at("link"));
	unlink(at("victim"));
}

TEST(belongs_to_the_caller_of_sudo)
{
	struct stat st;

	if (geteuid()) {
		printf("# skip: sudo's rights need root\n");
		skip();
	}
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	assert_int_equal(open_at(at("x")), -1);   /* root's folder */
	assert_non_null(strstr(fault.text, "Permission denied for user 65534, who ran sudo"));
	chmod(folder, 0777);
	fill(at("x"), "new", 1);
	assert_int_equal(artifact_close(&a, &fault), 0);
	assert_int_equal(stat(at("x"), &st), 0);
	ARE(NUMBERS(st.st_uid, st.st_gid), NUMBERS(65534, 65534));
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	chmod(folder, 0700);
	put("y", "");   /* root again */
	assert_int_equal(stat(at("y"), &st), 0);
	assert_int_equal(st.st_uid, 0);
	unlink(at("x"));
	unlink(at("y"));
}

static int make_folder(void **state)
{
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	return rmdir(folder);   /* nothing was left behind */
}

AROUND_ALL(make_folder, remove_folder)
