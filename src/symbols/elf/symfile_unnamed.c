/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of stripped files. Their names are gone, their ranges are not: unwind tables have them. Each is named by its
 * file and address, "app+0x1320".
 */
#include "symbols/elf/fdes.h"
#include "symbols/elf/symfile_private.h"

#include <errno.h>
#include <stdio.h>

enum { MAX_FUNCTIONS = 1 << 20 };

int symfile_read_unnamed_(struct symfile *f, Elf *elf, const char *file)
{
	struct fdes fdes;
	struct fde fde;
	int rc = 0;

	if (!fdes_open(&fdes, elf, MAX_SECTION))
		return 0;
	f->unnamed = symtab_new();
	if (!f->unnamed)
		return -ENOMEM;
	for (int i = 0; i < MAX_FUNCTIONS && !rc && fdes_next(&fdes, &fde); i++) {
		char name[SYMFILE_NAME_MAX + sizeof("+0x0123456789abcdef")];
		int len = snprintf(name, sizeof(name), "%.*s+%#llx", SYMFILE_NAME_MAX, file, (unsigned long long)fde.start);

		rc = symtab_add(f->unnamed, &(struct symtab_entry){ .start = fde.start, .end = fde.end,
								    .name = name, .len = (size_t)len });
	}
	return rc;
}
