# SPDX-License-Identifier: Apache-2.0
"""perf-prof record --overwrite: what came before a trigger becomes a file, which perf reads, too."""
import os
import re
import signal
import subprocess
import time

import pytest

from frame import requires
from frame.again import attempts
from frame.session import EVENT, Storm
from test_record_command import Recorder, parts

for word in ('tracefs', 'root', 'perf'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

END = 'sched:sched_process_exit//trigger/'
TOLD = re.compile(r'perf-prof: perf.data: dump (\d+), by (\S+): (\d+) events of ([\d.]+) s; (\d+) older left out, '
                  r'(\d+) overwritten, 0 lost, ')


@pytest.fixture
def record(prof, tmp_path):
    return Recorder(prof, tmp_path)


def told(done):
    """(dump, by, events, seconds, older, overwritten) of each dump."""
    return [(int(n), by, int(events), float(seconds), int(older), int(gone))
            for n, by, events, seconds, older, gone in TOLD.findall(done.stderr)]


def calls(rows):
    return [row for row in rows if row[3] == EVENT]


def wait_for(record, n, run):
    deadline = time.monotonic() + 30
    while len(parts(record)) < n:
        assert run.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)


def sample_rate_limit():
    with open('/proc/sys/kernel/perf_event_max_sample_rate') as f:
        return int(f.read())


def wait_for_cpu_time(pid, seconds):
    deadline = time.monotonic() + 60
    while time.clock_gettime(cpu_clock(pid)) < seconds:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def cpu_clock(pid):
    """clock_getcpuclockid(3)."""
    return ~pid << 3 | 2


def waits_for_events(pid):
    with open(f'/proc/{pid}/wchan') as f:
        return re.match('ep_|.*epoll', f.read())


def wait_for_events(run):
    """It has opened them all, and they are on: a trigger before would find none."""
    deadline = time.monotonic() + 30
    while not waits_for_events(run.pid):
        assert run.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)


def test_an_event_triggers(record, storm):
    done = record('-v', '-e', f'{EVENT},{END}', '--overwrite', '--', storm, 'getppid', 5000, errors=' dump 1, by ')
    rows = record.same()
    assert len(calls(rows)) == 5000 and rows[-1][3] == 'sched:sched_process_exit'
    assert [(n, by, events, older, gone) for n, by, events, _, older, gone in told(done)] == \
        [(1, 'sched:sched_process_exit', len(rows), 0, 0)]


def test_the_newest_are_kept(record, storm):
    record('-e', EVENT, '-m', '8M', '-o', 'all.data', '--', storm, 'getppid', 10)
    done = record('-v', '-m', '8M', '-e', f'{EVENT},{END}', '--overwrite', '--keep', '64K', '--', storm, 'getppid',
                  20000, errors='dump')
    rows = record.same()
    _, _, events, _, older, gone = told(done)[0]
    assert events == len(rows) and events + gone == 20001 and older == 0 and 500 < events < 1000


def test_the_last_seconds(record, storm):
    done = record('-v', '-e', f'{EVENT},{END}', '--overwrite', '--last', '0.1', '--', storm, 'getppid', 20000, 40000,
                  errors='dump')
    rows = record.same()
    times = [row[2] for row in rows]
    _, _, events, seconds, older, gone = told(done)[0]
    assert max(times) - min(times) <= 10**8 and abs(seconds - (max(times) - min(times)) / 1e9) < 0.001
    assert events == len(rows) and events + older == 20001 and gone == 0 and events > 500


def test_a_signal_triggers_and_the_run_goes_on(record, storm):
    with Storm(storm, 'getppid', 10**9, 5000) as one:
        run = record.start('-e', EVENT, '-p', one.pid, '--overwrite', '-z')
        wait_for_events(run)
        one.go()
        wait_for_cpu_time(one.pid, time.clock_gettime(cpu_clock(one.pid)) + 0.03)
        assert parts(record) == []
        for n in (1, 2, 3):
            run.send_signal(signal.SIGUSR2)
            wait_for(record, n, run)
            wait_for_cpu_time(one.pid, time.clock_gettime(cpu_clock(one.pid)) + 0.01)     # it has made more calls
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=60) == ('', '') and run.returncode == 0
    names = parts(record)
    rows = [row for name in names[1:] + names[:1] for row in record.same(name)]
    # what was written is not written again, and nothing is left out
    assert [row[2] for row in rows] == sorted({row[2] for row in rows})
    gaps = [b[2] - a[2] for a, b in zip(rows, rows[1:])]
    assert len(rows) > 1500 and sorted(gaps)[len(gaps) // 2] < 10**6


def test_n_are_dumps(record, storm):
    with Storm(storm, 'getppid', 10**9, 5000) as one:
        # of everybody's forks, but not everybody's storms: another test may make a great one
        run = record.start('-e', f'{EVENT}/common_pid=={one.pid}/,sched:sched_process_fork//trigger/', '-a', '--overwrite', '-N', 2,
                           '--max-files', 1)
        one.go()
        deadline = time.monotonic() + 30
        while run.poll() is None and time.monotonic() < deadline:
            subprocess.run(['true'], check=True)
            time.sleep(0.1)
        assert run.communicate(timeout=60) == ('', '') and run.returncode == 0
    assert len(parts(record)) == 2
    assert all('sched:sched_process_fork' in {row[3] for row in record.same(name)} for name in parts(record))


def test_nothing_triggers(record, storm):
    (record.folder / 'perf.data').write_text('precious')
    record('-e', EVENT, '--overwrite', '--', storm, 'getppid', 100, check=1,
           errors='^perf-prof: nothing triggered a dump: perf.data was not written; give an event the attribute trigger, or send SIGUSR2$')
    assert parts(record) == ['perf.data'] and (record.folder / 'perf.data').read_text() == 'precious'


def test_a_source_triggers_and_what_it_is_made_of_is_there(record):
    """Five that want one CPU: somebody waits for longer than 1 ms."""
    work = 'for i in 1 2 3 4 5; do taskset -c 0 sh -c "i=0; while [ \\$i -lt 60000 ]; do i=\\$((i+1)); done" & done; wait'
    record('-e', 'rundelay/--than 1ms/trigger/', '-m', '16M', '--overwrite', '-N', 1, '--', 'sh', '-c', work)
    rows = record.same(least=3)
    assert {'sched:sched_switch', 'sched:sched_wakeup'} <= {row[3] for row in rows}
    waits = record.read('rundelay', '-I', 'perf.data', '--than', '1ms')
    assert re.search(r'[1-9]', waits)
    def switches():
        record('-e', 'sched:sched_switch,rundelay/--than 1ms/trigger/', '-m', '16M', '--overwrite', '-N', 1,
               '-o', 'once.data', '--', 'sh', '-c', work)
        return [row for row in record.same('once.data', least=1) if row[3] == 'sched:sched_switch']
    # the list has it: once; on a busy machine the first to run may have waited that long
    attempts(switches, lambda rows: len(set(rows)) == len(rows) > 1)


def test_what_was_mapped_long_ago_has_names(record, storm):
    with Storm(storm, 'getppid', 10**9) as one:
        run = record.start('-v', '-F', '4000', '--call-graph', 'fp', '-p', one.pid, '--overwrite', '--keep', '64K')
        one.go()
        wait_for_cpu_time(one.pid, max(1.5, 1000 / sample_rate_limit()))
        run.send_signal(signal.SIGUSR2)
        wait_for(record, 1, run)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    _, by, events, _, _, gone = TOLD.search(err).groups()
    assert by == 'SIGUSR2' and int(gone) > 100 < int(events)
    assert f'({os.path.realpath(storm)})' in record.perf('script', '-f', '-i', 'perf.data', '-F', 'comm,ip,sym,dso')
    assert re.search(r'^ *storm ', record.perf('script', '-f', '-i', 'perf.data', '-F', 'comm,ip'), re.M)
    assert f'({os.path.realpath(storm)})' in record.read('trace', '-I', 'perf.data')


def test_filters_the_kernel_cannot_do(record, storm):
    record('-e', f'sched:sched_switch/next_pid+1>10/,{EVENT},{END}', '--overwrite', '--', storm, 'getppid', 1000, 5000)
    record.same(least=1000)
    for text in re.findall(r'next_pid=(\d+)', record.perf('script', '-f', '-i', 'perf.data', '-F', 'trace')):
        assert int(text) > 9


def test_a_folder_that_cannot_be_written_is_told_at_once(record):
    record('-e', 'sched:sched_switch', '--overwrite', '-o', '/nowhere/perf.data', check=1,
           errors='cannot write /nowhere/perf.data: No such file')
