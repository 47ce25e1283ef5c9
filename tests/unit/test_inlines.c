/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined functions and lines: programs made by the compiler here, in which the truth is
 * marked by symbols; DWARF written by hand that lies, nests without end or goes in circles;
 * tables that another process got wrong. */
#include "checks.h"
#include "tree.h"

#include "symbols/dso.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/dwarf/spans.h"
#include "symbols/dwarf/unit_map.h"
#include "symbols/parser_kinds.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { MAX = 64 };

/* A guest has none. */
#define NEED_COMPILER                                                                              \
	do {                                                                                       \
		if (system("command -v g++ >/dev/null 2>&1 && command -v objcopy >/dev/null 2>&1")) { \
			print_message("# skip: needs g++ and objcopy\n");                               \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static char folder[] = "/tmp/inlines-XXXXXX";

__attribute__((format(printf, 1, 2)))
static int run(const char *fmt, ...)
{
	char command[1024];
	size_t n = (size_t)snprintf(command, sizeof(command), "cd %s && ", folder);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command + n, sizeof(command) - n, fmt, ap);
	va_end(ap);
	return system(command);
}

static int open_in_folder(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static uint64_t address_of(const char *program, const char *symbol)
{
	unsigned long long at = 0;
	char command[256];
	FILE *p;

	snprintf(command, sizeof(command), "nm %s/%s | awk '$3 == \"%s\" { print $1 }'", folder, program, symbol);
	p = popen(command, "r");
	assert_non_null(p);
	assert_int_equal(fscanf(p, "%llx", &at), 1);
	pclose(p);
	return at;
}

/* ---- the truth -------------------------------------------------------------- */

static const char source[] =
	"#define MARK(name) __asm__ volatile(\".globl \" #name \"\\n\" #name \":\\n\\tnop\")\n"   /* 1 */
	"volatile int sink;\n"
	"namespace shop {\n"
	"template <class T> struct till {\n"
	"	T sum = 0;\n"                                                                      /* 5 */
	"	__attribute__((always_inline)) inline void add(T x) {\n"
	"		sum += x; MARK(in_add); sink++;\n"                                         /* 7 */
	"	}\n"
	"};\n"
	"static __attribute__((always_inline)) inline int pay(till<long> &t, int x)\n"            /* 10 */
	"{\n"
	"	t.add(x);\n"                                                                       /* 12 */
	"	MARK(in_pay); sink++;\n"                                                           /* 13 */
	"	return (int)t.sum;\n"
	"}\n"
	"}\n"
	"extern \"C\" __attribute__((noinline,noclone)) int outer(int x)\n"                       /* 17 */
	"{\n"
	"	shop::till<long> t;\n"
	"	int y = shop::pay(t, x);\n"                                                        /* 20 */
	"	MARK(in_outer); sink++;\n"                                                         /* 21 */
	"	return y;\n"
	"}\n"
	"__attribute__((noinline,noclone)) int nobody_calls(int x)   // its DWARF stays, at 0\n"
	"{\n"
	"	return x * sink;\n"
	"}\n"
	"int main(int argc, char **) { return outer(argc); }\n";                                  /* 28 */

static int build(const char *options, const char *link)
{
	return run("g++ -O2 -g %s -c -o truth.o truth.cc 2>err && "
		   "g++ %s -o truth truth.o 2>err", options, link);
}

struct truth {
	const char *name, *file;
	uint32_t line;
};

static void check_frame(const struct inline_frame *f, const struct truth *t, bool inlined)
{
	const char *base = f->file ? strrchr(f->file, '/') : NULL;

	assert_non_null(f->name);
	assert_string_equal(f->name, t->name);
	assert_non_null(base);
	assert_string_equal(base + 1, t->file);
	ARE(NUMBERS(f->line, f->inlined), NUMBERS(t->line, inlined));
}

static void check(struct inlines *in, const char *mark, const struct truth *truth, size_t n)
{
	struct inline_frame frames[MAX];

	assert_int_equal(inlines_find(in, address_of("truth", mark), frames, MAX), n);
	for (size_t i = 0; i < n; i++)
		check_frame(&frames[i], &truth[i], i + 1 < n);
}

static void check_truth(struct parser *p)
{
	/* pay() is static: the compiler gives it no linkage name, only the namespace around its entry */
	static const struct truth add[] = { { "shop::till<long>::add", "truth.cc", 7 },
					    { "shop::pay", "truth.cc", 12 }, { "outer", "truth.cc", 20 } };
	static const struct truth pay[] = { { "shop::pay", "truth.cc", 13 }, { "outer", "truth.cc", 20 } };
	static const struct truth outer[] = { { "outer", "truth.cc", 21 } };
	int fd = open_in_folder("truth");
	struct inlines *in = inlines_new(p, fd);
	struct inline_frame frame;

	assert_non_null(in);
	check(in, "in_add", add, 3);
	check(in, "in_pay", pay, 2);
	check(in, "in_outer", outer, 1);
	assert_int_equal(inlines_find(in, address_of("truth", "in_add"), &frame, 1), 1);
	assert_string_equal(frame.name, add[0].name);
	assert_int_equal(inlines_find(in, 0, &frame, 1), 0);
	assert_int_equal(inlines_find(in, 8, &frame, 1), 0);
	assert_int_equal(inlines_find(in, UINT64_MAX, &frame, 1), 0);
	assert_true(inlines_bytes(in) > 500);
	inlines_free(in);
	close(fd);
}

static const struct {
	const char *compile, *link, *then;
} ways[] = {
	{ "-gdwarf-5", "", NULL }, { "-gdwarf-4", "", NULL }, { "-gdwarf-5 -gdwarf64", "", NULL },
	{ "-gdwarf-5 -fno-pie", "-no-pie", NULL },
	{ "-gdwarf-4 -fno-pie -ffunction-sections", "-no-pie -Wl,--gc-sections", NULL },
	{ "-gdwarf-5 -ffunction-sections", "-Wl,--gc-sections", NULL },
	{ "-gdwarf-5", "-Wl,--compress-debug-sections=zlib", NULL },
	{ "-gdwarf-4", "-Wl,--compress-debug-sections=zlib-gnu", NULL },
	{ "-gdwarf-5", "", "objcopy --only-keep-debug truth truth.debug && mv truth.debug truth" },
	{ "-gdwarf-5 -fdebug-types-section", "", NULL },
};

TEST(test_truth)
{
	NEED_COMPILER;
	tree_put(folder, "truth.cc", source);
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct parser *here = parser_new_all(&(struct parser_opts){ PARSER_HERE });
		struct parser *apart = i ? NULL : parser_new_all(&(struct parser_opts){ PARSER_APART });

		print_message("# %s %s\n", ways[i].compile, ways[i].link);
		assert_int_equal(build(ways[i].compile, ways[i].link), 0);
		if (ways[i].then)
			assert_int_equal(run("%s", ways[i].then), 0);
		check_truth(NULL);
		check_truth(here);
		parser_free(here);
		if (i)
			continue;
		assert_non_null(apart);
		check_truth(apart);
		assert_int_equal(parser_deaths(apart), 0);
		parser_free(apart);
	}
}

/* What no other unit can call has no linkage name, but a scope: GCC's entries of it differ from clang's. */
static const char scopes[] =
	"#define MARK(name) __asm__ volatile(\".globl \" #name \"\\n\" #name \":\\n\\tnop\")\n"    /* 1 */
	"#define ALWAYS inline __attribute__((always_inline))\n"
	"volatile int sink;\n"
	"namespace shop { namespace {\n"
	"struct Pair { ALWAYS void bump(int x) { MARK(in_bump); sink = x; } };\n"                /* 5 */
	"ALWAYS void hidden(int x) { MARK(in_hidden); sink = x; }\n"
	"} }\n"
	"static ALWAYS void alone(int x) { MARK(in_alone); sink = x; }\n"
	"extern \"C\" __attribute__((noinline,noclone)) void outer(int x)\n"
	"{\n"                                                                                   /* 10 */
	"	struct Local { ALWAYS void go(int x) { MARK(in_go); sink = x; } } local;\n"
	"	auto lambda = [](int x) __attribute__((always_inline)) { MARK(in_lambda); sink = x; };\n"
	"	auto generic = [](auto x) __attribute__((always_inline)) { MARK(in_generic); sink = x; };\n"
	"	shop::Pair pair;\n"
	"	pair.bump(x); shop::hidden(x); alone(x); local.go(x); lambda(x); generic(x);\n"       /* 15 */
	"}\n"
	"int main(int argc, char **) { outer(argc); }\n";

TEST(test_scopes)
{
	static const struct {
		const char *mark, *name;
	} inner[] = {
		{ "in_bump", "shop::(anonymous namespace)::Pair::bump" },
		{ "in_hidden", "shop::(anonymous namespace)::hidden" }, { "in_alone", "alone" },
		{ "in_go", "outer::Local::go" }, { "in_lambda", "outer::{lambda at scopes.cc:12}" },
		{ "in_generic", "outer::{lambda at scopes.cc:13}" },
	};
	static const char *const compilers[] = { "g++ -gdwarf-5", "g++ -gdwarf-4", "clang++ -gdwarf-5" };

	NEED_COMPILER;
	tree_put(folder, "scopes.cc", scopes);
	for (size_t c = 0; c < COUNT(compilers); c++) {
		struct inline_frame frames[MAX];
		struct inlines *in;
		int fd;

		if (run("%s -O1 -o scopes scopes.cc 2>err", compilers[c])) {
			print_message("# left out: %s\n", compilers[c]);
			assert_int_not_equal(c, 0);
			continue;
		}
		fd = open_in_folder("scopes");
		in = inlines_new(NULL, fd);
		for (size_t i = 0; i < COUNT(inner); i++) {
			assert_int_equal(inlines_find(in, address_of("scopes", inner[i].mark), frames, MAX), 2);
			print_message("# %s: %s\n", compilers[c], frames[0].name);
			assert_string_equal(frames[0].name, inner[i].name);
			assert_string_equal(frames[1].name, "outer");
		}
		inlines_free(in);
		close(fd);
	}
}

/* Where the truth's inlined functions are described, for who looks up one of them by its path. */
static void are_elsewhere(const char *where)
{
	struct parser *here = parser_new_all(&(struct parser_opts){ PARSER_HERE });
	struct dsos *d = dsos_new(&opener_direct, 1 << 20);
	struct inline_frame frames[MAX];
	struct dso_id id = { .has_inode = true };
	char path[128];
	struct dso *dso;
	struct stat st;

	snprintf(path, sizeof(path), "%s/truth", folder);
	assert_int_equal(stat(path, &st), 0);
	id.ino = st.st_ino;
	id.maj = major(st.st_dev);
	id.min = minor(st.st_dev);
	dsos_use(d, here, 0);
	dso = dso_get(d, path, &id, 0);
	assert_non_null(dso);
	assert_null(dso_lacks_inlines(dso));
	dso_inlines(d, dso, address_of("truth", "in_add"), frames, MAX);
	if (where)
		assert_non_null(strstr(dso_lacks_inlines(dso), where));
	else
		assert_null(dso_lacks_inlines(dso));
	dso_put(d, dso);
	dsos_free(d);
	parser_free(here);
}

TEST(test_split)
{
	NEED_COMPILER;
	tree_put(folder, "truth.cc", source);
	assert_int_equal(build("-gdwarf-5", ""), 0);
	are_elsewhere(NULL);
	for (int version = 4; version <= 5; version++) {
		assert_int_equal(build(version == 4 ? "-gdwarf-4 -gsplit-dwarf" : "-gdwarf-5 -gsplit-dwarf", ""), 0);
		are_elsewhere(".dwo");
	}
}

TEST(test_alt)
{
	struct inline_frame frames[MAX];
	struct inlines *in;
	int fd, alt;

	if (system("command -v dwz >/dev/null")) {
		print_message("# skip: needs dwz\n");
		skip();
	}
	tree_put(folder, "truth.cc", source);
	assert_int_equal(build("-gdwarf-4", "-Wl,--build-id"), 0);
	assert_int_equal(run("cp truth other && dwz -m common -r truth other 2>err"), 0);
	fd = open_in_folder("truth");
	alt = open_in_folder("common");
	in = inlines_new(NULL, fd);
	assert_non_null(inlines_alt(in));
	assert_string_equal(inlines_alt(in)->path, "common");
	inlines_use_alt(in, alt);
	assert_int_equal(inlines_find(in, address_of("truth", "in_add"), frames, MAX), 3);
	assert_non_null(strstr(frames[1].name, "pay"));   /* the scopes of entries that dwz moved are not known */
	inlines_free(in);
	in = inlines_new(NULL, fd);      /* without it, or with a wrong one, there is less */
	inlines_use_alt(in, fd);
	assert_true(inlines_find(in, address_of("truth", "in_add"), frames, MAX) <= 3);
	inlines_free(in);
	close(fd);
	close(alt);
	are_elsewhere(NULL);             /* it is beside the program */
	assert_int_equal(run("rm common"), 0);
	are_elsewhere("common");
}

/* ---- damage ----------------------------------------------------------------- */

/* Each address of a damaged file may have any answer. */
static void ask_everywhere(int fd)
{
	struct inline_frame frames[MAX];
	struct inlines *in = inlines_new(NULL, fd);

	for (uint64_t at = 0; at < 0x5000; at += 7) {
		size_t n = inlines_find(in, at, frames, MAX);

		assert_true(n <= MAX);
		for (size_t i = 0; i < n; i++)
			assert_true(!frames[i].name || strlen(frames[i].name) < 1 << 20);
	}
	inlines_free(in);
}

TEST(test_damage)
{
	NEED_COMPILER;
	uint64_t random = 88172645463325252ull;
	struct stat st;
	char *image;
	int fd;

	tree_put(folder, "truth.cc", source);
	assert_int_equal(build("-gdwarf-5", ""), 0);
	fd = open_in_folder("truth");
	assert_int_equal(fstat(fd, &st), 0);
	image = malloc((size_t)st.st_size);
	assert_non_null(image);
	for (int round = 0; round < 300; round++) {
		size_t size = (size_t)st.st_size;

		assert_int_equal(pread(fd, image, size, 0), size);
		for (int i = 0; i < 1 + round % 40; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* code is of no interest, sections of DWARF come behind it */
			image[size / 5 + random % (size - size / 5)] = (char)(random >> 32);
		}
		tree_put_bytes(folder, "damaged", image, round % 3 ? size : size - random % (size / 2));
		close(fd);
		fd = open_in_folder("damaged");
		ask_everywhere(fd);
		close(fd);
		fd = open_in_folder("truth");
	}
	close(fd);
	free(image);
}

/* A unit with the entries of `body`, at the code of f(). 1: the unit; 2: a lexical block with
 * children; 3: a function (low, high) with children; 4: an inlined one of an origin (low, high)
 * without children; 5: a function that has just an origin; 6: one with a linkage name. */
static int assemble(const char *body)
{
	static const char before[] =
		".text\n.globl f\n.type f,@function\nf:\n.fill 4096,1,0x90\nf_end:\n.size f,.-f\n"
		".section .debug_abbrev,\"\",@progbits\n"
		".uleb128 1,0x11\n.byte 1\n.uleb128 0x11,1,0x12,1,0,0\n"
		".uleb128 2,0x0b\n.byte 1\n.uleb128 0,0\n"
		".uleb128 3,0x2e\n.byte 1\n.uleb128 0x3,0x8,0x11,1,0x12,1,0,0\n"
		".uleb128 4,0x1d\n.byte 0\n.uleb128 0x31,0x13,0x11,1,0x12,1,0,0\n"
		".uleb128 5,0x2e\n.byte 0\n.uleb128 0x31,0x13,0,0\n"
		".uleb128 6,0x2e\n.byte 0\n.uleb128 0x6e,0x8,0,0\n"
		".uleb128 7,0x1d\n.byte 0\n.uleb128 0x31,0x13,0x55,0x17,0,0\n"
		".byte 0\n"
		".section .debug_ranges,\"\",@progbits\nlist:\n"
		".rept 100000\n.quad 16,32\n.endr\n.quad 0,0\n"
		".section .debug_info,\"\",@progbits\ninfo:\n.4byte end-begin\nbegin:\n.2byte 4\n"
		".4byte .debug_abbrev\n.byte 8\n.uleb128 1\n.quad f,f_end\n";
	char text[4096];

	assert_true((size_t)snprintf(text, sizeof(text), "%s%s\nend:\n", before, body) < sizeof(text));
	tree_put(folder, "hand.s", text);
	return run("gcc -shared -nostdlib -o hand hand.s 2>err");
}

static struct inline_frame frames[MAX];

static size_t ask_hand(uint64_t into)
{
	static struct inlines *in;
	static int fd = -1;

	inlines_free(in);        /* names live until the next call */
	if (fd >= 0)
		close(fd);
	fd = open_in_folder("hand");
	in = inlines_new(NULL, fd);
	return inlines_find(in, address_of("hand", "f") + into, frames, MAX);
}

/* One frame of that name; NULL: none. */
static void is_in(uint64_t into, const char *name)
{
	assert_int_equal(ask_hand(into), name != NULL);
	if (name)
		assert_string_equal(frames[0].name, name);
}

TEST(test_circle)
{
	NEED_COMPILER;

	/* two entries, each the origin of the other, and one that is its own */
	assert_int_equal(assemble(".uleb128 3\n.asciz \"outer\"\n.quad f,f_end\n"
				  "one: .uleb128 5\n.4byte two-info\n"
				  "two: .uleb128 5\n.4byte one-info\n"
				  "self: .uleb128 4\n.4byte self-info\n.quad f+16,f+32\n"
				  ".uleb128 4\n.4byte one-info\n.quad f+48,f+64\n"
				  ".uleb128 4\n.4byte 0x7fffffff\n.quad f+80,f+96\n.byte 0,0\n"), 0);
	for (uint64_t at = 16; at <= 80; at += 32) {
		assert_int_equal(ask_hand(at), 2);
		assert_null(frames[0].name);
		assert_true(frames[0].inlined);
		assert_string_equal(frames[1].name, "outer");
	}
}

TEST(test_deep)
{
	NEED_COMPILER;

	/* a function, and then blocks in blocks: it has been read by then */
	assert_int_equal(assemble(".uleb128 3\n.asciz \"outer\"\n.quad f,f_end\n"
				  ".rept 300000\n.uleb128 2\n.endr\n"), 0);
	is_in(5, "outer");
	/* functions in functions */
	assert_int_equal(assemble(".rept 100000\n.uleb128 3\n.asciz \"f\"\n.quad f,f_end\n.endr\n"), 0);
	assert_int_equal(ask_hand(5), 1);
}

TEST(test_overlap)
{
	NEED_COMPILER;

	/* b begins in a and ends behind it; c lies at the very place of b; d in no code */
	assert_int_equal(assemble(".uleb128 3\n.asciz \"a\"\n.quad f,f+64\n.byte 0\n"
				  ".uleb128 3\n.asciz \"b\"\n.quad f+32,f+96\n.byte 0\n"
				  ".uleb128 3\n.asciz \"c\"\n.quad f+32,f+96\n.byte 0\n"
				  ".uleb128 3\n.asciz \"d\"\n.quad 0,0x7fffffffffffffff\n.byte 0\n"
				  ".uleb128 3\n.asciz \"e\"\n.quad -1,-1\n.byte 0\n"
				  ".uleb128 3\n.asciz \"z\"\n.quad f+128,f+100\n.byte 0,0\n"), 0);
	is_in(40, "a");
	is_in(70, "b");
	is_in(110, NULL);
	is_in(128, NULL);
}

/* 100,000 functions whose ranges are one list of 100,000: given up, and soon. */
TEST(test_bomb)
{
	NEED_COMPILER;
	struct timespec begin, end;

	assert_int_equal(assemble(".uleb128 3\n.asciz \"outer\"\n.quad f,f_end\n"
				  "at: .rept 100000\n.uleb128 7\n.4byte at-info\n.4byte list\n.endr\n.byte 0,0\n"),
			 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	is_in(20, NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_true(end.tv_sec - begin.tv_sec < 15);
}

/* ---- tables ----------------------------------------------------------------- */

struct table {
	struct inline_head head;
	uint32_t starts[2], nodes_at[2];
	struct inline_node nodes[3];
	uint32_t rows_at[2];
	struct inline_row rows[2];
	char strings[8];
};

static const struct table good = {
	.head = { 0x1000, 2, 3, 2, 8 },
	.starts = { 0, 16 }, .nodes_at = { 2, 1 },
	.nodes = { { 0 }, { 0, 1, 0, 0 }, { 1, 3, 5, 9 } },
	.rows_at = { 0, 32 }, .rows = { { 5, 7 }, { 0, 0 } },
	.strings = "\0a\0b\0cc",
};

TEST(test_tables)
{
	struct inline_table *table = inline_table_unpack(&good, sizeof(good));
	struct inline_frame f[MAX];

	assert_non_null(table);
	assert_int_equal(inline_table_find(table, 0x1000, f, MAX), 2);
	assert_string_equal(f[0].name, "b");
	assert_int_equal(f[0].line, 7);
	assert_string_equal(f[1].name, "a");
	assert_int_equal(f[1].line, 9);
	assert_int_equal(inline_table_find(table, 0x1010, f, MAX), 1);
	assert_int_equal(inline_table_find(table, 0xfff, f, MAX), 0);
	inline_table_free(table);
	for (size_t size = 0; size < sizeof(good); size++)
		assert_null(inline_table_unpack(&good, size));
}

/* Each change to what is good is refused. */
#define REFUSED(type, unpack, whole, change) \
	do { \
		struct type t = whole; \
		t.change; \
		assert_null(unpack(&t, sizeof(t))); \
	} while (0)
#define BAD(change) REFUSED(table, inline_table_unpack, good, change)
#define BAD_MAP(change) REFUSED(map, unit_map_unpack, good_map, change)

TEST(test_bad_tables)
{
	BAD(head.nspans = 3);
	BAD(head.nspans = UINT32_MAX);
	BAD(head.nnodes = 0);
	BAD(head.nnodes = UINT32_MAX);
	BAD(head.nstrings = 0);
	BAD(starts[1] = 0);          /* not ascending */
	BAD(nodes_at[0] = 3);        /* there are three */
	BAD(nodes[0].parent = 1);
	BAD(nodes[1].parent = 1);    /* itself */
	BAD(nodes[1].parent = 2);    /* a circle */
	BAD(nodes[2].name = 8);
	BAD(nodes[2].call_file = 1u << 31);
	BAD(rows_at[1] = 0);
	BAD(rows[0].file = 8);
	BAD(strings[0] = 'x');
	BAD(strings[7] = 'x');       /* no end */
}

struct map {
	struct unit_map_head head;
	uint32_t starts[3], units[3];
};

static const struct map good_map = { { 0x1000, 3, 2 }, { 0, 16, 32 }, { 1, 2, 0 } };

TEST(test_maps)
{
	struct unit_map *map = unit_map_unpack(&good_map, sizeof(good_map));

	assert_non_null(map);
	ARE(NUMBERS(unit_map_find(map, 0xfff), unit_map_find(map, 0x1000), unit_map_find(map, 0x101f)), NUMBERS(NO_UNIT, 0, 1));
	assert_int_equal(unit_map_find(map, 0x1020), NO_UNIT);
	unit_map_free(map);
	BAD_MAP(units[0] = 3);
	BAD_MAP(starts[1] = 0);
	BAD_MAP(head.nspans = UINT32_MAX);
	assert_null(unit_map_unpack(&good_map, sizeof(good_map) - 1));
}

/* ---- spans ------------------------------------------------------------------ */

static uint32_t meant(const struct span *all, size_t n, uint64_t at)
{
	const struct span *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (at >= all[i].start && at < all[i].end &&
		    (!best || all[i].depth > best->depth ||
		     (all[i].depth == best->depth && all[i].value < best->value)))
			best = &all[i];
	return best ? best->value : 0;
}

static uint32_t value_at(const struct flat_span *flat, size_t n, uint64_t at)
{
	uint32_t value = 0;

	for (size_t i = 0; i < n && flat[i].start <= at; i++)
		value = flat[i].value;
	return value;
}

TEST(test_spans)
{
	uint64_t random = 1234567;

	for (int round = 0; round < 500; round++) {
		struct spans s = { 0 };
		struct flat_span *flat;
		size_t n, count = (size_t)round % 40;

		for (size_t i = 0; i < count; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			assert_int_equal(spans_add(&s, random >> 58, (random >> 58) + (random >> 40) % 30,
						   (uint32_t)i + 1, (random >> 30) % 4), 0);
		}
		flat = spans_flatten(&s, &n);
		assert_non_null(flat);
		assert_true(n <= 2 * s.n + 1);
		for (uint64_t at = 0; at < 100; at++)
			assert_int_equal(value_at(flat, n, at), meant(s.all, s.n, at));
		for (size_t i = 1; i < n; i++)
			assert_true(flat[i - 1].start < flat[i].start);
		free(flat);
		spans_free(&s);
	}
}

static int setup(void **state)
{
	return mkdtemp(folder) ? chmod(folder, 0755) : -1;
}

static int teardown(void **state)
{
	return run("cd / && rm -rf %s", folder);
}

AROUND_ALL(setup, teardown)
