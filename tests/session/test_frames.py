# SPDX-License-Identifier: Apache-2.0
"""Rows as users of DuckDB and data frames expect: .pl(), .df(), .arrow(); losses in a table of their own; quantiles; names that
there were before."""
import asyncio
import bisect
import collections
import os
import pickle
import warnings

import pytest

from known import CORPUS, EVENT, RECORDING, lossy

CHAINS = os.path.join(CORPUS, 'amd64-6.12-dwarf.data')
SWITCH = 'sched:sched_switch'


def rows_of(perf_prof, path=RECORDING, **kwargs):
    with perf_prof.open(path, **kwargs) as s:
        return [{name: value for name, value in row.items() if name != '_lost'}
                for batch in s for row in batch.to_pylist() if row['_lost'] is None]


def as_rows(kind, frame):
    """A frame of each library as dicts."""
    return frame.to_dicts() if kind == 'pl' else frame.to_pylist() if kind == 'arrow' else frame.to_dict('records')


# ---- frames ------------------------------------------------------------------------------

@pytest.mark.parametrize('kind, library', [('pl', 'polars'), ('df', 'pandas'), ('arrow', 'pyarrow')])
def test_all_that_has_rows_is_a_frame(perf_prof, reader, kind, library):
    reader('pyarrow')
    module, fields = reader(library), ['_time', '_cpu', 'next_pid']
    expected = rows_of(perf_prof, events=SWITCH, fields=fields)
    with perf_prof.open(RECORDING, SWITCH, fields=fields) as s:
        frame = getattr(s, kind)()
    assert type(frame).__module__.startswith(module.__name__) and as_rows(kind, frame) == expected and len(expected) > 100
    with perf_prof.open(RECORDING, SWITCH, fields=fields) as s:
        assert [row for batch in s for row in as_rows(kind, getattr(batch, kind)())] == expected
    with perf_prof.open(RECORDING, fields=fields) as s:
        stream = as_rows(kind, getattr(s.stream(SWITCH), kind)())
    assert [(row['_time'], row['next_pid']) for row in stream] == [(row['_time'], row['next_pid']) for row in expected]
    with perf_prof.open(RECORDING, SWITCH, fields=fields) as s:
        sums = as_rows(kind, getattr(s.aggregate('next_pid'), kind)())
    assert {row['next_pid']: row['count()'] for row in sums} == collections.Counter(row['next_pid'] for row in expected)
    assert list(sums[0]) == ['_time', 'next_pid', 'count()']
    result = perf_prof.report(CHAINS)
    assert [row['self'] for row in as_rows(kind, getattr(result, kind)())] == result.rows['self'].to_pylist()
    assert len(getattr(result.tables[0], kind)()) == len(result)


def test_a_frame_without_rows_has_its_columns(perf_prof, reader):
    polars = reader('polars')
    with perf_prof.open(RECORDING, SWITCH, filter='next_pid == -5', fields=['_time', 'prev_comm', 'next_pid']) as s:
        frame = s.pl()
    assert frame.shape == (0, 4) and frame.schema['_time'] == polars.UInt64 and '_lost' not in frame.columns
    with perf_prof.open(RECORDING, SWITCH, filter='next_pid == -5') as s:
        assert s.aggregate('prev_comm').pl().columns == ['_time', 'prev_comm', 'count()']
    schemas = []
    for expression in None, 'next_pid == -5':
        with perf_prof.open(RECORDING, SWITCH, filter=expression) as s:
            schemas.append(s.aggregate('prev_comm', {'p': 'quantile(next_pid, 0.5)', 'n': 'count()'}).pl().schema)
    assert schemas[0] == schemas[1] and list(schemas[0]) == ['_time', 'prev_comm', 'p', 'n']


@pytest.mark.parametrize('kind, library', [('pl', 'polars'), ('df', 'pandas'), ('df', 'pyarrow'), ('arrow', 'pyarrow')])
def test_a_missing_library_is_named(run, kind, library):
    text = run(f'import sys; sys.modules[{library!r}] = None\n'
               f'import perf_prof; perf_prof.open({RECORDING!r}).{kind}()', check=1).splitlines()[-1]
    assert text.startswith('ImportError: ') and f'.{kind}() needs it: pip install ' in text
    assert library in text.partition('install')[2]


def test_event_names_stay_where_they_are_a_key(perf_prof, reader):
    reader('polars')
    with perf_prof.open(RECORDING) as s:
        frame = s.aggregate('_event').pl()
    assert frame.columns == ['_time', '_event', 'count()'] and SWITCH in frame['_event'].to_list()


@pytest.mark.parametrize('key', ['_cpu', '_event'])
@pytest.mark.parametrize('value', ['count()', 'quantile(_cpu, 0.5)'])
def test_frames_of_all_batches_of_an_aggregate_have_the_same_columns(perf_prof, reader, key, value):
    """Also of one that has only losses, and one without rows."""
    reader('polars')
    with perf_prof.open(lossy()) as s:
        batches = list(s.aggregate(key, value, interval=1))
    batches += [pickle.loads(pickle.dumps(batch)) for batch in batches] + [perf_prof.concat(batches)]
    columns = ['_time', *(['_event'] if key == '_event' else [key]), value]
    for batch in batches:
        losses = [row for row, event in enumerate(batch) if event._lost is not None]
        for part in batch, batch[:0], *(batch[row:row + 1] for row in losses):
            assert part.pl().columns == columns
    assert any(batch['_lost'].null_count < len(batch) for batch in batches)


# ---- losses ------------------------------------------------------------------------------

def test_losses_are_a_table_of_their_own(perf_prof, reader):
    reader('polars')
    damaged = lossy()
    with perf_prof.open(damaged) as s:
        rows = [row for batch in s for row in batch.to_pylist()]
        losses = s.losses.to_pylist()
    lost = [row for row in rows if row['_lost'] is not None]
    assert [(f'lost:{row["cause"]}', row['count']) for row in losses] == [(row['_event'], row['_lost']) for row in lost] != []
    assert [row['end'] or row['start'] or lost[i]['_time'] for i, row in enumerate(losses)] == [row['_time'] for row in lost]
    with perf_prof.open(damaged) as s, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter('always')
        frame = s.pl()
    n = sum(row['count'] for row in losses)
    assert len(frame) == len(rows) - len(lost) and '_lost' not in frame.columns and not frame['_event'].is_null().any()
    assert [(str(one.message).split(',')[0], one.filename) for one in warned] == [(f'{n} events were lost', __file__)]
    with perf_prof.open(damaged) as s:
        batches = [batch.pl() for batch in s]
    assert sum(map(len, batches)) == len(frame)


def test_what_an_aggregate_cannot_keep_is_in_its_losses(perf_prof, reader):
    reader('polars')
    with perf_prof.open(RECORDING, SWITCH) as s, pytest.warns(UserWarning, match='were lost'):
        sums = s.aggregate({'at': '_time'}, max_keys=10)
        frame = sums.pl()
    n = len(rows_of(perf_prof, events=SWITCH))
    assert len(frame) == 10
    assert sums.losses.to_pylist() == [{'start': None, 'end': None, 'cpu': None, 'cause': 'keys', 'count': n - 10}]
    with perf_prof.open(lossy()) as s:
        stream = s.stream('cpu-clock')
        list(stream)
        assert stream.losses.to_pylist() == s.losses.to_pylist() != []


def test_a_session_without_losses_has_an_empty_table(perf_prof):
    with perf_prof.open(RECORDING, SWITCH) as s:
        list(s)
        assert len(s.losses) == 0 and s.losses.columns == ('start', 'end', 'cpu', 'cause', 'count')


@pytest.mark.live
def test_losses_of_a_running_session(perf_prof, reader, storm_of, wait_for):
    storm = storm_of(300000)
    with perf_prof.Session(EVENT, pids=storm.pid, ring=4096, buffer=1 << 16) as s:
        storm.go()
        wait_for(lambda: s.stats()['lost'])
        s.close()
        losses = s.losses.to_pylist()
        assert sum(row['count'] for row in losses) == s.stats()['lost']
        assert {row['cause'] for row in losses} & {'ring', 'tail', 'stop'}
        assert all(row['start'] < row['end'] for row in losses if row['start'] and row['end'])


# ---- stacks ------------------------------------------------------------------------------

def test_flame_graph_of_stacks(perf_prof):
    with perf_prof.open(CHAINS, callchains=True) as s:
        batches = list(s)
        expected = s.stacks.folded(batches)
        assert s.stacks.folded() == expected != ''
    with perf_prof.open(CHAINS, callchains=True) as s:
        graph = s.stacks.flame_graph(title='of all')        # nobody has read it
        assert not list(s.stacks._session._gaps()) and 'of all' in graph.svg()
        assert s.stacks.folded() == expected
        with pytest.raises(TypeError, match="weights='n': expected counts"):
            s.stacks.folded(weights='n')
    with perf_prof.open(CHAINS, callchains=True) as s:
        assert sum(map(len, s.aggregate('_cpu')))       # its batches go elsewhere
        assert s.stacks.folded() == expected
    with perf_prof.open(CHAINS, callchains=True) as s:
        part = next(s)
        assert s.stacks.flame_graph(part).svg() and list(s) == []


def test_frames_of_stacks(perf_prof, reader):
    reader('polars'), reader('pandas')
    with perf_prof.open(CHAINS, callchains=True) as s:
        list(s)
        rows = s.stacks.arrow().to_pylist()
        assert s.stacks.pl().to_dicts() == rows != []
        assert s.stacks.df()['offset'].tolist() == [row['offset'] for row in rows]
        with pytest.warns(DeprecationWarning, match=r'stacks.to_arrow\(\) is now stacks.arrow\(\), and goes with 0.3.0'):
            assert s.stacks.to_arrow().to_pylist() == rows


# ---- quantiles ---------------------------------------------------------------------------

@pytest.mark.parametrize('interval', [None, 0.001])
def test_quantiles(perf_prof, interval):
    values = {'p50': 'quantile(next_pid, 0.5)', 'n': 'count()', 'least': 'quantile(next_pid, 0)', 'most': 'max(next_pid)',
              'p99': 'quantile(next_pid, 0.99)'}
    with perf_prof.open(RECORDING, SWITCH) as s:
        sums = s.aggregate(['_cpu', 'prev_comm'], values, interval=interval)
        assert sums.columns == ('_time', '_event', '_lost', '_cpu', 'prev_comm', *values)
        batches = list(sums)
    rows = collections.defaultdict(list)
    begins = [batch['_time'][0] for batch in batches]
    for row in rows_of(perf_prof, events=SWITCH):
        rows[begins[bisect.bisect(begins, row['_time']) - 1], row['_cpu'], row['prev_comm']].append(row['next_pid'])
    found = [row for batch in batches for row in batch.to_pylist()]
    assert {(row['_time'], row['_cpu'], row['prev_comm']) for row in found} == set(rows) and len(found) == len(rows)
    for row in found:
        pids = sorted(rows[row['_time'], row['_cpu'], row['prev_comm']])
        assert (row['n'], row['most']) == (len(pids), pids[-1]) and list(row)[-5:] == list(values)
        for name, share in ('p50', 0.5), ('p99', 0.99), ('least', 0):
            assert any(abs(row[name] - pid) <= pid / 64 for pid in pids)
            below = sum(pid < row[name] * (1 - 1 / 32) for pid in pids)
            above = sum(pid <= row[name] * (1 + 1 / 32) for pid in pids)
            assert below <= share * len(pids) <= above, (row, name, pids)


def test_quantiles_of_pairs_and_their_bad_input(perf_prof, reader):
    reader('polars')
    off = f'pair("{SWITCH}", "{SWITCH}", prev_pid, next_pid)'
    with perf_prof.open(RECORDING, SWITCH) as s:
        row, = s.aggregate((), {'p90': f'quantile({off}, 0.9)', 'n': f'count({off})'}).pl().to_dicts()
    assert row['n'] > 10 and row['p90'] > 0
    for values, message in (({'p': 'quantile(next_pid, 2)'}, 'expected a share from 0 to 1'),
                            ({'p': 'quantile(next_pid, half)'}, 'expected a share from 0 to 1'),
                            ({'p': 'quantile(next_pid, 0.5)', 'q': 'quantile(prev_pid, 0.5)'}, 'of one expression'),
                            ({'p': 'quantile(next_pid, 0.5)', 'h': 'histogram(next_pid, "log2")'}, 'of one expression')):
        with perf_prof.open(RECORDING, SWITCH) as s, pytest.raises(ValueError, match=message):
            s.aggregate((), values)
    with perf_prof.open(RECORDING, SWITCH) as s, pytest.raises(TypeError, match=r'no Arrow stream: \.pl\(\)'):
        s.aggregate((), ['quantile(next_pid, 0.5)']).__arrow_c_stream__()


# ---- the rest ----------------------------------------------------------------------------

def test_async_with(perf_prof):
    async def main():
        async with perf_prof.open(RECORDING, SWITCH) as s:
            n = 0
            async for batch in s:
                n += len(batch)
        assert s.closed
        return n
    assert asyncio.run(main()) == len(rows_of(perf_prof, events=SWITCH))


def test_diff_of_results(perf_prof):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        result, other = perf_prof.report(CHAINS), perf_prof.report(CHAINS)
        stacks = [line for line in result.folded.splitlines() if not line.startswith('#')]
        other.folded = '\n'.join(stacks[:len(stacks) // 2])
        change = result.diff(other, total=True)
    rows = {row['function']: row for row in change.rows.to_pylist()}
    assert rows and any(row['change'] for row in rows.values()) and 'result 1: ' in str(change) and '/dev/fd' not in str(change)
    assert perf_prof.diff(other, result, total=True).rows.to_pylist() == change.rows.to_pylist()
    assert not any(row['change'] for row in result.diff(result, total=True).rows.to_pylist())
    for wrong, error in (perf_prof.results.Counts(['stat'], ''), ValueError), (None, TypeError):
        for operands in (result, wrong), (wrong, result):
            with pytest.raises(error, match='stat: no stacks were collected|argument=None'):
                perf_prof.diff(*operands)
    assert not any('memfd:stacks' in os.path.realpath(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd'))


def test_names_that_there_were_are_there_with_a_warning(perf_prof):
    result, pid = perf_prof.report(CHAINS), rows_of(perf_prof, CHAINS)[0]['_pid']
    uses = {
        'features() is now check()': lambda: perf_prof.features().keys(),
        'stacks of a result is now folded': lambda: result.stacks[0],
        'flame_graph().folded is now folded of the result': lambda: result.flame_graph().folded,
        'pid= is now pids=': lambda: perf_prof.report(CHAINS, pid=pid).words,
        'event= is now events=': lambda: perf_prof.report(CHAINS, event="cpu-clock").words,
    }
    for text, use in uses.items():
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter('always')
            assert use()
        one, = warned
        assert (str(one.message), one.category, one.filename) == (f'{text}, and goes with 0.3.0', DeprecationWarning, __file__)


@pytest.mark.parametrize('time', [5, 5.0, '5s', '5000ms'])
def test_times_are_seconds_or_a_text_everywhere(perf_prof, tmp_path, reader, time):
    reader('pyarrow')
    with perf_prof.open(RECORDING, SWITCH) as s:
        assert len(list(s.aggregate((), interval=time))) == 1
    with perf_prof.open(RECORDING, SWITCH) as s:
        assert perf_prof.sinks.parquet(s, tmp_path / 'set', host='h', date='2026-01-31', max_seconds=time).rows
    options = perf_prof.analyses.COMMANDS['syscalls'].options
    words = {name: perf_prof.analyses._words_of(options[name], time)[0] for name in ('interval', 'than', 'seconds')}
    assert perf_prof.analyses._words_of(options['seconds'], '0.5ms') == ['--seconds=0.0005']
    assert words == {'interval': '--interval=5000', 'than': '--than=5000000000ns', 'seconds': '--seconds=5'}
