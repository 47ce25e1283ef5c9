/* SPDX-License-Identifier: Apache-2.0 */
/* From an address in a call chain to its function. */
#ifndef TASKS_RESOLVE_H
#define TASKS_RESOLVE_H

#include "symbols/chain.h"
#include "symbols/symbolizer.h"
#include "tasks/maps.h"

/* Place of an address in its file: the same for the same code in all processes. */
struct resolve_site {
	struct dso *dso;         /* NULL: in the kernel, or not mapped */
	uint64_t at;             /* offset in the file; without a file the address */
};

/* The names for an address. */
struct resolve_words {
	const char *symbol;      /* NULL: unknown; valid until the next lookup */
	const char *dso;         /* "[kernel.kallsyms]", "[xfs]", "/usr/bin/cat", "[unknown]" */
	uint64_t offset;         /* in the function; without a name: in the file, without a file the address */
	bool kernel, guest;
	bool late;               /* the name may become known later (JIT) */
};

/* maps may be NULL. The result is valid until the next call of a function of maps.h. */
struct resolve_site resolve_site(struct maps *maps, const struct chain_address *a, pid_t pid,
				 uint64_t time);
void resolve_words(struct symbolizer *s, const struct chain_address *a,
		   const struct resolve_site *site, struct resolve_words *words);
#endif
