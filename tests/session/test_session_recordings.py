# SPDX-License-Identifier: Apache-2.0
"""Recordings as batches."""
import glob
import io
import json
import os
import signal
import subprocess
import sys

import pytest

from known import CORPUS, PATIENCE, RECORDING


@pytest.mark.parametrize('open_it', [
    lambda: RECORDING, lambda: open(RECORDING, 'rb'), lambda: open(RECORDING, 'rb').read(), lambda: io.BytesIO(open(RECORDING, 'rb').read()),
    lambda: memoryview(open(RECORDING, 'rb').read()),
], ids=['path', 'file', 'bytes', 'BytesIO', 'memoryview'])
def test_sources(perf_prof, open_it):
    with perf_prof.open(open_it()) as s:
        assert isinstance(s, perf_prof.Recording) and sum(map(len, s)) == s.stats()['delivered'] > 0


@pytest.mark.parametrize('path', sorted(glob.glob(os.path.join(CORPUS, '*.data'))), ids=os.path.basename)
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


def test_closing_before_the_end(perf_prof):
    s = perf_prof.open(RECORDING)
    s.close()
    assert s.closed


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
