/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of ELF files: which names an address gets, and which bytes give none. */
#include "checks.h"

#include "elf_image.h"
#include "symbols/elf/symfile.h"

#include <sys/mman.h>

static const uint8_t id[4] = { 1, 2, 3, 4 };

static struct image m;
static struct symfile *f;        /* of that, by read_it() */

static int tear_down(void **state)
{
	symfile_free(f);
	f = NULL;
	return 0;
}

static struct symfile *read_image(const struct image *image, size_t size)
{
	void *copy = malloc(size ? size : 1);
	struct symfile *read;

	memcpy(copy, image->bytes, size);
	read = symfile_from_image(copy, size, "app");
	free(copy);
	return read;
}

static void read_it(void)
{
	tear_down(NULL);
	f = read_image(&m, sizeof(m.bytes));
}

static void begin(uint32_t table)
{
	image_init(&m, table, id, sizeof(id));
}

static Elf64_Sym *symbol(const char *name, uint64_t at, uint64_t size, unsigned char info)
{
	return image_symbol(&m, name, at, size, info);
}

static void is(uint64_t offset, const char *name, uint64_t into)
{
	const char *got;
	uint64_t at;

	if (!symfile_find(f, offset, &got, &at))
		got = NULL;
	if (!got != !name || (got && (strcmp(got, name) || at != into)))
		fail_msg("at %#llx: %s", (unsigned long long)offset, got ? got : "none");
}

struct look {
	uint64_t offset;
	const char *name;
	uint64_t into;
};

#define ARE_AT(...) are_at((const struct look[]){ __VA_ARGS__ }, COUNT(((struct look[]){ __VA_ARGS__ })))

static void are_at(const struct look *looks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		is(looks[i].offset, looks[i].name, looks[i].into);
}

static void has_build_id(size_t n)
{
	uint8_t got[BUILD_ID_MAX];

	assert_int_equal(symfile_build_id(f, got), n);
	assert_memory_equal(got, id, n);
}

/* Of what is damaged, any name is a short one. */
static void has_no_long_name(uint64_t from, uint64_t to)
{
	const char *name;
	uint64_t into;

	for (uint64_t code = from; f && code < to; code += 8)
		if (symfile_find(f, IMAGE_CODE + code, &name, &into))
			assert_true(strlen(name) < IMAGE_SIZE);
}

TEST_WITH(functions_have_names, NULL, tear_down)
{
	begin(SHT_SYMTAB);
	symbol("main", 0x100, 0x40, FUNCTION);
	symbol("helper", 0x140, 0x10, STATIC_FUNCTION);
	symbol("_start", 0, 0, LABEL);
	symbol("last", 0x200, 0, FUNCTION);
	symbol("table", 0x180, 0x40, OBJECT);
	read_it();
	assert_non_null(f);
	ARE_AT({ IMAGE_CODE + 0x100, "main", 0 }, { IMAGE_CODE + 0x13f, "main", 0x3f },
		{ IMAGE_CODE + 0x140, "helper", 0 }, { IMAGE_CODE + 0x150, NULL, 0 },
		{ IMAGE_CODE + 0x190, NULL, 0 }, { IMAGE_CODE + 0x20, "_start", 0x20 });
	is(IMAGE_CODE + 0x3ff, "last", 0x1ff);    /* to the end of its section */
	ARE_AT({ IMAGE_CODE + 0x400, NULL, 0 }, { 0x100, NULL, 0 }, { UINT64_MAX, NULL, 0 });
	has_build_id(sizeof(id));
	assert_true(symfile_bytes(f) > 0);
	symfile_free(NULL);
}

TEST_WITH(what_is_no_function, NULL, tear_down)
{
	begin(SHT_SYMTAB);
	symbol("undefined", 0x10, 8, FUNCTION)->st_shndx = SHN_UNDEF;
	symbol("absolute", 0x20, 8, FUNCTION)->st_shndx = SHN_ABS;
	symbol("in_data", 0x410, 8, FUNCTION)->st_shndx = SEC_DATA;
	symbol("label_in_data", 0x420, 0, LABEL)->st_shndx = SEC_DATA;
	symbol("elsewhere", 0x10000, 8, FUNCTION);
	symbol("no_section", 0x30, 8, FUNCTION)->st_shndx = 77;
	symbol("wild_name", 0x40, 8, FUNCTION)->st_name = 0x7fffffff;
	symbol("", 0x50, 8, FUNCTION);
	symbol("huge", 0x60, UINT64_MAX, FUNCTION);
	read_it();
	assert_non_null(f);
	for (uint64_t at = 0; at < 0x60; at += 8)
		is(IMAGE_CODE + at, NULL, 0);
	is(IMAGE_CODE + 0x7ff, "huge", 0x79f);    /* no further than its segment */
	is(IMAGE_CODE + 0x1000, NULL, 0);
}

TEST_WITH(of_several_names_one, NULL, tear_down)
{
	begin(SHT_SYMTAB);
	symbol("local", 0, 8, STATIC_FUNCTION);
	symbol("weak", 0, 8, WEAK_FUNCTION);
	symbol("__strong", 0, 8, FUNCTION);
	symbol("strong", 0, 8, FUNCTION);
	symbol("strong2", 0, 8, FUNCTION);
	symbol("sizeless", 0, 0, FUNCTION);
	read_it();
	ARE_AT({ IMAGE_CODE + 4, "strong", 4 }, { IMAGE_CODE + 8, NULL, 0 });
}

/* Go's linker (1.24 and later) makes a segment of its own note alone: the GNU one is in a section. */
TEST_WITH(a_build_id_that_no_segment_covers, NULL, tear_down)
{
	begin(SHT_SYMTAB);
	symbol("main.main", 0, 8, FUNCTION);
	IMAGE_AT(&m, Elf64_Phdr, POS_PHDR)[2].p_offset = IMAGE_SIZE - 0x40;   /* no note is there */
	read_it();
	has_build_id(0);
	IMAGE_AT(&m, Elf64_Shdr, POS_SHDR)[SEC_DATA] = (Elf64_Shdr){
		.sh_type = SHT_NOTE, .sh_offset = POS_NOTE, .sh_size = sizeof(Elf64_Nhdr) + 4 + sizeof(id),
		.sh_addralign = 4 };
	read_it();
	has_build_id(sizeof(id));
	is(IMAGE_CODE + 4, "main.main", 4);
}

/* A file may have as many as it likes: only so many are read. */
TEST_WITH(a_build_id_behind_many_notes, NULL, tear_down)
{
	enum { ROOM = (IMAGE_SIZE - POS_SHDR) / sizeof(Elf64_Shdr) };

	for (size_t n = 20; n <= 25; n += 5) {
		begin(SHT_SYMTAB);
		assert_true(SEC_COUNT + n <= ROOM);
		IMAGE_AT(&m, Elf64_Phdr, POS_PHDR)[2].p_offset = IMAGE_CODE;
		IMAGE_AT(&m, Elf64_Ehdr, 0)->e_shnum = (Elf64_Half)(SEC_COUNT + n);
		for (size_t i = 0; i < n; i++)
			IMAGE_AT(&m, Elf64_Shdr, POS_SHDR)[SEC_COUNT + i] = (Elf64_Shdr){
				.sh_type = SHT_NOTE, .sh_offset = i < n - 1 ? IMAGE_CODE : POS_NOTE,
				.sh_size = sizeof(Elf64_Nhdr) + 4 + sizeof(id), .sh_addralign = 4 };
		read_it();
		has_build_id(n < 24 ? sizeof(id) : 0);
	}
}

/* The table for the dynamic linker serves where there is no other. */
TEST_WITH(stripped, NULL, tear_down)
{
	begin(SHT_DYNSYM);
	symbol("exported", 0, 8, FUNCTION);
	read_it();
	is(IMAGE_CODE, "exported", 0);
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_shnum = 0;
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_shoff = 0;
	read_it();
	assert_non_null(f);
	is(IMAGE_CODE, NULL, 0);
}

TEST_WITH(marks_for_disassemblers, NULL, tear_down)
{
	begin(SHT_SYMTAB);
	symbol("function", 0, 0x40, FUNCTION);
	symbol("$x", 0x10, 0, LABEL);
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_machine = EM_AARCH64;
	read_it();
	is(IMAGE_CODE + 0x18, "function", 0x18);
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_machine = EM_ARM;
	symbol("thumb", 0x81, 0x10, FUNCTION);
	read_it();
	is(IMAGE_CODE + 0x80, "thumb", 0);
}

TEST_WITH(what_is_no_program, NULL, tear_down)
{
	begin(SHT_SYMTAB);
	assert_null(read_image(&m, 0));
	assert_null(read_image(&m, 10));
	assert_int_equal(errno, ENOEXEC);
	m.bytes[0] = 'x';
	assert_null(read_image(&m, sizeof(m.bytes)));
	memcpy(m.bytes, "!<arch>\nx", 9);
	assert_null(read_image(&m, sizeof(m.bytes)));
	begin(SHT_SYMTAB);
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_phnum = 0;
	assert_null(read_image(&m, sizeof(m.bytes)));
	assert_null(symfile_open(-1, SYMFILE_FUNCTIONS, ""));
}

/* ---- stubs of calls into other files ------------------------------------------ */

enum { SEC_PLT = SEC_COUNT, SEC_RELA, SEC_STRINGS, SEC_ALL, POS_RELA = 0x1800, POS_STRINGS = 0x1c00, STUBS = 0x600,
       SLOTS = IMAGE_VADDR + 0x10000 };

/* jmp *slot(%rip) */
static void put_jump(size_t at, uint64_t slot)
{
	int32_t d = (int32_t)(slot - (IMAGE_VADDR + at + 6));

	memcpy(m.bytes + IMAGE_CODE + at, "\xff\x25", 2);
	memcpy(m.bytes + IMAGE_CODE + at + 2, &d, sizeof(d));
}

/* As ld lays them: what finds the function at the first call, then a stub for each one. */
static void image_stubs(uint32_t table)
{
	Elf64_Shdr *s = IMAGE_AT(&m, Elf64_Shdr, POS_SHDR);
	Elf64_Rela *rela = IMAGE_AT(&m, Elf64_Rela, POS_RELA);

	begin(table);
	symbol("main", 0x100, 0x40, FUNCTION);
	symbol("malloc", 0, 0, FUNCTION)->st_shndx = SHN_UNDEF;
	symbol("_ZN3std6vectorE", 0, 0, FUNCTION)->st_shndx = SHN_UNDEF;
	put_jump(STUBS + 6, SLOTS + 16);
	put_jump(STUBS + 0x10, SLOTS + 24);
	memcpy(m.bytes + IMAGE_CODE + STUBS + 0x20, "\xf3\x0f\x1e\xfa\xf2", 5);
	put_jump(STUBS + 0x25, SLOTS + 32);
	put_jump(STUBS + 0x30, SLOTS + 40);
	rela[0] = (Elf64_Rela){ SLOTS + 32, ELF64_R_INFO(3, R_X86_64_JUMP_SLOT), 0 };
	rela[1] = (Elf64_Rela){ SLOTS + 24, ELF64_R_INFO(2, R_X86_64_JUMP_SLOT), 0 };
	rela[2] = (Elf64_Rela){ SLOTS + 40, ELF64_R_INFO(77, R_X86_64_JUMP_SLOT), 0 };
	s[SEC_PLT] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = IMAGE_VADDR + STUBS, .sh_offset = IMAGE_CODE + STUBS, .sh_size = 0x40, .sh_entsize = 0x10 };
	s[SEC_RELA] = (Elf64_Shdr){ .sh_type = SHT_RELA, .sh_offset = POS_RELA, .sh_size = 3 * sizeof(*rela),
		.sh_link = SEC_SYMS, .sh_entsize = sizeof(*rela) };
	s[SEC_STRINGS] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = POS_STRINGS, .sh_size = 6 };
	memcpy(m.bytes + POS_STRINGS, "\0.plt", 6);
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_shnum = SEC_ALL;
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_shstrndx = SEC_STRINGS;
}

static void are_named(void)
{
	ARE_AT({ IMAGE_CODE + STUBS + 6, NULL, 0 }, { IMAGE_CODE + STUBS + 0x1f, "malloc@plt", 0xf },
		{ IMAGE_CODE + STUBS + 0x20, "_ZN3std6vectorE@plt", 0 }, { IMAGE_CODE + STUBS + 0x30, NULL, 0 });
}

TEST_WITH(stubs_have_the_names_of_what_they_call, NULL, tear_down)
{
	int fd = memfd_create("debug", MFD_CLOEXEC);
	struct image debug;

	image_stubs(SHT_DYNSYM);
	read_it();
	are_named();
	image_init(&debug, SHT_SYMTAB, id, sizeof(id));
	IMAGE_AT(&debug, Elf64_Shdr, POS_SHDR)[SEC_DATA] = (Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_offset = POS_NOTE,
		.sh_size = sizeof(Elf64_Nhdr) + 4 + sizeof(id), .sh_addralign = 4 };
	image_symbol(&debug, "static_one", 0x140, 0x40, STATIC_FUNCTION);
	assert_int_equal(write(fd, debug.bytes, sizeof(debug.bytes)), sizeof(debug.bytes));
	assert_int_equal(symfile_add_debug(f, fd, false), 0);
	is(IMAGE_CODE + 0x140, "static_one", 0);
	are_named();
	close(fd);
}

TEST_WITH(stubs_that_are_damaged, NULL, tear_down)
{
	struct image good;

	image_stubs(SHT_DYNSYM);
	good = m;
	for (size_t at = POS_RELA; at < POS_SHDR + SEC_ALL * sizeof(Elf64_Shdr); at += 4)
		for (int value = 0; value < 2; value++) {
			m = good;
			memset(m.bytes + at, value ? 0xff : 1, 4);
			read_it();
			has_no_long_name(STUBS, STUBS + 0x40);
		}
}

/* ---- functions of stripped files ------------------------------------------------ */

enum { POS_FRAMES = IMAGE_SIZE - 20 - 3 * 20, POS_FRAMES_NAME = 0x2d00, FRAMES_VADDR = 0x500000,
       SEC_FRAMES = SEC_COUNT, SEC_FRAMES_NAME, SEC_WITH_FRAMES };

static unsigned char *put(unsigned char *p, uint64_t value, size_t size)
{
	memcpy(p, &value, size);
	return p + size;
}

/* Functions of 0x20 bytes at 0x100, 0x140 and 0x180; size: of an address in that encoding. */
static void image_frames(uint8_t encoding, size_t size)
{
	Elf64_Shdr *s = IMAGE_AT(&m, Elf64_Shdr, POS_SHDR);
	const uint64_t pos = IMAGE_SIZE - 20 - 3 * (12 + 2 * size);   /* at the very end; POS_FRAMES for 4 */
	unsigned char *start = m.bytes + pos, *p = start;

	begin(SHT_DYNSYM);
	symbol("exported", 0x140, 0x20, FUNCTION);
	p = put(p, 16, 4);
	p = put(p, 0, 4);
	memcpy(p, "\1zR\0\1\x78\x10\1", 8);
	p[8] = encoding;
	p = start + 20;
	for (uint64_t at = 0x100; at < 0x1c0; at += 0x40) {
		p = put(p, 4 + 2 * size + 4, 4);
		p = put(p, (uint64_t)(p - start), 4);
		p = put(p, IMAGE_VADDR + at - ((encoding & 0x10) ? FRAMES_VADDR + (uint64_t)(p - start) : 0), size);
		p = put(p, 0x20, size);
		p = put(p, 0, 4);
	}
	s[SEC_FRAMES] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = FRAMES_VADDR,
		.sh_offset = pos, .sh_size = (uint64_t)(p - start) };
	s[SEC_FRAMES_NAME] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = POS_FRAMES_NAME, .sh_size = 11 };
	memcpy(m.bytes + POS_FRAMES_NAME, "\0.eh_frame", 11);
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_shnum = SEC_WITH_FRAMES;
	IMAGE_AT(&m, Elf64_Ehdr, 0)->e_shstrndx = SEC_FRAMES_NAME;
}

TEST_WITH(functions_without_a_name_have_an_address, NULL, tear_down)
{
	static const struct { uint8_t encoding, size; } known[] = { { 0x1b, 4 }, { 0x1c, 8 }, { 0x00, 8 }, { 0x0b, 4 }, { 0x03, 4 } };

	for (size_t i = 0; i < COUNT(known); i++) {
		uint64_t start, end;

		image_frames(known[i].encoding, known[i].size);
		read_it();
		ARE_AT({ IMAGE_CODE + 0xff, NULL, 0 }, { IMAGE_CODE + 0x110, "app+0x401100", 0x10 },
			{ IMAGE_CODE + 0x120, NULL, 0 }, { IMAGE_CODE + 0x148, "exported", 8 },
			{ IMAGE_CODE + 0x19f, "app+0x401180", 0x1f });
		assert_true(symfile_range(f, IMAGE_CODE + 0x190, &start, &end));
		assert_int_equal(start, IMAGE_VADDR + 0x180);
		assert_int_equal(end, IMAGE_VADDR + 0x1a0);
		assert_false(symfile_is_complete(f));
	}
}

TEST_WITH(what_has_no_address, NULL, tear_down)
{
	image_frames(0x3b, 4);   /* relative to what only a running program has */
	read_it();
	is(IMAGE_CODE + 0x110, NULL, 0);
	image_frames(0x1b, 4);
	IMAGE_AT(&m, Elf64_Shdr, POS_SHDR)[SEC_SYMS].sh_type = SHT_SYMTAB;   /* not stripped: it has all functions */
	read_it();
	ARE_AT({ IMAGE_CODE + 0x148, "exported", 8 }, { IMAGE_CODE + 0x110, NULL, 0 });
}

TEST_WITH(frames_that_are_damaged, NULL, tear_down)
{
	struct image good;

	image_frames(0x1b, 4);
	good = m;
	for (size_t at = POS_FRAMES; at < IMAGE_SIZE; at++)
		for (int value = 0; value < 2; value++) {
			const char *name;
			uint64_t into;

			m = good;
			m.bytes[at] = value ? 0xff : m.bytes[at] ^ 0x80;
			read_it();
			for (uint64_t code = 0; f && code < IMAGE_CODE_SIZE; code += 8)
				if (symfile_find(f, IMAGE_CODE + code, &name, &into))
					assert_true(!strcmp(name, "exported") || !strncmp(name, "app+0x", 6));
			if (at >= POS_FRAMES + 20 + 20)   /* another function's record */
				is(IMAGE_CODE + 0x110, "app+0x401100", 0x10);
		}
}

/* The table ends inside a record, or in a CIE whose letters want bytes behind it. */
TEST_WITH(frames_that_are_cut, NULL, tear_down)
{
	struct image good;

	image_frames(0x1b, 4);
	good = m;
	for (uint64_t size = 0; size < IMAGE_AT(&good, Elf64_Shdr, POS_SHDR)[SEC_FRAMES].sh_size; size++) {
		m = good;
		IMAGE_AT(&m, Elf64_Shdr, POS_SHDR)[SEC_FRAMES].sh_size = size;
		read_it();
		ARE_AT({ IMAGE_CODE + 0x110, size < 20 + 20 ? NULL : "app+0x401100", 0x10 },
			{ IMAGE_CODE + 0x190, NULL, 0 });
	}
	for (size_t letters = 1; letters < 24; letters++) {
		m = good;
		memset(m.bytes + POS_FRAMES + 10, letters % 2 ? 'P' : 'L', letters < 10 ? letters : 10);
		read_it();
		is(IMAGE_CODE + 0x110, NULL, 0);
	}
}

/* Every length of the file, and every word of its headers made huge: no crash, and no name
 * from outside of the file. */
TEST_WITH(damaged, NULL, tear_down)
{
	struct image good;

	begin(SHT_SYMTAB);
	symbol("main", 0x100, 0x40, FUNCTION);
	good = m;
	for (size_t size = 0; size < IMAGE_SIZE; size += 7)
		symfile_free(read_image(&good, size));
	for (size_t at = 4; at < POS_SHDR + SEC_COUNT * sizeof(Elf64_Shdr); at += 4) {
		m = good;
		memset(m.bytes + at, 0xff, 4);
		read_it();
		has_no_long_name(0x110, 0x118);
	}
}
