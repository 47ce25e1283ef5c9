/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dso_private.h"

#include <stdlib.h>
#include <string.h>
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

/* ---- by last use ---------------------------------------------------------- */

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

void dso_touch_(struct dsos *d, struct dso *dso)
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

static void close_dwarf(struct dsos *d, struct dso *dso)
{
	if (dso->dwarf < 0)
		return;
	close(dso->dwarf);
	dso->dwarf = -1;
	d->dwarfs_open--;
}

static void close_code(struct dsos *d, struct dso *dso)
{
	cfi_free(dso->cfi);
	dso->cfi = NULL;
	dso->code_asked = false;
	if (dso->code < 0)
		return;
	close(dso->code);
	dso->code = -1;
	d->dwarfs_open--;
}

void dso_forget_file_(struct dsos *d, struct dso *dso)
{
	d->bytes -= bytes_of(dso);
	symfile_free(dso->file);
	demangled_free(dso->names);
	inlines_free(dso->inlines);
	dso->inlines = NULL;
	close_dwarf(d, dso);
	close_code(d, dso);
	dso_jit_forget_(d, dso);
	dso->file = NULL;
	dso->names = NULL;
	dso->state = DSO_UNREAD;
}

void dso_keep_bound_(struct dsos *d)
{
	for (struct dso *dso = d->oldest; dso && d->bytes > d->max_bytes; dso = dso->newer)
		if ((dso->file || dso->jit) && dso != d->newest)
			dso_forget_file_(d, dso);
}

/* ---- table of them -------------------------------------------------------- */

static uint32_t hash_of(const char *name, const struct dso_id *id)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	for (size_t i = 0; i < id->build_id_size; i++)
		h = (h ^ id->build_id[i]) * 0x100000001b3ull;
	h = (h ^ id->ino) * 0x100000001b3ull;
	return (uint32_t)(h >> 32 ^ h) % DSO_BUCKETS;
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
	dso_forget_file_(d, dso);
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
	d->budget.stopped = stopped;
	d->budget.ctx = ctx;
	parser_bound(d->parser, budget_is_over, &d->budget);
}

void dsos_use_servers(struct dsos *d, const char *urls)
{
	d->servers = urls;
}

void dsos_free(struct dsos *d)
{
	if (!d)
		return;
	while (d->newest)
		drop(d, d->newest);
	free(d);
}

static void drop_unused(struct dsos *d)
{
	struct dso *dso = d->oldest, *newer;

	for (; dso && d->unused > MAX_UNUSED / 2; dso = newer) {
		newer = dso->newer;
		if (dso->refs)
			continue;
		drop(d, dso);
		d->unused--;
	}
}

static struct dso *add(struct dsos *d, const char *name, const struct dso_id *id)
{
	size_t len = strlen(name);
	struct dso *dso = calloc(1, sizeof(*dso) + len + 1);
	struct dso **bucket = &d->buckets[hash_of(name, id)];

	if (!dso)
		return NULL;
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
		dso_touch_(d, dso);
	return dso;
}

void dso_put(struct dsos *d, struct dso *dso)
{
	if (--dso->refs || ++d->unused <= MAX_UNUSED)
		return;
	drop_unused(d);
}

/* ---- asking --------------------------------------------------------------- */

struct dso *dso_get(struct dsos *d, const char *path, const struct dso_id *id, pid_t pid)
{
	struct dso *dso = find(d, path, id);

	if (dso && dso_is_rewritten_(d, dso, pid)) {
		dso->serial = ++d->serials;
		dso_forget_file_(d, dso);
		clock_gettime(CLOCK_REALTIME, &dso->seen);
	}
	if (!dso)
		dso = add(d, path, id);
	if (!dso)
		return NULL;
	dso->pid = pid;
	if (dso->state == DSO_NAMELESS)
		dso->state = DSO_UNREAD;   /* by this process's eyes it may be there */
	return take(d, dso);
}

void dso_mapped_at(struct dso *dso, uint64_t start, uint64_t end, pid_t parent)
{
	dso->start = start;
	dso->end = end;
	dso->parent = parent;
}

struct dso *dso_get_vdso(struct dsos *d, uint64_t start, uint64_t len)
{
	/* inode 1 stands for one that is ours, 0 for another, such as that of 32 bits */
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

uint64_t dso_serial(const struct dso *dso)
{
	return dso->serial;
}

static const char *demangle_in(struct dsos *d, struct dso *dso, const char *name)
{
	size_t before = demangled_bytes(dso->names);

	if (!demangled_has(dso->names, name) && !dso_begin_reading_(d, dso))
		return name;
	name = demangled_name(&dso->names, d->parser, name);
	dso_end_reading_(d, dso);
	d->bytes += demangled_bytes(dso->names) - before;
	dso_keep_bound_(d);
	return name;
}

bool dso_find(struct dsos *d, struct dso *dso, uint64_t offset, const char **name, uint64_t *into)
{
	if (dso->jit) {
		dso_touch_(d, dso);
		return dso_jit_find_(d, dso, offset, name, into);
	}
	if (dso->state == DSO_UNREAD)
		dso_read_(d, dso);
	if (dso->state != DSO_READ)
		return false;
	dso_touch_(d, dso);
	if (!symfile_find(dso->file, offset, name, into))
		return false;
	if (is_mangled(*name))
		*name = demangle_in(d, dso, *name);
	return true;
}

size_t dso_inlines(struct dsos *d, struct dso *dso, uint64_t offset, struct inline_frame *out,
		   size_t max)
{
	size_t before = inlines_bytes(dso->inlines), n;
	uint64_t vaddr;

	if (dso->jit)
		return 0;
	if (dso->state == DSO_UNREAD)
		dso_read_(d, dso);
	if (dso->state != DSO_READ || dso->dwarf < 0 || !d->parser || !symfile_vaddr(dso->file, offset, &vaddr))
		return 0;
	if (!inlines_has(dso->inlines, vaddr) && !dso_begin_reading_(d, dso))
		return 0;
	if (!dso->inlines) {
		dso->inlines = inlines_new(d->parser, dso->dwarf);
		dso_find_alt_(d, dso);
	}
	n = inlines_find(dso->inlines, vaddr, out, max);
	dso_end_reading_(d, dso);
	d->bytes += inlines_bytes(dso->inlines) - before;
	dso_touch_(d, dso);
	dso_keep_bound_(d);
	return n;
}

/* A file that was read before anybody asked is read again, to keep it open. */
bool dso_cfi(struct dsos *d, struct dso *dso, uint64_t offset, struct cfi **cfi, uint64_t *vaddr)
{
	size_t before;

	if (dso->jit || !d->parser)
		return false;
	d->keeps_code = true;
	if (dso->state == DSO_READ && dso->code < 0 && !dso->code_asked)
		dso_forget_file_(d, dso);
	if (dso->state == DSO_UNREAD)
		dso_read_(d, dso);
	dso->code_asked = true;
	if (dso->state != DSO_READ || dso->code < 0 || !symfile_vaddr(dso->file, offset, vaddr))
		return false;
	if (!cfi_has(dso->cfi, *vaddr) && !dso_begin_reading_(d, dso))
		return false;
	before = cfi_bytes(dso->cfi);
	if (!dso->cfi)
		dso->cfi = cfi_new(d->parser, dso->code);
	if (dso->cfi)
		cfi_find(dso->cfi, *vaddr);   /* what it takes is counted here */
	dso_end_reading_(d, dso);
	d->bytes += cfi_bytes(dso->cfi) - before;
	*cfi = dso->cfi;
	dso_touch_(d, dso);
	dso_keep_bound_(d);
	return true;
}

bool dso_is_jit(const struct dso *dso)
{
	return dso->jit;
}

const char *dso_shown_name(struct dsos *d, struct dso *dso, const char *name)
{
	return name && is_mangled(name) ? demangle_in(d, dso, name) : name;
}

size_t dsos_bytes(const struct dsos *d)
{
	return d->bytes;
}
