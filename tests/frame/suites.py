# SPDX-License-Identifier: Apache-2.0
"""The suites, one row each in TABLE: what they are called and how they run."""
import os
import platform
import subprocess
from dataclasses import dataclass
from typing import Callable

from vm import suite as guests

from . import fuzz, kernel
from .build import Builds
from .ctests import meson_suite
from .pytests import pytest_suite

# A sanitizer's exit code must not look like the program's own 1.
SANITIZERS = {
    'ASAN_OPTIONS': 'exitcode=99:detect_stack_use_after_return=1:detect_leaks=1',
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
    run: Callable
    essential: bool = False     # without it the others make no sense
    ahead: tuple = ()           # (what is built meanwhile, the suite that it is for)


def run_kernel(context):
    yield kernel.check('kernel')


def preload():
    """What a Python that was built without sanitizers needs to load a module built with them;
    its own leaks at exit are not ours."""
    libraries = [subprocess.run(['gcc', f'-print-file-name={name}'], capture_output=True,
                                text=True).stdout.strip() for name in ('libasan.so', 'libubsan.so')]
    return {'LD_PRELOAD': ' '.join(libraries), 'PYTHONMALLOC': 'malloc',
            'UBSAN_OPTIONS': SANITIZERS['UBSAN_OPTIONS'],
            'ASAN_OPTIONS': SANITIZERS['ASAN_OPTIONS'].replace('leaks=1', 'leaks=0')}


def run_asan_pyperf(context):
    yield from pytest_suite('asan-pyperf', 'tests/python', 'build-asan', preload(),
                            ['-m', 'not slow', '-k', 'test_pyperf or test_sample_fields'])(context)


def run_fuzz(context):
    yield from fuzz.run('fuzz', context.root, context.builds.get('build-fuzz'),
                        context.opts.fuzz_seconds)


def run_vm(context):
    yield from guests.run('vm', context.builds)


TABLE = [
    Suite('kernel', f'perf_event_open(2) exists on this kernel ({platform.release()})',
          run_kernel, essential=True),
    Suite('frame', 'the test frame itself', pytest_suite('frame', 'tests/frame', None)),
    Suite('layering', 'order of the rooms, licence lines, lengths of files',
          pytest_suite('layering', 'tests/layering', None)),
    Suite('unit', 'C: bytes in, no kernel', meson_suite('unit', 'unit')),
    Suite('live', 'C: on this kernel', meson_suite('live', 'live')),
    Suite('cli', 'the command line, declared in tests/cli/*.toml', pytest_suite('cli', 'tests/cli')),
    Suite('python', 'scripts in the embedded Python, and the modules',
          pytest_suite('python', 'tests/python')),
    Suite('analysis', 'commands that analyse, against perf and against known work',
          pytest_suite('analysis', 'tests/analysis')),
    Suite('convert', "recordings in other programs' formats, opened by readers of theirs",
          pytest_suite('convert', 'tests/convert'), ahead=('build-nopython', 'nopython')),
    Suite('pictures', 'flame graphs and heat maps, opened in a browser',
          pytest_suite('pictures', 'tests/pictures'), ahead=('build-asan', 'asan-unit')),
    Suite('examples', 'every file of examples/', pytest_suite('examples', 'tests/examples')),
    Suite('package', 'libperfevent installed: headers, symbols, ABI, manual pages and their programs',
          pytest_suite('package', 'tests/package')),
    Suite('nopython', 'a build without Python', pytest_suite('nopython', 'tests/nopython',
                                                             'build-nopython')),
    Suite('asan-unit', 'unit under ASan and UBSan',
          meson_suite('asan-unit', 'unit', 'build-asan', SANITIZERS)),
    Suite('asan-live', 'live under ASan and UBSan',
          meson_suite('asan-live', 'live', 'build-asan', SANITIZERS)),
    Suite('asan-cli', 'cli under ASan and UBSan, without the slow cases',
          pytest_suite('asan-cli', 'tests/cli', 'build-asan', SANITIZERS, ['-m', 'not slow']),
          ahead=('build-fuzz', 'fuzz')),
    Suite('asan-analysis', 'analyses under ASan and UBSan, without the slow cases',
          pytest_suite('asan-analysis', 'tests/analysis', 'build-asan', SANITIZERS,
                       # what is timed beside perf needs a program at its own speed
                       ['-m', 'not slow', '-k', 'not says_what_perf and not known_shares'])),
    Suite('asan-pyperf', 'pyperf and the fields of samples under ASan and UBSan', run_asan_pyperf),
    Suite('vm', 'guests with other kernels under QEMU: amd64 6.1, arm64 6.12 with a PMU', run_vm),
    Suite('fuzz', 'each fuzzer for a while (--fuzz-seconds), and what they once found', run_fuzz),
]
