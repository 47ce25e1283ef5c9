/* SPDX-License-Identifier: Apache-2.0 */
/* Runs where DWARF is read. A few files stay open between questions. */
#include "symbols/dwarf/inline_unit.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/dwarf/inlines_question.h"
#include "symbols/dwarf/unit_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_OPEN = 4 };

#define MAX_OPEN_BYTES (2ull << 30)

struct open_file {
	struct stat st;
	bool has_alt;
	struct dwarf_file *file;
};

struct open_files {
	struct open_file all[MAX_OPEN];  /* most recently used first */
	unsigned int n;
};

static void drop_last(struct open_files *o)
{
	dwarf_file_free(o->all[--o->n].file);
}

void inlines_forget(void *state)
{
	struct open_files *o = state;

	while (o->n)
		drop_last(o);
	free(o);
}

static bool is_same(const struct open_file *f, const struct stat *st, bool has_alt)
{
	return f->has_alt == has_alt && f->st.st_ino == st->st_ino && f->st.st_dev == st->st_dev &&
	       f->st.st_size == st->st_size && f->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       f->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static void make_room(struct open_files *o)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < o->n; i++)
		bytes += dwarf_file_bytes(o->all[i].file);
	while (o->n && (o->n == MAX_OPEN || bytes > MAX_OPEN_BYTES)) {
		bytes -= dwarf_file_bytes(o->all[o->n - 1].file);
		drop_last(o);
	}
}

static struct dwarf_file *get(struct open_files *o, const struct parser_question *q)
{
	struct open_file found = { .has_alt = q->nfds > 1 };
	unsigned int i;

	if (fstat(q->fds[0], &found.st))
		return NULL;
	for (i = 0; i < o->n && !is_same(&o->all[i], &found.st, found.has_alt); i++)
		;
	if (i < o->n) {
		found = o->all[i];
	} else {
		found.file = dwarf_file_open(q->fds[0], found.has_alt ? q->fds[1] : -1);
		if (!found.file)
			return NULL;
		make_room(o);
		i = o->n++;
	}
	memmove(&o->all[1], &o->all[0], i * sizeof(*o->all));
	o->all[0] = found;
	return found.file;
}

static int put_alt(struct dwarf_file *f, struct parser_bytes *out)
{
	struct debug_alt alt = { .split = dwarf_file_split(f) };
	const void *id;
	size_t size;
	const char *path = dwarf_file_alt(f, &id, &size);

	if (path && size <= sizeof(alt.build_id) && strnlen(path, ALT_PATH_MAX) < ALT_PATH_MAX) {
		strcpy(alt.path, path);
		memcpy(alt.build_id, id, size);
		alt.build_id_size = (uint32_t)size;
	}
	return parser_put(out, &alt, sizeof(alt));
}

int inlines_answer(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	struct inlines_question question;
	struct dwarf_file *f;
	int rc;

	if (!q->nfds || q->nfds > 2 || q->size != sizeof(question))
		return -EINVAL;
	memcpy(&question, q->bytes, sizeof(question));
	if (!*state && !(*state = calloc(1, sizeof(struct open_files))))
		return -ENOMEM;
	f = get(*state, q);
	if (!f)
		return -ENOEXEC;
	if (question.what == INLINES_MAP) {
		rc = put_alt(f, out);
		return rc ? rc : unit_map_pack(f, out);
	}
	if (question.what != INLINES_UNIT || question.unit >= dwarf_file_units(f))
		return -EINVAL;
	return inline_unit_pack(f, question.unit, out);
}
