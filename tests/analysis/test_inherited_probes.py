# SPDX-License-Identifier: Apache-2.0
"""Probes in programs that a command's children start, and theirs."""
import subprocess

import pytest

from frame import requires
from frame.callpaths import LIBC

pytestmark = pytest.mark.live

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

TIMES = 10
# Pipes make the children of children run by turns: the kernel would swap their events.
SHELLS = '''
for i in {times}; do
    bash -c 'x=$(echo a | cat | cat); cat {file} >/dev/null; bash -c "y=\\$(echo b | cat | cat); exec cat {file}" >/dev/null'
done
'''


def test_no_child_of_a_child_is_left_out(prof, tmp_path):
    file = tmp_path / 'wanted'
    file.write_text('x')
    shells = SHELLS.format(times=' '.join(map(str, range(TIMES))), file=file)
    event = f'uprobe:open64@{LIBC}/path=="{file}"/args="path=+0($arg1):string"/'
    done = subprocess.run([prof, 'trace', '-e', event, '-m', '16M', '--', 'bash', '-c', shells], capture_output=True, text=True,
                          timeout=120)
    if 'probes in programs may miss' in done.stderr:
        pytest.skip('Linux before 6.12 loses probes of children of children')
    assert 'lost' not in done.stderr
    assert len([line for line in done.stdout.splitlines() if str(file) in line]) == 2 * TIMES
