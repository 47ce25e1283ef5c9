/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of tracepoints: what lies where in the raw bytes of a sample.
 *
 * A format is read from tracefs or a recording. Its fields are parsed by libtraceevent, whose
 * plugins are never loaded (they are code from $HOME), and turned into a table of fields with offset, size, sign and kind. Kernel layouts
 * move between versions, so nothing here knows a struct by heart.
 */
#ifndef TRACEFMT_TRACEFMT_H
#define TRACEFMT_TRACEFMT_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_UINT,       /* 1, 2, 4 or 8 bytes */
	FIELD_SINT,
	FIELD_STR,        /* char[n]: up to the first NUL */
	FIELD_BYTES,      /* any other array */
	FIELD_DYN_STR,    /* __data_loc char[]: u32 of offset (low 16) and length (high 16) */
	FIELD_DYN_BYTES,
	FIELD_REL_STR,    /* __rel_loc char[]: the offset counts from behind the u32 */
	FIELD_REL_BYTES,
};

struct trace_field {
	const char *name;
	const char *type;         /* as the kernel writes it: "unsigned long", "char[16]" */
	enum field_kind kind;
	uint16_t offset;          /* into the raw data */
	uint16_t size;
};

struct tracefmt {
	char *sys, *name;
	uint16_t id;              /* common_type */
	struct trace_field *fields;    /* the common_* first, then the event's own */
	size_t nfields, ncommon;
	uint16_t min_size;        /* raw data shorter than this lacks a field */
	void *tep_event;          /* libtraceevent's: its fields */
	struct event_text *text;  /* how it prints */
	uint16_t id_offset;       /* of common_type */
};

/* Names of the kernel's functions: NULL where there is none, else with the address's
 * offset into it. */
struct tracefmt_symbols {
	const char *(*find)(void *ctx, uint64_t addr, uint64_t *offset);
	void *ctx;
};

struct tracefmt_db;

/* A set of formats of one machine. NULL when out of memory. */
struct tracefmt_db *tracefmt_db_new(void);
void tracefmt_db_free(struct tracefmt_db *db);

/* Format of sys:name out of tracefs; owned by the db, loaded once. NULL with f. */
const struct tracefmt *tracefmt_load(struct tracefmt_db *db, const char *tracefs, const char *sys,
				     const char *name, struct fault *f);
/* The same from text (the content of a `format` file). */
const struct tracefmt *tracefmt_parse(struct tracefmt_db *db, const char *text, size_t len,
				      const char *sys, struct fault *f);

/* The formats are those of another machine: bytes of its `long` (4 or 8), of its pages. */
void tracefmt_set_machine(struct tracefmt_db *db, int long_size, int page_size);
/* The known format of that id (common_type); NULL: there is none. */
const struct tracefmt *tracefmt_find(const struct tracefmt_db *db, uint64_t id);
/* Turns the numbers in raw data of the other byte order into this machine's, in place. */
void tracefmt_swap(const struct tracefmt *fmt, void *raw, uint32_t raw_size);

/* Where %pS and the like look; none at first. */
void tracefmt_set_symbols(struct tracefmt_db *db, const struct tracefmt_symbols *symbols);
/* Whether this event's text has names of functions. */
bool tracefmt_prints_functions(const struct tracefmt *fmt);
/* The event's own text ("comm=worker pid=12346 ...") with a NUL behind its *len bytes.
 * Valid until the next call on db. The raw data may be hostile: what is out of bounds
 * prints as an error text. len may be NULL. */
const char *tracefmt_print(struct tracefmt_db *db, const struct tracefmt *fmt, const void *raw,
			   uint32_t raw_size, size_t *len);
/* Why an event's "print fmt" can't be compiled, so that it prints as its fields (" a=1 b=2"); NULL: it can. */
const char *tracefmt_not_compiled(const struct tracefmt *fmt);

/* Where a string or byte field lies in raw: 0 with *data and *len (strings without
 * their NUL), -1 if it would reach beyond raw_size. */
int trace_field_data(const struct trace_field *field, const void *raw, uint32_t raw_size,
		     const char **data, uint32_t *len);
/* Value of a number field; the caller checked that it lies within raw. */
uint64_t trace_field_uint(const struct trace_field *field, const void *raw);
int64_t trace_field_sint(const struct trace_field *field, const void *raw);
#endif
