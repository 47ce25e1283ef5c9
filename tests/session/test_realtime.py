# SPDX-License-Identifier: Apache-2.0
"""The column _realtime: the time of day."""
import datetime
import json
import subprocess
import time

import pytest

from known import EVENT, PATIENCE, RECORDING

SLACK = 2e9         # ns: the offset between the clocks is an estimate, worse where others have the CPU


@pytest.fixture
def recorded(prof, storm, live, tmp_path):
    """(a recording that knows the time of day, its events as `script` shows them)"""
    path = tmp_path / 'r.data'
    subprocess.run([prof, 'record', '-q', '-o', path, '-e', EVENT, '--', storm, 'getppid', '300'], check=True, capture_output=True,
                   timeout=PATIENCE)
    done = subprocess.run([prof, 'script', '-I', path, '--json'], check=True, capture_output=True, text=True, timeout=PATIENCE)
    return path, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.live
def test_live(perf_prof, storm, live):
    before = time.time_ns()
    with perf_prof.Session(EVENT, command=[storm, 'getppid', '1000'], fields=['_realtime', '_time']) as s:
        rows = [row for batch in s for row in batch.to_pylist()]
    after = time.time_ns()
    events = [row for row in rows if row['_lost'] is None]
    assert s.columns == ('_time', '_event', '_lost', '_realtime') and len(events) == 1000
    assert before - SLACK < events[0]['_realtime'] <= events[-1]['_realtime'] < after + SLACK
    apart = [row['_realtime'] - row['_time'] for row in events]
    assert max(apart) - min(apart) < SLACK


@pytest.mark.live
def test_of_a_recording_as_script_shows_it(perf_prof, recorded):
    path, events = recorded
    expected = [event['realtime'] for event in events]
    with perf_prof.open(path, fields=['_realtime']) as s:
        assert [event._realtime for event in s.events()] == expected
    with perf_prof.open(path, fields=[f'{EVENT}._realtime']) as s:
        assert [event[f'{EVENT}._realtime'] for event in s.events()] == expected
    with perf_prof.open(path, fields=['_realtime']) as s:
        assert [row['_realtime'] for batch in s.stream(EVENT) for row in batch.to_pylist()] == expected
    with perf_prof.open(path, fields=['_realtime']) as s:
        assert [tuple(row.values())[-2:] for batch in s.aggregate((), ['min(_realtime)', 'max(_realtime)']) for row in batch.to_pylist()
                ] == [(min(expected), max(expected))]


@pytest.mark.live
def test_consumers_see_times(perf_prof, recorded, reader):
    path, events = recorded
    with perf_prof.open(path, fields=['_realtime', '_tid']) as s:
        batch = next(iter(s))
    column, ns = batch['_realtime'], events[0]['realtime']
    assert column.type == 'timestamp' and 'timestamp' in repr(column)
    numpy = reader('numpy')
    array = numpy.asarray(column)
    assert array.dtype == 'datetime64[ns]' and array[0] == numpy.datetime64(ns, 'ns') and len(numpy.asarray(batch[:0]['_realtime'])) == 0
    assert numpy.asarray(batch['_tid']).dtype == 'int32' and len(numpy.asarray(batch[:0]['_tid'])) == 0
    with pytest.raises(BufferError, match='_realtime'):
        memoryview(column)
    pyarrow = reader('pyarrow')
    assert pyarrow.array(column).type == pyarrow.timestamp('ns', 'UTC')
    assert reader('pandas').Series(column).dtype == 'datetime64[ns]'
    assert reader('polars').DataFrame(batch)['_realtime'].dt.epoch('ns')[0] == ns
    shown = datetime.datetime.fromtimestamp(ns // 10 ** 9, datetime.timezone.utc)
    assert f'<td>{shown:%Y-%m-%d %H:%M:%S}.{ns % 10 ** 9:09}</td>' in batch._repr_html_()


@pytest.mark.live
def test_sql(perf_prof, recorded, reader):
    """A query of a recording needs no more than the name."""
    reader('duckdb')
    path, events = recorded
    ns = events[0]['realtime']
    shown = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // 10 ** 9)
    query = "select epoch_ns(min(_realtime)), sum(_period), min(date_trunc('second', _realtime)) from events"
    assert perf_prof.open(path).sql(query).fetchall() == [(ns, len(events), shown)]
    assert '_realtime' not in perf_prof.open(path).sql('select * from events').columns
    assert perf_prof.open(RECORDING).sql('select count(*) > 0 as no_realtime from events').fetchall() == [(True,)]
    with perf_prof.Session(EVENT, seconds=60) as s, pytest.raises(ValueError, match=r'A session has _realtime if its fields=\[...\] name it'):
        s.sql(query)


@pytest.mark.live
def test_parquet_has_microseconds(perf_prof, recorded, reader, tmp_path):
    path, events = recorded
    pyarrow = reader('pyarrow')
    with perf_prof.open(path, fields=['_realtime']) as s:
        perf_prof.sinks.parquet(s, tmp_path / 'set', host='a', date='2026-01-31')
    table = reader('pyarrow.parquet').read_table(tmp_path / 'set')
    assert table.schema.field('_realtime').type == pyarrow.timestamp('us', 'UTC')
    assert [int(one.value) for one in table['_realtime']] == [event['realtime'] // 1000 for event in events]


@pytest.mark.live
def test_losses_have_a_time(perf_prof, storm_of):
    storm = storm_of(200000)
    before = time.time_ns()
    with perf_prof.Session(EVENT, pids=storm.pid, ring=4096, fields=['_realtime', '_time'], seconds=60) as s:
        storm.go()
        storm.process.wait(PATIENCE)        # the rings overflow before anybody reads batches
        rows = [row for batch in s for row in batch.to_pylist() if row['_lost'] is not None]
    assert rows and all(before - SLACK < row['_realtime'] < time.time_ns() + SLACK for row in rows if row['_time'] is not None)


def test_a_recording_without_a_clock(perf_prof):
    with pytest.raises(ValueError, match='there is no _realtime, as the recording does not say how its clock relates to the time of day: use _time'):
        perf_prof.open(RECORDING, fields=['_realtime'])
