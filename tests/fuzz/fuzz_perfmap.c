/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are what a just-in-time compiler wrote, in two pieces. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "symbols/jit/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap *m = perfmap_new();
	const char *text = (const char *)data, *name;
	size_t half = size / 2;
	uint64_t into;
	int64_t taken;

	assert(m);
	taken = perfmap_take(m, text, half);
	assert(taken >= 0 && (size_t)taken <= half);
	perfmap_sort(m);
	assert(perfmap_take(m, text + taken, size - (size_t)taken) >= 0);
	perfmap_sort(m);
	for (uint64_t addr = 0; addr < 4096; addr += 7)
		if (perfmap_find(m, addr, &name, &into))
			assert(strlen(name) && strlen(name) < size && into <= addr);
	perfmap_free(m);
	return 0;
}
