/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of frames by mapping and address; frames of equal content are the same object. In front
 * of it is a cache of whole chains: see stacks.h.
 *
 * Making a Python object can run the garbage collector, which can run a finalizer of the script,
 * which can call these functions. So no pointer into a table is held while an object is made.
 */
#include "python/frames.h"

#include "base/hash.h"
#include "python/stacks.h"
#include "report/unnamed.h"
#include "tasks/resolve.h"

#include <string.h>

enum { BUCKETS = 1 << 15, MAX_FRAMES = 1 << 15, ON_STACK = 256, STACK_BYTES = 8 << 20,
       RECENT = 512, PATIENCE = 256, ANSWERS_SHIFT = 44 };

/* key.where: a place, or FIRST_DSO + serial number of the file. */
enum { FIRST_DSO = 16 };

struct frame_key {
	uint64_t ip;
	uint64_t where, at;      /* at: offset in the file, or in the kernel */
	uint64_t table;          /* serial number of the kernel's symbols; 0 for other addresses */
};

struct slot {
	struct frame_key key;
	PyObject *frame;
	uint32_t next;           /* in the bucket: index + 1; 0: the last */
	bool used;               /* since the clock hand passed */
};

enum { KEY_ADDR, KEY_SYMBOL, KEY_OFFSET, KEY_KERNEL, KEY_DSO, NKEYS };

struct frames {
	struct frames_opts opts;
	PyObject *keys[NKEYS];
	struct stacks *stacks;
	struct slot *slots;
	uint32_t n, cap, hand;
	bool late;                   /* a frame of the current list may get a name later */
	PyObject *recent[RECENT];    /* cache of names, by hash */
	uint32_t buckets[BUCKETS];   /* by ip: index + 1 */
};

struct frames *frames_new(const struct frames_opts *opts)
{
	static const char *const names[NKEYS] = { "addr", "symbol", "offset", "kernel", "dso" };
	struct frames *f = PyMem_Calloc(1, sizeof(*f));
	bool ok = f;

	if (f) {
		f->opts = *opts;
		f->stacks = stacks_new(STACK_BYTES);
		ok = f->stacks;
	}
	for (int i = 0; ok && i < NKEYS; i++)
		ok = (f->keys[i] = PyUnicode_InternFromString(names[i]));
	if (ok)
		return f;
	frames_free(f);
	PyErr_NoMemory();
	return NULL;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	stacks_free(f->stacks);
	for (uint32_t i = 0; i < f->n; i++)
		Py_DECREF(f->slots[i].frame);
	for (int i = 0; i < NKEYS; i++)
		Py_XDECREF(f->keys[i]);
	for (int i = 0; i < RECENT; i++)
		Py_XDECREF(f->recent[i]);
	PyMem_Free(f->slots);
	PyMem_Free(f);
}

/* ---- the table of frames -------------------------------------------------- */

static uint32_t *bucket_of(struct frames *f, uint64_t ip)
{
	return &f->buckets[hash_number(ip) >> 49];
}

static bool same_key(const struct frame_key *a, const struct frame_key *b)
{
	return a->ip == b->ip && a->where == b->where && a->at == b->at &&
	       a->table == b->table;
}

static struct slot *find(struct frames *f, const struct frame_key *key)
{
	for (uint32_t i = *bucket_of(f, key->ip); i; i = f->slots[i - 1].next)
		if (same_key(&f->slots[i - 1].key, key))
			return &f->slots[i - 1];
	return NULL;
}

static bool has_values(struct frames *f, PyObject *frame, PyObject *const *values)
{
	for (int i = 0; i < NKEYS; i++) {
		PyObject *have = PyDict_GetItem(frame, f->keys[i]);

		if (!have || (have != values[i] && PyObject_RichCompareBool(have, values[i], Py_EQ) != 1))
			return false;
	}
	return true;
}

/* A frame with the same content but another key. */
static PyObject *find_equal(struct frames *f, uint64_t ip, PyObject *const *values)
{
	for (uint32_t i = *bucket_of(f, ip); i; i = f->slots[i - 1].next)
		if (f->slots[i - 1].key.ip == ip && has_values(f, f->slots[i - 1].frame, values))
			return f->slots[i - 1].frame;
	return NULL;
}

static void unlink_slot(struct frames *f, uint32_t index)
{
	uint32_t *at = bucket_of(f, f->slots[index].key.ip);

	while (*at != index + 1)
		at = &f->slots[*at - 1].next;
	*at = f->slots[index].next;
}

static bool grow(struct frames *f)
{
	uint32_t cap = f->cap ? f->cap * 2 : 256;
	struct slot *slots = cap <= MAX_FRAMES ? PyMem_Realloc(f->slots, cap * sizeof(*slots)) : NULL;

	if (!slots)
		return false;
	f->slots = slots;
	f->cap = cap;
	return true;
}

/* Moves the clock hand to a frame that was not used since the hand passed, and that nobody else holds:
 * evicting others frees no memory. */
static bool find_victim(struct frames *f, uint32_t patience)
{
	for (uint32_t steps = 0; steps < patience; steps++) {
		struct slot *slot;

		f->hand = f->hand + 1 < f->n ? f->hand + 1 : 0;
		slot = &f->slots[f->hand];
		if (!slot->used && Py_REFCNT(slot->frame) == 1)
			return true;
		slot->used = false;
	}
	return false;
}

/* If there is none near, the cached chains hold too many frames: some chains are evicted. Frames that the
 * script holds are evicted last. */
static uint32_t choose_victim(struct frames *f)
{
	if (!find_victim(f, PATIENCE)) {
		stacks_shed(f->stacks);
		find_victim(f, 2 * f->n);
	}
	return f->hand;
}

/* A free slot, by eviction if necessary. */
static struct slot *take_slot(struct frames *f)
{
	PyObject *frame;
	uint32_t i;

	if (f->n < f->cap || grow(f))
		return &f->slots[f->n++];
	if (!f->n)
		return NULL;
	i = choose_victim(f);
	frame = f->slots[i].frame;
	unlink_slot(f, i);
	Py_DECREF(frame);
	return &f->slots[i];
}

static void remember(struct frames *f, const struct frame_key *key, PyObject *frame)
{
	struct slot *slot = take_slot(f);
	uint32_t *bucket = bucket_of(f, key->ip);

	if (!slot)
		return;
	Py_INCREF(frame);
	*slot = (struct slot){ *key, frame, *bucket, true };
	*bucket = (uint32_t)(slot - f->slots) + 1;
}

/* ---- making a frame ------------------------------------------------------- */

/* The same few names repeat. They are not interned, because Python 3.12 keeps interned strings forever. */
static PyObject *name_of(struct frames *f, const char *text)
{
	uint32_t h = 0;
	PyObject **recent, *s;

	for (const char *p = text; *p; p++)
		h = h * 31 + (unsigned char)*p;
	recent = &f->recent[h % RECENT];
	if (*recent && !PyUnicode_CompareWithASCIIString(*recent, text)) {
		Py_INCREF(*recent);
		return *recent;
	}
	s = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
	Py_XINCREF(s);
	Py_XDECREF(*recent);
	*recent = s;
	return s;
}

/* A frame cannot be part of a reference cycle, so the garbage collector need not track it. */
static PyObject *dict_of(struct frames *f, PyObject *const *values)
{
	PyObject *frame = frame_new(f->opts.type);

	for (int i = 0; frame && i < NKEYS; i++)
		if (PyDict_SetItem(frame, f->keys[i], values[i]))
			Py_CLEAR(frame);
	if (frame)
		PyObject_GC_UnTrack(frame);
	return frame;
}

static PyObject *make_frame(struct frames *f, uint64_t ip, const struct resolve_words *c)
{
	PyObject *values[NKEYS] = {
		[KEY_ADDR] = PyLong_FromUnsignedLongLong(ip),
		[KEY_SYMBOL] = name_of(f, c->symbol && !is_unnamed(c->symbol, c->dso) ? c->symbol : "Unknown"),
		[KEY_OFFSET] = PyLong_FromUnsignedLongLong(c->symbol ? c->offset : 0),
		[KEY_KERNEL] = PyBool_FromLong(c->kernel),
		[KEY_DSO] = name_of(f, c->dso),
	};
	PyObject *frame = NULL;
	bool ok = true;

	for (int i = 0; i < NKEYS; i++)
		ok = ok && values[i];
	if (ok)
		frame = find_equal(f, ip, values);
	Py_XINCREF(frame);
	if (ok && !frame)
		frame = dict_of(f, values);
	for (int i = 0; i < NKEYS; i++)
		Py_XDECREF(values[i]);
	return frame;
}

/* Finds the mapping of an address at `time`. */
static struct resolve_site locate(struct frames *f, const struct chain_address *a, pid_t pid,
				  uint64_t time, struct frame_key *key)
{
	struct resolve_site site = resolve_site(f->opts.maps, a, pid, time);

	*key = (struct frame_key){ a->ip, site.dso ? FIRST_DSO + dso_serial(site.dso) : a->place,
				   site.at };
	if (a->place == PLACE_KERNEL)
		key->table = symbolizer_kernel_serial(f->opts.symbolizer);
	return site;
}

static PyObject *frame_at(struct frames *f, const struct chain_address *a, pid_t pid, uint64_t time)
{
	struct frame_key key;
	struct resolve_site site = locate(f, a, pid, time, &key);
	struct slot *slot = find(f, &key);
	struct resolve_words words;
	PyObject *frame;

	if (slot) {
		slot->used = true;
		Py_INCREF(slot->frame);
		return slot->frame;
	}
	resolve_words(f->opts.symbolizer, a, &site, &words);
	frame = make_frame(f, a->ip, &words);
	f->late |= words.late;
	if (frame && !words.late && !find(f, &key))
		remember(f, &key, frame);
	return frame;
}

/* ---- chains --------------------------------------------------------------- */

static PyObject *list_of(struct frames *f, const struct chain_address *a, size_t n, pid_t pid,
			 uint64_t time)
{
	PyObject *list = PyList_New((Py_ssize_t)n);

	for (size_t i = 0; list && i < n; i++) {
		PyObject *frame = frame_at(f, &a[i], pid, time);

		if (frame)
			PyList_SET_ITEM(list, (Py_ssize_t)i, frame);
		else
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *make_list(struct frames *f, const uint64_t *ips, uint64_t nr, pid_t pid,
			   uint64_t time)
{
	struct chain_address few[ON_STACK], *all = few;
	PyObject *list;

	if (nr > ON_STACK)
		all = PyMem_Malloc(nr * sizeof(*all));
	if (!all)
		return PyErr_NoMemory();
	list = list_of(f, all, chain_addresses(ips, nr, all), pid, time);
	if (all != few)
		PyMem_Free(all);
	return list;
}

PyObject *frames_list(struct frames *f, const uint64_t *ips, uint64_t nr, pid_t pid, uint64_t time)
{
	struct stack_key key;
	bool user = stack_key_init(&key, ips, nr), cached = true;
	uint64_t version = 0;
	PyObject *list;

	if (user && f->opts.maps) {
		version = maps_version(f->opts.maps, pid, time);
		cached = version != 0;
	}
	stack_key_set_version(&key, version ^ symbolizer_answers(f->opts.symbolizer) << ANSWERS_SHIFT);
	list = cached ? stacks_find(f->stacks, &key) : NULL;
	if (list || PyErr_Occurred())
		return list;
	f->late = false;
	list = make_list(f, ips, nr, pid, time);
	if (list && cached && !f->late)
		stacks_add(f->stacks, &key, list);
	return list;
}
