# SPDX-License-Identifier: Apache-2.0
"""perf-prof trace --overwrite, live: what is shown, when, and what is counted."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

HEAD = re.compile(r'--- (\S+ \S+) dump (\d+), by (\S+): (\d+) events; (\d+) older left out, (\d+) overwritten$')
LINE = re.compile(r'\S+ \S+ +(.+?) +(-?\d+) \S+ \[\d+\] (\d+\.\d+): (\S+): ')


def run(prof, *args, then=None, timeout=30):
    with subprocess.Popen([prof, 'trace', *map(str, args)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        if then:
            then(process)
        out, err = process.communicate(timeout=timeout)
    assert (process.returncode, err) == (0, ''), err
    return out.splitlines()


def dumps(lines):
    """Each as (head's match, its lines' matches)."""
    found = []
    for line in lines:
        if HEAD.match(line):
            found.append((HEAD.match(line), []))
        else:
            found[-1][1].append(LINE.match(line))
    return found


def wait_until_on(process):
    """It prints nothing that could be waited for: signals are caught once all is open."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        handlers = open(f'/proc/{process.pid}/status').read()
        caught = int(re.search(r'SigCgt:\s*(\S+)', handlers).group(1), 16)
        if caught >> (signal.SIGUSR2 - 1) & 1:
            time.sleep(1)
            return
        time.sleep(0.01)
    raise AssertionError('SIGUSR2 is never caught')


def test_a_trigger_shows_what_came_before(prof):
    script = 'sleep 0.05; /bin/true; sleep 0.3; exec /bin/sleep 0.01'
    lines = run(prof, '-e', 'sched:sched_process_exec,sched:sched_process_exit/comm=="true"/trigger/',
                '--overwrite', '--', 'sh', '-c', script)
    [(head, events)] = dumps(lines)
    assert head.group(2, 3) == ('1', 'sched:sched_process_exit')
    assert int(head.group(4)) == len(events) and head.group(5, 6) == ('0', '0')
    # sh, sleep, true began; true ended; what came later is not there
    assert [e.group(4) for e in events] == ['sched:sched_process_exec'] * 3 + ['sched:sched_process_exit']
    assert [e.group(1) for e in events] == ['sh', 'sleep', 'true', 'true']


def test_only_the_last_seconds(prof):
    script = '/bin/true; sleep 1.2; /bin/true; exec /bin/sleep 0.02'
    lines = run(prof, '-e', 'sched:sched_process_exec,sched:sched_process_exit/comm=="sleep"/trigger/',
                '--overwrite', '--last', '0.9', '--', 'sh', '-c', script)
    first, second = dumps(lines)
    assert [e.group(1) for e in first[1]] == ['sleep'] and int(first[0].group(5)) == 3
    assert [e.group(1) for e in second[1]] == ['true', 'sleep', 'sleep'] and second[0].group(5) == '0'


def test_a_threshold(prof):
    lines = run(prof, '-e', 'sched:sched_process_exec,syscalls/--than 400ms/trigger/', '--overwrite', '-N', 1,
                '--', 'sh', '-c', 'sleep 0.01; sleep 0.5; sleep 0.6')
    [(head, events)] = dumps(lines)
    assert head.group(3) == 'syscalls'
    began = [e.group(1) for e in events if e.group(4) == 'sched:sched_process_exec']
    assert began in (['sh', 'sleep', 'sleep'], ['sh', 'sleep'])     # on a busy machine the first one may take so long, too
    assert events[-1].group(4) == 'syscalls'


def test_a_signal_shows_and_the_run_goes_on(prof):
    def send(process):
        wait_until_on(process)
        os.kill(process.pid, signal.SIGUSR2)
        time.sleep(0.6)
        os.kill(process.pid, signal.SIGUSR2)

    lines = run(prof, '-e', 'sched:sched_wakeup', '--overwrite', '-N', 2, then=send)
    first, second = dumps(lines)
    assert first[0].group(3) == second[0].group(3) == 'SIGUSR2'
    times = [float(e.group(3)) for e in first[1] + second[1]]
    assert first[1] and second[1]
    assert times == sorted(times)
    assert times[-1] - times[0] > 0.3


def test_what_is_overwritten_is_counted(prof):
    """Kept, left out, overwritten: together all there were."""
    lines = run(prof, '-e', 'raw_syscalls:sys_enter,sched:sched_process_exit//trigger/', '--overwrite',
                '--keep', '64K', '-m', '16M', '-N', 1, '--', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=20000',
                'status=none')
    [(head, events)] = dumps(lines)
    shown, older, overwritten = map(int, head.group(4, 5, 6))
    assert shown == len(events) and older == 0
    assert 100 < shown < 1000
    assert 40000 <= shown + overwritten < 41000
    assert events[-1].group(4) == 'sched:sched_process_exit'


def test_for_programs(prof):
    lines = [json.loads(line) for line in
             run(prof, '-e', 'sched:sched_process_exec,sched:sched_process_exit//trigger/', '--overwrite', '--json',
                 '--', 'sh', '-c', '/bin/true; exec /bin/sleep 0.01')]
    assert [one.get('dump') for one in lines] == [1, None, None, None, 2, None, None]
    assert lines[0]['by'] == 'sched:sched_process_exit' and lines[0]['events'] == 3
    assert [one['comm'] for one in lines if 'comm' in one] == ['sh', 'true', 'true', 'sleep', 'sleep']


def test_nothing_triggered(prof):
    lines = run(prof, '-e', 'sched:sched_process_exec', '--overwrite', '--', '/bin/true')
    assert lines == ['--- nothing triggered a dump: 1 events were kept, 0 overwritten']
