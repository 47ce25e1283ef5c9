/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of the kernel that came and went while somebody looked on (PERF_RECORD_KSYMBOL): BPF programs,
 * trampolines of probes. What comes where something was puts an end to that.
 */
#ifndef SYMBOLS_KSYMBOLS_H
#define SYMBOLS_KSYMBOLS_H

#include "symbols/kallsyms.h"

/* So many are kept at a time; what comes then has no name. */
enum { KSYMBOLS_MAX = 1 << 14 };

struct ksymbol {
	uint64_t start, end;
	const char *dso;         /* a constant */
	char *name;
};

struct ksymbols {
	struct ksymbol *all;     /* by address; no two overlap */
	size_t n, cap;
};

/* False: it is not kept. */
bool ksymbols_add(struct ksymbols *k, uint64_t start, uint64_t len, const char *name, const char *dso);
/* What lies there, all or in part, has gone. */
void ksymbols_remove(struct ksymbols *k, uint64_t start, uint64_t len);
bool ksymbols_find(const struct ksymbols *k, uint64_t addr, struct kernel_symbol *sym);
void ksymbols_free(struct ksymbols *k);
#endif
