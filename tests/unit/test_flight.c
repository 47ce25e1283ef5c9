/* SPDX-License-Identifier: Apache-2.0 */
/* Records kept in memory: what is dropped, what stands, what is taken out. */
#include "cmocka_all.h"

#include "perfdata/write/flight.h"
#include "perfdata/write/format.h"
#include "perfdata/write/standing.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

struct sample {
	struct perf_event_header header;
	uint64_t identifier, ip;
	uint32_t pid, tid;
	uint64_t time, cpu, number;
};

struct trailer {
	uint32_t pid, tid;
	uint64_t time, cpu, identifier;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[8];
	struct trailer id;
};

struct fork {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	struct trailer id;
};

struct mapping {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff, file[3];
	uint32_t prot, flags;
	char name[8];
	struct trailer id;
};

#define HEAD(kind, bits, object) { .type = (kind), .misc = (bits), .size = sizeof(object) }

static struct sample sample(uint64_t time, uint64_t number)
{
	return (struct sample){ .header = HEAD(PERF_RECORD_SAMPLE, 0, struct sample), .time = time, .number = number };
}

static struct comm comm(uint64_t time, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	struct comm c = {
		.header = HEAD(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, struct comm),
		.pid = pid, .tid = tid, .id.time = time,
	};

	memcpy(c.comm, name, strlen(name));
	return c;
}

static struct fork task(uint32_t type, uint64_t time, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	return (struct fork){ .header = HEAD(type, 0, struct fork), .pid = pid, .ppid = ppid, .tid = tid,
			      .ptid = ptid, .time = time, .id.time = time };
}

static struct mapping mapping(uint64_t time, uint32_t pid, uint64_t addr, uint64_t len, const char *name)
{
	struct mapping m = { .header = HEAD(PERF_RECORD_MMAP2, 0, struct mapping), .pid = pid, .tid = pid,
			     .addr = addr, .len = len, .id.time = time };

	memcpy(m.name, name, strlen(name));
	return m;
}

/* ---- standing ------------------------------------------------------------------- */

#define PUT(s, object)                                                                             \
	do {                                                                                       \
		__auto_type record = (object);                                                     \
		assert_true(standing_takes(&record.header));                                       \
		standing_put(s, &record.header);                                                   \
	} while (0)

/* KSYMBOL. */
struct code {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[8];
};

/* "c1:name" for a COMM, "f2<1" for a FORK, "m1:name" for a mapping, "k100" for code at 0x100. */
static const char *told(struct standing *s)
{
	static char text[1024];
	size_t size, at = 0, n = 0;
	const char *data = standing_records(s, &size);

	text[0] = '\0';
	for (; at < size; at += ((const struct perf_event_header *)(data + at))->size) {
		const struct perf_event_header *h = (const void *)(data + at);
		const struct comm *c = (const void *)h;
		const struct fork *f = (const void *)h;
		const struct mapping *m = (const void *)h;

		if (h->type == PERF_RECORD_COMM)
			n += (size_t)sprintf(text + n, " c%u:%s", c->tid, c->comm);
		else if (h->type == PERF_RECORD_FORK)
			n += (size_t)sprintf(text + n, " f%u<%u", f->tid, f->ptid);
		else if (h->type == PERF_RECORD_EXIT)
			n += (size_t)sprintf(text + n, " e%u", f->tid);
		else if (h->type == PERF_RECORD_KSYMBOL)
			n += (size_t)sprintf(text + n, " k%" PRIx64, ((const struct code *)h)->addr);
		else
			n += (size_t)sprintf(text + n, " m%u:%s", m->pid, m->name);
	}
	return text;
}

static struct code code(uint64_t addr, bool gone)
{
	return (struct code){ { PERF_RECORD_KSYMBOL, 0, sizeof(struct code) }, addr, 16, 1, gone, "bpf" };
}

static void code_stands_until_it_goes(void **state)
{
	struct standing *s = standing_new();

	PUT(s, code(0x100, false));
	PUT(s, code(0x200, false));
	PUT(s, code(0x300, false));
	PUT(s, code(0x100, true));
	PUT(s, code(0x300, true));
	PUT(s, code(0x300, false));
	assert_string_equal(told(s), " k200 k300");
	standing_free(s);
}

static void the_last_name_stands(void **state)
{
	struct standing *s = standing_new();

	PUT(s, comm(1, 1, 1, "one", false));
	PUT(s, comm(2, 1, 2, "thread", false));
	PUT(s, comm(3, 1, 1, "two", false));
	assert_string_equal(told(s), " c2:thread c1:two");
	standing_free(s);
}

static void who_ended_is_forgotten(void **state)
{
	struct standing *s = standing_new();

	PUT(s, comm(1, 1, 1, "one", true));
	PUT(s, mapping(2, 1, 0x1000, 0x1000, "prog"));
	PUT(s, comm(3, 2, 2, "other", false));
	PUT(s, task(PERF_RECORD_EXIT, 4, 1, 9, 1, 9));
	assert_string_equal(told(s), " c2:other");
	PUT(s, comm(5, 1, 1, "again", false));      /* the number comes again */
	assert_string_equal(told(s), " c2:other c1:again");
	standing_free(s);
}

static void a_thread_that_ends_takes_no_mappings_along(void **state)
{
	struct standing *s = standing_new();

	PUT(s, mapping(2, 1, 0x1000, 0x1000, "prog"));
	PUT(s, comm(3, 1, 7, "thread", false));
	PUT(s, task(PERF_RECORD_EXIT, 4, 1, 1, 7, 1));
	assert_string_equal(told(s), " m1:prog");
	standing_free(s);
}

static void an_exec_ends_older_mappings(void **state)
{
	struct standing *s = standing_new();

	PUT(s, mapping(1, 1, 0x1000, 0x1000, "old"));
	PUT(s, comm(2, 1, 1, "new", true));
	PUT(s, mapping(3, 1, 0x1000, 0x1000, "new"));
	assert_string_equal(told(s), " c1:new m1:new");
	standing_free(s);
}

/* The child has its parent's mappings and name of then, whatever became of the parent. */
static void a_child_needs_what_its_parent_had(void **state)
{
	struct standing *s = standing_new();

	PUT(s, comm(1, 1, 1, "parent", true));
	PUT(s, mapping(2, 1, 0x1000, 0x1000, "prog"));
	PUT(s, task(PERF_RECORD_FORK, 3, 2, 1, 2, 1));
	PUT(s, comm(4, 1, 1, "else", true));
	PUT(s, mapping(5, 1, 0x1000, 0x1000, "else"));
	PUT(s, task(PERF_RECORD_EXIT, 6, 1, 9, 1, 9));
	assert_string_equal(told(s), " c1:parent m1:prog f2<1 e1");
	PUT(s, comm(7, 2, 2, "child", true));       /* its own now */
	assert_string_equal(told(s), " c2:child");
	standing_free(s);
}

static void what_was_mapped_over_goes(void **state)
{
	struct standing *s = standing_new();

	PUT(s, mapping(1, 1, 0x1000, 0x1000, "small"));
	PUT(s, mapping(2, 1, 0x1000, 0x3000, "large"));
	PUT(s, mapping(3, 1, 0x1000, 0x2000, "last"));
	PUT(s, mapping(4, 2, 0x1000, 0x9000, "others"));
	PUT(s, mapping(5, UINT32_MAX, 0x1000, 0x1000, "kernel"));
	PUT(s, mapping(6, UINT32_MAX, 0x1000, 0x1000, "kernel"));
	assert_string_equal(told(s), " m1:large m1:last m2:others m4294967295:kernel m4294967295:kernel");
	standing_free(s);
}

static void memory_is_bounded_by_who_is_there(void **state)
{
	struct standing *s = standing_new();
	size_t size;

	for (uint32_t i = 10; i < 200000; i++) {
		PUT(s, task(PERF_RECORD_FORK, i, i, 1, i, 1));
		PUT(s, comm(i, i, i, "short", true));
		PUT(s, mapping(i, i, 0x1000, 0x1000, "prog"));
		PUT(s, task(PERF_RECORD_EXIT, i, i, 1, i, 1));
		PUT(s, mapping(i, 5, 0x1000, 0x1000, "again"));
	}
	standing_records(s, &size);
	assert_int_equal(size, sizeof(struct mapping));
	standing_free(s);
}

/* ---- flight ---------------------------------------------------------------------- */

struct seen {
	uint64_t numbers[4096];
	size_t n, rounds;
	char names[64];
};

static void see(void *ctx, const void *records, size_t size)
{
	struct seen *seen = ctx;
	const char *data = records;

	for (size_t at = 0; at < size; at += ((const struct perf_event_header *)(data + at))->size) {
		const struct perf_event_header *h = (const void *)(data + at);

		assert_true(h->size >= 8 && h->size <= size - at);
		if (h->type == PERF_RECORD_SAMPLE)
			seen->numbers[seen->n++] = ((const struct sample *)h)->number;
		else if (h->type == PERF_RECORD_COMM)
			strcat(strcat(seen->names, " "), ((const struct comm *)h)->comm);
		else if (h->type == PERFDATA_FINISHED_ROUND)
			seen->rounds++;
	}
}

#define ADD(f, object)                                                                             \
	do {                                                                                       \
		__auto_type record = (object);                                                     \
		flight_put2(f, &record, sizeof(record), NULL, 0);                                  \
	} while (0)

static struct perf_event_header finished(void)
{
	return (struct perf_event_header){ .type = PERFDATA_FINISHED_ROUND, .size = 8 };
}

static void the_span_is_taken(void **state)
{
	struct flight *f = flight_new(64 << 10);
	struct flight_taken taken;
	struct seen seen = { .n = 0 };

	ADD(f, comm(0, 1, 1, "first", false));
	ADD(f, finished());
	for (uint64_t i = 1; i <= 100; i++) {
		ADD(f, sample(i, i));
		if (i % 10 == 0)
			ADD(f, finished());
		if (i == 45)
			ADD(f, comm(45, 1, 1, "second", false));
	}
	flight_take(f, 41, 60, see, &seen, &taken);
	assert_int_equal(seen.n, 20);
	assert_int_equal(seen.numbers[0], 41);
	assert_int_equal(seen.numbers[19], 60);
	assert_int_equal(seen.rounds, 2);
	assert_string_equal(seen.names, " first second");
	assert_int_equal(taken.samples, 20);
	assert_int_equal(taken.older, 40);
	assert_int_equal(taken.overwritten, 0);
	assert_int_equal(taken.last - taken.first, 19);

	/* what came later is still there, once; and what stands then */
	seen = (struct seen){ .n = 0 };
	flight_take(f, 0, UINT64_MAX, see, &seen, &taken);
	assert_int_equal(seen.n, 40);
	assert_int_equal(seen.numbers[0], 61);
	assert_int_equal(seen.numbers[39], 100);
	assert_int_equal(taken.older, 0);
	assert_string_equal(seen.names, " second");
	flight_take(f, 0, UINT64_MAX, see, &seen, &taken);
	assert_int_equal(taken.samples, 0);
	flight_free(f);
}

static void the_oldest_make_room(void **state)
{
	enum { ROOM = 64 << 10, FIT = ROOM / sizeof(struct sample) };
	struct flight *f = flight_new(ROOM);
	struct flight_taken taken;
	static struct seen seen;

	ADD(f, comm(0, 1, 1, "first", false));
	for (uint64_t i = 1; i <= 50000; i++)
		ADD(f, sample(i, i));
	flight_take(f, 0, UINT64_MAX, see, &seen, &taken);
	assert_int_equal(seen.n, FIT);
	assert_int_equal(seen.numbers[FIT - 1], 50000);
	assert_int_equal(seen.numbers[0], 50000 - FIT + 1);
	assert_int_equal(taken.overwritten, 50000 - FIT);
	assert_string_equal(seen.names, " first");
	flight_free(f);
}

/* As a ring has them: a record that lies around its end. */
static void records_in_two_parts(void **state)
{
	struct sample three[3] = { sample(1, 1), sample(2, 2), sample(3, 3) };
	struct flight *f = flight_new(64 << 10);
	struct flight_taken taken;

	for (size_t cut = 0; cut <= sizeof(three); cut += 8) {
		struct seen seen = { .n = 0 };

		flight_put2(f, three, cut, (char *)three + cut, sizeof(three) - cut);
		flight_take(f, 0, UINT64_MAX, see, &seen, &taken);
		assert_int_equal(seen.n, 3);
		assert_int_equal(seen.numbers[0] + 10 * seen.numbers[1] + 100 * seen.numbers[2], 321);
	}
	flight_free(f);
}

static void what_is_no_record_is_left_out(void **state)
{
	struct perf_event_header bad[] = { { .type = 9, .size = 0 }, { .type = 9, .size = 4 },
					   { .type = 9, .size = 65528 }, { .type = 9, .size = 12 } };
	struct flight *f = flight_new(64 << 10);
	struct flight_taken taken;
	struct seen seen = { .n = 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		flight_put2(f, &bad[i], sizeof(*bad), NULL, 0);
	flight_take(f, 0, UINT64_MAX, see, &seen, &taken);
	assert_int_equal(seen.n, 0);
	flight_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_name_stands),
		cmocka_unit_test(code_stands_until_it_goes),
		cmocka_unit_test(who_ended_is_forgotten),
		cmocka_unit_test(a_thread_that_ends_takes_no_mappings_along),
		cmocka_unit_test(an_exec_ends_older_mappings),
		cmocka_unit_test(a_child_needs_what_its_parent_had),
		cmocka_unit_test(what_was_mapped_over_goes),
		cmocka_unit_test(memory_is_bounded_by_who_is_there),
		cmocka_unit_test(the_span_is_taken),
		cmocka_unit_test(the_oldest_make_room),
		cmocka_unit_test(records_in_two_parts),
		cmocka_unit_test(what_is_no_record_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
