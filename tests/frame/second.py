# SPDX-License-Identifier: Apache-2.0
"""A second try for what failed on the running kernel.

Thousands of tests share a machine with whatever else runs there, and its kernel leaves out
an event now and then. One that fails once and passes by itself right after doesn't fail the
run, but is never passed over either: the run reports its name and what it said (`unsteady`).
Each is a fault of the test or of the program, to be looked at; `tests/run --strict`, which
knows no second try, finds more of them. Nobody gets a second try who crashed (frame/crashes.py), or in
whom a sanitizer found something (frame/sanitizers.py), nor a suite in which more than MOST failed."""
from dataclasses import replace

from .result import FAILED, PASSED

MOST = 3


def wanted(results):
    """Those that are to be tried again: all that failed, or none."""
    failed = [r for r in results if r.status == FAILED]
    return failed if len(failed) <= MOST and all(r.alone and not r.crashed for r in failed) else []


def look(results, attempt):
    """The results; of those that failed, attempt(what runs them alone) may tell better. What fails
    then, failed."""
    failed = wanted(results)
    if not failed:
        return results
    tried = list(attempt(sorted({r.alone for r in failed})))
    names = {r.name for r in failed}
    passed = {r.name for r in tried} - {r.name for r in tried if r.status != PASSED}
    return [replace(r, status=PASSED, reason='', output='', unsteady=r.output or r.reason or 'it said nothing')
            if r.status == FAILED and r.name in passed else r for r in results] + \
        [r for r in tried if r.status == FAILED and r.name not in names]
