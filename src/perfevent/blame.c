/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of an attr does the kernel refuse? Found by trying: each candidate is
 * taken out of a copy, and the copy is opened. The first that opens names the culprit.
 * Newer features come first, since an old kernel is the likeliest reason.
 */
#include "perfevent/explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Takes the candidate out; returns whether it was there. */
#define BIT(name)                                                                                  \
	static bool without_##name(struct perf_event_attr *a)                                      \
	{                                                                                          \
		bool was = a->name != 0;                                                           \
		a->name = 0;                                                                       \
		return was;                                                                        \
	}

BIT(sigtrap)
BIT(remove_on_exec)
BIT(inherit_thread)
BIT(build_id)
BIT(text_poke)
BIT(cgroup)
BIT(aux_output)
BIT(bpf_event)
BIT(ksymbol)
BIT(namespaces)
BIT(write_backward)
BIT(context_switch)
BIT(use_clockid)
BIT(comm_exec)
BIT(mmap2)
BIT(exclude_callchain_user)
BIT(exclude_callchain_kernel)
BIT(exclude_guest)
BIT(exclude_host)
BIT(sample_id_all)
BIT(precise_ip)
BIT(watermark)
BIT(task)
BIT(enable_on_exec)
BIT(inherit_stat)
BIT(freq)
BIT(comm)
BIT(mmap)
BIT(mmap_data)
BIT(exclude_idle)
BIT(exclude_hv)
BIT(exclude_kernel)
BIT(exclude_user)
BIT(exclusive)
BIT(pinned)
BIT(inherit)
BIT(sample_max_stack)
BIT(aux_sample_size)
BIT(sig_data)
BIT(sample_regs_user)
BIT(sample_regs_intr)
BIT(sample_stack_user)
BIT(branch_sample_type)
BIT(sample_period)
BIT(config1)
BIT(config2)

static const struct {
	const char *name;
	bool (*without)(struct perf_event_attr *a);
} bits[] = {
	{ "sigtrap (Linux 5.13; needs remove_on_exec)", without_sigtrap },
	{ "remove_on_exec (Linux 5.13; not with enable_on_exec)", without_remove_on_exec },
	{ "inherit_thread (Linux 5.13; needs inherit)", without_inherit_thread },
	{ "sig_data (Linux 5.13)", without_sig_data },
	{ "build_id (Linux 5.12)", without_build_id },
	{ "text_poke (Linux 5.9)", without_text_poke },
	{ "cgroup (Linux 5.7)", without_cgroup },
	{ "aux_sample_size (Linux 5.5)", without_aux_sample_size },
	{ "aux_output (Linux 5.4)", without_aux_output },
	{ "bpf_event (Linux 5.1)", without_bpf_event },
	{ "ksymbol (Linux 5.1)", without_ksymbol },
	{ "namespaces (Linux 4.12)", without_namespaces },
	{ "sample_max_stack (Linux 4.8)", without_sample_max_stack },
	{ "write_backward (Linux 4.7)", without_write_backward },
	{ "context_switch (Linux 4.3)", without_context_switch },
	{ "use_clockid (Linux 4.1)", without_use_clockid },
	{ "sample_regs_intr (Linux 3.19)", without_sample_regs_intr },
	{ "comm_exec (Linux 3.16)", without_comm_exec },
	{ "mmap2 (Linux 3.16)", without_mmap2 },
	{ "sample_stack_user (Linux 3.7; a multiple of 8 below 64 KiB)", without_sample_stack_user },
	{ "sample_regs_user (Linux 3.7)", without_sample_regs_user },
	{ "exclude_callchain_user (Linux 3.7)", without_exclude_callchain_user },
	{ "exclude_callchain_kernel (Linux 3.7)", without_exclude_callchain_kernel },
	{ "branch_sample_type (Linux 3.4)", without_branch_sample_type },
	{ "exclude_guest (Linux 3.2)", without_exclude_guest },
	{ "exclude_host (Linux 3.2)", without_exclude_host },
	{ "config2", without_config2 },
	{ "config1", without_config1 },
	{ "precise_ip", without_precise_ip },
	{ "freq (with sample_freq; see kernel.perf_event_max_sample_rate)", without_freq },
	{ "sample_period", without_sample_period },
	{ "inherit", without_inherit },
	{ "inherit_stat", without_inherit_stat },
	{ "enable_on_exec", without_enable_on_exec },
	{ "exclusive (for group leaders)", without_exclusive },
	{ "pinned (for group leaders)", without_pinned },
	{ "exclude_idle", without_exclude_idle },
	{ "exclude_hv", without_exclude_hv },
	{ "exclude_kernel", without_exclude_kernel },
	{ "exclude_user", without_exclude_user },
	{ "sample_id_all", without_sample_id_all },
	{ "watermark", without_watermark },
	{ "task", without_task },
	{ "comm", without_comm },
	{ "mmap", without_mmap },
	{ "mmap_data", without_mmap_data },
};

static const char *const sample_bits[] = {
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW",
	"BRANCH_STACK (Linux 3.4)", "REGS_USER (Linux 3.7)", "STACK_USER (Linux 3.7)",
	"WEIGHT (Linux 3.10)", "DATA_SRC (Linux 3.10)", "IDENTIFIER (Linux 3.12)",
	"TRANSACTION (Linux 3.13)", "REGS_INTR (Linux 3.19)", "PHYS_ADDR (Linux 4.14)",
	"AUX (Linux 5.5)", "CGROUP (Linux 5.7)", "DATA_PAGE_SIZE (Linux 5.11)",
	"CODE_PAGE_SIZE (Linux 5.11)", "WEIGHT_STRUCT (Linux 5.12)",
};

static const char *const format_bits[] = {
	"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP (not with inherit)",
	"LOST (Linux 6.0)",
};

static bool opens(const struct pev_event *ev, struct perf_event_attr *attr)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = pev_open_raw_(attr, ev->target, -1, 0);
	if (fd == -E2BIG && attr->size < sizeof(*attr))
		fd = pev_open_raw_(attr, ev->target, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool blame_bit(const struct pev_event *ev, char *buf, size_t size)
{
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		struct perf_event_attr a = ev->attr;

		if (!bits[i].without(&a) || !opens(ev, &a))
			continue;
		snprintf(buf, size, "%s", bits[i].name);
		return true;
	}
	return false;
}

static bool blame_word(const struct pev_event *ev, size_t offset, const char *prefix,
		       const char *const *names, size_t n, char *buf, size_t size)
{
	for (size_t i = 64; i-- > 0;) {
		struct perf_event_attr a = ev->attr;
		uint64_t *word = (uint64_t *)((char *)&a + offset);

		if (!(*word & 1ull << i))
			continue;
		*word &= ~(1ull << i);
		if (!opens(ev, &a))
			continue;
		if (i < n)
			snprintf(buf, size, "%s%s", prefix, names[i]);
		else
			snprintf(buf, size, "%s bit %zu, which this kernel does not know", prefix, i);
		return true;
	}
	return false;
}

bool pev_blame_attr_(const struct pev_event *ev, char *buf, size_t size)
{
	return blame_bit(ev, buf, size) ||
	       blame_word(ev, offsetof(struct perf_event_attr, sample_type), "PERF_SAMPLE_",
			  sample_bits, sizeof(sample_bits) / sizeof(*sample_bits), buf, size) ||
	       blame_word(ev, offsetof(struct perf_event_attr, read_format), "PERF_FORMAT_",
			  format_bits, sizeof(format_bits) / sizeof(*format_bits), buf, size);
}
