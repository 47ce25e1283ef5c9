/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters mean here what they mean in the kernel: each of a few thousand generated ones
 * counts events in the kernel, while the same events are sampled and counted by us.
 * Needs root: a uprobe of our own has a field of every width, task:task_rename char arrays.
 */
#include "live.h"

#include "stream/asked/filter.h"
#include "stream/state/state.h"

#include <sys/resource.h>

enum { FILTERS = 2000, BATCH = 100, ROWS = 128, PAGES = 64 };

/* What an argument of the probed function points to. */
struct row {
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int16_t s16;
	uint32_t u32;
	int32_t s32;
	uint64_t u64;
	int64_t s64;
	char text[32];
};

static struct row rows[ROWS];

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

NOINLINE void pev_test_row(const struct row *row);
NOINLINE void pev_test_row(const struct row *row)
{
	__asm__ volatile("" : : "r"(row) : "memory");
}

static const char *const names[] = {
	"java", "foojava", "barjava1", "5abc", "x", "", "a*b", "kworker/0:1-ev", "[x]", "back\\slash",
	"fifteenchars_ab", "jav", "55", "ja?a", "it's", "abab",
};

/* Small, so that a run is the same everywhere. */
static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)(random_bits() >> 33) % n;
}

/* A value of few bits, many bits, or at a border. */
static uint64_t random_value(void)
{
	static const uint64_t borders[] = {
		0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	};

	switch (below(3)) {
	case 0:
		return borders[below(COUNT(borders))];
	case 1:
		return random_bits() >> below(64);
	default:
		return below(8);
	}
}

static void fill_rows(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		rows[i] = (struct row){
			.u8 = (uint8_t)random_value(), .s8 = (int8_t)random_value(),
			.u16 = (uint16_t)random_value(), .s16 = (int16_t)random_value(),
			.u32 = (uint32_t)random_value(), .s32 = (int32_t)random_value(),
			.u64 = random_value(), .s64 = (int64_t)random_value(),
		};
		strcpy(rows[i].text, names[below(COUNT(names))]);
	}
}

/* ---- filters ------------------------------------------------------------------------ */

struct subject {
	const char *sys, *name;
	const char *const *numbers, *const *texts;
	size_t nnumbers, ntexts;
	void (*work)(void);
};

static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=", "&" };

static size_t add_number(char *buf, size_t size, const struct subject *s)
{
	const char *field = s->numbers[below((unsigned int)s->nnumbers)];
	const char *sign = signs[below(COUNT(signs))];
	uint64_t value = random_value();

	switch (below(8)) {
	case 0:
		return (size_t)snprintf(buf, size, "%s%s-%" PRIu64, field, sign, value >> 1);
	case 1:
		return (size_t)snprintf(buf, size, "%s %s %#" PRIx64, field, sign, value);
	case 2:   /* not even the kernel's language */
		return (size_t)snprintf(buf, size, "%" PRIu64 "%s%s", value, sign, field);
	case 3:
		return (size_t)snprintf(buf, size, "%s", field);
	case 4:
		return (size_t)snprintf(buf, size, "(%s & %" PRIu64 ") %s 0", field, value, below(2) ? "==" : "!=");
	default:
		return (size_t)snprintf(buf, size, "%s%s%" PRIu64, field, sign, value);
	}
}

/* Parts that hit now and then. */
static size_t add_glob(char *buf, size_t size)
{
	static const char *const parts[] = {
		"*", "?", "ja", "java", "a", "5", "[a-f]", "[!a-f]", "[]x]", "\\\\", "\\*", "[", "/", "x",
		"_ab", "1", "[0-9]", "*a", "b",
	};
	size_t n = below(8) ? 0 : (size_t)snprintf(buf, size, "!");

	for (unsigned int left = 1 + below(4); left; left--)
		n += (size_t)snprintf(buf + n, size - n, "%s", parts[below(COUNT(parts))]);
	return n;
}

static size_t add_text(char *buf, size_t size, const struct subject *s)
{
	const char *field = s->texts[below((unsigned int)s->ntexts)];
	unsigned int kind = below(4);
	size_t n;

	if (kind < 2)
		return (size_t)snprintf(buf, size, "%s%s\"%s\"", field, kind ? "==" : "!=",
					names[below(COUNT(names))]);
	n = (size_t)snprintf(buf, size, "%s ~ \"", field);
	n += add_glob(buf + n, size - n);
	return n + (size_t)snprintf(buf + n, size - n, "\"");
}

static size_t add_condition(char *buf, size_t size, const struct subject *s, unsigned int depth)
{
	static const char *const joints[] = { " && ", " || ", "&&", "||" };
	unsigned int kind = depth ? below(6) : 5;
	size_t n;

	if (kind == 0) {
		n = (size_t)snprintf(buf, size, "!(");
		n += add_condition(buf + n, size - n, s, depth - 1);
		return n + (size_t)snprintf(buf + n, size - n, ")");
	}
	if (kind < 4) {
		bool parens = below(2);

		n = (size_t)snprintf(buf, size, "%s", parens ? "(" : "");
		n += add_condition(buf + n, size - n, s, depth - 1);
		n += (size_t)snprintf(buf + n, size - n, "%s", joints[below(COUNT(joints))]);
		n += add_condition(buf + n, size - n, s, depth - 1);
		return n + (size_t)snprintf(buf + n, size - n, "%s", parens ? ")" : "");
	}
	n = (size_t)snprintf(buf, size, "%s", kind == 4 ? "!" : "");
	return n + (below(3) ? add_number(buf + n, size - n, s) : add_text(buf + n, size - n, s));
}

/* ---- one subject -------------------------------------------------------------------- */

struct bench {
	const struct subject *subject;
	struct tracefmt_db *db;
	struct stream_event event;
	struct expr_schema schema;
	struct pev_event *sampled;
	struct pev_ring *ring;
	uint32_t cpu;
};

static struct pev_event *open_event(struct bench *b, const char *filter)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	char text[1200];

	pev_attr_init(&attr, PERF_TYPE_TRACEPOINT, b->event.fmt->id);
	attr.disabled = 1;
	if (!filter) {
		attr.sample_type = b->event.layout.sample_type;
		attr.sample_period = 1;
	}
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), NULL, &err), &err);
	if (filter && pev_event_set_filter(ev, filter, &err)) {
		pev_error_text(&err, text, sizeof(text));
		fail_msg("%s", text);
	}
	return ev;
}

static void bench_open(struct bench *b, const struct subject *s, int cpu)
{
	char tracefs[256];
	struct pev_error err = { 0 };
	struct fault f;

	*b = (struct bench){ .subject = s, .db = tracefmt_db_new(), .cpu = (uint32_t)cpu };
	skip_if_refused(pev_tracefs_path(tracefs, sizeof(tracefs), &err), &err);
	b->event.name = s->name;
	b->event.fmt = tracefmt_load(b->db, tracefs, s->sys, s->name, &f);
	if (!b->event.fmt)
		SKIP("%s", f.text);
	layout_from_sample_type(&b->event.layout, PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW);
	assert_int_equal(schema_of_event(&b->schema, &b->event), 0);
	b->sampled = open_event(b, NULL);
	assert_int_equal(pev_ring_map(&b->ring, b->sampled, PAGES, &err), 0);
}

static void bench_close(struct bench *b)
{
	pev_ring_unmap(b->ring);
	pev_event_close(b->sampled);
	schema_free(&b->schema);
	tracefmt_db_free(b->db);
	*b = (struct bench){ 0 };
}

/* A filter in all its forms, and how many events passed each. */
struct trial {
	char text[2048];
	struct filter whole;          /* nothing to the kernel */
	struct filter split;
	struct filter kernels;        /* the kernel's part, evaluated here */
	struct pev_event *counter;    /* the kernel's part, evaluated there */
	uint64_t of_whole, of_split, of_kernels;
};

static void split_or_fail(struct filter *filter, const char *text, struct bench *b, bool all_here)
{
	struct expr_error err = { 0 };

	if (filter_split(filter, text, &b->schema, all_here, &err))
		fail_msg("%s: at %zu: %s", text, err.at, err.message);
}

static void trial_open(struct trial *t, struct bench *b)
{
	*t = (struct trial){ 0 };
	add_condition(t->text, sizeof(t->text), b->subject, 3);
	split_or_fail(&t->whole, t->text, b, true);
	split_or_fail(&t->split, t->text, b, false);
	if (!t->split.kernel)
		return;
	split_or_fail(&t->kernels, t->split.kernel, b, true);
	t->counter = open_event(b, t->split.kernel);
}

static bool passes(struct bench *b, struct filter *filter, const struct perf_event_header *rec)
{
	uint32_t size;
	const void *raw = layout_raw(&b->event.layout, rec, &size);

	assert_non_null(raw);
	if (!filter->here)
		return true;
	b->event.opened.filtered = filter;
	return filter_passes(&b->event, rec, raw, size, b->cpu);
}

static void evaluate(struct bench *b, struct trial *t, const struct perf_event_header *rec)
{
	bool kernels = passes(b, &t->kernels, rec);

	t->of_whole += passes(b, &t->whole, rec);
	t->of_kernels += kernels;
	t->of_split += kernels && passes(b, &t->split, rec);
}

static void trial_check(struct trial *t, uint64_t *hits)
{
	uint64_t counted = t->counter ? count_of(t->counter) : t->of_kernels;

	if (counted != t->of_kernels)
		fail_msg("%s: the kernel's part %s: %" PRIu64 " there, %" PRIu64 " here", t->text,
			 t->split.kernel, counted, t->of_kernels);
	if (t->of_split != t->of_whole)
		fail_msg("%s: %s and %s: %" PRIu64 ", not %" PRIu64, t->text, t->split.kernel,
			 t->split.text, t->of_split, t->of_whole);
	assert_int_equal(t->whole.failed + t->split.failed + t->kernels.failed, 0);
	*hits += t->of_whole;
}

static void trial_close(struct trial *t)
{
	pev_event_close(t->counter);
	filter_free(&t->whole);
	filter_free(&t->split);
	filter_free(&t->kernels);
	*t = (struct trial){ 0 };
}

/* The events of one run of the workload; how many there were. */
static size_t run_batch(struct bench *b, struct trial *trials, size_t n)
{
	const struct perf_event_header *rec;
	size_t events = 0;

	for (size_t i = 0; i < n; i++)
		if (trials[i].counter)
			assert_int_equal(pev_event_enable(trials[i].counter), 0);
	pev_event_enable(b->sampled);
	b->subject->work();
	pev_event_disable(b->sampled);
	for (size_t i = 0; i < n; i++)
		if (trials[i].counter)
			assert_int_equal(pev_event_disable(trials[i].counter), 0);
	pev_ring_begin(b->ring);
	while ((rec = pev_ring_next(b->ring))) {
		assert_int_equal(rec->type, PERF_RECORD_SAMPLE);
		for (size_t i = 0; i < n; i++)
			evaluate(b, &trials[i], rec);
		events++;
	}
	pev_ring_end(b->ring);
	return events;
}

/* Here, so that a test that failed in the middle can be tidied up. */
static struct bench the_bench;
static struct trial the_trials[BATCH];

static int tidy_up(void **state)
{
	for (size_t i = 0; i < BATCH; i++)
		trial_close(&the_trials[i]);
	bench_close(&the_bench);
	unpin();
	return 0;
}

/* Not the first CPU: there, any bit of its number is 0. */
static int pin_to_last(void)
{
	cpu_set_t set, last;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		SKIP("needs sched_getaffinity");
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpu = i;
	CPU_ZERO(&last);
	CPU_SET(cpu, &last);
	sched_setaffinity(0, sizeof(last), &last);
	return pin();
}

static void compare(const struct subject *s)
{
	uint64_t hits = 0;
	size_t in_kernel = 0;

	bench_open(&the_bench, s, pin_to_last());
	for (size_t done = 0; done < FILTERS; done += BATCH) {
		for (size_t i = 0; i < BATCH; i++) {
			trial_open(&the_trials[i], &the_bench);
			in_kernel += the_trials[i].counter != NULL;
		}
		assert_int_equal(run_batch(&the_bench, the_trials, BATCH), ROWS);
		for (size_t i = 0; i < BATCH; i++) {
			trial_check(&the_trials[i], &hits);
			trial_close(&the_trials[i]);
		}
	}
	/* neither all events nor none, and most of it in the kernel */
	assert_in_range(hits, FILTERS * ROWS / 5, FILTERS * ROWS * 4 / 5);
	assert_in_range(in_kernel, FILTERS / 2, FILTERS - 1);
	print_message("# %s: %d filters, %zu with a part for the kernel, over %d events\n", s->name,
		      FILTERS, in_kernel, ROWS);
}

/* ---- a probe of ours ---------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARG "%di"
#elif defined(__aarch64__)
#define ARG "%x0"
#endif

static int write_uprobes(const char *line)
{
	char path[300];
	int fd, err = 0;

	if (pev_tracefs_path(path, 256, NULL))
		return ENOENT;
	strcat(path, "/uprobe_events");
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, line, strlen(line)) < 0)
		err = errno;
	close(fd);
	return err;
}

/* Where a function stands in the file that it was loaded from. */
static uint64_t file_offset(const void *function)
{
	uintptr_t at = (uintptr_t)function;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t from, to, offset, found = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) == 3 &&
		    from <= at && at < to)
			found = at - from + offset;
	fclose(maps);
	assert_true(found);
	return found;
}

static char group[64];

static void make_probe(void)
{
	char path[256], line[1024];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int err;

	assert_true(n > 0);
	path[n] = '\0';
	snprintf(group, sizeof(group), "pevfilters%d", (int)getpid());
	snprintf(line, sizeof(line), "p:%s/row %s:%#" PRIx64
		 " u8=+%zu(%s):u8 s8=+%zu(%s):s8 u16=+%zu(%s):u16 s16=+%zu(%s):s16 u32=+%zu(%s):u32"
		 " s32=+%zu(%s):s32 u64=+%zu(%s):u64 s64=+%zu(%s):s64 text=+%zu(%s):string\n",
		 group, path, file_offset(pev_test_row), offsetof(struct row, u8), ARG,
		 offsetof(struct row, s8), ARG, offsetof(struct row, u16), ARG,
		 offsetof(struct row, s16), ARG, offsetof(struct row, u32), ARG,
		 offsetof(struct row, s32), ARG, offsetof(struct row, u64), ARG,
		 offsetof(struct row, s64), ARG, offsetof(struct row, text), ARG);
	err = write_uprobes(line);
	if (err) {
		group[0] = '\0';
		SKIP("needs to make a uprobe in tracefs: %s", strerror(err));
	}
}

static int remove_probe(void **state)
{
	char line[128];

	tidy_up(state);
	if (!group[0])
		return 0;
	snprintf(line, sizeof(line), "-:%s/row\n", group);
	return write_uprobes(line);
}

static void call_rows(void)
{
	for (size_t i = 0; i < ROWS; i++)
		pev_test_row(&rows[i]);
}

TEST_WITH(every_width_and_a_string, NULL, remove_probe)
{
	static const char *const numbers[] = {
		"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "_cpu", "common_pid",
	};
	static const char *const texts[] = { "text" };
	struct subject s = {
		.sys = group, .name = "row", .work = call_rows, .numbers = numbers, .texts = texts,
		.nnumbers = COUNT(numbers), .ntexts = COUNT(texts),
	};

#ifndef ARG
	SKIP("needs to know in which register the first argument is");
#else
	make_probe();
	compare(&s);
#endif
}

/* ---- char arrays -------------------------------------------------------------------- */

static void rename_thread(void)
{
	for (size_t i = 0; i < ROWS; i++)
		prctl(PR_SET_NAME, rows[i].text);
}

TEST_WITH(char_arrays, NULL, tidy_up)
{
	static const char *const numbers[] = { "oom_score_adj", "common_pid", "_cpu", "common_flags" };
	static const char *const texts[] = { "oldcomm", "newcomm" };
	static const struct subject s = {
		.sys = "task", .name = "task_rename", .work = rename_thread, .numbers = numbers,
		.texts = texts, .nnumbers = COUNT(numbers), .ntexts = COUNT(texts),
	};

	compare(&s);
}

static int prepare(void **state)
{
	struct rlimit files;

	if (needs_the_system_call(state))
		return -1;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	fill_rows();
	return 0;
}

AROUND_ALL(prepare, NULL)
