# SPDX-License-Identifier: Apache-2.0
"""Threads that sleep during the whole run, of which no switch tells."""
import json
import os
import signal
import subprocess

import pytest

from frame.analyses import RING

pytestmark = [pytest.mark.live, pytest.mark.usefixtures('switches')]


@pytest.fixture
def sleeper():
    with subprocess.Popen(['sleep', '1000']) as process:
        while open(f'/proc/{process.pid}/stat').read().split()[2] != 'S':
            os.sched_yield()
        yield process.pid
        process.kill()


def tables(text, name):
    found = [t for t in map(json.loads, text.splitlines()) if t.get('table') == name]
    assert found, text
    return found


@pytest.mark.deep
@pytest.mark.parametrize('interval', [[], ['-i', '50']])
@pytest.mark.parametrize('option', ['-p', '-t'])
def test_each_table_has_one_stretch_of_them(analyse, sleeper, option, interval):
    got = analyse('task-state', '--json', *RING, *interval, option, sleeper, '--', 'sleep', '0.2')
    told = [t for t in tables(got.text, 'task-state') if t['rows'] or t['seconds'] > 1e-3]     # no sample yet: no time
    assert told
    for table in told:
        row, = table['rows']
        assert (row['comm'], row['tid'], row['state'], row['calls']) == ('sleep', sleeper, 'S', 1)
        assert 0 < row['total'] <= table['seconds'] * 1e9 + 1000


def test_they_are_in_the_state_that_they_are_in(analyse, sleeper):
    os.kill(sleeper, signal.SIGSTOP)
    while open(f'/proc/{sleeper}/stat').read().split()[2] != 'T':
        os.sched_yield()
    row, = analyse('task-state', '--json', *RING, '-p', sleeper, '--', 'sleep', '0.1').table('task-state')['rows']
    assert (row['state'], row['calls']) == ('T', 1)


@pytest.mark.parametrize('options', [['-D'], ['--filter', 'other*']])
def test_what_selects_stretches_selects_them(analyse, sleeper, options):
    assert not analyse('task-state', '--json', *RING, *options, '-p', sleeper, '--', 'sleep', '0.1').table('task-state')['rows']


def test_who_wakes_has_slept_until_then_and_is_no_sleeper(watch, waiting):
    """The tables before have it; not the one in which it wakes, nor any later one. While it waits for a CPU, none has."""
    one = waiting('--stay', 'turns')
    watcher = watch('task-state', *RING, '-p', one.pid)
    one.go()
    assert one.line() == 'done\n'
    got = watcher.result(stop=True)
    told = tables(got.text, 'task-state')
    rows = [[r for r in t['rows'] if r['tid'] == one.pid] for t in told]
    woke = next(i for i, found in enumerate(rows) if 'R' in {r['state'] for r in found})
    asleep = next((i for i, found in enumerate(rows[:woke]) if not found), woke)
    assert [[r['state'] for r in found] for found in rows[:woke]] == [['S']] * asleep + [[]] * (woke - asleep)
    slept = [sum(r['total'] for r in found if r['state'] == 'S') / 1e9 for found in rows]
    assert all(s <= t['seconds'] + 1e-6 for s, t in zip(slept[:woke], told))
    assert sum(slept[woke:]) <= sum(t['seconds'] for t in told[woke:])


def test_off_cpu_has_their_time(analyse, sleeper, tmp_path):
    """In the table and in a picture."""
    command = 'profile', '--off-cpu', '--json', '--flame-graph', 'out.folded', *RING, '-p', sleeper, '--', 'sleep', '0.2'
    table, = tables(analyse(*command).text, 'profile')
    row, = table['rows']
    assert (row['function'], row['time']) == ('[asleep throughout] (blocked)', table['off_cpu'])
    assert table['off_cpu'] > 100e6 and table['on_cpu'] == 0
    assert (tmp_path / 'out.folded').read_text().startswith('sleep;[asleep throughout];[blocked] ')
