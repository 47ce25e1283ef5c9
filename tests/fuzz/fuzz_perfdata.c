/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a recording, as a file and through a pipe: the reader comes to an end, its
 * records lie in its own memory and are as long as they say, and offsets never go back.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int as_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET));
	return fd;
}

static int as_pipe(const uint8_t *data, size_t size)
{
	int fds[2];

	assert(!pipe(fds) && fcntl(fds[1], F_SETPIPE_SZ, 1 << 18) > 0);
	assert(write(fds[1], data, size) == (ssize_t)size);
	close(fds[1]);
	return fds[0];
}

static volatile uint64_t sum;

static int take_format(void *ctx, const char *sys, const char *text, size_t len)
{
	sum += strlen(sys);
	for (size_t i = 0; i < len; i++)
		sum += (unsigned char)text[i];
	return 0;
}

static void touch(struct perfdata_reader *r, const struct perf_event_header *rec)
{
	int event = perfdata_event_of(r, rec);
	struct pev_record out;

	assert(rec->size >= sizeof(*rec) && (uintptr_t)rec % 8 == 0);
	for (size_t i = 0; i < rec->size; i++)
		sum += ((const unsigned char *)rec)[i];
	assert(event < (int)perfdata_events(r));
	if (event >= 0 && !pev_decode(rec, rec->size, &perfdata_event(r, (size_t)event)->format, &out))
		sum += out.sample_id.time;
}

static void read_all(int fd)
{
	struct fault f = { 0 };
	struct perfdata_reader *r = perfdata_reader_open(fd, "input", &f);
	struct perfdata_formats formats = { .format = take_format };
	const struct perf_event_header *rec;
	uint64_t at = 0, records = 0;
	int rc;

	if (!r) {
		assert(f.exit_code && f.text[0]);
		return;
	}
	assert(perfdata_events(r));
	perfdata_each_format(r, &formats, NULL);
	for (size_t i = 0; perfdata_peek(r, i, &rec); i++)
		sum += rec->type;
	while ((rc = perfdata_next(r, &rec, &f)) > 0 && records++ < 1 << 16) {
		assert(perfdata_offset(r) >= at);
		at = perfdata_offset(r);
		touch(r, rec);
	}
	assert(rc >= 0 || f.exit_code);
	sum += perfdata_has_no_end(r);
	perfdata_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 << 17)
		return 0;
	read_all(as_file(data, size));
	read_all(as_pipe(data, size));
	return 0;
}
