/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of system calls, and the kernel's filter for it. The kernel evaluates a filter at every call of every watched task, one
 * comparison after the other, until it is decided: so the numbers are a tree of comparisons, in which few are made for each call.
 */
#ifndef ANALYSIS_SYSCALLS_CALLSET_H
#define ANALYSIS_SYSCALLS_CALLSET_H

#include <stdbool.h>
#include <stdint.h>

enum { CALLSET_NUMBERS = 1024 };

/* Initialized by zeros. */
struct callset {
	bool has[CALLSET_NUMBERS];   /* by the call's number */
	bool left_signal;            /* the return from a signal handler: its sys_exit has the number -1 */
	int newer;                   /* also all numbers from this one; 0: none */
};

/* The filter, to be freed; also: what else has to be true, or NULL. NULL: out of memory. Of a set with very many gaps, the smallest
 * gaps are filled, so that the filter is not too long for the kernel. An empty set has a filter that no call passes. */
char *callset_filter(const struct callset *s, const char *also);
#endif
