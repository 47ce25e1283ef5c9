/* SPDX-License-Identifier: Apache-2.0 */
#include "report/picture.h"

#include "base/note.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *suffix_list(const struct picture *p, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; p->suffixes[i] && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "", p->suffixes[i]);
	return buf;
}

static bool is_folder(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	return (len && path[len - 1] == '/') || (!stat(path, &st) && S_ISDIR(st.st_mode));
}

/* The suffix of the last part of the path; "": none. */
static const char *suffix_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return dot && dot != name ? dot : "";
}

/* A suffix that begins with a letter asks for a kind; monday.1 has none, and gets one. */
static bool asks_for_kind(const char *path)
{
	const char *suffix = suffix_of(path);

	return *suffix && isalpha((unsigned char)suffix[1]);
}

static bool is_stream(const char *path)
{
	return !strncmp(path, "/dev/", 5) || !strcmp(path, "-");
}

static bool find_kind(const struct picture *p, const char *path, size_t *kind)
{
	size_t len = strlen(path);

	for (*kind = 0; p->suffixes[*kind]; ++*kind) {
		size_t n = strlen(p->suffixes[*kind]);

		if (len > n && !strcmp(path + len - n, p->suffixes[*kind]))
			return true;
	}
	*kind = 0;
	return false;
}

static int check(const struct picture *p, const char *path, bool known, struct fault *f)
{
	char list[128];

	suffix_list(p, list, sizeof(list));
	if (!*path || (path[0] == '-' && path[1]))
		return fault_usage(f, "%s \"%s\": expected the name of a file, which ends in one of %s%s", p->option,
				   path, list, *path ? "; one that begins with - is written ./-" : "");
	if (is_folder(path))
		return fault_usage(f, "%s %s: is a folder; expected a file, whose name ends in one of %s", p->option,
				   path, list);
	if (!known && !is_stream(path) && asks_for_kind(path))
		return fault_usage(f, "%s %s: perf-prof does not write %s; expected a name that "
				   "ends in one of %s", p->option,
				   path, suffix_of(path), list);
	return 0;
}

int picture_name(const struct picture *p, const char *path, struct picture_file *file, struct fault *f)
{
	bool known = find_kind(p, path, &file->kind);

	file->path = NULL;
	if (check(p, path, known, f))
		return -1;
	file->renamed = !known && !is_stream(path);
	if (asprintf(&file->path, "%s%s", path, file->renamed ? p->suffixes[0] : "") >= 0)
		return 0;
	file->path = NULL;
	return fault_set(f, EXIT_FAILED, "out of memory");
}

void picture_tell(const struct picture *p, const char *path, const struct picture_file *file, int verbose)
{
	char list[128];

	if (file->renamed)
		note(verbose, "%s %s: writing %s; the suffix can be %s", p->option, path, file->path,
		     suffix_list(p, list, sizeof(list)));
}
