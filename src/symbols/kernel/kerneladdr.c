/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/kernel/kerneladdr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t kernel_address(const char *symbol, const struct opener *o)
{
	int fd = opener_proc(o, 0, "kallsyms");
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512], name[256];
	uint64_t addr, found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) == 2 && !strcmp(name, symbol))
			found = addr;
	if (f)
		fclose(f);
	return found;
}

size_t kernel_build_id(uint8_t id[ELFID_MAX])
{
	FILE *f = fopen("/sys/kernel/notes", "re");
	char notes[4096];
	size_t n = f ? fread(notes, 1, sizeof(notes), f) : 0;

	if (f)
		fclose(f);
	return elfid_of_notes(notes, n, 4, id);
}
