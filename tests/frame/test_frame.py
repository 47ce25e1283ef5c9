# SPDX-License-Identifier: Apache-2.0
"""The frame itself: a failure that it overlooks would be overlooked for good."""
import argparse
import os
import signal
import subprocess
import sys
import time

import pytest
from frame import changed, ctests, nokernel, report, schedule, suites, tap
from frame.build import BuildFailed
from frame.pytests import PytestSuite
from frame.result import FAILED, PASSED, SKIPPED, Result

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE = 60


@pytest.mark.parametrize('text, names, whole', [
    ('1..3\nok 1 - a\nnot ok 2 - b\n# a.c:3: error\n# skip: no PMU\nok 3 # SKIP c\n',
     [('a', PASSED, '', []), ('b', FAILED, '', ['# a.c:3: error']), ('c', SKIPPED, 'no PMU', [])], True),
    ('1..1\nok 1 - a # SKIP no PMU here\n', [('a', SKIPPED, 'no PMU here', [])], True),
    ('1..3\nok 1 - a\n', [('a', PASSED, '', [])], False),
    ('hello\n', [], False)])
def test_tap(text, names, whole):
    points, complete, _ = tap.parse(text)
    assert (points, complete) == (names, whole)


@pytest.mark.parametrize('code, trouble', [(1, 0), (2, 0), (0, 1), (99, 1), (-11, 1)])
def test_what_a_program_with_failed_points_ends_with(code, trouble):
    """How many failed, or 1; a sanitizer or a signal behind them is a failure of its own."""
    test = {'name': 'a / t', 'stdout': '1..3\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n', 'returncode': code, 'result': 'FAIL'}
    results = list(ctests.meson_results('s', test))
    assert [r.status for r in results] == [PASSED, FAILED, FAILED] + [FAILED] * trouble


@pytest.mark.parametrize('statuses, line, code', [
    ([PASSED, PASSED, SKIPPED], '2 passed, 0 failed, 1 skipped', 0), ([PASSED, FAILED], '1 passed, 1 failed, 0 skipped', 1),
    ([], '0 passed, 0 failed, 0 skipped', 1), ([SKIPPED], '0 passed, 0 failed, 1 skipped', 1)])
def test_closing_line(capsys, tmp_path, statuses, line, code):
    tally = report.Tally()
    tally.end('s', [Result('s', str(i), status) for i, status in enumerate(statuses)], 0)
    assert tally.close() == code and capsys.readouterr().out.splitlines()[-1] == line
    assert tally.close(str(tmp_path / 's')) == code and (tmp_path / 's').read_text() == line + '\n'


class Made:
    """A suite of parts that are made up: functions which give results, or fail."""

    def __init__(self, *parts, kind=None, rest=()):
        self.kind, self.made, self.lonely = kind, parts, rest

    def parts(self, context):
        return list(self.made)

    def has_rest(self):
        return bool(self.lonely)

    def rest(self, context):
        return [r for part in self.lonely for r in part()]


def run(monkeypatch, builds=None, **made):
    """{suite: [(name, status)]}"""
    monkeypatch.setattr(schedule.execute, 'end_all', lambda: None)    # it ends this process's others
    tally = report.Tally()
    plan = [suites.Suite(name, '', (), runner) for name, runner in made.items()]
    schedule.Schedule(argparse.Namespace(builds=builds), plan, tally, 4).run()
    return {name: sorted((r.name, r.status) for r in tally.results if r.suite == name) for name in made}


def test_every_part_runs_once_and_what_is_alone_runs_alone(monkeypatch):
    running, beside = [0], []

    def part(name):
        running[0] += 1
        time.sleep(0.01)
        running[0] -= 1
        return [Result(name[0], name, PASSED)]

    def lonely(name):
        beside.append(running[0])
        return part(name)

    def made(suite):
        return Made(*[lambda n=n: part(f'{suite}{n}') for n in range(5)], rest=[lambda: lonely(f'{suite}9')])
    found = run(monkeypatch, a=made('a'), b=made('b'))
    assert beside == [0, 0] and found == {s: [(f'{s}{n}', PASSED) for n in (0, 1, 2, 3, 4, 9)] for s in 'ab'}


def test_what_breaks_is_a_failure(monkeypatch):
    def breaks():
        raise ZeroDivisionError

    def get(kind):
        if kind == 'bad':
            raise BuildFailed('build of bad', 'error: x')
    found = run(monkeypatch, argparse.Namespace(get=get), a=Made(breaks, lambda: [Result('a', 'x', PASSED)]), b=Made(kind='bad'),
                c=Made(lambda: []))
    assert found == {'a': [('(frame)', FAILED), ('x', PASSED)], 'b': [('build of bad', FAILED)], 'c': [('(suite)', FAILED)]}


def suite_of(folder, text, **more):
    (folder / 'test_x.py').write_text(text)
    (folder / 'conftest.py').write_text(open(os.path.join(ROOT, 'tests/conftest.py')).read().replace(
        'os.path.dirname(os.path.abspath(__file__))', repr(os.path.join(ROOT, 'tests'))))
    context = argparse.Namespace(root=str(folder), opts=argparse.Namespace(k=''), builds=argparse.Namespace(get=lambda kind: str(folder)))
    suite = PytestSuite('s', '.', **more)
    return [r for part in suite.parts(context) for r in part()], lambda: suite.rest(context)


def test_what_is_marked_alone_runs_later_and_once(tmp_path):
    first, rest = suite_of(tmp_path, 'import pytest\ndef test_a(): pass\n@pytest.mark.alone\ndef test_b(): pass\n'
                                     '@pytest.mark.alone\n@pytest.mark.slow\ndef test_c(): pass\n', marks='not slow')
    assert [r.name for r in first] == ['test_x: test_a'] and [r.name for r in rest()] == ['test_x: test_b'] and not rest()


def test_a_report_of_a_sanitizer_that_no_test_sees_fails(tmp_path):
    first, _ = suite_of(tmp_path, 'import os, subprocess\ndef test_a():\n'
                        '    path = dict(o.split("=", 1) for o in os.environ["ASAN_OPTIONS"].split(":"))["log_path"]\n'
                        '    subprocess.run(["sh", "-c", "echo ERROR: leak > $0.$$ & wait", path])\n', env=suites.SANITIZERS)
    assert [(r.status, r.output) for r in first] == [(PASSED, ''), (FAILED, 'ERROR: leak\n')]


def test_check_has_no_events():
    code = 'from frame import kernel; print(kernel.perf_event_open())'
    done = subprocess.run([sys.executable, nokernel.__file__, sys.executable, '-c', code], cwd=os.path.join(ROOT, 'tests'),
                          capture_output=True, text=True)
    assert done.stdout == '1\n', done


def test_no_test_is_left_out():
    """Whoever adds a folder adds its row, and whoever adds a live program in Python a row in meson.build."""
    runners = [s.runner for s in suites.TABLE if isinstance(s.runner, PytestSuite)]
    have = {folder for folder in os.listdir(os.path.join(ROOT, 'tests')) if PytestSuite('s', f'tests/{folder}').paths(ROOT)}
    assert have - {os.path.basename(r.folder) for r in runners} <= {'live', 'data', 'vm', 'bench', 'fuzz'} and 'cli' in have
    for folder in 'live', 'unit':
        with open(os.path.join(ROOT, 'tests', folder, 'meson.build')) as f:
            rows = f.read()
        for name in os.listdir(os.path.join(ROOT, 'tests', folder)):
            assert not name.startswith('test_') or f"'{name[5:].rpartition('.')[0]}'" in rows, name


def test_words_of_the_command_line():
    def words(*args):
        done = subprocess.run([sys.executable, os.path.join(ROOT, 'tests/run'), *args], capture_output=True, text=True)
        return done.returncode, {line.split()[0] for line in done.stdout.splitlines()} if not done.returncode else done.stderr
    code, err = words('--only', 'nonesuch')
    assert code == 2 and 'nonesuch' in err
    code, err = words('--tier', 'check', '--only', 'fuzz')
    assert code == 2 and 'no suite is left' in err
    check, test, deep = (words('--list', '--tier', tier)[1] for tier in ('check', 'test', 'deep'))
    assert {'unit', 'cli', 'layering'} <= check < test and {'cli-asan', 'vm', 'fuzz'} <= deep and not check & deep - {'kernel'}


# Of a made-up build: one object of each program reads the header.
class Tables(changed.Build):
    def __init__(self, root, path):
        self.root, self.path, self.inputs = root, path, {}
        self.objects = {'src/base/text.h': {'text.o'}}
        self.targets = ['perf-prof', 'tests/unit/test_text', 'tests/unit/test_other']

    def ninja(self, *args):
        return {'tests/unit/test_other': ['../src/base/other.c']}.get(args[-1], ['text.o', '../src/base/text.c'])


@pytest.mark.parametrize('paths, reached', [
    (['src/base/text.h'], {'layering', 'unit', 'cli', 'session'}), (['src/base/other.c'], {'layering', 'unit'}),
    (['tests/cli/run.toml'], {'cli'}), (['tests/frame/tap.py'], {'layering', 'unit', 'cli', 'session', 'frame'}),
    (['web/flame.js'], {'pictures'}), (['CHANGELOG.md'], set())])
def test_what_a_change_reaches(monkeypatch, paths, reached):
    monkeypatch.setattr(changed, 'files', lambda root, rev: paths)
    monkeypatch.setattr(changed, 'Build', Tables)
    context = argparse.Namespace(root='/r', builds=argparse.Namespace(get=lambda kind: '/r/build-test'))
    plan = [s for s in suites.TABLE if s.name in ('layering', 'unit', 'cli', 'session', 'frame', 'pictures') and suites.CHECK in s.tiers]
    only = [getattr(s.runner, 'only', None) for s in plan]
    try:
        chosen = changed.choose(context, plan, 'HEAD')
        assert {s.name for s in chosen} - {'pictures'} == reached - {'pictures'}
        assert paths != ['src/base/other.c'] or next(s.runner.only for s in chosen if s.name == 'unit') == {'other'}
    finally:
        for suite, was in zip(plan, only):
            suite.runner.only = was


# In place of make: what each target comes to, by its name.
MAKE = '''#!/bin/bash
target=$2
summary=$(sed 's/.*--summary \\([^ ]*\\).*/\\1/' <<<"$3")
line=${target//-/_}
[ -z "${!line}" ] || echo "${!line}" >"$summary"
echo "$target ran"
[[ ${!line} == *" 0 failed,"* ]]
'''


@pytest.mark.parametrize('test, deep, line, code', [
    ('5 passed, 0 failed, 1 skipped', '7 passed, 0 failed, 2 skipped', '12 passed, 0 failed, 3 skipped', 0),
    ('5 passed, 1 failed, 1 skipped', '7 passed, 0 failed, 2 skipped', '12 passed, 1 failed, 3 skipped', 1),
    ('5 passed, 0 failed, 1 skipped', '', '5 passed, 1 failed, 1 skipped', 1)])
def test_ci_adds_up_both(tmp_path, test, deep, line, code):
    (tmp_path / 'make').write_text(MAKE)
    (tmp_path / 'make').chmod(0o755)
    done = subprocess.run([os.path.join(ROOT, '.ci/run')], capture_output=True, text=True, env={
        **os.environ, 'PATH': f'{tmp_path}:{os.environ["PATH"]}', 'test': test, 'test_deep': deep})
    assert done.stdout.splitlines()[-1] == line and done.returncode == code, done
    assert 'test ran' in done.stdout and 'test-deep ran' in done.stdout
    assert not os.path.exists(os.path.join(ROOT, '.git')) or 'src in all' in done.stdout.splitlines()[-3]


def test_an_interrupted_run_leaves_nothing(tmp_path):
    """tests/run of a copy of the frame with one suite, which would not end."""
    mark = os.getpid()
    os.makedirs(tmp_path / 'tests/layering')
    for name in ('frame', 'conftest.py', 'vm'):
        os.symlink(os.path.join(ROOT, 'tests', name), tmp_path / 'tests' / name)
    (tmp_path / 'tests/run').write_text(open(os.path.join(ROOT, 'tests/run')).read())
    (tmp_path / 'tests/layering/test_stuck.py').write_text(f"import subprocess\ndef test_a(): subprocess.run(['sleep', '1000.{mark}'])\n")
    process = subprocess.Popen([sys.executable, tmp_path / 'tests/run', '--only', 'layering'], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE

    def sleeps():
        return subprocess.run(['pgrep', '-f', f'^sleep 1000[.]{mark}$'], capture_output=True).returncode == 0
    while not sleeps():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and 'interrupted' in out and not sleeps()
