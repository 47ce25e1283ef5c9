/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of made-up data, for the tests of pages:
 *
 *	picture flame OUT IN.folded [BEFORE.folded]
 *	picture heat OUT              lines "TIME VALUE" on stdin
 */
#include "report/flame.h"
#include "report/heatmap.h"

#include <inttypes.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int flame(const char *out, const char *in, const char *before, struct fault *f)
{
	struct flame_config c = { out, before };
	struct folded *folded = folded_new();
	int rc = !folded || flame_check(&c, -1, f) || folded_read_from(folded, open(in, O_RDONLY), in, f) ||
		 flame_write(&c, folded, &(struct flame_title){ "picture <b>of</b> made-up data" }, f);

	folded_free(folded);
	return rc;
}

static int heat(const char *out, struct fault *f)
{
	struct heatmap_config c = { out };
	struct heatmap *h = heatmap_new();
	uint64_t time, value;
	int rc;

	while (h && scanf("%" SCNu64 " %" SCNu64, &time, &value) == 2)
		heatmap_add(h, time, value);
	rc = !h || heatmap_check(&c, -1, f) ||
	     heatmap_write(&c, h, &(struct heatmap_title){ "heat <b>of</b> made-up data" }, f);
	heatmap_free(h);
	return rc;
}

int main(int argc, char **argv)
{
	struct fault f = { 0 };
	int rc = 2;

	if (argc >= 4 && !strcmp(argv[1], "flame"))
		rc = flame(argv[2], argv[3], argv[4], &f);
	else if (argc == 3 && !strcmp(argv[1], "heat"))
		rc = heat(argv[2], &f);
	if (f.exit_code)
		fault_print(&f);
	return f.exit_code ? f.exit_code : rc;
}
