# SPDX-License-Identifier: Apache-2.0
"""Exact counts: n calls are n events, and what was lost is told to the last one."""
import os

import pytest

from frame import requires
from frame.session import EVENT, READY, Session, Storm

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

COUNT = READY + """
n = 0
def __sample__(e):
    global n
    n += 1
def __exit__():
    print('count', n)
"""


def counted(prof, storm, folder, storm_args, *args, script=COUNT):
    """What a session ended with that watched the storm; {pid} in args is the storm's."""
    with Storm(storm, *storm_args) as one:
        args = [a.replace('{pid}', str(one.pid)) for a in args]
        # 16 MiB hold every event of a test, should the storm keep the reader from its CPU
        with Session(prof, folder, script, '-i', '50', '-m', '16M', *args) as session:
            session.wait_for('ready')
            one.run()
            ended = session.stop()
    assert ended.code == 0, ended.stderr
    return ended


def test_all_cpus(prof, storm, tmp_path):
    ended = counted(prof, storm, tmp_path, ['getppid', 200000], '-e', EVENT + '/common_pid=={pid}/')
    assert ended.number('count') == 200000 and ended.stderr == ''


@pytest.mark.parametrize('option', ['-p', '-t'])
def test_one_process(prof, storm, tmp_path, option):
    ended = counted(prof, storm, tmp_path, ['getppid', 50000], '-e', EVENT, option, '{pid}')
    assert ended.number('count') == 50000 and ended.stderr == ''


@pytest.mark.parametrize('option', ['-p', '-t'])
def test_new_threads_are_followed(prof, storm, tmp_path, option):
    ended = counted(prof, storm, tmp_path, ['threads', 8, 5000], '-e', EVENT, option, '{pid}')
    assert ended.number('count') == 40000 and ended.stderr == ''


def test_new_children_are_followed(prof, storm, tmp_path):
    ended = counted(prof, storm, tmp_path, ['fork', 8, 5000], '-e', EVENT, '-p', '{pid}')
    assert ended.number('count') == 40000 and ended.stderr == ''


@pytest.mark.parametrize('work', ['threads', 'fork'])
def test_no_inherit(prof, storm, tmp_path, work):
    ended = counted(prof, storm, tmp_path, [work, 4, 100], '-e', EVENT, '-p', '{pid}', '--no-inherit')
    assert ended.number('count') == 0


@pytest.mark.skipif(os.cpu_count() < 2, reason='needs two CPUs')
def test_one_cpu(prof, storm, tmp_path):
    event = EVENT + '/common_pid=={pid}/'
    here = counted(prof, storm, tmp_path, ['--cpu', 1, 'getppid', 1000], '-e', event, '-C', '1')
    there = counted(prof, storm, tmp_path, ['--cpu', 1, 'getppid', 1000], '-e', event, '-C', '0')
    assert here.number('count') == 1000 and there.number('count') == 0


@pytest.mark.skipif(os.cpu_count() < 2, reason='needs two CPUs')
def test_one_cpu_of_a_process(prof, storm, tmp_path):
    for cpu, n in ('1', 1000), ('0', 0):
        ended = counted(prof, storm, tmp_path, ['--cpu', 1, 'getppid', 1000],
                        '-e', EVENT, '-p', '{pid}', '-C', cpu)
        assert ended.number('count') == n


def test_exit_n(prof, storm, tmp_path):
    with Storm(storm, 'getppid', 1000) as one:
        with Session(prof, tmp_path, COUNT, '-i', '50', '-e', EVENT, '-p', str(one.pid), '-N', '7') as session:
            session.wait_for('ready')
            one.run()
            session.wait_for('^count 7$')
            assert session.process.wait(5) == 0


SLOW = COUNT.replace('    n += 1\n', '    n += 1\n    if n == 1: time.sleep(0.5)\n', 1)
SLOW = 'import time\n' + SLOW + """
def __lost__(start, end):
    print('gap', start, end)
"""


def test_what_a_small_ring_loses_is_told(prof, storm, tmp_path):
    ended = counted(prof, storm, tmp_path, ['getppid', 100000], '-e', EVENT, '-p', '{pid}', '-m', '4',
                    script=SLOW)
    assert ended.lost > 0
    assert ended.number('count') + ended.lost == 100000
    assert 'gap 0 0' in ended.stdout


def test_kept_events_stay_valid(prof, storm, tmp_path):
    script = READY + """
kept = []
def __sample__(e):
    if len(kept) < 1000:
        kept.append(e)
def __exit__():
    times = [e._time for e in kept]
    print('kept', len(kept))
    print('ordered', int(times == sorted(times) and len(set(times)) == len(times)))
    print('pids', len({(e._pid, e.common_pid) for e in kept}))
"""
    one_cpu = ['--cpu', max(os.sched_getaffinity(0))]       # from ring to ring there is no order
    ended = counted(prof, storm, tmp_path, [*one_cpu, 'getppid', 100000], '-e', EVENT, '-p', '{pid}', script=script)
    assert (ended.number('kept'), ended.number('ordered'), ended.number('pids')) == (1000, 1, 1)
