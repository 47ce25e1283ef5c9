/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any sequence of records and /proc files: mappings never overlap, lie around the address
 * that was asked for, and memory has its bound. Each record is 8 bytes; what follows a
 * zero kind is the text of /proc/PID/maps.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tasks/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	const uint8_t *data;
	size_t size;
};

static int open_maps(void *ctx, pid_t pid, const char *name)
{
	const struct text *text = ctx;
	int fd = memfd_create("maps", MFD_CLOEXEC);

	assert(fd >= 0 && write(fd, text->data, text->size) == (ssize_t)text->size);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int open_file(void *ctx, pid_t pid, const char *path)
{
	return -ENOENT;
}

static const char *const files[] = { "/a", "/b", "//anon", "[vdso]", "" };

static void take(struct maps *m, const uint8_t *p, uint64_t time)
{
	static const uint32_t types[] = { PERF_RECORD_MMAP2, PERF_RECORD_MMAP2, PERF_RECORD_FORK,
					  PERF_RECORD_COMM, PERF_RECORD_EXIT, PERF_RECORD_LOST };
	struct pev_record rec = { .type = types[p[0] % 6], .sample_id.time = time };
	uint32_t pid = 1 + p[1] % 8, other = 1 + p[2] % 8;

	switch (rec.type) {
	case PERF_RECORD_MMAP2:
		rec.mmap = (struct pev_mmap){
			.pid = pid, .addr = (uint64_t)p[3] << 12, .len = (uint64_t)(p[4] % 32) << 12,
			.pgoff = (uint64_t)p[5] << 12, .filename = files[p[6] % 5], .ino = p[6],
		};
		break;
	case PERF_RECORD_COMM:
		rec.comm = (struct pev_comm){ pid, pid, "x", p[2] & 1 };
		break;
	default:
		rec.task = (struct pev_task){ pid, other, pid, other, time };
		break;
	}
	maps_take(m, &rec);
}

static void ask(struct maps *m, const uint8_t *p, uint64_t time)
{
	pid_t pid = 1 + p[1] % 8;
	uint64_t addr = (uint64_t)p[3] << 12 | p[4];
	uint64_t version = maps_version(m, pid, time);
	const struct mapping *found = maps_find(m, pid, addr, time);

	assert(!found || (found->start <= addr && addr < found->end && found->from <= time));
	assert(!found || strlen(dso_name(found->dso)) < 1 << 17);
	assert(maps_version(m, pid, time) == version || !version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { data, 0 };
	struct opener opener = { open_file, open_maps, &text };
	struct maps_opts opts = { .opener = &opener, .max_bytes = 1 << 20 };
	uint64_t time = 1000;
	size_t i;

	opts.dsos = dsos_new(&opener, 1 << 20);
	struct maps *m = maps_new(&opts);

	for (i = 0; i + 8 <= size && data[i]; i += 8)
		;
	text.data = data + (i < size ? i : size);
	text.size = size - (size_t)(text.data - data);
	for (i = 0; i + 8 <= size && data[i]; i += 8) {
		const uint8_t *p = data + i;

		time += p[7] & 0x80 ? (uint64_t)p[7] << 25 : p[7] & 15;
		if (p[0] & 0x80)
			ask(m, p, time - (p[5] & 31));
		else
			take(m, p, time - (p[7] & 0x40 ? 5 : 0));
	}
	assert(maps_bytes(m) < 8 << 20);
	maps_free(m);
	dsos_free(opts.dsos);
	return 0;
}
