/* SPDX-License-Identifier: Apache-2.0 */
/* Places in code that make system calls, found by their bytes. */
#include "cmocka_all.h"

#include "analysis/syscalls/callsites.h"

#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { CHUNK = 1 << 20, DI = 7, AX = 0 };

static int file(const void *bytes, size_t n, off_t at)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, at + 100), 0);
	assert_int_equal(pwrite(fd, bytes, n, at), (ssize_t)n);
	return fd;
}

/* How many places there are; *first: the first of them. */
static size_t count(const void *bytes, size_t n, off_t at, struct callsite *first)
{
	const int fd = file(bytes, n, at);
	struct callsites c;
	size_t found;

	assert_int_equal(callsites_find(&c, fd), 0);
	found = c.n;
	if (found && first)
		*first = c.all[0];
	callsites_free(&c);
	close(fd);
	return found;
}

#define FOUND(text, first) count(text, sizeof(text) - 1, 40, first)

/* mov $21,%eax; syscall */
#define ACCESS "\xb8\x15\0\0\0\x0f\x05"

static void a_number_before_a_call(void **state)
{
	struct callsite one;

	assert_int_equal(FOUND(ACCESS, &one), 1);
	assert_int_equal(one.offset, 40);
	assert_int_equal(one.call, 21);
	assert_int_equal(one.sets, AX);
	assert_int_equal(FOUND("\xb8\x15\0\0\0\x90\x0f\x05", NULL), 0);   /* nop: not known */
	assert_int_equal(FOUND("\xb8\x15\0\x01\0\x0f\x05", NULL), 0);     /* no call has such a number */
	assert_int_equal(FOUND("\xb8\x15\0\0\0\x0f\x0b", NULL), 0);       /* ud2 */
}

static void the_function_of_go(void **state)
{
	struct callsite one;

	assert_int_equal(FOUND("\x49\x89\xf2\x48\x89\xfa\x48\x89\xce\x48\x89\xdf\x0f\x05", &one), 1);
	assert_int_equal(one.offset, 49);
	assert_int_equal(one.call, CALLSITE_OF_GO);
	assert_int_equal(FOUND("\x49\x89\xf2\x48\x89\xfa\x48\x89\xce\x48\x89\xde\x0f\x05", NULL), 0);
}

static void registers_in_between(void **state)
{
	struct callsite one;

	/* mov $257,%eax; mov %rdi,%rsi; mov $-100,%edi; syscall */
	assert_int_equal(FOUND("\xb8\x01\x01\0\0\x48\x89\xfe\xbf\x9c\xff\xff\xff\x0f\x05", &one), 1);
	assert_int_equal(one.offset, 40 + 8);
	assert_int_equal(one.call, 257);
	assert_int_equal(one.sets, DI);
	/* mov $9,%eax; xor %r10d,%r10d; syscall */
	assert_int_equal(FOUND("\xb8\x09\0\0\0\x45\x31\xd2\x0f\x05", &one), 1);
	assert_int_equal(one.sets, 10);
	/* mov $9,%eax; mov %ebx,%eax; syscall: another number */
	assert_int_equal(FOUND("\xb8\x09\0\0\0\x89\xd8\x0f\x05", NULL), 0);
	/* mov $9,%eax; movabs $0x050f,%rdi: no call */
	assert_int_equal(FOUND("\xb8\x09\0\0\0\x48\xbf\x0f\x05\0\0\0\0\0\0", NULL), 0);
}

static void the_end_of_another_instruction(void **state)
{
	assert_int_equal(FOUND("\xc7\x45" ACCESS, NULL), 0);       /* movl $21,-0x48(%rbp) */
	assert_int_equal(FOUND("\xc7\x44\x24" ACCESS, NULL), 0);   /* movl $21,-0x48(%rsp) */
	assert_int_equal(FOUND("\x89\xc7" ACCESS, NULL), 1);       /* mov %eax,%edi */
	assert_int_equal(FOUND("\x48\x89\xf7" ACCESS, NULL), 1);   /* mov %rsi,%rdi */
}

/* Wherever a part of the file that is read at once ends, each place is found once. */
static void at_every_border(void **state)
{
	struct callsite one;

	for (off_t at = CHUNK - 60; at < CHUNK + 10; at++) {
		assert_int_equal(count(ACCESS, sizeof(ACCESS) - 1, at, &one), 1);
		assert_int_equal(one.offset, at);
	}
}

static void files_without_places(void **state)
{
	struct callsites c;
	int fd = memfd_create("empty", MFD_CLOEXEC);

	assert_int_equal(callsites_find(&c, fd), 0);
	assert_int_equal(c.n, 0);
	close(fd);
	assert_true(callsites_find(&c, -1) < 0);
	callsites_free(&c);
}
#else
static void nothing_is_known(void **state)
{
	struct callsites c;

	assert_true(callsites_find(&c, -1) < 0);
	assert_int_equal(c.n, 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(the_function_of_go), cmocka_unit_test(a_number_before_a_call), cmocka_unit_test(registers_in_between),
		cmocka_unit_test(the_end_of_another_instruction), cmocka_unit_test(at_every_border), cmocka_unit_test(files_without_places),
#else
		cmocka_unit_test(nothing_is_known),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
