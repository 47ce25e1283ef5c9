/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a call chain. */
#ifndef SYMBOLS_CHAIN_H
#define SYMBOLS_CHAIN_H

#include <stddef.h>
#include <stdint.h>

enum chain_place { PLACE_KERNEL, PLACE_HYPERVISOR, PLACE_GUEST_KERNEL, PLACE_GUEST_USER, PLACE_USER };

/* A marker of our own, which the kernel does not use: the next address is a return address, though it is the first one. */
#define CHAIN_RETURNS ((uint64_t)-4094)

/* Where the CPU was: of a record's misc, PERF_RECORD_MISC_CPUMODE_MASK. */
enum chain_place chain_place_of(uint16_t misc);
/* The word of a chain that says that addresses of this place follow. */
uint64_t chain_marker(enum chain_place place);

struct chain_address {
	uint64_t ip;
	uint64_t at;             /* address to look up: for a return address, the byte before */
	enum chain_place place;
};

/* Stores the addresses of a chain (nr words from the kernel) without its markers; returns their
 * number. out has room for nr. */
size_t chain_addresses(const uint64_t *ips, uint64_t nr, struct chain_address *out);
#endif
