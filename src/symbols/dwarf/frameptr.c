/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/frameptr.h"

#include <string.h>

enum frameptr frameptr_of(struct parser *p, int fd)
{
	struct parser_question q = { .kind = PARSER_FRAMEPTR, .fds = { fd }, .nfds = 1 };
	struct frameptr_counts counts = { 0 };
	struct parser_bytes out = { 0 };

	if (!parser_ask(p, &q, &out) && out.size == sizeof(counts))
		memcpy(&counts, out.data, sizeof(counts));
	parser_bytes_free(&out);
	if (!counts.kept && !counts.lacking)
		return FRAMEPTR_UNKNOWN;
	return counts.kept >= counts.lacking ? FRAMEPTR_KEPT : FRAMEPTR_LACKING;
}

/* ---- the instructions of one function -------------------------------------------- */

struct bytes {
	const uint8_t *at, *end;
};

static bool skip(struct bytes *b, uint64_t n)
{
	if (n > (uint64_t)(b->end - b->at))
		return false;
	b->at += n;
	return true;
}

/* Values that do not fit are of no interest here. */
static bool leb128(struct bytes *b, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; b->at < b->end; shift += 7) {
		uint8_t byte = *b->at++;

		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* What follows an instruction: a digit: as many bytes; u: LEB128; b: a block, its length first. NULL: it is unknown, or
 * followed by an address, whose size depends on the file. Indexes are DW_CFA_*. */
static const char *const operands[0x40] = {
	[0x00] = "", [0x02] = "1", [0x03] = "2", [0x04] = "4", [0x05] = "uu", [0x06] = "u", [0x07] = "u", [0x08] = "u",
	[0x09] = "uu", [0x0a] = "", [0x0b] = "", [0x0c] = "uu", [0x0d] = "u", [0x0e] = "u", [0x0f] = "b", [0x10] = "ub",
	[0x11] = "uu", [0x12] = "uu", [0x13] = "u", [0x14] = "uu", [0x15] = "uu", [0x16] = "ub", [0x2c] = "", [0x2d] = "",
	[0x2e] = "u", [0x2f] = "uu",
};

enum { DEF_CFA = 0x0c, DEF_CFA_REGISTER = 0x0d, DEF_CFA_OFFSET = 0x0e, DEF_CFA_SF = 0x12, ADVANCE = 0x40, OFFSET = 0x80 };

/* Reads the operands; *first: the first one. */
static bool read_operands(struct bytes *b, const char *kinds, uint64_t *first)
{
	uint64_t value;

	*first = 0;
	for (const char *k = kinds; *k; k++) {
		if (*k >= '0' && *k <= '9' ? !skip(b, (uint64_t)(*k - '0')) : !leb128(b, &value))
			return false;
		if (*k == 'b' && !skip(b, value))
			return false;
		if (k == kinds && *k == 'u')
			*first = value;
	}
	return true;
}

/* The next instruction, without the number in its low bits, and its first operand. */
static bool next(struct bytes *b, uint8_t *op, uint64_t *first)
{
	uint8_t byte;
	uint64_t offset;

	if (b->at == b->end)
		return false;
	byte = *b->at++;
	*op = byte & 0xc0 ? byte & 0xc0 : byte;
	*first = byte & 0x3f;
	if (*op == OFFSET)
		return leb128(b, &offset);
	if (*op >= ADVANCE)
		return true;
	return operands[*op] && read_operands(b, operands[*op], first);
}

/* DWARF's numbers of registers */
enum { X86_RBP = 6, ARM64_FP = 29, ARM64_LR = 30 };

enum frameptr frameptr_scan(enum frameptr_machine machine, const uint8_t *code, size_t size)
{
	struct bytes b = { code, code + size };
	bool frame = false, kept = false;
	uint64_t first;
	uint8_t op;

	while (next(&b, &op, &first)) {
		if (machine == FRAMEPTR_ARM64) {   /* x29 and the return address are saved as a pair */
			frame |= op == OFFSET && first == ARM64_LR;
			kept |= op == OFFSET && first == ARM64_FP;
			continue;
		}
		frame |= op == DEF_CFA_OFFSET;
		kept |= (op == DEF_CFA || op == DEF_CFA_REGISTER || op == DEF_CFA_SF) && first == X86_RBP;
	}
	return kept ? FRAMEPTR_KEPT : frame ? FRAMEPTR_LACKING : FRAMEPTR_UNKNOWN;
}
