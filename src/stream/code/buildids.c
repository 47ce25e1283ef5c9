/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/code/buildids.h"

#include "base/opener.h"
#include "symbols/elf/elfid.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS = 4096 };   /* files; a colliding file replaces the one in its slot */

/* PERF_RECORD_MMAP2 up to the file name. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct file_key {
			uint32_t maj, min;
			uint64_t ino, generation;
		} file;
		struct {
			uint8_t size, reserved[3];
			uint8_t id[ELFID_MAX];
		} build;
	};
	uint32_t prot, flags;
	char filename[];
};

struct slot {
	struct file_key file;
	uint8_t size;                /* 0: no build id */
	uint8_t id[ELFID_MAX];
};

struct buildids {
	struct slot slots[SLOTS];
	_Alignas(8) char marked[UINT16_MAX + 1];
};

struct buildids *buildids_new(void)
{
	return calloc(1, sizeof(struct buildids));
}

void buildids_free(struct buildids *b)
{
	free(b);
}

static int open_mapped(const struct mmap2 *m)
{
	int fd = opener_mapped(&opener_direct, (pid_t)m->pid, m->addr, m->addr + m->len);

	return fd >= 0 ? fd : opener_file(&opener_direct, (pid_t)m->pid, m->filename);
}

static const struct slot *slot_of(struct buildids *b, const struct mmap2 *m)
{
	uint64_t hash = (m->file.ino ^ m->file.generation << 32 ^ (uint64_t)m->file.min << 20 ^ m->file.maj) *
			0x9e3779b97f4a7c15ull;
	struct slot *slot = &b->slots[hash >> 32 & (SLOTS - 1)];
	int fd;

	if (!memcmp(&slot->file, &m->file, sizeof(m->file)))
		return slot;
	fd = open_mapped(m);
	if (fd < 0)
		return NULL;   /* the process has ended; the next one that maps the file may be readable */
	slot->file = m->file;
	slot->size = (uint8_t)elfid_read(fd, slot->id);
	close(fd);
	return slot;
}

const struct perf_event_header *buildids_mark(struct buildids *b, const struct perf_event_header *rec)
{
	const struct mmap2 *m = (const void *)rec;
	const struct slot *slot;
	struct mmap2 *out;

	if (!b || rec->type != PERF_RECORD_MMAP2 || rec->size <= sizeof(*m) || !m->file.ino ||
	    rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID || m->filename[0] != '/' ||
	    !memchr(m->filename, '\0', rec->size - sizeof(*m)))
		return rec;
	slot = slot_of(b, m);
	if (!slot || !slot->size)
		return rec;
	out = memcpy(b->marked, rec, rec->size);
	out->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	memset(&out->build, 0, sizeof(out->build));
	out->build.size = slot->size;
	memcpy(out->build.id, slot->id, slot->size);
	return &out->header;
}
