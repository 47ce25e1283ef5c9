/* SPDX-License-Identifier: Apache-2.0 */
#include "pyhost/sampleparts.h"
#include "report/sampletext.h"

#include <ctype.h>

static PyObject *from_u64(uint64_t v)
{
	return PyLong_FromUnsignedLongLong(v);
}

/* Takes over the reference. 0, or -1 with an exception. */
static int put(PyObject *dict, const char *key, PyObject *value)
{
	int rc = value ? PyDict_SetItemString(dict, key, value) : -1;

	Py_XDECREF(value);
	return rc;
}

/* Returns dict, or NULL if rc says that a put failed. */
static PyObject *finish(PyObject *dict, int rc)
{
	if (rc)
		Py_CLEAR(dict);
	return dict;
}

/* ---- counts ------------------------------------------------------------------ */

static int put_times(PyObject *dict, const struct pev_read *read)
{
	return (read->format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
		put(dict, "time_enabled", from_u64(read->time_enabled))) ||
	       (read->format & PERF_FORMAT_TOTAL_TIME_RUNNING &&
		put(dict, "time_running", from_u64(read->time_running)));
}

static int put_id_and_lost(PyObject *dict, const struct pev_read *read, const struct pev_count *c)
{
	return (read->format & PERF_FORMAT_ID && put(dict, "id", from_u64(c->id))) ||
	       (read->format & PEV_FORMAT_LOST && put(dict, "lost", from_u64(c->lost)));
}

static PyObject *one_counter(const struct pev_read *read, uint64_t i)
{
	PyObject *dict = PyDict_New();
	struct pev_count c;

	pev_read_value(read, i, &c);
	return dict ? finish(dict, put(dict, "value", from_u64(c.value)) ||
			     put_id_and_lost(dict, read, &c)) : NULL;
}

static PyObject *counters(const struct pev_read *read)
{
	PyObject *list = PyList_New((Py_ssize_t)read->nr);

	for (uint64_t i = 0; list && i < read->nr; i++) {
		PyObject *c = one_counter(read, i);

		if (c)
			PyList_SET_ITEM(list, (Py_ssize_t)i, c);
		else
			Py_CLEAR(list);
	}
	return list;
}

PyObject *sample_counts(const struct stream_counts *counts)
{
	PyObject *dict = PyDict_New();
	int rc = 0;

	for (size_t i = 0; dict && i < counts->n && !rc; i++)
		rc = put(dict, counts->v[i].name, from_u64(counts->v[i].delta));
	return dict ? finish(dict, rc) : NULL;
}

static PyObject *read_value(const struct pev_sample *s, const struct pev_format *fmt)
{
	const struct pev_read *read = &s->read;
	PyObject *dict = PyDict_New();
	struct pev_count c;

	if (!dict)
		return NULL;
	if (read->format & PERF_FORMAT_GROUP)
		return finish(dict, put(dict, "nr", from_u64(read->nr)) || put_times(dict, read) ||
			      put(dict, "cntr", counters(read)));
	pev_read_value(read, 0, &c);
	return finish(dict, put(dict, "value", from_u64(c.value)) || put_times(dict, read) ||
		      put_id_and_lost(dict, read, &c));
}

/* ---- registers --------------------------------------------------------------- */

static PyObject *registers(const struct pev_regs *regs, const struct pev_format *fmt)
{
	PyObject *dict = PyDict_New();
	int rc = dict ? put(dict, "abi", from_u64(regs->abi)) : -1;

	for (unsigned int i = 0; !rc && i < 64; i++) {
		uint64_t value;
		char name[16];

		if (!pev_regs_value(regs, i, &value) || !sample_register_name(fmt, regs->abi, i, name, sizeof(name)))
			continue;
		rc = put(dict, name, from_u64(value));
	}
	return finish(dict, rc);
}

static PyObject *regs_user(const struct pev_sample *s, const struct pev_format *fmt)
{
	return registers(&s->regs_user, fmt);
}

static PyObject *regs_intr(const struct pev_sample *s, const struct pev_format *fmt)
{
	return registers(&s->regs_intr, fmt);
}

/* ---- bytes ------------------------------------------------------------------- */

/* A u64 and the data that it counts, as in the record. */
static PyObject *counted(uint64_t head, const void *data, size_t size)
{
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof(head) + size));

	if (!bytes)
		return NULL;
	memcpy(PyBytes_AS_STRING(bytes), &head, sizeof(head));
	if (size)
		memcpy(PyBytes_AS_STRING(bytes) + sizeof(head), data, size);
	return bytes;
}

static PyObject *raw(const struct pev_sample *s, const struct pev_format *fmt)
{
	return PyBytes_FromStringAndSize(s->raw, (Py_ssize_t)s->raw_size);
}

static PyObject *branch_stack(const struct pev_sample *s, const struct pev_format *fmt)
{
	return counted(s->branches.nr, s->branches.entries,
		       (size_t)s->branches.nr * sizeof(struct perf_branch_entry));
}

static PyObject *stack_user(const struct pev_sample *s, const struct pev_format *fmt)
{
	return counted(s->stack_size, s->stack, (size_t)s->stack_size);
}

static PyObject *aux(const struct pev_sample *s, const struct pev_format *fmt)
{
	return counted(s->aux_size, s->aux, (size_t)s->aux_size);
}

/* ---- numbers ----------------------------------------------------------------- */

#define NUMBER(name, member)                                                                       \
	static PyObject *name(const struct pev_sample *s, const struct pev_format *fmt)            \
	{                                                                                          \
		return from_u64(s->member);                                                        \
	}

NUMBER(weight, weight.full)
NUMBER(data_src, data_src)
NUMBER(transaction, transaction)
NUMBER(phys_addr, phys_addr)
NUMBER(cgroup, cgroup)
NUMBER(data_page_size, data_page_size)
NUMBER(code_page_size, code_page_size)

static const struct {
	uint64_t bits;
	PyObject *(*make)(const struct pev_sample *s, const struct pev_format *fmt);
} parts[] = {
	{ PERF_SAMPLE_RAW, raw },
	{ PERF_SAMPLE_READ, read_value },
	{ PERF_SAMPLE_BRANCH_STACK, branch_stack },
	{ PERF_SAMPLE_REGS_USER, regs_user },
	{ PERF_SAMPLE_STACK_USER, stack_user },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, weight },
	{ PERF_SAMPLE_DATA_SRC, data_src },
	{ PERF_SAMPLE_TRANSACTION, transaction },
	{ PERF_SAMPLE_REGS_INTR, regs_intr },
	{ PERF_SAMPLE_PHYS_ADDR, phys_addr },
	{ PERF_SAMPLE_AUX, aux },
	{ PERF_SAMPLE_CGROUP, cgroup },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, data_page_size },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, code_page_size },
};

PyObject *sample_part_value(const struct perf_event *e, uint64_t bits)
{
	const struct pev_format *fmt = &e->cls->event->sampling->format;
	struct pev_record rec;

	if (pev_decode(e->rec, e->rec->size, fmt, &rec) || rec.sample.undecoded & bits)
		Py_RETURN_NONE;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].bits & bits)
			return parts[i].make(&rec.sample, fmt);
	Py_RETURN_NONE;
}
