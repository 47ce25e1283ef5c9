# SPDX-License-Identifier: Apache-2.0
"""Build folders of the tests: one per way to build."""
import os
import re
import shutil
import subprocess


class BuildFailed(Exception):
    def __init__(self, what, output):
        super().__init__(what)
        self.what = what
        self.output = output


SANITIZE = ['-Db_sanitize=address,undefined', '-Db_lundef=false', '-Dbuildtype=debugoptimized']

PROGRESS = re.compile(r'^\[\d+/\d+\] (Compiling|Linking|Generating) .*\n', re.M)

# folder -> meson options, environment of the set-up
KINDS = {
    'build-test': ([], {}),
    'build-asan': (SANITIZE, {}),
    'build-nopython': (['-Dpython=disabled'], {}),
    'build-fuzz': (SANITIZE + ['-Dfuzz=true', '-Dpython=disabled'], {'CC': 'clang'}),
}


def execute(what, argv, cwd, env=None):
    done = subprocess.run(argv, cwd=cwd, env={**os.environ, **(env or {})},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace')
    if done.returncode:
        # What ninja did well is no help to who looks for what failed.
        raise BuildFailed(what, PROGRESS.sub('', done.stdout))
    return done.stdout


class Builds:
    """Each folder is set up and built once per run, on first use."""

    def __init__(self, root, werror=False, python=None):
        self.root = root
        self.common = [f'-Dwerror={"true" if werror else "false"}', '-Dtests=true']
        if python:
            self.common.append(f'-Dpython-bin={python}')
        self.state = {}

    def get(self, kind, options=None):
        """Path of the built folder; BuildFailed (each time) if it can't be built. options:
        of a kind that is not in KINDS."""
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

    def _build(self, kind, options):
        options, env = (options, {}) if options else KINDS[kind]
        path = os.path.join(self.root, kind)
        if not shutil.which('meson'):
            raise BuildFailed('meson', 'meson is not installed: tools/install-deps all')
        setup = ['meson', 'setup', kind] + self.common + options
        if os.path.exists(os.path.join(path, 'build.ninja')):
            setup.insert(2, '--reconfigure')
        execute(f'set-up of {kind}', setup, self.root, env)
        execute(f'build of {kind}', ['ninja', '-C', kind], self.root)
        return path
