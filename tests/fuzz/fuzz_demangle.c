/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are the name of a function. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1), buf[DEMANGLE_MAX];

	assert(name);
	memcpy(name, data, size);
	name[size] = '\0';
	if (!demangle(name, buf))
		assert(strlen(buf) && strlen(buf) < DEMANGLE_MAX);
	free(name);
	return 0;
}
