# SPDX-License-Identifier: Apache-2.0
"""examples/notebook/tour.ipynb: its cells run one after the other, and show what they promise. Jupyter is not needed."""
import ast
import contextlib
import html
import json
import os

import pytest

from frame import requires
from known import ROOT

NOTEBOOK = os.path.join(ROOT, 'examples/notebook/tour.ipynb')


def cells(kind):
    with open(NOTEBOOK, encoding='utf-8') as file:
        return [''.join(cell['source']) for cell in json.load(file)['cells'] if cell['cell_type'] == kind]


def shown(value):
    """As a notebook shows it."""
    method = getattr(value, '_repr_html_', None)
    return method() if method else f'<pre>{html.escape(repr(value))}</pre>'


def run(source, names):
    """The cell's last value."""
    *body, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        body, last = body + [last], None
    exec(compile(ast.Module(body, []), NOTEBOOK, 'exec'), names)
    return eval(compile(ast.Expression(last.value), NOTEBOOK, 'eval'), names) if last else None


def with_magic(sources):
    """Runs cells with magics in IPython, if it is there; it keeps no history, as the home folder ends before it."""
    shells = pytest.importorskip('IPython.core.interactiveshell', reason='needs IPython').InteractiveShell
    shell = shells.instance(config=pytest.importorskip('traitlets.config').Config({'HistoryManager': {'enabled': False}}))
    for source in sources:
        result = shell.run_cell(source)
        assert result.success, result


@pytest.fixture(scope='module')
def outputs(perf_prof, reader):
    """What the cells without magics show, as HTML."""
    for reason in requires.root(), requires.tracefs():
        if reason:
            pytest.skip(reason)
    reader('polars'), reader('duckdb')
    names = {}
    found = [run(source, names) for source in cells('code') if not source.startswith('%')]
    yield [shown(value) for value in found if value is not None]
    with contextlib.suppress(OSError):
        os.unlink(names['path'])
        os.rmdir(names['folder'])


@pytest.mark.live
def test_each_cell_shows_its_answer(outputs):
    switches, sums, rows, calls, picture = outputs
    assert 'prev_comm' in switches and 'switches' in sums
    assert '[(' in rows and 'openat' in calls
    page = html.unescape(picture)
    assert '<iframe' in picture and ('<html' in page or '%)</title>' in page)      # the share of a function, by pointing at it


@pytest.mark.live
def test_the_magic(outputs):
    with_magic(source for source in cells('code') if source.startswith('%'))


def test_outputs_are_not_kept():
    """They differ from machine to machine."""
    with open(NOTEBOOK, encoding='utf-8') as file:
        assert not any(cell.get('outputs') for cell in json.load(file)['cells'])
