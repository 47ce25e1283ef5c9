# SPDX-License-Identifier: Apache-2.0
"""What the analyses cost and keep, on work of tests/helpers/works."""
import json
import os
import re
import select
import signal
import subprocess
import time

from measure import PATIENCE, Trouble

TICKS = os.sysconf('SC_CLK_TCK')


def works(build, *args):
    return subprocess.Popen([os.path.join(build, 'tests/helpers/works'), *map(str, args)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def user_seconds(pid):
    with open(f'/proc/{pid}/stat') as f:
        return int(f.read().rsplit(')', 1)[1].split()[11]) / TICKS


def profile_user(build, seconds=5):
    """(percent of one core that `profile -F 9999 -g` takes in user space while all CPUs compute,
    samples in a second)"""
    busy = works(build, 'spin', (seconds + 8) * 1000)
    prof = subprocess.Popen([os.path.join(build, 'perf-prof'), 'profile', '-q', '-F', '9999', '-g'],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(1.5)         # names have been looked up
        begin, at = user_seconds(prof.pid), time.monotonic()
        time.sleep(seconds)
        percent = 100 * (user_seconds(prof.pid) - begin) / (time.monotonic() - at)
        prof.send_signal(signal.SIGINT)
        out, _ = prof.communicate(timeout=PATIENCE)
    finally:
        prof.kill()
        busy.kill()
        busy.wait()
    return percent, int(re.search(r'(\d+) samples', out).group(1)) / (seconds + 1.5)


def task_state_lost(build, passes=300000):
    """(events lost, switches a second) of `task-state` with its default rings."""
    begin = time.monotonic()
    done = subprocess.run([os.path.join(build, 'perf-prof'), 'task-state', '--json', '--',
                           os.path.join(build, 'tests/helpers/works'), 'switches', str(passes)],
                          capture_output=True, text=True, timeout=PATIENCE)
    table = [line for line in done.stdout.splitlines() if line.startswith('{')]
    if done.returncode or not table:
        raise Trouble(f'task-state: {done.stderr.strip()}')
    table = json.loads(table[-1])
    runs = sum(row['calls'] for row in table['rows'] if row['state'] == 'R')
    return table['lost'], runs / (table['seconds'] or time.monotonic() - begin)


def first_output(build):
    """ms from the start of `profile -g` to its first line."""
    busy = works(build, 'spin', 5000)
    prof = None
    try:
        begin = time.monotonic()
        prof = subprocess.Popen([os.path.join(build, 'perf-prof'), 'profile', '-g'],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if not select.select([prof.stdout], [], [], PATIENCE)[0]:
            raise Trouble('profile -g prints nothing')
        return 1000 * (time.monotonic() - begin)
    finally:
        if prof:
            prof.kill()
            prof.communicate()
        busy.kill()
        busy.wait()
