/* SPDX-License-Identifier: Apache-2.0 */
/* Events as rows: runs perf-prof script. */
#include "export/convert.h"

#include "export/script.h"

static int run_csv(struct convert *c, struct fault *f)
{
	return script_write(&c->common, c->sources, c->csv_safe ? SCRIPT_ROWS_CSV_SAFE : SCRIPT_ROWS_CSV, c->out, f);
}

static int run_jsonl(struct convert *c, struct fault *f)
{
	return script_write(&c->common, c->sources, SCRIPT_ROWS_JSON, c->out, f);
}

const struct convert_format convert_csv = {
	.name = "csv", .suffixes = (const char *const[]){ ".csv", NULL }, .run = run_csv,
};

const struct convert_format convert_jsonl = {
	.name = "jsonl", .suffixes = (const char *const[]){ ".jsonl", ".ndjson", NULL }, .run = run_jsonl,
};
