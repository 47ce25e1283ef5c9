/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/recorder.h"

#include "perfdata/writer.h"
#include "stream/kerneladdr.h"
#include "stream/private.h"
#include "tasks/procmaps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- the machine ----------------------------------------------------------- */

enum { MAX_WORDS = 256 };

static void put_machine(struct stream *s)
{
	const char *words[MAX_WORDS];
	char text[4096];
	size_t n = 0;
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t size = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[size] = '\0';
	for (size_t at = 0; at < size && n < MAX_WORDS; at += strlen(text + at) + 1)
		words[n++] = text + at;
	if (f)
		fclose(f);
	perfdata_put_machine(s->writer, "perf-prof", words, n);
}

/* ---- events --------------------------------------------------------------- */

static int put_event(struct stream *s, const struct stream_event *event, uint64_t *ids)
{
	union pev_attr_buf attr;
	size_t n = 0;

	for (size_t i = 0; i < s->nopened; i++)
		if (s->opened[i].event == event && !pev_event_id(s->opened[i].ev, &ids[n]))
			n++;
	if (!n)
		return 0;
	open_attr(s, event, &s->targets.tasks[0], &attr);
	perfdata_put_attr(s->writer, &attr.attr, ids, n);
	perfdata_put_name(s->writer, ids[0], event->name);
	return 0;
}

static int put_events(struct stream *s, struct fault *f)
{
	uint64_t *ids = calloc(s->nopened + 1, sizeof(*ids));

	if (!ids)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < s->nevents; i++)
		put_event(s, &s->events[i], ids);
	free(ids);
	return 0;
}

static int put_formats(struct stream *s, struct fault *f)
{
	const char **names = calloc(s->nevents + 1, sizeof(*names));
	char *texts = calloc(s->nevents + 1, 512);
	size_t n = 0;
	int rc = -1;

	for (size_t i = 0; names && texts && i < s->nevents; i++) {
		const struct stream_event *e = &s->events[i];

		if (!e->fmt)
			continue;
		names[n] = texts + n * 512;
		snprintf(texts + n++ * 512, 512, "%s:%s", e->fmt->sys, e->fmt->name);
	}
	if (!names || !texts)
		fault_set(f, EXIT_FAILED, "out of memory");
	else
		rc = n ? perfdata_put_tracing(s->writer, s->tracefs, names, n, f) : 0;
	free(names);
	free(texts);
	return rc;
}

/* ---- who is there --------------------------------------------------------- */

/* A COMM record as the kernel would have written it, had it been asked in time. */
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
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, r.comm, sizeof(r.comm) - 1);
	close(fd);
	if (n > 0 && r.comm[n - 1] == '\n')
		r.comm[n - 1] = '\0';
	if (n > 0)
		perfdata_put(s->writer, &r, sizeof(r));
}

/* An MMAP2 record, likewise. */
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
	r->header.size = (uint16_t)(sizeof(*r) + name + sizeof(trailer));
	memcpy(r->filename, path, strlen(path));
	memcpy(r->filename + name, trailer, sizeof(trailer));
	perfdata_put(s->writer, r, r->header.size);
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
		if (procmaps_parse(line, (size_t)n - (line[n - 1] == '\n'), &parsed) && parsed.exec)
			put_mapping(s, pid, &parsed, identifier);
	free(line);
	if (f)
		fclose(f);
}

/* Calls fn for each entry of a folder that is a number. */
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
	uint32_t pid;
};

static void put_thread(void *ctx, uint32_t tid)
{
	const struct walk *w = ctx;

	put_comm(w->s, w->pid, tid, w->identifier);
}

static void put_process(void *ctx, uint32_t pid)
{
	struct walk *w = ctx;
	char folder[64];

	w->pid = pid;
	if (stream_wants_mappings(w->s))
		put_mappings(w->s, pid, w->identifier);
	snprintf(folder, sizeof(folder), "/proc/%u/task", pid);
	each_number(folder, put_thread, w);
}

/* Where the kernel lies, in perf's words: whoever reads the recording later knows by it
 * whether the kernel of then is still the one that runs. */
struct kernel_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char filename[24];
	/* sample_id: TID, TIME, CPU, IDENTIFIER */
	uint32_t id_pid, id_tid;
	uint64_t time, cpu, identifier;
};

static void put_kernel(struct stream *s, uint64_t identifier)
{
	uint64_t text = kernel_address("_text"), end = kernel_address("_etext");
	struct kernel_record r = {
		.header = { .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL, .size = sizeof(r) },
		.pid = UINT32_MAX, .addr = text, .len = end - text, .pgoff = text,
		.filename = "[kernel.kallsyms]_text", .identifier = identifier,
	};

	if (text && end > text)
		perfdata_put(s->writer, &r, sizeof(r));
}

static void put_tasks(struct stream *s)
{
	struct walk walk = { .s = s };

	if (!s->sideband || !sideband_describe(s->sideband, &s->writer, &walk.identifier))
		return;
	put_kernel(s, walk.identifier);
	each_number("/proc", put_process, &walk);
}

/* What time it is, by both clocks. */
static void put_clock(struct stream *s)
{
	struct timespec now;
	int64_t realtime;

	clock_gettime(CLOCK_REALTIME, &now);
	realtime = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	perfdata_put_clock(s->writer, s->clock.kind == CLOCK_MONO ? CLOCK_MONOTONIC : UINT32_MAX,
			   (uint64_t)(realtime - stream_realtime_offset(s)), (uint64_t)realtime);
}

/* ---- the file ------------------------------------------------------------- */

int recorder_prepare(struct stream *s, struct fault *f)
{
	if (!s->opts->record)
		return 0;
	s->writer = perfdata_new(s->opts->record);
	if (!s->writer)
		return fault_set(f, EXIT_FAILED, "out of memory");
	put_machine(s);
	put_clock(s);
	if (put_events(s, f) || put_formats(s, f))
		return -1;
	put_tasks(s);
	return 0;
}

int recorder_begin(struct stream *s, struct fault *f)
{
	return s->writer ? perfdata_open(s->writer, f) : 0;
}

/* Ended by an error that is told now, for the run may last; the exit code tells it again. */
static void tell_error(struct stream *s)
{
	if (!perfdata_error(s->writer) || s->told_record_error)
		return;
	s->told_record_error = true;
	fprintf(stderr, "perf-prof: --record %s: %s: what comes from now on is not recorded; the run "
		"goes on\n", s->opts->record, strerror(-perfdata_error(s->writer)));
}

void recorder_take(struct stream *s, const struct pev_ring *ring, uint64_t from)
{
	uint64_t n = ring->pos - from, at = from & ring->mask, first = ring->mask + 1 - at;

	/* a ring that was found damaged skips bytes that are no records */
	if (!n || n > ring->mask + 1)
		return;
	perfdata_put2(s->writer, ring->data + at, n < first ? n : first, ring->data,
		      n < first ? 0 : n - first);
	tell_error(s);
}

void recorder_round(struct stream *s)
{
	perfdata_put_round(s->writer);
}

int recorder_end(struct stream *s, struct fault *f)
{
	struct perfdata_writer *w = s->writer;

	s->writer = NULL;
	return w ? perfdata_close(w, f) : 0;
}

void recorder_free(struct stream *s)
{
	if (s->writer)
		perfdata_close(s->writer, NULL);
	s->writer = NULL;
}
