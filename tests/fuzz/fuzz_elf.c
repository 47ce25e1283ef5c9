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
	return 0;
}
