# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/c, built against the installed library, and what they say."""
import os
import re
import subprocess
import time

import pytest

from conftest import C, ROOT, need, run

FOLDER = os.path.join(ROOT, 'examples/c')


@pytest.fixture(scope='module')
def example(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp('examples')

    def build(name):
        program = folder / name
        if not program.exists():
            installed.compile(os.path.join(FOLDER, f'{name}.c'), program)
        return str(program)
    return build


def test_every_example_is_tested_here():
    with open(__file__) as f:
        tested = set(re.findall(r"example\('(\w+)'\)", f.read()))
    assert tested == {n[:-2] for n in os.listdir(FOLDER) if n.endswith('.c')}


def test_the_makefile_builds_all(installed, tmp_path):
    for name in os.listdir(FOLDER):
        with open(os.path.join(FOLDER, name)) as f:
            (tmp_path / name).write_text(f.read())
    done = run(['make', '-C', tmp_path, 'CFLAGS=-O2 -Wall -Wextra -Werror'], installed.env)
    assert done.returncode == 0, done.stderr
    programs = [tmp_path / n[:-2] for n in os.listdir(FOLDER) if n.endswith('.c')]
    assert all(os.access(program, os.X_OK) for program in programs)


@pytest.mark.live
def test_ipc(installed, example):
    done = installed.run(example('ipc'))
    if done.returncode == 77:
        assert done.stdout == '' and re.search('open|group', done.stderr), done.stderr
        need('pmu')
    assert done.returncode == 0 and done.stderr == '', done.stderr
    found = re.fullmatch(r'got sum = 4999950000 in (\d+) ns: (\d+) instructions, (\d+) CPU cycles: '
                         r'(\d+\.\d+) IPC( \(seen \d+% of the time\))?\n', done.stdout)
    ns, instructions, cycles = (int(found.group(i)) for i in (1, 2, 3))
    # Three to eight instructions per turn, and what two ioctls take in user space.
    assert ns > 0 and 300000 <= instructions <= 1000000 and cycles > 0
    assert abs(float(found.group(4)) - instructions / cycles) < 1e-5


@pytest.mark.live
def test_ipc_says_why_it_can_not(installed, example):
    need('no_pmu')
    done = installed.run(example('ipc'))
    assert done.returncode == 77 and done.stdout == ''
    assert 'no such hardware counter' in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.live
def test_page_faults(installed, example):
    done = installed.run(example('page_faults'))
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout == 'saw 1 page faults, wrote value 42\n'


@pytest.mark.live
def test_getpid(installed, example):
    need('tracefs')
    done = installed.run(example('getpid'))
    assert (done.returncode, done.stdout, done.stderr) == (0, 'saw getpid 3 times\n', '')


HOST = '''#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int c = 0;

	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		c = getchar();
	}
	void *plugin = dlopen(argv[1], RTLD_NOW);
	return c == EOF || !plugin ? 1 : 5;
}
'''


@pytest.fixture
def host(tmp_path):
    """[program, plugin]: the program opens the plugin and exits with 5; with a second argument
    it says "ready" before, and waits for a byte."""
    (tmp_path / 'host.c').write_text(HOST)
    (tmp_path / 'plugin.c').write_text('int plugin(void);\nint plugin(void) { return 1; }\n')
    for argv in ([*C, tmp_path / 'host.c', '-ldl', '-o', tmp_path / 'host'],
                 [*C, '-shared', '-fPIC', tmp_path / 'plugin.c', '-o', tmp_path / 'plugin.so']):
        done = run(argv)
        assert done.returncode == 0, done.stderr
    return [str(tmp_path / 'host'), str(tmp_path / 'plugin.so')]


LINE = r'pid (\d+) created a PROT_EXEC mapping at 0x[0-9a-f]+: (.*)'


@pytest.mark.live
def test_exec_mappings_of_a_command(installed, example, host):
    done = installed.run(example('exec_mappings'), *host)
    assert done.returncode == 5 and done.stderr == ''
    rows = [re.fullmatch(LINE, line) for line in done.stdout.splitlines()]
    assert all(rows) and len({r.group(1) for r in rows}) == 1
    names = [r.group(2) for r in rows]
    assert names.count(host[0]) == 1 and names.count(host[1]) == 1
    assert any('/libc' in n for n in names) and names[-1] != host[0]


@pytest.mark.live
def test_exec_mappings_of_a_running_process(installed, example, host):
    """Only what it maps from then on: the plugin."""
    program = example('exec_mappings')
    target = subprocess.Popen([*host, 'wait'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    watcher = None
    try:
        assert target.stdout.readline() == b'ready\n'
        watcher = subprocess.Popen([program, '-p', str(target.pid)], stdout=subprocess.PIPE,
                                   text=True, env={**os.environ, **installed.env})
        wait_for_a_ring(watcher.pid)
        target.stdin.write(b'x')
        target.stdin.close()
        out, _ = watcher.communicate(timeout=20)
        assert watcher.returncode == 0 and target.wait(20) == 5
    finally:
        for process in filter(None, (target, watcher)):
            process.kill()
            process.wait()
    rows = [re.fullmatch(LINE, line) for line in out.splitlines()]
    assert [r.groups() for r in rows] == [(str(target.pid), host[1])]


def wait_for_a_ring(pid):
    """Until the process has a perf ring: from then on nothing escapes it."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with open(f'/proc/{pid}/maps') as maps:
            if '[perf_event]' in maps.read():
                return
        time.sleep(0.002)
    raise AssertionError('it maps no ring')


@pytest.mark.live
def test_exec_mappings_without_a_target(installed, example):
    program = example('exec_mappings')
    assert installed.run(program).returncode == 2
    assert installed.run(program, '-x').returncode == 2
    done = installed.run(program, '-p', '4194303')
    assert done.returncode == 1 and 'ESRCH' in done.stderr
    assert installed.run(program, '/nonexistent/program').returncode == 127


@pytest.mark.live
def test_context_switches(installed, example):
    done = installed.run(example('context_switches'))
    found = re.fullmatch(r"Current count: (\d+) context switches!\n"
                         r"The scheduler's own account: (\d+)\n", done.stdout)
    assert done.returncode == 0 and found, done.stderr
    assert int(found.group(1)) == int(found.group(2)) >= 10
