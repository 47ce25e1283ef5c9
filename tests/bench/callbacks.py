# SPDX-License-Identifier: Apache-2.0
"""A Python function per live event: what it takes of CPU and memory, and what the program that is
watched pays, beside the least code that does the same and beside `perf record`."""
import os
import re
import time

import measure
from measure import Perf, Prof, Storm, storm, task_ns
from samples import Trouble, median
from table import Row

HANDLERS = {
    'none': '',
    'empty': 'def __sample__(e): pass\n',
    'count': 'n = 0\ndef __sample__(e):\n    global n\n    n += 1\n',
    'one': 'n = s = 0\ndef __sample__(e):\n    global n, s\n    n += 1\n    s += e.common_pid\n',
    'six': 'n = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
           '    x = (e._pid, e._tid, e._time, e._cpu, e.common_pid, e.__syscall_nr)\n',
    'dict': 'def __sample__(e): e.to_dict()\n',
}
STORMS = 3          # of a round, with each handler
DICT_KEYS = 12      # of to_dict(), and of the dict of floor_vectorcall
MIB = 1 << 20

ROWS = [
    Row('C walk of a live ring', 'walk'),
    Row('C walk and pev_decode()', 'decode', 'walk', 'walk'),
    Row('floor: vectorcall of an empty function', 'floor empty'),
    Row('floor: count, least code around it', 'floor count', 'floor empty', 'floor'),
    Row('floor: one, least code around it', 'floor one', 'floor empty', 'floor'),
    Row('floor: six, least code around it', 'floor six', 'floor empty', 'floor'),
    Row('no handler for the event', 'none', 'walk', 'walk', 3),
    Row('callback: empty', 'empty', 'floor empty', 'floor'),
    Row('callback: count', 'count', 'floor empty', 'floor', 2.4),
    Row('callback: one field', 'one', 'floor empty', 'floor', 4),
    Row('callback: six fields', 'six', 'floor empty', 'floor', 6.5),
    Row('floor: a key of a dict by template copy', 'floor key'),
    Row('to_dict(), per key', 'key', 'floor key', 'floor', 1.15),
    Row('the workload pays: perf record', 'perf pays'),
    Row('the workload pays: perf-prof python', 'ours pays', 'perf pays', 'perf record', 0.92),
]
CHAIN_ROWS = [
    Row('floor: copy of a list of 20', 'list'),
    Row('callchain, 20 frames repeated', 'chain', 'list', 'floor', 3.7),
]
MEMORY_ROWS = [
    Row('memory beside the rings', 'memory', limit=64, unit='MiB'),
    Row('  growth over the last nine tenths', 'growth', limit=1, unit='MiB'),
]


def lost(stderr):
    """Events that perf-prof says it lost."""
    return sum(int(n) for n in re.findall(r'perf-prof: lost (\d+)', stderr))


def spent_on(prof, n):
    """(CPU ns of perf-prof for n events, ns of the storm per call)"""
    one = Storm(prof.build, n)
    try:
        before, begin = prof.settled_ns(), time.monotonic()
        one.go()
        storm_ns = one.finish() / n
        return prof.settled_ns() - before, time.monotonic() - begin, storm_ns
    finally:
        one.close()


def live(build, script, n):
    """[ns of perf-prof per event], [ns of the storm per call], events lost; of STORMS storms."""
    prof = Prof(build, script)
    try:
        storms = [spent_on(prof, n) for _ in range(STORMS)]
        # What it costs to be there at all (intervals, looking at the rings), over as long.
        before, begin = task_ns(prof.pid), time.monotonic()
        time.sleep(0.5)
        rest = (task_ns(prof.pid) - before) / (time.monotonic() - begin)
        _, err = prof.stop()
    finally:
        prof.close()
    gone = lost(err)
    n -= min(gone / STORMS, n - 1)
    return [max(ns - rest * s, 0) / n for ns, s, _ in storms], [storm_ns for _, _, storm_ns in storms], gone


def under_perf_record(build, n, folder):
    """[CPU ns per call of storms that `perf record` watches]"""
    perf = Perf(folder, 'storm.data')
    try:
        return [storm(build, n) for _ in range(STORMS)]
    finally:
        perf.stop()
        os.unlink(perf.path)


class Round:
    """Everything that is compared, once: what is judged and its floor by turns, so that a slow minute
    of the machine falls on both."""

    def __init__(self, samples, opts, folder):
        self.samples, self.opts, self.folder = samples, opts, folder
        self.floors, self.pays, self.ns = {}, {}, {}

    def floor(self):
        for name, ns in measure.program_rows(self.opts.build, 'floor_vectorcall', 1).items():
            self.floors.setdefault(name, []).append(ns)

    def handlers(self):
        measure.needs_events()
        for name, script in HANDLERS.items():
            self.samples.attempt(['floor empty'], self.floor)
            self.ns[name], self.pays[name], gone = live(self.opts.build, script, self.opts.calls)
            self.samples.put(name, median(self.ns[name]),
                             note=f'{gone} events lost in the last round' if gone else '')
        if 'key' not in self.samples.missing:
            self.samples.put('key', (median(self.ns['dict']) - median(self.ns['empty'])) / DICT_KEYS)

    def walk(self):
        measure.needs_events()
        self.samples.put_all(measure.program_rows(self.opts.build, 'walk', 3))

    def storms(self):
        measure.needs_events()
        alone = [storm(self.opts.build, self.opts.calls) for _ in range(STORMS)]
        self.pays['alone'] = alone
        self.samples.put('ours pays', median(self.pays['count']) - median(alone))

    def perf(self):
        measure.needs_perf()
        ns = under_perf_record(self.opts.build, self.opts.calls, self.folder)
        self.samples.put('perf pays', median(ns) - median(self.pays['alone']))

    def close(self):
        for name, values in self.floors.items():
            self.samples.put('floor ' + name, median(values))
        if self.floors:
            self.samples.put('floor key', (median(self.floors['dict']) - median(self.floors['empty']))
                             / DICT_KEYS)


def check_keys(build):
    """The floor's dict must have as many keys as to_dict()."""
    measure.needs_events()
    prof = Prof(build, 'n = 0\ndef __sample__(e):\n    global n\n    n = len(e.to_dict())\n'
                       'def __exit__():\n    print("keys", n)\n')
    try:
        storm(build, 1000)
        out, _ = prof.stop()
    finally:
        prof.close()
    keys = int(re.search(r'keys (\d+)', out).group(1))
    if keys != DICT_KEYS:
        raise Trouble(f'to_dict() has {keys} keys; floor_vectorcall was written for {DICT_KEYS}')


def rounds(samples, opts, folder):
    begin, number = time.monotonic(), 0
    samples.attempt(['key'], check_keys, opts.build)
    while number < 3 or time.monotonic() - begin < opts.seconds:
        number += 1
        opts.say(f'round {number}')
        once = Round(samples, opts, folder)
        samples.attempt(['walk', 'decode'], once.walk)
        samples.attempt([*HANDLERS], once.handlers)
        samples.attempt(['floor empty'], once.floor)
        samples.attempt(['ours pays'], once.storms)
        samples.attempt(['perf pays'], once.perf)
        once.close()
        if 'count' not in samples.values and number == 3:
            break
    opts.say('')


CHAINS = """
import os, time
mine = int(os.environ['CALLERS'])
rows, frames = [], 0
def cost(function, n):
    begin = time.thread_time_ns()
    function(n)
    return (time.thread_time_ns() - begin) / len(n)
def chain(n):
    for _ in n: kept._callchain
def attribute(n):
    for _ in n: kept._pid
def copy(n):
    for _ in n: have[:]
def name(n):
    for _ in n: have
def __sample__(e):
    global kept, have, frames
    if e._pid == mine:
        kept, have = e, e._callchain
        frames, n = len(have), range(10000)
        rows.append((cost(chain, n) - cost(attribute, n), cost(copy, n) - cost(name, n)))
        kept = None
def __exit__():
    for row in rows:
        print('chain', frames, *row)
"""


def callchain(samples, opts):
    measure.needs_events()
    callers = measure.start(opts.build, 'callers', '--wait', '--depth', '15', '30')
    try:
        os.environ['CALLERS'] = measure.pid_of(callers)
        prof = Prof(opts.build, CHAINS, ['--user-callchain', '--no-kernel-callchain'])
        try:
            callers.communicate(b'x', timeout=measure.PATIENCE)
            prof.settled_ns()
            out, _ = prof.stop()
        finally:
            prof.close()
    finally:
        callers.kill()
        callers.communicate()
    for frames, chain, copy in re.findall(r'chain (\d+) (\S+) (\S+)', out):
        if int(frames) != 20:
            raise Trouble(f'a chain of {frames} frames instead of 20')
        samples.put('chain', float(chain))
        samples.put('list', float(copy))


def memory(samples, opts):
    measure.needs_events()
    first = opts.memory_events // 10
    prof = Prof(opts.build, HANDLERS['six'])
    try:
        storm(opts.build, first)
        prof.settled_ns()
        early, _ = prof.memory()
        storm(opts.build, opts.memory_events - first)
        prof.settled_ns()
        late, rings = prof.memory()
        prof.stop()
    finally:
        prof.close()
    samples.put('memory', late / MIB,
                note=f'{opts.memory_events / 1e6:g} M events; rings {rings / MIB:.0f} MiB')
    samples.put('growth', (late - early) / MIB)


def measure_callbacks(samples, opts, folder):
    with measure.awake(measure.cpus()[0]):
        rounds(samples, opts, folder)


def measure_chains(samples, opts, folder):
    samples.attempt(['chain', 'list'], callchain, samples, opts)


def measure_memory(samples, opts, folder):
    samples.attempt(['memory', 'growth'], memory, samples, opts)
