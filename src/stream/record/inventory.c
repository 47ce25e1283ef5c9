/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/record/inventory.h"

#include "base/search.h"
#include "base/textfile.h"
#include "perfdata/write/writer.h"
#include "stream/code/buildids.h"
#include "stream/code/jitnames.h"
#include "stream/state/mappings.h"
#include "stream/state/state.h"
#include "symbols/elf/elfid.h"
#include "symbols/kernel/kallsyms.h"
#include "tasks/cgroupnames.h"
#include "tasks/procmaps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- tasks ---------------------------------------------------------------- */

/* A COMM record as the kernel writes it. */
struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
	/* sample_id: TID, TIME, CPU, IDENTIFIER */
	uint32_t id_pid, id_tid;
	uint64_t time, cpu, identifier;
};

static void put_comm(struct stream *s, uint32_t pid, uint32_t tid, uint64_t identifier)
{
	struct comm_record r = {
		.header = { .type = PERF_RECORD_COMM, .size = sizeof(r) },
		.pid = pid, .tid = tid, .id_pid = pid, .id_tid = tid, .identifier = identifier,
	};
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	n = textfile_read(path, r.comm, sizeof(r.comm));
	if (n > 0 && r.comm[n - 1] == '\n')
		r.comm[n - 1] = '\0';
	if (n > 0)
		perfdata_put(s->record.writer, &r, sizeof(r));
}

/* An MMAP2 record as the kernel writes it. */
struct mmap_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

static void put_mapping(struct stream *s, uint32_t pid, const struct procmaps_line *l, uint64_t identifier)
{
	const char *path = *l->path ? l->path : "//anon";
	/* sample_id: TID, TIME, CPU, IDENTIFIER */
	uint64_t trailer[] = { pid | (uint64_t)pid << 32, 0, 0, identifier };
	_Alignas(8) char buf[sizeof(struct mmap_record) + PATH_MAX + 8 + sizeof(trailer)] = { 0 };
	struct mmap_record *r = (void *)buf;
	size_t name = (strlen(path) + 8) & ~(size_t)7;

	if (name > PATH_MAX)
		return;
	*r = (struct mmap_record){
		.header = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER },
		.pid = pid, .tid = pid, .addr = l->start, .len = l->end - l->start, .pgoff = l->pgoff,
		.maj = l->maj, .min = l->min, .ino = l->ino, .prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};
	if (!l->exec) {
		r->header.misc |= PERF_RECORD_MISC_MMAP_DATA;
		r->prot = PROT_READ;
	}
	r->header.size = (uint16_t)(sizeof(*r) + name + sizeof(trailer));
	memcpy(r->filename, path, strlen(path));
	memcpy(r->filename + name, trailer, sizeof(trailer));
	perfdata_put(s->record.writer, buildids_mark(s->record.buildids, &r->header), r->header.size);
	jitnames_saw(s->record.jitnames, &r->header, 0);
}

static void put_mappings(struct stream *s, uint32_t pid, uint64_t identifier)
{
	char path[64], *line = NULL;
	struct procmaps_line parsed;
	size_t room = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && (n = getline(&line, &room, f)) > 0)
		if (procmaps_parse(line, (size_t)n - (line[n - 1] == '\n'), &parsed) &&
		    (parsed.exec || mappings_have_data(s)))
			put_mapping(s, pid, &parsed, identifier);
	free(line);
	if (f)
		fclose(f);
}

/* Calls fn for each entry of a directory whose name begins with a digit. */
static void each_number(const char *folder, void (*fn)(void *ctx, uint32_t number), void *ctx)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			fn(ctx, (uint32_t)strtoul(e->d_name, NULL, 10));
	if (d)
		closedir(d);
}

struct walk {
	struct stream *s;
	uint64_t identifier;
	bool everybody;
	uint32_t pid;
	bool watched;                /* a thread of the process is a target */
};

static bool is_target(const struct stream *s, uint32_t tid)
{
	const struct targets *t = &s->targets;
	size_t at = FIRST_NOT(i, 0, t->ntasks, t->tasks[i].tid < (pid_t)tid);   /* sorted by tid */

	return at < t->ntasks && t->tasks[at].tid == (pid_t)tid;
}

static void put_thread(void *ctx, uint32_t tid)
{
	struct walk *w = ctx;

	w->watched |= w->everybody || is_target(w->s, tid);
	put_comm(w->s, w->pid, tid, w->identifier);
}

static void put_other_thread(void *ctx, uint32_t tid)
{
	if (tid != ((struct walk *)ctx)->pid)
		put_thread(ctx, tid);
}

/* Writes the names of all threads, because watched tasks switch to others. Mappings only of watched
 * processes, and not of a child that will call exec: perf would keep them, and takes the lowest
 * mapping of a library for its base. */
static void put_process(void *ctx, uint32_t pid)
{
	struct walk *w = ctx;
	char folder[64];

	w->pid = pid;
	w->watched = false;
	snprintf(folder, sizeof(folder), "/proc/%u/task", pid);
	put_thread(w, pid);   /* first, so that perf knows the leader when it sees the other threads */
	each_number(folder, put_other_thread, w);
	if (w->watched && stream_wants_mappings(w->s) && (pid_t)pid != w->s->run.is_to_exec)
		put_mappings(w->s, pid, w->identifier);
}

/* ---- the kernel ----------------------------------------------------------- */

/* The kernel's address as perf records it: a later reader compares it with the running kernel. */
struct kernel_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char filename[64];
	/* sample_id: TID, TIME, CPU, IDENTIFIER */
	uint32_t id_pid, id_tid;
	uint64_t time, cpu, identifier;
};

static struct kernel_record kernel_record(uint64_t addr, uint64_t len, uint64_t identifier)
{
	return (struct kernel_record){
		.header = { .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL,
			    .size = sizeof(struct kernel_record) },
		.pid = UINT32_MAX, .addr = addr, .len = len, .identifier = identifier,
	};
}

static void put_kernel_id(struct perfdata_writer *w)
{
	uint8_t id[ELFID_MAX];
	size_t size = kernel_build_id(id);

	if (size)
		perfdata_put_build_id(w, PERF_RECORD_MISC_KERNEL, id, size, "[kernel.kallsyms]");
}

static void put_kernel(struct perfdata_writer *w, uint64_t identifier)
{
	uint64_t text = kernel_address("_text", &opener_direct), end = kernel_address("_etext", &opener_direct);
	struct kernel_record r = kernel_record(text, end - text, identifier);

	if (!text || end <= text)
		return;   /* hidden by kernel.kptr_restrict */
	r.pgoff = text;
	strcpy(r.filename, "[kernel.kallsyms]_text");
	perfdata_put(w, &r, sizeof(r));
}

/* A line is "ext4 1024000 1 - Live 0xffffffffc0000000"; the address is 0 if it is hidden. */
void inventory_put_modules(struct perfdata_writer *w, FILE *modules, uint64_t identifier)
{
	char line[1024], name[57];
	uint64_t size, addr;

	while (fgets(line, sizeof(line), modules)) {
		struct kernel_record r;

		if (sscanf(line, "%56s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &addr) != 3 || !addr)
			continue;
		r = kernel_record(addr, size, identifier);
		snprintf(r.filename, sizeof(r.filename), "[%s]", name);
		perfdata_put(w, &r, sizeof(r));
	}
}

/* ---- control groups -------------------------------------------------------- */

/* A CGROUP record as the kernel writes it. */
struct cgroup_record {
	struct perf_event_header header;
	uint64_t id;
	char path[];
};

static void put_cgroup(void *ctx, uint64_t id, const char *path)
{
	const struct walk *w = ctx;
	/* sample_id: TID, TIME, CPU, IDENTIFIER */
	const uint64_t trailer[] = { 0, 0, 0, w->identifier };
	_Alignas(8) char buf[sizeof(struct cgroup_record) + PATH_MAX + 8 + sizeof(trailer)] = { 0 };
	struct cgroup_record *r = (void *)buf;
	size_t name = (strlen(path) + 8) & ~(size_t)7;

	r->header = (struct perf_event_header){ .type = PERF_RECORD_CGROUP, .size = (uint16_t)(sizeof(*r) + name + sizeof(trailer)) };
	r->id = id;
	memcpy(r->path, path, strlen(path));
	memcpy(r->path + name, trailer, sizeof(trailer));
	perfdata_put(w->s->record.writer, r, r->header.size);
}

/* ---- the whole inventory -------------------------------------------------- */

void inventory_put(struct stream *s, uint64_t identifier)
{
	struct walk walk = { .s = s, .identifier = identifier };
	FILE *modules = fopen("/proc/modules", "re");

	walk.everybody = targets_everybody(s->opts) || s->opts->cgroups.n;
	put_kernel(s->record.writer, identifier);
	put_kernel_id(s->record.writer);
	if (modules) {
		inventory_put_modules(s->record.writer, modules, identifier);
		fclose(modules);
	}
	if (s->opts->samples_cgroups)
		cgroupnames_each(put_cgroup, &walk);
	each_number("/proc", put_process, &walk);
}
