# SPDX-License-Identifier: Apache-2.0
"""A test that sets the limit of samples has the machine's tests for itself."""
import fcntl
import threading

import pytest

from frame import ratelimit


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    for name in 'RATE', 'SHARE':
        (tmp_path / name).write_text('1')
        monkeypatch.setattr(ratelimit, name, tmp_path / name)


def start(how, events):
    def run():
        with ratelimit.lock(how):
            events.append(how)
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_those_that_leave_it_alone_run_side_by_side():
    with ratelimit.unchanged(), ratelimit.unchanged():
        pass


def test_who_sets_it_waits_for_those_that_run_and_goes_before_those_that_come():
    events = []
    with ratelimit.unchanged():
        setter = start(fcntl.LOCK_EX, events)
        with open(ratelimit.SHARE) as turn:      # until it waits
            while True:
                try:
                    fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    fcntl.flock(turn, fcntl.LOCK_UN)
                except BlockingIOError:
                    break
        other = start(fcntl.LOCK_SH, events)
        assert not events
    setter.join()
    other.join()
    assert events == [fcntl.LOCK_EX, fcntl.LOCK_SH]


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(ratelimit, 'PATIENCE', 0.1)
    with ratelimit.unchanged(), ratelimit.lock(fcntl.LOCK_EX):
        pass
