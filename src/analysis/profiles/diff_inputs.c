/* SPDX-License-Identifier: Apache-2.0 */
/* The recordings and folded stacks that perf-prof diff compares: BEFORE AFTER, or BEFORE... --vs AFTER... */
#include "analysis/profiles/diff_private.h"
#include "base/descriptors.h"
#include "base/magic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which they are -------------------------------------------------------------------- */

/* The number of operands before --vs. Its value may be a word of its own, or the end of one: "--vs=new.data". */
static size_t operands_before(const struct opt_parser *args, const char *value)
{
	size_t n = 0;

	for (size_t i = 0; i < args->nwords; i++) {
		const char *word = args->words[i];

		if (value >= word && value <= word + strlen(word))
			break;
		n += n < (size_t)args->noperands && args->operands[n] == word;
	}
	return n;
}

static void add(struct side *side, const char *path)
{
	side->inputs[side->n++] = (struct input){ path, -1, false };
}

static void name_side(struct side *side)
{
	if (side->n == 1)
		snprintf(side->name, sizeof(side->name), "%s", side->inputs->path);
	else
		snprintf(side->name, sizeof(side->name), "%s and %zu more", side->inputs->path, side->n - 1);
}

static int check(const struct diff *d, struct fault *f)
{
	const size_t n = d->sides[SHARES_BEFORE].n + d->sides[SHARES_AFTER].n;
	size_t stdins = 0;

	for (size_t i = 0; i < n; i++)
		stdins += !strcmp(d->inputs[i].path, "-");
	if (stdins > 1)
		return fault_usage(f, "diff: only one of %s can be standard input", n == 2 ? "the two" : "the files");
	return 0;
}

int diff_inputs(struct diff *d, const struct opt_parser *args, struct fault *f)
{
	struct side *before = &d->sides[SHARES_BEFORE], *after = &d->sides[SHARES_AFTER];
	const size_t n = (size_t)args->noperands, first = d->vs.n ? operands_before(args, d->vs.v[0]) : n / 2;

	if (d->vs.n ? !first : n != 2)
		return fault_usage(f, "diff: expected two recordings or files of folded stacks: BEFORE AFTER; or several of each: "
				   "BEFORE... --vs AFTER...");
	d->inputs = calloc(n + d->vs.n, sizeof(*d->inputs));
	if (!d->inputs)
		return fault_set(f, EXIT_FAILED, "out of memory");
	before->inputs = d->inputs;
	after->inputs = d->inputs + first;
	for (size_t i = 0; i < first; i++)
		add(before, args->operands[i]);
	for (size_t i = 0; i < d->vs.n; i++)
		add(after, d->vs.v[i]);
	for (size_t i = first; i < n; i++)
		add(after, args->operands[i]);
	name_side(before);
	name_side(after);
	return check(d, f);
}

/* ---- opening --------------------------------------------------------------------------- */

/* Files that reading one input takes, at most. */
enum { OWN_FILES = 16 };

/* Whether a file is a recording, maybe compressed by gzip, from its first bytes. A pipe, which cannot be read twice, is taken
 * for one. */
static bool is_recording(int fd)
{
	char magic[MAGIC_SIZE] = "";
	ssize_t n = pread(fd, magic, sizeof(magic), 0);

	return n < 0 || (n == sizeof(magic) && (magic_is_recording(magic) || !strncmp(magic, "\x1f\x8b", 2)));
}

static int open_input(struct input *in, struct fault *f)
{
	struct stat st;

	if (!strcmp(in->path, "-") || (!stat(in->path, &st) && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)))
		return 0;
	in->fd = reading_open(in->path, f);
	return in->fd < 0 ? -1 : 0;
}

static int begin_reading(struct diff *d, size_t n, struct reading *reading, const struct opt_parser *args, struct fault *f)
{
	int *fds = calloc(n, sizeof(*fds)), rc;

	if (!fds)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < n; i++)
		fds[i] = d->inputs[i].fd;
	rc = reading_begin(reading, &(struct reading_files){ fds, n, args->outputs }, f);
	free(fds);
	return rc;
}

/* All are opened before the process changes to another user, who may not have the right to open them. */
static int make_room(size_t n, struct fault *f)
{
	char remedy[256];

	if (descriptors_reserve(n + OWN_FILES) || n <= 2)
		return 0;
	return fault_set(f, EXIT_FAILED, "diff: %zu inputs take up to %zu open files, but %s", n, n + OWN_FILES,
			 descriptors_remedy(n + OWN_FILES, remedy, sizeof(remedy)));
}

int diff_open_inputs(struct diff *d, struct reading *reading, const struct opt_parser *args, struct fault *f)
{
	const size_t n = d->sides[SHARES_BEFORE].n + d->sides[SHARES_AFTER].n;

	if (make_room(n, f))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (open_input(&d->inputs[i], f))
			return -1;
	if (begin_reading(d, n, reading, args, f))
		return -1;
	d->common.stream.opener = reading_opener(reading);
	for (size_t i = 0; i < n; i++) {
		d->inputs[i].is_folded = !is_recording(d->inputs[i].fd);
		d->of_folded |= d->inputs[i].is_folded;
		if (d->inputs[i].is_folded && (d->common.comms.n || d->common.dsos.n))
			return fault_usage(f, "diff: --comm and --dso select samples of recordings, and %s has folded stacks",
					   d->inputs[i].path);
	}
	return 0;
}

void diff_close_inputs(struct diff *d)
{
	const size_t n = d->inputs ? d->sides[SHARES_BEFORE].n + d->sides[SHARES_AFTER].n : 0;

	for (size_t i = 0; i < n; i++)
		if (d->inputs[i].fd >= 0)
			close(d->inputs[i].fd);
	free(d->inputs);
	d->inputs = NULL;
}
