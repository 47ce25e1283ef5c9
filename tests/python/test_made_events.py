# SPDX-License-Identifier: Apache-2.0
"""Sources that make events of others: task-state, rundelay, syscalls, latency, top, trace; of recordings, and live.

A loaded kernel leaves out some switches and wake-ups (perf sees the same ones missing), so
what is held here is that each event is right, not that there are so many."""
import json
import os
import re
import subprocess
import sys

import pytest

from frame.session import ran
from frame.wakes import Awake

pytestmark = pytest.mark.live('tracefs', 'root')

TO_JSON = 'import json\ndef __sample__(e): print(json.dumps(e.to_dict(), default=repr), flush=True)\n'
CALLS = 'raw_syscalls:sys_enter'


@pytest.fixture
def run(prof, tmp_path):
    """The events of a run."""
    def run(*args, script=TO_JSON, command=()):
        (tmp_path / 's.py').write_text(script)
        done = ran([prof, 'python', *map(str, args), 's.py', *command], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ''), done
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    return run


@pytest.fixture(scope='module')
def turns(prof, build, tmp_path_factory):
    """What the scheduler did while threads took turns, of the whole machine: a source looks at those who wake others, too."""
    path = tmp_path_factory.mktemp('turns') / 'x.data'
    done = subprocess.run([prof, 'record', '-q', '-a', '-m', '16M', '-o', path, '-e',
                           'sched:sched_switch,sched:sched_wak*,sched:sched_process_*', '--', f'{build}/tests/helpers/works', 'turns'],
                          check=True, timeout=60, stdout=subprocess.PIPE, text=True)
    return path, done.stdout.split()[1]


def of(events, name):
    return [e for e in events if e['_event'] == name]


def test_states_follow_each_other(run, turns):
    """Each stretch of a thread begins where the one before it ended, or later. Two sources of the same name, and one that is a part of
    it, say the same."""
    path, pid = turns
    seen = run('-I', path, '-p', pid, '-e', 'task-state//alias=all/,task-state/-S/alias=asleep/,rundelay')
    assert [e['_time'] for e in seen] == sorted(e['_time'] for e in seen)
    every, delays = of(seen, 'all'), of(seen, 'rundelay')
    for e in every:
        assert e['_pid'] == e['pid'] and e['_tid'] == e['tid'] == e['common_pid'] and e['start'] + e['duration'] == e['_time']
    key = ('tid', 'start', 'duration')
    for part, state in (of(seen, 'asleep'), 'S'), (delays, 'RD'):
        assert part and sorted([e[k] for k in key] for e in part) == sorted([e[k] for k in key] for e in every if e['state'] == state)
    assert int(pid) in {e['pid'] for e in every}
    tids, follows = {e['tid'] for e in every}, set()
    for tid in tids:
        stretches = [e for e in every if e['tid'] == tid]
        assert all(two['start'] >= one['_time'] for one, two in zip(stretches, stretches[1:]))
        follows |= {(one['state'], two['state']) for one, two in zip(stretches, stretches[1:]) if two['start'] == one['_time']}
    assert {('RD', 'R'), ('R', 'S'), ('S', 'RD')} <= follows
    assert not follows & {('RD', 'S'), ('RD', 'D'), ('RD', 'RD'), ('R', 'R'), ('S', 'S'), ('S', 'D')}
    # who ran before is who was switched from
    before = {(e['_time'], e['_cpu']): e for e in
              run('-I', path, '-e', 'sched:sched_switch/%s/' % '||'.join(f'next_pid=={tid}' for tid in tids))}
    for e in delays:
        switch = before[e['_time'], e['_cpu']]
        assert (switch['next_pid'], switch['prev_pid'], switch['prev_comm']) == (e['tid'], e['prev_pid'], e['prev_comm'])


def test_system_calls(run, recorded):
    seen = run('-I', recorded('calls'), '-e', 'syscalls')
    slow = [e for e in seen if e['call'] == 'clock_nanosleep']
    assert len(slow) == 3 and all(e['ret'] == 0 and e['nr'] == slow[0]['nr'] and e['_pid'] == e['tid'] for e in slow)
    assert min(e['duration'] for e in slow) >= 19_000_000
    assert sum(e['call'] == 'getppid' and e['error'] == '' for e in seen) == 100
    assert sum((e['call'], e['ret'], e['error']) == ('openat', -2, 'ENOENT') for e in seen) == 5
    assert {e['error'] for e in seen if e['ret'] >= 0} == {''}


def test_from_each_to_the_next_of_one_tracepoint(run, recorded):
    seen = run('-I', recorded('calls'), '-e', f'latency/--start {CALLS} --end {CALLS} -k _tid/,{CALLS}')
    times, made = [e['_time'] for e in of(seen, CALLS)], of(seen, 'latency')
    assert len(made) > 100 and [(e['start'], e['_time']) for e in made] == list(zip(times, times[1:]))


def test_any_pair_of_tracepoints(run):
    """A fork and an exit have the child's number by different names."""
    source = 'latency/--start sched:sched_process_fork --end sched:sched_process_exit -k child_pid --end-key pid%s/%s'
    seen = run('-e', source % ('', '') + ',' + source % (' --than 100s', 'alias=long/'), command=['--', sys.executable, '-S', '-c', '''
import os, time
for i in range(5):
    pid = os.fork()
    if not pid:
        time.sleep(0.02)
        os._exit(0)
    os.waitpid(pid, 0)
'''])
    assert len(seen) == len({e['key'] for e in seen}) == 5
    assert all(e['key'] == e['tid'] == e['common_pid'] and 20e6 <= e['duration'] < 100e9 and e['_event'] == 'latency' for e in seen)


def test_rows_of_top(run, recorded):
    """Each interval's sums, the largest first; what is left at the end is told, too."""
    top = f'top/--of {CALLS} -k id -i 1'
    seen = run('-I', recorded('calls'), '-e', f'{top}/,{top} --by id*2 --rows 1/alias=first/,{CALLS}')
    rows = of(seen, 'top')
    starts = sorted({e['start'] for e in rows})
    assert len(starts) >= 2 and all(b - a >= 1_000_000 for a, b in zip(starts, starts[1:]))
    calls = [e['id'] for e in of(seen, CALLS)]
    assert {(n, sum(e['value'] for e in rows if e['key'] == n)) for n in set(calls)} == {(n, calls.count(n)) for n in set(calls)}
    for start in starts:
        of_one = [e for e in rows if e['start'] == start]
        assert [e['rank'] for e in of_one] == list(range(1, len(of_one) + 1))
        assert [e['value'] for e in of_one] == sorted((e['value'] for e in of_one), reverse=True)
        assert {e['rows'] for e in of_one} == {len(of_one)} and all(e['value'] == e['events'] for e in of_one)
        assert {e['duration'] for e in of_one} == {1_000_000} or start == starts[-1]
        largest, = [e for e in of(seen, 'first') if e['start'] == start]
        assert largest['value'] == max(2 * e['key'] * e['events'] for e in of_one)
    assert [e['_time'] for e in seen] == sorted(e['_time'] for e in seen)


def test_rows_of_top_have_names(run, turns):
    seen = run('-I', turns[0], '-e', 'top/--of sched:sched_switch -k next_comm/,'
               'top/--of sched:sched_switch -k next_pid --comm next_comm/alias=pids/')
    names = {e['_event']: {} for e in seen}
    for e in seen:
        names[e['_event']][e['comm']] = names[e['_event']].get(e['comm'], 0) + e['value']
    # a task that calls exec in between has one row with its last name in `pids`, and one for each name in `top`
    assert names['pids'].keys() <= names['top'].keys() and all(names['pids'])
    assert sum(names['top'].values()) == sum(names['pids'].values()) >= 10


def test_text_of_events(run, recorded):
    """Each event once, beside itself, with the text that its format makes of its fields."""
    seen = run('-I', recorded('calls'), '-e', f'trace/--of {CALLS}/alias=log/,{CALLS}')
    lines, events = of(seen, 'log'), of(seen, CALLS)
    assert len(lines) == len(events) >= 100 and {e['event'] for e in lines} == {CALLS}
    assert all(line['text'].startswith(f"NR {e['id']} (") and line['pid'] == e['_pid'] for line, e in zip(lines, events))


def test_text_has_names_of_functions(prof):
    """As trace itself shows the event."""
    done = ran([prof, 'trace', '-N', '20', '-e', 'workqueue:workqueue_execute_start,'
                'trace/--of workqueue:workqueue_execute_start/alias=log/'])
    shown = {name: re.findall(f': {name}: .*function (.*)', done.stdout) for name in ('log', 'workqueue:workqueue_execute_start')}
    assert done.returncode == 0 and all(shown.values()), done
    assert all(re.match(r'[a-z_]', function) for functions in shown.values() for function in functions), done.stdout


def test_one_source_ends_the_other_goes_on(run):
    names = [e['_event'] for e in run('-e', 'task-state/-N 3/,rundelay/-N 5/')]
    assert (names.count('task-state'), names.count('rundelay')) == (3, 5)


def test_their_text_of_a_command(prof):
    """What it is made of is watched everywhere, and from the start."""
    with Awake(os.sched_getaffinity(0)):
        done = ran([prof, 'trace', '-e', 'task-state/-S --than 15ms/alias=nap/', '--', 'sh', '-c', 'exec sleep 0.1'])
    assert (done.returncode, done.stderr) == (0, ''), done
    slept = re.findall(r': nap: sleep:\d+ S for ([0-9.]+) us$', done.stdout, re.M)
    assert max(map(float, slept), default=0) > 99000, done.stdout
