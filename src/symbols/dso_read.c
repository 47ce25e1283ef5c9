/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file of a mapping, and checks whether it is the one that was mapped. */
#include "base/escape.h"
#include "base/note.h"
#include "base/ticket.h"
#include "base/units.h"
#include "symbols/dso_private.h"
#include "symbols/elf/symsource.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAX_ASKED = 256 };        /* files to request from servers per run */

static bool later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* btrfs and overlayfs report different devices in stat(2) and in mappings; both devices then have
 * no major number. */
static bool same_device(const struct dso_id *id, dev_t dev)
{
	return (id->maj == major(dev) && id->min == minor(dev)) || (!id->maj && !major(dev));
}

static bool same_generation(const struct dso_id *id, int fd)
{
	int generation = 0;

	if (!id->has_generation || ticket_generation(fd, &generation))
		return true;     /* not all file systems have one */
	return (uint32_t)generation == (uint32_t)id->generation;
}

/* Whether the open file is the mapped one, judged by its inode. */
static bool is_mapped_inode(const struct dso *dso, int fd, const struct stat *st)
{
	const struct dso_id *id = &dso->id;

	return id->has_inode && st->st_ino == id->ino && same_device(id, st->st_dev) &&
	       same_generation(id, fd) && !later(&st->st_mtim, &dso->seen);
}

bool dso_is_mapped(const struct dso *dso, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && is_mapped_inode(dso, fd, &st);
}

static bool has_build_id(const struct symfile *f, struct dso *dso)
{
	dso->found_id_size = (uint8_t)symfile_build_id(f, dso->found_id);
	return dso->found_id_size == dso->id.build_id_size &&
	       !memcmp(dso->found_id, dso->id.build_id, dso->id.build_id_size);
}

/* Records the strongest reason for a refusal: the last one in the enum. */
static void refuse(struct dso *dso, enum dso_refusal why)
{
	if (dso->refusal < why)
		dso->refusal = why;
}

static void id_text(const uint8_t *id, size_t size, char text[2 * BUILD_ID_MAX + 1])
{
	*text = '\0';
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

static void tell_other_id(const struct dsos *d, struct dso *dso, const char *name)
{
	char want[2 * BUILD_ID_MAX + 1], have[2 * BUILD_ID_MAX + 1];

	id_text(dso->id.build_id, dso->id.build_id_size, want);
	id_text(dso->found_id, dso->found_id_size, have);
	note(d->verbose, "%s: the file now has %s%s, but the mapped one had the build id %s; its functions have no "
	     "names", name, dso->found_id_size ? "the build id " : "no build id", have, want);
}

/* Another file is at its path now. Programs are often rebuilt between recording and report. */
static void count_changed(struct dsos *d, struct dso *dso)
{
	if (dso->changed || (dso->refusal != DSO_OTHER_ID && dso->refusal != DSO_OTHER_INODE))
		return;
	dso->changed = true;
	if (!d->changed++)
		escape_terminal(dso->name, strlen(dso->name), d->first_changed, sizeof(d->first_changed));
}

/* Reports a refusal, once per file. The name comes from another process, so it is escaped. A file
 * that kills its parser is reported without -v, too. */
static void tell(const struct dsos *d, struct dso *dso)
{
	static const char *const reasons[] = {
		[DSO_NOT_THERE] = "no such file is there now",
		[DSO_UNIDENTIFIED] = "the recording has no build id of it, and no inode that is valid on this machine",
		[DSO_UNREADABLE] = "it is empty, over 4 GiB, or not an ELF file",
		[DSO_OTHER_INODE] = "what is there now is not what was mapped (inode, generation, or time of its "
				    "last change)",
		[DSO_DEADLY] = "the process that reads its symbols crashed",
	};
	char name[512];

	if (dso->told || dso->refusal == DSO_WELCOME || dso->refusal == DSO_TOO_LONG || (d->verbose <= 0 && dso->refusal < DSO_DEADLY))
		return;
	dso->told = true;
	escape_terminal(dso->name, strlen(dso->name), name, sizeof(name));
	if (dso->refusal == DSO_OTHER_ID)
		tell_other_id(d, dso, name);
	else
		note(d->verbose, "%s: %s; its functions have no names", name, reasons[dso->refusal]);
}

/* ---- time ------------------------------------------------------------------- */

static void give_up(struct dsos *d, struct dso *dso)
{
	char name[sizeof(d->first_given_up)];

	if (dso->given_up)
		return;
	dso->given_up = true;
	escape_terminal(dso->name, strlen(dso->name), name, sizeof(name));
	if (d->verbose > 0)
		note(d->verbose, "%s: reading it takes too long; some or all of its functions have no names", name);
	if (!d->given_up++)
		memcpy(d->first_given_up, name, sizeof(name));
}

bool dso_begin_reading_(struct dsos *d, struct dso *dso)
{
	if (budget_begin(&d->budget, dso->owner, &dso->ns))
		return true;
	give_up(d, dso);
	return false;
}

void dso_end_reading_(struct dsos *d, struct dso *dso)
{
	if (budget_is_over(&d->budget))
		give_up(d, dso);
	budget_end(&d->budget);
}

void dsos_tell(struct dsos *d, int verbose)
{
	dsos_end_(d);
	if (d->given_up)
		note(verbose, "reading %zu file%s took too long, and some functions have no names: %s%s", d->given_up,
		     units_plural(d->given_up), d->first_given_up, d->given_up > 1 ? ", ... (-v lists all)" : "");
}

/* With -v each file has a line already. */
void dsos_tell_changed(struct dsos *d, int verbose)
{
	char more[80] = "";

	dsos_end_(d);
	if (!d->changed || d->verbose > 0)
		return;
	if (d->changed > 1)
		snprintf(more, sizeof(more), " and %zu other file%s", d->changed - 1, units_plural(d->changed - 1));
	note(verbose, "%s%s %s sampled (-v says why), so %s functions have no names; ~/.debug has no copy: perf-prof record "
	     "makes one at its end, perf buildid-cache --add FILE makes one, too", d->first_changed, more,
	     d->changed > 1 ? "are not the files that were" : "is not the file that was", d->changed > 1 ? "their" : "its");
}

static int close_it(int fd)
{
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Its DWARF is read when lines or inlined calls are first needed. */
static void keep_dwarf(struct dso *dso, int fd)
{
	close_it(dso->dwarf);
	dso->dwarf = fd;
}

/* Its CFI is read when callers are first needed. */
static void keep_code(struct dso *dso, int fd)
{
	if (dso->question.keeps_code && dso->code < 0)
		dso->code = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void keep_vdso(const struct dsos *d, struct dso *dso)
{
	int fd = dso->question.keeps_code ? vdso_file(&d->vdso) : -1;

	if (fd < 0)
		return;
	keep_code(dso, fd);
	close(fd);
}

/* Reads the file if it is the mapped one; NULL: it is not, and the reason is recorded. */
static struct symfile *read_mapped(struct dsos *d, struct dso *dso, pid_t pid, int fd, const struct stat *st,
				   int *dwarf)
{
	struct symfile *file;

	if (!dso->id.build_id_size && !is_mapped_inode(dso, fd, st)) {
		refuse(dso, DSO_OTHER_INODE);
		return NULL;
	}
	file = symsource_open(d->parser, d->opener, fd, pid, dso->name, dwarf);
	if (!file)
		refuse(dso, errno == EOWNERDEAD ? DSO_DEADLY : errno == ETIME ? DSO_TOO_LONG : DSO_UNREADABLE);
	if (!file || !dso->id.build_id_size || has_build_id(file, dso))
		return file;
	refuse(dso, DSO_OTHER_ID);
	symfile_free(file);
	return NULL;
}

static struct symfile *read_fd(struct dsos *d, struct dso *dso, pid_t pid, int fd)
{
	struct symfile *file;
	struct stat st;
	int dwarf = -1;

	if (ticket_stat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size > SYMSOURCE_MAX_FILE) {
		refuse(dso, DSO_UNREADABLE);
		return NULL;
	}
	dso->owner = st.st_uid;
	dso->dev = st.st_dev;
	dso->ino = st.st_ino;
	if (!dso_begin_reading_(d, dso)) {
		refuse(dso, DSO_TOO_LONG);
		return NULL;
	}
	file = read_mapped(d, dso, pid, fd, &st, &dwarf);
	keep_dwarf(dso, file ? dwarf : close_it(dwarf));
	if (file)
		keep_code(dso, fd);
	dso->mtime = st.st_mtim;
	dso_end_reading_(d, dso);
	if (file && d->servers && !symfile_is_complete(file) && d->asked < MAX_ASKED) {
		d->asked++;
		file = symsource_ask_servers(d->parser, file, fd, d->servers);   /* not the file's time */
	}
	return file;
}

/* Takes over the descriptor. */
static struct symfile *read_and_close(struct dsos *d, struct dso *dso, pid_t pid, int fd)
{
	struct symfile *file;

	if (fd < 0)
		return NULL;
	file = read_fd(d, dso, pid, fd);
	close(fd);
	return file;
}

/* By its path in the root of the process, of its parent if it has ended, or in ours. */
static struct symfile *read_path(struct dsos *d, struct dso *dso)
{
	const pid_t eyes[] = { dso->question.place.pid, dso->question.place.parent, 0 };
	struct symfile *file = NULL;

	for (size_t i = 0; !file && i < sizeof(eyes) / sizeof(*eyes); i++)
		if (eyes[i] || i == 2)
			file = read_and_close(d, dso, eyes[i],
					      opener_file(d->opener, eyes[i], dso->name));
	dso->found = DSO_AT_PATH;
	return file;
}

/* The file was deleted or replaced: it is still available through the running process, and there
 * may be a copy with the same build id. */
static struct symfile *read_elsewhere(struct dsos *d, struct dso *dso)
{
	struct symfile *file = NULL;

	if (dso->question.place.pid && dso->question.place.start)
		file = read_and_close(d, dso, dso->question.place.pid,
				      opener_mapped(d->opener, dso->question.place.pid, dso->question.place.start, dso->question.place.end));
	if (!file && dso->question.place.pid)
		file = read_and_close(d, dso, dso->question.place.pid, opener_mapped(d->opener, dso->question.place.pid, 0, 0));
	dso->found = DSO_MAPPED;
	if (file || !dso->id.build_id_size)
		return file;
	dso->found = DSO_COPY;
	file = read_and_close(d, dso, dso->question.place.pid,
			      symsource_find(d->opener, dso->question.place.pid, dso->id.build_id, dso->id.build_id_size));
	return file;
}

static bool is_path(const char *name)
{
	return name[0] == '/' && name[1] != '/';
}

static void read_file(struct dsos *d, struct dso *dso)
{
	bool known = dso->id.has_inode || dso->id.build_id_size;

	dso->refusal = known ? DSO_WELCOME : DSO_UNIDENTIFIED;
	if (known)
		dso->file = read_path(d, dso);
	if (known && !dso->file)
		dso->file = read_elsewhere(d, dso);
	if (dso->file)
		return;
	refuse(dso, DSO_NOT_THERE);
	count_changed(d, dso);
	tell(d, dso);
}

void dso_read_(struct dsos *d, struct dso *dso)
{
	dso->state = DSO_NAMELESS;
	if (is_path(dso->name)) {
		read_file(d, dso);
	} else if (dso->id.has_inode && !dso->id.ino) {
		return;
	} else if (!strcmp(dso->name, VDSO_NAME) && !dso->id.build_id_size) {
		dso->file = vdso_read(&d->vdso);
		if (dso->file)
			keep_vdso(d, dso);
	}
	if (dso->file)
		dso->state = DSO_READ;
}

/* The path of a file with the last part of that name in the folder of `path`. */
static bool base_of(const char *path, const char *name, char *buf, size_t size)
{
	const char *slash = strrchr(path, '/'), *last = strrchr(name, '/');
	const int n = slash ? snprintf(buf, size, "%.*s/%s", (int)(slash - path), path, last ? last + 1 : name) : -1;

	return n > 0 && (size_t)n < size;
}

/* The file's path comes from an untrusted file: it is used only within the folder for such files.
 * Else by build id in the folder for debug files, and by its name beside the program. */
void dso_find_alt_(struct dsos *d, struct dso *dso)
{
	static const char folder[] = "/usr/lib/debug/.dwz/";
	const struct debug_alt *alt = dso->inlines ? inlines_alt(dso->inlines) : NULL;
	const pid_t eyes[] = { dso->question.place.pid, 0 };
	char beside[PATH_MAX];

	for (int i = 0; alt && i < 2; i++) {
		int fd = -1;

		if (!strncmp(alt->path, folder, sizeof(folder) - 1) && !strstr(alt->path, ".."))
			fd = opener_file(d->opener, eyes[i], alt->path);
		if (fd < 0 && alt->build_id_size <= BUILD_ID_MAX)
			fd = symsource_find_debug(d->opener, eyes[i], alt->build_id, alt->build_id_size);
		if (fd < 0 && base_of(dso->name, alt->path, beside, sizeof(beside)))
			fd = opener_file(d->opener, eyes[i], beside);
		if (fd >= 0) {
			inlines_use_alt(dso->inlines, fd);
			close(fd);
			return;
		}
	}
}

/* The file was written to since its symbols were read: it has the same inode, but other contents. */
bool dso_is_rewritten_(struct dsos *d, const struct dso *dso, pid_t pid)
{
	struct stat st;
	int fd;
	bool rewritten;

	if (dso->state != DSO_READ || dso->id.build_id_size || !is_path(dso->name))
		return false;
	fd = opener_file(d->opener, pid, dso->name);
	if (fd < 0)
		return false;
	rewritten = !ticket_stat(fd, &st) && st.st_ino == dso->id.ino && later(&st.st_mtim, &dso->mtime);
	close(fd);
	return rewritten;
}

