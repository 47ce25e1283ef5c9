# SPDX-License-Identifier: Apache-2.0
"""Filters that the kernel can't evaluate, or not all of: the same events come, exactly."""
import os
import re

import pytest

from frame.session import EVENT, PATIENCE, READY, Session, Storm

from test_counts import COUNT, counted

pytestmark = pytest.mark.live('tracefs', 'root')

BOTH = READY + """
odd = even = 0
def syscalls__odd(e):
    global odd
    odd += e._tid & 1
def syscalls__even(e):
    global even
    even += 1 - (e._tid & 1)
def __exit__():
    print('odd', odd)
    print('even', even)
"""


@pytest.mark.parametrize('order', [[], ['--order']], ids=['ring', 'order'])
@pytest.mark.parametrize('odd, even', [
    ('_pid=={pid} && (_tid & 1)/alias=odd/', '!(_tid & 1) && _pid=={pid}'),
    ('_tid%2==1 && common_pid+1>10/alias=odd/stack/', '!(common_pid%2!=0) && _period==1'),
    ('common_pid*2==2*_tid && _tid&1/alias=odd/', '_tid&1?0:_pid=={pid}'),
    ('_tid&1 && __syscall_nr==common_type-common_type+__syscall_nr/alias=odd/', '"_pid/{pid}==1 && _pid%{pid}==0 && _tid%2==0"')])
def test_two_filters_part_the_events(prof, storm, tmp_path, odd, even, order):
    ended = counted(prof, storm, tmp_path, ['threads', 8, 2500], '-e', f'{EVENT}/{odd},{EVENT}/{even}/alias=even/', '-p', '{pid}',
                    *order, script=BOTH)
    assert ended.stderr == ''
    assert ended.number('odd') + ended.number('even') == 20000
    assert ended.number('odd') > 1000 and ended.number('even') > 1000


@pytest.mark.skipif(os.cpu_count() < 2, reason='needs two CPUs')
@pytest.mark.parametrize('cpu', ['_cpu=={n}', '_cpu&{n}', '(_cpu<<1)==2*{n} && _cpu>0', 'cpu=={n}'])
def test_the_cpu(prof, storm, tmp_path, cpu):
    event = f'{EVENT}/common_pid=={{pid}} && {cpu.replace("{n}", "1")}/'
    here = counted(prof, storm, tmp_path, ['--cpu', 1, 'getppid', 1000], '-e', event)
    there = counted(prof, storm, tmp_path, ['--cpu', 0, 'getppid', 1000], '-e', event)
    assert (here.number('count'), there.number('count')) == (1000, 0)


def test_exit_n_counts_what_passed(prof, storm, tmp_path):
    with Storm(storm, 'getppid', 1000) as one:
        with Session(prof, tmp_path, COUNT, '-i', '50', '-p', str(one.pid), '-N', '7', '-e', f'{EVENT}/_time & 1/', '-v') as session:
            session.wait_for('ready')
            one.run()
            session.wait_for('^count 7$')
            assert session.process.wait(PATIENCE) == 0


def test_what_is_evaluated_here_is_told_with_v_only(prof, storm, tmp_path):
    event = f'{EVENT}/common_pid=={{pid}} && _pid!=0 && _time/'
    ended = counted(prof, storm, tmp_path, ['getppid', 1000], '-e', event, '-v')
    assert ended.number('count') == 1000
    assert re.search(r"getppid: perf-prof evaluates _pid!=0 && _time for each event, as the kernel's "
                     r"filters do not support it; the kernel's filter: common_pid==\d+\n", ended.stderr)
    assert counted(prof, storm, tmp_path, ['getppid', 1000], '-e', event).stderr == ''


@pytest.mark.parametrize('order', [[], ['--order']], ids=['ring', 'order'])
def test_nothing_is_dropped_without_being_counted(prof, storm, tmp_path, order):
    ended = counted(prof, storm, tmp_path, ['getppid', 10000], '-p', '{pid}', '-e', f'{EVENT}/_time & 1/', '-v', *order)
    totals = ended.totals()
    dropped = int(re.search(r'(\d+) dropped by filters that perf-prof evaluates itself', ended.stderr).group(1))
    assert totals.counted == 10000 and totals.delivered == ended.number('count')
    assert totals.delivered + totals.lost + totals.own + totals.malformed + dropped == totals.counted


@pytest.mark.parametrize('order', [[], ['--order']], ids=['ring', 'order'])
def test_what_has_no_value_is_told(prof, storm, tmp_path, order):
    event = f'{EVENT}/"common_pid=={{pid}} && 1/(common_pid-{{pid}})<5"/'
    ended = counted(prof, storm, tmp_path, ['getppid', 100], '-e', event, *order)
    assert ended.number('count') == 0
    lines = ended.stderr.splitlines()
    assert len(lines) == 2
    assert 'division by zero in the filter' in lines[0] and 'such events are left out' in lines[0]
    assert '100 events were left out' in lines[1]


@pytest.mark.skipif(tuple(map(int, re.findall(r'\d+', os.uname().release)[:2])) < (5, 19),
                    reason='needs Linux 5.19: FIELD.ustring in filters')
def test_what_only_the_kernel_can_do_goes_to_the_kernel(prof, storm, tmp_path):
    path = tmp_path / 'looked-for'
    event = f'syscalls:sys_enter_openat/filename.ustring=="{path}"/'
    with Session(prof, tmp_path, COUNT, '-i', '50', '-e', event) as session:
        session.wait_for('ready')
        for _ in range(5):
            assert not os.path.exists(path)
            with pytest.raises(FileNotFoundError):
                open(path)
        ended = session.stop()
    assert ended.code == 0 and ended.stderr == '' and ended.number('count') == 5
