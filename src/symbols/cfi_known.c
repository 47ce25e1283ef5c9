/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/cfi_known.h"

#include <string.h>

enum { CALL_ENDS = 5, ENDBR = 4 };

const struct cfi_rule cfi_known_trampoline = {
	.cfa = { .kind = CFI_REG, .reg = 7, .offset = 16 },
	.regs = {
		[3] = { .kind = CFI_SAME }, [6] = { .kind = CFI_PUSHED, .reg = 7 },
		[12] = { .kind = CFI_SAME }, [13] = { .kind = CFI_SAME }, [14] = { .kind = CFI_SAME },
		[15] = { .kind = CFI_SAME }, [16] = { .kind = CFI_AT_CFA, .offset = -8 },
	},
	.ra = 16,
};

bool cfi_known_is_trampoline(const char *name, uint64_t into)
{
	return !strncmp(name, "py::", 4) && (into == CALL_ENDS || into == CALL_ENDS + ENDBR);
}

/* arch/arm64/include/uapi/asm/sigcontext.h: the siginfo's 128 bytes, 176 of struct ucontext up to
 * uc_mcontext, in that fault_address, then x0 to x30, sp, pc. */
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
