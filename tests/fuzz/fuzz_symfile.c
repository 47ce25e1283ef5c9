/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are an executable whose functions have names. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/symfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *image = malloc(size ? size : 1);
	struct symfile *f;
	uint8_t id[BUILD_ID_MAX];
	const char *name;
	uint64_t into;

	assert(image);
	memcpy(image, data, size);
	f = symfile_from_image(image, size, "app");
	free(image);
	if (!f)
		return 0;
	assert(symfile_build_id(f, id) <= BUILD_ID_MAX);
	for (uint64_t offset = 0; offset < size + 4096; offset += 61)
		if (symfile_find(f, offset, &name, &into))
			assert(strlen(name) && strlen(name) < size + sizeof("app+0x0123456789abcdef"));
	symfile_free(f);
	return 0;
}
