/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof list FILE: the functions and USDT probes of programs and libraries. */
#ifndef CLI_LIST_FILES_H
#define CLI_LIST_FILES_H

#include "base/cpulist.h"
#include "base/fault.h"
#include "events/catalog.h"

#include <stdbool.h>

struct list_files {
	catalog_fn *take;        /* for each function and probe; 0 or -ENOMEM */
	void *ctx;
	bool usdt;               /* USDT probes only */
};

/* Whether it names a file, or a probe in one: "./app", "uprobe:shop::*@./app". */
bool list_is_file(const char *operand);
/* The functions and probes of the file, or those that match. 0, or -1 with f. */
int list_file(const struct list_files *l, const char *operand, struct fault *f);
/* The USDT probes of the files that these processes have mapped; NULL: all processes. 0, or -1 with f. */
int list_mapped(const struct list_files *l, const struct numlist *pids, struct fault *f);
#endif
