/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_at [--apart] < LINES: for each line "FILE HEX", an offset in the file, prints
 * "name+0xinto" or "[unknown]"; with --apart by a process without privilege.
 */
#include "symbols/elf/demangle.h"
#include "symbols/elf/symsource.h"
#include "symbols/parser_kinds.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILES = 512 };

struct file {
	char path[512];
	struct symfile *symbols;
	struct demangled *names;
};

static struct parser *parser;

static struct file *get(const char *path)
{
	static struct file files[MAX_FILES];
	static int n;
	int fd;

	for (int i = 0; i < n; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	if (n == MAX_FILES)
		exit(1);
	snprintf(files[n].path, sizeof(files[n].path), "%s", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		files[n].symbols = symsource_open(parser, &opener_direct, fd, 0, path, NULL);
		close(fd);
	}
	return &files[n++];
}

int main(int argc, char **argv)
{
	unsigned long long at;
	char path[512];

	parser = parser_new_all(&(struct parser_opts){ argc > 1 && !strcmp(argv[1], "--apart") ?
						   PARSER_APART : PARSER_HERE });
	if (!parser)
		return 1;
	while (scanf("%511s %llx", path, &at) == 2) {
		struct file *f = get(path);
		const char *name;
		uint64_t into;

		if (!f->symbols || !symfile_find(f->symbols, at, &name, &into))
			printf("[unknown]\n");
		else
			printf("%s+0x%llx\n", demangled_name(&f->names, parser, name), (unsigned long long)into);
	}
	return 0;
}
