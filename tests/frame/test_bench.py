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


def filled(**values):
    samples = sys.modules['samples'].Samples()
    for name, many in values.items():
        for value in many:
            samples.put(name, value)
    return samples


# A round is compared with itself: most of the floors of the second row are of slow rounds. Other numbers of rounds compare by medians.
@pytest.mark.parametrize('ours, floor, limit, ratio, verdict', [
    ([39] * 3, [10] * 3, 4, 3.9, 'met'), ([123] * 3, [30] * 3, 4, 4.1, 'MISSED'), ([30, 90, 31], [10, 30, 10], 4, 3, 'met'),
    ([30, 30, 600], [10, 1], 4, 30 / 5.5, 'MISSED'), ([64], [], 64, None, 'met'), ([65], [], 64, None, 'MISSED')])
def test_verdicts(run, ours, floor, limit, ratio, verdict):
    row = sys.modules['table'].Row('a row', 'ours', *(('floor', 'floor') if floor else ()), limit=limit)
    got = sys.modules['table'].judged(row, filled(ours=ours, floor=floor))
    assert got['verdict'] == verdict and (ratio is None or got['ratio'] == pytest.approx(ratio))


def of(ratio):
    def function(samples):
        if isinstance(ratio, Exception):
            raise ratio
        samples.put('ours', ratio)
        samples.put('floor', 1)
    return function


@pytest.mark.parametrize('argv, code', [((), 0), (('--strict',), 1)])
def test_closing_line_and_exit_code(run, monkeypatch, capsys, tmp_path, argv, code):
    Row, samples = sys.modules['table'].Row, sys.modules['samples']
    rounds = 1.5, 3, samples.Lack('needs root'), samples.Trouble('it broke'), AttributeError('no group')
    monkeypatch.setattr(run, 'mount_tracefs', lambda: '')
    monkeypatch.setattr(run, 'GROUPS', [
        (f'group{i}', lambda samples, opts, folder, ratio=ratio: samples.attempt(['ours', 'floor'], of(ratio), samples),
         [Row(f'row {i}', 'ours', 'floor', 'floor', 2)]) for i, ratio in enumerate(rounds)])
    assert run.main([*argv, '--json', str(tmp_path / 'b.json')]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith('1 of 2 targets met, 1 missed, 2 rows not measured, 1 row skipped; ')
    for end in 'skipped  (needs root)', 'NOT MEASURED  (it broke)', 'NOT MEASURED  (AttributeError: no group)':
        assert any(line.endswith(end) for line in lines), lines
    first, *_ = json.loads((tmp_path / 'b.json').read_text())['rows']
    assert (first['row'], first['ratio'], first['target'], first['verdict']) == ('row 0', 1.5, 2, 'met')
    monkeypatch.setattr(run, 'GROUPS', [run.GROUPS[0], run.GROUPS[2]])
    assert run.main(list(argv)) == 0        # what was skipped leaves --strict content


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
