/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ttyfilter.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The ABIs of a machine and their numbers of ioctl(2): a program for the compat ABI could use it as well. TIOCSTI and
 * TIOCLINUX have the same numbers in all of them. */
#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#define COMPAT AUDIT_ARCH_I386
#define COMPAT_IOCTL 54
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#define COMPAT AUDIT_ARCH_ARM
#define COMPAT_IOCTL 54
#elif defined(__riscv) && __riscv_xlen == 64
#define NATIVE AUDIT_ARCH_RISCV64
#define COMPAT AUDIT_ARCH_RISCV32
#define COMPAT_IOCTL 29
#elif defined(__powerpc64__) && __BYTE_ORDER == __LITTLE_ENDIAN
#define NATIVE AUDIT_ARCH_PPC64LE
#elif defined(__s390x__)
#define NATIVE AUDIT_ARCH_S390X
#define COMPAT AUDIT_ARCH_S390
#define COMPAT_IOCTL 54
#elif defined(__i386__)
#define NATIVE AUDIT_ARCH_I386
#elif defined(__arm__)
#define NATIVE AUDIT_ARCH_ARM
#endif

/* x32 numbers are x86-64's plus a bit. x32's own ioctl is 514, which old kernels also accept without the bit. */
#define X32_BIT 0x40000000u
#define X32_IOCTL 514

/* The kernel uses the low half of the request. */
enum { REQUEST = offsetof(struct seccomp_data, args[1]) + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0) };

#ifdef NATIVE

#ifndef COMPAT
#define COMPAT NATIVE
#define COMPAT_IOCTL SYS_ioctl
#endif

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
/* jumps to the filter's line `yes` or `no`; `line` is the number of this one */
#define IF(value, line, yes, no) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, (yes) - (line) - 1, (no) - (line) - 1)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

enum { REQUEST_LINE = 9, ALLOW_LINE = 12, REFUSE_LINE = 13 };

static const struct sock_filter filter[] = {
	/*  0 */ LOAD(offsetof(struct seccomp_data, arch)),
	/*  1 */ IF(NATIVE, 1, 2, 6),
	/*  2 */ LOAD(offsetof(struct seccomp_data, nr)),
	/*  3 */ BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~X32_BIT),
	/*  4 */ IF(SYS_ioctl, 4, REQUEST_LINE, 5),
	/*  5 */ IF(X32_IOCTL, 5, NATIVE == AUDIT_ARCH_X86_64 ? REQUEST_LINE : ALLOW_LINE, ALLOW_LINE),
	/*  6 */ IF(COMPAT, 6, 7, REFUSE_LINE),
	/*  7 */ LOAD(offsetof(struct seccomp_data, nr)),
	/*  8 */ IF(COMPAT_IOCTL, 8, REQUEST_LINE, ALLOW_LINE),
	/*  9 */ LOAD(REQUEST),
	/* 10 */ IF(TIOCSTI, 10, REFUSE_LINE, 11),
	/* 11 */ IF(TIOCLINUX, 11, REFUSE_LINE, ALLOW_LINE),
	/* 12 */ RETURN(SECCOMP_RET_ALLOW),
	/* 13 */ RETURN(SECCOMP_RET_ERRNO | EPERM),
};

static int install(void)
{
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), (struct sock_filter *)(uintptr_t)filter };

	/* before Linux 5.16, a filter without this flag turns on Spectre mitigations, which slow the program down */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) ? -errno : 0;
}

#else

static int install(void)
{
	return -ENOSYS;
}

#endif

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || isatty(0) || isatty(1) || isatty(2);
}

int ttyfilter_install_on_terminal(void)
{
	return has_terminal() ? install() : 0;
}
