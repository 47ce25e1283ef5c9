/* SPDX-License-Identifier: Apache-2.0 */
/* Without libcapstone, or without libelf. */
#include "symbols/elf/disasm.h"

#include <errno.h>

bool disasm_is_built(void)
{
	return false;
}

int disasm_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	return -ENOTSUP;
}
