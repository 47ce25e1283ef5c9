/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tasks, and of addresses in call chains. */
#include "python/host.h"

#include "stream/rings/ids.h"

void host_task(void *ctx, const struct pev_record *rec)
{
	struct host *h = ctx;

	names_take(&h->names, rec);
}

const char *host_comm(void *ctx, const struct stream_event *event, const struct perf_event_header *rec, const void *raw)
{
	struct host *h = ctx;

	return names_comm(&h->names, stream_tid(event, rec, raw), layout_u64(rec, event->layout.time));
}

const char *event_comm(const struct perf_event *e)
{
	if (e->owned && e->comm[0])
		return e->comm;
	return host_comm(e->cls->host, e->cls->event, e->rec, e->raw);
}

PyObject *host_callchain(struct host *h, const struct perf_event *e)
{
	const struct layout *l = &e->cls->event->layout;
	const uint64_t *ips;
	uint64_t nr = 0;

	if (e->chain)
		return PyList_GetSlice(e->chain, 0, PyList_GET_SIZE(e->chain));
	ips = names_chain(&h->names, e->cls->event, e->rec, &nr);
	if (!h->frames)
		return PyList_New(0);
	return frames_list(h->frames, ips, ips ? nr : 0, (pid_t)layout_u32(e->rec, l->tid), event_time(e));
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
	const struct stream_event *event = e->cls->event;
	const uint64_t *ips = layout_callchain(&event->layout, e->rec, &nr);
	PyObject *chain;

	if (!h->names.maps || !ips || (!event->opened.stack_format && !has_user_part(ips, nr)))
		return NULL;
	chain = host_callchain(h, e);
	if (!chain)
		PyErr_Clear();
	return chain;
}

/* ---- opening -------------------------------------------------------------- */

static void drop_frames(PyObject *capsule)
{
	struct host *h = PyCapsule_GetPointer(capsule, NULL);

	frames_free(h->frames);
	h->frames = NULL;
	Py_CLEAR(h->frame_type);
}

/* Functions of atexit may still use events, so frames are freed with the modules instead of at the end of
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
		.symbolizer = h->names.symbolizer, .maps = h->names.maps, .type = h->frame_type,
	};

	h->frames = frames_new(&opts);
	if (h->frames && !keep_until_finalization(h))
		return 0;
	PyErr_Clear();
	return -1;
}

int host_open_frames(struct host *h, struct fault *f)
{
	if (!h->names.symbolizer || !open_frames(h))
		return 0;
	return fault_set(f, EXIT_FAILED, "out of memory");
}
