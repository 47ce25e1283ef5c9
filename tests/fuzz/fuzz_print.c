/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any "print fmt" over any raw bytes: it compiles or not, and the program reads nothing but
 * the event and writes nothing but its buffer. A NUL in the input divides the text, the raw
 * bytes are behind it; a dynamic field that lies is left to lie: the program checks again.
 */
#include "tracefmt/printfmt.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One field of each kind. */
static struct trace_field fields[] = {
	{ "u1", "u8", FIELD_UINT, 8, 1 },
	{ "s1", "s8", FIELD_SINT, 9, 1 },
	{ "u2", "u16", FIELD_UINT, 10, 2 },
	{ "u4", "unsigned int", FIELD_UINT, 12, 4 },
	{ "s4", "int", FIELD_SINT, 16, 4 },
	{ "d", "__data_loc char[]", FIELD_DYN_STR, 20, 4 },
	{ "u8", "unsigned long", FIELD_UINT, 24, 8 },
	{ "s8", "long", FIELD_SINT, 32, 8 },
	{ "str", "char[6]", FIELD_STR, 40, 6 },
	{ "by", "u8[16]", FIELD_BYTES, 48, 16 },
	{ "a", "u32[4]", FIELD_BYTES, 64, 16 },
	{ "r", "__rel_loc u8[]", FIELD_REL_BYTES, 80, 4 },
	{ "b", "__data_loc u64[]", FIELD_DYN_BYTES, 84, 4 },
};

static const struct tracefmt fmt = {
	.fields = fields, .nfields = sizeof(fields) / sizeof(*fields), .min_size = 88,
};

static const char *find(void *ctx, uint64_t addr, uint64_t *offset)
{
	(void)ctx;
	*offset = addr & 0xff;
	return addr & 1 ? "function" : NULL;
}

static void run(const struct printfmt *p, const void *raw, uint32_t raw_size)
{
	static const struct tracefmt_symbols symbols = { .find = find };
	static char whole[1 << 16];
	size_t n = printfmt_write(p, raw, raw_size, &symbols, whole, sizeof(whole)), room = n / 2;
	char *part = malloc(room ? room : 1);   /* ends where the allocation does: ASan sees */

	assert(part);
	assert(printfmt_write(p, raw, raw_size, NULL, part, 0) || !n);
	printfmt_write(p, raw, raw_size, &symbols, part, room < sizeof(whole) ? room : sizeof(whole));
	free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	size_t len = end ? (size_t)(end - data) : size, raw_size = end ? size - len - 1 : 0;
	const char *why;
	struct printfmt *p;
	char *text = malloc(len ? len : 1), *raw;

	assert(text);
	memcpy(text, data, len);
	p = printfmt_compile(&fmt, text, len, &why);
	free(text);
	assert(p || why);
	if (raw_size > 4096)
		raw_size = 4096;
	raw = calloc(1, raw_size > fmt.min_size ? raw_size : fmt.min_size);
	assert(raw);
	if (raw_size)
		memcpy(raw, end + 1, raw_size);
	if (p)
		run(p, raw, (uint32_t)(raw_size > fmt.min_size ? raw_size : fmt.min_size));
	printfmt_free(p);
	free(raw);
	return 0;
}
