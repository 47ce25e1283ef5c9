/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/jail/wire.h"

#include "base/capabilities.h"
#include "symbols/jail/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first one owns nothing else, so that no other user's process may send signals to it. */
static const uid_t uids[] = { 2113929216, 65534 };

enum { MAX_FILES = 64 };

#define MAX_MEMORY (8ull << 30)

/* Another ABI with the same numbers: x32. */
#define FOREIGN_CALLS 0x40000000

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

static void set_limits(uint64_t file_size)
{
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, file_size);
	set_limit(RLIMIT_NOFILE, MAX_FILES);
#ifndef SANITIZED
	set_limit(RLIMIT_AS, MAX_MEMORY);
#endif
}

/* Whether the user namespace maps this id: tries it. */
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

/* 1: changed to another user; 0: there is none; -errno. */
static int become_another(void)
{
	uid_t id = parser_uid();

	if (setgroups(0, NULL) && errno != EPERM)   /* a user namespace may forbid it */
		return -errno;
	if (!id)
		return 0;
	return setresgid(id, id, id) || setresuid(id, id, id) ? -errno : 1;
}

/* Only root can change ids; others keep their own. */
int jail_leave_privilege(uint64_t file_size)
{
	int changed = 0;

	if (chdir("/"))
		return -errno;
	set_limits(file_size);
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
/* if equal, goes on with the next instruction, else skips it */
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), RETURN(SECCOMP_RET_ALLOW)

/* the next `n` instructions for that call only; after ARGUMENT() the call's number is no longer loaded */
#define IF(call, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, n)
/* the low half of an argument: all of an int */
#define ARGUMENT(n)                                                                                \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                                         \
		 offsetof(struct seccomp_data, args[n]) +                                          \
			 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0))

/* libdw looks for additional files, and works without them */
#define REFUSE(call)                                                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), RETURN(SECCOMP_RET_ERRNO | EACCES)

static int install(const struct sock_filter *filter, unsigned short n)
{
	const struct sock_fprog program = { n, (struct sock_filter *)(uintptr_t)filter };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ? -errno : 0;
}

#if __has_include(<linux/landlock.h>)
/* Rights of the first version, and truncate(2), a bit of the third. */
static uint64_t writes(long version)
{
	return LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
	       LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
	       LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
	       LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | (version >= 3 ? 1 << 14 : 0);
}

static int write_only_below(const char *folder)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr attr = { .handled_access_fs = writes(version) };
	struct landlock_path_beneath_attr rule = { .allowed_access = writes(version) & ~LANDLOCK_ACCESS_FS_EXECUTE };
	int set, rc = 0;

	if (version < 0)
		return 0;        /* Linux before 5.13, or disabled */
	set = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	rule.parent_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (set < 0 || rule.parent_fd < 0 || syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) ||
	    syscall(SYS_landlock_restrict_self, set, 0))
		rc = -errno;
	if (set >= 0)
		close(set);
	if (rule.parent_fd >= 0)
		close(rule.parent_fd);
	return rc;
}
#else
static int write_only_below(const char *folder)
{
	return 0;
}
#endif

int jail_lock(void)
{
	const struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		/* its files and its socket */
		ALLOW(SYS_read), ALLOW(SYS_pread64), ALLOW(SYS_lseek), ALLOW(SYS_fstat),
		ALLOW(SYS_newfstatat), ALLOW(SYS_close), ALLOW(SYS_dup),
		ALLOW(SYS_recvfrom), ALLOW(SYS_recvmsg), ALLOW(SYS_sendto), ALLOW(SYS_write),
		ALLOW(SYS_writev),
		/* memory */
		ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_mprotect),
		ALLOW(SYS_madvise), ALLOW(SYS_brk),
		/* needed by libc: qsort(3) calls sysinfo(2), abort(3) sends a signal to itself */
		ALLOW(SYS_futex), ALLOW(SYS_sysinfo), ALLOW(SYS_getrandom), ALLOW(SYS_clock_gettime),
		ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigaction), ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_getpid), ALLOW(SYS_gettid), ALLOW(SYS_sigaltstack),
		ALLOW(SYS_exit), ALLOW(SYS_exit_group),
#ifdef SYS_readlink
		REFUSE(SYS_readlink), REFUSE(SYS_open), REFUSE(SYS_access),
#endif
		/* signals only to its own threads; descriptors may be queried and duplicated */
		IF(SYS_tgkill, 4), ARGUMENT(0), ALLOW((uint32_t)getpid()), RETURN(SECCOMP_RET_KILL_PROCESS),
		IF(SYS_fcntl, 8), ARGUMENT(1), ALLOW(F_GETFD), ALLOW(F_GETFL), ALLOW(F_DUPFD_CLOEXEC),
		RETURN(SECCOMP_RET_ERRNO | EACCES),
		REFUSE(SYS_readlinkat), REFUSE(SYS_openat), REFUSE(SYS_faccessat),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};

	return install(filter, sizeof(filter) / sizeof(*filter));
}

/* The system calls that network libraries need are not known, so this is a list of calls that
 * none of them makes. */
int jail_lock_fetching(const char *folder)
{
	const struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_CALLS, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS),
		/* programs */
		REFUSE(SYS_execve), REFUSE(SYS_execveat),
		/* other processes, also by signals: parsers run as the same user */
		REFUSE(SYS_ptrace), REFUSE(SYS_process_vm_readv), REFUSE(SYS_process_vm_writev), REFUSE(SYS_kill),
		REFUSE(SYS_tkill), REFUSE(SYS_rt_sigqueueinfo), REFUSE(SYS_rt_tgsigqueueinfo), REFUSE(SYS_pidfd_open),
		REFUSE(SYS_pidfd_send_signal), REFUSE(SYS_pidfd_getfd), REFUSE(SYS_kcmp),
		/* powerful kernel interfaces */
		REFUSE(SYS_bpf), REFUSE(SYS_perf_event_open), REFUSE(SYS_userfaultfd), REFUSE(SYS_io_uring_setup),
		REFUSE(SYS_keyctl), REFUSE(SYS_add_key), REFUSE(SYS_request_key), REFUSE(SYS_unshare), REFUSE(SYS_setns),
		REFUSE(SYS_mount), REFUSE(SYS_umount2), REFUSE(SYS_chroot), REFUSE(SYS_pivot_root), REFUSE(SYS_fsopen),
		REFUSE(SYS_open_tree), REFUSE(SYS_move_mount), REFUSE(SYS_open_by_handle_at), REFUSE(SYS_init_module),
		REFUSE(SYS_finit_module), REFUSE(SYS_kexec_load),
		IF(SYS_tgkill, 4), ARGUMENT(0), ALLOW((uint32_t)getpid()), RETURN(SECCOMP_RET_ERRNO | EACCES),
		RETURN(SECCOMP_RET_ALLOW),
	};
	int rc = write_only_below(folder);

	return rc ? rc : install(filter, sizeof(filter) / sizeof(*filter));
}
#else
/* Without a filter no parser runs and no server is contacted: on such machines functions of
 * programs have no names. */
int jail_lock(void)
{
	return -ENOSYS;
}

int jail_lock_fetching(const char *folder)
{
	return -ENOSYS;
}
#endif
