/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of a recording. In the layout of files it places sections by offset and size; in the
 * layout of pipes it is 16 bytes, followed by records only.
 */
#include "perfdata/read/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x32454c4946524550)       /* "PERFILE2" */
#define MAGIC_OLD UINT64_C(0x454c494646524550)   /* "PERFFILE", before Linux 3.3 */

enum { PIPE_HEAD = 16, FILE_HEAD = 104, FEATURES_AT = 72, NFEATURES = 256 };

struct section {
	uint64_t at, size;
};

struct head {
	uint64_t attr_size;
	struct section attrs, data, types;
	uint64_t features[NFEATURES / 64];
	uint64_t file_size;
};

/* ---- sections ------------------------------------------------------------- */

static int check_section(const struct perfdata_reader *r, const struct head *h, const char *what,
			 const struct section *s, struct fault *f)
{
	if (s->at > h->file_size || s->size > h->file_size - s->at)
		return reading_fault(r, f, s->at, "the header places the %s at %#" PRIx64 ", %"
				     PRIu64 " bytes, but the file has %" PRIu64 ": it is "
				     "truncated or damaged", what,
				     s->at, s->size, h->file_size);
	if (s->size && s->at < FILE_HEAD)
		return reading_fault(r, f, s->at, "the header places the %s at %#" PRIx64 ", over "
				     "the header itself",
				     what, s->at);
	return 0;
}

static bool overlap(const struct section *a, const struct section *b)
{
	return a->size && b->size && a->at < b->at + b->size && b->at < a->at + a->size;
}

/* 32-bit recorders of the other byte order wrote the bit map as 32-bit words. */
static void turn_features(uint64_t *bits)
{
	for (int i = 0; i < NFEATURES / 64; i++)
		bits[i] = bswap_64(bits[i]);
	if (bits[0] >> FEATURE_HOSTNAME & 1)
		return;
	for (int i = 0; i < NFEATURES / 64; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
}

static void scan_head(const struct perfdata_reader *r, const char *bytes, struct head *h)
{
	struct scan s = { bytes + 16, bytes + FILE_HEAD, r->foreign };

	scan_u64(&s, &h->attr_size);
	scan_u64(&s, &h->attrs.at);
	scan_u64(&s, &h->attrs.size);
	scan_u64(&s, &h->data.at);
	scan_u64(&s, &h->data.size);
	scan_u64(&s, &h->types.at);
	scan_u64(&s, &h->types.size);
	memcpy(h->features, bytes + FEATURES_AT, sizeof(h->features));
	if (r->foreign)
		turn_features(h->features);
}

/* ---- events --------------------------------------------------------------- */

static int read_ids(struct perfdata_reader *r, const struct head *h, const struct section *ids,
		    uint64_t at, char **out, struct fault *f)
{
	if (ids->size % 8 || ids->at > h->file_size || ids->size > h->file_size - ids->at ||
	    ids->size / 8 > MAX_IDS - r->total_ids)
		return reading_fault(r, f, at, "the header places an event's ids at %#" PRIx64 ", %"
				     PRIu64 " bytes, but the file has %" PRIu64, ids->at, ids->size, h->file_size);
	*out = malloc(ids->size ? ids->size : 1);
	if (!*out)
		return reading_no_memory(f);
	if (reading_at(r, ids->at, *out, ids->size))
		return reading_fault(r, f, ids->at, "cannot read an event's ids: the file is "
				     "truncated or damaged");
	return 0;
}

static int read_attr(struct perfdata_reader *r, const struct head *h, uint64_t at, char *bytes,
		     struct fault *f)
{
	size_t size = (size_t)h->attr_size - sizeof(struct section);
	struct scan s = { bytes + size, bytes + h->attr_size, r->foreign };
	struct section ids = { 0 };
	char *words = NULL;
	int rc;

	if (reading_at(r, at, bytes, h->attr_size))
		return reading_fault(r, f, at, "cannot read an event: the file is truncated or damaged");
	scan_u64(&s, &ids.at);
	scan_u64(&s, &ids.size);
	rc = read_ids(r, h, &ids, at, &words, f) ||
	     attrs_add(r, bytes, size, words, ids.size / 8, f) ? -1 : 0;
	free(words);
	return rc;
}

static int read_attrs(struct perfdata_reader *r, const struct head *h, struct fault *f)
{
	uint64_t n = h->attrs.size / (h->attr_size ? h->attr_size : 1);
	char bytes[4096];

	if (h->attr_size < MIN_ATTR + sizeof(struct section) || h->attr_size > sizeof(bytes))
		return reading_fault(r, f, 16, "the header says that an event takes %" PRIu64 " "
				     "bytes; expected %zu to %zu: the header is damaged", h->attr_size,
				     MIN_ATTR + sizeof(struct section), sizeof(bytes));
	if (!n || n > MAX_EVENTS || h->attrs.size % h->attr_size)
		return reading_fault(r, f, 24, "the header has %" PRIu64 " bytes for events, and an event takes %"
				     PRIu64 " bytes; expected 1 to %d whole events: the file is damaged, or its "
				     "recorder had no event", h->attrs.size, h->attr_size, MAX_EVENTS);
	for (uint64_t i = 0; i < n; i++)
		if (read_attr(r, h, h->attrs.at + i * h->attr_size, bytes, f))
			return -1;
	return 0;
}

/* Tracepoint names of perf before 3.17; later versions use a feature. Stops at damage. */
static void read_types(struct perfdata_reader *r, const struct head *h)
{
	enum { ROW = 72, MAX_ROWS = 1 << 12 };
	uint64_t n = h->types.size / ROW;
	char row[ROW];

	for (uint64_t i = 0; i < n && n <= MAX_ROWS && h->types.at < h->file_size; i++) {
		struct scan s = { row, row + ROW, r->foreign };

		if (reading_at(r, h->types.at + i * ROW, row, ROW) || !feature_take_event_type(r, &s))
			break;
	}
}

/* ---- features ------------------------------------------------------------- */

static bool has_feature(const struct head *h, int i)
{
	return h->features[i / 64] >> (i % 64) & 1;
}

/* The table of sections behind the data, one for each bit in the header, and its raw bytes. */
struct table {
	uint64_t at;
	size_t n;
	int feature[NFEATURES];
	struct section sections[NFEATURES];
	char bytes[NFEATURES * sizeof(struct section)];
};

static void take_unread(struct perfdata_reader *r, int feature)
{
	if (feature < 64)
		r->info.unread |= UINT64_C(1) << feature;
}

/* The first damage is reported at the end. */
static void damaged_feature(struct perfdata_reader *r, struct table *t, size_t i, const char *where)
{
	struct section *s = &t->sections[i];

	take_unread(r, t->feature[i]);
	if (!r->trouble.exit_code)
		reading_fault(r, &r->trouble, t->at + i * sizeof(*s), "the header places its "
			      "feature %d at %#" PRIx64 ", %" PRIu64 " bytes, %s: it was left out", t->feature[i], s->at, s->size, where);
	s->size = 0;   /* other features may use these bytes */
}

static bool has_place(struct perfdata_reader *r, const struct head *h, struct table *t, size_t i)
{
	const struct section *s = &t->sections[i];
	char where[80] = "";

	if (s->at > h->file_size || s->size > h->file_size - s->at)
		snprintf(where, sizeof(where), "but the file has %" PRIu64, h->file_size);
	else if (s->size && s->at < t->at + t->n * sizeof(*s))
		snprintf(where, sizeof(where), "over what comes before the features");
	for (size_t k = 0; !*where && k < i; k++)
		if (overlap(s, &t->sections[k]))
			snprintf(where, sizeof(where), "over its feature %d", t->feature[k]);
	if (!*where)
		return true;
	damaged_feature(r, t, i, where);
	return false;
}

static void read_feature(struct perfdata_reader *r, int feature, const struct section *s)
{
	char *data = s->size <= MAX_SECTION ? malloc(s->size + 1) : NULL;

	if (!data || reading_at(r, s->at, data, s->size) || !feature_take(r, feature, data, s->size))
		take_unread(r, feature);
	free(data);
}

/* False if it is truncated. */
static bool read_table(struct perfdata_reader *r, const struct head *h, struct table *t)
{
	struct scan scan = { t->bytes, t->bytes, r->foreign };

	t->at = h->data.at + h->data.size;
	t->n = 0;
	for (int i = 0; i < NFEATURES; i++) {
		if (has_feature(h, i))
			t->feature[t->n++] = i;
		if (i < 64 && has_feature(h, i))
			r->info.features |= UINT64_C(1) << i;
	}
	scan.end += t->n * sizeof(struct section);
	if (reading_at(r, t->at, t->bytes, t->n * sizeof(struct section)))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!scan_u64(&scan, &t->sections[i].at) || !scan_u64(&scan, &t->sections[i].size))
			return false;
	return true;
}

static void read_features(struct perfdata_reader *r, const struct head *h)
{
	struct table t;

	if (!read_table(r, h, &t)) {
		r->info.unread = r->info.features;
		reading_fault(r, &r->trouble, t.at, "the header has %zu features, but the file ends at %#" PRIx64
			      ", within the table of their places: it is truncated, and they were left out", t.n,
			      h->file_size);
		return;
	}
	for (size_t i = 0; i < t.n; i++)
		if (has_place(r, h, &t, i))
			read_feature(r, t.feature[i], &t.sections[i]);
}

/* ---- files ---------------------------------------------------------------- */

static int check_sections(struct perfdata_reader *r, struct head *h, struct fault *f)
{
	const uint64_t room = h->file_size > h->data.at ? h->file_size - h->data.at : 0;

	if (check_section(r, h, "events", &h->attrs, f))
		return -1;
	/* a killed recorder leaves the size at 0: the rest of the file is data */
	if (!h->data.size) {
		r->unfinished = true;
		h->data.size = room;
	}
	if (h->data.at < FILE_HEAD || overlap(&h->attrs, &h->data))
		return reading_fault(r, f, 40, "the header places the records at %#" PRIx64 ", %"
				     PRIu64 " bytes, over %s: it is damaged", h->data.at, h->data.size,
				     h->data.at < FILE_HEAD ? "the header itself" : "the events");
	if (h->data.size > room) {
		fault_set(&r->trouble, EXIT_FAILED, "%s: the header says %" PRIu64 " bytes of records from "
			  "%#" PRIx64 " on, but the file ends at %#" PRIx64 ": it is truncated, and "
			  "what the recorder wrote after them is missing", r->name, h->data.size, h->data.at,
			  h->file_size);
		r->unfinished = true;
		h->data.size = room;
	}
	return 0;
}

static int read_file_head(struct perfdata_reader *r, uint64_t file_size, struct fault *f)
{
	char bytes[FILE_HEAD];
	struct head h = { .file_size = file_size };

	if (reading_at(r, 0, bytes, sizeof(bytes)))
		return reading_fault(r, f, 0, "the file has %" PRIu64 " bytes, fewer than a header "
				     "(%d)",
				     file_size, FILE_HEAD);
	scan_head(r, bytes, &h);
	if (check_sections(r, &h, f) || read_attrs(r, &h, f))
		return -1;
	if (!r->unfinished)
		read_features(r, &h);
	read_types(r, &h);
	window_seek(&r->w, h.data.at, r->unfinished ? UINT64_MAX : h.data.at + h.data.size);
	return 0;
}

/* ---- files and pipes ------------------------------------------------------ */

/* With the old magic, the size of an attr shows the byte order. */
static bool take_magic(struct perfdata_reader *r, const char *bytes)
{
	uint64_t magic, attr_size;

	memcpy(&magic, bytes, 8);
	memcpy(&attr_size, bytes + 8, 8);
	r->foreign = magic == bswap_64(MAGIC) || magic == bswap_64(MAGIC_OLD);
	if (magic == MAGIC_OLD && attr_size > UINT32_MAX)
		r->foreign = true;
	return r->foreign || magic == MAGIC || magic == MAGIC_OLD;
}

static bool is_text(const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)bytes[i] >= 0x7f || (bytes[i] < ' ' && bytes[i] != '\n' && bytes[i] != '\t'))
			return false;
	return n;
}

/* Names what users mistake for a recording, by its first bytes. */
static const char *what_else(struct perfdata_reader *r)
{
	const char *bytes = window_here(&r->w);
	size_t n = window_have(&r->w);

	if (!memcmp(bytes, "\x1f\x8b", 2))
		return "; this was compressed by gzip twice: unpack it by gunzip";
	if (!memcmp(bytes, "\x28\xb5\x2f\xfd", 4))
		return "; this is compressed by zstd: unpack it by unzstd";
	if (!memcmp(bytes, "\xfd" "7zXZ", 5))
		return "; this is compressed by xz: unpack it by unxz";
	if (!memcmp(bytes, "BZh", 3))
		return "; this is compressed by bzip2: unpack it by bunzip2";
	if (is_text(bytes, n < 256 ? n : 256))
		return "; this is text, such as `perf script` prints, not a recording";
	/* field 1, with its length in the next byte */
	if (bytes[0] == 0x0a && bytes[1] > 0 && (size_t)bytes[1] + 2 < n && (bytes[bytes[1] + 2] & 7) <= 5)
		return "; this looks like protobuf, as a profile of pprof is";
	return "";
}

static int read_unpacked(struct perfdata_reader *r, struct fault *f)
{
	struct fault cut = { 0 };
	int rc = gzipped_unpack(r, &cut, f);

	if (rc)
		return -1;
	r->torn = cut.exit_code;
	rc = header_read(r, f);
	if (cut.exit_code && !rc)
		r->trouble = cut;
	else if (cut.exit_code && f)
		*f = cut;
	return rc;
}

int header_read(struct perfdata_reader *r, struct fault *f)
{
	struct stat st;
	struct scan s;
	uint64_t size = 0;

	if (fstat(r->w.fd, &st))
		return fault_unreadable(f, r->name, errno);
	if (!window_fill(&r->w, PIPE_HEAD))
		return r->w.error ? reading_failed(r, f)
				  : reading_fault(r, f, 0, "this is not a recording: it has %zu "
						  "bytes, and perf.data begins with PERFILE2 and "
						  "the size of its header",
						  window_have(&r->w));
	if (gzipped_begins(r, window_here(&r->w)))
		return read_unpacked(r, f);
	if (!take_magic(r, window_here(&r->w)))
		return reading_fault(r, f, 0, "this is not a recording: perf.data begins with "
				     "PERFILE2%s", what_else(r));
	s = (struct scan){ window_here(&r->w) + 8, window_here(&r->w) + PIPE_HEAD, r->foreign };
	scan_u64(&s, &size);
	r->pipe_layout = size == PIPE_HEAD;
	if (r->pipe_layout) {
		r->w.pos += PIPE_HEAD;
		return 0;
	}
	if (size != FILE_HEAD)
		return reading_fault(r, f, 8, "a header of %" PRIu64 " bytes; expected %d (a file) or %d "
				     "(the layout of pipes)", size, FILE_HEAD, PIPE_HEAD);
	if (!r->w.seekable)
		return reading_fault(r, f, 8, "this is the file layout, which cannot be read from a "
				     "pipe: name the file itself, or record with perf record -o -");
	return read_file_head(r, (uint64_t)st.st_size, f);
}
