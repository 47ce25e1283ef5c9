# SPDX-License-Identifier: Apache-2.0
"""Suites of C programs, through meson: every point of their TAP is a test."""
import json
import os

from . import sanitizers, tap
from .execute import execute
from .result import FAILED, PASSED, SKIPPED, Result


class MesonSuite:
    """C tests of meson's suite `which`."""

    def __init__(self, label, which, kind='build-test', env=None):
        self.label, self.which, self.kind, self.env = label, which, kind, env
        self.only = None        # of --changed: names of programs, for all None

    def programs(self, path):
        with open(os.path.join(path, 'meson-info/intro-tests.json')) as f:
            return [t for t in json.load(f) if t['suite'][0].split(':')[-1] == self.which]

    def parts(self, context):
        """What only computes runs as meson likes; of the others each program is a part."""
        path = context.builds.get(self.kind)
        if all(t['is_parallel'] for t in self.programs(path)):
            return [lambda: self.attempt(context, sorted(self.only or ()))]
        names = [t['name'] for t in sorted(self.programs(path), key=lambda t: -t['timeout'])
                 if self.only is None or t['name'] in self.only]
        return [lambda name=name: self.attempt(context, [name]) for name in names]

    def rest(self, context):
        return []

    def has_rest(self):
        return False

    def attempt(self, context, chosen):
        with sanitizers.reports(self.env) as (env, folder):
            return sanitizers.look(self.label, list(self.run(context, chosen, env or {})), folder)

    def run(self, context, chosen, env):
        path = context.builds.get(self.kind)
        base = '-'.join([self.label, *chosen[:1]])
        log = os.path.join(path, 'meson-logs', f'{base}.json')
        if os.path.exists(log):
            os.unlink(log)
        code, out = execute(['meson', 'test', '-C', path, '--no-rebuild', '--timeout-multiplier', '5',
                             '--suite', self.which, '--logbase', base, *chosen], context.root,
                            {'CMOCKA_MESSAGE_OUTPUT': 'TAP', **env})
        if not os.path.exists(log):
            if 'No tests defined' in out or code == 0:
                return
            yield Result(self.label, f'meson test {" ".join(chosen)}', FAILED, output=out)
            return
        with open(log) as lines:
            for line in lines:
                yield from meson_results(self.label, json.loads(line))


def meson_results(label, test):
    """Results of one test program, from its line in meson's JSON log."""
    name = test['name'].split(' / ')[-1]
    out = test.get('stdout') or ''
    both = out + (test.get('stderr') or '')
    points, whole, any_tap = tap.parse(out)
    for point, status, reason, notes in points:
        yield Result(label, f'{name}: {point}', status, reason, '\n'.join(notes) if status == FAILED else '')
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
