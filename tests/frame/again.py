# SPDX-License-Identifier: Apache-2.0
"""Again, a few times: for what a machine that is away, or a kernel that leaves out an event, may break,
though not at each try. What a program does wrong, it does wrong each time."""
import operator

TRIES = 4


def attempts(measure, right=operator.not_):
    """Until what measure() returns is right: without more, when it has nothing to complain about."""
    for _ in range(TRIES):
        got = measure()
        if right(got):
            return
    raise AssertionError(got)
