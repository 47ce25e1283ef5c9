# SPDX-License-Identifier: Apache-2.0
"""Calls of programs with the paths that they use."""
import os

import pytest

from frame.analyses import RING

LIBC = '/lib/x86_64-linux-gnu/libc.so.6'
PYTHON = '/usr/bin/python3'


@pytest.fixture
def libc():
    for path in LIBC, '/sys/kernel/tracing/uprobe_events':
        if not os.path.exists(path):
            pytest.skip(f'needs {path}')


def matched(analyse, folder, script, *options, of=('python3',)):
    """{(call, path from that folder on)} of Python programs and the tasks that they start."""
    got = analyse('syscalls', '--match', f'{folder}/*', '--json', *options, *RING, '--', PYTHON, '-c', script)
    [table] = got.lines
    return {(r['call'].partition('(')[0], r['path'].replace(str(folder), 'DIR')) for r in table['rows'] if r['comm'] in of}, table


def counted(table):
    return {(r['call'], r['path'], r.get('error'), r.get('flags')): r['calls'] for r in table['rows']}
