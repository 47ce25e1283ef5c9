/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/identity.h"

#include "base/caller.h"
#include "base/capabilities.h"
#include "base/ttyfilter.h"
#include "base/units.h"
#include "symbols/jail/parser.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- find the user -------------------------------------------------------- */

static const struct passwd *by_number(const char *text)
{
	uint64_t uid;

	return units_u64(text, &uid) || uid >= UINT32_MAX ? NULL : getpwuid((uid_t)uid);
}

static int take(struct identity *who, const struct passwd *pw, bool named, struct fault *f)
{
	*who = (struct identity){
		.uid = pw->pw_uid, .gid = pw->pw_gid, .named = named,
		.name = strdup(pw->pw_name), .home = strdup(pw->pw_dir),
		.shell = strdup(*pw->pw_shell ? pw->pw_shell : "/bin/sh"),
	};
	if (who->name && who->home && who->shell)
		who->ngroups = caller_groups(who->name, who->gid, &who->groups);
	if (!who->groups) {
		identity_free(who);
		return fault_set(f, EXIT_FAILED, "out of memory");
	}
	return 1;
}

int identity_find(struct identity *who, const char *user, struct fault *f)
{
	const char *caller = getenv("SUDO_UID");
	const struct passwd *pw;

	*who = (struct identity){0};
	if (!user && (geteuid() || !caller))
		return 0;
	if (user && geteuid())
		return fault_usage(f, "--user %s: only root can become another user; leave --user out to "
				   "run as yourself", user);
	pw = user ? getpwnam(user) : by_number(caller);
	if (!pw && user)
		pw = by_number(user);
	if (!pw && user)
		return fault_usage(f, "--user %s: there is no user of that name or number", user);
	if (!pw)
		return fault_set(f, EXIT_FAILED, "SUDO_UID is %s, which is not a user of this "
				 "machine: give --user NAME, the user to run the script, or --user "
				 "root", caller);
	/* sudo run by root, or --user root: stays root */
	return pw->pw_uid ? take(who, pw, user, f) : 0;
}

/* 1, or -1 with f. */
static int name_by_number(struct identity *who, struct fault *f)
{
	if (asprintf(&who->name, "%u", who->uid) >= 0)
		return 1;
	who->name = NULL;
	return fault_set(f, EXIT_FAILED, "out of memory");
}

int identity_own(struct identity *who, struct fault *f)
{
	*who = (struct identity){ .uid = getuid(), .gid = getgid(), .own = true };
	return name_by_number(who, f);
}

int identity_caller(struct identity *who, struct fault *f)
{
	struct caller caller;
	uid_t uid;

	*who = (struct identity){ 0 };
	if (!caller_of_sudo(&uid))
		return 0;
	if (!caller_find(&caller, &who->groups))
		return fault_set(f, EXIT_FAILED, "SUDO_UID is %u, but SUDO_GID is not set to the number of a group: "
				 "set both, as sudo does, or neither", uid);
	who->uid = caller.uid;
	who->gid = caller.gid;
	who->ngroups = caller.ngroups;
	return name_by_number(who, f);
}

int identity_nobody(struct identity *who, struct fault *f)
{
	uid_t id = parser_uid();

	*who = (struct identity){ .uid = id, .gid = id };
	return id ? name_by_number(who, f) : 0;
}

void identity_free(struct identity *who)
{
	free(who->groups);
	free(who->name);
	free(who->home);
	free(who->shell);
	*who = (struct identity){0};
}

/* ---- change to the user --------------------------------------------------- */

/* Order: the bounding set and the groups first, while the process has the right to change them. */
static int change_ids(const struct identity *who)
{
	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) > 0)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	return setgroups((size_t)who->ngroups, who->groups) || setresgid(who->gid, who->gid, who->gid) ||
	       setresuid(who->uid, who->uid, who->uid);
}

/* Whether the process could get its privilege back. */
static bool can_return(const struct identity *who)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (getresuid(&r, &e, &s) || getresgid(&rg, &eg, &sg))
		return true;
	return r != who->uid || e != who->uid || s != who->uid || rg != who->gid ||
	       eg != who->gid || sg != who->gid || !setuid(0) || !seteuid(0);
}

/* Whether a variable of root's environment stays for the user of --user. */
static bool is_kept(const char *variable)
{
	static const char kept[] = " TERM COLORTERM NO_COLOR COLUMNS LINES LANG LANGUAGE TZ PYTHONPATH PYTHONHOME VIRTUAL_ENV ";
	char word[24];

	return !strncmp(variable, "LC_", 3) ||
	       (snprintf(word, sizeof(word), " %.*s ", (int)strcspn(variable, "="), variable) < (int)sizeof(word) && strstr(kept, word));
}

/* What is not kept is overwritten, too: /proc/self/environ shows the texts with which the process was started. */
static void change_environment(const struct identity *who)
{
	char **kept = environ;

	for (char **v = environ; who->named && *v; v++)
		if (is_kept(*v))
			*kept++ = *v;
		else
			memset(*v, 0, strlen(*v));
	if (who->named) {
		*kept = NULL;
		setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	}
	setenv("SHELL", who->shell, 1);
	setenv("HOME", who->home, 1);
	setenv("USER", who->name, 1);
	setenv("LOGNAME", who->name, 1);
}

/* A process that can type into the terminal acts as the user who reads from it. */
static int leave_terminal(const struct identity *who, struct fault *f)
{
	int rc = who->own ? 0 : ttyfilter_install_on_terminal();

	return rc ? fault_set(f, EXIT_FAILED, "cannot keep user %s from typing into this terminal: seccomp: %s; "
			      "nothing was run; run perf-prof where there is no terminal (a service, or "
			      "setsid with input and output redirected)",
			      who->name, strerror(-rc)) : 0;
}

int identity_drop(const struct identity *who, struct fault *f)
{
	if ((!who->own && change_ids(who)) || capabilities_drop() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fault_set(f, EXIT_FAILED, "cannot change to user %s: %s; nothing was run", who->name,
				 strerror(errno));
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (can_return(who))
		return fault_set(f, EXIT_FAILED, "changing to user %s did not drop root's "
				 "privileges; nothing was run", who->name);
	return leave_terminal(who, f);
}

int identity_become(const struct identity *who, struct fault *f)
{
	if (identity_drop(who, f))
		return -1;
	/* the process belongs to its user again, and so does /proc/self */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (!who->own)
		change_environment(who);
	return 0;
}
