/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a recording is from this machine, from which kernel, and whether that kernel runs now at
 * the same address (kernels are relocated at each boot).
 */
#include "stream/recording/recording.h"
#include "symbols/elf/vdso.h"
#include "symbols/kernel/kallsyms.h"

#include <string.h>
#include <sys/utsname.h>

enum { LOOK_AHEAD = 64 };

static bool same_text(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

static bool is_kernel(const struct pev_record *rec)
{
	return (rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2) &&
	       rec->mmap.pid == UINT32_MAX && !strncmp(rec->mmap.filename, "[kernel.kallsyms]", 17);
}

static void take_build_id(struct replay_kernel *k, const uint8_t *id, size_t size)
{
	k->build_id_size = size < sizeof(k->build_id) ? size : sizeof(k->build_id);
	memcpy(k->build_id, id, k->build_id_size);
}

/* "[kernel.kallsyms]_text": in this mapping, perf puts the address of the symbol into pgoff. */
static void take_place(struct replay_kernel *k, const struct pev_mmap *m)
{
	static const char *const bases[] = { "_text", "_stext" };
	const char *symbol = m->filename + 17;

	for (size_t i = 0; m->pgoff && i < sizeof(bases) / sizeof(*bases); i++)
		if (!strcmp(symbol, bases[i])) {
			k->base = bases[i];
			k->base_address = m->pgoff;
		}
	if (m->has_build_id)
		take_build_id(k, m->build_id, m->build_id_size);
}

static void find_kernel(struct replay *p)
{
	const struct perf_event_header *rec;
	const struct pev_format *fmt = &perfdata_event(p->reader, 0)->format;
	struct pev_record out;

	if (perfdata_is_foreign(p->reader))
		return;
	for (size_t i = 0; i < LOOK_AHEAD && perfdata_peek(p->reader, i, &rec); i++) {
		if (rec->type == PERF_RECORD_SAMPLE)
			return;
		if (!pev_decode(rec, rec->size, fmt, &out) && is_kernel(&out)) {
			take_place(&p->kernel, &out.mmap);
			return;
		}
	}
}

/* 1: the recorded kernel runs now, by its build id; 0: another one; -1: not known. */
static int kernel_runs(const struct replay_kernel *k)
{
	uint8_t id[ELFID_MAX];
	size_t size = kernel_build_id(id);

	if (!size || !k->build_id_size)
		return -1;
	return size == k->build_id_size && !memcmp(id, k->build_id, size);
}

/* By the build id in the recording, if it has one; else, whether this machine made it, with a kernel of the same release. */
static bool has_our_vdso(const struct replay *p, bool same_release)
{
	const struct perfdata_info *info = perfdata_info(p->reader);
	uint8_t id[BUILD_ID_MAX];
	size_t size;

	for (size_t i = 0; i < info->nbuild_ids; i++) {
		const struct perfdata_build_id *recorded = &info->build_ids[i];

		if (strcmp(recorded->path, VDSO_NAME))
			continue;
		size = vdso_build_id(id);
		return size && size == recorded->size && !memcmp(id, recorded->id, size);
	}
	return p->same_kernel || (p->same_machine && same_release);
}

void replay_compare_machine(struct replay *p, const struct opener *o)
{
	const struct perfdata_info *info = perfdata_info(p->reader);
	struct replay_kernel *k = &p->kernel;
	struct utsname name;
	uint64_t address;
	bool same_release;
	int runs;

	for (size_t i = 0; i < info->nbuild_ids; i++)
		if (!strcmp(info->build_ids[i].path, "[kernel.kallsyms]"))
			take_build_id(k, info->build_ids[i].id, info->build_ids[i].size);
	find_kernel(p);
	runs = kernel_runs(k);
	k->runs = runs > 0;
	if (uname(&name))
		return;
	p->same_machine = same_text(info->hostname, name.nodename) && same_text(info->arch, name.machine);
	same_release = runs && same_text(info->osrelease, name.release) && same_text(info->arch, name.machine);
	address = same_release && k->base ? kernel_address(k->base, o) : UINT64_MAX;
	p->same_kernel = same_release && k->base && address == k->base_address;
	k->hidden = !address && p->same_machine;
	p->same_vdso = has_our_vdso(p, same_release);
}
