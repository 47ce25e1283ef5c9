# SPDX-License-Identifier: Apache-2.0
"""Recordings as batches."""
import concurrent.futures
import glob
import io
import json
import os
import signal
import struct
import subprocess
import sys
import types
import warnings

import pytest

from known import CORPUS, PATIENCE, RECORDING

FREQ = 1 << 10      # of the flags in perf_event_attr


@pytest.mark.parametrize('open_it', [
    lambda: RECORDING, lambda: open(RECORDING, 'rb'), lambda: open(RECORDING, 'rb').read(), lambda: io.BytesIO(open(RECORDING, 'rb').read()),
    lambda: memoryview(open(RECORDING, 'rb').read()),
], ids=['path', 'file', 'bytes', 'BytesIO', 'memoryview'])
def test_sources(perf_prof, open_it):
    with perf_prof.open(open_it()) as s:
        assert isinstance(s, perf_prof.Recording) and sum(map(len, s)) == s.stats()['delivered'] > 0


@pytest.mark.parametrize('path', sorted(glob.glob(os.path.join(CORPUS, '*.data'))), ids=os.path.basename)
@pytest.mark.live
def test_rows_are_what_script_prints(perf_prof, prof, path):
    """The same events, in the same order, with the same values."""
    if 'group' in path or 'pmu' in path:
        pytest.skip('script prints the counts of a group as events of their own, as perf does')
    done = subprocess.run([prof, 'script', '-I', path, '--json'], capture_output=True, text=True, timeout=60)
    expected = [json.loads(line) for line in done.stdout.splitlines()]
    try:
        with perf_prof.open(path) as s:
            rows = [row for batch in s for row in batch.to_pylist() if row['_lost'] is None]
    except RuntimeError:
        assert done.returncode        # neither can read it to the end
        return
    expected = [event for event in expected if 'time' in event and 'event' in event]
    assert len(rows) == len(expected) > 0
    for row, event in zip(rows, expected):
        assert (row['_event'], row['_tid']) == (event['event'], event['tid'])
        assert row['_comm'] == event['comm'] or row['_comm'] is None and event['comm'] == f':{event["tid"]}'


def test_a_second_loop_is_told(perf_prof, reader):
    with perf_prof.open(RECORDING) as s:
        assert sum(map(len, s)) > 0
        with pytest.warns(UserWarning, match='all batches of this session were read already'):
            assert list(s) == []
        with warnings.catch_warnings(), concurrent.futures.ThreadPoolExecutor(1) as pool:
            warnings.simplefilter('error')
            assert pool.submit(list, s).result() == []      # threads that share a session


@pytest.mark.parametrize('use', [
    list, lambda s: list(s.events()), lambda s: s.run(types.SimpleNamespace(__sample__=print)),
], ids=['loop', 'events', 'run'])
def test_the_second_loop_that_is_told_is_that_of_the_caller(perf_prof, use):
    """Once for each line: of lines of the package Python would show only the first."""
    with perf_prof.open(RECORDING, fields=['_time']) as s:
        list(s)
        with pytest.warns(UserWarning, match='all batches of this session were read already') as warned:
            use(s)
        assert [warning.filename for warning in warned] == [__file__]


def test_a_stream_of_what_was_read_in_part_is_told(perf_prof, reader, tmp_path):
    pyarrow = reader('pyarrow')
    with perf_prof.open(RECORDING) as s:
        first = len(next(iter(s)))
        with pytest.warns(UserWarning, match='batches of this session were read before'):
            rest = pyarrow.RecordBatchReader.from_stream(s).read_all()
        assert first + len(rest) == s.stats()['delivered']
        with pytest.warns(UserWarning, match='the batches of this session went to an Arrow stream'):
            perf_prof.sinks.parquet(s, tmp_path / 'set', host='a', date='2026-01-31')


@pytest.mark.parametrize('choice, message', [({'time': '1,2'}, 'no event in the time that time= selects: its events begin at'),
                                             ({'pids': 4194303}, 'no event from the tasks and CPUs that pids=, tids= and cpus= select')])
def test_a_choice_of_nothing_is_told(perf_prof, choice, message):
    with perf_prof.open(RECORDING, **choice) as s:
        assert list(s) == [] and any(message in note for note in s.notes), s.notes


def resampled(data, period, frequency):
    """The recording as if its recorder had taken samples of each event: the attributes say so."""
    data, (size, at, length) = bytearray(data), struct.unpack_from('<QQQ', data, 16)
    for attr in range(at, at + length, size):
        flags = struct.unpack_from('<Q', data, attr + 40)[0] & ~FREQ
        struct.pack_into('<Q', data, attr + 16, frequency or period)
        struct.pack_into('<Q', data, attr + 40, flags | (FREQ if frequency else 0))
    return bytes(data)


@pytest.mark.parametrize('period, frequency', [(1, 0), (100, 0), (0, 4000)])
def test_tracepoints_that_were_sampled_are_told(perf_prof, period, frequency):
    """(With a period, perf gets each event all the same.)"""
    with perf_prof.open(resampled(open(RECORDING, 'rb').read(), period, frequency), 'sched:sched_switch') as s:
        assert sum(map(len, s)) > 0
        told = 'has only samples of sched:sched_switch: pairs, waits and numbers of events are incomplete'
        assert [told in note for note in s.notes if 'only samples' in note] == ([True] if frequency else [])


def test_numbers_of_numpy(perf_prof, reader):
    numpy = reader('numpy')
    with perf_prof.open(RECORDING) as s:
        pid = next(s.events())._pid
    for pids in pid, numpy.int64(pid), numpy.array([pid]):
        with perf_prof.open(RECORDING, pids=pids, fields=['_pid']) as s:
            assert {event._pid for event in s.events()} == {pid}


def test_choice(perf_prof):
    with perf_prof.open(RECORDING) as s:
        rows = [row for batch in s for row in batch.to_pylist()]
    name = next(row['_event'] for row in rows if ':' in row['_event'])
    with perf_prof.open(RECORDING, name, fields=['_tid']) as s:
        assert [event._tid for event in s.events()] == [row['_tid'] for row in rows if row['_event'] == name]
    tid = rows[0]['_tid']
    with perf_prof.open(RECORDING, tids=tid, fields=['_tid']) as s:
        assert {event._tid for event in s.events()} == {tid}


def test_a_cut_recording_gives_what_it_has_then_an_error(perf_prof):
    data = open(RECORDING, 'rb').read()
    with perf_prof.open(data[:len(data) // 2]) as s:
        rows = 0
        with pytest.raises(RuntimeError, match='<bytes>'):
            for batch in s:
                rows += len(batch)
        with pytest.raises(StopIteration):
            next(s)         # reported once
    assert rows > 0         # those before the cut


def test_ctrl_c_while_a_pipe_is_silent(folder):
    with subprocess.Popen([sys.executable, '-c', '''
import sys, perf_prof
try:
    print('ready', flush=True)
    perf_prof.open(sys.stdin.buffer)
except KeyboardInterrupt: print('interrupted', flush=True)
'''], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, 'PYTHONPATH': folder}) as child:
        try:
            assert child.stdout.readline() == 'ready\n'
            child.send_signal(signal.SIGINT)
            assert child.wait(PATIENCE) == 0 and child.stdout.read() == 'interrupted\n'
        finally:
            child.kill()


def test_a_field_with_a_similar_name_is_suggested(perf_prof):
    rows = (row for batch in perf_prof.open(os.path.join(CORPUS, 'amd64-7-several.data')) for row in batch)
    row = next(row for row in rows if 'prev_comm' in row)
    with pytest.raises(AttributeError, match="no field 'prev_com'; did you mean 'prev_comm'?"):
        row.prev_com
    with pytest.raises(AttributeError, match=r"has no field 'zzzzzzz'; event\.keys\(\) lists them"):
        row.zzzzzzz


def test_another_python_is_told_for_which_one_it_was_built(perf_prof, tmp_path):
    package = os.path.dirname(perf_prof.__file__)
    (tmp_path / 'perf_prof').mkdir()
    (tmp_path / 'perf_prof/__init__.py').write_bytes(open(os.path.join(package, '__init__.py'), 'rb').read())
    (tmp_path / 'perf_prof/_native.cpython-30-none.so').write_bytes(b'')
    done = subprocess.run([sys.executable, '-c', 'import perf_prof'], env={**os.environ, 'PYTHONPATH': str(tmp_path)}, cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert 'ImportError: perf_prof in ' in done.stderr
    assert f'was built for another Python (_native.cpython-30-none.so); this is {sys.implementation.cache_tag}' in done.stderr
