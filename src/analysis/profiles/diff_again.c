/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to type next. One recording of each side does not show how much runs of the same program differ: the commands that record
 * several, in turns, from the command that each recording says it was made with. And the one for the lines of a function.
 */
#include "analysis/profiles/diff_private.h"
#include "base/shellwords.h"
#include "report/fiveruns.h"
#include "report/lambdas.h"
#include "report/unnamed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = { [SHARES_BEFORE] = "old", [SHARES_AFTER] = "new" };
static const char *const commands[] = { [SHARES_BEFORE] = "OLD", [SHARES_AFTER] = "NEW" };

static bool is_printable(const char *word)
{
	while (*word && isprint((unsigned char)*word))
		word++;
	return !*word;
}

/* The number of words of an output option at the head; 0: it is another one. */
static size_t output_words(const char *word)
{
	if (!strcmp(word, "-o") || !strcmp(word, "--output"))
		return 2;
	return !strncmp(word, "--output=", strlen("--output=")) || (!strncmp(word, "-o", 2) && word[2]);
}

/* Of several short options in one word, -qo, only the parser of `record` knows which one is an output. */
static bool may_have_output(const char *word)
{
	return *word == '-' && word[1] != '-' && word[1] != 'o' && strchr(word, 'o');
}

static bool is_ours(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "perf-prof");
}

/* The number of options of `perf-prof record -- COMMAND`, which begin at words[2]; -1: it is written in another way. */
static ssize_t options_of(char *const *words, size_t n)
{
	if (n < 3 || !is_ours(words[0]) || strcmp(words[1], "record"))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!is_printable(words[i]))
			return -1;
	for (size_t i = 2; i + 1 < n; i++) {
		if (!strcmp(words[i], "--"))
			return (ssize_t)i - 2;
		if (may_have_output(words[i]))
			return -1;
	}
	return -1;
}

static void put(FILE *out, char *const *words, size_t n, size_t noptions, const char *name)
{
	fprintf(out, "perf-prof record -o %s$i.data", name);
	for (size_t i = 2; i < n; i++) {
		const size_t skipped = i < 2 + noptions ? output_words(words[i]) : 0;

		if (skipped) {
			i += skipped - 1;
			continue;
		}
		fputc(' ', out);
		shellwords_put(words[i], out);
	}
}

void diff_remember_command(struct diff *d, char *const *words, size_t n)
{
	const size_t side = (size_t)(d->side - d->sides);
	const ssize_t noptions = options_of(words, n);
	FILE *out = noptions < 0 ? NULL : fmemopen(d->side->again, sizeof(d->side->again), "w");
	bool whole;

	if (!out)
		return;
	put(out, words, n, (size_t)noptions, names[side]);
	whole = ftell(out) < (long)sizeof(d->side->again) - 1;
	whole &= !fclose(out);
	if (!whole)
		*d->side->again = '\0';
}

static void put_side(const struct diff *d, enum share_side side)
{
	five_runs_indent(stdout);
	if (*d->sides[side].again)
		puts(d->sides[side].again);
	else
		printf("perf-prof record -o %s$i.data -- %s\n", names[side], commands[side]);
}

void diff_tell_again(const struct diff *d)
{
	const struct five_runs runs = { { "old", "new" }, "data", d->total ? "perf-prof diff --total" : "perf-prof diff" };

	printf("runs of the same program differ, and one recording of each does not show by how much; to compare five of each ");
	five_runs_begin(&runs, stdout);
	put_side(d, SHARES_BEFORE);
	put_side(d, SHARES_AFTER);
	five_runs_end(&runs, stdout);
}

bool diff_has_lines(const struct diff *d, const struct share *share)
{
	const bool own = share->own || !strcmp(share->function, "main");

	return !d->of_folded && share->evidence > 0 && own && *share->dso && !is_unnamed(share->function, share->dso) &&
	       !lambda_has_place(share->function) && is_printable(share->function);
}

void diff_tell_lines(const struct diff *d, const struct share *share)
{
	const char *path = d->sides[share->total[SHARES_AFTER] ? SHARES_AFTER : SHARES_BEFORE].inputs->path;
	struct stat st;

	if (!is_printable(path) || stat(path, &st) || !S_ISREG(st.st_mode))    /* what was piped cannot be read again */
		return;
	printf("which lines of %s take the time: perf-prof report -I ", share->function);
	shellwords_put(path, stdout);
	printf(" --annotate ");
	shellwords_put(share->function, stdout);
	putchar('\n');
}
