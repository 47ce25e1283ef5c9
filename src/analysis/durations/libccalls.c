/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/libccalls.h"

#include "analysis/durations/callpaths.h"
#include "events/probename.h"
#include "symbols/elf/places.h"
#include "symbols/parser_kinds.h"
#include "tasks/mappedfiles.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LIBRARIES = 4 };      /* different C libraries: of the system, and of containers */

/* By where the functions take their paths, which the probe fetches. Functions that call one of these have its probe: stat() and
 * lstat() of glibc 2.33 and musl call fstatat(). */
static const struct site {
	const char *args, *functions;
} sites[] = {
	{ "path=+0($arg1):string",
	  " open open64 __open_nocancel __open64_nocancel creat creat64 access chdir chmod chown lchown"
	  " chroot mkdir mknod rmdir unlink readlink truncate truncate64 execve statfs statfs64 utime utimes lutimes umount"
	  " umount2 acct swapon swapoff getxattr lgetxattr setxattr lsetxattr listxattr llistxattr removexattr lremovexattr " },
	{ "path=+0($arg2):string",
	  " openat openat64 __openat_nocancel __openat64_nocancel fstatat fstatat64 __xstat __xstat64 __lxstat __lxstat64 statx"
	  " faccessat unlinkat mkdirat mknodat readlinkat fchmodat fchownat execveat utimensat futimesat"
	  " name_to_handle_at inotify_add_watch mount open_tree " },
	{ "path=+0($arg3):string", " __fxstatat __fxstatat64 " },
	{ "path=+0($arg1):string path2=+0($arg2):string", " rename link symlink " },
	{ "path=+0($arg1):string path2=+0($arg3):string", " symlinkat " },
	{ "path=+0($arg2):string path2=+0($arg4):string", " renameat renameat2 linkat " },
	{ CALLPATH_ADDRESS_ARGS, " connect bind " },
};
enum { SITES = sizeof(sites) / sizeof(*sites) };

struct finder {
	struct question *q;
	const char *tracefs;
	struct parser *parser;
	struct fault *why, *f;
	unsigned int n;          /* libraries */
	unsigned int events;
	bool failed;             /* f is set */
};

/* ---- the functions of a library ---------------------------------------------------------- */

static bool has_word(const char *words, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = words; len && (at = strstr(at, name)); at += len)
		if (at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

/* Their offsets in the file, as the name of a probe. Names that share a place are next to each other only by chance. */
static size_t put_offsets(const struct places *places, const struct site *site, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (size_t i = 0; i < places->n; i++) {
		char number[32];

		if (!has_word(site->functions, places->all[i].bare))
			continue;
		snprintf(number, sizeof(number), " 0x%" PRIx64 " ", places->all[i].offset);
		if (strstr(buf, number) || used + sizeof(number) > size)
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s", number);
	}
	return used;
}

/* Whether the kernel takes such a probe, at the first of the offsets. */
static bool is_possible(struct finder *x, const char *path, const char *offsets, const struct site *site)
{
	char args[2048], where[PATH_MAX + 64];
	struct probe_definition def = { .space = PROBE_USER, .where = where, .args = args };

	if (probe_args_of_function(site->args, args, sizeof(args)))
		return false;
	snprintf(where, sizeof(where), "%.*s:%.*s", PATH_MAX, path, (int)strcspn(offsets + 1, " "), offsets + 1);
	return !probes_try(x->tracefs, &def, x->why);
}

static void add_site(struct finder *x, const char *path, const struct places *places, size_t site)
{
	char offsets[PROBE_FUNCTION_SIZE - 2], file[PATH_MAX + 64];

	if (!put_offsets(places, &sites[site], offsets, sizeof(offsets)) || !is_possible(x, path, offsets, &sites[site]))
		return;
	probe_path_text(path, file, sizeof(file));
	if (analysis_add_event(x->q->a, x->f, "uprobe:'%s'@%s//alias=libc%u_%zu/args=\"%s\"/", offsets, file, x->n, site,
			       sites[site].args))
		x->failed = true;
	x->events++;
}

/* ---- the libraries ----------------------------------------------------------------------- */

static bool is_libc(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strncmp(name, "/libc.so", 8) || !strncmp(name, "/libc-2.", 8) || !strncmp(name, "/ld-musl-", 9) ||
			!strncmp(name, "/libc.musl-", 11));
}

static int take_library(void *ctx, int fd, const char *path, const char *here)
{
	struct finder *x = ctx;
	struct places places;

	if (x->n == MAX_LIBRARIES || here[strcspn(here, " \t\n\r\v\f:;()#'\"")] ||
	    places_find(&places, x->parser, fd, path, PLACES_FUNCTIONS, "*"))
		return 0;
	for (size_t i = 0; i < SITES && !x->failed; i++)
		add_site(x, here, &places, i);
	places_free(&places);
	x->n++;
	return 0;
}

/* A command's library is our own, unless it runs in a container. Processes that have ended have none. */
static void search(struct mappedfiles *files, const struct stream_opts *o)
{
	if (o->command.argv)
		mappedfiles_of(files, getpid());
	for (size_t i = 0; i < o->pids.n; i++)
		mappedfiles_of(files, o->pids.v[i]);
	for (size_t i = 0; i < o->tids.n; i++)
		mappedfiles_of(files, o->tids.v[i]);
	if (!o->command.argv && !o->pids.n && !o->tids.n)
		mappedfiles_of_all(files);
}

int libccalls_watch(struct question *q, const char *tracefs, bool *found, struct fault *why, struct fault *f)
{
	struct finder x = { .q = q, .tracefs = tracefs, .why = why, .f = f };
	struct mappedfiles files = { .wants = is_libc, .take = take_library, .ctx = &x };

	x.parser = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO });
	if (!x.parser)
		return fault_set(f, EXIT_FAILED, "%s: the process that reads programs' files did not start: %s", q->ops->name,
				 strerror(errno));
	search(&files, q->targets);
	parser_free(x.parser);
	mappedfiles_free(&files);
	*found = x.events;
	if (!x.n)
		fault_set(why, EXIT_FAILED, "no program that is watched uses the C library");
	return x.failed ? -1 : 0;
}
