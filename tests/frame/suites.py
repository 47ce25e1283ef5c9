# SPDX-License-Identifier: Apache-2.0
"""The suites, one row each in TABLE: what they are called and how they run."""
import json
import os
import platform
import re
import signal
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Callable

from vm import suite as guests

from . import fuzz, kernel, tap
from .build import Builds
from .result import FAILED, PASSED, SKIPPED, Result

PYTEST = ['/usr/bin/python3', '-B', '-m', 'pytest', '-p', 'no:cacheprovider', '-q', '--tb=short']
SUITE_SECONDS = 600         # no suite may hang the run

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


def execute(argv, cwd, env=None):
    """(exit code, output); its whole process group is ended at the deadline."""
    proc = subprocess.Popen(argv, cwd=cwd, env={**os.environ, **(env or {})},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors='replace',
                            start_new_session=True)
    try:
        out, _ = proc.communicate(timeout=SUITE_SECONDS)
        return proc.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(proc.pid, signal.SIGKILL)
        out, _ = proc.communicate()
        return -signal.SIGKILL, f'{out}\nended after {SUITE_SECONDS} s'


# ---------------------------------------------------------------- meson

def meson_suite(label, which, kind='build-test', env=None):
    """C tests of meson's suite `which`: every point of their TAP is a test."""
    def run(context):
        path = context.builds.get(kind)
        log = os.path.join(path, 'meson-logs', f'{label}.json')
        if os.path.exists(log):
            os.unlink(log)
        code, out = execute(['meson', 'test', '-C', path, '--no-rebuild', '--timeout-multiplier', '5', '--suite', which,
                             '--logbase', label], context.root,
                            {'CMOCKA_MESSAGE_OUTPUT': 'TAP', **(env or {})})
        if not os.path.exists(log):
            if 'No tests defined' in out or code == 0:
                return
            yield Result(label, 'meson test', FAILED, output=out)
            return
        with open(log) as lines:
            for line in lines:
                yield from meson_results(label, json.loads(line))
    return run


def meson_results(label, test):
    """Results of one test program, from its line in meson's JSON log."""
    name = test['name'].split(' / ')[-1]
    out = test.get('stdout') or ''
    both = out + (test.get('stderr') or '')
    points, whole, any_tap = tap.parse(out)
    for point, status, reason, notes in points:
        yield Result(label, f'{name}: {point}', status, reason,
                     '\n'.join(notes) if status == FAILED else '')
    code = test['returncode']
    failed_points = any(p[1] == FAILED for p in points)
    if any_tap and whole and (code == 0 or failed_points) and test['result'] != 'TIMEOUT':
        return
    if code == 77 and not points:
        lines = [line for line in both.splitlines() if line.strip()]
        yield Result(label, name, SKIPPED, lines[-1].strip() if lines else '')
    elif code == 0 and not any_tap and test['result'] == 'OK':
        yield Result(label, name, PASSED)
    else:
        yield Result(label, name, FAILED, f'{test["result"]}, exit code {code}', both)


# ---------------------------------------------------------------- pytest

def pytest_suite(label, folder, kind='build-test', env=None, args=()):
    """Python tests in `folder`; kind None = they need no program."""
    def run(context):
        if not os.path.isdir(os.path.join(context.root, folder)):
            return
        path = context.builds.get(kind) if kind else context.root
        # A name of its own: a run within a build of another kind must not read it.
        xml = os.path.join(context.root, path, f'pytest-{label}.xml')
        if kind is None:
            xml = os.path.join('/tmp', f'perf-prof-tests-{os.getpid()}-{label}.xml')
        argv = PYTEST + [folder, f'--junitxml={xml}'] + list(args)
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
    return run


def junit_results(label, path):
    for case in ElementTree.parse(path).getroot().iter('testcase'):
        where = re.sub(r'\.toml$', '', case.get('classname', '')).split('.')[-1]
        name = f'{where}: {case.get("name")}' if where else case.get('name')
        bad = [e for e in case if e.tag in ('failure', 'error')]
        skip = case.find('skipped')
        if bad:
            yield Result(label, name, FAILED, output='\n'.join(e.text or '' for e in bad))
        elif skip is not None:
            yield Result(label, name, SKIPPED, skip.get('message', ''))
        else:
            yield Result(label, name, PASSED)


# ---------------------------------------------------------------- the table

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
          pytest_suite('convert', 'tests/convert')),
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
