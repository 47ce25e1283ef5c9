# SPDX-License-Identifier: Apache-2.0
"""Sessions: live events as batches, the ways to read them, and their end."""
import asyncio
import collections
import os
import platform
import re
import select
import shutil
import subprocess
import sys
import tempfile

import pytest

from conftest import READERS
from frame import requires
from known import EVENT, PATIENCE, RECORDING

N = 20000


def count(batches):
    return sum(map(len, batches))


def test_repr_says_what_it_is(perf_prof):
    s = perf_prof.open(RECORDING, 'sched:sched_switch', fields=['_tid', 'prev_pid'])
    assert repr(s) == '<perf_prof.Recording: sched:sched_switch; columns _tid, _event, _lost, prev_pid>'
    assert repr(s.aggregate('_tid')) == '<perf_prof.Aggregate: columns _event, _lost, _tid, count()>'
    s.close()
    assert repr(s).endswith('prev_pid; closed>')
    s = perf_prof.open(RECORDING)
    assert re.fullmatch(r'<perf_prof.Recording: sched:sched_switch, .*; columns _time, .*, … \(\d+\)>', repr(s))
    assert repr(s.stream('sched:sched_switch')).startswith('<perf_prof.Stream: sched:sched_switch; columns _time, _cpu, ')
    assert repr(perf_prof.Session.__new__(perf_prof.Session)) == '<perf_prof.Session: not begun>'


@pytest.mark.live
def test_every_event_is_in_a_batch(perf_prof, storm_of):
    storm = storm_of(N)
    with perf_prof.Session(EVENT, pids=storm.pid, ring='16M', fields=['_time', '_tid', '__syscall_nr']) as s:
        assert s.columns == ('_time', '_tid', '_event', '_lost', '__syscall_nr')
        storm.go()
        batches = list(s)          # the storm ends, and the session with it
        stats = s.stats()
    assert count(batches) == N == stats['delivered'] == stats['rows'] and stats['lost'] == 0, stats
    assert stats['losses'] == [] and stats['cpu_ns'] > 0 and stats['batches'] == len(batches)
    for batch in batches:
        assert set(batch['_tid'].to_pylist()) == {storm.pid}
        assert set(batch['_event'].to_pylist()) == {EVENT}
        assert batch['_lost'].null_count == len(batch)
    times = [time for batch in batches for time in batch['_time'].to_pylist()]
    assert times == sorted(times)


@pytest.mark.live
def test_events_one_by_one(perf_prof, storm_of):
    storm = storm_of(1000)
    with perf_prof.Session(EVENT, pids=[storm.pid], ring=1 << 24) as s:
        storm.go()
        kept = [event for event in s.events()]     # each stays as it was
    assert len({event._time for event in kept}) == 1000
    event = kept[0]
    assert event._tid == event['_tid'] == storm.pid and event._comm == 'storm' and event.to_dict()['_event'] == EVENT
    assert event.keys() == list(s.columns) and 'perf_prof.Event' in repr(event)
    with pytest.raises(AttributeError, match=f"^{EVENT} has no field 'nothing'; event.keys\\(\\) lists them$"):
        event.nothing
    with pytest.raises(KeyError, match=f"{EVENT} has no field 'nothing'; event.keys"):
        event['nothing']
    with pytest.raises(KeyError, match="did you mean '_comm'"):
        event['_com']


EXECVE, BRK = 59, 12


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='needs the numbers of system calls of x86-64')
@pytest.mark.parametrize('filtered', [False, True])
@pytest.mark.live
def test_names_are_those_of_each_row(perf_prof, live, filtered):
    """A program begins with brk(), under its new name, also where another event's filter asks for names meanwhile."""
    events = ['raw_syscalls:sys_enter', 'sched:sched_switch' + '/_comm=="true" || next_prio*2>=0/' * filtered]
    loop = 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done'
    begun, names = set(), collections.Counter()
    with perf_prof.Session(events, command=['sh', '-c', loop], ring='8M', fields=['_tid', '_comm', '_event', 'id']) as s:
        for row in (row for batch in s for row in batch.to_pylist()):
            if row['id'] == EXECVE:
                begun.add(row['_tid'])
            elif row['id'] == BRK and row['_tid'] in begun:
                begun.remove(row['_tid'])
                names[row['_comm']] += 1
    if s.stats()['lost']:
        pytest.skip('the machine was too busy: events were lost')
    assert names['true'] == 300 and sum(names.values()) <= 301, names


@pytest.mark.live
def test_a_command_is_watched_until_it_ends(perf_prof, live):
    with perf_prof.Session('sched:sched_process_exec', command=['sh', '-c', 'exec sh -c "exit 3"'],
                           fields=['filename']) as s:
        found = [event.filename for event in s.events()]
        assert len(found) == 2 and all(name.endswith('/sh') for name in found)
        assert s.returncode == 3
    with perf_prof.Session('sched:sched_process_exit', command='true; exit 7') as s:      # a line for the shell
        count(s)
        assert s.returncode == 7


@pytest.mark.live
def test_it_ends_after_seconds(perf_prof, live):
    with perf_prof.Session('sched:sched_switch', seconds=0.2) as s:
        assert count(s) > 0


@pytest.mark.live
def test_filter(perf_prof, storm_of):
    one, other = storm_of(500), storm_of(500)
    with perf_prof.Session(EVENT, pids=[one.pid, other.pid], filter=f'common_pid == {one.pid}', fields=['_tid']) as s:
        one.go()
        other.go()
        assert {event._tid for event in s.events()} == {one.pid}


@pytest.mark.live
def test_samples_of_a_clock(perf_prof, live):
    with perf_prof.Session('cpu-clock/freq=200/', command=['sh', '-c', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done']) as s:
        assert s.columns[-2:] == ('ip', 'period')
        assert all(event.ip and event._comm for event in s.events() if event._lost is None)


@pytest.mark.live
def test_a_closed_session(perf_prof, live):
    s = perf_prof.Session('sched:sched_switch')
    batch = next(s)
    s.close()
    s.close()
    for use in lambda: iter(s), s.fileno, s.__enter__, s.__arrow_c_stream__:
        with pytest.raises(ValueError, match='the session is closed'):
            use()
    assert s.stats()['delivered'] >= len(batch) and batch[0]._time > 0
    del s
    assert batch.to_pylist()[-1]['_event'] in ('sched:sched_switch', 'lost:ring', 'lost:tail')


@pytest.mark.live
def test_leaving_with_batches_that_nobody_took(perf_prof, live):
    with perf_prof.Session('sched:sched_switch') as s:
        select.select([s.fileno()], [], [], PATIENCE)
    with pytest.raises(StopIteration):
        next(s)


@pytest.mark.live
def test_fileno(perf_prof, storm_of):
    storm = storm_of(100)
    with perf_prof.Session(EVENT, pids=storm.pid) as s:
        assert not select.select([s.fileno()], [], [], 0)[0]
        assert s._take() is None
        storm.go()
        assert select.select([s.fileno()], [], [], PATIENCE)[0]


@pytest.mark.live
def test_an_exception_in_async_for_leaves_the_session_as_it_is(perf_prof, storm_of):
    """Another loop, of either kind, gets the rest."""
    storm = storm_of(N, 100000)

    async def read(s):
        rows = 0
        with pytest.raises(ZeroDivisionError):
            async for batch in s:
                rows += len(batch)
                1 / 0
        async for batch in s:
            return rows + len(batch)
    with perf_prof.Session(EVENT, pids=storm.pid, ring='16M') as s:
        storm.go()
        before = len(os.listdir('/proc/self/fd'))
        rows = asyncio.run(asyncio.wait_for(read(s), PATIENCE))
        assert len(os.listdir('/proc/self/fd')) == before and not s.closed
        assert rows + count(s) == N


@pytest.mark.live
def test_async_cancelled_or_raised(perf_prof, live):
    async def wait():
        with perf_prof.Session('sched:sched_switch', filter='prev_pid == 0x7fffffff') as s:
            task = asyncio.ensure_future(s.__anext__())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        with pytest.raises(ZeroDivisionError):
            with perf_prof.Session('sched:sched_switch') as s:
                async for batch in s:
                    1 / 0
        return len(os.listdir('/proc/self/fd'))
    before = len(os.listdir('/proc/self/fd'))
    assert asyncio.run(asyncio.wait_for(wait(), PATIENCE)) <= before + 8


@pytest.mark.live
def test_descriptors_and_threads_are_given_back(perf_prof, live):
    def used():
        return len(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task'))
    perf_prof.Session('sched:sched_switch').close()
    before = used()
    for _ in range(5):
        perf_prof.Session('sched:sched_switch').close()
        with pytest.raises(ValueError):
            perf_prof.Session('sched:sched_switch', fields=['nothing'])
    assert used() == before


@pytest.mark.live
def test_asyncio_and_a_close_between_look_and_wait(perf_prof, live):
    class Closing(perf_prof.Session):
        def _take(self):
            batch = super()._take()
            if batch is None:
                self.close()
            return batch

    async def read():
        return [batch async for batch in Closing(EVENT, filter='common_pid < 0')]
    assert asyncio.run(read()) == []


@pytest.mark.live
def test_a_fork_has_no_session(run, live):
    assert run('''
import os, perf_prof
s = perf_prof.Session('sched:sched_switch')
pid = os.fork()
if not pid:
    try: next(s)
    except RuntimeError as e: print('fork' in str(e), flush=True)
    try: s.stats()
    except RuntimeError as e: print('fork' in str(e), s.closed, s.notes, s.returncode, flush=True)
    for tried in s.fileno, lambda: s.sql('select 1'):
        try: tried()
        except RuntimeError as e: print('fork' in str(e), flush=True)
    s.close()
    del s
    with perf_prof.Session('sched:sched_switch') as own: print(len(next(own)) > 0, flush=True)
    os._exit(0)
print(os.waitpid(pid, 0)[1], len(next(s)) > 0)
''') == 'True\nTrue False [] None\nTrue\nTrue\nTrue\n0 True\n'


def test_a_fork_has_the_batches(run):
    """Those that its parent took. What would read on raises, and writes no file."""
    assert run(f'''
import os, sys, tempfile, perf_prof
s = perf_prof.open({RECORDING!r})
batch = next(s)
stream = s.__arrow_c_stream__()
with tempfile.TemporaryDirectory() as place:
    pid = os.fork()
    if not pid:
        print(len(batch.to_pylist()) == len(batch), flush=True)
        uses = [lambda: next(s), lambda: list(s), lambda: s.aggregate(), lambda: s._take(), lambda: next(s.events())]
        try:
            sys.path.append({READERS!r})
            import pyarrow
        except ImportError: pass
        else: uses.append(lambda: perf_prof.sinks.parquet(s, place, host='h', date='2026-01-31'))
        for use in uses:
            try: use()
            except RuntimeError as e: ok = 'fork' in str(e)
            except ValueError as e: ok = use is uses[2]     # batches were read, which is found first
            else: ok = False
            if not ok: print(uses.index(use), flush=True)
        del s, stream, batch
        own = perf_prof.open({RECORDING!r})
        print(sum(map(len, own)) > 0, os.listdir(place), flush=True)
        os._exit(0)
    print(os.waitpid(pid, 0)[1])
''') == 'True\nTrue []\n0\n'


LATE = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* A signal that comes when the main thread is about to wait. */
int poll(struct pollfd *fds, nfds_t n, int ms)
{
	static int (*real)(struct pollfd *, nfds_t, int);
	static int late;

	if (!real)
		real = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
	if (ms && gettid() == getpid() && !access("go", F_OK) && !late++)
		raise(SIGINT);
	return real(fds, n, ms);
}
'''


@pytest.mark.parametrize('wait', ['for batch in s: pass', 'pyarrow.RecordBatchReader.from_stream(s).read_all()'], ids=['batches', 'arrow'])
@pytest.mark.live
@pytest.mark.slow     # pyarrow frees what sanitizers do not know
def test_ctrl_c_just_before_the_wait(folder, live, tmp_path, wait):
    """When the interpreter has looked for signals, and poll() has not begun."""
    (tmp_path / 'late.c').write_text(LATE)
    subprocess.run(['gcc', '-shared', '-fPIC', '-o', tmp_path / 'late.so', tmp_path / 'late.c', '-ldl'], check=True)
    done = subprocess.run([sys.executable, '-c', f'''
import sys
sys.path.append({READERS!r})
import perf_prof
if 'pyarrow' in {wait!r}: import pyarrow
with perf_prof.Session('sched:sched_switch', filter='prev_pid == 0x7fffffff', fields=['_tid']) as s:
    open('go', 'w').close()
    try:
        {wait}
    except KeyboardInterrupt: print('interrupted', flush=True)
'''], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
                          env={**os.environ, 'PYTHONPATH': folder, 'LD_PRELOAD': str(tmp_path / 'late.so')})
    if "No module named 'pyarrow'" in done.stderr:
        pytest.skip('needs pyarrow (tools/install-readers)')
    assert done.stdout == 'interrupted\n' or 'KeyboardInterrupt' in done.stderr, done      # pyarrow raises OSError first


@pytest.mark.deep
@pytest.mark.live
def test_it_leaves_signals_and_stderr_alone(run, live, storm):
    """Also when events are lost, which commands report on stderr."""
    assert run(f'''
import os, threading, perf_prof
threading.Thread(target=int).start()     # the C library has a signal for itself once there are threads
def signals():
    with open('/proc/self/status') as f: return [line for line in f if line[:4] in ('SigB', 'SigI', 'SigC')]
was, err, (r, w) = signals(), os.dup(2), os.pipe()
os.dup2(w, 2)
with perf_prof.Session({EVENT!r}, ring='4K', order=False, fields=['_tid'], command=[{storm!r}, 'getppid', '2000000']) as s:
    during = signals()
    while s.stats()['waiting'] < 4: pass
    for batch in s: pass
    lost = s.stats()['lost']
os.dup2(err, 2); os.close(w)
print(was == during == signals(), lost > 0, os.read(r, 100))
''').splitlines()[-1] == "True True b''"


@pytest.mark.live
def test_it_leaves_sigchld_ignored(run, live):
    """Then the kernel discards how the command ended."""
    assert run('''
import signal, perf_prof
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def ignored():
    with open('/proc/self/status') as f: return [line for line in f if line.startswith('SigIgn')]
was = ignored()
with perf_prof.Session('sched:sched_process_exec', command=['true']) as s:
    print(was == ignored(), len(list(s.events())) > 0, s.returncode)
''') == 'True True None\n'


@pytest.mark.live
def test_a_command_that_keeps_running_is_a_note(run, live):
    assert run('''
import os, signal, sys, perf_prof
err, (r, w) = os.dup(2), os.pipe()
os.dup2(w, 2)
s = perf_prof.Session('sched:sched_process_exec', command='trap "" TERM; exec sleep 1000', fields=['_pid', 'filename'])
pid = next(event._pid for event in s.events() if event.filename.endswith('sleep'))
s.close()
os.dup2(err, 2); os.close(w)
os.kill(pid, signal.SIGKILL)
print(os.read(r, 100), *(note for note in s.notes if 'keeps running' in note and str(pid) in note))
''').startswith("b'' /bin/sh (process ")


@pytest.fixture
def as_nobody(folder):
    """as_nobody(CODE): what a Python of nobody prints that has the package."""
    if reason := requires.nobody() or requires.root():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix='tests-of-perf-prof-') as place:    # nobody may not read the build folder
        shutil.copytree(os.path.join(folder, 'perf_prof'), os.path.join(place, 'perf_prof'))
        shutil.copy(RECORDING, os.path.join(place, 'perf.data'))
        subprocess.run(['chmod', '-R', 'a+rX', place], check=True)

        def run(code):
            done = subprocess.run(requires.as_nobody([sys.executable, '-c', code]), capture_output=True, text=True, cwd=place,
                                  env={**os.environ, 'PYTHONPATH': place}, timeout=PATIENCE)
            assert done.returncode == 0, done.stderr
            return done.stdout
        yield run


@pytest.mark.live
def test_permission_is_an_error_with_a_remedy(as_nobody):
    """It has an errno, and says what would help and what works all the same: as parameters, not as options. That works."""
    *errors, own, recordings = as_nobody('''
import os, perf_prof
for words in ("sched:sched_switch", None), ("cpu-clock", None), ("cpu-clock", 1), ("kprobe:do_exit", None):
    try: perf_prof.Session(words[0], pids=words[1])
    except PermissionError as e: print(e.errno, str(e).replace(chr(10), ' '))
try: perf_prof.Session("sched:sched_switch")
except PermissionError as e: own = 'cpu-clock and page-faults of your own processes' in str(e)
if own:
    for event in 'cpu-clock', 'page-faults': perf_prof.Session(event, pids=os.getpid()).close()
with open('/proc/sys/kernel/perf_event_paranoid') as f: print(own or int(f.read()) > 2)
print(sum(map(len, perf_prof.open("perf.data"))) > 0)''').splitlines()
    assert (own, recordings, len(errors)) == ('True', 'True', 4), errors
    for error in errors:
        assert error.startswith('13 ') and 'as root' in error and 'needs no privilege' in error and '-p PID' not in error
        assert 'recordings' in error or 'needs no privilege: pids=PID' in error


@pytest.mark.live
def test_notes_name_parameters(perf_prof):
    """Notes of the command line name its options."""
    with perf_prof.open(RECORDING) as s:
        for text in ('12 events were out of order: --order sorts them; larger rings (-m 16M) or --buffer 64M help',
                     '-m: 5 kB rounded up to 8 kB', 'call chains: frame pointers (--call-graph fp|dwarf chooses)', 'nothing: `perf-prof -m 4`'):
            s._note(text)
        assert s.notes[-4:] == [
            '12 events were out of order: order=True sorts them; larger rings (ring=16M) or buffer=64M help',
            'ring: 5 kB rounded up to 8 kB', 'call chains: frame pointers (callchains=fp|dwarf chooses)', 'nothing: `perf-prof -m 4`']
    with pytest.warns(DeprecationWarning, match='pid= is now pids='), \
            perf_prof.Session('cpu-clock:u', pid=os.getpid()) as s:        # as they were given
        s._note('--pids 5 has ended; --tids watches threads')
        assert s.notes[-1] == 'pid=5 has ended; tids= watches threads'
