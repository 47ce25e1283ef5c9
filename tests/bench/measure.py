# SPDX-License-Identifier: Apache-2.0
"""What all measurements use: CPU time of the process that reads and of the program that is
watched, and what they need of the machine.

The program that is watched (storm) runs alone on the last CPU, everything else on the
first: what is charged to one is never the other's. With one CPU they take turns."""
import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from frame import requires  # noqa: E402
from samples import Trouble, need  # noqa: E402

EVENT = 'syscalls:sys_enter_getppid'
PAGES = 2048        # of a ring: 8 MiB hold 90 ms of a storm, so that a busy machine loses none
PATIENCE = 30       # seconds until something that must happen has happened


RATE_LIMIT = '/proc/sys/kernel/perf_event_max_sample_rate'


def needs_events():
    """Tracepoints of all tasks on all CPUs."""
    need(requires.root(), requires.tracefs())


def needs_kernel():
    """Events of this process that count what the kernel does for it."""
    with open(requires.PARANOID) as f:
        level = int(f.read())
    need(level > 1 and requires.cap_perfmon()
         and f'needs CAP_PERFMON, or kernel.perf_event_paranoid of 1 (it is {level})')


def needs_perf():
    need(requires.perf())
    needs_events()


def rate_limit():
    with open(RATE_LIMIT) as f:
        return int(f.read())


def needs_rate(hz):
    limit = rate_limit()
    need(None if limit >= hz else
         f'needs kernel.perf_event_max_sample_rate of {hz} (it is {limit})')


def rate(hz):
    """As many samples a second, or as the kernel allows."""
    return str(min(hz, rate_limit()))


def cpus():
    """(CPU of the readers, CPU of the storm)"""
    have = sorted(os.sched_getaffinity(0))
    return have[0], have[-1]


@contextlib.contextmanager
def awake(cpu):
    """Keeps a CPU from halting, by a task that runs only when nothing else wants to.

    The floors run without a pause; a reader of rings rests between two wake-ups, and a
    virtual CPU that halted comes back cold: 38 ns per event then read as 45 to 60,
    according to what the host did with the core meanwhile. CPU time is counted per
    task, so the keeper's own is nobody's."""
    keeper = subprocess.Popen([sys.executable, '-c', 'import os\n'
                               'os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n'
                               f'os.sched_setaffinity(0, {{{cpu}}})\n'
                               'while True: pass\n'])
    try:
        yield
    finally:
        keeper.kill()
        keeper.wait()


def pinned(argv):
    return ['taskset', '-c', str(cpus()[0])] + argv


def task_ns(pid):
    """CPU time of all threads of a process, ns (user and kernel)."""
    total = 0
    for tid in os.listdir(f'/proc/{pid}/task'):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f'/proc/{pid}/task/{tid}/schedstat') as f:
                total += int(f.read().split()[0])
    return total


def read_line(stream, what, deadline):
    """Next line of an unbuffered stream."""
    line = b''
    while not line.endswith(b'\n'):
        if not select.select([stream], [], [], max(deadline - time.monotonic(), 0))[0]:
            raise Trouble(f'{what}: nothing came for {PATIENCE} s')
        byte = os.read(stream.fileno(), 1)
        if not byte:
            raise Trouble(f'{what}: ended early')
        line += byte
    return line.decode(errors='replace').rstrip('\n')


def start(build, helper, *args):
    """A program of tests/helpers that waits for a byte."""
    return subprocess.Popen([os.path.join(build, 'tests/helpers', helper), *args],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def pid_of(helper):
    return read_line(helper.stdout, helper.args[0], time.monotonic() + PATIENCE).split()[1]


class Storm:
    """A program that makes n getppid calls, ready to go."""

    def __init__(self, build, n):
        self.process = start(build, 'storm', '--cpu', str(cpus()[1]), '--wait', 'getppid', str(n))
        self.deadline = time.monotonic() + PATIENCE + n / 100000
        pid_of(self.process)

    def go(self):
        self.process.stdin.write(b'x')

    def finish(self):
        """CPU time of the calls, ns."""
        line = read_line(self.process.stdout, 'storm', self.deadline)
        self.close()
        return int(re.search(r'cpu_ns (\d+)', line).group(1))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def storm(build, n):
    """Makes n calls; CPU ns that each took."""
    one = Storm(build, n)
    try:
        one.go()
        return one.finish() / n
    finally:
        one.close()


READY = """
_ready = False
def __interval__():
    global _ready
    if not _ready:
        _ready = True
        print('ready', flush=True)
"""


class Prof:
    """perf-prof python at work on EVENT. It is ready when its events are on: that is
    told by the first __interval__()."""

    def __init__(self, build, script, more=()):
        self.build = build
        self.folder = tempfile.TemporaryDirectory(prefix='perf-prof-bench-')
        with open(os.path.join(self.folder.name, 's.py'), 'w') as f:
            f.write(script + READY)
        self.err = open(os.path.join(self.folder.name, 'stderr'), 'w+')
        self.process = subprocess.Popen(
            pinned([os.path.join(build, 'perf-prof'), 'python', '-e', EVENT, '-m', str(PAGES),
                    '-i', '200', *more, 's.py']),
            cwd=self.folder.name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.err, bufsize=0)
        self.pid = self.process.pid
        deadline = time.monotonic() + PATIENCE
        try:
            while read_line(self.process.stdout, 'perf-prof python', deadline) != 'ready':
                pass
        except Trouble as trouble:
            self.process.kill()
            raise Trouble(f'{trouble}: {self.stderr()}') from None

    def stderr(self):
        self.err.flush()
        self.err.seek(0)
        return self.err.read()[-2000:].strip()

    def settled_ns(self):
        """CPU time once it has handled all there is: it rests between two intervals."""
        before, deadline = task_ns(self.pid), time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(0.12)        # longer than the 100 ms in which an event is delivered
            now = task_ns(self.pid)
            if now - before < 300000:
                return now
            before = now
        raise Trouble('perf-prof does not come to rest')

    def memory(self):
        """(resident bytes without the rings, bytes of the rings)"""
        rings = rest = 0
        in_ring = False
        with open(f'/proc/{self.pid}/smaps') as f:
            for line in f:
                if re.match(r'[0-9a-f]+-[0-9a-f]+ ', line):
                    in_ring = 'perf_event' in line
                elif line.startswith('Size:') and in_ring:
                    rings += int(line.split()[1]) * 1024
                elif line.startswith('Rss:') and not in_ring:
                    rest += int(line.split()[1]) * 1024
        return rest, rings

    def stop(self):
        """SIGINT; what it printed after `ready`."""
        self.process.send_signal(signal.SIGINT)
        try:
            out, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.close()
            raise Trouble('perf-prof does not end on SIGINT') from None
        err = self.stderr()
        self.close()
        if self.process.returncode:
            raise Trouble(f'perf-prof ended with {self.process.returncode}: {err}')
        return out.decode(errors='replace'), err

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        if not self.err.closed:
            self.err.close()
            self.folder.cleanup()


def lost(stderr):
    """Events that perf-prof says it lost."""
    return sum(int(n) for n in re.findall(r'perf-prof: lost (\d+)', stderr))


class Perf:
    """`perf record -a` of EVENT, its events on."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)
        ctl, ack = os.path.join(folder, 'ctl'), os.path.join(folder, 'ack')
        for fifo in (ctl, ack):
            if not os.path.exists(fifo):
                os.mkfifo(fifo)
        deadline = time.monotonic() + PATIENCE
        control, answer = os.open(ctl, os.O_RDWR), os.open(ack, os.O_RDWR)
        self.process = subprocess.Popen(
            pinned(['perf', 'record', '-q', '-a', '-m', str(PAGES), '-e', EVENT, '-o', self.path,
                    '-D', '-1', '--control', f'fifo:{ctl},{ack}']),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            os.write(control, b'enable\n')
            while not select.select([answer], [], [], 0.5)[0]:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.process.kill()
                    raise Trouble(f'perf record: {self.process.communicate()[1].decode()[-500:].strip()}')
            os.read(answer, 100)
        finally:
            os.close(control)
            os.close(answer)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise Trouble('perf record does not end on SIGINT') from None


# Helpers of a command that it does not wait for (perf-prof's without privilege, which reads
# programs' files) become children of this one: prctl(PR_SET_CHILD_SUBREAPER).
ALL_OF_IT = """
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
status = subprocess.call(sys.argv[2:], stderr=subprocess.DEVNULL)
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], 'w') as f:
    print(status, used.ru_utime + used.ru_stime, file=f)
"""


def cpu_of(argv, cwd, stdin=os.devnull, stdout=os.devnull):
    """CPU time of a command with all processes that it starts, ns."""
    with (open(stdin, 'rb') as source, open(stdout, 'wb') as sink,
          tempfile.NamedTemporaryFile('r') as used):
        subprocess.run([sys.executable, '-c', ALL_OF_IT, used.name, *argv], cwd=cwd, stdin=source,
                       stdout=sink, check=True)
        status, seconds = used.read().split()
    if int(status):
        raise Trouble(f'{" ".join(argv)} ended with {status}')
    return float(seconds) * 1e9


def program(build, name):
    path = os.path.join(build, 'tests/bench', name)
    need(None if os.path.exists(path) else f'needs tests/bench/{name}, which was not built')
    return path


def program_rows(build, name, rounds, *before, stdin=''):
    """{row: ns} of a C program of tests/bench."""
    done = subprocess.run(pinned([program(build, name), *before, str(rounds)]), input=stdin,
                          capture_output=True, text=True)
    if done.returncode:
        raise Trouble(f'{name}: {done.stderr.strip()}')
    return {row: float(ns) for row, ns in (line.split() for line in done.stdout.splitlines())}
