# SPDX-License-Identifier: Apache-2.0
"""task-state and rundelay against `perf sched timehist` of the same recording, and against the sleeps that the program makes."""
import json
import os
import re
import subprocess
from collections import defaultdict

import pytest

from frame.analyses import RING, TIMEOUT, Perf, close_to

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.usefixtures('switches')]
ROW = re.compile(r'^ *[\d.]+ \[\d+\] +\S.*?\[(\d+)(?:/\d+)?\] +([\d.]+) +([\d.]+) +([\d.]+) +(\S+) *$',
                 re.M)
PREEMPTED = 'RW'    # W: what perf 6.1 makes of R+
ROUNDED = 1000      # ns, of each stretch


def timehist(perf, path):
    """{tid: {'R', 'RD', 'S': ns}} of the recorded switches."""
    text = subprocess.run([perf, 'sched', 'timehist', '-i', path, '--state'], capture_output=True,
                          text=True).stdout
    total, before = defaultdict(lambda: defaultdict(float)), {}
    for tid, wait, delay, run, state in ROW.findall(text):
        tid, wait, delay = int(tid), float(wait) * 1e6, float(delay) * 1e6
        total[tid]['R'] += float(run) * 1e6
        if before.get(tid, '?') in PREEMPTED:
            delay = wait                    # all its waiting was for a CPU
        total[tid]['RD'] += delay
        total[tid]['S'] += wait - delay if tid in before else 0
        before[tid] = state
    return total


@pytest.mark.deep
def test_stretches_are_those_of_perf_sched(analyse, waiting, perf, tmp_path):
    """Of a while in which nobody ends: perf 6.1 forgets who it was then, and his last turns."""
    path = tmp_path / 'perf.data'
    one = waiting('--stay', 'turns')
    peer = Perf([perf, 'sched', 'record', '-m', '16M', '-o', path], tmp_path)
    one.go()
    assert one.line() == 'done\n'
    peer.finish(stop=True)
    one.finish()
    theirs = timehist(perf, path)
    table = analyse('task-state', '-I', path, '-p', one.pid, '--json', before=['env']).table('task-state')
    waits = analyse('rundelay', '-I', path, '-p', one.pid, '--json', '--by', 'task', before=['env']).total('rundelay', 'tid')
    rows = {(r['tid'], r['state']): (r['calls'], r['total']) for r in table['rows'] if r['state'] in ('R', 'RD', 'S')}
    assert len({tid for tid, _ in rows}) == len(waits) == 3 and set(table['counts']) >= {'restarted', 'unbegun'}
    # a stretch in which the kernel has left out a switch is not counted; perf counts it
    left_out, longest = table['counts']['restarted'] + table['counts']['unbegun'], max(r['max'] for r in table['rows'])
    for (tid, state), (calls, ns) in [*rows.items(), *(((tid, 'RD'), found) for tid, found in waits.items())]:
        assert close_to(ns, theirs[tid][state], part=0.02, least=ROUNDED * calls + left_out * longest), (tid, state, rows, theirs)


@pytest.mark.deep
def test_known_sleeps_of_a_command_its_threads_and_children(analyse, works):
    """The shortest ones at least; by its own CPU clock, and some, as it also starts and ends."""
    rows = analyse('task-state', '--json', *RING, '--', works, 'turns').table('task-state')['rows']
    assert {r['comm'] for r in rows} == {'works', 'second'}
    slept = sorted((r['min'], r['calls']) for r in rows if r['state'] == 'S')
    # the first thread, that of 10 ms, also waits for the other and the child
    assert len(slept) == 3 and all(calls >= 12 for _, calls in slept), rows
    assert slept[-1][0] >= 15e6 and sum(low >= 5e6 for low, _ in slept) >= 2, rows
    computed = sorted(r['total'] for r in rows if r['state'] == 'R')
    assert len(computed) == 3 and all(0.95 * ms * 1e6 <= ns <= 3 * ms * 1e6 for ns, ms in zip(computed, (48, 72, 96))), rows


@pytest.mark.deep
@pytest.mark.parametrize('options, states', [(['-S'], {'S'}), (['-D'], set()), (['-S', '-D'], {'S'}),
                                             (['--no-interruptible', '-e', 'sched:sched_wakeup*,sched:sched_switch'], {'R', 'RD'})])
def test_chosen_states(analyse, works, options, states):
    got = analyse('task-state', '--json', *options, *RING, '--', works, 'sleeps')
    assert {r['state'] for r in got.table('task-state')['rows']} - {'D'} == states


@pytest.mark.deep
@pytest.mark.parametrize('follow', [True, False])
def test_a_running_process_its_new_threads_and_children(watch, waiting, follow):
    one = waiting('turns')
    watcher = watch('task-state', *RING, '-p', one.pid, *([] if follow else ['--no-inherit']))
    one.go()
    calls = watcher.result().total('task-state', 'tid', 'state', of=['calls'])
    tids = {tid for tid, state in calls if state in ('R', 'RD')}       # others have only slept so far
    assert one.pid in tids and len(tids) == (3 if follow else 1)
    assert calls[one.pid, 'S'][0] >= 8      # of 12; a loaded kernel leaves out switches, for perf as well


@pytest.mark.deep
def test_a_wait_begins_with_a_wakeup_or_with_losing_the_cpu(analyse, works):
    """Two that compute on one CPU take it from each other: the switch that began a wait says which it was."""
    cpu = min(os.sched_getaffinity(0))
    script = f'{works} spin 100 & {works} turns; wait'
    got = analyse('rundelay', '--than', '1us', *RING, '--', 'taskset', '-c', cpu, 'sh', '-c', script)
    told = {'wake-up': 0, 'preemption': 0}
    for tid, began, story in re.findall(r'^\S+ \S+ \S.* (\d+): from (\S+) to running took [\d.]+ us\n((?:.*sched:.*\n)*)',
                                        got.text, re.M):
        off = re.search(rf'sched:sched_switch: .* prev_pid={tid} .* prev_state=R', story)
        woken = re.search(rf'sched:sched_wakeup(_new)?: .* pid={tid} ', story)
        if bool(off) != bool(woken):
            assert began == ('preemption' if off else 'wake-up'), story
            told[began] += 1
    assert told['preemption'] > 3 and told['wake-up'] > 3, told


def test_who_woke_and_who_ran(analyse, works):
    """--than tells each stretch with what happened in it."""
    got = analyse('task-state', '-S', '--than', '40ms', *RING, '--', works, 'sleeps')
    told = re.split(r'^(?=\S+ \S+ works \d+ asleep took )', got.text, flags=re.M)[1:]
    for story in told:
        assert re.search(rf'sched:sched_switch: prev_comm=works prev_pid={got.pid} .*prev_state=S', story)
        assert float(re.search(r'took ([\d.]+) us', story)[1]) >= 40000
    # where the idle task woke it, some kernels tell no reader of it, nor of the switch
    missing = int((re.findall(r'^not counted: (\d+) period', got.text, re.M) or [0])[0])
    assert len(told) + missing >= 4 and len(told) >= 2 and any(re.search(rf'sched:sched_wakeup: .*pid={got.pid} ', story) for story in told), got.text
    assert sum(float(re.search(r'took ([\d.]+) us', story)[1]) >= 50000 for story in told) + missing >= 4, got.text


@pytest.mark.parametrize('command', ['task-state', 'waits', 'rundelay'])
def test_perf_prof_itself_has_no_row(prof, command):
    """Its threads wait more than those of a machine at rest."""
    with subprocess.Popen([prof, command, '-a', '--by', 'pid', '--json', '--seconds', '0.5', *RING], stdout=subprocess.PIPE) as one:
        rows = json.loads(one.communicate(timeout=TIMEOUT)[0].splitlines()[-1])['rows']
    assert rows and one.pid not in [row['pid'] for row in rows], rows
