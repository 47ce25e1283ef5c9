# SPDX-License-Identifier: Apache-2.0
"""What one test came to."""
from dataclasses import dataclass

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'


@dataclass
class Result:
    suite: str
    name: str
    status: str
    reason: str = ''    # of a skip, or a word on a failure
    output: str = ''    # of a failure
    alone: str = ''     # what its runner calls it: runs it by itself
    crashed: str = ''   # what program crashed in it and how, known by its exit status
    unsteady: str = ''  # output of a first try that failed, where the second passed
