/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/probeplaces.h"

#include "analysis/syscalls/callsites.h"

#include <string.h>
#include <unistd.h>

enum { CODE = 96, LONGEST = 16 };   /* bytes of a function that are looked at; of the longest group of instructions compared */

#if defined(__x86_64__)
enum { AX = 0 };

/* ja, jae behind a system call: `any` is not set; otherwise any jump that depends on flags. */
static bool is_jump(const uint8_t *p, bool any)
{
	const uint8_t op = p[0] == 0x0f ? p[1] - 0x10 : p[0];

	return any ? op >> 4 == 7 : op == 0x77 || op == 0x73;
}

static bool is_push(const uint8_t *p)
{
	return p[0] >> 3 == 0x50 >> 3 || (p[0] == 0x41 && p[1] >> 3 == 0x50 >> 3);
}

/* cmp $-4095,%rax, or $-4096; of %eax if the result is an int. */
static size_t compare_result(const uint8_t *p)
{
	static const uint8_t errors[] = { 0xf0, 0xff, 0xff };
	const size_t wide = p[0] == 0x48;

	return p[wide] == 0x3d && p[wide + 1] <= 1 && !memcmp(p + wide + 2, errors, sizeof(errors)) ? wide + 5 : 0;
}

/* An instruction of a prologue that changes none of the registers with arguments. Its length; 0: another one. */
static size_t prologue(const uint8_t *p)
{
	static const struct { uint8_t n, length, code[5]; } known[] = {
		{ 3, 4, { 0x48, 0x83, 0xec } },                   /* sub $8,%rsp */
		{ 3, 7, { 0x48, 0x81, 0xec } },
		{ 5, 9, { 0x64, 0x48, 0x8b, 0x04, 0x25 } },       /* mov %fs:0x28,%rax */
		{ 3, 4, { 0x40, 0xf6, 0xc6 } },                   /* test $0x40,%sil */
		{ 2, 3, { 0xf6, 0xc2 } },                         /* test $0x40,%dl */
		{ 2, 2, { 0x31, 0xc0 } },                         /* xor %eax,%eax */
		{ 2, 7, { 0x80, 0x3d } },                         /* cmpb $0,__libc_single_threaded(%rip) */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!memcmp(p, known[i].code, known[i].n))
			return known[i].length;
	if ((p[0] & 0xfb) == 0x48 && p[1] == 0x89 && (p[2] & 0xc7) == 0x44 && p[3] == 0x24)   /* mov %rdx,64(%rsp) */
		return 5;
	return 0;
}

/* Behind the system call, which only settings of registers precede. */
static bool find_after(const uint8_t *code, const uint8_t *end, struct probeplace *place)
{
	const uint8_t *p = code;
	bool numbered = false;
	unsigned int reg;
	size_t n;

	for (; p < end && (n = callsites_set_register(p, &reg)); p += n) {
		place->sets |= 1u << reg;
		if (reg != AX)
			continue;
		numbered = *p == 0xb8;
		memcpy(&place->call, p + 1, sizeof(place->call));
	}
	if (p >= end || !numbered || p[0] != 0x0f || p[1] != 0x05)
		return false;
	p += 2;
	p += compare_result(p);
	if (!is_jump(p, false))
		return false;
	place->at = (uint32_t)(p - code);
	place->after = true;
	return true;
}

static bool find_before(const uint8_t *code, const uint8_t *end, struct probeplace *place)
{
	const uint8_t *p = code;
	size_t n;

	while (p < end && !is_push(p) && !is_jump(p, true)) {
		n = prologue(p);
		if (!n)
			return false;
		p += n;
	}
	*place = (struct probeplace){ .at = p < end ? (uint32_t)(p - code) : 0 };
	return p < end;
}

struct probeplace probeplaces_best(const uint8_t *code, size_t size)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct probeplace place = { 0 };
	size_t skipped;

	if (size < 2 * LONGEST)
		return place;
	skipped = memcmp(code, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	if (!find_after(code + skipped, code + size - LONGEST, &place) && !find_before(code + skipped, code + size - LONGEST, &place))
		return (struct probeplace){ 0 };
	place.at += (uint32_t)skipped;
	return place;
}
#else
struct probeplace probeplaces_best(const uint8_t *code, size_t size)
{
	return (struct probeplace){ 0 };
}
#endif

struct probeplace probeplaces_in_file(int fd, uint64_t offset)
{
	uint8_t code[CODE];
	const ssize_t n = pread(fd, code, sizeof(code), (off_t)offset);

	return probeplaces_best(code, n > 0 ? (size_t)n : 0);
}
