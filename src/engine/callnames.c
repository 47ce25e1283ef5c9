/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/callnames.h"

#include "base/cpulist.h"
#include "engine/analysis.h"
#include "expr/expr.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBSECCOMP
#include <seccomp.h>
#endif

enum { KNOWN = 1024 };

#ifdef HAVE_LIBSECCOMP
/* Globs of names as uname(2) has them; of_32: the architecture of its 32-bit programs, 0: itself. */
static const struct {
	const char *machine;
	uint32_t arch, of_32;
} tables[] = {
	{ "", SCMP_ARCH_NATIVE, 0 }, { "unknown", UINT32_MAX, 0 },
	{ "x86_64", SCMP_ARCH_X86_64, SCMP_ARCH_X86 }, { "i?86", SCMP_ARCH_X86, 0 }, { "aarch64*", SCMP_ARCH_AARCH64, SCMP_ARCH_ARM },
	{ "arm*", SCMP_ARCH_ARM, 0 }, { "ppc64", SCMP_ARCH_PPC64, SCMP_ARCH_PPC }, { "ppc64le", SCMP_ARCH_PPC64LE, SCMP_ARCH_PPC },
	{ "ppc", SCMP_ARCH_PPC, 0 }, { "s390x", SCMP_ARCH_S390X, SCMP_ARCH_S390 }, { "s390", SCMP_ARCH_S390, 0 },
	{ "riscv64", SCMP_ARCH_RISCV64, 0 },
};
enum { NATIVE, UNKNOWN, FIRST, TABLES = sizeof(tables) / sizeof(*tables) };

static size_t table_of_arch(uint32_t arch)
{
	for (size_t i = FIRST; i < TABLES; i++)
		if (tables[i].arch == arch)
			return i;
	return UNKNOWN;
}

static size_t table_of_machine(const char *machine)
{
	for (size_t i = FIRST; machine && i < TABLES; i++)
		if (expr_glob(tables[i].machine, strlen(tables[i].machine), machine, strlen(machine)))
			return i;
	return machine ? UNKNOWN : table_of_arch(seccomp_arch_native());
}

/* `table`: as a machine. */
static size_t table_of_32(size_t table)
{
	return tables[table].of_32 ? table_of_arch(tables[table].of_32) : table;
}

static int64_t call_in(size_t table, int64_t nr)
{
	if (nr < 0 || nr > INT32_MAX)
		return nr;
	return (int64_t)(tables[table].arch == seccomp_arch_native() ? NATIVE : table) << 32 | nr;
}

/* Each name is looked up once, since the library allocates it. */
const char *syscall_name(int64_t call)
{
	static const char *names[TABLES][KNOWN];
	const uint64_t table = (uint64_t)call >> 32, nr = (uint32_t)call;

	if (table >= TABLES || nr >= KNOWN)
		return NULL;
	if (!names[table][nr])
		names[table][nr] = seccomp_syscall_resolve_num_arch(tables[table].arch, (int)nr);
	return names[table][nr];
}

/* SYSCALL of x86-64 leaves the address after it in CX, too: so int 0x80 in a 64-bit program, which is a 32-bit call, is told apart. */
static bool is_call_of_32(const struct analysis_sample *s, bool is_x86)
{
	enum { CX = 2, IP = 8 };
	const struct event_opened *o = &s->event->opened;
	const struct pev_format format = { .sample_type = s->event->layout.sample_type, .read_format = o->read_format,
					   .regs_user = o->regs_user };
	const bool has_registers = (format.sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_BRANCH_STACK)) == PERF_SAMPLE_REGS_USER;
	struct pev_record r;
	uint64_t cx, ip;

	if (!has_registers || pev_decode(s->view.rec, s->view.rec->size, &format, &r) || !r.sample.regs_user.abi)
		return o->narrow && numlist_has(o->narrow, s->pid);
	return r.sample.regs_user.abi == PERF_SAMPLE_REGS_ABI_32 ||
	       (is_x86 && pev_regs_value(&r.sample.regs_user, CX, &cx) && pev_regs_value(&r.sample.regs_user, IP, &ip) && cx != ip);
}

int64_t sampled_call(const struct analysis_sample *s, int64_t nr)
{
	const size_t table = table_of_machine(s->event->opened.machine);

	return call_in(is_call_of_32(s, tables[table].arch == SCMP_ARCH_X86_64) ? table_of_32(table) : table, nr);
}

/* The sysctl is that of CONFIG_IA32_EMULATION. */
static bool runs_32(void)
{
	static int known;

	if (!known)
		known = seccomp_arch_native() == SCMP_ARCH_X86_64 && access("/proc/sys/abi/vsyscall32", F_OK) ? -1 : 1;
	return known > 0;
}

int64_t call_of_32(int64_t nr)
{
	return !runs_32() ? nr : call_in(table_of_32(table_of_machine(NULL)), nr);
}
#else
const char *syscall_name(int64_t call)
{
	return NULL;
}

int64_t sampled_call(const struct analysis_sample *s, int64_t nr)
{
	return nr;
}

int64_t call_of_32(int64_t nr)
{
	return nr;
}
#endif

int64_t syscall_left(int64_t nr)
{
#ifdef HAVE_LIBSECCOMP
	static int back;

	if (nr == -1 && !back)
		back = seccomp_syscall_resolve_name("rt_sigreturn");
	if (nr == -1 && back > 0)
		return back;
#endif
	return nr;
}

char *call_name(int64_t call, char *buf, size_t size)
{
	const char *name = syscall_name(call);

	snprintf(buf, size, "%s(%lld)", name ? name : "syscall", (long long)call_number(call));
	return buf;
}

bool syscall_has_result(int64_t call)
{
	const char *name = syscall_name(call);

	return call != -1 && !(name && (!strcmp(name, "rt_sigreturn") || !strcmp(name, "sigreturn")));
}

/* Codes of the kernel's linux/errno.h, which sys_exit shows before they become EINTR or a restart of the call; and one that
 * programs do get. */
static const char *kernel_error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{ 512, "ERESTARTSYS" }, { 513, "ERESTARTNOINTR" }, { 514, "ERESTARTNOHAND" }, { 516, "ERESTART_RESTARTBLOCK" },
		{ 524, "ENOTSUPP" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].error == error)
			return names[i].name;
	return NULL;
}

char *error_name(int error, char *buf, size_t size)
{
	const char *name = strerrorname_np(error);

	name = name ? name : kernel_error_name(error);
	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "error %d", error);
	return buf;
}
