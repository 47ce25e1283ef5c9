/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/recording/files.h"

#include "base/note.h"
#include "perfdata/read/reader.h"
#include "perfdata/write/writer.h"
#include "symbols/elf/idfile.h"
#include "tasks/procstart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* kallsyms: our own if the same kernel runs, at the same address. Otherwise the copy in perf's
 * build id cache, which may include modules of that boot; then, if the same build runs now, our
 * own. */
static int open_proc(void *ctx, pid_t pid, const char *name)
{
	const struct recorded *r = ctx;
	const struct replay_kernel *k = replay_kernel(r->replay);
	bool same = replay_is_same_kernel(r->replay);
	int fd;

	if (pid || strcmp(name, "kallsyms") || (!same && !k->base))
		return -ENOENT;
	fd = same ? -ENOENT : idfile_find(r->under, k->build_id, k->build_id_size, name);
	return fd >= 0 || !(same || k->runs) ? fd : opener_proc(r->under, 0, name);
}

static int find_cached(void *ctx, const uint8_t *id, size_t size, const char *what)
{
	const struct opener *under = ((const struct recorded *)ctx)->under;

	return under->cached ? under->cached(under->ctx, id, size, what) : -ENOENT;
}

static int parse(void *ctx, struct opener_question *q)
{
	const struct opener *under = ((const struct recorded *)ctx)->under;

	return under->parse(under->ctx, q);
}

/* Whether the recorded process still runs: a process with this pid that began before the end of the
 * recording. */
static bool lives(const struct recorded *r, pid_t pid)
{
	const struct timespec written = replay_written(r->replay);

	return replay_is_same_machine(r->replay) && procstart_before(r->under, pid, &written);
}

/* In the root of the recorded process while it runs, which may be a container's; else in ours. Whether it is the recorded
 * file is checked by who asks. */
static int open_file(void *ctx, pid_t pid, const char *path)
{
	const struct recorded *r = ctx;
	int fd = pid && lives(r, pid) ? opener_file(r->under, pid, path) : -ENOENT;

	return fd >= 0 ? fd : opener_file(r->under, 0, path);
}

static int open_mapped(void *ctx, pid_t pid, uint64_t start, uint64_t end)
{
	const struct recorded *r = ctx;

	return lives(r, pid) ? opener_mapped(r->under, pid, start, end) : -ESRCH;
}

/* Whether the file was last written during the recording. perf writes its own file for a while after the last sample. */
static bool was_written_then(int fd, const struct replay *replay)
{
	enum { AFTERWARDS_S = 10 };
	const struct perfdata_info *info = replay_info(replay);
	const struct timespec end = replay_written(replay);
	const time_t seconds = (time_t)((info->last_ns - info->first_ns) / 1000000000) + AFTERWARDS_S;
	struct stat st;

	return info->last_ns && !fstat(fd, &st) && st.st_mtim.tv_sec >= end.tv_sec - seconds &&
	       (st.st_mtim.tv_sec < end.tv_sec || (st.st_mtim.tv_sec == end.tv_sec && st.st_mtim.tv_nsec <= end.tv_nsec));
}

/* The map that an ended process left behind, of this user or root: not if another process has its number now, or may have had. */
static int open_left_map(const struct recorded *r, pid_t pid)
{
	struct perf_map_home home = { .root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), .uid = geteuid(), .pid = pid };
	int fd = perf_map_open(&home);

	perf_map_leave(&home);
	if (fd == -EPERM || (fd >= 0 && (!kill(pid, 0) || errno != ESRCH || !was_written_then(fd, r->replay)))) {
		note(0, "/tmp/perf-%d.map is not used: it may be another process's, since it is another user's, or was not written last during "
			"the recording; a recording of perf-prof record has the names itself", (int)pid);
		if (fd >= 0)
			close(fd);
		fd = -ESRCH;
	}
	return fd < 0 ? -ESRCH : fd;
}

static int open_perf_map(void *ctx, pid_t pid)
{
	const struct recorded *r = ctx;

	if (lives(r, pid))
		return opener_perf_map(r->under, pid);
	return replay_is_same_machine(r->replay) ? open_left_map(r, pid) : -ESRCH;
}

/* The i-th piece of a perf map of the process in the recording. Fast if i counts up. */
static const char *kept_map(void *ctx, pid_t pid, size_t i, size_t *size)
{
	struct recorded *r = ctx;
	const struct perfdata_info *info = replay_info(r->replay);
	bool goes_on = r->kept.pid == pid && r->kept.n <= i;
	size_t n = goes_on ? r->kept.n : 0;

	for (size_t k = goes_on ? r->kept.at : 0; k < info->njit_maps; k++)
		if (info->jit_maps[k].pid == pid && n++ == i) {
			r->kept = (struct recorded_kept){ pid, n, k + 1 };
			*size = info->jit_maps[k].size;
			return info->jit_maps[k].text;
		}
	return NULL;
}

const struct opener *recorded_opener(struct recorded *r, const struct opener *under,
				     const struct replay *replay)
{
	*r = (struct recorded){
		.opener = {
			.file = open_file, .proc = open_proc, .ctx = r, .perf_map = open_perf_map, .mapped = open_mapped,
			.kept_map = kept_map, .parse = under->parse ? parse : NULL, .cached = find_cached,
		},
		.under = under, .replay = replay,
	};
	return &r->opener;
}
