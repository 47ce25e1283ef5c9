# SPDX-License-Identifier: Apache-2.0
"""kernel.perf_event_max_sample_rate for the length of a test, locked against other runs of the tests."""
import fcntl

RATE = '/proc/sys/kernel/perf_event_max_sample_rate'
SHARE = '/proc/sys/kernel/perf_cpu_time_max_percent'


def read(path):
    with open(path) as f:
        return f.read().strip()


def write(path, value):
    with open(path, 'w') as f:
        f.write(f'{value}\n')


class RateLimit:
    def __init__(self):
        self.why_not = None
        try:
            self.lock = open(RATE, 'r+')
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            self.before = read(RATE), read(SHARE)
            self.set(self.before[0])
        except OSError as error:
            self.why_not = f'needs to set kernel.perf_event_max_sample_rate ({error.strerror})'

    def set(self, rate, share=0):
        """The kernel takes no rate while the share is 0 or 100, and lowers none by itself."""
        write(SHARE, 25)
        write(RATE, rate)
        write(SHARE, share)

    def put_back(self):
        self.set(*self.before)
        self.lock.close()
