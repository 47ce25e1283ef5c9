/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of CPython's own structures are, by version. From 3.13 on the interpreter says so itself, in the
 * _Py_DebugOffsets at the beginning of _PyRuntime; for 3.9 to 3.12 there is a table, from the headers of these versions.
 * The offsets are those of 64-bit programs.
 */
#ifndef PYSTACK_OFFSETS_H
#define PYSTACK_OFFSETS_H

#include "pystack/memory.h"

/* How a code object relates instructions to lines. */
enum line_form {
	LINES_DELTAS,            /* 3.9: co_lnotab */
	LINES_RANGES,            /* 3.10: co_linetable, pairs */
	LINES_LOCATIONS,         /* 3.11 and later: co_linetable, entries with columns */
};

/* The most bytes of a structure that are read at once. */
enum { OFFSETS_THREAD = 512, OFFSETS_FRAME = 128, OFFSETS_CODE = 512, OFFSETS_TEXT = 96 };

struct offsets {
	uint8_t minor;                   /* of version 3.minor */
	bool shared_owner;               /* frames have an owner */
	enum line_form lines;
	uint32_t frame_unit;             /* bytes for each unit of a frame's place; 0: the place is an address */
	uint64_t interpreters;           /* in _PyRuntime: the first interpreter */
	uint64_t gil;                    /* in _PyRuntime, or (minor > 11) in an interpreter a pointer to it */
	struct {
		uint64_t holder, locked;
	} in_gil;
	struct {
		uint64_t next, threads;
	} interpreter;
	/* In each structure, `size`: bytes that cover all fields. */
	struct {
		uint64_t size, next, id; /* id: pthread_t */
		uint64_t native;         /* thread id of the kernel; 0: there is none */
		uint64_t frame;          /* the innermost frame; with `via`, a structure that has it */
		uint64_t via;            /* offset + 1 in that structure; 0: there is none */
	} thread;
	struct {
		uint64_t size, previous, code, place, owner;
		uint64_t entry;          /* 3.11: whether the evaluation loop was called for it */
	} frame;
	uint64_t type;                   /* of each object */
	struct {
		uint64_t size, name, file, lines, first_line;
		uint64_t instructions;   /* where they begin */
	} code;
	struct {
		uint64_t length, bytes;
	} bytes;
	struct {
		uint64_t size, state, length, ascii, compact;   /* ascii, compact: where the characters begin */
	} text;
};

/* Owners of a frame from here on are no Python functions. */
enum { OFFSETS_OWNER_C = 3 };

/* The offsets for a version (PY_VERSION_HEX) whose _PyRuntime is at that address. 0; -ENOTSUP: the version is not
 * known, or has no GIL; -EPROTO: the offsets make no sense; or another -errno. */
int offsets_of(struct offsets *out, const struct memory *m, uint64_t runtime, uint32_t version);
/* The version that the beginning of _PyRuntime states (3.13 or later); 0: it states none. */
uint32_t offsets_stated(const struct memory *m, uint64_t runtime);
#endif
