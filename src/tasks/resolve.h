/* SPDX-License-Identifier: Apache-2.0 */
/* From an address of a call chain to the function it lies in. */
#ifndef TASKS_RESOLVE_H
#define TASKS_RESOLVE_H

#include "symbols/chain.h"
#include "symbols/symbolizer.h"
#include "tasks/maps.h"

/* Where an address is: the same for the same code, whoever runs it. */
struct resolve_site {
	struct dso *dso;         /* NULL: of the kernel, or not mapped */
	uint64_t at;             /* in the file, else the address */
};

/* What is said of it. */
struct resolve_words {
	const char *symbol;      /* NULL: it has no name; lives until the next question */
	const char *dso;         /* "[kernel.kallsyms]", "[xfs]", "/usr/bin/cat", "[unknown]" */
	uint64_t offset;         /* in the function */
	bool kernel;
	bool late;               /* it may have a name later */
};

/* maps may be NULL. The answer is valid until the next call of a function of maps.h. */
struct resolve_site resolve_site(struct maps *maps, const struct chain_address *a, pid_t pid,
				 uint64_t time);
void resolve_words(struct symbolizer *s, const struct chain_address *a,
		   const struct resolve_site *site, struct resolve_words *words);
#endif
