# SPDX-License-Identifier: Apache-2.0
"""A second try: who gets one, and that nothing of the first is lost."""
import argparse
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from frame import crashes, ctests, second
from frame.pytests import PytestSuite
from frame.result import FAILED, PASSED, SKIPPED, Result

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def failed(name='t', output='assert 1 == 2', alone='a.py::t'):
    return Result('s', name, FAILED, output=output, alone=alone)


def passes(chosen):
    return [Result('s', name, PASSED) for name in 'tuvwxyz']


def test_passed_at_the_second_try():
    kept = Result('s', 'k', SKIPPED, 'no PMU')
    asked = []
    results = second.look([kept, failed()], lambda chosen: asked.append(chosen) or passes(chosen))
    assert asked == [['a.py::t']]
    assert results == [kept, Result('s', 't', PASSED, alone='a.py::t', unsteady='assert 1 == 2')]


def test_one_that_said_nothing_is_told_all_the_same():
    result, = second.look([failed(output='')], passes)
    assert result.status == PASSED and result.unsteady


def test_what_else_fails_at_the_second_try_failed():
    """A C program runs whole, and may crash behind the point that passes."""
    crash = Result('s', 'program', FAILED, 'exit code -11')
    results = second.look([failed()], lambda chosen: [Result('s', 't', PASSED), crash])
    assert [r.status for r in results] == [PASSED, FAILED] and results[1] == crash
    twice = [Result('s', 't', FAILED), Result('s', 't', PASSED)]
    assert second.look([failed()], lambda chosen: twice) == [failed()]


@pytest.mark.parametrize('tried', [[], [failed(output='assert 3 == 4')],
                                   [Result('s', 't', SKIPPED, 'no')], [Result('s', 'u', PASSED)]])
def test_not_passed_at_the_second_try(tried):
    """Also one that isn't run then, or is skipped: the first failure stands."""
    assert second.look([failed()], lambda chosen: tried) == [failed()]


def test_no_second_try_after_a_crash():
    crash = replace(failed(), crashed='SIGSEGV: ./a')
    assert second.look([crash], passes) == [crash]
    assert second.look([failed(), replace(crash, name='u')], passes) == [failed(), replace(crash, name='u')]


@pytest.mark.parametrize('output', ['assert -11 == 0', 'Segmentation fault', 'Sanitizer', 'exit code 139'])
def test_words_are_no_crash(output):
    assert second.look([failed(output=output)], passes)[0].unsteady == output


@pytest.mark.parametrize('code, what', [
    (-11, 'SIGSEGV'), (139, 'SIGSEGV'), (-6, 'SIGABRT'), (134, 'SIGABRT'), (-7, 'SIGBUS'), (-4, 'SIGILL'),
    (-8, 'SIGFPE'), (-5, 'SIGTRAP'), (-31, 'SIGSYS'), (99, 'a sanitizer'),
    (0, ''), (1, ''), (2, ''), (77, ''), (-9, ''), (-2, ''), (-15, ''), (130, ''), (143, ''), (255, '')])
def test_what_is_a_crash(code, what):
    assert crashes.what(code) == what


@pytest.mark.parametrize('test', [
    'subprocess.run(DIES)',
    'p = subprocess.Popen(DIES); p.wait()',
    'p = subprocess.Popen(DIES)\n    while p.poll() is None: pass',
    'subprocess.run(["sh", "-c", "sh -c \'kill -SEGV $$\'; exit $?"])',
    'from frame import declared\n'
    '    run = declared.Run({"name": "x", "cmd": DIES}, "/tmp")'])
def test_a_crash_is_known_whatever_is_printed(tmp_path, test):
    """However the test waits for its program; also of one that a shell reports."""
    write_test(tmp_path, 'import subprocess\nDIES = ["sh", "-c", "kill -SEGV $$"]\n'
               f'def test_a():\n    {test}\n    assert 1 == 2\ndef test_b():\n    assert 1 == 2\n')
    a, b = sorted(attempts(tmp_path, strict=False), key=lambda r: r.name)
    assert a.crashed.startswith('SIGSEGV: sh -c') and not b.crashed
    assert a.status == b.status == FAILED


def test_a_crash_below_a_test_program(tmp_path):
    """One of tests/live in Python: how it ends says it; perf's own crashes are not ours."""
    (tmp_path / 'perf').write_text('#!/bin/sh\nkill -ABRT $$\n')
    (tmp_path / 'perf').chmod(0o755)

    def code(argv, returned):
        done = subprocess.run([sys.executable, '-c', f'import subprocess, sys\nfrom frame import crashes\n'
                               f'def main():\n    subprocess.run({argv!r})\n    return {returned}\n'
                               'sys.exit(crashes.run(main))'], cwd=os.path.join(ROOT, 'tests'))
        return done.returncode
    dies = ['sh', '-c', 'kill -ABRT $$']
    assert [code(dies, 1), code(dies, 0), code(dies, 77), code(['true'], 1)] == [134, 0, 77, 1]
    assert code(['sh', '-c', 'exit 99'], 1) == 99 and code([str(tmp_path / 'perf')], 1) == 1


def test_a_crash_of_a_c_program():
    def result(**test):
        return list(ctests.meson_results('s', {'name': 'a / t', 'result': 'FAIL', **test}))
    caught, = [r for r in result(stdout='1..1\nnot ok 1 - a\n# Test failed with exception: Segmentation fault(11)\n',
                                 returncode=1)]
    assert caught.crashed == 'Segmentation fault(11)'
    assert result(stdout='1..2\nok 1 - a\n', returncode=-11)[-1].crashed == 'SIGSEGV'
    assert not result(stdout='1..1\nnot ok 1 - a\n# a.c:3: -11 != 0, Segmentation fault\n', returncode=1)[0].crashed


def test_no_second_try_for_many_nor_for_a_suite():
    many = [failed(name) for name in 'tuvw']
    assert second.look(many, passes) == many
    whole = failed('meson test', alone='')
    assert second.look([whole], passes) == [whole]


CASE = '''import os
def test_a():
    assert os.path.exists({0!r}) or open({0!r}, 'x') is None
def test_b():
    pass
'''


def write_test(folder, text):
    (folder / 'test_x.py').write_text(text)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    (folder / 'conftest.py').write_text(open(os.path.join(here, 'conftest.py')).read().replace(
        'os.path.dirname(os.path.abspath(__file__))', repr(here)))


def attempts(folder, **opts):
    """What comes of the suite in that folder, by itself."""
    builds = argparse.Namespace(get=lambda kind: str(folder))
    context = argparse.Namespace(root=str(folder), builds=builds, opts=argparse.Namespace(k='', **opts))
    suite = PytestSuite('s', '.')
    results = [r for part in suite.parts(context) for r in part()]
    return suite.again(context, results + suite.rest(context))


@pytest.mark.parametrize('strict', [False, True])
def test_with_pytest(tmp_path, strict):
    """By the words that the report has for the case; it fails the first time only."""
    write_test(tmp_path, CASE.format(str(tmp_path / 'been')))
    a, b = attempts(tmp_path, strict=strict)
    assert (b.name, b.status, b.unsteady) == ('test_x: test_b', PASSED, '')
    assert a.status == (FAILED if strict else PASSED)
    assert 'test_x.py' in (a.output if strict else a.unsteady)
