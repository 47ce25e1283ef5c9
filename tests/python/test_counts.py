# SPDX-License-Identifier: Apache-2.0
"""Exact counts: n calls are n events; --sampling-limit and --usage-self."""
import os
import re
import time

import pytest

from frame.session import EVENT, PATIENCE, READY, Session, Storm

pytestmark = pytest.mark.live('tracefs', 'root')

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


@pytest.mark.parametrize('work, target, count', [
    ('getppid 100000', '', 100000), ('getppid 50000', '-p', 50000), ('getppid 50000', '-t', 50000),
    ('threads 8 5000', '-p', 40000), ('threads 8 5000', '-t', 40000), ('fork 8 5000', '-p', 40000),
    ('threads 4 100', '--no-inherit -p', 0), ('fork 4 100', '--no-inherit -p', 0),
    ('--cpu 1 getppid 1000', '-C 1', 1000), ('--cpu 1 getppid 1000', '-C 0', 0),
    ('--cpu 1 getppid 1000', '-C 1 -p', 1000), ('--cpu 1 getppid 1000', '-C 0 -p', 0)])
def test_each_call_is_an_event(prof, storm, tmp_path, work, target, count):
    if '--cpu' in work and os.cpu_count() < 2:
        pytest.skip('needs two CPUs')
    target = [*target.split(), '{pid}', '-e', EVENT] if target[-2:] in ('-p', '-t') else \
        [*target.split(), '-e', EVENT + '/common_pid=={pid}/']
    ended = counted(prof, storm, tmp_path, work.split(), *target)
    assert (ended.number('count'), ended.stderr) == (count, '')


TIMES = READY + """
times = []
def __sample__(e): times.append((e._cpu, e._time))
def __exit__():
    first = {}
    for cpu, time in times:
        first.setdefault(cpu, time)
    print('count', len(times))
    print('within', len([t for cpu, t in times if t - first[cpu] < 10**9]))
"""


@pytest.mark.parametrize('order', [[], ['--order']])
def test_sampling_limit(prof, storm, tmp_path, order):
    ended = counted(prof, storm, tmp_path, ['--cpu', max(os.sched_getaffinity(0)), 'getppid', 20000], '-v', '-e', EVENT, '-p', '{pid}',
                    '--sampling-limit', '100', *order, script=TIMES)
    assert ended.number('within') == 100
    told = int(re.search(r'(\d+) events were dropped by --sampling-limit', ended.stderr).group(1))
    assert ended.number('count') + told == 20000 and ended.lost == 0


def test_usage_self(prof, tmp_path):
    pattern = r'perf-prof: self: CPU ([\d.]+) %, resident ([\d.]+) MiB\n'
    with Session(prof, tmp_path, COUNT, '-v', '-e', EVENT, '--usage-self', '100') as session:
        assert session.err.wait_for(pattern, time.monotonic() + PATIENCE)
        told = re.findall(pattern, session.stop().stderr)
    assert all(float(cpu) <= 400 and 5 < float(mib) < 1000 for cpu, mib in told)
