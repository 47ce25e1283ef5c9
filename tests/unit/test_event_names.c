/* SPDX-License-Identifier: Apache-2.0 */
/* Names of generic events, fields of an attr, breakpoints. */
#include "checks.h"

#include <errno.h>

#include <linux/hw_breakpoint.h>
#include <perfevent.h>

TEST(hardware_names_and_aliases)
{
	static const struct {
		const char *name;
		uint64_t config;
	} rows[] = {
		{ "cycles", PERF_COUNT_HW_CPU_CYCLES }, { "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
		{ "instructions", PERF_COUNT_HW_INSTRUCTIONS }, { "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
		{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES }, { "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS }, { "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
		{ "bus-cycles", PERF_COUNT_HW_BUS_CYCLES },
		{ "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
		{ "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
		{ "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
		{ "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND }, { "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
	};
	unsigned int seen = 0;
	uint64_t config;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(pev_hardware_lookup(rows[i].name, &config), 0);
		assert_int_equal(config, rows[i].config);
	}
	for (unsigned int i = 0; pev_hardware_name(i, &config); i++)
		seen |= 1u << config;
	assert_int_equal(seen, (1u << PERF_COUNT_HW_MAX) - 1);
	assert_int_equal(pev_hardware_lookup("cycle", &config), -ENOENT);
	assert_int_equal(pev_hardware_lookup("", &config), -ENOENT);
	assert_null(pev_hardware_name(10000, &config));
}

TEST(every_cache_event_has_a_name_that_finds_it)
{
	unsigned int n = 0, usual = 0;
	uint64_t config, found;
	bool is_usual;

	for (; pev_cache_at(n, &config, &is_usual); n++) {
		char name[64];

		usual += is_usual;
		assert_int_equal(pev_cache_name(config, name, sizeof(name)), 0);
		assert_int_equal(pev_cache_lookup(name, &found), 0);
		assert_int_equal(found, config);
	}
	assert_int_equal(n, PERF_COUNT_HW_CACHE_MAX * PERF_COUNT_HW_CACHE_OP_MAX * PERF_COUNT_HW_CACHE_RESULT_MAX);
	assert_int_equal(usual, 32);
}

TEST(cache_names_as_perf_takes_them)
{
	static const struct {
		const char *name;
		unsigned int cache, op, result;
	} rows[] = {
		{ "L1-dcache-loads", 0, 0, 0 }, { "L1-dcache-load-misses", 0, 0, 1 }, { "L1-dcache-stores", 0, 1, 0 },
		{ "L1-dcache-prefetch-misses", 0, 2, 1 }, { "l1d-read-miss", 0, 0, 1 }, { "L1-data-write", 0, 1, 0 },
		{ "l1-i-loads", 1, 0, 0 }, { "L1-icache", 1, 0, 0 }, { "LLC-misses", 2, 0, 1 },
		{ "LLC-misses-stores", 2, 1, 1 }, { "L2-speculative-read", 2, 2, 0 }, { "dTLB-loads", 3, 0, 0 },
		{ "DATA-TLB-MISSES", 3, 0, 1 }, { "iTLB-misses", 4, 0, 1 }, { "branch-loads", 5, 0, 0 },
		{ "bpc-misses", 5, 0, 1 }, { "node-stores-refs", 6, 1, 0 },
	};
	static const char *const none[] = {
		"", "L1", "L1-dcache-", "L1-dcache-loads-stores", "L1-dcache-misses-refs", "L1-dcachex",
		"L1-dcache--loads", "loads", "L1-dcache-load-misses-", "node-x", "-",
	};
	uint64_t config, want;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(pev_cache_lookup(rows[i].name, &config), 0);
		assert_int_equal(pev_cache_config(rows[i].cache, rows[i].op, rows[i].result, &want), 0);
		assert_int_equal(config, want);
	}
	for (size_t i = 0; i < COUNT(none); i++)
		assert_int_equal(pev_cache_lookup(none[i], &config), -ENOENT);
	assert_int_equal(pev_cache_config(7, 0, 0, &config), -EINVAL);
	assert_int_equal(pev_cache_config(0, 3, 0, &config), -EINVAL);
	assert_int_equal(pev_cache_config(0, 0, 2, &config), -EINVAL);
	assert_int_equal(pev_cache_name(7, (char[8]){ 0 }, 8), -EINVAL);
	assert_int_equal(pev_cache_name(UINT64_MAX, (char[8]){ 0 }, 8), -EINVAL);
}

/* ---- fields ------------------------------------------------------------------------- */

static uint64_t get(const struct perf_event_attr *attr, const char *name)
{
	uint64_t value = ~0ull;

	assert_int_equal(pev_attr_get(attr, name, &value), 0);
	return value;
}

#define SAME(field, value)                                                                         \
	do {                                                                                       \
		union pev_attr_buf b_;                                                             \
		pev_attr_buf_init(&b_, 0, 0);                                                      \
		b_.attr.field = (value);                                                           \
		assert_int_equal(get(&b_.attr, #field), (uint64_t)(value));                        \
		pev_attr_buf_init(&b_, 0, 0);                                                      \
		assert_int_equal(pev_attr_set(&b_, #field, (value)), 0);                           \
		assert_int_equal((uint64_t)b_.attr.field, (uint64_t)(value));                      \
		b_.attr.field = 0;                                                                 \
		assert_int_equal(b_.attr.size, PERF_ATTR_SIZE_VER7);                               \
		b_.attr.size = 0;                                                                  \
		assert_memory_equal(&b_, &(union pev_attr_buf){ 0 }, sizeof(b_));                  \
	} while (0)

#define FLAGS(X) \
	X(disabled) X(inherit) X(pinned) X(exclusive) X(exclude_user) X(exclude_kernel) X(exclude_hv) X(exclude_idle) \
	X(mmap) X(comm) X(freq) X(inherit_stat) X(enable_on_exec) X(task) X(watermark) X(mmap_data) X(sample_id_all) \
	X(exclude_host) X(exclude_guest) X(exclude_callchain_kernel) X(exclude_callchain_user) X(mmap2) X(comm_exec) \
	X(use_clockid) X(context_switch) X(write_backward) X(namespaces) X(ksymbol) X(bpf_event) X(aux_output) \
	X(cgroup) X(text_poke) X(build_id) X(inherit_thread) X(remove_on_exec) X(sigtrap)
#define NUMBERED(X) \
	X(wakeup_events) X(wakeup_watermark) X(bp_type) X(bp_addr) X(kprobe_func) X(uprobe_path) X(config1) X(bp_len) \
	X(kprobe_addr) X(probe_offset) X(config2) X(branch_sample_type) X(sample_regs_user) X(sample_stack_user) \
	X(sample_regs_intr) X(aux_watermark) X(sample_max_stack) X(aux_sample_size) X(sig_data)
#define SAME_1(field) SAME(field, 1);
#define SAME_3(field) SAME(field, 3);

/* The table's offsets and bits against the compiler's. */
TEST(fields_are_where_the_kernel_has_them)
{
	SAME(type, 5);
	SAME(config, 0x123456789abcdef0);
	SAME(sample_period, 7);
	SAME(sample_freq, 7);
	SAME(sample_type, 1ull << 40);
	SAME(read_format, 9);
	SAME(precise_ip, 2);
	FLAGS(SAME_1)
	NUMBERED(SAME_3)
}

TEST(fields_younger_than_the_header)
{
	union pev_attr_buf buf;
	uint64_t value;

	pev_attr_buf_init(&buf, PERF_TYPE_RAW, 1);
	assert_int_equal(buf.attr.size, 128);
	assert_int_equal(pev_attr_set(&buf, "config3", 0), 0);
	assert_int_equal(buf.attr.size, 128);
	pev_attr_set_config3(&buf, 0x33);
	ARE(NUMBERS(buf.attr.size, buf.words_[16]), NUMBERS(136, 0x33));
	pev_attr_set_config4(&buf, 0x44);
	ARE(NUMBERS(buf.attr.size, buf.words_[17]), NUMBERS(144, 0x44));
	pev_attr_set_config3(&buf, 0x55);
	assert_int_equal(buf.attr.size, 144);
	pev_attr_set_aux_action(&buf.attr, PEV_AUX_PAUSE);
	ARE(NUMBERS(get(&buf.attr, "aux_action"), get(&buf.attr, "aux_pause"), get(&buf.attr, "aux_resume")), NUMBERS(2, 1, 0));
	pev_attr_set_aux_action(&buf.attr, PEV_AUX_RESUME | PEV_AUX_START_PAUSED);
	assert_int_equal(get(&buf.attr, "aux_action"), 5);
	pev_attr_set_defer(&buf.attr, true, false);
	ARE(NUMBERS(get(&buf.attr, "defer_callchain"), get(&buf.attr, "defer_output")), NUMBERS(1, 0));
	assert_int_equal(((uint64_t *)&buf)[5], 1ull << 38);
	assert_int_equal(pev_attr_get(&buf.attr, "nonsense", &value), -ENOENT);
	assert_int_equal(pev_attr_set(&buf, "nonsense", 1), -ENOENT);
	/* a wrong size stays as it was set, whatever is set behind it */
	assert_int_equal(pev_attr_set(&buf, "size", 1), 0);
	assert_int_equal(pev_attr_set(&buf, "type", 1), 0);
	assert_int_equal(pev_attr_set(&buf, "config4", 1), 0);
	assert_int_equal(buf.attr.size, 1);
	assert_int_equal(pev_attr_set(&buf, "precise_ip", 4), -ERANGE);
	assert_int_equal(pev_attr_set(&buf, "sample_max_stack", 65536), -ERANGE);
	assert_int_equal(pev_attr_set(&buf, "clockid", (uint64_t)-1), 0);
	assert_int_equal(buf.attr.clockid, -1);
}

TEST(every_field_is_documented)
{
	const struct pev_attr_field *f;
	unsigned int n = 0;

	for (; (f = pev_attr_field_at(n)); n++) {
		assert_true(f->name[0] && f->since[0] && f->what[0]);
		assert_true(f->offset + f->size <= PEV_ATTR_SIZE_MAX);
		assert_true(f->bit + f->width <= 8 * f->size);
	}
	assert_true(n > 65);
}

TEST(copies_take_what_counts)
{
	union pev_attr_buf big, copy;
	struct perf_event_attr small;
	unsigned char huge[4200] = { 0 };

	pev_attr_init(&small, PERF_TYPE_SOFTWARE, 3);
	assert_int_equal(pev_attr_buf_copy(&copy, &small), 0);
	assert_int_equal(copy.attr.config, 3);
	small.size = 0;
	assert_int_equal(pev_attr_buf_copy(&copy, &small), 0);
	assert_int_equal(copy.attr.size, 128);
	small.size = 63;
	assert_int_equal(pev_attr_buf_copy(&copy, &small), -E2BIG);
	pev_attr_buf_init(&big, 8, 9);
	pev_attr_set_config4(&big, 77);
	assert_int_equal(pev_attr_buf_copy(&copy, &big.attr), 0);
	assert_memory_equal(&copy, &big, sizeof(copy));

	memcpy(huge, &small, sizeof(small));
	((struct perf_event_attr *)(void *)huge)->size = 4096;
	assert_int_equal(pev_attr_buf_copy(&copy, (void *)huge), 0);
	assert_int_equal(copy.attr.size, PEV_ATTR_SIZE_MAX);
	huge[4000] = 1;
	assert_int_equal(pev_attr_buf_copy(&copy, (void *)huge), -E2BIG);
	((struct perf_event_attr *)(void *)huge)->size = 4097;
	assert_int_equal(pev_attr_buf_copy(&copy, (void *)huge), -E2BIG);
}

/* ---- breakpoints --------------------------------------------------------------------- */

TEST(breakpoints)
{
	static const uint32_t types[] = {
		HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_RW, HW_BREAKPOINT_X,
	};
	static const uint32_t wrong[] = { 0, HW_BREAKPOINT_X | HW_BREAKPOINT_R, 7, 8, ~0u };
	struct perf_event_attr attr;
	struct pev_error err;

	for (size_t i = 0; i < COUNT(types); i++)
		for (uint64_t len = 0; len <= 8; len++) {
			bool exec = types[i] == HW_BREAKPOINT_X;

			assert_int_equal(pev_attr_breakpoint(&attr, types[i], 0x1000, len, &err), 0);
			ARE(NUMBERS(attr.type, attr.bp_type, attr.bp_addr, attr.bp_len),
			    NUMBERS(PERF_TYPE_BREAKPOINT, types[i], 0x1000, len ? len : exec ? sizeof(long) : 4));
		}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_int_equal(pev_attr_breakpoint(&attr, wrong[i], 0, 4, &err), -EINVAL);
		assert_non_null(strstr(err.said, "bp_type"));
	}
	assert_int_equal(pev_attr_breakpoint(&attr, HW_BREAKPOINT_W, 0, 9, &err), -EINVAL);
	assert_non_null(strstr(err.said, "bp_len"));
	assert_int_equal(pev_attr_breakpoint(&attr, 0, 0, 4, NULL), -EINVAL);
	assert_int_equal(pev_breakpoint_exec_length(), sizeof(long));
}
