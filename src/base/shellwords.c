/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shellwords.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Those that a shell does not change. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	return *word && !word[strspn(word, plain)];
}

static void put_quoted(const char *word, FILE *out)
{
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

void shellwords_put(const char *word, FILE *out)
{
	if (is_plain(word))
		fputs(word, out);
	else
		put_quoted(word, out);
}

char *shellwords(char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			fputc(' ', out);
		shellwords_put(argv[i], out);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
