# SPDX-License-Identifier: Apache-2.0
"""Suites of C programs, through meson: every point of their TAP is a test."""
import json
import os

from . import second, tap
from .build import SANITIZED
from .execute import execute
from .result import FAILED, PASSED, SKIPPED, Result


def meson_suite(label, which, kind='build-test', env=None):
    """C tests of meson's suite `which`: those of `live` may be tried a second time."""
    def attempt(context, path, chosen):
        log = os.path.join(path, 'meson-logs', f'{label}.json')
        if os.path.exists(log):
            os.unlink(log)
        code, out = execute(['meson', 'test', '-C', path, '--no-rebuild', '--timeout-multiplier', '5', '--suite', which,
                             '--logbase', label, *chosen], context.root,
                            {'CMOCKA_MESSAGE_OUTPUT': 'TAP', **(env or {})})
        if not os.path.exists(log):
            if 'No tests defined' in out or code == 0:
                return
            yield Result(label, 'meson test', FAILED, output=out)
            return
        with open(log) as lines:
            for line in lines:
                yield from meson_results(label, json.loads(line))

    def run(context):
        path = context.builds.get(kind)
        results = list(attempt(context, path, []))
        if which == 'live' and kind != SANITIZED and not context.opts.strict:
            results = second.look(results, lambda chosen: attempt(context, path, chosen))
        return results
    return run


def meson_results(label, test):
    """Results of one test program, from its line in meson's JSON log."""
    name = test['name'].split(' / ')[-1]
    out = test.get('stdout') or ''
    both = out + (test.get('stderr') or '')
    points, whole, any_tap = tap.parse(out)
    for point, status, reason, notes in points:
        yield Result(label, f'{name}: {point}', status, reason,
                     '\n'.join(notes) if status == FAILED else '', alone=name)
    code = test['returncode']
    failed_points = sum(p[1] == FAILED for p in points)
    # cmocka ends with how many failed, others with 1; what else it ends with is trouble of its own
    if any_tap and whole and code in ({1, failed_points} if failed_points else {0}) and test['result'] != 'TIMEOUT':
        return
    if code == 77 and not points:
        lines = [line for line in both.splitlines() if line.strip()]
        yield Result(label, name, SKIPPED, lines[-1].strip() if lines else '')
    elif code == 0 and not any_tap and test['result'] == 'OK':
        yield Result(label, name, PASSED)
    else:
        yield Result(label, name, FAILED, f'{test["result"]}, exit code {code}', both)
