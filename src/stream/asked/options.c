/* SPDX-License-Identifier: Apache-2.0 */
/* The options that commands share. Each command names the groups of options that it takes. */
#include "stream/asked/opts.h"

#include "base/room.h"
#include "base/nearest.h"
#include "base/units.h"
#include "tasks/containers.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_CPU = 65535 };

static int parse_numbers(const char *text, struct numlist *list, const char *what, int max,
			 struct fault *f)
{
	struct numlist more;
	const char *bad = text;
	int rc = numlist_parse(&more, text, max, &bad);

	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (rc)
		return fault_usage(f, "%s %s: unexpected %s%s%s; expected numbers up to %d and ascending ranges, separated "
				   "by commas, such as 0-3,7%s%s", what, text, *bad ? "\"" : "end", bad, *bad ? "\"" : "",
				   max, *text && *text != '-' ? "" : ": is the $(...) before it empty?",
				   isalpha((unsigned char)*text) && !strcmp(what, "--pids") ?
				   "; `pgrep -d, NAME` prints the ids of the processes of that name" : "");
	for (size_t i = 0; i < more.n; i++)
		if (numlist_add(list, more.v[i]))
			rc = fault_set(f, EXIT_FAILED, "out of memory");
	numlist_free(&more);
	return rc;
}

static int parse_cpus(const char *text, void *field, struct fault *f)
{
	return parse_numbers(text, field, "--cpus", MAX_CPU, f);
}

static int parse_pids(const char *text, void *field, struct fault *f)
{
	return parse_numbers(text, field, "--pids", INT_MAX, f);
}

static int parse_tids(const char *text, void *field, struct fault *f)
{
	return parse_numbers(text, field, "--tids", INT_MAX, f);
}

/* Looked up now: from here on it is one of --cgroups. */
static int parse_container(const char *text, void *opts, struct fault *f)
{
	struct stream_opts *o = opts;
	struct stream_container *one;
	struct container found;
	char label[CONTAINER_NAME];

	if (!*text)
		return fault_usage(f, "--container '': the name is empty: is the $(...) before it empty?");
	if (!ROOM_FOR_ONE(o->containers, o->ncontainers))
		return fault_set(f, EXIT_FAILED, "out of memory");
	one = &o->containers[o->ncontainers];
	if (containers_find(text, &found, &one->path, f))
		return -1;
	one->label = strdup(container_label(&found, label, sizeof(label)));
	o->ncontainers++;
	if (!one->label)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return opt_strings_add(&o->cgroups, one->path, f);
}

const char *stream_cgroup_label(const struct stream_opts *opts, size_t i)
{
	for (size_t k = 0; k < opts->ncontainers; k++)
		if (opts->containers[k].path == opts->cgroups.v[i])
			return opts->containers[k].label;
	return opts->cgroups.v[i];
}

/* Bytes: the kernel has the ring's size, a power of two, in an int. */
enum { LARGEST_RING = 1 << 30 };

static int parse_ring(const char *text, void *field, struct fault *f)
{
	uint64_t n, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int has_unit, rc = units_size(text, &n, &has_unit);

	if (!rc && !has_unit && n > UINT64_MAX / page)
		rc = -ERANGE;
	if (rc || n == 0)
		return fault_usage(f, "--mmap-pages %s: expected a number of pages above 0, or a "
				   "size with a unit such as 8M", text);
	if (n > LARGEST_RING / (has_unit ? 1 : page))
		return fault_usage(f, "--mmap-pages %s: too large: the kernel allows at most 1G (%llu pages) for the ring of a CPU; --buffer "
				   "SIZE holds more events in memory behind the rings", text, (unsigned long long)(LARGEST_RING / page));
	*(uint64_t *)field = has_unit ? n : n * page;
	return 0;
}

static int parse_verbose(const char *text, void *opts, struct fault *f)
{
	((struct stream_opts *)opts)->verbose = 1;
	return 0;
}

static int parse_quiet(const char *text, void *opts, struct fault *f)
{
	struct stream_opts *o = opts;

	o->verbose = -1;
	o->quiet = true;
	return 0;
}

static int parse_clock_offset(const char *text, void *field, struct fault *f)
{
	if (units_i64(text, field))
		return fault_usage(f, "--clock-offset %s: expected a 64-bit integer, such as -1500 or 0xff",
				   text);
	return 0;
}

static bool parse_seconds(const char *text, size_t len, uint64_t *ns)
{
	uint64_t seconds = 0, fraction = 0, unit = 1000000000;
	size_t i = 0;

	for (; i < len && text[i] >= '0' && text[i] <= '9'; i++)
		if (__builtin_mul_overflow(seconds, 10, &seconds) ||
		    __builtin_add_overflow(seconds, (uint64_t)(text[i] - '0'), &seconds))
			return false;
	if (i < len && text[i] == '.')
		for (i++; i < len && text[i] >= '0' && text[i] <= '9' && unit > 1; i++)
			fraction += (uint64_t)(text[i] - '0') * (unit /= 10);
	return i == len && !__builtin_mul_overflow(seconds, UINT64_C(1000000000), ns) &&
	       !__builtin_add_overflow(*ns, fraction, ns);
}

/* "10", "0.5", "0.5s", "500ms", "2m". */
static bool parse_length(const char *text, uint64_t *ns)
{
	size_t len = strlen(text);

	if (len && isalpha((unsigned char)text[len - 1]) && !units_duration(text, ns))
		return true;
	return parse_seconds(text, len - (len > 1 && text[len - 1] == 's'), ns);
}

int stream_parse_run(const char *text, void *ns, struct fault *f)
{
	if (!parse_length(text, ns) || !*(uint64_t *)ns || *(uint64_t *)ns > STREAM_MAX_INTERVAL_MS * 1000000)
		return fault_usage(f, "--seconds %s: expected a number of seconds above 0, such as 10 or 0.5, at most 31622400 "
				   "(366 days)", text);
	return 0;
}

static int parse_time(const char *text, void *field, struct fault *f)
{
	struct stream_span *span = field;
	const char *comma = strchr(text, ',');
	size_t from = comma ? (size_t)(comma - text) : 0, to = comma ? strlen(comma + 1) : 0;

	*span = (struct stream_span){ 0 };
	if (comma && from && to && parse_seconds(text, from, &span->from) && parse_seconds(comma + 1, to, &span->to) &&
	    span->to < span->from)
		return fault_usage(f, "--time %s: the end is before the start", text);
	if (!comma || (!from && !to) || (from && !parse_seconds(text, from, &span->from)) ||
	    (to && !parse_seconds(comma + 1, to, &span->to)))
		return fault_usage(f, "--time %s: expected START,END in seconds of the recording's clock, such as "
				   "1234.5,1236 or 1234.5, (to its end)", text);
	if (to && !span->to)
		span->to = 1;
	return 0;
}

/* The limit is perf's: the size of a record has 16 bits. */
enum { MAX_STACK = 65528 };

bool stream_parse_chains(const char *text, uint32_t *stack_bytes, const char **expected)
{
	uint64_t n = CHAINS_STACK;
	int has_unit;

	*expected = "auto, fp, dwarf, or dwarf,SIZE (bytes of stack: 8 to 65528, a multiple of 8; default: 8192)";
	*stack_bytes = strcmp(text, "auto") ? 0 : CHAINS_AUTO;
	if (!strcmp(text, "fp") || *stack_bytes)
		return true;
	if (strncmp(text, "dwarf", 5) || (text[5] && text[5] != ','))
		return false;
	if (text[5] && (units_size(text + 6, &n, &has_unit) || !n || n % 8 || n > MAX_STACK))
		return false;
	*stack_bytes = (uint32_t)n;
	return true;
}

int stream_parse_call_graph(const char *text, void *field, struct fault *f)
{
	struct stream_opts *o = field;
	const char *expected;

	o->call_graph = true;
	if (!text)
		return 0;
	o->chains.said = true;
	if (!stream_parse_chains(text, &o->chains.stack_bytes, &expected))
		return fault_usage(f, "--call-graph %s: expected %s", text, expected);
	return 0;
}

/* "lbr", "DWARF", "dwraf", "dwarf4096": certainly not meant as a program. */
static bool is_way_misspelt(const char *word)
{
	char head[8];
	struct nearest n;
	size_t len = strcspn(word, ",:=");

	if (strchr(word, '/') || len >= sizeof(head))
		return !strncasecmp(word, "dwarf", 5) && word[5] >= '0' && word[5] <= '9';
	memcpy(head, word, len);
	head[len] = '\0';
	nearest_begin(&n, head);
	nearest_offer(&n, "dwarf");
	return !strcasecmp(head, "fp") || !strcasecmp(head, "lbr") ||
	       (len >= 4 && tolower((unsigned char)*head) == 'd' && nearest_get(&n));
}

int stream_check_operand(const struct stream_opts *opts, const struct opt_parser *args, struct fault *f)
{
	const char *word = args->noperands && args->after_dashes ? args->operands[0] : NULL, *expected;
	uint32_t bytes;

	if (!word || !opts->call_graph || opts->chains.said || !is_way_misspelt(word))
		return 0;
	stream_parse_chains(word, &bytes, &expected);
	return fault_usage(f, "--call-graph %s: expected %s (if that is the program or script to "
			   "run, put it after --)",
			   word, expected);
}

int stream_check_everybody(const char *command, bool everybody, const struct stream_opts *opts, struct fault *f)
{
	if (everybody && (opts->pids.n || opts->tids.n))
		return fault_usage(f, "%s: -a watches the whole machine, -p and -t only some tasks: give one of them", command);
	return 0;
}

#define AT(member) offsetof(struct stream_opts, member)

const struct opt stream_event_opts[] = {
	{ "event", 'e', NULL, OPT_STRINGS, AT(events), "EVENT[,EVENT...]",
	  "Select events: sys:name[/filter/attribute/.../]. Repeatable. Globs: sched:sched_wak*. "
	  "Attributes: alias=NAME, stack, max-stack=N, cpus=LIST. Perf events: context-switches, "
	  "cycles:u, cycles/period=100000/, cpu/event=0x76,umask=0/u. Groups: "
	  "{cycles,instructions}:S. Probes: kprobe:F, uprobe:F@FILE, usdt:PROVIDER:NAME@FILE. "
	  "Sources (commands of perf-prof as events; their options take the place of the filter): "
	  "profile/-F 997 -g/, task-state/--than 10ms/, page-faults, rundelay, syscalls, kvm-exit, "
	  "latency, migrations, waits, top.",
	  false, NULL },
};

/* For commands whose -e takes events that are sampled by frequency. */
const struct opt stream_rate_opts[] = {
	{ "strict-freq", 0, NULL, OPT_FLAG, AT(strict_freq), NULL,
	  "Refuse a frequency above kernel.perf_event_max_sample_rate, or a period of a clock below 10000 ns, instead "
	  "of adjusting it; and keep it when samples with stacks (--call-graph dwarf) are lost.", false, NULL },
};

const struct opt stream_target_opts[] = {
	{ "cpus", 'C', NULL, OPT_CALL, AT(cpus), "LIST",
	  "Watch only these CPUs, such as 0-3,7. Without a target: all CPUs.", false, parse_cpus },
	{ "pids", 'p', NULL, OPT_CALL, AT(pids), "LIST",
	  "Watch these processes, with all their threads.", false, parse_pids },
	{ "tids", 't', NULL, OPT_CALL, AT(tids), "LIST", "Watch these threads.", false, parse_tids },
	{ "cgroups", 0, "cgroup", OPT_STRINGS, AT(cgroups), "PATH",
	  "Watch the tasks of this control group: a path, absolute or below the cgroup mount, or a name that one "
	  "group has, such as nginx.service. Repeatable. -p and -t add tasks; -C limits all of them to some CPUs.",
	  false, NULL },
	{ "container", 0, NULL, OPT_CALL, 0, "NAME|ID",
	  "Watch the tasks of this container of Docker, podman, Kubernetes, systemd-nspawn or LXC: its name, or the "
	  "beginning of its id. Repeatable.", false, parse_container },
	{ "inherit", 0, NULL, OPT_TRI, AT(inherit), NULL,
	  "Follow new threads and children of -p and -t (default; --no-inherit turns it off).", true, NULL },
};

const struct opt stream_ring_opts[] = {
	{ "interval", 'i', NULL, OPT_U64, AT(interval_ms), "MS",
	  "Print periodic output every MS milliseconds (or with a unit: 2s), at most " STREAM_MAX_INTERVAL_TEXT "; 0: never.",
	  .most = STREAM_MAX_INTERVAL_MS,
	  .expected = "milliseconds, such as 1000: from 0 (never) to " STREAM_MAX_INTERVAL_TEXT },
	{ "mmap-pages", 'm', NULL, OPT_CALL, AT(ring.bytes), "PAGES|SIZE",
	  "Set the size of each CPU's ring buffer, in pages or with a unit (8M); rounded up to a power of two. "
	  "Default: 1M; 4M if all task switches are watched; up to 8M to record tracepoints; up to 16M for call chains by unwind tables, or 64M "
	  "if each page fault or tracepoint has such a chain. Without -m and --buffer, a ring that loses events is "
	  "replaced by one 4 times as large, up to 64M each and 1/32 of memory together; meanwhile, different events "
	  "may be out of order unless --order is given.", false, parse_ring },
	{ "buffer", 0, NULL, OPT_SIZE, AT(buffer), "SIZE",
	  "Add a buffer behind the rings, such as 256M: a thread empties the rings into it, so that "
	  "bursts are not lost while events are processed slowly. The CPUs share it evenly, each part "
	  "rounded up to a power of two. It does not count as locked memory.", .least = 1,
	  .expected = "a size with a unit, such as 256M" },
	{ "watermark", 0, NULL, OPT_U64, AT(watermark), "0-100",
	  "Wake up when a ring is this full, in percent; 0: wake perf-prof at every event; "
	  "tracing then costs about 20 times more CPU. Without this, it reads every 50 ms.", .most = 100,
	  .expected = "a percentage from 0 (every event) to 100" },
	{ "order", 0, NULL, OPT_FLAG, AT(order), NULL,
	  "Sort the events of all CPUs by time, which delays them by about 20 ms. Default: in order on "
	  "each CPU.", false, NULL },
	{ "tsc", 0, NULL, OPT_FLAG, AT(tsc), NULL,
	  "Use TSC ticks as timestamps, instead of ns of the perf clock (x86).", false, NULL },
	{ "monotonic", 0, NULL, OPT_FLAG, AT(monotonic), NULL,
	  "Use CLOCK_MONOTONIC for timestamps, instead of the perf clock.", false, NULL },
	{ "clock-offset", 0, NULL, OPT_CALL, AT(clock_offset), "N",
	  "Add N to every timestamp: ns, or ticks with --tsc; decimal or 0x..., may be negative.", false,
	  parse_clock_offset },
	{ "sampling-limit", 0, NULL, OPT_U64, AT(sampling_limit), "N",
	  "Deliver at most N events per second from each CPU; drop and count the rest.",
	  false, NULL },
	{ "exit-N", 'N', NULL, OPT_U64, AT(exit_n), "N", "Stop after N events that pass the filters, and end a command after -- by SIGTERM.", false, NULL },
	{ "seconds", 0, NULL, OPT_CALL, AT(run_ns), "N",
	  "End the run after N seconds, such as 10 or 0.5, counted from the moment when all events are open. A command after -- that "
	  "still runs then is ended by SIGTERM.", false,
	  stream_parse_run },
};

/* The options of this kind that a source has, too. */
const struct opt stream_source_opts[] = {
	{ "mmap-pages", 'm', NULL, OPT_CALL, AT(ring.bytes), "PAGES|SIZE",
	  "Use rings of at least this size.", false, parse_ring },
	{ "exit-N", 'N', NULL, OPT_U64, AT(exit_n), "N", "End the source after N events.", false,
	  NULL },
};

const struct opt stream_input_opts[] = {
	{ "input", 'I', NULL, OPT_INFILE, AT(input), "FILE",
	  "Read a recording (from perf-prof record, perf record or --record; -: standard input) instead "
	  "of tracing. Without -e, all its events are read.", false, NULL },
	{ "time", 0, NULL, OPT_CALL, AT(time), "START,END",
	  "Read only events of the recording from START to END, in seconds of its clock; either may be "
	  "left out.",
	  false, parse_time },
};

const struct opt stream_callchain_opts[] = {
	{ "call-graph", 'g', NULL, OPT_CHOICE, 0, "auto|fp|dwarf[,SIZE]",
	  "-g samples the kernel's part of call chains (for an event in user space only, the user's part); "
	  "--user-callchain adds the user's part by frame pointers. dwarf: add it by unwind tables instead, from "
	  "registers and SIZE bytes of stack (default: 8192) in each sample. auto: add it by frame pointers if the "
	  "watched programs have them, else by unwind tables.", false, stream_parse_call_graph },
	{ "user-callchain", 0, NULL, OPT_TRI, AT(user_callchain), NULL,
	  "Also sample the user part of call chains, by frame pointers.", true, NULL },
	{ "kernel-callchain", 0, NULL, OPT_TRI, AT(kernel_callchain), NULL,
	  "Sample the kernel part of call chains (default with -g; --no-kernel-callchain turns it "
	  "off).", true, NULL },
};

const struct opt stream_output_opts[] = {
	{ "output", 'o', NULL, OPT_OUTFILE, AT(output.path), "FILE",
	  "Write stdout and stderr to FILE (with --json or --csv only stdout); SIGUSR1 reopens it (log rotation).", false, NULL },
	{ "record", 0, NULL, OPT_STRING, AT(record), "FILE",
	  "Also write the kernel's records to FILE, in perf.data format. An existing FILE is renamed to "
	  "FILE.old.", false, NULL },
	{ "usage-self", 0, NULL, OPT_U64, AT(usage_ms), "MS",
	  "Report the CPU time and memory of perf-prof itself on stderr, every MS milliseconds.",
	  .most = STREAM_MAX_INTERVAL_MS, .expected = "milliseconds, such as 1000: at most " STREAM_MAX_INTERVAL_TEXT },
	{ "verbose", 'v', NULL, OPT_CALL, 0, NULL,
	  "Print more: hints, ring sizes, a closing summary.", false, parse_verbose },
	{ "quiet", 'q', NULL, OPT_CALL, 0, NULL,
	  "Print no hints, not even on a terminal. If -q and -v are both given, the last one counts.", false,
	  parse_quiet },
};

void stream_opts_defaults(struct stream_opts *opts)
{
	memset(opts, 0, sizeof(*opts));
	opts->watermark = UINT64_MAX;
	opts->input_fd = -1;
	opts->opener = &opener_direct;
}

void stream_opts_free(struct stream_opts *opts)
{
	opt_strings_free(&opts->events);
	opt_strings_free(&opts->cgroups);
	for (size_t i = 0; i < opts->ncontainers; i++) {
		free(opts->containers[i].path);
		free(opts->containers[i].label);
	}
	free(opts->containers);
	numlist_free(&opts->cpus);
	numlist_free(&opts->pids);
	numlist_free(&opts->tids);
	numlist_free(&opts->meant);
}
