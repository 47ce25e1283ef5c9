# SPDX-License-Identifier: Apache-2.0
"""Timestamps: --monotonic, --tsc, --clock-offset, and _realtime beside all of them."""
import os
import time

import pytest

from frame.session import EVENT, READY, Session, Storm, ran

pytestmark = pytest.mark.live('tracefs', 'root')

SCRIPT = READY + """
times = []
def __sample__(e):
    times.append((e._time, e._realtime))
    e.print(timestamp=False)
def __lost__(start, end):
    print('gap', start, end)
def __exit__():
    for t in times:
        print('times', *t)
"""


def session(prof, storm, folder, *args):
    with Storm(storm, 'getppid', 3) as one, Session(prof, folder, SCRIPT, '-i', '50', '-e', EVENT, '-p', str(one.pid), *args) as s:
        s.wait_for('ready')
        before = time.monotonic_ns(), time.time_ns()
        one.run()
        after = time.monotonic_ns(), time.time_ns()
        ended = s.stop()
    assert ended.code == 0 and ended.stderr == ''
    lines = [line.split() for line in ended.stdout.splitlines()]
    times = [(int(a), int(b)) for word, *rest in lines if word == 'times' for a, b in [rest]]
    printed = [line.split('] ')[1].split(':')[0] for line in ended.stdout.splitlines() if '] ' in line]
    assert len(times) == len(printed) == 3
    return before, after, times, printed


@pytest.mark.parametrize('options, offset', [
    ('--monotonic', 0), ('--monotonic --order', 0), (f'--monotonic --clock-offset {10**15}', 10**15),
    (f'--monotonic --clock-offset {-10**9}', -10**9), ('', None)])
def test_clocks_beside_the_wall_clock(prof, storm, tmp_path, options, offset):
    """It stays what it is, whatever the events' own time is."""
    before, after, times, printed = session(prof, storm, tmp_path, *options.split())
    for (shown, real), text in zip(times, printed):
        assert before[1] - 10**6 < real < after[1] + 10**6
        assert text == f'{shown // 10**9}.{shown % 10**9 // 1000:06d}'
        assert offset is None or before[0] < shown - offset < after[0]


LONG = """
import time
worst = 0
def profile(e):
    global worst
    # the wall clock beside CLOCK_MONOTONIC, now; both tick alike but for what NTP does
    before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    if after - before < 100000:
        worst = max(worst, abs(e._realtime - e._time - (wall - before)))
def __exit__():
    print('worst', worst)
"""


# Soak: it takes as long as it is told.
@pytest.mark.soak
def test_realtime_over_a_long_run(prof, tmp_path):
    """Within 1 ms of the wall clock, all the time (`make test-soak` runs it for longer)."""
    (tmp_path / 's.py').write_text(LONG)
    done = ran([prof, 'python', '--monotonic', '-e', 'profile/-F 99/', '--seconds', os.environ.get('SOAK_SECONDS', '3'), 's.py'],
               cwd=tmp_path)
    assert done.returncode == 0 and 0 < int(done.stdout.split('worst ')[1]) < 10**6, done


def test_tsc(prof, storm, tmp_path):
    """Ticks that grow with time; or a refusal that names a way out, as of a guest's clock."""
    (tmp_path / 's.py').write_text('def __sample__(e): pass\ndef __init__(): raise SystemExit(7)\n')
    asked = ran([prof, 'python', '--tsc', '-e', EVENT, 's.py'], cwd=tmp_path)
    if asked.returncode == 1:
        assert '--tsc: ' in asked.stderr and '--monotonic' in asked.stderr
        return
    assert asked.returncode == 7
    _, _, times, _ = session(prof, storm, tmp_path, '--tsc')
    assert times[0][0] < times[1][0] < times[2][0]
