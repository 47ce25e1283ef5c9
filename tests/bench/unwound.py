# SPDX-License-Identifier: Apache-2.0
"""Callers by DWARF: what a frame costs, of a recording by `perf record --call-graph dwarf` of a
C++ program, to perf-prof report and to perf script, without inlined functions. By the difference
of a long recording and a short one, so that start and reading of unwind tables do not count."""
import os
import re
import resource
import subprocess
import sys

from measure import Trouble, median

LIVE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'live')
LENGTHS = (1, 8)
ROUNDS = 5


def cpu(argv):
    """What a command prints, and the ns of CPU that it and its children take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors='surrogateescape', timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Trouble(f'{argv[:2]} ended with {done.returncode}')
    return done.stdout, 1e9 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def recorded(folder):
    """Paths of a short recording and a long one, and how many frames they have by perf script."""
    sys.path.insert(0, LIVE)
    import test_unwinding
    try:
        program = test_unwinding.build(folder, '-O0')
    except (test_unwinding.Skip, AssertionError, OSError) as trouble:
        raise Trouble(str(trouble)) from None
    for length in LENGTHS:
        data = os.path.join(folder, f'unwound{length}.data')
        cpu(['perf', 'record', '-q', '--no-buildid', '-m', '16M', '-F', '2000', '-e', 'cpu-clock:u',
             '--call-graph', 'dwarf,8192', '-o', data, program, str(length)])
        text, _ = cpu(['perf', 'script', '-i', data, '--no-inline', '-F', 'ip'])
        yield data, len(re.findall(r'^\s*[0-9a-f]+', text, re.M))


def measured(build, folder):
    """{who: ns a frame}, {who: ns a frame, start included}, and frames of the long recording."""
    (short, few), (long, many) = recorded(folder)
    if many - few < 1000:
        raise Trouble(f'perf script has only {many} frames')
    commands = {'perf': ['perf', 'script', '--no-inline', '-F', 'ip', '-i'],
                'ours': [os.path.join(build, 'perf-prof'), 'report', '--no-inline', '-I']}
    more, whole = {who: [] for who in commands}, {who: [] for who in commands}
    for _ in range(ROUNDS):
        for who, command in commands.items():
            ns = cpu([*command, long])[1]
            whole[who].append(ns / many)
            more[who].append((ns - cpu([*command, short])[1]) / (many - few))
    return ({who: median(v) for who, v in more.items()}, {who: median(v) for who, v in whole.items()}, many)
