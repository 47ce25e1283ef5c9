/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's state, and functions that its files call of each other. */
#ifndef PERFDATA_READ_READING_H
#define PERFDATA_READ_READING_H

#include "perfdata/read/reader.h"
#include "perfdata/read/verdict.h"
#include "perfdata/write/format.h"

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The bytes of a file or pipe, in order, through a buffer. It does not use mmap(2): a file that
 * shrinks meanwhile ends early instead of raising SIGBUS, and pipes work the same way.
 *
 * Callers that need bytes longer pin their block. A pinned block can still be filled, but its bytes
 * do not move; when it is full, the window continues in another block.
 */

enum {
	WINDOW_CHUNK = 256 << 10,
	WINDOW_MAX = (64 << 10) + 64,  /* the most that can be asked for at once: a record and a header */
	WINDOW_BYTES = WINDOW_CHUNK + WINDOW_MAX,
};

struct window_slab;

struct window_block {
	struct window_block *next;     /* free blocks */
	uint32_t pins;
	_Alignas(8) char data[WINDOW_BYTES];
};

struct window {
	int fd;
	bool seekable;
	uint64_t end;                  /* of the range to read; UINT64_MAX: up to the end of the file */
	uint64_t next;                 /* file offset of the next read */
	size_t pos, len;               /* in buf: the current place, the end of the bytes */
	int error;                     /* -errno of a failed read; -EINTR: stopped; -ENOMEM */
	bool ended;
	int (*wait)(void *ctx, int fd);   /* called before a pipe is read: 0, or -EINTR; may be NULL */
	bool (*stopped)(void *ctx);       /* for window_is_stopped(); may be NULL */
	unsigned int asked;
	void *ctx;
	char *buf;                     /* data of `block` */
	struct window_block *block, *free;
	struct window_slab *slabs;
	size_t pinned;                 /* bytes of pinned blocks */
};

/* Starts at the current offset of fd. 0 or -ENOMEM; call window_end() in both cases. */
int window_begin(struct window *w, int fd, bool seekable);
/* Frees all blocks, pinned or not. */
void window_end(struct window *w);
/* Continues at offset `at`, up to `end`. Only for seekable files. */
void window_seek(struct window *w, uint64_t at, uint64_t end);
/* Reads until n bytes (at most WINDOW_MAX) are at the current place; false if the input ends before. The
 * place is 8-byte aligned afterwards, and its bytes may have moved. */
bool window_fill(struct window *w, size_t n);
/* Skips n bytes. Returns how many there were. */
uint64_t window_skip(struct window *w, uint64_t n);
/* Copies n bytes and moves on; false if there are fewer. */
bool window_take(struct window *w, void *out, size_t n);

/* Keeps the bytes of the current block until window_unpin(). */
struct window_block *window_pin(struct window *w);
void window_unpin(struct window *w, struct window_block *block);

static inline size_t window_have(const struct window *w)
{
	return w->len - w->pos;
}

/* File offset of the current place. */
static inline uint64_t window_at(const struct window *w)
{
	return w->next - (w->len - w->pos);
}

static inline char *window_here(struct window *w)
{
	return w->buf + w->pos;
}
/* Whether to stop, for long loops that read little. If so, the window is at its end. */
bool window_is_stopped(struct window *w);

/* Reads numbers and texts in the recorder's byte order. Each step checks that enough bytes are left. */

struct scan {
	const char *p, *end;
	bool foreign;                  /* the recorder has the other byte order */
};

static inline size_t scan_left(const struct scan *s)
{
	return (size_t)(s->end - s->p);
}

static inline const char *scan_bytes(struct scan *s, uint64_t n)
{
	const char *p = s->p;

	if (n > scan_left(s))
		return NULL;
	s->p += n;
	return p;
}

#define SCAN(bits)                                                                                 \
	static inline bool scan_u##bits(struct scan *s, uint##bits##_t *v)                         \
	{                                                                                          \
		const char *p = scan_bytes(s, sizeof(*v));                                         \
                                                                                                   \
		if (!p)                                                                            \
			return false;                                                              \
		memcpy(v, p, sizeof(*v));                                                          \
		if (s->foreign)                                                                    \
			*v = bswap_##bits(*v);                                                     \
		return true;                                                                       \
	}

SCAN(16)
SCAN(32)
SCAN(64)

/* A text up to its NUL; NULL without one. */
static inline const char *scan_text(struct scan *s)
{
	const char *nul = memchr(s->p, '\0', scan_left(s)), *text = s->p;

	if (!nul)
		return NULL;
	s->p = nul + 1;
	return text;
}

/* A string as perf writes it: u32 size of the field, text, zeros. The text may fill the field. */
static inline const char *scan_string(struct scan *s, size_t *len)
{
	uint32_t room;
	const char *text = scan_u32(s, &room) ? scan_bytes(s, room) : NULL;

	if (text)
		*len = strnlen(text, room);
	return text;
}

enum {
	MAX_EVENTS = 1 << 16,
	MAX_IDS = 1 << 22,
	MAX_SECTION = 256 << 20,       /* bytes of a header feature, or of tracepoint formats */
	MIN_ATTR = 64,                 /* bytes of an attr, since the first kernels */
	USER_TYPES = 64,               /* the first record type that user space writes */
};

/* Hash table with open addressing: id -> event. */
struct ids {
	struct id_row { uint64_t id; uint32_t event, used; } *rows;
	size_t mask, n;
};

struct decompressor;

struct perfdata_reader {
	struct window w;
	char *name;
	bool foreign, pipe_layout, unfinished;
	bool unpacked;                 /* the file was gzipped; fd is the unpacked copy */
	bool torn;                     /* and the gzip file is truncated or damaged */
	bool ids_go_on;                /* the last HEADER_ATTR record was full: the next one may continue its ids */
	bool two_rounds;               /* two FINISHED_ROUND records are adjacent: the end that perf-prof writes */
	uint64_t round;                /* 1 + records before the last FINISHED_ROUND */
	struct perfdata_event *events;
	size_t nevents;
	size_t total_ids;
	struct ids ids;
	bool by_id;                    /* there are several events, and samples carry ids */
	bool settled;                  /* all events are known */
	uint32_t ntypes;               /* EVENT_TYPE entries so far (perf before 3.17) */
	struct shape *shapes;          /* sample layout, by event */
	const struct shape *shape;     /* layout of the last sample */
	size_t least;                  /* bytes of a sample up to and including its id */
	struct sized sized[SIZED];     /* hashed by id */
	uint32_t others[MAX_TRAILERS]; /* one event for each size of trailer */
	int nothers;
	uint16_t id_at;                /* offset of the id in a sample */
	uint16_t id_behind;            /* offset of the id from the end of other records; 0: they have none */
	uint64_t last_id;              /* the id looked up last, and its event */
	int last_event;
	struct perfdata_info info;
	struct perfdata_counts counts;
	struct bytes tracing;          /* payload of TRACING_DATA */
	uint64_t at;                   /* file offset of the current record */
	const struct perf_event_header *last;   /* in the window; NULL: it may have moved */
	uint8_t grid;                  /* record sizes are multiples of it: 8, or 1 once one was not */
	uint64_t time_before, time_behind;   /* of the records before and after damage; 0: not known */
	struct decompressor *z;
	struct addendum {
		char *bytes;           /* v points into it */
		struct perfdata_jit_map *v;
		size_t n;
	} jit_maps, folders;
	struct fault trouble;          /* the first damage, reported at the end */
	_Alignas(8) char scratch[UINT16_MAX + 1];   /* aligned copy of a record */
};

/* reading.c: sets the fault "NAME: at offset N: ...". Returns -1. */
int reading_fault(const struct perfdata_reader *r, struct fault *f, uint64_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* reading_fault() for r->w.error, at the current offset. */
int reading_failed(const struct perfdata_reader *r, struct fault *f);
int reading_no_memory(struct fault *f);
/* A name, or another text that is shown: escaped for a terminal, up to a NUL. malloc'ed; NULL: no text, or no memory. */
char *reading_text(const char *text, size_t len);
/* Reads n bytes at a file offset. 0 or -errno; -ENODATA at the end of the file. */
int reading_at(const struct perfdata_reader *r, uint64_t at, void *out, size_t n);

/* header.c: reads the header of a file or pipe. 0, or -1 with f. */
int header_read(struct perfdata_reader *r, struct fault *f);

/* gzipped.c: replaces a gzipped input by its unpacked content. *cut: damage of the gzip file. 0, or -1
 * with f. */
bool gzipped_begins(const struct perfdata_reader *r, const char *bytes);
int gzipped_unpack(struct perfdata_reader *r, struct fault *cut, struct fault *f);

/* attrs.c: adds an event: the bytes of its attr and its ids, in the recorder's byte order. 0, or -1 with f. */
int attrs_add(struct perfdata_reader *r, const char *attr, size_t size, const char *ids, size_t nids,
	      struct fault *f);
/* Once all events are known: finds where records have their ids. 0, or -1 with f. */
int attrs_settle(struct perfdata_reader *r, struct fault *f);
/* The event of the id; -1: unknown. */
int ids_find(const struct ids *ids, uint64_t id);
/* The event whose id is at `at`, in the recorder's byte order; -1: unknown. */
int attrs_id_event(const struct perfdata_reader *r, const char *at);
/* The event of a record. foreign: its body is in the other byte order (its header never is). */
int attrs_event_of(const struct perfdata_reader *r, const struct perf_event_header *rec, bool foreign);

/* features.c: takes the payload of one feature. False if it is inconsistent. */
bool feature_take(struct perfdata_reader *r, int feature, const char *data, size_t size);
bool feature_take_update(struct perfdata_reader *r, struct scan *s);
/* The name of a tracepoint by its number, from a table or record of perf before 3.17. */
bool feature_take_event_type(struct perfdata_reader *r, struct scan *s);
bool feature_take_build_id(struct perfdata_reader *r, const char *record, size_t size);
void features_free(struct perfdata_info *info);

/* facts.c: the same for features that are lists; true for any other feature. */
bool facts_take(struct perfdata_reader *r, int feature, struct scan *s);
void facts_free(struct perfdata_info *info);

/* addenda.c: reads the JIT maps and folders at the end of a file of perf-prof. */
void addenda_read(struct perfdata_reader *r, uint64_t file_size);
/* Whether a record of type PERFDATA_EVENT_TYPE is one of these. */
bool addenda_is_record(const char *record, size_t size);
void addenda_free(struct perfdata_reader *r);

/* user.c: takes a record of user space that is whole in the window, and its area. 0, or -1 with f. */
int user_record(struct perfdata_reader *r, const struct perf_event_header *head, struct fault *f);

/* layouts.c: whether the body of a record of user space has the layout of its type. False for types that
 * perf does not have. */
bool user_fits(const struct perfdata_reader *r, const struct perf_event_header *head, const char *bytes);
/* The size of the area behind the current record: AUX data, or tracepoint formats. */
uint64_t user_area(struct perfdata_reader *r, const struct perf_event_header *head);

/* Number of 64-bit words that these bits of a sample_type add to a record. */
static inline unsigned int words_of(uint64_t type, uint64_t bits)
{
	return (unsigned int)__builtin_popcountll(type & bits);
}

static inline bool is_compressed(uint32_t type)
{
	return type == PERFDATA_COMPRESSED || type == PERFDATA_COMPRESSED2;
}

/* swap.c: from the other byte order to this machine's */
void swap_header(struct perf_event_header *rec);
void swap_attr(struct perf_event_attr *attr, size_t size);
/* Swaps the body of a record whose header is swapped already. False if it does not fit its format; then
 * it is swapped in part. */
bool swap_record(struct perf_event_header *rec, const struct pev_format *fmt);

/* compressed.c: starts with the payload of a compressed record, which must stay in place until it is used
 * up. False without zstd or memory. */
bool decompressor_begin(struct perfdata_reader *r, const char *data, size_t size);
/* The next whole record; NULL if the payload is used up, or with *bad. */
struct perf_event_header *decompressor_next(struct perfdata_reader *r, const char **bad);
/* Once the payload is used up: bytes of a record that is not complete. */
size_t decompressor_left(const struct perfdata_reader *r);
void decompressor_free(struct decompressor *z);

/* ---- samples of a known size --------------------------------------------------- */

/* Samples of one tracepoint mostly have one size. A sample with the id and size of an earlier sound one
 * is accepted without looking at its body: that would load another cache line. */
static inline uint64_t id_of_sample(const struct perfdata_reader *r, const struct perf_event_header *rec)
{
	uint64_t id = 0;

	if (r->by_id)
		memcpy(&id, (const char *)rec + r->id_at, sizeof(id));
	return id;
}

/* For a sample of at least r->least bytes. */
static inline bool verdict_is_known(const struct perfdata_reader *r, const struct perf_event_header *rec)
{
	uint64_t id = id_of_sample(r, rec);
	const struct sized *last = &r->sized[id % SIZED];

	return last->id == id && last->size == rec->size;
}

#endif
