# SPDX-License-Identifier: Apache-2.0
"""What a sanitizer found fails the run, whoever it was found in, and is not tried again."""
import argparse

import pytest
from frame.pytests import PytestSuite
from frame.result import FAILED, PASSED
from frame.suites import SANITIZERS
from frame.test_second import write_test

# A process of which the test sees neither end nor words, at the first try only.
FINDS = """import os, subprocess
def test_a():
    path = dict(o.split('=', 1) for o in os.environ['ASAN_OPTIONS'].split(':'))['log_path']
    if not os.path.exists({0!r}):
        open({0!r}, 'x').close()
        subprocess.run(['sh', '-c', 'echo ERROR: leak > "$1.$$" & wait', 'sh', path])
        assert {1}
"""
SPEAKS = """import os
def test_a():
    if not os.path.exists({0!r}):
        open({0!r}, 'x').close()
        assert 'a.c:1: runtime error: overflow' == {1}
"""


def results(folder):
    context = argparse.Namespace(root=str(folder), builds=argparse.Namespace(get=lambda kind: str(folder)),
                                 opts=argparse.Namespace(k='', strict=False))
    suite = PytestSuite('s', '.', env=SANITIZERS)
    first = [r for part in suite.parts(context) for r in part()]
    return suite.again(context, first)


@pytest.mark.parametrize('passes', ['True', 'False'])
def test_a_report_of_a_process_that_nobody_waits_for(tmp_path, passes):
    write_test(tmp_path, FINDS.format(str(tmp_path / 'been'), passes))
    test, report = results(tmp_path)
    assert test.status == (PASSED if passes == 'True' else FAILED) and not test.unsteady
    assert (report.status, report.output) == (FAILED, 'ERROR: leak\n')


def test_words_of_the_other_sanitizer(tmp_path):
    write_test(tmp_path, SPEAKS.format(str(tmp_path / 'been'), 0))
    test, = results(tmp_path)
    assert test.status == FAILED and test.crashed == 'a sanitizer'


def test_what_it_did_not_find_is_tried_again(tmp_path):
    write_test(tmp_path, SPEAKS.replace('a.c:1: runtime error: overflow', 'slow').format(str(tmp_path / 'been'), 0))
    test, = results(tmp_path)
    assert test.status == PASSED and 'slow' in test.unsteady
