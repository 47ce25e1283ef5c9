# SPDX-License-Identifier: Apache-2.0
"""--buffer: bursts survive a slow script; the order and the counts stay right."""
import os

import pytest

from frame import again, requires
from frame.session import EVENT, Session, Storm

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

# 400,000 events of 48 bytes within a second are 18 MiB; the script looks away for that long first.
CALLS = 400000
TRIES = 5
SLOW = """
import time
n = last = inverted = seen = 0
def __interval__():
    global seen
    print('ready' if not n else 'settled' if seen == n else 'busy', flush=True)
    seen = n
def __sample__(e):
    global n, last, inverted
    n += 1
    if n == 1:
        time.sleep(1)
    inverted += e._time < last
    last = e._time
def __exit__():
    print('count', n)
    print('inverted', inverted)
"""


def counted(prof, storm, folder, *args):
    with Storm(storm, '--cpu', max(os.sched_getaffinity(0)), 'getppid', CALLS, CALLS) as one, \
            Session(prof, folder, SLOW, '-i', '50', '-e', f'{EVENT}/common_pid=={one.pid}/',
                    *args) as session:
        session.wait_for('ready')
        one.run()
        # in between nothing was delivered, though the program had looked; what was there before had not all been made
        session.wait_for('settled\nsettled', since=len(session.out.data))
        ended = session.stop()
    assert ended.code == 0
    return ended


def until_it_loses(prof, storm, tmp_path, *options):
    for _ in range(TRIES):
        ended = counted(prof, storm, tmp_path, *options)
        if ended.lost:          # else the storm had not run by the time that the script looked again: a busy machine
            break
    return ended


def test_without_it_a_burst_is_lost(prof, storm, tmp_path):
    ended = until_it_loses(prof, storm, tmp_path)
    assert ended.number('count') < CALLS and ended.lost == CALLS - ended.number('count')


@pytest.mark.parametrize('order', [[], ['--order']])
def test_a_burst_survives(prof, storm, tmp_path, order):
    ended = again.lossless(lambda: counted(prof, storm, tmp_path, '--buffer', '128M', '-m', '8M', *order))
    assert ended.number('count') == CALLS and ended.stderr == ''
    assert ended.number('inverted') == 0


def test_what_it_cannot_hold_is_counted(prof, storm, tmp_path):
    ended = until_it_loses(prof, storm, tmp_path, '--buffer', '4M')
    assert ended.lost > 0 and ended.number('count') + ended.lost == CALLS
