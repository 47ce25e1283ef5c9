# SPDX-License-Identifier: Apache-2.0
"""A test that hangs fails by itself."""
import os
import signal
import subprocess
import sys

from frame import limit

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# It has the locks of this test already.
SHORT = '''
import contextlib
from frame import limit, ratelimit
limit.SECONDS, limit.AGAIN, ratelimit.unchanged = 2, 1, contextlib.nullcontext
'''
HANGS = '''
import subprocess
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

def test_waits_for_a_child():
    with subprocess.Popen(['sleep', '60']) as child:
        child.communicate()

def test_cannot_begin(late):
    pass

def test_cannot_leave(leaves_late):
    pass

def test_runs_all_the_same():
    time.sleep(0.1)
'''


def test_what_hangs_fails_and_the_others_run(tmp_path):
    (tmp_path / 'test_it.py').write_text(HANGS)
    (tmp_path / 'short.py').write_text(SHORT)
    done = subprocess.run([sys.executable, '-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'conftest', '-p', 'short',
                           '--rootdir', tmp_path, tmp_path / 'test_it.py'],
                          env={**os.environ, 'PYTHONPATH': f'{TESTS}:{tmp_path}'}, capture_output=True, text=True, timeout=100)
    assert '2 failed, 2 passed, 2 errors' in done.stdout
    assert done.stdout.count('the test hung: it had not ended after 2 s') >= 4 and 'in forever' in done.stdout


def test_it_ends_with_the_test():
    before = signal.getsignal(signal.SIGALRM)
    with limit.limited():
        assert signal.getitimer(signal.ITIMER_REAL)[1] == limit.AGAIN
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0) and signal.getsignal(signal.SIGALRM) is before
