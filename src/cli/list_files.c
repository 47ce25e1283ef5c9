/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/list_files.h"

#include "base/escape.h"
#include "base/opener.h"
#include "events/probename.h"
#include "symbols/elf/places.h"
#include "symbols/parser_kinds.h"
#include "tasks/mappedfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * Places as entries of the list
 */

struct file {
	const struct list_files *list;
	const char *word;        /* "uprobe", "uretprobe", "usdt" */
	char shown[4200];        /* its path, as an event list takes it */
};

/* "s32 u64 ?": the types of a USDT probe's arguments; "?" for those that a probe cannot fetch. */
static void put_types(const char *args, char *buf, size_t size)
{
	char text[1024];
	unsigned int number = 0;
	size_t used = 0;

	buf[0] = '\0';
	probe_args_of_usdt(args, text, sizeof(text));
	for (char *save, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		unsigned int n = (unsigned int)strtoul(word + strlen("arg"), NULL, 10);
		const char *type = strrchr(word, ':');

		while (++number < n && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s?", used ? " " : "");
		if (type && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%sarg%u:%s", used ? " " : "", n, type + 1);
	}
}

static int take_place(const struct file *file, const struct place *p, bool usdt)
{
	char function[PROBE_FUNCTION_SIZE], name[sizeof(function) + sizeof(file->shown) + 16], types[1024] = "";
	struct catalog_entry e = { .kind = usdt ? CATALOG_USDT : CATALOG_FUNCTION, .name = name };

	probe_function_text(p->name, p->symbol, function);
	snprintf(name, sizeof(name), "%s:%s@%s", file->word, function, file->shown);
	if (usdt) {
		put_types(p->args, types, sizeof(types));
		e.terms = types;
	} else if (strcmp(p->symbol, p->name)) {
		e.alias = p->symbol;
	}
	return file->list->take(&e, file->list->ctx);
}

/* Each name once: a probe covers all its places. */
static int take_places(const struct file *file, const struct places *places, bool usdt)
{
	int rc = 0;

	for (size_t i = 0; i < places->n && !rc; i++)
		if (!i || strcmp(places->all[i].name, places->all[i - 1].name))
			rc = take_place(file, &places->all[i], usdt);
	return rc;
}

/* ------------------------------------------------------------------------
 * A file that was named
 */

static struct parser *new_parser(struct fault *f)
{
	struct parser *p = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO });

	if (!p)
		fault_set(f, EXIT_FAILED, "list: the process that reads programs' files did not start: %s", strerror(errno));
	return p;
}

static int refuse(const char *path, int err, struct fault *f)
{
	return fault_usage(f, "list: cannot read %s: %s; expected a program or a library", path, parser_error_text(err));
}

static int no_match(const struct probe_name *name, const struct places *places, struct fault *f)
{
	const char *what = name->kind->usdt ? "USDT probe" : "function";
	char function[PROBE_FUNCTION_SIZE], near[1200] = "";

	if (!places->seen)
		return fault_usage(f, "list: %s has no %ss%s", name->path, what,
				   name->kind->usdt ? "" : " with names: it is stripped, and its debug file was not found");
	if (places->n) {
		probe_function_text(places->all[0].name, places->all[0].symbol, function);
		escape_terminal(function, strlen(function), near, sizeof(near));
	}
	return fault_usage(f, "list: no %s of %s matches %s%s%s%s", what, name->path, name->function,
			   *near ? "; did you mean " : "", near, *near ? "?" : "");
}

static int search(const struct file *file, struct parser *p, int fd, const struct probe_name *name, struct fault *f)
{
	struct places places;
	int rc = places_find(&places, p, fd, name->path, name->kind->usdt ? PLACES_USDT : PLACES_FUNCTIONS, name->function);

	if (rc)
		return refuse(name->path, -rc, f);
	if (places.match == PLACES_NONE)
		rc = no_match(name, &places, f);
	else if (take_places(file, &places, name->kind->usdt))
		rc = fault_set(f, EXIT_FAILED, "list: out of memory");
	places_free(&places);
	return rc;
}

static int list_named(const struct list_files *l, const struct probe_name *name, struct fault *f)
{
	struct file file = { .list = l, .word = name->kind->word };
	int path = open(name->path, O_PATH | O_CLOEXEC), fd = path < 0 ? -errno : opener_read_regular(path), rc = -1;
	struct parser *p;

	if (fd < 0)
		return refuse(name->path, -fd, f);
	probe_path_text(name->path, file.shown, sizeof(file.shown));
	p = new_parser(f);
	if (p)
		rc = search(&file, p, fd, name, f);
	parser_free(p);
	close(fd);
	return rc;
}

/* Parses "uprobe:FUNCTION@FILE". */
static int list_probe(const struct list_files *l, const char *operand, struct fault *f)
{
	struct spec_list specs = { 0 };
	struct spec_error err;
	struct probe_name name;
	char text[1600];
	int rc = spec_parse(&specs, operand, &err);

	if (rc) {
		spec_error_text(&err, text, sizeof(text));
		return fault_usage(f, "list: %s", text);
	}
	rc = probe_name_parse(&specs.items[0], &name, f);
	if (!rc)
		rc = list_named(l, &name, f);
	spec_free(&specs);
	return rc;
}

/* All functions and USDT probes. A file may have none of one kind. */
static int list_all(const struct list_files *l, const char *path, struct fault *f)
{
	static const char *const kinds[] = { "usdt", "uprobe" };
	struct fault why[2] = { { 0 }, { 0 } };
	struct probe_name name = { .function = "*", .glob = true };

	if ((size_t)snprintf(name.path, sizeof(name.path), "%s", path) >= sizeof(name.path))
		return refuse("the file", ENAMETOOLONG, f);
	for (int i = 0; i < (l->usdt ? 1 : 2); i++) {
		name.kind = probe_word_of(&(struct spec_item){ .sys = (char *)(uintptr_t)kinds[i] });
		list_named(l, &name, &why[i]);
	}
	if (!why[0].exit_code || (!l->usdt && !why[1].exit_code))
		return 0;
	*f = why[!l->usdt];
	return -1;
}

static bool is_probe(const char *operand)
{
	static const char *const words[] = { "uprobe:", "uretprobe:", "usdt:" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(operand, words[i], strlen(words[i])))
			return strchr(operand, '@');
	return false;
}

bool list_is_file(const char *operand)
{
	return operand[0] == '/' || !strncmp(operand, "./", 2) || !strncmp(operand, "../", 3) || is_probe(operand);
}

int list_file(const struct list_files *l, const char *operand, struct fault *f)
{
	return is_probe(operand) ? list_probe(l, operand, f) : list_all(l, operand, f);
}

/* ------------------------------------------------------------------------
 * Files of processes
 */

struct mapped {
	const struct list_files *list;
	struct parser *parser;
};

/* Damaged files have no probes. */
static int take_mapped(void *ctx, int fd, const char *path, const char *here)
{
	const struct mapped *m = ctx;
	struct file file = { .list = m->list, .word = "usdt" };
	struct places places;
	int rc;

	if (places_find(&places, m->parser, fd, path, PLACES_USDT, "*"))
		return 0;
	probe_path_text(here, file.shown, sizeof(file.shown));
	rc = places.match == PLACES_GLOB ? take_places(&file, &places, true) : 0;
	places_free(&places);
	return rc;
}

static int read_processes(struct mappedfiles *files, const struct numlist *pids, struct fault *f)
{
	for (size_t i = 0; i < pids->n; i++) {
		int rc = mappedfiles_of(files, pids->v[i]);

		if (rc == -ENOMEM)
			return fault_set(f, EXIT_FAILED, "list: out of memory");
		if (rc)
			return fault_usage(f, "list: cannot read the files of process %d: %s", pids->v[i],
					   rc == -ESRCH || rc == -ENOENT ? "there is no such process" : strerror(-rc));
	}
	return 0;
}

int list_mapped(const struct list_files *l, const struct numlist *pids, struct fault *f)
{
	struct mapped m = { .list = l, .parser = new_parser(f) };
	struct mappedfiles files = { .take = take_mapped, .ctx = &m };
	int rc = !m.parser ? -1 : pids ? read_processes(&files, pids, f) : mappedfiles_of_all(&files) ?
		 fault_set(f, EXIT_FAILED, "list: out of memory") : 0;

	parser_free(m.parser);
	mappedfiles_free(&files);
	return rc;
}
