# SPDX-License-Identifier: Apache-2.0
"""Sources that make events of others: task-state, rundelay, syscalls, live.

A loaded kernel leaves out some switches and wake-ups (perf sees the same ones missing), so
what is held here is that each event is right, not that there are so many."""
import json
import os
import re
import subprocess
import sys
import time

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

TO_JSON = 'import json\ndef __sample__(e): print(json.dumps(e.to_dict()), flush=True)\n'
SLEEPER = ('import sys, time\nprint()\nsys.stdin.read(1)\nfor i in range(20):\n    time.sleep(0.02)\n'
           '    [j for j in range(20000)]\n')


@pytest.fixture
def sleeper():
    """Sleeps 20 times 20 ms once its stdin is closed, on a CPU that is never idle: some kernels
    tell no reader (perf neither) of what their idle task hits."""
    on_one = {'preexec_fn': lambda: os.sched_setaffinity(0, [0])}
    busy = subprocess.Popen(['nice', '-n', '19', sys.executable, '-c', 'while True: pass'], **on_one)
    process = subprocess.Popen([sys.executable, '-uc', SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **on_one)
    process.stdout.readline()
    yield process
    process.stdout.close()
    for p in (process, busy):
        p.kill()
        p.wait()


ON = '\n_on = False\ndef __interval__():\n    global _on\n    _on = _on or print("on", flush=True) is None\n'


def run(prof, tmp_path, *args, script=TO_JSON, wake=None):
    """The events of a run, which is on before `wake` is woken."""
    (tmp_path / 's.py').write_text(script + (ON if wake else ''))
    argv = [prof, 'python', *(['-i', '20'] if wake else []), *map(str, args), 's.py']
    with subprocess.Popen(argv, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out = ''
        while wake and not out.endswith('on\n'):
            out += process.stdout.readline()
            assert process.poll() is None
        if wake:
            wake.stdin.close()
        rest, err = process.communicate(timeout=40)
        assert (process.returncode, err) == (0, '')
    return [json.loads(line) for line in (out + rest).splitlines() if line.startswith('{"')]


def test_each_sleep_is_an_event(prof, tmp_path, sleeper):
    before = time.monotonic_ns()
    seen = run(prof, tmp_path, '-e', 'task-state/-S --than 15ms/', '--monotonic', '-p', sleeper.pid, wake=sleeper)
    seen = [e for e in seen if e['duration'] < 400_000_000]   # the first one waited for us
    assert 1 <= len(seen) <= 21     # 20, and that first one where it was short
    for e in seen:
        assert e['_event'] == 'task-state' and e['state'] == 'S'
        assert e['_pid'] == e['pid'] == e['_tid'] == e['tid'] == e['common_pid'] == sleeper.pid
        assert e['comm'].startswith('python')
        assert e['start'] + e['duration'] == e['_time']
        assert before < e['start'] < time.monotonic_ns()
        assert 19_000_000 <= e['duration']   # falling asleep is a part of it
    assert seen == sorted(seen, key=lambda e: e['_time'])


def test_states_follow_each_other(prof, tmp_path, sleeper):
    """Each stretch of a thread begins where the one before it ended, or later."""
    seen = run(prof, tmp_path, '-e', 'task-state', '-p', sleeper.pid, wake=sleeper)
    pairs = list(zip(seen, seen[1:]))
    assert all(two['start'] >= one['_time'] for one, two in pairs)
    follows = {(one['state'], two['state']) for one, two in pairs if two['start'] == one['_time']}
    assert ('RD', 'R') in follows
    assert {state for pair in follows for state in pair} <= {'R', 'RD', 'S', 'D'}
    assert not follows & {('RD', 'S'), ('RD', 'D'), ('RD', 'RD'), ('R', 'R'), ('S', 'S'), ('S', 'D')}


def test_the_same_name_twice_beside_its_own_tracepoint(prof, tmp_path, sleeper):
    script = ('import json\ndef told(e, n): print(json.dumps({"n": n, **e.to_dict()}))\n'
              'def all(e): told(e, 1)\ndef asleep(e): told(e, 2)\ndef rundelay(e): told(e, 3)\n'
              'def sched__sched_switch(e): told(e, 4)\n')
    seen = run(prof, tmp_path, '-e', 'task-state//alias=all/,task-state/-S/alias=asleep/,rundelay,sched:sched_switch',
               '-p', sleeper.pid, script=script, wake=sleeper)
    by = {n: [e for e in seen if e['n'] == n] for n in (1, 2, 3, 4)}
    key = ('start', 'duration', 'tid')
    assert [[e[k] for k in key] for e in by[2]] == [[e[k] for k in key] for e in by[1] if e['state'] == 'S']
    assert [[e[k] for k in key] for e in by[3]] == [[e[k] for k in key] for e in by[1] if e['state'] == 'RD']
    assert by[1] and by[3] and by[4]
    # the list's own tracepoint keeps its target: this task's switches, none of others
    assert {e['prev_pid'] for e in by[4]} == {sleeper.pid}
    assert [e['_time'] for e in seen] == sorted(e['_time'] for e in seen)


def test_system_calls(prof, tmp_path, sleeper):
    seen = run(prof, tmp_path, '-e', 'syscalls/--than 15ms/', '-p', sleeper.pid, wake=sleeper)
    slow = [e for e in seen if e['call'] == 'clock_nanosleep']
    assert len(slow) == 20
    assert all(e['ret'] == 0 and e['nr'] == slow[0]['nr'] and e['duration'] >= 19_000_000 and
               e['_pid'] == e['tid'] == sleeper.pid for e in slow)


def test_any_pair_of_tracepoints(prof, tmp_path):
    """A fork and an exit have the child's number by different names."""
    children = subprocess.Popen([sys.executable, '-c', 'import os, sys, time\nsys.stdin.read(1)\nfor i in range(5):\n'
                                 '    pid = os.fork()\n    if not pid:\n        time.sleep(0.02)\n        os._exit(0)\n'
                                 '    os.waitpid(pid, 0)\n'], stdin=subprocess.PIPE)
    source = 'latency/--start sched:sched_process_fork --end sched:sched_process_exit -k child_pid --end-key pid%s/%s'
    seen = run(prof, tmp_path, '-e', source % ('', '') + ',' + source % (' --than 10s', 'alias=long/'),
               '-p', children.pid, wake=children)
    children.wait()
    assert len(seen) == len({e['key'] for e in seen}) == 5
    assert all(e['key'] == e['tid'] == e['common_pid'] != children.pid and 20e6 <= e['duration'] < 10e9 and
               e['_event'] == 'latency' for e in seen)


def test_from_each_to_the_next_of_one_tracepoint(prof, tmp_path, sleeper):
    seen = run(prof, tmp_path, '-e', 'latency/--start raw_syscalls:sys_enter --end raw_syscalls:sys_enter '
               '-k _pid<<16|id --than 15ms/,raw_syscalls:sys_enter', '-p', sleeper.pid, wake=sleeper,
               script=TO_JSON.replace('e.to_dict()', 'e.to_dict(), default=repr'))
    made = [e for e in seen if e['_event'] == 'latency']
    calls = {e['_time'] for e in seen if e['_event'] != 'latency'}
    # the source has an event of its own on that tracepoint: another time, a little off
    inner = [e for e in made if min(calls) <= e['start'] and e['_time'] <= max(calls)]
    assert len(inner) >= 15
    for e in inner:
        assert min(abs(e['start'] - c) for c in calls) < 3_000_000        # naps are 20 ms apart
        assert min(abs(e['_time'] - c) for c in calls) < 3_000_000


def test_a_failing_call_has_its_error(prof, tmp_path):
    target = subprocess.Popen([sys.executable, '-c', 'import os, sys\nsys.stdin.read(1)\nfor i in range(5):\n'
                               '    try: os.rmdir("/proc/nosuch")\n    except OSError: pass\n'],
                              stdin=subprocess.PIPE)
    seen = run(prof, tmp_path, '-e', 'syscalls', '-p', target.pid, wake=target)
    target.wait()
    assert [(e['ret'], e['error']) for e in seen if e['call'] == 'rmdir'] == [(-2, 'ENOENT')] * 5
    assert {e['error'] for e in seen if e['ret'] >= 0} == {''}


def test_rows_of_top(prof, tmp_path, sleeper):
    """Each interval's sums, the largest first; what is left at the end is told, too."""
    seen = run(prof, tmp_path, '-e', 'top/--of raw_syscalls:sys_enter -k id -i 100/,'
               'top/--of raw_syscalls:sys_enter -k id -i 100 --by id*2 --rows 1/alias=first/', '-p', sleeper.pid, wake=sleeper)
    rows, first = ([e for e in seen if e['_event'] == name] for name in ('top', 'first'))
    starts = sorted({e['start'] for e in rows})
    assert len(starts) >= 4 and all(b - a >= 100_000_000 for a, b in zip(starts, starts[1:]))
    naps = {e['start']: e['value'] for e in rows if e['key'] == 230}      # clock_nanosleep
    assert sum(naps.values()) == 20
    for start in starts:
        of_one = [e for e in rows if e['start'] == start]
        assert [e['rank'] for e in of_one] == list(range(1, len(of_one) + 1))
        assert [e['value'] for e in of_one] == sorted((e['value'] for e in of_one), reverse=True)
        assert {e['rows'] for e in of_one} == {len(of_one)}
        assert all(e['value'] == e['events'] for e in of_one)
        assert {e['duration'] for e in of_one} == {100_000_000} or start == starts[-1]
        largest, = [e for e in first if e['start'] == start]
        assert largest['value'] == max(2 * e['key'] * e['events'] for e in of_one)
    assert [e['_time'] for e in seen] == sorted(e['_time'] for e in seen)


def test_rows_of_top_have_names(prof, tmp_path, sleeper):
    seen = run(prof, tmp_path, '-e', 'top/--of sched:sched_switch -k next_comm/,'
               'top/--of sched:sched_switch -k next_pid --comm next_comm/alias=pids/', '-p', sleeper.pid, wake=sleeper)
    names = {e['_event']: {} for e in seen}
    for e in seen:
        of = names[e['_event']]
        of[e['comm']] = of.get(e['comm'], 0) + e['value']
    # a task that calls exec in between has one row with its last name in `pids`, and one for each name in `top`
    assert names['pids'].keys() <= names['top'].keys() and all(names['pids'])
    assert sum(names['top'].values()) == sum(names['pids'].values()) >= 10


def test_text_of_events(prof, tmp_path, sleeper):
    """Each event once, beside itself, with the text that its format makes of its fields."""
    seen = run(prof, tmp_path, '-e', 'trace/--of raw_syscalls:sys_enter/alias=log/,raw_syscalls:sys_enter', '-p',
               sleeper.pid, wake=sleeper, script=TO_JSON.replace('())', '(), default=repr)'))
    lines, events = ([e for e in seen if e['_event'] == name] for name in ('log', 'raw_syscalls:sys_enter'))
    assert len(lines) == len(events) >= 20 and {e['event'] for e in lines} == {'raw_syscalls:sys_enter'}
    assert all(line['text'].startswith(f"NR {e['id']} (") for line, e in zip(lines, events))
    assert {e['pid'] for e in lines} == {sleeper.pid}


def test_text_has_names_of_functions(prof):
    """As trace itself shows the event."""
    done = subprocess.run([prof, 'trace', '-N', '20', '-e', 'workqueue:workqueue_execute_start,'
                           'trace/--of workqueue:workqueue_execute_start/alias=log/'], capture_output=True, text=True,
                          timeout=60)
    shown = {name: re.findall(f': {name}: .*function (.*)', done.stdout)
             for name in ('log', 'workqueue:workqueue_execute_start')}
    assert done.returncode == 0 and all(shown.values()), done
    assert all(re.match(r'[a-z_]', function) for functions in shown.values() for function in functions), done.stdout


def test_one_source_ends_the_other_goes_on(prof, tmp_path):
    seen = run(prof, tmp_path, '-e', 'task-state/-N 3/,rundelay/-N 5/')
    names = [e['_event'] for e in seen]
    assert (names.count('task-state'), names.count('rundelay')) == (3, 5)


def test_delays_name_who_ran_before(prof, tmp_path):
    """Two that compute on one CPU in real time take turns (of 100 ms, sched_rr_timeslice_ms), whoever else is there."""
    busy = [subprocess.Popen(['taskset', '-c', '0', 'chrt', '-r', '1', sys.executable, '-c', 'while True: pass'], stderr=subprocess.DEVNULL)
            for _ in range(2)]
    try:
        while any(os.sched_getscheduler(p.pid) != os.SCHED_RR for p in busy):
            if any(p.poll() is not None for p in busy):
                pytest.skip('needs the right to run in real time (chrt)')
            time.sleep(0.01)
        pids = {p.pid for p in busy}
        seen = run(prof, tmp_path, '-e', 'rundelay/--than 500us/', '-C', 0, '-p', ','.join(map(str, pids)), '-N', 4)
        assert {e['tid'] for e in seen} == pids
        assert any({e['tid'], e['prev_pid']} == pids for e in seen)
        assert all(e['prev_comm'] and e['_cpu'] == 0 for e in seen)
    finally:
        for p in busy:
            p.kill()
            p.wait()


def test_their_text(prof):
    forever = [sys.executable, '-c', 'import time\nwhile True: time.sleep(0.02)']
    with subprocess.Popen(forever) as target:
        done = subprocess.run([prof, 'trace', '-e', 'task-state/-S --than 15ms/alias=nap/', '-p', str(target.pid),
                               '-N', '5'], capture_output=True, text=True, timeout=30)
        target.kill()
    assert (done.returncode, done.stderr, done.stdout.count('\n')) == (0, '', 5)
    for line in done.stdout.splitlines():
        assert f' nap: python3:{target.pid} S for ' in line and line.endswith(' us')


def test_of_a_command(prof):
    """What it is made of is watched everywhere, and from the start."""
    done = subprocess.run([prof, 'trace', '-e', 'task-state/-S/', '--', 'sh', '-c', 'sleep 0.1; true'],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and not done.stderr, done
    slept = [float(us) for us in re.findall(r'task-state: s\w+:\d+ S for ([0-9.]+) us', done.stdout)]
    assert max(slept) > 99000, done.stdout
