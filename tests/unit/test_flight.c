/* SPDX-License-Identifier: Apache-2.0 */
/* Records kept in memory: what is dropped, what stands, what is taken out. */
#include "checks.h"

#include "perfdata/write/flight.h"
#include "perfdata/write/format.h"
#include "perfdata/write/standing.h"

#include <inttypes.h>

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

/* KSYMBOL. */
struct code {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[8];
};

union record {
	struct perf_event_header header;
	struct sample sample;
	struct comm comm;
	struct fork fork;
	struct mapping mapping;
	struct code code;
};

#define HEAD(kind, bits, object) { .type = (kind), .misc = (bits), .size = sizeof(object) }

static union record sample(uint64_t time, uint64_t number)
{
	return (union record){ .sample = { .header = HEAD(PERF_RECORD_SAMPLE, 0, struct sample), .time = time, .number = number } };
}

static union record comm(uint64_t time, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	union record r = { .comm = { .header = HEAD(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, struct comm),
				     .pid = pid, .tid = tid, .id.time = time } };

	memcpy(r.comm.comm, name, strlen(name));
	return r;
}

static union record task(uint32_t type, uint64_t time, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	return (union record){ .fork = { .header = HEAD(type, 0, struct fork), .pid = pid, .ppid = ppid, .tid = tid, .ptid = ptid,
					 .time = time, .id.time = time } };
}

static union record mapping(uint64_t time, uint32_t pid, uint64_t addr, uint64_t len, const char *name)
{
	union record r = { .mapping = { .header = HEAD(PERF_RECORD_MMAP2, 0, struct mapping), .pid = pid, .tid = pid, .addr = addr,
					.len = len, .id.time = time } };

	memcpy(r.mapping.name, name, strlen(name));
	return r;
}

static union record code(uint64_t addr, bool gone)
{
	return (union record){ .code = { HEAD(PERF_RECORD_KSYMBOL, 0, struct code), addr, 16, 1, gone, "bpf" } };
}

/* ---- standing ------------------------------------------------------------------- */

static void stand(struct standing *s, union record record)
{
	assert_true(standing_takes(&record.header));
	standing_put(s, &record.header);
}

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

#define FORK PERF_RECORD_FORK
#define EXIT PERF_RECORD_EXIT
#define KERNEL UINT32_MAX

TEST(what_stands_is_told)
{
	const struct {
		const char *what;
		union record records[7];
		const char *told;
	} rows[] = {
		{ "code stands until it goes",
		  { code(0x100, false), code(0x200, false), code(0x300, false), code(0x100, true), code(0x300, true), code(0x300, false) },
		  " k200 k300" },
		{ "the last name stands",
		  { comm(1, 1, 1, "one", false), comm(2, 1, 2, "thread", false), comm(3, 1, 1, "two", false) },
		  " c2:thread c1:two" },
		{ "who ended is forgotten",
		  { comm(1, 1, 1, "one", true), mapping(2, 1, 0x1000, 0x1000, "prog"), comm(3, 2, 2, "other", false),
		    task(EXIT, 4, 1, 9, 1, 9) },
		  " c2:other" },
		{ "the number comes again",
		  { comm(1, 1, 1, "one", true), mapping(2, 1, 0x1000, 0x1000, "prog"), comm(3, 2, 2, "other", false),
		    task(EXIT, 4, 1, 9, 1, 9), comm(5, 1, 1, "again", false) },
		  " c2:other c1:again" },
		{ "a thread that ends takes no mappings along",
		  { mapping(2, 1, 0x1000, 0x1000, "prog"), comm(3, 1, 7, "thread", false), task(EXIT, 4, 1, 1, 7, 1) },
		  " m1:prog" },
		{ "an exec ends older mappings",
		  { mapping(1, 1, 0x1000, 0x1000, "old"), comm(2, 1, 1, "new", true), mapping(3, 1, 0x1000, 0x1000, "new") },
		  " c1:new m1:new" },
		{ "a child needs what its parent had then, whatever became of the parent",
		  { comm(1, 1, 1, "parent", true), mapping(2, 1, 0x1000, 0x1000, "prog"), task(FORK, 3, 2, 1, 2, 1),
		    comm(4, 1, 1, "else", true), mapping(5, 1, 0x1000, 0x1000, "else"), task(EXIT, 6, 1, 9, 1, 9) },
		  " c1:parent m1:prog f2<1 e1" },
		{ "until it has its own",
		  { comm(1, 1, 1, "parent", true), mapping(2, 1, 0x1000, 0x1000, "prog"), task(FORK, 3, 2, 1, 2, 1),
		    comm(4, 1, 1, "else", true), mapping(5, 1, 0x1000, 0x1000, "else"), task(EXIT, 6, 1, 9, 1, 9),
		    comm(7, 2, 2, "child", true) },
		  " c2:child" },
		{ "what was mapped over goes",
		  { mapping(1, 1, 0x1000, 0x1000, "small"), mapping(2, 1, 0x1000, 0x3000, "large"), mapping(3, 1, 0x1000, 0x2000, "last"),
		    mapping(4, 2, 0x1000, 0x9000, "others"), mapping(5, KERNEL, 0x1000, 0x1000, "kernel"),
		    mapping(6, KERNEL, 0x1000, 0x1000, "kernel") },
		  " m1:large m1:last m2:others m4294967295:kernel m4294967295:kernel" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct standing *s = standing_new();

		for (size_t k = 0; k < COUNT(rows[i].records) && rows[i].records[k].header.size; k++)
			stand(s, rows[i].records[k]);
		if (strcmp(told(s), rows[i].told))
			fail_msg("%s:%s, not%s", rows[i].what, told(s), rows[i].told);
		standing_free(s);
	}
}

TEST(memory_is_bounded_by_who_is_there)
{
	struct standing *s = standing_new();
	size_t size;

	for (uint32_t i = 10; i < 200000; i++) {
		stand(s, task(FORK, i, i, 1, i, 1));
		stand(s, comm(i, i, i, "short", true));
		stand(s, mapping(i, i, 0x1000, 0x1000, "prog"));
		stand(s, task(EXIT, i, i, 1, i, 1));
		stand(s, mapping(i, 5, 0x1000, 0x1000, "again"));
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

static struct flight *flight;
static struct flight_taken taken;
static struct seen seen;

static void fly(union record record)
{
	flight_put2(flight, &record, record.header.size, NULL, 0);
}

static void take(uint64_t from, uint64_t to)
{
	memset(&seen, 0, sizeof(seen));
	flight_take(flight, from, to, see, &seen, &taken);
}

static union record finished(void)
{
	return (union record){ .header = { .type = PERFDATA_FINISHED_ROUND, .size = 8 } };
}

enum { ROOM = 64 << 10 };

static int set_up(void **state)
{
	flight = flight_new(ROOM);
	return 0;
}

static int tear_down(void **state)
{
	flight_free(flight);
	return 0;
}

TEST_WITH(the_span_is_taken, set_up, tear_down)
{
	fly(comm(0, 1, 1, "first", false));
	fly(finished());
	for (uint64_t i = 1; i <= 100; i++) {
		fly(sample(i, i));
		if (i % 10 == 0)
			fly(finished());
		if (i == 45)
			fly(comm(45, 1, 1, "second", false));
	}
	take(41, 60);
	ARE(NUMBERS(seen.n, seen.numbers[0], seen.numbers[19], seen.rounds), NUMBERS(20, 41, 60, 2));
	assert_string_equal(seen.names, " first second");
	ARE(NUMBERS(taken.samples, taken.older, taken.overwritten, taken.last - taken.first), NUMBERS(20, 40, 0, 19));

	/* what came later is still there, once; and what stands then */
	take(0, UINT64_MAX);
	ARE(NUMBERS(seen.n, seen.numbers[0], seen.numbers[39], taken.older), NUMBERS(40, 61, 100, 0));
	assert_string_equal(seen.names, " second");
	take(0, UINT64_MAX);
	assert_int_equal(taken.samples, 0);
}

TEST_WITH(the_oldest_make_room, set_up, tear_down)
{
	enum { FIT = ROOM / sizeof(struct sample) };

	fly(comm(0, 1, 1, "first", false));
	for (uint64_t i = 1; i <= 50000; i++)
		fly(sample(i, i));
	take(0, UINT64_MAX);
	ARE(NUMBERS(seen.n, seen.numbers[FIT - 1], seen.numbers[0], taken.overwritten),
	    NUMBERS(FIT, 50000, 50000 - FIT + 1, 50000 - FIT));
	assert_string_equal(seen.names, " first");
}

/* As a ring has them: a record that lies around its end. */
TEST_WITH(records_in_two_parts, set_up, tear_down)
{
	struct sample three[3] = { sample(1, 1).sample, sample(2, 2).sample, sample(3, 3).sample };

	for (size_t cut = 0; cut <= sizeof(three); cut += 8) {
		flight_put2(flight, three, cut, (char *)three + cut, sizeof(three) - cut);
		take(0, UINT64_MAX);
		ARE(NUMBERS(seen.n, seen.numbers[0] + 10 * seen.numbers[1] + 100 * seen.numbers[2]), NUMBERS(3, 321));
	}
}

TEST_WITH(what_is_no_record_is_left_out, set_up, tear_down)
{
	struct perf_event_header bad[] = { { .type = 9, .size = 0 }, { .type = 9, .size = 4 },
					   { .type = 9, .size = 65528 }, { .type = 9, .size = 12 } };

	for (size_t i = 0; i < COUNT(bad); i++)
		flight_put2(flight, &bad[i], sizeof(*bad), NULL, 0);
	take(0, UINT64_MAX);
	assert_int_equal(seen.n, 0);
}
