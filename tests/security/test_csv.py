# SPDX-License-Identifier: Apache-2.0
"""Names that others choose, in a file that somebody opens in a spreadsheet: with --csv-safe none is a formula."""
import csv
import io
import shutil

import pytest

from security.conftest import run, running

pytestmark = pytest.mark.live

WORK = 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
EVIL = ["=1+1", '+1', '-1', '@SUM(A1)', '=a,"b"', '\t=1', '\r=1', '\uff1d1']


@pytest.fixture
def evil(folder):
    """evil(name): a shell that is called so."""
    def make(name):
        return shutil.copy('/bin/sh', folder / name)
    return make


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def output(*words):
    done = run(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_number(text):
    try:
        return float(text)
    except ValueError:
        return None


def assert_safe(rows, exact, column):
    """No text begins a formula, numbers and all other text are what they are."""
    assert len(rows) == len(exact) > 0
    marked = 0
    for row, plain in zip(rows, exact):
        for key, cell in row.items():
            assert cell[:1] not in ('=', '+', '@', '-', '\t', '\r', '\uff1d') or as_number(cell) is not None and key != column
            assert cell == plain[key] or cell == "'" + plain[key] and plain[key][0] in '=+-@\uff1d'
            marked += cell != plain[key]
    return marked


@pytest.mark.parametrize('name', EVIL, ids=ascii)
def test_rows_of_events(prof, folder, evil, name):
    data = folder / 'r.data'
    output(prof, 'record', '-e', 'cpu-clock', '-g', '-o', data, '--', evil(name), '-c', WORK)
    exact = rows_of(output(prof, 'script', '--csv', data))
    for command in (['script', '--csv-safe'], ['convert', '--to', 'csv', '--csv-safe']):
        marked = assert_safe(rows_of(output(prof, *command, data)), exact, 'comm')
        assert bool(marked) == (name[0] not in '\t\r')       # an escape begins those
    assert output(prof, 'convert', '--to', 'csv', data) == output(prof, 'script', '--csv', data)


def test_counts(prof, evil):
    with running(evil('=1+1'), '-c', 'read x; :') as process:
        args = '-e', 'task-clock', '-p', process.pid, '--per-thread', '--', 'true'
        exact, safe = (rows_of(run(prof, 'stat', how, *args, check=True).stderr) for how in ('--csv', '--csv-safe'))
    assert exact[0]['where'].startswith('=1+1') and safe[0]['where'] == "'" + exact[0]['where']
    assert [row['state'] for row in safe] == [row['state'] for row in exact]


def test_it_is_for_csv(prof, folder):
    done = run(prof, 'convert', '--to', 'folded', '--csv-safe', folder / 'x')
    assert done.returncode == 2 and '--csv-safe is for --to csv' in done.stderr
