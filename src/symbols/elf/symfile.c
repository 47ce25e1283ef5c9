/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files by libelf with read(2), not mmap(2): if a file is truncated meanwhile, that gives
 * an error and no SIGBUS. Addresses are translated by PT_LOAD only, as in the kernel: this works
 * for PIE, for programs at fixed addresses and for prelinked libraries.
 */
#include "symbols/elf/symfile_private.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 256, MAX_NOTES = 1 << 16, MAX_NOTE_SECTIONS = 24, MAX_SECTIONS = 1 << 16 };

/* ---- segments, build id --------------------------------------------------- */

/* The build id among n bytes of notes. */
static size_t note_build_id(Elf *elf, int64_t offset, size_t n, uint64_t align,
			    uint8_t id[BUILD_ID_MAX])
{
	GElf_Nhdr note;
	Elf_Data *data;
	size_t at = 0, name, desc;

	if (n > MAX_NOTES)
		return 0;
	data = elf_getdata_rawchunk(elf, offset, n, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    !note.n_descsz || note.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(id, (char *)data->d_buf + desc, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

size_t symfile_section_build_id_(Elf *elf, uint8_t id[BUILD_ID_MAX])
{
	size_t found = 0, notes = 0;
	Elf_Scn *scn = NULL;

	/* libelf keeps everything that it reads, so that is limited */
	for (int i = 0; !found && i < MAX_SECTIONS && notes < MAX_NOTE_SECTIONS && (scn = elf_nextscn(elf, scn)); i++) {
		GElf_Shdr header;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE)
			continue;
		notes++;
		found = note_build_id(elf, (int64_t)header.sh_offset, header.sh_size, header.sh_addralign, id);
	}
	return found;
}

static int read_segments(struct symfile *f, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) || !n)
		return -ENOEXEC;
	n = n < MAX_SEGMENTS ? n : MAX_SEGMENTS;
	f->segments = calloc(n, sizeof(*f->segments));
	if (!f->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph))
			return -ENOEXEC;
		if (ph.p_type == PT_NOTE && !f->build_id_size)
			f->build_id_size = note_build_id(elf, (int64_t)ph.p_offset, ph.p_filesz, ph.p_align,
							 f->build_id);
		if (ph.p_type != PT_LOAD || ph.p_vaddr + ph.p_memsz < ph.p_vaddr ||
		    ph.p_offset + ph.p_filesz < ph.p_offset)
			continue;
		f->segments[f->nsegments++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_memsz,
			(ph.p_flags & (f->what == SYMFILE_VARIABLES ? PF_W : PF_X)) != 0, (ph.p_flags & PF_X) != 0 };
	}
	if (!f->build_id_size)
		f->build_id_size = symfile_section_build_id_(elf, f->build_id);
	return f->nsegments ? 0 : -ENOEXEC;
}

/* ---- files ---------------------------------------------------------------- */

static struct symfile *read_elf(Elf *elf, enum symfile_what what, const char *file)
{
	struct symfile *f = elf ? calloc(1, sizeof(*f)) : NULL;
	int rc = !elf ? -ENOEXEC : !f ? -ENOMEM : elf_kind(elf) != ELF_K_ELF ? -ENOEXEC : 0;

	if (!rc) {
		f->what = what;
		rc = read_segments(f, elf);
	}
	if (!rc)
		rc = symfile_read_symbols_(f, elf, file);
	if (!rc)
		symfile_read_link_(f, elf);
	elf_end(elf);
	if (!rc)
		return f;
	symfile_free(f);
	errno = -rc;
	return NULL;
}

struct symfile *symfile_open(int fd, enum symfile_what what, const char *file)
{
	elf_version(EV_CURRENT);
	return read_elf(elf_begin(fd, ELF_C_READ, NULL), what, file);
}

struct symfile *symfile_from_image(void *image, size_t size, const char *file)
{
	elf_version(EV_CURRENT);
	return read_elf(elf_memory(image, size), SYMFILE_FUNCTIONS, file);
}

void symfile_free(struct symfile *f)
{
	if (!f)
		return;
	symtab_free(f->tab);
	symtab_free(f->unnamed);
	free(f->segments);
	free(f);
}

/* ---- transfer between processes --------------------------------------------- */

struct packed {
	uint64_t nsegments;
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t build_id_size;
	struct debug_link link;
	uint32_t complete, what;
	uint64_t tab_size;       /* bytes after the segments; 0: no function has a name */
	uint64_t unnamed_size;   /* bytes after these; 0: none */
};

int symfile_pack(const struct symfile *f, struct parser_bytes *out)
{
	struct packed head = { .nsegments = f->nsegments, .build_id_size = (uint32_t)f->build_id_size,
			       .link = f->link, .complete = f->complete, .what = f->what,
			       .tab_size = f->tab ? symtab_packed_size(f->tab) : 0,
			       .unnamed_size = f->unnamed ? symtab_packed_size(f->unnamed) : 0 };

	memcpy(head.build_id, f->build_id, sizeof(head.build_id));
	if (parser_put(out, &head, sizeof(head)) ||
	    parser_put(out, f->segments, f->nsegments * sizeof(*f->segments)))
		return -ENOMEM;
	if (f->tab && symtab_pack(f->tab, out))
		return -ENOMEM;
	return f->unnamed ? symtab_pack(f->unnamed, out) : 0;
}

static bool is_sane(const struct packed *head, size_t size)
{
	size_t rest = size - sizeof(*head);

	return head->nsegments && head->nsegments <= MAX_SEGMENTS &&
	       rest >= head->nsegments * sizeof(struct segment) &&
	       head->tab_size <= rest - head->nsegments * sizeof(struct segment) &&
	       head->unnamed_size == rest - head->nsegments * sizeof(struct segment) - head->tab_size &&
	       head->build_id_size <= BUILD_ID_MAX && head->what <= SYMFILE_VARIABLES &&
	       memchr(head->link.name, '\0', sizeof(head->link.name));
}

struct symfile *symfile_unpack(const void *bytes, size_t size)
{
	const char *segments = (const char *)bytes + sizeof(struct packed), *tab;
	struct symfile *f = size >= sizeof(struct packed) ? calloc(1, sizeof(*f)) : NULL;
	struct packed head;

	if (!f)
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	if (!is_sane(&head, size) || !(f->segments = calloc(head.nsegments, sizeof(*f->segments)))) {
		free(f);
		return NULL;
	}
	f->nsegments = head.nsegments;
	memcpy(f->segments, segments, f->nsegments * sizeof(*f->segments));
	memcpy(f->build_id, head.build_id, sizeof(f->build_id));
	f->build_id_size = head.build_id_size;
	f->link = head.link;
	f->complete = head.complete;
	f->what = (enum symfile_what)head.what;
	tab = segments + f->nsegments * sizeof(*f->segments);
	f->tab = head.tab_size ? symtab_unpack(tab, head.tab_size) : NULL;
	f->unnamed = head.unnamed_size ? symtab_unpack(tab + head.tab_size, head.unnamed_size) : NULL;
	if (!f->tab == !head.tab_size && !f->unnamed == !head.unnamed_size)
		return f;
	symfile_free(f);
	return NULL;
}

/* ---- lookup --------------------------------------------------------------- */

/* Variables without a value in the file (.bss) are behind its end. Mappings consist of whole pages, so bytes before and after
 * a segment in its pages are mapped, too. If two segments share a page, the one that contains the byte is used. */
bool symfile_vaddr(const struct symfile *f, uint64_t offset, uint64_t *vaddr)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (int slack = 0; slack < 2; slack++)
		for (size_t i = 0; i < f->nsegments; i++) {
			const struct segment *s = &f->segments[i];
			uint64_t from = slack ? s->offset & ~page : s->offset;
			uint64_t to = s->offset + (f->what == SYMFILE_VARIABLES ? s->memsz : s->filesz);

			if (slack)
				to = (to + page) & ~page;
			if (!s->used || offset < from || offset >= to)
				continue;
			*vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	return false;
}

/* A symbol of unknown size does not reach into the next function. */
static bool find(const struct symfile *f, uint64_t offset, uint64_t *vaddr, struct symtab_hit *hit)
{
	struct symtab_hit unnamed;
	bool found;

	if (!symfile_vaddr(f, offset, vaddr))
		return false;
	found = f->tab && symtab_find(f->tab, *vaddr, hit);
	if ((found && !hit->open) || !f->unnamed || !symtab_find(f->unnamed, *vaddr, &unnamed) ||
	    (found && unnamed.start <= hit->start))
		return found;
	*hit = unnamed;
	return true;
}

bool symfile_range(const struct symfile *f, uint64_t offset, uint64_t *start, uint64_t *end)
{
	struct symtab_hit hit;
	uint64_t vaddr;

	if (!find(f, offset, &vaddr, &hit))
		return false;
	*start = hit.start;
	*end = hit.end;
	return true;
}

bool symfile_find(const struct symfile *f, uint64_t offset, const char **name, uint64_t *into)
{
	struct symtab_hit hit;
	uint64_t vaddr;

	if (!find(f, offset, &vaddr, &hit))
		return false;
	*name = hit.name;
	*into = vaddr - hit.start;
	return true;
}

bool symfile_find_behind(const struct symfile *f, uint64_t offset, uint64_t distance, struct symfile_variable *v)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	struct symtab_hit hit;

	for (size_t i = 0; i < f->nsegments; i++) {
		const struct segment *s = &f->segments[i];
		const uint64_t vaddr = s->vaddr + (offset - s->offset) + distance;

		if (!s->code || offset < (s->offset & ~page) || offset >= s->offset + s->filesz)
			continue;
		if (!f->tab || !symtab_find(f->tab, vaddr, &hit) || hit.open)
			return false;
		*v = (struct symfile_variable){ hit.name, vaddr - hit.start, hit.end - hit.start };
		return true;
	}
	return false;
}

size_t symfile_build_id(const struct symfile *f, uint8_t id[BUILD_ID_MAX])
{
	memcpy(id, f->build_id, f->build_id_size);
	return f->build_id_size;
}

bool symfile_is_complete(const struct symfile *f)
{
	return f->complete;
}

const struct debug_link *symfile_debug_link(const struct symfile *f)
{
	return f->link.name[0] ? &f->link : NULL;
}

size_t symfile_bytes(const struct symfile *f)
{
	return sizeof(*f) + f->nsegments * sizeof(*f->segments) + (f->tab ? symtab_bytes(f->tab) : 0) +
	       (f->unnamed ? symtab_bytes(f->unnamed) : 0);
}
