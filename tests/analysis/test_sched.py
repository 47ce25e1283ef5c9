# SPDX-License-Identifier: Apache-2.0
"""task-state and rundelay against `perf sched timehist`, which watches the same tasks at the same
moment, and against the sleeps that the program makes."""
import re
import subprocess
from collections import defaultdict

import pytest

from frame.analyses import RING, close_to

ROW = re.compile(r'^ *[\d.]+ \[\d+\] +(\S.*?)\[(\d+)(?:/\d+)?\] +([\d.]+) +([\d.]+) +([\d.]+) +(\S+) *$',
                 re.M)
SMALL = 100000      # ns: two tools read the clock one after the other, at each switch
PREEMPTED = 'RW'    # W: what perf 6.1 makes of R+


def timehist(perf, path, tids):
    """{tid: {'R', 'RD', 'S': ns}} of the recorded switches, from when perf-prof has become works."""
    text = subprocess.run([perf, 'sched', 'timehist', '-i', path, '--state'], capture_output=True,
                          text=True).stdout
    total, before = {tid: defaultdict(float) for tid in tids}, {}
    for comm, tid, wait, delay, run, state in ROW.findall(text):
        tid, wait, delay = int(tid), float(wait) * 1e6, float(delay) * 1e6
        if tid not in tids or comm == 'perf-prof':
            continue
        total[tid]['R'] += float(run) * 1e6
        if before.get(tid, '?') in PREEMPTED:
            delay = wait                    # all its waiting was for a CPU
        total[tid]['RD'] += delay
        total[tid]['S'] += wait - delay if tid in before else 0
        before[tid] = state
    return total


def recording(perf, tmp_path):
    return [perf, 'sched', 'record', '-q', '-m', '16M', '-o', tmp_path / 'perf.data', '--']


def test_task_state_says_what_perf_sched_says(analyse, works, perf, tmp_path):
    got = analyse('task-state', '--json', *RING, '--', works, 'turns', before=recording(perf, tmp_path))
    rows = got.rows('task-state', 'tid', 'state')
    tids = {tid for tid, _ in rows}
    assert len(tids) == 3
    theirs = timehist(perf, tmp_path / 'perf.data', tids)
    for tid in tids:
        for state, ns in theirs[tid].items():
            mine = rows.get((tid, state), {'total': 0, 'calls': 0})
            slack = SMALL + 3000 * mine['calls']
            assert close_to(mine['total'], ns, least=slack), (tid, state, mine, ns)


def test_rundelay_says_what_perf_sched_says(analyse, works, perf, tmp_path):
    got = analyse('rundelay', '--json', *RING, '--', works, 'turns', before=recording(perf, tmp_path))
    rows = got.rows('rundelay', 'tid')
    theirs = timehist(perf, tmp_path / 'perf.data', rows)
    assert len(rows) == 3
    for tid, row in rows.items():
        slack = SMALL + 3000 * row['calls']
        assert close_to(row['total'], theirs[tid]['RD'], least=slack), (row, theirs[tid])


def test_known_sleeps(analyse, works):
    got = analyse('task-state', '--json', *RING, '--', works, 'turns')
    rows = got.table('task-state')['rows']
    slept = sorted((r['p50'], r['calls']) for r in rows if r['state'] == 'S')
    # the first thread also waits for the other and the child, if they are not done
    assert [calls in (12, 13, 14) for _, calls in slept] == [True] * 3, slept
    for (ns, _), ms in zip(slept, (5, 10, 15)):
        assert ms * 1e6 <= ns <= (ms + 1.5) * 1e6, slept
    computed = sorted(r['total'] for r in rows if r['state'] == 'R')
    for ns, ms in zip(computed, (48, 72, 96)):
        assert close_to(ns, ms * 1e6, part=0.1), computed   # by the program's own CPU clock, and some
    assert {r['comm'] for r in rows} == {'works', 'second'}


@pytest.mark.parametrize('options, states', [(['-S'], {'S'}), (['-D'], set()), (['-S', '-D'], {'S'})])
def test_chosen_states(analyse, works, options, states):
    got = analyse('task-state', '--json', *options, *RING, '--', works, 'sleeps')
    assert {r['state'] for r in got.table('task-state')['rows']} - {'D'} == states


@pytest.mark.parametrize('follow', [True, False])
def test_a_running_process_its_new_threads_and_children(watch, waiting, follow):
    one = waiting('turns')
    watcher = watch('task-state', *RING, '-p', one.pid, *([] if follow else ['--no-inherit']))
    one.go()
    got = watcher.result()
    calls = got.total('task-state', 'tid', 'state', of=['calls'])
    assert {tid for tid, _ in calls if tid == one.pid or follow} == {tid for tid, _ in calls}
    assert len({tid for tid, _ in calls}) == (3 if follow else 1)
    assert calls[one.pid, 'S'][0] >= 12


def test_who_woke_and_who_ran(analyse, works):
    """--than tells each stretch with what happened in it."""
    got = analyse('task-state', '-S', '--than', '40ms', *RING, '--', works, 'sleeps')
    stories = re.split(r'^(?=\S+ \S+ works \d+ asleep took )', got.text, flags=re.M)[1:]
    assert len(stories) == 4
    for story in stories:
        us = float(re.search(r'took ([\d.]+) us', story).group(1))
        assert 50000 <= us < 70000
        assert re.search(rf'sched:sched_switch: prev_comm=works prev_pid={got.pid} .*prev_state=S', story)
        assert re.search(rf'sched:sched_wakeup: .*pid={got.pid} ', story)
