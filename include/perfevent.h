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
 * err->remedy lists the event's fields. NULL or "" is no filter: 0, unless there is one. */
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

/* What older headers lack of records and samples. */
#define PEV_SAMPLE_BRANCH_COUNTERS (1U << 19)          /* branch_sample_type. Linux 6.8 */
#define PEV_CONTEXT_USER_DEFERRED ((uint64_t)-640)     /* in call chains. Linux 6.19 */
#define PEV_MEM_LVLNUM_L2_MHB 0x05                     /* L2 miss handling buffer. Linux 6.11 */
#define PEV_MEM_LVLNUM_MSC 0x06                        /* memory-side cache. Linux 6.11 */
#define PEV_MEM_LVLNUM_L0 0x07                         /* Linux 7.0 */
#define PEV_MEM_LVLNUM_UNC 0x08                        /* uncached. Linux 6.6 */
#define PEV_MEM_REGION_SHIFT 46                        /* data_src: 5 bits. Linux 7.0 */

/* Whose register numbers a sample carries. */
enum pev_arch {
	PEV_ARCH_NATIVE,        /* of this machine */
	PEV_ARCH_X86_64,
	PEV_ARCH_I386,
	PEV_ARCH_ARM64,
	PEV_ARCH_RISCV64,
};

/* What of an attr is needed to read its records. */
struct pev_format {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	bool sample_id_all;
	uint8_t arch;           /* enum pev_arch, for names only */
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
/* All 0 if i is not below nr. */
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

/* Branches taken before a sample, the youngest first (Linux 3.4). Pick with
 * pev_branch_entry(). */
struct pev_branches {
	uint64_t nr;
	bool has_hw_index;
	uint64_t hw_index;          /* where the hardware's stack stood. Linux 5.7 */
	const uint64_t *entries;    /* three words each */
	const uint64_t *counters;   /* one word each, or NULL. Linux 6.8 */
};

struct pev_branch {
	uint64_t from, to;
	bool mispred, predicted;    /* both false: the hardware can't tell */
	bool in_tx, abort;          /* in a hardware transaction; aborted it */
	uint16_t cycles;            /* since the branch before, 0 = not told */
	uint8_t type;               /* PERF_BR_*. Linux 4.14 */
	uint8_t spec;               /* PERF_BR_SPEC_*. Linux 6.1 */
	uint8_t new_type;           /* PERF_BR_NEW_*, if type is PERF_BR_EXTEND_ABI. Linux 6.1 */
	uint8_t priv;               /* PERF_BR_PRIV_*. Linux 6.1 */
	uint64_t counters;          /* occurrences of the group's events, as the PMU packs them */
};
/* All 0 if i is not below nr. */
PEV_API void pev_branch_entry(const struct pev_branches *branches, uint64_t i, struct pev_branch *out);

/* Registers: one value per bit of mask, lowest bit first (Linux 3.7 user, 3.19 intr). */
struct pev_regs {
	uint64_t abi;               /* PERF_SAMPLE_REGS_ABI_*; NONE: no registers */
	uint64_t mask;              /* sample_regs_user or sample_regs_intr; 0 if abi is NONE */
	const uint64_t *values;
};
/* Value of register `reg` (a bit of mask); false if it was not sampled. */
PEV_API bool pev_regs_value(const struct pev_regs *regs, unsigned int reg, uint64_t *value);

/* PERF_SAMPLE_WEIGHT has `full`; WEIGHT_STRUCT (Linux 5.12) has the three parts, whose
 * meaning is the PMU's: on Intel latency, instruction latency, and retire latency. */
struct pev_weight {
	uint64_t full;
	uint32_t var1;
	uint16_t var2, var3;
};

/*
 * Pointers go into the record and live as long as it. A field whose bit is not in
 * sample_type is 0 or NULL.
 */
struct pev_sample {
	uint64_t identifier, ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	uint32_t raw_size;
	const void *raw;
	uint64_t callchain_nr;
	const uint64_t *callchain;   /* PERF_CONTEXT_* markers included */
	/* Bits of sample_type that were not decoded: part of a newer kernel, or behind
	 * registers of an unknown ABI. */
	uint64_t undecoded;
	bool exact_ip;               /* misc EXACT_IP: ip is the instruction itself */

	struct pev_read read;
	struct pev_branches branches;
	struct pev_regs regs_user, regs_intr;
	uint64_t stack_size;         /* bytes at stack, user's from its stack pointer on */
	const void *stack;
	uint64_t stack_dyn_size;     /* how many of them could be read; never above stack_size */
	struct pev_weight weight;    /* Linux 3.10 */
	uint64_t data_src;           /* see pev_data_src(). Linux 3.10 */
	uint64_t transaction;        /* PERF_TXN_*. Linux 3.13 */
	uint64_t phys_addr;          /* of addr. Linux 4.14 */
	uint64_t cgroup;             /* as in CGROUP records. Linux 5.7 */
	uint64_t data_page_size;     /* bytes, of addr. Linux 5.11 */
	uint64_t code_page_size;     /* bytes, of ip. Linux 5.11 */
	uint64_t aux_size;           /* Linux 5.5 */
	const void *aux;
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
struct pev_counts { uint32_t pid, tid; struct pev_read read; };      /* READ: inherit_stat */
struct pev_aux { uint64_t offset, size, flags; };                    /* PERF_AUX_FLAG_* */
struct pev_itrace_start { uint32_t pid, tid; };
struct pev_switch {
	bool out;                    /* else in */
	bool preempt;                /* out, but runnable */
	uint32_t next_prev_pid, next_prev_tid;   /* SWITCH_CPU_WIDE: who came, or went */
};
struct pev_namespace { uint64_t dev, inode; };
struct pev_namespaces {
	uint32_t pid, tid;
	uint64_t nr;
	const struct pev_namespace *entries;     /* index: see pev_namespace_name() */
};
struct pev_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t type;               /* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t flags;
	bool unregister;             /* it went; else it came */
	const char *name;
};
struct pev_bpf_event {
	uint16_t type;               /* PERF_BPF_EVENT_* */
	uint16_t flags;
	uint32_t id;
	uint8_t tag[8];
};
struct pev_cgroup { uint64_t id; const char *path; };
struct pev_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	const uint8_t *old_bytes, *new_bytes;
};
struct pev_aux_output_hw_id { uint64_t hw_id; };
/* The user part of call chains that ended in PEV_CONTEXT_USER_DEFERRED, cookie. */
struct pev_callchain_deferred { uint64_t cookie, nr; const uint64_t *ips; };

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
		struct pev_lost lost;         /* LOST; LOST_SAMPLES (Linux 4.2) has id 0 */
		struct pev_comm comm;
		struct pev_task task;
		struct pev_mmap mmap;         /* MMAP, MMAP2 */
		struct pev_throttle throttle; /* THROTTLE, UNTHROTTLE */
		struct pev_counts read;       /* READ */
		struct pev_aux aux;           /* AUX. Linux 4.1 */
		struct pev_itrace_start itrace_start;             /* Linux 4.1 */
		struct pev_switch context_switch;                 /* SWITCH, SWITCH_CPU_WIDE. Linux 4.3 */
		struct pev_namespaces namespaces;                 /* Linux 4.12 */
		struct pev_ksymbol ksymbol;                       /* Linux 5.1 */
		struct pev_bpf_event bpf_event;                   /* Linux 5.1 */
		struct pev_cgroup cgroup;                         /* Linux 5.7 */
		struct pev_text_poke text_poke;                   /* Linux 5.9 */
		struct pev_aux_output_hw_id aux_output_hw_id;     /* Linux 5.16 */
		struct pev_callchain_deferred callchain_deferred; /* Linux 6.19 */
	};
};

/* Decodes the record of at most `avail` bytes at rec, which is 8-byte aligned. 0, or
 * -EBADMSG if the bytes contradict themselves or the format: nothing outside
 * [rec, rec + avail) is ever read, and on failure *out is zeroed but for type, misc,
 * size and header. Members of the record's own struct that it has no bytes for are 0. */
PEV_API int pev_decode(const struct perf_event_header *rec, size_t avail,
		       const struct pev_format *fmt, struct pev_record *out);

/* ---- parts that are packed into a word ---- */

/* PERF_SAMPLE_DATA_SRC taken apart; values are PERF_MEM_* without their shift. Bit sets:
 * op, level, snoop, lock, tlb, snoopx, blk. Numbers: level_num, hops, region. */
struct pev_data_src {
	uint8_t op;
	uint16_t level;
	uint8_t snoop;
	uint8_t lock;
	uint8_t tlb;
	uint8_t level_num;      /* Linux 4.14 */
	bool remote;            /* Linux 4.14 */
	uint8_t snoopx;         /* Linux 4.14 */
	uint8_t blk;            /* Linux 5.12 */
	uint8_t hops;           /* Linux 5.16 */
	uint8_t region;         /* Linux 7.0 */
	uint64_t unknown;       /* bits that none of the above took, in place */
};
PEV_API void pev_data_src(uint64_t word, struct pev_data_src *out);

/* ---- text ----
 * Functions that write text return the length of the whole text, as snprintf() does,
 * and terminate what fits (unless size is 0). Those that return a name have NULL for
 * what they do not know. */

/* A record in one line, like `perf script -D`: names escaped, pointers' bytes in hex,
 * long ones cut after 64 and told. */
PEV_API int pev_record_text(const struct pev_record *rec, const struct pev_format *fmt, char *buf,
			    size_t size);
/* "op:load,level:hit|L1,tlb:hit" for people; 0 has the text "n/a". */
PEV_API int pev_data_src_text(uint64_t word, char *buf, size_t size);
/* "elision|retry|abort:0x12"; PERF_SAMPLE_TRANSACTION. */
PEV_API int pev_transaction_text(uint64_t word, char *buf, size_t size);
/* "truncated|partial"; flags of AUX records. */
PEV_API int pev_aux_flags_text(uint64_t flags, char *buf, size_t size);
/* "user exact-ip", "kernel", "out preempt": misc of a record of that type. */
PEV_API int pev_misc_text(uint32_t type, uint16_t misc, char *buf, size_t size);

PEV_API const char *pev_record_name(uint32_t type);              /* "MMAP2" */
PEV_API const char *pev_sample_name(uint64_t bit);               /* "CALLCHAIN"; one PERF_SAMPLE_ bit */
PEV_API const char *pev_cpu_mode_name(uint16_t misc);            /* "kernel", "guest-user" */
PEV_API const char *pev_context_name(uint64_t ip);               /* "kernel" for PERF_CONTEXT_KERNEL */
PEV_API const char *pev_reg_name(enum pev_arch arch, uint64_t abi, unsigned int reg); /* "SP" */
PEV_API const char *pev_branch_type_name(const struct pev_branch *branch);  /* "COND" */
PEV_API const char *pev_branch_spec_name(uint8_t spec);          /* "SPEC_WRONG_PATH" */
PEV_API const char *pev_branch_priv_name(uint8_t priv);          /* "USER" */
PEV_API const char *pev_namespace_name(uint64_t index);          /* "net" */
PEV_API const char *pev_ksymbol_type_name(uint16_t type);        /* "BPF" */
PEV_API const char *pev_bpf_event_name(uint16_t type);           /* "PROG_LOAD" */

#ifdef __cplusplus
}
#endif
#endif
