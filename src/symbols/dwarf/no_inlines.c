/* SPDX-License-Identifier: Apache-2.0 */
/* Without libdw: no lines, no inlined functions and parameters, callers only by frame pointers. */
#include "symbols/dwarf/cfi.h"
#include "symbols/dwarf/frameptr.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/dwarf/params.h"

#include <errno.h>

int inlines_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	return -ENODATA;
}

void inlines_forget(void *state)
{
}

int params_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	return -ENODATA;
}

int cfi_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	return -ENODATA;
}

void cfi_forget(void *state)
{
}

int frameptr_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	return -ENODATA;
}
