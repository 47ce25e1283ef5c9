# SPDX-License-Identifier: Apache-2.0
"""The package perf_prof of the build folder: what can be imported, and what its types are called."""
import glob
import os
import subprocess
import sys

import pytest

from frame import requires

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def run(build):
    """run(CODE): what it prints, in a Python that finds the build folder's packages."""
    folder = os.path.join(build, 'python')
    if not os.path.isdir(os.path.join(folder, 'perf_prof')):
        pytest.skip('needs a build with Python')

    def start(code, *flags):
        done = subprocess.run([sys.executable, *flags, '-c', code], capture_output=True, text=True, cwd='/', timeout=60,
                              env={**os.environ, 'PYTHONPATH': folder})
        assert done.returncode == 0, done.stderr
        return done.stdout
    return start


def test_version(run):
    with open(os.path.join(ROOT, 'meson.build')) as f:
        version = f.read().split("version: '")[1].split("'")[0]
    assert run('import perf_prof; print(perf_prof.__version__)') == version + '\n'


def test_types(run):
    assert run('import perf_prof as p; print(p.PerfEvent, p.Frame, set(p.__all__) <= set(dir(p)))') == \
        "<class 'perf_prof.PerfEvent'> <class 'perf_prof.Frame'> True\n"


def test_an_event_cannot_be_unpickled_without_a_run(run):
    assert 'ValueError' in run('import perf_prof\n'
                               'try: perf_prof._restore("x", 1, 0, b"", None, None)\n'
                               'except ValueError as e: print("ValueError", e)')


def test_two_interpreters_of_a_process_have_one_each(run):
    """Nothing of the module is global: import it anew, and both work."""
    assert run('import sys, perf_prof; one = perf_prof.PerfEvent\n'
               'for name in [n for n in sys.modules if n.startswith("perf_prof")]: del sys.modules[name]\n'
               'import perf_prof; print(one is perf_prof.PerfEvent, one.__name__)') == 'False PerfEvent\n'


def test_raw_is_pyperf_under_another_name(run):
    out = run('import pyperf, perf_prof.raw as raw\n'
              'print(set(pyperf.__all__) == set(raw.__all__), raw.Event.__module__, raw.Sample.__module__, raw.Error.__module__)\n'
              'print(raw.measure("page-faults", lambda: bytearray(1 << 20))["page-faults"].value > 200)')
    assert out == 'True perf_prof.raw perf_prof.raw perf_prof.raw\nTrue\n'


def test_errors_of_raw_and_pyperf_are_not_mixed_up(run):
    assert run('import pyperf, perf_prof.raw as raw\n'
               'try: raw.parse("no such event")\n'
               'except raw.Error as e: print(isinstance(e, pyperf.Error))') == 'False\n'


def test_importing_takes_less_than_importing_asyncio(run):
    """That is 40 ms on a usual machine. CPU time, and the least of several: other work on the machine only adds."""
    def least(module):
        code = f'import time; t = time.process_time(); import {module}; print(time.process_time() - t)'
        return min(float(run(code)) for _ in range(5))
    assert least('perf_prof') < least('asyncio')


@pytest.fixture(scope='module')
def mypy(build, tmp_path_factory):
    """Of the build folder, which also has the types of the functions. What it has read of the standard library is kept."""
    reason = requires.why_not('program:mypy')
    if reason or not os.path.isdir(os.path.join(build, 'python/perf_prof')):
        pytest.skip(reason or 'needs a build with Python')
    cache = tmp_path_factory.mktemp('mypy')

    def run(*words):
        return subprocess.run(['mypy', '--strict', f'--cache-dir={cache}', *words], capture_output=True, text=True,
                              env={**os.environ, 'MYPYPATH': os.path.join(build, 'python')})
    return run


@pytest.mark.deep
def test_types_check(build, mypy):
    done = mypy(*glob.glob(os.path.join(build, 'python/perf_prof/*.py')))
    assert done.returncode == 0, done.stdout


def test_types_of_functions(mypy, tmp_path):
    """Made of the commands: a checker knows their parameters and results."""
    (tmp_path / 'right.py').write_text(
        'import perf_prof\n'
        'r = perf_prof.profile(pid=1, seconds=0.5, call_graph="dwarf", sort=["comm"])\n'
        'print(r.flame_graph().svg(), r.rows["self"], perf_prof.counts(command=["true"], events="cycles")["cycles"])\n'
        'print(perf_prof.report("x", than=1).tables[0].info, perf_prof.list("sched:*")[0]["name"], perf_prof.features().keys())\n')
    (tmp_path / 'wrong.py').write_text('import perf_prof\nperf_prof.profile(colour=1)\nperf_prof.syscalls(perins=3)\n'
                                       'perf_prof.report(command="x")\n')
    done = mypy(tmp_path / 'right.py')
    assert done.returncode == 0, done.stdout
    done = mypy(tmp_path / 'wrong.py')
    assert [line.split(':')[1] for line in done.stdout.splitlines() if ' error: ' in line] == ['2', '3', '4'], done.stdout
