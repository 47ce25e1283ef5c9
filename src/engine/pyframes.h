/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python functions in call chains. With -X perf, CPython calls each through a trampoline of its own, which the perf map
 * names "py::NAME:FILE". What the interpreter itself does below it is work of that function, as in stacks that are read
 * from the interpreter's memory (pystack): its frames are left out.
 */
#ifndef ENGINE_PYFRAMES_H
#define ENGINE_PYFRAMES_H

#include "engine/callstacks.h"

enum { PYFRAMES_NAME = 512 };

/* The parts of a trampoline's symbol: copies the function's name; *file points into the symbol. False: it is none. */
bool pyframes_parse(const char *symbol, char name[PYFRAMES_NAME], const char **file);
/* Leaves out frames of the interpreter that are called by a Python function, and with the C library's those that call the
 * outermost one. Frames of Python functions are already those of scripts. Returns the new number; n if there is none. */
size_t pyframes_merge(const struct frame **frames, size_t n);
/* Whether it is in an interpreter: python3, python3.12, libpython3.12.so.1.0. */
bool pyframes_is_interpreter(const struct frame *frame);
#endif
