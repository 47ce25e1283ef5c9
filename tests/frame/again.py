# SPDX-License-Identifier: Apache-2.0
"""Again, a few times: for what a machine that is away, or a kernel that leaves out an event, may break,
though not at each try. What a program does wrong, it does wrong each time."""
import operator
import re

TRIES = 6

# What a run says where others had the CPU.
LATE = re.compile(r'perf-prof: (?:lost \d+ events?.*|\d+ events? delivered, \d+ lost|'
                  r'\S+ was interrupted at .*: it had not returned 500 ms after the stop)\n')


def attempts(measure, right=operator.not_):
    """Until what measure() returns is right: without more, when it has nothing to complain about."""
    for _ in range(TRIES):
        got = measure()
        if right(got):
            return
    raise AssertionError(got)


def lossless(run):
    """What run() gives once it says that nothing was lost (`lost`); else the last one, for the test to fail by. A
    ring is full, or not read to its end in time, where others have the CPU; what comes without a loss told must be right."""
    for _ in range(TRIES):
        got = run()
        if not got.lost:
            break
    return got


def said(stderr):
    """What it says beside that, for tests that count no events."""
    return LATE.sub('', stderr)
