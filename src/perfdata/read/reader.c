/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/read/reading.h"
#include "perfdata/read/resync.h"
#include "perfdata/write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* ---- opening and closing ---------------------------------------------------- */

/* The only file of a directory, as perf record writes it without --threads; else the directory. Takes fd over. */
static int file_of(int fd)
{
	int file = faccessat(fd, "data.0", F_OK, 0) ? openat(fd, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;

	if (file >= 0)
		close(fd);
	return file >= 0 ? file : fd;
}

int perfdata_reader_path(const char *path, struct fault *f)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? fault_unreadable(f, path, errno) : file_of(fd);
}

/* 1: a file with offsets; 0: a pipe or the like; -1 with f. */
static int kind_of(int fd, const char *name, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st))
		return fault_unreadable(f, name, errno);
	if (S_ISDIR(st.st_mode))
		return fault_set(f, EXIT_FAILED, "%s is a directory; expected a file (perf record "
				 "--threads writes directories, which perf-prof does not read: "
				 "record without it)", name);
	if (isatty(fd))
		return fault_set(f, EXIT_FAILED, "%s is a terminal; expected a recording, such as "
				 "a pipe from perf record -o -", name);
	return S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
}

static int settle(struct perfdata_reader *r, struct fault *f)
{
	return attrs_settle(r, f) || verdict_settle(r, f) ? -1 : 0;
}

static int read_prelude(struct perfdata_reader *r, struct fault *f);

struct perfdata_reader *perfdata_reader_open(int fd, const char *name, struct fault *f)
{
	struct perfdata_reader *r;
	int seekable = kind_of(fd, name, f);

	r = seekable < 0 ? NULL : calloc(1, sizeof(*r));
	if (!r) {
		if (seekable >= 0)
			reading_no_memory(f);
		close(fd);
		return NULL;
	}
	r->last_event = -1;
	r->grid = 8;
	r->name = strdup(strcmp(name, "-") ? name : "stdin");
	if (window_begin(&r->w, fd, seekable) || !r->name) {
		reading_no_memory(f);
		perfdata_reader_close(r);
		return NULL;
	}
	if (header_read(r, f) || (!r->pipe_layout && settle(r, f)) || read_prelude(r, f) ||
	    (r->pipe_layout && settle(r, f))) {
		perfdata_reader_close(r);
		return NULL;
	}
	if (r->pipe_layout && r->w.seekable)
		addenda_read(r, perfdata_end(r));
	return r;
}

void perfdata_reader_set_wait(struct perfdata_reader *r, const struct perfdata_reader_opts *opts)
{
	r->w.wait = opts->wait;
	r->w.stopped = opts->stopped;
	r->w.ctx = opts->ctx;
}

void perfdata_reader_close(struct perfdata_reader *r)
{
	if (!r)
		return;
	close(r->w.fd);
	window_end(&r->w);
	for (size_t i = 0; i < r->nevents; i++) {
		free(r->events[i].ids);
		free(r->events[i].name);
		free(r->events[i].what);
		free(r->events[i].unit);
	}
	free(r->events);
	free(r->ids.rows);
	addenda_free(r);
	free(r->shapes);
	features_free(&r->info);
	bytes_free(&r->tracing);
	decompressor_free(r->z);
	free(r->name);
	free(r);
}

/* ---- getters ------------------------------------------------------------------ */

size_t perfdata_events(const struct perfdata_reader *r)
{
	return r->nevents;
}

const struct perfdata_event *perfdata_event(const struct perfdata_reader *r, size_t i)
{
	return &r->events[i];
}

const struct perfdata_info *perfdata_info(const struct perfdata_reader *r)
{
	return &r->info;
}

const struct perfdata_counts *perfdata_counts(const struct perfdata_reader *r)
{
	return &r->counts;
}

bool perfdata_is_foreign(const struct perfdata_reader *r)
{
	return r->foreign;
}

bool perfdata_is_unfinished(const struct perfdata_reader *r)
{
	return r->unfinished;
}

bool perfdata_has_no_end(const struct perfdata_reader *r)
{
	size_t n = sizeof(PERFDATA_WRITER) - 1;

	return r->pipe_layout && !r->torn && r->info.version && !strncmp(r->info.version, PERFDATA_WRITER, n) &&
	       !(r->two_rounds && r->round == r->counts.records + 1);
}

uint64_t perfdata_offset(const struct perfdata_reader *r)
{
	return r->at;
}

/* ---- one record ------------------------------------------------------------- */

/* The first damage is reported at the end; more damage is only counted. */
static void note_trouble(struct perfdata_reader *r, const struct fault *f)
{
	if (!r->trouble.exit_code)
		r->trouble = *f;
}

static void put_damage(const struct perfdata_reader *r, struct fault *f)
{
	const struct perfdata_counts *c = &r->counts;
	const struct perfdata_span *t = &c->damaged;
	size_t n = strlen(f->text);

	n += (size_t)snprintf(f->text + n, sizeof(f->text) - n, "; %" PRIu64 " bytes were passed over", c->damaged_bytes);
	if (c->damaged_places > 1 && n < sizeof(f->text))
		n += (size_t)snprintf(f->text + n, sizeof(f->text) - n, " at %" PRIu64 " places", c->damaged_places);
	if (t->to && t->from < t->to && n < sizeof(f->text))
		n += (size_t)snprintf(f->text + n, sizeof(f->text) - n, ", between records of %" PRIu64 ".%09" PRIu64 " s and",
				      t->from / SECOND, t->from % SECOND);
	else if (t->to && n < sizeof(f->text))
		n += (size_t)snprintf(f->text + n, sizeof(f->text) - n, ", at");
	if (t->to && n < sizeof(f->text))
		snprintf(f->text + n, sizeof(f->text) - n, " %" PRIu64 ".%09" PRIu64 " s", t->to / SECOND, t->to % SECOND);
}

static int end_of(struct perfdata_reader *r, struct fault *f)
{
	if (r->w.error == -EINTR)
		return 0;
	if (r->w.error)
		return reading_failed(r, f);
	if (r->w.seekable && r->w.end != UINT64_MAX && window_at(&r->w) < r->w.end)
		reading_fault(r, &r->trouble, window_at(&r->w), "the file ends here, but its "
			      "header places records up to %#" PRIx64 ": it was truncated "
			      "while perf-prof read it", r->w.end);
	if (!r->trouble.exit_code && decompressor_left(r))
		reading_fault(r, &r->trouble, window_at(&r->w), "the compressed records end within a record, of which "
			      "%zu bytes are there: the recording is truncated", decompressor_left(r));
	if (!r->trouble.exit_code)
		return 0;
	if (f)
		*f = r->trouble;
	if (f && r->counts.damaged_bytes)
		put_damage(r, f);
	return -1;
}

/* The header of the current record, in this machine's byte order, once the whole record is there. 1; 0:
 * the end; -1 with f: damage. */
static int take_head(struct perfdata_reader *r, struct perf_event_header *head, struct fault *f)
{
	r->at = window_at(&r->w);
	if (!window_fill(&r->w, sizeof(*head))) {
		size_t left = window_have(&r->w);

		if (!left || r->w.error)
			return 0;
		resync_count(r, window_skip(&r->w, left), true);
		return reading_fault(r, f, r->at, "%zu bytes are left, too few for a record: the recording is "
				     "truncated", left);
	}
	memcpy(head, window_here(&r->w), sizeof(*head));
	if (r->foreign)
		swap_header(head);
	if (head->size < sizeof(*head))
		return reading_fault(r, f, r->at, "a record of type %u has a size of %u bytes, less than its "
				     "header (8): it is damaged", head->type, head->size);
	if (window_fill(&r->w, head->size))
		return 1;
	if (r->w.error)
		return 0;
	return reading_fault(r, f, r->at, "a record of type %u has %u bytes, but the recording ends after %zu: "
			     "it is truncated or damaged", head->type, head->size, window_have(&r->w));
}

/* take_head(), if resync_doubt() accepts the record. */
static int take_believed(struct perfdata_reader *r, struct perf_event_header *head, struct fault *f)
{
	int rc = take_head(r, head, f);
	const char *why = rc > 0 ? resync_doubt(r, resync_window, head) : NULL;

	return why ? reading_fault(r, f, r->at, "a record of type %u and %u bytes is damaged: %s", head->type, head->size,
				   why) : rc;
}

/* 1: a record; 0 or -1 as end_of(). */
static int next_head(struct perfdata_reader *r, struct perf_event_header *head, struct fault *f)
{
	struct fault why = { 0 };
	int rc = 0;

	while (r->w.error != -EINTR && (rc = take_believed(r, head, &why)) < 0) {
		note_trouble(r, &why);
		if (window_have(&r->w))
			resync_pass(r);
	}
	return rc > 0 ? 1 : end_of(r, f);
}

static void damaged_compressed(struct perfdata_reader *r, const char *why)
{
	struct fault f;

	reading_fault(r, &f, r->at, "cannot unpack a compressed record: %s", why);
	note_trouble(r, &f);
}

static int begin_compressed(struct perfdata_reader *r, const struct perf_event_header *head,
			    struct fault *f)
{
	const char *data = window_here(&r->w) + sizeof(*head);
	uint64_t size = head->size - sizeof(*head);
	struct scan s = { data, data + size, r->foreign };
	uint64_t said;

	if (head->type == PERFDATA_COMPRESSED2) {
		if (!scan_u64(&s, &said) || said > scan_left(&s))
			damaged_compressed(r, "its size is wrong");
		else
			size = said;
		data = s.p;
		size = size < scan_left(&s) ? size : scan_left(&s);
	}
	r->counts.compressed++;
	if (head->size % 8)
		r->grid = 1;
	if (!user_fits(r, head, window_here(&r->w))) {
		damaged_compressed(r, "it does not begin as zstd does");
		resync_count(r, window_skip(&r->w, head->size), true);
		return 0;
	}
	window_skip(&r->w, head->size);   /* the payload stays in the buffer until the next window_fill() */
	if (decompressor_begin(r, data, (size_t)size))
		return 0;
#ifdef HAVE_ZSTD
	return reading_no_memory(f);
#else
	return reading_fault(r, f, r->at, "the records are compressed with zstd, and this "
			     "perf-prof was built without it (`perf-prof version "
			     "--build-options`)");
#endif
}

/* Two adjacent rounds are the end that perf-prof writes. */
static void take_round(struct perfdata_reader *r)
{
	r->two_rounds = r->round == r->counts.records + 1;
	r->round = r->counts.records + 1;
}

static void note_time(struct perfdata_reader *r, const struct perf_event_header *rec)
{
	uint64_t time = verdict_time(r, rec);

	if (time)
		r->time_before = time;
}

/* The header is in this machine's byte order already. */
static const struct perf_event_header *finish(struct perfdata_reader *r, struct perf_event_header *rec)
{
	if (r->foreign && rec->type < USER_TYPES) {
		int event = attrs_event_of(r, rec, true);

		if (event >= 0 && !swap_record(rec, &r->events[event].format))
			r->counts.other++;
	}
	if (rec->type < USER_TYPES) {
		r->counts.records++;
		note_time(r, rec);
	} else {
		take_round(r);
	}
	return rec;
}

static bool is_handed_on(const struct perf_event_header *head)
{
	return head->type < USER_TYPES || (head->type == PERFDATA_FINISHED_ROUND && head->size == sizeof(*head));
}

/* NULL: no unpacked record is left. */
static const struct perf_event_header *next_unpacked(struct perfdata_reader *r)
{
	const char *bad = NULL;
	struct perf_event_header *rec;

	if (!r->z)
		return NULL;
	while ((rec = decompressor_next(r, &bad)) || bad) {
		if (bad)
			damaged_compressed(r, bad);
		else if (is_handed_on(rec))
			return finish(r, rec);
		else if (rec->type != PERFDATA_BUILD_ID || !feature_take_build_id(r, (const char *)rec, rec->size))
			r->counts.own++;
	}
	return NULL;
}

static void note_last(struct perfdata_reader *r)
{
	if (r->last)
		note_time(r, r->last);
	r->last = NULL;   /* the window may move */
}

/* Everything but a sound record in the window. */
__attribute__((noinline)) static int next_slow(struct perfdata_reader *r,
					       const struct perf_event_header **rec, struct fault *f)
{
	static const struct perf_event_header counted = { .type = PERFDATA_COUNTED, .size = sizeof(counted) };
	struct perf_event_header head;
	bool is_counted;
	int rc;

	note_last(r);
	for (;;) {
		*rec = next_unpacked(r);
		if (*rec)
			return 1;
		rc = next_head(r, &head, f);
		if (rc <= 0)
			return rc;
		if (is_handed_on(&head)) {
			struct perf_event_header *at = (void *)window_here(&r->w);

			memcpy(at, &head, sizeof(head));
			r->w.pos += head.size;
			*rec = finish(r, at);
			return 1;
		}
		is_counted = head.type == PERFDATA_COUNTED && user_fits(r, &head, window_here(&r->w));
		if (is_compressed(head.type) ? begin_compressed(r, &head, f) : user_record(r, &head, f))
			return -1;
		*rec = &counted;
		if (is_counted)
			return 1;
	}
}

static inline bool is_sound(struct perfdata_reader *r, const struct perf_event_header *rec, size_t have)
{
	if (__builtin_expect(have < r->least || r->w.pos % 8 || r->foreign || r->z != NULL, 0) || rec->size > have)
		return false;
	return (rec->type == PERF_RECORD_SAMPLE && verdict_is_known(r, rec)) || verdict_is_sound(r, rec, have);
}

int perfdata_next(struct perfdata_reader *r, const struct perf_event_header **out, struct fault *f)
{
	const struct perf_event_header *rec = (const void *)window_here(&r->w);

	if (!is_sound(r, rec, window_have(&r->w)))
		return next_slow(r, out, f);
	r->at = window_at(&r->w);
	r->w.pos += rec->size;
	r->counts.records++;
	r->last = rec;
	*out = rec;
	return 1;
}

bool perfdata_ahead(struct perfdata_reader *r, const struct perf_event_header *rec, struct perfdata_ahead *ahead)
{
	const char *end = window_here(&r->w);

	/* unpacked and swapped records are not in the window as they are returned */
	if (r->z || r->foreign || r->w.pos % 8)
		return false;
	*ahead = (struct perfdata_ahead){ (const char *)rec + rec->size, end + window_have(&r->w) };
	return ahead->at == end;
}

bool perfdata_is_sound(struct perfdata_reader *r, const struct perf_event_header *rec, size_t have)
{
	return (have >= r->least && rec->size <= have && rec->type == PERF_RECORD_SAMPLE && verdict_is_known(r, rec)) ||
	       verdict_is_sound(r, rec, have);
}

void perfdata_pass(struct perfdata_reader *r, const struct perf_event_header *last, uint64_t n)
{
	r->w.pos = (size_t)((const char *)last - r->w.buf);
	r->at = window_at(&r->w);
	r->w.pos += last->size;
	r->counts.records += n;
	r->last = last;
}

void *perfdata_pin(struct perfdata_reader *r)
{
	return window_pin(&r->w);
}

void perfdata_unpin(struct perfdata_reader *r, void *memory)
{
	window_unpin(&r->w, memory);
}

size_t perfdata_pinned(const struct perfdata_reader *r)
{
	return r->w.pinned;
}

/* Records of a pipe may still add events. A header that is not one of perf's is checked with the events
 * so far. */
static int take_prelude(struct perfdata_reader *r, struct perf_event_header *head, struct fault *f)
{
	struct fault ignored;
	int rc;

	if (r->settled)
		return take_believed(r, head, f);
	rc = take_head(r, head, f);
	if (rc <= 0 || !r->nevents || head->type < USER_TYPES || user_fits(r, head, window_here(&r->w)) ||
	    settle(r, &ignored))
		return rc;
	rc = take_believed(r, head, f);
	r->settled = false;
	return rc;
}

/* Takes everything before the first record of the kernel; in the layout of pipes that includes the events. */
static int read_prelude(struct perfdata_reader *r, struct fault *f)
{
	struct perf_event_header head;
	struct fault why = { 0 };
	int rc;

	while ((rc = take_prelude(r, &head, &why)) > 0 && !is_handed_on(&head) && !is_compressed(head.type) && head.type != PERFDATA_COUNTED)
		if (user_record(r, &head, f))
			return -1;
	if (rc < 0 && !r->nevents) {
		if (f)
			*f = why;
		return -1;
	}
	/* other damage is found again, and skipped, by perfdata_next() */
	if (rc < 0 && !window_have(&r->w))
		note_trouble(r, &why);
	return 0;
}

bool perfdata_peek(struct perfdata_reader *r, size_t n, const struct perf_event_header **rec)
{
	size_t at = 0;

	note_last(r);
	for (;;) {
		struct perf_event_header head;

		if (at % 8 || at + sizeof(head) > WINDOW_MAX || !window_fill(&r->w, at + sizeof(head)))
			return false;
		memcpy(&head, window_here(&r->w) + at, sizeof(head));
		if (r->foreign)
			swap_header(&head);
		if (head.size < sizeof(head) || at + head.size > WINDOW_MAX ||
		    !window_fill(&r->w, at + head.size))
			return false;
		*rec = (const void *)(window_here(&r->w) + at);
		if (!n--)
			return true;
		if (!is_handed_on(&head))
			return false;
		at += head.size;
	}
}
