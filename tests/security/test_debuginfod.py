# SPDX-License-Identifier: Apache-2.0
"""What asks servers for debug files parses what a network says: it may do that, and nothing else."""
import os
import pathlib
import shutil
import socket
import subprocess

import pytest

from frame import requires
from security.conftest import CALLER, sudo

pytestmark = pytest.mark.live

for word in ('tracefs', 'program:gcc', 'program:strip'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

PATIENCE = 60
PARSER = 2113929216
# In the place of the library: code that a server has taken over. It says what it could do.
ATTACKER = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#define TRY(name, call) (errno = 0, (call), dprintf(s, "%s %d\n", name, errno))
struct client { int x; };
struct client *debuginfod_begin(void) { static struct client c; return &c; }
void debuginfod_end(struct client *c) { }
int debuginfod_find_debuginfo(struct client *c, const unsigned char *id, int n, char **path)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int s = socket(AF_INET, SOCK_STREAM, 0), fd, i;
	char own[4096], *argv[] = { "true", NULL };
	ssize_t got;
	struct rlimit core;

	to.sin_port = htons(atoi(strrchr(getenv("DEBUGINFOD_URLS"), ':') + 1));
	if (connect(s, (struct sockaddr *)&to, sizeof(to)))
		return -errno;
	snprintf(own, sizeof(own), "%s/x", getenv("DEBUGINFOD_CACHE_PATH"));
	TRY("own", close(open(own, O_CREAT | O_WRONLY, 0600)));
	TRY("write", open(OUTSIDE "/written", O_CREAT | O_WRONLY, 0600));
	TRY("change", open(OUTSIDE "/theirs", O_WRONLY));
	TRY("read", open(OUTSIDE "/secret", O_RDONLY));
	TRY("tty", open("/dev/tty", O_RDWR));
	TRY("kill", kill(getppid(), 0));
	TRY("ptrace", ptrace(PTRACE_ATTACH, getppid(), 0, 0));
	TRY("setuid", setuid(0));
	TRY("exec", execv("/bin/true", argv));
	getrlimit(RLIMIT_FSIZE, &core);
	dprintf(s, "fsize %d\n", core.rlim_max == RLIM_INFINITY);
	for (i = 3; i < 64; i++)
		if (i != s && fcntl(i, F_GETFD) >= 0 && !(fd = 0))
			dprintf(s, "open %d\n", i);
	fd = open("/proc/self/status", O_RDONLY);
	while ((got = read(fd, own, sizeof(own))) > 0)
		write(s, own, got);
	close(s);
	return -ENOENT;
}
"""


@pytest.fixture
def attack(prof, build, folder, tmp_path):
    """attack(environment): what the attacker reported, by word."""
    program = pathlib.Path(shutil.copy(os.path.join(build, 'tests/helpers/callers'), folder / 'stripped'))
    subprocess.run(['strip', program], check=True)
    folder.chmod(0o777)
    for name, mode in (('theirs', 0o666), ('secret', 0o600)):
        (folder / name).write_text('precious')
        (folder / name).chmod(mode)
    lib = folder / 'lib'
    lib.mkdir()
    (tmp_path / 'attacker.c').write_text(ATTACKER)
    subprocess.run(['gcc', '-w', f'-DOUTSIDE="{folder}"', '-shared', '-fPIC', '-o', lib / 'libdebuginfod.so.1',
                    tmp_path / 'attacker.c'], check=True)
    data = folder / 'r.data'
    subprocess.run([prof, 'record', '-e', 'syscalls:sys_enter_getppid', '-g', '-o', data, '--', program, '3'], check=True,
                   capture_output=True, timeout=PATIENCE)

    def run(env):
        with socket.create_server(('127.0.0.1', 0)) as server:
            server.settimeout(PATIENCE)
            command = [prof, 'report', '--debuginfod', f'http://127.0.0.1:{server.getsockname()[1]}', data]
            process = subprocess.Popen(command, env={**env, 'LD_LIBRARY_PATH': str(lib)}, stdout=subprocess.DEVNULL)
            with server.accept()[0] as connection, connection.makefile() as lines:
                said = lines.read().splitlines()
        assert process.wait(PATIENCE) == 0       # for other files there is no server now
        assert len([line for line in said if line.startswith('open ')]) == 1, 'the way to who asked'
        return dict(line.replace(':', ' ').split(None, 1) for line in said if len(line.split()) > 1)
    return run


@pytest.mark.parametrize('how', ['root', 'sudo'])
def test_it_can_do_nothing_else(attack, folder, how):
    env = {name: value for name, value in os.environ.items() if not name.startswith('SUDO_')}
    said = attack(sudo() if how == 'sudo' else env)
    assert said['own'] == '0'
    assert not [word for word in ('write', 'change', 'read', 'tty', 'kill', 'ptrace', 'exec') if said[word] == '0'], said
    assert said['setuid'] != '0' and said['fsize'] == '0'
    assert said['Uid'].split() == [str(CALLER.pw_uid if how == 'sudo' else PARSER)] * 4
    assert {said[f'Cap{kind}'] for kind in ('Inh', 'Prm', 'Eff', 'Bnd', 'Amb')} == {'0' * 16}
    assert said['NoNewPrivs'] == '1' and said['Seccomp'] == '2'
    assert not (folder / 'written').exists()
