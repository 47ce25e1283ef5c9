# SPDX-License-Identifier: Apache-2.0
"""What the program of tests/vm/check says, line by line."""
from dataclasses import dataclass

from frame import tap
from frame.result import FAILED, SKIPPED

WORKS, REFUSED = 'works', 'refused'     # FAILED and SKIPPED are the frame's


@dataclass
class Check:
    name: str
    outcome: str
    text: str = ''      # what was tried, expected and seen, or why it was skipped


def parse(out):
    """[Check] of a run."""
    found = []
    for point, status, reason, _ in tap.parse(out)[0]:
        name, _, rest = point.partition(': ')
        outcome, _, text = rest.partition(': ')
        if status == FAILED:
            outcome = FAILED
        elif status == SKIPPED:
            outcome, text = SKIPPED, reason
        found.append(Check(name, outcome, text))
    return found


def trouble(done):
    """None, or what is wrong with the run as such."""
    points, whole, _ = tap.parse(done.out)
    if not whole:
        return f'it broke off after {len(points)} checks, exit code {done.code}'
    if (done.code != 0) != any(p[1] == FAILED for p in points):
        return f'exit code {done.code}'
    return None
