/* SPDX-License-Identifier: Apache-2.0 */
/* PMUs as sysfs describes them, from made-up trees: good, strange and hostile ones. */
#include "checks.h"

#include "perfevent/machine/pmu.h"
#include "tree.h"

/* ---- format files ------------------------------------------------------------------- */

TEST(formats)
{
	static const struct {
		const char *text;
		unsigned int word;
		uint64_t bits;
	} rows[] = {
		{ "config:0-7", 0, 0xff }, { "config:0-7,32-35", 0, 0xf000000ffull },
		{ "config1:0-63", 1, UINT64_MAX }, { "config:0-63", 0, UINT64_MAX }, { "config2:63", 2, 1ull << 63 },
		{ "config3:5", 3, 32 }, { "config4:0", 4, 1 }, { "config9:0", 9, 1 },
		{ "config:1,6-10,44", 0, 2 | 0x7c0 | 1ull << 44 }, { "config:32-35,0-7", 0, 0xf000000ffull },
	};
	static const char *const bad[] = {
		"", "config", "config:", "config:,", "config:0,", "config:64", "config:0-64", "config:7-0",
		"config:a", "config:-1", "config:0-", "config10:0", "confi:0", "config:0 ", "config:0x1",
		"config:99999999999999999999", "config:0-99999999999999999999", "config:0--7",
	};
	unsigned int word;
	uint64_t bits;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(pev_pmu_parse_format_(rows[i].text, &word, &bits), 0);
		assert_int_equal(word, rows[i].word);
		assert_int_equal(bits, rows[i].bits);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(pev_pmu_parse_format_(bad[i], &word, &bits), -EBADMSG);
}

TEST(cpu_lists)
{
	static const char *const bad[] = {
		",", "0,", "a", "3-1", "0-", "-1", "65536", "0-99999999", "1 2", "0-65535,0-65535",
	};
	static const int sorted[] = { 0, 1, 2, 7 };
	int *cpus;
	size_t n;

	assert_int_equal(pev_pmu_parse_cpus_("0-2,7,1", &cpus, &n), 0);
	assert_int_equal(n, COUNT(sorted));
	assert_memory_equal(cpus, sorted, sizeof(sorted));
	free(cpus);
	assert_int_equal(pev_pmu_parse_cpus_("", &cpus, &n), 0);
	assert_int_equal(n, 0);
	assert_null(cpus);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(pev_pmu_parse_cpus_(bad[i], &cpus, &n), -EBADMSG);
		assert_null(cpus);
	}
}

/* ---- a PMU ----------------------------------------------------------------------------- */

static char *root;

static int set_up(void **state)
{
	root = tree_new();
	return 0;
}

static int tear_down(void **state)
{
	tree_free(root);
	return 0;
}

static struct pev_pmu *open_pmu(const char *name)
{
	struct pev_error err;
	struct pev_pmu *pmu;

	assert_int_equal(pev_pmu_open_at_(&pmu, root, name, &err), 0);
	return pmu;
}

static struct pev_pmu *open_uncore(void)
{
	static const char *const files[][2] = {
		{ "type", "13\n" }, { "cpumask", "0,4\n" }, { "format/event", "config:0-7,32-35\n" },
		{ "format/umask", "config:8-15\n" }, { "format/inv", "config:23\n" },
		{ "format/ldlat", "config1:0-15\n" }, { "format/filter", "config3:0-63\n" },
		{ "format/odd", "config9:0-63\n" }, { "events/cas_count_read", "event=0x04,umask=0x03\n" },
		{ "events/cas_count_read.scale", "6.103515625e-5\n" }, { "events/cas_count_read.unit", "MiB\n" },
		{ "events/cas_count_read.per-pkg", "1\n" }, { "events/temp", "event=1\n" },
		{ "events/temp.snapshot", "1\n" }, { "events/slow", "event=0xcd,umask=1,ldlat=3\n" },
		{ "events/asks", "event=2,ldlat=?\n" }, { "events/broken", "nothing=1\n" },
	};
	char name[80];

	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(name, sizeof(name), "uncore_imc_0/%s", files[i][0]);
		tree_put(root, name, files[i][1]);
	}
	return open_pmu("uncore_imc_0");
}

TEST_WITH(a_pmu_says_what_it_has, set_up, tear_down)
{
	struct pev_pmu *pmu = open_uncore();
	const struct pev_pmu_event *e;
	int cpus[1];

	assert_string_equal(pev_pmu_name(pmu), "uncore_imc_0");
	ARE(NUMBERS(pev_pmu_type(pmu), pev_pmu_is_core(pmu), pev_pmu_cpus(pmu, cpus, 1)), NUMBERS(13, false, 2));
	assert_int_equal(cpus[0], 0);
	assert_string_equal(pev_pmu_format_at(pmu, 0)->name, "event");
	assert_int_equal(pev_pmu_format_at(pmu, 0)->bits, 0xf000000ffull);
	assert_null(pev_pmu_format_at(pmu, 6));
	e = pev_pmu_event_at(pmu, 2);
	assert_string_equal(e->name, "cas_count_read");
	assert_string_equal(e->terms, "event=0x04,umask=0x03");
	assert_string_equal(e->unit, "MiB");
	assert_true(e->scale > 6.1e-5 && e->scale < 6.2e-5);
	assert_true(e->per_package);
	assert_false(e->snapshot);
	e = pev_pmu_event_at(pmu, 4);
	assert_string_equal(e->name, "temp");
	assert_true(e->snapshot);
	assert_true(e->scale == 1);
	assert_null(e->unit);
	assert_null(pev_pmu_event_at(pmu, 5));
	pev_pmu_close(pmu);
}

TEST_WITH(terms_become_words, set_up, tear_down)
{
	static const struct {
		const char *terms;
		uint64_t config, config1, config3;
	} rows[] = {
		{ "", 0, 0, 0 }, { "cas_count_read", 0x304, 0, 0 }, { "event=0x3c,umask=0x1", 0x13c, 0, 0 },
		{ "event=0xfff", 0xf000000ff, 0, 0 }, { "event=010", 10, 0, 0 }, { "event=0x123", 0x100000023, 0, 0 },
		{ "inv", 1 << 23, 0, 0 }, { "inv=0", 0, 0, 0 }, { "slow", 0x1cd, 3, 0 },
		{ "slow,ldlat=30", 0x1cd, 30, 0 }, { "ldlat=30,slow", 0x1cd, 3, 0 }, { "asks,ldlat=5", 2, 5, 0 },
		{ "config=0x1234,config1=2", 0x1234, 2, 0 }, { "config=0xff00,umask=1", 0x100, 0, 0 },
		{ "filter=0xffffffffffffffff", 0, 0, UINT64_MAX },
	};
	struct pev_pmu *pmu = open_uncore();
	union pev_attr_buf buf;
	uint64_t config3;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(pev_pmu_attr(pmu, rows[i].terms, &buf, NULL), 0);
		assert_int_equal(buf.attr.type, 13);
		assert_int_equal(buf.attr.config, rows[i].config);
		assert_int_equal(buf.attr.config1, rows[i].config1);
		assert_int_equal(pev_attr_get(&buf.attr, "config3", &config3), 0);
		assert_int_equal(config3, rows[i].config3);
		assert_int_equal(buf.attr.size, config3 ? 136 : 128);
	}
	pev_pmu_close(pmu);
}

TEST_WITH(wrong_terms_are_named, set_up, tear_down)
{
	static const struct {
		const char *terms;
		int rc;
		const char *named;
	} rows[] = {
		{ "event=0x1000", -EINVAL, "0xfff" }, { "event=-1", -EINVAL, "event=-1" },
		{ "event=x", -EINVAL, "event=x" }, { "event=", -EINVAL, "event=" },
		{ "event=0x", -EINVAL, "event=0x" }, { "inv=2", -EINVAL, "inv=2" },
		{ "nonsense", -EINVAL, "nonsense" }, { "nonsense=1", -EINVAL, "nonsense" },
		{ "cas_count_read=1", -EINVAL, "cas_count_read" }, { "odd=1", -EINVAL, "config9" },
		{ "config", -EINVAL, "config" }, { "asks", -EINVAL, "ldlat" }, { "broken", -EBADMSG, "nothing" },
		{ "cycles", -EINVAL, "cycles" }, { "r1a8", -EINVAL, "r1a8" },
	};
	struct pev_pmu *pmu = open_uncore();
	union pev_attr_buf buf;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_error err = { 0 };
		char text[1200];

		assert_int_equal(pev_pmu_attr(pmu, rows[i].terms, &buf, &err), rows[i].rc);
		pev_error_text(&err, text, sizeof(text));
		assert_non_null(strstr(text, rows[i].named));
		assert_int_equal(pev_pmu_attr(pmu, rows[i].terms, &buf, NULL), rows[i].rc);
	}
	pev_pmu_close(pmu);
}

TEST_WITH(core_types_of_a_hybrid_machine, set_up, tear_down)
{
	static const struct { const char *terms; uint32_t type; uint64_t config; } rows[] = {
		{ "instructions", PERF_TYPE_HARDWARE, 10ull << 32 | PERF_COUNT_HW_INSTRUCTIONS },
		{ "LLC-load-misses", PERF_TYPE_HW_CACHE, 10ull << 32 | 0x10002 }, { "r1a8", 10, 0x1a8 },
	};
	struct pev_pmu *pmu;
	union pev_attr_buf buf;

	tree_put(root, "cpu_core/type", "4\n");
	tree_put(root, "cpu_core/cpus", "0-7\n");
	tree_put(root, "cpu_core/format/event", "config:0-7\n");
	/* alone it needs no extended type */
	pmu = open_pmu("cpu_core");
	assert_int_equal(pev_pmu_attr(pmu, "cycles", &buf, NULL), 0);
	ARE(NUMBERS(buf.attr.type, buf.attr.config), NUMBERS(PERF_TYPE_HARDWARE, 0));
	pev_pmu_close(pmu);

	tree_put(root, "cpu_atom/type", "10\n");
	tree_put(root, "cpu_atom/cpus", "8-15\n");
	pmu = open_pmu("cpu_atom");
	assert_true(pev_pmu_is_core(pmu));
	assert_int_equal(pev_pmu_cpus(pmu, NULL, 0), 8);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(pev_pmu_attr(pmu, rows[i].terms, &buf, NULL), 0);
		ARE(NUMBERS(buf.attr.type, buf.attr.config), NUMBERS(rows[i].type, rows[i].config));
	}
	pev_pmu_close(pmu);
}

/* ---- hostile trees ------------------------------------------------------------------------ */

static void refuse(const char *named)
{
	struct pev_error err = { 0 };
	struct pev_pmu *pmu = (void *)1;
	char text[1200];
	int rc = pev_pmu_open_at_(&pmu, root, "p", &err);

	assert_true(rc < 0);
	assert_null(pmu);
	assert_int_equal(err.code, -rc);
	pev_error_text(&err, text, sizeof(text));
	if (!strstr(text, named))
		fail_msg("\"%s\" does not name %s", text, named);
	assert_int_equal(pev_pmu_open_at_(&pmu, root, "p", NULL), rc);
}

TEST_WITH(malformed_files_are_named, set_up, tear_down)
{
	static const struct {
		const char *file, *text;
	} rows[] = {
		{ "p/type", "" }, { "p/type", "x" }, { "p/type", "-1" }, { "p/type", "4294967296" },
		{ "p/type", "1 2" }, { "p/cpumask", "x" }, { "p/cpus", "0-" },
		{ "p/format/a", "config" }, { "p/format/a", "" }, { "p/events/e.scale", "x" },
		{ "p/events/e.scale", "nan" }, { "p/events/e.scale", "inf" },
		{ "p/events/e.scale", "1e999" }, { "p/events/e.scale", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		tree_free(root);
		root = tree_new();
		tree_put(root, "p/type", "7");
		tree_put(root, "p/events/e", "config=1");
		tree_put(root, rows[i].file, rows[i].text);
		refuse(rows[i].file);
	}
}

TEST_WITH(files_that_are_none, set_up, tear_down)
{
	static char big[8192];
	char path[1024];

	memset(big, '1', sizeof(big));
	tree_put_bytes(root, "p/type", big, sizeof(big));
	refuse("p/type");
	tree_put_bytes(root, "p/type", "7\0x", 3);
	refuse("p/type");
	tree_put(root, "p/type", "7");
	tree_put_bytes(root, "p/format/a", big, sizeof(big));
	refuse("format/a");
	tree_path(path, sizeof(path), root, "p/format/a");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);   /* would hang who simply opens it */
	refuse("format/a");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	refuse("format/a");
	rmdir(path);
	assert_int_equal(symlink(path, path), 0);
	refuse("format/a");
	unlink(path);
	tree_put(root, "p/events/e.unit", "x");    /* a property of nothing: ignored */
	pev_pmu_close(open_pmu("p"));
}

TEST_WITH(names_that_walk_elsewhere, set_up, tear_down)
{
	static const char *const names[] = { "", ".", "..", "../p", "p/", "p/../p", "/", "nope" };
	struct pev_pmu *pmu;
	uint32_t type;

	tree_put(root, "p/type", "7");
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(pev_pmu_open_at_(&pmu, root, names[i], NULL), -ENOENT);
		assert_int_equal(pev_pmu_lookup_type_at_(root, names[i], &type), -ENOENT);
	}
	assert_int_equal(pev_pmu_lookup_type_at_(root, "p", &type), 0);
	assert_int_equal(type, 7);
}

TEST_WITH(lists_of_pmus, set_up, tear_down)
{
	char *names;

	assert_int_equal(pev_pmu_list_at_(root, &names), 0);
	assert_string_equal(names, "");
	free(names);
	tree_put(root, "b/type", "1");
	tree_put(root, "a/type", "2");
	assert_int_equal(pev_pmu_list_at_(root, &names), 0);
	assert_memory_equal(names, "a\0b\0", 5);
	free(names);
	assert_int_equal(pev_pmu_list_at_("/nonexistent", &names), -ENOENT);
	assert_null(names);
}
