/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto_private.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

void perfetto_stacks_begin(struct perfetto_stacks *s, struct protofile *file)
{
	*s = (struct perfetto_stacks){ .file = file };
	s->mappings.words = s->frames.words = s->stacks.words = 1;
}

void perfetto_stacks_free(struct perfetto_stacks *s)
{
	words_free(&s->functions);
	words_free(&s->paths);
	words_free(&s->sources);
	words_free(&s->builds);
	numbers_free(&s->mappings);
	numbers_free(&s->frames);
	numbers_free(&s->stacks);
	free(s->ids);
}

/* ---- words ------------------------------------------------------------------------------ */

enum list { FUNCTIONS, PATHS, SOURCES, BUILDS };

static void put_word(struct perfetto_stacks *s, enum list list, Perfetto__Protos__InternedString *word)
{
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__InternedString ***const arrays[] = {
		&data.function_names, &data.mapping_paths, &data.source_paths, &data.build_ids,
	};
	size_t *const counts[] = {
		&data.n_function_names, &data.n_mapping_paths, &data.n_source_paths, &data.n_build_ids,
	};

	*arrays[list] = &word;
	*counts[list] = 1;
	perfetto_put_interned(s->file, &data);
}

/* The number of a text, which is written when it is new; 0 for NULL. If `bytes` is not NULL, it is
 * written instead. */
static uint64_t word_of(struct perfetto_stacks *s, enum list list, const char *text,
			const ProtobufCBinaryData *bytes)
{
	struct words *const lists[] = { &s->functions, &s->paths, &s->sources, &s->builds };
	struct words *words = lists[list];
	Perfetto__Protos__InternedString word = PERFETTO__PROTOS__INTERNED_STRING__INIT;
	uint32_t before = words->n, i;
	const char *safe;

	if (!text)
		return 0;
	i = wordlist_of(words, text);
	if (words->n == before)
		return i + 1;
	safe = wordlist_at(words, i);
	word.has_iid = word.has_str = true;
	word.iid = i + 1;
	word.str = bytes ? *bytes : (ProtobufCBinaryData){ strlen(safe), (uint8_t *)safe };
	put_word(s, list, &word);
	return i + 1;
}

static uint64_t build_of(struct perfetto_stacks *s, const struct frame *frame)
{
	size_t n = 0;
	const uint8_t *id = frame->object ? dso_build_id(frame->object, &n) : NULL;
	ProtobufCBinaryData bytes = { n, (uint8_t *)id };
	char hex[2 * BUILD_ID_MAX + 1];

	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return n ? word_of(s, BUILDS, hex, &bytes) : 0;
}

/* ---- frames ----------------------------------------------------------------------------- */

/* Perfetto calls the kernel "/kernel". */
static uint64_t mapping_of(struct perfetto_stacks *s, const struct frame *frame)
{
	bool kernel = !strcmp(frame->dso, "[kernel.kallsyms]"), fresh;
	uint64_t path = word_of(s, PATHS, kernel ? "/kernel" : frame->dso, NULL), id;
	Perfetto__Protos__Mapping mapping = PERFETTO__PROTOS__MAPPING__INIT, *mappings[] = { &mapping };
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;

	id = numbers_of(&s->mappings, &path, &fresh) + 1;
	if (!fresh)
		return id;
	mapping.has_iid = true;
	mapping.iid = id;
	mapping.build_id = build_of(s, frame);
	mapping.has_build_id = mapping.build_id;
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &path;
	data.n_mappings = 1;
	data.mappings = mappings;
	perfetto_put_interned(s->file, &data);
	return id;
}

static uint64_t frame_of(struct perfetto_stacks *s, const struct frame *from)
{
	uint64_t key = (uint64_t)(uintptr_t)from;
	Perfetto__Protos__Frame frame = PERFETTO__PROTOS__FRAME__INIT, *frames[] = { &frame };
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	bool fresh;
	uint64_t id = numbers_of(&s->frames, &key, &fresh) + 1;

	if (!fresh)
		return id;
	frame.has_iid = frame.has_mapping_id = frame.has_rel_pc = true;
	frame.iid = id;
	frame.function_name_id = word_of(s, FUNCTIONS, from->symbol, NULL);
	frame.has_function_name_id = frame.function_name_id;
	frame.mapping_id = mapping_of(s, from);
	frame.rel_pc = from->at;
	frame.source_path_iid = word_of(s, SOURCES, from->file, NULL);
	frame.has_source_path_iid = frame.source_path_iid;
	frame.line_number = from->line;
	frame.has_line_number = from->line;
	data.n_frames = 1;
	data.frames = frames;
	perfetto_put_interned(s->file, &data);
	return id;
}

/* Outermost frame first. */
static void put_stack(struct perfetto_stacks *s, uint64_t id, const struct callstack *stack)
{
	Perfetto__Protos__Callstack out = PERFETTO__PROTOS__CALLSTACK__INIT, *stacks[] = { &out };
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;

	if (!ROOM_FOR(s->ids, s->room, 0, stack->n)) {
		s->lost = true;
		return;
	}
	for (uint32_t i = 0; i < stack->n; i++)
		s->ids[stack->n - 1 - i] = frame_of(s, stack->frames[i]);
	out.has_iid = true;
	out.iid = id;
	out.n_frame_ids = stack->n;
	out.frame_ids = s->ids;
	data.n_callstacks = 1;
	data.callstacks = stacks;
	perfetto_put_interned(s->file, &data);
}

uint64_t perfetto_stack(struct perfetto_stacks *s, struct analysis *a, struct callstack *stack)
{
	uint64_t key = (uint64_t)(uintptr_t)stack, id;
	bool fresh;

	if (!stack || !stack->n)
		return 0;
	if (stack->user)
		return (uint64_t)(uintptr_t)stack->user;
	id = numbers_of(&s->stacks, &key, &fresh) + 1;
	callstacks_expand(a->stacks, stack);
	put_stack(s, id, stack);
	stack->user = (void *)(uintptr_t)id;
	return id;
}
