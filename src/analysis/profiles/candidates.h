/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of all stacks, and which of them have the name that was asked for: a name from the table, maybe shortened there,
 * in which namespaces and arguments may be left out. "Cart::add" is also shop::Cart<int>::add, and its clone add.isra.0.
 */
#ifndef ANALYSIS_PROFILES_CANDIDATES_H
#define ANALYSIS_PROFILES_CANDIDATES_H

#include "analysis/profiles/hotspots_private.h"

/* How well a function has the asked name. */
enum likeness {
	NOT_NAMED,
	LIKE_PLAIN,                  /* without arguments */
	LIKE_ARGUMENTS,              /* with the arguments that were asked for, but without some namespaces */
	LIKE_WHOLE,                  /* to the letter; a shortened name leaves out what its "…" stands for */
};

/* A function with the asked name, or another one. */
struct candidate {
	const char *symbol;          /* equal texts have equal addresses */
	enum likeness named;
	bool chosen;                 /* set by the caller, or by candidates_choose() */
	uint64_t weight;
};

/* All functions, with the weight of their frames: groups_free() them. */
struct groups candidates_of(const struct hotspots *h, const char *asked);
/* Chooses all that have the name; if it has arguments, and some functions have these, only those. */
void candidates_choose(struct groups *all, const char *asked);
/* The chosen function; NULL: the symbol (maybe NULL) is none. */
struct candidate *candidates_chosen(const struct groups *all, const char *symbol);
/* Whether two functions are made of the same source. */
bool candidates_are_clones(const char *symbol, const char *other);
/* A name of the table that resembles the asked one, with as many scopes; "": none does. */
void candidates_suggest(const struct groups *all, const char *asked, char *buf, size_t size);
#endif
