/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and prints folded stacks as text. */
#include "report/folded.h"

#include "base/caller.h"
#include "base/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1 << 20, MAX_FRAMES = 4096 };

static const char *const inlined[] = {
	[FOLDED_INLINED_UNKNOWN] = "", [FOLDED_NO_INLINED] = " inlined=no", [FOLDED_HAS_INLINED] = " inlined=yes",
};

/* The weights are ns of a command from its start. */
static const char of_command[] = " time=command";

static void print_samples(const struct folded *f, FILE *out)
{
	struct folded_samples s;
	char event[4 * sizeof(s.event)];

	if (!folded_samples(f, &s))
		return;
	escape_terminal(s.event, strlen(s.event), event, sizeof(event));
	for (char *p = strchr(event, ' '); p; p = strchr(p, ' '))
		*p = '_';
	fprintf(out, "# samples=%" PRIu64 " alike=%.9g weight=%" PRIu64 " event=%s", s.n, s.alike, folded_total(f), event);
	if (folded_is_of_command(f))
		fputs(of_command, out);
	folded_print_builds(f, out);
	fputs(inlined[folded_inlined(f)], out);
	fputc('\n', out);
}

int folded_print(const struct folded *f, FILE *out)
{
	size_t n;
	struct folded_stack *stacks = folded_stacks(f, &n);

	if (!stacks)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!stacks[i].weight)   /* only in the earlier measurement */
			continue;
		for (size_t k = 0; k < stacks[i].n; k++)
			fprintf(out, "%s%s", k ? ";" : "", folded_frame_name(f, stacks[i].frames[k]));
		fprintf(out, " %" PRIu64 "\n", stacks[i].weight);
	}
	if (folded_overflow(f))
		fprintf(out, "[too many stacks] %" PRIu64 "\n", folded_overflow(f));
	free(stacks);
	print_samples(f, out);
	return 0;
}

/* ---- reading --------------------------------------------------------------------------- */

/* Suffixes by which other tools mark kinds; removed from the name. */
static const struct {
	const char *mark;
	enum folded_kind kind;
} marks[] = {
	{ "_[k]", FOLDED_KERNEL }, { "_[i]", FOLDED_INLINED }, { "_[j]", FOLDED_SCRIPT },
};

static uint32_t frame_of(struct folded *folded, char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		size_t n = strlen(marks[i].mark);

		if (len <= n || strcmp(name + len - n, marks[i].mark))
			continue;
		name[len - n] = '\0';
		return folded_frame(folded, name, marks[i].kind);
	}
	return folded_frame(folded, name, strcmp(name, "[unknown]") ? FOLDED_USER : FOLDED_UNKNOWN);
}

/* "# samples=... event=cpu-clock time=command builds=gzip:8a6bbd9a9e5b5f6c inlined=yes" */
static void take_samples(struct folded *folded, const char *line)
{
	uint64_t n, weight;
	char event[128], time[16];
	double alike;
	const int found = sscanf(line, "# samples=%" SCNu64 " alike=%lf weight=%" SCNu64 " event=%127s%15s", &n, &alike, &weight, event,
				 time);

	if (found < 4 || n > INT64_MAX || !(alike >= 1 && alike <= (double)n))   /* sscanf() converts -1 to a large number */
		return;
	folded_sampled(folded, event, n, weight, (double)weight * (double)weight / alike);
	if (found > 4 && !strcmp(time, of_command + 1))
		folded_of_command(folded, weight);
}

/* A comment, which may describe the samples. False: the line is a stack. */
static bool take_comment(struct folded *folded, const char *line)
{
	const char *last = strrchr(line, ' '), *builds = strstr(line, " builds="), *weighed = strstr(line, " weight=");
	uint64_t weight;

	if (strncmp(line, "# ", 2) || (last[1] && !last[1 + strspn(last + 1, "0123456789")]))
		return false;   /* a frame's name may begin with "# " */
	take_samples(folded, line);
	if (!strcmp(last, " unit=ns") && sscanf(line, "# weight=%" SCNu64 " ", &weight) == 1)
		folded_timed(folded, weight);
	if (builds && weighed && sscanf(weighed, " weight=%" SCNu64 " ", &weight) == 1)
		folded_take_builds(folded, builds, weight);
	if (!strcmp(last, inlined[FOLDED_NO_INLINED]))
		folded_set_inlined(folded, false);
	else if (!strcmp(last, inlined[FOLDED_HAS_INLINED]))
		folded_set_inlined(folded, true);
	return true;
}

static const char malformed[] = "expected folded stacks, a line such as main;run;read 12";
static const char too_large[] = "the numbers up to here add up to more than 18446744073709551615";

/* Whether a number ends at `end`; *weight is rounded, as weights are whole numbers. */
static bool read_number(const char *text, const char *end, uint64_t *weight)
{
	char *p;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*weight = strtoull(text, &p, 10);
	if (*p == '.')
		*weight += (unsigned char)(p[1] - '5') <= '9' - '5', p += 1 + strspn(p + 1, "0123456789");
	return !errno && p == end;
}

/* Takes "a;b;c 12", without the newline. Returns what is wrong with it, or NULL. */
static const char *take_line(struct folded *folded, char *line)
{
	uint32_t frames[MAX_FRAMES];
	char *blank = strrchr(line, ' '), *save = NULL;
	uint64_t weight;
	size_t n = 0;

	if (!blank || blank == line || !read_number(blank + 1, strchr(blank, '\0'), &weight))
		return malformed;
	if (weight > UINT64_MAX - folded_total(folded))
		return too_large;
	*blank = '\0';
	for (char *p = strtok_r(line, ";", &save); p; p = strtok_r(NULL, ";", &save)) {
		if (n == MAX_FRAMES)
			return malformed;
		frames[n++] = frame_of(folded, p);
	}
	folded_add(folded, frames, n, FOLDED_ROOT_FIRST, weight);
	return NULL;
}

/* Whether another number stands before the last one. */
static bool has_two_numbers(const char *line)
{
	const char *blank = strrchr(line, ' '), *before = blank ? memrchr(line, ' ', (size_t)(blank - line)) : NULL;
	uint64_t number;

	return before && read_number(before + 1, blank, &number);
}

/* Removes the newline; false: there is none, since the line is too long. */
static bool cut_end(char *line, FILE *in)
{
	size_t len = strlen(line);

	if (!len || line[len - 1] != '\n')
		return feof(in);
	line[--len] = '\0';
	if (len && line[len - 1] == '\r')
		line[len - 1] = '\0';
	return true;
}

int folded_take(struct folded *folded, FILE *in, const char *name, struct fault *f)
{
	char *line = malloc(LINE);
	int rc = line ? 0 : fault_set(f, EXIT_FAILED, "out of memory");

	bool two = false, one = false;   /* numbers in lines */

	folded_mark_text(folded);
	for (size_t number = 1; !rc && fgets(line, LINE, in); number++) {
		const char *wrong = !cut_end(line, in) ? malformed : NULL;

		if (!wrong && *line) {
			const bool comment = take_comment(folded, line);

			*(!comment && has_two_numbers(line) ? &two : &one) = true;
			wrong = comment ? NULL : take_line(folded, line);
		}

		/* a function may have any name */
		if (wrong && number == 1 && !strncmp(line, "PERFILE2", 8))
			rc = fault_set(f, EXIT_FAILED, "%s is a recording, not folded stacks: perf-prof report %s --flame-graph OUT.svg "
				       "draws it", name, name);
		else if (wrong)
			rc = fault_set(f, EXIT_FAILED, "%s:%zu: %s", name, number, wrong);
	}
	if (!rc && ferror(in))
		rc = fault_unreadable(f, name, errno);
	/* a name may end in a number; but each line of difffolded.pl has two, and none is a comment. flamegraph.pl, too, reads two columns */
	if (!rc && two && !one)
		rc = fault_set(f, EXIT_FAILED, "%s: each line has two numbers, as of difffolded.pl: expected one; `perf-prof diff A B` compares "
			       "the two files", name);
	free(line);
	return rc;
}

int folded_read_from(struct folded *folded, int fd, const char *name, struct fault *f)
{
	FILE *in = fdopen(fd, "r");
	int rc;

	if (!in) {
		close(fd);
		return fault_set(f, EXIT_FAILED, "out of memory");
	}
	rc = folded_take(folded, in, name, f);
	fclose(in);
	return rc;
}

int folded_open(const char *path, struct fault *f)
{
	struct caller_rights rights;
	int fd;

	caller_begin(&rights);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	caller_end(&rights);
	return fd < 0 ? fault_unreadable(f, path, errno) : fd;
}
