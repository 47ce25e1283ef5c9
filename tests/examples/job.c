// SPDX-License-Identifier: Apache-2.0
/*
 * The program that the blocks of the docs measure: `./job`, `./app` and `./server` are this one. It computes in some functions,
 * sleeps, reads, opens files that are not there, and has a thread that holds a lock. `./job N` does that N times, at most 100;
 * `./job serve` goes on until it is killed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static unsigned char bytes[4096];

NOINLINE uint64_t checksum(uint64_t n)
{
	volatile uint64_t sum = 1;

	while (n--)
		sum = sum * 31 + bytes[n % sizeof(bytes)];
	return sum;
}

NOINLINE uint64_t parse(uint64_t n)
{
	volatile uint64_t words = 0;

	while (n--)
		words += bytes[n % sizeof(bytes)] == ' ';
	return words;
}

NOINLINE uint64_t spin(uint64_t n)
{
	volatile uint64_t sum = 0;

	while (n--)
		sum += n;
	return sum;
}

NOINLINE uint64_t area(uint64_t n)
{
	return spin(n) + 1;
}

NOINLINE uint64_t draw(void)
{
	return area(400000) + area(200000);
}

NOINLINE long lookup(const unsigned char *keys, uint64_t n, int wanted)
{
	volatile long found = -1;

	for (uint64_t i = 0; i < n; i++)
		if (keys[i % sizeof(bytes)] == wanted)
			found = i;
	return found;
}

NOINLINE uint64_t handle_request(int fd)
{
	uint64_t got = parse(200000) + checksum(400000) + lookup(bytes, 200000, 7) + draw();

	pthread_mutex_lock(&big);
	got += read(fd, bytes, sizeof(bytes)) + open("/etc/job/default.conf", O_RDONLY);
	pthread_mutex_unlock(&big);
	usleep(2000);
	return got;
}

NOINLINE uint64_t handle(int fd)
{
	return handle_request(fd) + 1;
}

static void *holder(void *forever)
{
	for (int i = 0; forever || i < 20; i++) {
		pthread_mutex_lock(&big);
		usleep(3000);
		pthread_mutex_unlock(&big);
		usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = open("/dev/zero", O_RDONLY), forever = argc > 1 && !strcmp(argv[1], "serve");
	unsigned long rounds = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 50;
	pthread_t thread;

	if (fd < 0 || pthread_create(&thread, NULL, holder, forever ? &thread : NULL))
		return 1;
	for (unsigned long i = 0; forever || i < (rounds < 100 ? rounds : 100); i++)
		handle(fd);
	return pthread_join(thread, NULL);
}
