/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a probe's offset is one at which the kernel may put it. Inside of an instruction, it would change that instruction,
 * and the program would crash: the kernel does not look. */
#include "stream/list/probefile.h"

#include "symbols/elf/disasm.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

static int complain(const struct spec_item *item, const struct probe_name *name, const char *message, const char *hint,
		    struct fault *f)
{
	return spec_fault(f, item, probe_name_place(item, 0), message, hint);
}

static int check_file(const struct probe_file *file, const struct spec_item *item, const struct probe_name *name,
		      uint64_t offset, struct fault *f)
{
	char message[400];
	struct stat st;

	if (fstat(file->fd, &st) || st.st_size < 0 || offset < (uint64_t)st.st_size)
		return 0;
	snprintf(message, sizeof(message), "byte %#" PRIx64 " is beyond the end of %.200s (%lld bytes)", offset, name->path,
		 (long long)st.st_size);
	return complain(item, name, message, "a function, or the number of a byte of its code", f);
}

/* The starts before and behind the address. False: it is a start itself. */
static bool is_inside(const struct disasm *d, uint64_t addr, uint64_t *before, uint64_t *after)
{
	*before = d->start;
	*after = d->end;
	for (size_t i = 0; i < d->n && *after == d->end; i++) {
		if (d->v[i].addr == addr)
			return false;
		if (d->v[i].addr > addr)
			*after = d->v[i].addr;
		else
			*before = d->v[i].addr;
	}
	return true;
}

/* What cannot be disassembled is left to the kernel. */
static int check_instruction(const struct probe_file *file, const struct spec_item *item, const struct probe_name *name,
			     const struct place *p, struct fault *f)
{
	uint64_t addr = p->address + name->offset, before, after;
	struct disasm *d = disasm_is_built() && p->size <= UINT64_MAX - p->address ? disasm_new(file->parser, file->fd, p->address, p->address + p->size) : NULL;
	bool inside = d && d->n && is_inside(d, addr, &before, &after);
	char message[400], hint[400];
	int n;

	disasm_free(d);
	if (!inside)
		return 0;
	snprintf(message, sizeof(message), "%.150s+%" PRIu64 " is inside of an instruction, and a probe there would crash the program",
		 name->function, name->offset);
	n = snprintf(hint, sizeof(hint), "the start of an instruction: %.150s+%" PRIu64, name->function, before - p->address);
	if (after < p->address + p->size)
		snprintf(hint + n, sizeof(hint) - (size_t)n, " or +%" PRIu64, after - p->address);
	return complain(item, name, message, hint, f);
}

int probe_place_check(const struct probe_file *file, const struct spec_item *item, const struct probe_name *name,
		      const struct place *p, struct fault *f)
{
	char message[400];

	if (name->offset && p->size && name->offset >= p->size) {
		snprintf(message, sizeof(message), "+%" PRIu64 " is beyond the end of %.200s (%" PRIu64 " bytes)", name->offset,
			 name->function, p->size);
		return complain(item, name, message, "an offset in the function's code", f);
	}
	if (name->offset > INT64_MAX - p->offset || check_file(file, item, name, p->offset + name->offset, f))
		return -1;
	return name->offset && p->size ? check_instruction(file, item, name, p, f) : 0;
}
