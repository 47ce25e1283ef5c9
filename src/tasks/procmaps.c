/* SPDX-License-Identifier: Apache-2.0 */
/* "7f0000000000-7f0000001000 r-xp 00002000 08:01 1234                 /usr/lib/x.so" */
#include "tasks/procmaps.h"

#include <string.h>

static int digit(char c, unsigned int base)
{
	int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

	return d < (int)base ? d : -1;
}

/* Parses a number of at most 64 bits that is followed by `behind`. */
static bool take_number(char **p, unsigned int base, char behind, uint64_t *v)
{
	char *start = *p;

	for (*v = 0; digit(**p, base) >= 0; ++*p) {
		if (*v > (UINT64_MAX - 15) / base)
			return false;
		*v = *v * base + (uint64_t)digit(**p, base);
	}
	if (*p == start || **p != behind)
		return false;
	++*p;
	return true;
}

static bool take_numbers(char **p, struct procmaps_line *out)
{
	uint64_t maj, min;

	if (!take_number(p, 16, ' ', &out->pgoff) || !take_number(p, 16, ':', &maj) ||
	    !take_number(p, 16, ' ', &min) || !take_number(p, 10, ' ', &out->ino))
		return false;
	out->maj = (uint32_t)maj;
	out->min = (uint32_t)min;
	return true;
}

static void unescape_newlines(char *path)
{
	char *to = path;

	for (const char *from = path; (*to = *from); to++, from++)
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 3;
		}
}

bool procmaps_parse(char *line, size_t len, struct procmaps_line *out)
{
	char *p = line;

	line[len] = '\0';
	if (!take_number(&p, 16, '-', &out->start) || !take_number(&p, 16, ' ', &out->end) ||
	    out->end <= out->start || strlen(p) < 6 || p[4] != ' ')
		return false;
	out->exec = p[2] == 'x';
	p += 5;
	if (!take_numbers(&p, out))
		return false;
	out->path = p + strspn(p, " ");
	unescape_newlines(out->path);
	return true;
}
