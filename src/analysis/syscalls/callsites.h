/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the code of a file makes system calls whose number is a constant: on x86-64, `mov $NUMBER,%eax`, perhaps some more registers
 * set, and `syscall`; and the function by which Go programs make all calls. Only bytes are compared, so the file may be damaged or
 * hostile. The kernel puts probes into executable mappings only, where linkers put no data.
 */
#ifndef ANALYSIS_SYSCALLS_CALLSITES_H
#define ANALYSIS_SYSCALLS_CALLSITES_H

#include <stddef.h>
#include <stdint.h>

/* The number is in %rax, and the first argument still in %rbx. */
#define CALLSITE_OF_GO UINT32_MAX

struct callsites {
	struct callsite {
		uint64_t offset;         /* in the file: the last instruction before `syscall` */
		uint32_t call;
		unsigned int sets;       /* the register that this instruction sets, by its number in machine code */
	} *all;
	size_t n;
};

/* An instruction that sets a register from a constant, from another one, or to 0 (xor): its length, with the register's number; 0:
 * another one. Reads up to three bytes. Only on x86-64. */
size_t callsites_set_register(const uint8_t *p, unsigned int *sets);
/* 0; -ENOTSUP: not on this architecture; -errno. Free with callsites_free(). */
int callsites_find(struct callsites *c, int fd);
void callsites_free(struct callsites *c);
#endif
