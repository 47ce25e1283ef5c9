# SPDX-License-Identifier: Apache-2.0
"""Intervals of a recording are those of its clock, however fast it is read."""
import datetime
import subprocess

import pytest

pytestmark = pytest.mark.live

PAIR = ['raw_syscalls:sys_enter', 'raw_syscalls:sys_exit']


@pytest.fixture(scope='module')
def recording(prof, works, tmp_path_factory):
    path = tmp_path_factory.mktemp('recorded') / 'x.data'
    subprocess.run([prof, 'record', '-q', '-m', '16M', '-o', path, '-e', ','.join(PAIR) + ',cpu-clock', '--', works,
                    'turns'], check=True, stdout=subprocess.DEVNULL)
    return path


@pytest.mark.parametrize('command', [['syscalls'], ['latency', '-e', PAIR[0], '-e', PAIR[1]], ['profile'],
                                     ['top', '-e', PAIR[0]]], ids=lambda c: c[0])
def test_intervals_have_its_times(analyse, recording, command):
    def tables(*options):
        found = analyse(*command, '--json', '-I', recording, *options).lines
        return [t for t in found if t['table'] == command[0]]

    def amount(table):
        return table['samples'] if command[0] == 'profile' else \
            sum(r.get('calls', r.get('sys_enter', 0)) for r in table['rows'])
    whole, = tables()
    parts = tables('-i', '100')
    assert len(parts) >= 3 and sum(map(amount, parts)) == amount(whole)
    times = [datetime.datetime.fromisoformat(t['time']) for t in parts]
    assert times[-1] == datetime.datetime.fromisoformat(whole['time']) and times == sorted(times)
    for a, b in zip(times, times[1:-1]):
        assert abs((b - a).total_seconds() - 0.1) < 2e-6
    if 'seconds' in whole:
        assert abs(sum(t['seconds'] for t in parts) - whole['seconds']) < 1e-3
