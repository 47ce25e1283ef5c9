/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are folded stacks or are refused. What was read is written and read again with the
 * same sum (but for names that all end with numbers, which are refused), and a picture of it has no
 * character that XML forbids and no markup out of a name.
 */
#include "report/flame_private.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const struct folded *f, bool picture, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	assert(out);
	if (picture)
		flame_svg(f, &(struct flame_title){ 0 }, out);
	else
		folded_print(f, out);
	fclose(out);
	return text;
}

static void read_again(const struct folded *f)
{
	struct folded *again = folded_new();
	struct fault fault = { 0 };
	size_t size;
	char *text = written(f, false, &size);
	FILE *in = size ? fmemopen(text, size, "r") : NULL;

	if (in && folded_take(again, in, "again", &fault))
		assert(strstr(fault.text, "two numbers"));
	else
		assert(folded_total(again) == folded_total(f));
	if (in)
		fclose(in);
	free(text);
	folded_free(again);
}

static void check_picture(const struct folded *f)
{
	static const char *const markup[] = { "<?xml", "<svg", "<style", "<rect", "<text", "<g>", "<title>",
					      "</" };
	size_t size;
	char *text = written(f, true, &size);

	assert(strlen(text) == size);
	for (char *p = text; *p; p++) {
		bool known = *p != '<';

		assert((unsigned char)*p >= 0x20 || *p == '\n');
		for (size_t i = 0; !known && i < sizeof(markup) / sizeof(*markup); i++)
			known = !strncmp(p, markup[i], strlen(markup[i]));
		assert(known);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = { 0 };
	struct folded *f;
	FILE *in;

	if (!size || size > 1 << 16)
		return 0;
	f = folded_new();
	in = fmemopen((void *)data, size, "r");
	folded_limit(f, 1 << 16);
	folded_take(f, in, "fuzz", &fault);
	fclose(in);
	read_again(f);
	check_picture(f);
	folded_free(f);
	return 0;
}
