/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of a source for Python: what iteration and _take() of an aggregate and of a stream have in common. */
#ifndef PYTHON_SOURCE_H
#define PYTHON_SOURCE_H

#include "python/session.h"

/* The next batch, waiting for it; NULL: there will be none, or with an exception. The GIL is free meanwhile. */
PyObject *source_next(const struct batch_source *s, struct native *native, const struct fields *names);
/* What _take() returns, without waiting: the batch; None: none is ready; False: there will be none; NULL with an exception. */
PyObject *source_take(const struct batch_source *s, struct native *native, const struct fields *names);
#endif
