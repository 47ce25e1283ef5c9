# SPDX-License-Identifier: Apache-2.0
"""Strings that a probe could not read, as from a null pointer: they are not empty. Needs root, tracefs and uprobes."""
import csv
import io
import json
import os
import platform
import re
import subprocess

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

PAIR = {'x86_64': ('+0(+8(%di)):string', '+0(+8(%si)):string'), 'aarch64': ('+0(+8(%x0)):string', '+0(+8(%x1)):string')}
FETCHED = {'x86_64': '+0(%di):string', 'aarch64': '+0(%x0):string'}


@pytest.fixture
def unread(build):
    path = os.path.join(build, 'tests/helpers/unread')
    if not os.path.exists(path) or not os.path.exists('/sys/kernel/tracing/uprobe_events'):
        pytest.skip('needs tests/helpers/unread, and uprobes (CONFIG_UPROBE_EVENTS)')
    if platform.machine() not in FETCHED:
        pytest.skip('needs x86-64 or arm64')
    return path


@pytest.fixture
def run(prof, tmp_path):
    def run(*args):
        done = subprocess.run([prof, *args], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        return done.stdout
    return run


@pytest.fixture
def event(run, unread):
    """The text as fetched; skips kernels that write an empty one."""
    item = f'uprobe:named@{unread}//args="s={FETCHED[platform.machine()]}"/'
    rows = [json.loads(line)['fields']['s'] for line in run('trace', '--json', '-e', item, '--', unread).splitlines()]
    assert rows[:2] == ['text', ''] and len(rows) == 4, rows
    if rows[2:] == ['', '']:
        release = tuple(map(int, re.findall(r'\d+', platform.release())[:2]))
        assert release < (6, 5), rows
        pytest.skip('this kernel writes an empty text')
    assert rows[2:] == [None, None]
    return item


def test_text_says_what_the_kernel_does(run, event, unread):
    shown = re.findall(r's=(\S+)', run('trace', '-e', event, '--', unread))
    assert shown == ['"text"', '""', '(fault)', '(fault)']


def test_parameters_by_name(prof, run, event, unread):
    if 'elfutils: no' in run('version', '--build-options'):
        pytest.skip('needs a build with elfutils')
    shown = re.findall(r'text=(\S+)', run('trace', '-e', f'uprobe:named@{unread}//args="text n"/', '--', unread))
    assert shown == ['"text"', '""', '(fault)', '(fault)']


def test_scripts_get_none(run, event, unread, tmp_path):
    (tmp_path / 's.py').write_text('def __sample__(e): print("got", repr(e.s), e.to_dict()["s"] is None)\n')
    got = re.findall(r'^got (\S+) (\S+)$', run('python', '-e', event, 's.py', '--', unread), re.M)
    assert got == [("'text'", 'False'), ("''", 'False'), ('None', 'True'), ('None', 'True')]


def test_batches_have_null(run, event, unread, tmp_path):
    (tmp_path / 's.py').write_text('def __batch__(batch): print("got", list(batch["s"]))\n')
    got = run('python', '-e', event, 's.py', '--', unread)
    assert "got ['text', '', None, None]" in got


def test_recordings(run, event, unread, tmp_path):
    run('record', '-q', '-o', 'a.data', '-e', event, '--', unread)
    assert re.findall(r' s=(\S+)', run('script', 'a.data')) == ['"text"', '""', '(fault)', '(fault)']
    rows = [json.loads(line)['fields']['s'] for line in run('script', '--json', 'a.data').splitlines()]
    assert rows == ['text', '', None, None]
    table = csv.DictReader(io.StringIO(run('script', '--csv', 'a.data')))
    assert [row['s'] for row in table] == ['text', '', '', '']      # CSV has one kind of nothing


def test_expressions_take_it_for_empty(run, event, unread):
    item = event.replace('//args', '/s==""/args')
    assert run('trace', '-e', item, '--', unread).count(' s=') == 3


@pytest.fixture
def pair(event, unread):
    """An event with two texts, each behind a pointer that may be null; with a filter."""
    a, b = PAIR[platform.machine()]
    return lambda expr='': f'uprobe:pair@{unread}/{expr}/args="a={a} b={b}"/'


def test_a_text_behind_a_null_pointer_is_not_the_next_one(run, pair, unread):
    texts = [('left', 'right'), (None, 'right'), ('left', None), (None, None)]
    said = run('trace', '-e', pair(), '--', unread)
    assert re.findall(r' a=(\S+) b=(\S+)', said) == [tuple(f'"{t}"' if t else '(fault)' for t in row) for row in texts]
    rows = [json.loads(line)['fields'] for line in run('trace', '--json', '-e', pair(), '--', unread).splitlines()]
    assert [(row['a'], row['b']) for row in rows] == texts


def test_filters_do_not_take_it_for_the_next_one(run, pair, unread):
    for expr, count in (('a=="right"', 0), ('a==""', 2), ('b=="right"', 2), ('a=="left" && b=="right"', 1)):
        assert run('trace', '-e', pair(expr), '--', unread).count(' a=') == count, expr
