# SPDX-License-Identifier: Apache-2.0
"""perf-prof record --overwrite: what came before a trigger becomes a file, which perf reads, too."""
import re
import signal
import subprocess
import time

import pytest

from frame.session import EVENT, Storm, until
from test_record_command import Recorder

pytestmark = [pytest.mark.live('tracefs', 'root', 'perf'), pytest.mark.slow]

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


def used(pid):
    """The CPU time of a process, by clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)


def test_an_event_triggers(record, storm):
    done = record('-v', '-e', f'{EVENT},{END}', '--overwrite', '--', storm, 'getppid', 5000, errors=' dump 1, by ')
    rows = record.same()
    assert len(calls(rows)) == 5000 and rows[-1][3] == 'sched:sched_process_exit'
    assert [(n, by, events, older, gone) for n, by, events, _, older, gone in told(done)] == \
        [(1, 'sched:sched_process_exit', len(rows), 0, 0)]


def test_the_newest_are_kept(record, storm):
    done = record('-v', '-m', '8M', '-e', f'{EVENT},{END}', '--overwrite', '--keep', '64K', '--', storm, '--cpu', 0, 'getppid',
                  20000, errors='dump')
    rows = record.same()
    _, _, events, _, older, gone = told(done)[0]
    assert events == len(rows) and events + gone == 20001 and older == 0 and 500 < events < 1000


def test_the_last_seconds(record, storm):
    done = record('-v', '-e', f'{EVENT},{END}', '--overwrite', '--last', '0.1', '--', storm, 'getppid', 20000, 40000, errors='dump')
    rows = record.same()
    times = [row[2] for row in rows]
    _, _, events, seconds, older, gone = told(done)[0]
    assert max(times) - min(times) <= 10**8 and abs(seconds - (max(times) - min(times)) / 1e9) < 0.001
    assert events == len(rows) and events + older == 20001 and gone == 0 and older > 0


def test_a_signal_triggers_and_the_run_goes_on(record, storm):
    with Storm(storm, 'getppid', 10**9, 5000) as one:
        run = record.on('-e', EVENT, '-p', one.pid, '-m', '16M', '--overwrite', '-z')
        one.go()
        assert record.parts() == []
        for n in (1, 2, 3):
            before = used(one.pid)
            until(lambda: used(one.pid) > before + 0.02)     # it has made more calls
            run.send_signal(signal.SIGUSR2)
            until(lambda: len(record.parts()) == n, run)
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=60) == ('', '') and run.returncode == 0
    names = record.parts()
    rows = [row for name in names[1:] + names[:1] for row in record.same(name)]
    # what was written is not written again, and what comes goes on
    assert [row[2] for row in rows] == sorted({row[2] for row in rows})
    assert len(rows) > 500


def test_n_are_dumps(record, storm):
    """Of triggers of everybody: one that ends it is enough, and others' may come, too."""
    with Storm(storm, 'getppid', 10**9, 5000) as one:
        run = record.on('-e', f'{EVENT}/common_pid=={one.pid}/,sched:sched_process_fork//trigger/', '-a', '--overwrite', '-N', 2,
                        '--max-files', 1)
        one.go()
        deadline = time.monotonic() + 30
        while run.poll() is None and time.monotonic() < deadline:
            subprocess.run(['true'], check=True)
        assert run.communicate(timeout=60) == ('', '') and run.returncode == 0
    assert len(record.parts()) == 2
    assert all('sched:sched_process_fork' in {row[3] for row in record.same(name)} for name in record.parts())


def test_nothing_triggers(record, storm):
    (record.folder / 'perf.data').write_text('precious')
    record('-e', EVENT, '--overwrite', '--', storm, 'getppid', 100, check=1,
           errors='^perf-prof: nothing triggered a dump: perf.data was not written; give an event the attribute trigger, or send SIGUSR2$')
    assert record.parts() == ['perf.data'] and (record.folder / 'perf.data').read_text() == 'precious'


@pytest.mark.parametrize('sig', [signal.SIGINT, signal.SIGTERM], ids=lambda sig: sig.name)
def test_a_signal_ends_it_before_a_trigger(record, sig):
    run = record.on('-e', 'sched:sched_switch', '-a', '--overwrite')
    run.send_signal(sig)
    assert run.communicate(timeout=60) == ('', '') and run.returncode == 0 and record.parts() == []


def test_a_source_triggers_and_what_it_is_made_of_is_there(record):
    """Five that want one CPU: somebody waits for longer than 1 ms."""
    work = 'for i in 1 2 3 4 5; do taskset -c 0 sh -c "i=0; while [ \\$i -lt 60000 ]; do i=\\$((i+1)); done" & done; wait'
    source = 'rundelay/--than 1ms/trigger/'
    record('-e', source, '-m', '16M', '--overwrite', '-N', 1, '--', 'sh', '-c', work)
    assert {'sched:sched_switch', 'sched:sched_wakeup'} <= {row[3] for row in record.same(least=3)}
    assert re.search(r'[1-9]', record.read('rundelay', '-I', 'perf.data', '--than', '1ms'))
    # the list has the switches, too: they are there once
    record('-e', f'sched:sched_switch,{source}', '-m', '16M', '--overwrite', '-N', 1, '--', 'sh', '-c', work)
    rows = record.same()
    assert len(set(rows)) == len(rows)


def test_what_was_mapped_long_ago_has_names(record, storm):
    with Storm(storm, 'getppid', 10**9, 5000) as one:
        run = record.on('-v', '-e', EVENT, '--call-graph', 'fp', '-p', one.pid, '--overwrite', '--keep', '64K')
        one.go()
        until(lambda: used(one.pid) > 0.1)
        run.send_signal(signal.SIGUSR2)
        until(lambda: record.parts(), run)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    _, by, events, _, _, gone = TOLD.search(err).groups()
    assert by == 'SIGUSR2' and int(gone) > 100 < int(events), err
    assert re.search(r'\(\S*(libc\S*|storm)\)', record.perf('script', '-f', '-i', 'perf.data', '-F', 'comm,ip,sym,dso'))
    assert re.search(r'^ *storm ', record.perf('script', '-f', '-i', 'perf.data', '-F', 'comm,ip'), re.M)
    assert re.search(r'\(\S*(libc\S*|storm)\)', record.read('trace', '-I', 'perf.data'))


def test_filters_the_kernel_cannot_do(record, storm):
    record('-e', f'sched:sched_switch/next_pid+1>10/,{EVENT},{END}', '--overwrite', '--', storm, 'getppid', 1000, 5000)
    record.same(least=1000)
    for text in re.findall(r'next_pid=(\d+)', record.perf('script', '-f', '-i', 'perf.data', '-F', 'trace')):
        assert int(text) > 9


def test_a_folder_that_cannot_be_written_is_told_at_once(record):
    record('-e', 'sched:sched_switch', '--overwrite', '-o', '/nowhere/perf.data', check=1,
           errors='cannot write /nowhere/perf.data: No such file')
