/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the descriptors that threads wait on. */
#include "checks.h"

#include "analysis/durations/waiton.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Its waits may be read when it has ended. */
TEST(a_socket_keeps_its_name)
{
	struct waiton w = { 0 };
	char before[64], after[64];
	int both[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	waiton_descriptor(&w, pid, pid, both[0], before, sizeof(before));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	waiton_descriptor(&w, pid, pid, both[0], after, sizeof(after));
	assert_memory_equal(before, "socket:[", strlen("socket:["));
	assert_string_equal(before, after);
	waiton_descriptor(&w, pid, pid, both[1], after, sizeof(after));
	assert_string_equal(after, "");
	waiton_free(&w);
	close(both[0]);
	close(both[1]);
}
