# SPDX-License-Identifier: Apache-2.0
"""How `make bench` judges: rows by their ratio, rows that can't be measured, and its exit code; by
numbers made up here, so that nothing is measured."""
import importlib.machinery
import importlib.util
import json
import os
import sys

import pytest

BENCH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'bench')


def load(name):
    """A module of tests/bench, or its program `run`."""
    loader = importlib.machinery.SourceFileLoader(f'bench_{name}', os.path.join(BENCH, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def run():
    before = list(sys.path), sys.dont_write_bytecode
    yield load('run')
    sys.path[:], sys.dont_write_bytecode = before


@pytest.fixture
def bench(run):
    """Row and Samples, and verdicts of rows."""
    class Bench:
        Row = sys.modules['table'].Row
        Samples = sys.modules['samples'].Samples
        Lack = sys.modules['samples'].Lack
        Trouble = sys.modules['samples'].Trouble

        @staticmethod
        def judged(row, samples):
            return sys.modules['table'].judged(row, samples)
    return Bench


def filled(bench, **values):
    samples = bench.Samples()
    for name, many in values.items():
        for value in many:
            samples.put(name, value)
    return samples


@pytest.mark.parametrize('slower', [1, 3])
@pytest.mark.parametrize('ours, verdict', [(39, 'met'), (41, 'MISSED')])
def test_a_ratio_is_the_same_on_a_slower_machine(bench, ours, verdict, slower):
    samples = filled(bench, ours=[ours * slower] * 3, floor=[10 * slower] * 3)
    got = bench.judged(bench.Row('a row', 'ours', 'floor', 'floor', 4), samples)
    assert got['verdict'] == verdict and got['ratio'] == pytest.approx(ours / 10)


def test_a_round_is_compared_with_itself(bench):
    """Most of its floors are of slow rounds, and most of what is judged is not; no round is above 4."""
    samples = filled(bench, ours=[30, 90, 31], floor=[10, 30, 10])
    assert bench.judged(bench.Row('a row', 'ours', 'floor', 'floor', 4), samples)['ratio'] == 3


def test_other_numbers_of_rounds_compare_by_medians(bench):
    samples = filled(bench, ours=[30, 30, 600], floor=[10, 1])
    assert samples.ratio('ours', 'floor') == 30 / 5.5


def test_a_value_without_a_floor_is_judged_itself(bench):
    row = bench.Row('memory', 'mib', limit=64, unit='MiB')
    assert bench.judged(row, filled(bench, mib=[64]))['verdict'] == 'met'
    assert bench.judged(row, filled(bench, mib=[65]))['verdict'] == 'MISSED'


def test_a_row_without_a_limit_has_no_verdict(bench):
    assert bench.judged(bench.Row('floor', 'floor'), filled(bench, floor=[1]))['verdict'] == ''


def failing(error):
    def function(samples):
        samples.put('ours', 1)
        raise error
    return function


def test_what_the_machine_lacks_skips_the_row(bench):
    samples = bench.Samples()
    samples.attempt(['ours', 'perf'], failing(bench.Lack('needs the program perf')), samples)
    got = bench.judged(bench.Row('a row', 'ours', 'perf', 'perf', 1), samples)
    assert (got['verdict'], got['note'], got['value']) == ('skipped', 'needs the program perf', 1)
    assert bench.judged(bench.Row('ours alone', 'ours'), samples)['verdict'] == ''


@pytest.mark.parametrize('error, note', [
    (AttributeError('no group'), 'AttributeError: no group'), (OSError(2, 'No such file'), 'No such file')])
def test_what_goes_wrong_is_a_row(bench, error, note):
    samples = bench.Samples()
    samples.attempt(['other'], failing(error), samples)
    got = bench.judged(bench.Row('a row', 'other', limit=1), samples)
    assert got['verdict'] == 'NOT MEASURED' and note in got['note']


def test_what_went_wrong_is_not_tried_again(bench):
    samples, calls = bench.Samples(), []

    def function():
        calls.append(1)
        raise bench.Trouble('no')

    for _ in range(2):
        samples.attempt(['a'], function)
    assert len(calls) == 1


def bench_of(run, bench, monkeypatch, capsys, *rounds, argv=()):
    """Exit code and lines of a bench with such groups, one row in each, whose target is 2x."""
    def group(number, function):
        return (f'group{number}', lambda samples, opts, folder: samples.attempt(['ours', 'floor'], function, samples),
                [bench.Row(f'row {number}', 'ours', 'floor', 'floor', 2)])

    monkeypatch.setattr(run, 'GROUPS', [group(i, function) for i, function in enumerate(rounds)])
    monkeypatch.setattr(run, 'mount_tracefs', lambda: '')
    code = run.main(list(argv))
    return code, capsys.readouterr().out.splitlines()


def of(ratio):
    def function(samples):
        samples.put('ours', ratio)
        samples.put('floor', 1)
    return function


@pytest.mark.parametrize('argv, code', [((), 0), (('--strict',), 1)])
def test_closing_line_and_exit_code(run, bench, monkeypatch, capsys, argv, code):
    got, lines = bench_of(run, bench, monkeypatch, capsys, of(1), of(3), failing(bench.Lack('needs root')),
                          failing(bench.Trouble('it broke')), argv=argv)
    assert got == code
    assert lines[-1].startswith('1 of 2 targets met, 1 missed, 1 row not measured, 1 row skipped; ')
    assert [line for line in lines if 'row 2' in line][0].endswith('skipped  (needs root)')
    assert [line for line in lines if 'row 3' in line][0].endswith('NOT MEASURED  (it broke)')


@pytest.mark.parametrize('functions, code', [
    ([of(1)], 0), ([of(3)], 1), ([failing(ValueError('x'))], 1)])
def test_strict(run, bench, monkeypatch, capsys, functions, code):
    assert bench_of(run, bench, monkeypatch, capsys, *functions, argv=['--strict'])[0] == code


def test_skipped_rows_leave_strict_content(run, bench, monkeypatch, capsys):
    code, lines = bench_of(run, bench, monkeypatch, capsys, of(1), failing(bench.Lack('needs root')),
                           argv=['--strict'])
    assert code == 0 and lines[-1].startswith('1 of 1 targets met, 0 missed, 1 row skipped; ')


def test_json(run, bench, monkeypatch, capsys, tmp_path):
    path = tmp_path / 'bench.json'
    bench_of(run, bench, monkeypatch, capsys, of(1.5), argv=['--json', str(path)])
    row, = json.loads(path.read_text())['rows']
    assert (row['row'], row['ratio'], row['target'], row['verdict']) == ('row 0', 1.5, 2, 'met')


def test_only_memory_and_losses_are_judged_absolutely(run):
    absolute = {row.unit for _, _, rows in run.GROUPS for row in rows if row.limit is not None and not row.of}
    assert absolute <= {'MiB', 'ev'}


def test_each_floor_is_measured_with_its_row(run):
    """A row's floor is a name that its group puts, so it stands in one of the group's rows."""
    for _, _, rows in run.GROUPS:
        names = {row.name for row in rows}
        assert not [row.title for row in rows if row.of and row.of not in names and not row.of.startswith('whole ')]


def test_the_page_has_the_targets(run):
    """docs/performance.md: the ratios of its table are those that are checked."""
    page = os.path.join(os.path.dirname(os.path.dirname(BENCH)), 'docs', 'performance.md')
    with open(page) as f:
        cells = [[cell.strip() for cell in line.strip('|\n').split('|')] for line in f if line.startswith('| ')]
    rows = {row.title.strip(): row for _, _, rows in run.GROUPS for row in rows if row.limit is not None}
    start = next(i for i, row in enumerate(cells) if row[0] == 'Row of `make bench`')
    shown = {row[0].replace('`', ''): row[1] for row in cells[start + 1:] if row[0].replace('`', '') in rows}
    assert len(shown) > 15
    for title, text in shown.items():
        top, _, bottom = text.partition('/')
        assert rows[title].of and rows[title].limit == pytest.approx(float(top) / float(bottom or 1)), (title, text)
    between = cells[start + 1:next(i for i, row in enumerate(cells) if row[0] == 'Question')]
    assert len(between) == len(shown), 'a row of the page is no row of make bench'
