/* SPDX-License-Identifier: Apache-2.0 */
/* In which order a recorder writes what rings hold. */
#include "checks.h"

#include "perfdata/write/writer.h"
#include "perfevent/rings/ring_private.h"
#include "stream/record/recorder.h"
#include "stream/state/state.h"

enum { RINGS = 2, SAMPLES = 1 << 15, PIECE = 256 << 10 };

struct sample {
	struct perf_event_header header;
	uint64_t id, ip, tid, time, cpu;
	uint64_t rest[2];
};

static struct sample samples[RINGS][SAMPLES];
static const uint64_t steps[RINGS] = { 1, 4 };   /* the second ring's are four times as far apart */

static void fill(struct perf_event_mmap_page *pages, struct pev_ring *bytes, struct ring *rings)
{
	for (uint64_t r = 0; r < RINGS; r++) {
		for (uint64_t i = 0; i < SAMPLES; i++)
			samples[r][i] = (struct sample){
				{ PERF_RECORD_SAMPLE, 0, sizeof(struct sample) }, .id = 1, .time = i * steps[r] + 1, .cpu = r,
			};
		pages[r].data_head = sizeof(samples[r]);
		pev_ring_attach_(&bytes[r], &pages[r], (char *)samples[r], sizeof(samples[r]));
		rings[r].ring = &bytes[r];
	}
}

/* How many samples of a ring are not later than that. */
static uint64_t due(uint64_t ring, uint64_t time, uint64_t written)
{
	uint64_t n = (time - 1) / steps[ring] + 1;

	return n < written ? n : written;
}

/* Bytes that stand before an earlier sample of the other ring, at most. */
static uint64_t held(const char *path)
{
	uint64_t n[RINGS] = { 0 }, most = 0;
	struct sample s;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	lseek(fd, 16, SEEK_SET);   /* the file's head */
	while (read(fd, &s, sizeof(s)) == sizeof(s)) {
		uint64_t other = !s.cpu, ahead = (n[other] - due(other, s.time, n[other])) * sizeof(s);

		assert_int_equal(s.header.type, PERF_RECORD_SAMPLE);
		n[s.cpu]++;
		most = ahead > most ? ahead : most;
	}
	close(fd);
	assert_int_equal(n[0], SAMPLES);
	assert_int_equal(n[1], SAMPLES);
	return most;
}

/* Rings hold two MiB each here, and 64 MiB elsewhere; a reader's memory is the same. */
TEST(no_ring_is_far_ahead)
{
	static const struct stream_opts opts = { .recording.only = true };
	struct perf_event_mmap_page *pages = calloc(RINGS, sizeof(*pages));
	struct stream *s = calloc(1, sizeof(*s));
	struct stream_event event = { .layout.time = offsetof(struct sample, time), .layout.tid = offsetof(struct sample, tid) };
	struct pev_ring bytes[RINGS] = { 0 };
	struct ring rings[RINGS] = { 0 };
	char folder[] = "/tmp/test_recorder.XXXXXX", path[64];
	struct fault f = { 0 };

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	assert_non_null(s);
	fill(pages, bytes, rings);
	s->opts = &opts;
	s->list.events = &event;
	s->list.nevents = 1;
	s->rings.v = rings;
	s->rings.n = RINGS;
	s->record.writer = perfdata_new(path);
	assert_non_null(s->record.writer);
	assert_int_equal(perfdata_open(s->record.writer, &f), 0);
	recorder_drain(s);
	assert_int_equal(perfdata_close(s->record.writer, &f), 0);
	assert_in_range(held(path), 0, RINGS * PIECE);
	unlink(path);
	rmdir(folder);
	free(s);
	free(pages);
}
