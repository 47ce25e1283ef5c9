/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event lists: the text behind -e, taken apart.
 *
 *   list  = item *( "," item ) [","]
 *   item  = name [ "/" [filter] *( "/" attr ) "/" ]      (the last "/" may be left out at the end)
 *   attr  = word [ "=" value ]
 *
 * Commas and slashes inside '...', "..." and (...) do not separate. This file knows
 * text only: whether an event exists is found out by whoever opens it.
 */
#ifndef STREAM_SPEC_H
#define STREAM_SPEC_H

#include <stdbool.h>
#include <stddef.h>

struct spec_attr {
	char *name;
	char *value;          /* NULL where there was no "=" */
	size_t at;            /* offset of the attribute in the list's text */
};

struct spec_item {
	char *sys;            /* before the first ":" of the name; NULL without one */
	char *name;           /* the rest; may be a glob */
	char *filter;         /* NULL if absent or empty */
	struct spec_attr *attrs;   /* all of them, in order, known or not */
	size_t nattrs;
	size_t at, len;       /* where the item stands in the list's text */
	size_t filter_at;
	const char *text;     /* the whole list, owned by the spec_list */
};

struct spec_list {
	struct spec_item *items;
	size_t nitems;
	char **texts;         /* one per spec_parse() call: -e may be repeated */
	size_t ntexts;
};

/* What is wrong, where, and what was expected there. */
struct spec_error {
	char message[256];
	char expected[160];
	char text[512];       /* the text around the place, escaped for a terminal */
	size_t at;            /* column of the caret in text */
};

/* Appends the items of `text` to `list` (zeroed before the first call).
 * Returns 0, -EINVAL with err filled, or -ENOMEM. On failure list is as before. */
int spec_parse(struct spec_list *list, const char *text, struct spec_error *err);
void spec_free(struct spec_list *list);

/* The attribute's value: NULL if absent, "" if present without "=". The last one wins. */
const char *spec_attr(const struct spec_item *item, const char *name);
bool spec_is_glob(const char *name);

/* Fills err with a caret at offset `at` of the item's list (for errors found later). */
void spec_complain(struct spec_error *err, const struct spec_item *item, size_t at,
		   const char *message, const char *expected);
/* "message\n  text\n    ^\nexpected" for a terminal. Returns the length. */
size_t spec_error_text(const struct spec_error *err, char *buf, size_t size);

#endif
