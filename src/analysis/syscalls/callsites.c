/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callsites.h"

#include "base/room.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MOST: bytes of a file that are searched, and places that are kept. BEFORE, AFTER: bytes of code that are looked at around a mov. */
enum { CHUNK = 1 << 20, MOST = 64 << 20, MOST_PLACES = 4096, MOV = 5, BEFORE = 3, AFTER = 32 };

#if defined(__x86_64__)
/* An instruction with a displacement of one byte and a constant of four, which the mov would be the end of. */
static bool ends_other(const uint8_t *mov)
{
	static const uint8_t with_constant[] = { 0xc7, 0x81, 0x69, 0xf7 };
	const bool plain = memchr(with_constant, mov[-2], sizeof(with_constant)), scaled = memchr(with_constant, mov[-3], sizeof(with_constant));

	return (plain && mov[-1] >> 6 == 1 && (mov[-1] & 7) != 4) || (scaled && mov[-2] >> 6 == 1 && (mov[-2] & 7) == 4);
}

enum { REX = 0x40, REX_MASK = 0xf0, REX_B = 1 };

size_t callsites_set_register(const uint8_t *p, unsigned int *sets)
{
	const uint8_t rex = (p[0] & REX_MASK) == REX ? p[0] : 0;
	const uint8_t *op = p + !!rex;
	const bool wide = rex & 8;

	*sets = (op[1] & 7) + (rex & REX_B ? 8 : 0);
	if ((*op == 0x89 || *op == 0x31) && op[1] >> 6 == 3)
		return (size_t)(op - p) + 2;
	*sets = (*op & 7) + (rex & REX_B ? 8 : 0);
	return *op >> 3 == 0xb8 >> 3 && !wide ? (size_t)(op - p) + MOV : 0;
}

/* Whether a system call follows the mov; *last: the instruction before it. */
static bool is_place(const uint8_t *mov, const uint8_t **last, unsigned int *sets)
{
	const uint8_t *p = mov;

	if (mov[0] != 0xb8 || mov[3] || mov[4] || ends_other(mov))
		return false;
	while (p < mov + AFTER - 2 * MOV && !(p[0] == 0x0f && p[1] == 0x05)) {
		const size_t n = callsites_set_register(p, sets);

		if (!n || (p > mov && *sets == 0))   /* the number is lost */
			return false;
		*last = p;
		p += n;
	}
	return p[0] == 0x0f && p[1] == 0x05;
}

static int add(struct callsites *c, uint64_t offset, uint32_t call, unsigned int sets)
{
	if (!ROOM_FOR_ONE(c->all, c->n))
		return -ENOMEM;
	c->all[c->n++] = (struct callsite){ offset, call, sets };
	return 0;
}

/* internal/runtime/syscall/linux.Syscall6() since Go 1.19: mov %rsi,%r10; mov %rdi,%rdx; mov %rcx,%rsi; mov %rbx,%rdi; syscall. Its
 * arguments are in the registers of Go. */
static int search_go(struct callsites *c, const uint8_t *bytes, size_t n, uint64_t at)
{
	static const uint8_t code[] = { 0x49, 0x89, 0xf2, 0x48, 0x89, 0xfa, 0x48, 0x89, 0xce, 0x48, 0x89, 0xdf, 0x0f, 0x05 };
	enum { LAST = 9, DI = 7 };
	const uint8_t *p = memmem(bytes, n, code, sizeof(code));

	return p && c->n < MOST_PLACES ? add(c, at + (uint64_t)(p - bytes) + LAST, CALLSITE_OF_GO, DI) : 0;
}

/* The bytes from `at` in the file. */
static int search(struct callsites *c, const uint8_t *bytes, size_t n, uint64_t at)
{
	const uint8_t *end = bytes + n - AFTER, *last;
	unsigned int sets;

	for (const uint8_t *p = bytes + BEFORE; p <= end && c->n < MOST_PLACES; p++) {
		p = memchr(p, 0xb8, (size_t)(end - p) + 1);
		if (!p)
			break;
		if (!is_place(p, &last, &sets))
			continue;
		if (add(c, at + (uint64_t)(last - bytes), p[1] | (uint32_t)p[2] << 8, sets))
			return -ENOMEM;
	}
	return search_go(c, bytes, n, at);
}

int callsites_find(struct callsites *c, int fd)
{
	uint8_t *bytes = malloc(CHUNK);
	int rc = bytes ? 0 : -ENOMEM;

	*c = (struct callsites){ 0 };
	for (uint64_t at = 0; !rc && at < MOST; at += CHUNK - AFTER - BEFORE + 1) {
		const ssize_t n = pread(fd, bytes, CHUNK, (off_t)at);

		rc = n < 0 ? -errno : n < AFTER + BEFORE ? 0 : search(c, bytes, (size_t)n, at);
		if (n < CHUNK)
			break;
	}
	free(bytes);
	return rc;
}
#else
int callsites_find(struct callsites *c, int fd)
{
	*c = (struct callsites){ 0 };
	return -ENOTSUP;
}
#endif

void callsites_free(struct callsites *c)
{
	free(c->all);
	*c = (struct callsites){ 0 };
}
