/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JIT maps at the end of a recording: functions that were generated at run time.
 *
 *	records of type 65, as many as needed	"PPJITMAP", pid, 0; whole lines of a perf map; zeros
 *	one record of type 65			"PPJITEND", the size of those before
 *	the end					two FINISHED_ROUND records of 8 bytes
 *
 * perf skips type 65, which held the names of events before Linux 3.5. These records are never
 * compressed, so a reader that can seek has them before the first sample.
 */
#include "base/room.h"
#include "perfdata/read/reading.h"
#include "perfdata/write/format.h"

#include <stdlib.h>
#include <string.h>

static const char MAP[] = "PPJITMAP", END[] = "PPJITEND";

enum { WORD = 8, PIECE = 60000, MAX_BYTES = 64 << 20, ROUND = 8, END_SIZE = 8 + WORD + 8 };

/* ---- writing ------------------------------------------------------------------ */

static void add_head(struct bytes *b, size_t body, const char *word)
{
	struct perf_event_header head = { .type = PERFDATA_EVENT_TYPE, .size = (uint16_t)(sizeof(head) + body) };

	bytes_add(b, &head, sizeof(head));
	bytes_add(b, word, WORD);
}

/* Size of the whole lines that fit a record; 0: none. */
static size_t piece_of(const char *text, size_t n)
{
	const char *nl = memrchr(text, '\n', n < PIECE ? n : PIECE);

	return nl ? (size_t)(nl + 1 - text) : 0;
}

/* Whether all of it fits. */
static bool add_map(struct bytes *b, const struct perfdata_jit_map *map)
{
	size_t at = 0, n;

	while ((n = piece_of(map->text + at, map->size - at)) && b->n + n < MAX_BYTES) {
		add_head(b, WORD + 8 + ((n + 7) & ~(size_t)7), MAP);
		bytes_add_u32(b, (uint32_t)map->pid);
		bytes_add_u32(b, 0);
		bytes_add(b, map->text + at, n);
		bytes_pad(b, 8);
		at += n;
	}
	return !n;
}

bool perfdata_put_jit_maps(struct perfdata_writer *w, const struct perfdata_jit_map *maps, size_t n)
{
	struct bytes b = { 0 };
	bool whole = true;
	uint64_t size;

	for (size_t i = 0; i < n; i++)
		whole &= add_map(&b, &maps[i]);
	size = b.n;
	if (size) {
		add_head(&b, WORD + 8, END);
		bytes_add_u64(&b, size);
	}
	if (!b.failed)
		perfdata_put_plain(w, b.data, b.n);
	whole &= !b.failed;
	bytes_free(&b);
	return whole;
}

/* ---- reading ------------------------------------------------------------------ */

static bool take_head(struct scan *s, const char *word, size_t *body)
{
	struct perf_event_header head;
	const char *bytes = scan_bytes(s, sizeof(head)), *have;

	if (!bytes)
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (s->foreign)
		swap_header(&head);
	have = scan_bytes(s, WORD);
	if (!have || head.type != PERFDATA_EVENT_TYPE || head.size < sizeof(head) + WORD ||
	    head.size - sizeof(head) - WORD > scan_left(s) || memcmp(have, word, WORD))
		return false;
	*body = head.size - sizeof(head) - WORD;
	return true;
}

static bool take_map(struct scan *s, struct perfdata_jit_map *map)
{
	uint32_t pid, zero;
	size_t body;

	if (!take_head(s, MAP, &body) || body < 8 || !scan_u32(s, &pid) || !scan_u32(s, &zero))
		return false;
	map->pid = (int32_t)pid;
	map->text = scan_bytes(s, body - 8);
	map->size = strnlen(map->text, body - 8);
	return true;
}

static void take_maps(struct perfdata_info *info, struct scan s)
{
	struct perfdata_jit_map map;

	while (take_map(&s, &map) && ROOM_FOR_ONE(info->jit_maps, info->njit_maps))
		info->jit_maps[info->njit_maps++] = map;
}

/* Size of all maps, from the last record; 0: there are none. */
static uint64_t size_of_maps(const struct perfdata_reader *r, uint64_t file_size)
{
	char bytes[END_SIZE];
	struct scan s = { bytes, bytes + sizeof(bytes), r->foreign };
	uint64_t size = 0;
	size_t body;

	if (file_size < sizeof(bytes) + 2 * ROUND ||
	    reading_at(r, file_size - sizeof(bytes) - 2 * ROUND, bytes, sizeof(bytes)) ||
	    !take_head(&s, END, &body) || body != 8 || !scan_u64(&s, &size))
		return 0;
	return size <= MAX_BYTES + PIECE && size <= file_size - sizeof(bytes) - 2 * ROUND ? size : 0;
}

void jitmaps_read(struct perfdata_reader *r, uint64_t file_size)
{
	uint64_t size = size_of_maps(r, file_size);

	r->jit_bytes = size ? malloc(size) : NULL;
	if (r->jit_bytes && !reading_at(r, file_size - END_SIZE - 2 * ROUND - size, r->jit_bytes, size))
		take_maps(&r->info, (struct scan){ r->jit_bytes, r->jit_bytes + size, r->foreign });
}

bool jitmaps_is_record(const char *record, size_t size)
{
	return size >= 8 + WORD && (!memcmp(record + 8, MAP, WORD) || !memcmp(record + 8, END, WORD));
}

void jitmaps_free(struct perfdata_reader *r)
{
	free(r->info.jit_maps);
	free(r->jit_bytes);
}
