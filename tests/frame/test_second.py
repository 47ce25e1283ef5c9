# SPDX-License-Identifier: Apache-2.0
"""A second try: who gets one, and that nothing of the first is lost."""
import argparse
import os

import pytest
from frame import second
from frame.pytests import pytest_suite
from frame.result import FAILED, PASSED, SKIPPED, Result


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


@pytest.mark.parametrize('output', [
    '==7==ERROR: AddressSanitizer: heap-use-after-free', 'src/a.c:1:2: runtime error: shift',
    'assert -11 == 0', 'assert (-6, 1) == (0, 1)', 'exit code 99', 'signal.SIGSEGV: 11',
    'Aborted (core dumped)', 'returncode=139', "assert ((-11, '') == (0, '') or", "[(0, ''), (-11, '')]",
    'Test failed with exception: Bus error(7)', 'never showed /on/ (returncode -6)'])
def test_no_second_try_after_a_crash(output):
    assert second.look([failed(output=output)], passes) == [failed(output=output)]


@pytest.mark.parametrize('output', ['assert 1911 == 1912', 'at 06-11-2026', 'x-11', 'pid 139', 'assert 134 == 135'])
def test_no_crash(output):
    assert second.look([failed(output=output)], passes)[0].unsteady == output


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


@pytest.mark.parametrize('strict', [False, True])
def test_with_pytest(tmp_path, strict):
    """By the words that the report has for the case; it fails the first time only."""
    (tmp_path / 'test_x.py').write_text(CASE.format(str(tmp_path / 'been')))
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    (tmp_path / 'conftest.py').write_text(open(os.path.join(here, 'conftest.py')).read().replace(
        'os.path.dirname(os.path.abspath(__file__))', repr(here)))
    builds = argparse.Namespace(get=lambda kind: str(tmp_path))
    context = argparse.Namespace(root=str(tmp_path), builds=builds,
                                 opts=argparse.Namespace(k='', strict=strict))
    a, b = pytest_suite('s', '.')(context)
    assert (b.name, b.status, b.unsteady) == ('test_x: test_b', PASSED, '')
    assert a.status == (FAILED if strict else PASSED)
    assert 'test_x.py' in (a.output if strict else a.unsteady)
