/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/variables.h"

#include "base/hash.h"
#include "base/now.h"
#include "base/opener.h"
#include "base/room.h"
#include "symbols/dso.h"
#include "symbols/elf/demangle.h"
#include "symbols/elf/idfile.h"
#include "symbols/elf/symsource.h"
#include "symbols/parser_kinds.h"
#include "tasks/procmaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The rings are not read meanwhile, so the time for files is short. */
enum { MAX_NAMES = 1 << 16, MAX_FILES = 64, MAX_MAPPINGS = 64, SECONDS_PER_FILE = 2, SECONDS = 5 };

struct variable {
	uint64_t addr;
	struct variables_place place;
	UT_hash_handle hh;
	char name[];
};

/* A mapping with static data, in which other addresses have names also after the process has ended. */
struct variable_mapping {
	uint64_t start, end, pgoff;
	struct stat st;              /* of its file */
	char *path;
};

struct variable_process {
	pid_t pid;
	struct variable *known;
	struct variable_mapping *mappings;
	size_t nmappings;
	UT_hash_handle hh;
};

struct variable_file {
	struct stat st;
	struct symfile *symbols;     /* NULL: it has none */
	struct demangled *demangled;
};

struct variables {
	struct variable_process *processes;
	size_t nnames;
	struct variable_file files[MAX_FILES];
	size_t nfiles;
	struct parser *parser;
	uint64_t spent;              /* ns for reading files */
	struct variables_place found;   /* of the address that is looked up */
	char *refused;               /* a recorded file that is not there, or another one; or NULL */
};

struct variables *variables_new(void)
{
	struct variables *v = calloc(1, sizeof(*v));

	if (v)
		v->parser = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO, .seconds = SECONDS_PER_FILE });
	if (v && v->parser)
		return v;
	free(v);
	return NULL;
}

static void forget_files(struct variables *v)
{
	for (size_t i = 0; i < v->nfiles; i++) {
		symfile_free(v->files[i].symbols);
		demangled_free(v->files[i].demangled);
	}
	v->nfiles = 0;
}

static void forget(struct variables *v, struct variable_process *p)
{
	v->nnames -= HASH_COUNT(p->known);
	HASH_FREE(p->known);
	for (size_t i = 0; i < p->nmappings; i++)
		free(p->mappings[i].path);
	free(p->mappings);
	HASH_DEL(v->processes, p);
	free(p);
}

void variables_free(struct variables *v)
{
	if (!v)
		return;
	while (v->processes)
		forget(v, v->processes);
	forget_files(v);
	parser_free(v->parser);
	free(v->refused);
	free(v);
}

const char *variables_refused(const struct variables *v)
{
	return v->refused;
}

void variables_forget(struct variables *v, pid_t pid)
{
	struct variable_process *p;

	HASH_FIND(hh, v->processes, &pid, sizeof(pid), p);
	if (p)
		forget(v, p);
}

/* ---- files ------------------------------------------------------------------------------ */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static struct variable_file *file_of(struct variables *v, int fd, pid_t pid, const char *path)
{
	const uint64_t begun = now_ns(CLOCK_MONOTONIC);
	struct variable_file *f;
	struct stat st;

	if (fstat(fd, &st) || (uint64_t)st.st_size > SYMSOURCE_MAX_FILE)
		return NULL;
	for (size_t i = 0; i < v->nfiles; i++)
		if (is_same(&v->files[i].st, &st))
			return &v->files[i];
	if (v->spent > SECONDS * UINT64_C(1000000000))
		return NULL;
	if (v->nfiles == MAX_FILES)
		forget_files(v);
	f = &v->files[v->nfiles++];
	*f = (struct variable_file){ st, symsource_variables(v->parser, &opener_direct, fd, pid, path), NULL };
	v->spent += now_ns(CLOCK_MONOTONIC) - begun;
	return f;
}

/* Locks of several words are one object. Threads sleep on two words of a pthread_cond_t (other ones since glibc 2.41)
 * or pthread_rwlock_t of glibc, and on several of CPython's _PyRuntime, in which the GIL is. */
static bool is_one_object(const struct symfile_variable *v)
{
	static const struct {
		uint64_t size, words[2];
	} locks[] = { { 48, { 0x20, 0x24 } }, { 48, { 0x28, 0x2c } }, { 56, { 8, 12 } } };

	for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++)
		if (v->size == locks[i].size && (v->into == locks[i].words[0] || v->into == locks[i].words[1]))
			return true;
	return !strcmp(v->name, "_PyRuntime");
}

static void put_name(struct variables *v, struct variable_file *f, const struct symfile_variable *found, const char *path, char *buf,
		     size_t size)
{
	const char *name = demangled_name(&f->demangled, v->parser, found->name);
	const int len = (int)strcspn(name, "@");

	v->found = (struct variables_place){ found->into, found->size };
	if (found->into && !is_one_object(found))
		snprintf(buf, size, "%.*s+%#llx (%s)", len, name, (unsigned long long)found->into, path);
	else
		snprintf(buf, size, "%.*s (%s)", len, name, path);
}

static bool find_variable(const struct symfile *symbols, uint64_t offset, struct symfile_variable *found)
{
	uint64_t start, end;

	if (!symfile_find(symbols, offset, &found->name, &found->into))
		return false;
	found->size = symfile_range(symbols, offset, &start, &end) ? end - start : 0;
	return true;
}

static bool name_in_kept(struct variables *v, const struct variable_process *p, uint64_t addr, char *buf, size_t size)
{
	const struct variable_mapping *m = NULL;
	struct symfile_variable found;

	for (size_t i = 0; i < p->nmappings && !m; i++)
		m = addr >= p->mappings[i].start && addr < p->mappings[i].end ? &p->mappings[i] : NULL;
	for (size_t i = 0; m && i < v->nfiles; i++)
		if (is_same(&v->files[i].st, &m->st) && v->files[i].symbols &&
		    find_variable(v->files[i].symbols, m->pgoff + (addr - m->start), &found)) {
			put_name(v, &v->files[i], &found, m->path, buf, size);
			return true;
		}
	return false;
}

/* end: of the mapping, or of the .bss behind it */
static void keep_mapping(struct variable_process *p, const struct procmaps_line *line, uint64_t end, const struct stat *st)
{
	char *path = p->nmappings < MAX_MAPPINGS ? strdup(line->path) : NULL;

	if (path && ROOM_FOR_ONE(p->mappings, p->nmappings))
		p->mappings[p->nmappings++] = (struct variable_mapping){ line->start, end, line->pgoff, *st, path };
	else
		free(path);
}

/* st: of the file, if it has the name */
static bool name_in_file(struct variables *v, pid_t pid, const struct procmaps_line *line, uint64_t offset, struct stat *st, char *buf,
			 size_t size)
{
	int fd = opener_mapped(&opener_direct, pid, line->start, line->end);
	struct symfile_variable found;
	struct variable_file *f;
	bool good;

	if (fd < 0)
		fd = opener_file(&opener_direct, pid, line->path);
	f = fd < 0 ? NULL : file_of(v, fd, pid, line->path);
	good = f && f->symbols && find_variable(f->symbols, offset, &found);
	if (good) {
		put_name(v, f, &found, line->path, buf, size);
		*st = f->st;
	}
	if (fd >= 0)
		close(fd);
	return good;
}

/* By its build id or, if the mapping has none, by its inode. */
static bool is_recorded(const struct symfile *symbols, const struct dso *dso, int fd)
{
	size_t wanted_size;
	const uint8_t *wanted = dso_build_id(dso, &wanted_size);
	uint8_t id[BUILD_ID_MAX];

	if (!wanted)
		return dso_is_mapped(dso, fd);
	return symfile_build_id(symbols, id) == wanted_size && !memcmp(id, wanted, wanted_size);
}

static int find_copy(const struct opener *opener, const struct dso *dso)
{
	size_t size;
	const uint8_t *id = dso_build_id(dso, &size);

	return id ? idfile_find(opener, id, size, "elf") : -1;
}

/* Only in the file that was recorded, at its path or in the cache. */
static bool name_in_recorded_file(struct variables *v, pid_t pid, uint64_t addr, const struct variables_code *c, char *buf, size_t size)
{
	const char *path = dso_mapped_name(c->dso);
	int fds[2] = { opener_file(c->opener, pid, path), find_copy(c->opener, c->dso) };
	bool good = false, right = false, read = true;

	for (size_t i = 0; i < 2 && !right; i++) {
		struct variable_file *f = fds[i] < 0 ? NULL : file_of(v, fds[i], 0, path);
		struct symfile_variable found;

		read &= fds[i] < 0 || (f && f->symbols);
		right = f && f->symbols && is_recorded(f->symbols, c->dso, fds[i]);
		good = right && symfile_find_behind(f->symbols, c->pgoff, addr - c->start, &found);
		if (good)
			put_name(v, f, &found, path, buf, size);
	}
	if (!right && read && !v->refused && path[0] == '/' && path[1] != '/')   /* not "//anon" */
		v->refused = strdup(path);
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return good;
}

/* ---- mappings --------------------------------------------------------------------------- */

struct around {
	struct procmaps_line line;   /* the last mapping of a file, up to the address; its path is in `path` */
	char path[4096];
	uint64_t end;                /* of the mapping before the one that is looked at */
	bool file;                   /* that one is `line`, or memory without a file that follows it: its .bss */
};

static void take_mapping(struct around *a, const struct procmaps_line *line)
{
	const bool follows = a->file && line->start == a->end && !line->path[0];

	a->end = line->end;
	if (follows)
		return;
	a->file = line->path[0] == '/' && strlen(line->path) < sizeof(a->path);
	a->line = *line;
	snprintf(a->path, sizeof(a->path), "%s", line->path);
	a->line.path = a->path;
}

/* Finds the mapping of an address, or the one that its .bss follows. */
static bool find_mapping(struct around *a, pid_t pid, uint64_t addr)
{
	int fd = opener_proc(&opener_direct, pid, "maps");
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	struct procmaps_line line;
	bool found = false;
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	if (!maps) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (n = getline(&text, &size, maps)) > 0)
		if (procmaps_parse(text, (size_t)n - (text[n - 1] == '\n'), &line) && line.start <= addr) {
			take_mapping(a, &line);
			found = addr < line.end;
		}
	free(text);
	fclose(maps);
	return found;
}

/* p: its process, or NULL */
static void look_up(struct variables *v, pid_t pid, struct variable_process *p, uint64_t addr, char *buf, size_t size)
{
	struct around a = { .file = false };
	struct stat st;
	bool found;

	found = find_mapping(&a, pid, addr);
	if (!found && p && name_in_kept(v, p, addr, buf, size))
		return;
	if (found && a.file && name_in_file(v, pid, &a.line, a.line.pgoff + (addr - a.line.start), &st, buf, size)) {
		if (p)
			keep_mapping(p, &a.line, a.end, &st);
		return;
	}
	if (found && a.path[0] == '[')
		snprintf(buf, size, "%#llx %s", (unsigned long long)addr, a.path);
	else
		snprintf(buf, size, "%#llx", (unsigned long long)addr);
}

/* ---- answers ---------------------------------------------------------------------------- */

static struct variable_process *process_of(struct variables *v, pid_t pid)
{
	struct variable_process *p;

	HASH_FIND(hh, v->processes, &pid, sizeof(pid), p);
	if (p || v->nnames >= MAX_NAMES)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	HASH_ADD(hh, v->processes, pid, sizeof(p->pid), p);
	return HASH_KEPT(p);
}

static void keep(struct variables *v, struct variable_process *p, uint64_t addr, const char *name)
{
	const size_t len = strlen(name) + 1;
	struct variable *one = v->nnames < MAX_NAMES ? calloc(1, sizeof(*one) + len) : NULL;

	if (!one)
		return;
	one->addr = addr;
	one->place = v->found;
	memcpy(one->name, name, len);
	HASH_ADD(hh, p->known, addr, sizeof(one->addr), one);
	v->nnames += HASH_KEPT(one) != NULL;
}

static struct variable *find(const struct variable_process *p, uint64_t addr)
{
	struct variable *one = NULL;

	if (p)
		HASH_FIND(hh, p->known, &addr, sizeof(addr), one);
	return one;
}

/* Returns buf, or NULL: it is not known yet. */
static char *known(const struct variable_process *p, uint64_t addr, char *buf, size_t size)
{
	const struct variable *one = find(p, addr);

	if (!one)
		return NULL;
	snprintf(buf, size, "%s", one->name);
	return buf;
}

char *variables_name(struct variables *v, pid_t pid, uint64_t addr, char *buf, size_t size)
{
	struct variable_process *p = process_of(v, pid);

	if (known(p, addr, buf, size))
		return buf;
	v->found = (struct variables_place){ 0 };
	look_up(v, pid, p, addr, buf, size);
	if (p)
		keep(v, p, addr, buf);
	return buf;
}

bool variables_known(const struct variables *v, pid_t pid, uint64_t addr, char *buf, size_t size)
{
	struct variable_process *p;

	HASH_FIND(hh, v->processes, &pid, sizeof(pid), p);
	return known(p, addr, buf, size);
}

struct variables_place variables_place(const struct variables *v, pid_t pid, uint64_t addr)
{
	struct variable_process *p;
	const struct variable *one;

	HASH_FIND(hh, v->processes, &pid, sizeof(pid), p);
	one = find(p, addr);
	return one ? one->place : (struct variables_place){ 0 };
}

char *variables_recorded(struct variables *v, pid_t pid, uint64_t addr, const struct variables_code *c, char *buf, size_t size)
{
	struct variable_process *p = process_of(v, pid);

	if (known(p, addr, buf, size))
		return buf;
	v->found = (struct variables_place){ 0 };
	if (!c || !name_in_recorded_file(v, pid, addr, c, buf, size))
		snprintf(buf, size, "%#llx", (unsigned long long)addr);
	if (p)
		keep(v, p, addr, buf);
	return buf;
}
