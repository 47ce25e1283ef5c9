/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/probefile.h"

#include "base/escape.h"
#include "base/opener.h"
#include "base/room.h"
#include "base/textfile.h"
#include "base/units.h"
#include "symbols/elf/symsource.h"
#include "symbols/parser_kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- debug information ------------------------------------------------------------ */

int probe_file_params(struct probe_file *file, const struct place *place, enum params_what what, const char *name,
		      struct params *out)
{
	int rc = params_find(out, file->parser, file->debug >= 0 ? file->debug : file->fd, place->address, place->symbol,
			     what, name);

	if (rc != -ENODATA || file->debug >= 0)
		return rc;
	file->debug = symsource_debug(file->parser, &opener_direct, file->fd, file->found);
	return file->debug < 0 ? rc : params_find(out, file->parser, file->debug, place->address, place->symbol, what, name);
}

/* ---- errors ---------------------------------------------------------------------- */

static int complain_of_file(const struct spec_item *item, const struct probe_name *name, int err, struct fault *f)
{
	char message[400];

	snprintf(message, sizeof(message), "cannot read %.300s: %s", name->path, parser_error_text(err));
	return spec_fault(f, item, name->path_at, message, err == ETIME || err == EPIPE ?
			  "the number of a byte in the file instead of a function's name" : "the path of a program or a library");
}

/* The item with another name, as -e takes it: uprobe:'shop::Cart::add(int)'@./app */
static void put_item(const struct spec_item *item, const struct probe_name *name, const struct place *other, char *buf, size_t size)
{
	char function[PROBE_FUNCTION_SIZE], text[1200];
	const char *path = item->text + name->path_at, *end = item->text + probe_name_place(item, strlen(item->name));

	probe_function_text(other->name, other->symbol, function);
	escape_terminal(function, strlen(function), text, sizeof(text));
	snprintf(buf, size, "%s:%s@%.*s", item->sys, text, (int)(end - path), path);
}

/* Adds one line for each name that could be meant. */
static void add_choices(const struct spec_item *item, const struct probe_name *name, const struct places *places,
			struct fault *f)
{
	for (size_t i = 0, used; i < places->n; i++) {
		char line[1600];

		put_item(item, name, &places->all[i], line, sizeof(line));
		used = strlen(f->text);
		if (used + strlen(line) + sizeof("\n  \n  ...") > sizeof(f->text)) {
			strcat(f->text, "\n  ...");
			return;
		}
		snprintf(f->text + used, sizeof(f->text) - used, "\n  %s", line);
	}
}

static int suggest(const struct spec_item *item, const struct probe_name *name, const struct places *places,
		   const char *message, struct fault *f)
{
	char line[1600], hint[512];

	put_item(item, name, &places->all[0], line, sizeof(line));
	if (places->n == 1 && (size_t)snprintf(hint, sizeof(hint), "did you mean %s?", line) < sizeof(hint))
		return spec_fault(f, item, probe_name_place(item, 0), message, hint);
	spec_fault(f, item, probe_name_place(item, 0), message, places->match == PLACES_NONE ? "did you mean one of" : "one of");
	if (f)
		add_choices(item, name, places, f);
	return -1;
}

/* Whether the DWARF has the function, but only inlined. */
static bool is_inlined(struct probe_file *file, const struct probe_name *name)
{
	char bare[PROBE_FUNCTION_SIZE];
	const struct place nowhere = { .symbol = "" };
	struct params one;

	if (name->kind->usdt || name->glob)
		return false;
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(name->function, "("), name->function);
	if (probe_file_params(file, &nowhere, PARAMS_INLINED, bare, &one))
		return false;
	params_free(&one);
	return true;
}

/* Whether the compiler made copies of it, for some of its callers, and the function itself has no code. */
static bool has_clones(const struct places *places)
{
	static const char *const marks[] = { " [clone ", ".isra.", ".constprop.", ".part." };    /* the others: of C */

	for (size_t i = 0; i < places->n; i++)
		for (size_t k = 0; k < sizeof(marks) / sizeof(*marks); k++)
			if (strstr(places->all[i].name, marks[k]))
				return true;
	return false;
}

static int complain_of_inlined(const struct spec_item *item, const struct probe_name *name, struct fault *f)
{
	char message[400];

	snprintf(message, sizeof(message), "%.150s has no separate code for %.150s: the compiler inlined it into its callers",
		 name->path, name->function);
	return spec_fault(f, item, probe_name_place(item, 0), message, "a function that calls it; or compile it with "
			  "__attribute__((noinline))");
}

static int complain_of_name(const struct spec_item *item, const struct probe_name *name, const struct places *places,
			    struct fault *f)
{
	const char *what = name->kind->usdt ? "USDT probe" : "function";
	char message[400], hint[256];

	if (!places->seen)
		snprintf(message, sizeof(message), "%.200s has no %ss%s", name->path, what,
			 name->kind->usdt ? "" : " with names: it is stripped, and its debug file was not found");
	else if (places->match == PLACES_BARE || places->match == PLACES_PLAIN)
		snprintf(message, sizeof(message), "%.150s has several functions %.150s", name->path, name->function);
	else
		snprintf(message, sizeof(message), "%.150s has no %s %s%.150s", name->path, what,
			 name->glob ? "that matches " : "", name->function);
	if (places->n)
		return suggest(item, name, places, message, f);
	snprintf(hint, sizeof(hint), places->seen ? "a name that `perf-prof list %.150s` shows" : name->kind->usdt ?
		 "a file with USDT probes: `perf-prof list --usdt` shows those of running programs" :
		 "its debug file in /usr/lib/debug, or the number of a byte in the file", name->path);
	return spec_fault(f, item, probe_name_place(item, 0), message, hint);
}

/* ---- the search ------------------------------------------------------------------- */

static int find(struct probe_file *file, const struct probe_name *name)
{
	file->parser = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO });
	if (!file->parser)
		return -EPIPE;
	return places_find(&file->places, file->parser, file->fd, file->found,
			   name->kind->usdt ? PLACES_USDT : PLACES_FUNCTIONS, name->function);
}

/* Whether the functions have parameters by which the name has to choose. */
static bool is_ambiguous(const struct places *places)
{
	return (places->match == PLACES_BARE || places->match == PLACES_PLAIN) &&
	       strcmp(places->all[0].name, places->all[places->n - 1].name);
}

static int search(struct probe_file *file, const struct spec_item *item, const struct probe_name *name, struct fault *f)
{
	int rc = find(file, name);

	if (rc == -ENOMEM)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (rc)
		return complain_of_file(item, name, -rc, f);
	if (file->places.match == PLACES_NONE || !file->places.n || is_ambiguous(&file->places))
		return file->places.match == PLACES_NONE && !has_clones(&file->places) && is_inlined(file, name) ?
		       complain_of_inlined(item, name, f) : complain_of_name(item, name, &file->places, f);
	return 0;
}

/* The path of a file in a container may be another file here. */
static bool is_open(int fd, const char *path)
{
	struct stat there, st;

	return !stat(path, &there) && !fstat(fd, &st) && there.st_dev == st.st_dev && there.st_ino == st.st_ino;
}

/* The kernel resolves the path of a definition once more, and whoever may write to a folder of it can put another file there
 * meanwhile. The descriptor leads to the very file that was searched. So its own path comes from the kernel, too. */
static void set_path(struct probe_file *file, const char *path)
{
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	textfile_link(file->found, sizeof(file->found), "%s", file->path);
	if (!is_open(file->fd, file->found))
		snprintf(file->found, sizeof(file->found), "%s", path);
}

/* None if the function's name is not of numbers. */
static void take_numbers(struct probe_file *file, const struct probe_name *name)
{
	char words[PROBE_FUNCTION_SIZE], *save;
	bool all = !name->kind->usdt;

	snprintf(words, sizeof(words), "%s", name->function);
	for (char *word = strtok_r(words, " ", &save); word && all; word = strtok_r(NULL, " ", &save)) {
		all = ROOM_FOR_ONE(file->offsets, file->noffsets) && !units_u64(word, &file->offsets[file->noffsets]);
		file->noffsets += all;
	}
	if (!all)
		file->noffsets = 0;
}

int probe_file_open(struct probe_file *file, const struct spec_item *item, const struct probe_name *name, struct fault *f)
{
	int path = open(name->path, O_PATH | O_CLOEXEC);

	*file = (struct probe_file){ .fd = path < 0 ? -errno : opener_read_regular(path), .debug = -1 };
	if (file->fd < 0)
		return complain_of_file(item, name, -file->fd, f);
	take_numbers(file, name);
	set_path(file, name->path);
	return file->noffsets ? 0 : search(file, item, name, f);
}

void probe_file_close(struct probe_file *file)
{
	free(file->offsets);
	places_free(&file->places);
	parser_free(file->parser);
	if (file->debug >= 0)
		close(file->debug);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct probe_file){ .fd = -1, .debug = -1 };
}
