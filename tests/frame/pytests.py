# SPDX-License-Identifier: Apache-2.0
"""Suites of Python tests, through pytest and its report in JUnit's format."""
import os
import re
import xml.etree.ElementTree as ElementTree

from . import second
from .build import SANITIZED
from .execute import execute
from .result import FAILED, PASSED, SKIPPED, Result

PYTEST = ['/usr/bin/python3', '-B', '-m', 'pytest', '-p', 'no:cacheprovider', '-q', '--tb=short']


def pytest_suite(label, folder, kind='build-test', env=None, args=()):
    """Python tests in `folder`; kind None = they need no program, and so no second try
    (nor do sanitizers give one)."""
    def attempt(context, path, chosen, args):
        # A name of its own: a run within a build of another kind must not read it.
        xml = os.path.join(context.root, path, f'pytest-{label}.xml')
        if kind is None:
            xml = os.path.join('/tmp', f'perf-prof-tests-{os.getpid()}-{label}.xml')
        argv = PYTEST + chosen + [f'--junitxml={xml}'] + list(args)
        if kind:
            argv += ['--build', path]
        if context.opts.k:
            argv += ['-k', context.opts.k]
        code, out = execute(argv, context.root, env)
        results = list(junit_results(label, xml)) if os.path.exists(xml) else []
        if os.path.exists(xml):
            os.unlink(xml)
        yield from results
        # 5: nothing collected
        if code not in (0, 1, 5) or (code == 1 and not any(r.status == FAILED for r in results)):
            yield Result(label, 'pytest', FAILED, f'exit code {code}', out)

    def run(context):
        if not os.path.isdir(os.path.join(context.root, folder)):
            return []
        path = context.builds.get(kind) if kind else context.root
        results = list(attempt(context, path, [folder], args))
        if kind and kind != SANITIZED and not context.opts.strict:
            results = second.look(results, lambda chosen: attempt(context, path, chosen, ()))
        return results
    return run


def junit_results(label, path):
    for case in ElementTree.parse(path).getroot().iter('testcase'):
        where = re.sub(r'\.toml$', '', case.get('classname', '')).split('.')[-1]
        name = f'{where}: {case.get("name")}' if where else case.get('name')
        bad = [e for e in case if e.tag in ('failure', 'error')]
        skip = case.find('skipped')
        if bad:
            yield Result(label, name, FAILED, output='\n'.join(e.text or '' for e in bad),
                         alone=node(case))
        elif skip is not None:
            yield Result(label, name, SKIPPED, skip.get('message', ''))
        else:
            yield Result(label, name, PASSED)


def node(case):
    """What pytest calls the case on its command line (told by tests/conftest.py)."""
    return next((p.get('value') for p in case.iter('property') if p.get('name') == 'node'), '')
