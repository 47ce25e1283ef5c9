/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"

#include "symbols/kernel/ksymbols.h"

static void is(const struct ksymbols *k, uint64_t addr, const char *name, uint64_t start)
{
	struct kernel_symbol sym;

	if (!name) {
		assert_false(ksymbols_find(k, addr, &sym));
		return;
	}
	assert_true(ksymbols_find(k, addr, &sym));
	assert_string_equal(sym.name, name);
	assert_string_equal(sym.dso, "[bpf]");
	assert_int_equal(sym.start, start);
}

TEST(test_come_and_go)
{
	struct ksymbols k = { 0 };

	is(&k, 1, NULL, 0);
	assert_false(ksymbols_came(&k, 0x200, 0x10, "b", "[bpf]"));
	assert_false(ksymbols_came(&k, 0x100, 0x10, "a", "[bpf]"));
	assert_false(ksymbols_came(&k, 0x210, 0x10, "c", "[bpf]"));
	is(&k, 0xff, NULL, 0);
	is(&k, 0x100, "a", 0x100);
	is(&k, 0x10f, "a", 0x100);
	is(&k, 0x110, NULL, 0);
	is(&k, 0x20f, "b", 0x200);
	is(&k, 0x210, "c", 0x210);
	is(&k, 0x220, NULL, 0);
	ksymbols_went(&k, 0x200, 0x10);
	is(&k, 0x200, NULL, 0);
	is(&k, 0x210, "c", 0x210);
	ksymbols_went(&k, 0x300, 0x10);
	ksymbols_went(&k, 0x100, 0);
	is(&k, 0x100, "a", 0x100);
	ksymbols_free(&k);
	is(&k, 0x100, NULL, 0);
}

TEST(test_later_counts)
{
	struct ksymbols k = { 0 };

	assert_false(ksymbols_came(&k, 0x100, 0x10, "a", "[bpf]"));
	assert_false(ksymbols_came(&k, 0x110, 0x10, "b", "[bpf]"));
	assert_false(ksymbols_came(&k, 0x120, 0x10, "c", "[bpf]"));
	assert_false(ksymbols_came(&k, 0x10f, 0x12, "d", "[bpf]"));
	is(&k, 0x100, NULL, 0);
	is(&k, 0x10f, "d", 0x10f);
	is(&k, 0x120, "d", 0x10f);
	is(&k, 0x121, NULL, 0);
	assert_int_equal(k.n, 1);
	assert_false(ksymbols_came(&k, 0x10f, 0x12, "e", "[bpf]"));
	is(&k, 0x10f, "e", 0x10f);
	ksymbols_free(&k);
}

TEST(test_tells_when_answers_change)
{
	struct ksymbols k = { 0 };

	ksymbols_asked(&k, 0x5010);
	assert_false(ksymbols_came(&k, 0x4000, 0x1000, "before", "[bpf]"));
	assert_false(ksymbols_came(&k, 0x6000, 0x10, "behind", "[bpf]"));
	assert_true(ksymbols_came(&k, 0x5000, 0x100, "there", "[bpf]"));
	/* nobody has asked since */
	assert_false(ksymbols_came(&k, 0x5000, 0x100, "another", "[bpf]"));
	ksymbols_asked(&k, 0x5010);
	assert_false(ksymbols_went(&k, 0x6000, 0x10));
	assert_true(ksymbols_went(&k, 0x5000, 0x100));
	assert_false(ksymbols_went(&k, 0x5000, 0x100));
	ksymbols_asked(&k, 0x5010);
	assert_false(ksymbols_came(&k, 0x5010, 0, "nothing", "[bpf]"));
	for (uint64_t i = 1; i <= KSYMBOLS_ASKED; i++)
		ksymbols_asked(&k, i << 20);
	assert_true(ksymbols_came(&k, 0x10, 0x10, "after so many that nobody knows", "[bpf]"));
	assert_false(ksymbols_came(&k, 0x10, 0x10, "then", "[bpf]"));
	ksymbols_free(&k);
}

TEST(test_hostile)
{
	struct ksymbols k = { 0 };

	assert_false(ksymbols_came(&k, 0x100, 0, "nothing", "[bpf]"));
	assert_false(ksymbols_came(&k, UINT64_MAX - 1, UINT64_MAX, "end", "[bpf]"));
	is(&k, UINT64_MAX - 1, "end", UINT64_MAX - 1);
	is(&k, UINT64_MAX, NULL, 0);
	assert_false(ksymbols_came(&k, 0, UINT64_MAX, "all", "[bpf]"));
	is(&k, 0, "all", 0);
	assert_int_equal(k.n, 1);
	ksymbols_went(&k, 0, UINT64_MAX);
	for (uint64_t i = KSYMBOLS_MAX; i-- > 0;)
		assert_false(ksymbols_came(&k, i * 16, 8, "one", "[bpf]"));
	assert_false(ksymbols_came(&k, KSYMBOLS_MAX * 16, 8, "one too many", "[bpf]"));
	assert_false(ksymbols_came(&k, 0, 24, "in place of two", "[bpf]"));
	is(&k, KSYMBOLS_MAX * 16, NULL, 0);
	is(&k, 16, "in place of two", 0);
	ksymbols_free(&k);
}
