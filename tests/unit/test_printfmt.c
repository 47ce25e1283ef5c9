/* SPDX-License-Identifier: Apache-2.0 */
/* "print fmt" by its program: conversions as printf's, numbers as C's, texts as the kernel's. */
#include "checks.h"

#include "tracefmt/enumerators.h"
#include "tracefmt/kerneltexts.h"
#include "tracefmt/printfmt.h"

#include <linux/btf.h>

/* One field of each kind, and where it lies in struct event. */
struct event {
	uint64_t common;
	uint8_t u1;
	int8_t s1;
	uint16_t u2;
	uint32_t u4;
	int32_t s4;
	uint32_t d;
	uint64_t u8;
	int64_t s8;
	char str[8];
	uint8_t bytes[16];
	uint32_t array[4];
	uint32_t rel, mask, empty, pad;
	char text[8];
	uint8_t more[16];
	uint64_t bits[2];
	uint8_t in4[16], in6[28], pad2[4];
};

#define AT(member) (uint16_t)offsetof(struct event, member)

static struct trace_field fields[] = {
	{ "u1", "u8", FIELD_UINT, AT(u1), 1 }, { "s1", "s8", FIELD_SINT, AT(s1), 1 },
	{ "u2", "u16", FIELD_UINT, AT(u2), 2 }, { "u4", "unsigned int", FIELD_UINT, AT(u4), 4 },
	{ "s4", "int", FIELD_SINT, AT(s4), 4 }, { "d", "__data_loc char[]", FIELD_DYN_STR, AT(d), 4 },
	{ "u8", "unsigned long", FIELD_UINT, AT(u8), 8 }, { "s8", "long", FIELD_SINT, AT(s8), 8 },
	{ "str", "char[8]", FIELD_STR, AT(str), 8 }, { "bytes", "u8[16]", FIELD_BYTES, AT(bytes), 16 },
	{ "array", "u32[4]", FIELD_BYTES, AT(array), 16 }, { "rel", "__rel_loc u8[]", FIELD_REL_BYTES, AT(rel), 4 },
	{ "mask", "__data_loc unsigned long[]", FIELD_DYN_BYTES, AT(mask), 4 },
	{ "empty", "__data_loc char[]", FIELD_DYN_STR, AT(empty), 4 },
	{ "fetched", "__data_loc char[]", FIELD_DYN_STR, AT(empty), 4, true },
	{ "in4", "u8[16]", FIELD_BYTES, AT(in4), 16 }, { "in6", "u8[28]", FIELD_BYTES, AT(in6), 28 },
};

static const struct tracefmt fmt = {
	.fields = fields, .nfields = COUNT(fields), .min_size = sizeof(struct event),
};

static struct event event(void)
{
	struct event e = {
		.u1 = 200, .s1 = -5, .u2 = 60000, .u4 = 4000000000U, .s4 = -42,
		.d = offsetof(struct event, text) | 6u << 16,
		.u8 = UINT64_C(0xffffffff81000010), .s8 = -7000000000LL, .str = "comm",
		.bytes = { 0xfe, 0x80, [8] = 0x02, 0x00, 0x5e, 0xfe, 10, 0, 0, 1 },
		.array = { 1, 20, 300, 4000000000U },
		.rel = (offsetof(struct event, more) - offsetof(struct event, rel) - 4) | 16u << 16,
		.mask = offsetof(struct event, bits) | 16u << 16,
		.empty = offsetof(struct event, text),
		.text = "hello", .bits = { 0x8000000000000f05, 3 },
		.in4 = { 2, 0, 0x1f, 0x90, 127, 0, 0, 1 },
		.in6 = { 10, 0, 0, 80, [8] = 0x20, 0x01, 0x0d, 0xb8, [23] = 1 },
	};

	for (unsigned int i = 0; i < sizeof(e.more); i++)
		e.more[i] = (uint8_t)(i * 17);
	return e;
}

static const char *find(void *ctx, uint64_t addr, uint64_t *offset)
{
	(void)ctx;
	if (addr < UINT64_C(0xffffffff81000000))
		return NULL;
	*offset = addr - UINT64_C(0xffffffff81000000);
	return "_text";
}

static struct tracefmt_symbols symbols = { .find = find };

static const char *text_of(const char *print_fmt)
{
	static char buf[4096];
	struct event e = event();
	const char *why = NULL;
	struct printfmt *p = printfmt_compile(&fmt, print_fmt, strlen(print_fmt), &why);
	size_t n;

	if (!p) {
		assert_non_null(why);
		return NULL;
	}
	n = printfmt_write(p, &e, sizeof(e), &symbols, buf, sizeof(buf) - 1);
	assert_true(n < sizeof(buf));
	buf[n] = '\0';
	printfmt_free(p);
	return buf;
}

/* Every combination of flags, widths, precisions and sizes, as printf() has it. */
TEST(numbers_are_as_of_printf)
{
	static const char *const flags[] = { "", "-", "0", "#", "+", " ", "-#", "0#", "+0", "-+" };
	static const char *const widths[] = { "", "1", "12", "25", ".0", ".3", "14.9", "4.20" };
	static const char *const sizes[] = { "hh", "h", "", "l", "ll", "z" };
	static const int64_t values[] = { 0, 1, -1, 9, 10, 99, 100, 255, -128, 40000, INT32_MIN,
					  UINT32_MAX, INT64_MAX, INT64_MIN, 1234567890123456789 };
	struct trace_field one = { "n", "long", FIELD_SINT, 0, 8 };
	const struct tracefmt only = { .fields = &one, .nfields = 1, .min_size = 8 };

	for (size_t f = 0; f < COUNT(flags); f++)
		for (size_t w = 0; w < COUNT(widths); w++)
			for (size_t s = 0; s < COUNT(sizes); s++)
				for (const char *letter = "diuxXo"; *letter; letter++) {
					char spec[32], text[64], ours[128], theirs[128];
					const char *why;
					struct printfmt *p;

					snprintf(spec, sizeof(spec), "%%%s%s%s%c", flags[f], widths[w], sizes[s], *letter);
					snprintf(text, sizeof(text), "\"<%s>\", REC->n", spec);
					p = printfmt_compile(&only, text, strlen(text), &why);
					assert_non_null(p);
					snprintf(text, sizeof(text), "<%s>", spec);
					for (size_t i = 0; i < COUNT(values); i++) {
						size_t n = printfmt_write(p, &values[i], 8, NULL, ours, sizeof(ours));

						ours[n] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
						snprintf(theirs, sizeof(theirs), text, values[i]);
#pragma GCC diagnostic pop
						if (strchr(spec, '#') && (*letter | 0x20) == 'x' && !strpbrk(theirs, "xX"))
							continue;   /* 0: the kernel prints 0x0 */
						if (strcmp(ours, theirs))
							fail_msg("%s of %lld: %s, expected %s", spec,
								 (long long)values[i], ours, theirs);
					}
					printfmt_free(p);
				}
}

TEST(events_print_as_expected)
{
	static const struct { const char *print_fmt, *text; } rows[] = {
		/* Each of these libtraceevent gets wrong: it computes with unsigned words of 64 bits. */
		{ "\"%d %lld\", REC->s1, (s64)REC->s4", "-5 -42" },
		{ "\"%s\", REC->s4 < 0 ? \"negative\" : \"positive\"", "negative" },
		{ "\"%lld %lld\", REC->s8 / 1000, REC->s8 % 1000000001", "-7000000 -999999994" },
		{ "\"%lld\", REC->s8 >> 4", "-437500000" },
		{ "\"%llu\", REC->u4 + REC->u4", "3705032704" },        /* wraps at 32 bits */
		{ "\"%llu\", (u64)REC->u4 + REC->u4", "8000000000" },
		{ "\"%d\", REC->u1 - REC->u2", "-59800" },              /* promoted to int */
		{ "\"%d\", REC->s4 < 5U ? 1 : 0", "0" },                /* -42 as unsigned */
		{ "\"%llx\", ~REC->u4", "1194d7ff" }, { "\"%llx\", (unsigned long)-4095", "fffffffffffff001" },
		{ "\"%d %d\", (u8)REC->s4, (bool)REC->s4", "214 1" }, { "\"%d\", !REC->u1 ? 5 : REC->u2 > 3 ? 6 : 7", "6" },
		{ "\"%d %d %d\", 10 - 3 - 2, 2 + 3 * 4, 100 / 10 / 5", "5 14 2" },
		{ "\"%d %d\", REC->u1 / (REC->u1 - 200), REC->u1 % 0", "0 0" },
		{ "\"%d\", REC->u1 == 200 && REC->s1 == -5 || 0", "1" },
		{ "\"%u %u\", REC->array[1], ((u32 *)REC->array)[2]", "20 300" },
		{ "\"%u\", REC->array[REC->u1]", "0" },                 /* beyond */
		{ "\"%u %u\", ((u16 *)__get_rel_dynamic_array(rel))[1], *(u8 *)REC->bytes", "13090 254" },
		{ "\"%d\", __get_str(d)[1]", "101" },
		{ "\"%zu %zu %d\", sizeof(u64), sizeof(REC->array), (int)sizeof(unsigned short)", "8 16 2" },
		{ "\"%lu %lu\", (REC->s4 & ((((1UL)) << (1))|(((1UL)) << (0)))), (REC->s1 & (((1UL)) << (2)))", "2 0" },
		{ "\"%s\", (REC->u1 == SOME_NAME) ? \"A\" : (REC->u1 - 200 == ANOTHER) ? \"B\" : \"?\"", "?" },
		{ "\"%d\", (((u64)(REC)->u1 << 32) | (REC)->u2) != 0", "1" },
		/* texts */
		{ "\"plain\\n100%%\\n\"", "plain\n100%" }, { "\"%#x|%#5X|%#o\", REC->u1 - 200, 0, 0", "0x0|  0X0|0" },
		/* what depends on a name of the kernel */
		{ "\"age=%lu|%5d|%-*x|%s\", (jiffies - REC->u8) / 250, SOME_NAME, 3, nr_cpu_ids, REC->u1 == SOME_NAME ? \"a\" : \"b\"",
		  "age=?|    ?|?  |?" },
		{ "\"%s %s\", __print_symbolic(0, { HI_SOFTIRQ, \"HI\" }, { TIMER_SOFTIRQ, \"TIMER\" }), "
		  "__print_symbolic(5, { BLOCK_IOPOLL_SOFTIRQ, \"POLL\" })", "HI POLL" },
		{ "\"a\" \"b\" \"%s\", \"c\" \"d\"", "abcd" },
		{ "\"%s|%8s|%-8s|%.3s|%6.2s|\", REC->str, REC->str, REC->str, REC->str, REC->str",
		  "comm|    comm|comm    |com|    co|" },
		{ "\"%.*s|%*s|%-*s|\", 2, __get_str(d), 7, __get_str(d), 7, __get_str(d)", "he|  hello|hello  |" },
		{ "\"%.*s|%*s|\", REC->s4, __get_str(d), -7, __get_str(d)", "hello|hello  |" },
		{ "\"<%s>\", __get_str(empty)", "<>" }, { "\"a=\\\"%s\\\" b\", __get_str(fetched)", "a=(fault) b" },
		{ "\"a=\\\"%s\\\" b=\\\"%s\\\"\", __get_str(fetched), __get_str(fetched)", "a=(fault) b=(fault)" },
		{ "\"\\\"%s\\\"%s\\\"\", __get_str(fetched), __get_str(d)", "(fault)hello\"" },
		{ "\"%s|%s\", __get_str(fetched), __get_str(fetched)", "(fault)|(fault)" },
		{ "\"%.3s|%9s\", __get_str(fetched), __get_str(fetched)", "(fa|  (fault)" },
		{ "\"%s %.2s\", REC->u1 ? ((void *)0) : __get_str(d), REC->u1 ? ((void *)0) : \"x\"", "(null) (n" },
		{ "\"[%c%c%3c]\", REC->u1 ? 'F' : ' ', '\\n', 'x'", "[F\n  x]" }, { "\"%s\", (char *)REC->str", "comm" },
		{ "\"%s\", REC->u8", "ffffffff81000010" },     /* a pointer to a string */
		{ "\"%p %p %px\", (void *)REC->u8, 0, REC->u8", "0xffffffff81000010 (nil) ffffffff81000010" },
		{ "\"%ps %pS %ps\", REC->u8, (void *)REC->u8, 16", "_text _text+0x10 0x10" },
		/* tables */
		{ "\"%s\", __print_symbolic(REC->u1, { 199, \"no\" }, { 0xc8, \"yes\" })", "yes" },
		{ "\"%s\", __print_symbolic(REC->u1, { 1, \"no\" })", "0xc8" },
		{ "\"%s\", __print_symbolic(REC->u1, { })", "0xc8" },
		{ "\"%s\", __print_symbolic(REC->s4, { -42, \"minus\" })", "minus" },
		{ "\"%s\", __print_symbolic(0, { NO_NUMBER, \"named\" }, { 0, \"zero\" })", "zero" },
		{ "\"%6s|\", __print_symbolic(REC->u1, { 200, \"ab\" })", "    ab|" },
		{ "\"%s\", __print_flags(REC->u1, \"|\", { 0x80, \"A\" }, { 0x48, \"B\" }, { 1, \"C\" })", "A|B" },
		{ "\"%s\", __print_flags(REC->u2, \"\", { 0x20, \"A\" }, { 0x40, \"B\" })", "AB0xea00" },
		{ "\"%s\", __print_flags(REC->u8, \",\", { 1ULL << 63, \"top\" }, { 16, \"x\" })", "top,x,0x7fffffff81000000" },
		{ "\"<%s>\", __print_flags(REC->u1 & 7, \"|\", { NO_NUMBER, \"x\" }, { 1, \"y\" })", "<>" },
		/* a path and the bytes of a buffer, as system calls have them since Linux 6.19 */
		{ "\"dfd: 0x%08lx, filename: 0x%08lx \\\"%s\\\", flags: %s%s, mode: 0%03o\", ((unsigned long)(REC->s4)), "
		  "((unsigned long)(REC->u8)), __get_str(d), (REC->u4 & ~3) && !(REC->u4 & 3) ? \"O_RDONLY|\" : \"\", "
		  "REC->u4 ? __print_flags(REC->u4, \"|\", { 0x1, \"O_WRONLY\" }, { 0x80000, \"O_CLOEXEC\" }) : \"O_RDONLY\", "
		  "((unsigned long)(REC->u1))",
		  "dfd: 0xffffffffffffffd6, filename: 0xffffffff81000010 \"hello\", flags: O_RDONLY|O_CLOEXEC|0xee632800, mode: 0310" },
		{ "\"buf: 0x%08lx (%s)\", ((unsigned long)(REC->u1)), __print_dynamic_array(d, 1)",
		  "buf: 0x000000c8 ({0x68,0x65,0x6c,0x6c,0x6f,0x0})" },
		{ "\"%s\", __print_flags_u64(REC->u1, \"|\", { 200, \"all\" })", "all" },
		{ "\"%s\", REC->s1 ? __print_flags(3, \"|\", { 1, \"a\" }, { 2, \"b\" }) : \"-\"", "a|b" },
		/* bytes */
		{ "\"%s\", __print_hex(__get_rel_dynamic_array(rel), 3)", "00 11 22" },
		{ "\"%s\", __print_hex_str(REC->array, 2 * 4)", "0100000014000000" },
		{ "\"<%s>\", __print_hex(REC->bytes, REC->s4)", "<>" },
		{ "\"%s\", __print_array(REC->array, 4, 4)", "{0x1,0x14,0x12c,0xee6b2800}" },
		{ "\"%s\", __print_array(REC->array, REC->u1, sizeof(u64))", "{0x1400000001,0xee6b28000000012c}" },
		{ "\"%s\", __print_dynamic_array(mask, 8)", "{0x8000000000000f05,0x3}" },
		{ "\"%d\", __get_rel_dynamic_array_len(rel) / 4", "4" },
		{ "\"%s\", __get_bitmask(mask)", "00000000,00000003,80000000,00000f05" },
		{ "\"%s\", __get_cpumask(mask)", "0,2,8-11,63-65" },
		{ "\"%*pbl|%*pb|%*pb\", 10, __get_dynamic_array(mask), 10, __get_dynamic_array(mask), 36, "
		  "REC->array", "0,2,8-9|305|4,00000001" },
		{ "\"%*ph|%3phC|%*phN|%*phD\", 2, REC->array, REC->array, 5, REC->array, 2, REC->array",
		  "01 00|01:00:00|0100000014|01-00" },
		{ "\"%*ph\", REC->u1, __get_rel_dynamic_array(rel)", "00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff" },
		/* addresses */
		{ "\"%pI4 %pi4 %pI4h\", &REC->u4, &REC->u4, &REC->u4", "0.40.107.238 000.040.107.238 238.107.40.0" },
		{ "\"%pI6c\", REC->bytes", "fe80::200:5efe:10.0.0.1" },
		{ "\"%pI6 %pi6\", REC->bytes, REC->bytes",
		  "fe80:0000:0000:0000:0200:5efe:0a00:0001 fe80000000000000" "02005efe0a000001" },
		{ "\"%pIS %pISpc\", REC->in4, REC->in4", "127.0.0.1 127.0.0.1:8080" },
		{ "\"%pISc %pISpc\", REC->in6, REC->in6", "2001:db8::1 [2001:db8::1]:80" },
		{ "\"%pM %pMR %pMF %pm\", REC->bytes, REC->bytes, REC->bytes, REC->bytes",
		  "fe:80:00:00:00:00 00:00:00:00:80:fe fe-80-00-00-00-00 fe8000000000" },
		{ "\"%pU\", __get_rel_dynamic_array(rel)", "00112233-4455-6677-8899-aabbccddeeff" },
		{ "\"%pUL %pUb\", __get_rel_dynamic_array(rel), __get_rel_dynamic_array(rel)",
		  "33221100-5544-7766-8899-AABBCCDDEEFF 00112233-4455-6677-8899-aabbccddeeff" },
		{ "\"%pM %pI4 %pI6 %pU\", &REC->u1, &REC->u1, &REC->u1, &REC->u1",
		  "INVALIDMAC INVALIDIPv4 INVALIDIPv6 INVALIDUUID" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *text = text_of(rows[i].print_fmt);

		if (!text || strcmp(text, rows[i].text))
			fail_msg("%s\nprints:   %s\nexpected: %s", rows[i].print_fmt, text ? text : "(not compiled)", rows[i].text);
	}
}

TEST(texts_of_the_kernel_have_addresses)
{
	static const char lines[] = "0xffffffff81000010 : \"one \\\"quoted\\\"\"\n0x10 : broken\nnot a line\n0x5 : \"unended";
	struct kerneltexts texts = { 0 };

	kerneltexts_add(&texts, lines, sizeof(lines) - 1);
	symbols.texts = &texts;
	assert_string_equal(text_of("\"%s %s\", REC->u8, REC->s8"), "one \"quoted\" fffffffe5ec47a00");
	assert_string_equal(kerneltexts_find(&texts, 5), "unended");
	assert_null(kerneltexts_find(&texts, 16));
	symbols.texts = NULL;
	kerneltexts_free(&texts);
}

/* Such events print as their fields. */
TEST(what_is_not_understood)
{
	static const char *const texts[] = {
		"", "x", "\"%d\"", "\"%d\", REC->nothing", "\"%d\", REC->str", "\"%s\", REC->u4",
		"\"%d\", jiffies_to_msecs(REC->u4)", "\"%s\", ({ int x = 1; x; })", "\"%d\", (1", "\"%d\", 1 +",
		"\"%d\", 1 1", "\"unfinished", "\"%f\", 1.5", "\"%k\", 1", "\"%", "\"%99999d\", 1",
		"\"%s\", __print_flags(1, 2)", "\"%s\", __print_symbolic(1, { 1 })",
		"\"%s\", __print_array(REC->bytes, 1, 3)", "\"%s\", __get_str(str)", "\"%d\", REC->d",
		"\"%s\", __print_hex(5, 1)", "\"%d\", &REC->u4", "\"%d\", __get_str(d)", "\"%*p\", 1, REC->u8",
	};
	char deep[4096] = "\"%d\", ";

	for (size_t i = 0; i < COUNT(texts); i++)
		if (text_of(texts[i]))
			fail_msg("%s was compiled", texts[i]);
	memset(deep + strlen(deep), '(', 2000);
	assert_null(text_of(deep));
	strcpy(deep, "\"%d\", 1");
	for (int i = 0; i < 1500; i++)
		strcat(deep, "-");
	assert_null(text_of(deep));
}

TEST(a_buffer_too_small_tells_what_is_needed)
{
	static const char print_fmt[] = "\"%s %-20s %d\", __get_str(d), REC->str, REC->s4";
	struct event e = event();
	const char *why, whole[] = "hello comm                 -42";
	struct printfmt *p = printfmt_compile(&fmt, print_fmt, strlen(print_fmt), &why);

	assert_non_null(p);
	for (size_t size = 0; size <= sizeof(whole); size++) {
		char *buf = malloc(size + 1);
		size_t n = printfmt_write(p, &e, sizeof(e), NULL, buf, size);

		if (size < sizeof(whole) - 1)
			assert_true(n > size);
		else
			assert_int_equal(n, sizeof(whole) - 1);
		if (size == sizeof(whole))
			assert_memory_equal(buf, whole, n);
		free(buf);
	}
	printfmt_free(p);
}

/* A dynamic field that lies beyond the event is empty: the program trusts nobody. */
TEST(what_lies_outside_is_empty)
{
	static const char print_fmt[] = "\"<%s><%s>\", __get_str(d), __print_hex(__get_dynamic_array(mask), 9)";
	struct event e = event();
	const char *why;
	struct printfmt *p = printfmt_compile(&fmt, print_fmt, strlen(print_fmt), &why);
	char buf[64];
	size_t n;

	assert_non_null(p);
	e.d = (sizeof(e) - 2) | 3u << 16;
	e.mask = 0xffffffff;
	n = printfmt_write(p, &e, sizeof(e), NULL, buf, sizeof(buf));
	assert_int_equal(n, 4);
	assert_memory_equal(buf, "<><>", 4);
	printfmt_free(p);
}

/* A type before them whose members are skipped; an enum with a sign, one without, one of 64 bits; one name with two values. */
struct types {
	struct btf_header head;
	struct btf_type structure;
	struct btf_member member;
	struct btf_type small;
	struct btf_enum smalls[3];
	struct btf_type big;
	struct { uint32_t name, low, high; } bigs[2];
	char names[20];
} __attribute__((packed));

#define LAYOUT(from, to) (uint32_t)(offsetof(struct types, to) - offsetof(struct types, from))

static const struct types types = {
	{ .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(struct btf_header), .type_len = LAYOUT(structure, names),
	  .str_off = LAYOUT(structure, names), .str_len = sizeof(types.names) },
	{ .info = BTF_KIND_STRUCT << 24 | 1 }, { 0 },
	{ .info = 1u << 31 | BTF_KIND_ENUM << 24 | 3, .size = 4 }, { { 1, 7 }, { 5, -2 }, { 9, 1 } },
	{ .info = 19 << 24 | 2, .size = 8 }, { { 13, 1, 0x80000000 }, { 9, 2, 0 } },
	"\0ONE\0TWO\0TEN\0LARGE",
};

TEST(enumerators_of_the_kernel)
{
	struct enumerators all = { 0 };
	uint64_t value;

	enumerators_read(&all, (const char *)&types, sizeof(types));
	assert_int_equal(all.n, 5);
	assert_true(enumerators_find(&all, "ONE", 3, &value) && value == 7);
	assert_true(enumerators_find(&all, "TWO, more", 3, &value) && (int64_t)value == -2);
	assert_true(enumerators_find(&all, "LARGE", 5, &value) && value == UINT64_C(0x8000000000000001));
	assert_false(enumerators_find(&all, "TEN", 3, &value));
	assert_false(enumerators_find(&all, "ON", 2, &value));
	assert_false(enumerators_find(&all, "ONES", 4, &value));
	free(all.all);
}

TEST(enumerators_before_Linux_6_0)
{
	struct types old = types;
	struct enumerators all = { 0 };
	uint64_t value;

	old.head.type_len = LAYOUT(structure, big);
	old.small.info &= ~(1u << 31);
	enumerators_read(&all, (const char *)&old, sizeof(old));
	assert_true(enumerators_find(&all, "TWO", 3, &value) && (int64_t)value == -2);
	free(all.all);
}

/* No prefix and no changed byte leads outside. */
TEST(damaged_enumerators)
{
	for (size_t at = 0; at <= sizeof(types); at++) {
		char *prefix = malloc(at + !at), *copy = malloc(sizeof(types));
		struct enumerators cut = { 0 }, changed = { 0 };

		memcpy(prefix, &types, at);
		memcpy(copy, &types, sizeof(types));
		enumerators_read(&cut, prefix, at);
		assert_true(cut.n == 0 || at == sizeof(types));
		if (at < sizeof(types))
			copy[at] ^= 0xff;
		enumerators_read(&changed, copy, sizeof(types));
		assert_true(changed.n <= 5);
		free(cut.all);
		free(changed.all);
		free(prefix);
		free(copy);
	}
}
