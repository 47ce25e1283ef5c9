# SPDX-License-Identifier: Apache-2.0
"""Rings that grow at the first loss: what a larger ring holds is kept, and nothing is lost uncounted in between."""
import os
import re
import struct
import subprocess

import pytest

from frame.session import AWAY, EVENT, READY, Session, Storm, overflowing, ran

pytestmark = [pytest.mark.live('tracefs', 'root'), pytest.mark.slow]

# 60,000 events of 48 bytes are 2.8 MiB: too many for the ring of 1 MiB, and few for the next one of 4 MiB.
CALLS = 60000
SCRIPT = AWAY + """
inverted = last = 0
def __sample__(e):
    global last, inverted
    away(e)
    inverted += e._time < last
    last = e._time
def __exit__(): print(inverted, *counts.values())
"""


def run_away(prof, folder, options, events, command):
    """How many came of each storm, how many were lost, and the run."""
    (folder / 's.py').write_text(SCRIPT)
    done = ran([prof, 'python', '-v', *events, *options, 's.py', *command], cwd=folder)
    assert done.returncode == 0, done
    inverted, *counts = map(int, done.stdout.splitlines()[-1].split())
    assert inverted == 0
    return counts, int(re.search(r'delivered, (\d+) lost', done.stderr)[1]), done


@pytest.mark.parametrize('options', [[], ['--order'], ['-m', '1M'], ['--buffer', '2M']], ids=' '.join)
def test_a_second_burst_is_kept_unless_a_size_was_asked_for(prof, storm, tmp_path, options):
    counts, lost, done = run_away(prof, tmp_path, options, *overflowing(storm, CALLS, 1, CALLS, 1))
    assert sum(counts) + lost == 2 * CALLS + 2
    if options == ['--order'] and counts[0] == CALLS:
        return      # it sorts what it has read before it delivers any: the first storm, starved, was slower than that
    assert counts[0] < CALLS
    if options in ([], ['--order']):
        assert re.search('the ring of CPU [0-9]+ now has 4 MiB', done.stderr) and counts[1:] == [1, CALLS, 1]
    else:
        assert 'now has' not in done.stderr and 'larger rings (-m 8M)' in done.stderr and counts[2] < CALLS


@pytest.mark.parametrize('order', [[], ['--order']])
def test_a_buffer_holds_a_burst(prof, storm, tmp_path, order):
    """12 MB within a second; a ring of 8 MiB would not."""
    calls = 250000
    counts, lost, _ = run_away(prof, tmp_path, ['--buffer', '128M', '-m', '8M', *order], *overflowing(storm, f'{calls} {calls}'))
    assert (counts, lost) == ([calls], 0)


@pytest.mark.deep
@pytest.mark.parametrize('order', [[], ['--order']])
def test_children_write_into_the_larger_ring(prof, storm, tmp_path, order):
    """They inherited their events before these are redirected; none is lost uncounted while they go on. The script looks away until one
    of them has had the CPU for long enough to fill a ring several times, and is far from its end."""
    script = READY + """
import time
n = last = inverted = 0
def used(pid):
    with open(f'/proc/{pid}/stat') as stat: return sum(map(int, stat.read().rpartition(')')[2].split()[11:13]))
def __sample__(e):
    global n, last, inverted
    n += 1
    inverted += e._time < last
    last = e._time
    while n == 1 and used(e._pid) < 10: time.sleep(0.01)
def __exit__(): print(f"count {n}\\ninverted {inverted}")
"""
    children, calls = 4, 400000
    with Storm(storm, 'fork', children, calls) as one, \
            Session(prof, tmp_path, script, '-v', '-i', '50', '-e', EVENT, '-p', str(one.pid), *order) as session:
        session.wait_for('ready')
        one.run()
        ended = session.stop()
    assert ended.code == 0 and 'now has' in ended.stderr, ended.stderr
    assert ended.number('count') + ended.lost == children * calls
    assert not order or ended.number('inverted') == 0


# Stops the recorder while a storm overflows the largest ring that one CPU has at first, of 8 MiB; others follow until it says that the
# ring grew, and one after that.
JOB = '''turn() { "$0" --cpu "$1" getppid "$2" >/dev/null; turns=$((turns + 1)); }
kill -STOP $PPID; turn "$@"; kill -CONT $PPID
until grep -q "now has" said; do turn "$@"; done
turn "$@"; echo $turns'''


def recorded_beside_a_stop(prof, storm, folder, events, calls):
    """How often the storm was there, and what the recorder said."""
    with open(folder / 'said', 'w') as said:
        job = ['sh', '-c', JOB, storm, str(max(os.sched_getaffinity(0))), str(calls)]
        done = subprocess.run([prof, 'record', '-v', '-e', events, '--', *job], cwd=folder, stdout=subprocess.PIPE, stderr=said, text=True,
                              timeout=100)
    text = (folder / 'said').read_text()
    assert done.returncode == 0, text
    return int(done.stdout), text


def test_a_recording_has_what_both_rings_held(prof, storm, tmp_path):
    calls = 250000
    turns, said = recorded_beside_a_stop(prof, storm, tmp_path, EVENT + '/comm=="storm"/', calls)
    script = ran([prof, 'script', '-F', 'event'], cwd=tmp_path, check=True)
    kept, lost = script.stdout.count('getppid:'), [int(w) for w in said.replace(',', '').split() if w.isdigit()]
    assert any(kept + n == turns * calls for n in lost), (turns, kept, said)


SAMPLE, TRACING_DATA, FINISHED_ROUND = 9, 66, 68


def records(data):
    """Type and bytes of each record of a recording without compression."""
    at = 16
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from('=IHH', data, at)
        yield kind, data[at:at + size]
        at += size
        if kind == TRACING_DATA:
            at += struct.unpack_from('=I', data, at - size + 8)[0] + 7 & ~7


def behind_their_round(data):
    """Samples older than what was newest one round before: perf delivers these too late."""
    newest = before = passed = late = 0
    for kind, record in records(data):
        if kind == SAMPLE:
            when, = struct.unpack_from('=Q', record, 32)
            late += when < passed
            newest = max(newest, when)
        elif kind == FINISHED_ROUND:
            passed, before = before, newest
    return late


@pytest.mark.deep
def test_rounds_of_a_recording_wait_for_the_larger_ring(prof, storm, tmp_path):
    """Of several events, the first writes into the larger ring while the last still writes into the old one."""
    events = [f'syscalls:sys_{way}_{name}' for name in ('read', 'write', 'getpid') for way in ('enter', 'exit')]
    recorded_beside_a_stop(prof, storm, tmp_path, ','.join(['raw_syscalls:sys_enter', *events, 'raw_syscalls:sys_exit']), 100000)
    assert behind_their_round((tmp_path / 'perf.data').read_bytes()) == 0
