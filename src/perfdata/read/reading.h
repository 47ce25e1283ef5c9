/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that read share. */
#ifndef PERFDATA_READ_READING_H
#define PERFDATA_READ_READING_H

#include "perfdata/read/reader.h"
#include "perfdata/read/scan.h"
#include "perfdata/read/verdict.h"
#include "perfdata/read/window.h"
#include "perfdata/write/format.h"

enum {
	MAX_EVENTS = 1 << 16,
	MAX_IDS = 1 << 22,
	MAX_SECTION = 256 << 20,       /* of the header's features, and of formats */
	MIN_ATTR = 64,                 /* bytes of an event's attr, from the first kernels on */
	USER_TYPES = 64,               /* records of user space have types from here on */
};

/* id -> event, open addressing. */
struct ids {
	struct id_row { uint64_t id; uint32_t event, used; } *rows;
	size_t mask, n;
	uint64_t factor;
};

struct decompressor;

struct perfdata_reader {
	struct window w;
	char *name;
	bool foreign, pipe_layout, unfinished;
	bool unpacked;                 /* by gzipped_unpack(); */
	bool torn;                     /* and the gzip file is cut or damaged: its end is missing */
	bool ids_go_on;                /* the last event's record was full: the next one may have more of its ids */
	bool two_rounds;               /* the last round followed one, with nothing between */
	uint64_t round;                /* records before the last round, and 1 */
	struct perfdata_event *events;
	size_t nevents;
	size_t total_ids;
	struct ids ids;
	bool by_id;                    /* samples bear ids, and there are several events */
	bool settled;                  /* no event comes any more */
	uint32_t ntypes;               /* names of tracepoints by records of old perf, so far */
	struct shape *shapes;          /* of each event's samples */
	const struct shape *shape;     /* of the last sample */
	size_t least;                  /* bytes up to a sample's id, and with it */
	struct sized sized[SIZED];     /* by id */
	uint32_t others[MAX_TRAILERS]; /* events with trailers of different sizes */
	int nothers;
	uint16_t id_at;                /* of a sample, from its beginning */
	uint16_t id_behind;            /* of another record, from its end; 0: none */
	uint64_t last_id;              /* and whose it is */
	int last_event;
	struct perfdata_info info;
	struct perfdata_counts counts;
	struct bytes tracing;          /* what a TRACING_DATA brings */
	uint64_t at;                   /* of the present record */
	const struct perf_event_header *last;   /* that was handed on out of the window; NULL: that is gone */
	uint8_t grid;                  /* sizes are its multiples: 8, or 1 from where one was not */
	uint64_t time_before, time_behind;   /* of records around damage; 0: not known */
	struct decompressor *z;
	char *jit_bytes;               /* what info.jit_maps points into */
	struct fault trouble;          /* damage that was passed over; told at the end */
	_Alignas(8) char scratch[UINT16_MAX + 1];   /* a record that is looked at */
};

/* reading.c */
/* "NAME: at offset N: ...": -1. */
int reading_fault(const struct perfdata_reader *r, struct fault *f, uint64_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Of r->w.error. */
int reading_failed(const struct perfdata_reader *r, struct fault *f);
int reading_no_memory(struct fault *f);
/* Bytes at an offset of a file, whole: 0 or -errno; -ENODATA where the file ends. */
int reading_at(const struct perfdata_reader *r, uint64_t at, void *out, size_t n);

/* header.c: the head of a file or pipe: 0, or -1 with f. */
int header_read(struct perfdata_reader *r, struct fault *f);

/* gzipped.c: what is read from now on is unpacked. *cut: how it was damaged. 0, or -1 with f. */
bool gzipped_begins(const struct perfdata_reader *r, const char *bytes);
int gzipped_unpack(struct perfdata_reader *r, struct fault *cut, struct fault *f);

/* attrs.c */
/* An attr's bytes and its ids, in the recorder's order. 0, or -1 with f. */
int attrs_add(struct perfdata_reader *r, const char *attr, size_t size, const char *ids, size_t nids,
	      struct fault *f);
/* Once all are there: where ids lie in records. 0, or -1 with f. */
int attrs_settle(struct perfdata_reader *r, struct fault *f);
/* -1: unknown. */
int ids_find(const struct ids *ids, uint64_t id);
/* Whose the id is that lies there, in the recorder's order: -1: nobody's. */
int attrs_id_event(const struct perfdata_reader *r, const char *at);
/* perfdata_event_of() of a record in this machine's order, or (but for its head) the other. */
int attrs_event_of(const struct perfdata_reader *r, const struct perf_event_header *rec, bool foreign);

/* features.c: one feature's bytes. False if they contradict themselves. */
bool feature_take(struct perfdata_reader *r, int feature, const char *data, size_t size);
bool feature_take_update(struct perfdata_reader *r, struct scan *s);
/* A tracepoint's name by its number, from a table or record of perf before 3.17. */
bool feature_take_event_type(struct perfdata_reader *r, struct scan *s);
bool feature_take_build_id(struct perfdata_reader *r, const char *record, size_t size);
void features_free(struct perfdata_info *info);

/* facts.c: the same of those that are lists; true of any other. */
bool facts_take(struct perfdata_reader *r, int feature, struct scan *s);
void facts_free(struct perfdata_info *info);

/* jitmaps.c: what stands at the end of a file of ours. */
void jitmaps_read(struct perfdata_reader *r, uint64_t file_size);
/* Whether a record of type PERFDATA_EVENT_TYPE is of these. */
bool jitmaps_is_record(const char *record, size_t size);
void jitmaps_free(struct perfdata_reader *r);

/* user.c: a record that user space made, whole in the window: consumes it and what follows
 * it. 0, or -1 with f. */
int user_record(struct perfdata_reader *r, const struct perf_event_header *head, struct fault *f);

/* layouts.c: whether a record of user space has the body of its type; false of a type that is not perf's. */
bool user_fits(const struct perfdata_reader *r, const struct perf_event_header *head, const char *bytes);
/* The size of the area behind the record at the present place of the window: AUX data, or the formats of tracepoints. */
uint64_t user_area(struct perfdata_reader *r, const struct perf_event_header *head);

/* How many of the 64-bit words that these bits stand for a record has. */
static inline unsigned int words_of(uint64_t type, uint64_t bits)
{
	return (unsigned int)__builtin_popcountll(type & bits);
}

static inline bool is_compressed(uint32_t type)
{
	return type == PERFDATA_COMPRESSED || type == PERFDATA_COMPRESSED2;
}

/* swap.c */
void swap_header(struct perf_event_header *rec);
void swap_attr(struct perf_event_attr *attr, size_t size);
/* The body of a record whose head was turned. False if it contradicts its format: what could
 * be turned was. */
bool swap_record(struct perf_event_header *rec, const struct pev_format *fmt);

/* compressed.c */
/* Begins with a compressed record's payload, which stays where it is until it is used up.
 * False where it can't be decompressed by this build, or memory is short. */
bool decompressor_begin(struct perfdata_reader *r, const char *data, size_t size);
/* The next whole record out of it: NULL where it is used up, or with *bad. */
struct perf_event_header *decompressor_next(struct perfdata_reader *r, const char **bad);
/* Where it is used up: bytes of a record that is not whole. */
size_t decompressor_left(const struct perfdata_reader *r);
void decompressor_free(struct decompressor *z);

/* ---- samples of a size that is known ------------------------------------------- */

/* Those of a tracepoint are mostly of one size: one like the last that was sound of its id is not looked
 * at further, since that would fetch another line of memory. */
static inline uint64_t id_of_sample(const struct perfdata_reader *r, const struct perf_event_header *rec)
{
	uint64_t id = 0;

	if (r->by_id)
		memcpy(&id, (const char *)rec + r->id_at, sizeof(id));
	return id;
}

/* Of a sample of r->least bytes. */
static inline bool verdict_is_known(const struct perfdata_reader *r, const struct perf_event_header *rec)
{
	uint64_t id = id_of_sample(r, rec);
	const struct sized *last = &r->sized[id % SIZED];

	return last->id == id && last->size == rec->size;
}

#endif
