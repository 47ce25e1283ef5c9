/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols and USDT notes: of small binaries (the fuzzer's seeds), and of those damaged. */
#include "checks.h"
#include "tree.h"

#include <errno.h>
#include <perfevent.h>
#include <unistd.h>

static const char *const binaries[] = { "sym64", "sdt64" };   /* with symbols; stripped */

static size_t load(const char *name, unsigned char *bytes, size_t size)
{
	char path[1024];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/elf/%s", getenv("SOURCE_ROOT"), name);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(bytes, 1, size, f);
	fclose(f);
	assert_true(n > 64 && n < size);
	return n;
}

static void as_file(char *path, size_t size, int *fd, const void *bytes, size_t n)
{
	*fd = tree_fd(bytes, n);
	snprintf(path, size, "/proc/self/fd/%d", *fd);
}

TEST(symbols)
{
	unsigned char bytes[16384];
	size_t n = load("sym64", bytes, sizeof(bytes));
	struct pev_error err;
	uint64_t offset = 0;
	char path[64];
	int fd;

	as_file(path, sizeof(path), &fd, bytes, n);
	assert_int_equal(pev_elf_symbol(path, "main", &offset, &err), 0);
	assert_true(offset > 0 && offset < n);
	assert_int_equal(pev_elf_symbol(path, "mai", &offset, &err), -ENOENT);
	assert_int_equal(pev_elf_symbol(path, "", &offset, &err), -ENOENT);
	close(fd);
	n = load("sdt64", bytes, sizeof(bytes));
	as_file(path, sizeof(path), &fd, bytes, n);
	assert_int_equal(pev_elf_symbol(path, "main", &offset, &err), -ENOENT);
	assert_non_null(strstr(err.remedy, "stripped"));
	close(fd);
}

TEST(probes)
{
	unsigned char bytes[16384];

	for (size_t i = 0; i < COUNT(binaries); i++) {
		size_t n = load(binaries[i], bytes, sizeof(bytes));
		struct pev_usdt *usdt;
		char path[64];
		int fd;

		as_file(path, sizeof(path), &fd, bytes, n);
		assert_int_equal(pev_usdt_open(&usdt, path, NULL), 0);
		assert_string_equal(pev_usdt_at(usdt, 0)->provider, "app");
		assert_string_equal(pev_usdt_at(usdt, 0)->name, "two");
		assert_non_null(strchr(pev_usdt_at(usdt, 0)->args, '@'));
		assert_string_equal(pev_usdt_at(usdt, 1)->name, "three");
		assert_string_equal(pev_usdt_at(usdt, 1)->args, "");
		assert_int_equal(pev_usdt_at(usdt, 1)->ref_ctr_offset, 0);
		assert_int_equal(bytes[pev_usdt_at(usdt, 0)->offset], 0x90);   /* nop */
		assert_null(pev_usdt_at(usdt, 2));
		pev_usdt_close(usdt);
		close(fd);
	}
}

/* Cut anywhere, or with any one byte of the headers changed: an answer or an error. */
TEST(damage)
{
	unsigned char bytes[16384];
	size_t n = load("sym64", bytes, sizeof(bytes));

	for (size_t i = 0; i < 2 * n; i++) {
		struct pev_usdt *usdt;
		uint64_t offset;
		char path[64];
		int fd;

		if (i >= n)
			bytes[i - n] ^= 0xff;
		as_file(path, sizeof(path), &fd, bytes, i < n ? i : n);
		if (!pev_elf_symbol(path, "main", &offset, NULL))
			assert_true(offset < n);
		if (!pev_usdt_open(&usdt, path, NULL))
			pev_usdt_close(usdt);
		close(fd);
		if (i >= n)
			bytes[i - n] ^= 0xff;
	}
}
