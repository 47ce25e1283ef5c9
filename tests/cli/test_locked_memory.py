# SPDX-License-Identifier: Apache-2.0
"""Without room for the records of mappings: a message with the remedy, rows without names, and today's date."""
import resource
import subprocess

import pytest

from frame import requires
from frame.declared import environment

pytestmark = pytest.mark.live

BUSY = ['sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done']


def limited(argv, files):
    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    return subprocess.run(requires.as_nobody(argv), capture_output=True, text=True, timeout=60, preexec_fn=lower,
                          env=environment({'cmd': 'profile'}))


@pytest.mark.parametrize('way', ['dwarf', 'fp'])
def test_no_records_of_mappings(prof, way):
    reason = requires.why_not('nobody') or requires.why_not('paranoid')
    if reason:
        pytest.skip(reason)
    for files in range(12, 4096):
        done = limited([prof, 'profile', '--call-graph', way, '-F', '997', '--', *BUSY], files)
        if done.returncode == 0:
            break
        assert 'open files' in done.stderr, done
    assert 'user functions have no names' in done.stderr and 'ulimit -l' in done.stderr and '-m 512k' in done.stderr
    assert '[unknown]' in done.stdout and done.stdout.startswith('20'), done
