/* SPDX-License-Identifier: Apache-2.0 */
#include "session/frametable.h"

#include "base/hash.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct frame_number {
	struct frame_row row;
	int32_t number;
	UT_hash_handle hh;
};

int frametable_begin(struct frametable *t)
{
	*t = (struct frametable){ 0 };
	return dictionary_begin(&t->symbols) || dictionary_begin(&t->dsos) || dictionary_begin(&t->files) ? -ENOMEM : 0;
}

void frametable_end(struct frametable *t)
{
	HASH_FREE(t->numbers);
	free(t->v);
	dictionary_end(&t->symbols);
	dictionary_end(&t->dsos);
	dictionary_end(&t->files);
	*t = (struct frametable){ 0 };
}

/* False: no memory. */
static bool text_number(struct dictionary *d, const char *text, int32_t *number)
{
	*number = text ? dictionary_number(d, text, strlen(text)) : -1;
	return !text || *number >= 0;
}

static int32_t add(struct frametable *t, const struct frame_row *row)
{
	struct frame_number *one = t->n < INT32_MAX ? calloc(1, sizeof(*one)) : NULL;

	if (!one || !ROOM_FOR(t->v, t->room, t->n, 1)) {
		free(one);
		return -1;
	}
	one->row = *row;
	one->number = (int32_t)t->n;
	HASH_ADD(hh, t->numbers, row, sizeof(one->row), one);
	one = HASH_KEPT(one);
	if (!one)
		return -1;
	t->v[t->n++] = *row;
	return one->number;
}

int32_t frametable_number(struct frametable *t, const struct frame *frame)
{
	struct frame_row row;
	struct frame_number *one = NULL;

	memset(&row, 0, sizeof(row));
	row.addr = frame->addr;
	row.offset = frame->offset;
	row.line = frame->line;
	row.kernel = frame->kernel;
	row.inlined = frame->inlined;
	if (!text_number(&t->symbols, frame->symbol, &row.symbol) || !text_number(&t->dsos, frame->dso, &row.dso) ||
	    !text_number(&t->files, frame->file, &row.file))
		return -1;
	HASH_FIND(hh, t->numbers, &row, sizeof(row), one);
	return one ? one->number : add(t, &row);
}

enum { FRAME, ADDR, SYMBOL, OFFSET, KERNEL, DSO, FILE_NAME, LINE, INLINED, COLUMNS };

static const struct column columns[COLUMNS] = {
	[FRAME] = { "frame", COLUMN_S32 }, [ADDR] = { "addr", COLUMN_U64 }, [SYMBOL] = { "symbol", COLUMN_TEXT },
	[OFFSET] = { "offset", COLUMN_U64 }, [KERNEL] = { "kernel", COLUMN_U8 }, [DSO] = { "dso", COLUMN_TEXT },
	[FILE_NAME] = { "file", COLUMN_TEXT }, [LINE] = { "line", COLUMN_U32 }, [INLINED] = { "inlined", COLUMN_U8 },
};

static void set_text(struct batch *b, size_t column, size_t row, int32_t number)
{
	if (number < 0)
		batch_set_null(b, column, row);
	else
		((int32_t *)batch_values(b, column))[row] = number;
}

static void set_row(struct batch *b, size_t row, const struct frame_row *f, size_t number)
{
	((int32_t *)batch_values(b, FRAME))[row] = (int32_t)number;
	((uint64_t *)batch_values(b, ADDR))[row] = f->addr;
	((uint64_t *)batch_values(b, OFFSET))[row] = f->offset;
	((uint32_t *)batch_values(b, LINE))[row] = f->line;
	((uint8_t *)batch_values(b, KERNEL))[row] = f->kernel;
	((uint8_t *)batch_values(b, INLINED))[row] = f->inlined;
	set_text(b, SYMBOL, row, f->symbol);
	set_text(b, DSO, row, f->dso);
	set_text(b, FILE_NAME, row, f->file);
	if (!f->line)
		batch_set_null(b, LINE, row);
}

struct batch *frametable_batch(struct frametable *t, size_t from)
{
	struct columns *c = columns_copy(columns, COLUMNS);
	size_t first = from < t->n ? from : t->n;
	struct batch *b = c ? batch_new_rows(c, t->n - first) : NULL;

	columns_release(c);
	if (!b)
		return NULL;
	b->v[SYMBOL].texts = dictionary_take(&t->symbols);
	b->v[DSO].texts = dictionary_take(&t->dsos);
	b->v[FILE_NAME].texts = dictionary_take(&t->files);
	for (size_t i = first; i < t->n; i++)
		set_row(b, i - first, &t->v[i], i);
	if (b->v[SYMBOL].texts && b->v[DSO].texts && b->v[FILE_NAME].texts)
		return b;
	batch_release(b);
	return NULL;
}

size_t frametable_bytes(const struct frametable *t)
{
	return t->n * (sizeof(struct frame_number) + sizeof(*t->v)) + t->symbols.bytes_room + t->dsos.bytes_room +
	       t->files.bytes_room;
}
