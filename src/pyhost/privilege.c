/* SPDX-License-Identifier: Apache-2.0 */
#include "pyhost/privilege.h"

#include "base/capabilities.h"
#include "stream/watched/targets.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in a process of its own, as the user. Returns the exit code. */
static int try_script(const struct identity *who, const struct host_script *script)
{
	struct fault f = {0};
	int rc;

	if (identity_become(who, &f)) {
		fault_print(&f);
		return EXIT_FAILED;
	}
	rc = host_try(script);
	fflush(stdout);
	fflush(stderr);
	return rc;
}

static int tried_script(const struct identity *who, const struct host_script *script,
			struct fault *f)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(try_script(who, script));
	if (child < 0)
		return fault_set(f, EXIT_FAILED, "fork: %s", strerror(errno));
	if (TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) < 0)
		return fault_set(f, EXIT_FAILED, "waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status))
		return fault_set(f, EXIT_FAILED, "%s: signal %d ended its compilation (%s)",
				 script->module, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status);
}

static int find_cgroups(struct cgroups *c, const struct opt_strings *names, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; i < names->n && !rc; i++) {
		int fd = targets_open_cgroup(names->v[i], c->mount, sizeof(c->mount), f);

		if (fd < 0)
			return -1;
		rc = cgroups_add(c, fd);
		close(fd);
	}
	return rc ? fault_set(f, EXIT_FAILED, "--cgroups: %s", strerror(-rc)) : 0;
}

int privilege_begin(struct privilege *p, const char *user, const struct stream_opts *o,
		    const struct host_script *script, struct fault *f)
{
	int found = identity_find(&p->who, user, f), rc;
	bool of_file = !found && capabilities_of_file();

	if (of_file && identity_own(&p->who, f) < 0)
		return -1;
	if (found < 0 || (!found && !of_file))
		return found;
	rc = tried_script(&p->who, script, f);
	if (rc)
		return rc;
	p->given_up_later = true;
	if (of_file)
		return 0;        /* without privilege the script can open its user's files only */
	if (find_cgroups(&p->cgroups, &o->cgroups, f))
		return -1;
	p->keeper = keeper_start(&(struct keeper_opts){
		.who = &p->who, .targets = {
			.everybody = targets_everybody(o), .pids = o->pids.v, .npids = o->pids.n,
			.tids = o->tids.v, .ntids = o->tids.n, .cgroups = p->cgroups,
		},
	}, f);
	return p->keeper ? 0 : -1;
}

const struct opener *privilege_opener(const struct privilege *p)
{
	return p->keeper ? keeper_opener(p->keeper) : &opener_direct;
}

int privilege_give_up(struct privilege *p, struct fault *f)
{
	return p->given_up_later ? identity_become(&p->who, f) : 0;
}

void privilege_end(struct privilege *p)
{
	keeper_stop(p->keeper);
	identity_free(&p->who);
	cgroups_free(&p->cgroups);
	p->keeper = NULL;
}
