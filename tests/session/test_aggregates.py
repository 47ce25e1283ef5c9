# SPDX-License-Identifier: Apache-2.0
"""aggregate(): the same numbers as made from the rows of batches in Python; live, at intervals; what it refuses."""
import collections
import os
import select

import pytest

from known import CORPUS, EVENT, PATIENCE, RECORDING

SWITCH = 'sched:sched_switch'
SEVERAL = [os.path.join(CORPUS, f'{name}-several.data') for name in ('amd64-7', 'armhf-6.1', 'riscv64-6.12')]
FREE = os.path.join(CORPUS, 'trace.data')       # wake-ups and switches


def rows_of(perf_prof, path=RECORDING, **kwargs):
    with perf_prof.open(path, **kwargs) as s:
        return [row for batch in s for row in batch.to_pylist() if row['_lost'] is None]


def sums_of(perf_prof, key=(), values='count()', path=RECORDING, events=None, **kwargs):
    """The rows of all batches."""
    with perf_prof.open(path, events) as s:
        return [row for batch in s.aggregate(key, values, **kwargs) for row in batch.to_pylist()]


def counted(batch):
    """How many events it is of. Rows of losses have no number."""
    return sum(values_in(batch.to_pylist(), 'count()'))


def grouped(rows, *names):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def values_in(rows, name):
    return [row[name] for row in rows if row[name] is not None]


# ---- the same numbers ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('path', SEVERAL, ids=os.path.basename)
def test_numbers_by_several_keys(perf_prof, path):
    found = sums_of(perf_prof, ['prev_comm', '_event', '_cpu'], {
        'n': 'count()', 'woken': 'count(next_prio < 120)', 'total': 'sum(prev_pid)', 'least': 'min(prev_prio - 121)',
        'most': 'max(next_pid)', 'time': 'max(_time)'}, path)
    expected = grouped(rows_of(perf_prof, path), 'prev_comm', '_event', '_cpu')
    assert {(row['prev_comm'], row['_event'], row['_cpu']) for row in found} == set(expected)
    assert len(found) == len(expected) > 3
    for row in found:
        rows = expected[row['prev_comm'], row['_event'], row['_cpu']]
        pids, prios = values_in(rows, 'prev_pid'), values_in(rows, 'prev_prio')
        assert row['_lost'] is None and row['n'] == len(rows)
        assert row['woken'] == sum(prio < 120 for prio in values_in(rows, 'next_prio'))
        assert row['total'] == (sum(pids) if pids else None)
        assert row['least'] == (min(prios) - 121 if prios else None)
        assert row['most'] == max(values_in(rows, 'next_pid'), default=None)
        assert row['time'] == max(row['_time'] for row in rows)


def test_types_and_names_of_columns(perf_prof):
    with perf_prof.open(RECORDING) as s:
        agg = s.aggregate({'cpu': '_cpu', 'odd': 'prev_pid & 1', 'name': 'prev_comm'},
                          ['count()', 'sum(prev_prio)', 'max(_time)'])
        assert isinstance(agg, perf_prof.Aggregate)
        assert agg.columns == ('_time', '_event', '_lost', 'cpu', 'odd', 'name', 'count()', 'sum(prev_prio)', 'max(_time)')
        batch, = agg
        assert [batch[name].type for name in agg.columns] == [
            'uint64', 'text', 'uint64', 'int32', 'int64', 'text', 'uint64', 'int64', 'uint64']
        assert agg.stats()['events'] == s.stats()['delivered'] == sum(batch['count()'].to_pylist())


def test_one_row_of_expressions(perf_prof):
    """With texts; a division by zero has no value."""
    rows = [row for row in rows_of(perf_prof) if row['_event'] == SWITCH]
    with perf_prof.open(RECORDING, SWITCH) as s:
        agg = s.aggregate((), {'n': 'count()', 'inverse': 'sum(1000 / prev_pid)', 'glob': 'count(_comm ~ "p*")',
                               'idle': f'count(prev_comm == "swapper/0" && next_pid && _event == "{SWITCH}")'})
        (found,), = agg
        assert found.n == len(rows) and found.inverse == sum(1000 // row['prev_pid'] for row in rows if row['prev_pid'])
        assert found.idle == sum(row['prev_comm'] == 'swapper/0' and row['next_pid'] != 0 for row in rows) > 0
        assert found.glob == sum((row['_comm'] or '').startswith('p') for row in rows) and found._time == rows[0]['_time']
        assert agg.stats()['no_value'] == sum(not row['prev_pid'] for row in rows) > 0


def test_fields_of_one_type_in_two_events(perf_prof):
    """A column that only some events have."""
    rows = rows_of(perf_prof, FREE)
    found = sums_of(perf_prof, ['_event'], {'wakes': 'sum(target_cpu + 1)', 'n': 'count(next_pid >= 0)'}, FREE)
    wakes, switches = ([row for row in rows if row['_event'] == name] for name in ('sched:sched_wakeup', SWITCH))
    assert {row['_event']: (row['wakes'], row['n']) for row in found} == {
        'sched:sched_wakeup': (sum(row['target_cpu'] + 1 for row in wakes), 0), SWITCH: (None, len(switches))}


# ---- intervals -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('interval', [0.001, 0.05, 1000])
def test_intervals_of_the_recording_s_clock(perf_prof, interval):
    rows, ns = rows_of(perf_prof), int(interval * 1e9)
    begin = rows[0]['_time']
    expected = collections.Counter((begin + (row['_time'] - begin) // ns * ns, row['prev_comm']) for row in rows)
    with perf_prof.open(RECORDING) as s:
        batches = list(s.aggregate('prev_comm', {'n': 'count()'}, interval=interval))
    for batch in batches:
        assert len(set(batch['_time'].to_pylist())) == 1
    assert len({batch['_time'][0] for batch in batches}) == len(batches) == len({time for time, _ in expected})
    assert {(row._time, row.prev_comm): row.n for batch in batches for row in batch} == expected


@pytest.mark.live
def test_fileno(perf_prof, storm_of):
    storm, idle = storm_of(100), storm_of(1)
    with perf_prof.Session(EVENT, pids=[storm.pid, idle.pid]) as s:
        agg = s.aggregate(interval=0.02)
        assert not select.select([agg.fileno()], [], [], 0)[0]
        storm.go()      # the session goes on: the other one has not begun
        n = 0
        while n < 100:
            assert select.select([agg.fileno()], [], [], PATIENCE)[0]
            batch = agg._take()
            n += counted(batch) if batch else 0
        assert n == 100 and not s.closed


# ---- histograms ------------------------------------------------------------------------------------------------------

def log2(value):
    if value < 0:
        low, high = log2(-value)
        return -high, -low
    return (value, value) if value < 2 else (1 << value.bit_length() - 1, (1 << value.bit_length()) - 1)


def linear(value, step=7):
    return value // step * step, value // step * step + step - 1


def loglinear(value, steps=4):
    if value < 0:
        low, high = loglinear(-value)
        return -high, -low
    size = 1 << max(value.bit_length() - steps.bit_length(), 0)
    return value // size * size, value // size * size + size - 1


@pytest.mark.parametrize('how, bucket', [('"log2"', log2), ('"linear", 7', linear), ('"loglinear", 4', loglinear)],
                         ids=['log2', 'linear', 'loglinear'])
@pytest.mark.parametrize('expression, function', [
    ('prev_pid - next_pid', lambda row: row['prev_pid'] - row['next_pid']), ('_time', lambda row: row['_time']),
    ('next_prio', lambda row: row['next_prio'])])
def test_histograms(perf_prof, how, bucket, expression, function):
    rows = [row for row in rows_of(perf_prof) if row['_event'] == SWITCH]
    expected = collections.Counter((row['prev_comm'], *bucket(function(row))) for row in rows)
    found = sums_of(perf_prof, 'prev_comm', {'h': f'histogram({expression}, {how})'}, events=SWITCH)
    assert {(row['prev_comm'], row['h_low'], row['h_high']): row['h'] for row in found} == expected
    assert len(found) == len(expected)
    assert all(low <= function(row) <= high for row in rows for low, high in [bucket(function(row))])   # the test's own


@pytest.mark.parametrize('arguments, bounds', [
    ('9223372036854775807', (1 << 62, (1 << 63) - 1)), ('-9223372036854775807 - 1', (-1 << 63, -1 << 63)),
    ('0', (0, 0)), ('-1', (-1, -1)), ('18446744073709551615', (1 << 63, (1 << 64) - 1)), ('-3', (-3, -2)),
    ('9223372036854775807, "linear", 10', (9223372036854775800, (1 << 63) - 1)),
    ('-9223372036854775807 - 1, "linear", 10', (-1 << 63, -9223372036854775801)),
    ('18446744073709551615, "linear", 10', (18446744073709551610, (1 << 64) - 1)), ('-1, "linear", 10', (-10, -1))])
def test_the_first_and_last_buckets(perf_prof, arguments, bounds):
    row, = sums_of(perf_prof, (), {'h': f'histogram({arguments})'})
    assert (row['h_low'], row['h_high']) == bounds and row['h'] > 0


def test_other_values_beside_a_histogram_are_of_the_bucket(perf_prof):
    rows = [row for row in rows_of(perf_prof) if row['_event'] == SWITCH]
    found = sums_of(perf_prof, (), {'n': 'count()', 'h': 'histogram(next_pid)', 'total': 'sum(next_pid)'}, events=SWITCH)
    expected = grouped([{'bucket': log2(row['next_pid']), 'pid': row['next_pid']} for row in rows], 'bucket')
    assert {(row['h_low'], row['h_high']): (row['n'], row['h'], row['total']) for row in found} == {
        key[0]: (len(rows), len(rows), sum(row['pid'] for row in rows)) for key, rows in expected.items()}


# ---- pairs -----------------------------------------------------------------------------------------------------------

def paired(rows, start, end, start_key, end_key):
    """(row that ends, duration)"""
    begun, found = {}, []
    for row in rows:
        if row['_event'] == end and row[end_key] in begun:
            found.append((row, row['_time'] - begun.pop(row[end_key])))
        if row['_event'] == start:
            begun[row[start_key]] = row['_time']
    return found, len(begun)


@pytest.mark.parametrize('path', SEVERAL, ids=os.path.basename)
def test_pairs_of_one_event(perf_prof, path):
    """How long each task was off its CPU."""
    pair = f'pair("{SWITCH}", "{SWITCH}", prev_pid, next_pid)'
    expected, still = paired(rows_of(perf_prof, path), SWITCH, SWITCH, 'prev_pid', 'next_pid')
    by_comm = grouped([{'comm': row['next_comm'], 'ns': ns} for row, ns in expected], 'comm')
    with perf_prof.open(path) as s:
        agg = s.aggregate('next_comm', {
            'n': f'count({pair})', 'total': f'sum({pair})', 'least': f'min({pair})', 'most': f'max({pair})'})
        found = [row for batch in agg for row in batch]
        stats = agg.stats()
    assert {row.next_comm: (row.n, row.total, row.least, row.most) for row in found} == {
        key[0]: (len(rows), sum(row['ns'] for row in rows), min(row['ns'] for row in rows), max(row['ns'] for row in rows))
        for key, rows in by_comm.items()} and found
    assert stats['open_pairs'] == still and stats['dropped_pairs'] == 0


def test_pairs_of_two_events(perf_prof):
    rows = rows_of(perf_prof, FREE)
    expected, _ = paired(rows, 'sched:sched_wakeup', SWITCH, 'pid', 'next_pid')
    pair = f'pair("sched:sched_wakeup", "{SWITCH}", pid, next_pid)'
    found = sums_of(perf_prof, (), {'h': f'histogram({pair}, "linear", 1000)'}, FREE)
    assert {(row['h_low'], row['h_high']): row['h'] for row in found} == collections.Counter(
        linear(ns, 1000) for _, ns in expected) and found


def test_pairs_that_do_not_fit_are_lost(perf_prof):
    n = sum(row['_event'] == SWITCH for row in rows_of(perf_prof))
    with perf_prof.open(RECORDING, SWITCH) as s:
        agg = s.aggregate((), {'n': 'count()', 'ever': f'count(pair("{SWITCH}", "{SWITCH}", _time, 0))'}, max_keys=20)
        assert [(row._event, row._lost, row.n) for batch in agg for row in batch] == [(None, None, n), ('lost:pairs', n - 20, None)]
        assert agg.stats()['open_pairs'] == 20 and agg.stats()['dropped_pairs'] == n - 20 > 0


@pytest.mark.live
def test_many_pairs(perf_prof, storm_of):
    """The table grows, and gives room back."""
    storm = storm_of(20000)
    enter, leave = EVENT, EVENT.replace('enter', 'exit')
    with perf_prof.Session([enter, leave], pids=storm.pid, ring='16M') as s:
        storm.go()
        agg = s.aggregate('_tid', {'n': f'count(pair("{enter}", "{leave}", _tid))',
                                   'ever': f'count(pair("{enter}", "{leave}", _time, 0))', 'all': 'count()'})
        (row,), = agg
        assert (row._tid, row.n, row.ever, row.all) == (storm.pid, 20000, 0, 40000)
        assert agg.stats()['open_pairs'] == 20000


# ---- losses ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('key', ['prev_pid', 'prev_comm', '_time / 1000'])
def test_keys_that_do_not_fit_are_lost(perf_prof, key):
    rows = rows_of(perf_prof)
    with perf_prof.open(RECORDING, SWITCH) as s:
        agg = s.aggregate({'key': key}, {'n': 'count()'}, max_keys=2)
        found = [row for batch in agg for row in batch]
        stats = agg.stats()
    kept, lost = [row for row in found if row._lost is None], [row for row in found if row._lost is not None]
    assert len(kept) == 2 and [(row._event, row.key, row.n) for row in lost] == [('lost:keys', None, None)]
    assert sum(row.n for row in kept) + lost[0]._lost == sum(row['_event'] == SWITCH for row in rows)
    assert stats['lost_keys'] == lost[0]._lost


def test_what_did_not_fit_begins_again_with_an_interval(perf_prof):
    rows = rows_of(perf_prof)
    found = sums_of(perf_prof, 'prev_comm', {'n': 'count()'}, interval=0.02, max_keys=1)
    assert sum(row['n'] or row['_lost'] for row in found) == len(rows)
    assert len({row['prev_comm'] for row in found if row['_lost'] is None}) > 1


@pytest.mark.live
def test_lost_events_are_rows(perf_prof, storm_of, wait_for):
    n = 400_000         # more than the batches that wait, and a ring of 64 KiB
    storm = storm_of(n)
    with perf_prof.Session(EVENT, pids=storm.pid, ring='64K', order=False, fields=['_tid', '_time']) as s:
        storm.go()
        storm.process.wait(PATIENCE)
        wait_for(lambda: s.stats()['waiting'] >= 1)
        agg = s.aggregate(['_tid', '_event'], {'n': 'count()', 'pairs': f'count(pair("{EVENT}", "{EVENT}", _tid))'})
        rows = [row for batch in agg for row in batch]
        stats = s.stats()
    events, losses = [row for row in rows if row._lost is None], [row for row in rows if row._lost is not None]
    assert [(row._tid, row._event) for row in events] == [(storm.pid, EVENT)]
    assert {row._event for row in losses} <= {'lost:ring', 'lost:tail'} and losses
    assert sum(row._lost for row in losses) == sum(loss['count'] for loss in stats['losses']) == stats['lost'] > 0
    assert {loss['cause'] for loss in stats['losses']} <= {'ring', 'tail'} and events[0].n + stats['lost'] == n
    # each event begins a pair, which ends, is dropped because of a loss, or is open; not in order: no value
    stats = agg.stats()
    assert events[0].pairs + stats['dropped_pairs'] + stats['open_pairs'] + stats['no_value'] == events[0].n
    assert stats['dropped_pairs'] > 0


def test_a_damaged_recording_gives_what_it_has_then_an_error(perf_prof):
    with open(RECORDING, 'rb') as file:
        data = file.read()
    with perf_prof.open(data[:len(data) // 2]) as s:
        agg = s.aggregate()
        assert sum(row['count()'] or 0 for row in next(agg)) > 0
        with pytest.raises(RuntimeError, match='<bytes>'):
            next(agg)
        with pytest.raises(StopIteration):
            next(agg)


# ---- consumers -------------------------------------------------------------------------------------------------------

def test_a_stream_of_intervals(perf_prof, reader):
    """Of an aggregate that nobody refers to any more."""
    polars, pyarrow, duckdb = map(reader, ('polars', 'pyarrow', 'duckdb'))
    rows = rows_of(perf_prof)
    agg = perf_prof.open(RECORDING).aggregate('_cpu', {'n': 'count()'}, interval=0.05)
    sums = pyarrow.RecordBatchReader.from_stream(agg)        # noqa: F841
    with pytest.raises(ValueError, match='once'):
        agg.__arrow_c_stream__()
    del agg
    assert duckdb.sql('select sum(n)::bigint, count(distinct _time) > 1 from sums').fetchall() == [(len(rows), True)]
    with perf_prof.open(RECORDING) as s:
        assert polars.DataFrame(s.aggregate('prev_comm', {'n': 'count()'}, interval=0.05))['n'].sum() == len(rows)


# ---- what it refuses -------------------------------------------------------------------------------------------------

WRONG = [
    ({'key': 'prev_com'}, ValueError,
     r'key=prev_com: there is no field prev_com; did you mean prev_comm\?\n  prev_com\n  \^\n'),
    ({'key': ['_cpu', 'prev_pid +']}, ValueError, r'ends too early\n  prev_pid \+\n            \^'),
    ({'key': 'prev_pid ? prev_comm : next_comm'}, ValueError, 'this is a text'),
    ({'key': '_lost'}, ValueError, 'there is no field _lost'),
    ({'key': ['_cpu', '_cpu']}, ValueError, 'two columns of the result have the name _cpu'),
    ({'key': '_time'}, ValueError, 'two columns of the result have the name _time: name them by a dict'),
    ({'key': {'n': '_cpu'}, 'values': {'n': 'count()'}}, ValueError, 'the name n'),
    ({'key': 5}, TypeError, 'key=5: expected a str'),
    ({'key': {'a': 5}}, TypeError, "key={'a': 5}: expected"),
    ({'key': ['_cpu'] * 64}, ValueError, '64 keys, at most 63'),
    ({'values': []}, ValueError, 'values: there are none'),
    ({'values': 'sum(prev_pd)'}, ValueError, r'did you mean prev_pid\?\n  sum\(prev_pd\)\n      \^'),
    ({'values': 'sm(prev_pid)'}, ValueError, r'did you mean sum\(\)\?'),
    ({'values': 'prev_pid'}, ValueError, r'expected: count\(\), sum\(\)'),
    ({'values': 'sum()'}, ValueError, r'sum\(\) has 0 arguments'),
    ({'values': 'count(1, 2)'}, ValueError, r'count\(\) has 2 arguments'),
    ({'values': 'sum(prev_comm)'}, ValueError, 'prev_comm is a text\n  sum.prev_comm.\n      \\^\nexpected: a number'),
    ({'values': 'sum(count())'}, ValueError, r'there is no function count\(\)'),
    ({'values': 'histogram(prev_pid, "log3")'}, ValueError, 'not a kind of histogram'),
    ({'values': 'histogram(prev_pid, "log2", 3)'}, ValueError, 'wrong number of arguments for "log2"'),
    ({'values': 'histogram(prev_pid, "linear", 0)'}, ValueError, 'not the size of a bucket'),
    ({'values': 'histogram(prev_pid, "linear", prev_pid)'}, ValueError, 'not the size of a bucket'),
    ({'values': 'histogram(prev_pid, "loglinear", 3)'}, ValueError, '1, 2, 4, 8'),
    ({'values': ['histogram(prev_pid)', 'histogram(next_pid)']}, ValueError, 'there is a histogram already'),
    ({'values': f'sum(pair("{SWITCH}", "{SWITCH}", prev_pid) / 1000)'}, ValueError, r'pair\(\) cannot be a part.*expected: pair\(\) alone'),
    ({'values': 'sum(pair(1, 2))'}, ValueError, r'pair\(\) has 2 arguments'),
    ({'values': f'sum(pair("{SWITCH}", "sched:sched_swich", prev_pid))'}, ValueError,
     r'no event sched:sched_swich; did you mean sched:sched_switch\?'),
    ({'values': f'sum(pair("{SWITCH}", cpu, prev_pid))'}, ValueError, 'not the name of an event'),
    ({'values': f'sum(pair("{SWITCH}", "cpu-clock", prev_pid))'}, ValueError,
     'cpu-clock has no prev_pid.*two keys: pair'),
    ({'values': f'sum(pair("cpu-clock", "{SWITCH}", ip + 1, next_pid + ip))'}, ValueError, f'{SWITCH} has no ip'),
    ({'values': f'sum(pair("{SWITCH}", "{SWITCH}", prev_comm))'}, ValueError, 'prev_comm is a text'),
    ({'interval': 0}, ValueError, 'interval=0: expected a number above 0'),
    ({'interval': float('nan')}, ValueError, 'interval=nan'),
    ({'interval': '1'}, TypeError, "interval='1'"),
    ({'max_keys': 0}, ValueError, 'max_keys=0'),
    ({'max_keys': 1 << 25}, ValueError, 'max_keys=33554432: expected 1 to 16777216'),
    ({'max_keys': (1 << 64) + 1}, ValueError, 'max_keys=18446744073709551617: expected 1 to'),
    ({'max_keys': 1.5}, TypeError, 'max_keys=1.5'),
    ({'bogus': 1}, TypeError, 'bogus'),
]


@pytest.mark.parametrize('kwargs, kind, message', WRONG, ids=lambda value: str(value)[:40] if isinstance(value, dict) else '')
def test_wrong(perf_prof, kwargs, kind, message):
    """And the session can be read as if nothing had been asked."""
    with perf_prof.open(RECORDING) as s:
        with pytest.raises(kind, match=f'(?s){message}'):
            s.aggregate(**kwargs)
        assert sum(map(len, s)) > 0


def test_columns_that_the_session_does_not_have(perf_prof):
    with perf_prof.open(RECORDING, fields=['_tid']) as s:
        with pytest.raises(ValueError, match='interval: the session has no column _time: name it in fields'):
            s.aggregate(interval=1)
        with pytest.raises(ValueError, match='needs the column _time'):
            s.aggregate(values=f'sum(pair("{SWITCH}", "{SWITCH}", _tid))')
        with pytest.raises(ValueError, match='there is no field prev_pid'):
            s.aggregate('prev_pid')
        assert s.aggregate('_tid').columns == ('_event', '_lost', '_tid', 'count()')


def test_a_session_that_was_read_or_is_aggregated(perf_prof):
    for read in next, perf_prof.Recording.__arrow_c_stream__:
        with perf_prof.open(RECORDING) as s:
            kept = read(s)
            with pytest.raises(ValueError, match='were read already.*make another session'):
                s.aggregate()
            del kept
    s.close()
    with pytest.raises(ValueError, match='the session is closed'):
        s.aggregate()
    with perf_prof.open(RECORDING) as s:
        agg = s.aggregate()
        with pytest.raises(ValueError, match='has an aggregate.. already'):
            s.aggregate()
        for use in next, iter, perf_prof.Recording.__arrow_c_stream__:
            with pytest.raises(ValueError, match=r'go to its aggregate\(\)'):
                use(s)
        assert len(list(agg)) == 1


@pytest.mark.live
def test_closing_the_session_ends_the_aggregate(perf_prof, live):
    s = perf_prof.Session(SWITCH)
    agg = s.aggregate('_cpu', interval=0.01)
    n = counted(next(agg))
    s.close()
    n += sum(map(counted, agg))     # those that were ready
    assert n == s.stats()['delivered'] == agg.stats()['events']


def test_it_begins_once_and_is_not_pickled(perf_prof):
    import pickle
    with perf_prof.open(RECORDING) as s:
        agg = s.aggregate()
        with pytest.raises(RuntimeError, match='begun already'):
            agg.__init__(s, (), (('n', 'count()'),), 0, 1, False)
        with pytest.raises(TypeError, match='cannot be pickled'):
            pickle.dumps(agg)
        with pytest.raises(TypeError):
            perf_prof.Aggregate(5, (), (), 0, 1, False)
        with pytest.raises(ValueError, match='has not begun'):
            next(perf_prof.Aggregate.__new__(perf_prof.Aggregate))


def test_an_interval_in_which_nothing_has_a_value(perf_prof):
    """It gives no row, and is no error: some intervals have events without that field alone."""
    def sums(**interval):
        with perf_prof.open(RECORDING) as s:
            return [row['sum(next_prio)'] for batch in s.aggregate((), 'sum(next_prio)', **interval) for row in batch
                    if row['_lost'] is None]
    parts, [whole] = sums(interval=0.0001), sums()
    assert sum(parts) == whole > 0 and len(parts) > 1
