/* SPDX-License-Identifier: Apache-2.0 */
#include "report/fiveruns.h"

void five_runs_begin(const struct five_runs *r, FILE *out)
{
	const char *a = r->names[0], *b = r->names[1], *suffix = r->suffix;

	fprintf(out, "(writes %s1.%s to %s5.%s and %s1.%s to %s5.%s here):\n    for i in 1 2 3 4 5; do\n", a, suffix, a, suffix, b, suffix,
		b, suffix);
}

void five_runs_indent(FILE *out)
{
	fputs("        ", out);
}

void five_runs_end(const struct five_runs *r, FILE *out)
{
	fprintf(out, "    done\n    %s %s[1-5].%s --vs %s[1-5].%s\n", r->compare, r->names[0], r->suffix, r->names[1], r->suffix);
}
