# SPDX-License-Identifier: Apache-2.0
"""Suites side by side: nothing is lost, nothing runs that may not, and the run ends."""
import argparse
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest
from frame import report, schedule, suites
from frame.build import BuildFailed
from frame.pytests import SMALL, PytestSuite
from frame.result import FAILED, PASSED, Result

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE = 60


class Made:
    """A suite of parts that are made up: functions which give results, or fail."""

    def __init__(self, *parts, kind=None, rest=(), again=None):
        self.kind, self.made, self.lonely, self.second = kind, parts, rest, again

    def parts(self, context):
        return list(self.made)

    def has_rest(self):
        return bool(self.lonely)

    def rest(self, context):
        return [r for part in self.lonely for r in part()]

    def may_try_again(self, context, results):
        return bool(self.second and any(r.status == FAILED for r in results))

    def again(self, context, results):
        return self.second(results) if self.may_try_again(context, results) else results


def run(capsys, jobs=4, builds=None, **made):
    """{suite: its results}, and the lines of the output."""
    monkey, schedule.execute.end_all = schedule.execute.end_all, lambda: None    # it ends this process's others
    tally = report.Tally()
    context = argparse.Namespace(builds=builds)
    plan = [suites.Suite(name, '', runner) for name, runner in made.items()]
    try:
        schedule.Schedule(context, plan, tally, jobs).run()
    finally:
        schedule.execute.end_all = monkey
    by_suite = {}
    for r in tally.results:
        by_suite.setdefault(r.suite, []).append(r)
    return by_suite, capsys.readouterr().out.splitlines()


def passing(suite, name):
    return lambda: [Result(suite, name, PASSED)]


def test_every_part_runs_once_and_each_suite_has_a_line(capsys):
    names = [str(n) for n in range(50)]
    found, lines = run(capsys, a=Made(*[passing('a', n) for n in names]), b=Made(*[passing('b', n) for n in names]))
    assert sorted(r.name for r in found['a']) == sorted(r.name for r in found['b']) == sorted(names)
    assert sorted(line.split()[0] for line in lines) == ['a', 'b'] and all(' 50 passed' in line for line in lines)


def test_suites_run_beside_each_other(capsys):
    """Neither would come to its end by itself."""
    meeting = threading.Barrier(2)

    def part(suite):
        meeting.wait(PATIENCE)
        return [Result(suite, 'met', PASSED)]
    found, _ = run(capsys, a=Made(lambda: part('a')), b=Made(lambda: part('b')))
    assert found['a'][0].status == found['b'][0].status == PASSED


def test_what_runs_alone_runs_alone(capsys):
    running, most, beside = [0], [], []

    def part():
        running[0] += 1
        time.sleep(0.01)
        most.append(running[0])
        running[0] -= 1
        return [Result('a', str(len(most)), PASSED)]

    def lonely():
        beside.append(running[0])
        return [Result('a', 'lonely', PASSED)]
    found, _ = run(capsys, a=Made(part, part, part, rest=[lonely]), b=Made(part, part, part, rest=[lonely]))
    assert beside == [0, 0] and len(found['a']) == 8        # all are called a


def test_a_part_that_breaks_is_a_failure(capsys):
    def breaks():
        raise ZeroDivisionError
    found, _ = run(capsys, a=Made(breaks, passing('a', 'x')), b=Made(passing('b', 'y')))
    assert sorted((r.name, r.status) for r in found['a']) == [('(frame)', FAILED), ('x', PASSED)]
    assert 'ZeroDivisionError' in next(r.output for r in found['a'] if r.status == FAILED)


def test_a_second_try_that_breaks_keeps_the_first(capsys):
    def breaks(results):
        raise ZeroDivisionError
    found, _ = run(capsys, a=Made(lambda: [Result('a', 'x', FAILED)], again=breaks))
    assert [r.name for r in found['a']] == ['x', '(frame)'] and all(r.status == FAILED for r in found['a'])


def test_a_build_that_fails_fails_each_of_its_suites(capsys):
    def get(kind):
        if kind == 'bad':
            raise BuildFailed('build of bad', 'error: x')
    found, _ = run(capsys, builds=argparse.Namespace(get=get), a=Made(passing('a', 'x'), kind='bad'),
                   b=Made(passing('b', 'y'), kind='bad'), c=Made(passing('c', 'z'), kind='good'))
    assert [(r.name, r.status) for r in found['a'] + found['b'] + found['c']] == [
        ('build of bad', FAILED), ('build of bad', FAILED), ('z', PASSED)]


def test_a_suite_without_tests_fails(capsys):
    found, _ = run(capsys, a=Made(lambda: []), b=Made())
    assert found['a'][0].status == found['b'][0].status == FAILED


LONELY = '''import pytest
def test_a(): pass
@pytest.mark.alone
def test_b(): pass
@pytest.mark.alone
@pytest.mark.slow
def test_c(): pass
'''


@pytest.mark.parametrize('marks, lonely', [('', ['b', 'c']), ('not slow', ['b'])])
def test_what_is_marked_alone_runs_later_and_once(tmp_path, marks, lonely):
    (tmp_path / 'test_x.py').write_text(LONELY)
    (tmp_path / 'y.toml').write_text('[[case]]\nname = "d"\ncmd = "true"\n'
                                     '[[case]]\nname = "e"\ncmd = "true"\nalone = true\n')
    (tmp_path / 'conftest.py').write_text(open(os.path.join(ROOT, 'tests/conftest.py')).read().replace(
        'os.path.dirname(os.path.abspath(__file__))', repr(os.path.join(ROOT, 'tests'))))
    context = argparse.Namespace(root=str(tmp_path), opts=argparse.Namespace(k='', strict=True),
                                 builds=argparse.Namespace(get=lambda kind: str(tmp_path)))
    suite = PytestSuite('s', '.', marks=marks)
    first = [r.name[-1] for part in suite.parts(context) for r in part()]
    assert sorted(first) == ['a', 'd']
    assert sorted(r.name[-1] for r in suite.rest(context)) == sorted([*lonely, 'e']) and not suite.has_rest()


def test_small_files_share_a_pytest(tmp_path):
    for name, size in (('test_large.py', 2 * SMALL), ('test_a.py', SMALL // 2), ('test_b.py', SMALL // 2), ('test_c.py', 9), ('d.toml', 5)):
        (tmp_path / name).write_text('#' * size)
    assert PytestSuite('s', '.').together(str(tmp_path)) == [['test_large.py'], ['test_a.py', 'test_b.py'], ['test_c.py', 'd.toml']]


PYTESTS = [s.runner for s in suites.TABLE if isinstance(s.runner, PytestSuite) and s.runner.files == ('*',)]


@pytest.mark.parametrize('folder', sorted({suite.folder for suite in PYTESTS}))
def test_no_file_of_tests_is_left_out(folder):
    """The parts have every file that pytest itself finds."""
    done = subprocess.run(['/usr/bin/python3', '-B', '-m', 'pytest', '-p', 'no:cacheprovider', '-q', '--collect-only',
                           folder], cwd=ROOT, capture_output=True, text=True, timeout=200)
    collected = {line.split('::')[0] for line in done.stdout.splitlines() if '::' in line}
    assert collected and collected <= set(PytestSuite('s', folder).paths(ROOT)), done


def test_every_folder_with_pytests_is_a_suite():
    """Whoever adds one adds its row."""
    have = {folder for folder in os.listdir(os.path.join(ROOT, 'tests'))
            if PytestSuite('s', f'tests/{folder}').paths(ROOT)}
    ours = {os.path.basename(suite.folder) for suite in PYTESTS}
    assert have - ours <= {'live', 'data', 'vm', 'bench', 'fuzz'} and 'cli' in have


def test_every_program_of_live_is_run():
    """By meson, also those in Python: pytest doesn't look there."""
    folder = os.path.join(ROOT, 'tests/live')
    with open(os.path.join(folder, 'meson.build')) as f:
        rows = f.read()
    for name in os.listdir(folder):
        if name.startswith('test_'):
            short = name[len('test_'):].rpartition('.')[0]
            assert f"'{short}'" in rows, f'{name} is run by nobody: a row in meson.build, or another folder'


STUCK = '''import subprocess
def test_stuck():
    subprocess.run(['sleep', '1000.%d'])
'''


def test_an_interrupted_run_leaves_nothing(tmp_path):
    """tests/run of a copy of the frame with one suite, which would not end."""
    mark = os.getpid()
    os.makedirs(tmp_path / 'tests/layering')
    for name in ('frame', 'conftest.py', 'vm'):
        os.symlink(os.path.join(ROOT, 'tests', name), tmp_path / 'tests' / name)
    shutil.copy(os.path.join(ROOT, 'tests/run'), tmp_path / 'tests/run')
    (tmp_path / 'tests/layering/test_stuck.py').write_text(STUCK % mark)
    process = subprocess.Popen([tmp_path / 'tests/run', '--only', 'layering'], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE

    def sleeps():
        return subprocess.run(['pgrep', '-f', f'^sleep 1000[.]{mark}$'], capture_output=True).returncode == 0
    while not sleeps():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and 'interrupted' in out and not sleeps()
