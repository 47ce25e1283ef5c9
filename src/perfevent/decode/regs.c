/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled registers: values by number, names by architecture (arch/…/asm/perf_regs.h). */
#include "perfevent.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* 32-bit tasks have the first 16 of these; XMM registers take two words each. */
static const char *const x86[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS",
	"GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
	[32] = "XMM0", "XMM0_HI", "XMM1", "XMM1_HI", "XMM2", "XMM2_HI", "XMM3", "XMM3_HI", "XMM4",
	"XMM4_HI", "XMM5", "XMM5_HI", "XMM6", "XMM6_HI", "XMM7", "XMM7_HI", "XMM8", "XMM8_HI",
	"XMM9", "XMM9_HI", "XMM10", "XMM10_HI", "XMM11", "XMM11_HI", "XMM12", "XMM12_HI", "XMM13",
	"XMM13_HI", "XMM14", "XMM14_HI", "XMM15", "XMM15_HI",
};

static const char *const arm64[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
	"x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
	"x28", "x29", "lr", "sp", "pc",
	[46] = "vg",   /* length of SVE vectors, in 64-bit granules. Linux 6.1 */
};

static const char *const riscv64[] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

enum { I386_REGS = 16 };

static const struct {
	const char *const *names;
	size_t count;
} tables[] = {
	[PEV_ARCH_X86_64] = { x86, COUNT(x86) },
	[PEV_ARCH_I386] = { x86, COUNT(x86) },
	[PEV_ARCH_ARM64] = { arm64, COUNT(arm64) },
	[PEV_ARCH_RISCV64] = { riscv64, COUNT(riscv64) },
};

static enum pev_arch native(void)
{
#if defined(__x86_64__)
	return PEV_ARCH_X86_64;
#elif defined(__i386__)
	return PEV_ARCH_I386;
#elif defined(__aarch64__)
	return PEV_ARCH_ARM64;
#elif defined(__riscv) && __riscv_xlen == 64
	return PEV_ARCH_RISCV64;
#else
	return PEV_ARCH_NATIVE;
#endif
}

const char *pev_reg_name(enum pev_arch arch, uint64_t abi, unsigned int reg)
{
	if (arch == PEV_ARCH_NATIVE)
		arch = native();
	if ((size_t)arch >= COUNT(tables) || reg >= tables[arch].count)
		return NULL;
	/* a 32-bit task on a 64-bit machine, or a 32-bit machine */
	if (tables[arch].names == x86 && reg >= I386_REGS && reg < 32 &&
	    (arch == PEV_ARCH_I386 || abi == PERF_SAMPLE_REGS_ABI_32))
		return NULL;
	return tables[arch].names[reg];
}

bool pev_regs_value(const struct pev_regs *regs, unsigned int reg, uint64_t *value)
{
	uint64_t below;

	if (reg >= 64 || !(regs->mask >> reg & 1))
		return false;
	below = regs->mask & ((1ULL << reg) - 1);
	*value = regs->values[__builtin_popcountll(below)];
	return true;
}
