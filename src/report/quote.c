/* SPDX-License-Identifier: Apache-2.0 */
#include "report/quote.h"

#include <stdbool.h>
#include <string.h>

static const char *entity(char c)
{
	static const struct {
		char c;
		const char *text;
	} entities[] = {
		{ '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }, { '\'', "&#39;" },
	};

	for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++)
		if (entities[i].c == c)
			return entities[i].text;
	return NULL;
}

/* U+FFFE and U+FFFF. */
static bool is_forbidden(const char *text, size_t n)
{
	return n >= 3 && !memcmp(text, "\xef\xbf", 2) && (text[2] == '\xbe' || text[2] == '\xbf');
}

void quote_xml(const char *text, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = entity(text[i]);

		if (name) {
			fputs(name, out);
		} else if (is_forbidden(text + i, n - i)) {
			fputc('?', out);
			i += 2;
		} else {
			fputc((unsigned char)text[i] < 0x20 ? '?' : text[i], out);
		}
	}
}

void quote_json(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (!strncmp(text, "\xe2\x80\xa8", 3) || !strncmp(text, "\xe2\x80\xa9", 3)) {
			fprintf(out, "\\u20%x", (unsigned char)text[2] & 0x2f);
			text += 2;
		} else if (c == '"' || c == '\\') {
			fprintf(out, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f || strchr("<>&'", c)) {
			fprintf(out, "\\u%04x", c);
		} else {
			fputc(c, out);
		}
	}
	fputc('"', out);
}

bool quote_is_formula(const char *text, size_t n)
{
	/* the last four are full-width forms */
	static const char *const begins[] = {
		"=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (n >= strlen(begins[i]) && !memcmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}
