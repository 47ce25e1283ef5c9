/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that was gzipped as a whole. Reading needs its end first, so it is unpacked into a
 * nameless temporary file. A zip bomb can fill half of the free space there at most.
 */
#include "perfdata/read/reading.h"

#ifdef HAVE_ZLIB
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

enum { ROOM = 256 << 10, GZIP_ALONE = 16 + MAX_WBITS };

struct unpacking {
	z_stream z;
	int fd;
	const char *folder;
	uint64_t n, most;        /* bytes unpacked so far; at most */
	char out[ROOM];
};

/* Not in $TMPDIR: root may run this. */
static int make_file(struct unpacking *u)
{
	static const char *const folders[] = { "/var/tmp", "/tmp" };
	struct statvfs fs;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/perf-prof-XXXXXX", u->folder = folders[i]);
		u->fd = mkostemp(path, O_CLOEXEC);
		if (u->fd < 0)
			continue;
		unlink(path);
		u->most = fstatvfs(u->fd, &fs) ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize / 2;
		return 0;
	}
	return -errno;
}

static int write_all(struct unpacking *u, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t rc = write(u->fd, u->out + done, n - done);

		if (rc < 0 && errno == EINTR)
			continue;
		if (rc <= 0)
			return rc ? -errno : -ENOSPC;
		done += (size_t)rc;
	}
	u->n += n;
	return 0;
}

/* Unpacks the bytes in the window. *zrc: Z_OK, Z_STREAM_END or an error. 0, or -1 with f: they cannot be
 * written. */
static int unpack_piece(struct perfdata_reader *r, struct unpacking *u, int *zrc, struct fault *f)
{
	int rc = 0;

	u->z.next_in = (Bytef *)window_here(&r->w);
	u->z.avail_in = (uInt)window_have(&r->w);
	do {
		u->z.next_out = (Bytef *)u->out;
		u->z.avail_out = ROOM;
		*zrc = inflate(&u->z, Z_NO_FLUSH);
		if (*zrc == Z_BUF_ERROR)   /* it needs more input */
			*zrc = Z_OK;
		if (u->n + ROOM > u->most)
			return fault_set(f, EXIT_FAILED, "%s is compressed by gzip, and unpacked it has more than %"
					 PRIu64 " MiB, which is half of what is free in %s: unpack it with gunzip where "
					 "there is room", r->name, u->most >> 20, u->folder);
		rc = write_all(u, ROOM - u->z.avail_out);
	} while (!rc && *zrc == Z_OK && !u->z.avail_out);
	r->w.pos = r->w.len - u->z.avail_in;
	return rc ? fault_set(f, EXIT_FAILED, "%s is compressed by gzip, and cannot be unpacked into %s: %s", r->name,
			      u->folder, strerror(-rc)) : 0;
}

/* A gzip file can have several members. Tapes pad it with zeros. */
static bool goes_on(struct perfdata_reader *r)
{
	while (window_have(&r->w) || window_fill(&r->w, 1)) {
		if (*window_here(&r->w))
			return true;
		r->w.pos++;
	}
	return false;
}

/* On damage the bytes unpacked so far are read, and *cut has the message. */
static int unpack_all(struct perfdata_reader *r, struct unpacking *u, struct fault *cut, struct fault *f)
{
	int zrc = Z_OK;

	while (zrc == Z_OK && (window_have(&r->w) || window_fill(&r->w, 1))) {
		if (unpack_piece(r, u, &zrc, f))
			return -1;
		if (zrc == Z_STREAM_END && goes_on(r))
			zrc = inflateReset(&u->z);
	}
	if (r->w.error)
		return reading_failed(r, f);
	if (zrc == Z_OK)
		reading_fault(r, cut, window_at(&r->w), "the gzip file is truncated here; only %" PRIu64 " bytes "
			      "could be unpacked", u->n);
	else if (zrc != Z_STREAM_END)
		reading_fault(r, cut, window_at(&r->w), "the gzip file is damaged here (%s); only %" PRIu64 " bytes "
			      "could be unpacked", u->z.msg ? u->z.msg : zError(zrc), u->n);
	return 0;
}

static int unpack(struct perfdata_reader *r, struct unpacking *u, struct fault *cut, struct fault *f)
{
	int rc = make_file(u);

	if (rc)
		return fault_set(f, EXIT_FAILED, "%s is compressed by gzip, and there is no place to unpack it, neither "
				 "/var/tmp nor /tmp: %s", r->name, strerror(-rc));
	if (inflateInit2(&u->z, GZIP_ALONE) != Z_OK)
		rc = reading_no_memory(f);
	else
		rc = unpack_all(r, u, cut, f);
	inflateEnd(&u->z);
	if (rc) {
		close(u->fd);
		return -1;
	}
	close(r->w.fd);
	r->w.fd = u->fd;
	r->w.seekable = r->unpacked = true;
	window_seek(&r->w, 0, UINT64_MAX);
	return 0;
}

int gzipped_unpack(struct perfdata_reader *r, struct fault *cut, struct fault *f)
{
	struct unpacking *u = calloc(1, sizeof(*u));
	int rc = u ? unpack(r, u, cut, f) : reading_no_memory(f);

	free(u);
	return rc;
}
#else
int gzipped_unpack(struct perfdata_reader *r, struct fault *cut, struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "%s is compressed by gzip, and this perf-prof was built without zlib (`perf-prof "
			 "version --build-options`): unpack it with gunzip", r->name);
}
#endif

bool gzipped_begins(const struct perfdata_reader *r, const char *bytes)
{
	return !r->unpacked && !memcmp(bytes, "\x1f\x8b\x08", 3);
}
