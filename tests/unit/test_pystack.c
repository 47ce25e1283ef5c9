/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of Python programs: line tables of real interpreters, against what they say themselves; and memory that lies,
 * changes or ends. The memory is an array here. */
#include "checks.h"

#include "pystack/code.h"
#include "pystack/frames.h"
#include "pystack/image.h"
#include "pystack/text.h"

#include <link.h>

/* ---- lines --------------------------------------------------------------------------- */

struct range {
	int from, to, line;              /* bytes of instructions; line 0: none */
};

static void check_lines(enum line_form form, const uint8_t *table, size_t size, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int at = ranges[i].from; at < ranges[i].to; at += 2)
			assert_int_equal(lines_find(form, table, size, 1, at), ranges[i].line);
	assert_int_equal(lines_find(form, table, size, 7, -2), 7);
}

/* Of one function with loops, calls over two lines, `with`, `finally`: as 3.9.18, 3.10.13 and 3.12.1 compiled it, and
 * what their own dis says. */
static const uint8_t deltas[] = {
	0x00, 0x02, 0x08, 0x01, 0x04, 0x01, 0x06, 0xff, 0x06, 0x02, 0x06, 0x01, 0x1e, 0x01, 0x02, 0x01, 0x06, 0x01, 0x02, 0xff,
	0x06, 0x03, 0x06, 0xfd, 0x02, 0x03,
};
static const struct range deltas_say[] = {
	{ 0, 8, 3 }, { 8, 12, 4 }, { 12, 18, 5 }, { 18, 24, 4 }, { 24, 30, 6 }, { 30, 60, 7 }, { 60, 62, 8 }, { 62, 68, 9 },
	{ 68, 70, 10 }, { 70, 76, 9 }, { 76, 82, 12 }, { 82, 84, 9 }, { 84, 96, 12 },
};
static const uint8_t ranges[] = {
	0x08, 0x02, 0x04, 0x01, 0x06, 0x01, 0x06, 0xff, 0x06, 0x02, 0x02, 0x01, 0x1c, 0xff, 0x02, 0x02, 0x06, 0x01, 0x02, 0x01,
	0x06, 0xff, 0x10, 0x03,
};
static const struct range ranges_say[] = {
	{ 0, 8, 3 }, { 8, 12, 4 }, { 12, 18, 5 }, { 18, 24, 4 }, { 24, 30, 6 }, { 30, 32, 7 }, { 32, 60, 6 }, { 60, 62, 8 },
	{ 62, 68, 9 }, { 68, 70, 10 }, { 70, 76, 9 }, { 76, 92, 12 }, { 92, 200, 0 },
};
static const uint8_t locations[] = {
	0x80, 0x00, 0xe0, 0x0d, 0x0e, 0xf2, 0x00, 0x02, 0x05, 0x11, 0x88, 0x01, 0xd9, 0x08, 0x09, 0x88, 0x21, 0xd8, 0x0a, 0x0b,
	0x88, 0x61, 0x89, 0x25, 0xf5, 0x03, 0x01, 0x09, 0x11, 0xf0, 0x03, 0x02, 0x05, 0x11, 0xf0, 0x06, 0x00, 0x0a, 0x0b, 0xf1,
	0x00, 0x01, 0x05, 0x0d, 0xd8, 0x08, 0x0c, 0xf7, 0x03, 0x01, 0x05, 0x0d, 0xf0, 0x04, 0x04, 0x05, 0x0c, 0xe0, 0x19, 0x1a,
	0xf6, 0x03, 0x01, 0x10, 0x1c, 0xd8, 0x14, 0x15, 0xf2, 0x03, 0x00, 0x11, 0x12, 0xf2, 0x00, 0x01, 0x10, 0x1c, 0xf1, 0x06,
	0x00, 0x09, 0x0a, 0x8d, 0x03, 0xf7, 0x0d, 0x01, 0x05, 0x0d, 0xf0, 0x00, 0x01, 0x05, 0x0d, 0xfc, 0xf2, 0x06, 0x01, 0x10,
	0x1c, 0xf8, 0xf1, 0x06, 0x00, 0x09, 0x0a, 0x8d, 0x03, 0xfa,
};
static const struct range locations_say[] = {
	{ 0, 2, 1 }, { 2, 12, 3 }, { 12, 18, 4 }, { 18, 26, 5 }, { 26, 38, 4 }, { 38, 40, 3 }, { 40, 46, 6 }, { 46, 48, 7 },
	{ 48, 64, 6 }, { 64, 66, 8 }, { 66, 68, 10 }, { 68, 82, 9 }, { 82, 84, 10 }, { 84, 96, 9 }, { 96, 112, 12 },
	{ 112, 130, 6 }, { 130, 140, 0 }, { 140, 146, 9 }, { 146, 148, 0 }, { 148, 164, 12 }, { 164, 170, 0 }, { 170, 300, 0 },
};

TEST(lines_of_each_version)
{
	check_lines(LINES_DELTAS, deltas, sizeof(deltas), deltas_say, COUNT(deltas_say));
	check_lines(LINES_RANGES, ranges, sizeof(ranges), ranges_say, COUNT(ranges_say));
	check_lines(LINES_LOCATIONS, locations, sizeof(locations), locations_say, COUNT(locations_say));
}

/* Each byte that may come: lines stay in their range, and the search ends. */
TEST(damaged_lines)
{
	uint8_t table[256];

	srand(1);
	for (int round = 0; round < 3000; round++) {
		size_t n = (size_t)rand() % sizeof(table);

		for (size_t i = 0; i < n; i++)
			table[i] = (uint8_t)rand();
		for (int form = LINES_DELTAS; form <= LINES_LOCATIONS; form++)
			for (int at = -2; at < 600; at += 50)
				assert_true(lines_find((enum line_form)form, table, n, rand() - RAND_MAX / 2, at) >= 0);
	}
	assert_int_equal(lines_find(LINES_LOCATIONS, (uint8_t[]){ 0xf0, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f }, 8, 1, 0), 0);
}

/* ---- a memory ------------------------------------------------------------------------ */

enum { BASE = 0x100000, SIZE = 0x4000, COPIES = 0x10000000 };

struct fake {
	struct memory memory;
	char bytes[SIZE];
	int reads;                       /* pieces so far */
	void (*before)(int read);   /* changes the memory meanwhile; may be NULL */
	uint64_t copied, size;           /* from COPIES on, this object again and again; 0: there are none */
};

static int read_fake(const struct memory *m, const struct memory_piece *pieces, size_t n)
{
	struct fake *fake = m->ctx;

	for (size_t i = 0; i < n; i++) {
		uint64_t addr = pieces[i].addr;

		if (fake->before)
			fake->before(fake->reads);
		fake->reads++;
		if (fake->size && addr >= COPIES)
			addr = fake->copied + (addr - COPIES) % fake->size;
		if (addr < BASE || addr - BASE > SIZE || pieces[i].size > SIZE - (addr - BASE))
			return i ? (int)i : -EFAULT;
		memcpy(pieces[i].to, fake->bytes + (addr - BASE), pieces[i].size);
	}
	return (int)n;
}

static struct fake f;
static struct offsets o;         /* of a version */

static void begin(void)
{
	memset(&f, 0, sizeof(f));
	f.memory = (struct memory){ .read = read_fake, .ctx = &f };
}

static void begin_as(uint32_t version)
{
	begin();
	assert_int_equal(offsets_of(&o, &f.memory, BASE, version), 0);
}

static void put(uint64_t addr, uint64_t v, size_t size)
{
	memcpy(f.bytes + (addr - BASE), &v, size);
}

/* ---- texts --------------------------------------------------------------------------- */

static void put_text(uint64_t addr, const void *chars, uint64_t n, unsigned int unit, bool ascii)
{
	put(addr + o.text.state, 1u | unit << 2 | 1u << 5 | (unsigned int)ascii << 6, 4);
	put(addr + o.text.length, n, 8);
	memcpy(f.bytes + (addr - BASE) + (ascii ? o.text.ascii : o.text.compact), chars, n * unit);
}

static void check_text(const char *expected)
{
	char *text = text_at(&f.memory, &o, BASE);

	if (!expected)
		assert_null(text);
	else
		assert_string_equal(text, expected);
	free(text);
}

TEST(texts)
{
	static char many[TEXT_MOST + 100];

	begin_as(0x030c0000);
	put_text(BASE, "run", 3, 1, true);
	check_text("run");
	put_text(BASE, "\xe9t\xe9", 3, 1, false);
	check_text("\u00e9t\u00e9");
	put_text(BASE, (uint16_t[]){ 0x3b1, 'x', 0x4e2d }, 3, 2, false);
	check_text("\u03b1x\u4e2d");
	put_text(BASE, (uint32_t[]){ 0x1f40d, 0 }, 2, 4, false);
	check_text("\U0001f40d?");
	put_text(BASE, "", 0, 1, true);
	check_text("");
	memset(many, 'a', sizeof(many));
	put_text(BASE, many, sizeof(many), 1, true);
	strcpy(many + TEXT_MOST, "...");
	check_text(many);
}

TEST(texts_that_lie)
{
	begin_as(0x030b0000);
	put_text(BASE, "run", 3, 1, true);
	put(BASE + o.text.length, UINT64_MAX, 8);
	check_text(NULL);
	for (unsigned int unit = 0; unit < 8; unit++) {
		put(BASE + o.text.state, unit << 2 | 1u << 5, 4);
		free(text_at(&f.memory, &o, BASE));
	}
	put(BASE + o.text.state, 1u << 2, 4);   /* of a subclass */
	check_text(NULL);
	assert_null(text_at(&f.memory, &o, BASE + SIZE - 8));
	assert_null(text_at(&f.memory, &o, 0));
}

/* ---- code objects ------------------------------------------------------------------------ */

enum { TYPE = 0x777000, CODE = BASE + 0x1000, NAME = BASE + 0x1400, FILE_NAME = BASE + 0x1800, TABLE = BASE + 0x1c00 };

static void put_code(const char *name)
{
	put(CODE + o.type, TYPE, 8);
	put(CODE + o.code.name, NAME, 8);
	put(CODE + o.code.file, FILE_NAME, 8);
	put(CODE + o.code.lines, TABLE, 8);
	put(CODE + o.code.first_line, 1, 4);
	put_text(NAME, name, strlen(name), 1, true);
	put_text(FILE_NAME, "/job.py", 7, 1, true);
	put(TABLE + o.bytes.length, sizeof(locations), 8);
	memcpy(f.bytes + (TABLE - BASE) + o.bytes.bytes, locations, sizeof(locations));
}

TEST(code_objects)
{
	const struct code *code;
	struct codes *codes;
	uint64_t id;

	begin_as(0x030c0000);
	codes = codes_new(&f.memory, &o, TYPE);
	assert_null(codes_at(codes, CODE));   /* its type is another one */
	put_code("run");
	code = codes_at(codes, CODE);
	assert_string_equal(code->name, "run");
	assert_string_equal(code->file, "/job.py");
	assert_int_equal(codes_line(codes, code, CODE + o.code.instructions + 20), 5);
	assert_int_equal(codes_line(codes, code, CODE + o.code.instructions - 2), 1);
	assert_int_equal(codes_line(codes, code, CODE - 1000), 1);
	assert_int_equal(codes_line(codes, code, CODE + 0x100000), 0);
	id = code->id;
	put(CODE + o.code.name, FILE_NAME, 8);   /* freed, and used again */
	assert_int_equal(codes_at(codes, CODE)->id, id);
	codes_round(codes);
	code = codes_at(codes, CODE);
	assert_string_equal(code->name, "/job.py");
	assert_true(code->id != id);
	id = code->id;
	codes_round(codes);
	assert_int_equal(codes_at(codes, CODE)->id, id);
	put(CODE + o.code.name, NAME, 8);
	put_text(FILE_NAME, "/jab.py", 7, 1, true);   /* another text at the same place, all else is equal */
	codes_round(codes);
	id = codes_at(codes, CODE)->id;
	put_text(FILE_NAME, "/job.py", 7, 1, true);
	codes_round(codes);
	code = codes_at(codes, CODE);
	assert_string_equal(code->file, "/job.py");
	assert_true(code->id != id);
	put_text(NAME, "ran", 3, 1, true);
	codes_round(codes);
	assert_string_equal(codes_at(codes, CODE)->name, "ran");
	put(TABLE + o.bytes.length, UINT64_MAX, 8);
	put(CODE + o.code.first_line, 9, 4);
	codes_round(codes);
	assert_int_equal(codes_line(codes, codes_at(codes, CODE), CODE + o.code.instructions + 20), 0);
	assert_null(codes_at(codes, BASE + SIZE - 8));
	codes_free(codes);
}

/* Each round has other code objects: so many fit only if those of earlier rounds go. */
TEST(new_code_objects_for_ever)
{
	enum { MANY = 4096 };
	struct codes *codes;

	begin_as(0x030c0000);
	put_code("run");
	f.copied = CODE;
	f.size = o.code.size;
	codes = codes_new(&f.memory, &o, TYPE);
	for (uint64_t i = 0; i < CODES_MOST + 2 * MANY; i++) {
		if (i % MANY == 0)
			codes_round(codes);
		assert_non_null(codes_at(codes, COPIES + i * o.code.size));
	}
	codes_free(codes);
}

/* ---- frames ---------------------------------------------------------------------------- */

enum { THREAD = BASE, CFRAME = BASE + 0x800, FRAMES = BASE + 0x2000, STEP = 0x80 };

static struct frames stack;
static struct frames_guess guess;
static size_t most = FRAMES_MOST;

static uint64_t frame_of(int i)
{
	return FRAMES + (uint64_t)i * STEP;
}

static void put_frame(int i, uint64_t previous, uint64_t code)
{
	put(frame_of(i) + o.frame.previous, previous, 8);
	put(frame_of(i) + o.frame.code, code, 8);
	put(frame_of(i) + o.frame.place, code + 2, 8);
}

static void set_top(uint64_t top)
{
	put(CFRAME, top, 8);
}

/* n frames; number i, whose code is 0x1000 * (i + 1), was called from i - 1. */
static void put_stack(int n)
{
	begin_as(0x030c0000);
	guess = (struct frames_guess){ 0 };
	put(THREAD + o.thread.frame, CFRAME, 8);
	for (int i = 0; i < n; i++)
		put_frame(i, i ? frame_of(i - 1) : 0, 0x1000u * (unsigned int)(i + 1));
	set_top(n ? frame_of(n - 1) : 0);
}

static int read_stack(void)
{
	stack.most = most;
	return frames_read(&stack, &guess, &f.memory, &o, THREAD);
}

TEST(stacks)
{
	int reads;

	put_stack(0);
	assert_int_equal(read_stack(), 0);
	assert_int_equal(stack.n, 0);
	put_stack(40);
	put(frame_of(3) + o.frame.owner, OFFSETS_OWNER_C, 1);
	for (int round = 0; round < 2; round++) {   /* the second time from the guess */
		reads = f.reads;
		assert_int_equal(read_stack(), 0);
		assert_int_equal(stack.n, 40);
		assert_false(stack.cut);
		for (int i = 0; i < 40; i++) {
			assert_int_equal(stack.v[39 - i].code, 0x1000 * (i + 1));
			assert_int_equal(stack.v[39 - i].script, i != 3);
		}
	}
	assert_true(f.reads - reads <= 40 + 4);
}

TEST(a_reading_ends_at_its_time)
{
	struct memory own = memory_of(getpid());
	uint64_t here = 7, word = 0;

	assert_int_equal(memory_word(&own, (uintptr_t)&here, &word), 0);
	own.until = 1;
	assert_int_equal(memory_word(&own, (uintptr_t)&here, &word), -ETIME);
	assert_int_equal(word, 7);
}

/* Over several pages, the lowest of which is not there. What does not fit are the outermost frames. */
TEST(deep_stacks_are_read_in_blocks)
{
	enum { DEEP = (SIZE - 0x1000) / STEP, FIRST = -0x1000 / STEP };   /* behind the thread's own */

	put_stack(0);
	for (int i = 0; i < DEEP; i++)
		put_frame(FIRST + i, i ? frame_of(FIRST + i - 1) : 0, 0x1000u * (unsigned int)(i + 1));
	set_top(frame_of(FIRST + DEEP - 1));
	assert_int_equal(read_stack(), 0);
	assert_int_equal(stack.n, DEEP);
	assert_int_equal(stack.v[DEEP - 1].code, 0x1000);
	assert_true(f.reads < 16);
	most = 10;
	assert_int_equal(read_stack(), 0);
	most = FRAMES_MOST;
	assert_true(stack.n == 10 && stack.cut && stack.v[0].code == 0x1000u * DEEP);
}

TEST(stacks_that_lie)
{
	put_stack(5);
	put(frame_of(0) + o.frame.previous, frame_of(4), 8);   /* a loop */
	assert_int_equal(read_stack(), 0);
	assert_int_equal(stack.n, FRAMES_MOST);
	assert_true(stack.cut);
	put(frame_of(0) + o.frame.previous, BASE + SIZE - 8, 8);
	assert_int_equal(read_stack(), -EAGAIN);
	put(frame_of(0) + o.frame.previous, UINT64_MAX, 8);
	assert_int_equal(read_stack(), -EAGAIN);
	put(THREAD + o.thread.frame, 8, 8);
	assert_int_equal(read_stack(), -EAGAIN);
	/* a coroutine that is suspended has no caller; the thread is in the same frame again when it is looked at again */
	put_stack(5);
	put(frame_of(2) + o.frame.owner, OFFSETS_OWNER_GENERATOR, 1);
	assert_int_equal(read_stack(), 0);
	assert_int_equal(stack.n, 5);
	put(frame_of(2) + o.frame.previous, 0, 8);
	assert_int_equal(read_stack(), -EAGAIN);
}

/* Whatever is read: the top frame was called, or has returned, before the last look. */
static int change_at;
static uint64_t new_top;

static void change(int read)
{
	if (read == change_at)
		set_top(new_top);
}

TEST(stacks_that_change)
{
	for (change_at = 2; change_at < 4; change_at++) {
		put_stack(5);
		f.before = change;
		new_top = frame_of(3);   /* returned */
		assert_int_equal(read_stack(), 0);
		assert_true(stack.v[0].addr == frame_of(4) || stack.v[0].addr == frame_of(3));
		for (int other = 5; other <= 6; other++) {
			put_stack(5);
			f.before = change;
			put_frame(other, other == 5 ? frame_of(4) : 0, 0x9000);
			new_top = frame_of(other);   /* called another, or another stack: read again, and then it is the same */
			assert_int_equal(read_stack(), 0);
		}
		assert_int_equal(stack.v[0].addr, frame_of(6));
		assert_int_equal(stack.n, 1);
	}
}

static void flip(int read)
{
	set_top(read / 7 % 2 ? frame_of(4) : frame_of(6));
}

TEST(stacks_that_always_change)
{
	put_stack(5);
	put_frame(6, 0, 0x9000);
	f.before = flip;
	for (int i = 0; i < 50; i++) {
		int rc = read_stack();

		assert_true(rc == 0 || rc == -EAGAIN);
		if (!rc)
			assert_true(stack.n == 1 || stack.n == 5);
	}
}

/* ---- offsets --------------------------------------------------------------------------- */

TEST(stated_offsets)
{
	static const uint32_t wrong[] = { 0x030e0000, 0x03080000, 0x030f0000, 0x020c0000, 0 };

	begin();
	assert_int_equal(offsets_stated(&f.memory, BASE), 0);
	memcpy(f.bytes, "xdebugpy", 8);
	put(BASE + 8, 0x030d05f0, 8);
	assert_int_equal(offsets_stated(&f.memory, BASE), 0x030d05f0);
	put(BASE + 232, 8, 8);       /* frame.previous */
	assert_int_equal(offsets_of(&o, &f.memory, BASE, 0x030d05f0), 0);
	assert_int_equal(o.frame.previous, 8);
	assert_true(o.frame.size <= OFFSETS_FRAME && o.thread.size <= OFFSETS_THREAD && o.code.size <= OFFSETS_CODE);
	for (uint64_t at = 24; at < 656; at += 8) {   /* none may lead beyond what is read */
		begin();
		memcpy(f.bytes, "xdebugpy", 8);
		put(BASE + at, UINT64_MAX - 7, 8);
		for (uint32_t version = 0x030d0000; version <= 0x030e0000; version += 0x10000)
			if (!offsets_of(&o, &f.memory, BASE, version))
				assert_true(o.frame.size <= OFFSETS_FRAME && o.thread.size <= OFFSETS_THREAD &&
					    o.code.size <= OFFSETS_CODE && o.text.size <= OFFSETS_TEXT);
	}
	begin();
	put(BASE + 16, 1, 8);        /* without a GIL */
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(offsets_of(&o, &f.memory, BASE, wrong[i]), -ENOTSUP);
	assert_int_equal(offsets_of(&o, &f.memory, BASE + SIZE - 8, 0x030d0000), -EFAULT);
}

/* ---- images ---------------------------------------------------------------------------- */

static uint64_t c_library;

static int find_library(struct dl_phdr_info *info, size_t size, void *name)
{
	if (strstr(info->dlpi_name, name))
		c_library = info->dlpi_addr;   /* its first segment is linked at 0 */
	return c_library != 0;
}

/* Symbols of a real library: this program's own C library. */
TEST(symbols)
{
	const struct memory own = memory_of(getpid());
	struct image image;
	uint64_t addr = 0;
	char *const *there;

	dl_iterate_phdr(find_library, (void *)(uintptr_t)"libc.so");
	if (!c_library) {
		printf("# skip: the C library is not shared\n");
		skip();
	}
	assert_int_equal(image_open(&image, &own, c_library), 0);
	assert_int_equal(image_symbol(&image, "program_invocation_name", &addr), 0);
	there = (char *const *)(uintptr_t)addr;
	assert_non_null(there);
	assert_int_equal(image_symbol(&image, "no_such_symbol_anywhere", &addr), -ENOENT);
	assert_int_equal(image_open(&image, &own, 0), -EFAULT);
	assert_int_equal(image_open(&image, &own, (uint64_t)(uintptr_t)*there), -ENOEXEC);
}

/* An image in a fake memory whose bytes are replaced one after the other: every answer is an error or an address. */
TEST(damaged_images)
{
	struct fake whole;
	struct image image;
	uint64_t addr;
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB }, .e_phoff = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 };
	Elf64_Phdr segments[] = { { .p_type = PT_LOAD, .p_memsz = SIZE },
				  { .p_type = PT_DYNAMIC, .p_vaddr = 0x400, .p_memsz = 5 * sizeof(Elf64_Dyn) } };
	Elf64_Dyn dynamic[] = { { DT_SYMTAB, { 0x800 } }, { DT_STRTAB, { 0xa00 } }, { DT_GNU_HASH, { BASE + 0xc00 } }, { DT_NULL, { 0 } } };
	Elf64_Sym sym = { .st_name = 1, .st_shndx = 1, .st_value = 0x1234 };
	uint32_t gnu[] = { 1, 1, 1, 0, 0, 0, 1, 0 };   /* one bucket, symbols from 1 on, one word of the filter; bucket; hash */

	begin();
	for (const char *p = (gnu[7] = 5381, "_PyRuntime"); *p; p++)
		gnu[7] = gnu[7] * 33 + (unsigned char)*p;
	gnu[7] |= 1;
	memcpy(f.bytes, &head, sizeof(head));
	memcpy(f.bytes + sizeof(head), segments, sizeof(segments));
	memcpy(f.bytes + 0x400, dynamic, sizeof(dynamic));
	memcpy(f.bytes + 0x800 + sizeof(sym), &sym, sizeof(sym));
	memcpy(f.bytes + 0xa00, "\0_PyRuntime", 12);
	memcpy(f.bytes + 0xc00, gnu, sizeof(gnu));
	assert_int_equal(image_open(&image, &f.memory, BASE), 0);
	assert_int_equal(image_symbol(&image, "_PyRuntime", &addr), 0);
	assert_int_equal(addr, BASE + 0x1234);
	whole = f;
	for (int i = 0; i < 0xc20; i++)
		for (int v = 0; v < 256; v += 51) {
			f = whole;
			f.bytes[i] = (char)v;
			if (!image_open(&image, &f.memory, BASE))
				image_symbol(&image, "_PyRuntime", &addr);
			assert_true(f.reads < 10000);
		}
	f = whole;
	f.bytes[EI_CLASS] = ELFCLASS32;
	assert_int_equal(image_open(&image, &f.memory, BASE), -EMEDIUMTYPE);
}
