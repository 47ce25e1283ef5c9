# SPDX-License-Identifier: Apache-2.0
"""Python functions of the newest CPython, which this machine need not have: Debian's next release, in a root of its own."""
import json
import os
import platform
import subprocess

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
