/* SPDX-License-Identifier: Apache-2.0 */
/* Text on its way out: numbers, names of others in three ways, and large pieces. */
#include "checks.h"

#include "report/outbuf.h"

static struct outbuf *b;

static int begin(void **state)
{
	b = outbuf_new(NULL);
	return b ? 0 : -1;
}

static int end(void **state)
{
	outbuf_free(b);
	return 0;
}

/* What was put since the last time. */
static void holds(const char *text)
{
	assert_int_equal(b->len, strlen(text));
	assert_memory_equal(b->buf, text, b->len);
	b->len = 0;
}

TEST_WITH(numbers, begin, end)
{
	outbuf_unsigned(b, 0, 0, ' ');
	outbuf_unsigned(b, UINT64_MAX, 0, ' ');
	holds("018446744073709551615");
	outbuf_unsigned(b, 7, 3, '0');
	outbuf_unsigned(b, 99, 3, ' ');
	outbuf_unsigned(b, 100, 3, ' ');
	outbuf_unsigned(b, 12345, 3, ' ');
	holds("007 9910012345");
	outbuf_signed(b, -1, 5);
	outbuf_signed(b, INT64_MIN, 0);
	holds("   -1-9223372036854775808");
	outbuf_hex(b, 0, 3);
	outbuf_hex(b, UINT64_MAX, 16);
	outbuf_hex(b, 0xbeef, 0);
	holds("  0ffffffffffffffffbeef");
	outbuf_six(b, 0);
	outbuf_six(b, 999999);
	outbuf_six(b, 10203);
	holds("000000999999010203");
	for (unsigned int i = 0; i < 2000; i++) {
		char text[8];

		snprintf(text, sizeof(text), "%u", i);
		outbuf_unsigned(b, i, 0, ' ');
		holds(text);
	}
	outbuf_printf(b, "%d %s", 1, "x");
	holds("1 x");
}

struct name {
	const char *text;
	size_t len;
	const char *plain, *json, *csv;
};

static const struct name names[] = {
	{ "", 0, "", "\"\"", "" }, { "cat", 3, "cat", "\"cat\"", "cat" }, { "a,b", 3, "a,b", "\"a,b\"", "\"a,b\"" },
	{ "a\"b", 3, "a\"b", "\"a\\\"b\"", "\"a\"\"b\"" }, { "a\\b", 3, "a\\b", "\"a\\\\b\"", "a\\b" },
	{ " a", 2, " a", "\" a\"", "\" a\"" },
	{ "a\n", 2, "a\\x0a", "\"a\\\\x0a\"", "a\\x0a" },
	{ "\x1b[m\0\xff", 5, "\\x1b[m\\x00\\xff", "\"\\\\x1b[m\\\\x00\\\\xff\"", "\\x1b[m\\x00\\xff" },
	{ "\xc3\xa4\"", 3, "\xc3\xa4\"", "\"\xc3\xa4\\\"\"", "\"\xc3\xa4\"\"\"" },
};

TEST_WITH(names_of_others, begin, end)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct name *n = &names[i];

		assert_int_equal(outbuf_escaped(b, n->text, n->len), strlen(n->plain));
		holds(n->plain);
		outbuf_json(b, n->text, n->len);
		holds(n->json);
		outbuf_csv(b, n->text, n->len);
		holds(n->csv);
	}
}

/* The escaped text in `text`, in quotes, with `mark` before the characters of `special`. */
static void marked(const char *text, size_t len, const char *special, char mark, bool quotes, char *out)
{
	char plain[1024];

	outbuf_escaped(b, text, len);
	memcpy(plain, b->buf, b->len);
	plain[b->len] = '\0';
	b->len = 0;
	if (quotes)
		*out++ = '"';
	for (const char *c = plain; *c; c++) {
		if (strchr(special, *c))
			*out++ = mark;
		*out++ = *c;
	}
	if (quotes)
		*out++ = '"';
	*out = '\0';
}

/* Short texts are looked at in words: one other byte is seen wherever it stands. */
TEST_WITH(one_byte_of_a_text, begin, end)
{
	static const char bytes[] = "\"\\, \n\x7f\x80\xff\x1fx~!";
	char text[300], wanted[2048];

	for (size_t len = 1; len < sizeof(text); len += len < 40 ? 1 : 37) {
		for (size_t at = 0; at < len; at++) {
			for (const char *c = bytes; *c; c++) {
				memset(text, 'a', len);
				text[at] = *c;
				marked(text, len, "\"\\", '\\', true, wanted);
				outbuf_json(b, text, len);
				holds(wanted);
				marked(text, len, "\"", '"', *c == ',' || *c == '"' || (*c == ' ' && (!at || at == len - 1)), wanted);
				outbuf_csv(b, text, len);
				holds(wanted);
			}
		}
	}
}

TEST_WITH(whole_numbers, begin, end)
{
	char text[32];

	for (uint64_t power = 1, n = 0; n < 20; power *= 10, n++) {
		for (int d = -1; d <= 1; d++) {
			snprintf(text, sizeof(text), "%llu", (unsigned long long)(power + (uint64_t)d));
			outbuf_number(b, power + (uint64_t)d);
			holds(text);
			snprintf(text, sizeof(text), "%lld", -(long long)(power + (uint64_t)d));
			outbuf_integer(b, -(int64_t)(power + (uint64_t)d));
			holds(text);
		}
	}
	outbuf_integer(b, INT64_MIN);
	holds("-9223372036854775808");
}

/* The worst that 64 KiB and more can become, over and over: nothing is written behind the end
 * (under a sanitizer), and what is too long is cut. */
TEST_WITH(the_longest_names, begin, end)
{
	size_t len = 2 * OUTBUF_TEXT;
	char *text = malloc(len);
	FILE *out = tmpfile();

	b->out = out;
	for (int c = 0; c < 4; c++) {
		memset(text, "\xff\"\\x"[c], len);
		for (int i = 0; i < 5; i++) {
			outbuf_char(b, 'x');
			outbuf_escaped(b, text, len);
			outbuf_json(b, text, len);
			outbuf_csv(b, text, len);
			assert_true(b->len <= OUTBUF_BYTES);
		}
	}
	outbuf_flush(b);
	assert_int_equal(b->error, 0);
	/* one and two quotes; of bytes 4 + 5 + 4, quotes 1 + 2 + 2, backslashes 1 + 2 + 1, x 3 */
	assert_int_equal(ftell(out), 5L * ((13 + 5 + 4 + 3) * OUTBUF_TEXT + 4 * 3 + 2));
	fclose(out);
	free(text);
}

TEST_WITH(pieces_reach_the_file_in_order, begin, end)
{
	FILE *out = tmpfile();
	char line[64];

	b->out = out;
	for (unsigned int i = 0; i < 100000; i++) {
		outbuf_unsigned(b, i, 9, '0');
		outbuf_short(b, "\n.......", 1, 8);
		if (b->len >= OUTBUF_FLUSH)
			outbuf_flush(b);
	}
	outbuf_flush(b);
	rewind(out);
	for (unsigned int i = 0; i < 100000; i++) {
		assert_non_null(fgets(line, sizeof(line), out));
		assert_int_equal(strtoul(line, NULL, 10), i);
	}
	assert_null(fgets(line, sizeof(line), out));
	fclose(out);
}

TEST_WITH(a_full_disk_is_remembered, begin, end)
{
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	b->out = full;
	outbuf_bytes(b, "x", 1);
	outbuf_flush(b);
	assert_int_equal(b->error, ENOSPC);
	outbuf_bytes(b, "y", 1);
	outbuf_flush(b);
	assert_int_equal(b->error, ENOSPC);
	assert_int_equal(b->len, 0);
	fclose(full);
}
