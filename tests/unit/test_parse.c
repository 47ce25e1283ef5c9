/* SPDX-License-Identifier: Apache-2.0 */
/* Event lists and labels, on a made-up machine with two core types and uncore PMUs. */
#include "checks.h"

#include <linux/hw_breakpoint.h>

#include "perfevent/parse/parse.h"
#include "tree.h"

struct machine {
	char *root;
	char pmus[64], tracefs[64];
	struct pev_parse_env env;
};

static void put_files(const char *root, const char *const (*files)[2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		tree_put(root, files[i][0], files[i][1]);
}

static void make(struct machine *m)
{
	static const char *const files[][2] = {
		{ "pmus/msr/type", "9\n" }, { "pmus/msr/format/event", "config:0-63\n" },
		{ "pmus/msr/events/tsc", "event=0x00\n" }, { "pmus/msr/events/aperf", "event=0x01\n" },
		{ "pmus/cpu/type", "4\n" }, { "pmus/cpu/format/event", "config:0-7,32-35\n" },
		{ "pmus/cpu/format/umask", "config:8-15\n" }, { "pmus/cpu/format/ldlat", "config1:0-15\n" },
		{ "pmus/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
		{ "pmus/uncore_imc_0/type", "20\n" }, { "pmus/uncore_imc_0/cpumask", "0,4\n" },
		{ "pmus/uncore_imc_0/format/event", "config:0-7\n" },
		{ "pmus/uncore_imc_0/events/reads", "event=4\n" }, { "pmus/uncore_imc_0/events/reads.scale", "64\n" },
		{ "pmus/uncore_imc_0/events/reads.unit", "B\n" }, { "pmus/uncore_imc_1/type", "21\n" },
		{ "pmus/uncore_imc_1/cpumask", "0,4\n" }, { "pmus/uncore_imc_1/format/event", "config:0-7\n" },
		{ "pmus/uncore_imc_free/type", "22\n" }, { "tracing/events/sched/enable", "0\n" },
		{ "tracing/events/ftrace/print/format", "\n" }, { "tracing/events/sched/sched_switch/id", "300\n" },
		{ "tracing/events/sched/sched_wakeup/id", "301\n" },
		{ "tracing/events/irq/irq_handler_entry/id", "40\n" },
	};

	m->root = tree_new();
	snprintf(m->pmus, sizeof(m->pmus), "%s/pmus", m->root);
	snprintf(m->tracefs, sizeof(m->tracefs), "%s/tracing", m->root);
	m->env = (struct pev_parse_env){ m->pmus, m->tracefs };
	put_files(m->root, files, COUNT(files));   /* of ftrace:print there is no id */
}

static struct machine machine;

static int set_up(void **state)
{
	make(&machine);
	return 0;
}

static int tear_down(void **state)
{
	tree_free(machine.root);
	return 0;
}

static struct pev_attr_list *parse_on(const struct machine *m, const char *text)
{
	struct pev_attr_list *list;
	struct pev_error err = { 0 };
	char why[1200];

	if (pev_attr_parse_at_(&list, text, &m->env, NULL, &err)) {
		pev_error_text(&err, why, sizeof(why));
		fail_msg("%s: %s", text, why);
	}
	return list;
}

static struct pev_attr_list *parse(const char *text)
{
	return parse_on(&machine, text);
}

/* ---- a machine of AMD's, as sysfs shows it --------------------------------------------- */

TEST(events_of_an_amd_machine)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config;
		const char *label;
	} rows[] = {
		{ "cpu/cpu-cycles/", 4, 0x76, "cpu/cpu-cycles/" }, { "cpu/cpu-cycles/u", 4, 0x76, "cpu/cpu-cycles/u" },
		{ "cpu/event=0x76,umask=0/", 4, 0x76, "cpu/event=0x76,umask=0/" },
		{ "cpu/event=0x76,umask=0x0/kpp", 4, 0x76, "cpu/event=0x76,umask=0x0/kpp" },
		{ "cpu/event=0x187,cmask=2,inv/", 4, 0x102800087, "cpu/event=0x187,cmask=2,inv/" },
		{ "cpu/stalled-cycles-frontend/:H", 4, 0x100000087, "cpu/stalled-cycles-frontend/H" },
		{ "cpu/cache-misses,period=1000,name=misses/u", 4, 0x964, "misses" },
		{ "stalled-cycles-frontend", 0, 7, "stalled-cycles-frontend" },
	};
	static const char *const files[][2] = {
		{ "cpu/type", "4" }, { "cpu/format/cmask", "config:24-31" }, { "cpu/format/edge", "config:18" },
		{ "cpu/format/event", "config:0-7,32-35" }, { "cpu/format/inv", "config:23" },
		{ "cpu/format/umask", "config:8-15" }, { "cpu/events/branch-instructions", "event=0xc2" },
		{ "cpu/events/cpu-cycles", "event=0x76" }, { "cpu/events/cache-misses", "event=0x64,umask=0x09" },
		{ "cpu/events/stalled-cycles-frontend", "event=0x187" },
	};
	char *root = tree_new();
	const struct pev_parse_env env = { .pmus = root };

	put_files(root, files, COUNT(files));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_attr_list *list;
		const struct pev_parsed *p;

		assert_int_equal(pev_attr_parse_at_(&list, rows[i].text, &env, NULL, NULL), 0);
		assert_int_equal(pev_attr_list_size(list), 1);
		p = pev_attr_list_at(list, 0);
		assert_int_equal(p->attr->type, rows[i].type);
		assert_int_equal(p->attr->config, rows[i].config);
		assert_string_equal(p->label, rows[i].label);
		pev_attr_list_free(list);
	}
	tree_free(root);
}

/* ---- what names mean ------------------------------------------------------------------ */

TEST(one_event)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config, config1;
		const char *label;
	} rows[] = {
		{ "cycles", 0, 0, 0, "cycles" }, { " cpu-cycles ", 0, 0, 0, "cpu-cycles" },
		{ "faults", 1, 2, 0, "faults" }, { "LLC-load-misses", 3, 0x10002, 0, "LLC-load-misses" },
		{ "r1A8", 4, 0x1a8, 0, "r1A8" }, { "rffffffffffffffff", 4, UINT64_MAX, 0, "rffffffffffffffff" },
		{ "r1/config1=0x5/", 4, 1, 5, "r1" }, { "1:3", 1, 3, 0, "context-switches" },
		{ "9:0x11", 9, 0x11, 0, "9:0x11" }, { "msr/tsc/", 9, 0, 0, "msr/tsc/" },
		{ "msr//", 9, 0, 0, "msr//" }, { "tsc", 9, 0, 0, "msr/tsc/" },
		{ "msr/aperf,name=speed/", 9, 1, 0, "speed" }, { "msr/event=0x10/", 9, 0x10, 0, "msr/event=0x10/" },
		{ "cpu/event=0x3c,umask=0x1/", 4, 0x13c, 0, "cpu/event=0x3c,umask=0x1/" },
		{ "cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30, "cpu/mem-loads,ldlat=30/" },
		{ "mem-loads/ldlat=50/", 4, 0x1cd, 50, "cpu/mem-loads,ldlat=50/" },
		{ "mem-loads:P", 4, 0x1cd, 3, "cpu/mem-loads/P" }, { "cpu/cycles/", 0, 0, 0, "cpu/cycles/" },
		{ "cpu/r1a8/", 4, 0x1a8, 0, "cpu/r1a8/" },
		{ "cpu/config=0xabc,config1=2/", 4, 0xabc, 2, "cpu/config=0xabc,config1=2/" },
		{ "sched:sched_switch", 2, 300, 0, "sched:sched_switch" },
		{ "sched:sched_switch/period=1/u", 2, 300, 0, "sched:sched_switch:u" },
		{ "cycles/name='a, b/c'/", 0, 0, 0, "a, b/c" }, { "mem:0x1000", 5, 0, 0x1000, "mem:0x1000/4:rw" },
		{ "mem:4096/8:w", 5, 0, 0x1000, "mem:0x1000/8:w" }, { "mem:0x1000:x:u", 5, 0, 0x1000, "mem:0x1000/8:x:u" },
		{ "mem:0x1000:u", 5, 0, 0x1000, "mem:0x1000/4:rw:u" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_attr_list *list = parse(rows[i].text);
		const struct pev_parsed *p = pev_attr_list_at(list, 0);

		assert_int_equal(pev_attr_list_size(list), 1);
		assert_null(pev_attr_list_at(list, 1));
		ARE(NUMBERS(p->attr->type, p->attr->config, p->attr->config1, p->leader),
		    NUMBERS(rows[i].type, rows[i].config, rows[i].config1, 0));
		assert_string_equal(p->label, rows[i].label);
		assert_true(p->at + p->length <= strlen(rows[i].text));
		pev_attr_list_free(list);
	}
}

TEST(several_events_of_one_name)
{
	static const struct {
		const char *text;
		const char *labels[4];
	} rows[] = {
		{ "sched:*", { "sched:sched_switch", "sched:sched_wakeup" } }, { "*:*entry", { "irq:irq_handler_entry" } },
		{ "sched:sched_[sw]*:k", { "sched:sched_switch:k", "sched:sched_wakeup:k" } },
		{ "uncore_imc/event=1/", { "uncore_imc_0/event=1/", "uncore_imc_1/event=1/" } },
		{ "imc/event=1/", { "uncore_imc_0/event=1/", "uncore_imc_1/event=1/" } },
		{ "uncore_*/event=1/", { "uncore_imc_0/event=1/", "uncore_imc_1/event=1/" } },
		/* of those that have it */
		{ "imc/reads/", { "uncore_imc_0/reads/" } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_attr_list *list = parse(rows[i].text);
		size_t n = 0;

		for (; n < 4 && rows[i].labels[n]; n++)
			assert_string_equal(pev_attr_list_at(list, n)->label, rows[i].labels[n]);
		assert_int_equal(pev_attr_list_size(list), n);
		pev_attr_list_free(list);
	}
}

TEST(a_pmu_event_brings_unit_scale_and_cpus)
{
	struct pev_attr_list *list = parse("uncore_imc_0/reads/");
	const struct pev_parsed *p = pev_attr_list_at(list, 0);

	assert_string_equal(p->unit, "B");
	assert_true(p->scale == 64);
	assert_int_equal(p->ncpus, 2);
	assert_int_equal(p->cpus[1], 4);
	pev_attr_list_free(list);
}

TEST(generic_names_on_a_hybrid_machine)
{
	static const char *const files[][2] = {
		{ "pmus/cpu_atom/type", "10\n" }, { "pmus/cpu_atom/cpus", "8-11\n" },
		{ "pmus/cpu_core/type", "4\n" }, { "pmus/cpu_core/cpus", "0-7\n" },
	};
	static const struct { uint32_t type; uint64_t config; size_t ncpus; const char *label; } rows[] = {
		{ 0, 10ull << 32, 4, "cpu_atom/cycles/u" }, { 0, 4ull << 32, 8, "cpu_core/cycles/u" }, { 1, 2, 0, "faults:u" },
		{ 3, 10ull << 32 | 2, 4, NULL }, { 3, 4ull << 32 | 2, 8, NULL }, { 10, 0x1a8, 4, NULL }, { 4, 0x1a8, 8, NULL },
		{ 0, 10ull << 32 | 1, 4, "cpu_atom/instructions/" },
	};
	struct machine m;
	struct pev_attr_list *list;

	make(&m);
	put_files(m.root, files, COUNT(files));
	list = parse_on(&m, "{cycles,faults}:u,LLC-loads,r1a8,cpu_atom/instructions/");
	assert_int_equal(pev_attr_list_size(list), COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct pev_parsed *p = pev_attr_list_at(list, i);

		ARE(NUMBERS(p->attr->type, p->attr->config, p->ncpus), NUMBERS(rows[i].type, rows[i].config, rows[i].ncpus));
		if (rows[i].label)
			assert_string_equal(p->label, rows[i].label);
	}
	pev_attr_list_free(list);
	tree_free(m.root);
}

/* ---- terms and modifiers ------------------------------------------------------------------ */

TEST(terms_set_fields)
{
	static const struct {
		const char *terms, *field;
		uint64_t value;
	} rows[] = {
		{ "period=1000", "sample_period", 1000 }, { "period=0x10", "sample_period", 16 },
		{ "freq=99", "sample_freq", 99 }, { "freq=99", "freq", 1 }, { "period=5", "freq", 0 },
		{ "time", "sample_type", PERF_SAMPLE_TIME }, { "time=0", "sample_type", 0 },
		{ "call-graph=fp", "sample_type", PERF_SAMPLE_CALLCHAIN }, { "call-graph=no", "sample_type", 0 },
		{ "call-graph=dwarf", "sample_stack_user", 8192 }, { "call-graph=dwarf,stack-size=64", "sample_stack_user", 64 },
		{ "stack-size=64,call-graph=dwarf", "sample_stack_user", 64 },
		{ "call-graph=lbr", "branch_sample_type", 0xc801 }, { "max-stack=12", "sample_max_stack", 12 },
		{ "branch_type=any|u", "branch_sample_type", 9 }, { "branch_type=k", "branch_sample_type", 10 },
		{ "inherit", "inherit", 1 }, { "no-inherit", "inherit", 0 },
		{ "inherit,no-inherit", "inherit", 0 }, { "overwrite", "write_backward", 1 },
		{ "overwrite=0", "write_backward", 0 }, { "aux-output", "aux_output", 1 },
		{ "aux-action=pause", "aux_pause", 1 }, { "aux-action=resume", "aux_resume", 1 },
		{ "aux-action=start-paused", "aux_start_paused", 1 }, { "aux-sample-size=4096", "aux_sample_size", 4096 },
		{ "config1=7", "config1", 7 }, { "config2=7", "config2", 7 },
		{ "config3=7", "config3", 7 }, { "config4=7", "config4", 7 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[128];
		struct pev_attr_list *list;
		uint64_t value;

		for (int pmu = 0; pmu < 2; pmu++) {
			snprintf(text, sizeof(text), "%s/%s/", pmu ? "msr" : "cycles", rows[i].terms);
			list = parse(text);
			assert_int_equal(pev_attr_get(pev_attr_list_at(list, 0)->attr, rows[i].field, &value), 0);
			assert_int_equal(value, rows[i].value);
			pev_attr_list_free(list);
		}
	}
}

TEST(modifiers_set_fields)
{
	/* excludes: user kernel hv idle host guest, as digits */
	static const struct {
		const char *mods, *excludes;
		unsigned int precise;
	} rows[] = {
		{ "u", "011001", 0 }, { "k", "101001", 0 }, { "h", "110001", 0 }, { "uk", "001001", 0 },
		{ "ukh", "000001", 0 }, { "ku", "001001", 0 }, { "G", "000010", 0 }, { "H", "000001", 0 },
		{ "GH", "000000", 0 }, { "uG", "011010", 0 }, { "uH", "011001", 0 }, { "uGH", "011000", 0 },
		{ "Gu", "011010", 0 }, { "I", "000100", 0 }, { "p", "000001", 1 }, { "pp", "000001", 2 },
		{ "ppp", "000001", 3 }, { "P", "000000", 3 }, { "upp", "011001", 2 }, { "GHp", "000000", 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64], excludes[8];
		struct pev_attr_list *list;
		const struct perf_event_attr *a;

		snprintf(text, sizeof(text), "cycles:%s", rows[i].mods);
		list = parse(text);
		a = pev_attr_list_at(list, 0)->attr;
		snprintf(excludes, sizeof(excludes), "%d%d%d%d%d%d", a->exclude_user, a->exclude_kernel,
			 a->exclude_hv, a->exclude_idle, a->exclude_host, a->exclude_guest);
		assert_string_equal(excludes, rows[i].excludes);
		assert_int_equal(a->precise_ip, rows[i].precise);
		assert_int_equal(pev_attr_list_at(list, 0)->precise_max, !strcmp(rows[i].mods, "P"));
		pev_attr_list_free(list);
	}
}

TEST(groups)
{
	static const size_t leaders[] = { 0, 1, 1, 3, 4, 4 };
	struct pev_attr_list *list = parse("cs, {cycles:u, instructions}:kDeSW ,faults,io:{r1,r2}");

	assert_int_equal(pev_attr_list_size(list), 6);
	for (size_t i = 0; i < 6; i++) {
		const struct pev_parsed *p = pev_attr_list_at(list, i);
		bool in_first = leaders[i] == 1;

		ARE(NUMBERS(p->leader, p->attr->pinned, p->attr->exclusive, p->group_read, p->weak),
		    NUMBERS(leaders[i], i == 1, i == 1, in_first, in_first));
		if (i < 4)
			assert_null(p->group_name);
		else
			assert_string_equal(p->group_name, "io");
	}
	assert_string_equal(pev_attr_list_at(list, 1)->label, "cycles:ukDe");
	assert_string_equal(pev_attr_list_at(list, 2)->label, "instructions:k");
	assert_int_equal(pev_attr_list_at(list, 1)->at, 5);
	assert_int_equal(pev_attr_list_at(list, 1)->length, 8);
	pev_attr_list_free(list);
}

/* ---- errors ---------------------------------------------------------------------------------- */

TEST(errors_show_the_place)
{
	static const struct {
		const char *text;
		int rc;
		size_t at;
		const char *named;
	} rows[] = {
		{ "", -EINVAL, 0, "missing" }, { "   ", -EINVAL, 3, "missing" }, { ",", -EINVAL, 0, "event" },
		{ "cycles,", -EINVAL, 7, "missing" }, { "cycles,,faults", -EINVAL, 7, "event" },
		{ "cycels", -ENOENT, 0, "cycels" }, { "cycels:u", -ENOENT, 0, "cycels" },
		{ "cs,cycels", -ENOENT, 3, "cycels" }, { "cycles:", -EINVAL, 7, "missing" },
		{ "cycles:x", -EINVAL, 7, "'x'" }, { "cycles:ux", -EINVAL, 8, "'x'" },
		{ "cycles:pppp", -EINVAL, 10, "three" }, { "cycles:u:k", -EINVAL, 8, "comma" },
		{ "cycles faults", -EINVAL, 7, "comma" }, { "{cycles", -EINVAL, 7, "not closed" },
		{ "{}", -EINVAL, 1, "event" }, { "{cycles,{faults}}", -EINVAL, 8, "event" },
		{ "cycles}", -EINVAL, 6, "comma" }, { "{cycles}u", -EINVAL, 8, "comma" },
		{ "{cycles}:x", -EINVAL, 9, "'x'" }, { "nopmu/event=1/", -ENOENT, 0, "msr" },
		{ "uncore_imc_9/event=1/", -ENOENT, 0, "uncore_imc_9" }, { "msr/nonsense=1/", -ENOENT, 4, "tsc" },
		{ "msr/tsc,nonsense/", -ENOENT, 8, "nonsense" }, { "msr/event=/", -EINVAL, 10, "value" },
		{ "msr/event=x/", -EINVAL, 4, "event=x" }, { "msr/tsc", -EINVAL, 7, "closed" },
		{ "msr/tsc,", -EINVAL, 8, "term" }, { "msr/,/", -EINVAL, 4, "term" },
		{ "cpu/event=0x1000/", -EINVAL, 4, "0xfff" }, { "cycles/event=1/", -EINVAL, 7, "period" },
		{ "cycles/period/", -EINVAL, 7, "period" }, { "cycles/period=x/", -EINVAL, 7, "events per sample" },
		{ "cycles/freq=fast/", -EINVAL, 7, "max" }, { "cycles/call-graph=magic/", -EINVAL, 7, "dwarf" },
		{ "cycles/branch_type=any|magic/", -EINVAL, 7, "ind_call" },
		{ "cycles/max-stack=65536/", -EINVAL, 7, "65535" }, { "cycles/name='x/", -EINVAL, 12, "quote" },
		{ "mem:", -EINVAL, 4, "address" }, { "mem:x", -EINVAL, 4, "address" },
		{ "mem:0x1000/0", -EINVAL, 11, "length" }, { "mem:0x1000/9", -EINVAL, 11, "bp_len" },
		{ "mem:0x1000/", -EINVAL, 11, "length" }, { "mem:0x1000:rx", -EINVAL, 11, "bp_type" },
		{ "mem:0x1000:q", -EINVAL, 11, "'q'" }, { "sched:", -EINVAL, 6, "colon" },
		{ "sched:nope", -ENOENT, 0, "sched:nope" }, { "sched:x*", -ENOENT, 0, "sched:x*" },
		{ "ftrace:print", -ENOENT, 0, "ftrace:print" }, { "..:sched_switch", -ENOENT, 0, ".." },
		{ ".:..", -ENOENT, 0, ".:.." }, { "1:x", -ENOENT, 0, "1:x" },
		{ "r1fffffffffffffffff", -ENOENT, 0, "r1fff" }, { "cycles\x1b[31m", -ENOENT, 0, "cycles" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_attr_list *list = (void *)1;
		struct pev_error err = { 0 };
		char text[1200];
		size_t at = 12345;
		int rc = pev_attr_parse_at_(&list, rows[i].text, &machine.env, &at, &err);

		pev_error_text(&err, text, sizeof(text));
		if (rc != rows[i].rc || at != rows[i].at || !strstr(text, rows[i].named))
			fail_msg("\"%s\": %d at %zu: %s", rows[i].text, rc, at, text);
		assert_null(list);
		assert_int_equal(err.code, -rc);
		assert_int_equal(pev_attr_parse_at_(&list, rows[i].text, &machine.env, NULL, NULL), rc);
	}
}

TEST(long_lists)
{
	size_t n = 20000, size = 8 * n;
	char *text = calloc(1, size + 1);
	struct pev_attr_list *list;

	for (size_t i = 0; i < n; i++)
		strcpy(text + 3 * i, i + 1 < n ? "cs," : "cs");
	list = parse(text);
	assert_int_equal(pev_attr_list_size(list), n);
	pev_attr_list_free(list);
	memset(text, 'a', size);
	assert_int_equal(pev_attr_parse_at_(&list, text, &machine.env, NULL, NULL), -EINVAL);
	free(text);
}

/* ---- labels ------------------------------------------------------------------------------------ */

/* An attr's label parses to the attr. */
static void round_trip(const struct perf_event_attr *attr)
{
	char label[512];
	struct pev_attr_list *list;
	union pev_attr_buf want, got;

	assert_true(pev_label_at_(attr, &machine.env, label, sizeof(label)) < sizeof(label));
	list = parse(label);
	assert_int_equal(pev_attr_list_size(list), 1);
	assert_int_equal(pev_attr_buf_copy(&want, attr), 0);
	assert_int_equal(pev_attr_buf_copy(&got, pev_attr_list_at(list, 0)->attr), 0);
	if (memcmp(&want, &got, sizeof(want)))
		fail_msg("%s: differs", label);
	pev_attr_list_free(list);
}

static void round_trip_text(const char *text)
{
	struct pev_attr_list *list = parse(text);

	for (size_t i = 0; i < pev_attr_list_size(list); i++)
		round_trip(pev_attr_list_at(list, i)->attr);
	pev_attr_list_free(list);
}

TEST(labels_of_everything_parse_back)
{
	static const char *const texts[] = {
		"r0", "r1a8", "rffffffffffffffff", "r1/config1=2,config2=3,config3=4,config4=5/",
		"msr/tsc/,msr/aperf/,msr/event=0x77/", "cpu/mem-loads/,cpu/event=0x3c/,cpu/cycles/",
		"cpu/config=1,config2=3/", "sched:*,irq:*", "imc/event=4/", "9:5", "77:0x123", "1:99",
		"0:99", "3:99", "mem:0x1000/1:r,mem:0x1000/2:w,mem:0x1001/3:rw,mem:0xffffffffffffffff/8:x",
	};
	const char *name;
	uint64_t config;

	for (unsigned int i = 0; (name = pev_software_name(i, NULL)); i++)
		round_trip_text(name);
	for (unsigned int i = 0; (name = pev_hardware_name(i, NULL)); i++)
		round_trip_text(name);
	for (unsigned int i = 0; pev_cache_at(i, &config, NULL); i++) {
		struct perf_event_attr attr;

		pev_attr_init(&attr, PERF_TYPE_HW_CACHE, config);
		round_trip(&attr);
	}
	for (size_t i = 0; i < COUNT(texts); i++)
		round_trip_text(texts[i]);
}

/* Every combination of modifiers that letters can say. */
TEST(labels_of_modifiers_parse_back)
{
	static const char *const texts[] = { "cycles", "msr/tsc/", "sched:sched_switch", "mem:0x1000/4:rw" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct pev_attr_list *list = parse(texts[i]);
		struct perf_event_attr a = *pev_attr_list_at(list, 0)->attr;

		for (unsigned int bits = 0; bits < 1u << 10; bits++) {
			a.exclude_user = bits & 1;
			a.exclude_kernel = bits >> 1;
			a.exclude_hv = bits >> 2;
			a.exclude_idle = bits >> 3;
			a.exclude_host = bits >> 4;
			a.exclude_guest = bits >> 5;
			a.precise_ip = bits >> 6;
			a.pinned = bits >> 8;
			a.exclusive = bits >> 9;
			if ((bits & 7) == 7 || (bits >> 4 & 3) == 3)
				continue;   /* excludes all: no letter left */
			round_trip(&a);
		}
		pev_attr_list_free(list);
	}
}

TEST(labels_are_cut_to_the_buffer)
{
	struct perf_event_attr attr;
	char buf[4];

	pev_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(pev_attr_label(&attr, buf, sizeof(buf)), strlen("instructions"));
	assert_string_equal(buf, "ins");
}

AROUND_ALL(set_up, tear_down)
