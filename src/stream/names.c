/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/names.h"

#include "base/note.h"
#include "base/room.h"
#include "perfevent/machine/kernel.h"
#include "stream/asked/branchchain.h"
#include "stream/recording/facts.h"
#include "stream/recording/files.h"
#include "stream/rings/ids.h"
#include "stream/stream.h"
#include "symbols/chain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_arm32(const char *arch)
{
	return arch && !strncmp(arch, "arm", 3) && strcmp(arch, "arm64") != 0;
}

int names_begin(struct names *n, struct stream *stream, const struct opener *opener, struct fault *f)
{
	const int max = pev_max_stack();

	*n = (struct names){ .stream = stream, .opener = opener, .max_stack = PERF_MAX_STACK_DEPTH };
	if (!stream_replay(stream) && max > 0)
		n->max_stack = (uint64_t)max;
	if (stream_replay(stream))
		n->opener = recorded_opener(&n->recorded, opener, stream_replay(stream));
	n->arm32 = stream_replay(stream) && is_arm32(replay_info(stream_replay(stream))->arch);
	n->comms = comms_new(n->opener);
	if (stream_samples_cgroups(stream))
		n->cgroups = cgroupnames_new(!stream_replay(stream));
	return n->comms && (n->cgroups || !stream_samples_cgroups(stream)) ? 0 : fault_set(f, EXIT_FAILED, "out of memory");
}

void names_end(struct names *n)
{
	symbolizer_free(n->functions);
	unwinder_free(n->unwinder);
	branchchain_free(&n->branches);
	free(n->filled);
	maps_free(n->maps);
	symbolizer_free(n->symbolizer);
	cgroupnames_free(n->cgroups);
	comms_free(n->comms);
	*n = (struct names){ 0 };
}

/* ---- records ------------------------------------------------------------------ */

/* BPF programs and the like. For a recording only: live they are in the kernel's symbol table. */
static void take_ksymbol(struct names *n, const struct pev_ksymbol *k)
{
	if (!n->symbolizer || !stream_replay(n->stream))
		return;
	if (k->unregister)
		symbolizer_kernel_went(n->symbolizer, k->addr, k->len);
	else
		symbolizer_kernel_came(n->symbolizer, k->addr, k->len, k->name,
				       k->type == PERF_RECORD_KSYMBOL_TYPE_BPF ? "[bpf]" : "[kernel.kallsyms]");
}

void names_take(struct names *n, const struct pev_record *rec)
{
	if (n->maps && !stream_task_was_peeked(n->stream))
		maps_take(n->maps, rec);
	comms_take(n->comms, rec);
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (n->symbolizer && rec->mmap.pid == UINT32_MAX)
			symbolizer_kernel_module(n->symbolizer, rec->mmap.addr, rec->mmap.len, rec->mmap.filename);
		break;
	case PERF_RECORD_KSYMBOL:
		take_ksymbol(n, &rec->ksymbol);
		break;
	case PERF_RECORD_CGROUP:
		if (n->cgroups)
			cgroupnames_set(n->cgroups, rec->cgroup.id, rec->cgroup.path);
		break;
	case PERF_RECORD_LOST:
		n->lost += rec->lost.lost;
		break;
	default:
		break;
	}
}

static void take_mapping(void *maps, const struct pev_record *rec)
{
	maps_take(maps, rec);
}

/* Mappings are known by time, so they may be taken in advance. Names are not. */
static void catch_up(void *ctx)
{
	struct names *n = ctx;

	stream_peek_tasks(n->stream, take_mapping, n->maps);
}

const char *names_comm(struct names *n, pid_t tid)
{
	return comms_get(ids_names(n->stream, n->comms, tid), tid);
}

uint64_t names_task(struct names *n, pid_t tid)
{
	return (uint64_t)comms_life(ids_names(n->stream, n->comms, tid), tid) << 32 | (uint32_t)tid;
}

const char *names_cgroup(struct names *n, uint64_t id)
{
	return cgroupnames_get(n->cgroups, id);
}

/* ---- call chains -------------------------------------------------------------- */

static enum unwind_machine machine_of(uint8_t arch, uint64_t abi)
{
	static const enum unwind_machine known[][PERF_SAMPLE_REGS_ABI_64 + 1] = {
		[PEV_ARCH_NATIVE] = { UNWIND_NONE, UNWIND_HERE_32, UNWIND_HERE },
		[PEV_ARCH_X86_64] = { UNWIND_NONE, UNWIND_I386, UNWIND_X86_64 },
		[PEV_ARCH_I386] = { UNWIND_NONE, UNWIND_I386 },
		[PEV_ARCH_ARM64] = { UNWIND_NONE, UNWIND_NONE, UNWIND_ARM64 },
	};

	return arch < sizeof(known) / sizeof(*known) && abi <= PERF_SAMPLE_REGS_ABI_64 ? known[arch][abi] : UNWIND_NONE;
}

/* False: the sample has no user registers, or those of a machine whose stacks are not walked. */
static bool take_stack(const struct stream_event *event, const struct perf_event_header *rec,
		       struct unwinder_sample *out)
{
	struct pev_record r;

	if (pev_decode(rec, rec->size, event->opened.stack_format, &r))
		return false;
	*out = (struct unwinder_sample){
		.stack = {
			.machine = machine_of(event->opened.stack_format->arch, r.sample.regs_user.abi),
			.mask = r.sample.regs_user.mask, .regs = r.sample.regs_user.values, .stack = r.sample.stack,
			.stack_size = r.sample.stack_dyn_size,
		},
		.asked = r.sample.stack_size,
		.pid = (pid_t)r.sample.pid, .time = r.sample.time,
		.max = event->asked.max_stack,
	};
	return out->stack.machine != UNWIND_NONE;
}

/* The kernel's limit does not count the words that say whose addresses follow. A recording may have been made with another
 * limit: if a chain is longer, the limit is not known. */
static bool is_full(struct names *n, const struct stream_event *event, const uint64_t *ips, uint64_t nr)
{
	uint64_t frames = 0;

	for (uint64_t i = 0; nr >= n->max_stack && i < nr; i++)
		frames += ips[i] < (uint64_t)PERF_CONTEXT_MAX;
	n->longest = frames > n->longest ? frames : n->longest;
	return frames && frames >= n->max_stack && !event->asked.max_stack;
}

/* Index of the first word that is an address; nr: there is none. */
static uint64_t first_address(const uint64_t *ips, uint64_t nr)
{
	uint64_t at = 0;

	while (at < nr && ips[at] >= (uint64_t)PERF_CONTEXT_MAX)
		at++;
	return at;
}

/* The chain with these words before its word `at`. */
static const uint64_t *put_in(struct names *n, const uint64_t *ips, uint64_t *nr, uint64_t at, const uint64_t *words, size_t nwords)
{
	if (!ROOM_FOR(n->filled, n->filled_room, 0, (size_t)*nr + nwords))
		return ips;
	memcpy(n->filled, ips, at * sizeof(*ips));
	memcpy(n->filled + at, words, nwords * sizeof(*words));
	memcpy(n->filled + at + nwords, ips + at, (*nr - at) * sizeof(*ips));
	*nr += nwords;
	return n->filled;
}

/* Where the CPU was outside of the kernel, if the chain lacks it: in a guest, whose stacks the kernel does not walk; the registers are
 * of another machine; or a kernel for 32-bit Arm (before 3.19) left it out. */
static const uint64_t *with_ip(struct names *n, const struct stream_event *event, const struct perf_event_header *rec,
			       const uint64_t *ips, uint64_t *nr)
{
	const enum chain_place place = chain_place_of(rec->misc);
	const bool outside = event->layout.ip && place != PLACE_KERNEL && (place != PLACE_USER || event->asked.chain_user) &&
			     !names_is_return(event);
	const uint64_t words[] = { chain_marker(place), outside ? layout_u64(rec, event->layout.ip) : 0 }, at = first_address(ips, *nr);

	if (!words[1] || (at < *nr && (!n->arm32 || ips[at] == words[1])))
		return ips;
	return at == *nr ? put_in(n, ips, nr, at, words, 2) : put_in(n, ips, nr, at, words + 1, 1);
}

static const uint64_t *by_unwinding(struct names *n, const struct stream_event *event, const struct perf_event_header *rec,
				    const uint64_t *ips, uint64_t *nr)
{
	struct unwinder_sample sample;

	if (!event->opened.stack_format || !n->symbolizer || !take_stack(event, rec, &sample))
		return ips;
	if (!n->unwinder)
		n->unwinder = unwinder_new(n->maps, symbolizer_dsos(n->symbolizer));
	if (!n->unwinder)
		return ips;
	return event->asked.chain_mended ? unwinder_mend(n->unwinder, &sample, ips, nr) : unwinder_chain(n->unwinder, &sample, ips, nr);
}

static const uint64_t *chain_of(struct names *n, const struct stream_event *event, const struct perf_event_header *rec, uint64_t *nr)
{
	const uint64_t *ips = layout_callchain(&event->layout, rec, nr);

	if (ips && branchchain_has(event))
		return branchchain_make(&n->branches, event, rec, ips, nr);
	if (ips && (!event->opened.stack_format || event->asked.chain_mended)) {
		n->chains++;
		n->deep += is_full(n, event, ips, *nr);
	}
	return ips ? with_ip(n, event, rec, by_unwinding(n, event, rec, ips, nr), nr) : NULL;
}

/* Of a recorded chain, the part that --no-kernel-callchain or --no-user-callchain leaves over. */
static const uint64_t *chosen_part(const struct names *n, const uint64_t *ips, uint64_t *nr)
{
	const bool no_kernel = n->stream && stream_leaves_out_chains(n->stream, true);
	const bool no_user = n->stream && stream_leaves_out_chains(n->stream, false);
	uint64_t user = 0;

	if (!ips || !(no_kernel || no_user))
		return ips;
	while (user < *nr && ips[user] != (uint64_t)PERF_CONTEXT_USER)
		user++;
	if (no_user)
		*nr = user;
	if (!no_kernel)
		return ips;
	*nr -= user;
	return ips + user;
}

/* Chains so far whose outermost callers are missing. */
static uint64_t all_cut(const struct names *n)
{
	uint64_t all, asked;

	return n->deep + (n->unwinder ? unwinder_cut(n->unwinder, &all, &asked) + unwinder_torn(n->unwinder) + unwinder_deep(n->unwinder) : 0);
}

bool names_is_return(const struct stream_event *event)
{
	return event->fmt && event->fmt->returns;
}

/* The mark stands before the first address. */
static const uint64_t *mark_return(struct names *n, const uint64_t *ips, uint64_t *nr)
{
	const uint64_t at = first_address(ips, *nr);

	return at == *nr ? ips : put_in(n, ips, nr, at, &(uint64_t){ CHAIN_RETURNS }, 1);
}

const uint64_t *names_chain(struct names *n, const struct stream_event *event,
			    const struct perf_event_header *rec, uint64_t *nr)
{
	const uint64_t before = all_cut(n), *ips = chosen_part(n, chain_of(n, event, rec, nr), nr);

	n->chain_is_cut = all_cut(n) > before;
	return ips && names_is_return(event) ? mark_return(n, ips, nr) : ips;
}

void names_finish(struct names *n)
{
	if (n->symbolizer)
		dsos_finish(symbolizer_dsos(n->symbolizer));
}

enum { FEW_STACKS = 10, MAX_STACK = 65528 };

/* At least FEW_STACKS, and 1 % of all. */
static bool is_worth_telling(uint64_t stacks, uint64_t all)
{
	return stacks >= FEW_STACKS && stacks >= all / 100;
}

bool names_tells_cut(const struct names *n)
{
	uint64_t all = 0, asked, cut = n->unwinder ? unwinder_cut(n->unwinder, &all, &asked) : 0;

	return is_worth_telling(cut, all) || is_worth_telling(n->unwinder ? unwinder_torn(n->unwinder) : 0, all);
}

/* Adds a text to those in buf: a line each. */
static void add_line(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add_line(char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list ap;

	if (used && used + 2 < size) {
		buf[used++] = '\n';
		buf[used] = '\0';
	}
	va_start(ap, fmt);
	vsnprintf(buf + used, size - used, fmt, ap);
	va_end(ap);
}

bool names_say_cut(struct names *n, char *buf, size_t size)
{
	uint64_t all = 0, asked = 0, cut = n->unwinder ? unwinder_cut(n->unwinder, &all, &asked) : 0;
	uint64_t more = 4 * asked < MAX_STACK ? 4 * asked : MAX_STACK, torn = n->unwinder ? unwinder_torn(n->unwinder) : 0;

	*buf = '\0';
	if (is_worth_telling(torn, all))
		add_line(buf, size, "%.0f %% of the stacks are cut off at a page that is not in memory (never written, or swapped "
			 "out), because the kernel does not copy such pages; -g finds the callers of programs that keep "
			 "frame pointers", 100 * (double)torn / (double)all);
	if (is_worth_telling(cut, all) && asked < MAX_STACK - 1024)
		add_line(buf, size, "%.0f %% of the stacks are cut off: their programs use more than %llu bytes of stack; "
			 "--call-graph dwarf,%llu copies more into each sample", 100 * (double)cut / (double)all,
			 (unsigned long long)asked, (unsigned long long)more);
	else if (is_worth_telling(cut, all))
		add_line(buf, size, "%.0f %% of the stacks are cut off: their programs use more stack than a sample can "
			 "have, %llu bytes", 100 * (double)cut / (double)all, (unsigned long long)asked);
	if (n->unwinder && is_worth_telling(unwinder_deep(n->unwinder), all))
		add_line(buf, size, "%.0f %% of the stacks lack their outermost callers: they have more than %d frames",
			 100 * (double)unwinder_deep(n->unwinder) / (double)all, UNWINDER_FRAMES);
	if (is_worth_telling(n->deep, n->chains) && n->longest == n->max_stack)
		add_line(buf, size, "%.0f %% of the stacks lack their outermost callers: they have more than %llu frames; --call-graph dwarf "
			 "finds up to %d, and sysctl kernel.perf_event_max_stack raises the limit", 100 * (double)n->deep / (double)n->chains,
			 (unsigned long long)n->max_stack, UNWINDER_FRAMES);
	n->has_said_cut = *buf;
	return *buf;
}

static void tell_cut(struct names *n, int verbose)
{
	char text[1024], *rest = text;

	if (n->has_said_cut || !names_say_cut(n, text, sizeof(text)))
		return;
	for (char *line; (line = strsep(&rest, "\n"));)
		note(verbose, "%s", line);
}

void names_tell(struct names *n, int verbose)
{
	tell_cut(n, verbose);
	if (n->symbolizer)
		dsos_tell(symbolizer_dsos(n->symbolizer), verbose);
	if (n->symbolizer && !n->other_machine)
		dsos_tell_changed(symbolizer_dsos(n->symbolizer), verbose);
	if (n->lost)
		note(verbose, "%llu %s records were lost: %s", (unsigned long long)n->lost, n->maps ? "MMAP and COMM" : "COMM",
		     n->maps ? "some functions have no names" : "some tasks may be shown with an old name");
}

/* ---- opening ------------------------------------------------------------------ */

static bool any_wanted(struct stream *stream, bool (*has)(const struct stream_event *event))
{
	size_t n;
	const struct stream_event *events = stream_events(stream, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].wanted && has(&events[i]))
			return true;
	return false;
}

static bool has_addresses(const struct stream_event *event)
{
	return stream_event_has_addresses(event, false);
}

static bool has_kernel_addresses(const struct stream_event *event)
{
	return has_addresses(event) && !(event->sampling && event->sampling->attr.attr.exclude_kernel);
}

static struct symbolizer_opts symbolizer_opts(const struct names *n)
{
	const struct replay *replay = stream_replay(n->stream);
	struct symbolizer_opts opts = {
		.opener = n->opener, .parse = PARSER_HERE, .helpers = { stream_add_own, n->stream },
		.stopped = stream_asked_to_stop, .ctx = n->stream, .kept = n->kept,
	};

	opts.is_pressed = replay ? NULL : stream_is_pressed;
	if (replay) {
		opts.base = replay_kernel(replay)->base;
		opts.base_address = replay_kernel(replay)->base_address;
		opts.other_boot = !replay_is_same_kernel(replay);
	}
	return opts;
}

/* What the kernel's kallsyms_show_value() asks for: kptr_restrict 0 and perf_event_paranoid at most 1, or CAP_SYSLOG with
 * kptr_restrict at most 1. Root has CAP_SYSLOG, but capabilities_trim() drops that of the program's file. */
static const char *why_hidden(char *buf, size_t size)
{
	long long hidden = 0;
	int paranoid = 0;
	const bool known = !pev_sysctl_("kptr_restrict", &hidden) && !pev_paranoid(&paranoid), any = hidden > 0 || paranoid > 1;

	snprintf(buf, size, "/proc/kallsyms hides their addresses from this user; %s%s%s%s%s shows them",
		 !known || hidden < 2 ? "root (sudo), CAP_SYSLOG in the ambient set (perf-prof drops that of its file)" : "",
		 known && hidden < 2 && any ? " or " : "", any ? "sysctl" : "",
		 hidden > 0 ? " kernel.kptr_restrict=0" : "", paranoid > 1 ? " kernel.perf_event_paranoid=1" : "");
	return buf;
}

static const char *why_no_kernel(const struct replay *replay, char *buf, size_t size)
{
	if (!replay)
		return why_hidden(buf, size);
	if (!replay_kernel(replay)->base)
		return "the recording lacks the kernel's address: the recorder was not allowed to see it, which takes root, CAP_SYSLOG, or "
		       "kernel.kptr_restrict=0 with kernel.perf_event_paranoid=1 or lower";
	return replay_kernel(replay)->runs || replay_kernel(replay)->hidden ? why_hidden(buf, size)
	       : "the recording is of another kernel, and perf's cache in ~/.debug has no symbols of its build id "
		 "(perf archive brings them from the machine that recorded)";
}

/* A recording has as many programs as it likes, and a file whose table was dropped is read again. */
enum { RECORDING_SYMBOLS = 256 << 20 };

static int open_symbols(struct names *n, int verbose, struct fault *f)
{
	struct symbolizer_opts opts = symbolizer_opts(n);
	char why[256];

	n->other_machine = stream_replay(n->stream) && !replay_is_same_machine(stream_replay(n->stream));
	opts.verbose = verbose;
	opts.debuginfod = n->debuginfod;
	opts.max_bytes = n->max_symbols ? n->max_symbols : stream_replay(n->stream) ? RECORDING_SYMBOLS : 0;
	/* If files are opened through another process, privileges are dropped before any file is
	 * read. A recording is such a file already. */
	if (n->opener == &opener_direct || n->recorded.under == &opener_direct)
		opts.parse = PARSER_AUTO;
	else if (n->recorded.under)
		opts.parse = PARSER_APART;
	if (!n->kernel && !n->user && !any_wanted(n->stream, has_addresses))
		return 0;
	n->symbolizer = symbolizer_new(&opts);
	if (!n->symbolizer)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (n->code)
		dsos_keep_code(symbolizer_dsos(n->symbolizer));
	if (symbolizer_read_kernel(n->symbolizer) && (n->kernel || any_wanted(n->stream, has_kernel_addresses))) {
		snprintf(n->no_kernel, sizeof(n->no_kernel), "kernel functions have no names: %s",
			 why_no_kernel(stream_replay(n->stream), why, sizeof(why)));
		note(verbose, "%s", n->no_kernel);
		n->said_no_kernel = note_is_shown(verbose);
	}
	return 0;
}

static const char *find_function(void *ctx, uint64_t addr, uint64_t *offset)
{
	struct kernel_symbol sym;

	if (!symbolizer_kernel(ctx, addr, &sym))
		return NULL;
	*offset = addr - sym.start;
	return sym.name;
}

/* Opens /proc/kallsyms now; it is read when the first function is printed. */
static int open_functions(struct names *n, struct fault *f)
{
	struct symbolizer_opts opts = symbolizer_opts(n);
	struct tracefmt_symbols symbols = { .find = find_function };

	if (!stream_prints_functions(n->stream))
		return 0;
	symbols.ctx = n->functions = symbolizer_new(&opts);
	if (!n->functions)
		return fault_set(f, EXIT_FAILED, "out of memory");
	tracefmt_set_symbols(stream_formats(n->stream), &symbols);
	return 0;
}

int names_open(struct names *n, int verbose, struct fault *f)
{
	if (n->data)
		stream_want_data(n->stream);
	if (n->user)
		stream_want_mappings(n->stream);
	return open_symbols(n, verbose, f) || open_functions(n, f) ? -1 : 0;
}

static int open_maps(struct names *n)
{
	struct maps_opts opts = {
		.dsos = symbolizer_dsos(n->symbolizer), .opener = n->opener,
		.catch_up = catch_up, .ctx = n, .data = n->data,
	};

	n->maps = maps_new(&opts);
	return n->maps ? 0 : -1;
}

int names_watch(struct names *n, int verbose, struct fault *f)
{
	bool live = !stream_replay(n->stream);

	if (live)
		comms_snapshot(n->comms);
	if (!n->symbolizer)
		return 0;
	if (stream_wants_mappings(n->stream) && !stream_has_mappings(n->stream))
		note(verbose < 0 ? -1 : 1, "user functions have no names, and call chains one frame: too few open files "
		     "(ulimit -n) or too little locked memory (ulimit -l, sysctl kernel.perf_event_mlock_kb) for the "
		     "records of mappings; smaller rings (-m 512k) or fewer CPUs (-C) need less");
	if (stream_has_mappings(n->stream) && open_maps(n))
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (n->maps && live)
		maps_snapshot(n->maps);
	return 0;
}
