/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of tracepoints: the fields in the raw data of a sample.
 *
 * A format is read from tracefs or a recording. libtraceevent parses its fields (without its
 * plugins, which are code from $HOME). They become a table with offset, size, sign and kind.
 * Layouts differ between kernel versions, so no struct is hard-coded.
 */
#ifndef TRACEFMT_TRACEFMT_H
#define TRACEFMT_TRACEFMT_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum field_kind {
	FIELD_UINT,       /* 1, 2, 4 or 8 bytes */
	FIELD_SINT,
	FIELD_STR,        /* char[n]: up to the first NUL */
	FIELD_BYTES,      /* any other array */
	FIELD_DYN_STR,    /* __data_loc char[]: u32 of offset (low 16) and length (high 16) */
	FIELD_DYN_BYTES,
	FIELD_REL_STR,    /* __rel_loc char[]: the offset counts from the end of the u32 */
	FIELD_REL_BYTES,
};

struct trace_field {
	const char *name;
	const char *type;         /* in the kernel's words: "unsigned long", "char[16]" */
	enum field_kind kind;
	uint16_t offset;          /* into the raw data */
	uint16_t size;
	bool fetched;             /* a dynamic text that a probe fetched: see TRACE_FIELD_FAULT */
	uint16_t next;            /* of such a text: where the word of the next one is in the raw data; 0: it is the last */
	uint8_t elem;             /* bytes of an element of an array; 0: not known */
};

/* A probe has written no byte for a text, not even its NUL: it could not read it, as from a null pointer. An empty text has
 * one. Kernels that lack the fix of Linux 6.5 may write an empty one in both cases. If the kernel could not even read the
 * pointer to the text, as in a structure behind a null pointer, the word has what it was before: the room that is left, in
 * which the next text of the probe that can be read begins. */
enum { TRACE_FIELD_FAULT = 1 };
/* The kernel's own word for it. */
#define TRACE_FAULT_TEXT "(fault)"

static inline bool trace_field_is_text(const struct trace_field *f)
{
	return f->kind == FIELD_STR || f->kind == FIELD_DYN_STR || f->kind == FIELD_REL_STR;
}

/* The number at p, of 8, 4, 2 or 1 bytes. */
static inline uint64_t trace_number(const void *p, unsigned int size)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (size) {
	case 8:
		memcpy(&v8, p, 8);
		return v8;
	case 4:
		memcpy(&v4, p, 4);
		return v4;
	case 2:
		memcpy(&v2, p, 2);
		return v2;
	default:
		return *(const uint8_t *)p;
	}
}

/* Where the text is that the word at p refers to. */
static inline uint16_t trace_place(const void *p)
{
	return (uint16_t)trace_number(p, 4);
}

/* Whether the text of a probe could not be read: it has no byte, or lies where the next one does. f->next lies within raw. */
static inline bool trace_text_is_fault(const struct trace_field *f, const void *raw, uint32_t len)
{
	const char *words = raw;

	return f->fetched && (!len || (f->next && trace_place(words + f->next) == trace_place(words + f->offset)));
}

/* common_flags: in which interrupt, if any (trace_flag_type in the kernel), and where they are in the data of each tracepoint. */
enum { TRACE_HARDIRQ = 0x08, TRACE_SOFTIRQ = 0x10, TRACE_NMI = 0x40 };
enum { TRACE_FLAGS_AT = 2 };

struct tracefmt {
	char *sys, *name;
	uint16_t id;              /* common_type */
	struct trace_field *fields;    /* the common_* first, then the event's own */
	size_t nfields, ncommon;
	uint16_t min_size;        /* raw data shorter than this is incomplete */
	void *tep_event;          /* libtraceevent's event: its fields */
	struct event_text *text;  /* its "print fmt" */
	uint16_t id_offset;       /* of common_type */
	bool mended;              /* some fields are bytes, since their types are not understood */
	bool returns;             /* of a return probe, whoever made it */
	bool is_running;          /* the kernel that runs here has this event: its enumerators are known */
};

/* Names of kernel functions: NULL: unknown; else *offset is that of the address in the function. */
struct tracefmt_symbols {
	const char *(*find)(void *ctx, uint64_t addr, uint64_t *offset);
	void *ctx;
	const struct kerneltexts *texts;   /* of tracefmt_add_texts(), which sets it */
};

struct tracefmt_db;

/* The formats of one machine. NULL: out of memory. */
struct tracefmt_db *tracefmt_db_new(void);
void tracefmt_db_free(struct tracefmt_db *db);

/* The format of sys:name from tracefs; owned by the db, loaded once. NULL with f. */
const struct tracefmt *tracefmt_load(struct tracefmt_db *db, const char *tracefs, const char *sys,
				     const char *name, struct fault *f);
/* Makes a format from the text of a `format` file. */
const struct tracefmt *tracefmt_parse(struct tracefmt_db *db, const char *text, size_t len,
				      const char *sys, struct fault *f);

/* Formats of another machine: sizes in bytes of its `long` (4 or 8) and its pages. */
void tracefmt_set_machine(struct tracefmt_db *db, int long_size, int page_size);
/* The known format with that id (common_type), or NULL. */
const struct tracefmt *tracefmt_find(const struct tracefmt_db *db, uint64_t id);
/* Converts the numbers in raw data of the other byte order to this machine's, in place. */
void tracefmt_swap(const struct tracefmt *fmt, void *raw, uint32_t raw_size);

/* Sets the lookup for %pS and the like; none at first. */
void tracefmt_set_symbols(struct tracefmt_db *db, const struct tracefmt_symbols *symbols);
/* Texts of the kernel to which events refer by address, as in the file printk_formats; tracefmt_load() adds those of this kernel. */
void tracefmt_add_texts(struct tracefmt_db *db, const char *lines, size_t len);
/* Whether the event's text contains names of functions. */
bool tracefmt_prints_functions(const struct tracefmt *fmt);
/* The event's text ("comm=worker pid=12346 ..."), *len bytes and a NUL; len may be NULL. Valid until the
 * next call with db. The raw data is untrusted: if a field is out of bounds, the text is an error message. */
const char *tracefmt_print(struct tracefmt_db *db, const struct tracefmt *fmt, const void *raw,
			   uint32_t raw_size, size_t *len);
/* Why an event's "print fmt" cannot be compiled, so that its fields are printed (" a=1 b=2"); NULL: it can. */
const char *tracefmt_not_compiled(const struct tracefmt *fmt);

/* Position of a string or byte field in raw: 0 with *data and *len (strings without their NUL),
 * -1 if it reaches beyond raw_size; TRACE_FIELD_FAULT. */
int trace_field_data(const struct trace_field *field, const void *raw, uint32_t raw_size,
		     const char **data, uint32_t *len);
/* Value of a number field; the caller has checked that it lies within raw. */
uint64_t trace_field_uint(const struct trace_field *field, const void *raw);
int64_t trace_field_sint(const struct trace_field *field, const void *raw);
#endif
