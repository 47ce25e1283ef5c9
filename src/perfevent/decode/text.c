/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/decode/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text pev_text_(char *buf, size_t size)
{
	if (size)
		buf[0] = '\0';
	return (struct text){ buf, size, 0 };
}

void pev_text_put_(struct text *t, const char *fmt, ...)
{
	bool room = t->n < t->size;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? t->buf + t->n : NULL, room ? t->size - t->n : 0, fmt, ap);
	va_end(ap);
	t->n += n > 0 ? (size_t)n : 0;
}

static void put_char(struct text *t, char c)
{
	if (t->n + 1 < t->size) {
		t->buf[t->n] = c;
		t->buf[t->n + 1] = '\0';
	}
	t->n++;
}

static bool is_plain(const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			return false;
	return *name;
}

void pev_text_name_(struct text *t, const char *name)
{
	if (!name)   /* from a record that failed to decode */
		name = "";
	if (is_plain(name)) {
		pev_text_put_(t, "%s", name);
		return;
	}
	put_char(t, '"');
	for (const char *p = name; *p; p++) {
		if (*p == '"' || *p == '\\')
			put_char(t, '\\');
		if (*p >= ' ' && *p <= '~')
			put_char(t, *p);
		else
			pev_text_put_(t, "\\x%02x", (unsigned char)*p);
	}
	put_char(t, '"');
}

void pev_text_bytes_(struct text *t, const void *bytes, uint64_t n, uint64_t max)
{
	const unsigned char *b = bytes;

	for (uint64_t i = 0; i < n && i < max; i++)
		pev_text_put_(t, "%02x", b[i]);
	if (n > max)
		pev_text_put_(t, "+%llu", (unsigned long long)(n - max));
}

void pev_text_bits_(struct text *t, uint64_t word, const struct bit_name *names, size_t count)
{
	const char *sep = "";

	for (size_t i = 0; i < count; i++) {
		if (!(word & names[i].bit))
			continue;
		pev_text_put_(t, "%s%s", sep, names[i].name);
		word &= ~names[i].bit;
		sep = "|";
	}
	if (word)
		pev_text_put_(t, "%s0x%llx", sep, (unsigned long long)word);
}
