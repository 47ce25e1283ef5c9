# SPDX-License-Identifier: Apache-2.0
"""Python programs under `-X perf`: their functions, as where the interpreter's memory is read. Needs root, and a CPython of
3.12 or later."""
import platform
import sys

import pytest

from frame.analyses import RING, busy_cpus
from frame.trampolines import pythons

pytestmark = [pytest.mark.live, pytest.mark.slow]

PROGRAM = """
import time
class Shop:
    def inner(self):
        return sum(i * i for i in range(2000))
def outer():
    end = time.process_time() + 0.4
    while time.process_time() < end:
        Shop().inner()
outer()
"""
# libraries with a name of their own that the interpreter calls, and what the kernel does meanwhile
NATIVE = ['--call-graph', 'dwarf']


@pytest.fixture(params=sorted(pythons()) or [None])
def python(request):
    if not request.param or platform.machine() != 'x86_64':
        pytest.skip('needs a CPython of 3.12 or later with trampolines for perf, on x86-64')
    return pythons()[request.param]


@pytest.fixture
def program(tmp_path):
    path = tmp_path / 'program.py'
    path.write_text(PROGRAM)
    return path


def rows(table):
    """{function: (self, total, dso)}; of namesakes the one with the largest share."""
    return {row['function']: (row['self'], row['total'], row.get('dso')) for row in reversed(table['rows'])}


@pytest.mark.deep
@pytest.mark.parametrize('command', ['profile', 'report'])
def test_functions_have_their_interpreters_time(analyse, python, program, tmp_path, command):
    run = [python, '-X', 'perf', program]
    if command == 'profile':
        got = analyse('profile', *NATIVE, '--json', '--', *run)
    else:
        analyse('record', *NATIVE, '-q', '-o', 'a.data', '--', *run)
        got = analyse('report', '--json', 'a.data')
    seen = rows(got.table(command))
    own, total, dso = seen['Shop.inner.<locals>.<genexpr>']
    others = sum(row['self'] for row in got.table(command)['rows'] if 'ython' in row['dso'] and '.py' not in row['dso'])
    assert dso == str(program) and '<module>' in seen, seen
    # the rest: start, and libraries that it calls
    assert own > others and seen['outer'][1] > 40 and seen['Shop.inner'][1] >= total, seen


def test_stacks_and_pictures_are_of_these_functions(analyse, python, program, tmp_path):
    got = analyse('profile', *NATIVE, '-q', '--flame-graph', 'out.folded', '--', python, '-X', 'perf', program)
    stacks = (tmp_path / 'out.folded').read_text()
    assert ';<module> (program.py);outer (program.py);Shop.inner (program.py)' in stacks, stacks
    assert f'    outer ({program})\n    <module> ({program})\n' in got.text, got.text


@pytest.mark.deep
@pytest.mark.parametrize('option', ['--full', '--no-python', '--inline-rows'])
def test_the_interpreters_own_functions_are_there_too(analyse, python, program, option):
    seen = rows(analyse('profile', *NATIVE, option, '--json', '--', python, '-X', 'perf', program).table('profile'))
    assert f'py::Shop.inner.<locals>.<genexpr>:{program}' in seen and '_PyEval_EvalFrameDefault' in seen, seen


def test_a_profile_of_an_interpreter_says_how_to_see_functions(analyse, program):
    """The Python of the tests: any has an interpreter."""
    said = '% of the samples are in the Python interpreter: --python shows'

    assert said in analyse('profile', '--', sys.executable, program).text
    assert said not in analyse('profile', '--no-python', '--', sys.executable, program).text


MARKED = """
import os, time
def nap():
    time.sleep(0.02)
def handle():
    os.getppid()
    nap()
    os.getpgrp()
for _ in range(10):
    handle()
"""


@pytest.mark.deep
def test_where_a_function_waits(analyse, python, program):
    """Its start and end are marked by system calls."""
    program.write_text(MARKED)
    with busy_cpus():
        table = analyse('latency', *NATIVE, *RING, '-e', 'raw_syscalls:sys_enter/id==110/', '-e', 'raw_syscalls:sys_exit/id==111/',
                        '--breakdown', '--json', '--', python, '-X', 'perf', program).table('latency')
    stacks = [one['stack'] for one in table['breakdown'][0]['waits'] if 'stack' in one]
    assert any(';handle;nap;' in stack for stack in stacks) and not any('_PyEval' in stack for stack in stacks), stacks
