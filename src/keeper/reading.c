/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/reading.h"

#include "base/caller.h"
#include "base/capabilities.h"
#include "base/outfile.h"
#include "keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

int reading_open(const char *path, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? fault_unreadable(f, path, errno) : fd;
}

void reading_wait(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return;
	TEMP_FAILURE_RETRY(poll(&p, 1, -1));
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

static bool is_roots_alone(int fd)
{
	struct stat st;

	return fd < 0 || (!fstat(fd, &st) && !st.st_uid &&
			  !(S_ISREG(st.st_mode) && st.st_mode & (S_IWOTH | (st.st_gid ? S_IWGRP : 0))));
}

static bool has_strangers(const struct reading_files *files)
{
	for (size_t i = 0; i < files->ninputs; i++)
		if (!is_roots_alone(files->inputs[i]))
			return true;
	return false;
}

/* 1: a user to change to; 0: none, the process has no more privilege than the files require; -1 with f. */
static int find_reader(struct identity *who, const struct reading_files *files, struct fault *f)
{
	int found;

	if (capabilities_of_file())
		return identity_own(who, f);
	found = identity_caller(who, f);
	if (found || geteuid())
		return found;
	return has_strangers(files) ? identity_nobody(who, f) : 0;
}

static int write_through(void *keeper, const struct outfile_order *order)
{
	return keeper_write(keeper, order);
}

/* What is made of a file is for no more users than the file. Bits for execution: folders. */
static void restrict_outputs(const struct reading_files *files)
{
	struct stat st;

	for (size_t i = 0; i < files->ninputs; i++)
		if (files->inputs[i] >= 0 && !fstat(files->inputs[i], &st) && S_ISREG(st.st_mode))
			umask(umask(0) | (st.st_mode & S_IRGRP ? 0 : S_IRWXG) | (st.st_mode & S_IROTH ? 0 : S_IRWXO));
}

int reading_begin(struct reading *r, const struct reading_files *files, struct fault *f)
{
	int found = find_reader(&r->who, files, f);
	uid_t uid;

	restrict_outputs(files);
	if (found <= 0)
		return found;
	if (!r->who.own) {
		r->keeper = keeper_start(&(struct keeper_opts){ .who = &r->who, .targets = { .recorded = true },
								.outputs = files->outputs }, f);
		if (!r->keeper)
			return -1;
		if (!caller_of_sudo(&uid))
			outfile_through(write_through, r->keeper);
	}
	return identity_drop(&r->who, f);
}

const struct opener *reading_opener(const struct reading *r)
{
	return r->keeper ? keeper_opener(r->keeper) : &opener_direct;
}

void reading_end(struct reading *r)
{
	if (r->keeper)
		outfile_through(NULL, NULL);
	keeper_stop(r->keeper);
	identity_free(&r->who);
	r->keeper = NULL;
}
