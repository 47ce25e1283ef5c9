/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table with open addressing, by the pointer of the mangled name. */
#include "symbols/elf/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64, MAX_TEXT = 4 << 20 };

struct slot {
	const char *name;        /* NULL: free */
	uint32_t at;             /* in text; 0: the name is shown unchanged */
};

struct demangled {
	struct slot *slots;
	size_t n, cap;           /* cap: a power of two */
	struct parser_bytes text;    /* begins with an unused byte */
};

/* ---- the handler ------------------------------------------------------------ */

int demangle_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	const char *p = q->bytes, *end = p + q->size;
	char buf[DEMANGLE_MAX];

	if (!q->size || end[-1])
		return -EINVAL;
	for (; p < end; p += strlen(p) + 1) {
		if (demangle(p, buf))
			buf[0] = '\0';
		if (parser_put(out, buf, strlen(buf) + 1))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the table -------------------------------------------------------------- */

static struct slot *slot_of(const struct demangled *d, const char *name)
{
	size_t i = (size_t)((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (i &= d->cap - 1; d->slots[i].name && d->slots[i].name != name; i = (i + 1) & (d->cap - 1))
		;
	return &d->slots[i];
}

static int grow(struct demangled *d)
{
	struct demangled bigger = { .cap = d->cap ? d->cap * 2 : FIRST_SLOTS };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < d->cap; i++)
		if (d->slots[i].name)
			*slot_of(&bigger, d->slots[i].name) = d->slots[i];
	free(d->slots);
	d->slots = bigger.slots;
	d->cap = bigger.cap;
	return 0;
}

static void empty(struct demangled *d)
{
	memset(d->slots, 0, d->cap * sizeof(*d->slots));
	d->n = 0;
	d->text.size = 0;
}

static int room(struct demangled *d)
{
	if (d->text.size > MAX_TEXT)
		empty(d);
	if (2 * d->n >= d->cap && grow(d))
		return -ENOMEM;
	return d->text.size ? 0 : parser_put(&d->text, "", 1);
}

/* Appends the answer; returns its offset, or 0 for none. */
static uint32_t ask(struct demangled *d, struct parser *p, const char *name)
{
	struct parser_question q = { .kind = PARSER_DEMANGLE, .bytes = name, .size = strlen(name) + 1 };
	uint32_t at = (uint32_t)d->text.size;
	struct parser_bytes out;
	const char *text;

	if (parser_ask(p, &q, &out))
		return 0;
	text = out.data;
	if (out.size < 2 || out.size > DEMANGLE_MAX || memchr(text, '\0', out.size) != text + out.size - 1 ||
	    parser_put(&d->text, text, out.size))
		at = 0;
	parser_bytes_free(&out);
	return at;
}

const char *demangled_name(struct demangled **dp, struct parser *p, const char *name)
{
	struct demangled *d = *dp;
	struct slot *slot;

	if (!is_mangled(name) || !p)
		return name;
	if (!d)
		d = *dp = calloc(1, sizeof(*d));
	if (!d || room(d))
		return name;
	slot = slot_of(d, name);
	if (!slot->name) {
		*slot = (struct slot){ name, ask(d, p, name) };
		d->n++;
	}
	return slot->at ? (const char *)d->text.data + slot->at : name;
}

bool demangled_has(const struct demangled *d, const char *name)
{
	return !is_mangled(name) || (d && d->cap && slot_of(d, name)->name);
}

size_t demangled_bytes(const struct demangled *d)
{
	return d ? sizeof(*d) + d->cap * sizeof(*d->slots) + d->text.cap : 0;
}

void demangled_free(struct demangled *d)
{
	if (!d)
		return;
	free(d->slots);
	parser_bytes_free(&d->text);
	free(d);
}
