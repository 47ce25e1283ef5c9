/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/watched/programs.h"

#include "base/now.h"
#include "base/textfile.h"
#include "stream/watched/targets.h"
#include "symbols/dwarf/frameptr.h"
#include "symbols/parser_kinds.h"
#include "tasks/workload.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The first line of a script, which names the program that runs it. */

/* So many interpreters of interpreters are followed. */
enum { SHEBANG_MOST = 4 };

/* ---- shebang ---------------------------------------------------------------------------- */

/* The program that runs the script: "#!/usr/bin/env python3" is python3. False: it is no script. */
static bool shebang_read(int fd, char *name, size_t size)
{
	char line[256], *word, *next = NULL;
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &next);
	if (word && strlen(word) >= 4 && !strcmp(word + strlen(word) - 4, "/env"))
		do
			word = strtok_r(NULL, " \t", &next);
		while (word && (*word == '-' || strchr(word, '=')));
	if (word)
		snprintf(name, size, "%s", word);
	return word;
}

enum {
	MOST = 16,               /* programs */
	SECONDS = 2,             /* for one file */
	EVERYBODY = 3,           /* of the whole machine, a third matters */
	WHOLE_CPU = 1000,        /* weight of a process that is never off its CPU */
};

struct program {
	int fd;
	dev_t dev;
	ino_t ino;
	uint64_t weight;
	char name[256];
};

struct programs {
	const struct stream_opts *opts;
	struct program all[MOST];
	unsigned int n;
};

/* Takes over fd. A program that several processes run is one. */
static void add(struct programs *p, int fd, const char *name, uint64_t weight)
{
	struct program *one = p->all;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (one < p->all + p->n && (one->dev != st.st_dev || one->ino != st.st_ino))
		one++;
	if (one < p->all + p->n || p->n == MOST) {
		if (one < p->all + p->n)
			one->weight += weight;
		close(fd);
		return;
	}
	*one = (struct program){ fd, st.st_dev, st.st_ino, weight, "" };
	snprintf(one->name, sizeof(one->name), "%s", name);
	p->n++;
}

static void add_process(struct programs *p, pid_t pid, uint64_t weight)
{
	char name[256];

	if (textfile_link(name, sizeof(name), "/proc/%d/exe", (int)pid) && p->n < MOST)
		add(p, opener_mapped(p->opts->opener, pid, 0, 0), name, weight);
}

/* ---- a command ----------------------------------------------------------------------- */

static int open_program(const struct programs *p, const char *name)
{
	char path[PATH_MAX], full[PATH_MAX];

	if (!workload_find(name, path, sizeof(path)) || !realpath(path, full))
		return -1;
	return opener_file(p->opts->opener, 0, full);
}

/* Names an executable, not a folder. */
static bool is_program(const char *word)
{
	struct stat st;

	return strchr(word, '/') && !access(word, X_OK) && !stat(word, &st) && S_ISREG(st.st_mode);
}

static void add_word(struct programs *p, const char *word)
{
	char name[256];
	int fd = open_program(p, word);

	snprintf(name, sizeof(name), "%s", word);
	for (int i = 0; fd >= 0 && i < SHEBANG_MOST && shebang_read(fd, name, sizeof(name)); i++) {
		close(fd);
		fd = open_program(p, name);
	}
	add(p, fd, name, WHOLE_CPU);
}

/* "taskset -c 1 ./job" runs job, too. */
static void add_command(struct programs *p)
{
	char *const *argv = p->opts->command.argv;

	if (!argv)
		return;
	add_word(p, argv[0]);
	for (size_t i = 1; argv[i]; i++)
		if (is_program(argv[i]))
			add_word(p, argv[i]);
}

/* ---- the whole machine ----------------------------------------------------------------- */

struct busy {
	pid_t pid;
	uint64_t share;          /* of a CPU since it began, WHOLE_CPU is all of it; and 1 */
};

enum { FLAGS = 6, UTIME = 11, STIME = 12, START = 19, FIELDS = 19, KERNEL_THREAD = 0x00200000 };   /* after its state */

/* "PID (NAME) STATE NUMBER NUMBER ..." in clock ticks */
static uint64_t share_of(const char *stat, uint64_t now)
{
	uint64_t v[FIELDS] = { 0 }, used;
	const char *s = strrchr(stat, ')');
	char *end;

	if (!s || strlen(s) < 4)
		return 0;
	s += 3;
	for (int i = 0; i < FIELDS; i++, s = end) {
		v[i] = (uint64_t)strtoll(s, &end, 10);
		if (end == s)
			return 0;
	}
	used = v[UTIME - 1] + v[STIME - 1];
	return v[FLAGS - 1] & KERNEL_THREAD ? 0 : used * WHOLE_CPU / (now > v[START - 1] ? now - v[START - 1] + 1 : 1) + 1;
}

static uint64_t ticks_since_boot(void)
{
	return now_ns(CLOCK_BOOTTIME) / 1000000000 * (uint64_t)sysconf(_SC_CLK_TCK);
}

/* Keeps the busiest, the busiest of all first. */
static void keep(struct busy *v, struct busy one)
{
	int i = MOST;

	while (i > 0 && v[i - 1].share < one.share) {
		if (i < MOST)
			v[i] = v[i - 1];
		i--;
	}
	if (i < MOST)
		v[i] = one;
}

static void add_busiest(struct programs *p)
{
	struct busy busiest[MOST] = { { 0 } };
	const uint64_t now = ticks_since_boot();
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);
		char stat[1024];

		if (pid > 0 && pid != getpid() && pid != p->opts->command.pid &&
		    textfile_from(opener_proc(p->opts->opener, pid, "stat"), stat, sizeof(stat)) > 0)
			keep(busiest, (struct busy){ pid, share_of(stat, now) });
	}
	if (dir)
		closedir(dir);
	for (int i = 0; i < MOST && busiest[i].share; i++)
		add_process(p, busiest[i].pid, busiest[i].share);
}

/* ---- the answer ------------------------------------------------------------------------- */

static void add_cgroup(struct programs *p, const char *name)
{
	struct fault ignored = { 0 };
	char mount[256];
	int dir = targets_open_cgroup(name, mount, sizeof(mount), &ignored);
	int fd = dir < 0 ? -1 : openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	int pid;

	while (f && p->n < MOST && fscanf(f, "%d", &pid) == 1)
		add_process(p, pid, 1);
	if (f)
		fclose(f);
	if (dir >= 0)
		close(dir);
}

static void add_tasks(struct programs *p, const struct numlist *tasks)
{
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->v[i] != p->opts->command.pid)   /* it is perf-prof until it calls exec(2) */
			add_process(p, tasks->v[i], 1);
}

static void add_targets(struct programs *p)
{
	const struct stream_opts *o = p->opts;

	add_tasks(p, &o->pids);
	add_tasks(p, &o->tids);
	add_tasks(p, &o->meant);
	for (size_t i = 0; i < o->cgroups.n; i++)
		add_cgroup(p, o->cgroups.v[i]);
}

/* Which programs the answer is about, and the first of them. */
static void name_them(struct programs_frames *out, const struct program *p, uint64_t *most)
{
	out->n++;
	if (p->weight <= *most)
		return;
	*most = p->weight;
	snprintf(out->name, sizeof(out->name), "%s", p->name);
}

static void judge(struct programs *p, struct parser *parser, bool everybody, struct programs_frames *out)
{
	struct programs_frames kinds[FRAMEPTR_LACKING + 1] = { [FRAMEPTR_LACKING] = { .lacking = true } };
	uint64_t weights[FRAMEPTR_LACKING + 1] = { 0 }, most[FRAMEPTR_LACKING + 1] = { 0 };

	for (unsigned int i = 0; i < p->n; i++) {
		enum frameptr kind = parser ? frameptr_of(parser, p->all[i].fd) : FRAMEPTR_UNKNOWN;

		weights[kind] += p->all[i].weight;
		name_them(&kinds[kind], &p->all[i], &most[kind]);
		close(p->all[i].fd);
	}
	*out = weights[FRAMEPTR_LACKING] * (everybody ? EVERYBODY - 1 : 1) > (everybody ? weights[FRAMEPTR_KEPT] : 0)
	       ? kinds[FRAMEPTR_LACKING] : kinds[FRAMEPTR_KEPT];
}

bool programs_library_lacks(const struct stream_opts *o, char *name, size_t size)
{
	struct parser *parser;
	bool lacking;
	Dl_info info;
	int fd;

	if (!dladdr((const void *)(uintptr_t)nanosleep, &info) || !info.dli_fname || info.dli_fname[0] != '/')
		return false;
	snprintf(name, size, "%s", info.dli_fname);
	fd = opener_file(o->opener, 0, name);
	if (fd < 0)
		return false;
	parser = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO, .seconds = SECONDS });
	lacking = parser && frameptr_of(parser, fd) == FRAMEPTR_LACKING;
	parser_free(parser);
	close(fd);
	return lacking;
}

void programs_look(const struct stream_opts *o, struct programs_frames *out)
{
	const bool everybody = targets_everybody(o) && !o->meant.n;
	struct programs p = { .opts = o };
	struct parser *parser;

	add_command(&p);
	add_targets(&p);
	if (everybody || !p.n)
		add_busiest(&p);
	parser = parser_new_all(&(struct parser_opts){ .place = PARSER_AUTO, .seconds = SECONDS });
	judge(&p, parser, everybody, out);
	parser_free(parser);
}
