/* SPDX-License-Identifier: Apache-2.0 */
/* Places in code that make system calls, found by their bytes. */
#include "checks.h"

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

/* mov $21,%eax; syscall */
#define ACCESS "\xb8\x15\0\0\0\x0f\x05"

/* The function of Go, and its moves of registers. */
#define GO(last) "\x49\x89\xf2\x48\x89\xfa\x48\x89\xce\x48\x89" last "\x0f\x05"

TEST(bytes_that_are_a_call_or_none)
{
#define ROW(text) text, sizeof(text) - 1
	static const struct {
		const char *bytes;
		size_t size, found;
		int64_t offset, call, sets;      /* of it, unless a negative number: any */
	} rows[] = {
		{ ROW(ACCESS), 1, 40, 21, AX },
		{ ROW("\xb8\x15\0\0\0\x90\x0f\x05"), 0 },                  /* nop: not known */
		{ ROW("\xb8\x15\0\x01\0\x0f\x05"), 0 },                    /* no call has such a number */
		{ ROW("\xb8\x15\0\0\0\x0f\x0b"), 0 },                      /* ud2 */
		{ ROW(GO("\xdf")), 1, 49, CALLSITE_OF_GO, -1 },
		{ ROW(GO("\xde")), 0 },
		/* mov $257,%eax; mov %rdi,%rsi; mov $-100,%edi; syscall */
		{ ROW("\xb8\x01\x01\0\0\x48\x89\xfe\xbf\x9c\xff\xff\xff\x0f\x05"), 1, 40 + 8, 257, DI },
		/* mov $9,%eax; xor %r10d,%r10d; syscall */
		{ ROW("\xb8\x09\0\0\0\x45\x31\xd2\x0f\x05"), 1, -1, 9, 10 },
		/* mov $9,%eax; mov %ebx,%eax; syscall: another number */
		{ ROW("\xb8\x09\0\0\0\x89\xd8\x0f\x05"), 0 },
		/* mov $9,%eax; movabs $0x050f,%rdi: no call */
		{ ROW("\xb8\x09\0\0\0\x48\xbf\x0f\x05\0\0\0\0\0\0"), 0 },
		/* the end of another instruction */
		{ ROW("\xc7\x45" ACCESS), 0 },                               /* movl $21,-0x48(%rbp) */
		{ ROW("\xc7\x44\x24" ACCESS), 0 },                           /* movl $21,-0x48(%rsp) */
		{ ROW("\x89\xc7" ACCESS), 1, 42, 21, AX },                    /* mov %eax,%edi */
		{ ROW("\x48\x89\xf7" ACCESS), 1, 43, 21, AX },                /* mov %rsi,%rdi */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct callsite one;

		print_message("# row %zu\n", i);
		assert_int_equal(count(rows[i].bytes, rows[i].size, 40, &one), rows[i].found);
		if (!rows[i].found)
			continue;
		assert_int_equal(one.call, rows[i].call);
		assert_true(rows[i].offset < 0 || one.offset == (uint64_t)rows[i].offset);
		assert_true(rows[i].sets < 0 || one.sets == rows[i].sets);
	}
}

/* Wherever a part of the file that is read at once ends, each place is found once. */
TEST(at_every_border)
{
	struct callsite one;

	for (off_t at = CHUNK - 60; at < CHUNK + 10; at++) {
		assert_int_equal(count(ACCESS, sizeof(ACCESS) - 1, at, &one), 1);
		assert_int_equal(one.offset, at);
	}
}

TEST(files_without_places)
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
TEST(nothing_is_known)
{
	struct callsites c;

	assert_true(callsites_find(&c, -1) < 0);
	assert_int_equal(c.n, 0);
}
#endif
