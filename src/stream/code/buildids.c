/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/code/buildids.h"

#include "base/hash.h"
#include "base/opener.h"
#include "stream/code/codefiles.h"
#include "symbols/elf/elfid.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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
	bool passed;                 /* to `files`, with its descriptor */
};

struct buildids {
	struct codefiles *files;     /* gets all mappings of code with a build id; or NULL */
	struct slot slots[SLOTS];
	_Alignas(8) char marked[UINT16_MAX + 1];
};

struct buildids *buildids_new(struct codefiles *files)
{
	struct buildids *b = calloc(1, sizeof(*b));

	if (b)
		b->files = files;
	return b;
}

void buildids_free(struct buildids *b)
{
	free(b);
}

/* The process has ended already: what is at the path here, if it is that file. */
static int open_left(const struct mmap2 *m)
{
	int fd = opener_file(&opener_direct, 0, m->filename);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == m->file.ino && st.st_dev == makedev(m->file.maj, m->file.min))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ESRCH;
}

static int open_mapped(const struct mmap2 *m)
{
	int fd = opener_mapped(&opener_direct, (pid_t)m->pid, m->addr, m->addr + m->len);

	if (fd < 0)
		fd = opener_file(&opener_direct, (pid_t)m->pid, m->filename);
	return fd == -ESRCH ? open_left(m) : fd;
}

static bool is_for_files(const struct buildids *b, const struct mmap2 *m, const struct slot *slot)
{
	return b->files && slot->size && m->prot & PROT_EXEC;
}

static void pass_on(const struct buildids *b, const struct mmap2 *m, struct slot *slot, int fd)
{
	if (!is_for_files(b, m, slot))
		return;
	codefiles_saw(b->files, &(struct codefile_mapping){ m->pid, m->addr, m->len, m->filename, slot->id, slot->size, fd });
	slot->passed = true;
}


static const struct slot *slot_of(struct buildids *b, const struct mmap2 *m)
{
	struct slot *slot = &b->slots[hash_words(&m->file, sizeof(m->file)) & (SLOTS - 1)];
	bool known = !memcmp(&slot->file, &m->file, sizeof(m->file));
	int fd;

	if (known && (slot->passed || !is_for_files(b, m, slot))) {   /* other parts of it may be mapped before the code */
		pass_on(b, m, slot, -1);
		return slot;
	}
	fd = open_mapped(m);
	if (fd < 0)
		return known ? slot : NULL;   /* the process has ended; the next one that maps the file may be readable */
	*slot = (struct slot){ .file = m->file };
	slot->size = (uint8_t)elfid_read(fd, slot->id);
	pass_on(b, m, slot, fd);
	close(fd);
	return slot;
}

/* The start of a FORK record. */
struct forked {
	struct perf_event_header header;
	uint32_t pid, ppid;
};

const struct perf_event_header *buildids_mark(struct buildids *b, const struct perf_event_header *rec)
{
	const struct mmap2 *m = (const void *)rec;
	const struct slot *slot;
	const struct forked *forked = (const void *)rec;
	struct mmap2 *out;

	if (b && rec->type == PERF_RECORD_FORK && rec->size >= sizeof(*forked) && forked->pid != forked->ppid)
		codefiles_forked(b->files, forked->pid, forked->ppid);
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
