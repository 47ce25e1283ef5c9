/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfevent.h - everything perf_event_open(2) can do, with the minefield cleared.
 *
 * Conventions of the whole library
 *   - A function that can fail returns 0 (or a value >= 0) on success and -errno
 *     on failure. Where a human may have to read the reason, it also fills a
 *     struct pev_error, which may be NULL.
 *   - The library prints nothing, keeps no global state and starts no thread.
 *     Different objects may be used from different threads at the same time;
 *     one object belongs to one thread at a time.
 *   - Times are ns, sizes are bytes and ring sizes are pages unless said otherwise.
 *   - Every byte that comes out of a ring is hostile until pev_decode() checked it.
 */
#ifndef PERFEVENT_H
#define PERFEVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEV_API __attribute__((visibility("default")))

/* ------------------------------------------------------------------------
 * Kernel ABI that older <linux/perf_event.h> lack. Values are the kernel's own
 * (include/uapi/linux/perf_event.h); enumerators can't be tested by #ifdef, so
 * ours carry the PEV_ prefix.
 */
#define PEV_RECORD_CALLCHAIN_DEFERRED 22     /* Linux 6.19 */
#define PEV_RECORD_MAX_KNOWN 22
#define PEV_FORMAT_LOST (1U << 4)            /* Linux 6.0 */
#define PEV_RECORD_MAX_SIZE 65536            /* header.size is 16 bits */

/* ------------------------------------------------------------------------
 * Errors
 */

/* Why a call failed, for a human: what was asked, what the kernel said, what to do. */
struct pev_error {
	int code;          /* errno, positive; 0 = no error */
	char asked[256];   /* "open sched:sched_switch on CPU 3" */
	char said[256];    /* "Permission denied (EACCES)" or the kernel's own text */
	char remedy[512];  /* "run as root, or: sysctl kernel.perf_event_paranoid=-1" */
};

/* Writes "asked: said; remedy" into buf, always terminated. Returns its length. */
PEV_API size_t pev_error_text(const struct pev_error *err, char *buf, size_t size);

/* ------------------------------------------------------------------------
 * What this kernel offers
 */

/* 0 if the kernel has perf_event_open(2) and lets this process call it at all,
 * -ENOSYS if not built in, -EPERM/-EACCES if a seccomp filter refuses. */
PEV_API int pev_supported(void);

/* kernel.perf_event_max_stack, or -errno. Linux 4.7. */
PEV_API int pev_max_stack(void);

/* kernel.perf_event_paranoid into *level; returns 0 or -errno. */
PEV_API int pev_paranoid(int *level);

/* Directory of a mounted, readable tracefs ("/sys/kernel/tracing"). Returns 0,
 * -ENOENT if none is mounted, -EACCES if one is but can't be read; err has the
 * command that helps. */
PEV_API int pev_tracefs_path(char *buf, size_t size, struct pev_error *err);

/* Id of tracepoint sys:name (attr.config), or -errno. */
PEV_API int64_t pev_tracepoint_id(const char *sys, const char *name, struct pev_error *err);

/* Software events by perf's names, aliases included ("page-faults", "faults").
 * pev_software_name() walks the table: NULL past the end. */
PEV_API int pev_software_lookup(const char *name, uint64_t *config);
PEV_API const char *pev_software_name(unsigned int index, uint64_t *config);

/* ------------------------------------------------------------------------
 * Attr: helpers over the kernel's own struct perf_event_attr
 */

/* Clears attr, sets size, type and config. */
PEV_API void pev_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config);
/* pev_attr_init() for a software event by name; -ENOENT if unknown. */
PEV_API int pev_attr_software(struct perf_event_attr *attr, const char *name, struct pev_error *err);
/* pev_attr_init() for a tracepoint by name. Needs a readable tracefs. */
PEV_API int pev_attr_tracepoint(struct perf_event_attr *attr, const char *sys, const char *name,
				struct pev_error *err);
/* One sample per `period` events / about `freq` samples a second. */
PEV_API void pev_attr_sample_period(struct perf_event_attr *attr, uint64_t period);
PEV_API void pev_attr_sample_freq(struct perf_event_attr *attr, uint64_t freq);
/* Wake a reader every n samples / once `bytes` are waiting. */
PEV_API void pev_attr_wakeup_events(struct perf_event_attr *attr, uint32_t n);
PEV_API void pev_attr_wakeup_watermark(struct perf_event_attr *attr, uint32_t bytes);

/* ------------------------------------------------------------------------
 * Events by name, PMUs, breakpoints, probes
 */

/* ------------------------------------------------------------------------
 * Targets: what an event watches. Made by a constructor only, so that "any task
 * on any CPU", which the kernel refuses, can't be written. A zeroed target is
 * refused with -EINVAL.
 */
struct pev_target {
	int kind_;         /* private */
	pid_t pid_;
	int cpu_;
	int cgroup_fd_;
};

PEV_API struct pev_target pev_target_self(void);                      /* calling thread, any CPU */
PEV_API struct pev_target pev_target_thread(pid_t tid);               /* a thread, any CPU */
PEV_API struct pev_target pev_target_cpu(int cpu);                    /* all tasks on a CPU */
PEV_API struct pev_target pev_target_thread_on_cpu(pid_t tid, int cpu);
PEV_API struct pev_target pev_target_cgroup(int cgroup_fd, int cpu);  /* fd of a cgroup folder */

/* ------------------------------------------------------------------------
 * Events
 */
struct pev_event;

/* Options of pev_event_open(). Zero it, set size = sizeof; unknown tail must be zero. */
struct pev_open_opts {
	size_t size;
	struct pev_event *group;   /* leader, or NULL */
	const char *label;         /* name for messages, or NULL */
	uint64_t flags;            /* PERF_FLAG_*; CLOEXEC is always added */
};

/* Opens an event. attr->size is set by the library. On failure *out is NULL and
 * err says which request, what the kernel said and what to do; where the kernel
 * does not know an attr bit, the library finds out which one by trying. */
PEV_API int pev_event_open(struct pev_event **out, const struct perf_event_attr *attr,
			   struct pev_target target, const struct pev_open_opts *opts,
			   struct pev_error *err);
/* Closes the descriptor and frees the object; NULL is fine. Unmap its ring first. */
PEV_API void pev_event_close(struct pev_event *ev);

PEV_API int pev_event_fd(const struct pev_event *ev);  /* owned by ev; for poll */
PEV_API const struct perf_event_attr *pev_event_attr(const struct pev_event *ev);
PEV_API int pev_event_enable(struct pev_event *ev);
PEV_API int pev_event_disable(struct pev_event *ev);
PEV_API int pev_event_reset(struct pev_event *ev);
PEV_API int pev_event_id(const struct pev_event *ev, uint64_t *id);
/* Sends ev's records into the ring of `to` (same CPU, or same task); NULL detaches. */
PEV_API int pev_event_set_output(struct pev_event *ev, struct pev_event *to);
/* Sets a tracepoint filter, once: the kernel refuses a second one with EEXIST. On
 * EINVAL err->said quotes the kernel's own complaint where it can be had (as root) and
 * err->remedy lists the event's fields. */
PEV_API int pev_event_set_filter(struct pev_event *ev, const char *filter, struct pev_error *err);

/* One counter as read(2) gives it; fields not in attr.read_format are 0. */
struct pev_count {
	uint64_t value;
	uint64_t time_enabled;  /* ns */
	uint64_t time_running;  /* ns; less than enabled = multiplexed */
	uint64_t id;
	uint64_t lost;          /* samples that found no room. Linux 6.0 */
};

/* Reads one counter (not PERF_FORMAT_GROUP). -ENODATA if a pinned event is in error. */
PEV_API int pev_event_read(const struct pev_event *ev, struct pev_count *count);

/* ------------------------------------------------------------------------
 * Groups, controls, reads without a system call
 */

/* ------------------------------------------------------------------------
 * Rings
 *
 *   pev_ring_begin(r);                       // one acquire of data_head
 *   while ((rec = pev_ring_next(r)))         // borrowed until the next call
 *           use(rec);
 *   pev_ring_end(r);                         // one release of data_tail
 *
 * begin() fixes how far this drain goes, so a fast producer can't keep it inside.
 * A record lies in the ring itself; the one that wraps is copied into the ring's
 * scratch buffer of 64 KiB. next() returns NULL at the end of the drain and on a
 * damaged record (size < 8, not a multiple of 8, or beyond the head): the drain is
 * then abandoned to the head and pev_ring_damaged() counts it.
 */
struct pev_ring;

#define PEV_RING_DEFAULT_PAGES 128

/* Maps a ring of `pages` data pages (a power of two; 0 = the default) on ev. The
 * event must outlive the ring. -EPERM: mlock limit, -ENOMEM, -EINVAL explained in err. */
PEV_API int pev_ring_map(struct pev_ring **out, struct pev_event *ev, unsigned int pages,
			 struct pev_error *err);
PEV_API void pev_ring_unmap(struct pev_ring *ring);
/* Starts a drain; returns the bytes waiting. */
PEV_API uint64_t pev_ring_begin(struct pev_ring *ring);
/* Next record, 8-byte aligned, header.size bytes of it valid; NULL at the end. */
PEV_API const struct perf_event_header *pev_ring_next(struct pev_ring *ring);
/* Gives what was returned by next() so far back to the kernel, in mid-drain. The
 * last returned record is no longer valid afterwards. */
PEV_API void pev_ring_release(struct pev_ring *ring);
/* Ends the drain and releases all of what next() returned. */
PEV_API void pev_ring_end(struct pev_ring *ring);
PEV_API size_t pev_ring_size(const struct pev_ring *ring);    /* data bytes */
PEV_API uint64_t pev_ring_damaged(const struct pev_ring *ring);

/* ------------------------------------------------------------------------
 * Decoding: bytes + format, no descriptor needed
 */

/* What of an attr is needed to read its records. */
struct pev_format {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	bool sample_id_all;
};

PEV_API void pev_format_from_attr(struct pev_format *fmt, const struct perf_event_attr *attr);

/* Counter values inside a sample (PERF_SAMPLE_READ): nr == 1 unless PERF_FORMAT_GROUP.
 * Use pev_read_value() to pick entry i; `values` points into the record. */
struct pev_read {
	uint64_t nr;
	uint64_t time_enabled;
	uint64_t time_running;
	const uint64_t *values;
	uint32_t stride;        /* u64 words per entry */
	uint64_t format;        /* read_format */
};
PEV_API void pev_read_value(const struct pev_read *read, uint64_t i, struct pev_count *out);

/* The sample_id trailer of records other than SAMPLE (attr.sample_id_all). */
struct pev_sample_id {
	uint64_t present;       /* PERF_SAMPLE_* bits that were there */
	uint32_t pid, tid;
	uint64_t time;
	uint64_t id;            /* of ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
};

/* Pointers go into the record and live as long as it. */
struct pev_sample {
	uint64_t identifier, ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	struct pev_read read;
	uint64_t callchain_nr;
	const uint64_t *callchain;   /* PERF_CONTEXT_* markers included */
	uint32_t raw_size;
	const void *raw;
	/* bits of sample_type that were not decoded (part of a newer kernel) */
	uint64_t undecoded;
};

struct pev_lost { uint64_t id, lost; };
struct pev_comm { uint32_t pid, tid; const char *comm; bool exec; };
struct pev_task { uint32_t pid, ppid, tid, ptid; uint64_t time; };   /* FORK, EXIT */
struct pev_mmap {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	const char *filename;
	bool data;                   /* misc MMAP_DATA: not executable */
	/* MMAP2 only */
	bool has_build_id;
	uint8_t build_id_size;
	uint8_t build_id[20];
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};
struct pev_throttle { uint64_t time, id, stream_id; };

/* A decoded record. `type` says which member of the union holds; types that the
 * library does not know have none: only type, misc, size and the bytes. */
struct pev_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	const struct perf_event_header *header;
	struct pev_sample_id sample_id;   /* not for SAMPLE */
	union {
		struct pev_sample sample;
		struct pev_lost lost;         /* LOST; LOST_SAMPLES has id 0 */
		struct pev_comm comm;
		struct pev_task task;
		struct pev_mmap mmap;         /* MMAP, MMAP2 */
		struct pev_throttle throttle; /* THROTTLE, UNTHROTTLE */
	};
};

/* Decodes the record of at most `avail` bytes at rec. 0, or -EBADMSG if the bytes
 * contradict themselves or the format: nothing outside [rec, rec + avail) is ever
 * read, and on failure *out is zeroed but for type, misc, size and header. */
PEV_API int pev_decode(const struct perf_event_header *rec, size_t avail,
		       const struct pev_format *fmt, struct pev_record *out);

#ifdef __cplusplus
}
#endif
#endif
