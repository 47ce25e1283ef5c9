/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of records and their attributes. */
#include "pyperf/record.h"

#define U64(member, name, doc) FIELD(U64, member, name, 0, doc)
#define U32(member, name, doc) FIELD(U32, member, name, 0, doc)
#define U16(member, name, doc) FIELD(U16, member, name, 0, doc)
#define BOOL(member, name, doc) FIELD(BOOL, member, name, 0, doc)
#define TEXT(member, name, doc) FIELD(TEXT, member, name, 0, doc)
#define TASK(of) U32(of.pid, "pid", "process"), U32(of.tid, "tid", "thread")

static const struct field lost_fields[] = {
	U64(lost.lost, "lost", "records that found no room"),
	END,
};

static const struct field comm_fields[] = {
	TASK(comm),
	TEXT(comm.comm, "comm", "the new name"),
	BOOL(comm.exec, "exec", "it comes from an exec"),
	END,
};

static const struct field task_fields[] = {
	TASK(task),
	U32(task.ppid, "ppid", "parent process"),
	U32(task.ptid, "ptid", "parent thread"),
	U64(task.time, "time", "ns"),
	END,
};

static PyObject *get_build_id(const struct pev_record *r, const struct source *s)
{
	if (!r->mmap.has_build_id)
		Py_RETURN_NONE;
	return bytes_of(r->mmap.build_id, r->mmap.build_id_size > sizeof(r->mmap.build_id) ?
						  sizeof(r->mmap.build_id) : r->mmap.build_id_size);
}

static const struct field mmap_fields[] = {
	TASK(mmap),
	U64(mmap.addr, "addr", "where the mapping begins"),
	U64(mmap.len, "len", "bytes"),
	U64(mmap.pgoff, "pgoff", "offset in the file, bytes"),
	TEXT(mmap.filename, "filename", "path of the file, or \"[heap]\", \"//anon\""),
	BOOL(mmap.data, "data", "it is not executable"),
	CALL(get_build_id, "build_id", 0, "bytes, or None; MMAP2 with attr.build_id"),
	U32(mmap.maj, "maj", "major number of the device; MMAP2"),
	U32(mmap.min, "min", "minor number of the device; MMAP2"),
	U64(mmap.ino, "ino", "inode; MMAP2"),
	U64(mmap.ino_generation, "ino_generation", "generation of the inode; MMAP2"),
	U32(mmap.prot, "prot", "mmap.PROT_*; MMAP2"),
	U32(mmap.flags, "flags", "mmap.MAP_*; MMAP2"),
	END,
};

static const struct field throttle_fields[] = {
	U64(throttle.time, "time", "ns"),
	U64(throttle.id, "id", "id of the event"),
	U64(throttle.stream_id, "stream_id", "id of the event's copy"),
	END,
};

static PyObject *get_read(const struct pev_record *r, const struct source *s)
{
	return read_values(&r->read.read);
}

static const struct field read_fields[] = {
	TASK(read),
	CALL(get_read, "read", 0, "(value, time_enabled, time_running, id, lost) of each counter"),
	END,
};

static const struct field aux_fields[] = {
	U64(aux.offset, "offset", "where the data begin in the AUX area"),
	U64(aux.size, "size", "bytes"),
	U64(aux.flags, "flags", "PERF_AUX_FLAG_*"),
	END,
};

static const struct field itrace_fields[] = { TASK(itrace_start), END };

static const struct field switch_fields[] = {
	BOOL(context_switch.out, "out", "the task leaves the CPU, else it comes"),
	BOOL(context_switch.preempt, "preempt", "it leaves, but could run on"),
	U32(context_switch.next_prev_pid, "next_prev_pid",
	    "process that comes (out) or went (in); SWITCH_CPU_WIDE"),
	U32(context_switch.next_prev_tid, "next_prev_tid",
	    "thread that comes (out) or went (in); SWITCH_CPU_WIDE"),
	END,
};

/* {"net": (dev, inode), …} */
static PyObject *get_namespaces(const struct pev_record *r, const struct source *s)
{
	PyObject *dict = PyDict_New(), *key, *value;

	for (uint64_t i = 0; dict && i < r->namespaces.nr; i++) {
		const struct pev_namespace *ns = &r->namespaces.entries[i];
		const char *name = pev_namespace_name(i);

		key = name ? PyUnicode_FromString(name) : PyUnicode_FromFormat("%llu", (unsigned long long)i);
		value = Py_BuildValue("(KK)", (unsigned long long)ns->dev, (unsigned long long)ns->inode);
		if (!key || !value || PyDict_SetItem(dict, key, value))
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(value);
	}
	return dict;
}

static const struct field namespaces_fields[] = {
	TASK(namespaces),
	CALL(get_namespaces, "namespaces", 0, "{\"net\": (device, inode), …}"),
	END,
};

static const struct field ksymbol_fields[] = {
	U64(ksymbol.addr, "addr", "where the code begins"),
	U32(ksymbol.len, "len", "bytes"),
	U16(ksymbol.type, "ksym_type", "PERF_RECORD_KSYMBOL_TYPE_*"),
	U16(ksymbol.flags, "flags", "PERF_RECORD_KSYMBOL_FLAGS_*"),
	BOOL(ksymbol.unregister, "unregister", "it went, else it came"),
	TEXT(ksymbol.name, "symbol", "name of the code"),
	END,
};

BYTES(get_tag, r->bpf_event.tag, sizeof(r->bpf_event.tag))

static const struct field bpf_fields[] = {
	U16(bpf_event.type, "bpf_type", "PERF_BPF_EVENT_*"),
	U16(bpf_event.flags, "flags", "none is defined"),
	U32(bpf_event.id, "prog_id", "id of the program"),
	CALL(get_tag, "tag", 0, "8 bytes"),
	END,
};

static const struct field cgroup_fields[] = {
	U64(cgroup.id, "cgroup", "id of the control group, as in samples"),
	TEXT(cgroup.path, "path", "its path below the cgroup file system"),
	END,
};

BYTES(get_old, r->text_poke.old_bytes, r->text_poke.old_len)
BYTES(get_new, r->text_poke.new_bytes, r->text_poke.new_len)

static const struct field text_poke_fields[] = {
	U64(text_poke.addr, "addr", "where the kernel's code changed"),
	CALL(get_old, "old_bytes", 0, "the code before"),
	CALL(get_new, "new_bytes", 0, "the code after"),
	END,
};

static const struct field hw_id_fields[] = {
	U64(aux_output_hw_id.hw_id, "hw_id", "the hardware's number for the event"),
	END,
};

static PyObject *get_deferred(const struct pev_record *r, const struct source *s)
{
	return words_tuple(r->callchain_deferred.ips, r->callchain_deferred.nr);
}

static const struct field deferred_fields[] = {
	U64(callchain_deferred.cookie, "cookie", "as in the callchains that it completes"),
	CALL(get_deferred, "callchain", 0, "the user part, the innermost frame first"),
	END,
};

const struct record_kind record_kinds[] = {
	{ "Record", "A record out of a ring; of a type that is unknown here if it is nothing more.\n\n"
		    "All have type, misc, name, event and cpu_mode. Those other than samples have pid, tid,\n"
		    "time, id, stream_id, cpu if the event has sample_id_all and the bits in sample_type.\n"
		    "asdict() has everything, str() is a line of text, bytes() what the kernel wrote." },
	{ "Sample", "An overflow of a sampling event: what attr.sample_type asks for.", sample_fields,
	  { PERF_RECORD_SAMPLE } },
	{ "Lost", "The ring was full (LOST), or the hardware lost samples (LOST_SAMPLES).", lost_fields,
	  { PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES } },
	{ "Comm", "A task has a new name. attr.comm", comm_fields, { PERF_RECORD_COMM } },
	{ "Task", "A task began (FORK) or ended (EXIT). attr.task", task_fields,
	  { PERF_RECORD_FORK, PERF_RECORD_EXIT } },
	{ "Mmap", "A new mapping of a process. attr.mmap, attr.mmap2, attr.mmap_data", mmap_fields,
	  { PERF_RECORD_MMAP, PERF_RECORD_MMAP2 } },
	{ "Throttle", "Samples came too fast and were stopped (THROTTLE), or go on (UNTHROTTLE).",
	  throttle_fields, { PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE } },
	{ "Read", "Counts of a task at its end. attr.inherit_stat", read_fields, { PERF_RECORD_READ } },
	{ "Aux", "New data in the AUX area.", aux_fields, { PERF_RECORD_AUX } },
	{ "ItraceStart", "An instruction trace began.", itrace_fields, { PERF_RECORD_ITRACE_START } },
	{ "Switch", "A context switch. attr.context_switch", switch_fields,
	  { PERF_RECORD_SWITCH, PERF_RECORD_SWITCH_CPU_WIDE } },
	{ "Namespaces", "A task's namespaces. attr.namespaces", namespaces_fields,
	  { PERF_RECORD_NAMESPACES } },
	{ "Ksymbol", "Kernel code came or went. attr.ksymbol", ksymbol_fields, { PERF_RECORD_KSYMBOL } },
	{ "BpfEvent", "A BPF program was loaded or unloaded. attr.bpf_event", bpf_fields,
	  { PERF_RECORD_BPF_EVENT } },
	{ "Cgroup", "A new control group. attr.cgroup", cgroup_fields, { PERF_RECORD_CGROUP } },
	{ "TextPoke", "Kernel code changed. attr.text_poke", text_poke_fields,
	  { PERF_RECORD_TEXT_POKE } },
	{ "AuxOutputHwId", "The hardware's number for an event in AUX data.", hw_id_fields,
	  { PERF_RECORD_AUX_OUTPUT_HW_ID } },
	{ "CallchainDeferred", "User part of callchains before. attr.defer_callchain", deferred_fields,
	  { PEV_RECORD_CALLCHAIN_DEFERRED } },
	{ NULL },
};

_Static_assert(sizeof(record_kinds) / sizeof(*record_kinds) - 1 <= MAX_KINDS, "MAX_KINDS");
