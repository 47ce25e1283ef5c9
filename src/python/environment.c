/* SPDX-License-Identifier: Apache-2.0 */
#include "python/environment.h"

#include "base/textfile.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
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

/* What matches `below` in a folder, whatever characters the folder's path has. False: nothing; free `found` always. */
static bool match(const char *folder, const char *below, glob_t *found)
{
	char pattern[2 * 4096 + 64];
	size_t n = 0;

	for (; *folder && n < sizeof(pattern) - 66; pattern[n++] = *folder++)
		if (strchr("*?[\\", *folder))
			pattern[n++] = '\\';
	snprintf(pattern + n, sizeof(pattern) - n, "/%s", below);
	*found = (glob_t){ 0 };
	return !glob(pattern, 0, NULL, found);
}

/* The Python of the pip that installed this: the folder of its packages, PREFIX/lib/python3.13/site-packages, has its name. If
 * one wheel serves several, the newest one is taken. */
static void name_python(const char *bin, char *name, size_t size)
{
	glob_t found;

	snprintf(name, size, PYTHON_NAME);
	if (match(bin, "../lib*/" PYTHON_FOLDERS "/*-packages/perf_prof", &found)) {
		char *last = found.gl_pathv[found.gl_pathc - 1];

		if (cut(last) && cut(last))
			snprintf(name, size, "%s", strrchr(last, '/') + 1);
	}
	globfree(&found);
}

/* Beside the program; else, for `pip install --user` and Debian's /usr/local, the system's. */
int environment_python(const char *venv, char *path, size_t size, struct fault *f)
{
	char own[4096], name[64];
	const char *folders[] = { own, "/usr/local/bin", "/usr/bin" }, *names[] = { name, PYTHON_NAME };
	const size_t n = sizeof(folders) / sizeof(*folders);
	struct stat st;

	if (venv) {
		snprintf(path, size, "%s/bin/python3", venv);
		return 0;
	}
	if (!textfile_link(own, sizeof(own), "/proc/self/exe") || !cut(own))
		return fault_set(f, EXIT_FAILED, "/proc/self/exe: %s; the Python of this perf-prof is looked for beside it: "
				 "mount /proc", strerror(errno));
	name_python(own, name, sizeof(name));
	for (size_t i = 0; i < 2 * n; i++) {
		snprintf(path, size, "%s/%s", folders[i % n], names[i / n]);
		if (!lstat(path, &st))
			return 0;   /* also if this user cannot run it: the next one is less likely to have the packages */
	}
	return fault_set(f, EXIT_FAILED, "there is no " PYTHON_NAME " in %s, /usr/local/bin or /usr/bin, for which pip installed "
			 "this perf-prof; install perf-prof into a virtual environment, or name one with --venv DIR", own);
}

/* With an ACL, the bits of the group are the most that any user named in it has. */
static bool has_acl(const char *path)
{
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/* In a sticky folder, others can change only what is theirs. */
static bool is_roots(const char *path, const struct stat *st, bool sticky)
{
	const bool of_group = st->st_mode & S_IWGRP && (st->st_gid || has_acl(path));

	return !st->st_uid && ((!(st->st_mode & S_IWOTH) && !of_group) || (sticky && st->st_mode & S_ISVTX));
}

static int check_path(const char *path, const struct stat *st, bool sticky, struct fault *f)
{
	if (S_ISLNK(st->st_mode) ? !st->st_uid : is_roots(path, st, sticky))
		return 0;
	return fault_set(f, EXIT_FAILED, "%s belongs to user %u and group %u, mode %04o%s: others than root could run code as root by "
			 "the packages of this environment; run perf-prof python as that user, or use an environment that only "
			 "root can change", path, st->st_uid, st->st_gid, st->st_mode & 07777u,
			 !S_ISLNK(st->st_mode) && has_acl(path) ? ", with an ACL" : "");
}

/* Each folder on the way, and each that a link leads through: who can change one of them can put another file there, also after
 * this look. The last one may not be sticky. */
static int check_way(const char *path, int links, struct fault *f)
{
	char way[PATH_MAX], target[PATH_MAX], on[3 * PATH_MAX];
	const char *end = path;
	struct stat st;
	ssize_t n;

	if (*path != '/') {
		snprintf(on, sizeof(on), "%s/%s", getcwd(way, sizeof(way)) ? way : "", path);
		return check_way(on, links, f);
	}
	do {
		end += strspn(end, "/");
		end += strcspn(end, "/");
		snprintf(way, sizeof(way), "%.*s", (int)(end - path), path);
		if (lstat(way, &st))
			return fault_set(f, EXIT_FAILED, "%s: %s", way, strerror(errno));
		if (check_path(way, &st, end[strspn(end, "/")], f))
			return -1;
	} while (!S_ISLNK(st.st_mode) && end[strspn(end, "/")]);
	if (!S_ISLNK(st.st_mode))
		return 0;
	n = readlink(way, target, sizeof(target) - 1);
	if (n < 0 || !links)
		return fault_set(f, EXIT_FAILED, "%s: %s", way, strerror(n < 0 ? errno : ELOOP));
	target[n] = '\0';
	snprintf(on, sizeof(on), "%.*s%s%s", *target == '/' ? 0 : (int)(strrchr(way, '/') + 1 - way), way, target, end);
	return check_way(on, links - 1, f);
}

static int check_owner(const char *path, struct fault *f)
{
	enum { MAX_LINKS = 40 };     /* the kernel's own limit */

	return check_way(path, MAX_LINKS, f);
}

/* The folders of the environment in which a Python finds packages, these packages, .pth files, which it runs, and the libraries
 * that a program of a wheel looks for (tools/wheels). */
static int check_packages(const char *environment, struct fault *f)
{
	static const char *const below[] = { "lib*", "lib*/python3*", "lib*/python3*/*-packages", "lib*/python3*/*-packages/*",
					     "lib*/python3*/*-packages/perf_prof/*", "lib*/python3*/*-packages/perf_prof.libs/*",
					     "perf_prof.libs", "perf_prof.libs/*", "pyvenv.cfg" };
	int rc = 0;

	for (size_t i = 0; i < sizeof(below) / sizeof(*below) && !rc; i++) {
		glob_t found;

		if (match(environment, below[i], &found))
			for (size_t k = 0; k < found.gl_pathc && !rc; k++)
				rc = check_owner(found.gl_pathv[k], f);
		globfree(&found);
	}
	return rc;
}

/* The interpreter, its folder, the environment's, and those of packages, with all above them. */
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
	return check_packages(path, f);
}

/* The libraries of a wheel are below the program's own prefix, which is not Python's after `pip install --user`. */
int environment_check_own(const char *python, struct fault *f)
{
	char bin[4096], own[4096];

	snprintf(bin, sizeof(bin), "%s", python);
	if (!textfile_link(own, sizeof(own), "/proc/self/exe") || !cut(own) || (cut(bin) && !strcmp(own, bin)) || !cut(own))
		return 0;
	return check_packages(own, f);
}
