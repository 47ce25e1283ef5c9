/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of probes in an event list:
 *
 *	kprobe:FUNCTION[+OFFSET]         kretprobe:FUNCTION
 *	uprobe:FUNCTION[+OFFSET]@FILE    uretprobe:FUNCTION@FILE
 *	usdt:PROVIDER:NAME@FILE
 *
 * FUNCTION may be quoted: 'shop::Cart::add(int)'; and so may FILE.
 */
#ifndef EVENTS_PROBENAME_H
#define EVENTS_PROBENAME_H

#include "events/probes.h"
#include "events/spec.h"

#include <stdint.h>

struct probe_word {
	const char *word;         /* before the colon */
	enum probe_space space;
	bool at_return, usdt;
	const char *expected;
};

enum { PROBE_FUNCTION_SIZE = 8192 + 2 };   /* a symbol of places.h, in quotes */

struct probe_name {
	const struct probe_word *kind;
	char function[PROBE_FUNCTION_SIZE];      /* without quotes; or "provider:name", or a number: an offset in the file */
	uint64_t offset;
	char path[4096];          /* "": none */
	size_t path_at;           /* position in the event list */
	bool glob;                /* it has * or ? (uprobe:, uretprobe:, usdt:) */
};

/* NULL: the item is no probe. */
const struct probe_word *probe_word_of(const struct spec_item *item);
/* Parses the name of an item that is a probe. 0, or -1 with f. */
int probe_name_parse(const struct spec_item *item, struct probe_name *out, struct fault *f);
/* A function and a path as an event list takes them: in quotes, if they need them. The function by its name or, if that has
 * no such form because it is too long or has both kinds of quotes, by its linker's name. */
void probe_function_text(const char *function, const char *symbol, char buf[PROBE_FUNCTION_SIZE]);
void probe_path_text(const char *path, char *buf, size_t size);
/* The position in the event list of the offset `at` in item->name. */
size_t probe_name_place(const struct spec_item *item, size_t at);
#endif
