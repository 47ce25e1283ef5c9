/* SPDX-License-Identifier: Apache-2.0 */
/* A file is there as a whole, or as it was; it belongs to who called sudo. */
#include "cmocka_all.h"

#include "base/artifact.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/test-artifact-XXXXXX";

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
	FILE *out = fopen(at(name), "w");

	fputs(text, out);
	fclose(out);
}

static void holds(const char *name, const char *text)
{
	char buf[100] = "";
	FILE *in = fopen(at(name), "r");

	assert_non_null(in);
	assert_true(fread(buf, 1, sizeof(buf) - 1, in) < sizeof(buf));
	fclose(in);
	assert_string_equal(buf, text);
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

static void appears_as_a_whole(void **state)
{
	struct fault f = { 0 };
	struct artifact a;
	struct stat st;
	mode_t mask = umask(027);

	put("x", "old");
	assert_int_equal(artifact_open(&a, "--x", at("x"), &f), 0);
	fputs("new", a.out);
	fflush(a.out);
	assert_int_equal(files(), 2);
	holds("x", "old");
	assert_int_equal(artifact_close(&a, &f), 0);
	holds("x", "new");
	assert_int_equal(files(), 1);
	assert_int_equal(stat(at("x"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	umask(mask);
	artifact_abandon(&a);
	unlink(at("x"));
}

static void abandoned_leaves_nothing(void **state)
{
	struct fault f = { 0 };
	struct artifact a, none = { 0 };

	put("x", "old");
	assert_int_equal(artifact_open(&a, "--x", at("x"), &f), 0);
	fputs("new", a.out);
	artifact_abandon(&a);
	artifact_abandon(&none);
	holds("x", "old");
	assert_int_equal(files(), 1);
	assert_int_equal(artifact_check("--x", at("y"), &f), 0);
	assert_int_equal(files(), 1);
	unlink(at("x"));
}

/* Two artifacts are open when the signal comes. A forked child that dies of the signal leaves both files. */
static void dies_of(int sig)
{
	struct fault f = { 0 };
	struct artifact a, b;
	int status;
	pid_t pid;

	signal(sig, SIG_DFL);
	if (artifact_open(&a, "--x", at("x"), &f) || artifact_open(&b, "--y", at("y"), &f))
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

static void a_signal_leaves_nothing(void **state)
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

/* /dev/full is no regular file and refuses every byte. */
static void a_full_disk_is_told(void **state)
{
	struct fault f = { 0 };
	struct artifact a;

	assert_int_equal(artifact_open(&a, "--x", "/dev/full", &f), 0);
	fputs("new", a.out);
	assert_int_equal(artifact_close(&a, &f), -1);
	assert_string_equal(f.text, "--x /dev/full: No space left on device");
	artifact_abandon(&a);
}

/* What was buffered fails long before the end, and what comes in between leaves another errno. */
static void a_disk_that_is_full_early_is_told(void **state)
{
	struct fault f = { 0 };
	struct artifact a;

	assert_int_equal(artifact_open(&a, "--x", "/dev/full", &f), 0);
	for (int i = 0; i < 100000; i++)
		fputs("new", a.out);
	assert_true(ferror(a.out));
	assert_int_equal(close(-1), -1);
	assert_int_equal(artifact_close(&a, &f), -1);
	assert_string_equal(f.text, "--x /dev/full: No space left on device");
	artifact_abandon(&a);
}

static void what_can_not_be_opened_is_told(void **state)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{ "/nonexistent/x", "--x /nonexistent/x: No such file or directory" },
		{ "/tmp", "--x /tmp: Is a directory" },
		{ "/dev/fd/999", "--x /dev/fd/999: Bad file descriptor" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct artifact a;

		assert_int_equal(artifact_open(&a, "--x", rows[i].path, &f), -1);
		assert_string_equal(f.text, rows[i].text);
		artifact_abandon(&a);
	}
}

/* A link that someone laid is replaced, not followed. */
static void links_are_replaced(void **state)
{
	struct fault f = { 0 };
	struct artifact a;
	char target[300];
	struct stat st;

	put("victim", "old");
	snprintf(target, sizeof(target), "%s", at("victim"));
	assert_int_equal(symlink(target, at("link")), 0);
	assert_int_equal(artifact_open(&a, "--x", at("link"), &f), 0);
	fputs("new", a.out);
	assert_int_equal(artifact_close(&a, &f), 0);
	holds("victim", "old");
	holds("link", "new");
	assert_int_equal(lstat(at("link"), &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(at("link"));
	unlink(at("victim"));
}

static void belongs_to_the_caller_of_sudo(void **state)
{
	struct fault f = { 0 };
	struct artifact a;
	struct stat st;

	if (geteuid()) {
		printf("# skip: sudo's rights need root\n");
		skip();
	}
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	assert_int_equal(artifact_open(&a, "--x", at("x"), &f), -1);   /* root's folder */
	assert_non_null(strstr(f.text, "Permission denied for user 65534, who ran sudo"));
	chmod(folder, 0777);
	assert_int_equal(artifact_open(&a, "--x", at("x"), &f), 0);
	fputs("new", a.out);
	assert_int_equal(artifact_close(&a, &f), 0);
	assert_int_equal(stat(at("x"), &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65534);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(appears_as_a_whole),
		cmocka_unit_test(abandoned_leaves_nothing),
		cmocka_unit_test(a_signal_leaves_nothing),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_disk_that_is_full_early_is_told),
		cmocka_unit_test(what_can_not_be_opened_is_told),
		cmocka_unit_test(links_are_replaced),
		cmocka_unit_test(belongs_to_the_caller_of_sudo),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
