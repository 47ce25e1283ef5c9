/* SPDX-License-Identifier: Apache-2.0 */
/* Who was root and became somebody else can't go back, by no way that Linux has. */
#include "live.h"

#include "keeper/identity.h"

#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static int asked(void)
{
	return setuid(0) ? -errno : 0;
}

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
	if (asked() != -EPERM || !seteuid(0) || !setgid(0) || !setresuid(0, 0, 0))
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

static void nobody_stays_nobody(void **state)
{
	struct identity who;
	struct fault f = {0};
	pid_t pid;
	int wstatus;

	(void)state;
	if (geteuid())
		SKIP("needs root");
	assert_int_equal(identity_find(&who, "nobody", &f), 1);
	pid = fork_child();
	if (!pid)
		_exit(as_nobody(&who));
	assert_int_equal(waitpid(pid, &wstatus, 0), pid);
	assert_true(WIFEXITED(wstatus));
	assert_int_equal(WEXITSTATUS(wstatus), 0);
	identity_free(&who);
}

static void who_it_is(void **state)
{
	struct identity who;
	struct fault f = {0};

	(void)state;
	if (geteuid())
		SKIP("needs root");
	unsetenv("SUDO_UID");
	assert_int_equal(identity_find(&who, NULL, &f), 0);      /* root without sudo stays root */
	setenv("SUDO_UID", "0", 1);
	assert_int_equal(identity_find(&who, NULL, &f), 0);      /* so does root's sudo */
	setenv("SUDO_UID", "65534", 1);
	assert_int_equal(identity_find(&who, NULL, &f), 1);
	assert_string_equal(who.name, "nobody");
	identity_free(&who);
	assert_int_equal(identity_find(&who, "root", &f), 0);    /* said: stay root */
	assert_int_equal(identity_find(&who, "65534", &f), 1);
	identity_free(&who);
	assert_int_equal(identity_find(&who, "no-such-user", &f), -1);
	assert_non_null(strstr(f.text, "no-such-user"));
	assert_int_equal(f.exit_code, EXIT_USAGE);
	setenv("SUDO_UID", "x", 1);
	assert_int_equal(identity_find(&who, NULL, &f), -1);
	setenv("SUDO_UID", "4000000001", 1);
	assert_int_equal(identity_find(&who, NULL, &f), -1);
	assert_non_null(strstr(f.text, "4000000001"));
	unsetenv("SUDO_UID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_stays_nobody),
		cmocka_unit_test(who_it_is),
	};

	return cmocka_run_group_tests(tests, needs_the_system_call, NULL);
}
