# SPDX-License-Identifier: Apache-2.0
"""A test that sets the limit of samples has the machine's tests for itself."""
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time

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


TEST = """
import sys
from frame import ratelimit
ratelimit.RATE, ratelimit.SHARE = sys.argv[1:]
limit = ratelimit.RateLimit()
limit.set(500)
print(flush=True)
input()
limit.put_back()
"""


def other_test():
    """A process that has set the limit, until it reads a line."""
    one = subprocess.Popen([sys.executable, '-c', TEST, ratelimit.RATE, ratelimit.SHARE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           cwd=os.path.dirname(os.path.dirname(ratelimit.__file__)), start_new_session=True)
    one.stdout.readline()
    assert settings() == ['500', '0']
    return one


def settings():
    return [path.read_text().strip() for path in (ratelimit.RATE, ratelimit.SHARE)]


def test_a_killed_test_leaves_no_lower_limit():
    ratelimit.change(4000, 25)
    one = other_test()
    os.killpg(one.pid, signal.SIGKILL)
    one.communicate()
    until = time.monotonic() + 60
    while settings() != ['4000', '25']:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize('before, during', [('500', '100000'), ('200000', '200000')])
def test_a_run_has_no_low_limit(before, during):
    ratelimit.change(before, 0)
    with ratelimit.raised():
        assert settings()[0] == during
    assert settings() == [before, '0']


def test_a_limit_that_another_test_has_set_is_not_that_of_the_machine(capsys):
    ratelimit.change(ratelimit.DEFAULT, 25)
    one = other_test()
    timer = threading.Timer(0.5, one.communicate, [b'\n'])
    timer.start()
    with ratelimit.raised():
        assert one.wait(60) == 0 and settings() == [str(ratelimit.DEFAULT), '25']
    timer.join()
    assert settings() == [str(ratelimit.DEFAULT), '25'] and capsys.readouterr().out == ''


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(ratelimit, 'PATIENCE', 0.1)
    with ratelimit.unchanged(), ratelimit.lock(fcntl.LOCK_EX):
        pass
