/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about errors in an event list, with a caret. */
#include "events/spec.h"

#include "base/columns.h"
#include "base/escape.h"

#include <stdio.h>
#include <string.h>

/* Characters shown on each side of the caret; each takes at most 4 bytes once escaped. */
#define SHOWN_BEFORE 50
#define SHOWN_AFTER 60

static bool continues_char(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The offset n characters before or after at, at a character's first byte. */
static size_t step_back(const char *text, size_t at, size_t n)
{
	while (at && n--)
		for (at--; at && continues_char(text[at]);)
			at--;
	return at;
}

static size_t step_on(const char *text, size_t len, size_t at, size_t n)
{
	while (at < len && n--)
		for (at++; at < len && continues_char(text[at]);)
			at++;
	return at;
}

static void show_place(struct spec_error *err, const char *text, size_t at)
{
	size_t len = strlen(text), from, to, used;

	if (at > len)
		at = len;
	from = step_back(text, at, SHOWN_BEFORE);
	to = step_on(text, len, at, SHOWN_AFTER);
	used = (size_t)snprintf(err->text, sizeof(err->text), "%s", from ? "..." : "");
	used += escape_terminal(text + from, at - from, err->text + used, sizeof(err->text) - used);
	err->at = columns_of(err->text);
	used += escape_terminal(text + at, to - at, err->text + used, sizeof(err->text) - used);
	if (to < len)
		snprintf(err->text + used, sizeof(err->text) - used, "...");
}

void spec_complain_of(struct spec_error *err, const char *text, size_t at, const char *message,
		      const char *expected)
{
	if (!err)
		return;
	expected = expected ? expected : "";
	escape_terminal(message, strlen(message), err->message, sizeof(err->message));
	escape_terminal(expected, strlen(expected), err->expected, sizeof(err->expected));
	show_place(err, text, at);
}

void spec_complain(struct spec_error *err, const struct spec_item *item, size_t at,
		   const char *message, const char *expected)
{
	spec_complain_of(err, item->text, at, message, expected);
}

size_t spec_error_text(const struct spec_error *err, char *buf, size_t size)
{
	const char *label = !err->expected[0] ? "" : strncmp(err->expected, "did you mean ", 13) ? "\nexpected: " : "\n";
	int n = snprintf(buf, size, "%s\n  %s\n  %*s^%s%s", err->message, err->text, (int)err->at, "", label,
			 err->expected);
	size_t len = n < 0 ? 0 : (size_t)n;

	return len < size ? len : size ? size - 1 : 0;
}

int spec_fault(struct fault *f, const struct spec_item *item, size_t at, const char *message,
	       const char *expected)
{
	struct spec_error err;
	char text[1600];

	spec_complain(&err, item, at, message, expected);
	spec_error_text(&err, text, sizeof(text));
	return fault_usage(f, "%s", text);
}
