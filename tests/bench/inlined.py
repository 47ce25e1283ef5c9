# SPDX-License-Identifier: Apache-2.0
"""Inlined functions and lines of 10,000 addresses of a C++ program, read for the first time
and known already, against llvm-symbolizer, where it is installed, and perf script."""
import os
import random
import re
import sys

import measure
from frame import requires
from measure import cpu_of
from samples import Lack, Trouble
from table import Row

LIVE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'live')
ADDRESSES = 10000
ROUNDS = 5

ROWS = [
    Row('inlined functions, perf script --inline', 'perf'),
    Row('inlined functions, DWARF read for it', 'cold', 'perf', 'perf script', 1 / 30),
    Row('inlined functions, llvm-symbolizer', 'llvm'),
    Row('  DWARF read for it, against that', 'cold', 'llvm', 'llvm-symbolizer', 1),
    Row('floor: binary search of the address', 'floor'),
    Row('  known already', 'known', 'floor', 'floor', 11),
]


def perf_script(samples, program, folder):
    """ns that perf takes for the inlined functions of one unique address."""
    measure.needs_perf()
    data, text = os.path.join(folder, 'inlined.data'), os.path.join(folder, 'inlined.txt')
    cpu_of(['perf', 'record', '-q', '-F', measure.rate(2000), '-e', 'cpu-clock:u', '--call-graph', 'dwarf,8192',
            '--no-buildid', '-o', data, program], folder)
    command = ['perf', 'script', '-i', data, '-F', 'ip,sym,dso']
    with_them = cpu_of([*command, '--inline'], folder, stdout=text)
    without = cpu_of([*command, '--no-inline'], folder)
    with open(text, errors='surrogateescape') as f:
        unique = set(re.findall(r'^\s*([0-9a-f]+) .*\(' + re.escape(program) + r'\)$', f.read(), re.M))
    if len(unique) < 50:
        raise Trouble(f'perf script has only {len(unique)} addresses')
    samples.put('perf', (with_them - without) / len(unique), note=f'an address; of {len(unique)} unique ones')


def make_program(folder):
    """A C++ program, and some addresses of its code."""
    sys.path.insert(0, LIVE)
    import test_inlines
    try:
        program = test_inlines.build(folder, *test_inlines.WAYS[0][1:])
        code = re.findall(r'^ +([0-9a-f]+):', test_inlines.run(
            ['objdump', '-d', '--no-show-raw-insn', '-j', '.text', program]), re.M)
    except (test_inlines.Skip, OSError) as trouble:
        raise Lack(str(trouble)) from None
    return program, random.Random(7).sample(code, ADDRESSES)


def ours(samples, build, folder, program, some):
    bare = os.path.join(folder, 'addresses')
    with open(bare, 'w') as f:
        f.write('\n'.join(some) + '\n')
    frames_at = os.path.join(build, 'tests/helpers/frames_at')
    for _ in range(ROUNDS):
        samples.put('cold', cpu_of([frames_at, program], folder, stdin=bare) / ADDRESSES)
        with open(bare) as f:
            samples.put_all(measure.program_rows(build, 'bench_inlined', 5, program, stdin=f.read()))
        samples.attempt(['llvm'], llvm, samples, folder, program, some)


def llvm(samples, folder, program, some):
    measure.need(requires.program('llvm-symbolizer'))
    asked = os.path.join(folder, 'addresses.0x')
    with open(asked, 'w') as f:
        f.write('\n'.join('0x' + a for a in some) + '\n')
    samples.put('llvm', cpu_of(['llvm-symbolizer', '--inlines', '--obj=' + program], folder, stdin=asked)
                / ADDRESSES)


def measured(samples, build, folder):
    program, some = make_program(folder)
    samples.attempt(['cold', 'known', 'floor'], ours, samples, build, folder, program, some)
    samples.attempt(['perf'], perf_script, samples, program, folder)


def measure_inlined(samples, opts, folder):
    samples.attempt([row.name for row in ROWS], measured, samples, opts.build, folder)
