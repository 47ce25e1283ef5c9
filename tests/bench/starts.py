# SPDX-License-Identifier: Apache-2.0
"""From start to the first event in a Python function, and to the first line of a profile; beside the
least programs that do it. Wall-clock time: it is what one waits for, and goes by on processes that
perf-prof starts and on the kernel. And an import of perf_prof, beside that of the modules of Python that it needs: CPU time."""
import os
import re
import select
import subprocess
import sys
import tempfile
import time

import measure
from analyses import works
from measure import EVENT, PATIENCE, Storm, pinned
from samples import Trouble
from table import Row

# Limits: 60 ms to a handler and 150 ms to a line where the floors take 8.8, 12.4 and 27.3 ms.
ROUNDS = 9
MS = 1e6

ROWS = [
    Row('floor: interpreter and a function', 'floor init', unit='ms'),
    Row('start to __init__()', 'init', 'floor init', 'floor', 2.5, unit='ms'),
    Row('start to __init__(), with -g', 'init -g', 'floor init', 'floor', 2.5, unit='ms'),
    Row('floor: rings, and the first event to it', 'floor event', unit='ms'),
    Row('start to first event in a handler', 'event', 'floor event', 'floor', 4.8, unit='ms'),
    Row('floor: sampling, names of the kernel read', 'floor line', unit='ms'),
    Row('start of profile -g to first output', 'line', 'floor line', 'floor', 5.5, unit='ms'),
    Row('floor: import of what perf_prof imports', 'floor import', unit='ms'),
    Row('import perf_prof', 'import', 'floor import', 'floor', 3.0, unit='ms'),
]
IMPORTS = {'floor import': 'collections, errno, functools, importlib, select, threading, typing', 'import': 'perf_prof'}
SCRIPTS = {
    'event': 'import time\ndef __sample__(e):\n    print("event", time.monotonic_ns(), flush=True)\n',
    'init': 'import sys, time\ndef __init__():\n    print("init", time.monotonic_ns())\n    sys.exit()\n'
            'def __sample__(e): pass\n',
}


def times(argv, cwd=None):
    """{what a line begins with: ms from the start of the command to the time that it tells}"""
    begin = time.monotonic_ns()
    done = subprocess.run(pinned(argv), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE)
    got = {what: (int(at) - begin) / MS for what, at in re.findall(r'^(\w+) (\d+)$', done.stdout, re.M)}
    if not got:
        raise Trouble(f'{os.path.basename(argv[0])}: {done.stderr[-500:].strip() or "no event came"}')
    return got


def script(build, what, *options):
    with tempfile.TemporaryDirectory(prefix='perf-prof-bench-') as folder:
        with open(os.path.join(folder, 's.py'), 'w') as f:
            f.write(SCRIPTS[what])
        return times([os.path.join(build, 'perf-prof'), 'python', '-e', EVENT, *options, 's.py'], folder)[what]


def python(samples, build):
    measure.needs_events()
    floor = measure.program(build, 'floor_start')
    storm = Storm(build, 10 ** 9)       # events all the time
    try:
        storm.go()
        for _ in range(ROUNDS):
            samples.put_all(times([floor]), 'floor ')
            samples.put('event', script(build, 'event', '-N', '1'))
            samples.put('init', script(build, 'init'))
            samples.put('init -g', script(build, 'init', '-g'))
    finally:
        storm.close()


def first_line(argv):
    """ms until a command prints something."""
    begin = time.monotonic_ns()
    prof = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        if not select.select([prof.stdout], [], [], PATIENCE)[0] or not os.read(prof.stdout.fileno(), 100):
            raise Trouble(f'{" ".join(argv)} prints nothing')
        return (time.monotonic_ns() - begin) / MS
    finally:
        prof.kill()
        prof.communicate()


def profile(samples, build):
    measure.needs_events()
    floor = measure.program(build, 'floor_profile')
    busy = works(build, 'spin', 60000)
    try:
        for _ in range(ROUNDS):
            samples.put('floor line', first_line([floor, measure.rate(997)]))
            samples.put('line', first_line([os.path.join(build, 'perf-prof'), 'profile', '-g', '--samples']))
    finally:
        busy.kill()
        busy.wait()


def import_ms(build, modules):
    code = f'import time; begin = time.process_time_ns(); import {modules}; print(time.process_time_ns() - begin)'
    done = subprocess.run(pinned([sys.executable, '-c', code]), env={**os.environ, 'PYTHONPATH': os.path.join(build, 'python')},
                          capture_output=True, text=True)
    if done.returncode:
        raise Trouble(done.stderr.strip().splitlines()[-1])
    return int(done.stdout) / MS


def imports(samples, build):
    for _ in range(ROUNDS):
        for what, modules in IMPORTS.items():
            samples.put(what, import_ms(build, modules))


def measure_starts(samples, opts, folder):
    samples.attempt(['floor import', 'import'], imports, samples, opts.build)
    samples.attempt(['floor init', 'floor event', 'init', 'init -g', 'event'], python, samples, opts.build)
    samples.attempt(['floor line', 'line'], profile, samples, opts.build)
