/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of a function in an ELF file for x86-64 or arm64, by libcapstone. The file is untrusted: where files are
 * parsed in another process, it is disassembled there, too.
 */
#ifndef SYMBOLS_ELF_DISASM_H
#define SYMBOLS_ELF_DISASM_H

#include "symbols/jail/parser.h"

struct insn {
	uint64_t addr;           /* as linked */
	const char *text;        /* "movq %rsp, %rbp"; ".byte 0x6" for what is no instruction */
};

struct disasm {
	uint64_t start, end;     /* of the function */
	size_t n;
	struct insn v[];         /* by address; their texts are behind them */
};

/* False: built without libcapstone. */
bool disasm_is_built(void);
/* The instructions at these addresses, at most a MiB of code; NULL: they cannot be read, or out of memory. */
struct disasm *disasm_new(struct parser *p, int fd, uint64_t start, uint64_t end);
void disasm_free(struct disasm *d);

/* The handler of PARSER_CODE: from a file and a struct disasm_question to instructions, each with a struct insn_head. */
int disasm_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
struct disasm_question {
	uint64_t start, end;
};
struct insn_head {
	uint64_t addr, len;      /* len: bytes of text that follow */
};
/* The answer as a list; NULL for invalid bytes: they are as untrusted as a file. */
struct disasm *disasm_unpack(const struct disasm_question *q, const void *bytes, size_t size);
#endif
