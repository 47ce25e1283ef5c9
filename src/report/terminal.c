/* SPDX-License-Identifier: Apache-2.0 */
#include "report/terminal.h"

#include "base/units.h"

#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

static unsigned int from_environment(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);
	uint64_t n;

	return text && !units_u64(text, &n) && n && n <= INT_MAX ? (unsigned int)n : otherwise;
}

static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb");
}

struct terminal terminal_of(FILE *out)
{
	struct winsize size = { 0 };
	int fd = fileno(out);

	if (fd < 0 || !isatty(fd))
		return (struct terminal){ 0 };
	ioctl(fd, TIOCGWINSZ, &size);
	return (struct terminal){
		.columns = from_environment("COLUMNS", size.ws_col ? size.ws_col : 80),
		.rows = from_environment("LINES", size.ws_row ? size.ws_row : 24),
		.colour = wants_colour(),
	};
}

/* ---- widths -------------------------------------------------------------------- */

/* The locale that knows widths; the program's own may be "C". It lives as long as the
 * program: there is one for all. */
static locale_t utf8(void)
{
	static locale_t locale;

	if (!locale) {
		locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
		locale_t none = (locale_t)0;

		if (made && !__atomic_compare_exchange_n(&locale, &none, made, false, __ATOMIC_ACQ_REL,
							 __ATOMIC_ACQUIRE))
			freelocale(made);
	}
	return locale;
}

/* Bytes of the character at text, and its columns. */
static size_t one(const char *text, size_t len, size_t *columns)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t n = mbrtowc(&c, text, len, &state);
	int width;

	*columns = 1;
	if (!n || n > len)
		return 1;   /* invalid: a byte */
	width = wcwidth(c);
	*columns = width < 0 ? 1 : (size_t)width;
	return n;
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* Columns of text up to `most`, and in *bytes how many bytes those are. */
static size_t measure(const char *text, size_t most, size_t *bytes)
{
	locale_t before = utf8() ? uselocale(utf8()) : (locale_t)0;
	size_t len = strlen(text), columns = 0, at = 0, n, width;

	for (; at < len; at += n, columns += width) {
		n = one(text + at, len - at, &width);
		if (columns + width > most)
			break;
	}
	if (before)
		uselocale(before);
	*bytes = at;
	return columns;
}

size_t terminal_width(const char *text)
{
	size_t bytes;

	return is_plain(text) ? strlen(text) : measure(text, SIZE_MAX / 2, &bytes);
}

size_t terminal_fit(const char *text, size_t columns)
{
	size_t bytes;

	if (is_plain(text))
		return strnlen(text, columns);
	measure(text, columns, &bytes);
	return bytes;
}
