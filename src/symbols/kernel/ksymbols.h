/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of the kernel that came and went while somebody looked on (PERF_RECORD_KSYMBOL): BPF programs,
 * trampolines of probes; modules, by where they were. What comes where something was puts an end to that.
 */
#ifndef SYMBOLS_KERNEL_KSYMBOLS_H
#define SYMBOLS_KERNEL_KSYMBOLS_H

#include "symbols/kernel/kallsyms.h"

/* So many are kept at a time; what comes then has no name. */
enum { KSYMBOLS_MAX = 1 << 14, KSYMBOLS_ASKED = 1 << 10 };

struct ksymbol {
	uint64_t start, end;
	const char *dso;         /* a constant */
	char *name;
};

struct ksymbols {
	struct ksymbol *all;     /* by address; no two overlap */
	size_t n, cap;
	uint64_t asked[KSYMBOLS_ASKED];   /* pages of addresses that were asked for, a hash; 0: none */
	size_t nasked;
};

/* Both: whether something may have another name now than was answered. */
bool ksymbols_came(struct ksymbols *k, uint64_t start, uint64_t len, const char *name, const char *dso);
/* What lies there, all or in part. */
bool ksymbols_went(struct ksymbols *k, uint64_t start, uint64_t len);
bool ksymbols_find(const struct ksymbols *k, uint64_t addr, struct kernel_symbol *sym);
/* Whatever was answered, it is relied on. */
void ksymbols_asked(struct ksymbols *k, uint64_t addr);
void ksymbols_free(struct ksymbols *k);
#endif
