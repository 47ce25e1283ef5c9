/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/frames.h"

#include <errno.h>

enum { TRIES = 3, MAX_CALLS = 16, TAG_BITS = 7, PAGE = 4096, PAGES = 4 };

/* A reading: what came with its first system call, and the last block. */
struct ahead {
	const struct memory *memory;
	const struct offsets *offsets;
	uint64_t thread;                 /* address of the field that leads to the innermost frame */
	uint64_t addr[FRAMES_AHEAD];
	char bytes[FRAMES_AHEAD][OFFSETS_FRAME];
	size_t n, next;                  /* next: the first one that was not used yet */
	uint64_t low, high;              /* addresses of the block */
	size_t pages;                    /* how many the next block has below that of its frame */
	char block[(PAGES + 1) * PAGE + OFFSETS_FRAME];   /* it ends at the end */
};

/* The pointer to the innermost frame. */
static int read_top(const struct memory *m, const struct offsets *l, uint64_t thread, uint64_t *via, uint64_t *top)
{
	int rc = memory_word(m, thread + l->thread.frame, via);

	*top = *via;
	if (!rc && l->thread.via)
		rc = memory_word(m, *via + l->thread.via - 1, top);
	return rc;
}

/* Reads the top frame together with the frames of the guess. */
static int read_ahead(struct ahead *a, struct frames_guess *guess, uint64_t *top)
{
	const struct offsets *l = a->offsets;
	struct memory_piece pieces[FRAMES_AHEAD + 2];
	uint64_t via = 0;
	size_t first = 0;
	int got;

	pieces[first++] = (struct memory_piece){ a->thread + l->thread.frame, &via, sizeof(via) };
	if (l->thread.via)
		pieces[first++] = (struct memory_piece){ guess->via + l->thread.via - 1, top, sizeof(*top) };
	for (size_t i = 0; i < guess->n; i++)
		pieces[first + i] = (struct memory_piece){ guess->addr[i], a->bytes[i], l->frame.size };
	a->n = a->next = a->low = a->high = 0;
	got = guess->n ? a->memory->read(a->memory, pieces, first + guess->n) : 0;
	if (got < 0 && got != -EFAULT)
		return got;
	if (got < (int)first || (l->thread.via && via != guess->via))
		return read_top(a->memory, l, a->thread, &guess->via, top);
	*top = l->thread.via ? *top : via;
	a->n = (size_t)got - first;
	for (size_t i = 0; i < a->n; i++)
		a->addr[i] = guess->addr[i];
	return 0;
}

static const char *find_ahead(struct ahead *a, uint64_t addr)
{
	for (size_t i = a->next; i < a->n; i++)
		if (a->addr[i] == addr) {
			a->next = i + 1;
			return a->bytes[i];
		}
	return NULL;
}

/* Reads a frame and what is below it, down to the start of its page and some pages more: mostly its callers are there. */
static int read_block(struct ahead *a, uint64_t addr)
{
	struct memory_piece pieces[1 + PAGES] = { { addr & ~(uint64_t)(PAGE - 1), NULL, 0 } };
	char *end = a->block + sizeof(a->block);
	int got;

	a->high = addr + a->offsets->frame.size;
	pieces[0].size = a->high - pieces[0].addr;
	pieces[0].to = end - pieces[0].size;
	for (size_t i = 1; i <= a->pages; i++)
		pieces[i] = (struct memory_piece){ pieces[i - 1].addr - PAGE, (char *)pieces[i - 1].to - PAGE, PAGE };
	got = a->memory->read(a->memory, pieces, 1 + a->pages);
	a->low = got > 0 ? pieces[got - 1].addr : a->high;
	a->pages += a->pages < PAGES;
	return got > 0 ? 0 : got < 0 ? got : -EFAULT;
}

/* Takes a frame from the block, which is read anew if it is not there. */
static int find_block(struct ahead *a, uint64_t addr, const char **bytes)
{
	const size_t size = a->offsets->frame.size;
	int rc = 0;

	if (addr < a->low || addr >= a->high || a->high - addr < size)
		rc = read_block(a, addr);
	*bytes = a->block + sizeof(a->block) - (a->high - addr);
	return rc;
}

/* 3.9, 3.10: a call of the evaluation loop for each function. 3.12 and later: a frame of the interpreter's own for each
 * call of the loop, outside of its functions. */
static bool is_entry(const struct offsets *l, const char *bytes, bool script)
{
	return l->frame.entry ? memory_field(bytes, l->frame.entry, 1) : !l->shared_owner || !script;
}

static struct frame_at decode(const struct offsets *l, uint64_t addr, const char *bytes, uint64_t *previous)
{
	const bool script = !l->shared_owner || memory_field(bytes, l->frame.owner, 1) < OFFSETS_OWNER_C;

	*previous = memory_field(bytes, l->frame.previous, 8);
	return (struct frame_at){
		.addr = addr,
		.code = memory_field(bytes, l->frame.code, 8) & ~(uint64_t)TAG_BITS,
		.place = memory_field(bytes, l->frame.place, l->frame_unit ? 4 : 8),
		.script = script, .entry = is_entry(l, bytes, script),
		.generator = l->frame.owner && memory_field(bytes, l->frame.owner, 1) == OFFSETS_OWNER_GENERATOR,
	};
}

static int read_frame(const struct memory *m, const struct offsets *l, uint64_t addr, struct frame_at *frame,
		      uint64_t *previous)
{
	char bytes[OFFSETS_FRAME];
	int rc = memory_get(m, addr, bytes, l->frame.size);

	if (!rc)
		*frame = decode(l, addr, bytes, previous);
	return rc;
}

static int walk(struct frames *out, struct ahead *a, uint64_t top)
{
	out->n = 0;
	for (uint64_t addr = top, previous; addr && out->n < out->most; addr = previous) {
		const char *bytes = find_ahead(a, addr);
		int rc = bytes ? 0 : find_block(a, addr, &bytes);

		if (rc)
			return rc == -EFAULT ? -EAGAIN : rc;
		out->v[out->n++] = decode(a->offsets, addr, bytes, &previous);
		out->cut = previous && out->n == out->most;
	}
	return out->n && !out->cut && out->v[out->n - 1].generator ? -EAGAIN : 0;
}

static bool has(const struct frames *stack, uint64_t addr)
{
	size_t n = stack->n < MAX_CALLS ? stack->n : MAX_CALLS;

	for (size_t i = 0; i < n; i++)
		if (stack->v[i].addr == addr)
			return true;
	return false;
}

/* Whether the thread, whose innermost frame is now `top`, is still in this stack, or in calls from it. */
static bool is_still_there(const struct frames *stack, const struct memory *m, const struct offsets *l, uint64_t top)
{
	struct frame_at frame;

	if (!stack->n || !top)
		return !stack->n == !top;
	for (int i = 0; i < MAX_CALLS && top; i++) {
		if (has(stack, top))
			return true;
		if (read_frame(m, l, top, &frame, &top))
			return false;
	}
	return false;
}

static void expect(struct frames_guess *guess, const struct frames *stack)
{
	guess->n = stack->n < FRAMES_AHEAD ? stack->n : FRAMES_AHEAD;
	for (size_t i = 0; i < guess->n; i++)
		guess->addr[i] = stack->v[i].addr;
}

int frames_read(struct frames *out, struct frames_guess *guess, const struct memory *m, const struct offsets *l,
		uint64_t thread)
{
	struct ahead a = { .memory = m, .offsets = l, .thread = thread };
	uint64_t top = 0, now = 0;
	int rc = -EAGAIN;

	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		out->cut = false;
		rc = read_ahead(&a, guess, &top);
		if (!rc)
			rc = walk(out, &a, top);
		if (!rc)
			rc = read_top(m, l, thread, &guess->via, &now);
		if (rc == -EFAULT)
			rc = -EAGAIN;
		if (!rc && now != top && !is_still_there(out, m, l, now))
			rc = -EAGAIN;
	}
	if (rc)
		guess->n = 0;
	else
		expect(guess, out);
	return rc;
}
