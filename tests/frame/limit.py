# SPDX-License-Identifier: Apache-2.0
"""A limit for each test: one that hangs fails by itself, and says where; the others of its file still run."""
import contextlib
import signal

import pytest

SECONDS = 1200      # half of what a file of tests has (execute.py)


def over(*_):
    pytest.fail(f'it hung: it has not ended in {SECONDS} s')


@contextlib.contextmanager
def limited():
    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
