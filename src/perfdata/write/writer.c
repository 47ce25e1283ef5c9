/* SPDX-License-Identifier: Apache-2.0 */
#include "base/caller.h"
#include "base/outfile.h"
#include "base/room.h"
#include "base/signals.h"
#include "perfdata/write/flight.h"
#include "perfdata/write/format.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- bytes ------------------------------------------------------------------------------ */

void bytes_add(struct bytes *b, const void *data, size_t n)
{
	if (!n || b->failed)
		return;
	b->failed = n > SIZE_MAX / 4 || !ROOM_FOR(b->data, b->room, b->n, n);
	if (b->failed)
		return;
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

void bytes_add_u32(struct bytes *b, uint32_t v)
{
	bytes_add(b, &v, sizeof(v));
}

void bytes_add_u64(struct bytes *b, uint64_t v)
{
	bytes_add(b, &v, sizeof(v));
}

void bytes_add_text(struct bytes *b, const char *text)
{
	bytes_add(b, text, strlen(text) + 1);
}

void bytes_add_string(struct bytes *b, const char *text)
{
	size_t n = strlen(text) + 1, padded = (n + 63) & ~(size_t)63;

	bytes_add_u32(b, (uint32_t)padded);
	bytes_add(b, text, n);
	for (; n < padded; n++)
		bytes_add(b, "", 1);
}

void bytes_pad(struct bytes *b, size_t unit)
{
	static const char zeros[64];

	if (b->n % unit)
		bytes_add(b, zeros, unit - b->n % unit);
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

/* ---- machine ---------------------------------------------------------------------------- */

/* The machine that records. */

static bool add_text(struct bytes *b, const char *text)
{
	bytes_add_string(b, text);
	return *text != '\0';
}

static bool cpu_description(char *text, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, size, "%s", colon + 1 + strspn(colon + 1, " "));
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static bool add_cpu(struct bytes *b)
{
	char text[256];

	return cpu_description(text, sizeof(text)) && add_text(b, text);
}

static bool add_memory(struct bytes *b)
{
	bytes_add_u64(b, (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024);
	return true;
}

static bool add_cpus(struct bytes *b)
{
	bytes_add_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	bytes_add_u32(b, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	return true;
}

static bool add_command(struct bytes *b, const char *const *argv, size_t argc)
{
	bytes_add_u32(b, (uint32_t)argc);
	for (size_t i = 0; i < argc; i++)
		bytes_add_string(b, argv[i]);
	return argc != 0;
}

bool machine_feature(struct bytes *b, int feature, const char *version, const char *const *argv,
		     size_t argc)
{
	struct utsname name;

	if (uname(&name))
		return false;
	switch (feature) {
	case FEATURE_HOSTNAME:
		return add_text(b, name.nodename);
	case FEATURE_OSRELEASE:
		return add_text(b, name.release);
	case FEATURE_VERSION:
		return add_text(b, version);
	case FEATURE_ARCH:
		return add_text(b, name.machine);
	case FEATURE_NRCPUS:
		return add_cpus(b);
	case FEATURE_CPUDESC:
		return add_cpu(b);
	case FEATURE_TOTAL_MEM:
		return add_memory(b);
	case FEATURE_CMDLINE:
		return add_command(b, argv, argc);
	}
	return false;
}

/*
 * Packs records into compressed records, as perf record -z does: one zstd stream for the file,
 * flushed after each piece, so that a file that ends early can be read up to there.
 */

/* The largest piece. Readers allocate that much for an unpacked record. */
enum { COMPRESSOR_INPUT = 1 << 20 };

struct compressor;

/* ---- compressor ------------------------------------------------------------------------- */

#ifdef HAVE_ZSTD
#include <zstd.h>

enum { VERSION = 1, TYPE_ZSTD = 1, LEVEL = 1 };

/* A record's size has 16 bits. All records of a piece but the last have sizes that are multiples of 8. */
enum { HEAD = sizeof(struct perf_event_header), PAYLOAD = UINT16_MAX - 7 - HEAD };

struct compressor {
	ZSTD_CCtx *stream;
	size_t room;
	char out[];
};

/* NULL without libzstd or memory. */
static struct compressor *compressor_new(void)
{
	size_t bound = ZSTD_compressBound(COMPRESSOR_INPUT) + 1024;
	size_t room = bound + (bound / PAYLOAD + 2) * HEAD;
	struct compressor *z = malloc(sizeof(*z) + room);

	if (!z)
		return NULL;
	z->room = room;
	z->stream = ZSTD_createCCtx();
	if (z->stream)
		ZSTD_CCtx_setParameter(z->stream, ZSTD_c_compressionLevel, LEVEL);
	else
		free(z);
	return z->stream ? z : NULL;
}

static void compressor_free(struct compressor *z)
{
	if (z)
		ZSTD_freeCCtx(z->stream);
	free(z);
}

/* The next piece starts a new file. */
static void compressor_restart(struct compressor *z)
{
	ZSTD_CCtx_reset(z->stream, ZSTD_reset_session_only);
}

/* Adds the data of the feature that readers need. */
static void compressor_describe(struct bytes *b)
{
	bytes_add_u32(b, VERSION);
	bytes_add_u32(b, TYPE_ZSTD);
	bytes_add_u32(b, LEVEL);
	bytes_add_u32(b, 0);   /* the ratio, not known yet */
	bytes_add_u32(b, COMPRESSOR_INPUT);
}

/* Compresses n bytes (at most COMPRESSOR_INPUT) into records that are valid until the next call; *n is
 * their size. NULL if zstd fails. */
static const char *compressor_run(struct compressor *z, const char *data, size_t size, size_t *n)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t at = 0, left;

	do {
		struct perf_event_header head = { .type = PERFDATA_COMPRESSED };
		ZSTD_outBuffer out = { z->out + at + HEAD, PAYLOAD, 0 };

		if (at + HEAD + PAYLOAD > z->room)
			out.size = z->room > at + HEAD ? z->room - at - HEAD : 0;
		left = ZSTD_compressStream2(z->stream, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(left) || !out.pos)
			return NULL;
		head.size = (uint16_t)(HEAD + out.pos);
		memcpy(z->out + at, &head, HEAD);
		at += head.size;
	} while (left);
	*n = at;
	return z->out;
}

#else

struct compressor *compressor_new(void)
{
	return NULL;
}

void compressor_free(struct compressor *z)
{
}

void compressor_restart(struct compressor *z)
{
}

void compressor_describe(struct bytes *b)
{
}

const char *compressor_run(struct compressor *z, const char *data, size_t size, size_t *n)
{
	return NULL;
}

#endif

/*
 * Starts writing to the disk at once, instead of when the kernel finds the pages old (30 s), so
 * that a power cut loses the last seconds only. A thread does it, because it can block. It does not
 * ask the file system for a commit, which would slow down all other writers.
 */

struct writeback;

struct writeback {
	pthread_t thread;
	pid_t pid;               /* the process of the thread: a forked child has none */
	pthread_mutex_t lock;    /* of the fields below */
	pthread_cond_t changed;
	int fd;                  /* the file to write; -1: none */
	bool over;
};

/* The file to write, or -1 to end the thread. */
static int wait_for_file(struct writeback *b)
{
	int fd;

	pthread_mutex_lock(&b->lock);
	while (b->fd < 0 && !b->over)
		pthread_cond_wait(&b->changed, &b->lock);
	fd = b->fd;
	b->fd = -1;
	pthread_mutex_unlock(&b->lock);
	return fd;
}

static void *run(void *ctx)
{
	struct writeback *b = ctx;
	int fd;

	while ((fd = wait_for_file(b)) >= 0) {
		sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);   /* without effect on errors */
		close(fd);
	}
	return NULL;
}

/* NULL if there can be no thread; then the kernel writes when it likes. */
static struct writeback *writeback_new(void)
{
	struct writeback *b = malloc(sizeof(*b));
	sigset_t all, old;
	int rc;

	if (!b)
		return NULL;
	*b = (struct writeback){ .pid = getpid(), .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER,
				 .changed = PTHREAD_COND_INITIALIZER };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!rc)
		return b;
	free(b);
	return NULL;
}

/* Uses its own descriptor, since the caller may close the file. */
static void put(struct writeback *b, int fd, bool over)
{
	int before;

	pthread_mutex_lock(&b->lock);
	before = b->fd;
	b->fd = fd;
	b->over = over;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
	if (before >= 0)
		close(before);
}

/* Starts writing the dirty pages of the file. Never blocks. */
static void writeback_ask(struct writeback *b, int fd)
{
	int own = b ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;

	if (own >= 0)
		put(b, own, false);
}

static void writeback_free(struct writeback *b)
{
	if (!b)
		return;
	if (b->pid == getpid()) {
		put(b, -1, true);
		pthread_join(b->thread, NULL);
	}
	free(b);
}

enum { BUFFER = COMPRESSOR_INPUT };

struct perfdata_writer {
	char *path;
	int fd;                        /* -1: not created yet */
	struct bytes head;             /* what was put before the file was created */
	size_t head_end;               /* bytes that start each file; 0: there is one file */
	struct compressor *z;          /* NULL: no compression */
	struct flight *flight;         /* NULL: data goes to the file */
	struct writeback *back;        /* NULL: nothing flushed yet, or not a regular file */
	bool is_file;
	int error;                     /* -errno of the first write that failed */
	uint64_t written;              /* bytes of whole records */
	uint64_t ended;                /* value of `written` behind the last end */
	bool has_events;               /* a sample was written */
	size_t used;
	char buffer[BUFFER];
};

/* ---- the file ------------------------------------------------------------- */

static int keep_old(const char *path)
{
	char *old;
	int rc;

	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	rc = outfile_rename(path, old);
	free(old);
	return rc == -ENOENT ? 0 : rc;
}

/* Whether the path is neither free nor a regular file that can be renamed. */
static bool is_special(const char *path)
{
	struct caller_rights rights;
	struct stat st;
	bool special;

	caller_begin(&rights);
	special = outfile_descriptor(path) >= 0 ||
		  (!lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode));
	caller_end(&rights);
	return special;
}

/* O_EXCL: does not follow a link that somebody planted. */
static int open_file(const char *path)
{
	int rc;

	if (is_special(path))
		return outfile_open(path, 0, 0);
	rc = keep_old(path);
	return rc ? rc : outfile_open(path, O_CREAT | O_EXCL, 0600);
}

struct perfdata_writer *perfdata_new(const char *path)
{
	static const struct { char magic[8]; uint64_t size; } header = { "PERFILE2", 16 };
	struct perfdata_writer *w = calloc(1, sizeof(*w));

	if (w)
		w->path = strdup(path);
	if (!w || !w->path) {
		free(w);
		return NULL;
	}
	w->fd = -1;
	perfdata_put(w, &header, sizeof(header));
	return w;
}

/* Returns how many bytes were written; sets w->error if not all. */
static size_t write_some(struct perfdata_writer *w, const char *data, size_t n)
{
	size_t done = 0;

	while (done < n && !w->error) {
		ssize_t rc = write(w->fd, data + done, n - done);

		if (rc > 0)
			done += (size_t)rc;
		else if (rc == 0 || errno != EINTR)
			w->error = rc ? -errno : -ENOSPC;
	}
	return done;
}

/* Removes a record that was written in part, so that the file ends with a whole one. */
static void keep_whole(struct perfdata_writer *w, size_t n)
{
	w->written += n;
	if (w->error && ftruncate(w->fd, (off_t)w->written))
		return;   /* if that fails too, readers stop at the last whole record */
}

/* Offset of the next record; 0 if this one is not whole. */
static size_t next_record(const char *data, size_t at, size_t n, struct perf_event_header *header)
{
	if (n - at < sizeof(*header))
		return 0;
	memcpy(header, data + at, sizeof(*header));
	return header->size < sizeof(*header) || header->size > n - at ? 0 : at + header->size;
}

static size_t whole_records(const char *data, size_t n)
{
	struct perf_event_header header;
	size_t at = 0, next;

	while ((next = next_record(data, at, n, &header)))
		at = next;
	return at;
}

static bool has_sample(const char *data, size_t n)
{
	struct perf_event_header header;

	for (size_t at = 0; (at = next_record(data, at, n, &header));)
		if (header.type == PERF_RECORD_SAMPLE)
			return true;
	return false;
}

/* A file without its whole head is useless. */
static void write_head(struct perfdata_writer *w)
{
	size_t done = write_some(w, w->head.data, w->head.n);

	keep_whole(w, done == w->head.n ? done : 0);
}

/* packed: the compressed data, or data itself. On a full disk, keeps the whole records that fit. */
static void write_records(struct perfdata_writer *w, const char *data, size_t n, const char *packed,
			  size_t npacked)
{
	size_t done = write_some(w, packed, npacked);

	if (done < npacked)
		done = whole_records(packed, done);
	if (done && !w->has_events)
		w->has_events = has_sample(data, packed == data ? done : n);
	keep_whole(w, done);
}

static void put_record(struct perfdata_writer *w, uint32_t type, uint16_t misc, struct bytes *b);

int perfdata_open(struct perfdata_writer *w, struct fault *f)
{
	int fd = open_file(w->path);
	struct stat st;

	if (fd < 0)
		return outfile_refused("cannot write", w->path, fd, f);
	w->fd = fd;
	w->is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	signals_pass(SIGXFSZ);   /* past a file size limit, write() fails instead */
	if (w->head.failed)
		w->error = -ENOMEM;
	else
		write_head(w);
	if (w->head_end)
		w->head.n = w->head_end;
	else
		bytes_free(&w->head);
	return 0;
}

void perfdata_end_of_head(struct perfdata_writer *w)
{
	w->head_end = w->head.n;
}

void perfdata_divert(struct perfdata_writer *w, struct flight *flight)
{
	w->flight = flight;
}

bool perfdata_is_open(const struct perfdata_writer *w)
{
	return w->fd >= 0;
}

int perfdata_compress(struct perfdata_writer *w, struct fault *f)
{
	struct bytes b = {0};

	w->z = compressor_new();
	if (!w->z)
		return fault_set(f, EXIT_FAILED, "cannot compress the recording: this perf-prof "
				 "was built without libzstd (`perf-prof version --build-options`); "
				 "leave -z out");
	bytes_add_u64(&b, FEATURE_COMPRESSION);
	compressor_describe(&b);
	put_record(w, PERFDATA_FEATURE, 0, &b);
	return 0;
}

static void flush(struct perfdata_writer *w)
{
	size_t n = w->used;
	const char *data = w->z && n ? compressor_run(w->z, w->buffer, w->used, &n) : w->buffer;

	if (!data)
		w->error = w->error ? w->error : -ENOMEM;
	else
		write_records(w, w->buffer, w->used, data, n);
	w->used = 0;
}

void perfdata_flush(struct perfdata_writer *w)
{
	if (w->fd < 0 || w->error)
		return;
	flush(w);
	if (w->is_file && !w->back)
		w->back = writeback_new();
	writeback_ask(w->back, w->fd);
}

uint64_t perfdata_size(const struct perfdata_writer *w)
{
	return w->written + w->used;
}

/* Renames before the new file is created: otherwise it would become FILE.old. */
static int rename_aside(struct perfdata_writer *w, const char *name, struct fault *f)
{
	int rc = outfile_rename(w->path, name);

	return rc ? fault_set(f, EXIT_FAILED, "cannot rename %s to %s: %s", w->path, name, strerror(-rc)) : 0;
}

int perfdata_switch(struct perfdata_writer *w, const char *name, struct fault *f)
{
	int before = w->fd;
	uint64_t written = w->written;

	perfdata_put_end(w);
	flush(w);
	if (w->error)
		return fault_set(f, EXIT_FAILED, "%s: %s", w->path, strerror(-w->error));
	if (rename_aside(w, name, f))
		return -1;
	written = w->written;
	w->written = w->ended = 0;
	w->has_events = false;
	if (perfdata_open(w, f)) {
		w->written = written;   /* the old file, now called `name` */
		return -1;
	}
	close(before);
	if (w->z)
		compressor_restart(w->z);
	return 0;
}

void perfdata_put(struct perfdata_writer *w, const void *records, size_t n)
{
	if (w->error || !n)
		return;
	if (w->flight) {
		flight_put2(w->flight, records, n, NULL, 0);
		return;
	}
	if (w->fd < 0) {
		bytes_add(&w->head, records, n);
		return;
	}
	if (n > BUFFER - w->used)
		flush(w);
	if (n > BUFFER) {
		write_records(w, records, n, records, n);
		return;
	}
	memcpy(w->buffer + w->used, records, n);
	w->used += n;
}

void perfdata_put2(struct perfdata_writer *w, const void *first, size_t nfirst, const void *second,
		   size_t nsecond)
{
	if (w->flight) {
		flight_put2(w->flight, first, nfirst, second, nsecond);
		return;
	}
	if (w->fd >= 0 && nfirst + nsecond > BUFFER - w->used)
		flush(w);   /* keeps both parts of a record in one write */
	if (nfirst + nsecond <= BUFFER) {
		perfdata_put(w, first, nfirst);
		perfdata_put(w, second, nsecond);
	}
}

void perfdata_put_plain(struct perfdata_writer *w, const void *records, size_t n)
{
	if (w->error || !n || w->fd < 0)
		return;
	flush(w);
	write_records(w, records, n, records, n);
}

int perfdata_error(const struct perfdata_writer *w)
{
	return w->error;
}

/* An empty file is no recording. Only a regular file that still has the path is removed: no device, no standard output. */
static void remove_empty(const struct perfdata_writer *w)
{
	struct stat ours, there;

	if (!fstat(w->fd, &ours) && !lstat(w->path, &there) && S_ISREG(there.st_mode) && !there.st_size &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
		outfile_unlink(w->path);
}

int perfdata_close(struct perfdata_writer *w, struct fault *f)
{
	int rc = 0;

	if (w->fd >= 0) {
		perfdata_put_end(w);
		flush(w);
		if (w->error && !w->written)
			remove_empty(w);
		if (close(w->fd) && !w->error)
			w->error = -errno;
	}
	writeback_free(w->back);
	bytes_free(&w->head);
	compressor_free(w->z);
	if (w->error && !w->written)
		rc = fault_set(f, EXIT_FAILED, "%s: %s; nothing was recorded", w->path, strerror(-w->error));
	else if (w->error)
		rc = fault_set(f, EXIT_FAILED, "%s: %s; the first %llu bytes were written and can be read%s",
			       w->path, strerror(-w->error), (unsigned long long)w->written,
			       w->has_events ? "" : ", but contain no events");
	free(w->path);
	free(w);
	return rc;
}

/* ---- records of the recorder ---------------------------------------------- */

/* Pads the body to a multiple of 8 bytes, and frees it. */
static void put_record(struct perfdata_writer *w, uint32_t type, uint16_t misc, struct bytes *b)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	bytes_pad(b, 8);
	header.size = (uint16_t)(sizeof(header) + b->n);
	if (!b->failed && b->n <= UINT16_MAX - sizeof(header))
		perfdata_put2(w, &header, sizeof(header), b->data, b->n);
	else
		w->error = w->error ? w->error : -ENOMEM;
	bytes_free(b);
}

/* If there are more ids than fit a record, the event is repeated. */
void perfdata_put_attr(struct perfdata_writer *w, const struct perf_event_attr *attr,
		       const uint64_t *ids, size_t nids)
{
	do {
		size_t n = nids < IDS_PER_RECORD ? nids : IDS_PER_RECORD;
		struct bytes b = {0};

		bytes_add(&b, attr, attr->size);
		bytes_add(&b, ids, n * sizeof(*ids));
		put_record(w, PERFDATA_HEADER_ATTR, 0, &b);
		ids += n;
		nids -= n;
	} while (nids);
}

int perfdata_put_tracing(struct perfdata_writer *w, const char *tracefs, const char *const *names,
			 size_t n, struct fault *f)
{
	struct { struct perf_event_header header; uint32_t size; } record = {
		.header = { .type = PERFDATA_TRACING_DATA, .size = sizeof(record) },
	};
	struct bytes data = {0}, whole = {0};
	int rc = tracing_data(&data, tracefs, names, n, f);

	bytes_pad(&data, 8);
	record.size = (uint32_t)data.n;
	bytes_add(&whole, &record, sizeof(record));
	bytes_add(&whole, data.data, data.n);
	if (!rc && (data.failed || whole.failed || data.n > UINT32_MAX))
		rc = fault_set(f, EXIT_FAILED, "out of memory");
	if (!rc)
		perfdata_put(w, whole.data, whole.n);
	bytes_free(&data);
	bytes_free(&whole);
	return rc;
}

void perfdata_put_machine(struct perfdata_writer *w, const char *version, const char *const *argv,
			  size_t argc)
{
	for (uint64_t feature = FEATURE_HOSTNAME; feature <= FEATURE_CMDLINE; feature++) {
		struct bytes b = {0};

		bytes_add_u64(&b, feature);
		if (machine_feature(&b, (int)feature, version, argv, argc))
			put_record(w, PERFDATA_FEATURE, 0, &b);
		bytes_free(&b);
	}
}

enum { UPDATE_NAME = 2, CLOCK_VERSION = 1 };

void perfdata_put_name(struct perfdata_writer *w, uint64_t id, const char *name)
{
	struct bytes b = {0};

	bytes_add_u64(&b, UPDATE_NAME);
	bytes_add_u64(&b, id);
	bytes_add_text(&b, name);
	put_record(w, PERFDATA_EVENT_UPDATE, 0, &b);
}

enum { DESCRIPTIONS_MAX = 60000 };   /* bytes; a record's size has 16 bits */

/* All attrs in it have the same size; shorter ones are padded with zeros. */
void perfdata_put_descriptions(struct perfdata_writer *w, const struct perfdata_described *events, size_t n)
{
	static const char zeros[256];
	struct bytes all = {0}, b = {0};
	uint32_t size = 0, count = 0;

	for (size_t i = 0; i < n; i++)
		size = events[i].attr->size > size ? events[i].attr->size : size;
	for (; count < n && size <= sizeof(zeros) && all.n < DESCRIPTIONS_MAX - 1000; count++) {
		bytes_add(&all, events[count].attr, events[count].attr->size);
		bytes_add(&all, zeros, size - events[count].attr->size);
		bytes_add_u32(&all, 1);
		bytes_add_string(&all, events[count].what);
		bytes_add_u64(&all, events[count].id);
	}
	bytes_add_u64(&b, FEATURE_EVENT_DESC);
	bytes_add_u32(&b, count);
	bytes_add_u32(&b, size);
	bytes_add(&b, all.data, all.n);
	put_record(w, PERFDATA_FEATURE, 0, &b);
	bytes_free(&all);
}

void perfdata_put_groups(struct perfdata_writer *w, const struct perfdata_group *groups, size_t n)
{
	struct bytes b = {0};

	bytes_add_u64(&b, FEATURE_GROUP_DESC);
	bytes_add_u32(&b, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		bytes_add_string(&b, groups[i].name ? groups[i].name : "{anon_group}");
		bytes_add_u32(&b, groups[i].leader);
		bytes_add_u32(&b, groups[i].members);
	}
	put_record(w, PERFDATA_FEATURE, 0, &b);
}

void perfdata_put_clock(struct perfdata_writer *w, uint32_t clockid, uint64_t clock_ns,
			uint64_t realtime_ns)
{
	struct bytes b = {0};

	bytes_add_u64(&b, FEATURE_CLOCK_DATA);
	bytes_add_u32(&b, CLOCK_VERSION);
	bytes_add_u32(&b, clockid);
	bytes_add_u64(&b, realtime_ns);
	bytes_add_u64(&b, clock_ns);
	put_record(w, PERFDATA_FEATURE, 0, &b);
}

void perfdata_put_build_id(struct perfdata_writer *w, uint16_t misc, const uint8_t *id, size_t size,
			   const char *path)
{
	/* 20 bytes, their used size, and the flag that it is set */
	enum { HAS_SIZE = 1 << 15, ROOM = 20 };
	uint8_t padded[ROOM + 4] = { 0 };
	struct bytes b = {0};

	memcpy(padded, id, size < ROOM ? size : ROOM);
	padded[ROOM] = (uint8_t)(size < ROOM ? size : ROOM);
	bytes_add_u32(&b, UINT32_MAX);   /* the host's, not a guest's */
	bytes_add(&b, padded, sizeof(padded));
	bytes_add_text(&b, path);
	put_record(w, PERFDATA_BUILD_ID, HAS_SIZE | misc, &b);
}

void perfdata_put_round(struct perfdata_writer *w)
{
	struct bytes nothing = {0};

	put_record(w, PERFDATA_FINISHED_ROUND, 0, &nothing);
}

void perfdata_put_end(struct perfdata_writer *w)
{
	static const struct perf_event_header round = { .type = PERFDATA_FINISHED_ROUND, .size = sizeof(round) };
	const struct perf_event_header rounds[] = { round, round };

	if (w->ended && w->ended == w->written && !w->used)
		return;
	perfdata_put_plain(w, rounds, sizeof(rounds));
	w->ended = w->written;
}
