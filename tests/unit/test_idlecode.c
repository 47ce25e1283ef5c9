/* SPDX-License-Identifier: Apache-2.0 */
/* Where the functions of idle CPUs are. */
#include "checks.h"

#include "stream/rings/idlecode.h"

static struct idlecode of(const char *symbols)
{
	struct idlecode code;
	FILE *f = fmemopen((void *)(uintptr_t)symbols, strlen(symbols), "r");

	assert_non_null(f);
	idlecode_read(&code, f);
	fclose(f);
	return code;
}

static bool has(const struct idlecode *c, uint64_t ip)
{
	const uint64_t chain[] = { 0xffffffffffffff80, 0x500, ip };

	return idlecode_has(c, chain, 3);
}

TEST(a_function_ends_where_the_next_begins)
{
	const struct idlecode c = of("1000 T schedule\n2000 t do_idle\n2000 t alias\n2100 T cpu_startup_entry\n"
				     "2180 T do_idle_not\n3000 t do_nothing\t[module]\n");

	assert_int_equal(c.n, 2);
	assert_false(has(&c, 0x1f00));
	assert_true(has(&c, 0x2010));
	assert_true(has(&c, 0x2100));    /* after a call at the function's end */
	assert_true(has(&c, 0x2180));
	assert_false(has(&c, 0x2181));
	assert_false(idlecode_has(&c, NULL, 0));
}

TEST(hidden_addresses_and_damaged_lines_are_nothing)
{
	assert_int_equal(of("0000 t do_idle\n0000 T cpu_startup_entry\n").n, 0);
	assert_int_equal(of("do_idle\n\n12 t\nx y z\n").n, 0);
	assert_int_equal(of("2000 t do_idle").n, 1);
}

TEST(there_may_be_more_of_them_than_room)
{
	const struct idlecode c = of("1000 t do_idle\n2000 t do_idle\n3000 t do_idle\n4000 t do_idle\n5000 t do_idle\n6000 t x\n");

	assert_int_equal(c.n, IDLECODE_MAX);
	assert_true(has(&c, 0x4fff));
	assert_false(has(&c, 0x5fff));
}
