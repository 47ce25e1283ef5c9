/* SPDX-License-Identifier: Apache-2.0 */
/* Filters taken apart: what the kernel gets, and in which words. */
#include "checks.h"

#include "stream/asked/filter.h"
#include "stream/asked/kfilter.h"
#include "stream/state/state.h"

#define RAW(name_, kind_, offset_, size_) { .name = name_, .kind = EXPR_FIELD_ ## kind_,           \
	.area = SCHEMA_RAW, .offset = offset_, .size = size_ }

static const struct expr_field fields[] = {
	RAW("u8", UINT, 8, 1), RAW("s8", SINT, 9, 1), RAW("u16", UINT, 10, 2), RAW("s32", SINT, 12, 4),
	RAW("u32", UINT, 16, 4), RAW("u64", UINT, 24, 8), RAW("s64", SINT, 32, 8),
	RAW("name", CHARS, 40, 16), { "former", EXPR_FIELD_DATA_LOC, SCHEMA_RAW, false, 80, 4, .next = 56 },
	RAW("dyn", DATA_LOC, 56, 4), RAW("rel", REL_LOC, 60, 4), RAW("path", POINTER, 64, 8), RAW("mac", BYTES, 72, 6),
	{ "_cpu", EXPR_FIELD_UINT, SCHEMA_CPU, false, 0, 4 }, { "_pid", EXPR_FIELD_SINT, SCHEMA_RECORD, false, 8, 4 },
	{ "CPU", EXPR_FIELD_UINT, SCHEMA_CPU, true, 0, 4 }, { "comm", EXPR_FIELD_CALLED, 0, true, SCHEMA_COMM, 0 },
	{ "COMM", EXPR_FIELD_CALLED, 0, true, SCHEMA_COMM, 0 }, { "_comm", EXPR_FIELD_CALLED, 0, false, SCHEMA_COMM, 0 },
};
static const struct expr_schema schema = { fields, COUNT(fields), &schema_comm, 1 };

static const struct {
	const char *text, *kernel, *here;
} splits[] = {
	/* what both understand goes to the kernel as a whole */
	{ "u8>1", "u8>1", "" }, { "u8 > 1 && s32 <= -5", "u8>1 && s32<=-5", "" },
	{ "u8>1||u16>2&&u32!=0x10", "(u8>1 || u16>2 && u32!=16)", "" },
	{ "(u8>1||u16>2)&&u32==3", "(u8>1 || u16>2) && u32==3", "" },
	{ "u8>1||(u16>2||u32>3)", "(u8>1 || (u16>2 || u32>3))", "" }, { "!(u8>1&&u16>2)", "!(u8>1 && u16>2)", "" },
	{ "!u8==1", "!(u8==1)", "" }, { "u64 & 0x8000000000000000", "u64&9223372036854775808", "" },
	{ "name==\"x\" && dyn!='y' && rel~\"z*\"", "name==\"x\" && dyn!=\"y\" && rel~\"z*\"", "" },
	{ "path==\"/etc\"", "path==\"/etc\"", "" },
	/* a text before another one of a probe may be that one in the kernel */
	{ "former==\"x\" && dyn=='y'", "dyn==\"y\"", "former==\"x\"" }, { "path==0", "path==0", "" },
	{ "comm==\"x\"", "comm==\"x\"", "" }, { "_comm==\"x\"", "COMM==\"x\"", "" }, { "_comm!='java'", "COMM!=\"java\"", "" },
	{ "_comm~\"j*\" && u8>1", "COMM~\"j*\" && u8>1", "" }, { "_comm==name", NULL, "_comm==name" },
	{ "_comm~\"j*\" || _pid==1", NULL, "_comm~\"j*\" || _pid==1" },
	/* idle tasks have other names in the kernel */
	{ "_comm==\"swapper\"", NULL, "_comm==\"swapper\"" }, { "_comm~\"*r\"", NULL, "_comm~\"*r\"" },
	{ "comm==\"swapper/1\"", "comm==\"swapper/1\"", "" },
	/* in words that the kernel knows */
	{ "5<u8", "u8>5", "" }, { "5>=u8", "u8<=5", "" }, { "\"x\"==name", "name==\"x\"", "" }, { "4&u8", "u8&4", "" },
	{ "u8", "u8!=0", "" }, { "!s32", "!(s32!=0)", "" }, { "(u8&4)!=0", "u8&4", "" }, { "(u8&4)==0", "!(u8&4)", "" },
	{ "u8==010u", "u8==8", "" }, { "s8==200", "s8==-56", "" }, { "u8!=-1", "u8!=255", "" },
	{ "s64==0xffffffffffffffff", "s64==-1", "" }, { "_cpu==1", "CPU==1", "" }, { "_cpu>=2&&_cpu<4", "CPU>=2 && CPU<4", "" },
	{ "CPU", "CPU!=0", "" }, { "name==\"a\\\"b\"", "name=='a\"b'", "" }, { "name=='a\\'b'", "name==\"a'b\"", "" },
	/* globs that the kernel gets wrong */
	{ "name~\"*java\"", "name~\"*\\java\"", "" }, { "name~\"*java*\"", "name~\"*\\java*\"", "" },
	{ "name~\"!*x\"", "name~\"!*\\x\"", "" }, { "dyn~\"5*\"", "dyn~\"[5]*\"", "" }, { "dyn~\"!5*\"", "dyn~\"![5]*\"", "" },
	{ "name~\"*\"", "name~\"*\"", "" }, { "name~\"*[a]\"", "name~\"*[a]\"", "" },
	{ "name~\"java*\"", "name~\"java*\"", "" }, { "name~\"a*b\"", "name~\"a*b\"", "" },
	/* what the kernel can't say stays here, and what stands beside it goes */
	{ "u8<u16", NULL, "u8<u16" }, { "u8+1>10", NULL, "u8+1>10" }, { "_pid!=0", NULL, "_pid!=0" },
	{ "u8>10 && _pid==1", "u8>10", "_pid==1" },
	{ "u8<u16 && u8>1 && _pid==1 && name==\"x\"", "u8>1 && name==\"x\"", "u8<u16 && _pid==1" },
	{ "(u8>1 && _pid==1) && u16>2", "u8>1 && u16>2", "_pid==1" },
	{ "u8>1 && (u16>2 || u32>3) && _pid==1", "u8>1 && (u16>2 || u32>3)", "_pid==1" },
	{ "u8>1 || _pid==1", NULL, "u8>1 || _pid==1" }, { "u8>1 && (u16>1 || _pid==1)", "u8>1", "(u16>1 || _pid==1)" },
	{ "u8>1 && !(_pid==1)", "u8>1", "!(_pid==1)" }, { "path==\"x\" && _pid==1", "path==\"x\"", "_pid==1" },
	/* constants that the kernel would cut, or refuse */
	{ "u8==256", NULL, "u8==256" }, { "u8<300", NULL, "u8<300" }, { "s8<200", NULL, "s8<200" },
	{ "s8<-129", NULL, "s8<-129" }, { "u32>-1", NULL, "u32>-1" }, { "s32<5u", NULL, "s32<5u" },
	{ "s64<9223372036854775808", NULL, "s64<9223372036854775808" }, { "_cpu&1", NULL, "_cpu&1" },
	{ "_cpu==4294967296", NULL, "_cpu==4294967296" },
	/* text that the kernel has no words for */
	{ "name=='a\"b\\'c'", NULL, "name=='a\"b\\'c'" },
	{ "name==\"longer than the array is\"", NULL, "name==\"longer than the array is\"" },
	{ "name~\"a[!b]*\"", NULL, "name~\"a[!b]*\"" },
	{ "name==dyn", NULL, "name==dyn" }, { "strncmp(name,\"x\",1)==0", NULL, "strncmp(name,\"x\",1)==0" },
	{ "u8?u16>1:u32>1", NULL, "u8?u16>1:u32>1" }, { "1", NULL, "1" },
};

TEST(each_side_gets_what_it_understands)
{
	for (size_t i = 0; i < COUNT(splits); i++) {
		struct expr_error err = { 0 };
		struct filter f;
		enum filter_fate fate = filter_split(&f, splits[i].text, &schema, false, &err);

		if (fate != FILTER_SPLIT)
			fail_msg("%s: %d: %s", splits[i].text, fate, err.message);
		if (!f.kernel != !splits[i].kernel || (f.kernel && strcmp(f.kernel, splits[i].kernel)) ||
		    strcmp(f.text, splits[i].here) || !f.here != !*splits[i].here)
			fail_msg("%s: kernel: %s, here: %s", splits[i].text, f.kernel, f.text);
		filter_free(&f);
		assert_int_equal(filter_split(&f, splits[i].text, &schema, true, &err),
				 strstr(splits[i].text, "path==\"") ?
				 FILTER_NO_FIELDS : FILTER_SPLIT);
		assert_null(f.kernel);
		filter_free(&f);
	}
}

/* The table of docs/expressions.md: "| `FILTER` | `KERNEL` | `HERE` |". */
static void check_row(char *row, const struct expr_schema *s)
{
	char filter[128] = "", kernel[128] = "", here[128] = "", *bar;
	struct filter f;

	while ((bar = strstr(row, "\\|")))
		memmove(bar, bar + 1, strlen(bar));
	if (sscanf(row, "| `%127[^`]` | `%127[^`]` | `%127[^`]` |", filter, kernel, here) < 2)
		sscanf(row, "| `%127[^`]` | | %127[^|]|", filter, here);
	assert_int_equal(filter_split(&f, filter, s, false, NULL), FILTER_SPLIT);
	if (strcmp(f.kernel ? f.kernel : "", kernel))
		fail_msg("%s: kernel: %s", filter, f.kernel);
	if (strcmp(f.text, strcmp(here, "all of it ") ? here : filter))
		fail_msg("%s: here: %s", filter, f.text);
	filter_free(&f);
}

TEST(the_table_of_the_manual_is_true)
{
	static const struct expr_field own[] = {
		RAW("pid", SINT, 8, 4), RAW("prio", SINT, 12, 4), RAW("target_cpu", SINT, 16, 4),
		{ "_cpu", EXPR_FIELD_UINT, SCHEMA_CPU, false, 0, 4 }, { "CPU", EXPR_FIELD_UINT, SCHEMA_CPU, true, 0, 4 },
		{ "COMM", EXPR_FIELD_CALLED, 0, true, SCHEMA_COMM, 0 },
		{ "_comm", EXPR_FIELD_CALLED, 0, false, SCHEMA_COMM, 0 },
		{ "_pid", EXPR_FIELD_SINT, SCHEMA_RECORD, false, 8, 4 },
	};
	const struct expr_schema s = { own, COUNT(own), NULL, 0 };
	const char *root = getenv("SOURCE_ROOT");
	char line[4096];
	int rows = -1;
	FILE *file;

	if (!root)
		skip();
	snprintf(line, sizeof(line), "%s/docs/expressions.md", root);
	file = fopen(line, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) && rows < 100) {
		if (!strncmp(line, "| Filter |", 10))
			rows = 0;
		else if (rows >= 0 && line[0] != '|')
			break;
		else if (rows >= 0 && line[1] == ' ' && ++rows)
			check_row(line, &s);
	}
	fclose(file);
	assert_int_equal(rows, 6);
}

TEST(what_has_no_meaning_is_told_apart)
{
	static const struct {
		const char *text;
		enum filter_fate fate;
		size_t at;
	} bad[] = {
		{ "u8>", FILTER_NO_EXPRESSION, 3 }, { "CPUS{1}&mask", FILTER_NO_EXPRESSION, 4 },
		{ "path.ustring==\"x\"", FILTER_NO_EXPRESSION, 4 }, { "u8>1 && none>1", FILTER_NO_FIELDS, 8 },
		{ "mac==1", FILTER_NO_FIELDS, 0 }, { "u8>1 && name", FILTER_NO_FIELDS, 8 }, { "comm==1", FILTER_NO_FIELDS, 6 },
		{ "u8>1 && path==\"x\"+1", FILTER_NO_FIELDS, 14 }, { "path==dyn", FILTER_NO_FIELDS, 0 },
	};

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct expr_error err = { 0 };
		struct filter f;
		enum filter_fate fate = filter_split(&f, bad[i].text, &schema, false, &err);

		if (fate != bad[i].fate || err.at != bad[i].at || !err.message[0])
			fail_msg("%s: %d at %zu: %s", bad[i].text, fate, err.at, err.message);
		assert_null(f.kernel);
		assert_null(f.here);
		assert_null(f.text);
	}
}

TEST(names_of_tasks_have_15_bytes)
{
	static const struct {
		const char *text;
		size_t at;               /* 0: fine */
	} rows[] = {
		{ "name==\"123456789012345\"", 0 }, { "name==\"1234567890123456\"", 6 }, { "u8==1 || !(_comm!='1234567890123456')", 18 },
		{ "comm~\"my-very-long*\"", 0 }, { "comm~\"*123456789012345*6\"", 5 }, { "comm~\"!1234567890123456\"", 0 },
		{ "comm~\"[1][2][3][4][5][6]\"", 0 }, { "dyn==\"1234567890123456\"", 0 }, { "name==", 0 }, { "none==\"1234567890123456\"", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct expr_error err = { 0 };

		assert_int_equal(filter_names_longer(rows[i].text, &schema, &err), rows[i].at != 0);
		if (rows[i].at)
			assert_int_equal(err.at, rows[i].at);
	}
}

/* A list of pids longer than the kernel's page: what doesn't fit is evaluated here. */
TEST(a_long_filter_overflows_to_here)
{
	static const char *const words[][2] = { { " && ", "!=" }, { " || ", "==" } };

	for (size_t k = 0; k < COUNT(words); k++) {
		char text[8192];
		size_t n = 0;
		struct filter f;

		for (int i = 0; i < 400; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%ss32%s%d", i ? words[k][0] : "", words[k][1], i + 1000);
		assert_int_equal(filter_split(&f, text, &schema, false, NULL), FILTER_SPLIT);
		assert_non_null(f.here);
		if (!k) {
			assert_in_range(strlen(f.kernel), KFILTER_MAX / 2, KFILTER_MAX);
			assert_memory_equal(f.kernel, "s32!=1000 && ", 13);
			SAYS(f.text, "s32!=1399");
		} else {
			assert_null(f.kernel);
		}
		filter_free(&f);
	}
}

/* A sample: TID and TIME, then raw data; the filter reads all three areas. */
TEST(a_sample_passes_or_not)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
	} rec = { { .type = PERF_RECORD_SAMPLE, .size = sizeof(rec) }, 7, 8 };
	struct filter f;
	struct stream_event event = { .name = "a:b", .opened.filtered = &f };
	uint8_t raw[80] = { [8] = 5 };

	assert_int_equal(filter_split(&f, "_pid==7 && u8==5 && _cpu==3", &schema, true, NULL), FILTER_SPLIT);
	assert_true(filter_passes(&event, &rec.header, raw, sizeof(raw), 3));
	assert_false(filter_passes(&event, &rec.header, raw, sizeof(raw), 2));
	raw[8] = 6;
	assert_false(filter_passes(&event, &rec.header, raw, sizeof(raw), 3));
	raw[8] = 5;
	rec.pid = 9;
	assert_false(filter_passes(&event, &rec.header, raw, sizeof(raw), 3));
	assert_int_equal(f.failed, 0);
	rec.pid = 7;
	assert_false(filter_passes(&event, &rec.header, raw, 8, 3));
	assert_int_equal(f.failed, 1);
	filter_free(&f);
}

static const char *comm_of(void *stream, const struct stream_event *event, const struct perf_event_header *rec, const void *raw)
{
	return rec->size == 8 ? stream : "other";
}

TEST(the_name_of_the_task_is_asked_for)
{
	struct perf_event_header rec = { .type = PERF_RECORD_SAMPLE, .size = 8 };
	struct event_naming naming = { .comm = comm_of, .stream = "java" };
	struct filter f;
	struct stream_event event = { .name = "a:b", .opened.filtered = &f, .naming = &naming };

	assert_int_equal(filter_split(&f, "_comm==\"java\" && comm~\"j*\"", &schema, true, NULL), FILTER_SPLIT);
	assert_true(expr_calls(f.here, &schema_comm));
	assert_true(filter_passes(&event, &rec, NULL, 0, 0));
	rec.size = 16;
	assert_false(filter_passes(&event, &rec, NULL, 0, 0));
	filter_free(&f);
	assert_int_equal(filter_split(&f, "u8==1", &schema, true, NULL), FILTER_SPLIT);
	assert_false(expr_calls(f.here, &schema_comm));
	filter_free(&f);
}

TEST(an_event_has_its_fields_and_those_of_all_samples)
{
	static struct trace_field own[] = {
		{ "common_pid", "int", FIELD_SINT, 4, 4 }, { "path", "const char *", FIELD_UINT, 8, 8 },
		{ "buf", "char * ", FIELD_UINT, 16, 8 }, { "p", "void *", FIELD_UINT, 24, 8 },
		{ "name", "char[16]", FIELD_STR, 32, 16 }, { "cpu", "u32", FIELD_UINT, 48, 4 },
	};
	struct tracefmt fmt = { .fields = own, .nfields = COUNT(own), .ncommon = 1 };
	struct stream_event event = { .name = "a:b", .fmt = &fmt };
	struct expr_schema s;

	layout_from_sample_type(&event.layout, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW);
	assert_int_equal(schema_of_event(&s, &event), 0);
	ARE(NUMBERS(expr_field(&s, "path", 4)->kind, expr_field(&s, "buf", 3)->kind, expr_field(&s, "p", 1)->kind),
	    NUMBERS(EXPR_FIELD_POINTER, EXPR_FIELD_POINTER, EXPR_FIELD_UINT));
	ARE(NUMBERS(expr_field(&s, "name", 4)->size, expr_field(&s, "common_pid", 10)->offset), NUMBERS(16, 4));
	/* the event's own field of a name comes first */
	ARE(NUMBERS(expr_field(&s, "cpu", 3)->area, expr_field(&s, "CPU", 3)->area, expr_field(&s, "_pid", 4)->offset),
	    NUMBERS(SCHEMA_RAW, SCHEMA_CPU, 8));
	ARE(NUMBERS(expr_field(&s, "_tid", 4)->offset, expr_field(&s, "_time", 5)->offset), NUMBERS(12, 16));
	assert_int_equal(expr_field(&s, "_period", 7)->area, SCHEMA_EACH);   /* not sampled */
	assert_int_equal(expr_field(&s, "comm", 4)->kind, EXPR_FIELD_CALLED);
	assert_null(expr_field(&s, "com", 3));
	assert_null(expr_field(&s, "comms", 5));
	schema_free(&s);
}

TEST(what_is_no_tracepoint_has_the_parts_of_its_samples)
{
	struct stream_event event = { .name = "page-faults" };
	struct expr_schema s;

	layout_from_sample_type(&event.layout, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR);
	assert_int_equal(schema_of_event(&s, &event), 0);
	ARE(NUMBERS(expr_field(&s, "ip", 2)->offset, expr_field(&s, "tid", 3)->offset, expr_field(&s, "addr", 4)->offset),
	    NUMBERS(8, 20, 24));
	assert_int_equal(expr_field(&s, "_cpu", 4)->area, SCHEMA_CPU);
	assert_null(expr_field(&s, "time", 4));
	assert_int_equal(expr_field(&s, "comm", 4)->kind, EXPR_FIELD_CALLED);
	schema_free(&s);
}
