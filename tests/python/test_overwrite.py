# SPDX-License-Identifier: Apache-2.0
"""perf-prof trace --overwrite, live: what is shown, when, and what is counted."""
import json
import re
import signal
import subprocess
import time

import pytest

from frame.declared import Output
from frame.session import EVENT, Storm, ran, until, waiting

pytestmark = pytest.mark.live('tracefs', 'root')

HEAD = re.compile(r'--- (\S+ \S+) dump (\d+), by (\S+): (\d+) events; (\d+) older left out, (\d+) overwritten$')
LINE = re.compile(r'\S+ \S+ +(.+?) +(-?\d+) \S+ \[\d+\] (\d+\.\d+): (\S+): ')


def run(prof, *args):
    done = ran([prof, 'trace', *map(str, args)])
    assert (done.returncode, done.stderr) == (0, ''), done
    return done.stdout.splitlines()


def dumps(lines):
    """Each as (head's match, its lines' matches)."""
    found = []
    for line in lines:
        if HEAD.match(line):
            found.append((HEAD.match(line), []))
        else:
            found[-1][1].append(LINE.match(line))
    return found


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
    script = '/bin/true; sleep 2.5; /bin/true; exec /bin/sleep 0.02'
    lines = run(prof, '-e', 'sched:sched_process_exec,sched:sched_process_exit/comm=="sleep"/trigger/',
                '--overwrite', '--last', '2', '--', 'sh', '-c', script)
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


def test_a_signal_shows_and_the_run_goes_on(prof, storm):
    with Storm(storm, 'getppid', 10**9, 5000) as one, \
            subprocess.Popen([prof, 'trace', '-e', EVENT, '--overwrite', '-N', '2', '-p', str(one.pid)], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        waiting(process)
        one.go()
        out = Output(process.stdout)
        for n in 1, 2:
            before = time.clock_gettime(~one.pid << 3 | 2)      # clock_getcpuclockid(3): it makes calls
            until(lambda: time.clock_gettime(~one.pid << 3 | 2) > before + 0.01)
            process.send_signal(signal.SIGUSR2)
            assert out.wait_for(f'dump {n}, by SIGUSR2: [1-9]', time.monotonic() + 20)
        assert process.wait(20) == 0
        first, second = dumps(out.text().splitlines())
    times = [float(e.group(3)) for e in first[1] + second[1]]
    assert first[1] and second[1] and times == sorted(times)


@pytest.mark.slow     # dd aligns memory as sanitizers do not allow
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
