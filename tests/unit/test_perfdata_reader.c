/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made up of bytes: what is there comes out, what can't be is told by its offset.
 * Whole ones, against perf script's word: tests/python/test_recordings.py. */
#include "recording.h"

#include "perfdata/read/reading.h"
#include "perfdata/read/window.h"
#include "perfdata/write/writer.h"

/* ---- what is there ------------------------------------------------------------ */

static void records_and_whose_they_are(void **state)
{
	struct file f = { 0 };
	const struct perf_event_header *rec;
	struct perfdata_reader *r;
	uint64_t n = 0;

	(void)state;
	put_recording(&f, 100000);     /* many windows */
	r = open_bytes(&f);
	assert_non_null(r);
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
	perfdata_reader_close(r);
	free(f.bytes);
}

static void what_the_writer_wrote(void **state)
{
	static const char *const argv[] = { "perf-prof", "python", "x.py" };
	char path[] = "/tmp/perfdata-reader-XXXXXX", old[80];
	struct perfdata_writer *w;
	struct perf_event_attr attr = an_attr(TYPE);
	uint64_t ids[] = { 5, 6 };
	struct perfdata_reader *r;
	int fd = mkstemp(path), rc;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	w = perfdata_new(path);
	perfdata_put_attr(w, &attr, ids, 2);
	perfdata_put_machine(w, "perf-prof", argv, 3);
	assert_int_equal(perfdata_open(w, &fault), 0);
	perfdata_put_round(w);
	assert_int_equal(perfdata_close(w, &fault), 0);
	fd = perfdata_reader_path(path, &fault);
	r = perfdata_reader_open(fd, path, &fault);
	assert_non_null(r);
	assert_int_equal(perfdata_event(r, 0)->nids, 2);
	assert_string_equal(perfdata_info(r)->version, "perf-prof");
	assert_int_equal(perfdata_info(r)->ncommand, 3);
	assert_string_equal(perfdata_info(r)->command[2], "x.py");
	assert_non_null(perfdata_info(r)->hostname);
	assert_true(perfdata_info(r)->cpus_there > 0);
	assert_int_equal(perfdata_info(r)->unread, 0);
	read_samples(r, &rc);
	assert_int_equal(rc, 0);
	perfdata_reader_close(r);
	snprintf(old, sizeof(old), "%s.old", path);
	unlink(path);
	unlink(old);
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

static void what_perf_says_of_the_machine(void **state)
{
	const char *root = getenv("SOURCE_ROOT");
	const struct perfdata_info *info;
	const struct perfdata_fact *fact;
	struct perfdata_reader *r;
	char path[4096];

	(void)state;
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
	perfdata_reader_close(r);
}

/* Sizes that are no multiple of 8: user space's records may have them. */
static void what_follows_an_odd_size_is_aligned_again(void **state)
{
	struct file f = { 0 };

	(void)state;
	put_recording(&f, 1);
	put_head(&f, 79, 13);
	put(&f, "odd!!", 5);
	put_sample(&f, 7, 9);
	assert_int_equal(samples_of(&f, 0), 2);
}

static void aux_areas_are_passed_over(void **state)
{
	struct file f = { 0 };
	struct perfdata_reader *r;
	char *area = calloc(1, 1 << 20);
	int rc;

	(void)state;
	put_recording(&f, 1);
	put_head(&f, AUXTRACE, 48);
	put64(&f, 1 << 20);
	for (int i = 0; i < 4; i++)
		put64(&f, 0);
	put(&f, area, 1 << 20);
	put_sample(&f, 7, 9);
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(read_samples(r, &rc), 2);
	assert_int_equal(perfdata_counts(r)->aux_bytes, 1 << 20);
	perfdata_reader_close(r);
	f.n -= 30;
	r = open_bytes(&f);
	read_samples(r, &rc);
	assert_int_equal(rc, -1);
	assert_non_null(strstr(fault.text, "an AUX area of 1048576 bytes"));
	perfdata_reader_close(r);
	free(area);
	free(f.bytes);
}

/* ---- what can't be ------------------------------------------------------------ */

static void heads_that_lie(void **state)
{
	struct file f = { 0 };
	struct head h;

	(void)state;
	put(&f, "PERFILE2", 8);
	refused(&f, "it has 8 bytes");
	put(&f, "PERFILE3\x10\0\0\0\0\0\0\0", 16);
	refused(&f, "this is not a recording: perf.data begins");
	put(&f, "PERFILE2\x11\0\0\0\0\0\0\0", 16);
	refused(&f, "a header of 17 bytes");
	put_pipe_head(&f);
	refused(&f, "no events");
	h = make_head(0, ATTRS_AT, ATTR_SIZE, DATA_AT, 48);
	put_file(&f, &h, 0, 0);
	refused(&f, "the header says that an event takes 0 bytes");
	h = make_head(ATTR_SIZE, ATTRS_AT, UINT64_C(1) << 60, DATA_AT, 48);
	put_file(&f, &h, 0, 0);
	refused(&f, "places the events at 0x68");
	h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, ATTRS_AT + 8, 48);
	put_file(&f, &h, 0, 0);
	refused(&f, "over the events");
	h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, 8, 48);
	put_file(&f, &h, 0, 0);
	refused(&f, "over the header itself");
	h = make_head(ATTR_SIZE, 16, ATTR_SIZE, DATA_AT, 48);
	put_file(&f, &h, 0, 0);
	refused(&f, "over the header itself");
	h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 48);
	put_file(&f, &h, 104, UINT64_C(1) << 60);
	refused(&f, "places an event's ids at 0x68");
	put_file(&f, &h, 104, 7);
	refused(&f, "an event's ids");
	put_pipe_head(&f);
	put_head(&f, ATTR, 16);
	put64(&f, 0);
	refused(&f, "an event of 64 bytes in a record of 16");
}

static void an_id_of_two_events(void **state)
{
	struct file f = { 0 };

	(void)state;
	put_pipe_head(&f);
	put_attr(&f, 0, 7);
	put_attr(&f, 1, 7);
	refused(&f, "two events have the id 7");
}

/* A listener's id lies behind the body, where the kernel says a size that is too large. */
static void whose_a_record_is_that_says_too_large_a_size(void **state)
{
	const uint64_t words[] = { 0x1000, 64, 0x78, /* sample_id: */ 20, 8, /* of another one: */ 10, 7 };
	struct { struct perf_event_header head; uint64_t body[sizeof(words) / 8]; } turned;
	const struct pev_format fmt = { .sample_type = TYPE, .sample_id_all = true };
	const struct perf_event_header *rec;
	struct file f = { 0 };
	struct perfdata_reader *r;

	(void)state;
	put_recording(&f, 0);
	put_head(&f, PERF_RECORD_KSYMBOL, 8 + sizeof(words));
	put(&f, words, sizeof(words));
	put_sample(&f, 7, 30);
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(perfdata_next(r, &rec, &fault), 1);
	assert_int_equal(perfdata_event_of(r, rec), 1);
	assert_int_equal(perfdata_next(r, &rec, &fault), 1);
	assert_int_equal(rec->type, PERF_RECORD_SAMPLE);
	perfdata_reader_close(r);
	/* of the other byte order its words are turned, and no others */
	memcpy(&turned, f.bytes + f.n - 24 - sizeof(turned), sizeof(turned));
	assert_true(swap_record(&turned.head, &fmt));
	assert_int_equal(turned.body[3], bswap_64(20));
	assert_int_equal(turned.body[4], bswap_64(8));
	assert_int_equal(turned.body[6], 7);
	free(f.bytes);
}

static void put_attr_of(struct file *f, uint64_t id, size_t n)
{
	struct perf_event_attr attr = an_attr(TYPE);

	put_head(f, ATTR, 8 + attr.size + 8 * n);
	put(f, &attr, attr.size);
	for (size_t i = 0; i < n; i++)
		put64(f, id + i);
}

/* sched:sched_switch//alias=a/,sched:sched_switch//alias=b/ */
static void what_was_opened_twice_is_two_events(void **state)
{
	struct file f = { 0 };
	struct perfdata_reader *r;
	int rc;

	(void)state;
	put_pipe_head(&f);
	put_attr_of(&f, 7, 1);
	put_attr_of(&f, 8, 1);
	put_sample(&f, 8, 1);
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(perfdata_events(r), 2);
	assert_int_equal(perfdata_event(r, 0)->ids[0], 7);
	assert_int_equal(perfdata_event(r, 1)->ids[0], 8);
	assert_int_equal(read_samples(r, &rc), 1);
	perfdata_reader_close(r);
	free(f.bytes);
}

/* As perf does now and then where it writes into a pipe. */
static void an_event_that_comes_again(void **state)
{
	struct file f = { 0 };
	struct perfdata_reader *r;
	int rc;

	(void)state;
	put_pipe_head(&f);
	put_attr_of(&f, 7, 2);
	put_attr_of(&f, 9, 1);
	put_attr_of(&f, 7, 2);
	put_attr_of(&f, 9, 2);
	put_sample(&f, 10, 1);
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(perfdata_events(r), 2);
	assert_int_equal(perfdata_event(r, 0)->nids, 2);
	assert_int_equal(perfdata_event(r, 1)->nids, 2);
	assert_int_equal(read_samples(r, &rc), 1);
	perfdata_reader_close(r);
	free(f.bytes);
}

static void ids_that_fill_a_record_go_on(void **state)
{
	enum { FULL = 4096 };
	struct file f = { 0 };
	struct perfdata_reader *r;

	(void)state;
	put_pipe_head(&f);
	put_attr_of(&f, 10, FULL);
	put_attr_of(&f, 10 + FULL, 2);
	put_attr_of(&f, 7, 1);
	put_sample(&f, 7, 1);
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(perfdata_events(r), 2);
	assert_int_equal(perfdata_event(r, 0)->nids, FULL + 2);
	assert_int_equal(perfdata_event(r, 1)->nids, 1);
	perfdata_reader_close(r);
	free(f.bytes);
}

/* Numbers whose product with a constant that anybody can read has the same upper half: with that
 * for a hash, each new one would meet all others, and these take hours. */
static void ids_that_were_chosen_to_collide(void **state)
{
	const uint64_t inverse = UINT64_C(0xf1de83e19937733d);   /* of 0x9e3779b97f4a7c15 */
	enum { EACH = 4096, RECORDS = 128 };
	struct perf_event_attr attr = an_attr(TYPE);
	struct file f = { 0 };

	(void)state;
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

static void a_file_and_one_that_nobody_finished(void **state)
{
	struct head h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 48);
	struct file f = { 0 };

	(void)state;
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
	struct perfdata_reader *r;
	struct file f = { 0 };
	int rc;

	h.words[9] = 1 << HOSTNAME | 1 << RELEASE;
	put_file(&f, &h, 0, 0);
	put64(&f, TEXTS_AT);
	put64(&f, TEXT_SIZE);
	put64(&f, at);
	put64(&f, size);
	put(&f, "\10\0\0\0a host\0\0" "\10\0\0\0release", 2 * TEXT_SIZE);
	assert_true(n <= f.n);
	f.n = n;
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(read_samples(r, &rc), 2);
	assert_int_equal(rc, words ? -1 : 0);
	assert_int_equal(!perfdata_info(r)->osrelease, words != NULL);
	if (words && !strstr(fault.text, words))
		fail_msg("%s\nexpected: %s", fault.text, words);
	if (n > TEXTS_AT)
		assert_string_equal(perfdata_info(r)->hostname, "a host");
	perfdata_reader_close(r);
	free(f.bytes);
}

/* All else is read, and the end says so. */
static void features_that_lie(void **state)
{
	enum { WHOLE = TEXTS_AT + 2 * TEXT_SIZE };

	(void)state;
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

static void every_cut_is_told(void **state)
{
	struct file whole = { 0 };
	size_t one_event;

	(void)state;
	put_pipe_head(&whole);
	put_attr(&whole, 0, 7);
	one_event = whole.n;
	put_attr(&whole, 1, 8);
	for (uint64_t i = 0; i < 3; i++)
		put_sample(&whole, 7 + i % 2, i);
	for (size_t n = 0; n < whole.n; n++) {
		struct file f = { 0 };
		size_t records = whole.n - 72, have = n > records ? (n - records) / 24 : 0;
		struct perfdata_reader *r;
		int rc;

		put(&f, whole.bytes, n);
		r = open_bytes(&f);
		if (r) {
			assert_int_equal(read_samples(r, &rc), have);
			assert_int_equal(rc, n == one_event || (n >= records && (n - records) % 24 == 0) ? 0 : -1);
			perfdata_reader_close(r);
		}
		assert_true(r || fault.exit_code == EXIT_FAILED);
		free(f.bytes);
	}
	free(whole.bytes);
}

/* Of a record at `at` that has none; that so many samples are read all the same, and bytes are not. */
static void passed_over(struct file *f, size_t at, uint64_t samples, uint64_t bytes)
{
	struct perfdata_reader *r = open_bytes(f);
	char text[80];
	int rc;

	assert_non_null(r);
	assert_int_equal(read_samples(r, &rc), samples);
	assert_int_equal(rc, -1);
	snprintf(text, sizeof(text), "at offset %#zx: a record of type 9 has a size of 0 bytes", at);
	assert_non_null(strstr(fault.text, text));
	assert_int_equal(perfdata_counts(r)->damaged_bytes, bytes);
	perfdata_reader_close(r);
	free(f->bytes);
	*f = (struct file){ 0 };
}

static size_t put_damage(struct file *f)
{
	put_recording(f, 5);
	put_head(f, PERF_RECORD_SAMPLE, 0);
	return f->n - 8;
}

/* It goes on where records lie one behind the other, which heads among other bytes don't. */
static void damage_is_passed_over(void **state)
{
	struct file f = { 0 };
	size_t at;

	(void)state;
	at = put_damage(&f);
	for (uint64_t i = 0; i < 3; i++)
		put_sample(&f, 7, i);
	passed_over(&f, at, 8, 8);
	at = put_damage(&f);
	put_sample(&f, 9, 1);   /* an id of no event */
	put_head(&f, PERF_RECORD_EXIT, 48);
	put_head(&f, 0, 8);
	put_head(&f, PERF_RECORD_COMM, 12);
	put_sample(&f, 8, 2);
	put64(&f, 0);
	for (uint64_t i = 0; i < 4; i++)
		put_sample(&f, 7 + i % 2, i);
	passed_over(&f, at, 9, 8 + 24 + 8 + 8 + 8 + 24 + 8);
}

/* One record alone is enough at the end, if it is of an event; and a round's end is. */
static void damage_up_to_a_round(void **state)
{
	struct file f = { 0 };
	size_t at;

	(void)state;
	at = put_damage(&f);
	put_head(&f, ROUND + 40, 8);
	put_head(&f, ROUND, 8);
	put_sample(&f, 7, 6);
	passed_over(&f, at, 6, 16);
	at = put_damage(&f);
	put_head(&f, ROUND + 40, 8);
	put_sample(&f, 9, 6);
	passed_over(&f, at, 5, 40);
	at = put_damage(&f);
	put_head(&f, ROUND + 40, 8);
	put_sample(&f, 7, 6);
	passed_over(&f, at, 6, 16);
}

/* As far as is looked ahead: of records of 60 KiB that is one. */
static void damage_before_large_records(void **state)
{
	enum { NR = 7500, N = 20 };
	struct perf_event_attr attr = an_attr(TYPE | PERF_SAMPLE_CALLCHAIN);
	struct file f = { 0 };
	size_t at;

	(void)state;
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
	passed_over(&f, at, N, 8);
}

/* What another recorder means by a type of perf's is its own: no area of 3e18 bytes lies behind it. */
static void types_of_other_recorders(void **state)
{
	const uint64_t words = UINT64_C(3000000000000000000);
	struct file f = { 0 };
	struct perfdata_reader *r;
	int rc;

	(void)state;
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
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(read_samples(r, &rc), 5 + 12 + 4);
	assert_int_equal(rc, 0);
	assert_int_equal(perfdata_counts(r)->own, 13);
	assert_int_equal(perfdata_counts(r)->aux_bytes, 0);
	perfdata_reader_close(r);
	free(f.bytes);
}

/* The second of ten samples says that it has so many bytes. */
static void a_size_that_lies(uint16_t size, uint64_t left, uint64_t bytes, const char *words)
{
	struct file f = { 0 };
	struct perfdata_reader *r;
	size_t at;
	int rc;

	put_recording(&f, 1);
	at = f.n;
	for (uint64_t i = 0; i < 9; i++)
		put_sample(&f, 7, 5000000000 + i);
	memcpy(f.bytes + at + 6, &size, 2);
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(read_samples(r, &rc), left);
	assert_int_equal(rc, -1);
	if (!strstr(fault.text, words))
		fail_msg("%s\nexpected: %s", fault.text, words);
	assert_int_equal(perfdata_counts(r)->damaged_bytes, bytes);
	assert_int_equal(perfdata_counts(r)->damaged_places, 1);
	assert_int_equal(perfdata_counts(r)->damaged.to, 5000000001);
	perfdata_reader_close(r);
	free(f.bytes);
}

/* Only that one is lost, wherever the size says that the next is. */
static void sizes_that_lie(void **state)
{
	(void)state;
	a_size_that_lies(3, 9, 24, "a record of type 9 has a size of 3 bytes");
	a_size_that_lies(29, 9, 24, "type 9 and 29 bytes is damaged: no recorder writes such a head");
	a_size_that_lies(16, 9, 24, "type 9 and 16 bytes is damaged: no record follows it");
	a_size_that_lies(24 * 3, 9, 24, "type 9 and 72 bytes is damaged: others begin within it");
	a_size_that_lies(24 * 9, 9, 24, "others begin within it; 24 bytes were passed over");
	a_size_that_lies(40, 9, 24, "others begin within it");
	a_size_that_lies(60000, 9, 24, "has 60000 bytes, but the recording ends after 216");
	a_size_that_lies(32, 9, 24, "24 bytes were passed over, at 5.000000001 s");
}

/* The size of the third sample lies, and the times of its neighbours are overwritten. */
static void times_that_lie(uint64_t before, uint64_t behind, uint64_t from, uint64_t to)
{
	const uint64_t times[] = { 5000000000, before, 5000000002, behind, 5000000004, 5000000005 };
	const uint16_t size = 3;
	struct file f = { 0 };
	struct perfdata_reader *r;
	size_t at;
	int rc;

	put_recording(&f, 1);
	at = f.n;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		put_sample(&f, 7, times[i]);
	memcpy(f.bytes + at + 48 + 6, &size, 2);
	r = open_bytes(&f);
	assert_non_null(r);
	assert_int_equal(read_samples(r, &rc), 6);
	assert_int_equal(rc, -1);
	assert_int_equal(perfdata_counts(r)->damaged.from, from);
	assert_int_equal(perfdata_counts(r)->damaged.to, to);
	assert_int_equal(strstr(fault.text, "passed over, ") != NULL, to != 0);
	perfdata_reader_close(r);
	free(f.bytes);
}

static void times_that_are_none(void **state)
{
	const uint64_t a = 5000000001, b = 5000000003, garbage = UINT64_C(0x4141414141414141);

	(void)state;
	times_that_lie(a, b, a, b);
	times_that_lie(UINT64_MAX, b, b, b);
	times_that_lie(a, UINT64_MAX, a, 5000000004);
	times_that_lie(a, garbage, 0, 0);
	times_that_lie(garbage, b, 0, 0);
}

static void a_file_that_shrinks(void **state)
{
	struct head h = make_head(ATTR_SIZE, ATTRS_AT, ATTR_SIZE, DATA_AT, 48 + 24 * 100000);
	const struct perf_event_header *rec;
	struct file f = { 0 };
	struct perfdata_reader *r;
	int fd, rc, n = 0;

	(void)state;
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
	perfdata_reader_close(r);
	close(fd);
	free(f.bytes);
}

/* ---- many at a time ------------------------------------------------------------ */

enum { PINS = 64 };

struct pinned {
	void *memory[PINS];
	const struct perf_event_header *first[PINS];
	uint64_t number[PINS], n;
};

/* Goes on to the window's end by itself; the number of records that it passed. */
static uint64_t pass_all(struct perfdata_reader *r, const struct perf_event_header *rec)
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

static void look_again(struct perfdata_reader *r, const struct pinned *p)
{
	for (uint64_t i = 0; i < p->n; i++) {
		assert_int_equal(((const uint64_t *)(const void *)(p->first[i] + 1))[1], p->number[i]);
		perfdata_unpin(r, p->memory[i]);
	}
	assert_int_equal(perfdata_pinned(r), 0);
}

/* Records of the file stay where they are as long as they are pinned. */
static void what_is_pinned_stays(void **state)
{
	struct file f = { 0 };
	struct pinned p = { .n = 0 };
	const struct perf_event_header *rec;
	struct perfdata_reader *r;
	uint64_t n = 0;

	(void)state;
	put_recording(&f, 100000);
	r = open_bytes(&f);
	assert_non_null(r);
	for (; perfdata_next(r, &rec, &fault) > 0; p.n++) {
		assert_true(p.n < PINS);
		p.memory[p.n] = perfdata_pin(r);
		p.first[p.n] = rec;
		p.number[p.n] = n;
		assert_int_equal(((const uint64_t *)(const void *)(rec + 1))[1], n);
		n += 1 + pass_all(r, rec);
		assert_int_equal(perfdata_offset(r), f.n - (100000 - n + 1) * 24);
	}
	assert_true(p.n > 5 && perfdata_pinned(r) > 2000000);
	assert_int_equal(n, 100000);
	assert_int_equal(perfdata_counts(r)->records, n);
	look_again(r, &p);
	perfdata_reader_close(r);
	free(f.bytes);
}

static void damage_can_be_interrupted(void **state)
{
	static const char zeros[1 << 20];
	struct file f = { 0 };

	(void)state;
	put_recording(&f, 1);
	put(&f, zeros, sizeof(zeros));
	put_sample(&f, 7, 2);
	stops_within_zeros(&f, sizeof(zeros));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_and_whose_they_are),
		cmocka_unit_test(what_the_writer_wrote),
		cmocka_unit_test(what_perf_says_of_the_machine),
		cmocka_unit_test(what_follows_an_odd_size_is_aligned_again),
		cmocka_unit_test(aux_areas_are_passed_over),
		cmocka_unit_test(heads_that_lie),
		cmocka_unit_test(an_id_of_two_events),
		cmocka_unit_test(whose_a_record_is_that_says_too_large_a_size),
		cmocka_unit_test(what_was_opened_twice_is_two_events),
		cmocka_unit_test(an_event_that_comes_again),
		cmocka_unit_test(ids_that_fill_a_record_go_on),
		cmocka_unit_test(ids_that_were_chosen_to_collide),
		cmocka_unit_test(a_file_and_one_that_nobody_finished),
		cmocka_unit_test(features_that_lie),
		cmocka_unit_test(every_cut_is_told),
		cmocka_unit_test(damage_is_passed_over),
		cmocka_unit_test(damage_can_be_interrupted),
		cmocka_unit_test(damage_up_to_a_round),
		cmocka_unit_test(damage_before_large_records),
		cmocka_unit_test(types_of_other_recorders),
		cmocka_unit_test(sizes_that_lie),
		cmocka_unit_test(times_that_are_none),
		cmocka_unit_test(a_file_that_shrinks),
		cmocka_unit_test(what_is_pinned_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
