/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up symbol tables: modules, BPF, aliases, hidden addresses, lines that are none. */
#include "cmocka_all.h"

#include "symbols/kernel/kallsyms.h"

#include <stdbool.h>
#include <unistd.h>

static struct kallsyms *load_bytes(const void *bytes, size_t len)
{
	char path[] = "/tmp/kallsyms-XXXXXX";
	int fd = mkstemp(path);
	struct kallsyms *k;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	k = kallsyms_read(fd);
	close(fd);
	unlink(path);
	return k;
}

static struct kallsyms *load(const char *text)
{
	return load_bytes(text, strlen(text));
}

static void is(const struct kallsyms *k, uint64_t addr, const char *name, uint64_t start,
	       const char *dso)
{
	struct kernel_symbol sym;

	assert_int_equal(kallsyms_find(k, addr, &sym), 0);
	assert_string_equal(sym.name, name);
	assert_int_equal(sym.start, start);
	assert_string_equal(sym.dso, dso ? dso : "[kernel.kallsyms]");
}

static void is_nothing(const struct kallsyms *k, uint64_t addr)
{
	struct kernel_symbol sym;

	assert_int_equal(kallsyms_find(k, addr, &sym), -1);
}

static const char usual[] =
	"0000000000000000 A fixed_percpu_data\n"
	"0000000000001000 D cpu_tss_rw\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000110 t secondary\n"
	"ffffffff81e00000 W weak_one\n"
	"ffffffff82000000 D some_data\n"
	"ffffffff82000008 r __func__.1\n"
	"ffffffffc0300000 t nf_hook\t[nf_tables]\n"
	"ffffffffc0300100 T nf_tail\t[nf_tables]\n"
	"ffffffffc0400000 t bpf_prog_6deef7357e7b4530_sd_fw\t[bpf]\n"
	"ffffffffc0500000 t ftrace_trampoline\t[__builtin__ftrace]\n";

static void addresses_have_names(void **state)
{
	struct kallsyms *k = load(usual);

	assert_non_null(k);
	is(k, 0xffffffff81000110, "secondary", 0xffffffff81000110, NULL);
	is(k, 0xffffffff8100ffff, "secondary", 0xffffffff81000110, NULL);
	is(k, 0xffffffff81e00001, "weak_one", 0xffffffff81e00000, NULL);
	is(k, 0xffffffffc03000ff, "nf_hook", 0xffffffffc0300000, "[nf_tables]");
	is(k, 0xffffffffc0300100, "nf_tail", 0xffffffffc0300100, "[nf_tables]");
	is(k, 0xffffffffc0400010, "bpf_prog_6deef7357e7b4530_sd_fw", 0xffffffffc0400000, "[bpf]");
	is(k, 0xffffffffc0500fff, "ftrace_trampoline", 0xffffffffc0500000, "[__builtin__ftrace]");
	is_nothing(k, 0);
	is_nothing(k, 0x1000);
	is_nothing(k, 0xffffffff80ffffff);
	kallsyms_free(k);
}

/* No function of one module reaches into another, or where no module is. */
static void modules_end(void **state)
{
	struct kallsyms *k = load(usual);

	assert_non_null(k);
	is(k, 0xffffffffc0301fff, "nf_tail", 0xffffffffc0300100, "[nf_tables]");
	is_nothing(k, 0xffffffffc0302000);
	is_nothing(k, 0xffffffffc03fffff);
	is(k, 0xffffffff81e01fff, "weak_one", 0xffffffff81e00000, NULL);
	is_nothing(k, 0xffffffffb0000000);
	is_nothing(k, UINT64_MAX);
	kallsyms_free(k);
}

/* Of several names of one address the first in the file, wherever it is sorted to. */
static void aliases_have_one_name(void **state)
{
	struct kallsyms *k = load("ffffffff81000040 T z_first\nffffffff81000040 T a_second\n"
				  "ffffffff81000010 t before\nffffffff81000040 t last\n");

	assert_non_null(k);
	is(k, 0xffffffff81000040, "z_first", 0xffffffff81000040, NULL);
	is(k, 0xffffffff81000050, "z_first", 0xffffffff81000040, NULL);
	is(k, 0xffffffff8100003f, "before", 0xffffffff81000010, NULL);
	kallsyms_free(k);
}

static void lines_in_any_order(void **state)
{
	struct kallsyms *k = load("ffffffff81000300 t c\nffffffff81000100 t a\n"
				  "ffffffff81000200 t b\n");

	assert_non_null(k);
	is(k, 0xffffffff81000100, "a", 0xffffffff81000100, NULL);
	is(k, 0xffffffff810002ff, "b", 0xffffffff81000200, NULL);
	is(k, 0xffffffff81000300, "c", 0xffffffff81000300, NULL);
	kallsyms_free(k);
}

static void the_last_line_needs_no_end(void **state)
{
	struct kallsyms *k = load("ffffffff81000100 t a\nffffffff81000200 t b");

	assert_non_null(k);
	is(k, 0xffffffff81000200, "b", 0xffffffff81000200, NULL);
	kallsyms_free(k);
	k = load("ffffffff81000200 t in_module\t[mod]");
	assert_non_null(k);
	is(k, 0xffffffff81000200, "in_module", 0xffffffff81000200, "[mod]");
	kallsyms_free(k);
}

/* kernel.kptr_restrict, or nothing at all: there is no table. */
static void tables_without_addresses(void **state)
{
	static const char *const rows[] = {
		"", "\n", "\n\n\n", "0000000000000000 T _text\n0000000000000000 t a\t[m]\n",
		"ffffffff81000100 D data_only\n", "garbage\n", "ffffffff81000100\n",
		"ffffffff81000100 \n", "ffffffff81000100 T\n", "ffffffff81000100 T \n", " T x\n",
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_null(load(rows[i]));
	assert_null(kallsyms_read(-1));
	kallsyms_free(NULL);
}

static void lines_that_are_none(void **state)
{
	static const char bytes[] =
		"ffffffff81000000 T first\n"
		"ffffffff81000001 \0 nul_type\n"
		"ffffffff81000002xT no_space\n"
		"ffffffff81000003 Tno_space\n"
		"FFFFFFFF81000004 T upper\n"
		"fffffffff81000005 T seventeen_digits\n"
		"ffffffff81000006 T\n"
		"ffffffff81000100 T tab_at_end\t\n"
		"ffffffff81000200 T open\t[\n"
		"ffffffff81000300 T not_closed\t[mod\n"
		"ffffffff81000400 T empty\t[]\n"
		"ffffffff81000500 T x\n";
	struct kallsyms *k = load_bytes(bytes, sizeof(bytes) - 1);

	assert_non_null(k);
	is(k, 0xffffffff810000ff, "first", 0xffffffff81000000, NULL);
	is(k, 0xffffffff81000100, "tab_at_end", 0xffffffff81000100, NULL);
	is(k, 0xffffffff81000200, "open", 0xffffffff81000200, NULL);
	is(k, 0xffffffff81000300, "not_closed", 0xffffffff81000300, NULL);
	is(k, 0xffffffff81000400, "empty", 0xffffffff81000400, NULL);
	is(k, 0xffffffff81001fff, "x", 0xffffffff81000500, NULL);
	kallsyms_free(k);
}

/* Names have 512 bytes at most: what is beyond the buffer is no line. */
static void a_huge_line(void **state)
{
	enum { HUGE_LINE = 1 << 20, LONG_LINE = 60000 };
	char *text = malloc(HUGE_LINE + LONG_LINE + 100), *p = text;
	struct kernel_symbol sym;
	struct kallsyms *k;

	assert_non_null(text);
	p += sprintf(p, "ffffffff81000000 T ");
	memset(p, 'a', HUGE_LINE);
	p += HUGE_LINE;
	p += sprintf(p, "\nffffffff82000000 T ");
	memset(p, 'b', LONG_LINE);
	p += LONG_LINE;
	p += sprintf(p, "\nffffffff83000000 T c\n");
	k = load_bytes(text, (size_t)(p - text));
	assert_non_null(k);
	is_nothing(k, 0xffffffff81000000);
	assert_int_equal(kallsyms_find(k, 0xffffffff82000000, &sym), 0);
	assert_int_equal(strlen(sym.name), LONG_LINE);
	is(k, 0xffffffff83000000, "c", 0xffffffff83000000, NULL);
	kallsyms_free(k);
	free(text);
}

/* More and shorter lines than the first guess of their number allows for. */
static void a_large_table(void **state)
{
	enum { N = 300000 };
	char *text = malloc(N * 24), *p = text;
	struct kallsyms *k;

	assert_non_null(text);
	for (unsigned int i = 0; i < N; i++)
		p += sprintf(p, "%x t s%x\n", 0x1000 + i * 16, i);
	k = load_bytes(text, (size_t)(p - text));
	assert_non_null(k);
	for (unsigned int i = 0; i < N; i += 997) {
		char name[16];

		snprintf(name, sizeof(name), "s%x", i);
		is(k, 0x1000 + i * 16 + 15, name, 0x1000 + i * 16, NULL);
	}
	is_nothing(k, 0xfff);
	kallsyms_free(k);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_names),
		cmocka_unit_test(modules_end),
		cmocka_unit_test(aliases_have_one_name),
		cmocka_unit_test(lines_in_any_order),
		cmocka_unit_test(the_last_line_needs_no_end),
		cmocka_unit_test(tables_without_addresses),
		cmocka_unit_test(lines_that_are_none),
		cmocka_unit_test(a_huge_line),
		cmocka_unit_test(a_large_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
