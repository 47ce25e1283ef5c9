# SPDX-License-Identifier: Apache-2.0
"""The machine's full rate of events, more than a script can take: intervals come on time,
every event is delivered or counted as lost, memory stays. `make test-soak` runs it for longer."""
import os
import subprocess
import sys

import pytest

from frame.session import PATIENCE, Ended, Session

pytestmark = pytest.mark.live('tracefs', 'root')

SECONDS = int(os.environ.get('SOAK_SECONDS', '3'))
# Events of which each counts 1, and which the kernel records or calls lost without
# exception (of sched_wakeup it forgets a few in ten thousand).
EVENTS = 'sched:sched_switch,raw_syscalls:sys_enter,raw_syscalls:sys_exit'
SCRIPT = """
import time
n, ticks = 0, []
def __sample__(e):
    global n
    n += 1
    until = time.perf_counter_ns() + 2000
    while time.perf_counter_ns() < until:
        pass
def __interval__():
    with open('/proc/self/statm') as f:
        ticks.append((time.monotonic(), int(f.read().split()[1])))
    print('tick', flush=True)
def __exit__():
    steps = [b[0] - a[0] for a, b in zip(ticks, ticks[1:])]
    print('late_us', round(max(abs(s - 1) for s in steps) * 1e6))
    print('grown_pages', ticks[-1][1] - ticks[1][1])
    print('count', n)
"""
PING_PONG = """
import os
a, b = os.pipe(), os.pipe()
other = os.fork() == 0
while True:
    if other:
        os.write(b[1], os.read(a[0], 1))
    else:
        os.write(a[1], b'x')
        os.read(b[0], 1)
"""


def flooded(prof, storm, folder, order):
    """A run at the full rate, which has ended."""
    load = [subprocess.Popen([storm, '--cpu', str(cpu), 'getppid', str(10**10)],
                             stdout=subprocess.DEVNULL) for cpu in sorted(os.sched_getaffinity(0))]
    load.append(subprocess.Popen([sys.executable, '-c', PING_PONG], start_new_session=True))
    try:
        with Session(prof, folder, SCRIPT, '-v', '-i', '1000', '-e', EVENTS, '--seconds', str(SECONDS + 1), *order) as session:
            session.process.wait(SECONDS + PATIENCE)
            return Ended(session.process.returncode, session.out.text(), session.err.text(), 0, session.process.pid)
    finally:
        for process in load:
            process.kill()
            process.wait()
        subprocess.run(['pkill', '-s', str(load[-1].pid)], check=False)


# Soak: intervals come on time on a machine at rest only.
@pytest.mark.soak
@pytest.mark.parametrize('order', [[], ['--order']])
def test_full_rate(prof, storm, tmp_path, order):
    ended = flooded(prof, storm, tmp_path, order)
    assert ended.code == 0, ended.stderr
    assert ended.number('late_us') < 50000
    # queues of --order fill once, by how others let it run, and hold 48 MiB at most; rings grow to 64 MiB each
    rings = len(os.sched_getaffinity(0)) * (64 << 20) // os.sysconf('SC_PAGE_SIZE')
    assert ended.number('grown_pages') < rings + (14 << 10 if order else 4 << 10)
    told = ended.totals()
    # A handler that has not returned 50 ms after the end is interrupted, be it before its first line.
    assert told.lost > 0 and told.delivered - ended.number('count') in (0, 1)
    # The kernel counts before it writes: what is being written when all is disabled comes
    # after the last look. And of some events it forgets a few, for every reader.
    missing = told.counted - told.delivered - told.lost - told.own - told.malformed
    assert 0 <= missing <= told.counted / 1000
    assert told.malformed == 0
