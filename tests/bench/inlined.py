# SPDX-License-Identifier: Apache-2.0
"""Inlined functions and lines of 10,000 addresses of a C++ program, read for the first time
and known already, against llvm-symbolizer, where it is installed, and perf script."""
import os
import random
import re
import shutil
import subprocess
import sys
import time

from measure import Trouble, median

LIVE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'live')
ADDRESSES = 10000
ROUNDS = 5


def wall(argv, **more):
    """What a command prints, and the ns that it takes; perf has helpers, so it is no CPU time."""
    begin = time.monotonic_ns()
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors='surrogateescape', timeout=300, **more)
    if done.returncode:
        raise Trouble(f'{argv[0]} ended with {done.returncode}')
    return done.stdout, time.monotonic_ns() - begin


def perf_script(program, folder):
    """ns that perf takes for the inlined functions of one unique address; how many there were."""
    data = os.path.join(folder, 'inlined.data')
    wall(['perf', 'record', '-q', '-F', '2000', '-e', 'cpu-clock:u', '--call-graph', 'dwarf,8192',
          '--no-buildid', '-o', data, program])
    command = ['perf', 'script', '-i', data, '-F', 'ip,sym,dso']
    text, with_them = wall([*command, '--inline'])
    _, without = wall([*command, '--no-inline'])
    unique = set(re.findall(r'^\s*([0-9a-f]+) .*\(' + re.escape(program) + r'\)$', text, re.M))
    if len(unique) < 50:
        raise Trouble(f'perf script has only {len(unique)} addresses')
    return (with_them - without) / len(unique), len(unique)


def measured(build, folder):
    """{who: ns per address}, and how many addresses perf was measured with."""
    sys.path.insert(0, LIVE)
    try:
        import test_inlines
        program = test_inlines.build(folder, *test_inlines.WAYS[0][1:])
        code = re.findall(r'^ +([0-9a-f]+):', test_inlines.run(
            ['objdump', '-d', '--no-show-raw-insn', '-j', '.text', program]), re.M)
    except (test_inlines.Skip, OSError) as trouble:
        raise Trouble(str(trouble)) from None
    some = random.Random(7).sample(code, ADDRESSES)
    bare, zero_x = '\n'.join(some) + '\n', '\n'.join('0x' + a for a in some) + '\n'
    frames_at = os.path.join(build, 'tests/helpers/frames_at')
    got = {'cold': [], 'warm': [], 'llvm': []}
    for _ in range(ROUNDS):
        got['cold'].append(wall([frames_at, program], input=bare)[1] / ADDRESSES)
        text, _ = wall([frames_at, '--time', program], input=bare)
        got['warm'].append(float(re.search(r'warm ([0-9.]+) ns', text).group(1)))
        if shutil.which('llvm-symbolizer'):
            got['llvm'].append(wall(['llvm-symbolizer', '--inlines', '--obj=' + program],
                                    input=zero_x)[1] / ADDRESSES)
    medians = {who: median(values) for who, values in got.items() if values}
    medians['perf'], unique = perf_script(program, folder)
    return medians, unique
