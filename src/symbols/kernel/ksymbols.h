/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel code loaded and unloaded during the run (PERF_RECORD_KSYMBOL): BPF programs, trampolines
 * of probes; and modules, by address. New code replaces what overlaps it.
 */
#ifndef SYMBOLS_KERNEL_KSYMBOLS_H
#define SYMBOLS_KERNEL_KSYMBOLS_H

#include "symbols/kernel/kallsyms.h"

/* Limit for symbols kept; later ones have no name. */
enum { KSYMBOLS_MAX = 1 << 14, KSYMBOLS_ASKED = 1 << 10 };

struct ksymbol {
	uint64_t start, end;
	const char *dso;         /* a constant */
	char *name;
};

struct ksymbols {
	struct ksymbol *all;     /* by address, without overlaps */
	size_t n, cap;
	uint64_t asked[KSYMBOLS_ASKED];   /* hash of pages that were looked up; 0: free */
	size_t nasked;
};

/* Both return whether an earlier lookup may have another result now. */
bool ksymbols_came(struct ksymbols *k, uint64_t start, uint64_t len, const char *name, const char *dso);
/* Removes what overlaps the range. */
bool ksymbols_went(struct ksymbols *k, uint64_t start, uint64_t len);
bool ksymbols_find(const struct ksymbols *k, uint64_t addr, struct kernel_symbol *sym);
/* Records that an address was looked up, with whatever result. */
void ksymbols_asked(struct ksymbols *k, uint64_t addr);
void ksymbols_free(struct ksymbols *k);
#endif
