/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a stream: names and types, the same for all its batches; and for each event, where
 * the value of each column lies in a sample.
 *
 * Common columns come first (_time, _cpu, _pid, _tid, _comm, _event, _lost; with call chains _stack), then
 * the fields in the order in which they were asked for. A field that two events have with two types is two columns,
 * EVENT.NAME.
 */
#ifndef COLUMNS_COLUMNS_H
#define COLUMNS_COLUMNS_H

#include "stream/stream.h"

enum column_type {
	COLUMN_U8, COLUMN_U16, COLUMN_U32, COLUMN_U64,
	COLUMN_S8, COLUMN_S16, COLUMN_S32, COLUMN_S64,
	COLUMN_TIMESTAMP,               /* int64: ns since the Unix epoch. In Arrow without a time zone, which DuckDB has few functions for */
	COLUMN_F64,                     /* double: not in batches of events */
	COLUMN_TEXT,                    /* int32: number of a text */
	COLUMN_BYTES,                   /* int32: where the bytes of the row begin */
	COLUMN_NTYPES,
};

struct column {
	char *name;
	enum column_type type;
};

struct columns {
	_Atomic unsigned int refs;
	size_t n;
	struct column *v;
	bool names_losses;              /* _event names causes of losses alone: sums without _event as a key */
};

/* Copies `n` columns, for batches that are not made of samples. NULL: no memory. */
struct columns *columns_copy(const struct column *v, size_t n);
/* Whether they have the same names and types. */
bool columns_are_like(const struct columns *a, const struct columns *b);
struct columns *columns_keep(struct columns *c);
void columns_release(struct columns *c);
/* Bytes of a value. */
size_t column_width(enum column_type type);
/* The index of the column; -1: there is none. */
ssize_t columns_find(const struct columns *c, const char *name);

enum read_kind {
	READ_CPU, READ_COMM, READ_EVENT,
	READ_TIME,                      /* at an offset in the record, as --tsc and the like show it, */
	READ_REALTIME,                  /* and as the time of day */
	READ_EACH,                      /* the period where samples have none */
	READ_RECORD_32, READ_RECORD_64, /* at an offset in the record */
	READ_RAW_8, READ_RAW_16, READ_RAW_32, READ_RAW_64,   /* in the data of the tracepoint */
	READ_TEXT, READ_BYTES,
	READ_STACK,                     /* numbered by the caller: builder_set_stacks() */
};

struct reader {
	uint8_t kind;                   /* enum read_kind */
	uint16_t offset;
	uint32_t column;
	const struct trace_field *field;   /* READ_TEXT, READ_BYTES */
};

/* One event's samples as rows; the `consumer` of a stream_event. */
struct row_plan {
	const struct stream_event *event;   /* as long as the stream lives */
	char *name, *word;              /* of the event; as a function of a script */
	int32_t number;                 /* of its name in the column _event */
	struct reader *readers;
	size_t nreaders;
	bool by_rows;                   /* has READ_STACK: a chain needs the mappings of its own time */
	uint32_t *missing;              /* columns that its rows lack, but _lost, which all events lack */
	size_t nmissing;
};

struct plans {
	struct columns *columns;
	struct row_plan *v;             /* one per event of the stream; */
	size_t n;
	struct row_plan loss;           /* and for losses, whose `number` is that of the first cause */
	ssize_t time, realtime, cpu, event, lost, stack;   /* common columns; -1: not asked for */
	char **events;                  /* names of the wanted events; ends with NULL */
};

/* Names that begin the texts of the column _event: how losses are called, by cause. */
enum { LOSS_NAMES = STREAM_LOSS_THROTTLED + 1 };
extern const char *const loss_names[LOSS_NAMES];

/* Columns for the wanted events of a stream. fields: names; NULL: all fields of all events. Common
 * columns are all there, unless `fields` names some of them: then these alone, and _event and _lost, and
 * _stack if an event has STACKS_ALWAYS.
 * Marks what is read from samples. 0, or -1 with f. Before stream_open(). */
int plans_make(struct plans *p, struct stream *s, const char *const *fields, size_t nfields, struct fault *f);
/* Whether `fields` can name it: NAME or EVENT.NAME of a wanted event. */
bool plans_know(struct stream *s, const char *name);
void plans_free(struct plans *p);
#endif
