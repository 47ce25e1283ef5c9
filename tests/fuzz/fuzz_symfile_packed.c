/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are what a parser process answered. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/symfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symfile *f = symfile_unpack(data, size);
	uint8_t id[BUILD_ID_MAX];
	const char *name;
	uint64_t into;

	if (!f)
		return 0;
	assert(symfile_build_id(f, id) <= BUILD_ID_MAX);
	assert(symfile_bytes(f) < 4 * size + 100000);
	for (uint64_t offset = 0; offset < 65536; offset += 61)
		if (symfile_find(f, offset, &name, &into))
			assert(strlen(name) < size);
	symfile_free(f);
	return 0;
}
