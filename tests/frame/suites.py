# SPDX-License-Identifier: Apache-2.0
"""The suites, one row each in TABLE: what they are called, in which tiers they run, and how."""
import os
import platform
import subprocess
from dataclasses import dataclass, field

from vm import suite as guests

from . import debian, fuzz, kernel
from .build import SANITIZED, Builds
from .ctests import MesonSuite
from .pytests import PytestSuite

# Each runs by a make target of its name (`make test-deep`, `make test-soak`); `test` has what `check` has, too.
CHECK, TEST, DEEP, SOAK = TIERS = 'check', 'test', 'deep', 'soak'

# A sanitizer's exit code must not look like the program's own 1.
SANITIZERS = {
    # --hide-pmu preloads a library; that it isn't the sanitizer's own is no fault
    'ASAN_OPTIONS': 'exitcode=99:detect_stack_use_after_return=1:detect_leaks=1:verify_asan_link_order=0',
    'UBSAN_OPTIONS': 'halt_on_error=1:exitcode=99:print_stacktrace=1',
    'LSAN_OPTIONS': 'print_suppressions=0:suppressions='
                    + os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lsan.supp'),
}


class Context:
    def __init__(self, root, opts):
        self.root = root
        self.opts = opts
        self.builds = Builds(root, opts.werror, opts.python)


@dataclass
class Suite:
    name: str
    what: str
    tiers: tuple
    runner: object              # PytestSuite, MesonSuite or Whole
    essential: bool = False     # without it the others make no sense: it runs before them
    # What its tests run of the build (frame/changed.py), as patterns of targets.
    programs: tuple = field(default=('perf-prof',))


class Whole:
    """A suite of one part, run(context)."""

    def __init__(self, run, kind=None):
        self.run, self.kind = run, kind

    def parts(self, context):
        return [lambda: self.run(context)]

    def has_rest(self):
        return False


def preload():
    """What a Python that was built without sanitizers needs to load a module built with them;
    its own leaks at exit are not ours."""
    libraries = [subprocess.run(['gcc', f'-print-file-name={name}'], capture_output=True,
                                text=True).stdout.strip() for name in ('libasan.so', 'libubsan.so')]
    if 'LD_PRELOAD' in os.environ:      # --hide-pmu
        libraries.append(os.environ['LD_PRELOAD'])
    return {'LD_PRELOAD': ' '.join(libraries), 'PYTHONMALLOC': 'malloc',
            'UBSAN_OPTIONS': SANITIZERS['UBSAN_OPTIONS'],
            'ASAN_OPTIONS': SANITIZERS['ASAN_OPTIONS'].replace('leaks=1', 'leaks=0')}


def folder(name, what, tiers=(CHECK, TEST, DEEP, SOAK), env=SANITIZERS, programs=('perf-prof',)):
    """The suites of tests/NAME: what holds without a kernel, all that is quick, with sanitizers what may run beside others, what
    takes long and can't have those, and what holds on a machine at rest alone."""
    rows = ((CHECK, name, 'build-test', 'not live and not deep and not soak', {}),
            (TEST, name, 'build-test', 'not deep and not soak', {}),
            (DEEP, f'{name}-asan', SANITIZED, 'not slow and not soak and not alone', {'env': env}),
            (DEEP, f'{name}-deep', 'build-test', 'deep and slow', {'word': 'deep'}),
            (SOAK, f'{name}-soak', 'build-test', 'soak', {'word': 'soak'}))
    for tier, label, kind, marks, more in rows:
        if tier in tiers:
            yield Suite(label, what + {SANITIZED: ', under ASan and UBSan'}.get(kind, ''), (tier,),
                        PytestSuite(label, f'tests/{name}', kind, marks=marks, kernel=tier != CHECK, **more), programs=programs)


TABLE = [
    Suite('kernel', f'perf_event_open(2) exists on this kernel ({platform.release()})', (TEST, DEEP, SOAK),
          Whole(lambda context: kernel.check('kernel')), essential=True, programs=()),
    Suite('frame', 'the test frame itself', (CHECK, TEST), PytestSuite('frame', 'tests/frame', None), programs=()),
    Suite('layering', 'order of the rooms, licence lines', (CHECK, TEST),
          PytestSuite('layering', 'tests/layering', None), programs=()),
    # one part each, which takes longest: they begin first
    Suite('vm', 'guests with other kernels under QEMU: amd64 6.1, arm64 6.12 with a PMU', (DEEP,),
          Whole(lambda context: guests.run('vm', context.builds), 'build-test')),
    Suite('debian13', 'make check in a root of Debian 13, as an ordinary user', (DEEP,),
          Whole(lambda context: debian.run('debian13', context.root, 'trixie'))),
    Suite('deb', 'the Debian packages: built, and in clean roots of this Debian and Debian 13', (DEEP,),
          PytestSuite('deb', 'tests/deb', None)),
    Suite('live', 'C: on this kernel', (TEST,), MesonSuite('live', 'live'), programs=('tests/live/*', 'perf-prof')),
    *folder('python', 'scripts in the embedded Python, and the modules', env=preload, programs=('perf-prof', 'python/*')),
    *folder('session', 'import perf_prof: events as batches', env=preload, programs=('perf-prof', 'python/perf_prof/*')),
    *folder('analysis', 'commands that analyse, against perf and against known work'),
    *folder('cli', 'the command line, declared in tests/cli/*.toml'),
    *folder('package', 'libperfevent installed: headers, symbols, ABI, manual pages and their programs',
            (CHECK, TEST), programs=('libperfevent*', 'src/perfevent/*')),
    *folder('examples', 'every file of examples/, every page', (CHECK, TEST)),
    Suite('examples-deep', 'every block of the pages; the site', (DEEP,),
          PytestSuite('examples-deep', 'tests/examples', marks='deep and slow', word='deep')),
    *folder('convert', "recordings in other programs' formats, opened by readers of theirs"),
    *folder('pictures', 'flame graphs and heat maps', (CHECK, TEST, DEEP), programs=('perf-prof', 'tests/helpers/picture')),
    Suite('unit', 'C: bytes in, no kernel', (CHECK, TEST), MesonSuite('unit', 'unit'), programs=('tests/unit/*',)),
    Suite('nopython', 'a program in one file, without Python', (DEEP,), PytestSuite('nopython', 'tests/nopython', 'build-static')),
    Suite('release', 'what `make release` makes', (DEEP,), PytestSuite('release', 'tests/release', 'build-static')),
    Suite('security', 'attacks on root, as other users and as the script (as root)', (DEEP,),
          PytestSuite('security', 'tests/security')),
    Suite('unit-asan', 'unit, under ASan and UBSan', (DEEP,),
          MesonSuite('unit-asan', 'unit', SANITIZED, {**SANITIZERS, 'DAMAGED_COPIES': '150'}), programs=('tests/unit/*',)),
    Suite('peers', 'samples, stacks, lines and names against perf, addr2line and compilers', (DEEP,), MesonSuite('peers', 'peers'),
          programs=('perf-prof', 'tests/helpers/*')),
    Suite('live-asan', 'live, under ASan and UBSan', (DEEP,), MesonSuite('live-asan', 'live', SANITIZED, SANITIZERS),
          programs=('tests/live/*',)),
    Suite('wheel', 'what pip installs: wheels for each Python here, and the program in them', (DEEP,),
          PytestSuite('wheel', 'tests/wheel', None, marks='not soak')),
    Suite('wheel-soak', 'a wheel for aarch64, built here and run by qemu', (SOAK,),
          PytestSuite('wheel-soak', 'tests/wheel', None, marks='soak', word='soak')),
    Suite('newest', 'Python functions of the newest CPython, from Debian packages', (DEEP,),
          PytestSuite('newest', 'tests/newest')),
    Suite('fuzz', 'each fuzzer for a while (--fuzz-seconds), and what they once found', (DEEP,),
          Whole(lambda context: fuzz.run('fuzz', context.root, context.builds.get('build-fuzz'), context.opts.fuzz_seconds),
                'build-fuzz'), programs=('tests/fuzz/*',)),
]
