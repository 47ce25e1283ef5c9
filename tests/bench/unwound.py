# SPDX-License-Identifier: Apache-2.0
"""Callers by DWARF: what a frame costs, of a recording by `perf record --call-graph dwarf` of a
C++ program, to perf-prof report and to perf script, without inlined functions. By the difference
of a long recording and a short one, so that start and reading of unwind tables do not count."""
import os
import re
import sys

import measure
from measure import cpu_of
from samples import Lack, Trouble
from table import Row

LIVE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'live')
LENGTHS = (1, 8)
ROUNDS = 5

ROWS = [
    Row('callers by DWARF, perf script', 'perf'),
    Row('callers by DWARF, perf-prof report', 'ours', 'perf', 'perf script', 0.5),
    Row('  with start and unwind tables', 'whole ours', 'whole perf', 'perf script', 1),
]


def frames(data, folder):
    text = os.path.join(folder, 'unwound.txt')
    cpu_of(['perf', 'script', '-i', data, '--no-inline', '-F', 'ip'], folder, stdout=text)
    with open(text, errors='surrogateescape') as f:
        return sum(re.match(r'\s*[0-9a-f]', line) is not None for line in f)


def recorded(folder):
    """Paths of a short recording and a long one, and how many frames they have by perf script."""
    sys.path.insert(0, LIVE)
    import test_unwinding
    try:
        program = test_unwinding.build(folder, '-O0')
    except (test_unwinding.Skip, OSError) as trouble:
        raise Lack(str(trouble)) from None
    for length in LENGTHS:
        data = os.path.join(folder, f'unwound{length}.data')
        cpu_of(['perf', 'record', '-q', '--no-buildid', '-m', '16M', '-F', measure.rate(2000), '-e', 'cpu-clock:u',
                '--call-graph', 'dwarf,8192', '-o', data, program, str(length)], folder)
        yield data, frames(data, folder)


def unwind(samples, build, folder):
    measure.needs_perf()
    (short, few), (long, many) = recorded(folder)
    if many - few < 1000:
        raise Trouble(f'perf script has only {many} frames')
    commands = {'perf': ['perf', 'script', '--no-inline', '-F', 'ip', '-i'],
                'ours': [os.path.join(build, 'perf-prof'), 'report', '--no-inline', '-I']}
    for _ in range(ROUNDS):
        for who, command in commands.items():
            ns = cpu_of([*command, long], folder)
            samples.put(f'whole {who}', ns / many)
            samples.put(who, (ns - cpu_of([*command, short], folder)) / (many - few))
    samples.notes['perf'] = f'a frame more; of {many}'


def measure_unwound(samples, opts, folder):
    samples.attempt(['perf', 'ours', 'whole perf', 'whole ours'], unwind, samples, opts.build, folder)
