/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains that no kernel wrote: markers, caches and their bounds. */
#include "python/frames.h"
#include "python/stacks.h"

#include "checks.h"
#include "tree.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define BASE UINT64_C(0xffffffff81000000)

enum { PID = 1000 };

struct world {
	struct opener opener;
	struct symbolizer *symbolizer;
	struct maps *maps;
	struct frames *frames;
	PyTypeObject *type;
};

static struct world *w;

static int open_proc(void *ctx, pid_t pid, const char *name)
{
	static const char text[] = "ffffffff81000000 T first\nffffffff81000100 T second\n"
				   "ffffffff81000200 T third\nffffffffc0000000 t in_module\t[mod]\n";

	return pid ? -ESRCH : tree_fd(text, sizeof(text) - 1);
}

static int open_file(void *ctx, pid_t pid, const char *path)
{
	return -ENOENT;
}

static int set_up(void **state)
{
	w = calloc(1, sizeof(*w));
	w->opener = (struct opener){ open_file, open_proc, w };
	w->symbolizer = symbolizer_new(&(struct symbolizer_opts){ .opener = &w->opener });
	w->maps = maps_new(&(struct maps_opts){ .dsos = symbolizer_dsos(w->symbolizer), .opener = &w->opener });
	w->type = frame_type_new(PyImport_AddModule("frames_under_test"));
	assert_non_null(w->type);
	w->frames = frames_new(&(struct frames_opts){ w->symbolizer, w->maps, w->type });
	assert_non_null(w->frames);
	return 0;
}

static int tear_down(void **state)
{
	frames_free(w->frames);
	maps_free(w->maps);
	symbolizer_free(w->symbolizer);
	Py_DECREF(w->type);
	free(w);
	assert_null(PyErr_Occurred());
	return 0;
}

static void map(uint64_t start, const char *file, uint64_t time)
{
	struct pev_record rec = { .type = PERF_RECORD_MMAP2, .sample_id.time = time,
				  .mmap = { .pid = PID, .addr = start, .len = 0x1000,
					    .filename = file, .ino = 5 } };

	maps_take(w->maps, &rec);
}

static const char *text_of(PyObject *frame, const char *key)
{
	return PyUnicode_AsUTF8(PyDict_GetItemString(frame, key));
}

static uint64_t number_of(PyObject *frame, const char *key)
{
	return PyLong_AsUnsignedLongLong(PyDict_GetItemString(frame, key));
}

/* The frames as text: "symbol+offset (dso)", one per line, users' with a u before. */
static const char *shown(const uint64_t *ips, uint64_t nr, uint64_t time)
{
	static char text[4096];
	PyObject *list = frames_list(w->frames, ips, nr, PID, time);
	size_t n = 0;

	assert_non_null(list);
	text[0] = '\0';
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
		PyObject *f = PyList_GET_ITEM(list, i);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s+%d (%s)\n",
				      PyDict_GetItemString(f, "kernel") == Py_True ? "" : "u ",
				      text_of(f, "symbol"), (int)number_of(f, "offset"),
				      text_of(f, "dso"));
	}
	Py_DECREF(list);
	return text;
}

#define CHAIN(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8

TEST_WITH(contexts, set_up, tear_down)
{
	static const struct {
		uint64_t ips[6];
		size_t nr;
		const char *shown;
	} rows[] = {
		{ { KERNEL, BASE + 0x10, BASE + 0x110, 0xffffffffc0000008 }, 4,
		  "first+16 ([kernel.kallsyms])\nsecond+16 ([kernel.kallsyms])\nin_module+8 ([mod])\n" },
		/* a call at the very end of a function returns behind it */
		{ { KERNEL, BASE + 0x100, BASE + 0x200 }, 3, "second+0 ([kernel.kallsyms])\nsecond+256 ([kernel.kallsyms])\n" },
		{ { KERNEL, 0x1000, BASE - 1 }, 3, "Unknown+0 ([kernel.kallsyms])\nUnknown+0 ([kernel.kallsyms])\n" },
		{ { KERNEL }, 1, "" },
		{ { 0 }, 0, "" },
		{ { (uint64_t)PERF_CONTEXT_HV, BASE }, 2, "Unknown+0 ([hypervisor])\n" },
		{ { (uint64_t)PERF_CONTEXT_GUEST_KERNEL, BASE }, 2, "Unknown+0 ([guest.kernel.kallsyms])\n" },
		{ { (uint64_t)-4095, 77 }, 2, "" },
		{ { (uint64_t)PERF_CONTEXT_GUEST_USER, BASE }, 2, "u Unknown+0 ([guest.unknown])\n" },
		{ { 0 }, 1, "u Unknown+0 ([unknown])\n" },
		{ { BASE, 0x1000 }, 2, "first+0 ([kernel.kallsyms])\nu Unknown+0 ([unknown])\n" },
		/* markers of another time: what follows isn't an address for all that we know */
		{ { KERNEL, BASE, (uint64_t)-640, 77, USER, 0x1000 }, 6, "first+0 ([kernel.kallsyms])\nu Unknown+0 ([unknown])\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(shown(rows[i].ips, rows[i].nr, 1), rows[i].shown);
}

TEST_WITH(user_frames_by_time, set_up, tear_down)
{
	const uint64_t ips[] = { USER, 0x400010 };

	map(0x400000, "/a", 10);
	map(0x400000, "/b", 20);
	for (int round = 0; round < 2; round++) {
		assert_string_equal(shown(ips, 2, 15), "u Unknown+0 (/a)\n");
		assert_string_equal(shown(ips, 2, 25), "u Unknown+0 (/b)\n");
	}
	map(0x400000, "/c", 30);
	assert_string_equal(shown(ips, 2, 35), "u Unknown+0 (/c)\n");
	assert_string_equal(shown(ips, 2, 5), "u Unknown+0 ([unknown])\n");
}

static size_t resident(void)
{
	size_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*u %zu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif
/* The sanitizer keeps memory that was freed: up to 256 MiB. */
#if defined(__SANITIZE_ADDRESS__) || HAS(address_sanitizer)
enum { QUARANTINE = 512 << 20 };
#else
enum { QUARANTINE = 0 };
#endif

/* As many frames and chains as there may be, several times over. */
TEST_WITH(caches_have_a_bound, set_up, tear_down)
{
	enum { ROUNDS = 40000, DEPTH = 20 };
	uint64_t ips[DEPTH] = { KERNEL };
	PyObject *first, *again, *kept;
	size_t before = resident();

	first = frames_list(w->frames, CHAIN(KERNEL, BASE), PID, 1);
	kept = PyList_GET_ITEM(first, 0);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		PyObject *list;

		for (uint64_t k = 1; k < DEPTH; k++)
			ips[k] = 0x100000 + i * DEPTH + k;
		list = frames_list(w->frames, ips, DEPTH, PID, 1);
		assert_int_equal(PyList_GET_SIZE(list), DEPTH - 1);
		assert_int_equal(number_of(PyList_GET_ITEM(list, 4), "addr"), ips[5]);
		Py_DECREF(list);
		if (i % 100)
			continue;
		again = frames_list(w->frames, CHAIN(KERNEL, BASE), PID, 1);
		assert_ptr_equal(PyList_GET_ITEM(again, 0), kept);   /* in use, so it stays */
		Py_DECREF(again);
	}
	Py_DECREF(first);
	assert_true(resident() < before + (40 << 20));
}

TEST_WITH(long_chains, set_up, tear_down)
{
	enum { DEPTH = 60000 };
	uint64_t *ips = calloc(DEPTH, sizeof(*ips));
	size_t before = resident();
	PyObject *list;

	for (uint64_t k = 0; k < DEPTH; k++)
		ips[k] = BASE + k % 512;
	for (int i = 0; i < 20; i++) {
		list = frames_list(w->frames, ips, DEPTH, PID, 1);
		assert_int_equal(PyList_GET_SIZE(list), DEPTH);
		Py_DECREF(list);
	}
	assert_true(resident() < before + (4 << 20) + QUARANTINE);
	free(ips);
}

/* Chains that differ in one word, or in the version alone, are others. */
TEST_WITH(keys, set_up, tear_down)
{
	struct stacks *s = stacks_new(1 << 20);
	uint64_t ips[] = { 1, 2, 3, 4, 5 }, other[] = { 1, 2, 3, 4, 6 };
	struct stack_key a, b;
	PyObject *list = PyList_New(0);

	assert_false(stack_key_init(&a, ips, 5));
	stacks_add(s, &a, list);
	Py_DECREF(list);
	list = stacks_find(s, &a);
	assert_non_null(list);
	Py_DECREF(list);
	stack_key_init(&b, other, 5);
	assert_null(stacks_find(s, &b));
	stack_key_init(&b, ips, 4);
	assert_null(stacks_find(s, &b));
	stack_key_init(&b, ips, 5);
	stack_key_set_version(&b, 7);
	assert_null(stacks_find(s, &b));
	ips[3] = USER;
	assert_true(stack_key_init(&b, ips, 5));
	ips[3] = 4;
	ips[4] = USER;
	assert_true(stack_key_init(&b, ips, 5));
	assert_false(stack_key_init(&b, ips, 4));
	stacks_free(s);
}

/* CPython keeps memory until its end: LeakSanitizer isn't to look. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
	return 1;
}

static int start_python(void **state)
{
	Py_InitializeEx(0);
	return 0;
}

static int end_python(void **state)
{
	return Py_FinalizeEx();
}

AROUND_ALL(start_python, end_python)
