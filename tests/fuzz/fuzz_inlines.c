/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are an ELF file with DWARF; what is made of it has to be a table that its reader
 * takes, and any bytes are such a table. The same file has unwind tables that show whether it keeps frame pointers. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/dwarf/frameptr.h"
#include "symbols/dwarf/inline_unit.h"
#include "symbols/dwarf/unit_map.h"

enum { MAX = 64, MAX_UNITS_ASKED = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const void *bytes, size_t size, bool ours)
{
	struct inline_table *t = inline_table_unpack(bytes, size);
	struct inline_frame frames[MAX];
	struct inline_head head;

	assert(t || !ours);
	if (!t)
		return;
	memcpy(&head, bytes, sizeof(head));
	for (uint64_t at = head.base - 8; at != head.base + 4096; at += 4) {
		size_t n = inline_table_find(t, at, frames, MAX);

		assert(n <= MAX);
		for (size_t i = 0; i < n; i++) {
			assert(!frames[i].name || strlen(frames[i].name) < size);
			assert(!frames[i].file || strlen(frames[i].file) < size);
			assert(!frames[i].inlined || i + 1 < n || n == MAX);
		}
	}
	inline_table_free(t);
}

static void make(struct dwarf_file *f)
{
	struct parser_bytes out = { 0 };
	struct unit_map *map;

	if (!unit_map_pack(f, &out)) {
		map = unit_map_unpack(out.data, out.size);
		assert(map);
		for (uint64_t at = 0; at < 1 << 20; at += 997)
			assert(unit_map_find(map, at) == NO_UNIT ||
			       unit_map_find(map, at) < unit_map_units(map));
		unit_map_free(map);
	}
	parser_bytes_free(&out);
	for (size_t i = 0; i < dwarf_file_units(f) && i < MAX_UNITS_ASKED; i++) {
		if (!inline_unit_pack(f, i, &out))
			ask(out.data, out.size, true);
		parser_bytes_free(&out);
	}
}

static void count_frames(const uint8_t *data, size_t size)
{
	struct parser_question q = { .kind = PARSER_FRAMEPTR, .fds = { memfd_create("elf", MFD_CLOEXEC) }, .nfds = 1 };
	struct parser_bytes out = { 0 };
	void *state = NULL;

	assert(q.fds[0] >= 0);
	if (write(q.fds[0], data, size) == (ssize_t)size && !frameptr_answer(&state, &q, &out))
		assert(out.size == sizeof(struct frameptr_counts));
	parser_bytes_free(&out);
	close(q.fds[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *image = malloc(size + 1);
	struct dwarf_file *f;

	assert(image);
	memcpy(image, data, size);
	f = dwarf_file_from_image(image, size);
	if (f)
		make(f);
	dwarf_file_free(f);
	free(image);
	ask(data, size, false);
	count_frames(data, size);
	return 0;
}
