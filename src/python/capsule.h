/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrow structures in capsules, as Arrow's PyCapsule interface wants them. A consumer that imports a
 * structure moves it out and sets release to NULL; of one that does not, the capsule's end releases it.
 */
#ifndef PYTHON_CAPSULE_H
#define PYTHON_CAPSULE_H

#include "columns/arrow.h"
#include "python/python.h"

#include <stdlib.h>

/* Defines enclose_NAME(it): a capsule that owns it, which came from malloc(); or NULL with an exception. */
#define CAPSULE(type, name)                                                                        \
	static void free_##name(PyObject *capsule)                                                   \
	{                                                                                            \
		struct type *it = PyCapsule_GetPointer(capsule, #name);                              \
                                                                                                   \
		if (it && it->release)                                                               \
			it->release(it);                                                             \
		free(it);                                                                            \
	}                                                                                            \
                                                                                                   \
	static PyObject *enclose_##name(struct type *it)                                             \
	{                                                                                            \
		PyObject *capsule = PyCapsule_New(it, #name, free_##name);                           \
                                                                                                   \
		if (!capsule && it->release)                                                         \
			it->release(it);                                                             \
		if (!capsule)                                                                        \
			free(it);                                                                    \
		return capsule;                                                                      \
	}

#endif
