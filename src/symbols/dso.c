/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dso_private.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_UNUSED = 2048 };

struct dsos *dsos_new(const struct opener *opener, size_t max_bytes)
{
	struct dsos *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->opener = opener;
	d->max_bytes = max_bytes;
	vdso_find(&d->vdso);
	return d;
}

/* ---- list by last use ----------------------------------------------------- */

static void unlink_use(struct dsos *d, struct dso *dso)
{
	*(dso->newer ? &dso->newer->older : &d->newest) = dso->older;
	*(dso->older ? &dso->older->newer : &d->oldest) = dso->newer;
}

static void link_newest(struct dsos *d, struct dso *dso)
{
	dso->newer = NULL;
	dso->older = d->newest;
	*(d->newest ? &d->newest->newer : &d->oldest) = dso;
	d->newest = dso;
}

static void touch(struct dsos *d, struct dso *dso)
{
	if (d->newest == dso)
		return;
	unlink_use(d, dso);
	link_newest(d, dso);
}

static size_t bytes_of(const struct dso *dso)
{
	return (dso->file ? symfile_bytes(dso->file) : 0) + demangled_bytes(dso->names) +
	       inlines_bytes(dso->inlines) + cfi_bytes(dso->cfi);
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_dwarf(struct dso *dso)
{
	inlines_free(dso->inlines);
	dso->inlines = NULL;
	close_descriptor(&dso->dwarf);
}

static void close_code(struct dso *dso)
{
	cfi_free(dso->cfi);
	dso->cfi = NULL;
	disasm_free(dso->disasm);
	dso->disasm = NULL;
	dso->code_asked = false;
	close_descriptor(&dso->code);
}

static void count_descriptors(struct dsos *d, struct dso *dso)
{
	unsigned int open = (unsigned int)(dso->dwarf >= 0) + (dso->code >= 0);

	d->dwarfs_open += open - dso->open;
	dso->open = open;
}

void dso_account_(struct dsos *d, struct dso *dso)
{
	count_descriptors(d, dso);
	if (d->dwarfs_open > DSO_MAX_OPEN) {
		close_dwarf(dso);
		close_code(dso);
		dso->code_asked = true;          /* no descriptor was free: do not read the file again for it */
		count_descriptors(d, dso);
	}
	d->bytes += bytes_of(dso) - dso->bytes;
	dso->bytes = bytes_of(dso);
	touch(d, dso);
	dso_keep_bound_(d);
}

static void forget_file(struct dsos *d, struct dso *dso)
{
	symfile_free(dso->file);
	demangled_free(dso->names);
	close_dwarf(dso);
	close_code(dso);
	count_descriptors(d, dso);
	dso_jit_forget_(d, dso);
	dso->file = NULL;
	dso->names = NULL;
	dso->state = DSO_UNREAD;
	d->bytes -= dso->bytes;
	dso->bytes = 0;
}

void dso_keep_bound_(struct dsos *d)
{
	for (struct dso *dso = d->oldest; dso && d->bytes > d->max_bytes; dso = dso->newer)
		if (!dso->late && (dso->file || dso->jit) && dso != d->newest)
			forget_file(d, dso);
}

/* ---- hash table ----------------------------------------------------------- */

static uint32_t hash_of(const char *name, const struct dso_id *id)
{
	const uint64_t parts[] = { hash_text(name), hash_words(id->build_id, id->build_id_size), id->ino };

	return hash_words(parts, sizeof(parts)) % DSO_BUCKETS;
}

static bool same_id(const struct dso_id *a, const struct dso_id *b)
{
	if (a->build_id_size || b->build_id_size)
		return a->build_id_size == b->build_id_size &&
		       !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->has_inode == b->has_inode && a->maj == b->maj && a->min == b->min &&
	       a->ino == b->ino && a->has_generation == b->has_generation &&
	       a->generation == b->generation;
}

static void unlink_dso(struct dsos *d, struct dso *dso)
{
	struct dso **at = &d->buckets[hash_of(dso->name, &dso->id)];

	while (*at && *at != dso)
		at = &(*at)->next;
	if (*at)
		*at = dso->next;
}

static void drop(struct dsos *d, struct dso *dso)
{
	unlink_dso(d, dso);
	unlink_use(d, dso);
	forget_file(d, dso);
	dso_jit_free_(d, dso);
	free(dso);
}

void dsos_use(struct dsos *d, struct parser *parser, int verbose)
{
	d->parser = parser;
	d->verbose = verbose;
}

void dsos_bound(struct dsos *d, uint64_t (*stopped)(void *ctx), void *ctx)
{
	budget_init(&d->budget, stopped, ctx);
	budget_init(&d->map_budget, stopped, ctx);
	parser_bound(d->parser, budget_is_over, &d->budget);
}

void dsos_use_servers(struct dsos *d, const char *urls)
{
	d->servers = urls;
}

bool dsos_end_(struct dsos *d)
{
	d->budget.ended = d->map_budget.ended = true;
	if (!errands_free(d->errands))
		return false;
	d->errands = NULL;
	return true;
}

struct helpers dsos_helpers(struct dsos *d, const struct helpers *helpers)
{
	d->helpers = *helpers;
	return (struct helpers){ dsos_helper_started_, d };
}

bool dsos_free(struct dsos *d)
{
	if (!d || !dsos_end_(d))
		return !d;
	while (d->newest)
		drop(d, d->newest);
	free(d);
	return true;
}

static void drop_unused(struct dsos *d)
{
	struct dso *dso = d->oldest, *newer;

	for (; dso && d->unused > MAX_UNUSED / 2; dso = newer) {
		newer = dso->newer;
		if (dso->refs || !dso_poll_(d, dso))
			continue;
		drop(d, dso);
		d->unused--;
	}
}

/* Nobody asks again for the programs that have ended meanwhile, but what was read of them takes memory. */
static void take_answers(struct dsos *d)
{
	for (struct dso *dso = d->oldest, *newer; dso; dso = newer) {
		newer = dso->newer;
		dso_poll_(d, dso);
	}
}

static struct dso *add(struct dsos *d, const char *name, const struct dso_id *id)
{
	size_t len = strlen(name);
	struct dso *dso = calloc(1, sizeof(*dso) + len + 1);
	struct dso **bucket = &d->buckets[hash_of(name, id)];

	if (!dso)
		return NULL;
	if (d->errands)
		take_answers(d);
	memcpy(dso->name, name, len + 1);
	dso->id = *id;
	dso->serial = ++d->serials;
	dso->dwarf = dso->code = -1;
	clock_gettime(CLOCK_REALTIME, &dso->seen);
	dso->next = *bucket;
	*bucket = dso;
	link_newest(d, dso);
	d->unused++;
	return dso;
}

static struct dso *find(struct dsos *d, const char *name, const struct dso_id *id)
{
	struct dso *dso = d->buckets[hash_of(name, id)];

	while (dso && (!same_id(&dso->id, id) || strcmp(dso->name, name)))
		dso = dso->next;
	return dso;
}

struct dso *dso_ref(struct dso *dso)
{
	dso->refs++;
	return dso;
}

static struct dso *take(struct dsos *d, struct dso *dso)
{
	if (dso && !dso->refs++)
		d->unused--;
	if (dso)
		touch(d, dso);
	return dso;
}

void dso_put(struct dsos *d, struct dso *dso)
{
	if (--dso->refs || ++d->unused <= MAX_UNUSED)
		return;
	drop_unused(d);
}

/* ---- lookup --------------------------------------------------------------- */

struct dso *dso_get(struct dsos *d, const char *path, const struct dso_id *id, pid_t pid)
{
	struct dso *dso = find(d, path, id);

	if (dso && !dso->late && dso_is_rewritten_(d, dso, pid)) {
		dso->serial = ++d->serials;
		forget_file(d, dso);
		clock_gettime(CLOCK_REALTIME, &dso->seen);
	}
	if (!dso)
		dso = add(d, path, id);
	if (!dso)
		return NULL;
	dso->place.pid = pid;
	if (!dso->late && dso->state == DSO_NAMELESS)
		dso->state = DSO_UNREAD;   /* the path may exist in this process's root */
	return take(d, dso);
}

void dso_mapped_at(struct dso *dso, uint64_t start, uint64_t end, pid_t parent)
{
	dso->place.start = start;
	dso->place.end = end;
	dso->place.parent = parent;
}

struct dso *dso_get_vdso(struct dsos *d, uint64_t start, uint64_t len)
{
	/* inode 1: the same vdso as ours; 0: another one, such as that of 32-bit processes */
	struct dso_id id = { .has_inode = true, .ino = vdso_is_same(&d->vdso, start, len) };
	struct dso *dso = find(d, VDSO_NAME, &id);

	return take(d, dso ? dso : add(d, VDSO_NAME, &id));
}

const char *dso_name(const struct dso *dso)
{
	return dso_jit_name_(dso);
}

const uint8_t *dso_build_id(const struct dso *dso, size_t *size)
{
	*size = dso->id.build_id_size;
	return *size ? dso->id.build_id : NULL;
}

const char *dso_mapped_name(const struct dso *dso)
{
	return dso->name;
}

bool dso_file(const struct dso *dso, uid_t *owner, struct timespec *written)
{
	if (dso->memory || dso->late || dso->state != DSO_READ)
		return false;
	*owner = dso->owner;
	*written = dso->mtime;
	return true;
}

void dso_build_text(const struct dso *dso, char text[DSO_BUILD_SIZE])
{
	_Static_assert(2 * BUILD_ID_MAX < DSO_BUILD_SIZE, "an id fits");
	uint8_t found[BUILD_ID_MAX];
	struct timespec written;
	uid_t owner;
	const bool read = dso_file(dso, &owner, &written);
	size_t size;
	const uint8_t *id = dso_build_id(dso, &size);

	*text = '\0';
	if (!id && read && (size = symfile_build_id(dso->file, found)))
		id = found;
	if (!id && read)
		snprintf(text, DSO_BUILD_SIZE, "%lld.%ld", (long long)written.tv_sec, written.tv_nsec);
	for (size_t i = 0; id && i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

const char *dso_lacks_inlines(const struct dso *dso)
{
	return dso->late || !dso->inlines ? NULL : inlines_elsewhere(dso->inlines);
}

bool dso_is_elsewhere(const struct dso *dso)
{
	struct stat st;

	if (dso->memory || dso->late || dso->state != DSO_READ || dso->found == DSO_COPY)
		return false;
	return stat(dso->name, &st) || st.st_dev != dso->dev || (dso->found == DSO_AT_PATH && st.st_ino != dso->ino);
}

uint64_t dso_serial(const struct dso *dso)
{
	return dso->serial;
}

/* The name as in the source, once it is known. */
static const char *shown_name(struct dsos *d, struct dso *dso, const char *name)
{
	if (!demangled_has(dso->names, name) && !dso_ask_(d, dso, ASK_NAME, 0, name))
		return name;
	return demangled_has(dso->names, name) ? demangled_name(&dso->names, d->parser, name) : name;
}

bool dso_find(struct dsos *d, struct dso *dso, uint64_t offset, const char **name, uint64_t *into)
{
	if (dso->memory) {
		touch(d, dso);
		return dso_jit_find_(d, dso, offset, name, into);
	}
	if (!dso_settle_(d, dso) || (dso->state == DSO_UNREAD && !dso_ask_(d, dso, ASK_SYMBOL, offset, NULL)))
		return false;
	if (dso->state != DSO_READ)
		return false;
	touch(d, dso);
	if (!symfile_find(dso->file, offset, name, into))
		return false;
	if (is_mangled(*name))
		*name = shown_name(d, dso, *name);
	return true;
}

static bool has_lines(struct dsos *d, struct dso *dso, uint64_t offset, uint64_t *vaddr)
{
	return dso->state == DSO_READ && dso->dwarf >= 0 && d->parser && symfile_vaddr(dso->file, offset, vaddr);
}

size_t dso_inlines(struct dsos *d, struct dso *dso, uint64_t offset, struct inline_frame *out,
		   size_t max)
{
	uint64_t vaddr;

	if (dso->memory || !dso_settle_(d, dso))
		return 0;
	if (dso->state == DSO_UNREAD && !dso_ask_(d, dso, ASK_INLINES, offset, NULL))
		return 0;
	if (!has_lines(d, dso, offset, &vaddr))
		return 0;
	if (!inlines_has(dso->inlines, vaddr) && !dso_ask_(d, dso, ASK_INLINES, offset, NULL))
		return 0;
	touch(d, dso);
	return inlines_has(dso->inlines, vaddr) ? inlines_find(dso->inlines, vaddr, out, max) : 0;
}

static bool has_code(const struct dso *dso, uint64_t offset, uint64_t *vaddr)
{
	return dso->state == DSO_READ && dso->code >= 0 && symfile_vaddr(dso->file, offset, vaddr);
}

/* A file that was read before its code was needed is read again, to keep it open. False: it is late. */
static bool keep_open(struct dsos *d, struct dso *dso, enum dso_asked what, uint64_t offset)
{
	d->keeps_code = true;
	if (dso->state == DSO_READ && dso->code < 0 && !dso->code_asked)
		forget_file(d, dso);
	if (dso->state == DSO_UNREAD && !dso_ask_(d, dso, what, offset, NULL))
		return false;
	dso->code_asked = true;
	return true;
}

void dsos_keep_code(struct dsos *d)
{
	d->keeps_code = true;
}

const struct disasm *dso_disasm(struct dsos *d, struct dso *dso, uint64_t offset, uint64_t *vaddr)
{
	if (dso->memory || !d->parser || !dso_settle_(d, dso) || !keep_open(d, dso, ASK_CODE, offset) || !has_code(dso, offset, vaddr))
		return NULL;
	if ((!dso->disasm || *vaddr < dso->disasm->start || *vaddr >= dso->disasm->end) && !dso_ask_(d, dso, ASK_CODE, offset, NULL))
		return NULL;
	touch(d, dso);
	return dso->disasm;
}

bool dso_cfi(struct dsos *d, struct dso *dso, uint64_t offset, struct cfi **cfi, uint64_t *vaddr)
{
	if (dso->memory || !d->parser || !dso_settle_(d, dso))
		return false;
	if (!keep_open(d, dso, ASK_CFI, offset) || !has_code(dso, offset, vaddr))
		return false;
	if (!cfi_has(dso->cfi, *vaddr) && !dso_ask_(d, dso, ASK_CFI, offset, NULL))
		return false;
	*cfi = dso->cfi;
	touch(d, dso);
	return cfi_has(dso->cfi, *vaddr);
}

bool dso_is_jit(const struct dso *dso)
{
	return dso->memory;
}

const char *dso_shown_name(struct dsos *d, struct dso *dso, const char *name)
{
	return name && is_mangled(name) && !dso->memory && dso_settle_(d, dso) ? shown_name(d, dso, name) : name;
}

size_t dsos_bytes(const struct dsos *d)
{
	return d->bytes;
}
