/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet is written by pyarrow: this becomes a Python, in which python/parquet.c reads the options again. */
#include "export/convert.h"

#include "python/become.h"

#include <string.h>

static int check(const struct convert *c, struct fault *f)
{
	if (!strcmp(c->out, "-"))
		return fault_usage(f, "--to parquet: expected -o FOLDER, for a dataset of several files");
	if (!c->host)
		return fault_usage(f, "--to parquet: expected --host NAME, the machine of the recording");
	return c->date ? 0 : fault_usage(f, "--to parquet: expected --date DAY, the day of the recording, such as 2026-01-31");
}

static int run(struct convert *c, struct fault *f)
{
	static const char remedy[] =
		"pyarrow must not run with more rights than its user has. Give the recording to yourself (chown), and convert it without sudo";
	char python[4096], packages[4096];

	if (check(c, f) || become_check_rights("convert --to parquet", NULL, remedy, f) ||
	    become_find(c->venv, python, sizeof(python), packages, sizeof(packages), f))
		return -1;
	return become_python(python, packages, "convert", c->args, f);
}

const struct convert_format convert_parquet = {
	.name = "parquet", .suffixes = (const char *const[]){ NULL }, .run = run,
};
