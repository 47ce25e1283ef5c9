# SPDX-License-Identifier: Apache-2.0
"""A second try for what failed on the running kernel.

Thousands of tests share a machine with whatever else runs there, and its kernel leaves out
an event now and then. One that fails once and passes by itself right after doesn't fail the
run, but is never passed over either: the run tells its name and what it said (`unsteady`).
Each is a fault of the test or of the program, to be looked at; `tests/run --strict`, which
knows no second try, finds more of them. Nobody gets a second try who crashed, nor
what was built with sanitizers, nor a suite in which more than MOST failed."""
import re
from dataclasses import replace

from .result import FAILED, PASSED

MOST = 3
CRASH = r'(?:4|6|7|8|11|132|134|135|136|139)\b'      # signals, and how a shell tells them
# a sanitizer's report, or a program that a signal ended
NEVER = re.compile(r'Sanitizer|runtime error:|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP)\b|died of signal|with exception|'
                   rf'\b(?:returncode|exit code|code|status)\W{{0,4}}-?(?:99\b|{CRASH})|[(\s]-{CRASH}|'
                   r'[Ss]egmentation|[Aa]borted|core dumped')


def look(results, attempt):
    """The results; of those that failed, attempt(what runs them alone) may tell better. What fails
    then, failed."""
    failed = [r for r in results if r.status == FAILED]
    if not 0 < len(failed) <= MOST or not all(may(r) for r in failed):
        return results
    tried = list(attempt(sorted({r.alone for r in failed})))
    names = {r.name for r in failed}
    passed = {r.name for r in tried} - {r.name for r in tried if r.status != PASSED}
    return [replace(r, status=PASSED, reason='', output='', unsteady=r.output or r.reason or 'it said nothing')
            if r.status == FAILED and r.name in passed else r for r in results] + \
        [r for r in tried if r.status == FAILED and r.name not in names]


def may(result):
    return result.alone and not NEVER.search(result.reason + '\n' + result.output)
