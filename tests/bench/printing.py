# SPDX-License-Identifier: Apache-2.0
"""The text of a sched_switch, by its compiled format, by event.print() and by libtraceevent."""
import os
import re
import subprocess
import tempfile

import measure
from measure import PATIENCE, pinned
from samples import Trouble
from table import Row

ROUNDS = 5
OF_LIBRARY = 0.315       # 500 ns where libtraceevent takes 1,586

ROWS = [
    Row('print sched_switch: libtraceevent, text only', 'libtraceevent'),
    Row('print sched_switch: text only', 'compiled', 'libtraceevent', 'libtraceevent', OF_LIBRARY),
    Row('write of a line of that length', 'write'),
    Row('event.print() of it, without the write', 'print', 'libtraceevent', 'libtraceevent', OF_LIBRARY),
]
SCRIPT = '''
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
    rows = [(cost(kept.print), cost(lambda: write(line)), cost(lambda: None)) for _ in range(3)]
    sys.stdout = out
    for name, values in zip(('print', 'write', 'loop'), zip(*rows)):
        print('cost', name, sorted(values)[1])
'''


def event_print(build):
    """{print, write, loop: ns} of event.print() of a sched_switch, of the write of a line, and
    of the loop around each; into /dev/null."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, 'printing.py')
        with open(script, 'w') as f:
            f.write(SCRIPT)
        done = subprocess.run(pinned([os.path.join(build, 'perf-prof'), 'python', '-e',
                                      'sched:sched_switch', '-N', '1', script]),
                              capture_output=True, text=True, timeout=PATIENCE)
    got = {name: float(ns) for name, ns in re.findall(r'cost (\w+) (\S+)', done.stdout)}
    if done.returncode or len(got) != 3:
        raise Trouble(f'event.print(): {done.stderr.strip()}')
    return got


def prints(samples, build):
    measure.needs_events()
    for _ in range(ROUNDS):
        samples.put_all(measure.program_rows(build, 'bench_print', 3))
        ns = event_print(build)
        samples.put('write', ns['write'] - ns['loop'])
        samples.put('print', ns['print'] - ns['write'])


def measure_prints(samples, opts, folder):
    samples.attempt(['libtraceevent', 'compiled', 'write', 'print'], prints, samples, opts.build)
