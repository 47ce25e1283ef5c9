/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one function by place, for the files that print them. */
#ifndef ANALYSIS_PROFILES_ANNOTATE_H
#define ANALYSIS_PROFILES_ANNOTATE_H

#include "analysis/profiles/hotspots_private.h"
#include "base/search.h"

struct place_key {
	const char *file;            /* equal texts have equal addresses; NULL: unknown */
	uint64_t line;
	uint64_t at;                 /* without a line: the offset of the instruction in the program's file */
	const struct dso *object;    /* of an instruction of a line; else NULL */
};

struct place {
	struct place_key key;
	uint64_t self, total;
	struct groups insns;         /* of a line, by object and offset: of struct place */
};

struct annotation {
	const char *symbol;          /* of the hottest of its clones */
	struct groups functions;     /* of the stacks: of struct candidate */
	const struct dso *object;    /* the program; NULL: unknown, or the kernel */
	const char *dso;
	bool kernel;
	size_t others;               /* further functions with that name, not counting clones */
	struct groups places;        /* of struct place, by file and line; unknown ones last */
	const struct place *first;   /* of these; NULL: there are none */
	uint64_t self, total;
};

enum { LINE_INSNS = 4, INSN_TEXT = 512 };

struct line_insn {
	const struct dso *object;
	uint64_t at, addr;           /* offset in the file; address as linked */
	uint64_t self, total;
	char text[INSN_TEXT];
};

/* The hottest instructions of a line, by address; returns their number. */
size_t annotate_line(struct analysis *a, const struct place *line, struct line_insn out[LINE_INSNS]);
/* Prints the instructions of a function that has no known source lines. False: they are not known, either. */
bool annotate_code(struct analysis *a, const struct hotspots *h, const struct annotation *n);
#endif
