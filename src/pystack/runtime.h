/* SPDX-License-Identifier: Apache-2.0 */
/* The CPython runtime in a process: where it is, and which version. */
#ifndef PYSTACK_RUNTIME_H
#define PYSTACK_RUNTIME_H

#include "base/fault.h"
#include "pystack/offsets.h"

struct runtime {
	uint64_t image;          /* where the file that has it begins */
	uint64_t address;        /* of _PyRuntime */
	uint64_t code_type;      /* of PyCode_Type */
	uint32_t version;        /* PY_VERSION_HEX; of 3.9 and 3.10 the first two numbers only */
	struct offsets offsets;
};

/* Looks at what the process has mapped. 0; -ENOENT: no CPython is there, or its symbols cannot be found; -ENOTSUP: its version is not
 * known; -EMEDIUMTYPE: a 32-bit program; -EPERM, -EACCES: it may not be read; -ESRCH: it has ended; -ETIME: the search took too long; or another -errno. */
int runtime_find(struct runtime *r, const struct memory *m);
/* "3.11.2" */
const char *runtime_version_text(const struct runtime *r, char *buf, size_t size);
/* Fills f for a value that runtime_find() returned, and returns -1. what: the command. */
int runtime_explain(int rc, const struct runtime *r, const char *what, pid_t pid, struct fault *f);
#endif
