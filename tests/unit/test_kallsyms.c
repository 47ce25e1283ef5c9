/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up symbol tables: modules, BPF, aliases, hidden addresses, lines that are none. */
#include "checks.h"
#include "tree.h"

#include "symbols/kernel/kallsyms.h"

#include <stdbool.h>
#include <unistd.h>

static struct kallsyms *load_bytes(const void *bytes, size_t len)
{
	int fd = tree_fd(bytes, len);
	struct kallsyms *k = kallsyms_read(fd);

	close(fd);
	return k;
}

static struct kallsyms *load(const char *text)
{
	return load_bytes(text, strlen(text));
}

static void is(const struct kallsyms *k, uint64_t addr, const char *name, uint64_t start, const char *dso)
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
	"ffffffffc0300104 t $d\t[nf_tables]\n"   /* marks of Arm, which are no functions */
	"ffffffffc0300108 t $x.12\t[nf_tables]\n"
	"ffffffffc0400000 t bpf_prog_6deef7357e7b4530_sd_fw\t[bpf]\n"
	"ffffffffc0500000 t ftrace_trampoline\t[__builtin__ftrace]\n";

/* Of several names of one address the first in the file, wherever it is sorted to. */
static const char aliases[] = "ffffffff81000040 T z_first\nffffffff81000040 T a_second\n"
			      "ffffffff81000010 t before\nffffffff81000040 t last\n";
static const char any_order[] = "ffffffff81000300 t c\nffffffff81000100 t a\nffffffff81000200 t b\n";
static const char no_end[] = "ffffffff81000100 t a\nffffffff81000200 t b";

TEST(addresses_have_names)
{
	static const struct {
		const char *text;
		uint64_t addr;
		const char *name;        /* NULL: none */
		uint64_t start;
		const char *dso;         /* NULL: the kernel */
	} rows[] = {
		{ usual, 0xffffffff81000110, "secondary", 0xffffffff81000110, NULL },
		{ usual, 0xffffffff8100ffff, "secondary", 0xffffffff81000110, NULL },
		{ usual, 0xffffffff81e00001, "weak_one", 0xffffffff81e00000, NULL },
		{ usual, 0xffffffffc03000ff, "nf_hook", 0xffffffffc0300000, "[nf_tables]" },
		{ usual, 0xffffffffc0300100, "nf_tail", 0xffffffffc0300100, "[nf_tables]" },
		{ usual, 0xffffffffc0400010, "bpf_prog_6deef7357e7b4530_sd_fw", 0xffffffffc0400000, "[bpf]" },
		{ usual, 0xffffffffc0500fff, "ftrace_trampoline", 0xffffffffc0500000, "[__builtin__ftrace]" },
		{ usual, 0, NULL }, { usual, 0x1000, NULL }, { usual, 0xffffffff80ffffff, NULL },
		/* no function of one module reaches into another, or where no module is */
		{ usual, 0xffffffffc0301fff, "nf_tail", 0xffffffffc0300100, "[nf_tables]" },
		{ usual, 0xffffffff81e01fff, "weak_one", 0xffffffff81e00000, NULL }, { usual, 0xffffffffc0302000, NULL },
		{ usual, 0xffffffffc03fffff, NULL }, { usual, 0xffffffffb0000000, NULL }, { usual, UINT64_MAX, NULL },
		{ aliases, 0xffffffff81000040, "z_first", 0xffffffff81000040, NULL },
		{ aliases, 0xffffffff81000050, "z_first", 0xffffffff81000040, NULL },
		{ aliases, 0xffffffff8100003f, "before", 0xffffffff81000010, NULL },
		{ any_order, 0xffffffff81000100, "a", 0xffffffff81000100, NULL },
		{ any_order, 0xffffffff810002ff, "b", 0xffffffff81000200, NULL },
		{ any_order, 0xffffffff81000300, "c", 0xffffffff81000300, NULL },
		{ no_end, 0xffffffff81000200, "b", 0xffffffff81000200, NULL },
		{ "ffffffff81000200 t in_module\t[mod]", 0xffffffff81000200, "in_module", 0xffffffff81000200, "[mod]" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kallsyms *k = load(rows[i].text);

		print_message("# %#" PRIx64 "\n", rows[i].addr);
		assert_non_null(k);
		if (rows[i].name)
			is(k, rows[i].addr, rows[i].name, rows[i].start, rows[i].dso);
		else
			is_nothing(k, rows[i].addr);
		kallsyms_free(k);
	}
}

/* kernel.kptr_restrict, or nothing at all: there is no table. */
TEST(tables_without_addresses)
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

TEST(lines_that_are_none)
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
TEST(a_huge_line)
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
TEST(a_large_table)
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
