/* SPDX-License-Identifier: Apache-2.0 */
/* A text is shortened in place, one piece at a time, until it fits. */
#include "report/fit.h"

#include "base/columns.h"
#include "report/fit_name.h"
#include "report/fit_path.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
	LEAST_BODY = 8,      /* columns: with less, remarks are cut off, too */
	ROOM = 512,          /* bytes that "…" may add */
};

static const char more[] = "\xe2\x80\xa6";   /* … */

/* ---- parts of a text ---------------------------------------------------------------------- */

/* Length of the text without remarks: " (inlined)", " (deleted)", and ":12" behind a path. */
static size_t without_remarks(const char *text, size_t len)
{
	size_t start = len;

	while (start && text[start - 1] == ')') {
		size_t i = start - 1;

		while (i && islower((unsigned char)text[i - 1]))
			i--;
		if (i == start - 1 || i < 3 || text[i - 1] != '(' || text[i - 2] != ' ')
			break;
		start = i - 2;
	}
	return start;
}

static size_t without_line(const char *text, size_t len)
{
	size_t start = len;

	while (start && isdigit((unsigned char)text[start - 1]))
		start--;
	return start < len && start > 1 && text[start - 1] == ':' ? start - 1 : len;
}

/* ---- bodies ------------------------------------------------------------------------------- */

/* Cuts off the end, between characters. */
static void cut_end(char *body, size_t columns)
{
	if (columns_of(body) > columns)
		strcpy(body + columns_fit(body, columns - 1), more);
}

static void (*const bodies[])(char *body, size_t columns) = {
	[FIT_END] = cut_end, [FIT_NAME] = fit_name_body, [FIT_PATH] = fit_path_body,
};

/* For texts that are too long or too narrow for more. */
static const char *cut_only(const char *text, size_t columns, char *buf)
{
	const size_t most = columns_fit(text, columns - 1), n = most < FIT_MAX - sizeof(more) ? most : 0;

	memcpy(buf, text, n);
	strcpy(buf + n, more);
	return buf;
}

const char *fit_text(enum fit how, const char *text, size_t columns, char buf[FIT_MAX])
{
	const size_t len = strlen(text), indent = how == FIT_END ? 0 : strspn(text, " ");
	size_t rest = how == FIT_END ? len : without_remarks(text, len), around;
	char *body = buf + indent;

	if (columns_of(text) <= columns)
		return text;
	if (how == FIT_PATH)
		rest = without_line(text, rest);
	around = indent + columns_of(text + rest);
	if (rest <= indent || around + LEAST_BODY > columns) {
		rest = len;
		around = indent;
	}
	if (len > FIT_MAX - ROOM || indent >= columns)
		return cut_only(text, columns, buf);
	memcpy(buf, text, rest);
	buf[rest] = '\0';
	bodies[how](body, columns - around);
	cut_end(body, columns - around);
	strcat(body, text + rest);
	return buf;
}
