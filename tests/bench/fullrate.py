# SPDX-License-Identifier: Apache-2.0
"""Two threads that do nothing but make system calls, and a session of three columns that reads them all: what is lost with rings of
16 MiB together, and how much of a CPU its thread takes. Nothing is pinned: with two CPUs, the reader takes its time from one
of the two, which then makes fewer events."""
import os
import re
import subprocess
import sys
import time

import measure
from samples import Trouble, need
from table import Row

ROUNDS = 5
THREADS = 2
RING = 8 << 20      # of a CPU

ROWS = [
    Row('two threads at full rate: elapsed, an event', 'elapsed'),
    Row("  the session's thread, of one CPU", 'reader', 'elapsed', 'one CPU', 0.25),
    Row('  events lost, of 16 MiB of rings', 'lost', limit=0, unit='ev'),
]

# Prints "ready", and at the end CPU ns of the session's thread, events delivered, and lost.
PROGRAM = """
import sys
import perf_prof
event, pid, ring = sys.argv[1:]
with perf_prof.Session(event, pids=pid, ring=int(ring), fields=['_time', '_tid', '__syscall_nr']) as s:
    begin = s.stats()['cpu_ns']
    print('ready', flush=True)
    rows = sum(map(len, s))
    stats = s.stats()
print(stats['cpu_ns'] - begin, stats['delivered'], stats['lost'])
"""


def start_storm(build, n):
    storm = measure.start(build, 'storm', '--wait', 'threads', str(THREADS), str(n))
    return storm, measure.pid_of(storm)


def elapsed(storm):
    line = measure.read_line(storm.stdout, 'storm', time.monotonic() + measure.PATIENCE)
    return int(re.search(r'wall_ns (\d+)', line).group(1))


def round_of(samples, build, n):
    measure.needs_events()
    need(None if len(os.sched_getaffinity(0)) >= THREADS else f'needs {THREADS} CPUs')
    storm, pid = start_storm(build, n)
    reader = subprocess.Popen([sys.executable, '-c', PROGRAM, measure.EVENT, pid, str(RING)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, bufsize=0, env={**os.environ, 'PYTHONPATH': os.path.join(build, 'python')})
    try:
        try:
            measure.read_line(reader.stdout, 'a session', time.monotonic() + measure.PATIENCE)
        except Trouble:
            raise Trouble(reader.communicate()[1].decode().strip()) from None
        storm.stdin.write(b'x')
        ns = elapsed(storm)
        storm.stdin.close()
        cpu, delivered, lost = map(int, reader.communicate(timeout=measure.PATIENCE)[0].split())
    finally:
        for process in storm, reader:
            process.kill()
            process.wait()
    samples.put('elapsed', ns / n / THREADS, note=f'{THREADS * n / ns * 1000:.1f} M events a second' + (
        '; the reader takes its time from one of the two' if len(os.sched_getaffinity(0)) == THREADS else ''))
    samples.put('reader', cpu / delivered)
    samples.put('lost', lost)


def measure_full_rate(samples, opts, folder):
    for _ in range(ROUNDS):
        samples.attempt([row.name for row in ROWS], round_of, samples, opts.build, opts.calls)
