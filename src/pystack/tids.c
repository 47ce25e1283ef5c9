/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/tids.h"

#include "base/procstatus.h"
#include "base/room.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PTHREAD_BYTES = 1024, NOT_FOUND = -1 };

struct task {
	pid_t tid, inner;                /* inner: in the namespace of the process */
};

struct tids {
	const struct memory *memory;
	struct task *v;
	size_t n, room;
	bool fresh;                      /* read in this round */
	int offset;                      /* of the id in what pthread_t points to */
};

struct tids *tids_new(const struct memory *m)
{
	struct tids *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct tids){ .memory = m, .offset = NOT_FOUND };
	return t;
}

void tids_free(struct tids *t)
{
	if (t)
		free(t->v);
	free(t);
}

void tids_round(struct tids *t)
{
	t->fresh = false;
}

static void add(struct tids *t, int folder, const char *name)
{
	char path[64];
	long inner;

	snprintf(path, sizeof(path), "%.20s/status", name);
	inner = procstatus_in(folder, path, "\nNSpid:", -1);
	if (inner <= 0 || !ROOM_FOR(t->v, t->room, t->n, 1))
		return;
	t->v[t->n++] = (struct task){ (pid_t)atoi(name), (pid_t)inner };
}

static void look(struct tids *t)
{
	char path[64];
	struct dirent *d;
	DIR *tasks;

	t->n = 0;
	t->fresh = true;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->memory->pid);
	tasks = opendir(path);
	while (tasks && (d = readdir(tasks)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			add(t, dirfd(tasks), d->d_name);
	if (tasks)
		closedir(tasks);
}

static pid_t find(const struct tids *t, uint64_t inner)
{
	for (size_t i = 0; i < t->n; i++)
		if ((uint64_t)t->v[i].inner == inner)
			return t->v[i].tid;
	return 0;
}

pid_t tids_native(struct tids *t, uint64_t id)
{
	pid_t tid = find(t, id);

	if (tid || t->fresh)
		return tid;
	look(t);
	return find(t, id);
}

/* Whether each thread has a number of a thread there, and each another one. */
static bool is_offset(struct tids *t, const uint64_t *all, size_t n, uint64_t offset)
{
	uint64_t first = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t id;

		if (memory_get(t->memory, all[i] + offset, &id, sizeof(id)) || !find(t, id) || (i && id == first))
			return false;
		first = i ? first : id;
	}
	return true;
}

static int find_offset(struct tids *t, const uint64_t *all, size_t n)
{
	for (int offset = 0; n && offset < PTHREAD_BYTES; offset += 4)
		if (is_offset(t, all, n, (uint64_t)offset))
			return offset;
	return NOT_FOUND;
}

pid_t tids_pthread(struct tids *t, uint64_t pthread, const uint64_t *all, size_t n)
{
	uint32_t id;

	if (t->offset == NOT_FOUND && !t->fresh) {
		look(t);
		t->offset = find_offset(t, all, n);
	}
	if (t->offset == NOT_FOUND || memory_get(t->memory, pthread + (uint64_t)t->offset, &id, sizeof(id)))
		return 0;
	return tids_native(t, id);
}

/* A file of /proc/PID/task/TID, which is short; "": there is none. */
static void read_file(const struct tids *t, pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)t->memory->pid, (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
}

/* "PID (NAME) STATE ...": the name may have brackets. */
bool tids_runs(const struct tids *t, pid_t tid, char name[TIDS_NAME])
{
	char text[512], *begin, *end;

	read_file(t, tid, "stat", text, sizeof(text));
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	snprintf(name, TIDS_NAME, "%.*s", begin && end > begin ? (int)(end - begin - 1) : 0, begin ? begin + 1 : "");
	return end && end[1] == ' ' && end[2] == 'R';
}

/* "TIME WAITED TURNS" */
bool tids_cpu_time(const struct tids *t, pid_t tid, uint64_t *ns, uint64_t *turns)
{
	unsigned long long all[3];
	char text[128];

	read_file(t, tid, "schedstat", text, sizeof(text));
	if (sscanf(text, "%llu %llu %llu", &all[0], &all[1], &all[2]) != 3)
		return false;
	*ns = all[0];
	*turns = all[2];
	return true;
}

static bool add_number(const char *text, const char *key, uint64_t *sum)
{
	const char *at = strstr(text, key);

	*sum += at ? strtoull(at + strlen(key), NULL, 10) : 0;
	return at;
}

bool tids_is_on_cpu(const struct tids *t, pid_t tid, uint64_t turns)
{
	char text[8192];         /* that of a machine with many CPUs and a user in many groups is long */
	uint64_t ended = 0;

	read_file(t, tid, "status", text, sizeof(text));
	return !add_number(text, "\nvoluntary_ctxt_switches:", &ended) || !add_number(text, "\nnonvoluntary_ctxt_switches:", &ended) ||
	       turns > ended;
}

/* Field 39, processor, of /proc/PID/stat: "PID (NAME) STATE ..."; see proc_pid_stat(5). */
int tids_cpu(const struct tids *t, pid_t tid)
{
	enum { WORDS = 37 };     /* from STATE on */
	char text[1024], *at, *rest;
	int n = 0;

	read_file(t, tid, "stat", text, sizeof(text));
	at = strrchr(text, ')');
	for (at = at ? strtok_r(at + 1, " ", &rest) : NULL; at && ++n < WORDS; at = strtok_r(NULL, " ", &rest))
		;
	return at ? atoi(at) : -1;
}
