/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a function a probe costs least. */
#include "checks.h"

#include "analysis/syscalls/probeplaces.h"

#include <sys/mman.h>

#if defined(__x86_64__)
/* The place in code that ret and int3 follow. */
static struct probeplace best(const char *text, size_t n)
{
	uint8_t code[96];

	memset(code, 0xcc, sizeof(code));
	memcpy(code, text, n);
	return probeplaces_best(code, sizeof(code));
}

#define BEST(text) best(text, sizeof(text) - 1)

/* fstatat() of glibc: mov %ecx,%r10d; mov $262,%eax; syscall; cmp $0xfffff000,%eax; ja */
#define SETS "\x41\x89\xca\xb8\x06\x01\0\0"
#define CALL "\x0f\x05"
#define COMPARES "\x3d\0\xf0\xff\xff"

TEST(behind_a_call_or_before_it)
{
	struct probeplace p = BEST(SETS CALL COMPARES "\x77\x07\x31\xc0\xc3");

	ARE(NUMBERS(p.after, p.at, p.call, p.sets), NUMBERS(true, 15, 262, 1 << 10 | 1 << 0));
	/* endbr64; mov $87,%eax; syscall; cmp $-4095,%rax; jae */
	p = BEST("\xf3\x0f\x1e\xfa\xb8\x57\0\0\0\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x01\xc3");
	ARE(NUMBERS(p.after, p.at, p.call, p.sets), NUMBERS(true, 17, 87, 1 << 0));
	/* ja with an offset of 4 bytes */
	assert_int_equal(BEST(SETS CALL COMPARES "\x0f\x87\x07\x01\0\0\xc3").at, 15);
	/* mov %rsi,%rdi: the caller has to know */
	p = BEST("\x48\x89\xf7" SETS CALL COMPARES "\x77\x07");
	assert_true(p.after);
	assert_true(p.sets & 1 << 7);
	/* open(): sub $0x78,%rsp; mov %rdx,0x50(%rsp); mov %fs:0x28,%rax; mov %rax,0x38(%rsp); xor %eax,%eax; test $0x40,%sil; jne */
	p = BEST("\x48\x83\xec\x78\x48\x89\x54\x24\x50\x64\x48\x8b\x04\x25\x28\0\0\0\x48\x89\x44\x24\x38\x31\xc0"
				   "\x40\xf6\xc6\x40\x75\x48");
	assert_false(p.after);
	assert_int_equal(p.at, 29);
	assert_int_equal(BEST("\x80\x3d\x21\x0e\x0d\0\0\x74\x17").at, 7);   /* connect(): cmpb $0,0xd0e21(%rip); je */
	assert_int_equal(BEST("\x41\x55\x41\x89\xca").at, 0);               /* push %r13 */
}

#define OTHER(text) { text, sizeof(text) - 1 }

TEST(any_other_function)
{
	static const struct { const char *text; size_t n; } others[] = {
		OTHER("\x41\x89\xca\x0f\x05" COMPARES "\x77\x07"),                 /* no number */
		OTHER(SETS "\x31\xc0" CALL COMPARES "\x77\x07"),                   /* the number is lost */
		OTHER(SETS CALL COMPARES "\x74\x07"),                              /* je */
		OTHER(SETS CALL "\x3d\0\xf0\xff\0\x77\x07"),                       /* it compares with another number */
		OTHER(SETS CALL COMPARES "\xc3"),
		OTHER("\x48\x83\xec\x78\x48\x8b\x3f\x75\x48"),                     /* mov (%rdi),%rdi: an argument is lost */
	};

	for (size_t i = 0; i < COUNT(others); i++) {
		const struct probeplace p = best(others[i].text, others[i].n);

		assert_int_equal(p.at, 0);
		assert_false(p.after);
	}
}

TEST(code_that_ends)
{
	static const char code[] = SETS CALL COMPARES "\x77\x07";
	const int fd = memfd_create("code", MFD_CLOEXEC);
	uint8_t sets[96];

	assert_int_equal(pwrite(fd, code, sizeof(code), 40), sizeof(code));
	assert_int_equal(probeplaces_in_file(fd, 40).at, 0);             /* the file ends behind it */
	assert_int_equal(probeplaces_in_file(fd, 1 << 20).at, 0);
	assert_int_equal(probeplaces_in_file(-1, 40).at, 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(probeplaces_in_file(fd, 40).at, 15);
	close(fd);
	for (size_t i = 0; i + 1 < sizeof(sets); i += 2)                 /* xor %eax,%eax without an end */
		memcpy(sets + i, "\x31\xc0", 2);
	for (size_t n = 0; n <= sizeof(sets); n++)
		assert_int_equal(probeplaces_best(sets, n).at, 0);
}
#else
TEST(nothing_is_known)
{
	static const uint8_t code[96];

	assert_int_equal(probeplaces_best(code, sizeof(code)).at, 0);
	assert_false(probeplaces_best(code, sizeof(code)).after);
}
#endif
