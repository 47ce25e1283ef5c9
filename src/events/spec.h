/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses event lists: the text after -e.
 *
 *   list  = entry *( "," entry ) [","]
 *   entry = item | [ word ":" ] "{" item *( "," item ) "}" [ ":" modifiers ]
 *   item  = name [ "/" [ filter | terms ] [ "/" modifiers ] *( "/" attr ) "/" ]
 *                                                        (the last "/" is optional at the end)
 *   terms = word [ "=" value ] *( "," word [ "=" value ] )
 *   attr  = word [ "=" value ]
 *
 * The first slot has a filter or perf's terms: cpu/event=0x76,umask=0/u, cycles/period=100000/. A
 * filter cannot look like terms: it has no single "=" and no comma between conditions. So a first
 * slot that consists of terms up to its slash is taken whole, including its commas. One
 * exception: if the name has a system, terms with a comma but without any "=" are not taken,
 * since a tracepoint's slot may end at the comma. The code that knows the event decides what the
 * terms mean, and whether a single word (cycles/cpu/) is a filter after all (stream/list/plain.c).
 * After this slot, perf's modifier letters are modifiers, not an attribute.
 *
 * Commas and slashes inside '...', "..." and (...) do not separate. This file only handles text;
 * it does not know which events exist.
 *
 * In the name of a probe in a file, slashes of the file's path do not separate, even without quotes (uprobe:main@./app):
 * the path ends at an empty slot, at one with an operator of a filter, or at the end of the item.
 *
 * Quotes protect and stay in the text: comm=="x" keeps them, and so does a name, uprobe:f@"path".
 * Only around a whole filter or value are they removed: alias="x y" means x y; in such a string,
 * a backslash before the quote or before another backslash is removed. An empty attribute
 * (name/filter///) is ignored, so that a script may use an empty variable there.
 */
#ifndef EVENTS_SPEC_H
#define EVENTS_SPEC_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>

struct spec_attr {
	char *name;
	char *value;          /* NULL without "=" */
	size_t at;            /* offset of the attribute in the list's text */
	size_t value_at;      /* offset of the value; without one, of the attribute's end */
};

struct spec_item {
	char *sys;            /* the name before the first ":"; NULL without one */
	char *name;           /* the rest; may be a glob */
	char *filter;         /* the first slot; NULL if absent or empty */
	bool terms;           /* the first slot looks like terms */
	bool user_only;       /* :u was behind the name of a tracepoint: set by who knows that it is one */
	char *modifiers;      /* after the first slot: "u"; NULL: none */
	size_t group;         /* number in the list's groups, from 1; 0: none */
	struct spec_attr *attrs;   /* all attributes, in order, known or not */
	size_t nattrs;
	size_t at, len;       /* position in the list's text */
	size_t filter_at, modifiers_at;
	const char *text;     /* the whole list, owned by the spec_list */
};

/* Events in braces: consecutive items. */
struct spec_group {
	char *name, *modifiers;   /* from NAME:{...}:MODIFIERS; NULL: none */
	size_t at;                /* its start in the list's text */
};

struct spec_list {
	struct spec_item *items;
	size_t nitems;
	struct spec_group *groups;
	size_t ngroups;
	char **texts;         /* one per spec_parse() call: -e may be repeated */
	size_t ntexts;
};

/* What is wrong, where, and what was expected. */
struct spec_error {
	char message[400];
	char expected[512];
	char text[512];       /* the text around the error, escaped for a terminal */
	size_t at;            /* column of the caret in text */
};

/* Appends the items of `text` to `list` (zeroed before the first call). Returns 0, -EINVAL with
 * err (if not NULL) filled, or -ENOMEM. On failure list is unchanged. */
int spec_parse(struct spec_list *list, const char *text, struct spec_error *err);
void spec_free(struct spec_list *list);

/* The attribute's value: NULL if absent, "" if present without "=". The last one counts. */
const char *spec_attr(const struct spec_item *item, const char *name);
/* Whether the name has * ? or [ outside quotes. */
bool spec_is_glob(const char *name);

/* Fills err (which may be NULL) with a caret at offset `at` in text; expected may be NULL. */
void spec_complain_of(struct spec_error *err, const char *text, size_t at, const char *message,
		      const char *expected);
/* Fills err with a caret at offset `at` in the item's list (for errors found later). */
void spec_complain(struct spec_error *err, const struct spec_item *item, size_t at,
		   const char *message, const char *expected);
/* spec_complain() as a fault: wrong usage. Returns -1. */
int spec_fault(struct fault *f, const struct spec_item *item, size_t at, const char *message,
	       const char *expected);
/* From an `offset` in the filter or value that begins at `from` (filter_at, value_at) to the
 * offset in the list's text: quotes around it may have been removed. */
size_t spec_place(const struct spec_item *item, size_t from, size_t offset);
/* "message\n  text\n    ^\nexpected: ..." for a terminal. Returns the length. */
size_t spec_error_text(const struct spec_error *err, char *buf, size_t size);

#endif
