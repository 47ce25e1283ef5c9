/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made up of bytes: what is there comes out, what can't be is told by its offset.
 * Whole ones, against perf script's word: tests/python/test_recordings.py. */
#include "checks.h"
#include "recording.h"

#include "perfdata/read/reading.h"
#include "perfdata/write/writer.h"

static struct file f;
static struct perfdata_reader *r;

static int end(void **state)
{
	perfdata_reader_close(r);
	free(f.bytes);
	r = NULL;
	f = (struct file){ 0 };
	return 0;
}

static void open_it(void)
{
	r = open_bytes(&f);
	assert_non_null(r);
}

/* It has so many samples, and ends well or with these words. */
static void reads(uint64_t samples, const char *words)
{
	int rc;

	assert_int_equal(read_samples(r, &rc), samples);
	assert_int_equal(rc, words ? -1 : 0);
	if (words && !strstr(fault.text, words))
		fail_msg("%s\nexpected: %s", fault.text, words);
}

/* ---- what is there ------------------------------------------------------------ */

TEST_WITH(records_and_whose_they_are, NULL, end)
{
	const struct perf_event_header *rec;
	uint64_t n = 0;

	put_recording(&f, 100000);     /* many windows */
	open_it();
	assert_int_equal(perfdata_events(r), 2);
	assert_int_equal(perfdata_event(r, 1)->ids[0], 8);
	while (perfdata_next(r, &rec, &fault) > 0) {
		const uint64_t *words = (const uint64_t *)(const void *)(rec + 1);

		assert_int_equal(words[1], n);
		assert_int_equal(perfdata_event_of(r, rec), n % 2);
		assert_int_equal(perfdata_offset(r), f.n - (100000 - n) * 24);
		n++;
	}
	assert_int_equal(n, 100000);
	assert_int_equal(perfdata_counts(r)->records, n);
}

static void put_count(uint64_t id, uint64_t cpu, uint64_t value, uint64_t enabled, uint64_t running)
{
	const uint64_t v[] = { id, cpu, value, enabled, running };

	put_head(&f, 76, 8 + sizeof(v));
	put(&f, v, sizeof(v));
}

static void put_counted(uint64_t time)
{
	put_head(&f, PERFDATA_COUNTED, 24);
	put64(&f, 0);
	put64(&f, time);
}

static void next_counts(uint64_t time, uint64_t value, uint64_t enabled, uint64_t running)
{
	const struct pev_count *c = &perfdata_event(r, 1)->counted;
	const struct perf_event_header *rec;

	assert_int_equal(perfdata_next(r, &rec, &fault), 1);
	assert_int_equal(rec->type, PERFDATA_COUNTED);
	assert_int_equal(perfdata_info(r)->counted_ns, time);
	assert_int_equal(c->value, value);
	assert_int_equal(c->time_enabled, enabled);
	assert_int_equal(c->time_running, running);
	assert_int_equal(perfdata_event(r, 0)->counted.value, 0);
}

/* Values are since the start, of each CPU. A record of another recorder with that number is no round. */
TEST_WITH(counts_of_perf_stat, NULL, end)
{
	const struct perf_event_header *rec;

	put_pipe_head(&f);
	put_attr(&f, 0, 7);
	put_attr(&f, 1, 8);
	put_count(8, 0, 10, 100, 50);
	put_count(8, 1, 20, 100, 100);
	put_count(9, 1, 1, 1, 1);
	put_counted(1000);
	put_head(&f, PERFDATA_COUNTED, 32);
	for (int i = 0; i < 3; i++)
		put64(&f, 5);
	put_count(8, 0, 15, 200, 150);
	put_count(8, 1, 27, 200, 200);
	put_counted(2000);
	open_it();
	next_counts(1000, 30, 200, 150);
	next_counts(2000, 12, 200, 200);
	assert_int_equal(perfdata_next(r, &rec, &fault), 0);
	assert_int_equal(perfdata_counts(r)->own, 1);
}

TEST_WITH(what_the_writer_wrote, NULL, end)
{
	static const char *const argv[] = { "perf-prof", "python", "x.py" };
	char path[] = "/tmp/perfdata-reader-XXXXXX";
	struct perf_event_attr attr = an_attr(TYPE);
	uint64_t ids[] = { 5, 6 };
	struct perfdata_writer *w;

	close(mkstemp(path));
	unlink(path);
	w = perfdata_new(path);
	perfdata_put_attr(w, &attr, ids, 2);
	perfdata_put_machine(w, "perf-prof", argv, 3);
	assert_int_equal(perfdata_open(w, &fault), 0);
	assert_int_equal(perfdata_close(w, &fault), 0);
	r = perfdata_reader_open(perfdata_reader_path(path, &fault), path, &fault);
	unlink(path);
	assert_non_null(r);
	assert_string_equal(perfdata_info(r)->version, "perf-prof");
	assert_string_equal(perfdata_info(r)->command[2], "x.py");
	assert_non_null(perfdata_info(r)->hostname);
	ARE(NUMBERS(perfdata_event(r, 0)->nids, perfdata_info(r)->ncommand, perfdata_info(r)->cpus_there > 0, perfdata_info(r)->unread),
	    NUMBERS(2, 3, true, 0));
	reads(0, NULL);
}

/* The files that perf made, in the tree. */
static const struct perfdata_fact *fact_of(const struct perfdata_info *info, int feature, int part)
{
	for (size_t i = 0; i < info->nfacts; i++)
		if (info->facts[i].feature == feature && info->facts[i].part == part)
			return &info->facts[i];
	fail_msg("no fact of feature %d, part %d", feature, part);
	return NULL;
}

TEST_WITH(what_perf_says_of_the_machine, NULL, end)
{
	const char *root = getenv("SOURCE_ROOT");
	const struct perfdata_info *info;
	const struct perfdata_fact *fact;
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/data/perfdata/group.data", root ? root : ".");
	r = perfdata_reader_open(perfdata_reader_path(path, &fault), path, &fault);
	assert_non_null(r);
	info = perfdata_info(r);
	assert_int_equal(info->unread, 0);
	assert_string_equal(info->arch, "x86_64");
	assert_string_equal(info->command[1], "record");
	assert_true(info->first_ns && info->first_ns < info->last_ns && info->nbuild_ids);
	assert_string_equal(fact_of(info, PERFDATA_CPU_TOPOLOGY, PERFDATA_CORES)->text[0], "0-1");
	assert_int_equal(fact_of(info, PERFDATA_CPU_TOPOLOGY, PERFDATA_CPU_PLACE)->number[1], 0);
	assert_true(fact_of(info, PERFDATA_NUMA_TOPOLOGY, 0)->number[1] > 1 << 20);
	assert_int_equal(fact_of(info, PERFDATA_CACHE, 0)->number[1], 64);
	fact = fact_of(info, PERFDATA_GROUP_DESC, 0);
	assert_int_equal(fact->number[0], 0);
	assert_int_equal(fact->number[1], 3);
	for (fact = fact_of(info, PERFDATA_PMU_MAPPINGS, 0); fact->number[0] != 1; fact++)
		assert_true(fact < info->facts + info->nfacts);
	assert_string_equal(fact->text[0], "software");
}

/* Sizes that are no multiple of 8: user space's records may have them. */
TEST_WITH(what_follows_an_odd_size_is_aligned_again, NULL, end)
{
	put_recording(&f, 1);
	put_head(&f, 79, 13);
	put(&f, "odd!!", 5);
	put_sample(&f, 7, 9);
	assert_int_equal(samples_of(&f, 0), 2);
}

TEST_WITH(aux_areas_are_passed_over, NULL, end)
{
	char *area = calloc(1, 1 << 20);

	put_recording(&f, 1);
	put_head(&f, AUXTRACE, 48);
	put64(&f, 1 << 20);
	for (int i = 0; i < 4; i++)
		put64(&f, 0);
	put(&f, area, 1 << 20);
	put_sample(&f, 7, 9);
	open_it();
	reads(2, NULL);
	assert_int_equal(perfdata_counts(r)->aux_bytes, 1 << 20);
	perfdata_reader_close(r);
	f.n -= 30;
	open_it();
	reads(1, "an AUX area of 1048576 bytes");
	free(area);
}

/* ---- what can't be ------------------------------------------------------------ */

TEST_WITH(heads_that_lie, NULL, end)
{
	static const struct { const char *head; size_t n; const char *words; } heads[] = {
		{ "PERFILE2", 8, "it has 8 bytes" },
		{ "PERFILE3\x10\0\0\0\0\0\0\0", 16, "this is not a recording: perf.data begins" },
		{ "PERFILE2\x11\0\0\0\0\0\0\0", 16, "a header of 17 bytes" }, { "PERFILE2\x10\0\0\0\0\0\0\0", 16, "no events" },
	};
	static const struct { uint64_t attr_size, attrs_at, attrs_size, data_at, ids_at, ids_size; const char *words; } rows[] = {
		{ 0, ATTRS_AT, ATTR_SIZE, DATA_AT, 0, 0, "the header says that an event takes 0 bytes" },
		{ ATTR_SIZE, ATTRS_AT, UINT64_C(1) << 60, DATA_AT, 0, 0, "places the events at 0x68" },
		{ ATTR_SIZE, ATTRS_AT, ATTR_SIZE, ATTRS_AT + 8, 0, 0, "over the events" },
		{ ATTR_SIZE, ATTRS_AT, ATTR_SIZE, 8, 0, 0, "over the header itself" },
		{ ATTR_SIZE, 16, ATTR_SIZE, DATA_AT, 0, 0, "over the header itself" },
		{ ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 104, UINT64_C(1) << 60, "places an event's ids at 0x68" },
		{ ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 104, 7, "an event's ids" },
	};

	for (size_t i = 0; i < COUNT(heads); i++) {
		put(&f, heads[i].head, heads[i].n);
		refused(&f, heads[i].words);
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct head h = make_head(rows[i].attr_size, rows[i].attrs_at, rows[i].attrs_size, rows[i].data_at, 48);

		put_file(&f, &h, rows[i].ids_at, rows[i].ids_size);
		refused(&f, rows[i].words);
	}
	put_pipe_head(&f);
	put_head(&f, ATTR, 16);
	put64(&f, 0);
	refused(&f, "an event of 64 bytes in a record of 16");
	put_pipe_head(&f);
	put_attr(&f, 0, 7);
	put_attr(&f, 1, 7);
	refused(&f, "two events have the id 7");
}

/* A listener's id lies behind the body, where the kernel says a size that is too large. */
TEST_WITH(whose_a_record_is_that_says_too_large_a_size, NULL, end)
{
	const uint64_t words[] = { 0x1000, 64, 0x78, /* sample_id: */ 20, 8, /* of another one: */ 10, 7 };
	struct { struct perf_event_header head; uint64_t body[sizeof(words) / 8]; } turned;
	const struct pev_format fmt = { .sample_type = TYPE, .sample_id_all = true };
	const struct perf_event_header *rec;

	put_recording(&f, 0);
	put_head(&f, PERF_RECORD_KSYMBOL, 8 + sizeof(words));
	put(&f, words, sizeof(words));
	put_sample(&f, 7, 30);
	open_it();
	assert_int_equal(perfdata_next(r, &rec, &fault), 1);
	assert_int_equal(perfdata_event_of(r, rec), 1);
	assert_int_equal(perfdata_next(r, &rec, &fault), 1);
	assert_int_equal(rec->type, PERF_RECORD_SAMPLE);
	/* of the other byte order its words are turned, and no others */
	memcpy(&turned, f.bytes + f.n - 24 - sizeof(turned), sizeof(turned));
	assert_true(swap_record(&turned.head, &fmt));
	assert_int_equal(turned.body[3], bswap_64(20));
	assert_int_equal(turned.body[4], bswap_64(8));
	assert_int_equal(turned.body[6], 7);
}

static void put_attr_of(uint64_t id, size_t n)
{
	struct perf_event_attr attr = an_attr(TYPE);

	put_head(&f, ATTR, 8 + attr.size + 8 * n);
	put(&f, &attr, attr.size);
	for (size_t i = 0; i < n; i++)
		put64(&f, id + i);
}

TEST_WITH(which_attrs_are_one_event, NULL, end)
{
	enum { FULL = 4096 };
	static const struct {
		struct { uint64_t id; size_t n; } attrs[4];
		size_t nids[2];          /* of two events */
		uint64_t sample;
	} rows[] = {
		/* sched:sched_switch//alias=a/,sched:sched_switch//alias=b/ */
		{ { { 7, 1 }, { 8, 1 } }, { 1, 1 }, 8 },
		/* as perf does now and then where it writes into a pipe: an event comes again */
		{ { { 7, 2 }, { 9, 1 }, { 7, 2 }, { 9, 2 } }, { 2, 2 }, 10 },
		/* ids that fill a record go on in the next one */
		{ { { 10, FULL }, { 10 + FULL, 2 }, { 7, 1 } }, { FULL + 2, 1 }, 7 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		put_pipe_head(&f);
		for (size_t k = 0; k < 4 && rows[i].attrs[k].n; k++)
			put_attr_of(rows[i].attrs[k].id, rows[i].attrs[k].n);
		put_sample(&f, rows[i].sample, 1);
		open_it();
		assert_int_equal(perfdata_events(r), 2);
		assert_int_equal(perfdata_event(r, 0)->nids, rows[i].nids[0]);
		assert_int_equal(perfdata_event(r, 1)->nids, rows[i].nids[1]);
		assert_int_equal(perfdata_event(r, 0)->ids[0], rows[i].attrs[0].id);
		reads(1, NULL);
		end(NULL);
	}
}

/* Numbers whose product with a constant that anybody can read has the same upper half: with that
 * for a hash, each new one would meet all others, and these take hours. */
TEST_WITH(ids_that_were_chosen_to_collide, NULL, end)
{
	const uint64_t inverse = UINT64_C(0xf1de83e19937733d);   /* of 0x9e3779b97f4a7c15 */
	enum { EACH = 4096, RECORDS = 128 };
	struct perf_event_attr attr = an_attr(TYPE);

	assert_int_equal(inverse * UINT64_C(0x9e3779b97f4a7c15), 1);
	put_pipe_head(&f);
	for (uint64_t i = 0; i < RECORDS; i++) {
		put_head(&f, ATTR, 8 + attr.size + 8 * EACH);
		put(&f, &attr, attr.size);
		for (uint64_t k = 0; k < EACH; k++)
			put64(&f, (i * EACH + k) * inverse);
	}
	put_attr(&f, 1, 1);
	alarm(20);
	assert_int_equal(samples_of(&f, 0), 0);
	alarm(0);
}

TEST_WITH(a_file_and_one_that_nobody_finished, NULL, end)
{
	struct head h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 48);

	put_file(&f, &h, 0, 0);
	assert_int_equal(samples_of(&f, 0), 2);
	h.words[6] = 0;
	put_file(&f, &h, 0, 0);
	put_sample(&f, 7, 3);
	assert_int_equal(samples_of(&f, 0), 3);
	h.words[6] = UINT64_C(1) << 60;
	put_file(&f, &h, 0, 0);
	assert_int_equal(samples_of(&f, -1), 2);
	assert_non_null(strstr(fault.text, "the file ends at 0x128: it is truncated"));
}

enum { TABLE_AT = DATA_AT + 48, TEXTS_AT = TABLE_AT + 32, TEXT_SIZE = 12, HOSTNAME = 3, RELEASE = 4 };

/* Two features, whose second is laid there; the file has `n` bytes of all. */
static void two_features(uint64_t at, uint64_t size, size_t n, const char *words)
{
	struct head h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 48);

	h.words[9] = 1 << HOSTNAME | 1 << RELEASE;
	put_file(&f, &h, 0, 0);
	put64(&f, TEXTS_AT);
	put64(&f, TEXT_SIZE);
	put64(&f, at);
	put64(&f, size);
	put(&f, "\10\0\0\0a host\0\0" "\10\0\0\0release", 2 * TEXT_SIZE);
	assert_true(n <= f.n);
	f.n = n;
	open_it();
	reads(2, words);
	assert_int_equal(!perfdata_info(r)->osrelease, words != NULL);
	if (n > TEXTS_AT)
		assert_string_equal(perfdata_info(r)->hostname, "a host");
	end(NULL);
}

/* All else is read, and the end says so. */
TEST_WITH(features_that_lie, NULL, end)
{
	enum { WHOLE = TEXTS_AT + 2 * TEXT_SIZE };

	two_features(TEXTS_AT + TEXT_SIZE, TEXT_SIZE, WHOLE, NULL);
	two_features(TEXTS_AT + 4, TEXT_SIZE, WHOLE, "at offset 0x138: the header places its feature 4 at 0x14c, 12 bytes, "
		     "over its feature 3");
	two_features(UINT64_C(1) << 60, 1, WHOLE, "at 0x1000000000000000, 1 bytes, but the file has 352");
	two_features(TEXTS_AT, UINT64_C(1) << 60, WHOLE, "but the file has");
	two_features(DATA_AT, TEXT_SIZE, WHOLE, "over what comes before the features");
	two_features(TABLE_AT, TEXT_SIZE, WHOLE, "over what comes before the features");
	two_features(TEXTS_AT + TEXT_SIZE, TEXT_SIZE, WHOLE - 1, "but the file has 351");
	two_features(TEXTS_AT, TEXT_SIZE, TEXTS_AT - 1, "has 2 features, but the file ends at 0x147, within the table");
}

TEST_WITH(every_cut_is_told, NULL, end)
{
	struct file whole = { 0 };
	size_t one_event;

	put_pipe_head(&whole);
	put_attr(&whole, 0, 7);
	one_event = whole.n;
	put_attr(&whole, 1, 8);
	for (uint64_t i = 0; i < 3; i++)
		put_sample(&whole, 7 + i % 2, i);
	for (size_t n = 0; n < whole.n; n++) {
		size_t records = whole.n - 72, have = n > records ? (n - records) / 24 : 0;
		int rc;

		put(&f, whole.bytes, n);
		r = open_bytes(&f);
		if (r) {
			assert_int_equal(read_samples(r, &rc), have);
			assert_int_equal(rc, n == one_event || (n >= records && (n - records) % 24 == 0) ? 0 : -1);
		}
		assert_true(r || fault.exit_code == EXIT_FAILED);
		end(NULL);
	}
	free(whole.bytes);
}

/* Of a record at `at` that has none; that so many samples are read all the same, and bytes are not. */
static void passed_over(size_t at, uint64_t samples, uint64_t bytes)
{
	char text[80];

	snprintf(text, sizeof(text), "at offset %#zx: a record of type 9 has a size of 0 bytes", at);
	open_it();
	reads(samples, text);
	assert_int_equal(perfdata_counts(r)->damaged_bytes, bytes);
	end(NULL);
}

static size_t put_damage(void)
{
	put_recording(&f, 5);
	put_head(&f, PERF_RECORD_SAMPLE, 0);
	return f.n - 8;
}

/* It goes on where records lie one behind the other, which heads among other bytes don't. */
TEST_WITH(damage_is_passed_over, NULL, end)
{
	size_t at = put_damage();

	for (uint64_t i = 0; i < 3; i++)
		put_sample(&f, 7, i);
	passed_over(at, 8, 8);
	at = put_damage();
	put_sample(&f, 9, 1);   /* an id of no event */
	put_head(&f, PERF_RECORD_EXIT, 48);
	put_head(&f, 0, 8);
	put_head(&f, PERF_RECORD_COMM, 12);
	put_sample(&f, 8, 2);
	put64(&f, 0);
	for (uint64_t i = 0; i < 4; i++)
		put_sample(&f, 7 + i % 2, i);
	passed_over(at, 9, 8 + 24 + 8 + 8 + 8 + 24 + 8);
	/* one record alone is enough at the end, if it is of an event; and a round's end is */
	for (uint64_t round = 0; round < 2; round++) {
		at = put_damage();
		put_head(&f, ROUND + 40, 8);
		if (round)
			put_head(&f, ROUND, 8);
		put_sample(&f, 7, 6);
		passed_over(at, 6, 16);
	}
	at = put_damage();
	put_head(&f, ROUND + 40, 8);
	put_sample(&f, 9, 6);
	passed_over(at, 5, 40);
}

/* As far as is looked ahead: of records of 60 KiB that is one. */
TEST_WITH(damage_before_large_records, NULL, end)
{
	enum { NR = 7500, N = 20 };
	struct perf_event_attr attr = an_attr(TYPE | PERF_SAMPLE_CALLCHAIN);
	size_t at;

	put_pipe_head(&f);
	put_head(&f, ATTR, 8 + attr.size + 8);
	put(&f, &attr, attr.size);
	put64(&f, 7);
	at = f.n;
	put_head(&f, PERF_RECORD_SAMPLE, 0);
	for (uint64_t i = 0; i < N; i++) {
		put_head(&f, PERF_RECORD_SAMPLE, 32 + 8 * NR);
		put64(&f, 7);
		put64(&f, i);
		put64(&f, NR);
		for (uint64_t k = 0; k < NR; k++)
			put64(&f, k);
	}
	passed_over(at, N, 8);
}

/* What another recorder means by a type of perf's is its own: no area of 3e18 bytes lies behind it. */
TEST_WITH(types_of_other_recorders, NULL, end)
{
	const uint64_t words = UINT64_C(3000000000000000000);

	put_recording(&f, 5);
	for (uint32_t type = 69; type <= 80; type++) {
		put_head(&f, type, 32);
		for (int i = 0; i < 3; i++)
			put64(&f, words);
		put_sample(&f, 7, type);
	}
	put_head(&f, AUXTRACE, 48);
	put64(&f, 1 << 20);   /* less than perf could mean, and records go on */
	for (int i = 0; i < 4; i++)
		put64(&f, words);
	for (uint64_t i = 0; i < 4; i++)
		put_sample(&f, 7, 90 + i);
	open_it();
	reads(5 + 12 + 4, NULL);
	assert_int_equal(perfdata_counts(r)->own, 13);
	assert_int_equal(perfdata_counts(r)->aux_bytes, 0);
}

/* Overwrites the size of the sample at `at`; damage of one place is found, and so many samples all the same. */
static void lies(size_t at, uint16_t size, uint64_t left, const char *words)
{
	memcpy(f.bytes + at + 6, &size, 2);
	open_it();
	reads(left, words);
	assert_int_equal(perfdata_counts(r)->damaged_bytes, 24);
	assert_int_equal(perfdata_counts(r)->damaged_places, 1);
}

/* The second of ten samples: only that one is lost, wherever its size says that the next is. */
TEST_WITH(sizes_that_lie, NULL, end)
{
	static const struct { uint16_t size; const char *words; } rows[] = {
		{ 3, "a record of type 9 has a size of 3 bytes" },
		{ 29, "type 9 and 29 bytes is damaged: no recorder writes such a head" },
		{ 16, "type 9 and 16 bytes is damaged: no record follows it" },
		{ 24 * 3, "type 9 and 72 bytes is damaged: others begin within it" },
		{ 24 * 9, "others begin within it; 24 bytes were passed over" }, { 40, "others begin within it" },
		{ 60000, "has 60000 bytes, but the recording ends after 216" },
		{ 32, "24 bytes were passed over, at 5.000000001 s" },
	};

	for (size_t k = 0; k < COUNT(rows); k++) {
		put_recording(&f, 1);
		for (uint64_t i = 0; i < 9; i++)
			put_sample(&f, 7, 5000000000 + i);
		lies(f.n - 9 * 24, rows[k].size, 9, rows[k].words);
		assert_int_equal(perfdata_counts(r)->damaged.to, 5000000001);
		end(NULL);
	}
}

/* The size of the third sample lies, and the times of its neighbours are overwritten. */
TEST_WITH(times_that_are_none, NULL, end)
{
	const uint64_t a = 5000000001, b = 5000000003, garbage = UINT64_C(0x4141414141414141);
	const struct { uint64_t before, behind, from, to; } rows[] = {
		{ a, b, a, b }, { UINT64_MAX, b, b, b }, { a, UINT64_MAX, a, 5000000004 }, { a, garbage, 0, 0 }, { garbage, b, 0, 0 },
	};

	for (size_t k = 0; k < COUNT(rows); k++) {
		const uint64_t times[] = { 5000000000, rows[k].before, 5000000002, rows[k].behind, 5000000004, 5000000005 };

		put_recording(&f, 1);
		for (size_t i = 0; i < COUNT(times); i++)
			put_sample(&f, 7, times[i]);
		lies(f.n - 4 * 24, 3, 6, "");
		assert_int_equal(perfdata_counts(r)->damaged.from, rows[k].from);
		assert_int_equal(perfdata_counts(r)->damaged.to, rows[k].to);
		assert_int_equal(strstr(fault.text, "passed over, ") != NULL, rows[k].to != 0);
		end(NULL);
	}
}

TEST_WITH(a_file_that_shrinks, NULL, end)
{
	struct head h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 48 + 24 * 100000);
	const struct perf_event_header *rec;
	int fd, rc, n = 0;

	put_file(&f, &h, 0, 0);
	for (int i = 0; i < 100000; i++)
		put_sample(&f, 7, (uint64_t)i);
	fd = memfd_create("perf.data", MFD_CLOEXEC);
	assert_int_equal(write(fd, f.bytes, f.n), f.n);
	r = perfdata_reader_open(dup(fd), "some.data", &fault);
	assert_non_null(r);
	while ((rc = perfdata_next(r, &rec, &fault)) > 0)
		if (n++ == 10)
			assert_int_equal(ftruncate(fd, 1000), 0);
	assert_int_equal(rc, -1);
	assert_true(n < 100000);
	assert_non_null(strstr(fault.text, "truncated"));
	close(fd);
}

/* ---- many at a time ------------------------------------------------------------ */

enum { PINS = 64 };

struct pinned {
	void *memory[PINS];
	const struct perf_event_header *first[PINS];
	uint64_t number[PINS], n;
};

/* Goes on to the window's end by itself; the number of records that it passed. */
static uint64_t pass_all(const struct perf_event_header *rec)
{
	const struct perf_event_header *last = rec;
	struct perfdata_ahead ahead;
	uint64_t n = 0;

	assert_true(perfdata_ahead(r, rec, &ahead));
	assert_int_equal((uintptr_t)ahead.at % 8, 0);
	while (ahead.end - ahead.at >= 24) {
		last = (const void *)ahead.at;
		ahead.at += last->size;
		n++;
	}
	perfdata_pass(r, last, n);
	return n;
}

/* Records of the file stay where they are as long as they are pinned. */
TEST_WITH(what_is_pinned_stays, NULL, end)
{
	struct pinned p = { .n = 0 };
	const struct perf_event_header *rec;
	uint64_t n = 0;

	put_recording(&f, 100000);
	open_it();
	for (; perfdata_next(r, &rec, &fault) > 0; p.n++) {
		assert_true(p.n < PINS);
		p.memory[p.n] = perfdata_pin(r);
		p.first[p.n] = rec;
		p.number[p.n] = n;
		assert_int_equal(((const uint64_t *)(const void *)(rec + 1))[1], n);
		n += 1 + pass_all(rec);
		assert_int_equal(perfdata_offset(r), f.n - (100000 - n + 1) * 24);
	}
	assert_true(p.n > 5 && perfdata_pinned(r) > 2000000);
	assert_int_equal(n, 100000);
	assert_int_equal(perfdata_counts(r)->records, n);
	for (uint64_t i = 0; i < p.n; i++) {
		assert_int_equal(((const uint64_t *)(const void *)(p.first[i] + 1))[1], p.number[i]);
		perfdata_unpin(r, p.memory[i]);
	}
	assert_int_equal(perfdata_pinned(r), 0);
}

TEST_WITH(damage_can_be_interrupted, NULL, end)
{
	static const char zeros[1 << 20];

	put_recording(&f, 1);
	put(&f, zeros, sizeof(zeros));
	put_sample(&f, 7, 2);
	stops_within_zeros(&f, sizeof(zeros));
	f.bytes = NULL;
}
