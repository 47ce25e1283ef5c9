# SPDX-License-Identifier: Apache-2.0
"""However many batches there are, and whatever is done with them: memory stays flat, and no reference is left."""
import json
import os
import subprocess
import sys

import pytest

from known import PATIENCE, RECORDING
from many_batches import CONSUMERS

HERE = os.path.dirname(os.path.abspath(__file__))
FEW, MILLION = 20000, 1000000
SOME = 128 << 10    # bytes; with one arena, malloc's own share varies less. A leak of one byte in ten batches of a million is seen


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


def check(said, number):
    assert said['batches'] >= number
    first, last = said['after']
    if first['malloc'] is not None:
        assert last['malloc'] - first['malloc'] < SOME, said
    assert last['blocks'] - first['blocks'] < 200, said
    assert last['resident'] - first['resident'] < 64 * SOME, said       # what malloc keeps varies
    for what in 'types', 'threads', 'descriptors':
        assert first[what] == last[what], (what, said)


@pytest.mark.parametrize('consumer', CONSUMERS)
def test_memory_stays_flat(go_through, consumer):
    check(go_through(FEW, consumer), FEW)


@pytest.mark.million
def test_a_million_batches(go_through):
    check(go_through(MILLION, *CONSUMERS), MILLION)
