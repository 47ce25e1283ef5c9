/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a file whose symbols and probes can be asked for. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <perfevent.h>

#include "symbols/elf/disasm.h"
#include "symbols/elf/places.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_probes(const char *path, size_t size)
{
	const struct pev_usdt_probe *p;
	struct pev_usdt *usdt;

	if (pev_usdt_open(&usdt, path, &(struct pev_error){ 0 })) {
		assert(!usdt);
		return;
	}
	for (size_t i = 0; (p = pev_usdt_at(usdt, i)); i++) {
		assert(strlen(p->provider) + strlen(p->name) + strlen(p->args) < size);
		assert(p->offset < size && p->ref_ctr_offset < size);
	}
	pev_usdt_close(usdt);
}

/* The same by the handler of a parser's question: functions, then USDT probes; all, and one that is misspelt. */
static void check_places(int fd)
{
	static const char *const questions[] = { "\0*", "\0mian", "\0shop::Cart::add(int)", "\1*", "\1test:agrs" };

	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		struct parser_question q = { .kind = PARSER_PLACES, .fds = { fd, fd }, .nfds = 1 + i % 2, .bytes = questions[i],
					     .size = strlen(questions[i] + 1) + 2 };
		struct parser_bytes out = { 0 };

		if (!places_answer(NULL, &q, &out))
			assert(out.size >= sizeof(struct places_head));
		parser_bytes_free(&out);
	}
}

/* Its code, where the first bytes say, and what a parser that was taken over could answer. */
static void check_code(int fd, const uint8_t *data, size_t size)
{
	struct disasm_question what = { 0x401000, 0x401040 };
	struct parser_question q = { .kind = PARSER_CODE, .fds = { fd }, .nfds = 1, .bytes = &what, .size = sizeof(what) };
	struct parser_bytes out = { 0 };
	struct disasm *d;

	if (size >= 32)
		memcpy(&what.start, data + 24, 8);   /* the entry */
	what.end = what.start + 64;
	if (what.end > what.start && !disasm_answer(NULL, &q, &out) && out.size) {
		d = disasm_unpack(&what, out.data, out.size);
		assert(d && d->n <= 64);
		disasm_free(d);
	}
	parser_bytes_free(&out);
	disasm_free(disasm_unpack(&(struct disasm_question){ 0, UINT64_MAX }, data, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static char path[64];
	uint64_t offset;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	assert(fd >= 0 && !ftruncate(fd, 0));
	assert(pwrite(fd, data, size, 0) == (ssize_t)size);
	if (!pev_elf_symbol(path, "main", &offset, &(struct pev_error){ 0 }))
		assert(offset < size);
	check_probes(path, size);
	check_places(fd);
	check_code(fd, data, size);
	return 0;
}
