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
