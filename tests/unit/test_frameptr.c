/* SPDX-License-Identifier: Apache-2.0 */
/* Frame pointers by unwind tables: instructions as compilers write them, and such that end early; and programs that were
 * built with and without them. */
#include "checks.h"

#include "symbols/dwarf/frameptr.h"
#include "symbols/parser_kinds.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define SCAN(machine, ...) frameptr_scan(machine, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))
#define X86(...) SCAN(FRAMEPTR_X86_64, __VA_ARGS__)
#define ARM(...) SCAN(FRAMEPTR_ARM64, __VA_ARGS__)

TEST(test_x86)
{
	/* push rbp; mov rbp, rsp */
	assert_int_equal(X86(0x41, 0x0e, 0x10, 0x86, 0x02, 0x43, 0x0d, 0x06), FRAMEPTR_KEPT);
	/* a part of such a function that is elsewhere: DW_CFA_def_cfa rbp, 16 */
	assert_int_equal(X86(0x0c, 0x06, 0x10, 0x86, 0x02), FRAMEPTR_KEPT);
	/* sub rsp, 200 */
	assert_int_equal(X86(0x4f, 0x0e, 0xc8, 0x01, 0x02, 0x63, 0x0e, 0x08, 0, 0, 0), FRAMEPTR_LACKING);
	/* push rbp, which is any register here */
	assert_int_equal(X86(0x41, 0x0e, 0x10, 0x86, 0x02), FRAMEPTR_LACKING);
	/* a function without a frame */
	assert_int_equal(X86(0, 0, 0, 0), FRAMEPTR_UNKNOWN);
	assert_int_equal(frameptr_scan(FRAMEPTR_X86_64, NULL, 0), FRAMEPTR_UNKNOWN);
	/* an expression is skipped as a whole: its bytes are no instructions */
	assert_int_equal(X86(0x16, 0x03, 0x03, 0x0d, 0x06, 0x06), FRAMEPTR_UNKNOWN);
}

TEST(test_arm64)
{
	/* stp x29, x30, [sp, -32]! */
	assert_int_equal(ARM(0x41, 0x0e, 0x20, 0x9d, 0x04, 0x9e, 0x03), FRAMEPTR_KEPT);
	/* str x30, [sp, -16]! */
	assert_int_equal(ARM(0x41, 0x0e, 0x10, 0x9e, 0x02), FRAMEPTR_LACKING);
	/* a leaf with locals */
	assert_int_equal(ARM(0x41, 0x0e, 0x20), FRAMEPTR_UNKNOWN);
	/* its return address is signed first */
	assert_int_equal(ARM(0x41, 0x2d, 0x41, 0x0e, 0x20, 0x9d, 0x04, 0x9e, 0x03), FRAMEPTR_KEPT);
}

TEST(test_cut)
{
	assert_int_equal(X86(0x0d), FRAMEPTR_UNKNOWN);
	assert_int_equal(X86(0x0c, 0x06), FRAMEPTR_UNKNOWN);
	assert_int_equal(X86(0x0d, 0x86), FRAMEPTR_UNKNOWN);
	assert_int_equal(X86(0x04, 0, 0, 0), FRAMEPTR_UNKNOWN);
	assert_int_equal(X86(0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x0d, 0x06), FRAMEPTR_UNKNOWN);
	assert_int_equal(X86(0x3f, 0x0d, 0x06), FRAMEPTR_UNKNOWN);   /* unknown: what follows is not read */
	assert_int_equal(X86(0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0x0d, 0x06), FRAMEPTR_UNKNOWN);
}

static enum frameptr of(struct parser *p, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum frameptr answer = fd < 0 ? FRAMEPTR_UNKNOWN : frameptr_of(p, fd);

	if (fd >= 0)
		close(fd);
	return answer;
}

/* tests/helpers, next to this program's folder */
static const char *helper(const char *name)
{
	static char path[PATH_MAX];
	char self[PATH_MAX] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return NULL;
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%.3900s/../helpers/%s", self, name);
	return access(path, R_OK) ? NULL : path;
}

static void check_programs(enum parser_place place)
{
	struct parser *p = parser_new_all(&(struct parser_opts){ .place = place });

	assert_non_null(p);
	if (!helper("callers") || !helper("callers_bare")) {
		print_message("# skip: tests/helpers were not built\n");
		parser_free(p);
		skip();
	}
	assert_int_equal(of(p, helper("callers")), FRAMEPTR_KEPT);
	assert_int_equal(of(p, helper("callers_bare")), FRAMEPTR_LACKING);
	assert_int_equal(of(p, "/dev/null"), FRAMEPTR_UNKNOWN);
	assert_int_equal(of(p, "/etc/passwd"), FRAMEPTR_UNKNOWN);
	parser_free(p);
}

TEST(test_programs)
{
	check_programs(PARSER_HERE);
}

TEST(test_programs_apart)
{
	check_programs(PARSER_APART);
}
