/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imposter - maps a file many times that looks like an interpreter: each of its symbols has the hash of _PyRuntime,
 * and another name.
 *
 *   imposter N    N mappings; prints "ready", and waits for the end of stdin
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SYMBOLS = 4096, SIZE = 1 << 18, DYNAMIC = 0x200, STRINGS = 0x400, HASHES = 0x1000, TABLE = 0x10000 };

static char file[SIZE];

static unsigned int hash_of(const char *name)
{
	unsigned int h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static void make(void)
{
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_memsz = SIZE }, { .p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC, .p_memsz = 4 * sizeof(Elf64_Dyn) },
	};
	const Elf64_Dyn dynamic[] = { { DT_SYMTAB, { TABLE } }, { DT_STRTAB, { STRINGS } }, { DT_GNU_HASH, { HASHES } } };
	const unsigned int one = 1, hash = hash_of("_PyRuntime") & ~1u, head[] = { one, one, 0, 0, one };
	Elf64_Ehdr elf = { .e_phentsize = sizeof(*segments), .e_phnum = 2, .e_phoff = sizeof(elf) };
	const Elf64_Sym symbol = { .st_shndx = 1 };

	memcpy(elf.e_ident, ELFMAG, SELFMAG);
	elf.e_ident[EI_CLASS] = ELFCLASS64;
	elf.e_ident[EI_DATA] = *(const char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	memcpy(file, &elf, sizeof(elf));
	memcpy(file + sizeof(elf), segments, sizeof(segments));
	memcpy(file + DYNAMIC, dynamic, sizeof(dynamic));
	strcpy(file + STRINGS, "_PyRuntimes");
	memcpy(file + HASHES, head, sizeof(head));
	for (int i = 0; i < SYMBOLS; i++) {
		memcpy(file + HASHES + sizeof(head) + (size_t)i * sizeof(hash), &hash, sizeof(hash));
		memcpy(file + TABLE + (size_t)i * sizeof(symbol), &symbol, sizeof(symbol));
	}
}

int main(int argc, char **argv)
{
	FILE *f = tmpfile();
	char c;

	make();
	if (!f || fwrite(file, SIZE, 1, f) != 1 || fflush(f))
		return 1;
	/* neighbours with the same rights would be one mapping */
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++)
		if (mmap(NULL, SIZE, i & 1 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
			return 1;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
