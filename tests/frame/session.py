# SPDX-License-Identifier: Apache-2.0
"""perf-prof at work beside a storm of system calls, for tests that count exactly."""
import collections
import contextlib
import os
import re
import signal
import subprocess
import time

from .declared import Output, environment

EVENT = 'syscalls:sys_enter_getppid'
PATIENCE = 20

# The first __interval__() tells that events are on.
READY = """
_ready = False
def __interval__():
    global _ready
    if not _ready:
        print('ready', flush=True)
    _ready = True
"""


Totals = collections.namedtuple('Totals', 'delivered lost counted own malformed')


class Ended:
    def __init__(self, code, stdout, stderr, seconds, pid):
        self.code, self.stdout, self.stderr = code, stdout, stderr
        self.seconds, self.pid = seconds, pid

    def number(self, word):
        """N of the line "word N" on stdout."""
        return int(re.search(rf'^{word} (-?\d+)$', self.stdout, re.M).group(1))

    def totals(self):
        """The closing summary of -v."""
        return Totals(*map(int, re.search(
            r'(\d+) events? delivered, (\d+) lost.*\n(?:.*\n)*?.*?(\d+) counted by the kernel, (\d+) of '
            r"them events of perf-prof itself, not delivered; (\d+) malformed", self.stderr).groups()))

    @property
    def lost(self):
        """The total that stderr tells at the end; 0 if it is silent."""
        return max(map(int, re.findall(r'delivered, (\d+) lost', self.stderr)), default=0)


class Session:
    """`perf-prof python ARGS s.py`, as a context: killed at the end whatever happened."""

    def __init__(self, prof, folder, script, *args):
        with open(os.path.join(folder, 's.py'), 'w') as f:
            f.write(script)
        self.process = subprocess.Popen(
            [prof, 'python', *args, 's.py'], cwd=folder, env=environment({'cmd': 'python'}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.out, self.err = Output(self.process.stdout), Output(self.process.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.out.text(), self.err.text()
        self.process.stdout.close()
        self.process.stderr.close()

    def wait_for(self, pattern, since=0):
        if not self.out.wait_for(pattern, time.monotonic() + PATIENCE, since):
            raise AssertionError(f'stdout never showed /{pattern}/ (returncode {self.process.poll()}): '
                                 f'{self.out.data!r}, stderr {self.err.data!r}')

    def stop(self, sig=signal.SIGINT):
        begin = time.monotonic()
        self.process.send_signal(sig)
        self.process.wait(PATIENCE)
        return Ended(self.process.returncode, self.out.text(), self.err.text(),
                     time.monotonic() - begin, self.process.pid)


class Storm:
    """A storm that waits for go(); argv as of tests/helpers/storm.c."""

    def __init__(self, program, *args):
        self.process = subprocess.Popen([program, '--wait', '--linger', *map(str, args)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.pid = int(self.process.stdout.readline().split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def go(self):
        self.process.stdin.write(b'x')

    def finish(self):
        """All calls are made; the process itself lingers until the context ends."""
        self.process.stdout.readline()

    def run(self):
        self.go()
        self.finish()
