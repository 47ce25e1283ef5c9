/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event lists: the text behind -e, taken apart.
 *
 *   list  = entry *( "," entry ) [","]
 *   entry = item | [ word ":" ] "{" item *( "," item ) "}" [ ":" modifiers ]
 *   item  = name [ "/" [ filter | terms ] [ "/" modifiers ] *( "/" attr ) "/" ]
 *                                                        (the last "/" may be left out at the end)
 *   terms = word [ "=" value ] *( "," word [ "=" value ] )
 *   attr  = word [ "=" value ]
 *
 * Terms are perf's, and stand where others have their filter: cpu/event=0x76,umask=0/u,
 * cycles/period=100000/. No filter reads like terms: a single "=" is no operator of one, and
 * a comma joins no conditions. So a first slot that consists of terms up to its slash is
 * taken whole, commas included; without a "=" only where the name has no system (a slot of a
 * tracepoint may end at the comma). What they mean, or whether a single word (cycles/cpu/) is
 * a filter after all, is for whoever knows the name: a PMU's are terms, see plain.c. Behind the
 * slot, letters of perf's modifiers are no attribute.
 *
 * Commas and slashes inside '...', "..." and (...) do not separate. This file knows
 * text only: whether an event exists is found out by whoever opens it.
 *
 * Quotes only protect: they stay where they are (comm=="x" keeps them, and so does a
 * name, uprobe:f@"path"). The exception is a filter or a value that is one quoted string
 * as a whole: alias="x y" means x y; in it, a backslash before the quote or before
 * another backslash is taken away. An empty attribute (name/filter///) says nothing and
 * is left out, so that a script may put an empty variable there.
 */
#ifndef EVENTS_SPEC_H
#define EVENTS_SPEC_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>

struct spec_attr {
	char *name;
	char *value;          /* NULL where there was no "=" */
	size_t at;            /* offset of the attribute in the list's text */
	size_t value_at;      /* offset of the value; that of its end where there is none */
};

struct spec_item {
	char *sys;            /* before the first ":" of the name; NULL without one */
	char *name;           /* the rest; may be a glob */
	char *filter;         /* the first slot; NULL if absent or empty */
	bool terms;           /* it reads like terms */
	char *modifiers;      /* behind it: "u"; NULL: none */
	size_t group;         /* which of the list's, from 1; 0: none */
	struct spec_attr *attrs;   /* all of them, in order, known or not */
	size_t nattrs;
	size_t at, len;       /* where the item stands in the list's text */
	size_t filter_at, modifiers_at;
	const char *text;     /* the whole list, owned by the spec_list */
};

/* Events in braces: items in a row. */
struct spec_group {
	char *name, *modifiers;   /* of NAME:{...}:MODIFIERS; NULL: none */
	size_t at;                /* where it begins in the list's text */
};

struct spec_list {
	struct spec_item *items;
	size_t nitems;
	struct spec_group *groups;
	size_t ngroups;
	char **texts;         /* one per spec_parse() call: -e may be repeated */
	size_t ntexts;
};

/* What is wrong, where, and what was expected there. */
struct spec_error {
	char message[400];
	char expected[512];
	char text[512];       /* the text around the place, escaped for a terminal */
	size_t at;            /* column of the caret in text */
};

/* Appends the items of `text` to `list` (zeroed before the first call).
 * Returns 0, -EINVAL with err (if not NULL) filled, or -ENOMEM. On failure list is as before. */
int spec_parse(struct spec_list *list, const char *text, struct spec_error *err);
void spec_free(struct spec_list *list);

/* The attribute's value: NULL if absent, "" if present without "=". The last one wins. */
const char *spec_attr(const struct spec_item *item, const char *name);
/* Whether the name holds * ? or [ outside quotes. */
bool spec_is_glob(const char *name);

/* Fills err (which may be NULL) with a caret at offset `at` of text; expected may be NULL. */
void spec_complain_of(struct spec_error *err, const char *text, size_t at, const char *message,
		      const char *expected);
/* Fills err with a caret at offset `at` of the item's list (for errors found later). */
void spec_complain(struct spec_error *err, const struct spec_item *item, size_t at,
		   const char *message, const char *expected);
/* The same as a fault: wrong usage. Returns -1. */
int spec_fault(struct fault *f, const struct spec_item *item, size_t at, const char *message,
	       const char *expected);
/* The offset in the list's text of what stands at `offset` of the filter or value that
 * begins at `from` (filter_at, value_at): quotes around it may have been taken away. */
size_t spec_place(const struct spec_item *item, size_t from, size_t offset);
/* "message\n  text\n    ^\nexpected: ..." for a terminal. Returns the length. */
size_t spec_error_text(const struct spec_error *err, char *buf, size_t size);

#endif
