/* SPDX-License-Identifier: Apache-2.0 */
/* What a call chain consists of. */
#ifndef SYMBOLS_CHAIN_H
#define SYMBOLS_CHAIN_H

#include <stddef.h>
#include <stdint.h>

enum chain_place { PLACE_KERNEL, PLACE_HYPERVISOR, PLACE_GUEST_KERNEL, PLACE_GUEST_USER, PLACE_USER };

struct chain_address {
	uint64_t ip;
	uint64_t at;             /* where to look it up: a byte before, for return addresses */
	enum chain_place place;
};

/* The addresses of a chain (nr words as the kernel wrote them) without its markers; returns
 * how many. out has room for nr. */
size_t chain_addresses(const uint64_t *ips, uint64_t nr, struct chain_address *out);
#endif
