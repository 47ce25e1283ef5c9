/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/offsets.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define ARRAY(a) (sizeof(a) / sizeof(*(a)))

/* Python 3.9, 3.10: a frame is an object; its place is an index of bytes (3.9) or of instructions (3.10). */
#define FRAME_OBJECTS(place_at)                                                                    \
	.interpreters = 32, .gil = 352, .in_gil = { 8, 16 }, .interpreter = { 0, 8 },                  \
	.thread = { .next = 8, .id = 176, .frame = 24 },                                               \
	.frame = { .previous = 24, .code = 32, .place = place_at }, .type = 8,                         \
	.code = { .name = 112, .file = 104, .lines = 120, .first_line = 40 },                          \
	.bytes = { 16, 32 }, .text = { .state = 32, .length = 16, .ascii = 48, .compact = 72 }

static const struct offsets tables[] = {
	{ .minor = 9, .lines = LINES_DELTAS, .frame_unit = 1, FRAME_OBJECTS(104) },
	{ .minor = 10, .lines = LINES_RANGES, .frame_unit = 2, FRAME_OBJECTS(96) },
	{
		.minor = 11, .lines = LINES_LOCATIONS, .interpreters = 40, .gil = 360, .in_gil = { 8, 16 },
		.interpreter = { 0, 16 }, .thread = { .next = 8, .id = 152, .native = 160, .frame = 56, .via = 8 + 1 },
		.frame = { .previous = 48, .code = 32, .place = 56, .owner = 69, .entry = 68 }, .type = 8,
		.code = { .name = 128, .file = 112, .lines = 136, .first_line = 72, .instructions = 184 },
		.bytes = { 16, 32 }, .text = { .state = 32, .length = 16, .ascii = 48, .compact = 72 },
	},
	{
		.minor = 12, .lines = LINES_LOCATIONS, .shared_owner = true, .interpreters = 40, .gil = 384,
		.in_gil = { 8, 16 }, .interpreter = { 0, 72 },
		.thread = { .next = 8, .id = 136, .native = 144, .frame = 56, .via = 0 + 1 },
		.frame = { .previous = 8, .code = 0, .place = 56, .owner = 70 }, .type = 8,
		.code = { .name = 128, .file = 112, .lines = 136, .first_line = 68, .instructions = 192 },
		.bytes = { 16, 32 }, .text = { .state = 32, .length = 16, .ascii = 40, .compact = 56 },
	},
};

static uint64_t size_of(const uint64_t *offsets, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = offsets[i] > most ? offsets[i] : most;
	return most + sizeof(uint64_t);
}

static void measure(struct offsets *l)
{
	const uint64_t thread[] = { l->thread.next, l->thread.id, l->thread.native, l->thread.frame },
		       frame[] = { l->frame.previous, l->frame.code, l->frame.place, l->frame.owner },
		       code[] = { l->type, l->code.name, l->code.file, l->code.lines, l->code.first_line },
		       text[] = { l->text.state, l->text.length };

	l->thread.size = size_of(thread, ARRAY(thread));
	l->frame.size = size_of(frame, ARRAY(frame));
	l->code.size = size_of(code, ARRAY(code));
	l->text.size = size_of(text, ARRAY(text));
}

/* ---- _Py_DebugOffsets ---------------------------------------------------------------- */

/* A compact text has two more words than an ASCII one: utf8_length and utf8. */
enum { COMPACT_MORE = 16 };
enum { VERSION_AT = 8, FREE_THREADED_AT = 16, STATED_SIZE = 656 };

/* Which word of _Py_DebugOffsets is which field. */
struct stated {
	uint16_t at[2];                  /* offset in 3.13, in 3.14 */
	uint16_t field;                  /* of struct offsets */
	uint32_t below;                  /* the largest sensible value + 1 */
};

#define FIELD(member) offsetof(struct offsets, member)

/* Interpreters are large; other structures are read at once. */
enum { IN_RUNTIME = 1 << 24, IN_THREAD = OFFSETS_THREAD - 8, IN_FRAME = OFFSETS_FRAME - 8, IN_CODE = OFFSETS_CODE - 8,
       IN_TEXT = OFFSETS_TEXT - 8 };

static const struct stated stated[] = {
	{ { 40, 40 }, FIELD(interpreters), IN_RUNTIME },
	{ { 64, 64 }, FIELD(interpreter.next), IN_RUNTIME },
	{ { 72, 72 }, FIELD(interpreter.threads), IN_RUNTIME },
	{ { 112, 120 }, FIELD(gil), IN_RUNTIME },
	{ { 168, 192 }, FIELD(thread.next), IN_THREAD },
	{ { 184, 208 }, FIELD(thread.frame), IN_THREAD },
	{ { 192, 216 }, FIELD(thread.id), IN_THREAD },
	{ { 200, 224 }, FIELD(thread.native), IN_THREAD },
	{ { 232, 256 }, FIELD(frame.previous), IN_FRAME },
	{ { 240, 264 }, FIELD(frame.code), IN_FRAME },
	{ { 248, 272 }, FIELD(frame.place), IN_FRAME },
	{ { 264, 288 }, FIELD(frame.owner), IN_FRAME },
	{ { 280, 320 }, FIELD(code.file), IN_CODE },
	{ { 296, 336 }, FIELD(code.name), IN_CODE },
	{ { 304, 344 }, FIELD(code.lines), IN_CODE },
	{ { 312, 352 }, FIELD(code.first_line), IN_CODE },
	{ { 344, 384 }, FIELD(code.instructions), IN_CODE },
	{ { 360, 408 }, FIELD(type), IN_CODE },
	{ { 520, 600 }, FIELD(bytes.length), IN_TEXT },
	{ { 528, 608 }, FIELD(bytes.bytes), IN_TEXT },
	{ { 544, 624 }, FIELD(text.state), IN_TEXT },
	{ { 552, 632 }, FIELD(text.length), IN_TEXT },
	{ { 560, 640 }, FIELD(text.ascii), IN_TEXT },
};
/* In the GIL: offsets in an interpreter of its own GIL, of what it locks, and of its holder. */
static const uint16_t gil_at[][3] = { { 120, 136, 144 }, { 128, 144, 152 } };

static int take_gil(struct offsets *out, const char *bytes, const uint16_t at[3])
{
	uint64_t gil = memory_field(bytes, at[0], 8), locked = memory_field(bytes, at[1], 8),
		 holder = memory_field(bytes, at[2], 8);

	if (locked < gil || locked - gil > IN_TEXT || holder < gil || holder - gil > IN_TEXT)
		return -EPROTO;
	out->in_gil.locked = locked - gil;
	out->in_gil.holder = holder - gil;
	return 0;
}

/* version: 0 for 3.13, 1 for 3.14. */
static int take_stated(struct offsets *out, const char *bytes, size_t version)
{
	for (size_t i = 0; i < ARRAY(stated); i++) {
		uint64_t v = memory_field(bytes, stated[i].at[version], 8);

		if (v >= stated[i].below)
			return -EPROTO;
		memcpy((char *)out + stated[i].field, &v, sizeof(v));
	}
	out->text.compact = out->text.ascii + COMPACT_MORE;
	measure(out);
	return take_gil(out, bytes, gil_at[version]);
}

uint32_t offsets_stated(const struct memory *m, uint64_t runtime)
{
	char bytes[16];

	if (memory_get(m, runtime, bytes, sizeof(bytes)) || memcmp(bytes, "xdebugpy", 8))
		return 0;
	return (uint32_t)memory_field(bytes, VERSION_AT, 8);
}

static int read_stated(struct offsets *out, const struct memory *m, uint64_t runtime, uint8_t minor)
{
	char bytes[STATED_SIZE];
	int rc = memory_get(m, runtime, bytes, sizeof(bytes));

	if (rc)
		return rc;
	if (memory_field(bytes, FREE_THREADED_AT, 8))
		return -ENOTSUP;
	*out = (struct offsets){ .minor = minor, .lines = LINES_LOCATIONS, .shared_owner = true };
	return take_stated(out, bytes, minor - 13u);
}

int offsets_of(struct offsets *out, const struct memory *m, uint64_t runtime, uint32_t version)
{
	const uint8_t minor = (uint8_t)(version >> 16);

	if (version >> 24 != 3)
		return -ENOTSUP;
	if (minor == 13 || minor == 14)
		return read_stated(out, m, runtime, minor);
	for (size_t i = 0; i < ARRAY(tables); i++)
		if (tables[i].minor == minor) {
			*out = tables[i];
			measure(out);
			return 0;
		}
	return -ENOTSUP;
}
