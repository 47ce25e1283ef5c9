/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/parser_wire.h"

#include "base/capabilities.h"
#include "symbols/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first is nobody else's, so that no process of another user may send it signals. */
static const uid_t uids[] = { 2113929216, 65534 };

enum { MAX_FILES = 64 };

#define MAX_MEMORY (8ull << 30)

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static void set_limit(__rlimit_resource_t what, rlim_t max)
{
	struct rlimit rl = { max, max };

	setrlimit(what, &rl);
}

static void set_limits(void)
{
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, 0);
	set_limit(RLIMIT_NOFILE, MAX_FILES);
#ifndef SANITIZED
	set_limit(RLIMIT_AS, MAX_MEMORY);
#endif
}

/* Whether the user namespace has it: it is tried. */
static bool is_there(uid_t id)
{
	uid_t uid = (uid_t)setfsuid(id);
	gid_t gid = (gid_t)setfsgid(id);
	bool is = (uid_t)setfsuid(uid) == id;

	return (gid_t)setfsgid(gid) == id && is;
}

uid_t parser_uid(void)
{
	for (size_t i = 0; i < sizeof(uids) / sizeof(*uids); i++)
		if (is_there(uids[i]))
			return uids[i];
	return 0;
}

/* 1: it has another user's id now; 0: there is none; -errno. */
static int become_another(void)
{
	uid_t id = parser_uid();

	if (setgroups(0, NULL) && errno != EPERM)   /* a user namespace may deny it */
		return -errno;
	if (!id)
		return 0;
	return setresgid(id, id, id) || setresuid(id, id, id) ? -errno : 1;
}

/* Of ids only who is root can change; others have no more than their own. */
int jail_leave_privilege(void)
{
	int changed = 0;

	if (chdir("/"))
		return -errno;
	set_limits();
	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) > 0)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (!geteuid())
		changed = become_another();
	if (changed < 0)
		return changed;
	if (capabilities_drop() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return changed && (!setuid(0) || !seteuid(0)) ? -EPERM : 0;
}

#ifdef ARCH
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
/* on equal the next, else over it */
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), RETURN(SECCOMP_RET_ALLOW)

/* the next `n` for that call alone; behind ARGUMENT() nothing may be asked about the call */
#define IF(call, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, n)
/* its low half: all of an int */
#define ARGUMENT(n)                                                                                \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                                         \
		 offsetof(struct seccomp_data, args[n]) +                                          \
			 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0))

/* libdw looks for more files, and does without them */
#define REFUSE(call)                                                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), RETURN(SECCOMP_RET_ERRNO | EACCES)

int jail_lock(void)
{
	const struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		/* its files, and the socket it has */
		ALLOW(SYS_read), ALLOW(SYS_pread64), ALLOW(SYS_lseek), ALLOW(SYS_fstat),
		ALLOW(SYS_newfstatat), ALLOW(SYS_close), ALLOW(SYS_dup),
		ALLOW(SYS_recvfrom), ALLOW(SYS_recvmsg), ALLOW(SYS_sendto), ALLOW(SYS_write),
		ALLOW(SYS_writev),
		/* memory */
		ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_mprotect),
		ALLOW(SYS_madvise), ALLOW(SYS_brk),
		/* what libc needs for itself: qsort(3) asks sysinfo(2), abort(3) signals itself */
		ALLOW(SYS_futex), ALLOW(SYS_sysinfo), ALLOW(SYS_getrandom), ALLOW(SYS_clock_gettime),
		ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigaction), ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_getpid), ALLOW(SYS_gettid), ALLOW(SYS_sigaltstack),
		ALLOW(SYS_exit), ALLOW(SYS_exit_group),
#ifdef SYS_readlink
		REFUSE(SYS_readlink), REFUSE(SYS_open), REFUSE(SYS_access),
#endif
		/* signals for its own threads; descriptors are looked at and doubled */
		IF(SYS_tgkill, 4), ARGUMENT(0), ALLOW((uint32_t)getpid()), RETURN(SECCOMP_RET_KILL_PROCESS),
		IF(SYS_fcntl, 8), ARGUMENT(1), ALLOW(F_GETFD), ALLOW(F_GETFL), ALLOW(F_DUPFD_CLOEXEC),
		RETURN(SECCOMP_RET_ERRNO | EACCES),
		REFUSE(SYS_readlinkat), REFUSE(SYS_openat), REFUSE(SYS_faccessat),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter),
					    (struct sock_filter *)(uintptr_t)filter };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ? -errno : 0;
}
#else
/* No parser runs without a filter: on such machines functions of programs have no names. */
int jail_lock(void)
{
	return -ENOSYS;
}
#endif
