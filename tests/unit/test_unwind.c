/* SPDX-License-Identifier: Apache-2.0 */
/* Callers by CFI: of this very program, against the compiler's own unwinder (backtrace(3)),
 * through the C library's qsort() and through a signal; and registers, stacks, tables that lie. */
#include "checks.h"

#include "symbols/chain.h"
#include "symbols/dwarf/cfi_known.h"
#include "symbols/dso.h"
#include "symbols/dwarf/unwind.h"
#include "symbols/elf/vdso.h"
#include "symbols/parser_kinds.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <ucontext.h>

enum { MAX = 64, MAX_FILES = 32, STACK = 32 << 10 };

/* Of perf's numbers, all that are general. */
#if defined(__x86_64__)
#define MASK (UINT64_C(0xff01ff))
#elif defined(__aarch64__)
#define MASK ((UINT64_C(1) << 33) - 1)
#else
#define MASK 0
#endif

struct file {
	uint64_t bias, start, end;   /* of its code */
	uint64_t vaddr, offset;      /* where that is in the file */
	struct cfi *cfi;
	int fd;
};

static struct file files[MAX_FILES];
static size_t nfiles, vdso = MAX_FILES;   /* which of them is the vdso */
static struct parser *parser;

static void use(struct dl_phdr_info *info, const char *path)
{
	uint64_t image = getauxval(AT_SYSINFO_EHDR);
	bool is_vdso = image && info->dlpi_addr + info->dlpi_phdr[0].p_vaddr == image;
	struct vdso own;

	vdso_find(&own);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		struct file *f = &files[nfiles];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || nfiles == MAX_FILES)
			continue;
		f->fd = is_vdso ? vdso_file(&own) : open(path, O_RDONLY | O_CLOEXEC);
		if (f->fd < 0)
			return;
		if (is_vdso)
			vdso = nfiles;
		f->bias = info->dlpi_addr;
		f->start = info->dlpi_addr + ph->p_vaddr;
		f->end = f->start + ph->p_memsz;
		f->vaddr = ph->p_vaddr;
		f->offset = ph->p_offset;
		f->cfi = cfi_new(parser, f->fd);
		nfiles++;
	}
}

static int use_file(struct dl_phdr_info *info, size_t size, void *first)
{
	use(info, *(bool *)first ? "/proc/self/exe" : info->dlpi_name);
	*(bool *)first = false;
	return 0;
}

static bool find(void *ctx, uint64_t addr, const struct cfi_rule **rule)
{
	for (size_t i = 0; i < nfiles; i++)
		if (addr >= files[i].start && addr < files[i].end) {
			*rule = cfi_find(files[i].cfi, addr - files[i].bias);
#if defined(__aarch64__)
			/* nothing else in it calls anybody */
			if (!*rule && i == vdso)
				*rule = &cfi_known_arm64_sigreturn;
#endif
			return true;
		}
	return false;
}

/* ---- against the compiler's unwinder ---------------------------------------- */

struct seen {
	uint64_t words[MAX];
	struct chain_address ours[MAX];
	void *theirs[MAX];
	size_t n;
	int n_theirs;
};

static struct seen seen;
static uint64_t regs[40];
static char copied[STACK];

/* As perf has them; returns where the stack begins. */
static uint64_t registers_of(const ucontext_t *u)
{
	size_t n = 0;

#if defined(__x86_64__)
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				     REG_RIP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
				     REG_R15 };

	for (; n < COUNT(order); n++)
		regs[n] = (uint64_t)u->uc_mcontext.gregs[order[n]];
	return (uint64_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	for (; n < 31; n++)
		regs[n] = u->uc_mcontext.regs[n];
	regs[31] = u->uc_mcontext.sp;
	regs[32] = u->uc_mcontext.pc;
	return u->uc_mcontext.sp;
#else
	return n;
#endif
}

/* Up to the thread's first frame there are more than enough bytes: main()'s and those that
 * the kernel put there; as many as there are. No sanitizer looks at it. */
__attribute__((no_sanitize("address")))
static size_t copy_stack(uint64_t sp)
{
	extern char **environ;
	uint64_t end = (uint64_t)(uintptr_t)environ;
	size_t n = end > sp && end - sp < STACK ? end - sp : STACK;

	for (size_t i = 0; i < n / 8; i++)
		((volatile uint64_t *)copied)[i] = ((volatile uint64_t *)(uintptr_t)sp)[i];
	return n & ~7ul;
}

static struct unwind_sample sample_here(const ucontext_t *u)
{
	uint64_t sp = registers_of(u);

	return (struct unwind_sample){ UNWIND_HERE, MASK, regs, copied, copy_stack(sp) };
}

__attribute__((noinline)) static void look(void)
{
	struct unwind_sample s;
	ucontext_t u;

	seen.n_theirs = backtrace(seen.theirs, MAX);
	getcontext(&u);
	s = sample_here(&u);
	seen.n = unwind(&s, find, NULL, seen.words, MAX, NULL);
	seen.n = chain_addresses(seen.words, seen.n, seen.ours);
}

/* All but the first one, which is two places in look(); sanitizers have frames before it. */
static void compare(void)
{
	int extra = 0;

	assert_true(seen.n_theirs > 4);
	while (extra < 3 && seen.ours[1].ip != (uintptr_t)seen.theirs[1 + extra])
		extra++;
	assert_true(seen.n + 1 >= (size_t)(seen.n_theirs - extra));
	for (int i = 1; i + extra < seen.n_theirs; i++)
		assert_int_equal(seen.ours[i].ip, (uintptr_t)seen.theirs[i + extra]);
}

__attribute__((noinline)) static unsigned int deeper(unsigned int n, unsigned int x)
{
	volatile char some[64 + 16];
	unsigned int y;

	some[0] = (char)x;
	if (n)
		y = deeper(n - 1, x * 3) + (unsigned char)some[0];
	else
		look(), y = x;
	return y + (unsigned char)some[0] * n;
}

TEST(test_own_frames)
{
	/* the frame's size is known by no constant: the frame address hangs on another register */
	volatile int n = 100;
	volatile char *p = __builtin_alloca((size_t)n);

	deeper(20, 1);
	assert_true(seen.n > 21);
	compare();
	p[0] = 1;
	deeper(3, (unsigned char)p[0]);
	compare();
}

static int compare_ints(const void *a, const void *b)
{
	if (!seen.n)
		look();
	return *(const int *)a - *(const int *)b;
}

TEST(test_library)
{
	int v[] = { 3, 1, 2 };

	seen.n = 0;
	qsort(v, 3, sizeof(*v), compare_ints);
	compare();
}

static void on_signal(int sig)
{
	look();
}

TEST(test_signal)
{
	struct sigaction a = { .sa_handler = on_signal }, before;
	uint64_t saved = 0;

	sigaction(SIGUSR1, &a, &before);
	seen.n = 0;
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
	compare();
	/* nothing has called the code that ends the signal, nor what was interrupted */
	for (size_t i = 1; i < seen.n; i++)
		saved |= (uint64_t)(seen.ours[i].at == seen.ours[i].ip) << i;
	assert_int_equal(__builtin_popcountll(saved), 2);
	assert_int_equal(saved & -saved, saved / 3);
}

TEST(test_bound)
{
	struct unwind_sample s;
	uint64_t ips[3];
	ucontext_t u;

	getcontext(&u);
	s = sample_here(&u);
	assert_int_equal(unwind(&s, find, NULL, ips, 3, NULL), 3);
	assert_int_equal(unwind(&s, find, NULL, ips, 1, NULL), 1);
	assert_int_equal(unwind(&s, find, NULL, ips, 0, NULL), 0);
	s.stack_size = 0;
	assert_true(unwind(&s, find, NULL, ips, 3, NULL) <= 2);
	s.mask = 1;
	assert_int_equal(unwind(&s, find, NULL, ips, 3, NULL), 0);
}

TEST(test_apart)
{
	for (size_t i = 0; i < nfiles; i++) {
		cfi_free(files[i].cfi);
		files[i].cfi = cfi_new(parser, files[i].fd);
	}
	deeper(5, 2);
	compare();
	assert_int_equal(parser_deaths(parser), 0);
	for (size_t i = 0; i < nfiles; i++)
		assert_true(cfi_bytes(files[i].cfi) < 1 << 20);
}

/* Through the table of files, which reads a file again that nobody wanted callers of so far. */
TEST(test_dso)
{
	const struct file *self = &files[0];
	struct dsos *d = dsos_new(&opener_direct, 1 << 20);
	uint64_t at = (uint64_t)(uintptr_t)look - self->bias, vaddr, into, offset;
	struct dso_id id = { .has_inode = true };
	struct cfi *cfi = NULL;
	const char *name;
	struct dso *dso;
	struct stat st;
	char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(stat(path, &st), 0);
	id.ino = st.st_ino;
	id.maj = major(st.st_dev);
	id.min = minor(st.st_dev);
	offset = at - self->vaddr + self->offset;
	dsos_use(d, parser, 0);
	dso = dso_get(d, path, &id, 0);
	assert_non_null(dso);
	assert_true(dso_find(d, dso, offset, &name, &into));
	assert_string_equal(name, "look");
	assert_true(dso_cfi(d, dso, offset, &cfi, &vaddr));
	assert_int_equal(vaddr, at);
	assert_non_null(cfi);
	assert_non_null(cfi_find(cfi, vaddr));
	assert_true(dso_find(d, dso, offset, &name, &into));
	assert_true(dsos_bytes(d) > cfi_bytes(cfi));
	dso_put(d, dso);
	dsos_free(d);
}

/* ---- hostile ---------------------------------------------------------------- */

static uint64_t random_word(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Anything may be on the stack and in registers: it ends, and within its bound. */
TEST(test_lies)
{
	struct unwind_sample s;
	uint64_t ips[MAX];
	ucontext_t u;

	getcontext(&u);
	for (int round = 0; round < 20000; round++) {
		s = sample_here(&u);
		for (int i = 0; i < 1 + round % 20; i++) {
			uint64_t at = random_word() % (STACK / 8), to = random_word();

			/* into the stack, into code, anywhere */
			((uint64_t *)copied)[at] = round % 3 == 0 ? regs[7] + to % STACK :
				round % 3 == 1 ? files[to % nfiles].start + (to >> 20) % 4096 : to;
			regs[random_word() % 17] = ((uint64_t *)copied)[at];
		}
		s.stack_size = random_word() % (STACK + 1);
		assert_true(unwind(&s, find, NULL, ips, MAX, NULL) <= MAX);
	}
}

static bool endless(void *ctx, uint64_t addr, const struct cfi_rule **rule)
{
	return true;
}

/* A frame pointer that leads to itself, or back. */
TEST(test_circle)
{
	uint64_t words[] = { 0x1000, 0x5000, 0x1000, 0x5000 }, values[9] = { 0 }, ips[MAX];
	struct unwind_sample s = { UNWIND_X86_64, 0x1c0, values, words, sizeof(words) };

	values[0] = 0x1000;      /* rbp, rsp, rip */
	values[1] = 0x1000;
	values[2] = 0x4000;
	assert_int_equal(unwind(&s, endless, NULL, ips, MAX, NULL), 2);
	words[0] = 0x1010;
	assert_int_equal(unwind(&s, endless, NULL, ips, MAX, NULL), 3);
}

/* The caller's frame lies 0x40 bytes behind. */
static bool by_rule(void *ctx, uint64_t addr, const struct cfi_rule **rule)
{
	static const struct cfi_rule far = {
		.cfa = { CFI_REG, 7, .offset = 0x40 }, .regs[16] = { CFI_AT_CFA, .offset = -8 }, .ra = 16,
	};

	if (addr == 0x4000)
		*rule = ctx;
	else
		*rule = &far;
	return true;
}

static enum unwind_end end_of(unwind_code *code, const struct cfi_rule *first, uint64_t next)
{
	/* 0x1000: the caller's frame pointer, and where it goes on */
	uint64_t words[] = { next, 0x5000, 0, 0 }, values[9] = { 0x1000, 0x1000, 0x4000 }, ips[MAX];
	struct unwind_sample s = { UNWIND_X86_64, 0x1c0, values, words, sizeof(words) };
	struct unwind_last last;

	assert_in_range(unwind(&s, code, (void *)(uintptr_t)first, ips, MAX, &last), 2, 3);
	return last.end;
}

/* Frame pointers from the sample's one on: 0x1000, 0x1010, 0x2000, which is not in the copied stack. */
TEST(test_frame_pointers_are_counted)
{
	uint64_t words[] = { 0x1010, 0x5000, 0x2000, 0x5000 }, values[9] = { 0x1000, 0x1000, 0x4000 }, ips[MAX];
	struct unwind_sample s = { UNWIND_X86_64, 0x1c0, values, words, sizeof(words) };
	struct unwind_last last;
	size_t hops;

	for (size_t i = 0; i < 3; i++) {
		assert_true(unwind_hops(&s, (const uint64_t[]){ 0x1000, 0x1010, 0x2000 }[i], &hops));
		assert_int_equal(hops, i);
	}
	assert_false(unwind_hops(&s, 0x1008, &hops));
	assert_int_equal(unwind(&s, endless, NULL, ips, MAX, &last), 3);
	assert_true(last.end == UNWIND_BEHIND && last.has_fp && last.fp == 0x2000);
	words[2] = 0x1000;
	assert_false(unwind_hops(&s, 0x2000, &hops));   /* and ends */
	s.mask = 0x180;
	assert_false(unwind_hops(&s, 0x1000, &hops));
}

/* As Go's tables have it: the frame pointer of a caller is that of a frame further in, from which nothing goes on. */
static bool by_stale_pointer(void *ctx, uint64_t addr, const struct cfi_rule **rule)
{
	static const struct cfi_rule same = {
		.cfa = { CFI_REG, 7, .offset = 0x10 }, .regs = { [6] = { CFI_SAME }, [16] = { CFI_AT_CFA, .offset = -8 } }, .ra = 16,
	};

	*rule = &same;
	return true;
}

TEST(test_stale_frame_pointer)
{
	uint64_t words[] = { 0x1010, 0x5000, 0, 0 }, values[9] = { 0x1000, 0x1000, 0x4000 }, ips[MAX];
	struct unwind_sample s = { UNWIND_X86_64, 0x1c0, values, words, sizeof(words) };
	struct unwind_last last;

	assert_int_equal(unwind(&s, by_stale_pointer, NULL, ips, MAX, &last), 2);
	assert_true(last.end == UNWIND_OUTERMOST && !last.has_fp);
	values[0] = 0x1010;
	assert_int_equal(unwind(&s, by_stale_pointer, NULL, ips, MAX, &last), 2);
	assert_true(last.has_fp && last.fp == 0x1010);
}

/* Callers behind what was copied, and a register that held something else. */
TEST(test_cut)
{
	static const struct cfi_rule near = {
		.cfa = { CFI_REG, 7, .offset = 0x10 }, .regs[16] = { CFI_AT_CFA, .offset = -8 }, .ra = 16,
	};
	static const struct { uint64_t next; bool is_cut; } rows[] = {
		{ 0x1020, true }, { 0x1018, true /* half of it is there */ }, { 0x1000 + 0x7ffff0, true },
		{ 0x1010, false /* leads to 0: the outermost */ }, { 0, false }, { 0xff8, false }, { 0x7f0000001000, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(end_of(endless, NULL, rows[i].next) == UNWIND_BEHIND, rows[i].is_cut);
	/* sure is what no frame pointer has led to */
	assert_int_equal(end_of(by_rule, &near, 0), UNWIND_SURELY_BEHIND);
	assert_int_equal(end_of(by_rule, NULL, 0), UNWIND_BEHIND);
}

TEST(test_arm64)
{
	uint64_t words[] = { 0x1020, 0x5004, 7, 7, 0, 0xab00000000006004 }, values[33] = { 0 }, ips[MAX];
	struct unwind_sample s = { UNWIND_ARM64, (UINT64_C(1) << 33) - 1, values, words, sizeof(words) };

	values[29] = values[31] = 0x1000;
	values[32] = 0x4000;
	assert_int_equal(unwind(&s, endless, NULL, ips, MAX, NULL), 3);
	ARE(ips, 3, NUMBERS(0x4000, 0x5004, 0x6004));
}

struct table {
	struct cfi_head head;
	struct cfi_row rows[2];
	struct cfi_rule rules[1];
};

static bool is_table(const struct table *t, size_t size)
{
	struct cfi_table *table = cfi_table_unpack(t, size);

	cfi_table_free(table);
	return table;
}

#define BAD(change) do { struct table bad = good; bad.change; assert_false(is_table(&bad, sizeof(bad))); } while (0)

TEST(test_tables)
{
	struct table good = { { 2, 1 }, { { 16, 1 }, { 32, 0 } }, { { .ra = 16 } } };
	struct cfi_table *t = cfi_table_unpack(&good, sizeof(good));

	assert_non_null(t);
	assert_null(cfi_table_find(t, 0));
	assert_non_null(cfi_table_find(t, 16));
	assert_non_null(cfi_table_find(t, 31));
	assert_null(cfi_table_find(t, 32));
	assert_null(cfi_table_find(t, 4095));
	cfi_table_free(t);
	for (size_t size = 0; size < sizeof(good); size++)
		assert_false(is_table(&good, size));
	BAD(head.nrows = UINT32_MAX);
	BAD(head.nrules = UINT32_MAX);
	BAD(rows[0].rule = 2);
	BAD(rows[1].from = 16);
	BAD(rows[1].from = CFI_PAGE);
	BAD(rules[0].ra = CFI_REGS);
	BAD(rules[0].cfa.kind = CFI_KINDS);
	BAD(rules[0].cfa.reg = CFI_REGS);
	BAD(rules[0].regs[32].reg = 255);
}

static int setup(void **state)
{
	bool first = true;

	parser = parser_new_all(&(struct parser_opts){ PARSER_APART });
	dl_iterate_phdr(use_file, &first);
	return parser && nfiles ? 0 : -1;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < nfiles; i++) {
		cfi_free(files[i].cfi);
		close(files[i].fd);
	}
	parser_free(parser);
	return 0;
}

AROUND_ALL(setup, teardown)
