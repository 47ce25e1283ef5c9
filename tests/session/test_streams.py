# SPDX-License-Identifier: Apache-2.0
"""stream(): the rows of one event, with its own columns; several of one session, and the ways to read them."""
import gc
import glob
import os
import select
import sys

import pytest

from known import CORPUS, PATIENCE, RECORDING, lossy

sys.path.insert(0, CORPUS)
import foreign  # noqa: E402

SWITCH, WAKEUP = 'sched:sched_switch', 'sched:sched_wakeup'
COMMON = ('_time', '_cpu', '_pid', '_tid', '_comm', '_event', '_lost')
TRACE = os.path.join(CORPUS, 'trace.data')       # wake-ups and switches
ALL = sorted(glob.glob(os.path.join(CORPUS, '*.data')))
ENTER, EXIT = 'syscalls:sys_enter_getppid', 'syscalls:sys_exit_getppid'


def rows_of(source):
    return [row for batch in source for row in batch.to_pylist()]


def expected_of(perf_prof, path, event, columns, **kwargs):
    with perf_prof.open(path, **kwargs) as s:
        return [{name: row.get(name, row.get(f'{event}.{name}')) for name in columns} for row in rows_of(s)
                if row['_event'] == event or row['_lost'] is not None]


# ---- rows and columns ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('path', ALL, ids=os.path.basename)
def test_rows_are_those_of_the_event(perf_prof, path):
    with perf_prof.open(path) as s:
        streams = {name: s.stream(name) for name in s.event_names}
        for name, stream in streams.items():
            assert isinstance(stream, perf_prof.Stream) and stream.event == name
            rows = rows_of(stream)
            assert rows == expected_of(perf_prof, path, name, stream.columns)
            assert stream.stats() == {'rows': len(rows), 'waiting': 0, 'dropped': 0}
        assert streams


def test_an_event_has_its_own_columns_alone(perf_prof):
    with perf_prof.open(TRACE) as s:
        wakeups, switches = s.stream(WAKEUP), s.stream(SWITCH)
        assert s.event_names == (WAKEUP, SWITCH) or s.event_names == (SWITCH, WAKEUP)
        assert wakeups.columns == (*COMMON, 'comm', 'pid', 'prio', 'target_cpu')
        assert switches.columns == (*COMMON, 'prev_comm', 'prev_pid', 'prev_prio', 'prev_state', 'next_comm', 'next_pid', 'next_prio')
        for stream in wakeups, switches:
            for batch in stream:
                assert batch.columns == stream.columns
                assert {name: batch[name].null_count for name in batch.columns if batch[name].null_count} == {'_lost': len(batch)}


def test_fields_choose_columns(perf_prof):
    with perf_prof.open(TRACE, fields=['_tid', 'next_pid', 'pid']) as s:
        assert s.stream(SWITCH).columns == ('_tid', '_event', '_lost', 'next_pid')
        assert s.stream(WAKEUP).columns == ('_tid', '_event', '_lost', 'pid')


FORMAT = '''name: {name}
ID: {ident}
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:{kind} value;\toffset:8;\tsize:4;\tsigned:{signed};

print fmt: "%d", REC->value
'''


def recording(*events):
    """Of (name, id, signed, [value, ...]), whose samples come by turns."""
    r = foreign.Recorder(False, 8)
    common = foreign.IP | foreign.TID | foreign.TIME | foreign.CPU | foreign.PERIOD | foreign.IDENTIFIER
    formats = {name: FORMAT.format(name=name.split(':')[1], ident=ident, kind='int' if signed else 'unsigned int', signed=signed)
               for name, ident, signed, _ in events}
    samples = []
    for at, (name, ident, signed, values) in enumerate(events):
        for turn, value in enumerate(values):
            time = 1000 + turn * len(events) + at
            raw = r.pack('HBBii' if signed else 'HBBiI', ident, 0, 0, 500, value)
            samples.append((time, r.record(9, 1, r.pack('QQIIQIIQ', 11 + at, 0xc0001000, 500, 500, time, 0, 0, 1) +
                                           r.pack('I', len(raw)) + raw)))
    assert all(len(sample) % 8 == 0 for _, sample in samples)
    attrs = [(r.attr(2, ident, common | foreign.RAW, r.flags('disabled', 'sample_id_all')), [11 + at], name)
             for at, (name, ident, _, _) in enumerate(events)]
    data = b''.join(sample for _, sample in sorted(samples))
    return foreign.file_of(r, attrs, data, foreign.machine(r, 'x86_64') | {1: r.tracing(*formats.values())})


def test_a_field_of_two_types_has_its_own_name(perf_prof):
    """The session has a column EVENT.NAME for each."""
    with perf_prof.open(recording(('sched:one', 400, 1, [-1, -2]), ('sched:two', 401, 0, [1 << 31]))) as s:
        one, two = s.stream('sched:one'), s.stream('sched:two')
        assert s.columns == (*COMMON, 'sched:one.value', 'sched:two.value')
        assert one.columns == two.columns == (*COMMON, 'value')
        assert [batch['value'].type for batch in two] == ['uint32']
        assert [row['value'] for row in rows_of(one)] == [-1, -2]


def test_two_events_of_one_name(perf_prof):
    """A recording can have them: the stream has both."""
    with perf_prof.open(recording(('sched:one', 400, 1, [1, 2]), ('sched:one', 400, 1, [3]), ('sched:two', 401, 1, [4]))) as s:
        assert s.event_names == ('sched:one', 'sched:two')
        stream = s.stream('sched:one')
        assert stream.columns == (*COMMON, 'value') and [row['value'] for row in rows_of(stream)] == [1, 3, 2]


def test_losses_of_other_cpus(perf_prof):
    """They are not reported where cpus= leaves out their events. Of which CPU the last ones are is not known."""
    data = lossy()
    for cpus, ring in ((None, [(0, 10), (1, 11)]), ([0], [(0, 10)]), ([1], [(1, 11)]), ([5], [])):
        with perf_prof.open(data, cpus=cpus) as s:
            rows = [row for batch in s for row in batch.to_pylist() if row['_lost'] is not None]
            assert sorted((row['_cpu'], row['_lost']) for row in rows if row['_event'] == 'lost:ring') == ring
            tail, = (row for row in rows if row['_event'] == 'lost:tail')
            assert (tail['_lost'], tail['_time'], tail['_cpu']) == (4, 1019, None), (cpus, tail)
            assert s.stats()['lost'] == sum(n for _, n in ring) + 4


def test_events_one_by_one(perf_prof):
    with perf_prof.open(TRACE) as s:
        events = [event for event in s.stream(WAKEUP).events()]
    assert events and all('prev_comm' not in event and event.get('prev_comm', 7) == 7 for event in events)
    event = events[0]
    assert len(event) == len(event.keys()) == len(event.values()) and dict(event.items()) == dict(iter(event)) == event.to_dict()
    assert 'target_cpu' in event and event.get('target_cpu') == event.target_cpu and event.get('nothing') is None


# ---- what it refuses -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('name, near', [('sched:sched_swich', SWITCH), ('sched_wakeup', WAKEUP), ('nothing', None)])
def test_unknown_events(perf_prof, name, near):
    with perf_prof.open(TRACE) as s:
        with pytest.raises(ValueError, match=f'the session has no event {name}' + (f'; did you mean {near}' if near else '; it has: ')):
            s.stream(name)
        assert sum(map(len, s)) == 27     # and can be read in another way


@pytest.mark.parametrize('kwargs, error', [({'event': 3}, TypeError), ({'event': SWITCH, 'buffer': '1M'}, TypeError),
                                           ({'event': SWITCH, 'buffer': 0}, ValueError), ({'event': SWITCH, 'buffer': True}, TypeError)])
def test_wrong_parameters(perf_prof, kwargs, error):
    with perf_prof.open(TRACE) as s, pytest.raises(error, match='expected'):
        s.stream(**kwargs)


def test_streams_take_the_batches_of_the_session(perf_prof):
    with perf_prof.open(TRACE) as s:
        stream = s.stream(SWITCH)
        for use in (lambda: next(s), lambda: iter(s), lambda: s.aggregate(), s.__arrow_c_stream__, lambda: s.run(object()),
                    lambda: s._choose(None, None)):
            with pytest.raises(ValueError, match='go to its stream'):
                use()
        assert rows_of(stream)
    with perf_prof.open(TRACE) as s:
        s.aggregate()
        with pytest.raises(ValueError, match='go to its aggregate'):
            s.stream(SWITCH)
    with perf_prof.open(TRACE) as s:
        next(s)
        with pytest.raises(ValueError, match='read already'):
            s.stream(SWITCH)


def test_a_late_stream_would_lack_rows(perf_prof):
    with perf_prof.open(TRACE) as s:
        stream = s.stream(SWITCH)
        next(stream)
        with pytest.raises(ValueError, match='make all streams first'):
            s.stream(WAKEUP)


def test_single_use(perf_prof, reader):
    with perf_prof.open(TRACE) as s:
        stream, other = s.stream(SWITCH), s.stream(SWITCH)
        rows = rows_of(stream)
        assert rows and rows_of(stream) == [] and stream._take() is False
        assert rows_of(other) == rows       # two of one event: each has all its rows
        stream.__arrow_c_stream__()
        with pytest.raises(ValueError, match='once'):
            stream.__arrow_c_stream__()


def test_after_the_session(perf_prof):
    with perf_prof.open(TRACE) as s:
        stream, other = s.stream(SWITCH), s.stream(WAKEUP)
        batch = next(stream)
    for use in lambda: iter(stream), stream.fileno, stream.__arrow_c_stream__:
        with pytest.raises(ValueError, match='the session is closed'):
            use()
    for one in stream, other:       # what nobody took is dropped
        with pytest.raises(StopIteration):
            next(one)
    assert batch[0]._event == SWITCH and other.columns


def test_streams_live_on(perf_prof):
    """The session's object may go, and streams of no one are forgotten."""
    stream = perf_prof.open(TRACE).stream(SWITCH)
    gc.collect()
    assert rows_of(stream)
    s = perf_prof.open(TRACE)
    for _ in range(100):
        s.stream(WAKEUP)
    stream = s.stream(SWITCH)
    del s
    gc.collect()
    assert rows_of(stream)


def test_close_of_a_stream(perf_prof):
    with perf_prof.open(TRACE) as s:
        stream, other = s.stream(SWITCH), s.stream(WAKEUP)
        other.close()
        assert rows_of(stream) and rows_of(other) == []


def test_forks(perf_prof):
    with perf_prof.open(TRACE) as s, perf_prof.open(TRACE) as other:
        stream, sums = s.stream(SWITCH), other.aggregate()
        for use in lambda: next(stream), lambda: next(sums), sums.stats:
            child = os.fork()
            if not child:
                try:
                    use()
                except RuntimeError as error:
                    os._exit('fork' not in str(error))
                os._exit(2)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert rows_of(stream) and rows_of(sums)


# ---- several at once -------------------------------------------------------------------------------------------------

def test_errors_reach_each_stream(perf_prof):
    with open(RECORDING, 'rb') as f:
        data = f.read()
    with perf_prof.open(data[:len(data) // 2]) as s:
        for stream in [s.stream(name) for name in s.event_names]:
            with pytest.raises(RuntimeError, match='<bytes>'):
                rows_of(stream)
            assert rows_of(stream) == []


@pytest.mark.deep
@pytest.mark.live
def test_losses_are_rows_of_each_stream(perf_prof, storm_of, wait_for):
    n = 3_000_000       # more than the batches that wait, and a ring of 64 KiB
    storm = storm_of(n)
    with perf_prof.Session([ENTER, EXIT], pids=storm.pid, ring='64K', order=False, fields=['_tid']) as s:
        streams = [s.stream(ENTER), s.stream(EXIT)]
        storm.go()
        storm.process.wait(PATIENCE)
        wait_for(lambda: s.stats()['waiting'] == 4)
        losses = []
        for stream in streams:
            rows = [row for row in rows_of(stream) if row['_lost'] is not None]
            assert {row['_event'] for row in rows} <= {'lost:ring', 'lost:tail'} and not stream.stats()['dropped']
            losses.append([(row['_event'], row['_lost']) for row in rows])
        assert losses[0] == losses[1] and sum(count for _, count in losses[0]) == s.stats()['lost'] > 0


@pytest.mark.live
def test_what_was_dropped_stands_where_it_is_missing(perf_prof, storm_of):
    n = 70_000          # of each event: three batches at least. Who reads one does not wait for the other.
    storm = storm_of(n)
    with perf_prof.Session([ENTER, EXIT], pids=storm.pid, ring='16M', fields=['_time', '_tid']) as s:
        read, other = s.stream(ENTER), s.stream(EXIT, buffer=1)
        storm.go()
        first = next(other)
        while not other.stats()['dropped']:
            next(read)
        stats = other.stats()
        rows = [*first.to_pylist(), *rows_of(other)]
        loss = next(row for row in rows if row['_event'] == 'lost:stream')
        assert other.losses.to_pylist() == [dict(start=None, end=None, cpu=None, cause='stream', count=other.stats()['dropped'])]
        assert loss['_tid'] is None and stats['dropped'] > 0 and stats['waiting'] > 0
        assert sum(1 if row['_lost'] is None else row['_lost'] for row in rows) == n and s.stats()['lost'] == 0
        times = [row['_time'] for row in rows]
        assert times == sorted(times) and {row['_event'] for row in rows} == {EXIT, 'lost:stream'}


@pytest.mark.live
def test_fileno(perf_prof, storm_of):
    storm = storm_of(100)
    with perf_prof.Session([ENTER, EXIT], pids=storm.pid) as s:
        streams = [s.stream(ENTER), s.stream(EXIT)]
        assert not select.select(streams, [], [], 0)[0] and streams[0]._take() is None
        storm.go()
        assert select.select(streams, [], [], PATIENCE)[0]
        batch = next(streams[0])
        assert len(batch) and select.select([streams[1]], [], [], PATIENCE)[0]     # its rows came with those
        assert next(streams[1])[0]._event == EXIT


# ---- consumers -------------------------------------------------------------------------------------------------------

def test_consumers_of_arrow(perf_prof, reader):
    polars, pyarrow, duckdb = reader('polars'), reader('pyarrow'), reader('duckdb')
    with perf_prof.open(TRACE) as s:
        one, two = s.stream(WAKEUP), s.stream(SWITCH)
        assert pyarrow.schema(two).names == list(two.columns)
        tables = [pyarrow.RecordBatchReader.from_stream(stream) for stream in (one, two)]      # before either is read
        two, one = (table.read_all() for table in tables[::-1])
        for table in one, two:
            table.validate(full=True)
            assert {name: table[name].null_count for name in table.column_names if table[name].null_count} == {'_lost': len(table)}
    with perf_prof.open(TRACE) as s:
        frame, switches = polars.DataFrame(s.stream(WAKEUP)), s.stream
    assert frame.to_dicts() == one.to_pylist() and switches
    with perf_prof.open(TRACE) as s:
        events = s.stream(SWITCH)
        assert duckdb.sql('select count(*), min(next_prio) from events').fetchall() == [
            (len(two), min(two['next_prio'].to_pylist()))]
