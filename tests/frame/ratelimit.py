# SPDX-License-Identifier: Apache-2.0
"""kernel.perf_event_max_sample_rate for the length of a test, locked against other tests, also those of other runs on
this machine."""
import contextlib
import fcntl
import subprocess
import time

RATE = '/proc/sys/kernel/perf_event_max_sample_rate'
SHARE = '/proc/sys/kernel/perf_cpu_time_max_percent'
DEFAULT = 100000


def read(path):
    with open(path) as f:
        return f.read().strip()


def write(path, value):
    with open(path, 'w') as f:
        f.write(f'{value}\n')


PATIENCE = 120      # s: longer than any test that runs; then it goes on without


def take(file, how, deadline):
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.02)


def lock(how, mode='r'):
    """Whoever waits for it lets no other pass: a test that wants it for itself gets it when those that run end."""
    rate, deadline = open(RATE, mode), time.monotonic() + PATIENCE
    with open(SHARE) as turn:
        take(turn, fcntl.LOCK_EX, deadline)
        take(rate, how, deadline)
    return rate


@contextlib.contextmanager
def unchanged():
    """The limit is not set by a test until then."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(lock(fcntl.LOCK_SH))
        yield


def change(rate, share):
    """The kernel takes no rate while the share is 0 or 100, and lowers none by itself."""
    write(SHARE, 25)
    write(RATE, rate)
    write(SHARE, share)


class Keeper:
    """A process of its own that puts the limit back, also when this one is killed."""

    def __init__(self):
        rate, share = read(RATE), read(SHARE)
        change(rate, share)     # whether it may
        script = 'read end; echo 25 >"$2"; echo "$3" >"$1"; echo "$4" >"$2"'
        self.process = subprocess.Popen(['/bin/sh', '-c', script, 'sh', RATE, SHARE, rate, share], stdin=subprocess.PIPE,
                                        start_new_session=True)

    def put_back(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def raised():
    """Until then, the limit is not lower than the kernel's default: on a slow machine it may have been lowered long ago. What a
    test of another run has set is not that: it is waited for."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            if int(read(RATE)) < DEFAULT:
                with lock(fcntl.LOCK_EX):
                    raise_it(stack)
        yield


def raise_it(stack):
    before = int(read(RATE))
    if before < DEFAULT:
        stack.callback(put_back, Keeper())
        change(DEFAULT, 25)
        print(f'kernel.perf_event_max_sample_rate was {before}: it is {DEFAULT} during this run')


def put_back(keeper):
    with lock(fcntl.LOCK_EX):
        keeper.put_back()


class RateLimit:
    def __init__(self):
        self.why_not = None
        try:
            self.lock = lock(fcntl.LOCK_EX, 'r+')
            self.keeper = Keeper()
            self.set(read(RATE))
        except OSError as error:
            self.why_not = f'needs to set kernel.perf_event_max_sample_rate ({error.strerror})'

    def set(self, rate):
        """And the kernel lowers it no further."""
        change(rate, 0)

    def put_back(self):
        self.keeper.put_back()
        self.lock.close()
