/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of several kernels, fields of every kind, raw data that is cut or lies. */
#include "checks.h"

#include "tracefmt/tracefmt.h"

#include <stdbool.h>

#include "formats.h"
#include "tree.h"

enum { MAX_RAW = 512 };

/* Raw data that is written field by field, and copied so that it ends where its
 * allocation does. */
struct raw {
	const struct tracefmt *fmt;
	char bytes[MAX_RAW];
	uint32_t size;
};

static int open_db(void **state)
{
	*state = tracefmt_db_new();
	return *state ? 0 : -1;
}

static int close_db(void **state)
{
	tracefmt_db_free(*state);
	return 0;
}

static const struct tracefmt *parse(void *db, const char *sys, const char *text)
{
	struct fault f = { 0 };
	const struct tracefmt *fmt = tracefmt_parse(db, text, strlen(text), sys, &f);

	assert_non_null(fmt);
	assert_int_equal(f.exit_code, 0);
	return fmt;
}

static const struct trace_field *field_of(const struct tracefmt *fmt, const char *name)
{
	for (size_t i = 0; i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, name))
			return &fmt->fields[i];
	return NULL;
}

static const struct trace_field *field(const struct tracefmt *fmt, const char *name)
{
	const struct trace_field *f = field_of(fmt, name);

	assert_non_null(f);
	return f;
}

static struct raw raw_of(const struct tracefmt *fmt)
{
	struct raw r = { .fmt = fmt, .size = fmt->min_size };

	assert_true(fmt->min_size <= MAX_RAW);
	memcpy(r.bytes, &fmt->id, 2);
	return r;
}

static void set(struct raw *r, const char *name, uint64_t value)
{
	const struct trace_field *f = field(r->fmt, name);

	memcpy(r->bytes + f->offset, &value, f->size);   /* little endian */
}

static void set_text(struct raw *r, const char *name, const char *text)
{
	const struct trace_field *f = field(r->fmt, name);

	strncpy(r->bytes + f->offset, text, f->size);
}

/* Appends bytes and lets the field point to them, as the kernel does. */
static void set_dynamic(struct raw *r, const char *name, const void *bytes, uint32_t len)
{
	const struct trace_field *f = field(r->fmt, name);
	bool relative = f->kind == FIELD_REL_STR || f->kind == FIELD_REL_BYTES;

	assert_true(r->size + len <= MAX_RAW);
	set(r, name, (r->size - (relative ? f->offset + 4u : 0)) | len << 16);
	memcpy(r->bytes + r->size, bytes, len);
	r->size += len;
}

static void *copy_of(const struct raw *r, uint32_t size)
{
	void *copy = malloc(size ? size : 1);

	memcpy(copy, r->bytes, size);
	return copy;
}

static void holds_bytes(const struct raw *r, const char *name, const void *bytes, uint32_t len)
{
	void *copy = copy_of(r, r->size);
	const char *data = NULL;
	uint32_t got = 77;

	assert_int_equal(trace_field_data(field(r->fmt, name), copy, r->size, &data, &got), 0);
	assert_int_equal(got, len);
	assert_memory_equal(data, bytes, len);
	free(copy);
}

static void is_refused(const struct raw *r, const char *name, uint32_t size)
{
	void *copy = copy_of(r, size);
	const char *data;
	uint32_t len;

	assert_int_equal(trace_field_data(field(r->fmt, name), copy, size, &data, &len), -1);
	free(copy);
}

static void prints(void *db, const struct raw *r, const char *text)
{
	void *copy = copy_of(r, r->size);

	assert_string_equal(tracefmt_print(db, r->fmt, copy, r->size, NULL), text);
	free(copy);
}

/* ------------------------------------------------------------------------
 * Formats
 */

TEST_WITH(every_format_is_read, open_db, close_db)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		const struct tracefmt *fmt = parse(*state, formats[i].sys, formats[i].text);
		unsigned int id;
		char name[64];

		assert_int_equal(sscanf(formats[i].text, "name: %63s\nID: %u", name, &id), 2);
		assert_string_equal(fmt->name, name);
		assert_string_equal(fmt->sys, formats[i].sys);
		assert_int_equal(fmt->id, id);
		assert_int_equal(fmt->ncommon, 4);
		assert_true(fmt->nfields > 4);
		for (size_t k = 0; k < fmt->nfields; k++) {
			const struct trace_field *f = &fmt->fields[k];

			assert_true(f->size > 0 && f->offset + f->size <= fmt->min_size);
			if (f->kind <= FIELD_SINT)
				assert_true(f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
			if (f->kind >= FIELD_DYN_STR)
				assert_int_equal(f->size, 4);
		}
	}
}

TEST_WITH(each_field_has_its_kind, open_db, close_db)
{
	static const struct {
		const char *name;
		enum field_kind kind;
		uint16_t size;
	} rows[] = {
		{ "common_type", FIELD_UINT, 2 }, { "common_pid", FIELD_SINT, 4 },
		{ "a_u8", FIELD_UINT, 1 }, { "a_s8", FIELD_SINT, 1 }, { "a_u16", FIELD_UINT, 2 }, { "a_s16", FIELD_SINT, 2 },
		{ "a_bool", FIELD_UINT, 1 }, { "a_char", FIELD_SINT, 1 }, { "a_u32", FIELD_UINT, 4 }, { "a_s32", FIELD_SINT, 4 },
		{ "a_u64", FIELD_UINT, 8 }, { "a_s64", FIELD_SINT, 8 }, { "a_pointer", FIELD_UINT, 8 }, { "a_sock", FIELD_UINT, 8 },
		{ "an_enum", FIELD_UINT, 4 }, { "bytes", FIELD_BYTES, 6 }, { "words", FIELD_BYTES, 6 }, { "text", FIELD_STR, 16 },
		{ "uuid", FIELD_BYTES, 16 }, { "three", FIELD_BYTES, 3 },
		{ "name", FIELD_DYN_STR, 4 }, { "data", FIELD_DYN_BYTES, 4 }, { "mask", FIELD_DYN_BYTES, 4 },
	};
	static const struct {
		const char *text, *name;
		enum field_kind kind;
	} others[] = {
		{ SCHED_SWITCH_5_10, "prev_comm", FIELD_STR }, { SCHED_SWITCH_6_18, "prev_comm", FIELD_STR },
		{ SCHED_SWITCH_5_10, "prev_state", FIELD_SINT }, { USER_EVENT_6_4, "msg", FIELD_REL_STR },
		{ USER_EVENT_6_4, "blob", FIELD_REL_BYTES },
	};
	const struct tracefmt *fmt = parse(*state, "made_up", KINDS);

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(field(fmt, rows[i].name)->kind, rows[i].kind);
		assert_int_equal(field(fmt, rows[i].name)->size, rows[i].size);
	}
	assert_int_equal(fmt->min_size, 120);
	assert_string_equal(field(fmt, "text")->type, "char[16]");
	assert_string_equal(field(fmt, "a_pointer")->type, "void *");
	/* text is text whether the kernel calls char signed (until 5.x on x86) or not */
	for (size_t i = 0; i < COUNT(others); i++)
		assert_int_equal(field(parse(*state, "sys", others[i].text), others[i].name)->kind, others[i].kind);
}

TEST_WITH(garbage_is_no_format, open_db, close_db)
{
	static const char *const rows[] = {
		"", "\n", "name", "name:", "name: x", "name: x\nID:", "name: x\nID: y\n",
		"name: x\nID: 1\n", "name: x\nID: 1\nformat:", "name: x\nID: 1\nformat:\n\tfield:",
		"name: x\nID: 1\nformat:\n\tfield:int a;\toffset:\n",
		"\177ELF\2\1\1", "<html>404</html>", "ID: 5\nname: x\n",
	};
	char long_text[4096];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		if (tracefmt_parse(*state, rows[i], strlen(rows[i]), "sys", &f))
			continue;   /* a beginning of a format, without fields */
		assert_int_equal(f.exit_code, EXIT_FAILED);
		assert_non_null(strstr(f.text, "sys"));
	}
	memset(long_text, 'a', sizeof(long_text));
	assert_null(tracefmt_parse(*state, long_text, sizeof(long_text), "sys", NULL));
}

/* libtraceevent follows null pointers in some of them. */
TEST_WITH(formats_that_the_kernel_does_not_write, open_db, close_db)
{
	static const char *const declared[] = {
		"char a[\0216]", "char a[6", "char a]", "char \"a", "a", "* a", "int", "int *", "[4] a", "int a{}", "int 'a", "int a\\", "int \033", "",
	};
	static const char *const heads[] = {
		"name: x y\nID: 1\nformat:\n", "name: \nID: 1\nformat:\n", "name: x\nID: 1y\nformat:\n",
		"name: x\nID: \nformat:\n", "name: x\nID: 1\nformat: \n", "name: \"x\nID: 1\nformat:\n",
		"name: \033\nID: 1\nformat:\n",
	};
	const struct tracefmt *fmt;
	char text[256];

	for (size_t i = 0; i < COUNT(declared); i++) {
		snprintf(text, sizeof(text), "name: x\nID: 1\nformat:\n\tfield:%s;\toffset:0;\tsize:4;\tsigned:0;\n\n"
			 "print fmt: \"\"\n", declared[i]);
		fmt = tracefmt_parse(*state, text, strlen(text), "sys", NULL);
		assert_true(!fmt || fmt->mended);
	}
	for (size_t i = 0; i < COUNT(heads); i++) {
		snprintf(text, sizeof(text), "%s\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n", heads[i]);
		assert_null(tracefmt_parse(*state, text, strlen(text), "sys", NULL));
	}
}

/* The vendor of a kernel has a field whose type is not understood: the event keeps its name and the others. */
TEST_WITH(fields_of_a_type_that_is_not_understood_are_bytes, open_db, close_db)
{
	static const char text[] = "name: x\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:char text[(8) > 128 ? 128 : (8)];\toffset:4;\tsize:4;\tsigned:0;\n"
		"\tfield:struct { int a; } b;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:int c;\toffset:12;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%s %d\", REC->text, REC->c\n";
	static const struct { uint16_t type[2]; char text[4], b[4]; int32_t c; } raw = { { 7 }, "abc", "", -3 };
	const struct tracefmt *fmt = parse(*state, "sys", text);

	assert_true(fmt->mended);
	assert_string_equal(fmt->name, "x");
	assert_int_equal(field(fmt, "text")->kind, FIELD_STR);
	assert_string_equal(tracefmt_print(*state, fmt, &raw, sizeof(raw), NULL), "abc -3");
}

TEST_WITH(longs_have_the_size_of_their_machine, open_db, close_db)
{
	static const char text[] = "name: x\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:unsigned long args[2];\toffset:4;\tsize:8;\tsigned:0;\n\nprint fmt: \"%lx %lx\", REC->args[0], REC->args[1]\n";
	static const uint32_t raw[3] = { 7, 0x12345678, 0x9abcdef0 };

	tracefmt_set_machine(*state, 4, 4096);
	assert_string_equal(tracefmt_print(*state, parse(*state, "sys", text), raw, sizeof(raw), NULL), "12345678 9abcdef0");
}

/* It prints as its fields where there is no program for it. */
TEST_WITH(what_is_not_compiled, open_db, close_db)
{
	static const char text[] = "name: x\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:unsigned int a;\toffset:4;\tsize:4;\tsigned:0;\n\nprint fmt: \"%d\", jiffies_to_msecs(REC->a)\n";
	static const uint32_t raw[2] = { 7, 42 };
	const struct tracefmt *fmt = parse(*state, "sys", text);

	assert_non_null(tracefmt_not_compiled(fmt));
	assert_string_equal(tracefmt_print(*state, fmt, raw, sizeof(raw), NULL), " a=42");
}

/* A format that ends anywhere is read or refused, and leaks nothing. */
TEST_WITH(formats_that_are_cut, open_db, close_db)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		for (size_t len = 0; len < strlen(formats[i].text); len += 7) {
			char *text = malloc(len + 1);   /* as files are read: with a NUL */
			struct tracefmt_db *db = tracefmt_db_new();
			const struct tracefmt *fmt;

			assert_true(text && db);
			memcpy(text, formats[i].text, len);
			text[len] = '\0';
			fmt = tracefmt_parse(db, text, len, "sys", NULL);
			if (fmt)
				assert_true(fmt->nfields == 0 || fmt->min_size > 0);
			tracefmt_db_free(db);
			free(text);
		}
}

/* Offsets and sizes no sample can have. */
TEST_WITH(fields_that_can_not_be, open_db, close_db)
{
	static const char text[] = "name: odd\nID: 9\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:int far;\toffset:65534;\tsize:4;\tsigned:1;\n"
		"\tfield:int farther;\toffset:70000;\tsize:4;\tsigned:1;\n"
		"\tfield:int none;\toffset:8;\tsize:0;\tsigned:1;\n"
		"\tfield:int here;\toffset:8;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", REC->here\n";
	const struct tracefmt *fmt = parse(*state, "sys", text);

	assert_null(field_of(fmt, "far"));
	assert_null(field_of(fmt, "farther"));
	assert_null(field_of(fmt, "none"));
	assert_int_equal(field(fmt, "here")->offset, 8);
	assert_int_equal(fmt->min_size, 12);
}

TEST_WITH(the_system_of_a_recording_s_format_is_escaped, open_db, close_db)
{
	assert_string_equal(parse(*state, "s\033[2J\n", SCHED_SWITCH_6_18)->sys, "s\\x1b[2J\\x0a");
}

/* ------------------------------------------------------------------------
 * Values
 */

static uint64_t uint_of(const struct raw *r, const char *name)
{
	return trace_field_uint(field(r->fmt, name), r->bytes);
}

static int64_t sint_of(const struct raw *r, const char *name)
{
	return trace_field_sint(field(r->fmt, name), r->bytes);
}

TEST_WITH(numbers_keep_sign_and_size, open_db, close_db)
{
	static const char *const unsigned_names[] = { "a_u8", "a_u16", "a_u32", "a_u64" };
	static const char *const signed_names[] = { "a_s8", "a_s16", "a_s32", "a_s64" };
	struct raw r = raw_of(parse(*state, "made_up", KINDS));

	memset(r.bytes + 8, 0xff, 112);
	for (size_t i = 0; i < 4; i++) {
		uint64_t max = UINT64_MAX >> (64 - (8 << i)), high = 1ULL << ((8 << i) - 1);

		assert_int_equal(uint_of(&r, unsigned_names[i]), max);
		assert_int_equal(sint_of(&r, signed_names[i]), -1);
		set(&r, unsigned_names[i], high);
		set(&r, signed_names[i], high);
		assert_int_equal(uint_of(&r, unsigned_names[i]), high);
		assert_int_equal(sint_of(&r, signed_names[i]), (int64_t)(-high));
		set(&r, signed_names[i], high - 1);
		assert_int_equal(sint_of(&r, signed_names[i]), high - 1);
	}
	set(&r, "a_bool", 1);
	assert_int_equal(uint_of(&r, "a_bool"), 1);
	set(&r, "a_pointer", 0xffff888100000000);
	assert_int_equal(uint_of(&r, "a_pointer"), 0xffff888100000000);
}

TEST_WITH(text_ends_at_nul_or_at_its_size, open_db, close_db)
{
	struct raw r = raw_of(parse(*state, "made_up", KINDS));

	holds_bytes(&r, "text", "", 0);
	set_text(&r, "text", "worker/1");
	holds_bytes(&r, "text", "worker/1", 8);
	set_text(&r, "text", "0123456789abcdefX");
	holds_bytes(&r, "text", "0123456789abcdef", 16);
	set_dynamic(&r, "name", "eth0\0junk", 9);
	holds_bytes(&r, "name", "eth0", 4);
	set_dynamic(&r, "name", "lo", 2);   /* without NUL, at the very end */
	holds_bytes(&r, "name", "lo", 2);
	set_dynamic(&r, "name", "", 0);
	holds_bytes(&r, "name", "", 0);
	memcpy(r.bytes + field(r.fmt, "bytes")->offset, "\0\1\0\2\0\3", 6);
	holds_bytes(&r, "bytes", "\0\1\0\2\0\3", 6);
	set_dynamic(&r, "data", "\0\0\1\0", 4);
	holds_bytes(&r, "data", "\0\0\1\0", 4);
}

TEST_WITH(relative_offsets_count_from_behind_the_field, open_db, close_db)
{
	struct raw r = raw_of(parse(*state, "user_events", USER_EVENT_6_4));

	set_dynamic(&r, "msg", "GET /", 6);
	set_dynamic(&r, "blob", "\1\0\2", 3);
	holds_bytes(&r, "msg", "GET /", 5);
	holds_bytes(&r, "blob", "\1\0\2", 3);
	set(&r, "msg", 0xffff | 1 << 16);
	is_refused(&r, "msg", r.size);
	set(&r, "msg", (r.size - 12) | 1 << 16);
	is_refused(&r, "msg", r.size);
	set(&r, "msg", r.size - 12);         /* nothing, at the end: there */
	holds_bytes(&r, "msg", "", 0);
	set(&r, "msg", r.size - 11);
	is_refused(&r, "msg", r.size);
}

/* As the kernel describes uprobes. */
TEST_WITH(a_probes_text_without_a_byte_could_not_be_read, open_db, close_db)
{
	static const char probe[] = "name: named\nID: 77\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] s;\toffset:16;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"(%lx) s=\\\"%s\\\"\", REC->__probe_ip, __get_str(s)\n";
	struct raw r = raw_of(parse(*state, "uprobes", probe));
	const char *data;
	uint32_t len;

	set_dynamic(&r, "s", "", 1);
	holds_bytes(&r, "s", "", 0);
	prints(*state, &r, "(0) s=\"\"");
	set_dynamic(&r, "s", "", 0);
	assert_int_equal(trace_field_data(field(r.fmt, "s"), r.bytes, r.size, &data, &len), TRACE_FIELD_FAULT);
	prints(*state, &r, "(0) s=(fault)");
}

/* The kernel could not read the pointer to the first text, and left the word as it was: the room for both. */
TEST_WITH(a_probes_text_in_the_place_of_the_next_one_could_not_be_read, open_db, close_db)
{
	static const char probe[] = "name: pair\nID: 78\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] a;\toffset:16;\tsize:4;\tsigned:1;\n"
		"\tfield:u32 n;\toffset:20;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] b;\toffset:24;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"a=\\\"%s\\\" b=\\\"%s\\\"\", __get_str(a), __get_str(b)\n";
	struct raw r = raw_of(parse(*state, "uprobes", probe));
	const char *data;
	uint32_t len;

	set_dynamic(&r, "b", "right", 6);
	memcpy(r.bytes + field(r.fmt, "a")->offset, r.bytes + field(r.fmt, "b")->offset, 4);
	assert_int_equal(trace_field_data(field(r.fmt, "a"), r.bytes, r.size, &data, &len), TRACE_FIELD_FAULT);
	holds_bytes(&r, "b", "right", 5);
	prints(*state, &r, "a=(fault) b=\"right\"");
	set_dynamic(&r, "a", "left", 5);
	prints(*state, &r, "a=\"left\" b=\"right\"");
}

TEST_WITH(dynamic_data_outside_is_refused, open_db, close_db)
{
	static const char *const names[] = { "name", "data", "mask" };
	struct raw r = raw_of(parse(*state, "made_up", KINDS));

	for (size_t i = 0; i < COUNT(names); i++) {
		static const uint32_t wrong[] = { 121, 120 | 1 << 16, 119 | 2 << 16, 1 | 120 << 16,
						  0xffff, 0xffffffff, 0xffff0000, 0xffff0078 };

		for (size_t k = 0; k < COUNT(wrong); k++) {
			set(&r, names[i], wrong[k]);
			is_refused(&r, names[i], r.size);
		}
		set(&r, names[i], 119 | 1 << 16);
		holds_bytes(&r, names[i], r.bytes + 119, i ? 1 : r.bytes[119] != 0);
	}
}

TEST_WITH(fields_behind_the_end_are_refused, open_db, close_db)
{
	struct raw r = raw_of(parse(*state, "made_up", KINDS));

	for (uint32_t size = 0; size < r.size; size++)
		for (size_t i = 0; i < r.fmt->nfields; i++) {
			const struct trace_field *f = &r.fmt->fields[i];

			if (f->offset + f->size > size)
				is_refused(&r, f->name, size);
		}
}

/* ------------------------------------------------------------------------
 * Text
 */

TEST_WITH(events_print_as_the_kernel_would, open_db, close_db)
{
	struct raw r = raw_of(parse(*state, "sched", SCHED_SWITCH_6_18));

	set_text(&r, "prev_comm", "swapper/0");
	set(&r, "prev_prio", 120);
	set_text(&r, "next_comm", "0123456789abcdef");   /* no NUL */
	set(&r, "next_pid", 4711);
	set(&r, "next_prio", (uint64_t)-1);
	prints(*state, &r, "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> "
			   "next_comm=0123456789abcdef next_pid=4711 next_prio=-1");
	r = raw_of(parse(*state, "sched", SCHED_WAKEUP_4_19));
	set_text(&r, "comm", "kworker/3:1");
	set(&r, "pid", 77);
	set(&r, "target_cpu", 3);
	prints(*state, &r, "comm=kworker/3:1 pid=77 prio=0 target_cpu=003");
	r = raw_of(parse(*state, "net", NET_DEV_XMIT_6_18));
	set(&r, "len", 60);
	set_dynamic(&r, "name", "eth0", 5);
	assert_non_null(strstr(tracefmt_print(*state, r.fmt, r.bytes, r.size, NULL), "dev=eth0"));
}

TEST_WITH(what_is_cut_or_lies_prints_why, open_db, close_db)
{
	struct raw r = raw_of(parse(*state, "net", NET_DEV_XMIT_6_18));
	struct raw other = raw_of(parse(*state, "sched", SCHED_SWITCH_6_18));
	char *large = calloc(1, 1 << 17);

	set_dynamic(&r, "name", "eth0", 5);
	for (uint32_t size = 0; size < r.fmt->min_size; size++) {
		void *copy = copy_of(&r, size);

		assert_string_equal(tracefmt_print(*state, r.fmt, copy, size, NULL), "[truncated]");
		free(copy);
	}
	set(&r, "name", 0xffff0010);
	prints(*state, &r, "[name reaches beyond the event]");
	set(&r, "name", 0);
	memcpy(r.bytes, &other.fmt->id, 2);
	prints(*state, &r, "[not of net:net_dev_xmit]");
	memset(r.bytes, 0xff, 2);
	prints(*state, &r, "[not of net:net_dev_xmit]");
	assert_string_equal(tracefmt_print(*state, r.fmt, large, 1 << 17, NULL), "[truncated]");
	free(large);
}

/* A string without its NUL ends where the event does, whatever was printed before. */
TEST_WITH(text_never_leaves_its_event, open_db, close_db)
{
	struct raw r = raw_of(parse(*state, "net", NET_DEV_XMIT_6_18));

	set_dynamic(&r, "name", "0123456789012345678901234567890123456789", 41);
	tracefmt_print(*state, r.fmt, r.bytes, r.size, NULL);
	r = raw_of(r.fmt);
	set_dynamic(&r, "name", "lo", 2);
	assert_non_null(strstr(tracefmt_print(*state, r.fmt, r.bytes, r.size, NULL), "dev=lo skb"));
}

/* __print_hex(buf, REC->len) where len is more than there is: what there is. */
TEST_WITH(counts_that_lie_print_what_is_there, open_db, close_db)
{
	static const struct { uint32_t len; const char *text; } rows[] = {
		{ 2, "raw data:12 34" }, { INT32_MAX, "data len:2147483647; raw data:12 34" }, { UINT32_MAX, "data len:-1; raw data:" },
	};
	struct raw r = raw_of(parse(*state, "ras", NON_STANDARD_EVENT_6_18));
	const char *text;

	set_dynamic(&r, "fru_text", "DIMM", 5);
	set_dynamic(&r, "buf", "\x12\x34", 2);
	for (size_t i = 0; i < COUNT(rows); i++) {
		set(&r, "len", rows[i].len);
		text = tracefmt_print(*state, r.fmt, r.bytes, r.size, NULL);
		SAYS(text, rows[i].text);
		assert_int_equal(strstr(text, "12 34") != NULL, rows[i].len <= INT32_MAX);
	}
}

/* Every format with every size of junk: no more than that nothing happens. */
TEST_WITH(junk_prints_something, open_db, close_db)
{
	uint64_t x = 88172645463325252ULL;

	for (size_t i = 0; i < COUNT(formats); i++) {
		struct raw r = raw_of(parse(*state, formats[i].sys, formats[i].text));

		for (int n = 0; n < 2000; n++) {
			for (uint32_t k = 2; k < r.size; k++) {
				x = x * 6364136223846793005ULL + 1442695040888963407ULL;
				r.bytes[k] = x >> 62 ? (char)(x >> 60 & 3) : (char)(x >> 40);
			}
			assert_non_null(tracefmt_print(*state, r.fmt, r.bytes, r.size, NULL));
		}
	}
}

/* ------------------------------------------------------------------------
 * Files
 */

TEST_WITH(formats_are_loaded_once, open_db, close_db)
{
	static char text[50000];         /* longer than the first buffer */
	const char *name = "events/sched/sched_switch/format";
	char *folder = tree_new(), path[256];
	const struct tracefmt *fmt;
	struct fault f = { 0 };

	memset(text, '\n', sizeof(text) - 1);
	memcpy(text, SCHED_SWITCH_6_18, strlen(SCHED_SWITCH_6_18));
	tree_put(folder, name, text);
	fmt = tracefmt_load(*state, folder, "sched", "sched_switch", &f);
	assert_non_null(fmt);
	tree_path(path, sizeof(path), folder, name);
	unlink(path);
	assert_ptr_equal(tracefmt_load(*state, folder, "sched", "sched_switch", &f), fmt);
	assert_null(tracefmt_load(*state, folder, "sched", "sched_wakeup", &f));
	assert_non_null(strstr(f.text, "No such file"));
	tree_free(folder);
}
