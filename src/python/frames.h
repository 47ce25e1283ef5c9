/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains as lists of frames: read-only dicts of addr, symbol, offset, kernel, dso. Equal
 * frames are the same object. A chain that was seen before costs one lookup. The lists are new each
 * time.
 */
#ifndef PYTHON_FRAMES_H
#define PYTHON_FRAMES_H

#include "python/python.h"
#include "symbols/chain.h"
#include "symbols/symbolizer.h"
#include "tasks/maps.h"

struct frames;

struct frames_opts {
	struct symbolizer *symbolizer;
	struct maps *maps;       /* NULL: user addresses have no names */
	PyTypeObject *type;      /* frame_type_new() */
};

/* Keeps the pointers of opts. NULL with an exception. */
struct frames *frames_new(const struct frames_opts *opts);
void frames_free(struct frames *f);
/* The frames of a sample's chain (with its PERF_CONTEXT_* markers) in process `pid` at `time` (perf
 * clock, ns): a new list, or NULL with an exception. */
PyObject *frames_list(struct frames *f, const uint64_t *ips, uint64_t nr, pid_t pid,
		      uint64_t time);

/* frame.c: the class perf_prof.Frame, and an empty instance; both new references. */
PyTypeObject *frame_type_new(PyObject *module);
PyObject *frame_new(PyTypeObject *type);
#endif
