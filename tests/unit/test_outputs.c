/* SPDX-License-Identifier: Apache-2.0 */
/* What a run without rights may have written for it: the files that were named, and nothing beside them. */
#include "checks.h"

#include "keeper/outputs.h"

#include <limits.h>
#include <sys/stat.h>

static char folder[] = "/tmp/outputs-XXXXXX";
static char out[64], picture[64], temporary[64], other[64];
static const char *names[] = { out, picture };
static const struct opt_strings named = { names, 2 };

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(out, sizeof(out), "%s/out", folder);
	snprintf(picture, sizeof(picture), "%s/p", folder);
	snprintf(temporary, sizeof(temporary), "%s/.out.svg.0abcdef1", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int remove_folder(void **state)
{
	unlink(out);
	unlink(other);
	return rmdir(folder);
}

static int give(enum outfile_op op, const char *path, const char *to, int flags)
{
	const struct outfile_order o = { .op = op, .path = path, .to = to, .flags = flags, .mode = 07777 };
	char bytes[PATH_MAX];
	ssize_t n = outputs_pack(&o, bytes, sizeof(bytes));
	enum outfile_op done;

	assert_true(n > 0);
	return outputs_do(&named, bytes, (size_t)n, &done);
}

static int open_it(const char *path, int flags)
{
	int fd = give(OUTFILE_OPEN, path, NULL, flags);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

TEST(named_files_are_written)
{
	char svg[80];
	struct stat st;

	assert_int_equal(open_it(out, O_CREAT | O_TRUNC | O_APPEND), 0);
	assert_int_equal(stat(out, &st), 0);
	assert_int_equal(st.st_mode & 0111, 0);
	assert_int_equal(open_it(temporary, O_CREAT | O_EXCL), 0);
	snprintf(svg, sizeof(svg), "%s.svg", out);
	assert_int_equal(give(OUTFILE_RENAME, temporary, svg, 0), 0);
	assert_int_equal(give(OUTFILE_KIND, svg, NULL, 0), 0);
	assert_int_equal(open_it(temporary, O_CREAT | O_EXCL), 0);
	assert_int_equal(give(OUTFILE_UNLINK, temporary, NULL, 0), 0);
	assert_int_equal(unlink(svg), 0);
}

TEST(no_others_are)
{
	static const char *const refused[] = {
		"%s/other", "%s/outer", "%s/out/../other", "%s/out.svg/../other", "%s/.other.0abcdef1", "%s/.out.0abcdef", "%s/.out.0ABCDEF1",
		"%s/.out/../.0abcdef1", "%s/.out.0abcdef12", "/etc/cron.d/out", "", ".out.0abcdef1",
	};
	char path[128];

	for (size_t i = 0; i < COUNT(refused); i++) {
		snprintf(path, sizeof(path), refused[i], folder);
		for (int op = 0; op < OUTFILE_OPS; op++) {
			assert_int_equal(give((enum outfile_op)op, path, out, O_CREAT | O_EXCL), -EPERM);
			assert_int_equal(give((enum outfile_op)op, path, other, O_CREAT), -EPERM);
		}
	}
	assert_int_equal(access(other, F_OK), -1);
}

TEST(a_named_file_is_not_moved_or_removed)
{
	static const struct { enum outfile_op op; const char *path, *to; } rows[] = {
		{ OUTFILE_RENAME, out, other }, { OUTFILE_RENAME, out, picture }, { OUTFILE_RENAME, temporary, other },
		{ OUTFILE_RENAME, temporary, picture }, { OUTFILE_UNLINK, out }, { OUTFILE_FOLDER, out }, { OUTFILE_LINK, out, "/etc" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(give(rows[i].op, rows[i].path, rows[i].to, 0), -EPERM);
	assert_int_equal(open_it(out, O_CREAT | O_RDWR), -EPERM);
	assert_int_equal(open_it(temporary, O_CREAT), -EPERM);
}

TEST(orders_are_checked)
{
	char bytes[64] = "";
	enum outfile_op done;

	assert_int_equal(outputs_do(&named, bytes, 0, &done), -EINVAL);
	for (size_t n = 1; n < sizeof(bytes); n++) {
		memset(bytes, 'a', n - 1);
		bytes[n - 1] = 0;
		assert_true(outputs_do(&named, bytes, n, &done) < 0);
	}
}

AROUND_ALL(make_folder, remove_folder)
