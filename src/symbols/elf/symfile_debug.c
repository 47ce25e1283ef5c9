/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that were moved out of a file: into a debug file, found by .gnu_debuglink (with its
 * checksum) or by its build id, or into .gnu_debugdata, compressed.
 */
#include "symbols/elf/symfile_private.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

#define MAX_MINI (256ull << 20)          /* limit for the unpacked .gnu_debugdata */
#define MAX_LZMA_MEMORY (128ull << 20)

/* The section's raw content; NULL: there is none. */
static Elf_Data *section_named(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *have;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS ||
		    header.sh_size > MAX_SECTION)
			continue;
		have = elf_strptr(elf, strings, header.sh_name);
		if (have && !strcmp(have, name))
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

/* ---- .gnu_debuglink --------------------------------------------------------- */

/* A file name, padded with zeros to a multiple of four, then the file's CRC-32 in the file's byte order. */
void symfile_read_link_(struct symfile *f, Elf *elf)
{
	Elf_Data *data = section_named(elf, ".gnu_debuglink");
	const unsigned char *p;
	size_t len;
	bool big = false;
	char *ident = elf_getident(elf, NULL);

	if (!data || !data->d_buf || !ident)
		return;
	big = ident[EI_DATA] == ELFDATA2MSB;
	len = strnlen(data->d_buf, data->d_size);
	if (!len || len >= sizeof(f->link.name) || ((len + 4) & ~3ul) + 4 > data->d_size ||
	    memchr(data->d_buf, '/', len))
		return;
	p = (const unsigned char *)data->d_buf + ((len + 4) & ~3ul);
	f->link.crc = big ? (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3] :
			    (uint32_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
	memcpy(f->link.name, data->d_buf, len);
}

static bool has_crc(int fd, uint32_t want)
{
	unsigned char *buf = malloc(CHUNK);
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n = -1;

	while (buf && (n = pread(fd, buf, CHUNK, at)) > 0) {
		crc = lzma_crc32(buf, (size_t)n, crc);
		at += n;
	}
	free(buf);
	return !n && at && crc == want;
}

/* ---- by build id ------------------------------------------------------------ */

/* Debug files have note sections, but no data in their segments. */
static bool has_build_id_of(Elf *elf, const struct symfile *f)
{
	uint8_t id[BUILD_ID_MAX];
	size_t n = symfile_section_build_id_(elf, id);

	return n && n == f->build_id_size && !memcmp(id, f->build_id, n);
}

static int replace_table(struct symfile *f, Elf *elf)
{
	struct symtab *tab = symtab_new();
	int rc = tab ? symfile_add_table_(f, tab, elf, SHT_SYMTAB) : -ENOMEM;

	if (!rc && !symtab_count(tab))
		rc = -ENOENT;
	if (!rc && f->tab)
		rc = symtab_copy_group(tab, f->tab, SYMFILE_STUBS);
	if (!rc)
		rc = symtab_finish(tab);
	if (rc) {
		symtab_free(tab);
		return rc;
	}
	symtab_free(f->tab);
	symtab_free(f->unnamed);
	f->tab = tab;
	f->unnamed = NULL;
	f->complete = true;
	return 0;
}

int symfile_add_debug(struct symfile *f, int fd, bool by_link)
{
	Elf *elf;
	int rc;

	if (by_link && (!f->link.name[0] || !has_crc(fd, f->link.crc)))
		return -ESTALE;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		rc = -ENOEXEC;
	else if (!by_link && !has_build_id_of(elf, f))
		rc = -ESTALE;
	else
		rc = replace_table(f, elf);
	elf_end(elf);
	return rc;
}

/* ---- .gnu_debugdata --------------------------------------------------------- */

/* Unpacks an xz stream, up to MAX_MINI bytes; NULL: malformed. */
static void *unpack(const void *in, size_t size, size_t *out_size)
{
	lzma_stream s = LZMA_STREAM_INIT;
	size_t cap = size < MAX_MINI / 4 ? size * 4 + CHUNK : MAX_MINI;
	unsigned char *out = malloc(cap), *more;
	lzma_ret rc = lzma_stream_decoder(&s, MAX_LZMA_MEMORY, LZMA_CONCATENATED);

	s.next_in = in;
	s.avail_in = size;
	while (out && rc == LZMA_OK) {
		s.next_out = out + s.total_out;
		s.avail_out = cap - s.total_out;
		rc = lzma_code(&s, LZMA_FINISH);
		if (rc != LZMA_OK || s.avail_out)
			continue;
		more = cap < MAX_MINI ? realloc(out, cap *= 2) : NULL;
		if (!more)
			break;
		out = more;
	}
	*out_size = s.total_out;
	lzma_end(&s);
	if (rc == LZMA_STREAM_END)
		return out;
	free(out);
	return NULL;
}

int symfile_add_mini_(const struct symfile *f, struct symtab *tab, Elf *elf)
{
	Elf_Data *data = section_named(elf, ".gnu_debugdata");
	size_t size;
	char *image;
	Elf *mini;
	int rc = 0;

	if (!data || !data->d_buf || !data->d_size)
		return 0;
	image = unpack(data->d_buf, data->d_size, &size);
	if (!image)
		return 0;
	mini = elf_memory(image, size);
	if (mini && elf_kind(mini) == ELF_K_ELF)
		rc = symfile_add_table_(f, tab, mini, SHT_SYMTAB);
	elf_end(mini);
	free(image);
	return rc;
}
