# SPDX-License-Identifier: Apache-2.0
"""--json: every command that ends in tables writes them in the one shape of docs/table.schema.json; events
are of docs/event.schema.json, counts of docs/stat.schema.json."""
import functools
import glob
import json
import os
import subprocess

import jsonschema
import pytest

from frame import requires

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
    'kvm-exit': ['kvm-exit'],
    'top': ['top', '-e', 'raw_syscalls:sys_enter//top-by=id/comm=syscall_name(id)/'],
}
EVENTS = {      # trace: the options, and what each of its lines has
    'tracepoints': (['-e', 'syscalls:sys_enter_getppid', '-g'], 'stack'),
    'samples': (['-e', 'profile/-F 500 -g/,page-faults'], 'fields'),
    'made here': (['-e', 'syscalls,task-state'], 'fields'),
}
COUNTS = [
    ['-e', 'task-clock,page-faults,cycles'], ['-e', 'task-clock', '-r', '3'], ['-e', 'page-faults', '-i', '10'],
    ['-e', 'task-clock', '-a', '-A'], ['-e', 'page-faults', '--vs', 'true', '-r', '2'],
]
TYPES = {'text': str, 'integer': int, 'hex': int, 'duration': int, 'time': int,
         'number': (int, float), 'percent': (int, float)}


@functools.cache
def validator(name):
    with open(os.path.join(ROOT, 'docs', name + '.schema.json')) as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


root = pytest.mark.skipif(requires.why_not('root') is not None, reason='needs root')


@pytest.fixture(scope='module')
def valid():
    return validator('table')


def check(table):
    """What a schema can't say: cells are of their columns, and of those columns' kinds."""
    kinds = {c['name']: c['kind'] for c in table['columns']}
    assert len(kinds) == len(table['columns'])
    for row in table['rows'] + [part for row in table['rows'] for part in row.get('inlined', ())]:
        for name, value in row.items():
            if name not in ('marked', 'inlined'):
                assert isinstance(value, TYPES[kinds[name]]), (name, value)


@pytest.mark.parametrize('name', COMMANDS)
@pytest.mark.live
@root
def test_tables(prof, storm, valid, tmp_path, name):
    out = tmp_path / 'out'
    # two on one CPU: who wakes up on an idle one is not told of by every kernel
    one = f'taskset -c 0 {storm} getppid 20000'
    done = subprocess.run([prof, *COMMANDS[name], '--json', '-o', out, '--', 'sh', '-c', f'{one} & {one}; wait'],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, out.read_text()
    lines = out.read_text().splitlines()
    tables = [json.loads(line) for line in lines if line.startswith('{')]
    assert tables
    # the end of a task, however early it is known, hides none of its calls
    if COMMANDS[name][0] == 'syscalls' and not any(t.get('lost') for t in tables):
        rows = [row for t in tables if t['table'] == 'syscalls' for row in t['rows']]
        assert sum(row['calls'] for row in rows if row['call'].startswith('getppid')) >= 40000
    for table in tables:
        valid.validate(table)
        check(table)
    if name in ('syscalls', 'latency', 'page-faults', 'task-state', 'top'):
        assert any(table['rows'] for table in tables)


def output(*argv, code=0):
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done
    return done.stdout


def test_the_table_of_a_recording(prof, valid):
    for recording in glob.glob(os.path.join(ROOT, 'tests/data/perfdata/amd64-7-*.data')):
        for line in output(prof, 'report', '--json', recording).splitlines():
            valid.validate(json.loads(line))
            check(json.loads(line))


def test_the_text_of_a_table_is_in_it(prof, valid):
    """What the same command prints without --json: of a recording, where both are of the same samples."""
    for words in (['top', '-e', 'sched:sched_switch', '-I', f'{ROOT}/tests/data/perfdata/amd64-7-several.data'],
                  ['report', '--sort', 'dso', '-q', f'{ROOT}/tests/data/perfdata/amd64-7-chains.data']):
        table, = map(json.loads, output(prof, *words, '--json', '--with-text').splitlines())
        valid.validate(table)
        assert output(prof, *words).startswith(table['text']) and table['text'].count('\n') >= len(table['rows']) > 0
        assert 'text' not in json.loads(output(prof, *words, '--json'))


@pytest.mark.parametrize('name', EVENTS)
@pytest.mark.live
@root
def test_events(prof, storm, tmp_path, name):
    options, member = EVENTS[name]
    out = tmp_path / 'out'      # not amid lines of the command's own
    output(prof, 'trace', '--json', '-o', out, '-N', '20', *options, '--', storm, 'getppid', '100000')
    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(events) == 20
    for event in events:
        validator('event').validate(event)
        assert {'event', 'time', 'realtime', 'comm', 'pid', 'tid', 'cpu', member} <= set(event)


@pytest.mark.parametrize('more', [[], ['-F', '+iregs,+uregs'], ['-F', '+raw'], ['-F', '+srcline,+misc,-comm']],
                         ids=' '.join)
def test_events_of_recordings(prof, more):
    """Those of every kind that a recording has, and with what is asked for beside."""
    names = ('everything', 'ours', 'group', 'dwarf') if more else ('chains', 'several', 'big64', 'everything')
    seen = 0
    for name in names:
        done = subprocess.run([prof, 'script', '--json', '-N', '20', *more, f'{ROOT}/tests/data/perfdata/{name}.data'],
                              capture_output=True, text=True, timeout=60)
        # what it was not recorded with can't be had
        assert done.returncode == 0 or 'was recorded with' in done.stderr, done
        for line in done.stdout.splitlines():
            validator('event').validate(json.loads(line))
            seen += 1
    assert seen >= 3


@pytest.mark.parametrize('options', COUNTS, ids=' '.join)
@pytest.mark.live
@root
def test_counts(prof, tmp_path, options):
    output(prof, 'stat', '--json', '-o', tmp_path / 'o', *options, '--', 'sleep', '0.03')
    text = (tmp_path / 'o').read_text()
    documents = text.splitlines() if '-i' in options else [text[text.index('{'):]]
    for document in documents:
        validator('stat').validate(json.loads(document))


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
