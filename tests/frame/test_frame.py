# SPDX-License-Identifier: Apache-2.0
"""The frame itself: a failure that it overlooks would be overlooked for good."""
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from frame import again, ctests, report, requires, tap
from frame.result import FAILED, PASSED, SKIPPED, Result

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_tap_of_cmocka():
    points, whole, any_tap = tap.parse(
        '1..3\nok 1 - first\nnot ok 2 - second\n# a.c:3: error\n# skip: needs tracefs\nok 3 # SKIP third\n')
    assert whole and any_tap
    assert [(p[0], p[1], p[2]) for p in points] == [
        ('first', PASSED, ''), ('second', FAILED, ''), ('third', SKIPPED, 'needs tracefs')]
    assert [p[3] for p in points] == [[], ['# a.c:3: error'], []]


def test_tap_skip_with_reason_behind_it():
    points, _, _ = tap.parse('1..1\nok 1 - a # SKIP no PMU here\n')
    assert points == [('a', SKIPPED, 'no PMU here', [])]


def test_tap_that_breaks_off():
    points, whole, _ = tap.parse('1..3\nok 1 - a\n')
    assert len(points) == 1 and not whole


@pytest.mark.parametrize('code, trouble', [(1, 0), (2, 0), (0, 1), (99, 1), (-11, 1)])
def test_what_a_program_with_failed_points_ends_with(code, trouble):
    """How many failed, or 1; a sanitizer or a signal behind them is a failure of its own."""
    test = {'name': 'a / t', 'stdout': '1..3\nok 1 - a\nnot ok 2 - b\nnot ok 3 - c\n', 'returncode': code,
            'result': 'FAIL'}
    results = list(ctests.meson_results('s', test))
    assert [r.status for r in results] == [PASSED, FAILED, FAILED] + [FAILED] * trouble


def test_a_program_whose_points_are_all_skipped():
    """cmocka says `not ok` of what is skipped, and meson FAIL; the program ends with 0."""
    said = '1..2\n# skip: no PMU\nnot ok 1 # SKIP a\nok 2 - b\n'
    results = list(ctests.meson_results('s', {'name': 'a / t', 'stdout': said, 'returncode': 0, 'result': 'FAIL'}))
    assert [(r.name, r.status, r.reason) for r in results] == [('t: a', SKIPPED, 'no PMU'), ('t: b', PASSED, '')]


def test_tracefs_is_mounted_before_the_first_test(tmp_path):
    """In a mount namespace that has none."""
    if requires.why_not('root') or requires.why_not('unshare') or requires.why_not('tracefs'):
        pytest.skip('needs root, a mount namespace and tracefs')
    code = ('from frame import kernel\nfor _ in range(2):\n    print(kernel.tracefs("s").name)\n'
            'import os; os.listdir("/sys/kernel/tracing/events/sched")')
    done = subprocess.run(['unshare', '-m', 'sh', '-c', 'umount -l /sys/kernel/tracing && exec "$@"', 'sh',
                           sys.executable, '-c', code], cwd=os.path.join(ROOT, 'tests'), capture_output=True, text=True)
    assert done.stdout.splitlines() == ['mounted tracefs on /sys/kernel/tracing', 'tracefs (mounted)', 'tracefs'], done


def test_no_tap():
    assert tap.parse('hello\n') == ([], False, False)


def close(capsys, *statuses, **kw):
    tally = report.Tally()
    tally.end('s', [Result('s', str(i), status) for i, status in enumerate(statuses)], 0)
    tally.details()
    code = tally.close(**kw)
    return code, capsys.readouterr().out.splitlines()


def test_closing_line(capsys):
    code, lines = close(capsys, PASSED, PASSED, SKIPPED)
    assert code == 0 and lines[-1] == '2 passed, 0 failed, 1 skipped'


def test_a_failure_is_exit_code_1(capsys):
    code, lines = close(capsys, PASSED, FAILED)
    assert code == 1 and lines[-1] == '1 passed, 1 failed, 0 skipped'


def test_nothing_passed_is_exit_code_1(capsys):
    assert close(capsys)[0] == 1
    assert close(capsys, SKIPPED)[0] == 1


def test_closing_line_into_a_file(capsys, tmp_path):
    code, lines = close(capsys, PASSED, summary=str(tmp_path / 's'))
    assert code == 0 and (tmp_path / 's').read_text() == '1 passed, 0 failed, 0 skipped\n'
    assert not any('passed,' in line for line in lines)


def test_unknown_suite_is_refused():
    done = subprocess.run([sys.executable, os.path.join(ROOT, 'tests/run'), '--only', 'nonesuch'],
                          capture_output=True, text=True)
    assert done.returncode == 2 and 'nonesuch' in done.stderr


def test_tiers_are_parts_of_the_whole():
    def names(*args):
        done = subprocess.run([sys.executable, os.path.join(ROOT, 'tests/run'), '--list', *args],
                              capture_output=True, text=True, check=True)
        return [line.split()[0] for line in done.stdout.splitlines()]
    quick, deep = names('--tier', 'quick'), names('--tier', 'deep')
    assert sorted(quick + deep) == sorted(names()) and not set(quick) & set(deep)
    assert 'unit' in quick and all(name in deep for name in ('asan-unit', 'vm', 'fuzz', 'browser'))


def test_a_suite_of_the_other_tier_is_refused():
    done = subprocess.run([sys.executable, os.path.join(ROOT, 'tests/run'), '--tier', 'quick', '--only', 'fuzz'],
                          capture_output=True, text=True)
    assert done.returncode == 2 and 'no suite is left' in done.stderr


# In place of make: what each target comes to, by its name.
MAKE = '''#!/bin/bash
target=$2
summary=$(sed 's/.*--summary \\([^ ]*\\).*/\\1/' <<<"$3")
line=${target//-/_}
[ -z "${!line}" ] || echo "${!line}" >"$summary"
echo "$target ran"
[[ ${!line} == *" 0 failed,"* ]]
'''


@pytest.mark.parametrize('quick, deep, line, code', [
    ('5 passed, 0 failed, 1 skipped', '7 passed, 0 failed, 2 skipped', '12 passed, 0 failed, 3 skipped', 0),
    ('5 passed, 1 failed, 1 skipped', '7 passed, 0 failed, 2 skipped', '12 passed, 1 failed, 3 skipped', 1),
    ('5 passed, 0 failed, 1 skipped', '7 passed, 2 failed, 0 skipped', '12 passed, 2 failed, 1 skipped', 1),
    ('', '7 passed, 0 failed, 2 skipped', '7 passed, 1 failed, 2 skipped', 1),
    ('5 passed, 0 failed, 1 skipped', '', '5 passed, 1 failed, 1 skipped', 1)])
def test_ci_adds_up_both(tmp_path, quick, deep, line, code):
    (tmp_path / 'make').write_text(MAKE)
    (tmp_path / 'make').chmod(0o755)
    done = subprocess.run([os.path.join(ROOT, '.ci/run')], capture_output=True, text=True, env={
        **os.environ, 'PATH': f'{tmp_path}:{os.environ["PATH"]}', 'test': quick, 'test_deep': deep})
    assert done.stdout.splitlines()[-1] == line and done.returncode == code, done
    assert 'test ran' in done.stdout and 'test-deep ran' in done.stdout


def test_what_was_unsteady_is_told(capsys):
    tally = report.Tally()
    tally.end('s', [Result('s', 'a', PASSED, unsteady='assert 1 == 2')], 0)
    tally.details()
    assert tally.close() == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index('unsteady: s: a - failed, and passed at a second try')
    assert lines[at + 1] == '    assert 1 == 2' and lines[-1] == '1 passed, 0 failed, 0 skipped'


@pytest.mark.parametrize('losses, kept', [([0], 0), ([3, 0, 0], 1), ([5] * again.TRIES, again.TRIES - 1)])
def test_again_until_nothing_is_lost(losses, kept):
    """No run after the first that lost nothing; of runs that all lost, the last."""
    runs = [SimpleNamespace(lost=lost) for lost in losses]
    left = iter(runs)
    assert again.lossless(lambda: next(left)) is runs[kept]
