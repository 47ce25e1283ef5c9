# SPDX-License-Identifier: Apache-2.0
"""Which suites a change can reach: by the build's own tables (which objects include a file, which programs are linked from an
object), and for what is not compiled by the folder in which it lies."""
import fnmatch
import os
import subprocess

# What is not compiled, or not by that alone: the suites that see it. Paths that stand nowhere reach all suites.
SEEN_BY = {
    'README.md': ('examples',), 'docs/': ('examples', 'python', 'session', 'package'),
    'mkdocs.yml': ('examples',), 'tools/site': ('examples',), 'man/': ('package',), 'examples/': ('examples', 'package'),
    'python/': ('python', 'session', 'wheel'), 'web/': ('pictures', 'release'), 'packaging/': ('release',), 'debian/': ('deb', 'package'),
    'include/': ('package',), 'CHANGELOG.md': (), 'CONTRIBUTING.md': (),
    'SECURITY.md': (), 'LICENSE': (), 'tests/README.md': (), 'tests/bench/': (), 'tests/data/': ('python', 'session', 'cli', 'convert', 'analysis'),
    'tests/fuzz/': ('fuzz',), 'tests/vm/': ('vm', 'newest'), 'tests/helpers/': (), 'src/': ('layering',),
}


def git(root, *args):
    return subprocess.run(['git', *args], cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()


def files(root, rev):
    """Paths that differ from REV, in commits or not, and new ones."""
    return sorted({*git(root, 'diff', '--name-only', rev), *git(root, 'ls-files', '--others', '--exclude-standard')})


class Build:
    """The tables of a built folder."""

    def __init__(self, root, path):
        self.root, self.path, self.inputs = root, path, {}
        self.objects = {}       # of each source or header, the objects that read it
        target = ''
        for line in self.ninja('-t', 'deps'):
            if line and not line.startswith(' '):
                target = line.split(':')[0]
            elif line:
                self.objects.setdefault(self.name(line.strip()), set()).add(target)
        self.targets = [line.split(':')[0] for line in self.ninja('-t', 'targets', 'all')]

    def ninja(self, *args):
        return subprocess.run(['ninja', '-C', self.path, *args], capture_output=True, text=True, check=True).stdout.splitlines()

    def name(self, path):
        """As git calls it."""
        return os.path.relpath(os.path.join(self.path, path), self.root)

    def reached(self, patterns, changed):
        """Targets that these patterns name and that are made of what has changed."""
        objects = set().union(*(self.objects.get(path, ()) for path in changed))
        found = []
        for target in self.targets:
            if any(fnmatch.fnmatch(target, p) for p in patterns) and not target.endswith(('.o', '.p', '.symbols')):
                if target not in self.inputs:
                    self.inputs[target] = set(self.ninja('-t', 'inputs', target))
                made_of = self.inputs[target]
                if objects & made_of or any(self.name(path) in changed for path in made_of):
                    found.append(target)
        return found


def choose(context, plan, rev):
    """The suites of the plan that the change can reach, each with only those of its files or programs that it can reach."""
    changed = set(files(context.root, rev))
    build, kept = None, []
    for suite in plan:
        folder = getattr(suite.runner, 'folder', None) or f'tests/{getattr(suite.runner, "which", suite.name)}'
        own = {path for path in changed if path.startswith(folder + '/')}
        seen = any(is_seen(path, suite.name.split('-')[0]) for path in changed - own)
        tests = {path for path in own if path.endswith('.toml') or os.path.basename(path).startswith('test_')}
        programs = []
        if suite.programs and not (seen or own - tests):
            build = build or Build(context.root, context.builds.get('build-test'))
            programs = build.reached(suite.programs, changed)
        if seen or own - tests:
            kept.append(suite)
        elif hasattr(suite.runner, 'which') and programs:
            suite.runner.only = {os.path.basename(program).replace('test_', '', 1) for program in programs}
            kept.append(suite)
        elif programs or tests:
            suite.runner.only = None if programs else tests
            kept.append(suite)
    return kept


def is_seen(path, suite):
    """Whether a path that is none of the suite's own is seen by it otherwise than through programs."""
    for place, suites in SEEN_BY.items():
        if path == place or (place.endswith('/') and path.startswith(place)):
            return suite in suites
    # Of other suites, or of the frame, the build and the tools: those reach everything.
    parts = path.split('/')
    return not (parts[0] == 'tests' and len(parts) > 2 and parts[1] != 'frame')
