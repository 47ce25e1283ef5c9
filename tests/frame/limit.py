# SPDX-License-Identifier: Apache-2.0
"""A limit for each step of a test: one that hangs in Python fails, and its traceback says where. If there is time left, the
other tests of its file run."""
import contextlib
import signal

import pytest

SECONDS = 1200      # half of what a file of tests has (execute.py)
AGAIN = 10          # what tidies up after it may hang, too


def over(*_):
    pytest.fail(f'the test hung: it had not ended after {SECONDS} s')


@contextlib.contextmanager
def limited():
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
