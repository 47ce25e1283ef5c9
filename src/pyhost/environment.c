/* SPDX-License-Identifier: Apache-2.0 */
#include "pyhost/environment.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts the last component off. False if there is none. */
static bool cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static bool own_folder(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);

	if (n < 0)
		return false;
	buf[n] = '\0';
	return cut(buf);
}

/* Beside the program; else, for `pip install --user` and Debian's /usr/local, the system's. */
int environment_python(const char *venv, char *path, size_t size, struct fault *f)
{
	char own[4096];
	const char *folders[] = { own, "/usr/local/bin", "/usr/bin" };
	struct stat st;

	if (venv) {
		snprintf(path, size, "%s/bin/python3", venv);
		return 0;
	}
	if (!own_folder(own, sizeof(own)))
		return fault_set(f, EXIT_FAILED, "/proc/self/exe: %s; the Python of this perf-prof is looked for beside it: "
				 "mount /proc", strerror(errno));
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, size, "%s/" PYTHON_NAME, folders[i]);
		if (!lstat(path, &st))
			return 0;   /* also if this user cannot run it: no other has the packages */
	}
	return fault_set(f, EXIT_FAILED, "there is no " PYTHON_NAME " in %s, /usr/local/bin or /usr/bin, for which pip installed "
			 "this perf-prof; install perf-prof into a virtual environment, or name one with --venv DIR", own);
}

/* In a sticky folder, others can change only what is theirs. */
static bool is_roots(const struct stat *st, bool sticky)
{
	return !st->st_uid && ((!(st->st_mode & S_IWOTH) && (!st->st_gid || !(st->st_mode & S_IWGRP))) || (sticky && st->st_mode & S_ISVTX));
}

static int check_path(const char *path, bool sticky, struct fault *f)
{
	struct stat st;

	if (stat(path, &st))
		return fault_set(f, EXIT_FAILED, "%s: %s", path, strerror(errno));
	if (is_roots(&st, sticky))
		return 0;
	return fault_set(f, EXIT_FAILED, "%s belongs to user %u and group %u, mode %04o: others than root could run code as root by "
			 "the packages of this environment; run perf-prof python as that user, or use an environment that only "
			 "root can change", path, st.st_uid, st.st_gid, st.st_mode & 07777u);
}

static int check_owner(const char *path, struct fault *f)
{
	return check_path(path, false, f);
}

/* Who can change a folder above can put another one in its place. */
static int check_above(const char *folder, struct fault *f)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", folder);
	while (cut(path))
		if (check_path(path, true, f))
			return -1;
	return *folder == '/' ? 0 : check_path(".", true, f);
}

/* Where the environment is, and where its name leads to. */
static int check_place(const char *environment, struct fault *f)
{
	char real[PATH_MAX], config[PATH_MAX + 16];

	if (!realpath(environment, real))
		return fault_set(f, EXIT_FAILED, "%s: %s", environment, strerror(errno));
	snprintf(config, sizeof(config), "%s/pyvenv.cfg", real);
	if (check_above(environment, f) || check_above(real, f))
		return -1;
	return access(config, F_OK) ? 0 : check_owner(config, f);
}

/* The folders of the environment in which a Python finds packages. */
static int check_packages(const char *environment, struct fault *f)
{
	static const char *const below[] = { "lib*", "lib*/python3*", "lib*/python3*/*-packages" };
	char pattern[4096 + 32];
	int rc = 0;

	for (size_t i = 0; i < sizeof(below) / sizeof(*below) && !rc; i++) {
		glob_t found = { 0 };

		snprintf(pattern, sizeof(pattern), "%s/%s", environment, below[i]);
		if (!glob(pattern, 0, NULL, &found))
			for (size_t k = 0; k < found.gl_pathc && !rc; k++)
				rc = check_owner(found.gl_pathv[k], f);
		globfree(&found);
	}
	return rc;
}

/* The interpreter, its folder, the environment's, those above it, and those of packages. */
int environment_check_root(const char *python, struct fault *f)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", python);
	for (int level = 0; level < 3; level++) {
		if (check_owner(path, f))
			return -1;
		if (level < 2 && !cut(path))
			return 0;
	}
	return check_place(path, f) ? -1 : check_packages(path, f);
}
