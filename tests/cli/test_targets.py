# SPDX-License-Identifier: Apache-2.0
"""Targets that are many, or that come and go while events are opened on them."""
import glob
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time

import pytest

from frame import requires
from frame.declared import Output, environment
from frame.session import EVENT, READY, Session, until

pytestmark = pytest.mark.live

THREADS = 2000
COUNT = READY + """
n, threads = 0, set()
def __sample__(e):
    global n
    n += 1
    threads.add(e._tid)
    if n > 8 and len(threads) == 9:
        print('enough', flush=True)
def __exit__():
    print('events', n)
    print('threads', len(threads))
"""

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))


def test_without_proc(prof):
    done = subprocess.run(['unshare', '-m', 'sh', '-c', f'umount -l /proc; {prof} profile -e cpu-clock -- true'], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and re.search('^perf-prof: cannot list the threads of process .*: /proc is not mounted', done.stderr, re.M)


def test_a_control_group_of_version_1(prof):
    folders = [f for f in glob.glob('/sys/fs/cgroup/[bfm]*/') if os.path.exists(f + 'tasks') and not os.path.islink(f[:-1])]
    if not folders:
        pytest.skip('needs a hierarchy of cgroup v1 without perf_event')
    name = f'perf-prof-test-{os.getpid()}'
    os.mkdir(folders[0] + name)
    try:
        for typed in name, os.path.basename(folders[0][:-1]) + '/' + name, folders[0] + name:
            done = subprocess.run([prof, 'stat', '--cgroups', typed, '--', 'true'], capture_output=True, text=True, timeout=60)
            assert done.returncode == 1 and f'{folders[0]}{name} is not a control group that perf events know: it is of version 1' in done.stderr
    finally:
        os.rmdir(folders[0] + name)


@pytest.mark.alone
def test_events_of_a_cpu_that_was_offline_are_opened_again(prof):
    """Those of a source that watches all tasks, too. The kernel's message comes without the CPU having been away."""
    cpu = max(os.sched_getaffinity(0))
    runs = [subprocess.Popen([prof, *args, '-v', '--seconds', '60'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for args in (
        ['profile', '-a', '-e', 'cpu-clock', '-F', '9'], ['trace', '-e', 'rundelay', '-p', str(os.getpid())],
        ['trace', '-e', 'sched:sched_process_exec', '-p', str(os.getpid())])]
    said = [Output(run.stderr) for run in runs]

    def told():
        with open(f'/sys/devices/system/cpu/cpu{cpu}/uevent', 'w') as uevent:
            uevent.write('online')
        return [f'perf-prof: CPU {cpu} was offline: it is watched again' in one.data.decode() for one in said]
    try:
        until(lambda: told()[:2] == [True, True])
        assert not told()[2]
    finally:
        for run in runs:
            run.kill()
            run.wait()
            run.stderr.close()


class Target:
    """tests/helpers/threads.c as a context."""

    def __init__(self, build, *args):
        self.process = subprocess.Popen([os.path.join(build, 'tests/helpers/threads'), *map(str, args)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.pid = self.process.stdout.readline().split()[1].decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def finish(self):
        """All that it does from here on is done; how many calls it made in its life."""
        self.process.stdin.write(b'x')
        return int(self.process.stdout.readline().split()[1])


def enough_files(n):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < n and not requires.has_capability(24):
        pytest.skip(f'needs {n} open files (ulimit -Hn)')


@pytest.mark.deep
def test_each_of_two_thousand_threads_is_traced(build, prof, tmp_path):
    enough_files(2 * THREADS * len(os.sched_getaffinity(0)) + 1000)
    with Target(build, THREADS) as target, \
            Session(prof, tmp_path, COUNT, '-e', EVENT, '-p', target.pid, '-i', '100') as session:
        begin = time.monotonic()
        session.wait_for('ready')
        took = time.monotonic() - begin
        assert target.finish() == THREADS
        ended = session.stop()
    assert (ended.code, ended.stderr) == (0, '')
    assert ended.number('events') == ended.number('threads') == THREADS
    assert took < 60 and ended.seconds < 30        # not a time for each pair of them


def test_each_of_two_thousand_threads_is_counted(build, prof):
    enough_files(THREADS + 1000)
    with Target(build, THREADS) as target:
        stat = subprocess.Popen([prof, 'stat', '--json', '-i', '100', '-e', EVENT, '-p', target.pid],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        limit = threading.Timer(60, stat.kill)
        limit.start()
        first = stat.stdout.readline()      # all are on
        limit.cancel()
        target.finish()
        stat.send_signal(signal.SIGINT)
        out, err = stat.communicate(timeout=60)
    assert (stat.returncode, err) == (0, '')
    counts = [json.loads(line)['events'][0]['value'] for line in (first + out).splitlines()]
    assert sum(counts) == THREADS, counts


@pytest.mark.deep
@pytest.mark.parametrize('kind', ['churn', 'fork'])
def test_a_target_whose_tasks_come_and_go(build, prof, tmp_path, kind):
    """Each opens; nothing but what could be missing is said; what is born later is seen."""
    with Target(build, 8, kind) as target:
        for _ in range(3):
            with Session(prof, tmp_path, COUNT, '-e', EVENT, '-p', target.pid, '-i', '100', '-m', '8M') as session:
                session.wait_for('ready')
                session.wait_for('enough')
                ended = session.stop()
            assert (ended.code, ended.stderr) == (0, '')
            assert ended.number('events') > 8 and ended.number('threads') > 8
            done = subprocess.run([prof, 'stat', '-e', EVENT, '-x,', '-o', 'counts', '-p', target.pid,
                                   '--', 'sleep', '0.1'], cwd=tmp_path, capture_output=True,
                                  text=True, timeout=30)
            assert done.returncode == 0
            assert done.stderr == '' or 'new threads kept starting' in done.stderr
            assert re.search(rf'^,,{EVENT},\d+,,counted,', (tmp_path / 'counts').read_text(), re.M)
        assert target.finish() > 0


@pytest.mark.deep
@pytest.mark.parametrize('command', ['python', 'stat'])
def test_a_target_that_ends_at_any_moment(build, prof, tmp_path, command):
    """Before it is looked up, while it is opened, or when all is open: it is said, or the run
    ends as after any other end of its target."""
    (tmp_path / 's.py').write_text('def __sample__(event):\n    pass\n')
    argv = [prof, command, '-e', EVENT] + ['-o', 'counts'] * (command == 'stat')
    reasons = []
    delays = [i * 0.004 for i in range(24)]      # a sweep over the start, no wait for anything
    for delay in delays:
        with Target(build, 200) as target:
            run = subprocess.Popen(argv + ['-p', target.pid] + ['s.py'] * (command == 'python'),
                                   env=environment({'cmd': command}), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
            time.sleep(delay)
        out, err = run.communicate(timeout=60)
        reasons.append((run.returncode, err.strip()))
        if delay == delays[-1] and (0, '') not in reasons and delay < 5:
            delays.append(2 * delay)             # a slow machine
    said = re.compile(r'there is no such process|ended before the events were open')
    for code, err in reasons:
        assert (code, err) == (0, '') or (code == 1 and said.search(err) and '\n' not in err), reasons
    assert (0, '') in reasons


ENDED = 'perf-prof: the watched processes ended before the events were open\n'
COMMANDS = {'stat': [], 'stat --per-thread': [], 'record': ['-o', 'perf.data'], 'trace': [], 'top': []}


@pytest.mark.slow      # a sanitizer has to be preloaded first
@pytest.mark.parametrize('opening', [0, 1, 2])
@pytest.mark.parametrize('command', COMMANDS)
def test_a_target_that_ends_while_it_is_opened(build, prof, tmp_path, command, opening):
    """When its threads are listed, before its first event is open, or before the next one is: all say the same."""
    with subprocess.Popen(['sleep', '60']) as target:
        collector = threading.Thread(target=target.wait)
        collector.start()
        environ = environment({'cmd': command, 'env': {
            'LD_PRELOAD': os.path.join(build, 'tests/helpers/libending_target.so'),
            'ENDING_TARGET': f'{target.pid} {opening}'}})
        done = subprocess.run([prof, *command.split(), *COMMANDS[command], '-e', f'{EVENT},page-faults', '-p', str(target.pid)],
                              env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=30)
        collector.join()
    assert (done.returncode, done.stdout, done.stderr) == (1, '', ENDED)


@pytest.mark.parametrize('command', COMMANDS)
def test_a_target_that_has_ended_and_was_not_collected(prof, tmp_path, command):
    zombie = os.posix_spawnp('true', ['true'], os.environ)
    os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
    done = subprocess.run([prof, *command.split(), *COMMANDS[command], '-e', EVENT, '-p', str(zombie)],
                          cwd=tmp_path, capture_output=True, text=True, timeout=30)
    os.waitpid(zombie, 0)
    assert (done.returncode, done.stdout, done.stderr) == (1, '', ENDED)


def a_kernel_thread():
    """One that is asleep nearly all the time; not in a PID namespace of its own."""
    with open('/proc/2/comm') as comm:
        if comm.read() == 'kthreadd\n':
            return '2'
    return None


@pytest.mark.parametrize('command', ['page-faults', 'syscalls', 'trace -e page-faults', 'stat -e page-faults'])
def test_a_thread_of_the_kernel_says_why_nothing_is_shown(prof, command):
    try:
        thread = a_kernel_thread()
    except FileNotFoundError:
        thread = None
    if not thread:
        pytest.skip('needs to see the threads of the kernel')
    run = [prof, *command.split(), '--seconds', '0.05', '-p', thread]
    told = f'perf-prof: nothing happened in the watched tasks: {thread} is a kernel thread, which makes no system calls'
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and told in done.stderr, done
    assert told not in subprocess.run([*run, '-q'], capture_output=True, text=True, timeout=60).stderr


@pytest.mark.parametrize('command', ['page-faults', 'stat -e major-faults'])
def test_a_process_that_sleeps_is_none_of_the_kernel(prof, command):
    with subprocess.Popen(['sleep', '60']) as sleeper:
        done = subprocess.run([prof, *command.split(), '--seconds', '0.05', '-p', str(sleeper.pid)],
                              capture_output=True, text=True, timeout=60)
        sleeper.kill()
    assert done.returncode == 0 and 'nothing happened' not in done.stderr, done
