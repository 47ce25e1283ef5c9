/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters read without a system call. The event's control page says which hardware counter to
 * read and what to add to it. A sequence count changes when both do not belong together any more:
 * the thread may be scheduled, also on another CPU, between any two instructions.
 * perf_event_open(2), "cap_user_rdpmc".
 */
#include "perfevent/open/self.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- CPU-specific part ------------------------------------------------------------ */

#if defined(__x86_64__) || defined(__i386__)

static uint64_t read_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return low | (uint64_t)high << 32;
}

static uint64_t read_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return low | (uint64_t)high << 32;
}

#elif defined(__aarch64__)

/* The register's name is part of the instruction, hence a case for each. */
#define CASE(n) \
	case n: \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(v)); \
		break;

static uint64_t read_counter(uint32_t index)
{
	uint64_t v = 0;

	switch (index) {
	CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
	CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15)
	CASE(16) CASE(17) CASE(18) CASE(19) CASE(20) CASE(21) CASE(22) CASE(23)
	CASE(24) CASE(25) CASE(26) CASE(27) CASE(28) CASE(29) CASE(30)
	case 31:   /* the kernel's number for the cycle counter */
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v));
		break;
	}
	return v;
}

static uint64_t read_cycles(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}

#elif defined(__riscv) && __riscv_xlen == 64

#define CASE(n) \
	case n: \
		__asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(v)); \
		break;

static uint64_t read_counter(uint32_t index)
{
	uint64_t v = 0;

	switch (index) {
	CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
	CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15)
	CASE(16) CASE(17) CASE(18) CASE(19) CASE(20) CASE(21) CASE(22) CASE(23)
	CASE(24) CASE(25) CASE(26) CASE(27) CASE(28) CASE(29) CASE(30) CASE(31)
	}
	return v;
}

static uint64_t read_cycles(void)
{
	uint64_t v;

	__asm__ volatile("rdtime %0" : "=r"(v));
	return v;
}

#else
#define read_counter NULL
#define read_cycles NULL
#endif

const struct pev_self_cpu pev_self_this_cpu_ = { read_counter, read_cycles, pev_self_ns_ };

/* ---- the page ----------------------------------------------------------------------- */

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define barrier() __asm__ volatile("" ::: "memory")

/* ns since the page was written, from the CPU's clock: ns = cycles * mult >> shift. Computed in
 * two parts, since cycles * mult may overflow. */
static uint64_t ns_since(const struct perf_event_mmap_page *page, uint64_t cycles, bool is_short)
{
	uint16_t shift = READ_ONCE(page->time_shift);
	uint32_t mult = READ_ONCE(page->time_mult);
	uint64_t whole, rest;

	if (is_short) {   /* the clock has fewer than 64 bits and may have wrapped. Linux 5.9 */
		uint64_t base = READ_ONCE(page->time_cycles);

		cycles = base + ((cycles - base) & READ_ONCE(page->time_mask));
	}
	if (shift > 63)
		return 0;
	whole = cycles >> shift;
	rest = cycles & (((uint64_t)1 << shift) - 1);
	return READ_ONCE(page->time_offset) + whole * mult + ((rest * mult) >> shift);
}

/* The hardware counter has pmc_width bits and is signed: it counts up to the overflow. */
static uint64_t sign_extend(uint64_t value, uint16_t width)
{
	if (width == 0 || width > 64)
		return value;
	return (uint64_t)((int64_t)(value << (64 - width)) >> (64 - width));
}

/* The capability bits share a word, which is read once. */
struct caps {
	bool rdpmc, time, time_short;
};

static struct caps caps_of(const struct perf_event_mmap_page *page)
{
	struct perf_event_mmap_page word;

	word.capabilities = READ_ONCE(page->capabilities);
	return (struct caps){ word.cap_user_rdpmc, word.cap_user_time, word.cap_user_time_short };
}

/*
 * The event is on the PMU now (index != 0). Without a clock, the times are those of the page's
 * last update, as in libperf. If both are equal, the event was always on the PMU until then, and
 * has been since: the times are old, but their ratio is right. If they differ, only the kernel
 * knows the ratio.
 */
static bool take_times(const struct perf_event_mmap_page *page, const struct pev_self_cpu *cpu,
		       const struct caps *caps, struct pev_count *count)
{
	bool clock = caps->time && cpu->cycles;
	uint64_t since = clock ? ns_since(page, cpu->cycles(), caps->time_short) : 0;

	count->time_enabled = READ_ONCE(page->time_enabled) + since;
	count->time_running = READ_ONCE(page->time_running) + since;
	count->stale = !clock;
	return clock || count->time_enabled == count->time_running;
}

/* One attempt; the result is valid only if the sequence count has not changed. */
static enum pev_self_how try_page(const struct perf_event_mmap_page *page,
				  const struct pev_self_cpu *cpu, bool times,
				  struct pev_count *count)
{
	struct caps caps = caps_of(page);
	uint32_t index = READ_ONCE(page->index);

	if (!caps.rdpmc || !cpu->counter)
		return SELF_NO_RDPMC;
	if (!index)   /* not on the PMU now; software events never are */
		return SELF_OFF_PMU;
	count->stale = false;
	if (times && !take_times(page, cpu, &caps, count))
		return SELF_NO_TIME;
	count->timed = times;
	count->value = (uint64_t)READ_ONCE(page->offset) +
		       sign_extend(cpu->counter(index - 1), READ_ONCE(page->pmc_width));
	return count->stale ? SELF_STALE : SELF_FAST;
}

enum pev_self_how pev_self_page_(const struct perf_event_mmap_page *page,
				 const struct pev_self_cpu *cpu, bool times,
				 struct pev_count *count)
{
	/* The kernel updates the page with interrupts disabled on this CPU, so an odd count is
	 * only seen from another CPU, and not every one of a few attempts can be interrupted. */
	for (int tries = 0; tries < 16; tries++) {
		uint32_t seq = READ_ONCE(page->lock);
		enum pev_self_how how;

		barrier();
		how = try_page(page, cpu, times, count);
		barrier();
		if (!(seq & 1) && READ_ONCE(page->lock) == seq)
			return how;
	}
	return SELF_OFF_PMU;
}

void pev_self_age_(struct pev_sighting *seen, const struct perf_event_mmap_page *page,
		   const struct pev_self_cpu *cpu, uint32_t seq, struct pev_count *count)
{
	uint64_t now = cpu->ns();

	if (READ_ONCE(page->lock) != seq)
		return;
	if (seen->seq != seq)
		*seen = (struct pev_sighting){ seq, now };
	count->time_enabled += now - seen->at;
	count->time_running += now - seen->at;
}

/* ---- events --------------------------------------------------------------------------- */

struct pev_self {
	struct pev_event *ev;
	const struct pev_self_cpu *cpu;
	struct perf_event_mmap_page *page;   /* NULL: read(2) */
	size_t size;
	uint64_t id, format;                 /* format: attr.read_format */
	struct pev_sighting seen;            /* caches, set by readers */
	enum pev_self_way way;
};

enum { TIMES = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };

int pev_self_map_by_(struct pev_self **out, struct pev_event *ev, const struct pev_self_cpu *cpu)
{
	struct pev_self *self = calloc(1, sizeof(*self));
	void *page;

	*out = self;
	if (!self)
		return -ENOMEM;
	self->ev = ev;
	self->cpu = cpu;
	self->seen.seq = 1;   /* never matches: readable pages have an even count */
	self->format = ev->attr.read_format;
	self->size = (size_t)sysconf(_SC_PAGESIZE);
	/* the page is for one thread, without the counts of children */
	if (!pev_target_is_self_(ev->target) || ev->attr.inherit)
		return 0;
	if (ev->attr.read_format & PERF_FORMAT_ID)
		pev_event_id(ev, &self->id);
	page = mmap(NULL, self->size, PROT_READ, MAP_SHARED, ev->fd, 0);
	self->page = page == MAP_FAILED ? NULL : page;
	return 0;
}

int pev_self_map(struct pev_self **out, struct pev_event *ev)
{
	int rc = pev_self_map_by_(out, ev, &pev_self_this_cpu_);

	if (!rc)
		pev_self_fast(*out);   /* measures both ways, if the event is on the PMU */
	return rc;
}

void pev_self_unmap(struct pev_self *self)
{
	if (!self)
		return;
	if (self->page)
		munmap(self->page, self->size);
	free(self);
}

void pev_self_forget_(struct pev_self *self)
{
	self->page = NULL;
}

/* Clears times that were not requested: one of them alone gives no ratio. */
static void take_back_unasked(uint64_t format, struct pev_count *count)
{
	if (!(format & PERF_FORMAT_TOTAL_TIME_ENABLED))
		count->time_enabled = 0;
	if (!(format & PERF_FORMAT_TOTAL_TIME_RUNNING))
		count->time_running = 0;
	count->timed = pev_reads_times_(format);
}

enum pev_self_how pev_self_fast_read_(const struct pev_self *self, struct pev_count *count)
{
	struct pev_self *own = (struct pev_self *)self;
	enum pev_self_how how;
	uint32_t seq;

	/* lost samples are reported only by the kernel and only for sampling events, which have a
	 * ring instead of this page */
	*count = (struct pev_count){ .id = self->id };
	if (!self->page)
		return SELF_NO_PAGE;
	seq = READ_ONCE(self->page->lock);
	how = pev_self_page_(self->page, self->cpu, self->format & TIMES, count);
	if (how == SELF_STALE)
		pev_self_age_(&own->seen, self->page, self->cpu, seq, count);
	if (pev_self_is_fast_(how))
		take_back_unasked(self->format, count);
	return how;
}

static bool by_page(void *arg)
{
	struct pev_count count;

	return pev_self_is_fast_(pev_self_fast_read_(arg, &count));
}

static void by_kernel(void *arg)
{
	const struct pev_self *self = arg;
	struct pev_count count;

	pev_event_read(self->ev, &count);
}

static const struct pev_self_race race = { by_page, by_kernel, pev_self_ns_ };

static enum pev_self_how fast_read(const struct pev_self *self, struct pev_count *count)
{
	struct pev_self *own = (struct pev_self *)self;
	enum pev_self_how how;

	if (self->way == SELF_BY_KERNEL)
		return SELF_SLOWER;
	how = pev_self_fast_read_(self, count);
	if (self->way != SELF_UNDECIDED || !pev_self_is_fast_(how))
		return how;
	own->way = pev_self_race_(&race, own);
	return self->way == SELF_BY_KERNEL ? SELF_SLOWER : how;
}

int pev_self_read(const struct pev_self *self, struct pev_count *count)
{
	if (pev_self_is_fast_(fast_read(self, count)))
		return 0;
	return pev_event_read(self->ev, count);
}

bool pev_self_fast(const struct pev_self *self)
{
	struct pev_count count;

	return pev_self_is_fast_(fast_read(self, &count));
}

const char *pev_self_why(const struct pev_self *self)
{
	struct pev_count count;

	return pev_self_text_(fast_read(self, &count));
}
