/* SPDX-License-Identifier: Apache-2.0 */
/* Who was root and became somebody else can't go back, by no way that Linux has. */
#include "live.h"

#include "keeper/identity.h"

#include <grp.h>

/* What the child found wrong, as its exit code; 0 when all is as it should be. */
static int as_nobody(const struct identity *who)
{
	gid_t groups[64];
	struct fault f;
	char line[256];
	FILE *status;
	int n;

	if (identity_become(who, &f))
		return 1;
	if (getuid() != who->uid || geteuid() != who->uid || getgid() != who->gid)
		return 2;
	if (!setuid(0) || errno != EPERM || !seteuid(0) || !setgid(0) || !setresuid(0, 0, 0))
		return 3;
	n = getgroups(64, groups);
	for (int i = 0; i < n; i++)
		if (groups[i] == 0)
			return 4;
	if (!setgroups(0, NULL) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 5;
	if (open("/etc/shadow", O_RDONLY) >= 0 || strcmp(getenv("HOME"), who->home))
		return 6;
	status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "Cap", 3) && strspn(strchr(line, ':') + 1, " \t0\n") !=
		    strlen(strchr(line, ':') + 1))
			return 7;   /* CapInh, CapPrm, CapEff, CapBnd, CapAmb */
	return status ? 0 : 8;
}

TEST(nobody_stays_nobody)
{
	struct identity who;
	struct fault f = {0};
	pid_t pid;

	if (geteuid())
		SKIP("needs root");
	assert_int_equal(identity_find(&who, "nobody", &f), 1);
	pid = fork_child();
	if (!pid)
		_exit(as_nobody(&who));
	assert_int_equal(exit_code_of(pid), 0);
	identity_free(&who);
}

TEST(who_it_is)
{
	static const struct {
		const char *sudo_uid, *user;
		int rc;
	} cases[] = {
		{ NULL, NULL, 0 },               /* root without sudo stays root */
		{ "0", NULL, 0 },                /* so does root's sudo */
		{ "65534", NULL, 1 },
		{ "65534", "root", 0 },          /* said: stay root */
		{ "65534", "65534", 1 },
		{ "65534", "no-such-user", -1 },
		{ "x", NULL, -1 },
		{ "4000000001", NULL, -1 },
	};
	struct identity who;
	struct fault f = {0};

	if (geteuid())
		SKIP("needs root");
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].sudo_uid)
			setenv("SUDO_UID", cases[i].sudo_uid, 1);
		else
			unsetenv("SUDO_UID");
		assert_int_equal(identity_find(&who, cases[i].user, &f), cases[i].rc);
		if (cases[i].rc > 0) {
			assert_string_equal(who.name, "nobody");
			identity_free(&who);
		}
		if (cases[i].rc < 0) {
			assert_int_equal(f.exit_code, cases[i].user ? EXIT_USAGE : EXIT_FAILED);
			SAYS(f.text, cases[i].user ? cases[i].user : cases[i].sudo_uid);
		}
		f = (struct fault){0};
	}
	unsetenv("SUDO_UID");
}

AROUND_ALL(needs_the_system_call, NULL)
