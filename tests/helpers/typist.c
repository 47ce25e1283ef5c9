// SPDX-License-Identifier: Apache-2.0
/* Types into the terminal that is its standard input, in every way there is: prints each with its errno, 0 if it
 * was typed. */
#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *letter;     /* below 4 GiB, for 32-bit calls */

static int by(long call, unsigned long request)
{
	return syscall(call, 0, request, letter) ? errno : 0;
}

static int native(unsigned long request)
{
	return by(SYS_ioctl, request);
}

#if defined(__x86_64__)
static int i386(unsigned long request)
{
	long rc = 54;    /* ioctl */

	__asm__ volatile("int $0x80" : "+a"(rc) : "b"(0L), "c"(request), "d"((long)(uintptr_t)letter)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)-rc;
}

static int x32(unsigned long request)
{
	return by(0x40000000 | 514, request);
}

/* Old kernels have the 64-bit calls there, too. */
static int x32_native(unsigned long request)
{
	return by(0x40000000 | SYS_ioctl, request);
}
#endif

static const struct {
	const char *name;
	int (*call)(unsigned long request);
	unsigned long request;
} ways[] = {
	{ "TIOCSTI", native, TIOCSTI },
	{ "TIOCSTI+2^32", native, (1ul << 16 << 16) + TIOCSTI },
	{ "TIOCLINUX", native, TIOCLINUX },
#if defined(__x86_64__)
	{ "i386", i386, TIOCSTI },
	{ "i386:TIOCLINUX", i386, TIOCLINUX },
	{ "x32", x32, TIOCSTI },
	{ "x32:native", x32_native, TIOCSTI },
#endif
};

int main(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

#ifdef MAP_32BIT
	flags |= MAP_32BIT;
#endif
	letter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (letter == MAP_FAILED)
		return 1;
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		letter[0] = (char)('a' + i);
		printf("%s %d\n", ways[i].name, ways[i].call(ways[i].request));
	}
	return 0;
}
