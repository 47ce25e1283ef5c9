/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the numbers in events: of tasks, and of the addresses in call chains. */
#include "script/host.h"

#include "base/note.h"

static void learn_parents_name(struct comms *comms, const struct pev_task *task)
{
	char name[16];

	/* comms_get()'s answer doesn't outlive comms_set() */
	snprintf(name, sizeof(name), "%s", comms_get(comms, (pid_t)task->ptid));
	comms_set(comms, (pid_t)task->tid, name, strlen(name));
}

void host_task(void *ctx, const struct pev_record *rec)
{
	struct host *h = ctx;

	if (h->maps)
		maps_take(h->maps, rec);
	switch (rec->type) {
	case PERF_RECORD_COMM:
		comms_set(h->comms, (pid_t)rec->comm.tid, rec->comm.comm, strlen(rec->comm.comm));
		break;
	case PERF_RECORD_FORK:
		learn_parents_name(h->comms, &rec->task);
		break;
	case PERF_RECORD_EXIT:
		comms_exit(h->comms, (pid_t)rec->task.tid, rec->sample_id.time);
		break;
	case PERF_RECORD_LOST:
		h->lost_mappings += rec->lost.lost;
		break;
	default:
		break;
	}
}

static void until(void *ctx, uint64_t time)
{
	struct host *h = ctx;

	stream_tasks_until(h->stream, time);
}

static void catch_up(void *ctx)
{
	until(ctx, UINT64_MAX);
}

const char *host_comm(struct host *h, pid_t tid, uint64_t time)
{
	stream_tasks_until(h->stream, time);
	return comms_get(h->comms, tid);
}

const char *event_comm(const struct perf_event *e)
{
	if (e->owned && e->comm[0])
		return e->comm;
	return host_comm(e->cls->host, (pid_t)layout_u32(e->rec, e->cls->event->layout.tid + 4),
			 event_time(e));
}

PyObject *host_frames(struct host *h, const uint64_t *ips, uint64_t nr, pid_t pid, uint64_t time)
{
	if (!h->frames)
		return PyList_New(0);
	return frames_list(h->frames, ips, nr, pid, time);
}

PyObject *host_callchain(struct host *h, const struct perf_event *e)
{
	const struct layout *l = &e->cls->event->layout;
	uint64_t nr = 0;
	const uint64_t *ips = layout_callchain(l, e->rec, &nr);

	if (e->chain)
		return PyList_GetSlice(e->chain, 0, PyList_GET_SIZE(e->chain));
	return host_frames(h, ips, ips ? nr : 0, (pid_t)layout_u32(e->rec, l->tid), event_time(e));
}

static bool has_user_part(const uint64_t *ips, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		if (ips[i] == (uint64_t)PERF_CONTEXT_USER)
			return true;
	return false;
}

PyObject *host_chain_to_keep(struct host *h, const struct perf_event *e)
{
	uint64_t nr = 0;
	const uint64_t *ips = layout_callchain(&e->cls->event->layout, e->rec, &nr);
	PyObject *chain;

	if (!h->maps || !ips || !has_user_part(ips, nr))
		return NULL;
	chain = host_callchain(h, e);
	if (!chain)
		PyErr_Clear();
	return chain;
}

/* ---- beginning and end ---------------------------------------------------- */

static int open_maps(struct host *h)
{
	struct maps_opts opts = {
		.dsos = symbolizer_dsos(h->symbolizer), .opener = h->opener,
		.catch_up = catch_up, .ctx = h,
	};

	h->maps = maps_new(&opts);
	return h->maps ? 0 : -1;
}

static void drop_frames(PyObject *capsule)
{
	struct host *h = PyCapsule_GetPointer(capsule, NULL);

	frames_free(h->frames);
	h->frames = NULL;
	Py_CLEAR(h->frame_type);
}

/* Functions of atexit may still look at events: the frames end with the modules, not with
 * the run. */
static int keep_until_finalization(struct host *h)
{
	PyObject *capsule = PyCapsule_New(h, NULL, drop_frames);
	int rc = capsule ? PyObject_SetAttrString(h->loader, "_frames", capsule) : -1;

	Py_XDECREF(capsule);
	return rc;
}

static int open_frames(struct host *h)
{
	struct frames_opts opts = {
		.symbolizer = h->symbolizer, .maps = h->maps, .type = h->frame_type,
		.until = until, .ctx = h,
	};

	h->frames = frames_new(&opts);
	if (h->frames && !keep_until_finalization(h))
		return 0;
	PyErr_Clear();
	return -1;
}

int host_open_symbols(struct host *h, int verbose, struct fault *f)
{
	struct symbolizer_opts opts = { .opener = h->opener };

	h->symbolizer = symbolizer_new(&opts);
	if (!h->symbolizer)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (symbolizer_read_kernel(h->symbolizer) && stream_replay(h->stream))
		note(verbose, "kernel functions have no names: %s", replay_is_same_kernel(stream_replay(h->stream))
		     ? "/proc/kallsyms hides their addresses from this user" : "the recording is not of the "
		     "kernel that runs now, or does not say where that lay");
	else if (symbolizer_read_kernel(h->symbolizer))
		note(verbose, "kernel functions have no names: /proc/kallsyms hides their addresses from "
		     "this user; CAP_SYSLOG or sysctl kernel.kptr_restrict=0 shows them");
	return 0;
}

int host_watch_tasks(struct host *h, int verbose, struct fault *f)
{
	if (!stream_replay(h->stream))
		comms_snapshot(h->comms);
	if (!h->symbolizer)
		return 0;
	if (stream_wants_mappings(h->stream) && !stream_has_mappings(h->stream))
		note(verbose, "user functions have no names: records of what processes map can't be "
		     "had, for want of descriptors or locked memory (ulimit -n, ulimit -l)");
	if (stream_has_mappings(h->stream) && open_maps(h))
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (h->maps && !stream_replay(h->stream))
		maps_snapshot(h->maps);
	return 0;
}

int host_open_frames(struct host *h, struct fault *f)
{
	if (!h->symbolizer || !open_frames(h))
		return 0;
	return fault_set(f, EXIT_FAILED, "out of memory");
}

/* ---- functions that events point to ------------------------------------------- */

static const char *find_function(void *ctx, uint64_t addr, uint64_t *offset)
{
	struct kernel_symbol sym;

	if (!symbolizer_kernel(ctx, addr, &sym))
		return NULL;
	*offset = addr - sym.start;
	return sym.name;
}

static bool prints_functions(struct stream *stream)
{
	size_t n;
	const struct stream_event *events = stream_events(stream, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].wanted && events[i].fmt && tracefmt_prints_functions(events[i].fmt))
			return true;
	return false;
}

int host_open_functions(struct host *h, struct fault *f)
{
	struct symbolizer_opts opts = { .opener = h->opener };
	struct tracefmt_symbols symbols = { .find = find_function };

	if (!prints_functions(h->stream))
		return 0;
	symbols.ctx = h->functions = symbolizer_new(&opts);
	if (!h->functions)
		return fault_set(f, EXIT_FAILED, "out of memory");
	tracefmt_set_symbols(stream_formats(h->stream), &symbols);
	return 0;
}

void host_close_names(struct host *h)
{
	print_close(h);
	symbolizer_free(h->functions);
	maps_free(h->maps);
	symbolizer_free(h->symbolizer);
	comms_free(h->comms);
}
