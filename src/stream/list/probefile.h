/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a probe: opened, and searched for the function or USDT probe that -e names. */
#ifndef STREAM_LIST_PROBEFILE_H
#define STREAM_LIST_PROBEFILE_H

#include "events/probename.h"
#include "symbols/dwarf/params.h"
#include "symbols/elf/places.h"

#include <limits.h>

struct probe_file {
	int fd;                  /* -1: none */
	int debug;               /* the file with its DWARF, if that is another one; -1: none, or not looked for yet */
	struct parser *parser;
	char path[32];           /* for a probe's definition: leads to fd */
	char found[PATH_MAX];    /* the file's own path: debug files are looked for beside it */
	struct places places;
	uint64_t *offsets;       /* the function is a number, or several with blanks between them: offsets in the file; no places */
	size_t noffsets;
};

/* 0, or -1 with f: an error in the item. Without a glob, all places have the same name. Close in both cases. */
int probe_file_open(struct probe_file *file, const struct spec_item *item, const struct probe_name *name, struct fault *f);
/* Parameters of the function at that place, as params_find(). */
int probe_file_params(struct probe_file *file, const struct place *place, enum params_what what, const char *name,
		      struct params *out);
/* probeplace.c: whether name->offset is the start of an instruction of that function, or a number the one of a byte in the
 * file. 0, or -1 with f: an error in the item. */
int probe_place_check(const struct probe_file *file, const struct spec_item *item, const struct probe_name *name,
		      const struct place *p, struct fault *f);
void probe_file_close(struct probe_file *file);
#endif
