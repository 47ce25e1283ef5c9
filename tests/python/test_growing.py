# SPDX-License-Identifier: Apache-2.0
"""Rings that grow at the first loss: what a larger ring holds is kept, and nothing is lost uncounted in between."""
import contextlib
import os
import signal
import struct
import subprocess
import time

import pytest

from frame import requires
from frame.session import EVENT, PATIENCE, Session, Storm

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

# 60,000 events of 48 bytes are 2.8 MiB: too many for the ring of 1 MiB, and few for the next one of 4 MiB.
CALLS = 60000
# One call to be busy with, and the burst; one with which the kernel tells of the loss; and again.
BURSTS = 1, CALLS, 1, 1, CALLS
GREW = 'the ring of CPU [0-9]+ now has 4 MiB'
SCRIPT = """
import os, time
n, last, inverted, seen = {}, 0, 0, 0
def __interval__():
    global seen
    total = sum(n.values())
    print('ready' if not n else 'settled' if seen == total else 'busy', flush=True)
    seen = total
def __sample__(e):
    global last, inverted
    if e._pid not in n:
        n[e._pid] = 0
        print('first of', e._pid, flush=True)
        while not os.path.exists(f'go{e._pid}'):
            time.sleep(0.01)
    n[e._pid] += 1
    inverted += e._time < last
    last = e._time
def __exit__():
    for pid, count in n.items():
        print(f'count{pid}', count)
    print('inverted', inverted)
"""


def open_storms(stack, storm, *args):
    return [stack.enter_context(Storm(storm, '--cpu', max(os.sched_getaffinity(0)), *words)) for words in args]


def let_go(folder, one):
    open(folder / f'go{one.pid}', 'w').close()


def run_while_blocked(session, folder, block, one):
    """All calls are made while the script is busy with the one of `block`; the first of them is never lost."""
    block.run()
    session.wait_for(f'first of {block.pid}')
    one.run()
    let_go(folder, one)
    let_go(folder, block)


def wait_for_growth(session):
    assert session.err.wait_for(GREW, time.monotonic() + PATIENCE), session.err.data


def run_once(session, folder, storms):
    """The first burst, and the call with which the kernel tells of its loss. Returns what is left to run."""
    *first, one_more, _, _ = storms
    session.wait_for('ready')
    run_while_blocked(session, folder, *first)
    session.wait_for(f'(?s)first of {first[1].pid}\n.*settled')
    let_go(folder, one_more)
    one_more.run()
    return storms[-2:]


@pytest.mark.parametrize('order', [[], ['--order']])
def test_a_second_burst_is_kept(prof, storm, tmp_path, order):
    with contextlib.ExitStack() as stack:
        storms = open_storms(stack, storm, *(['getppid', n] for n in BURSTS))
        only = '||'.join(f'common_pid=={one.pid}' for one in storms)
        session = stack.enter_context(Session(prof, tmp_path, SCRIPT, '-v', '-i', '50', '-e', f'{EVENT}/{only}/', *order))
        second = run_once(session, tmp_path, storms)
        wait_for_growth(session)
        run_while_blocked(session, tmp_path, *second)
        ended = session.stop()
    assert ended.code == 0
    assert ended.number(f'count{second[1].pid}') == CALLS
    assert ended.number(f'count{storms[1].pid}') + ended.lost == CALLS and ended.lost
    assert ended.number('inverted') == 0


@pytest.mark.parametrize('fixed', [['-m', '1M'], ['--buffer', '2M']])
def test_a_size_that_was_asked_for_stays(prof, storm, tmp_path, fixed):
    with contextlib.ExitStack() as stack:
        storms = open_storms(stack, storm, *(['getppid', n] for n in BURSTS))
        only = '||'.join(f'common_pid=={one.pid}' for one in storms)
        session = stack.enter_context(Session(prof, tmp_path, SCRIPT, '-v', '-i', '50', '-e', f'{EVENT}/{only}/', *fixed))
        run_while_blocked(session, tmp_path, *run_once(session, tmp_path, storms))
        ended = session.stop()
    assert 'now has' not in ended.stderr and 'larger rings (-m 8M)' in ended.stderr
    counts = [ended.number(f'count{one.pid}') for one in storms]
    assert sum(counts) + ended.lost == sum(BURSTS) and counts[-1] < CALLS


@pytest.mark.deep
@pytest.mark.parametrize('order', [[], ['--order']])
def test_children_write_into_the_larger_ring(prof, storm, tmp_path, order):
    """They inherited their events before these are redirected; none is lost uncounted while they go on."""
    # it waits once, so that the rings overflow also if the children get less of the CPUs than it
    script = 'import time\nn = last = inverted = 0\ndef __interval__(): print("ready", flush=True)\n' \
             'def __sample__(e):\n    global n, last, inverted\n    n += 1\n    inverted += e._time < last\n' \
             '    if n == 1000: time.sleep(0.5)\n    last = e._time\ndef __exit__(): print(f"count {n}\\ninverted {inverted}")\n'
    children, calls = 4, 400000
    for _ in range(5):
        with Storm(storm, 'fork', children, calls) as one, \
                Session(prof, tmp_path, script, '-v', '-i', '50', '-e', EVENT, '-p', str(one.pid), *order) as session:
            session.wait_for('ready')
            one.run()
            ended = session.stop()
        assert ended.code == 0
        assert ended.number('count') + ended.lost == children * calls
        assert not order or ended.number('inverted') == 0
        if 'now has' in ended.stderr:
            return
    pytest.fail(f'no ring grew: {ended.stderr}')


MANY = 1 << 20      # bytes of a recording that is well under way
TURNS = 6           # of a storm that overflows the largest ring that one CPU has at first, of 8 MiB
JOB = 'for turn in %s; do "$0" --cpu "$1" getppid "$2"; done' % ' '.join(map(str, range(TURNS)))


def descendants(pid):
    with contextlib.suppress(OSError), open(f'/proc/{pid}/task/{pid}/children') as children:
        for child in map(int, children.read().split()):
            yield child
            yield from descendants(child)


def runs(pid):
    """A child of a stopped process stays a zombie."""
    with contextlib.suppress(OSError), open(f'/proc/{pid}/stat') as stat:
        return stat.read().rsplit(') ', 1)[1][0] != 'Z'
    return False


def record_and_pause(argv, storm, calls, folder, data):
    """Once it records, the recorder stops until one of the storms has begun and ended; others follow after that."""
    job = ['sh', '-c', JOB, storm, str(max(os.sched_getaffinity(0))), str(calls)]
    with subprocess.Popen([*argv, '--', *job], cwd=folder, stderr=subprocess.PIPE, text=True) as recorder:
        end = time.monotonic() + PATIENCE
        while not (data.exists() and data.stat().st_size > MANY) and time.monotonic() < end:
            time.sleep(0.005)
        recorder.send_signal(signal.SIGSTOP)
        try:
            seen = before = set(descendants(recorder.pid))
            while len(seen - before) < 2 and any(map(runs, descendants(recorder.pid))) and time.monotonic() < end:
                seen = seen | set(descendants(recorder.pid))
                time.sleep(0.005)
        finally:
            recorder.send_signal(signal.SIGCONT)
        _, said = recorder.communicate()
    assert recorder.returncode == 0, said
    return said


def test_a_recording_has_what_both_rings_held(prof, storm, tmp_path):
    data, calls = tmp_path / 'perf.data', 400000
    for _ in range(3):
        said = record_and_pause([prof, 'record', '-v', '-e', EVENT], storm, calls, tmp_path, data)
        script = subprocess.run([prof, 'script', '-F', 'comm,event'], cwd=tmp_path, capture_output=True, text=True, check=True)
        kept, lost = script.stdout.count('storm '), [int(w) for w in said.replace(',', '').split() if w.isdigit()]
        if 'now has' in said:
            break
    else:
        pytest.fail(f'no ring grew: {said}')
    assert any(kept + n == TURNS * calls for n in lost), (kept, said)


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


def test_rounds_of_a_recording_wait_for_the_larger_ring(prof, storm, tmp_path):
    """Of several events, the first writes into the larger ring while the last still writes into the old one."""
    events = [f'syscalls:sys_{way}_{name}' for name in ('read', 'write', 'getpid') for way in ('enter', 'exit')]
    events, data = ['raw_syscalls:sys_enter', *events, 'raw_syscalls:sys_exit'], tmp_path / 'perf.data'
    for _ in range(3):
        said = record_and_pause([prof, 'record', '-v', '-e', ','.join(events)], storm, 200000, tmp_path, data)
        if 'now has' in said:
            assert behind_their_round(data.read_bytes()) == 0
            return
    pytest.fail(f'no ring grew: {said}')
