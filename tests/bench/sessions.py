# SPDX-License-Identifier: Apache-2.0
"""What an event costs as a row of a batch, in a program with `import perf_prof` and in a script, beside the least code that
fills columns or sums by key, and beside a callback for each."""
import os
import subprocess
import sys
import time

import callbacks
import measure
from measure import PATIENCE, Storm
from samples import Trouble, median, need
from table import Row

READERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'session/readers/python')
ROUNDS = 3
LONGER = 4      # events are so cheap that memory which is touched for the first time would count as much

ROWS = [
    Row('floor: three columns of a live ring, one summed', 'floor columns'),
    Row('session: three columns, one summed by NumPy', 'columns', 'floor columns', 'floor', 1.6),
    Row('floor: count and sum by thread of a live ring', 'floor groups'),
    Row('aggregate: count and sum by thread', 'groups', 'floor groups', 'floor', 2.0),
    Row('callback, beside them: count', 'callback'),
    Row('session: for event in batch, count', 'events', 'callback', 'callback', 0.8),
    Row('script: __batch__(), one summed by NumPy', 'script', 'callback', 'callback', 0.7),
]

SCRIPT = f'''
import sys
sys.path.append({READERS!r})
import numpy
__batch_fields__ = ['_time', '_tid', '__syscall_nr']
n = total = 0
def __batch__(batch):
    global n, total
    n += len(batch)
    total += int(numpy.asarray(batch['_time']).sum())
'''

# Prints "ready", and at the end CPU ns of the process, all its threads included, since then.
PROGRAM = """
import sys, time
import perf_prof
try:
    import numpy
except ImportError:
    sys.exit('needs numpy (tools/install-readers)')
how, event, pid = sys.argv[1:]
total = n = 0
def count(batch):
    global n
    rows = 0
    for event in batch:
        rows += 1
    n += rows
fields = ['_time', '_tid'] + ['__syscall_nr'] * (how != 'groups')
with perf_prof.Session(event, pids=pid, ring='8M', order=False, fields=fields) as s:
    begin = time.process_time_ns()
    print('ready', flush=True)
    for batch in s.aggregate('_tid', {'n': 'count()', 'sum': 'sum(_time)'}, interval=0.1) if how == 'groups' else s:
        if how == 'groups':
            continue
        if how == 'columns':
            total += int(numpy.asarray(batch['_time']).sum())
            n += len(batch)
        else:
            count(batch)
    spent, stats = time.process_time_ns() - begin, s.stats()
print(spent, stats['delivered'], stats['lost'])
"""


def session(build, how, n):
    """(CPU ns per event, events lost)"""
    storm = Storm(build, n)
    env = {**os.environ, 'PYTHONPATH': os.pathsep.join([os.path.join(build, 'python'), READERS])}
    reader = subprocess.Popen(measure.pinned([sys.executable, '-c', PROGRAM, how, measure.EVENT, str(storm.process.pid)]),
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    try:
        try:
            measure.read_line(reader.stdout, 'a session', time.monotonic() + PATIENCE)
        except Trouble:
            said = reader.communicate()[1].decode().strip()
            need(said if said.startswith('needs') else None)
            raise Trouble(said) from None
        storm.go()
        storm.finish()
        spent, delivered, lost = map(int, reader.communicate(timeout=PATIENCE)[0].split())
    finally:
        storm.close()
        reader.kill()
        reader.wait()
    return spent / delivered, lost


def floor(build, what, n):
    """The same without perf-prof: CPU ns per event."""
    storm = Storm(build, n)
    walk = subprocess.Popen(measure.pinned([os.path.join(build, 'tests/bench/walk'), what, str(storm.process.pid)]),
                            stdout=subprocess.PIPE, bufsize=0)
    try:
        measure.read_line(walk.stdout, 'walk', time.monotonic() + PATIENCE)
        storm.go()
        storm.finish()
        return float(walk.communicate(timeout=PATIENCE)[0])
    finally:
        storm.close()
        walk.kill()
        walk.wait()


def round_of(samples, opts):
    measure.needs_events()
    for what in 'columns', 'groups':
        samples.put(f'floor {what}', floor(opts.build, what, LONGER * opts.calls))
    for how in 'columns', 'groups', 'events':
        ns, lost = session(opts.build, how, LONGER * opts.calls)
        samples.put(how, ns, note=f'{lost} events lost in the last round' if lost else '')
    for name, script in ('script', SCRIPT), ('callback', callbacks.HANDLERS['count']):
        samples.put(name, median(callbacks.live(opts.build, script, opts.calls)[0]))


def measure_sessions(samples, opts, folder):
    with measure.awake(measure.cpus()[0]):
        for _ in range(ROUNDS):
            samples.attempt([row.name for row in ROWS], round_of, samples, opts)
