/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of samples. */
#include "pyperf/record.h"

#define S(type, member, name, bit, doc) FIELD(type, sample.member, name, PERF_SAMPLE_##bit, doc)
#define C(fn, name, bit, doc) CALL(fn, name, PERF_SAMPLE_##bit, doc)

static PyObject *get_id(const struct pev_record *r, const struct source *s)
{
	return PyLong_FromUnsignedLongLong(s->format.sample_type & PERF_SAMPLE_IDENTIFIER ?
						   r->sample.identifier : r->sample.id);
}

static PyObject *get_read(const struct pev_record *r, const struct source *s)
{
	return read_values(&r->sample.read);
}

static PyObject *get_callchain(const struct pev_record *r, const struct source *s)
{
	return words_tuple(r->sample.callchain, r->sample.callchain_nr);
}

BYTES(get_raw, r->sample.raw, r->sample.raw_size)
BYTES(get_stack, r->sample.stack, r->sample.stack_dyn_size)
BYTES(get_aux, r->sample.aux, r->sample.aux_size)

static PyObject *branch(const struct pev_branches *all, uint64_t i)
{
	struct pev_branch b;
	const char *type, *spec;

	pev_branch_entry(all, i, &b);
	type = pev_branch_type_name(&b);
	spec = pev_branch_spec_name(b.spec);
	return Py_BuildValue("{sK sK sO sO sO sO sH sz sz sK}", "from", (unsigned long long)b.from,
			     "to", (unsigned long long)b.to, "mispred", b.mispred ? Py_True : Py_False,
			     "predicted", b.predicted ? Py_True : Py_False,
			     "in_tx", b.in_tx ? Py_True : Py_False, "abort", b.abort ? Py_True : Py_False,
			     "cycles", b.cycles, "type", type, "spec", spec,
			     "counters", (unsigned long long)b.counters);
}

static PyObject *get_branches(const struct pev_record *r, const struct source *s)
{
	const struct pev_branches *all = &r->sample.branches;
	PyObject *list = PyList_New(0);

	for (uint64_t i = 0; list && i < all->nr; i++)
		list_add(&list, branch(all, i));
	return list;
}

/* {"SP": value, …}; registers without a known name use their number */
static PyObject *registers(const struct pev_regs *regs, const struct source *s)
{
	PyObject *dict = PyDict_New(), *key, *value;
	const char *name;
	uint64_t v;

	for (unsigned int i = 0; dict && i < 64; i++) {
		if (!pev_regs_value(regs, i, &v))
			continue;
		name = pev_reg_name((enum pev_arch)s->format.arch, regs->abi, i);
		key = name ? PyUnicode_FromString(name) : PyUnicode_FromFormat("%u", i);
		value = PyLong_FromUnsignedLongLong(v);
		if (!key || !value || PyDict_SetItem(dict, key, value))
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(value);
	}
	return dict;
}

static PyObject *get_regs_user(const struct pev_record *r, const struct source *s)
{
	return registers(&r->sample.regs_user, s);
}

static PyObject *get_regs_intr(const struct pev_record *r, const struct source *s)
{
	return registers(&r->sample.regs_intr, s);
}

static PyObject *get_weights(const struct pev_record *r, const struct source *s)
{
	const struct pev_weight *w = &r->sample.weight;

	return Py_BuildValue("(kHH)", (unsigned long)w->var1, w->var2, w->var3);
}

static PyObject *get_data_src_text(const struct pev_record *r, const struct source *s)
{
	char text[512];

	pev_data_src_text(r->sample.data_src, text, sizeof(text));
	return text_of(text);
}

const struct field sample_fields[] = {
	CALL(get_id, "id", PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, "id of the event"),
	S(U64, ip, "ip", IP, "instruction"),
	FIELD(BOOL, sample.exact_ip, "exact_ip", 0, "ip has no skid"),
	S(U32, pid, "pid", TID, "process"),
	S(U32, tid, "tid", TID, "thread"),
	S(U64, time, "time", TIME, "ns, of the event's clock"),
	S(U64, addr, "addr", ADDR, "address that was accessed"),
	S(U64, stream_id, "stream_id", STREAM_ID, "id of the event's copy"),
	S(U32, cpu, "cpu", CPU, "CPU"),
	S(U64, period, "period", PERIOD, "events that this sample stands for"),
	C(get_read, "read", READ, "(value, time_enabled, time_running, id, lost) of each counter"),
	C(get_callchain, "callchain", CALLCHAIN,
	  "addresses, the innermost first, with PERF_CONTEXT_* markers between"),
	C(get_raw, "raw", RAW, "bytes: a tracepoint's fields, a BPF program's output"),
	C(get_branches, "branches", BRANCH_STACK, "a dict for each branch, the youngest first"),
	C(get_regs_user, "regs_user", REGS_USER, "registers of user space: {\"SP\": …}"),
	C(get_stack, "stack", STACK_USER, "bytes of the user's stack, from its pointer on"),
	FIELD(U64, sample.weight.full, "weight", PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT,
	      "costs, as the PMU says"),
	C(get_weights, "weights", WEIGHT_STRUCT, "the three parts of weight"),
	S(U64, data_src, "data_src", DATA_SRC, "where data came from: PERF_MEM_*"),
	C(get_data_src_text, "data_src_text", DATA_SRC, "data_src for people"),
	S(U64, transaction, "transaction", TRANSACTION, "PERF_TXN_*"),
	C(get_regs_intr, "regs_intr", REGS_INTR, "registers at the interrupt: {\"SP\": …}"),
	S(U64, phys_addr, "phys_addr", PHYS_ADDR, "physical address of addr"),
	S(U64, cgroup, "cgroup", CGROUP, "id of the control group"),
	S(U64, data_page_size, "data_page_size", DATA_PAGE_SIZE, "bytes, page of addr"),
	S(U64, code_page_size, "code_page_size", CODE_PAGE_SIZE, "bytes, page of ip"),
	C(get_aux, "aux", AUX, "bytes of the AUX area"),
	END,
};
