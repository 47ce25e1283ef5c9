/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf/disasm.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

bool disasm_is_built(void)
{
	return true;
}

/* The bytes from `start` on, as many as one segment has of them; NULL: it is no code of the file. */
static const Elf_Data *code_at(Elf *elf, const struct disasm_question *q)
{
	GElf_Phdr p;
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return NULL;
	for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &p); i++) {
		uint64_t into = q->start - p.p_vaddr, size;

		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) || q->start < p.p_vaddr || into >= p.p_filesz ||
		    p.p_offset > INT64_MAX - into)
			continue;
		size = p.p_filesz - into < q->end - q->start ? p.p_filesz - into : q->end - q->start;
		return elf_getdata_rawchunk(elf, (int64_t)(p.p_offset + into), size, ELF_T_BYTE);
	}
	return NULL;
}

/* As objdump and perf annotate write instructions. */
static int open_for(Elf *elf, csh *cs)
{
	GElf_Ehdr head;
	int rc;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head) || gelf_getclass(elf) != ELFCLASS64)
		return -ENOEXEC;
	if (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64)
		return -ENOTSUP;
	rc = head.e_machine == EM_X86_64 ? cs_open(CS_ARCH_X86, CS_MODE_64, cs) : cs_open(CS_ARCH_ARM64, CS_MODE_ARM, cs);
	if (rc)
		return -ENOTSUP;
	if (head.e_machine == EM_X86_64)
		cs_option(*cs, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	cs_option(*cs, CS_OPT_SKIPDATA, CS_OPT_ON);   /* data between instructions */
	return 0;
}

static int put_all(csh cs, const Elf_Data *code, uint64_t addr, struct parser_bytes *out)
{
	cs_insn *insn = cs_malloc(cs);
	const uint8_t *at = code->d_buf;
	size_t left = code->d_size;
	char text[sizeof(insn->mnemonic) + sizeof(insn->op_str) + 2];
	int rc = insn ? 0 : -ENOMEM;

	while (!rc && cs_disasm_iter(cs, &at, &left, &addr, insn)) {
		const int len = snprintf(text, sizeof(text), "%s%s%s", insn->mnemonic, *insn->op_str ? " " : "", insn->op_str);
		const struct insn_head head = { insn->address, (uint64_t)len };

		rc = parser_put(out, &head, sizeof(head));
		if (!rc)
			rc = parser_put(out, text, (size_t)len);
	}
	if (insn)
		cs_free(insn, 1);
	return rc;
}

int disasm_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct disasm_question what;
	const Elf_Data *code;
	Elf *elf;
	csh cs;
	int rc;

	(void)state;
	if (q->nfds != 1 || q->size != sizeof(what))
		return -EINVAL;
	memcpy(&what, q->bytes, sizeof(what));
	elf_version(EV_CURRENT);
	elf = elf_begin(q->fds[0], ELF_C_READ, NULL);
	rc = elf ? open_for(elf, &cs) : -ENOEXEC;
	if (!rc) {
		code = code_at(elf, &what);
		rc = code && code->d_buf ? put_all(cs, code, what.start, out) : -ENODATA;
		cs_close(&cs);
	}
	elf_end(elf);
	return rc;
}
