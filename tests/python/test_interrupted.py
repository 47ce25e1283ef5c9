# SPDX-License-Identifier: Apache-2.0
"""What interrupts do while perf-prof is on the CPU is delivered: it is not perf-prof's own work."""
import os
import re

import pytest

pytestmark = pytest.mark.live('tracefs', 'root')
SLEEPS = 200

# Each sleep ends by a timer. The handler keeps the CPU of both busy for most of the time until the next one ends.
SLEEPER = f'''
import select
for _ in range({SLEEPS}):
    select.select([], [], [], 0.002)    # not until a time of day, which may have passed
'''
SCRIPT = '''
import os, signal, subprocess, time
woken = 0
def __init__():
    subprocess.Popen(['./sleeper', 'sleeper.py'])
def sched__sched_waking(e):
    global woken
    if e.comm != 'sleeper' or not e.common_flags & 0x18:
        return
    woken += e._pid == os.getpid()
    end = time.monotonic() + 0.0015
    while time.monotonic() < end:
        pass
def sched__sched_process_exit(e):
    if e.comm == 'sleeper':
        os.kill(os.getpid(), signal.SIGINT)
def __exit__():
    print('woken', woken)
'''


def test_wake_ups_by_timers_while_perf_prof_runs(python, tmp_path):
    (tmp_path / 'sleeper.py').write_text(SLEEPER)
    (tmp_path / 'script.py').write_text(SCRIPT)
    (tmp_path / 'sleeper').symlink_to('/usr/bin/python3')
    cpu, all_cpus = min(os.sched_getaffinity(0)), os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})    # of the run, too
    try:
        run = python('script.py', event='sched:sched_waking,sched:sched_process_exit', events=None, check=None)
    finally:
        os.sched_setaffinity(0, all_cpus)
    assert int(re.search(r'woken (\d+)', run.stdout)[1]) >= 1, run.stderr
