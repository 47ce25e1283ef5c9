/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged copies of the recordings in tests/data/perfdata: what was not touched is read, but for
 * two records at each damaged place, and what is missing is told.
 *
 * DAMAGED_COPIES=N    so many of each file (default: 40)
 * DAMAGED_SEED=N      the first copy's seed: a failure names its file and seed, so that with
 *                     DAMAGED_COPIES=1 it comes again
 */
#include "checks.h"
#include "recording.h"

#include <dirent.h>
#include <inttypes.h>

enum { MAX_FILES = 256, MAX_PLACES = 3, MORE_LOST = 2 };

/* ---- a recording as it is read ------------------------------------------------ */

struct seen {
	uint64_t at, hash;
	uint32_t type;
	uint16_t size;
};

struct reading {
	struct seen *v;
	size_t n, room;
	bool told;
	bool opened;
	uint64_t end;
};

static uint64_t hash_of(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	while (n--)
		h = (h ^ *p++) * UINT64_C(0x100000001b3);
	return h;
}

static void see(struct reading *t, uint64_t at, const struct perf_event_header *rec)
{
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 1024;
		t->v = realloc(t->v, t->room * sizeof(*t->v));
		assert_non_null(t->v);
	}
	t->v[t->n++] = (struct seen){ at, hash_of(rec, rec->size), rec->type, rec->size };
}

static void read_again(struct reading *t, int fd)
{
	const struct perf_event_header *rec;
	struct perfdata_reader *r;
	int rc = -1;

	t->n = 0;
	memset(&fault, 0, sizeof(fault));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = perfdata_reader_open(dup(fd), "damaged.data", &fault);
	t->opened = r != NULL;
	while (r && (rc = perfdata_next(r, &rec, &fault)) > 0)
		see(t, perfdata_offset(r), rec);
	t->told = rc < 0 || (r && perfdata_counts(r)->own);   /* the command tells of these, too */
	t->end = r ? perfdata_end(r) : 0;
	perfdata_reader_close(r);
}

/* ---- a file of the corpus ------------------------------------------------------ */

struct source {
	char name[256];
	char *bytes;
	size_t n;
	int fd;                        /* the copy */
	struct reading whole;
	size_t first, end;             /* where records lie */
	bool packed;                   /* in compressed records */
};

static void load(struct source *s, const char *folder, const char *name)
{
	char path[8192];
	FILE *f;

	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	assert_non_null(f);
	s->bytes = malloc(1 << 20);
	assert_non_null(s->bytes);
	s->n = fread(s->bytes, 1, 1 << 20, f);
	assert_true(s->n < 1 << 20);
	fclose(f);
	s->fd = memfd_create("copy", MFD_CLOEXEC);
	assert_int_equal(write(s->fd, s->bytes, s->n), s->n);
	read_again(&s->whole, s->fd);
	if (!s->whole.opened || s->whole.told)
		fail_msg("%s: %s", name, fault.text);
	s->first = s->whole.v[0].at;
	s->end = s->whole.end < s->n ? s->whole.end : s->n;
	for (size_t i = 1; i < s->whole.n; i++)
		s->packed |= s->whole.v[i].at == s->whole.v[i - 1].at;
}

static void unload(struct source *s)
{
	close(s->fd);
	free(s->bytes);
	free(s->whole.v);
}

/* ---- damage -------------------------------------------------------------------- */

struct place {
	size_t at, n;
	char bytes[4096];
};

struct damage {
	struct place places[MAX_PLACES];
	size_t n;
	const char *what;
};

static uint64_t drawn;

static uint64_t draw(void)
{
	uint64_t z = drawn += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void fill(struct place *p, size_t n, int value)
{
	p->n = n;
	for (size_t i = 0; i < n; i++)
		p->bytes[i] = value < 0 ? (char)draw() : (char)value;
}

static void put_number(struct place *p, const struct source *s, size_t n, uint64_t v)
{
	bool big = s->bytes[0] == '2';

	p->n = n;
	for (size_t i = 0; i < n; i++)
		p->bytes[big ? n - 1 - i : i] = (char)(v >> 8 * i);
}

enum { SIZE, SIZE_OF_8, SIZE_UP_TO, TYPE_OF_USER, TYPE_OF_KERNEL, HEAD, BIT, SOME, ZEROS, ONES, BLOCK, KINDS };

static const char *const kinds[KINDS] = {
	"a size", "a size, a multiple of 8", "a size up to another record", "a type of user space", "a type of the kernel",
	"a head", "a bit", "some bytes", "zeros", "ones", "a block of zeros",
};

static void damage_record(struct place *p, const struct source *s, unsigned int kind)
{
	size_t i = draw() % s->whole.n, to = i + 1 + draw() % 20;

	p->at = s->whole.v[i].at;
	if (kind == HEAD)
		fill(p, 8, -1);
	else if (kind == TYPE_OF_USER || kind == TYPE_OF_KERNEL)
		put_number(p, s, 4, kind == TYPE_OF_USER ? 64 + draw() % 20 : 1 + draw() % 22);
	else
		p->at += 6;
	if (kind == SIZE)
		fill(p, 2, -1);
	else if (kind == SIZE_OF_8)
		put_number(p, s, 2, 8 * (draw() % 256));
	else if (kind == SIZE_UP_TO)
		put_number(p, s, 2, to < s->whole.n ? s->whole.v[to].at - s->whole.v[i].at : 8);
}

static void damage_bytes(struct place *p, const struct source *s, unsigned int kind)
{
	p->at = s->first + draw() % (s->end - s->first);
	if (kind == BIT)
		put_number(p, s, 1, (unsigned char)s->bytes[p->at] ^ 1u << draw() % 8);
	else
		fill(p, kind == BLOCK ? sizeof(p->bytes) : 1 + draw() % 64, kind == SOME ? -1 : kind == ONES ? 0xff : 0);
	if (p->at + p->n > s->end)
		p->n = s->end - p->at;
}

static void draw_damage(struct damage *d, const struct source *s)
{
	unsigned int kind = draw() % KINDS;

	d->n = draw() % 8 ? 1 : MAX_PLACES;
	d->what = kinds[kind];
	for (size_t i = 0; i < d->n; i++)
		kind <= HEAD ? damage_record(&d->places[i], s, kind) : damage_bytes(&d->places[i], s, kind);
}

static void write_damage(const struct damage *d, const struct source *s, bool back)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct place *p = &d->places[i];

		assert_int_equal(pwrite(s->fd, back ? s->bytes + p->at : p->bytes, p->n, (off_t)p->at), p->n);
	}
}

/* ---- what it cost -------------------------------------------------------------- */

static bool is_touched(const struct damage *d, const struct source *s, const struct seen *v)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct place *p = &d->places[i];

		if (p->at < v->at + v->size && v->at < p->at + p->n && memcmp(p->bytes, s->bytes + p->at, p->n))
			return true;
	}
	return false;
}

struct cost {
	uint64_t touched, gone, lost, made_up;   /* gone: of those that were touched; lost: beyond them */
};

/* Both by offset. */
static struct cost cost_of(const struct damage *d, const struct source *s, const struct reading *t)
{
	struct cost c = { 0 };
	size_t k = 0;

	for (size_t i = 0; i < s->whole.n; i++) {
		const struct seen *v = &s->whole.v[i];
		bool touched = is_touched(d, s, v);

		for (; k < t->n && t->v[k].at < v->at; k++)
			c.made_up++;
		c.touched += touched;
		if (k == t->n || t->v[k].at != v->at)
			*(touched ? &c.gone : &c.lost) += 1;
		else if (t->v[k++].hash != v->hash && !touched)
			c.lost++;
	}
	c.made_up += t->n - k;
	return c;
}

static void check(const struct source *s, const struct damage *d, const struct cost *c, bool told, uint64_t seed)
{
	if (c->lost <= MORE_LOST * d->n && c->made_up <= d->n && (told || !c->lost))
		return;
	fail_msg("%s, DAMAGED_SEED=%" PRIu64 " (%s, %zu times, at %#zx): %" PRIu64 " records were touched, %" PRIu64
		 " others are missing, %" PRIu64 " were made up, %s", s->name, seed, d->what, d->n, d->places[0].at,
		 c->touched, c->lost, c->made_up, told ? fault.text : "and nothing is told");
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void damage_copies(struct source *s)
{
	uint64_t n = number("DAMAGED_COPIES", 40), first = number("DAMAGED_SEED", 1);
	struct reading t = { 0 };
	struct damage d;

	for (uint64_t seed = first; seed < first + n; seed++) {
		struct cost c;

		drawn = seed;
		draw_damage(&d, s);
		write_damage(&d, s, false);
		read_again(&t, s->fd);
		write_damage(&d, s, true);
		c = cost_of(&d, s, &t);
		check(s, &d, &c, t.told, seed);
	}
	free(t.v);
}

/* ---- compressed records -------------------------------------------------------- */

/* What came before the damaged compressed record; what is missing behind it is told. */
static void check_packed(const struct source *s, const struct damage *d, const struct reading *t, uint64_t seed)
{
	const struct place *p = &d->places[0];
	uint64_t from = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->whole.n; i++)
		if (s->whole.v[i].at <= p->at && s->whole.v[i].at > from)
			from = s->whole.v[i].at;
	while (n < s->whole.n && s->whole.v[n].at < from && n < t->n && t->v[n].hash == s->whole.v[n].hash)
		n++;
	if (n < s->whole.n && s->whole.v[n].at < from)
		fail_msg("%s, DAMAGED_SEED=%" PRIu64 " (%s, at %#zx): record %zu, before the damage, is missing (%zu of %zu)", s->name, seed,
			 d->what, p->at, n, t->n, s->whole.n);
	if (t->n < s->whole.n && !t->told)
		fail_msg("%s, DAMAGED_SEED=%" PRIu64 " (%s, at %#zx): %zu records of %zu, and nothing is told", s->name, seed,
			 d->what, p->at, t->n, s->whole.n);
}

static void damage_packed(struct source *s)
{
	uint64_t n = number("DAMAGED_COPIES", 40), first = number("DAMAGED_SEED", 1);
	struct reading t = { 0 };
	unsigned int kind;
	struct damage d;

	for (uint64_t seed = first; seed < first + n; seed++) {
		drawn = seed;
		d.n = 1;
		kind = BIT + (unsigned int)(draw() % (KINDS - BIT));
		d.what = kinds[kind];
		damage_bytes(&d.places[0], s, kind);
		write_damage(&d, s, false);
		read_again(&t, s->fd);
		write_damage(&d, s, true);
		check_packed(s, &d, &t, seed);
	}
	free(t.v);
}

/* ---- the corpus ---------------------------------------------------------------- */

static int is_recording(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 5 && !strcmp(e->d_name + n - 5, ".data");
}

TEST(untouched_records_are_read)
{
	const char *root = getenv("SOURCE_ROOT");
	struct dirent **names;
	char folder[4000];
	int n;

	snprintf(folder, sizeof(folder), "%s/tests/data/perfdata", root ? root : ".");
	n = scandir(folder, &names, is_recording, alphasort);
	assert_true(n > 0 && n < MAX_FILES);
	for (int i = 0; i < n; i++) {
		struct source s = { 0 };

		load(&s, folder, names[i]->d_name);
		if (s.packed)
			damage_packed(&s);
		else
			damage_copies(&s);
		unload(&s);
		free(names[i]);
	}
	free(names);
}
