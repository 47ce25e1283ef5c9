// SPDX-License-Identifier: Apache-2.0
// Templates and inlined functions of which it is known how long each of them computes: told in ns of
// the thread's own CPU time, a line each. `inlined MS`
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#define INLINED __attribute__((always_inline)) inline
#define KEPT __attribute__((noinline, noclone))

static uint64_t cpu_ns() {
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

namespace shop {

template <class T, int Parts> struct Till {
	T coins = 0;
	uint64_t ns = 0;

	INLINED void count(uint64_t n) {
		for (uint64_t i = 0; i < n; i++)
			asm volatile("" : "+r"(coins));
	}
	// Until Parts of a round are over. The clock is asked seldom: it is no part of this.
	INLINED void pay(uint64_t round) {
		uint64_t begin = cpu_ns(), now = begin;
		while (now < begin + round * Parts / 100) {
			count(300000);
			now = cpu_ns();
		}
		ns += now - begin;
	}
};

template <class T> KEPT void serve(T &till, uint64_t round) { till.pay(round); }

// Two that are inlined into one function, and one that stays.
KEPT void day(Till<int, 45> &a, Till<long, 30> &b, uint64_t round) {
	a.pay(round);
	b.pay(round);
}

}

int main(int, char **argv) {
	shop::Till<int, 45> a;
	shop::Till<long, 30> b;
	shop::Till<short, 25> c;
	const uint64_t round = 60 * 1000000;

	for (uint64_t end = cpu_ns() + strtoull(argv[1], nullptr, 10) * 1000000; cpu_ns() < end;) {
		shop::day(a, b, round);
		shop::serve(c, round);
	}
	printf("shop::Till<int, 45>::count %llu\nshop::Till<long, 30>::count %llu\nshop::Till<short, 25>::count %llu\n",
	       (unsigned long long)a.ns, (unsigned long long)b.ns, (unsigned long long)c.ns);
}
