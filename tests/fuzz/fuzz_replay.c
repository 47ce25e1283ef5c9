/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a recording that is replayed through an event list, with filters and with sources
 * that make events of its tracepoints: what is delivered lies in its record, and prints.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/commands.h"
#include "stream/stream.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input's size says which. */
static const char *const lists[] = {
	"*:*",
	"*:*//alias=all/,sched:sched_switch/prev_pid!=0&&prev_comm~\"*a*\"/",
	"latency/--start sched:sched_switch --end sched:sched_switch -k prev_pid/,trace/--of sched:sched_switch/",
	"top/--of sched:sched_switch -k prev_comm --by prev_prio/,top/--of sched:sched_wakeup -k _cpu/alias=w/",
	"task-state/-S/,rundelay/--than 1us/,sched:sched_switch",
	"syscalls,raw_syscalls:sys_enter",
	"kvm-exit,trace/--of kvm:kvm_exit/",
	"trace/--of sched:sched_wakeup/,profile",
};

static volatile uint64_t sum;

static void sample(void *ctx, const struct stream_event *event, const struct perf_event_header *rec, const void *raw,
		   uint32_t raw_size, uint32_t cpu)
{
	const unsigned char *bytes = raw;
	size_t len;

	if (event->fmt && raw_size)
		sum += bytes[0] + bytes[raw_size - 1];
	sum += ((const unsigned char *)rec)[rec->size - 1] + cpu;
	if (event->fmt && tracefmt_print(ctx, event->fmt, raw, raw_size, &len))
		sum += len;
}

static void task(void *ctx, const struct pev_record *rec)
{
	sum += rec->type;
}

/* What recordings have us say is not the fuzzer's. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char quiet[] = "-close_fd_mask=2", *more[64];
	int n = *argc < 62 ? *argc : 62;

	memcpy(more, *argv, (size_t)n * sizeof(*more));
	more[n] = quiet;
	*argc = n + 1;
	*argv = more;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct stream_ops ops = { .sample = sample, .task = task };
	const char *list = lists[size % (sizeof(lists) / sizeof(*lists))];
	struct stream_opts opts = { .input_fd = -1 };
	struct fault f = { 0 };
	struct stream *s;

	if (size > 1 << 17)
		return 0;
	stream_opts_defaults(&opts);
	opts.input = "input";
	opts.input_fd = memfd_create("perf.data", MFD_CLOEXEC);
	opts.sources = analysis_sources;
	opts.events.v = &list;
	opts.events.n = 1;
	opts.exit_n = 10000;
	opts.quiet = true;
	assert(opts.input_fd >= 0 && write(opts.input_fd, data, size) == (ssize_t)size && !lseek(opts.input_fd, 0, SEEK_SET));
	s = stream_new(&opts, &f);
	if (s && !stream_open(s, &f))
		stream_run(s, &ops, stream_formats(s), &f);
	assert(s || (f.exit_code && f.text[0]));
	stream_free(s);
	return 0;
}
