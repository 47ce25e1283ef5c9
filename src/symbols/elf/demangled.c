/* SPDX-License-Identifier: Apache-2.0 */
/* The names, by the pointer of the mangled name; an empty one: the name is shown unchanged. */
#include "symbols/elf/demangle.h"

#include "symbols/elf/strings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 4 << 20 };

struct demangled {
	struct strings known;
};

/* ---- OCaml ------------------------------------------------------------------ */

/* The character at "$2b": no letter or digit, as these are not escaped. 0: there is none. */
static unsigned char escaped(const char *p, unsigned char before)
{
	static const char digits[] = "0123456789abcdef";
	const char *high = p[1] ? strchr(digits, p[1]) : NULL, *low = high && p[2] ? strchr(digits, p[2]) : NULL;
	const unsigned char c = low ? (unsigned char)((high - digits) << 4 | (low - digits)) : 0;

	if (c < 0x80)
		return ispunct(c) && c != '_' ? c : 0;
	return c < 0xc0 ? (before < 0x80 ? 0 : c) : p[3] == '$' ? c : 0;   /* UTF-8 */
}

/* Between a module and its members is "__", "." (since 5.1) or "$" (since 5.4, not on all systems). */
int demangle_ocaml(const char *name, char buf[DEMANGLE_MAX])
{
	const char *p = name + strlen("caml");
	unsigned char c = 0;
	size_t n = 0;

	if (!is_ocaml(name))
		return -EINVAL;
	for (; *p && n < DEMANGLE_MAX - 1; buf[n++] = (char)c)
		if (*p == '$' && (c = escaped(p, c))) {
			p += 3;
		} else if (*p == '$' || (p[0] == '_' && p[1] == '_')) {
			p += 1 + (*p == '_');
			c = '.';
		} else {
			c = (unsigned char)*p++;
		}
	buf[n] = '\0';
	return *p ? -E2BIG : 0;
}

/* ---- the handler ------------------------------------------------------------ */

int demangle_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	const char *p = q->bytes, *end = p + q->size;
	char buf[DEMANGLE_MAX];

	if (!q->size || end[-1])
		return -EINVAL;
	for (; p < end; p += strlen(p) + 1) {
		if (demangle_ocaml(p, buf) && demangle(p, buf))
			buf[0] = '\0';
		if (parser_put(out, buf, strlen(buf) + 1))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the table -------------------------------------------------------------- */

/* Adds the parser's answer; returns its offset, or 0 for none. */
static uint32_t ask(struct strings *known, struct parser *p, const char *name)
{
	struct parser_question q = { .kind = PARSER_DEMANGLE, .bytes = name, .size = strlen(name) + 1 };
	struct parser_bytes out;
	const char *text = NULL;
	uint32_t at;

	if (!parser_ask(p, &q, &out) && out.size >= 2 && out.size <= DEMANGLE_MAX &&
	    memchr(out.data, '\0', out.size) == (char *)out.data + out.size - 1)
		text = out.data;
	if (strings_put(known, name, text, &at))
		at = 0;
	parser_bytes_free(&out);
	return at;
}

const char *demangled_name(struct demangled **dp, struct parser *p, const char *name)
{
	struct demangled *d = *dp;
	uint32_t at;

	if (!is_mangled(name) || !p)
		return name;
	if (!d)
		d = *dp = calloc(1, sizeof(*d));
	if (!d)
		return name;
	if (d->known.text.size > MAX_TEXT)
		strings_free(&d->known);
	if (!strings_find(&d->known, name, &at))
		at = ask(&d->known, p, name);
	return at ? (const char *)d->known.text.data + at : name;
}

bool demangled_has(const struct demangled *d, const char *name)
{
	uint32_t at;

	return !is_mangled(name) || (d && strings_find(&d->known, name, &at));
}

size_t demangled_bytes(const struct demangled *d)
{
	return d ? sizeof(*d) + d->known.cap * sizeof(*d->known.slots) + d->known.text.cap : 0;
}

void demangled_free(struct demangled *d)
{
	if (!d)
		return;
	strings_free(&d->known);
	free(d);
}
