/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/image.h"

#include "base/now.h"
#include "base/opener.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 64, MAX_DYNAMIC = 256, MAX_CHAIN = 4096, MAX_NAME = 64, MAX_BUCKETS = 1 << 24 };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { OWN_ORDER = ELFDATA2LSB };
#else
enum { OWN_ORDER = ELFDATA2MSB };
#endif

static int read_head(const struct memory *m, uint64_t start, Elf64_Ehdr *head)
{
	int rc = memory_get(m, start, head, sizeof(*head));

	if (rc)
		return rc;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_DATA] != OWN_ORDER)
		return -ENOEXEC;
	if (head->e_ident[EI_CLASS] == ELFCLASS32)
		return -EMEDIUMTYPE;
	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_phentsize != sizeof(Elf64_Phdr) || !head->e_phnum ||
	    head->e_phnum > MAX_SEGMENTS)
		return -ENOEXEC;
	return 0;
}

/* Sets bias, end and data; returns the dynamic section's segment, or NULL. */
static const Elf64_Phdr *place(struct image *image, const Elf64_Phdr *segments, size_t n)
{
	const Elf64_Phdr *dynamic = NULL, *first = NULL;

	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *p = &segments[i];

		if (p->p_type == PT_DYNAMIC)
			dynamic = p;
		if (p->p_type != PT_LOAD)
			continue;
		if (!first) {
			first = p;
			image->bias = image->start - (p->p_vaddr - p->p_offset);
		}
		if (image->bias + p->p_vaddr + p->p_memsz > image->end)
			image->end = image->bias + p->p_vaddr + p->p_memsz;
		if (p->p_flags & PF_W) {
			image->data = image->bias + p->p_vaddr;
			image->ndata = p->p_filesz;
		}
	}
	return first ? dynamic : NULL;
}

/* Some dynamic linkers replace the addresses in the dynamic section by those in memory, others leave them. */
static uint64_t relocated(const struct image *image, uint64_t addr)
{
	return addr >= image->start && addr < image->end ? addr : addr + image->bias;
}

static int take_dynamic(struct image *image, const Elf64_Dyn *entries, size_t n)
{
	for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
		uint64_t addr = relocated(image, entries[i].d_un.d_ptr);

		switch (entries[i].d_tag) {
		case DT_SYMTAB:
			image->symbols = addr;
			break;
		case DT_STRTAB:
			image->strings = addr;
			break;
		case DT_GNU_HASH:
			image->gnu_hash = addr;
			break;
		case DT_HASH:
			image->hash = addr;
			break;
		default:
			break;
		}
	}
	return image->symbols && image->strings && (image->gnu_hash || image->hash) ? 0 : -ENOEXEC;
}

int image_open(struct image *image, const struct memory *m, uint64_t start)
{
	Elf64_Phdr segments[MAX_SEGMENTS];
	Elf64_Dyn entries[MAX_DYNAMIC];
	const Elf64_Phdr *dynamic;
	Elf64_Ehdr head;
	size_t n;
	int rc;

	*image = (struct image){ .memory = m, .start = start };
	rc = read_head(m, start, &head);
	if (!rc)
		rc = memory_get(m, start + head.e_phoff, segments, head.e_phnum * sizeof(*segments));
	if (rc)
		return rc;
	dynamic = place(image, segments, head.e_phnum);
	n = dynamic ? dynamic->p_memsz / sizeof(*entries) : 0;
	if (n > MAX_DYNAMIC)
		n = MAX_DYNAMIC;
	if (!n)
		return -ENOEXEC;
	rc = memory_get(m, image->bias + dynamic->p_vaddr, entries, n * sizeof(*entries));
	return rc ? rc : take_dynamic(image, entries, n);
}

/* ---- symbols --------------------------------------------------------------------------- */

/* 0: symbol number `i` is defined and has that name; -ENOENT. */
static int is_symbol(const struct image *image, uint32_t i, const char *name, uint64_t *addr)
{
	size_t len = strlen(name) + 1;
	char text[MAX_NAME];
	Elf64_Sym sym;
	int rc = memory_get(image->memory, image->symbols + (uint64_t)i * sizeof(sym), &sym, sizeof(sym));

	if (rc)
		return rc;
	if (sym.st_shndx == SHN_UNDEF || len > sizeof(text))
		return -ENOENT;
	rc = memory_get(image->memory, image->strings + sym.st_name, text, len);
	if (rc || memcmp(text, name, len))
		return -ENOENT;
	*addr = sym.st_shndx == SHN_ABS ? sym.st_value : image->bias + sym.st_value;
	return 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* In the file: number of buckets, first symbol in the table, words of the Bloom filter (which is not used here), its
 * shift; the filter; the buckets; then a hash for each symbol, whose lowest bit ends a bucket's chain. */
static int find_gnu(const struct image *image, const char *name, uint64_t *addr)
{
	const struct memory *m = image->memory;
	const uint32_t hash = gnu_hash(name);
	uint32_t head[4], at = 0, word = 0;
	uint64_t buckets;
	int rc = memory_get(m, image->gnu_hash, head, sizeof(head));

	if (rc || !head[0] || head[0] > MAX_BUCKETS)
		return rc ? rc : -ENOEXEC;
	buckets = image->gnu_hash + sizeof(head) + head[2] * sizeof(uint64_t);
	rc = memory_get(m, buckets + hash % head[0] * sizeof(at), &at, sizeof(at));
	for (int i = 0; !rc && at >= head[1] && i < MAX_CHAIN && !(word & 1); i++, at++) {
		rc = memory_get(m, buckets + (head[0] + (uint64_t)(at - head[1])) * sizeof(word), &word, sizeof(word));
		if (!rc && (word | 1) == (hash | 1) && !is_symbol(image, at, name, addr))
			return 0;
	}
	return rc ? rc : -ENOENT;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t h = 0;

	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

/* In the file: number of buckets, number of symbols; the buckets; then for each symbol the next one of its chain. */
static int find_sysv(const struct image *image, const char *name, uint64_t *addr)
{
	const struct memory *m = image->memory;
	uint32_t head[2], at = 0;
	int rc = memory_get(m, image->hash, head, sizeof(head));

	if (rc || !head[0] || head[0] > MAX_BUCKETS)
		return rc ? rc : -ENOEXEC;
	rc = memory_get(m, image->hash + sizeof(head) + sysv_hash(name) % head[0] * sizeof(at), &at, sizeof(at));
	for (int i = 0; !rc && at && at < head[1] && i < MAX_CHAIN; i++) {
		if (!is_symbol(image, at, name, addr))
			return 0;
		rc = memory_get(m, image->hash + sizeof(head) + (head[0] + (uint64_t)at) * sizeof(at), &at, sizeof(at));
	}
	return rc ? rc : -ENOENT;
}

int image_symbol(const struct image *image, const char *name, uint64_t *addr)
{
	return image->gnu_hash ? find_gnu(image, name, addr) : find_sysv(image, name, addr);
}

/* ---- images ----------------------------------------------------------------------------- */

enum { MAX_MAPPINGS = 1 << 16 };

static int each(FILE *maps, bool (*look)(void *ctx, const struct procmaps_line *map), void *ctx)
{
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + IMAGES_SECONDS * UINT64_C(1000000000);
	bool found = false;
	char *line = NULL;
	size_t room = 0;
	int rc = 0;
	ssize_t len;

	for (int i = 0; i < MAX_MAPPINGS && !rc && !found && (len = getline(&line, &room, maps)) > 0; i++) {
		struct procmaps_line map;

		if (line[len - 1] == '\n')
			len--;
		if (!procmaps_parse(line, (size_t)len, &map) || !map.ino || map.pgoff)
			continue;
		if (now_ns(CLOCK_MONOTONIC) < end)
			found = look(ctx, &map);
		else
			rc = -ETIME;
	}
	free(line);
	return rc;
}

int images_each(const struct memory *m, bool (*look)(void *ctx, const struct procmaps_line *map), void *ctx)
{
	int fd = opener_proc(&opener_direct, m->pid, "maps"), rc;
	FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!maps) {
		rc = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = each(maps, look, ctx);
	fclose(maps);
	return rc;
}
