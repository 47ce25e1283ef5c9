# SPDX-License-Identifier: Apache-2.0
"""rundelay says which tasks had the CPU while a thread waited for it."""
import os
import re
import subprocess

import pytest

from frame.analyses import RING, SPIN, sharing_a_cpu

pytestmark = pytest.mark.live


def total(rows):
    return sum(row['total'] for row in rows)


@pytest.mark.deep
def test_the_other_one_on_the_cpu(analyse):
    with sharing_a_cpu() as (first, second):
        got = analyse('rundelay', '-p', first, '--json', *RING, '--seconds', '2')
    table = got.table('rundelay')
    waits, ran = table['rows'], table['ran']
    assert total(waits) == total(ran), (waits, ran)      # all of their time was somebody's
    by_tid = {row.get('tid'): row for row in ran}
    assert first not in by_tid, ran
    assert by_tid[second]['total'] > 0, (waits, ran)     # tests that run beside may use the CPU too
    assert [row['total'] for row in ran] == sorted((row['total'] for row in ran), reverse=True)
    assert by_tid[second]['comm'].startswith('python'), ran
    command = by_tid[second]['command']
    assert command.startswith('python') and len(command) <= 63 and command.endswith('...'), ran
    assert not any('command' in row for row in ran if row['comm'] == '[idle]'), ran


def test_command_lines_tell_equal_names_apart(prof, tmp_path):
    """Without the folder of the program; cut, but not within a character; control characters are escaped."""
    cpu = max(os.sched_getaffinity(0))
    for name in 'one', 'two':
        (tmp_path / f'{name}.py').write_text(SPIN % cpu)
    both = [subprocess.Popen(['/usr/bin/python3', f'{name}.py', *more], stdout=subprocess.PIPE, cwd=tmp_path)
            for name, more in (('one', []), ('two', ['a\x1bb', 'ä' * 60]))]
    try:
        for one in both:
            assert one.stdout.read(1) == b'1'
        out = subprocess.run([prof, 'rundelay', '-p', f'{both[0].pid},{both[1].pid}', '-m', '4M', '--seconds', '1'], capture_output=True,
                             text=True, check=True, timeout=60).stdout
    finally:
        for one in both:
            one.kill()
            one.communicate()
    ran = out[out.index('\nran meanwhile'):]
    assert re.search(r'^\nran meanwhile +tid +runs +total\(us\) +max +command$', ran, re.M), ran
    assert re.search(rf'^python3 +{both[0].pid} .* python3 one\.py$', ran, re.M), ran
    assert re.search(rf'^python3 +{both[1].pid} .* python3 two\.py a\\x1bb ä+\.\.\.$', ran, re.M), ran


def test_recordings_have_no_command_lines(analyse):
    events = 'sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new'
    analyse('record', '-q', '-a', *RING, '-o', 'in', '-e', events, '--', 'sleep', '0.2')
    out = analyse('rundelay', '-I', 'in').text
    assert 'ran meanwhile' in out and 'command' not in out, out
