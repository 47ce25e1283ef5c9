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
    assert grown(after, 'blocks') < 100, said
    assert grown(after, 'resident') < 64 * SOME, said       # what malloc keeps varies
    for what in 'types', 'threads', 'descriptors':
        assert after[0][what] == after[2][what], (what, said)


@pytest.mark.parametrize('consumer', CONSUMERS)
def test_memory_stays_flat(go_through, consumer):
    check(go_through(FEW, consumer), FEW)


@pytest.mark.million
def test_a_million_batches(go_through):
    check(go_through(MILLION, *CONSUMERS), MILLION)
