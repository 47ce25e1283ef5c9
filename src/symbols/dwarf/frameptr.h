/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the functions of a program keep frame pointers, by what its unwind tables (.eh_frame) say of them: a function
 * that keeps one computes the address of its caller's frame from it. Functions without a frame of their own say nothing.
 */
#ifndef SYMBOLS_DWARF_FRAMEPTR_H
#define SYMBOLS_DWARF_FRAMEPTR_H

#include "symbols/jail/parser.h"

enum frameptr {
	FRAMEPTR_UNKNOWN,        /* no tables, no function with a frame, or not a 64-bit program of a known machine */
	FRAMEPTR_KEPT,           /* by at least half of the functions that have a frame */
	FRAMEPTR_LACKING,
};

enum frameptr_machine { FRAMEPTR_X86_64, FRAMEPTR_ARM64 };

/* For a file. */
enum frameptr frameptr_of(struct parser *p, int fd);

/* For one function, from the instructions of its unwind table (DW_CFA_*). Reads nothing beyond `size`. */
enum frameptr frameptr_scan(enum frameptr_machine machine, const uint8_t *code, size_t size);

/* The handler of PARSER_FRAMEPTR: from a file to struct frameptr_counts. */
int frameptr_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
struct frameptr_counts {
	uint32_t kept, lacking;  /* functions */
};
#endif
