/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a probe costs a function least. The kernel steps over the instruction below a probe, which takes a trap more (in a virtual
 * machine, most of the probe's time), but for a few that it emulates: pushes and jumps (arch/x86/kernel/uprobes.c, push_xol_ops and
 * branch_xol_ops). Only bytes are compared, and only those known at the beginning of a function that makes a system call:
 *
 *	mov %rcx,%r10; mov $262,%eax; syscall; cmp $-4096,%rax; ja     the jump: arguments are still in the kernel's registers
 *	sub $88,%rsp; mov %rdx,64(%rsp); ...; test $64,%sil; jne       the jump, before the call
 */
#ifndef ANALYSIS_SYSCALLS_PROBEPLACES_H
#define ANALYSIS_SYSCALLS_PROBEPLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probeplace {
	uint32_t at;                 /* bytes from the beginning of the function */
	bool after;                  /* behind the system call of this number */
	uint32_t call;
	uint32_t sets;               /* one bit for each register that was set before, by its number in machine code */
};

/* The best place in the function whose code begins there: its beginning, if no better one is known. */
struct probeplace probeplaces_best(const uint8_t *code, size_t size);
/* probeplaces_best() in a file. offset: of the function. */
struct probeplace probeplaces_in_file(int fd, uint64_t offset);
#endif
