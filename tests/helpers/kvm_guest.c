/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvm_guest - a virtual machine that leaves its CPU for known reasons.
 *
 *   kvm_guest N     N rounds (up to 65535), each with two accesses to I/O ports, a CPUID and
 *                   a write to memory that is not there; then HLT. Prints how many of them
 *                   came here.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY = 0x10000, CODE = 0x1000, STACK = 0x8000, NOWHERE = 0x20000, PORT = 0x10 };

/* Real mode. */
static const unsigned char code[] = {
	0xb9, 0, 0,             /* 1000: mov cx, N */
	0xba, PORT, 0,          /* 1003: mov dx, PORT */
	0xee,                   /*       out dx, al */
	0xec,                   /*       in al, dx */
	0x51,                   /*       push cx */
	0x66, 0x31, 0xc0,       /*       xor eax, eax */
	0x0f, 0xa2,             /*       cpuid */
	0x59,                   /*       pop cx */
	0xa2, 0, 0,             /*       mov [0], al: of NOWHERE */
	0x49,                   /*       dec cx */
	0x75, 0xee,             /*       jnz 1003 */
	0xf4,                   /*       hlt */
};

static int must(int rc, const char *what)
{
	if (rc < 0)
		err(2, "%s", what);
	return rc;
}

static void set_registers(int cpu)
{
	struct kvm_regs regs = { .rip = CODE, .rsp = STACK, .rflags = 2 };
	struct kvm_sregs s;

	must(ioctl(cpu, KVM_GET_SREGS, &s), "KVM_GET_SREGS");
	s.cs.base = s.cs.selector = s.ss.base = s.ss.selector = 0;
	s.ds.base = NOWHERE;
	s.ds.selector = NOWHERE >> 4;
	must(ioctl(cpu, KVM_SET_SREGS, &s), "KVM_SET_SREGS");
	must(ioctl(cpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

static int make_machine(int kvm, unsigned int rounds)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };
	int vm = must(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	unsigned char *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(2, "mmap");
	memcpy(memory + CODE, code, sizeof(code));
	memory[CODE + 1] = (unsigned char)rounds;
	memory[CODE + 2] = (unsigned char)(rounds >> 8);
	region.userspace_addr = (uintptr_t)memory;
	must(ioctl(vm, KVM_SET_TSS_ADDR, 0xfffbd000UL), "KVM_SET_TSS_ADDR");
	must(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
	return vm;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 1000, io = 0, mmio = 0;
	int kvm = must(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	int vm = make_machine(kvm, rounds), cpu = must(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	size_t size = (size_t)must(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
	struct kvm_run *run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);

	if (run == MAP_FAILED)
		err(2, "mmap");
	set_registers(cpu);
	for (;;) {
		must(ioctl(cpu, KVM_RUN, 0), "KVM_RUN");
		if (run->exit_reason == KVM_EXIT_HLT)
			break;
		if (run->exit_reason == KVM_EXIT_IO)
			io++;
		else if (run->exit_reason == KVM_EXIT_MMIO)
			mmio++;
		else
			errx(1, "unexpected exit %u", run->exit_reason);
	}
	printf("io %u mmio %u\n", io, mmio);
	return 0;
}
