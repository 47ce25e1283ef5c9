/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids out of notes: whole ones, damaged ones, and those of files. */
#include "checks.h"
#include "tree.h"

#include "symbols/elf/elfid.h"

#include <elf.h>
#include <unistd.h>

struct notes {
	Elf32_Nhdr other;
	char other_name[4];
	uint8_t other_data[4];
	Elf32_Nhdr h;
	char name[4];
	uint8_t id[ELFID_MAX];
};

static struct notes whole(void)
{
	struct notes n = {
		.other = { 4, 3, 9 }, .other_name = "Xen",
		.h = { 4, ELFID_MAX, NT_GNU_BUILD_ID }, .name = "GNU",
	};

	for (size_t i = 0; i < ELFID_MAX; i++)
		n.id[i] = (uint8_t)(i + 1);
	return n;
}

static size_t id_of(const struct notes *n, size_t size, uint8_t id[ELFID_MAX])
{
	return elfid_of_notes((const char *)n, size, 4, id);
}

TEST(notes)
{
	static const uint32_t sizes[] = { ELFID_MAX + 1, 4096, UINT32_MAX, UINT32_MAX - 3 };
	struct notes n = whole();
	uint8_t id[ELFID_MAX];

	assert_int_equal(id_of(&n, sizeof(n), id), ELFID_MAX);
	assert_memory_equal(id, n.id, ELFID_MAX);
	n.h.n_descsz = 16;   /* an MD5 sum */
	assert_int_equal(id_of(&n, sizeof(n), id), 16);
	assert_int_equal(id[16], 0);
	n = whole();
	/* what is cut or lies has none */
	for (size_t size = 0; size < sizeof(n); size++)
		assert_int_equal(id_of(&n, size, id), 0);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		n = whole();
		n.h.n_descsz = sizes[i];
		assert_int_equal(id_of(&n, sizeof(n), id), 0);
		n = whole();
		n.other.n_namesz = sizes[i];
		assert_int_equal(id_of(&n, sizeof(n), id), 0);
	}
	n = whole();
	n.name[0] = 'g';
	assert_int_equal(id_of(&n, sizeof(n), id), 0);
}

static size_t id_of_file(const void *bytes, size_t n, uint8_t id[ELFID_MAX])
{
	int fd = tree_fd(bytes, n);
	size_t size = elfid_read(fd, id);

	close(fd);
	return size;
}

/* A file of this machine's byte order, which begins with h. */
static void has_id_if_whole(Elf64_Ehdr *h, size_t size, const struct notes *notes)
{
	uint8_t id[ELFID_MAX];
	const uint16_t one = 1;

	h->e_ident[EI_DATA] = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	assert_int_equal(id_of_file(h, size, id), ELFID_MAX);
	assert_memory_equal(id, notes->id, ELFID_MAX);
	for (size_t n = 0; n < size; n++)
		assert_int_equal(id_of_file(h, n, id), 0);
}

TEST(files)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr p;
		struct notes notes;
	} elf = {
		.h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, 0, 1 }, .e_phoff = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1 },
		.p = { .p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
		       .p_filesz = sizeof(struct notes), .p_align = 4 },
		.notes = whole(),
	};
	uint8_t id[ELFID_MAX];

	has_id_if_whole(&elf.h, sizeof(elf), &elf.notes);
	elf.p.p_offset = UINT64_MAX;
	assert_int_equal(id_of_file(&elf, sizeof(elf), id), 0);
	elf.h.e_phoff = UINT64_MAX;
	assert_int_equal(id_of_file(&elf, sizeof(elf), id), 0);
	elf.h.e_phnum = UINT16_MAX;
	elf.h.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(id_of_file(&elf, sizeof(elf), id), 0);
}

/* As Go's linker lays notes out (1.24 and later): the segment is of its own note, the GNU one has a section
 * behind it. */
TEST(a_section_that_no_segment_covers)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr p;
		Elf64_Shdr s[3];
		struct notes notes;
	} elf = {
		.h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, 0, 1 }, .e_phoff = offsetof(__typeof__(elf), p),
		       .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1, .e_shoff = offsetof(__typeof__(elf), s),
		       .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3 },
		.p = { .p_type = PT_NOTE, .p_offset = offsetof(__typeof__(elf), notes),
		       .p_filesz = offsetof(struct notes, h), .p_align = 4 },
		.s[1] = { .sh_type = SHT_NOTE, .sh_offset = offsetof(__typeof__(elf), notes),
			  .sh_size = offsetof(struct notes, h), .sh_addralign = 4 },
		.s[2] = { .sh_type = SHT_NOTE, .sh_offset = offsetof(__typeof__(elf), notes.h),
			  .sh_size = sizeof(struct notes) - offsetof(struct notes, h), .sh_addralign = 4 },
		.notes = whole(),
	};
	uint8_t id[ELFID_MAX];

	has_id_if_whole(&elf.h, sizeof(elf), &elf.notes);
	elf.h.e_shentsize = 8;
	assert_int_equal(id_of_file(&elf, sizeof(elf), id), 0);
	elf.h.e_shentsize = sizeof(Elf64_Shdr);
	elf.s[2].sh_offset = UINT64_MAX;
	assert_int_equal(id_of_file(&elf, sizeof(elf), id), 0);
	elf.h.e_shoff = UINT64_MAX;
	elf.h.e_shnum = UINT16_MAX;
	assert_int_equal(id_of_file(&elf, sizeof(elf), id), 0);
}
