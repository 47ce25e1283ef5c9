# SPDX-License-Identifier: Apache-2.0
"""--json of each command: the shape that docs/table.schema.json says, the columns that docs/json-tables.md lists,
cells of their column's kind."""
import json
import os
import re

import pytest

from frame.analyses import RING
from frame.declared import ROOT

pytestmark = pytest.mark.live

PAIR = ['-e', 'raw_syscalls:sys_enter', '-e', 'raw_syscalls:sys_exit']
RUNS = [
    (['task-state'], 'turns'), (['task-state', '--perins', '-i', '50'], 'turns'), (['rundelay'], 'turns'),
    (['syscalls'], 'calls'), (['syscalls', '--than', '10ms', '-g'], 'calls'),
    (['syscalls', '--lines'], 'calls'), (['latency', *PAIR], 'calls'),
    (['latency', *PAIR, '--breakdown', '--than', '10ms'], 'calls'),
    (['syscalls', '--errors', '--call-graph', 'fp'], 'calls'),
    (['latency', *PAIR, '--perins'], 'calls'), (['page-faults'], 'calls'), (['page-faults', '-g'], 'calls'),
    (['waits', '--call-graph', 'fp'], 'turns'), pytest.param(['waits', '--on'], 'turns', marks=pytest.mark.slow),
    (['profile', '-g'], 'turns'), (['profile', '--off-cpu'], 'turns'), (['profile', '-i', '50'], 'turns'),
]
KINDS = {'text': str, 'integer': int, 'hex': int, 'duration': int, 'time': int, 'number': (int, float),
         'percent': (int, float)}


def documented():
    """{table: its columns}, as docs/json-tables.md lists them."""
    with open(os.path.join(ROOT, 'docs/json-tables.md')) as f:
        rows = re.findall(r'^\| `([a-z -]+)` \| (`.*`) \|', f.read(), re.M)
    return {name: re.findall(r'`(\w+)`', columns) for name, columns in rows}


def schema(name):
    jsonschema = pytest.importorskip('jsonschema', reason='needs python3-jsonschema')
    with open(os.path.join(ROOT, 'docs', name)) as f:
        return jsonschema.Draft202012Validator(json.load(f))


@pytest.mark.deep
@pytest.mark.parametrize('command, work', RUNS, ids=lambda words: ' '.join(words) if isinstance(words, list) else '')
def test_shape_columns_and_cells(analyse, works, command, work):
    got = analyse(*command, '--json', *RING, '--', works, work)
    tables = [line for line in got.lines if 'table' in line]
    slow = [line for line in got.lines if 'slow' in line]
    calls = [line for line in got.lines if 'table' not in line and 'slow' not in line]
    assert tables and bool(slow) == ('--than' in command) and bool(calls) == ('--lines' in command)
    for table in tables:
        schema('table.schema.json').validate(table)
        name = ' '.join([table['table'], *(f for f in ('--off-cpu', '--on', '--perins', '--errors', '--breakdown') if f in command)])
        name = name if name in documented() else table['table']
        assert [c['name'] for c in table['columns']] == documented()[name]
        kinds = {c['name']: c['kind'] for c in table['columns']}
        for row in table['rows']:
            assert set(row) - {'marked', 'inlined'} <= set(kinds)
            assert all(isinstance(row[c], KINDS[kinds[c]]) for c in row if c in kinds), row
    for line in calls:
        schema('call.schema.json').validate(line)
    for line in slow:
        schema('slow.schema.json').validate(line)
        assert line['slow'] == command[0]
    assert all(line.startswith('{') or re.match(r'(pid|naps) \d+$|done$', line) for line in got.text.splitlines())
