/* SPDX-License-Identifier: Apache-2.0 */
/* The code from which CPython calls each Python function under -X perf: the four shapes of it, run
 * instruction by instruction. At each one it is known who called. */
#include "checks.h"

#include "symbols/dwarf/cfi_known.h"
#include "symbols/dwarf/unwind.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, WORDS = 1024, MAX_SEEN = 16 };

/* perf's numbers of BP, SP, IP (asm/perf_regs.h). */
#define MASK (UINT64_C(1) << 6 | UINT64_C(1) << 7 | UINT64_C(1) << 8)

/* Calls `code` with the trap flag set, `callee` in %rcx, where a trampoline has its function. Words
 * that were left below the stack pointer look like a caller of somebody else. */
void run_stepwise(void *code, void (*callee)(void));
extern const char run_stepwise_after[];
extern uint64_t run_stepwise_frame;

__asm__(".data\nrun_stepwise_frame: .quad 0\n.text\n"
	"run_stepwise:\n"
	"	push %rbp\n	mov %rsp, %rbp\n	mov %rsp, run_stepwise_frame(%rip)\n"
	"	sub $32, %rsp\n	lea run_stepwise(%rip), %rax\n	mov %rax, -16(%rsp)\n"
	"	mov %rsi, %rcx\n	pushfq\n	orq $0x100, (%rsp)\n	popfq\n"
	"	call *%rdi\n"
	"run_stepwise_after:\n"
	"	pushfq\n	andq $~0x100, (%rsp)\n	popfq\n	leave\n	ret\n");

struct seen {
	uint64_t into, callers[2], known[2];
	size_t n;
};

static uint8_t *page;
static size_t size;
static struct seen seen[MAX_SEEN];
static size_t nseen;

static bool code_at(void *ctx, uint64_t addr, const struct cfi_rule **rule)
{
	bool inside = addr - (uintptr_t)page < size;

	*rule = inside ? cfi_known_trampoline(addr - (uintptr_t)page, size) : NULL;
	return inside || addr >> 24 == (uintptr_t)run_stepwise_after >> 24;
}

/* `skip` frames are not the trampoline's. No sanitizer looks at the stack. */
__attribute__((no_sanitize("address"))) static void look(const uint64_t regs[3], size_t skip)
{
	static uint64_t words[WORDS];
	struct unwind_sample sample = { UNWIND_X86_64, MASK, regs, words, 0 };
	volatile uint64_t *sp = (volatile uint64_t *)(uintptr_t)regs[1];
	volatile uint64_t *frame = (volatile uint64_t *)(uintptr_t)run_stepwise_frame;
	struct seen *s = &seen[nseen];
	uint64_t ips[4];

	if (nseen == MAX_SEEN)
		return;
	for (size_t i = 0; i < WORDS && sp + i < frame + 2; i++, sample.stack_size += 8)
		words[i] = sp[i];
	s->n = unwind(&sample, code_at, NULL, ips, 3 + skip, NULL);
	s->into = ips[skip] - (uintptr_t)page;
	memcpy(s->callers, ips + 1 + skip, sizeof(s->callers));
	s->n -= skip;
	s->known[0] = (uintptr_t)run_stepwise_after;
	s->known[1] = frame[1];
	nseen++;
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	const greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t regs[] = { (uint64_t)g[REG_RBP], (uint64_t)g[REG_RSP], (uint64_t)g[REG_RIP] };

	if (regs[2] - (uintptr_t)page < size)
		look(regs, 0);
}

__attribute__((noinline)) static void called(void)
{
	uint64_t fp = (uintptr_t)__builtin_frame_address(0);
	uint64_t regs[] = { fp, fp, (uintptr_t)called };

	look(regs, 1);
}

static void run(const char *code, size_t n)
{
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO }, before;

	assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
	memcpy(page, code, n);
	assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_EXEC), 0);
	size = n;
	nseen = 0;
	sigaction(SIGTRAP, &step, &before);
	run_stepwise(page, called);
	sigaction(SIGTRAP, &before, NULL);
}

static void check(const char *code, size_t n, size_t instructions)
{
	run(code, n);
	assert_int_equal(nseen, instructions + 1);     /* and once from what it calls */
	for (size_t i = 0; i < nseen; i++) {
		assert_int_equal(seen[i].n, 3);
		assert_int_equal(seen[i].callers[0], seen[i].known[0]);
		assert_int_equal(seen[i].callers[1], seen[i].known[1]);
	}
}

#define SUB "\x48\x83\xec\x08"
#define CALL "\xff\xd1"
#define ADD_RET "\x48\x83\xc4\x08\xc3"
#define PUSH_MOV "\x55\x48\x89\xe5"
#define POP_RET "\x5d\xc3"
#define ENDBR "\xf3\x0f\x1e\xfa"
#define CODE(text) (text), sizeof(text) - 1

TEST(test_stack_pointer_and_frame_pointer)
{
	check(CODE(SUB CALL ADD_RET), 4);
	check(CODE(ENDBR SUB CALL ADD_RET), 5);
	check(CODE(PUSH_MOV CALL POP_RET), 5);
	check(CODE(ENDBR PUSH_MOV CALL POP_RET), 6);
}

TEST(test_others)
{
	assert_null(cfi_known_trampoline(0, 64));
	assert_null(cfi_known_trampoline(10, 64));
	assert_non_null(cfi_known_trampoline(5, 64));    /* where most calls of such code return to */
	assert_true(cfi_known_is_trampoline("py::f:/a.py"));
	assert_false(cfi_known_is_trampoline("f"));
}

static int map(void **state)
{
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED;
}

AROUND_ALL(map, NULL)
