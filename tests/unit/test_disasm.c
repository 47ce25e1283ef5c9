/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of a file, here and by a parser; answers that make no sense. */
#include "checks.h"
#include "tree.h"

#include "symbols/elf/disasm.h"
#include "symbols/parser_kinds.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

static const struct disasm_question asked = { 0x1000, 0x1010 };

static size_t put(char *to, uint64_t addr, uint64_t len, const char *text)
{
	const struct insn_head head = { addr, len };

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), text, strlen(text));
	return sizeof(head) + strlen(text);
}

TEST(unpacked)
{
	char bytes[128];
	size_t n = put(bytes, 0x1000, 3, "nop");
	struct disasm *d;

	n += put(bytes + n, 0x1001, 0, "");
	n += put(bytes + n, 0x100f, 4, "retq");
	d = disasm_unpack(&asked, bytes, n);
	assert_non_null(d);
	ARE(NUMBERS(d->n, d->v[2].addr), NUMBERS(3, 0x100f));
	assert_string_equal(d->v[0].text, "nop");
	assert_string_equal(d->v[1].text, "");
	assert_string_equal(d->v[2].text, "retq");
	disasm_free(d);
}

TEST(hostile)
{
	static const struct {
		uint64_t addr, len;
	} second[] = { { 0x1001, 4 }, { 0x1001, UINT64_MAX }, { 0x1000, 3 }, { 0xfff, 3 }, { 0x1010, 3 }, { UINT64_MAX, 3 } };
	char bytes[128];
	size_t first = put(bytes, 0x1000, 3, "nop"), n;

	assert_null(disasm_unpack(&asked, bytes, 0));
	for (size_t i = 1; i < first; i++)
		assert_null(disasm_unpack(&asked, bytes, i));
	for (size_t i = 0; i < COUNT(second); i++) {
		n = first + put(bytes + first, second[i].addr, second[i].len, "nop");
		assert_null(disasm_unpack(&asked, bytes, n));
	}
}

/* A file for that machine with this code at 0x1000, as a descriptor. */
static int file_of(uint16_t machine, const void *code, size_t size)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
		char code[64];
	} image = {
		.head = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN, .e_machine = machine,
			.e_version = EV_CURRENT, .e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), .p_vaddr = 0x1000,
			.p_filesz = size, .p_memsz = size,
		},
	};

	memcpy(image.code, code, size);
	return tree_fd(&image, sizeof(image));
}

TEST(machines)
{
	static const uint8_t x86[] = { 0x48, 0x89, 0xe5, 0x06, 0xe8, 0xf7, 0xff, 0xff, 0xff, 0xc3 };   /* 06: invalid */
	static const uint32_t arm[] = { 0x910003fd, 0xffffffff, 0x97fffffe, 0xd65f03c0 };   /* the second: invalid */
	static const struct {
		uint16_t machine;
		const void *code;
		size_t size;
		const char *texts[4];    /* their beginnings: versions of libcapstone differ a little */
	} rows[] = {
		{ EM_X86_64, x86, sizeof(x86), { "movq %rsp, %rbp", ".byte", "callq 0x1000", "ret" } },
		{ EM_AARCH64, arm, sizeof(arm), { "mov x29, sp", ".byte", "bl ", "ret" } },
	};
	struct parser *p = parser_new_all(&(struct parser_opts){ .place = PARSER_HERE });

	for (size_t i = 0; i < COUNT(rows); i++) {
		int fd = file_of(rows[i].machine, rows[i].code, rows[i].size), other = file_of(EM_RISCV, rows[i].code, rows[i].size);
		struct disasm *d = disasm_new(p, fd, 0x1000, 0x2000);

		assert_null(disasm_new(p, other, 0x1000, 0x2000));
		assert_true(d || !disasm_is_built());
		for (size_t k = 0; d && k < COUNT(rows[i].texts); k++)
			assert_int_equal(strncmp(d->v[k].text, rows[i].texts[k], strlen(rows[i].texts[k])), 0);
		disasm_free(d);
		close(fd);
		close(other);
	}
	parser_free(p);
}

/* This program's own, from its entry. */
static void check_program(enum parser_place place)
{
	struct parser *p = parser_new_all(&(struct parser_opts){ .place = place });
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), text = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct disasm *d;
	Elf64_Ehdr head;

	assert_non_null(p);
	assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
	d = disasm_new(p, fd, head.e_entry, head.e_entry + 32);
	if (!disasm_is_built() || (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64)) {
		assert_null(d);
	} else {
		assert_non_null(d);
		assert_in_range(d->n, 4, 32);
		assert_int_equal(d->v[0].addr, head.e_entry);
		for (size_t i = 1; i < d->n; i++)
			assert_true(d->v[i].addr > d->v[i - 1].addr && *d->v[i].text);
	}
	disasm_free(d);
	assert_null(disasm_new(p, fd, UINT64_MAX - 64, UINT64_MAX));
	assert_null(disasm_new(p, fd, head.e_entry, head.e_entry));
	assert_null(disasm_new(p, text, 0, 64));
	close(fd);
	close(text);
	parser_free(p);
}

TEST(program)
{
	check_program(PARSER_HERE);
	check_program(PARSER_APART);
}
