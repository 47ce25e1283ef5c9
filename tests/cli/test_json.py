# SPDX-License-Identifier: Apache-2.0
"""Every command that ends in tables writes them in the one shape of docs/table.schema.json."""
import json
import os
import subprocess

import jsonschema
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GETPPID = ['-e', 'syscalls:sys_enter_getppid', '-e', 'syscalls:sys_exit_getppid']
COMMANDS = {
    'profile': ['profile', '-F', '997'],
    'profile-off-cpu': ['profile', '--off-cpu'],
    'page-faults': ['page-faults'],
    'syscalls': ['syscalls'],
    'task-state': ['task-state'],
    'rundelay': ['rundelay'],
    'latency': ['latency', *GETPPID],
    'intervals': ['syscalls', '-i', '10'],
}
TYPES = {'text': str, 'integer': int, 'hex': int, 'duration': int, 'time': int,
         'number': (int, float), 'percent': (int, float)}


@pytest.fixture(scope='module')
def valid():
    with open(os.path.join(ROOT, 'docs/table.schema.json')) as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check(table):
    """What a schema can't say: cells are of their columns, and of those columns' kinds."""
    kinds = {c['name']: c['kind'] for c in table['columns']}
    assert len(kinds) == len(table['columns'])
    for row in table['rows']:
        for name, value in row.items():
            if name != 'marked':
                assert isinstance(value, TYPES[kinds[name]]), (name, value)


@pytest.mark.parametrize('name', COMMANDS)
def test_tables(prof, storm, valid, tmp_path, name):
    if os.geteuid():
        pytest.skip('needs root')
    out = tmp_path / 'out'
    # two on one CPU: who wakes up on an idle one is not told of by every kernel
    one = f'taskset -c 0 {storm} getppid 20000'
    done = subprocess.run([prof, *COMMANDS[name], '--json', '-o', out, '--', 'sh', '-c', f'{one} & {one}; wait'],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, out.read_text()
    lines = out.read_text().splitlines()
    tables = [json.loads(line) for line in lines if line.startswith('{')]
    assert tables
    for table in tables:
        valid.validate(table)
        check(table)
    if name in ('syscalls', 'latency', 'page-faults', 'task-state'):
        assert any(table['rows'] for table in tables)


@pytest.mark.parametrize('change', [
    lambda t: t.pop('rows'),
    lambda t: t.update(rows=[{'a': None}]),
    lambda t: t.update(rows=[{'a': {}}]),
    lambda t: t.update(columns=[{'name': 'a', 'kind': 'float'}]),
    lambda t: t.update(columns=[{'kind': 'text'}]),
    lambda t: t.update(table=''),
])
def test_the_schema_refuses_others(valid, change):
    table = {'table': 'x', 'columns': [{'name': 'a', 'kind': 'integer'}], 'rows': [{'a': 1}]}
    valid.validate(table)
    change(table)
    assert not valid.is_valid(table)
