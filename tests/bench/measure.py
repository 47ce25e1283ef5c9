# SPDX-License-Identifier: Apache-2.0
"""What is measured, one function per kind: CPU time of the process that reads, CPU time
of the program that is watched, memory, time to the first event.

The program that is watched (storm) runs alone on the last CPU, everything else on the
first: what is charged to one is never the other's."""
import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

EVENT = 'syscalls:sys_enter_getppid'
PAGES = 2048        # of a ring: 8 MiB hold 90 ms of a storm, so that a busy machine loses none
PATIENCE = 30       # seconds until something that must happen has happened


class Trouble(Exception):
    """The measurement could not be made; the text says why."""


def cpus():
    """(CPU of the readers, CPU of the storm)"""
    have = sorted(os.sched_getaffinity(0))
    return have[0], have[-1]


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


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


class Storm:
    """A program that makes n getppid calls, ready to go."""

    def __init__(self, build, n, rate=None):
        argv = [os.path.join(build, 'tests/helpers/storm'), '--cpu', str(cpus()[1]), '--wait',
                'getppid', str(n)] + ([str(rate)] if rate else [])
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        bufsize=0)
        self.deadline = time.monotonic() + PATIENCE + n / 100000
        self.pid = int(read_line(self.process.stdout, 'storm', self.deadline).split()[1])

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


def live(build, script, n):
    """(ns of perf-prof per delivered event, ns of the storm per call, events lost)"""
    prof = Prof(build, script)
    try:
        one = Storm(build, n)
        try:
            before, idle_from = prof.settled_ns(), time.monotonic()
            one.go()
            storm_ns = one.finish() / n
            after, idle_to = prof.settled_ns(), time.monotonic()
            # What it costs to be there at all (intervals, looking at the rings), over as long.
            time.sleep(0.4)
            rest = (task_ns(prof.pid) - after) / (time.monotonic() - idle_to)
        finally:
            one.close()
        _, err = prof.stop()
    finally:
        prof.close()
    gone = lost(err)
    spent = after - before - rest * (idle_to - idle_from)
    return max(spent, 0) / max(n - gone, 1), storm_ns, gone


def to_dict_keys(build):
    """How many keys the event's to_dict() has."""
    prof = Prof(build, 'n = 0\ndef __sample__(e):\n    global n\n    n = len(e.to_dict())\n'
                       'def __exit__():\n    print("keys", n)\n')
    try:
        storm(build, 1000)
        out, _ = prof.stop()
    finally:
        prof.close()
    return int(re.search(r'keys (\d+)', out).group(1))


class Perf:
    """`perf record -a` of EVENT, its events on."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)
        ctl, ack = os.path.join(folder, 'ctl'), os.path.join(folder, 'ack')
        for fifo in (ctl, ack):
            if not os.path.exists(fifo):
                os.mkfifo(fifo)
        control, answer = os.open(ctl, os.O_RDWR), os.open(ack, os.O_RDWR)
        self.process = subprocess.Popen(
            pinned(['perf', 'record', '-q', '-a', '-m', str(PAGES), '-e', EVENT, '-o', self.path,
                    '-D', '-1', '--control', f'fifo:{ctl},{ack}']),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            os.write(control, b'enable\n')
            if not select.select([answer], [], [], PATIENCE)[0]:
                self.process.kill()
                raise Trouble(f'perf record: {self.process.communicate()[1].decode()[-500:]}')
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


CHAINS = """
import os, sys, time
mine = int(os.environ['CALLERS'])
best, frames = 1e9, 0
def cost(e, n):
    begin = time.thread_time_ns()
    for _ in n: e._callchain
    middle = time.thread_time_ns()
    for _ in n: e._pid
    return (middle - begin - (time.thread_time_ns() - middle)) / len(n)
def __sample__(e):
    global best, frames
    if e._pid == mine:
        frames = len(e._callchain)
        best = min(best, cost(e, range(20000)))
def __exit__():
    print('chain', frames, best)
"""


def callchain(build):
    """(frames of a chain, ns to get it again as a list)"""
    callers = subprocess.Popen(
        [os.path.join(build, 'tests/helpers/callers'), '--wait', '--depth', '15', '30'],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        pid = read_line(callers.stdout, 'callers', time.monotonic() + PATIENCE).split()[1]
        os.environ['CALLERS'] = pid
        prof = Prof(build, CHAINS, ['--user-callchain', '--no-kernel-callchain'])
        try:
            callers.communicate(b'x', timeout=PATIENCE)
            prof.settled_ns()
            out, _ = prof.stop()
        finally:
            prof.close()
    finally:
        callers.kill()
        callers.communicate()
    frames, ns = re.search(r'chain (\d+) (\S+)', out).groups()
    if int(frames) != 20:
        raise Trouble(f'a chain of {frames} frames instead of 20')
    return int(frames), float(ns)


def under_perf_record(build, n, folder):
    """CPU ns per call of a storm that `perf record` watches."""
    perf = Perf(folder, 'storm.data')
    try:
        return storm(build, n)
    finally:
        perf.stop()
        os.unlink(perf.path)


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


def recorded(build, n, folder):
    """ns per event of `perf script -s` and of perf-prof python -I with scripts that count, and
    of the file as text, and those of walk_recording."""
    with open(os.path.join(folder, 'count.py'), 'w') as f:
        # The arguments that `perf script -g python` writes: with others perf does less.
        f.write('count = 0\n'
                'def syscalls__sys_enter_getppid(event_name, context, common_cpu, common_secs,\n'
                '        common_nsecs, common_pid, common_comm, common_callchain, __syscall_nr,\n'
                '        perf_sample_dict):\n'
                '    global count\n    count += 1\n')
    for name, calls in (('few.data', 1), ('many.data', n)):
        perf = Perf(folder, name)
        try:
            storm(build, calls)
        finally:
            perf.stop()
    with open(os.path.join(folder, 'ours.py'), 'w') as f:
        f.write('n = 0\ndef __sample__(e):\n    global n\n    n += 1\n')
    prof = os.path.join(build, 'perf-prof')
    commands = {'perf script': ['perf', 'script', '-s', 'count.py', '-i'],
                'ours': [prof, 'python', 'ours.py', '-I'],
                'perf text': ['perf', 'script', '-i'], 'text': [prof, 'script', '-I'],
                'json': [prof, 'script', '--json', '-I'], 'csv': [prof, 'script', '--csv', '-I']}
    rounds = {'perf script': 3, 'json': 5, 'csv': 5}
    got = {}
    for who, command in commands.items():
        few, many = ([cpu_of(pinned(command + [name]), folder) for _ in range(rounds.get(who, 9))]
                     for name in ('few.data', 'many.data'))
        got[who] = (median(many) - median(few)) / n
    got.update(program_rows(build, 'walk_recording', 11, os.path.join(folder, 'many.data')))
    return got


def startup(build):
    """ms from the start of perf-prof until a handler holds the first event."""
    one = Storm(build, 10 ** 9)
    with tempfile.TemporaryDirectory(prefix='perf-prof-bench-') as folder:
        with open(os.path.join(folder, 's.py'), 'w') as f:
            f.write('import time\ndef __sample__(e):\n'
                    '    print("at", time.monotonic_ns(), flush=True)\n')
        try:
            one.go()
            begin = time.monotonic_ns()
            done = subprocess.run(
                pinned([os.path.join(build, 'perf-prof'), 'python', '-e', EVENT, '-N', '1', 's.py']),
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Trouble('perf-prof python -N 1 does not end') from None
        finally:
            one.close()
    at = re.search(r'at (\d+)', done.stdout)
    if not at:
        raise Trouble(f'no event came: {done.stderr[-500:]}')
    return (int(at.group(1)) - begin) / 1e6


def startup_to_init(build, *options):
    """ms from the start of perf-prof until __init__() runs."""
    with tempfile.TemporaryDirectory(prefix='perf-prof-bench-') as folder:
        with open(os.path.join(folder, 's.py'), 'w') as f:
            f.write('import sys, time\ndef __init__():\n    print("at", time.monotonic_ns())\n'
                    '    sys.exit()\ndef __sample__(e): pass\n')
        begin = time.monotonic_ns()
        done = subprocess.run(
            pinned([os.path.join(build, 'perf-prof'), 'python', '-e', EVENT, *options, 's.py']),
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    at = re.search(r'at (\d+)', done.stdout)
    if not at:
        raise Trouble(f'__init__() did not run: {done.stderr[-500:]}')
    return (int(at.group(1)) - begin) / 1e6


def memory(build, script, first, then):
    """(resident bytes after `first` events, after `then` more, bytes of the rings)"""
    prof = Prof(build, script)
    try:
        storm(build, first)
        prof.settled_ns()
        early, _ = prof.memory()
        storm(build, then)
        prof.settled_ns()
        late, rings = prof.memory()
        prof.stop()
    finally:
        prof.close()
    return early, late, rings


PRINT_SCRIPT = '''
import sys, time
kept = None
def sched__sched_switch(event):
    global kept
    kept = event
def cost(function, n=20000):
    begin = time.thread_time_ns()
    for _ in range(n):
        function()
    return (time.thread_time_ns() - begin) / n
def __exit__():
    out, sys.stdout = sys.stdout, open('/dev/null', 'w')
    write, line = sys.stdout.write, 'x' * 200 + '\\n'
    rows = [(cost(kept.print), cost(lambda: write(line)), cost(lambda: None))
            for _ in range(ROUNDS)]
    sys.stdout = out
    for name, values in zip(('print', 'write', 'loop'), zip(*rows)):
        print('cost', name, sorted(values)[len(values) // 2])
'''


def event_print(build, rounds):
    """{print, write, loop: ns} of event.print() of a sched_switch, of the write of a line, and
    of the loop around each; into /dev/null."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, 'printing.py')
        with open(script, 'w') as f:
            f.write(PRINT_SCRIPT.replace('ROUNDS', str(rounds)))
        done = subprocess.run(pinned([os.path.join(build, 'perf-prof'), 'python', '-e',
                                      'sched:sched_switch', '-N', '1', script]),
                              capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise Trouble(f'event.print(): {done.stderr.strip()}')
    return {name: float(ns) for name, ns in re.findall(r'cost (\w+) (\S+)', done.stdout)}


def program_rows(build, name, rounds, *before):
    """{row: ns} of a C program of tests/bench."""
    done = subprocess.run(pinned([os.path.join(build, 'tests/bench', name), *before, str(rounds)]),
                          capture_output=True, text=True)
    if done.returncode:
        raise Trouble(f'{name}: {done.stderr.strip()}')
    return {row: float(ns) for row, ns in (line.split() for line in done.stdout.splitlines())}
