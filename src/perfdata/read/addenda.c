/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What perf-prof adds to a recording at its end: the folders of processes, and JIT maps, functions that were generated at run time.
 *
 *	records of type 65, as many as needed	"PPFOLDER", 0, 0; whole lines; zeros
 *	one record of type 65			"PPFOLEND", the size of those before
 *	records of type 65, as many as needed	"PPJITMAP", pid, 0; whole lines of a perf map; zeros
 *	one record of type 65			"PPJITEND", the size of those before
 *	the end					two FINISHED_ROUND records of 8 bytes
 *
 * Either part may be missing. perf skips type 65, which held the names of events before Linux 3.5. These records are never
 * compressed, so a reader that can seek has them before the first sample.
 */
#include "base/room.h"
#include "perfdata/read/reading.h"
#include "perfdata/write/format.h"

#include <stdlib.h>
#include <string.h>

/* The words at the beginning of the records, and of the last one. */
struct words {
	const char *piece, *end;
};
static const struct words maps_words = { "PPJITMAP", "PPJITEND" }, folders_words = { "PPFOLDER", "PPFOLEND" };

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
static bool add_map(struct bytes *b, const char *word, const struct perfdata_jit_map *map)
{
	size_t at = 0, n;

	while ((n = piece_of(map->text + at, map->size - at)) && b->n + n < MAX_BYTES) {
		add_head(b, WORD + 8 + ((n + 7) & ~(size_t)7), word);
		bytes_add_u32(b, (uint32_t)map->pid);
		bytes_add_u32(b, 0);
		bytes_add(b, map->text + at, n);
		bytes_pad(b, 8);
		at += n;
	}
	return !n;
}

static bool put(struct perfdata_writer *w, const struct words *words, const struct perfdata_jit_map *maps, size_t n)
{
	struct bytes b = { 0 };
	bool whole = true;
	uint64_t size;

	for (size_t i = 0; i < n; i++)
		whole &= add_map(&b, words->piece, &maps[i]);
	size = b.n;
	if (size) {
		add_head(&b, WORD + 8, words->end);
		bytes_add_u64(&b, size);
	}
	if (!b.failed)
		perfdata_put_plain(w, b.data, b.n);
	whole &= !b.failed;
	bytes_free(&b);
	return whole;
}

bool perfdata_put_jit_maps(struct perfdata_writer *w, const struct perfdata_jit_map *maps, size_t n)
{
	return put(w, &maps_words, maps, n);
}

bool perfdata_put_folders(struct perfdata_writer *w, const char *text, size_t size)
{
	return put(w, &folders_words, &(struct perfdata_jit_map){ 0, text, size }, 1);
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

static bool take_map(struct scan *s, const char *word, struct perfdata_jit_map *map)
{
	uint32_t pid, zero;
	size_t body;

	if (!take_head(s, word, &body) || body < 8 || !scan_u32(s, &pid) || !scan_u32(s, &zero))
		return false;
	map->pid = (int32_t)pid;
	map->text = scan_bytes(s, body - 8);
	map->size = strnlen(map->text, body - 8);
	return true;
}

/* Size of the pieces before `end`, where the last record ends; 0: there are none. */
static uint64_t size_of_pieces(const struct perfdata_reader *r, uint64_t end, const char *word)
{
	char bytes[END_SIZE];
	struct scan s = { bytes, bytes + sizeof(bytes), r->foreign };
	uint64_t size = 0;
	size_t body;

	if (end < sizeof(bytes) || reading_at(r, end - sizeof(bytes), bytes, sizeof(bytes)) || !take_head(&s, word, &body) ||
	    body != 8 || !scan_u64(&s, &size))
		return 0;
	return size <= MAX_BYTES + PIECE && size <= end - sizeof(bytes) ? size : 0;
}

/* Reads the pieces before `end`: returns where they begin. */
static uint64_t read_pieces(struct perfdata_reader *r, uint64_t end, const struct words *words, struct addendum *a)
{
	const uint64_t size = size_of_pieces(r, end, words->end), begin = size ? end - END_SIZE - size : end;
	struct perfdata_jit_map map;
	struct scan s;

	a->bytes = size ? malloc(size) : NULL;
	if (!a->bytes || reading_at(r, begin, a->bytes, size))
		return begin;
	s = (struct scan){ a->bytes, a->bytes + size, r->foreign };
	while (take_map(&s, words->piece, &map) && ROOM_FOR_ONE(a->v, a->n))
		a->v[a->n++] = map;
	return begin;
}

void addenda_read(struct perfdata_reader *r, uint64_t file_size)
{
	uint64_t end;

	if (file_size < 2 * ROUND)
		return;
	end = read_pieces(r, file_size - 2 * ROUND, &maps_words, &r->jit_maps);
	read_pieces(r, end, &folders_words, &r->folders);
	r->info.jit_maps = r->jit_maps.v;
	r->info.njit_maps = r->jit_maps.n;
	r->info.folders = r->folders.v;
	r->info.nfolders = r->folders.n;
}

bool addenda_is_record(const char *record, size_t size)
{
	const char *const words[] = { maps_words.piece, maps_words.end, folders_words.piece, folders_words.end };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (size >= 8 + WORD && !memcmp(record + 8, words[i], WORD))
			return true;
	return false;
}

void addenda_free(struct perfdata_reader *r)
{
	free(r->jit_maps.v);
	free(r->jit_maps.bytes);
	free(r->folders.v);
	free(r->folders.bytes);
}
