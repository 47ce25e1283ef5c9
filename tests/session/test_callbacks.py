# SPDX-License-Identifier: Apache-2.0
"""run(): functions of a module or an object that are called for events, as scripts of `perf-prof python` have them."""
import collections
import functools
import os
import signal
import subprocess
import sys
import types
import warnings

import pytest

from known import CORPUS, EVENT, PATIENCE, RECORDING

SEVERAL = [os.path.join(CORPUS, f'{name}-several.data') for name in ('amd64-7', 'armhf-6.1', 'riscv64-6.12')]
TRACE = os.path.join(CORPUS, 'trace.data')
SWITCH, WAKEUP = 'sched:sched_switch', 'sched:sched_wakeup'
COMMON = ['_time', '_cpu', '_pid', '_tid', '_comm', '_event', '_lost']


def module(code):
    made = types.ModuleType('script')
    exec(code, vars(made))
    return made


def rows_of(perf_prof, path):
    with perf_prof.open(path) as s:
        return [row for batch in s for row in batch.to_pylist() if row['_lost'] is None]


SCRIPT = '''
import collections
import functools
found, seen, intervals = collections.Counter(), [], 0
def __init__():
    print('begun')
def sched__sched_switch(event):
    found['switch', event.prev_comm, event['next_pid'], event.get('nothing', 3), 'prev_prio' in event] += 1
    seen.append(event._time)
def __sample__(event):
    found[event._event, event._pid, event.get('prev_comm')] += 1
    seen.append(event._time)
def __interval__():
    global intervals
    intervals += 1
def __exit__():
    print(sorted(found.items(), key=str), seen == sorted(seen), len(seen), intervals)
'''


@pytest.mark.parametrize('path', [*SEVERAL, TRACE], ids=os.path.basename)
def test_a_script_does_the_same_in_both(perf_prof, prof, path, tmp_path, capsys):
    script = tmp_path / 's.py'
    script.write_text(SCRIPT)
    done = subprocess.run([prof, 'python', '-I', path, '-i', '10', str(script)], capture_output=True, text=True, timeout=PATIENCE)
    with perf_prof.open(path) as s:
        assert s.run(module(SCRIPT), interval=0.01) is None
        assert s.closed
    assert capsys.readouterr().out.splitlines() == [line for line in done.stdout.splitlines() if not line.startswith('Loaded')]
    assert done.stdout.count('True')


class Handlers:
    def __init__(self):
        self.events, self.batches, self.ends = [], [], 0

    def sched__sched_switch(self, event):
        self.events.append(event)

    def __batch__(self, batch):
        self.batches.append(batch)

    def __exit__(self):
        self.ends += 1


def test_an_object_with_functions_for_events_and_batches(perf_prof):
    handlers, rows = Handlers(), rows_of(perf_prof, RECORDING)
    with perf_prof.open(RECORDING) as s:
        s.run(handlers)
    switches = [row for row in rows if row['_event'] == SWITCH]
    own = [name for name in switches[0] if name in COMMON or switches[0][name] is not None]
    assert [event.to_dict() for event in handlers.events] == [{name: row[name] for name in own} for row in switches]
    assert handlers.events[0].keys() == own and isinstance(handlers.events[0], perf_prof.Event)
    others = [row for batch in handlers.batches for row in batch.to_pylist()]
    assert others == [{name: row[name] for name in [*COMMON, 'ip', 'period']} for row in rows if row['_event'] != SWITCH]
    assert handlers.ends == 1


def test_a_function_for_batches_of_one_event(perf_prof):
    batches = []
    handlers = types.SimpleNamespace(sched__sched_switch__batch=batches.append)
    with perf_prof.open(RECORDING) as s:
        s.run(handlers)
    assert {row['_event'] for batch in batches for row in batch.to_pylist()} == {SWITCH} and 'ip' not in batches[0].columns
    assert sum(map(len, batches)) == sum(row['_event'] == SWITCH for row in rows_of(perf_prof, RECORDING))


# ---- how it ends -----------------------------------------------------------------------------------------------------

def test_an_exception_ends_it(perf_prof):
    handlers, calls = Handlers(), []

    def fail(event):
        calls.append(event)
        if len(calls) == 3:
            raise KeyError('mine')
    handlers.sched__sched_switch = fail
    with perf_prof.open(RECORDING) as s:
        with pytest.raises(KeyError, match='mine'):
            s.run(handlers)
        assert len(calls) == 3 and handlers.ends == 1 and s.closed
        with pytest.raises(ValueError, match='the session is closed'):
            s.run(handlers)


@pytest.mark.parametrize('name', ['__init__', '__interval__', '__exit__', '__batch__'])
def test_an_exception_of_the_others(perf_prof, name):
    """After one of __init__(), nothing else is called."""
    def fail(*unused):
        raise LookupError(name)
    called, script = [], types.ModuleType('script')
    vars(script).update({'cpu_clock': called.append, '__exit__': lambda: called.append(None), name: fail})
    with perf_prof.open(RECORDING) as s, pytest.raises(LookupError, match=name):
        s.run(script, interval=0.01)
    assert s.closed and bool(called) == (name != '__init__')


def test_an_error_of_the_session(perf_prof):
    with open(RECORDING, 'rb') as f:
        data = f.read()
    handlers = Handlers()
    with perf_prof.open(data[:len(data) // 2]) as s, pytest.raises(RuntimeError, match='<bytes>'):
        s.run(handlers)
    assert (handlers.events or handlers.batches) and handlers.ends == 1


@pytest.mark.parametrize('interval', [None, 0.01])
def test_close_in_a_function_ends_it(perf_prof, interval):
    with perf_prof.open(RECORDING) as s:
        handlers, seen = Handlers(), []

        def end(event):
            seen.append(event)
            if len(seen) == 5:
                s.close()
        handlers.sched__sched_switch = end
        s.run(handlers, interval=interval)
        assert len(seen) == 5 and handlers.ends == 1


def test_it_runs_once_at_a_time(perf_prof):
    with perf_prof.open(RECORDING) as s, pytest.raises(ValueError, match='in run.. already'):
        s.run(types.SimpleNamespace(__sample__=lambda event: s.run(Handlers())))


# ---- what it refuses -------------------------------------------------------------------------------------------------

async def asynchronous(event):
    pass


def generator(event):
    yield


@pytest.mark.parametrize('source, error, what', [
    (Handlers, TypeError, r'Handlers is a class: make an object of it: run\(Handlers\(\)\)'),
    ({}, TypeError, 'a dict; expected a module'),
    (None, ValueError, r'NoneType has no function for any event; define __sample__\(event\) or sched__sched_switch\(event\)'),
    (types.SimpleNamespace(sched__sched_swich=print), ValueError, r'did you mean sched__sched_switch\(\)'),
    (types.SimpleNamespace(__sample__=asynchronous), TypeError, 'async def'),
    (types.SimpleNamespace(__sample__=functools.partial(asynchronous)), TypeError, 'async def'),
    (types.SimpleNamespace(__sample__=generator), TypeError, 'yield'),
    (types.SimpleNamespace(__sample__=3), TypeError, r'__sample__ is a int; expected def __sample__\(event\)'),
    (types.SimpleNamespace(__sample__=lambda: 0), TypeError, r'cannot be called with 1 argument; expected def __sample__\(event\)'),
    (types.SimpleNamespace(__lost__=lambda a: 0), TypeError, r'with 2 arguments; expected def __lost__\(start, end\)'),
    (types.SimpleNamespace(cpu_clock=print, cpu_clock__batch=print), ValueError, 'both cpu_clock'),
    (types.SimpleNamespace(__sample__=print, __batch__=print), ValueError, 'both __sample__'),
])
def test_bad_callbacks(perf_prof, source, error, what):
    with perf_prof.open(RECORDING) as s:
        with pytest.raises(error, match=what):
            s.run(source)
        assert len(next(s))     # and can be read in another way


def test_what_a_decorator_wraps_says_how_many_arguments_it_takes(perf_prof):
    """Also where its annotations name what is not there."""
    from perf_prof._handlers import Arguments

    def wrapper(*args, **more):
        raise NotImplementedError

    class Callable:
        def __call__(self, start: 'Nowhere', end):      # noqa: F821
            raise NotImplementedError
    assert Arguments(functools.wraps(lambda start, end: 0)(wrapper)).most == 2
    assert Arguments(functools.wraps(lambda *args: 0)(wrapper)).most > 3
    assert (Arguments(Callable()).least, Arguments(Callable()).most) == (2, 2)
    assert Arguments(functools.partial(lambda start, end: 0, 1)).most == 1


@pytest.mark.parametrize('interval, error', [('1', TypeError), (0, ValueError), (1e9, ValueError)])
def test_bad_intervals(perf_prof, interval, error):
    with perf_prof.open(RECORDING) as s, pytest.raises(error, match='interval'):
        s.run(Handlers(), interval=interval)
    with perf_prof.open(RECORDING, fields=['_tid']) as s, pytest.raises(ValueError, match='_time'):
        s.run(types.SimpleNamespace(__interval__=int), interval=1)


def test_slips_are_warned_of(perf_prof):
    with perf_prof.open(RECORDING) as s, pytest.warns(UserWarning, match=r'sched__sched_swich\(\) is not called: did you mean '
                                                      r'sched__sched_switch\(\), for sched:sched_switch'):
        s.run(types.SimpleNamespace(cpu_clock=id, sched__sched_swich=id))
    with perf_prof.open(RECORDING) as s, pytest.warns(UserWarning, match=r'__intervall__\(\) is not called: did you mean __interval__'):
        s.run(types.SimpleNamespace(__sample__=id, __intervall__=id))

    with perf_prof.open(RECORDING) as s, pytest.warns(UserWarning, match=r'__interval__\(\) is not called: run\(.*interval=SECONDS') as warned:
        s.run(types.SimpleNamespace(__interval__=lambda: None))
    assert warned[0].filename == __file__

    class Quiet:
        cycles = 3
        __sample__ = staticmethod(id)

        def sched__sched_stat_runtime(self, event):
            pass

        def helper(self):
            pass

        def __int__(self):
            return 3

        @property
        def costly(self):
            raise AssertionError
    with perf_prof.open(RECORDING) as s, warnings.catch_warnings():
        warnings.simplefilter('error')
        s.run(Quiet())


def test_objects_that_are_context_managers(perf_prof):
    """Their __exit__() belongs to `with`."""
    class Managed:
        n = 0

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            raise AssertionError

        def __sample__(self, event):
            self.n += 1
    managed = Managed()
    with perf_prof.open(TRACE) as s:
        s.run(managed)
    assert managed.n == 27


# ---- live ------------------------------------------------------------------------------------------------------------

@pytest.mark.live
def test_live(perf_prof, storm_of):
    storm, found, calls = storm_of(20000), collections.Counter(), []

    def interval():
        calls.append(sum(found.values()))
        if len(calls) == 2:
            storm.go()      # before that, no event comes
    with perf_prof.Session(EVENT, pids=storm.pid, ring='16M', fields=['_tid']) as s:
        s.run(types.SimpleNamespace(__sample__=lambda event: found.update([event._tid]), __interval__=interval), interval=0.05)
        assert found == {storm.pid: 20000} and s.stats()['lost'] == 0 and calls[:2] == [0, 0]


@pytest.mark.deep
@pytest.mark.live
def test_losses(perf_prof, storm_of):
    storm, losses, seen = storm_of(3_000_000), [], collections.Counter()

    class Slow:
        def __batch__(self, batch):
            if not seen:
                storm.go()
                storm.process.wait(PATIENCE)
            seen['events'] += batch['_lost'].null_count

        def __lost__(self, start, end, info):
            losses.append((start, end, info))

        def __interval__(self):
            if not seen:
                self.__batch__(empty)
    empty = {'_lost': types.SimpleNamespace(null_count=0)}
    with perf_prof.Session(EVENT, pids=storm.pid, ring='64K', order=False, fields=['_time', '_cpu', '_tid']) as s:
        s.run(Slow(), interval=0.01)
        stats = s.stats()
    assert sum(info['count'] for _, _, info in losses) == stats['lost'] > 0 and seen['events'] + stats['lost'] == storm.n
    assert {info['cause'] for _, _, info in losses} <= {'ring', 'tail', 'stop'}
    assert all(start <= end for start, end, _ in losses if end) and all(info['cpu'] >= 0 for _, _, info in losses)


@pytest.mark.live
def test_ctrl_c(folder, live):
    child = subprocess.Popen([sys.executable, '-c', f'''
import perf_prof, types
s = perf_prof.Session({SWITCH!r}, filter='prev_pid == 0x7fffffff')
try: s.run(types.SimpleNamespace(__sample__=print, __interval__=lambda: print('ready', flush=True), __exit__=lambda: print('exit')), interval=0.01)
except KeyboardInterrupt: print('interrupted', s.closed, flush=True)
'''], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, 'PYTHONPATH': folder})
    assert child.stdout.readline() == 'ready\n'
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    assert [line for line in out.splitlines() if line != 'ready'] == ['exit', 'interrupted True'] and not err and not child.returncode
