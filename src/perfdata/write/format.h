/* SPDX-License-Identifier: Apache-2.0 */
/* The format of perf.data: see tools/perf/Documentation/perf.data-file-format.txt and
 * tools/lib/perf/include/perf/event.h of Linux. */
#ifndef PERFDATA_WRITE_FORMAT_H
#define PERFDATA_WRITE_FORMAT_H

#include "perfdata/write/writer.h"

/* Records of user space. */
enum {
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_EVENT_TYPE = 65,      /* names of events, before Linux 3.5 */
	PERFDATA_TRACING_DATA = 66,
	PERFDATA_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_ID_INDEX = 69,
	PERFDATA_AUXTRACE_INFO = 70,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_AUXTRACE_ERROR = 72,
	PERFDATA_THREAD_MAP = 73,
	PERFDATA_CPU_MAP = 74,
	PERFDATA_STAT_CONFIG = 75,
	PERFDATA_STAT = 76,
	PERFDATA_STAT_ROUND = 77,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_TIME_CONV = 79,
	PERFDATA_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_FINISHED_INIT = 82,
	PERFDATA_COMPRESSED2 = 83,
};

/* Ids of an event in one record; more follow in further records. */
enum { IDS_PER_RECORD = 4096 };

/* Features of the header. */
enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_GROUP_DESC = 17,
	FEATURE_STAT = 19,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_COMPRESSION = 27,
	FEATURE_CLOCK_DATA = 29,
};

/* A buffer that grows. `failed` stays set after a failed allocation. */
struct bytes {
	char *data;
	size_t n, room;
	bool failed;
};

void bytes_add(struct bytes *b, const void *data, size_t n);
void bytes_add_u32(struct bytes *b, uint32_t v);
void bytes_add_u64(struct bytes *b, uint64_t v);
/* As perf writes strings: length, text, zeros up to a multiple of 64 bytes. */
void bytes_add_string(struct bytes *b, const char *text);
/* With its NUL. */
void bytes_add_text(struct bytes *b, const char *text);
/* Zeros up to a multiple of `unit`. */
void bytes_pad(struct bytes *b, size_t unit);
void bytes_free(struct bytes *b);

/* tracing.c: the data behind a TRACING_DATA record. 0, or -1 with f. */
int tracing_data(struct bytes *b, const char *tracefs, const char *const *names, size_t n,
		 struct fault *f);
/* writer.c: writes records that are never compressed. */
void perfdata_put_plain(struct perfdata_writer *w, const void *records, size_t n);
/* The data of one feature; false if this machine does not have it. */
bool machine_feature(struct bytes *b, int feature, const char *version, const char *const *argv,
		     size_t argc);

#endif
