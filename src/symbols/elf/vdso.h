/* SPDX-License-Identifier: Apache-2.0 */
/* The vdso, read from our own memory. */
#ifndef SYMBOLS_ELF_VDSO_H
#define SYMBOLS_ELF_VDSO_H

#include "symbols/elf/symfile.h"

#define VDSO_NAME "[vdso]"

struct vdso {
	uint64_t start, len;     /* our own; 0: none */
};

void vdso_find(struct vdso *v);
/* Whether a mapping of another process is the same as ours: 32-bit processes have another one. */
bool vdso_is_same(const struct vdso *v, uint64_t start, uint64_t len);
/* NULL if this process has none. */
struct symfile *vdso_read(const struct vdso *v);
/* Length of its build id in bytes; 0: none. */
size_t vdso_build_id(uint8_t id[BUILD_ID_MAX]);
/* The bytes as a file, where a descriptor is needed; -1: none. */
int vdso_file(const struct vdso *v);
#endif
