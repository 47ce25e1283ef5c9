/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of record types, as rows of a table. */
#ifndef PYPERF_RECORD_H
#define PYPERF_RECORD_H

#include "pyperf/pyperf.h"

#include <stddef.h>

typedef PyObject *field_fn(const struct pev_record *r, const struct source *s);

enum field_kind { FIELD_U64, FIELD_U32, FIELD_U16, FIELD_U8, FIELD_BOOL, FIELD_TEXT, FIELD_CALL };

struct field {
	const char *name;
	const char *doc;
	enum field_kind kind;
	bool trailer;            /* `needs` is about the sample_id trailer, not the sample */
	uint16_t offset;         /* in struct pev_record */
	uint64_t needs;          /* the attribute needs one of these PERF_SAMPLE_* bits; 0: none */
	field_fn *call;
};

#define FIELD(type, member, name, needs, doc) \
	{ name, doc, FIELD_##type, false, offsetof(struct pev_record, member), needs, NULL }
#define TRAILER(type, member, name, needs, doc) \
	{ name, doc, FIELD_##type, true, offsetof(struct pev_record, sample_id.member), needs, NULL }
#define CALL(fn, name, needs, doc) { name, doc, FIELD_CALL, false, 0, needs, fn }
#define END { NULL }

/* A field_fn that returns bytes of the record. */
#define BYTES(name, data, size)                                                                    \
	static PyObject *name(const struct pev_record *r, const struct source *s)                  \
	{                                                                                          \
		return bytes_of(data, size);                                                       \
	}

struct record_kind {
	const char *name;        /* of the Python type */
	const char *doc;
	const struct field *fields;
	uint32_t types[2];       /* PERF_RECORD_*; 0: no more */
};

extern const struct record_kind record_kinds[];   /* the first is the base class; ends with a NULL name */
extern const struct field sample_fields[];

/* dict of one (value, time_enabled, …) tuple for each counter */
PyObject *read_values(const struct pev_read *read);
PyObject *words_tuple(const uint64_t *words, uint64_t n);
PyObject *bytes_of(const void *data, uint64_t size);
#endif
