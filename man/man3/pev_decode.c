/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	/* A PERF_RECORD_COMM of thread 43 of process 42. */
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
	} bytes = { { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 24 }, 42, 43, "sh" };
	struct perf_event_attr attr;
	struct pev_format format;
	struct pev_record record;
	int rc;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	pev_format_from_attr(&format, &attr);
	if (pev_decode(&bytes.header, sizeof(bytes), &format, &record))
		return 1;
	printf("%u/%u is %s, by %s\n", record.comm.pid, record.comm.tid, record.comm.comm,
	       record.comm.exec ? "execve" : "prctl");
	bytes.header.size = 8000;
	rc = pev_decode(&bytes.header, sizeof(bytes), &format, &record);
	printf("beyond its end: %s\n", strerror(-rc));
	return 0;
}
