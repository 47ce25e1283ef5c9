/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a branch stack. */
#include "perfevent.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Value of `type` that means: see `new_type`. Linux 6.1. */
enum { EXTEND_ABI = 15 };

void pev_branch_entry(const struct pev_branches *branches, uint64_t i, struct pev_branch *out)
{
	struct perf_branch_entry e;

	memset(out, 0, sizeof(*out));
	if (i >= branches->nr)
		return;
	memcpy(&e, branches->entries + i * 3, sizeof(e));
	*out = (struct pev_branch){
		.from = e.from, .to = e.to, .mispred = e.mispred, .predicted = e.predicted,
		.in_tx = e.in_tx, .abort = e.abort, .cycles = e.cycles, .type = e.type,
		.spec = e.spec, .new_type = e.new_type, .priv = e.priv,
		.counters = branches->counters ? branches->counters[i] : 0,
	};
}

const char *pev_branch_type_name(const struct pev_branch *branch)
{
	static const char *const types[] = {
		"UNKNOWN", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
		"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX",
	};
	static const char *const new_types[] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	};

	if (branch->type == EXTEND_ABI)
		return branch->new_type < COUNT(new_types) ? new_types[branch->new_type] : NULL;
	return branch->type < COUNT(types) ? types[branch->type] : NULL;
}

const char *pev_branch_spec_name(uint8_t spec)
{
	static const char *const names[] = {
		"NA", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH",
	};

	return spec < COUNT(names) ? names[spec] : NULL;
}

const char *pev_branch_priv_name(uint8_t priv)
{
	static const char *const names[] = { "UNKNOWN", "USER", "KERNEL", "HV" };

	return priv < COUNT(names) ? names[priv] : NULL;
}
