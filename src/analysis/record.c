/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof record: writes events to a perf.data file, without decoding them. */
#include "analysis/commands.h"
#include "analysis/profiles/profile.h"
#include "base/note.h"
#include "base/units.h"
#include "engine/analysis.h"
#include "engine/overwrite.h"
#include "events/spec.h"

#include <string.h>
#include <unistd.h>

enum { PROGRESS_NS = 1000000000, KEPT_BYTES = 64 << 20 };

struct record {
	struct profile_opts opts;
	struct overwrite_opts overwrite;
	uint64_t dumps;                  /* dumps reported so far */
	uint64_t shown_ns;               /* time of the last progress line */
	bool shown;
	bool ended;
	bool keeps_none;                 /* --no-buildid-cache */
};

/* ---- messages ----------------------------------------------------------------------- */

static bool is_watched(const struct analysis *a)
{
	return a->opts->stream.verbose >= 0 && isatty(STDERR_FILENO);
}

static void tell(struct analysis *a, const char *begin, const char *end)
{
	struct stream_totals t;
	uint64_t throttled;
	char size[32];

	stream_totals(a->stream, &t);
	fprintf(stderr, "%sperf-prof: %s: %llu event%s, %llu lost%s, ", begin, a->opts->stream.record,
		(unsigned long long)t.delivered, units_plural(t.delivered), (unsigned long long)t.lost, t.lost_at_least ? " at least" : "");
	throttled = t.throttled ? stream_throttled_times(a->stream, NULL) : 0;
	if (throttled)
		fprintf(stderr, "throttled %llu times, ", (unsigned long long)throttled);
	fprintf(stderr, "%s", units_bytes_text(t.recorded_bytes, size, sizeof(size)));
	if (t.recorded_files > 1)
		fprintf(stderr, " in the last of %llu files", (unsigned long long)t.recorded_files);
	fputs(end, stderr);
}

/* --overwrite: reports the last dump. */
static void tell_dump(struct analysis *a, const struct stream_totals *t)
{
	const struct stream_dump *d = &t->dump;
	char size[32];

	fprintf(stderr, "perf-prof: %s: dump %llu, by %s: %llu events of %.3f s; %llu older left out, %llu overwritten, "
		"%llu lost%s, %s\n", a->opts->stream.record, (unsigned long long)d->n, d->why,
		(unsigned long long)d->events, (double)d->span_ns / 1e9, (unsigned long long)d->older,
		(unsigned long long)d->overwritten, (unsigned long long)t->lost, t->lost_at_least ? " at least" : "",
		units_bytes_text(t->recorded_bytes, size, sizeof(size)));
}

static void look_for_dump(struct analysis *a)
{
	struct record *r = a->config;
	struct stream_totals t;

	stream_totals(a->stream, &t);
	if (t.dump.n == r->dumps)
		return;
	r->dumps = t.dump.n;
	if (is_watched(a) || a->opts->stream.verbose > 0)
		tell_dump(a, &t);
}

/* Called 20 times a second: updates the progress line on a terminal. */
static bool is_over(struct analysis *a)
{
	struct record *r = a->config;
	uint64_t now = analysis_now(a);

	if (r->overwrite.on)
		look_for_dump(a);
	if (r->overwrite.on || r->ended || now - r->shown_ns < PROGRESS_NS || !is_watched(a))
		return false;
	if (r->shown_ns) {
		tell(a, "\r", "\033[K");
		r->shown = true;
	}
	r->shown_ns = now;
	return false;
}

static int end_overwrite(struct analysis *a, struct fault *f)
{
	struct record *r = a->config;

	look_for_dump(a);
	if (!r->dumps && stream_asked_to_stop(a->stream))
		note(a->opts->stream.verbose, "nothing triggered a dump: %s was not written", a->opts->stream.record);
	else if (!r->dumps && !f->exit_code)
		return fault_set(f, EXIT_FAILED, "nothing triggered a dump: %s was not written; give an event the attribute trigger, or send "
				 "SIGUSR2", a->opts->stream.record);
	return 0;
}

static int end(struct analysis *a, struct fault *f)
{
	struct record *r = a->config;

	r->ended = true;
	if (r->overwrite.on)
		return end_overwrite(a, f);
	if (is_watched(a) || a->opts->stream.verbose > 0)
		tell(a, r->shown ? "\r" : "", r->shown ? "\033[K\n" : "\n");
	return 0;
}

/* ---- the run ------------------------------------------------------------------------ */

static int events(struct analysis *a, struct fault *f)
{
	a->opts->stream.events_by_command = false;   /* no table of ours will say that the kernel is missing */
	return profile_add(a, a->config, f);
}

/* names_ip: mappings are recorded, since a reader may need the name of any address. */
static int begin(struct analysis *a, struct fault *f)
{
	const struct record *r = a->config;
	size_t n;
	struct stream_event *all = stream_events(a->stream, &n);

	if (r->opts.asked && profile_set_levels(a, &r->opts, f))
		return -1;
	for (size_t i = 0; i < n; i++) {
		all[i].names_ip = true;
		all[i].asked.triggers = spec_attr(all[i].asked.item, "trigger");
		if (all[i].asked.triggers && !r->overwrite.on)
			return fault_usage(f, "record: the attribute trigger needs --overwrite");
		if (all[i].maker && !all[i].asked.triggers)
			return fault_usage(f, "record: perf-prof makes %s from other events: use "
					   "it as a trigger (/.../trigger/), or record those "
					   "events", all[i].name);
	}
	return 0;
}

/* Only called if there are sources that make events. */
static void sample(struct analysis *a, const struct analysis_sample *s)
{
	if (s->event->asked.triggers)
		stream_ask_dump(a->stream, s->time, s->event->name);
}

static const struct analysis_ops ops = {
	.name = "record", .events = events, .begin = begin, .sample = sample, .is_over = is_over, .end = end,
	.chains_of_users = true,
	.attrs = STREAM_ATTR_STACK | STREAM_ATTR_TRIGGER,
};

static int check_overwrite(const struct stream_opts *o, bool switches, struct fault *f)
{
	if (switches)
		return fault_usage(f, "record: --overwrite writes a file for each trigger: leave "
				   "--switch-output out");
	if (o->recording.max_size)
		return fault_usage(f, "record: --overwrite writes what is in memory: set its size "
				   "with --keep, not with --max-size");
	if (!strcmp(o->record, "-"))
		return fault_usage(f, "record: --overwrite needs a file for each trigger, and -o - "
				   "is a pipe: name a file with -o FILE");
	return 0;
}

static int check(const struct record *r, struct fault *f)
{
	const struct stream_opts *o = &r->opts.common.stream;
	bool switches = o->recording.switch_size || o->recording.switch_ms || o->recording.switch_signal;

	if (o->recording.keep && !switches && !r->overwrite.on)
		return fault_usage(f, "record: --max-files %llu: needs --switch-output or "
				   "--overwrite, as there is only one file without them", (unsigned long long)o->recording.keep);
	if (r->overwrite.on && check_overwrite(o, switches, f))
		return -1;
	if (!r->overwrite.on && (r->overwrite.last || r->overwrite.bytes))
		return fault_usage(f, "record: --last and --keep need --overwrite");
	if (!strcmp(o->record, "-") && switches)
		return fault_usage(f, "record: --switch-output needs a file, and -o - is a pipe: "
				   "name a file with -o FILE");
	if (!strcmp(o->record, "-") && isatty(STDOUT_FILENO))
		return fault_usage(f, "record: -o -: a recording is binary and stdout is a "
				   "terminal: name a file with -o FILE");
	return 0;
}

/* With --overwrite, -N is the number of dumps. */
static void overwrite(struct record *r)
{
	struct stream_opts *o = &r->opts.common.stream;

	o->recording.flight_bytes = r->overwrite.bytes ? r->overwrite.bytes : KEPT_BYTES;
	o->recording.flight_ns = r->overwrite.last;
	o->recording.flight_dumps = o->exit_n;
	o->exit_n = 0;
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct stream_opts *o = config;
	struct record *r = config;

	if (!o->record)
		o->record = "perf.data";
	o->recording.only = true;
	o->recording.keeps_files = !r->keeps_none && !o->recording.no_build_ids;
	r->opts.asked = o->events.n;
	if (check(config, f) || profile_take_rate(&r->opts, "record", f))
		return -1;
	if (r->overwrite.on)
		overwrite(r);
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

#define AT(member) offsetof(struct stream_opts, recording.member)

/* "signal", "512M" or "30s": the unit distinguishes sizes and times; M is MiB, m is minutes. */
static int parse_switch(const char *text, void *field, struct fault *f)
{
	struct stream_opts *o = (void *)((char *)field - AT(switch_signal));
	uint64_t ns;
	int has_unit;

	if (!strcmp(text, "signal"))
		o->recording.switch_signal = true;
	else if (!units_size(text, &o->recording.switch_size, &has_unit) && has_unit && o->recording.switch_size)
		return 0;
	else if (!units_duration(text, &ns) && ns >= 1000000 && strpbrk(text, "smuh"))
		o->recording.switch_ms = ns / 1000000;
	else
		return fault_usage(f, "--switch-output %s: expected a size with a unit (512M), a time with one (30s) "
				   "or \"signal\" (SIGUSR2)", text);
	return 0;
}

static const struct opt record_opts[] = {
	{ "all-cgroups", 0, NULL, OPT_FLAG, offsetof(struct stream_opts, samples_cgroups), NULL,
	  "Record the control group of each sample's task, for report --sort cgroup. Needs Linux 5.7.", false, NULL },
	{ "output", 'o', NULL, OPT_STRING, offsetof(struct stream_opts, record), "FILE",
	  "Write the recording to FILE (-: standard output). Default: perf.data. An existing FILE is "
	  "renamed to FILE.old.",
	  false, NULL },
	{ "compress", 'z', NULL, OPT_FLAG, AT(compressed), NULL, "Compress the recording (zstd).", false, NULL },
	{ "no-buildid-cache", 0, NULL, OPT_FLAG, offsetof(struct record, keeps_none), NULL,
	  "Keep no copies of the sampled programs in ~/.debug.", false, NULL },
	{ "no-buildid", 'B', NULL, OPT_FLAG, AT(no_build_ids), NULL,
	  "Record no build ids. Implies --no-buildid-cache.", false, NULL },
	{ "max-size", 0, NULL, OPT_SIZE, AT(max_size), "SIZE",
	  "End the recording when FILE is about this large, such as 512M.", .least = 1,
	  .expected = "a size with a unit, such as 512M" },
	{ "switch-output", 0, NULL, OPT_CALL, AT(switch_signal), "SIZE|TIME|signal",
	  "Start a new FILE when the current one reaches a size (512M) or an age (30s), or at SIGUSR2 "
	  "(signal). The finished file is renamed to FILE.TIME, with the time of its end; each file is a "
	  "complete recording.", false, parse_switch },
	{ "max-files", 0, NULL, OPT_U64, AT(keep), "N",
	  "Keep FILE and N older files, and delete the oldest. Needs --switch-output or --overwrite.",
	  .least = 1, .expected = "a number of files, 1 or more" },
};

static const struct opt overwrite_rows[] = {
	{ "overwrite", 0, NULL, OPT_FLAG, offsetof(struct overwrite_opts, on), NULL,
	  "Keep the newest events in memory, and write them to FILE at each trigger: an event with the "
	  "attribute trigger, or SIGUSR2. -N ends the run after N triggers.", false, NULL },
	{ "last", 0, NULL, OPT_CALL, offsetof(struct overwrite_opts, last), "SECONDS",
	  "Write only the last SECONDS before the trigger: 2, 0.5, 500ms.", false, overwrite_parse_last },
	{ "keep", 0, NULL, OPT_SIZE, offsetof(struct overwrite_opts, bytes), "SIZE",
	  "Set the memory for these events. Default: 64M, about 800,000 events.", OVERWRITE_KEEP_LIMITS },
};

#define ROWS(opts) (sizeof(opts) / sizeof(*(opts)))

const struct command record_command = {
	.name = "record",
	.usual = "event freq call-graph pids all-cpus output seconds compress overwrite switch-output max-size",
	.summary = "write events to a perf.data file",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = COMMAND_TEXT(
		"Writes events to a file, to analyse later or elsewhere: with perf-prof report, with any "
		"other command or script by -I FILE, or with perf. Without -e it samples what the CPUs execute, "
		"997 times a second, by cycles or, if the CPU has no such counter, by the CPU clock.",
		"The file is readable even if the recording does not end normally: kill -9 loses the last "
		"second, a full disk the events that did not fit. It holds all that a reader on another machine "
		"needs: tracepoint formats, names of tasks, mappings, build ids.",
		"At the end, programs and libraries that were sampled are copied to ~/.debug, where perf-prof report and perf "
		"find them by build id: you can rebuild them, and the recording still has names, source lines and "
		"instructions. Files of packages are not copied (in /usr but not /usr/local, and in /lib, /bin, /sbin, /opt, "
		"/snap, /nix), nor files above 1 GiB, more than 4 GiB in total, or a file above half of the free space. "
		"`perf buildid-cache --purge-all` or `rm -r ~/.debug` removes all copies.",
		"With --overwrite, nothing is written until a trigger comes: SIGUSR2, or an event with the "
		"attribute trigger (its filter, or the --than of a source, sets the condition). Then the "
		"trigger and the events before it are written to FILE, a recording like any other. The next "
		"trigger first renames that file to FILE.TIME. Each event is written only once. If the run ends "
		"without a trigger, the exit status is 1; it is 0 if Ctrl-C or SIGTERM ended the run.",
		"Without a target, the whole machine is recorded, until Ctrl-C. A command after -- starts "
		"once all events are enabled; it is the target unless you name another, and perf-prof exits "
		"with its exit status."),
	OPT_GROUP_ROWS(
		{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
		{ "Sampling", profile_freq_opts, PROFILE_FREQ_NOPTS, 0 },
		{ "Call chains", analysis_callchain_opts, STREAM_CALLCHAIN_NOPTS, 0 },
		{ "Privilege levels", levels_opts, LEVELS_NOPTS, offsetof(struct profile_opts, levels) },
		{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
		{ "Whole machine", analysis_all_opts, ANALYSIS_ALL_NOPTS, 0 },
		{ "Recording", record_opts, ROWS(record_opts), 0 },
		{ "Flight recorder", overwrite_rows, ROWS(overwrite_rows), offsetof(struct record, overwrite) },
		{ "Buffers", stream_ring_opts + 1, 3, 0 },      /* -m, --buffer, --watermark */
		{ "Timestamps", stream_ring_opts + 6, 1, 0 },   /* --monotonic */
		{ "End of the run", stream_ring_opts + 9, 2, 0 }, /* -N, --seconds */
		{ "Output", stream_output_opts + 2, 3, 0 }     /* --usage-self, -v, -q */),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof record -g -- ./program", "sample a command with call chains, for perf-prof report" },
		{ "perf-prof record -e 'sched:*' -a -- sleep 5", "record the scheduler's events for five seconds" },
		{ "perf-prof record -g -z --switch-output 10m --max-files 6", "keep the last hour, in files of ten minutes" },
		{ "perf-prof record -e 'sched:*,rundelay/--than 20ms/trigger/' --overwrite --last 2",
		  "keep the two seconds before a thread has waited 20 ms for a CPU" },
		{ "perf-prof record -e sched:sched_switch -p 1234 -o switches.data",
		  "record the switches of a process, for perf-prof python -I switches.data" }),
	.mode = OPT_MODE_COMMAND,
	ANALYSIS_CONFIG(struct record, analysis_defaults),
	.run = run,
};
