/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of real CPUs' events through libpfm4, where it was there at build time. libpfm
 * keeps its own state, once per process: pthread_once() guards that it is set up once.
 */
#include "perfevent/parse.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int status;

static void start(void)
{
	status = pfm_initialize();
}

int pev_pfm_encode_(const char *name, union pev_attr_buf *buf)
{
	pfm_perf_encode_arg_t arg = { .attr = &buf->attr, .size = sizeof(arg), .cpu = -1 };

	pthread_once(&once, start);
	if (status != PFM_SUCCESS)
		return -ENOENT;
	pev_attr_buf_init(buf, 0, 0);
	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) !=
	    PFM_SUCCESS)
		return -ENOENT;
	/* it also looks up tracepoints, under debugfs, ftrace's own among them that can't be opened */
	if (buf->attr.type == PERF_TYPE_TRACEPOINT)
		return -ENOENT;
	buf->attr.size = PERF_ATTR_SIZE_VER7;
	/* it looks for tracepoints in debugfs: what our own search refused stays refused */
	return buf->attr.type == PERF_TYPE_TRACEPOINT ? -ENOENT : 0;
}
#else
int pev_pfm_encode_(const char *name, union pev_attr_buf *buf)
{
	(void)name;
	(void)buf;
	return -ENOENT;
}
#endif
