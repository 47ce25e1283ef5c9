# SPDX-License-Identifier: Apache-2.0
"""Suites of Python tests, through pytest and its report in JUnit's format: each large file of tests by
itself, small ones a few together, so that several can run at the same time."""
import fnmatch
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree

from . import sanitizers
from .execute import execute
from .result import FAILED, PASSED, SKIPPED, Result

PYTEST = ['/usr/bin/python3', '-B', '-m', 'pytest', '-p', 'no:cacheprovider', '-q', '--tb=short']
NOTHING_RAN = 5
SMALL = 32 << 10      # bytes of tests for which a pytest, which starts in half a second, may well be started


class PytestSuite:
    """Python tests in `folder`; kind None = they need no program; kernel False = they get no events of this one."""

    def __init__(self, label, folder, kind='build-test', env=None, marks='', word='', kernel=True):
        self.label, self.folder, self.kind, self.env, self.marks, self.kernel = label, folder, kind, env, marks, kernel
        self.word = word        # files without it have no test with such a mark
        self.only = None        # of --changed: paths, for all None
        self.lonely = []        # tests that were left out, as they are marked `alone`

    def paths(self, root):
        """The files with tests, the longest first: they take the longest, more or less."""
        found = []
        for folder, folders, names in os.walk(os.path.join(root, self.folder)):
            folders[:] = [f for f in folders if f not in ('node_modules', 'readers')]
            found += [os.path.join(folder, name) for name in names
                      if fnmatch.fnmatch(name, 'test_*.py') or name.endswith('.toml')]
        if self.word:
            found = [p for p in found if self.word in text_of(p)]
        found = [os.path.relpath(p, root) for p in sorted(found, key=lambda p: (-os.path.getsize(p), p))]
        return [p for p in found if self.only is None or p in self.only]

    def together(self, root):
        """Lists of files that one pytest runs: none of several files is larger than SMALL."""
        lists, size = [], SMALL
        for path in self.paths(root):
            more = os.path.getsize(os.path.join(root, path))
            if size + more > SMALL:
                lists.append([])
                size = 0
            lists[-1].append(path)
            size += more
        return lists

    def parts(self, context):
        return [lambda paths=paths: self.attempt(context, paths, alone=False) for paths in self.together(context.root)]

    def rest(self, context):
        """What may not run beside anything, now that nothing else runs."""
        lonely, self.lonely = self.lonely, []
        return list(self.attempt(context, sorted(lonely))) if lonely else []

    def has_rest(self):
        return bool(self.lonely)

    def attempt(self, context, chosen, alone=True):
        """alone: it runs beside nothing else; else what may not run beside others is left out."""
        with sanitizers.reports(self.env() if callable(self.env) else self.env) as (env, folder):
            return sanitizers.look(self.label, list(self.run(context, chosen, alone, env)), folder)

    def run(self, context, chosen, alone, env):
        # (perf takes what begins with /tmp/perf- for maps of just-in-time compilers)
        with tempfile.TemporaryDirectory(prefix='tests-of-perf-prof-', ignore_cleanup_errors=True) as folder:
            os.chmod(folder, 0o755)     # some tests run programs as nobody
            xml, lonely = os.path.join(folder, 'junit.xml'), os.path.join(folder, 'lonely')
            argv = [*PYTEST, *chosen, f'--junitxml={xml}', f'--basetemp={folder}/tmp']
            if not self.kernel:
                argv = [PYTEST[0], os.path.join(context.root, 'tests/frame/nokernel.py'), *argv]
            if not alone:
                argv.append(f'--beside-others={lonely}')
            if self.kind:
                argv += ['--build', context.builds.get(self.kind)]
            if self.marks:
                argv += ['-m', self.marks]
            if context.opts.k:
                argv += ['-k', context.opts.k]
            code, out = execute(argv, context.root, env)
            results = list(junit_results(self.label, xml)) if os.path.exists(xml) else []
            if os.path.exists(lonely):
                with open(lonely) as left_out:
                    self.lonely += left_out.read().splitlines()
        yield from results
        if code not in (0, 1, NOTHING_RAN) or (code == 1 and not any(r.status == FAILED for r in results)):
            yield Result(self.label, f'pytest {" ".join(chosen[:3])}', FAILED, f'exit code {code}', out)


def text_of(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def junit_results(label, path):
    for case in ElementTree.parse(path).getroot().iter('testcase'):
        where = re.sub(r'\.toml$', '', case.get('classname', '')).split('.')[-1]
        name = f'{where}: {case.get("name")}' if where else case.get('name')
        bad = [e for e in case if e.tag in ('failure', 'error')]
        crashed = [p.get('value') for p in case.iter('property') if p.get('name') == 'crashed']
        skip = case.find('skipped')
        if bad:
            yield Result(label, name, FAILED, '; '.join(crashed), output='\n'.join(e.text or '' for e in bad))
        elif skip is not None:
            yield Result(label, name, SKIPPED, skip.get('message', ''))
        else:
            yield Result(label, name, PASSED)
