# SPDX-License-Identifier: Apache-2.0
"""A test that hangs fails by itself."""
import os
import subprocess
import sys
import time

from frame import limit

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HANGS = '''
import time
import pytest

def forever():
    while True:
        time.sleep(60)

@pytest.fixture
def late():
    forever()

@pytest.fixture
def leaves_late():
    yield
    forever()

def test_hangs():
    forever()

def test_cannot_begin(late):
    pass

def test_cannot_leave(leaves_late):
    pass

def test_runs_all_the_same():
    time.sleep(0.1)
'''


def test_what_hangs_fails_and_the_others_run(tmp_path):
    (tmp_path / 'test_it.py').write_text(HANGS)
    (tmp_path / 'short.py').write_text('from frame import limit\nlimit.SECONDS = 1\n')
    done = subprocess.run([sys.executable, '-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'conftest', '-p', 'short',
                           '--rootdir', tmp_path, tmp_path / 'test_it.py'],
                          env={**os.environ, 'PYTHONPATH': f'{TESTS}:{tmp_path}'}, capture_output=True, text=True, timeout=100)
    assert '1 failed, 2 passed, 2 errors' in done.stdout
    assert done.stdout.count('it hung: it has not ended in 1 s') >= 3 and 'in forever' in done.stdout


def test_it_ends_with_the_test(monkeypatch):
    monkeypatch.setattr(limit, 'SECONDS', 1)
    with limit.limited():
        pass
    time.sleep(1.2)
