/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware cache events: CACHE[-OP][-RESULT] in perf's syntax. OP and RESULT can be in either
 * order and have defaults (loads, accesses). config = cache | op << 8 | result << 16.
 */
#include "perfevent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define WORDS 5

#define READ (1u << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE (1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)

/* Indexed by the kernel's numbers. The first word is used in names; for an op, the second word is
 * used in names without a result. */
static const struct {
	const char *words[WORDS];
	unsigned int usual_ops;
} caches[] = {
	{ { "L1-dcache", "l1-d", "l1d", "L1-data" }, READ | WRITE | PREFETCH },
	{ { "L1-icache", "l1-i", "l1i", "L1-instruction" }, READ | PREFETCH },
	{ { "LLC", "L2" }, READ | WRITE | PREFETCH },
	{ { "dTLB", "d-tlb", "Data-TLB" }, READ | WRITE | PREFETCH },
	{ { "iTLB", "i-tlb", "Instruction-TLB" }, READ },
	{ { "branch", "branches", "bpu", "btb", "bpc" }, READ },
	{ { "node" }, READ | WRITE | PREFETCH },
};

static const char *const ops[][WORDS] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};

static const char *const results[][WORDS] = {
	{ "refs", "Reference", "ops", "access", "accesses" },
	{ "misses", "miss" },
};

_Static_assert(COUNT(caches) == PERF_COUNT_HW_CACHE_MAX, "a row per cache");
_Static_assert(COUNT(ops) == PERF_COUNT_HW_CACHE_OP_MAX, "a row per op");
_Static_assert(COUNT(results) == PERF_COUNT_HW_CACHE_RESULT_MAX, "a row per result");

int pev_cache_config(unsigned int cache, unsigned int op, unsigned int result, uint64_t *config)
{
	if (cache >= COUNT(caches) || op >= COUNT(ops) || result >= COUNT(results))
		return -EINVAL;
	*config = cache | (uint64_t)op << 8 | (uint64_t)result << 16;
	return 0;
}

int pev_cache_name(uint64_t config, char *buf, size_t size)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;

	if (cache >= COUNT(caches) || op >= COUNT(ops) || result >= COUNT(results))
		return -EINVAL;
	if (result)
		snprintf(buf, size, "%s-%s-%s", caches[cache].words[0], ops[op][0],
			 results[result][0]);
	else
		snprintf(buf, size, "%s-%s", caches[cache].words[0], ops[op][1]);
	return 0;
}

bool pev_cache_at(unsigned int index, uint64_t *config, bool *usual)
{
	unsigned int result = index % COUNT(results);
	unsigned int op = index / COUNT(results) % COUNT(ops);
	unsigned int cache = index / COUNT(results) / COUNT(ops);

	if (usual)
		*usual = cache < COUNT(caches) && caches[cache].usual_ops & 1u << op;
	return !pev_cache_config(cache, op, result, config);
}

/* The length of the longest of these words with which text begins, as a whole word. */
static size_t match(const char *const *words, const char *text)
{
	size_t longest = 0;

	for (size_t i = 0; i < WORDS && words[i]; i++) {
		size_t len = strlen(words[i]);

		if (len > longest && !strncasecmp(words[i], text, len) &&
		    (!text[len] || text[len] == '-'))
			longest = len;
	}
	return longest;
}

/* Takes the longest match in the table off the front of *text. */
static bool take(const char *const (*table)[WORDS], size_t n, const char **text, unsigned int *row)
{
	size_t longest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = match(table[i], *text);

		if (len <= longest)
			continue;
		longest = len;
		*row = (unsigned int)i;
	}
	*text += longest;
	return longest;
}

static bool take_cache(const char **text, unsigned int *row)
{
	size_t longest = 0;

	for (size_t i = 0; i < COUNT(caches); i++) {
		size_t len = match(caches[i].words, *text);

		if (len <= longest)
			continue;
		longest = len;
		*row = (unsigned int)i;
	}
	*text += longest;
	return longest;
}

int pev_cache_lookup(const char *name, uint64_t *config)
{
	unsigned int cache = 0, op = 0, result = 0;
	bool has_op = false, has_result = false;

	if (!take_cache(&name, &cache))
		return -ENOENT;
	while (*name == '-') {
		name++;
		if (!has_op && take(ops, COUNT(ops), &name, &op))
			has_op = true;
		else if (!has_result && take(results, COUNT(results), &name, &result))
			has_result = true;
		else
			return -ENOENT;
	}
	return *name ? -ENOENT : pev_cache_config(cache, op, result, config);
}
