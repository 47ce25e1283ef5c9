# SPDX-License-Identifier: Apache-2.0
"""Python functions and asyncio tasks of the newest CPython: this machine's own, or, if it has none, that of Debian's next release, in
a root of its own."""
import json
import os
import platform
import shutil
import subprocess
import time

import pytest

from frame import requires
from vm.archive import Archive, Unavailable

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VERSION = '3.14'
PLACE = '<string>'      # the program is the word behind -c
TIMEOUT = 200
FEW = 100               # samples: fewer say too little


@pytest.fixture(scope='session')
def newest():
    """A command that starts it."""
    if shutil.which(f'python{VERSION}'):
        return [shutil.which(f'python{VERSION}')]
    if requires.root():
        pytest.skip(requires.root())
    if platform.machine() != 'x86_64':
        pytest.skip('needs x86-64')
    try:
        root = Archive('forky', 'amd64').root([f'python{VERSION}-minimal', f'libpython{VERSION}-stdlib'])
    except Unavailable as why:
        pytest.skip(str(why))
    return ['chroot', root, f'/usr/bin/python{VERSION}']


@pytest.fixture
def program(newest):
    """program(NAME): that helper is ready; a line, or the end of its stdin, lets it go on."""
    started = []

    def start(name):
        with open(os.path.join(TESTS, 'helpers', name)) as source:
            one = subprocess.Popen([*newest, '-c', source.read()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(one)
        assert one.stdout.readline() == b'ready\n'
        return one
    yield start
    for one in started:
        one.kill()
        one.communicate()


def readable(err):
    if 'may not be read' in err:
        pytest.skip(f'needs the right to read other processes ({err.strip()})')


def test_shares(prof, program):
    one = program('shares.py')
    with subprocess.Popen([prof, 'profile', '--json', '-F', '499', '-p', str(one.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as watcher:
        one.stdin.close()
        out, err = watcher.communicate(timeout=TIMEOUT)
    one.stdin = None
    readable(err)
    assert not watcher.returncode, err
    table = json.loads(out)
    assert table['event'] == 'python'
    if table['samples'] < FEW:
        pytest.skip(f'the machine is too busy: {table["samples"]} samples')
    share = {row['function']: row['self'] for row in table['rows'] if row['dso'].startswith(PLACE)}
    assert 0.6 < share['three_quarters'] / (share['three_quarters'] + share['one_quarter']) < 0.9, table['rows']


def test_stacks_of_now(prof, program):
    one = program('shares.py')
    done = subprocess.run([prof, 'dump', str(one.pid)], capture_output=True, text=True, timeout=TIMEOUT)
    readable(done.stderr)
    assert not done.returncode, done.stderr
    assert f'(Python {VERSION}.' in done.stdout
    assert f'    <module> ({PLACE}:' in done.stdout
    assert f'    wait_for ({PLACE}:' in done.stdout


# ---- asyncio ---------------------------------------------------------------------------------

def own(task):
    """The functions of the program itself, with lines, innermost first."""
    return [(f['function'], f['line']) for f in task['frames'] if f['file'] == PLACE]


def dump_json(prof, one, *args):
    done = subprocess.run([prof, 'dump', '--json', *args, str(one.pid)], capture_output=True, text=True, timeout=TIMEOUT)
    readable(done.stderr)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize('args', [[], ['--native']])
def test_tasks_are_where_they_are(prof, program, args):
    one = program('coroutines.py')
    said = dump_json(prof, one, *args)
    [thread] = said['threads']
    assert 'tasks' not in said and 'tasks_cut' not in said
    tasks = {t['name']: t for t in thread['tasks']}
    names = {t['id']: t['name'] for t in thread['tasks']}
    assert len(names) == 10 and not any('torn' in t or 'cut' in t for t in tasks.values())
    assert {name: [names[i] for i in t['awaited_by']] for name, t in tasks.items()} == {
        'Task-1': [], 'runs': ['Task-1'], 'gathers': [], 'Task-2': ['gathers'], 'Task-3': ['gathers'], 'other': [], 'groups': ['other'],
        'in the\\x1b[31m group': ['groups'], 'iterates': ['groups'], 'new': []}
    assert {name: t['state'] for name, t in tasks.items() if t['state'] != 'waiting'} == {'runs': 'running', 'new': 'not started'}
    assert own(tasks['runs'])[0][0] == 'spin' and own(tasks['runs'])[1:] == [('run', 48)]
    assert thread['frames'][-1]['function'] == '<module>' or args
    assert {name: own(t) for name, t in tasks.items() if name not in ('runs', 'new')} == {
        'Task-1': [('main', 58)], 'gathers': [('gathers', 32)], 'Task-2': [('leaf', 8), ('middle', 12)], 'Task-3': [('leaf', 8)],
        'other': [('waits_for', 36)], 'groups': [('group', 26)], 'in the\\x1b[31m group': [('leaf', 8), ('middle', 12)],
        'iterates': [('leaf', 8), ('numbers', 16), ('iterate', 21)]}
    assert [f['function'] for f in tasks['Task-3']['frames']] == ['Event.wait', 'leaf']
    assert tasks['new']['frames'][0]['function'] == 'waits_for'


def test_tree_of_tasks(prof, program):
    one = program('coroutines.py')
    done = subprocess.run([prof, 'dump', str(one.pid)], capture_output=True, text=True, timeout=TIMEOUT)
    readable(done.stderr)
    tree = [line for line in done.stdout.splitlines() if line.lstrip().startswith('task ')]
    assert tree == ['  task Task-1: waiting', '    task runs: running, awaited by Task-1', '  task gathers: waiting',
                    '    task Task-2: waiting, awaited by gathers', '    task Task-3: waiting, awaited by gathers',
                    '  task other: waiting', '    task groups: waiting, awaited by other',
                    '      task in the\\x1b[31m group: waiting, awaited by groups', '      task iterates: waiting, awaited by groups',
                    '  task new: not started']
    assert f'\n          leaf ({PLACE}:8)\n          numbers ({PLACE}:16)\n          iterate ({PLACE}:21)\n' in done.stdout
    assert '\x1b' not in done.stdout


def test_tasks_that_come_and_go(prof, program):
    """What is said of them is true at some time: a task waits in the function that it has."""
    one = program('taskstorm.py')
    seen = 0
    deadline = time.monotonic() + TIMEOUT
    while seen < 200:
        assert time.monotonic() < deadline, 'it has no tasks that can be read'
        for thread in dump_json(prof, one)['threads']:
            for task in thread.get('tasks', ()):
                functions = [name for name, _ in own(task)]
                assert task['name'].startswith(('Task-', 'short ')), task
                if functions:
                    assert functions[-1] in ('main', 'short'), task
                    assert set(functions) <= {'main', 'short', 'deep', 'nap'}, task
                seen += functions[-1:] == ['short']


def profiled(prof, one, *args):
    with subprocess.Popen([prof, 'profile', *args, '-F', '499', '-p', str(one.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as watcher:
        one.stdin.write(b'\n')
        one.stdin.close()
        out, err = watcher.communicate(timeout=TIMEOUT)
    one.stdin = None
    readable(err)
    assert not watcher.returncode, err
    return out


def weight_of(stacks):
    return sum(int(line.rpartition(' ')[2]) for line in stacks)


def test_shares_of_tasks(prof, program, tmp_path):
    stacks = tmp_path / 'stacks.folded'
    table = json.loads(profiled(prof, program('taskshares.py'), '--tasks', '--json', '--flame-graph', str(stacks)))
    if table['samples'] < FEW:
        pytest.skip(f'the machine is too busy: {table["samples"]} samples')
    total = {row['function']: row['total'] for row in table['rows']}
    assert 0.6 < total['task more'] / (total['task more'] + total['task works']) < 0.9, table['rows']
    ours = [line for line in stacks.read_text().splitlines() if ';works' in line]
    named = [line for line in ours if line.split(';')[1] in ('task more', 'task works')]
    # when the loop goes from one task to the other, the stack may be of one, and the task that runs the other
    assert weight_of(named) > 0.9 * weight_of(ours), ours


def test_tasks_only_if_asked(prof, program):
    assert 'task ' not in profiled(prof, program('taskshares.py'), '-g')
