/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's globs (Documentation/trace/events.rst, lib/glob.c), for text with a length. */
#include "expr/expr.h"

/* The end of the class at pattern[at] == '[', with *hit set to whether c is in it; 0: it is not
 * closed, so the bracket is an ordinary character. */
static size_t match_class(const char *pattern, size_t len, size_t at, unsigned char c, bool *hit)
{
	size_t i = at + 1, first;
	bool inverted = i < len && pattern[i] == '!';

	*hit = false;
	i += inverted;
	for (first = i; i < len && (pattern[i] != ']' || i == first); i++) {
		unsigned char low = (unsigned char)pattern[i], high = low;

		if (i + 2 < len && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
			high = (unsigned char)pattern[i + 2];
			i += 2;
		}
		*hit |= low <= c && c <= high;
	}
	*hit ^= inverted;
	return i < len ? i + 1 : 0;
}

/* Whether the pattern's element at *at matches c; moves *at to its end. */
static bool match_one(const char *pattern, size_t len, size_t *at, unsigned char c)
{
	bool hit;
	size_t behind;

	if (pattern[*at] == '?') {
		(*at)++;
		return true;
	}
	if (pattern[*at] == '[' && (behind = match_class(pattern, len, *at, c, &hit))) {
		*at = behind;
		return hit;
	}
	if (pattern[*at] == '\\' && *at + 1 < len)
		(*at)++;
	return (unsigned char)pattern[(*at)++] == c;
}

static bool match(const char *pattern, size_t plen, const char *text, size_t len)
{
	size_t p = 0, t = 0, star = SIZE_MAX, again = 0;

	/* only the last * needs backtracking: everything before it has matched */
	for (;;) {
		if (p < plen && pattern[p] == '*') {
			star = ++p;
			again = t;
		} else if (t == len && p == plen) {
			return true;
		} else if (t < len && p < plen &&
			   match_one(pattern, plen, &p, (unsigned char)text[t])) {
			t++;
		} else if (star != SIZE_MAX && again < len) {
			p = star;
			t = ++again;
		} else {
			return false;
		}
	}
}

bool expr_glob(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	bool negated = pattern_len && pattern[0] == '!';

	return match(pattern + negated, pattern_len - negated, text, len) != negated;
}
