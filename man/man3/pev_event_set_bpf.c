/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/bpf.h>
#include <perfevent.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

/* r0 = 0; exit: a tracepoint program that lets nothing through. */
static int load_program(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(void)
{
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;
	uint32_t ids[8];
	size_t n = 0;
	int program;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getsid", &err))
		return fail(&err);
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err))
		return fail(&err);
	program = load_program();
	if (program < 0) {
		perror("bpf");
		return 77;
	}
	if (pev_event_set_bpf(ev, program, &err))
		return fail(&err);
	close(program);
	if (!pev_event_query_bpf(ev, ids, 8, &n))
		printf("programs on the tracepoint: %zu\n", n);
	pev_event_close(ev);
	return 0;
}
