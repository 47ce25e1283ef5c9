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

/* Clears attr, sets size (128; see pev_attr_buf), type and config. */
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
 *
 * ---- attrs larger than the system's header knows ----
 *
 * attr->size says how many bytes of the object count, as it does for the kernel, and 0
 * stands for PERF_ATTR_SIZE_VER7 (128 bytes, up to sig_data). The library never touches
 * more of a plain struct perf_event_attr than those 128, so that a program and the library
 * may have been built against different headers. Fields behind them (config3, config4)
 * need a pev_attr_buf, whose first member is the kernel's own struct: fill in buf.attr,
 * pass &buf.attr, and set what the header lacks with pev_attr_set(). docs/attr.md is the
 * table of all fields.
 */
#define PEV_ATTR_SIZE_MAX 256

union pev_attr_buf {
	struct perf_event_attr attr;
	uint64_t words_[PEV_ATTR_SIZE_MAX / 8];   /* private */
};

/* Clears the whole buffer; size as pev_attr_init() sets it. */
PEV_API void pev_attr_buf_init(union pev_attr_buf *buf, uint32_t type, uint64_t config);
/* Copies the attr->size bytes of attr and clears the rest. -E2BIG if they don't fit. */
PEV_API int pev_attr_buf_copy(union pev_attr_buf *buf, const struct perf_event_attr *attr);

/* A field of struct perf_event_attr. Members of a union are fields of their own. */
struct pev_attr_field {
	const char *name;       /* the kernel's own: "sample_period" */
	const char *since;      /* kernel version that brought it: "2.6.31" */
	const char *what;       /* meaning and unit, one line */
	uint16_t offset;        /* bytes; of the 64-bit or 32-bit word that holds a bit */
	uint16_t size;          /* bytes of that word */
	uint16_t bit;           /* first bit of a bit field, counted from the first declared */
	uint16_t width;         /* bits; 8 * size unless a bit field */
};

/* Walks the table in the order of the struct; NULL past the end. */
PEV_API const struct pev_attr_field *pev_attr_field_at(unsigned int index);
/* Reads a field by name; behind attr->size it is 0. -ENOENT if there is none of that name. */
PEV_API int pev_attr_get(const struct perf_event_attr *attr, const char *name, uint64_t *value);
/* Sets a field by name and raises buf->attr.size where needed. -ENOENT; -ERANGE if the
 * value does not fit. */
PEV_API int pev_attr_set(union pev_attr_buf *buf, const char *name, uint64_t value);

/* PMUs that need more than config2: Linux 6.3, Linux 6.19. Raise buf->attr.size. */
PEV_API void pev_attr_set_config3(union pev_attr_buf *buf, uint64_t value);
PEV_API void pev_attr_set_config4(union pev_attr_buf *buf, uint64_t value);

/* What an event does to its group's AUX area. Linux 6.13. */
#define PEV_AUX_START_PAUSED 1U   /* the AUX event: wait for a resume */
#define PEV_AUX_PAUSE        2U   /* a sampling event: pause it on overflow */
#define PEV_AUX_RESUME       4U   /* a sampling event: resume it on overflow */
/* attr.aux_action, a mask of PEV_AUX_. */
PEV_API void pev_attr_set_aux_action(struct perf_event_attr *attr, uint32_t actions);
/* defer_callchain: user callchains come later, as CALLCHAIN_DEFERRED records;
 * defer_output: this event's ring takes them. Linux 6.19. */
PEV_API void pev_attr_set_defer(struct perf_event_attr *attr, bool callchain, bool output);

/* ---- hardware, cache and raw events ---- */

/* PERF_TYPE_HARDWARE by perf's names, aliases included ("cycles"). -ENOENT.
 * pev_hardware_name() walks the table, canonical names before their aliases: NULL past
 * the end. */
PEV_API int pev_hardware_lookup(const char *name, uint64_t *config);
PEV_API const char *pev_hardware_name(unsigned int index, uint64_t *config);

/* PERF_TYPE_RAW: "rNNN", up to 16 hexadecimal digits. -ENOENT if name is no such thing. */
PEV_API int pev_raw_lookup(const char *name, uint64_t *config);

/* PERF_TYPE_HW_CACHE: config of PERF_COUNT_HW_CACHE_x, _OP_x, _RESULT_x. -EINVAL if one
 * is out of its range. All 42 combinations are possible; hardware has a few. */
PEV_API int pev_cache_config(unsigned int cache, unsigned int op, unsigned int result,
			     uint64_t *config);
/* By perf's names, aliases and orders included, whatever the case ("L1-dcache-load-misses",
 * "l1d-read-miss", "LLC-loads"). -ENOENT. */
PEV_API int pev_cache_lookup(const char *name, uint64_t *config);
/* perf list's name of a config into buf. 0, or -EINVAL for a config that is none. */
PEV_API int pev_cache_name(uint64_t config, char *buf, size_t size);
/* Walks all combinations, 0 to 41: cache by cache, then op, then result. False past the
 * end. *usual tells whether perf list offers it (no writes to an instruction cache). */
PEV_API bool pev_cache_at(unsigned int index, uint64_t *config, bool *usual);

/* ---- PMUs of sysfs ---- */

/* A PMU as /sys/bus/event_source/devices/NAME describes it, read once when opened. */
struct pev_pmu;

struct pev_pmu_event {
	const char *name;       /* "tsc" */
	const char *terms;      /* "event=0x00" */
	const char *unit;       /* "Joules", or NULL */
	double scale;           /* count * scale is in units; 1 if not told */
	bool per_package;       /* one counter per package: read on one CPU of each */
	bool snapshot;          /* a level, not a count: don't subtract */
};

/* One name of format/: where the bits of a term's value go, lowest first. */
struct pev_pmu_format {
	const char *name;       /* "umask" */
	unsigned int word;      /* 0 = config, 1 = config1, ... 4 */
	uint64_t bits;          /* of that word */
};

/* -ENOENT: no such PMU; -EBADMSG: a file of it makes no sense (err says which). */
PEV_API int pev_pmu_open(struct pev_pmu **out, const char *name, struct pev_error *err);
PEV_API void pev_pmu_close(struct pev_pmu *pmu);
PEV_API const char *pev_pmu_name(const struct pev_pmu *pmu);
/* attr.type. */
PEV_API uint32_t pev_pmu_type(const struct pev_pmu *pmu);
/* Of format/ and events/, in alphabetical order; NULL past the end. Borrowed from pmu. */
PEV_API const struct pev_pmu_format *pev_pmu_format_at(const struct pev_pmu *pmu, unsigned int i);
PEV_API const struct pev_pmu_event *pev_pmu_event_at(const struct pev_pmu *pmu, unsigned int i);
/* CPUs of `cpumask` (uncore: open on these alone) or `cpus` (a core type of a hybrid
 * machine: open on these, or on tasks). Writes at most n; returns how many there are,
 * 0 = the PMU doesn't say: all CPUs. */
PEV_API int pev_pmu_cpus(const struct pev_pmu *pmu, int *cpus, size_t n);
/* True if CPUs or tasks can be watched: the `cpu` PMU, or one with a `cpus` file. False
 * for what counts a package or the machine, and takes no task. */
PEV_API bool pev_pmu_is_core(const struct pev_pmu *pmu);
/* Makes attr from terms: event names, format terms and config=N .. config4=N, as
 * "event=0x3c,umask=1" or "tsc". -EINVAL: unknown term or value out of range, said in err. */
PEV_API int pev_pmu_attr(const struct pev_pmu *pmu, const char *terms, union pev_attr_buf *buf,
			 struct pev_error *err);
/* attr.type of a PMU by name, without reading more of it: -ENOENT, -EBADMSG. */
PEV_API int pev_pmu_lookup_type(const char *name, uint32_t *type);
/* Names of all PMUs, in alphabetical order, each terminated, one after another in a
 * malloc'ed block that ends with an empty name. -errno if sysfs can't be read. */
PEV_API int pev_pmu_list(char **names);
/* A generic hardware or cache event of one core type of a hybrid machine (extended type:
 * the PMU's type in config bits 32 and above). Linux 5.13. */
PEV_API void pev_attr_set_core_type(struct perf_event_attr *attr, uint32_t pmu_type);

/* ---- breakpoints ---- */

/* type is a mask of HW_BREAKPOINT_R, _W, or _X alone (<linux/hw_breakpoint.h>); len is 1
 * to 8 bytes, 0 = what fits the type: 4 for data, pev_breakpoint_exec_length() for X. x86
 * knows lengths 1, 2, 4, 8, aligned addresses, and no R without W. -EINVAL said in err. */
PEV_API int pev_attr_breakpoint(struct perf_event_attr *attr, uint32_t type, uint64_t addr,
				uint64_t len, struct pev_error *err);
/* Bytes of an execution breakpoint: sizeof(long) (the kernel takes no other on x86). */
PEV_API uint64_t pev_breakpoint_exec_length(void);

/* ---- probes: kprobe and uprobe PMUs, Linux 4.17 ---- */

/* attr.config1 points to `symbol` or `path`: it has to live until the event was opened. */

/* Kernel function `symbol` + offset, at its return if `ret` (then offset is 0). -ENOENT if
 * the kernel has no kprobe PMU. A symbol that does not exist shows when it is opened. */
PEV_API int pev_attr_kprobe(struct perf_event_attr *attr, const char *symbol, uint64_t offset,
			    bool ret, struct pev_error *err);
/* Kernel address. */
PEV_API int pev_attr_kprobe_addr(struct perf_event_attr *attr, uint64_t addr, bool ret,
				 struct pev_error *err);
/* File offset of an executable or library; ref_ctr_offset is the file offset of a
 * semaphore that the kernel raises while somebody watches (USDT; Linux 4.20), or 0. */
PEV_API int pev_attr_uprobe(struct perf_event_attr *attr, const char *path, uint64_t offset,
			    uint64_t ref_ctr_offset, bool ret, struct pev_error *err);
/* pev_attr_uprobe() at a symbol of the file + offset. */
PEV_API int pev_attr_uprobe_symbol(struct perf_event_attr *attr, const char *path,
				   const char *symbol, uint64_t offset, bool ret,
				   struct pev_error *err);
/* File offset of a function symbol of an ELF file (symtab, else dynsym). -ENOENT: no such
 * symbol; -EBADMSG: no ELF file, or a damaged one. */
PEV_API int pev_elf_symbol(const char *path, const char *symbol, uint64_t *file_offset,
			   struct pev_error *err);

/* USDT probes: what DTRACE_PROBE() and its like left in a binary's .note.stapsdt. */
struct pev_usdt;

struct pev_usdt_probe {
	const char *provider;
	const char *name;
	const char *args;         /* "-4@%edi 8@%rax" */
	uint64_t address;         /* of the probe, as linked */
	uint64_t offset;          /* of the probe in the file */
	uint64_t ref_ctr_offset;  /* of its semaphore in the file; 0 = none */
};

/* Reads the notes of path. A file without any has 0 probes. -EBADMSG: damaged. */
PEV_API int pev_usdt_open(struct pev_usdt **out, const char *path, struct pev_error *err);
PEV_API void pev_usdt_close(struct pev_usdt *usdt);
/* In the file's order; a probe may stand several times (inlined); NULL past the end. */
PEV_API const struct pev_usdt_probe *pev_usdt_at(const struct pev_usdt *usdt, size_t i);
/* attr of one of them; attr.config1 borrows usdt's copy of the path. */
PEV_API int pev_attr_usdt(struct perf_event_attr *attr, const struct pev_usdt *usdt, size_t i,
			  struct pev_error *err);

/* ---- event lists, as perf stat -e takes them ---- */

struct pev_attr_list;

/* One event of a parsed list. Strings and attr are borrowed from the list. */
struct pev_parsed {
	const struct perf_event_attr *attr;   /* in a pev_attr_buf of attr->size bytes */
	const char *label;      /* the name= term, or pev_attr_label() */
	const char *unit;       /* of a PMU's event, or NULL */
	double scale;           /* see struct pev_pmu_event */
	bool per_package;
	bool snapshot;
	bool precise_max;       /* :P - try precise_ip 3, 2, 1, 0 in turn */
	bool weak;              /* :W - if the group won't open, open its events alone */
	bool group_read;        /* :S - sample the leader, read the others with it */
	bool percore;           /* the percore term: sum over the threads of a core */
	size_t leader;          /* index of the group's leader; its own if in no group */
	const char *group_name; /* of "name:{...}", or NULL */
	const int *cpus;        /* CPUs of its PMU; NULL = all */
	size_t ncpus;
	size_t at, length;      /* where it stands in the text, bytes */
};

/* Parses what `perf stat -e` takes: names, rNNN, TYPE:CONFIG, pmu/terms/, sys:name (with
 * wildcards), mem:ADDR[/LEN][:rwx], modifiers :ukhIGHpPDeSW, {groups}:modifiers, and
 * lists of them. A wildcard, a PMU with several instances and a generic name on a hybrid
 * machine give several events. On failure *out is NULL, *at (may be NULL) is the offset
 * of the trouble in text and err says what was expected there. -EINVAL, -ENOENT, -EACCES
 * (tracefs), -ENOMEM. */
PEV_API int pev_attr_parse(struct pev_attr_list **out, const char *text, size_t *at,
			   struct pev_error *err);
PEV_API void pev_attr_list_free(struct pev_attr_list *list);
PEV_API size_t pev_attr_list_size(const struct pev_attr_list *list);
/* NULL past the end. */
PEV_API const struct pev_parsed *pev_attr_list_at(const struct pev_attr_list *list, size_t i);

/* The name of attr that pev_attr_parse() takes, modifiers included ("cycles:u",
 * "L1-dcache-loads", "sched:sched_switch", "msr/tsc/", "r1a8"); perf list's where it has
 * one. Always terminated; returns the length it has or would have had. */
PEV_API size_t pev_attr_label(const struct perf_event_attr *attr, char *buf, size_t size);

/* ---- what this kernel lets this user open ---- */

/* Found by opening it. Rows stay as they were when probed. */
struct pev_features;

struct pev_feature {
	const char *name;       /* "tracepoint-raw" */
	const char *group;      /* "events", "targets", "samples", "attr", "controls" */
	const char *what;       /* one line */
	int code;               /* 0 = works, else errno */
	bool partial;           /* works in user space only */
	const char *said;       /* what refuses; "" if it works */
	const char *remedy;     /* what to do; "" if it works */
};

/* Tries everything as the calling thread, in some milliseconds. -ENOMEM. */
PEV_API int pev_features_probe(struct pev_features **out);
PEV_API void pev_features_free(struct pev_features *features);
/* NULL past the end; rows of a group stand together. */
PEV_API const struct pev_feature *pev_features_at(const struct pev_features *features, size_t i);
/* By name; NULL if there is none of that name. */
PEV_API const struct pev_feature *pev_features_find(const struct pev_features *features,
						    const char *name);

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

/* Opens an event. attr->size bytes of attr count (0 = 128; see pev_attr_buf), and what an
 * older kernel does not know of them has to be zero. On failure *out is NULL and
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

/*
 * A group is counted together or not at all: all its members are on the PMU for the
 * same time, so their values may be divided by each other.
 *
 *   struct pev_group *g = pev_group_new();
 *   pev_group_add(g, &instructions, NULL);          // the first one leads
 *   pev_group_add(g, &cycles, NULL);
 *   pev_group_open(g, pev_target_self(), NULL, &err);   // all or nothing
 *   pev_group_measure(g, work, arg, counts, 2);
 *   pev_group_close(g);
 *
 * Leader rules, kept by pev_group_open():
 *   - the first member leads; only it may be `pinned` or `exclusive` (-EINVAL else);
 *   - only the leader's `disabled` and `enable_on_exec` count. A member is opened
 *     running and follows its leader; one opened disabled would stay off when the
 *     leader alone is enabled. A zeroed leader counts from its opening on;
 *   - all have the leader's `inherit` (-EINVAL else);
 *   - read_format is GROUP | ID | both times, and LOST where the kernel has it (6.0);
 *   - members of two hardware PMUs can't form a group (the kernel's EINVAL).
 */
struct pev_group;

/* An empty group, or NULL without memory. pev_group_close() frees it. */
PEV_API struct pev_group *pev_group_new(void);
/* Adds a copy of attr; label NULL = the event's own name. Returns the index of the member,
 * -EBUSY once the group is open, -E2BIG (see pev_attr_buf_copy()), -ENOMEM. */
PEV_API int pev_group_add(struct pev_group *g, const struct perf_event_attr *attr,
			  const char *label);
/* Opens all members on target, or none: err names the member that was refused. Of opts,
 * `flags` is used; `group` and `label` must be NULL. -EINVAL for an empty group, -EBUSY
 * if it is open. */
PEV_API int pev_group_open(struct pev_group *g, struct pev_target target,
			   const struct pev_open_opts *opts, struct pev_error *err);
/* Closes all members and frees the group; NULL is fine. */
PEV_API void pev_group_close(struct pev_group *g);

PEV_API size_t pev_group_size(const struct pev_group *g);
/* Member i, owned by the group; NULL before the opening and past the end. 0 is the leader. */
PEV_API struct pev_event *pev_group_event(const struct pev_group *g, size_t i);
PEV_API const char *pev_group_label(const struct pev_group *g, size_t i);

/* All members at once. -EBADF before the opening. */
PEV_API int pev_group_enable(struct pev_group *g);
PEV_API int pev_group_disable(struct pev_group *g);
PEV_API int pev_group_reset(struct pev_group *g);

/* Reads all members into counts[0..n), n >= pev_group_size() (-EINVAL else), by one
 * system call, or by none after pev_group_map_self(). Returns their number. Values are
 * the kernel's, never scaled: see pev_count_estimate(). The times are the group's.
 * -ENODATA: a pinned group lost its place on the PMU and counts no more, until it is
 * disabled and enabled again. -ECHILD: an inherited copy of the group is no longer whole. */
PEV_API int pev_group_read(const struct pev_group *g, struct pev_count *counts, size_t n);

/* Disables, resets and enables the group, runs fn(arg), disables, reads as above. The
 * times are those of this run only (the kernel can't reset them). */
PEV_API int pev_group_measure(struct pev_group *g, void (*fn)(void *), void *arg,
			      struct pev_count *counts, size_t n);

/* The cheap way to measure often: the group stays on, and what happened between begin and
 * end is the difference of two reads. end() may be called repeatedly after one begin().
 * -EINVAL for an end without begin. What happens in the two reads themselves (a handful
 * of instructions, the syscalls of tracepoints) is in the difference. */
PEV_API int pev_group_begin(struct pev_group *g);
PEV_API int pev_group_end(struct pev_group *g, struct pev_count *counts, size_t n);

/* Like the above for a single event, or for a leader that was opened by hand with
 * PERF_FORMAT_GROUP. read_group returns the number of members; -EINVAL if attr.read_format
 * lacks GROUP or n is too small. */
PEV_API int pev_event_measure(struct pev_event *ev, void (*fn)(void *), void *arg,
			      struct pev_count *count);
PEV_API int pev_event_read_group(const struct pev_event *ev, struct pev_count *counts, size_t n);

/* after - before, each field; id is after's, lost the difference. */
PEV_API struct pev_count pev_count_delta(const struct pev_count *before,
					 const struct pev_count *after);

/* A count as it would have been without multiplexing, and how much of the time it was
 * seen: share is time_running / time_enabled, 1 = exact. */
struct pev_estimate {
	double value;
	double share;     /* 0..1 */
	bool exact;       /* it ran all the time (or was never enabled): value is the count */
};

/* Needs both times in count (-EINVAL if it was read without). -ENODATA: enabled but never
 * running, nothing can be said. */
PEV_API int pev_count_estimate(const struct pev_count *count, struct pev_estimate *est);

/* ---- Controls. pev_event_enable() and friends act on one event; these on all of its
 * group, whichever member is given (PERF_IOC_FLAG_GROUP). */
PEV_API int pev_event_enable_group(struct pev_event *ev);
PEV_API int pev_event_disable_group(struct pev_event *ev);
PEV_API int pev_event_reset_group(struct pev_event *ev);

/* Enables a sampling event for n more overflows, after which the kernel disables it and
 * signals POLL_HUP (see pev_event_signal()). n >= 1, since 0 means "for ever"; refused
 * with -EINVAL, as are inherited and counting events by the kernel. */
PEV_API int pev_event_refresh(struct pev_event *ev, unsigned int n);
/* New period, or new frequency for an event with attr.freq. -EINVAL for 0, for a counting
 * event, and beyond kernel.perf_event_max_sample_rate. Takes effect at once since
 * Linux 3.14 (ARM 3.7); of software events and tracepoints after the next overflow. */
PEV_API int pev_event_set_period(struct pev_event *ev, uint64_t period);
/* Stops and restarts the writing of records into ev's ring; counting goes on. The ring
 * must be mapped (-EINVAL). Linux 4.7. */
PEV_API int pev_event_pause_output(struct pev_event *ev, bool pause);
/* Attaches a BPF program: to a kprobe, uprobe or tracepoint event (it filters and acts,
 * Linux 4.1), or to an overflow of a sampling event (4.9). prog_fd may be closed then.
 * err says whether the program's type or the privilege is at fault. */
PEV_API int pev_event_set_bpf(struct pev_event *ev, int prog_fd, struct pev_error *err);
/* Ids of the BPF programs on the tracepoint of ev into ids[0..n); *nr is their number.
 * -ENOSPC if n is too small, then *nr says what is needed. Needs CAP_PERFMON. Linux 4.16. */
PEV_API int pev_event_query_bpf(const struct pev_event *ev, uint32_t *ids, size_t n, size_t *nr);
/* Gives a breakpoint another address, type, length or `disabled`; nothing else can be
 * modified (-EOPNOTSUPP for other types, -EINVAL for another field). Linux 4.17. */
PEV_API int pev_event_modify(struct pev_event *ev, const struct perf_event_attr *attr,
			     struct pev_error *err);

/* Enables / disables every event that the calling thread opened, by prctl(2). */
PEV_API int pev_tasks_enable(void);
PEV_API int pev_tasks_disable(void);

/* What an address filter does with the trace of a PMU that has them (Intel PT, CoreSight). */
enum pev_range { PEV_RANGE_FILTER, PEV_RANGE_START, PEV_RANGE_STOP };
/* Appends "filter 0x1000/0x20@/usr/bin/x" to text, for pev_event_set_filter(). path NULL =
 * addresses of the kernel. size 0 with START and STOP only. -EINVAL, -E2BIG (no room). */
PEV_API int pev_filter_range(char *text, size_t text_size, enum pev_range what, uint64_t addr,
			     uint64_t size, const char *path);

/* Who gets the signal of pev_event_signal(). */
enum pev_owner { PEV_OWNER_THREAD, PEV_OWNER_PROCESS, PEV_OWNER_GROUP };
/* Sends signo to a thread, process or process group at every wake-up of ev (overflow
 * by attr.wakeup_events; POLL_HUP when a refresh ran out): fcntl O_ASYNC, F_SETSIG,
 * F_SETOWN_EX. si_fd is pev_event_fd(), si_code POLL_IN or POLL_HUP. signo 0 ends it. */
PEV_API int pev_event_signal(struct pev_event *ev, int signo, enum pev_owner owner, pid_t id);

/* ---- Reads without a system call, where the PMU allows (x86: rdpmc; arm64 with
 * kernel.perf_user_access=1 and config1 bit 1; riscv). Which way is taken is found out
 * at every read: a counter that is not on the PMU now is read by read(2). Only for events
 * of the calling thread on any CPU, and only in the thread that opened them; for others
 * read(2) is used. */
struct pev_self;

/* Maps the control page of ev, which must outlive it and can't have a ring then. 0 too if
 * the event can't be read that way; -ENOMEM. */
PEV_API int pev_self_map(struct pev_self **out, struct pev_event *ev);
PEV_API void pev_self_unmap(struct pev_self *self);
/* Like pev_event_read(). */
PEV_API int pev_self_read(const struct pev_self *self, struct pev_count *count);
/* Would a read need no system call now? */
PEV_API bool pev_self_fast(const struct pev_self *self);
/* From here on pev_group_read() of an open group goes through the pages. A member's value
 * is then that of its own instant, ns apart from the next. 0 or -errno. */
PEV_API int pev_group_map_self(struct pev_group *g);

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

/* True if records wait: no system call, no begin() needed. Not for overwrite rings. */
PEV_API bool pev_ring_has_record(const struct pev_ring *ring);
/* For poll, epoll, select of other loops: POLLIN at every wake-up, POLLHUP once the watched
 * task ended. Owned by the event. */
PEV_API int pev_ring_fd(const struct pev_ring *ring);

/*
 * Waits for the ring's wake-up: attr.wakeup_events samples or wakeup_watermark bytes.
 * timeout_ms < 0 waits for ever, 0 just looks. cancel_fd: any descriptor (an eventfd)
 * that ends the wait by becoming readable, also from another thread or a signal handler;
 * -1 = none. Wake-ups come by what is written, not by what is left unread: drain the
 * ring after each.
 *   1            records are there: a wake-up, or less than a wake-up's worth when the
 *                time was over or the task had ended
 *   0            the time is over and nothing is there
 *   -ECANCELED   cancel_fd is readable (it is not read)
 *   -ESRCH       the watched task (with attr.inherit: and its last child) has ended, and
 *                all that it left was read. Linux 3.18
 *   -ENODATA     a pinned event is in error (Linux 6.15)
 *   -EINTR       a signal
 */
PEV_API int pev_ring_wait(struct pev_ring *ring, int timeout_ms, int cancel_fd);
/* The same for an event whose records go into a ring, its own or by set_output another's:
 * the end that is told is this event's. 1 means a wake-up of that ring. -EINVAL if it has
 * no ring: the kernel tells nothing then. */
PEV_API int pev_event_wait(struct pev_event *ev, int timeout_ms, int cancel_fd);

/*
 * Overwrite rings: the kernel never stops for want of room, the oldest records are lost
 * instead. ev must have been opened with attr.write_backward (Linux 4.7; -EINVAL else).
 * begin() pauses the output and waits for writers of other CPUs (ms), next() then
 * goes from the newest record back in time, end() resumes. What happens between is not
 * recorded: a PERF_RECORD_LOST tells it with the next record. release() does nothing.
 * The oldest record, half overwritten, is left out silently. A later drain meets again
 * what is still there; a reader that remembers the first record of its last drain stops
 * at that.
 */
PEV_API int pev_ring_map_overwrite(struct pev_ring **out, struct pev_event *ev,
				   unsigned int pages, struct pev_error *err);

/*
 * The AUX area: raw trace that some PMUs write (Intel PT, ARM SPE, CoreSight). Its data
 * is announced by PERF_RECORD_AUX in the ring. Linux 4.1. Needs ev's mapped ring.
 */
struct pev_aux_area;

/* pages: a power of two. snapshot: the PMU overwrites the oldest data for ever. Unmap it
 * before the ring. -EOPNOTSUPP: the PMU has none; -EPERM, -ENOMEM, -EINVAL explained in err. */
PEV_API int pev_aux_map(struct pev_aux_area **out, struct pev_ring *ring, unsigned int pages,
			bool snapshot, struct pev_error *err);
PEV_API void pev_aux_unmap(struct pev_aux_area *aux);
PEV_API size_t pev_aux_size(const struct pev_aux_area *aux);

/* Data in the area: the second piece follows the first in time, where it wraps. */
struct pev_aux_data {
	const void *data[2];
	size_t size[2];
};
/* What is there to read since the last consume; borrowed until then. Returns the bytes.
 * Of a snapshot area: all of it from the oldest byte on (disable the event first); what was
 * never written is left out. */
PEV_API uint64_t pev_aux_peek(const struct pev_aux_area *aux, struct pev_aux_data *out);
/* Gives `bytes` of what peek() returned back to the PMU. Nothing for a snapshot area. */
PEV_API void pev_aux_consume(struct pev_aux_area *aux, uint64_t bytes);
/* The piece that a PERF_RECORD_AUX announces by offset and size; -EBADMSG if it doesn't
 * lie in the area. */
PEV_API int pev_aux_piece(const struct pev_aux_area *aux, uint64_t offset, uint64_t size,
			  struct pev_aux_data *out);

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
