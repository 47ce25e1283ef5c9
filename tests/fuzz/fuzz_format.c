/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any raw bytes under a format of the kernel's: fields lie within them or are refused, and
 * the text of an event comes from nothing else. The first byte picks a format, the second
 * whether the bytes claim to be of it.
 */
#include "tracefmt/tracefmt.h"

#include "../unit/formats.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tracefmt_db *db;
static const struct tracefmt *fmts[FORMATS];
static volatile uint64_t sink;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fault f;

	(void)argc;
	(void)argv;
	db = tracefmt_db_new();
	assert(db);
	for (size_t i = 0; i < FORMATS; i++) {
		fmts[i] = tracefmt_parse(db, formats[i].text, strlen(formats[i].text),
					 formats[i].sys, &f);
		assert(fmts[i]);
	}
	return 0;
}

static void touch(const char *p, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (unsigned char)p[i];
	sink += sum;
}

static void read_field(const struct trace_field *field, const char *raw, uint32_t size)
{
	const char *data;
	uint32_t len;

	if (!trace_field_data(field, raw, size, &data, &len)) {
		assert(data >= raw && data + len <= raw + size);
		touch(data, len);
	}
	if (field->kind > FIELD_SINT || field->offset + field->size > size)
		return;
	sink += field->kind == FIELD_SINT ? (uint64_t)trace_field_sint(field, raw)
					  : trace_field_uint(field, raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tracefmt *fmt;
	char *raw;

	if (size < 2 || size > 65536)
		return 0;
	fmt = fmts[data[0] % FORMATS];
	size -= 2;
	raw = malloc(size ? size : 1);   /* ends where the allocation does: ASan sees */
	assert(raw);
	memcpy(raw, data + 2, size);
	if (data[1] % 8 && size >= 2)
		memcpy(raw, &fmt->id, 2);
	for (size_t i = 0; i < fmt->nfields; i++)
		read_field(&fmt->fields[i], raw, (uint32_t)size);
	sink += strlen(tracefmt_print(db, fmt, raw, (uint32_t)size, NULL));
	free(raw);
	return 0;
}
