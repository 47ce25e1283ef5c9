/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a perf.data file, whoever wrote it where: a file, or the layout of pipes in a
 * file or through a pipe.
 *
 *	r = perfdata_reader_open(fd, name, &opts, &fault);     events, machine, formats
 *	while ((rc = perfdata_next(r, &rec, &fault)) > 0)      the kernel's records, as recorded
 *		i = perfdata_event_of(r, rec);
 *	perfdata_reader_close(r);
 *
 * Records come in the order of the file. Bytes of the other order are turned into this
 * machine's, but for the raw data of tracepoints, which needs its format: see
 * perfdata_is_foreign(). Memory is bounded whatever the file says.
 */
#ifndef PERFDATA_READ_READER_H
#define PERFDATA_READ_READER_H

#include "base/fault.h"
#include "perfevent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Handed on beside the kernel's records: what came before the round that ended before the
 * last one is complete. */
#define PERFDATA_ROUND 68

struct perfdata_jit_map;
struct perfdata_reader;

struct perfdata_event {
	union pev_attr_buf attr;       /* of whatever size; what was not recorded is 0 */
	struct pev_format format;      /* for pev_decode() */
	uint64_t *ids;
	size_t nids;
	char *name;                    /* as the recorder called it; NULL: it doesn't say */
	char *what;                    /* of what it is, by the same; NULL */
};

struct perfdata_build_id {
	char *path;                    /* "[kernel.kallsyms]" is the kernel */
	int32_t pid;                   /* -1: of whatever process */
	uint8_t size, id[20];
};

/* Features of the header that are lists, by perf's numbers. */
enum {
	PERFDATA_CPU_TOPOLOGY = 13,    /* in parts, see below */
	PERFDATA_NUMA_TOPOLOGY = 14,   /* node, KiB in all, KiB free; CPUs */
	PERFDATA_PMU_MAPPINGS = 16,    /* type; name */
	PERFDATA_GROUP_DESC = 17,      /* index of the leader, members; name */
	PERFDATA_CACHE = 20,           /* level, bytes of a line, sets, ways; type, size, CPUs */
	PERFDATA_MEM_TOPOLOGY = 22,    /* node, blocks */
	PERFDATA_CLOCKID = 23,         /* resolution, ns */
	PERFDATA_BPF_PROG_INFO = 25,   /* bytes of what is known of a program, and of what that has */
	PERFDATA_BPF_BTF = 26,         /* id, bytes */
	PERFDATA_COMPRESSION = 27,     /* kind, level, ratio, bytes of a ring */
	PERFDATA_CPU_PMU_CAPS = 28,    /* name, value */
	PERFDATA_HYBRID_TOPOLOGY = 30, /* PMU, CPUs */
};

/* Parts of PERFDATA_CPU_TOPOLOGY. */
enum {
	PERFDATA_CORES,                /* CPUs of a package */
	PERFDATA_THREADS,              /* CPUs of a core */
	PERFDATA_CPU_PLACE,            /* core, package, of each CPU in turn */
	PERFDATA_DIES,                 /* CPUs of a die */
	PERFDATA_CPU_DIE,              /* die, of each CPU in turn */
};

/* One entry of such a list: its numbers and its texts, in the order of the comments above. */
struct perfdata_fact {
	uint8_t feature, part;
	uint64_t number[4];
	char *text[3];
};

/* What a recording says of the machine and the run. NULL and 0: it doesn't. */
struct perfdata_info {
	char *hostname, *osrelease, *version, *arch, *cpu, *cpuid;
	uint32_t cpus_online, cpus_there;
	uint64_t memory_kib;
	char **command;
	size_t ncommand;
	bool has_clock;                /* both times are of one moment */
	uint32_t clockid;
	uint64_t clock_ns, realtime_ns;
	uint64_t first_ns, last_ns;    /* of samples */
	struct perfdata_build_id *build_ids;
	size_t nbuild_ids;
	struct perfdata_fact *facts;
	size_t nfacts;
	struct perfdata_jit_map *jit_maps;   /* writer.h; several may be of one process */
	size_t njit_maps;
	uint64_t features;             /* bit n: feature n of the header is there */
	uint64_t unread;               /* and could not be read */
};

/* Times of the recording's clock; 0: not known. */
struct perfdata_span {
	uint64_t from, to;
};

/* What was passed over, or came about while reading. */
struct perfdata_counts {
	uint64_t records;              /* of the kernel, handed on */
	uint64_t aux_bytes;            /* of AUX areas: not decoded */
	uint64_t compressed;           /* records that held others */
	uint64_t other;                /* records of user space that mean nothing here */
	uint64_t own;                  /* records that only their recorder knows: passed over */
	uint64_t damaged_bytes;        /* passed over, */
	uint64_t damaged_places;       /* at so many places, */
	struct perfdata_span damaged;  /* between records of these times; */
	struct perfdata_span place;    /* the last of them */
};

struct perfdata_reader_opts {
	/* Called before a pipe is read, for whoever wants to wait himself: 0, or -EINTR to stop
	 * (perfdata_next() then says that it is the end). May be NULL. */
	int (*wait)(void *ctx, int fd);
	/* Asked from time to time while damage is passed over: whether to stop, likewise. May be NULL. */
	bool (*stopped)(void *ctx);
	void *ctx;
};

/* `path`, or "-" for stdin: a descriptor; -1 with f. */
int perfdata_reader_path(const char *path, struct fault *f);
/* Takes fd over, also on failure; `name` is for messages. Reads what comes before the first
 * record of the kernel. NULL with f. */
struct perfdata_reader *perfdata_reader_open(int fd, const char *name, struct fault *f);
void perfdata_reader_close(struct perfdata_reader *r);
void perfdata_reader_set_wait(struct perfdata_reader *r, const struct perfdata_reader_opts *opts);

/* The next record, borrowed until the next call: 1; 0: the end; -1 with f: what follows can't
 * be read. Damage that can be passed over is passed over first: then the end comes as -1,
 * with the offset and the reason. */
int perfdata_next(struct perfdata_reader *r, const struct perf_event_header **rec, struct fault *f);

/*
 * Many at a time, in place: what lies behind the record that perfdata_next() gave last, as far as
 * it was read. Whoever goes on there himself checks what comes, and says how far he came.
 */
struct perfdata_ahead {
	const char *at, *end;          /* 8-byte aligned; the last record may be cut */
};
/* Whether a record there, of which there are at most so many bytes, is as long as its parts: so is one that
 * has the size of the one before, and its id. */
bool perfdata_is_sound(struct perfdata_reader *r, const struct perf_event_header *rec, size_t have);
/* False: these records come one at a time only. */
bool perfdata_ahead(struct perfdata_reader *r, const struct perf_event_header *rec, struct perfdata_ahead *ahead);
/* n records more were taken, up to `last` and with it. */
void perfdata_pass(struct perfdata_reader *r, const struct perf_event_header *last, uint64_t n);
/* The memory that the present record lies in stays as it is, with what lies ahead of it there,
 * until it is unpinned as often or the reader is closed. */
void *perfdata_pin(struct perfdata_reader *r);
void perfdata_unpin(struct perfdata_reader *r, void *memory);
/* Bytes that are kept so. */
size_t perfdata_pinned(const struct perfdata_reader *r);

/* Where the record begins, as an offset in the file (that of the compressed record around it). */
uint64_t perfdata_offset(const struct perfdata_reader *r);
/* Where the records end; UINT64_MAX: nobody knows, it is a pipe. */
uint64_t perfdata_end(const struct perfdata_reader *r);
/* Looks ahead, without going on, at what lies in the window: the nth record from here; false
 * past its end. Its bytes are in the recorder's order. */
bool perfdata_peek(struct perfdata_reader *r, size_t n, const struct perf_event_header **rec);

size_t perfdata_events(const struct perfdata_reader *r);
const struct perfdata_event *perfdata_event(const struct perfdata_reader *r, size_t i);
/* Whose a record is: -1: of none. Records that are no samples are of the first event where
 * they don't say. */
int perfdata_event_of(struct perfdata_reader *r, const struct perf_event_header *rec);
/* Where a sample's id lies; 0: all samples are of the first event. */
uint8_t perfdata_id_at(const struct perfdata_reader *r);
const struct perfdata_info *perfdata_info(const struct perfdata_reader *r);
const struct perfdata_counts *perfdata_counts(const struct perfdata_reader *r);
/* The recorder had the other byte order. */
bool perfdata_is_foreign(const struct perfdata_reader *r);
/* A file whose recorder did not come to finish it: features are missing. */
bool perfdata_is_unfinished(const struct perfdata_reader *r);
/* At its end: perf-prof recorded it, and did not come to its own end. False of a gzip file that is cut. */
bool perfdata_has_no_end(const struct perfdata_reader *r);

/* The formats of tracepoints that the recording brings. */
struct perfdata_formats {
	bool big_endian;
	uint8_t long_size;
	uint32_t page_size;
	/* Each format's text. Nonzero ends the walk. */
	int (*format)(void *ctx, const char *sys, const char *text, size_t len);
	void *ctx;
};
/* Calls format() for each, after big_endian, long_size and page_size were set: 0, what it
 * returned, or -1 with f; with no formats in the recording 0. */
int perfdata_each_format(const struct perfdata_reader *r, struct perfdata_formats *formats,
			 struct fault *f);
#endif
