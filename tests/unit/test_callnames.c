/* SPDX-License-Identifier: Apache-2.0 */
/* Calls are named by the table of the program that made them: of another architecture, of 32 bits, by int 0x80. */
#include "checks.h"

#include "engine/analysis.h"
#include "engine/callnames.h"

enum { PID = 7, CX = 2, IP = 8 };

/* abi: -1: the sample has no registers. */
static const char *name(const char *machine, int abi, uint64_t cx, uint64_t ip, const struct numlist *narrow, int64_t nr)
{
	struct {
		struct perf_event_header header;
		uint64_t tid, regs[3];
	} rec = { { .type = PERF_RECORD_SAMPLE, .size = sizeof(rec) }, PID, { (uint64_t)abi, cx, ip } };
	struct stream_event event = { .opened = { .machine = machine, .narrow = narrow } };
	const struct analysis_sample s = { .view = { .event = &event, .rec = &rec.header }, .event = &event, .pid = PID, .tid = PID };
	const char *found;
	char text[64], expected[64];

	layout_from_sample_type(&event.layout, PERF_SAMPLE_TID | (abi < 0 ? 0 : PERF_SAMPLE_REGS_USER));
	event.opened.regs_user = 1 << CX | 1 << IP;
	found = syscall_name(sampled_call(&s, nr));
	snprintf(expected, sizeof(expected), "%s(%d)", found ? found : "syscall", (int)nr);
	assert_string_equal(call_name(sampled_call(&s, nr), text, sizeof(text)), expected);
	rec.header.size -= sizeof(rec.regs);   /* cut */
	sampled_call(&s, nr);
	return found ? found : "";
}

TEST(names_are_of_the_table_that_fits)
{
	static const struct {
		const char *machine;
		int abi;
		uint64_t cx, ip;
		int64_t nr;
		const char *name;
	} rows[] = {
		{ "x86_64", -1, 0, 0, 39, "getpid" }, { "x86_64", 2, 8, 8, 39, "getpid" }, { "x86_64", 2, 7, 8, 20, "getpid" },
		{ "x86_64", 1, 8, 8, 20, "getpid" }, { "x86_64", 0, 0, 0, 39, "getpid" }, { "i686", 1, 0, 0, 20, "getpid" },
		{ "aarch64", -1, 0, 0, 64, "write" }, { "aarch64", 2, 7, 8, 64, "write" }, { "aarch64", 1, 0, 0, 4, "write" },
		{ "armv7l", 1, 0, 0, 4, "write" }, { "s390x", -1, 0, 0, 288, "openat" }, { "ppc64le", -1, 0, 0, 286, "openat" },
		{ "alpha", -1, 0, 0, 4, "" }, { "x86_64", -1, 0, 0, -1, "" }, { "x86_64", -1, 0, 0, INT32_MAX, "" },
	};

	if (!syscall_name(0))
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(name(rows[i].machine, rows[i].abi, rows[i].cx, rows[i].ip, NULL, rows[i].nr), rows[i].name);
}
