# SPDX-License-Identifier: Apache-2.0
"""Build folders of the tests: one per way to build."""
import os
import re
import shutil
import threading

from .execute import execute as run


class BuildFailed(Exception):
    def __init__(self, what, output):
        super().__init__(what)
        self.what = what
        self.output = output


SANITIZED = 'build-asan'
SANITIZE = ['-Db_sanitize=address,undefined', '-Db_lundef=false', '-Doptimization=1', '-Ddebug=true']

PROGRESS = re.compile(r'^\[\d+/\d+\] (Compiling|Linking|Generating) .*\n', re.M)

# folder -> meson options, environment of the set-up
KINDS = {
    'build-test': ([], {}),
    # -O1 does not know what values can be: it warns of texts that might be cut
    SANITIZED: (SANITIZE + ['-Dc_args=-Wno-format-truncation -g1'], {}),
    # One file, without Python. A few tests, none of speed: compiling fast counts.
    'build-static': (['-Dpython=disabled', '-Dprefer_static=true', '-Dtests=false', '-Doptimization=0', '-Ddebug=false',
                        '-Dc_args=-Wno-format-truncation'], {}),
    'build-fuzz': (SANITIZE + ['-Dfuzz=true', '-Dpython=disabled', '-Dc_args=-g1'], {'CC': 'clang'}),
}
TARGETS = {'build-fuzz': ['fuzzers']}      # else all


def execute(what, argv, cwd, env=None):
    # a sanitized perf-prof, which writes its manual, does not run behind what --hide-pmu loads
    code, out = run(argv, cwd, {**(env or {}), 'LD_PRELOAD': ''})
    if code:
        # What ninja did well is no help to who looks for what failed.
        raise BuildFailed(what, PROGRESS.sub('', out))
    return out


class Builds:
    """Each folder is set up and built once per run, on first use."""

    def __init__(self, root, werror=False, python=None):
        self.root = root
        self.common = [f'-Dwerror={"true" if werror else "false"}', '-Dtests=true']
        if python:
            self.common.append(f'-Dpython-bin={python}')
        self.state = {}
        self.locks = {}

    def get(self, kind, options=None):
        """Path of the built folder; BuildFailed (each time) if it can't be built. options:
        of a kind that is not in KINDS."""
        with self.locks.setdefault(kind, threading.Lock()):
            if kind not in self.state:
                try:
                    self.state[kind] = self._build(kind, options)
                except BuildFailed as failed:
                    self.state[kind] = failed
            state = self.state[kind]
        if isinstance(state, BuildFailed):
            self.state[kind] = BuildFailed(state.what, 'the build failed, see above')
            raise state
        return state

    def _setup(self, kind, options):
        options, env = (options, {}) if options else KINDS[kind]
        setup = ['meson', 'setup', kind] + self.common + options
        if os.path.exists(os.path.join(self.root, kind, 'build.ninja')):
            setup.insert(2, '--reconfigure')
        return setup, env

    def _build(self, kind, options):
        path = os.path.join(self.root, kind)
        if not shutil.which('meson'):
            raise BuildFailed('meson', 'meson is not installed: tools/install-deps all')
        setup, env = self._setup(kind, options)
        execute(f'set-up of {kind}', setup, self.root, env)
        execute(f'build of {kind}', ['ninja', '-C', kind, *TARGETS.get(kind, ())], self.root)
        return path
