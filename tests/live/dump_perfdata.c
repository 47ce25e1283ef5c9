/* SPDX-License-Identifier: Apache-2.0 */
/* dump_perfdata FILE - each record of a recording as "OFFSET TEXT", read by src/perfdata and
 * decoded by libperfevent. */
#include "perfdata/read/reader.h"

#include <inttypes.h>
#include <stdio.h>

static void dump(struct perfdata_reader *r, const struct perf_event_header *rec)
{
	static char text[1 << 20];
	int event = perfdata_event_of(r, rec);
	const struct pev_format *fmt = &perfdata_event(r, event < 0 ? 0 : (size_t)event)->format;
	struct pev_record out;

	printf("0x%" PRIx64 " ", perfdata_offset(r));
	if (event < 0 || pev_decode(rec, rec->size, fmt, &out))
		printf("BAD ");
	if (pev_record_text(&out, fmt, text, sizeof(text)) >= (int)sizeof(text))
		printf("too long ");
	puts(text);
}

int main(int argc, char **argv)
{
	const struct perf_event_header *rec;
	struct perfdata_reader *r = NULL;
	struct fault f = { 0 };
	int fd, rc = -1;

	if (argc != 2) {
		fprintf(stderr, "usage: dump_perfdata FILE\n");
		return 2;
	}
	fd = perfdata_reader_path(argv[1], &f);
	if (fd >= 0)
		r = perfdata_reader_open(fd, argv[1], &f);
	while (r && (rc = perfdata_next(r, &rec, &f)) > 0)
		dump(r, rec);
	perfdata_reader_close(r);
	if (rc)
		fault_print(&f);
	return rc ? 1 : 0;
}
