# SPDX-License-Identifier: Apache-2.0
"""Lines of a command that writes to the same pipe do not come in the middle of ours."""
import pytest

pytestmark = pytest.mark.live

LINES = 2000


@pytest.mark.parametrize('json', [[], ['--json']], ids=['text', 'json'])
def test_lines_stay_whole(analyse, json):
    """Each of them is printed here, too, so stdio's buffer was full within a line many times."""
    loop = f'i=0; while [ $i -lt {LINES} ]; do echo marker; i=$((i + 1)); done'
    lines = analyse('trace', *json, '-e', 'syscalls:sys_enter_write', '--', 'sh', '-c', loop).text.splitlines()
    assert lines.count('marker') == LINES
    assert not [line for line in lines if 'marker' in line and line != 'marker']
