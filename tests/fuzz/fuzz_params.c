/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are an ELF file with DWARF whose functions have parameters. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/dwarf/params.h"

#include <elfutils/libdw.h>

enum { MAX_ADDRESSES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct addresses {
	uint64_t all[MAX_ADDRESSES];
	size_t n;
};

static int take(Dwarf_Die *die, void *ctx)
{
	struct addresses *a = ctx;

	a->n += !dwarf_entrypc(die, &a->all[a->n]);
	return a->n < MAX_ADDRESSES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void find_functions(int fd, struct addresses *a)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	while (dwarf && a->n < MAX_ADDRESSES && !dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL))
		if (unit.addr)
			dwarf_getfuncs(&unit, take, a, 0);
	dwarf_end(dwarf);
}

static void ask(int fd, uint64_t address, enum params_what what, const char *name)
{
	struct params_question question = { .address = address, .what = what };
	char bytes[sizeof(question) + 64];
	struct parser_question q = { .kind = PARSER_PARAMS, .fds = { fd }, .nfds = 1, .bytes = bytes,
				     .size = sizeof(question) + strlen(name) + 1 };
	struct parser_bytes out = { 0 };

	memcpy(bytes, &question, sizeof(question));
	strcpy(bytes + sizeof(question), name);
	if (!params_answer(NULL, &q, &out)) {
		assert(out.size % sizeof(struct param) == 0);
		for (size_t i = 0; i < out.size / sizeof(struct param); i++)
			assert(((struct param *)out.data)[i].nsteps <= PARAM_STEPS);
	}
	parser_bytes_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct addresses found = { 0 };

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	assert(fd >= 0 && !ftruncate(fd, 0));
	assert(pwrite(fd, data, size, 0) == (ssize_t)size);
	find_functions(fd, &found);
	ask(fd, 0, PARAMS_INLINED, "shop::add");
	for (size_t i = 0; i < found.n; i++) {
		ask(fd, found.all[i], PARAMS_ALL, "");
		ask(fd, found.all[i], PARAMS_RETURNED, "ret");
		ask(fd, found.all[i], PARAMS_RETURNED, "ret->next->name");
		ask(fd, found.all[i], PARAMS_ONE, "item->next->name");
	}
	return 0;
}
