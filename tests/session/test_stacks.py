# SPDX-License-Identifier: Apache-2.0
"""Call stacks of sessions and recordings: the column _stack, and Session.stacks."""
import collections
import contextlib
import glob
import json
import os
import subprocess
import threading
import time

import pytest

from known import CORPUS, EVENT, PATIENCE
from thread_checks import Waits, at_once

FORKS = 'sched:sched_process_fork/comm ~ "callers*"/'
KEYS = ['addr', 'symbol', 'offset', 'kernel', 'dso', 'file', 'line', 'inlined']
CHAINS = sorted(path for path in glob.glob(os.path.join(CORPUS, '*.data')) if path.endswith(('-chains.data', '-dwarf.data')))


@pytest.fixture
def callers(prof, build, live):
    """callers(WORDS..., name='callers'): makes calls of getppid from inner() < middle() < outer() < main()."""
    built = subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True)
    if 'elfutils: no' in built.stdout:
        pytest.skip('needs a build with elfutils')
    with contextlib.ExitStack() as stack:
        def make(*words, name='callers'):
            path = os.path.join(build, 'tests/helpers', name)
            if not os.path.exists(path):
                pytest.skip(f'needs the helper {name}')
            return stack.enter_context(Waits(path, *words))
        make.path = os.path.join(build, 'tests/helpers/callers')
        yield make


def symbols(stack):
    return [frame['symbol'] for frame in stack]


def rows_of(batches):
    return [row for batch in batches for row in batch.to_pylist() if row['_lost'] is None]


# ---- live ----------------------------------------------------------------------------------


@pytest.mark.live
def test_stacks_of_known_work(perf_prof, callers):
    """While it runs, and after its end."""
    program = callers('--linger', 300)
    with perf_prof.Session(EVENT, pids=program.pid, callchains='fp', fields=['_tid']) as s:
        assert s.columns == ('_tid', '_event', '_lost', '_stack')
        program.go()
        batch = next(s)
        number = batch[0]._stack
        stack = s.stacks[number]
        assert symbols(stack)[:4] == ['inner', 'middle', 'outer', 'main']
        program.finish()
        batches = [batch, *s]
        stats = s.stats()
    rows = rows_of(batches)
    assert len(rows) == 300 and {row['_stack'] for row in rows} == {number} and number < len(s.stacks)
    assert s.stacks[number] == stack and all(a is b for a, b in zip(s.stacks[number], stack))
    for frame, name in zip(stack, ('inner', 'middle', 'outer', 'main')):
        assert isinstance(frame, perf_prof.Frame) and list(frame) == KEYS
        assert frame['dso'].endswith('/callers') and not frame['kernel'] and not frame['inlined'] and frame['offset'] > 0
    assert stats['stacks'] == len(s.stacks) == len(list(s.stacks)) and stats['no_stack'] == 0


@pytest.mark.deep
@pytest.mark.parametrize('callchains, kernel, user', [(True, True, True), ('auto', True, True), ('fp', True, True),
                                                      ('kernel', True, False), ('user', False, True)])
@pytest.mark.live
def test_which_parts(perf_prof, callers, callchains, kernel, user):
    program = callers('--children', 3)
    with perf_prof.Session(FORKS, pids=program.pid, callchains=callchains) as s:
        assert s.columns[:8] == ('_time', '_cpu', '_pid', '_tid', '_comm', '_event', '_lost', '_stack')
        program.go()
        rows = rows_of(s)
        assert len(rows) == 3
        for row in rows:
            stack = s.stacks[row['_stack']]
            assert any(frame['kernel'] for frame in stack) is kernel
            assert any(not frame['kernel'] for frame in stack) is user
            if kernel and stack[0]['symbol'] != 'Unknown':     # with kernel.kptr_restrict=2 none has a name
                assert 'kernel_clone' in symbols(stack)


@pytest.mark.parametrize('callchains', ['dwarf', 'dwarf,4096', 'auto', None])
@pytest.mark.live
def test_programs_without_frame_pointers(perf_prof, callers, callchains):
    """By unwind tables; _stack among the fields is enough, too. The program is gone when its names are asked for."""
    program = callers(30, name='callers_bare')
    with perf_prof.Session(EVENT, pids=program.pid, callchains=callchains, fields=['_tid', '_stack']) as s:
        program.go()
        rows = rows_of(s)
        program.process.wait(PATIENCE)
    assert len(rows) == 30
    for row in rows:
        assert symbols(s.stacks[row['_stack']])[:4] == ['inner', 'middle', 'outer', 'main']


@pytest.mark.live
def test_each_stack_has_one_number(perf_prof, callers):
    """Also if other processes have it, at other addresses."""
    programs = [callers('--depth', depth, 20) for depth in (1, 2, 5, 5)]
    with perf_prof.Session(EVENT, pids=[program.pid for program in programs], callchains='fp', fields=['_pid']) as s:
        for program in programs:
            program.go()
        rows = rows_of(s)
    stack_of = {}
    for row in rows:
        assert stack_of.setdefault(row['_pid'], row['_stack']) == row['_stack']
    one, two, five, again = (stack_of[program.pid] for program in programs)
    assert len(rows) == 80 and len({one, two, five}) == 3
    assert all(a is b for a, b in zip(s.stacks[five][:9], s.stacks[again]))     # up to main(): what is below may differ
    assert [symbols(s.stacks[stack]).count('deep') for stack in (one, two, five)] == [1, 2, 5]
    assert s.stacks[one][0] is s.stacks[five][0]     # the frames are shared
    counts = collections.Counter(row['_stack'] for row in rows)
    ends = collections.Counter()
    for line, n in (line.rsplit(' ', 1) for line in s.stacks.folded(counts).splitlines()):
        ends[line[line.rindex('main;'):]] += int(n)
    assert ends == {'main;' + 'deep;' * n + 'outer;middle;inner': 20 * times for n, times in ((1, 1), (2, 1), (5, 2))}


@pytest.mark.live
def test_names_while_nobody_takes_batches(perf_prof, callers, wait_for):
    """The session's thread waits for room, and looks up names meanwhile."""
    program = callers(1 << 30)      # until it is killed
    with perf_prof.Session(EVENT, pids=program.pid, callchains='fp', fields=['_tid'], ring='1M') as s:
        program.go()
        first = next(s)
        wait_for(lambda: s.stats()['waiting'] >= 4)
        assert symbols(s.stacks[first[0]._stack])[:4] == ['inner', 'middle', 'outer', 'main']


# ---- recordings ----------------------------------------------------------------------------


@pytest.mark.parametrize('path', CHAINS, ids=os.path.basename)
def test_stacks_are_what_script_prints(perf_prof, prof, path):
    done = subprocess.run([prof, 'script', '-I', path, '--json'], capture_output=True, text=True, timeout=PATIENCE)
    expected = [event for event in map(json.loads, done.stdout.splitlines()) if 'stack' in event]
    with perf_prof.open(path) as s:
        assert '_stack' not in s.columns
    with perf_prof.open(path, callchains=True, fields=['_tid']) as s:
        rows = [row for row in rows_of(s) if row['_stack'] is not None]
    assert len(rows) == len(expected) > 0
    for row, event in zip(rows, expected):
        stack, others = list(s.stacks[row['_stack']]), event['stack']
        if stack[-1]['symbol'] == '[broken]':      # one frame for all that are nowhere
            stack.pop()
            assert {other['dso'] for other in others[len(stack):]} == {'[unknown]'}
            others = others[:len(stack)]
        assert len(stack) == len(others)
        for frame, other in zip(stack, others):
            keys = ['offset', 'dso', 'kernel', 'inlined'] + ['addr'] * frame['kernel']    # files are elsewhere in other processes
            assert [frame[key] for key in keys] == [other.get(key) for key in keys]


def test_threads_may_ask_and_children_of_a_fork_may_not(perf_prof):
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        seen = {row['_stack'] for row in rows_of(s)} - {None}
        found = at_once(*[lambda: {n: symbols(s.stacks[n]) for n in seen}] * 4)
        assert found == [found[0]] * 4 and set(found[0]) == seen
        child = os.fork()
        if not child:
            try:
                len(s.stacks)
            except RuntimeError as error:
                os._exit('fork' not in str(error))
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# ---- tables --------------------------------------------------------------------------------


def test_tables(perf_prof):
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        rows_of(s)
    stacks, frames = s.stacks.tables()
    assert stacks.columns == ('stack', 'depth', 'frame') and frames.columns == ('frame', *KEYS)
    assert frames['frame'].to_pylist() == list(range(len(frames)))
    depths = collections.Counter(stacks['stack'].to_pylist())
    assert sorted(depths) == list(range(len(s.stacks)))
    for row in stacks.to_pylist():
        frame, expected = frames[row['frame']].to_dict(), s.stacks[row['stack']][row['depth']]
        assert (frame['symbol'] or 'Unknown') == expected['symbol'] and bool(frame['kernel']) is expected['kernel']
        assert all(frame[key] == expected[key] for key in ('addr', 'offset', 'dso', 'file', 'line'))


def test_arrow(perf_prof, reader):
    pyarrow = reader('pyarrow')
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        events = pyarrow.Table.from_batches(map(pyarrow.record_batch, s))
    table = s.stacks.arrow()
    table.validate(full=True)
    assert table.column_names == ['stack', 'depth', 'frame', *KEYS]
    stack = events['_stack'][0].as_py()
    assert [row['dso'] for row in table.to_pylist() if row['stack'] == stack] == [frame['dso'] for frame in s.stacks[stack]]
    duckdb = reader('duckdb')
    leaves = duckdb.sql('select dso, count(*) n from events join "table" on _stack = stack where depth = 0 group by all').fetchall()
    assert sum(n for _, n in leaves) == len(events) - events['_stack'].null_count > 0


def test_to_arrow_names_what_it_needs(run):
    assert 'pip install pyarrow' in run(f'''
import sys
sys.modules['pyarrow'] = None
import perf_prof
s = perf_prof.open({CHAINS[0]!r}, callchains=True)
list(s)
s.stacks.arrow()''', check=1)


def test_folded(perf_prof):
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        batches = list(s)
    total = sum(len(batch) - batch['_stack'].null_count for batch in batches)
    texts = [s.stacks.folded(batch) for batch in batches]
    assert sum(int(line.rsplit(' ', 1)[1]) for text in texts for line in text.splitlines()) == total > 0
    assert texts == [s.stacks.folded(batch['_stack']) for batch in batches]
    assert s.stacks.folded({0: 2, None: 7}).rsplit(' ', 1)[1] == '2\n' and s.stacks.folded({}) == ''
    weighed = s.stacks.folded(batches[0], weights=batches[0]['_cpu'])
    assert sum(int(line.rsplit(' ', 1)[1]) for line in weighed.splitlines()) == sum(
        row['_cpu'] or 0 for row in batches[0].to_pylist() if row['_stack'] is not None)


# ---- aggregates ----------------------------------------------------------------------------


def lines(folded):
    return {line: int(n) for line, n in (line.rsplit(' ', 1) for line in folded.splitlines())}


@pytest.mark.parametrize('path', CHAINS, ids=os.path.basename)
def test_counts_by_stack(perf_prof, path):
    with perf_prof.open(path, callchains=True) as s:
        rows = rows_of(s)
        folded = s.stacks.folded(collections.Counter(row['_stack'] for row in rows))
    with perf_prof.open(path, callchains=True) as s:
        batches = list(s.aggregate('_stack', 'count()'))
        assert collections.Counter({row['_stack']: row['count()'] for batch in batches for row in batch.to_pylist()
                                    if row['_lost'] is None}) == collections.Counter(row['_stack'] for row in rows)
        assert {batch['_stack'].type for batch in batches} == {'int32'}
        assert s.stacks.folded(batches) == folded and folded
    with perf_prof.open(path, callchains=True) as s:        # while it is read
        assert s.stacks.folded(s.aggregate('_stack', interval=0.001)) == folded
    with perf_prof.open(path, callchains=True) as s:
        agg = s.aggregate(('_comm', '_stack'), ['count()', 'min(_time)'])
        found = [row for batch in agg for row in batch.to_pylist() if row['_lost'] is None]
        assert {(row['_comm'], row['_stack']): row['count()'] for row in found} == collections.Counter(
            (row['_comm'], row['_stack']) for row in rows)
        assert all(s.stacks[row['_stack']] for row in found if row['_stack'] is not None)


class Series:
    """What columns of other libraries have; its repr would be long."""

    def __init__(self, values):
        self.values = values

    def to_list(self):
        return self.values


def test_folded_takes_columns_of_other_libraries(perf_prof):
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        batch = next(iter(s))
        list(s)
    column = batch['_stack'].to_pylist()
    expected = s.stacks.folded(batch)
    assert s.stacks.folded(Series(column)) == expected
    assert s.stacks.folded(Series([float('nan') if n is None else float(n) for n in column])) == expected     # as pandas has it
    assert s.stacks.folded(batch, weights=Series([1] * len(batch))) == expected
    with pytest.raises(TypeError, match='^counts=Series: expected a column of numbers'):
        s.stacks.folded(Series(['main']))
    with pytest.raises(TypeError, match=r'^folded\(int\): expected a batch'):
        s.stacks.folded(7)


def test_weights_of_folded(perf_prof):
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        batches = list(s)
        expected = s.stacks.folded({stack: n * 2 for stack, n in collections.Counter(
            row['_stack'] for row in rows_of(batches)).items()})
        assert s.stacks.folded(batches + batches) == expected == s.stacks.folded(iter(2 * batches))
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        batch, = s.aggregate(['_stack', '_pid'], {'n': 'count()', 'cpus': 'sum(_cpu)'})
        assert lines(s.stacks.folded(batch, weights='n')) == lines(s.stacks.folded(batch, weights=batch['n']))
        assert sum(lines(s.stacks.folded([batch], weights='n')).values()) == sum(lines(expected).values()) // 2
        with pytest.raises(TypeError, match='the name of a column'):
            s.stacks.folded([batch], weights=batch['n'])
        with pytest.raises(TypeError, match='expected a column'):
            s.stacks.folded(batch['_stack'], weights='n')
        with pytest.raises(TypeError, match='expected a batch'):
            s.stacks.folded([1, 2])
        with pytest.raises(KeyError, match='nothing'):
            s.stacks.folded(batch, weights='nothing')


def test_a_key_of_a_session_without_stacks(perf_prof):
    with perf_prof.open(CHAINS[0]) as s:
        with pytest.raises(ValueError, match='key=_stack: .*callchains=True'):
            s.aggregate(['_comm', '_stack'])
        assert s.aggregate('_comm')


# ---- Parquet -------------------------------------------------------------------------------


def views(duckdb, folder):
    """A connection with the tables events, stacks and frames."""
    db = duckdb.connect()
    for name, path in ('events', folder), ('stacks', f'{folder}-stacks'), ('frames', f'{folder}-frames'):
        db.execute(f"create view {name} as from read_parquet('{path}/**/*.parquet', hive_partitioning=true, union_by_name=true)")
    return db


def test_parquet(perf_prof, reader, tmp_path):
    """Two hosts with equal stacks, and one without any."""
    reader('pyarrow')
    folder = tmp_path / 'set'
    for host in 'web-1', 'web-2':
        with perf_prof.open(CHAINS[0], callchains=True) as s:
            written = perf_prof.sinks.parquet(s, folder, host=host, date='2026-01-31')
    assert written.files == len([path for path in glob.glob(f'{tmp_path}/**/*.parquet', recursive=True) if 'web-2' in path])
    assert written.bytes == sum(os.path.getsize(path) for path in glob.glob(f'{tmp_path}/**/*.parquet', recursive=True) if 'web-2' in path)
    with perf_prof.open(CHAINS[0]) as s:
        perf_prof.sinks.parquet(s, folder, host='web-3', date='2026-01-31')
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        counts = collections.Counter(row['_stack'] for row in rows_of(s))
    expected = {line: int(n) for line, n in (line.rsplit(' ', 1) for line in s.stacks.folded(counts).splitlines())}
    with views(reader('duckdb'), folder) as db:
        merged = dict(db.execute('select folded, count(*) from events join stacks using (host, _stack) group by all').fetchall())
        assert merged == {folded: 2 * n for folded, n in expected.items()} and sum(expected.values()) > 0
        assert db.execute('select count(*), count(distinct _stack) from stacks').fetchall() == [(2 * len(s.stacks),) * 2]
        frames = db.execute("""select symbol, dso, "offset", file, line, kernel, inlined from events join frames using (host, _stack)
                               where host = 'web-1' and events._time = (select min(_time) from events where _stack is not null)
                               order by depth""").fetchall()
    first = s.stacks[next(stack for stack in counts if stack is not None)]
    assert [(symbol or 'Unknown', *rest) for symbol, *rest in frames] == [
        tuple(frame[key] for key in ('symbol', 'dso', 'offset', 'file', 'line', 'kernel', 'inlined')) for frame in first]


@pytest.mark.live
def test_parquet_of_a_live_session(perf_prof, reader, callers, tmp_path):
    """Files of a second at most: what comes later is in other files, and no stack is there twice."""
    reader('pyarrow')
    programs = [callers('--linger', '--depth', depth, 10) for depth in (1, 2, 3)]
    with perf_prof.Session(EVENT, pids=[program.pid for program in programs], callchains='fp', fields=['_time', '_pid']) as s:
        thread = threading.Thread(target=perf_prof.sinks.parquet, args=(s, tmp_path / 'set'), kwargs={'max_seconds': 0.2})
        thread.start()
        for n, program in enumerate(programs):
            program.go()
            deadline = time.monotonic() + PATIENCE
            while len(glob.glob(f'{tmp_path}/set-stacks/**/*.parquet', recursive=True)) <= n and time.monotonic() < deadline:
                time.sleep(0.01)
        for program in programs:
            program.finish()
        thread.join(PATIENCE)
        assert not thread.is_alive()
    with views(reader('duckdb'), tmp_path / 'set') as db:
        assert db.execute("""select count(*) from events join stacks using (host, _stack)
                             where folded like '%main;deep%outer;middle;inner'""").fetchall() == [(30,)]
        assert db.execute('select count(*), count(distinct _stack) from stacks').fetchall() == [(3, 3)]
        depths = db.execute("select count(*) from frames where symbol = 'deep' group by _stack order by 1").fetchall()
        assert depths == [(1,), (2,), (3,)]


# ---- mistakes ------------------------------------------------------------------------------


def test_sessions_without_stacks(perf_prof):
    with perf_prof.open(CHAINS[0]) as s:
        with pytest.raises(ValueError, match='callchains=True'):
            s.stacks
    without = os.path.join(CORPUS, 'amd64-6.12-several.data')
    for more in {'callchains': True}, {'fields': '_stack'}:
        with pytest.raises(ValueError, match='none of the events has call chains'):
            perf_prof.open(without, **more)


@pytest.mark.parametrize('value, error', [('lbr', ValueError), ('', ValueError), (7, TypeError), (['fp'], TypeError), ('dwarf,7', ValueError)])
def test_wrong_callchains(perf_prof, value, error):
    with pytest.raises(error, match='lbr|callchains|dwarf,7'):
        perf_prof.Session('cpu-clock', callchains=value)
    if error is TypeError or value == 'lbr':
        with pytest.raises(TypeError, match='callchains'):
            perf_prof.open(CHAINS[0], callchains=value)


@pytest.mark.parametrize('number, error', [(-1, IndexError), (1 << 40, IndexError), (1 << 80, IndexError), ('0', TypeError), (None, TypeError),
                                           (True, TypeError)])
def test_wrong_numbers(perf_prof, number, error):
    with perf_prof.open(CHAINS[0], callchains=True) as s:
        rows_of(s)
        with pytest.raises(error, match=str(number)):
            s.stacks[number]


# ---- names that take long, at the end ------------------------------------------------

@pytest.mark.live
def test_close_waits_for_the_names_of_a_session_that_has_ended(perf_prof, callers):
    """A loop over its batches ends before the names are there; after the with they are, whoever asks."""
    with perf_prof.Session(EVENT, command=[callers.path, '50'], callchains='fp', fields=['_stack']) as s:
        numbers = {number for batch in s for number in batch['_stack']} - {None}
    assert s._named(0)
    assert numbers and all('main' in [frame['symbol'] for frame in s.stacks[number]] for number in numbers)


class Slow:
    """What _named() answers: so many times no."""

    def __init__(self, session, times, end=None):
        self.asked, self.times, self.end = [], times, end
        self.session = session

    def __call__(self, ms):
        assert not self.session.closed
        self.asked.append(ms)
        if len(self.asked) > self.times and self.end:
            raise self.end
        return len(self.asked) > self.times


NOTE = 'looking up the names of call stacks, which takes long'


@pytest.fixture
def ended(perf_prof, callers):
    """A session that has ended by itself; the test makes its names late."""
    s = perf_prof.Session(EVENT, command=[callers.path, '5'], callchains='fp')
    list(s)
    assert s._named(1000 * PATIENCE)
    yield s
    s.__dict__.pop('_named', None)
    s.close()


@pytest.mark.parametrize('shown', [True, False], ids=['prompt', 'program'])
@pytest.mark.live
def test_there_is_one_note_if_names_take_long(ended, monkeypatch, capsys, shown):
    if shown:
        monkeypatch.setattr('sys.ps1', '>>> ', raising=False)
    else:
        monkeypatch.delattr('sys.ps1', raising=False)
    ended._named = slow = Slow(ended, 3)
    ended.notes
    ended.close()
    assert slow.asked == [1000, 1000, 100, 100] and ended.closed
    ended._named = lambda ms: True
    assert len([text for text in ended.notes if NOTE in text]) == 1
    assert capsys.readouterr().err.count(f'perf-prof: {NOTE}') == shown


@pytest.mark.parametrize('times, of_names, of_the_block, raised', [
    (2, KeyboardInterrupt, None, KeyboardInterrupt), (0, AssertionError('waited'), ZeroDivisionError, ZeroDivisionError),
    (0, None, None, None),
], ids=['Ctrl-C', 'after an exception', 'names are there'])
@pytest.mark.live
def test_the_end_of_with(ended, capsys, times, of_names, of_the_block, raised):
    """Ctrl-C ends the wait for names; nobody waits for them after an exception; there is no note if they are there."""
    ended._named = Slow(ended, times, of_names)
    with pytest.raises(raised) if raised else contextlib.nullcontext(), ended:
        if of_the_block:
            raise of_the_block
    assert ended.closed
    ended._named = lambda ms: True
    assert raised or not [text for text in ended.notes if NOTE in text] and capsys.readouterr().err == ''
