# SPDX-License-Identifier: Apache-2.0
"""The suites, one row each in TABLE: what they are called and how they run."""
import os
import platform
import subprocess
from dataclasses import dataclass

from vm import suite as guests

from . import fuzz, kernel
from .build import SANITIZED, WHEEL, Builds
from .ctests import MesonSuite
from .pytests import PytestSuite

# `make test` and `make test-deep`: the second has what needs sanitizers, guests, fuzzers or a browser.
QUICK, DEEP = TIERS = 'quick', 'deep'

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
    runner: object              # PytestSuite, MesonSuite or Whole
    tier: str = QUICK
    essential: bool = False     # without it the others make no sense: it runs before them


class Whole:
    """A suite of one part, run(context)."""

    def __init__(self, run, kind=None):
        self.run, self.kind = run, kind

    def parts(self, context):
        return [lambda: self.run(context)]

    def has_rest(self):
        return False

    def may_try_again(self, context, results):
        return False


def run_kernel(context):
    yield from kernel.check('kernel')


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


def run_fuzz(context):
    yield from fuzz.run('fuzz', context.root, context.builds.get('build-fuzz'),
                        context.opts.fuzz_seconds)


def run_vm(context):
    yield from guests.run('vm', context.builds)


# Where pip installed perf-prof, `python` refuses what gives up rights (sudo, --user); an environment of --venv needs
# perf_prof, and VIRTUAL_ENV means nothing. pyperf, which some tests use, is another distribution; an environment imports
# its site. And the helpers' paths lead through a link there, which the kernel resolves.
NOT_IN_A_WHEEL = [f'--deselect=tests/{test}' for test in (
    "cli/scripts.toml::a command of root's goes on where the script is another user's",
    'cli/scripts.toml::a script in a folder that its user may not enter',
    'cli/scripts.toml::a command that cannot be executed has never run',
    'python/test_privilege.py', 'python/test_pyperf',
    'python/test_probes.py::test_no_probe_is_left_where_privileges_were_dropped',
    'python/test_probes.py::test_usdt_probes_are_listed',
    'python/test_record.py::test_it_belongs_to_the_caller',
    'python/test_symbols.py::test_that_code_for_another_user',
    'python/test_symbols.py::test_the_file_of_a_process_that_lives[deleted-user1]',
    'python/test_symbols.py::test_the_file_of_a_process_that_lives[replaced-user1]',
    'python/test_modules.py::test_a_name_is_looked_up_here_and_then_on_the_path',
    'python/test_modules.py::test_an_environment_of_another_python',
    'python/test_modules.py::test_nothing_else_of_the_working_directory_can_be_imported',
    'python/test_modules.py::test_root_says_what_it_ignores[VIRTUAL_ENV]',
    'python/test_callchain.py::test_exec_forgets_what_was_mapped',
    'python/test_modules.py::test_nothing_is_imported_that_the_script_does_not_ask_for',
    'python/test_strays.py',
    'python/test_perf_prof_package.py::test_raw_is_pyperf_under_another_name',
    'python/test_perf_prof_package.py::test_errors_of_raw_and_pyperf_are_not_mixed_up',
)]

# What takes long and is the same there, as it needs neither the Python that runs perf-prof nor the place where that lies: `cli`
# and `python` have it of the same code.
ALIKE_IN_A_WHEEL = [f'--deselect=tests/{test}' for test in (
    'cli/test_pyprofile.py', 'cli/test_rate_limit.py', 'cli/test_throttling.py',
    'python/test_record_command.py', 'python/test_record_overwrite.py',
)]
WHEEL_ARGS = NOT_IN_A_WHEEL + ALIKE_IN_A_WHEEL

TABLE = [
    Suite('kernel', f'perf_event_open(2) exists on this kernel ({platform.release()})',
          Whole(run_kernel), essential=True),
    Suite('frame', 'the test frame itself', PytestSuite('frame', 'tests/frame', None)),
    Suite('layering', 'order of the rooms, licence lines, lengths of files',
          PytestSuite('layering', 'tests/layering', None)),
    Suite('live', 'C: on this kernel', MesonSuite('live', 'live')),
    Suite('python', 'scripts in the embedded Python, and the modules',
          PytestSuite('python', 'tests/python', marks='not deep')),
    Suite('session', 'import perf_prof: events as batches',
          PytestSuite('session', 'tests/session', marks='not spark and not million and not deep')),
    Suite('cli', 'the command line, declared in tests/cli/*.toml', PytestSuite('cli', 'tests/cli', marks='not deep')),
    Suite('analysis', 'commands that analyse, against perf and against known work',
          PytestSuite('analysis', 'tests/analysis', marks='not deep')),
    Suite('package', 'libperfevent installed: headers, symbols, ABI, manual pages and their programs',
          PytestSuite('package', 'tests/package')),
    Suite('examples', 'every file of examples/', PytestSuite('examples', 'tests/examples')),
    Suite('convert', "recordings in other programs' formats, opened by readers of theirs",
          PytestSuite('convert', 'tests/convert', marks='not deep')),
    Suite('pictures', 'flame graphs and heat maps',
          PytestSuite('pictures', 'tests/pictures', marks='not browser')),
    Suite('unit', 'C: bytes in, no kernel', MesonSuite('unit', 'unit')),
    Suite('nopython', 'a build without Python', PytestSuite('nopython', 'tests/nopython', 'build-nopython')),
    Suite('security', 'attacks on root, as other users and as the script (as root)',
          PytestSuite('security', 'tests/security'), DEEP),
    *(Suite(f'{name}-deep', f'what takes long of {name}',
            PytestSuite(f'{name}-deep', f'tests/{name}', marks='deep and not spark and not million', word='deep'), DEEP)
      for name in ('python', 'session', 'cli', 'analysis', 'convert')),
    # one part, which takes the longest: it begins early
    Suite('vm', 'guests with other kernels under QEMU: amd64 6.1, arm64 6.12 with a PMU',
          Whole(run_vm, 'build-test'), DEEP),
    Suite('wheel', 'what pip installs: wheels for each Python here, and the program in them',
          PytestSuite('wheel', 'tests/wheel', WHEEL), DEEP),
    Suite('wheel-cli', 'cli with the program of a wheel', PytestSuite('wheel-cli', 'tests/cli', WHEEL, args=WHEEL_ARGS), DEEP),
    Suite('wheel-python', 'python in the interpreter of an environment',
          PytestSuite('wheel-python', 'tests/python', WHEEL, args=WHEEL_ARGS), DEEP),
    Suite('newest', 'Python functions of the newest CPython, from Debian packages',
          PytestSuite('newest', 'tests/newest'), DEEP),
    Suite('spark', "a dataset of several hosts, asked on Spark's local cluster",
          PytestSuite('spark', 'tests/session', marks='spark', files=('test_spark*',)), DEEP),
    Suite('million', 'a million batches in flat memory',
          PytestSuite('million', 'tests/session', marks='million', files=('test_flat_memory*',)), DEEP),
    Suite('browser', 'flame graphs and heat maps, opened in a browser',
          PytestSuite('browser', 'tests/pictures', marks='browser'), DEEP),
    Suite('asan-live', 'live under ASan and UBSan',
          MesonSuite('asan-live', 'live', SANITIZED, SANITIZERS), DEEP),
    Suite('asan-cli', 'cli under ASan and UBSan, without the slow cases',
          PytestSuite('asan-cli', 'tests/cli', SANITIZED, SANITIZERS, marks='not slow'), DEEP),
    Suite('asan-analysis', 'analyses under ASan and UBSan, without the slow cases',
          PytestSuite('asan-analysis', 'tests/analysis', SANITIZED, SANITIZERS,
                      # what is timed beside perf needs a program at its own speed
                      ['-k', 'not says_what_perf and not known_shares'], 'not slow'), DEEP),
    Suite('asan-pyperf', 'pyperf and the fields of samples under ASan and UBSan',
          PytestSuite('asan-pyperf', 'tests/python', SANITIZED, preload, marks='not slow',
                      files=('test_pyperf*', 'test_sample_fields*')), DEEP),
    Suite('asan-unit', 'unit under ASan and UBSan',
          MesonSuite('asan-unit', 'unit', SANITIZED, {**SANITIZERS, 'DAMAGED_COPIES': '1000'}), DEEP),
    Suite('fuzz', 'each fuzzer for a while (--fuzz-seconds), and what they once found',
          Whole(run_fuzz, 'build-fuzz'), DEEP),
]
