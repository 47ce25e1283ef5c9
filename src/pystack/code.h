/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects: the name, file and lines of each function, read once and looked at again now and then. */
#ifndef PYSTACK_CODE_H
#define PYSTACK_CODE_H

#include "pystack/offsets.h"

/* Line tables of code objects. */

/* The line of the instruction at that offset (in bytes; negative: before the first one) of a code object whose first
 * line is `first`. 0: it has none, or the table is damaged. */
int lines_find(enum line_form form, const uint8_t *table, size_t size, int first, int64_t offset);

struct codes;

struct code {
	uint64_t id;             /* unique to this function in this process */
	const char *name;        /* qualified from 3.11 on: "Job.run" */
	const char *file;        /* as compiled: mostly an absolute path, "<string>", "<frozen importlib._bootstrap>" */
	int first_line;
};

/* So many are kept: when half of it is reached, those that were not seen lately are read anew. */
enum { CODES_MOST = 1 << 18 };

/* type: the address of PyCode_Type, to which code objects must belong. All are used until codes_free(). NULL: out of
 * memory. */
struct codes *codes_new(const struct memory *m, const struct offsets *l, uint64_t type);
void codes_free(struct codes *c);
/* From now on, what was read in earlier rounds may have been freed and its memory used again. */
void codes_round(struct codes *c);
/* The code object at addr; NULL: there is none, it is not readable, or there are too many. Valid until codes_round(). */
const struct code *codes_at(struct codes *c, uint64_t addr);
/* The line of a frame whose place (struct offsets: frame.place) is this, in a code object from codes_at(). 0: not known. */
int codes_line(struct codes *c, const struct code *code, uint64_t place);
#endif
