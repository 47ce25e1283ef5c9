# SPDX-License-Identifier: Apache-2.0
"""However many batches there are, and whatever is done with them: memory stays flat, and no reference is left."""
import json
import os
import subprocess
import sys

import pytest

from known import EVENT, PATIENCE, RECORDING
from many_batches import CONSUMERS

# Sanitizers keep what is free: how much memory there is, a plain run tells.
pytestmark = pytest.mark.slow

HERE = os.path.dirname(os.path.abspath(__file__))
FEW, MILLION = 20000, 1000000
SOME = 128 << 10    # bytes; with one arena, malloc's own share varies less


@pytest.fixture
def go_through(folder, reader):
    """go_through(NUMBER, CONSUMER...): what many_batches.py says."""
    def run(number, *names):
        if any('arrow' in name or 'numpy' in name for name in names):
            reader('pyarrow')
        done = subprocess.run([sys.executable, os.path.join(HERE, 'many_batches.py'), RECORDING, os.path.join(HERE, 'readers', 'python'),
                               str(number), *names], capture_output=True, text=True, timeout=PATIENCE * max(1, number // 20000),
                              env={**os.environ, 'PYTHONPATH': folder, 'MALLOC_ARENA_MAX': '1'})
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return run


def grown(after, what):
    """Of two parts, the one in which less was added: a table of the interpreter grows in one of them."""
    return min(after[1][what] - after[0][what], after[2][what] - after[1][what])


def check(said, number):
    after = said['after']
    assert said['batches'] >= number
    if after[0]['malloc'] is not None:
        assert grown(after, 'malloc') < SOME, said
    assert grown(after, 'blocks') < number // 20, said       # of one lost in each batch there would be `number`
    assert grown(after, 'resident') < 64 * SOME, said       # what malloc keeps varies
    for what in 'types', 'threads', 'descriptors':
        assert after[0][what] == after[2][what], (what, said)


@pytest.mark.deep
@pytest.mark.parametrize('consumer', CONSUMERS)
def test_memory_stays_flat(go_through, consumer):
    check(go_through(FEW, consumer), FEW)


@pytest.mark.soak
def test_a_million_batches(go_through):
    check(go_through(MILLION, *CONSUMERS), MILLION)


@pytest.mark.live
@pytest.mark.deep
def test_full_batches_use_the_same_memory_again(folder, storm_of):
    """Of a live session: what waits, what is kept, and what is being filled, at most; not all that there were."""
    n, kept = 2_000_000, 3
    storm = storm_of(n)
    code = f'''
import collections, sys
sys.path.append({HERE!r})
import perf_prof
from many_batches import malloced
before, most, kept, rows = malloced(), 0, collections.deque(maxlen={kept}), 0
with perf_prof.Session({EVENT!r}, pids={storm.pid}, ring='16M', order=False, fields=['_time', '_tid', '_cpu', '__syscall_nr']) as s:
    print('ready', flush=True)
    for batch in s:
        rows += sum(lost or 1 for lost in batch['_lost']) if batch['_lost'].null_count < len(batch) else len(batch)
        kept.append(batch)
        most = max(most, (malloced() or 0) - (before or 0))
    print(rows, s.stats()['batches'], most)
'''
    with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True, env={**os.environ, 'PYTHONPATH': folder}) as reader:
        try:
            assert reader.stdout.readline() == 'ready\n'
            storm.go()
            rows, batches, most = map(int, reader.communicate(timeout=2 * PATIENCE)[0].split())
        finally:
            reader.kill()
    each = 65536 * (8 + 4 + 4 + 8 + 4 + 8)     # also _event and _lost
    assert rows == n
    if batches < 20:
        pytest.skip(f'the machine is too busy: most events were lost ({batches} batches)')
    assert most < (4 + kept + 3) * each, (most / each, batches)
