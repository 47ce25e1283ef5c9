/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_profile HZ [PID] - the least program that counts stacks by their addresses.
 *
 * Samples cpu-clock with call chains on every CPU, or of every thread of a process, and adds one, per sample, in a table by a hash
 * of the chain. Prints "first" at the first sample, once it has read the bytes of /proc/kallsyms, as
 * who shows names must; and at SIGINT "samples N stacks N".
 */
#include <perfevent.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_RINGS = 512, RING_PAGES = 128, INTERVAL_MS = 50, SLOTS = 1 << 20 };

struct slot {
	uint64_t hash, samples;
};

static struct slot slots[SLOTS];
static volatile sig_atomic_t stopped;
static uint64_t samples, stacks;

static void on_signal(int signo)
{
	(void)signo;
	stopped = 1;
}

static void die(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "floor_profile: %s\n", text);
	exit(1);
}

static void print_first(void)
{
	static char bytes[1 << 16];
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
	printf("first\n");
	fflush(stdout);
}

static void count(const struct pev_sample *sample)
{
	uint64_t hash = sample->tid | 1;
	struct slot *s;

	for (uint64_t i = 0; i < sample->callchain_nr; i++)
		hash = (hash ^ sample->callchain[i]) * 0x9e3779b97f4a7c15ULL;
	s = &slots[hash >> 44];
	while (s->hash != hash && s->samples)
		s = s + 1 < slots + SLOTS ? s + 1 : slots;
	if (s->samples || stacks < SLOTS / 2) {   /* a full table would be searched for ever */
		stacks += !s->samples;
		s->hash = hash;
		s->samples++;
	}
	if (!samples++)
		print_first();
}

static void drain(struct pev_ring *ring, const struct pev_format *fmt)
{
	const struct perf_event_header *rec;
	struct pev_record out;

	pev_ring_begin(ring);
	while ((rec = pev_ring_next(ring)))
		if (rec->type == PERF_RECORD_SAMPLE && !pev_decode(rec, rec->size, fmt, &out))
			count(&out.sample);
	pev_ring_end(ring);
}

static int rings_open;
static struct pev_ring *rings[MAX_RINGS];

static void open_ring(const struct perf_event_attr *attr, struct pev_target target)
{
	struct pev_error err = { 0 };
	struct pev_event *ev;

	if (rings_open == MAX_RINGS || pev_event_open(&ev, attr, target, NULL, &err))
		return;   /* of a CPU that is offline */
	if (pev_ring_map(&rings[rings_open++], ev, RING_PAGES, &err))
		die(&err);
}

static void open_threads(const struct perf_event_attr *attr, const char *pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			open_ring(attr, pev_target_thread((pid_t)atoi(entry->d_name)));
	if (dir)
		closedir(dir);
}

static void open_rings(uint64_t hz, const char *pid, struct pev_format *fmt)
{
	struct perf_event_attr attr;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	pev_attr_software(&attr, "cpu-clock", NULL);
	pev_attr_sample_freq(&attr, hz);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	pev_attr_wakeup_watermark(&attr, 1 << 30);
	pev_format_from_attr(fmt, &attr);
	for (int cpu = 0; !pid && cpu < cpus; cpu++)
		open_ring(&attr, pev_target_cpu(cpu));
	if (pid)
		open_threads(&attr, pid);
	if (!rings_open) {
		fprintf(stderr, "floor_profile: no event could be opened\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct pev_format fmt;

	if (argc < 2)
		return 2;
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	open_rings(strtoull(argv[1], NULL, 10), argv[2], &fmt);
	while (!stopped) {
		poll(NULL, 0, samples ? INTERVAL_MS : 1);
		for (int i = 0; i < rings_open; i++)
			drain(rings[i], &fmt);
	}
	printf("samples %llu stacks %llu\n", (unsigned long long)samples, (unsigned long long)stacks);
	return 0;
}
