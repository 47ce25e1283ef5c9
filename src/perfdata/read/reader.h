/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a perf.data file of perf or perf-prof, recorded on any machine: the layout of files,
 * or the layout of pipes in a file or through a pipe.
 *
 *	r = perfdata_reader_open(fd, name, &fault);            events, machine, formats
 *	while ((rc = perfdata_next(r, &rec, &fault)) > 0)      the kernel's records
 *		i = perfdata_event_of(r, rec);
 *	perfdata_reader_close(r);
 *
 * Records come in the order of the file. Records of the other byte order are converted to
 * this machine's; the raw data of tracepoints is not, because that needs their format: see
 * perfdata_is_foreign(). Memory use is bounded, whatever the file contains.
 */
#ifndef PERFDATA_READ_READER_H
#define PERFDATA_READ_READER_H

#include "base/fault.h"
#include "perfevent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returned by perfdata_next() among the kernel's records: no later record is earlier than those before
 * the previous round. */
#define PERFDATA_ROUND 68
/* Likewise in a recording of perf stat: `counted` of each event has its count since the last such record. */
#define PERFDATA_COUNTED 77

struct perfdata_jit_map;
struct perfdata_reader;

struct perfdata_event {
	union pev_attr_buf attr;       /* fields that were not recorded are 0 */
	struct pev_format format;      /* for pev_decode() */
	uint64_t *ids;
	size_t nids;
	char *name;                    /* as the recorder calls it; NULL: not recorded */
	char *what;                    /* the event behind the name, such as "cycles:u"; NULL: not recorded */
	struct pev_count counted, sum, before;   /* PERFDATA_COUNTED: of all CPUs and threads. Since the start: as
					* far as it was read; up to the last such record */
	char *unit;                    /* of counted.value * scale; NULL: not recorded, as is a scale of 0 */
	double scale;
};

struct perfdata_build_id {
	char *path;                    /* "[kernel.kallsyms]": the kernel */
	int32_t pid;                   /* -1: any process */
	uint8_t size, id[20];
};

/* Header features that are lists, with perf's numbers. The comments name the numbers and texts of an
 * entry. */
enum {
	PERFDATA_CPU_TOPOLOGY = 13,    /* in parts, see below */
	PERFDATA_NUMA_TOPOLOGY = 14,   /* node, total KiB, free KiB; CPUs */
	PERFDATA_PMU_MAPPINGS = 16,    /* type; name */
	PERFDATA_GROUP_DESC = 17,      /* index of the leader, members; name */
	PERFDATA_CACHE = 20,           /* level, line size, sets, ways; type, size, CPUs */
	PERFDATA_MEM_TOPOLOGY = 22,    /* node, blocks */
	PERFDATA_CLOCKID = 23,         /* resolution, ns */
	PERFDATA_BPF_PROG_INFO = 25,   /* size of the program's info, size of the arrays behind it */
	PERFDATA_BPF_BTF = 26,         /* id, size */
	PERFDATA_COMPRESSION = 27,     /* kind, level, ratio, ring size */
	PERFDATA_CPU_PMU_CAPS = 28,    /* name, value */
	PERFDATA_HYBRID_TOPOLOGY = 30, /* PMU, CPUs */
};

/* Parts of PERFDATA_CPU_TOPOLOGY. */
enum {
	PERFDATA_CORES,                /* CPUs of a package */
	PERFDATA_THREADS,              /* CPUs of a core */
	PERFDATA_CPU_PLACE,            /* core and package, CPU by CPU */
	PERFDATA_DIES,                 /* CPUs of a die */
	PERFDATA_CPU_DIE,              /* die, CPU by CPU */
};

/* One entry: its numbers and texts, in the order of the comments above. */
struct perfdata_fact {
	uint8_t feature, part;
	uint64_t number[4];
	char *text[3];
};

/* The machine and the run, as recorded. NULL and 0: not recorded. */
struct perfdata_info {
	char *hostname, *osrelease, *version, *arch, *cpu, *cpuid;
	uint32_t cpus_online, cpus_there;
	uint64_t memory_kib;
	char **command;
	size_t ncommand;
	bool has_clock;                /* clock_ns and realtime_ns are the same moment */
	uint32_t clockid;
	uint64_t clock_ns, realtime_ns;
	uint64_t first_ns, last_ns;    /* of the first and last sample */
	uint64_t counted_ns;           /* of the last PERFDATA_COUNTED, since the start of perf stat; 0: there was none */
	struct perfdata_build_id *build_ids;
	size_t nbuild_ids;
	struct perfdata_fact *facts;
	size_t nfacts;
	struct perfdata_jit_map *jit_maps;   /* see writer.h; a process may have several */
	size_t njit_maps;
	struct perfdata_jit_map *folders;    /* pieces of perfdata_put_folders(); their pid is 0 */
	size_t nfolders;
	uint64_t features;             /* bit n: the header has feature n */
	uint64_t unread;               /* those of them that could not be read */
};

/* Times of the recording's clock; 0: not known. */
struct perfdata_span {
	uint64_t from, to;
};

/* What was read and skipped. */
struct perfdata_counts {
	uint64_t records;              /* of the kernel, returned */
	uint64_t aux_bytes;            /* AUX data, which is not decoded */
	uint64_t compressed;           /* compressed records */
	uint64_t other;                /* records of user space that are not used here */
	uint64_t own;                  /* records of user space with a layout that perf does not have: skipped */
	uint64_t damaged_bytes;        /* bytes that were skipped as damaged, */
	uint64_t damaged_places;       /* number of places, */
	struct perfdata_span damaged;  /* times of the records around all places, */
	struct perfdata_span place;    /* and around the last one */
};

struct perfdata_reader_opts {
	/* Called before a pipe is read, for callers that wait on their own. 0, or -EINTR to stop:
	 * perfdata_next() then returns 0. May be NULL. */
	int (*wait)(void *ctx, int fd);
	/* Asked now and then while damage is skipped: whether to stop. May be NULL. */
	bool (*stopped)(void *ctx);
	void *ctx;
};

/* Opens `path`, or duplicates stdin for "-". A descriptor, or -1 with f. */
int perfdata_reader_path(const char *path, struct fault *f);
/* Takes over fd, also on failure; `name` is for messages. Reads everything before the first record of the
 * kernel. NULL with f. */
struct perfdata_reader *perfdata_reader_open(int fd, const char *name, struct fault *f);
void perfdata_reader_close(struct perfdata_reader *r);
void perfdata_reader_set_wait(struct perfdata_reader *r, const struct perfdata_reader_opts *opts);

/* 1: the next record, valid until the next call; 0: the end; -1 with f: the rest cannot be read. Damage
 * is skipped where possible; then the end is -1 with the offset and reason of the first damage. */
int perfdata_next(struct perfdata_reader *r, const struct perf_event_header **rec, struct fault *f);

/*
 * The records behind the one that perfdata_next() returned last, as far as they are in memory. The
 * caller checks each with perfdata_is_sound() and reports how far it read with perfdata_pass().
 */
struct perfdata_ahead {
	const char *at, *end;          /* 8-byte aligned; the last record may be cut */
};
/* Whether the size of a record is that of its parts; it has at most `have` bytes. A sample with the id
 * and size of an earlier sound sample is sound. */
bool perfdata_is_sound(struct perfdata_reader *r, const struct perf_event_header *rec, size_t have);
/* False: call perfdata_next() for each record. */
bool perfdata_ahead(struct perfdata_reader *r, const struct perf_event_header *rec, struct perfdata_ahead *ahead);
/* The caller took n more records, up to and including `last`. */
void perfdata_pass(struct perfdata_reader *r, const struct perf_event_header *last, uint64_t n);
/* Keeps the memory of the current record, and of the records ahead in it, until it is unpinned as often
 * as it was pinned, or the reader is closed. */
void *perfdata_pin(struct perfdata_reader *r);
void perfdata_unpin(struct perfdata_reader *r, void *memory);
/* Bytes of pinned memory. */
size_t perfdata_pinned(const struct perfdata_reader *r);

/* File offset of the current record, or of the compressed record that contains it. */
uint64_t perfdata_offset(const struct perfdata_reader *r);
/* File offset of the end of the records; UINT64_MAX for a pipe. */
uint64_t perfdata_end(const struct perfdata_reader *r);
/* The nth record from here, without moving on; false if it is not in the window. In the recorder's byte
 * order. */
bool perfdata_peek(struct perfdata_reader *r, size_t n, const struct perf_event_header **rec);

size_t perfdata_events(const struct perfdata_reader *r);
const struct perfdata_event *perfdata_event(const struct perfdata_reader *r, size_t i);
/* The event of a record; -1: unknown. Other records than samples belong to the first event if they carry
 * no id. */
int perfdata_event_of(struct perfdata_reader *r, const struct perf_event_header *rec);
/* Offset of the id in a sample; 0: all samples belong to the first event. */
uint8_t perfdata_id_at(const struct perfdata_reader *r);
const struct perfdata_info *perfdata_info(const struct perfdata_reader *r);
const struct perfdata_counts *perfdata_counts(const struct perfdata_reader *r);
/* Whether the recorder had the other byte order. */
bool perfdata_is_foreign(const struct perfdata_reader *r);
/* Whether the recorder was killed before it finished the file: features are missing. */
bool perfdata_is_unfinished(const struct perfdata_reader *r);
/* At the end: whether perf-prof recorded it and was killed before it wrote its end. False for a truncated
 * gzip file. */
bool perfdata_has_no_end(const struct perfdata_reader *r);

/* The tracepoint formats in the recording. */
struct perfdata_formats {
	bool big_endian;
	uint8_t long_size;
	uint32_t page_size;
	/* Called with the text of each format. Nonzero stops. */
	int (*format)(void *ctx, const char *sys, const char *text, size_t len);
	/* Called with the recorder's printk_formats, if the file has them; may be NULL. */
	void (*texts)(void *ctx, const char *text, size_t len);
	void *ctx;
};
/* Sets big_endian, long_size and page_size, then calls format() for each format. 0 (also without
 * formats), the result of format(), or -1 with f. */
int perfdata_each_format(const struct perfdata_reader *r, struct perfdata_formats *formats,
			 struct fault *f);
#endif
