/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/cfi_known.h"

#include <string.h>

/* bare: the stack pointer is as after the call (CFA = rsp + 8). entered: 8 bytes more are on the
 * stack (CFA = rsp + 16), the saved frame pointer if rbp points there. */
static const struct cfi_rule bare = {
	.cfa = { .kind = CFI_REG, .reg = 7, .offset = 8 },
	.regs = {
		[3] = { .kind = CFI_SAME }, [6] = { .kind = CFI_SAME }, [12] = { .kind = CFI_SAME },
		[13] = { .kind = CFI_SAME }, [14] = { .kind = CFI_SAME }, [15] = { .kind = CFI_SAME },
		[16] = { .kind = CFI_AT_CFA, .offset = -8 },
	},
	.ra = 16,
};
static const struct cfi_rule entered = {
	.cfa = { .kind = CFI_REG, .reg = 7, .offset = 16 },
	.regs = {
		[3] = { .kind = CFI_SAME }, [6] = { .kind = CFI_PUSHED, .reg = 7 },
		[12] = { .kind = CFI_SAME }, [13] = { .kind = CFI_SAME }, [14] = { .kind = CFI_SAME },
		[15] = { .kind = CFI_SAME }, [16] = { .kind = CFI_AT_CFA, .offset = -8 },
	},
	.ra = 16,
};

/* Offsets after the first instruction that changes the stack pointer, and of the ret. */
static const struct {
	uint8_t size, enters, leaves;
} trampolines[] = {
	{ 11, 4, 10 },     /* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
	{ 15, 8, 14 },     /* the same after endbr64 */
	{ 8, 1, 7 },       /* push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret */
	{ 12, 5, 11 },
};

enum { CALL_ENDS = 5, ENDBR = 4 };

bool cfi_known_is_trampoline(const char *name)
{
	return !strncmp(name, "py::", 4);
}

const struct cfi_rule *cfi_known_trampoline(uint64_t into, uint64_t size)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (trampolines[i].size == size)
			return into < trampolines[i].enters || into == trampolines[i].leaves ? &bare : &entered;
	return into == CALL_ENDS || into == CALL_ENDS + ENDBR ? &entered : NULL;
}

/* arch/arm64/include/uapi/asm/sigcontext.h: 128 bytes of siginfo, 176 bytes of struct ucontext
 * before uc_mcontext, in that fault_address, then x0 to x30, sp, pc. */
enum { X0 = 128 + 176 + 8 };

#define SAVED(n) [n] = { .kind = CFI_AT_CFA, .offset = X0 + 8 * (n) }

const struct cfi_rule cfi_known_arm64_sigreturn = {
	.cfa = { .kind = CFI_REG, .reg = 31 },
	.regs = {
		SAVED(0), SAVED(1), SAVED(2), SAVED(3), SAVED(4), SAVED(5), SAVED(6), SAVED(7), SAVED(8),
		SAVED(9), SAVED(10), SAVED(11), SAVED(12), SAVED(13), SAVED(14), SAVED(15), SAVED(16),
		SAVED(17), SAVED(18), SAVED(19), SAVED(20), SAVED(21), SAVED(22), SAVED(23), SAVED(24),
		SAVED(25), SAVED(26), SAVED(27), SAVED(28), SAVED(29), SAVED(30), SAVED(31), SAVED(32),
	},
	.ra = 32,
	.signal = 1,
};
