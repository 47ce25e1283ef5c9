/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of the kernel as records. The rest is read by perf in tests/python/test_record_command.py. */
#include "checks.h"

#include "perfdata/write/writer.h"
#include "perfevent.h"
#include "stream/record/inventory.h"

#include <unistd.h>

TEST(modules)
{
	static char text[] = "ext4 1024000 1 - Live 0xffffffffc0100000\n"
			     "hidden 4096 0 - Live 0x0000000000000000\n"
			     "nonsense\n"
			     "kvm_intel 524288 0 kvm,x, Live 0xffffffffc0500000 (E)\n";
	static const struct { const char *name; uint64_t addr, len; } expected[] = {
		{ "[ext4]", 0xffffffffc0100000, 1024000 }, { "[kvm_intel]", 0xffffffffc0500000, 524288 },
	};
	char path[] = "/tmp/inventory-XXXXXX";
	_Alignas(8) char data[4096];
	struct fault f = {0};
	struct perfdata_writer *w;
	FILE *in = fmemopen(text, sizeof(text) - 1, "r"), *out;
	size_t n, at = 16;
	struct pev_format format = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						    PERF_SAMPLE_IDENTIFIER, .sample_id_all = true };

	assert_int_equal(close(mkstemp(path)), 0);
	unlink(path);
	w = perfdata_new(path);
	inventory_put_modules(w, in, 77);
	fclose(in);
	assert_int_equal(perfdata_open(w, &f), 0);
	assert_int_equal(perfdata_close(w, &f), 0);
	out = fopen(path, "rb");
	n = fread(data, 1, sizeof(data), out);
	fclose(out);
	unlink(path);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		const struct perf_event_header *h = (const void *)(data + at);
		struct pev_record rec;

		assert_true(at + sizeof(*h) <= n && at + h->size <= n);
		assert_int_equal(pev_decode(h, h->size, &format, &rec), 0);
		ARE(NUMBERS(rec.type, rec.mmap.pid), NUMBERS(PERF_RECORD_MMAP, UINT32_MAX));
		assert_string_equal(rec.mmap.filename, expected[i].name);
		ARE(NUMBERS(rec.mmap.addr, rec.mmap.len, rec.sample_id.id), NUMBERS(expected[i].addr, expected[i].len, 77));
		at += h->size;
	}
	assert_int_equal(at + 2 * sizeof(struct perf_event_header), n);   /* its end */
}
