# SPDX-License-Identifier: Apache-2.0
"""The commands that analyse, at work: what they print, beside perf, on tests/helpers/works."""
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys

from .declared import environment, without_lowered_rates

TIMEOUT = 120       # a build with sanitizers on a busy machine has taken 90 s for what takes 2 s
# Other tests keep the machine busy: nothing may be lost. The fewer CPUs, the longer perf-prof may have to wait for one.
RING = ['-m', '64M' if os.cpu_count() <= 8 else '16M']


class Result:
    """What a run has printed: `text`, the objects of its lines of JSON, the pid that works told."""

    def __init__(self, done):
        self.code, self.text, self.err = done.returncode, done.stdout, done.stderr
        self.lines = [json.loads(line) for line in self.text.splitlines() if line.startswith('{')]
        pid = re.search(r'^pid (\d+)$', self.text, re.M)
        self.pid = pid and int(pid.group(1))

    def table(self, name):
        """The only table of that name."""
        found = [t for t in self.lines if t.get('table') == name]
        assert len(found) == 1, (name, self.text[-2000:])
        assert not found[0].get('lost'), found[0]['lost']
        return found[0]

    def total(self, name, *key, of=('calls', 'total')):
        """Of all intervals together: {key: [sums of the columns `of`]}."""
        sums = {}
        for table in self.lines:
            for row in table['rows'] if table.get('table') == name else ():
                at = tuple(row.get(k) for k in key)
                before = sums.setdefault(at if len(key) > 1 else at[0], [0] * len(of))
                before[:] = [b + row[c] for b, c in zip(before, of)]
            assert not table.get('lost'), table
        return sums

    def rows(self, name, *key):
        """Its rows, by those cells."""
        rows = self.table(name)['rows']
        return {tuple(r.get(k) for k in key) if len(key) > 1 else r.get(key[0]): r for r in rows}


class Waiting:
    """works that has said its pid, and waits for go()."""

    def __init__(self, works, args):
        self.process = subprocess.Popen([works, '--wait', *map(str, args)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = int(self.process.stdout.readline().split()[1])

    def go(self):
        self.process.stdin.write('x')
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline()

    def finish(self):
        """The rest that it prints."""
        if self.process.stdout.closed:
            return ''
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdin = None
        return self.process.communicate(timeout=TIMEOUT)[0]


class Watcher:
    """perf-prof with -i and --json: with its first table all events are on."""

    def __init__(self, argv, folder):
        self.process = subprocess.Popen(argv, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment({'cmd': ''}))
        self.head = self.process.stdout.readline()
        assert self.head, self.process.communicate()

    def result(self, stop=False):
        """Of the whole run, once its target has ended, or SIGINT."""
        if stop:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=TIMEOUT)
        err = without_lowered_rates(err)
        assert (self.process.returncode, err) == (0, ''), (self.process.returncode, err)
        return Result(subprocess.CompletedProcess('', 0, self.head + out, err))


class Perf:
    """`perf stat` or `perf record` that has begun when this has."""

    def __init__(self, argv, folder):
        ctl, ack = str(folder / 'ctl'), str(folder / 'ack')
        for fifo in (ctl, ack):
            os.mkfifo(fifo)
        control, answer = os.open(ctl, os.O_RDWR), os.open(ack, os.O_RDWR)
        self.process = subprocess.Popen([*map(str, argv), '-D', '-1', '--control', f'fifo:{ctl},{ack}'],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        try:
            os.write(control, b'enable\n')
            assert select.select([answer], [], [], TIMEOUT)[0], self.process.communicate()
            os.read(answer, 100)
        finally:
            os.close(control)
            os.close(answer)

    def finish(self, stop=False):
        """What it prints, once its target has ended, or SIGINT."""
        if stop:
            self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=TIMEOUT)[0]


def close_to(measured, known, part=0.02, least=0):
    """Within `part` of it, or `least` in the same unit."""
    return abs(measured - known) <= max(part * known, least)


@contextlib.contextmanager
def busy_cpus():
    """Some kernels do not report the events of idle CPUs."""
    loop = 'import os\nos.sched_setaffinity(0, {%d})\nos.nice(19)\nwhile True: pass'
    busy = [subprocess.Popen([sys.executable, '-c', loop % cpu]) for cpu in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()
