/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/asyncio_offsets.h"

#include "pystack/image.h"
#include "pystack/images.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY(a) (sizeof(a) / sizeof(*(a)))
#define FIELD(member) offsetof(struct asyncio_offsets, member)

enum { MINOR = 14, STATED_SIZE = 712, WORD = 8, MAX_DATA = 16 << 20 };
enum { IN_RUNTIME = 1 << 24, IN_GENERATOR = ASYNCIO_GENERATOR - OFFSETS_FRAME, IN_HEAD = 64 };

/* ---- _Py_DebugOffsets ---------------------------------------------------------------- */

static const struct {
	uint16_t at, field;
	uint32_t below;                  /* the largest sensible value + 1 */
} stated[] = {
	{ 48, FIELD(interpreter.size), IN_RUNTIME },
	{ 176, FIELD(thread.size), IN_RUNTIME },
	{ 296, FIELD(stack), OFFSETS_FRAME - WORD },
	{ 408, FIELD(type), IN_HEAD },
	{ 504, FIELD(set.used), IN_HEAD },
	{ 512, FIELD(set.table), IN_HEAD },
	{ 520, FIELD(set.mask), IN_HEAD },
	{ 576, FIELD(number.tag), IN_HEAD },
	{ 584, FIELD(number.digits), IN_HEAD },
	{ 680, FIELD(generator.frame), IN_GENERATOR },
	{ 688, FIELD(generator.state), IN_GENERATOR },
	{ 696, FIELD(list.next), WORD + 1 },
	{ 704, FIELD(list.previous), WORD + 1 },
};

int asyncio_offsets_stated(struct asyncio_offsets *out, const struct memory *m, const struct offsets *l, uint64_t runtime)
{
	char bytes[STATED_SIZE];
	int rc = memory_get(m, runtime, bytes, sizeof(bytes));

	for (size_t i = 0; !rc && i < ARRAY(stated); i++) {
		uint64_t v = memory_field(bytes, stated[i].at, WORD);

		rc = v < stated[i].below ? 0 : -EPROTO;
		memcpy((char *)out + stated[i].field, &v, sizeof(v));
	}
	out->generator.size = out->generator.frame + (out->stack + WORD > l->frame.size ? out->stack + WORD : l->frame.size);
	if (out->generator.state >= out->generator.size)
		out->generator.size = out->generator.state + 1;
	return rc;
}

/* ---- the section .AsyncioDebug ------------------------------------------------------- */

/* Its words. Each offset is one of a field of `size` bytes in the structure whose size is word `in`. */
static const struct {
	uint16_t field, in, size;
} module[] = {
	{ FIELD(task.size), 0, 0 },
	{ FIELD(task.name), 0, WORD },
	{ FIELD(task.awaiters), 0, WORD },
	{ FIELD(task.is_task), 0, 1 },
	{ FIELD(task.has_set), 0, 1 },
	{ FIELD(task.coroutine), 0, WORD },
	{ FIELD(task.node), 0, 2 * WORD },
	{ FIELD(interpreter.size), 7, 0 },
	{ FIELD(interpreter.tasks), 7, 2 * WORD },
	{ FIELD(thread.size), 9, 0 },
	{ FIELD(thread.loop), 9, WORD },
	{ FIELD(thread.task), 9, WORD },
	{ FIELD(thread.tasks), 9, 2 * WORD },
};
enum { TASK_SIZE = 0, INTERPRETER_SIZE = 7, THREAD_SIZE = 9, WORDS = ARRAY(module) };

/* The thread state with asyncio's fields is the larger one of two. */
static bool is_module(const struct asyncio_offsets *known, const uint64_t words[WORDS])
{
	if (words[INTERPRETER_SIZE] != known->interpreter.size || words[TASK_SIZE] > ASYNCIO_TASK ||
	    words[THREAD_SIZE] < known->thread.size || words[THREAD_SIZE] > IN_RUNTIME)
		return false;
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t whole = words[module[i].in];

		if (module[i].size > whole || words[i] > whole - module[i].size || (module[i].size && !words[i]))
			return false;
	}
	return true;
}

bool asyncio_offsets_scan(struct asyncio_offsets *out, const void *bytes, size_t size)
{
	uint64_t words[WORDS];

	for (size_t at = 0; at + sizeof(words) <= size; at += WORD) {
		memcpy(words, (const char *)bytes + at, sizeof(words));
		if (!is_module(out, words))
			continue;
		for (size_t i = 0; i < WORDS; i++)
			memcpy((char *)out + module[i].field, &words[i], sizeof(*words));
		return true;
	}
	return false;
}

/* Looks through the variables of the image that begins there. */
static bool scan_image(struct asyncio_offsets *out, const struct memory *m, uint64_t start)
{
	struct image image;
	bool found = false;
	char *bytes;

	if (image_open(&image, m, start) || !image.ndata || image.ndata > MAX_DATA)
		return false;
	bytes = malloc(image.ndata);
	if (bytes && !memory_get(m, image.data, bytes, image.ndata))
		found = asyncio_offsets_scan(out, bytes, image.ndata);
	free(bytes);
	return found;
}

struct search {
	struct asyncio_offsets *out;
	const struct memory *memory;
	bool found;
};

static bool look(void *ctx, const struct procmaps_line *map)
{
	const char *slash = strrchr(map->path, '/');
	struct search *s = ctx;

	if (slash && !strncmp(slash, "/_asyncio.", strlen("/_asyncio.")))
		s->found = scan_image(s->out, s->memory, map->start);
	return s->found;
}

/* Some interpreters have their modules in themselves. */
static int find_module(struct asyncio_offsets *out, const struct memory *m, const struct runtime *r)
{
	struct search s = { out, m, false };
	int rc = images_each(m, look, &s);

	if (rc)
		return rc;
	return s.found || scan_image(out, m, r->image) ? 0 : -ENOENT;
}

static int find_types(struct asyncio_offsets *out, const struct memory *m, const struct runtime *r)
{
	const struct {
		const char *name;
		uint64_t *addr;
	} all[] = {
		{ "PyGen_Type", &out->generators[0] }, { "PyCoro_Type", &out->generators[1] }, { "PyAsyncGen_Type", &out->generators[2] },
		{ "PyLong_Type", &out->number_type }, { "PyUnicode_Type", &out->text_type },
	};
	struct image image;
	int rc = image_open(&image, m, r->image);

	for (size_t i = 0; !rc && i < ARRAY(all); i++)
		rc = image_symbol(&image, all[i].name, all[i].addr);
	return rc;
}

int asyncio_offsets_find(struct asyncio_offsets *out, const struct memory *m, const struct runtime *r)
{
	int rc = r->offsets.minor == MINOR ? 0 : -ENOTSUP;

	*out = (struct asyncio_offsets){ 0 };
	if (!rc)
		rc = asyncio_offsets_stated(out, m, &r->offsets, r->address);
	if (!rc)
		rc = find_module(out, m, r);
	return rc ? rc : find_types(out, m, r);
}
