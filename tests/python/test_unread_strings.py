# SPDX-License-Identifier: Apache-2.0
"""Strings that a probe could not read, as from a null pointer: they are not empty. Needs root, tracefs and uprobes."""
import csv
import io
import json
import os
import platform
import re

import pytest

from frame.session import Command

pytestmark = pytest.mark.live('tracefs', 'root')

PAIR = {'x86_64': ('+0(+8(%di)):string', '+0(+8(%si)):string'), 'aarch64': ('+0(+8(%x0)):string', '+0(+8(%x1)):string')}
FETCHED = {'x86_64': '+0(%di):string', 'aarch64': '+0(%x0):string'}


@pytest.fixture
def unread(helper):
    path = helper('unread')
    if not os.path.exists('/sys/kernel/tracing/uprobe_events'):
        pytest.skip('needs uprobes (CONFIG_UPROBE_EVENTS)')
    if platform.machine() not in FETCHED:
        pytest.skip('needs x86-64 or arm64')
    return path


@pytest.fixture
def run(prof, tmp_path):
    return lambda *args: Command(prof, tmp_path).run(*args, errors=None).stdout


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


SHOWN = ['"text"', '""', '(fault)', '(fault)']


def test_text_says_what_the_kernel_does(run, event, unread):
    assert re.findall(r's=(\S+)', run('trace', '-e', event, '--', unread)) == SHOWN
    if 'elfutils: no' not in run('version', '--build-options'):
        assert re.findall(r'text=(\S+)', run('trace', '-e', f'uprobe:named@{unread}//args="text n"/', '--', unread)) == SHOWN


@pytest.mark.parametrize('script', [
    'got = []\ndef __sample__(e): got.append(e.s if e.s == e.to_dict()["s"] else e)\ndef __exit__(): print("got", got)\n',
    'def __batch__(batch): print("got", list(batch["s"]))\n'])
def test_scripts_get_none(run, event, unread, tmp_path, script):
    (tmp_path / 's.py').write_text(script)
    assert "got ['text', '', None, None]" in run('python', '-e', event, 's.py', '--', unread)


def test_recordings(run, event, unread, tmp_path):
    run('record', '-q', '-o', 'a.data', '-e', event, '--', unread)
    assert re.findall(r' s=(\S+)', run('script', 'a.data')) == SHOWN
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
