/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains as lists of frames: dicts of addr, symbol, offset, kernel, dso that refuse
 * changes. A frame that was made before is the same object again; so is every frame of a
 * chain that was seen before, which costs a look-up. The lists are fresh.
 */
#ifndef PYHOST_FRAMES_H
#define PYHOST_FRAMES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "symbols/chain.h"
#include "symbols/symbolizer.h"
#include "tasks/maps.h"

struct frames;

struct frames_opts {
	struct symbolizer *symbolizer;
	struct maps *maps;       /* NULL: addresses of users have no names */
	PyTypeObject *type;      /* frame_type_new() */
	/* Has records of mappings up to a time taken into `maps`. */
	void (*until)(void *ctx, uint64_t time);
	void *ctx;
};

/* opts' pointers outlive it. NULL with an exception. */
struct frames *frames_new(const struct frames_opts *opts);
void frames_free(struct frames *f);
/* The frames of a sample's chain (PERF_CONTEXT_* markers included) of the process at that
 * time (perf clock, ns): a new list, or NULL with an exception. */
PyObject *frames_list(struct frames *f, const uint64_t *ips, uint64_t nr, pid_t pid,
		      uint64_t time);

/* frame.c: the class perf_prof.Frame, and one of it: a new reference. */
PyTypeObject *frame_type_new(PyObject *module);
PyObject *frame_new(PyTypeObject *type);
#endif
