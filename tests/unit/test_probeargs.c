/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of probes in the kernel's words; notes of files may say anything. */
#include "checks.h"

#include "events/probes.h"

struct row {
	const char *note, *fetch;
	size_t left_out;
};

#if defined(__x86_64__)
static const struct row rows[] = {
	{ "", "", 0 }, { "8@%rdi", "arg1=%di:u64", 0 }, { "-4@%edi 8@%rax", "arg1=%di:s32 arg2=%ax:u64", 0 },
	{ "1@%dil -2@%r8w 4@%r15d -8@%r9", "arg1=%di:u8 arg2=%r8:s16 arg3=%r15:u32 arg4=%r9:s64", 0 },
	{ "8@-8(%rbp) 4@16(%rsp) 8@(%rax)", "arg1=-8(%bp):u64 arg2=+16(%sp):u32 arg3=+0(%ax):u64", 0 },
	{ "-4@$-7 8@$42 4@$0x10", "arg1=\\-7:s32 arg2=\\42:u64 arg3=\\16:u32", 0 },
	{ " 8@%rsp  4@%esi ", "arg1=%sp:u64 arg2=%si:u32", 0 },
	/* what can't be fetched keeps its number */
	{ "8@sym(%rip) 4@%edi", "arg2=%di:u32", 1 }, { "8@8(%rax,%rbx,4) 1@%ah 4@%xmm0 16@%rax 3@%rax 8@%rdi", "arg6=%di:u64", 5 },
	{ "8@%rdi,%rsi 8@%r7 8@%r16 8@%r8q 8@%", "", 5 },
	/* what is no argument at all */
	{ "x @ 8@ @%rdi 8%rdi $ 8@$ 8@$x 8@$1x -@%rdi", "", 10 },
	/* nothing of a note gets into the kernel's list as it is */
	{ "8@$1\np:evil/evil /bin/sh:0 8@$1", "arg3=\\1:u64", 2 },
	{ "8@-8(%rbp\n) 8@%rdi\n", "", 2 },
	{ "8@99999999999999999999999 8@$99999999999999999999999", "", 2 },
};
#elif defined(__aarch64__)
static const struct row rows[] = {
	{ "8@x0 -4@w1 8@sp", "arg1=%x0:u64 arg2=%x1:s32 arg3=%sp:u64", 0 },
	{ "4@[sp, 12] 8@[x2] -8@[x29, -16]", "arg1=+12(%sp):u32 arg2=+0(%x2):u64 arg3=-16(%x29):s64", 0 },
	{ "4@5 -4@-7", "arg1=\\5:u32 arg2=\\-7:s32", 0 },
	{ "8@v0 8@[x1, 8@5 8@5\n", "", 2 },
	{ "8@[x1,] 8@[x1, x2] 8@[] 8@x31x 8@5\n 8@[x1]", "arg6=+0(%x1):u64", 5 },
};
#else
static const struct row rows[] = { { "", "", 0 } };
#endif

TEST(notes_become_fetch_arguments)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		char buf[512];

		assert_int_equal(probe_args_of_usdt(rows[i].note, buf, sizeof(buf)), rows[i].left_out);
		assert_string_equal(buf, rows[i].fetch);
	}
}

/* Whole arguments only, whatever the room. */
TEST(little_room)
{
#if defined(__x86_64__)
	static const char note[] = "8@%rdi 8@%rsi 8@%rdx";

	for (size_t size = 1; size < 60; size++) {
		char *buf = malloc(size);
		size_t out = probe_args_of_usdt(note, buf, size);

		assert_true(strlen(buf) < size);
		assert_true(strlen(buf) == 0 || !strcmp(buf + strlen(buf) - 4, ":u64"));
		assert_int_equal(out, 3 - (strlen(buf) + 1) / 13);
		free(buf);
	}
#endif
}

TEST(long_notes)
{
	char note[4096], buf[256];

	memset(note, '8', sizeof(note) - 1);
	note[sizeof(note) - 1] = '\0';
	assert_int_equal(probe_args_of_usdt(note, buf, sizeof(buf)), 1);
	memset(note, '[', sizeof(note) - 1);
	assert_int_equal(probe_args_of_usdt(note, buf, sizeof(buf)), 1);
	for (size_t i = 0; i + 2 < sizeof(note); i += 2)
		memcpy(note + i, "8 ", 2);
	note[sizeof(note) - 2] = '\0';
	assert_true(probe_args_of_usdt(note, buf, sizeof(buf)) > 2000);
	assert_string_equal(buf, "");
}

TEST(arguments_of_functions)
{
	static const struct { const char *args; int rc; const char *text; } all[] = {
		{ "fd=%di:s32 $retval", 0, "fd=%di:s32 $retval" }, { "", 0, "" },
#if defined(__x86_64__)
		{ "a=$arg1:u8 +0($arg6):string", 0, "a=%di:u8 +0(%r9):string" },
#endif
		{ "$arg0", -ERANGE }, { "$arg7", -ERANGE }, { "$arg12", -ERANGE },
	};
	char buf[64];

	for (size_t i = 0; i < COUNT(all); i++) {
		assert_int_equal(probe_args_of_function(all[i].args, buf, sizeof(buf)), all[i].rc);
		assert_string_equal(all[i].text ? buf : "", all[i].text ? all[i].text : "");
	}
	assert_int_equal(probe_args_of_function("a=%di", buf, 8), -E2BIG);
}
