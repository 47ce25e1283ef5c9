# SPDX-License-Identifier: Apache-2.0
"""perf-prof at work beside a storm of system calls, for tests that count exactly."""
import collections
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from .declared import Output, environment, without_lowered_rates


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

# For rings that shall overflow: away(event) comes back from the first event of a storm of overflowing() once that storm has ended, however
# long it takes; the next one begins when all that is in the rings has been read.
STORMS = EVENT + '/comm=="storm"/'
AWAY = """
import os, time
counts, _seen = {}, 0
def away(e):
    if e._pid not in counts:
        while os.path.exists(f'/proc/{e._pid}'):
            time.sleep(0.01)
    counts[e._pid] = counts.get(e._pid, 0) + 1
def __interval__():
    global _seen
    total = sum(counts.values())
    if total and total == _seen:
        open(f'go{len(counts)}', 'w').close()
    _seen = total
"""


def overflowing(storm, *calls):
    """Arguments of perf-prof for a script with AWAY: storms on one CPU. The kernel tells what was lost with the first call of the next."""
    turns = ''.join(f'while ! [ -e go{i} ]; do sleep 0.02; done; ' * (i > 0) + f'"$0" --cpu "$1" getppid {n} >/dev/null; '
                    for i, n in enumerate(calls))
    return ['-i', '50', '-e', STORMS], ['--', 'sh', '-c', turns, storm, str(max(os.sched_getaffinity(0)))]


def ran(argv, **more):
    """A program that has ended, and what it said."""
    return subprocess.run(argv, **{'capture_output': True, 'text': True, 'timeout': 60, **more})


def until(look, run=None):
    """What look() finds, once it does; meanwhile the process `run` must not end."""
    deadline = time.monotonic() + 60
    while not (found := look()):
        assert (run is None or run.poll() is None) and time.monotonic() < deadline
        time.sleep(0.01)
    return found


def waiting(run):
    """The process waits for its events, which are on then; poll(2) waits for its helpers, before and after that."""
    until(lambda: re.search('epoll|ep_poll', pathlib.Path(f'/proc/{run.pid}/wchan').read_text()), run)
    return run


class Command:
    """Runs of perf-prof in a folder, of which the end and stderr are looked at: errors is a pattern, '' for nothing, None for anything."""

    def __init__(self, prof, folder):
        self.prof, self.folder = prof, folder

    def run(self, *args, check=0, errors='', **more):
        done = ran([self.prof, *map(str, args)], cwd=self.folder,
                   **({'stdin': subprocess.DEVNULL, 'encoding': 'utf-8', 'errors': 'surrogateescape'} | more))
        assert done.returncode == check, done
        said = without_lowered_rates(done.stderr)
        assert errors is None or (re.search(errors, said) if errors else not said), done
        return done


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


class Program:
    """A helper that prints its pid and waits for go(); killed at the end."""

    def __init__(self, *argv):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
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

    def end(self):
        """It ends by itself, at the end of its stdin at the latest."""
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


class Storm(Program):
    """A storm, which waits; argv as of tests/helpers/storm.c."""

    def __init__(self, program, *args):
        super().__init__(program, '--wait', '--linger', *map(str, args))

    def finish(self):
        """All calls are made; the process itself lingers until the context ends."""
        self.process.stdout.readline()

    def run(self):
        self.go()
        self.finish()
