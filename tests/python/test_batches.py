# SPDX-License-Identifier: Apache-2.0
"""Functions of a script that take batches: __batch__(batch), sched__sched_switch__batch(batch)."""
import json
import os
import re
import sys

import pytest

from frame.session import EVENT, ran

live = pytest.mark.live('tracefs', 'root')

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, 'tests', 'data', 'perfdata')
RECORDING = os.path.join(DATA, 'amd64-6.12-several.data')
READERS = os.path.join(ROOT, 'tests', 'session', 'readers', 'python')


@pytest.fixture
def run(prof, tmp_path):
    """run(SCRIPT, ARGS...): what `perf-prof python ARGS s.py` said; of the recording, unless `of` says -e and more."""
    def start(script, *args, of=('-I', RECORDING), check=0, after=(), **more):
        (tmp_path / 's.py').write_text(script)
        done = ran([prof, 'python', *of, *map(str, args), 's.py', *map(str, after)], cwd=tmp_path, **more)
        assert done.returncode == check, done
        return done
    return start


def test_frames_are_for_programs(run):
    for method in 'pl', '_repr_html_':
        text = run(f'def __batch__(batch): batch.{method}()', check=1).stderr
        assert f'{method}() is there in' in text and 'a script for `perf-prof python` takes polars.DataFrame(batch)' in text


# ---- what comes in which batch, on a recording

ONE_BY_ONE = '''
rows = []
def __sample__(e): rows.append([e._time, e._cpu, e._pid, e._tid, e._comm, e._event])
def __interval__(): print('interval', *rows, sep='\\n'); rows.clear()
def __exit__(): print('exit', *rows, sep='\\n')
'''
BATCHES = '''
rows, names = [], ['_time', '_cpu', '_pid', '_tid', '_comm', '_event']
def __batch__(batch):
    assert type(batch) is perf_prof.Batch and 0 < len(batch) <= MOST and len(batch) == len(batch.to_pylist())
    rows.extend(map(list, zip(*(batch[name] for name in names))))
def __interval__(): print('interval', *rows, sep='\\n'); rows.clear()
def __exit__(): print('exit', *rows, sep='\\n')
'''


@pytest.mark.parametrize('most', [1, 7, 65536])
def test_rows_are_the_events(run, most):
    """In their order, and before the __interval__() and the __exit__() that follow them."""
    events = run(ONE_BY_ONE, '-i', 100).stdout
    assert events.count('interval') > 3 and events.count('\n') > 200
    assert run(BATCHES.replace('MOST', str(most)), '-i', 100, '--batch', most).stdout == events


def test_batches_of_a_recording_are_full(run):
    """But for the last one."""
    out = run('def __batch__(b): print("batch", len(b))\n', '--batch', 50).stdout.splitlines()[1:]
    assert set(out[:-1]) == {'batch 50'} and len(out) > 2


THREE = '-e', 'sched:sched_switch,cpu-clock,page-faults'


def test_each_event_has_one_function(run):
    """Its own, for events or for batches; and for the rest of the events, __batch__() or __sample__()."""
    script = '''
import collections
found = collections.Counter()
def sched__sched_switch(event): found['switch', event._event] += 1
def page_faults__batch(batch): found.update(('faults', name) for name in batch['_event'])
def REST
def __exit__():
    for (where, name), n in sorted(found.items()): print(where, name, n)
'''
    counts = dict(line.split() for line in run('''
import collections
found = collections.Counter()
def __sample__(event): found[event._event] += 1
def __exit__():
    for item in found.items(): print(*item)
''', *THREE).stdout.splitlines()[1:])
    where = {'sched:sched_switch': 'switch', 'page-faults': 'faults'}
    expected = sorted(f'{where.get(name, "rest")} {name} {n}' for name, n in counts.items())
    assert {line.split()[0] for line in expected} == {'switch', 'faults', 'rest'}
    for rest in "__batch__(batch): found.update(('rest', name) for name in batch['_event'])", \
                "__sample__(event): found['rest', event._event] += 1":
        assert run(script.replace('REST', rest), *THREE).stdout.splitlines()[1:] == expected


COMMON = ['_time', '_cpu', '_pid', '_tid', '_comm', '_event', '_lost']
SWITCH = ['prev_comm', 'prev_pid', 'prev_prio', 'prev_state', 'next_comm', 'next_pid', 'next_prio']


@pytest.mark.parametrize('fields, switch, rest', [
    ("['_tid', 'next_pid', 'ip']", ['_tid', '_event', '_lost', 'next_pid'], ['_tid', '_event', '_lost', 'ip']),
    ("('next_pid', '_time', 'sched:sched_switch.prev_pid')",
     ['_time', '_event', '_lost', 'next_pid', 'sched:sched_switch.prev_pid'], ['_time', '_event', '_lost']),
    ("['_lost']", COMMON, COMMON),
    ('None', COMMON + SWITCH, COMMON + ['ip', 'period']),
])
def test_columns_are_those_of_the_functions_events(run, fields, switch, rest):
    seen = json.loads(run(f'''
__batch_fields__ = {fields}
def sched__sched_switch__batch(batch): seen['switch'] = batch.columns
def __batch__(batch): seen['rest'] = batch.columns
seen = {{}}
def __exit__():
    import json
    print(json.dumps(seen))
''').stdout.splitlines()[-1])
    assert seen == {'switch': switch, 'rest': rest}


BATCH = 'def __batch__(b): pass\n'
SLIP = 'def {}(b): pass\ndef cpu_clock__batch(b): pass\n'
BOTH = ['-e', 'sched:sched_switch,cpu-clock']


@pytest.mark.parametrize('script, args, words', [
    ("__batch_fields__ = ['nxt_pid']\n" + BATCH, [],
     '__batch_fields__: none of the events has a field nxt_pid; did you mean next_pid?; they have: '),
    ("__batch_fields__ = 'next_pid'\n" + BATCH, [], '__batch_fields__ is of type str; expected a list of names of columns'),
    ('__batch_fields__ = [1]\n' + BATCH, [], '__batch_fields__ has an item of type int; expected names of columns'),
    (r"__batch_fields__ = ['_time', 'a\0b']" '\n' + BATCH, [], 'a NUL character in a text'),
    (r"__batch_fields__ = ['_time', '\ud800']" '\n' + BATCH, [], 'surrogates not allowed'),
    ('def __batch__(): pass\n', BOTH, '__batch__() takes 0 arguments, but is called with 1; expected def __batch__(batch)'),
    ('def sched__sched_switch(e): pass\ncpu_clock = sched__sched_switch\ndef __batch__(a, b): pass\n', BOTH,
     '__batch__() takes 2 arguments'),
    ('async def sched__sched_switch__batch(b): pass\n', BOTH, 'is an async def'),
    ('sched__sched_switch__batch = 5\n', BOTH, 'is not a function but of type int'),
    (BATCH + 'def __sample__(e): pass\n', BOTH, 'has both __sample__(event) and __batch__(batch) for it; leave one of them out'),
    ('def sched__sched_switch(e): pass\ndef sched__sched_switch__batch(b): pass\n', BOTH,
     'sched:sched_switch: the script has both sched__sched_switch(event) and sched__sched_switch__batch(batch) for it'),
    *((BATCH, ['--batch', number], f'--batch {number}') for number in ('0', '65537', 'x')),
])
def test_mistakes(run, script, args, words):
    assert words in run(script, *args, check=2).stderr


@pytest.mark.parametrize('script, words', [
    (SLIP.format('sched__sched_swich__batch'), 'sched__sched_swich__batch() is not called: did you mean sched__sched_switch__batch()?'),
    (SLIP.format('__bach__'), '__bach__() is not called: did you mean __batch__()?'),
    ("__batch_fields__ = ['_time']\ndef __sample__(e): pass\n", '__batch_fields__ has no effect')])
def test_what_has_no_effect_is_said(run, script, words):
    assert words in run(script, '-v', *BOTH).stderr


def test_an_event_with_the_name_of_a_function_for_batches(run):
    """With these aliases, sched__x__batch() takes single events."""
    out = run('''
def sched__x__batch(e): print('event', e._event)
def __batch__(b): print('batch', set(b['_event']))
''', '-e', 'sched:sched_switch//alias=x/,cpu-clock//alias=sched__x__batch/').stdout.splitlines()[1:]
    assert set(out) == {'event sched__x__batch', "batch {'sched:x'}"}


# ---- what a function may do

def test_batches_stay_as_they_are(run):
    """Memory of batches that were dropped is used again, but not that of others. Several become one."""
    out = run('''
kept, all_of_them = [], []
def __batch__(batch):
    all_of_them.append(batch)
    part = slice(1, 4) if len(kept) % 2 and len(batch) % 3 == 0 else slice(None)
    kept.append((batch[part], batch.to_pylist()[part]))
    if len(all_of_them) > 8: del all_of_them[0]
def __exit__():
    print('same', len(kept) > 5, all(batch.to_pylist() == rows for batch, rows in kept),
          perf_prof.concat(all_of_them).to_pylist() == [row for batch in all_of_them for row in batch.to_pylist()])
''', '--batch', 30).stdout
    assert out.endswith('same True True True\n')


def test_exceptions_are_printed_and_the_run_continues(run):
    raises = 'n = 0\ndef __batch__(b):\n    global n\n    n += 1\n    {}1 / 0\ndef __exit__(): print("called", n)\n'
    done = run(raises.format('if n > 1: '), '--batch', 10)
    assert int(done.stdout.split()[-1]) > 5 and 'ZeroDivisionError in __batch__' in done.stderr
    done = run(raises.format(''), '--batch', 10, check=1)    # not even one call returned
    n = int(done.stdout.split()[-1])
    assert n > 5 and 'ZeroDivisionError' in done.stderr and f'{n}  ZeroDivisionError in __batch__' in done.stderr


PROGRAMS = {
    'sys.exit()': ('import sys\ndef __batch__(b):\n    print("batch", len(b))\n    sys.exit(5)\ndef __exit__(): print("left")\n',
                   ['--batch', 10], 5, ['batch 10', 'left']),
    'a fork': ('''
import os
pids = set()
def __batch__(batch):
    if not pids:
        child = os.fork()
        pids.add(child)
        if child: print('child', os.waitpid(child, 0)[1], flush=True)
        else: print('in child', len(batch), flush=True)
def __exit__(): print('left', os.getpid() not in pids)
''', ['--batch', 10], 0, ['in child 10', 'child 0', 'left True']),
    'the first of n': ('def __batch__(b): print(len(b))\ndef __exit__(): print("left")\n', ['-N', 17, '--batch', 10], 0,
                       ['10', '7', 'left']),
}


@pytest.mark.parametrize('script, args, code, lines', PROGRAMS.values(), ids=PROGRAMS)
def test_endings(run, script, args, code, lines):
    assert run(script, *args, check=code).stdout.splitlines()[1:] == lines


def test_consumers_of_arrow(run):
    """In the Python that is embedded, if the tests' packages are for it."""
    out = run(f'''
import sys
sys.path.append({READERS!r})
def __batch__(batch):
    try:
        import numpy, pyarrow
    except ImportError as error:
        print('needs', error)
        sys.exit()
    table = pyarrow.record_batch(batch)
    table.validate(full=True)
    assert table.to_pylist() == batch.to_pylist()
    assert int(numpy.asarray(batch['_time']).sum()) == sum(batch['_time']) > 0
    print('equal')
''').stdout.splitlines()[1:]
    if out[0].startswith('needs'):
        pytest.skip(f'needs pyarrow and numpy (tools/install-readers): {out[0]}')
    assert set(out) == {'equal'}


def test_the_example_of_the_page(run):
    with open(os.path.join(ROOT, 'docs', 'python.md')) as page:
        script = re.search(r'^```python\n(__batch_fields__.*?)^```$', page.read(), re.M | re.S)[1]
    need = 'try: import polars\nexcept ImportError as error: print("needs", error); sys.exit()\n'
    out = run(f'import sys\nsys.path.append({READERS!r})\n{need}{script}', '-e', 'sched:sched_switch', '-i', 200).stdout
    if out.startswith('needs') or '\nneeds' in out:
        pytest.skip(f'needs polars (tools/install-readers): {out}')
    assert out.count('prev_comm') > 1 and 'swapper' in out


def test_in_the_python_of_an_environment(run, build, tmp_path):
    """As where pip installed perf-prof: its Python has the package."""
    folder = os.path.join(build, 'python')
    if not os.path.isdir(os.path.join(folder, 'perf_prof')):
        pytest.skip('needs a build with Python')
    script = 'def __batch__(b): print(type(b) is perf_prof.Batch, len(b), b[0]._event)\n'
    embedded = run(script, '--batch', 100).stdout
    done = ran([sys.executable, '-c', 'import sys; from perf_prof._native import _main; _main(0, sys.argv[1:])', '-I',
                RECORDING, '--batch', '100', 's.py'], cwd=tmp_path,
               env={**os.environ, 'PYTHONPATH': folder})
    if 'ImportError' in done.stderr or 'ModuleNotFoundError' in done.stderr:
        pytest.skip(f'needs a build for {sys.version.split()[0]}: {done.stderr}')
    assert done.returncode == 0 and done.stdout == embedded, done


# ---- live events

STORM = '''
n, calls, most = 0, [], 0
def __batch__(batch):
    global n, most
    n += len(batch)
    most = max(most, len(batch))
    assert set(batch['_event']) == {'syscalls:sys_enter_getppid'} and set(batch['_comm']) == {'storm'}
    assert set(batch['_tid']) == {batch[0]._tid}
    calls.extend(batch['_time'])
def __exit__():
    print('found', n, most, len(set(calls)), calls == sorted(calls))
'''


@live
@pytest.mark.parametrize('n, most', [(5000, 300), (5000, 65536), (5, 0)])
def test_every_live_event_is_in_a_batch(run, storm, n, most):
    found = run(STORM, '--batch', most or 4096, of=['-e', EVENT, '-m', '16M', '--order'],
                after=['--', storm, 'getppid', n]).stdout.splitlines()[-1].split()
    assert found[:2] == ['found', str(n)] and found[3:] == [str(n), 'True'] and int(found[2]) <= (most or 4096)


@live
def test_a_batch_that_is_not_full_comes_soon(run, storm):
    """The program lingers after its few calls, so nothing but time makes the batch come; sys.exit() ends the run."""
    out = run('import sys\ndef __batch__(b):\n    print("batch", len(b))\n    sys.exit(9)\n', of=['-e', EVENT], check=9,
              after=['--', 'sh', '-c', '"$0" getppid 5; exec sleep 600', storm]).stdout
    assert 1 <= int(re.search(r'^batch (\d+)$', out, re.M)[1]) < 4096     # storm may print its times later


LOSSES = '''
import collections, time
causes, told, n, waited = collections.Counter(), 0, 0, False
def __batch__(batch):
    """Looks away until the storm has ended, so that the ring overflows."""
    global n, waited
    lost = batch['_lost'].to_pylist()
    n += sum(count is None for count in lost)
    for name, count in zip(batch['_event'], lost):
        if count is not None:
            causes[name] += count
    pid = batch[0]._pid
    while pid and not waited:
        with open(f'/proc/{pid}/stat') as stat:
            waited = stat.read().rpartition(')')[2].split()[0] == 'Z'
        time.sleep(0.01)
def __lost__(start, end, info):
    global told
    told += info['count']
def __exit__():
    print('numbers', n, sum(causes.values()), told)
    print('causes', *sorted(causes))
'''


@live
def test_losses_are_rows(run, storm):
    n = 100000
    numbers, causes = (line.split()[1:] for line in run(
        LOSSES, '-m', '64K', of=['-e', EVENT], after=['--', storm, 'getppid', n]).stdout.splitlines()[-2:])
    rows, lost, told = map(int, numbers)
    assert rows + lost == n and lost == told > 0 and set(causes) <= {'lost:ring', 'lost:tail'}
