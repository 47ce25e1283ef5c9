# SPDX-License-Identifier: Apache-2.0
"""--load: it is there while the tests run, and nothing of it afterwards."""
import os
import subprocess
import sys
import time

from frame import load

PATIENCE = 100
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def wait_for(what):
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def cpu_ticks(pid):
    with open(f'/proc/{pid}/stat') as f:
        return sum(map(int, f.read().rpartition(')')[2].split()[11:13]))


def test_it_computes_and_writes():
    with load.Load() as one:
        busy = one.processes[:-1]
        assert len(busy) == 2 * len(os.sched_getaffinity(0))
        for process in busy:
            wait_for(lambda: cpu_ticks(process.pid) > 2)
        written = os.path.join(one.folder.name, 'written')
        wait_for(lambda: os.path.exists(written) and os.path.getsize(written) > 1 << 20)
    assert all(process.poll() is not None for process in one.processes) and not os.path.exists(one.folder.name)


def test_it_ends_with_who_started_it():
    code = ('from frame import load\nimport os, sys\none = load.Load().__enter__()\n'
            'print(*[p.pid for p in one.processes], one.folder.name, flush=True)\nos._exit(9)')
    done = subprocess.run([sys.executable, '-B', '-c', code], cwd=TESTS, stdout=subprocess.PIPE, text=True)
    *pids, folder = done.stdout.split()
    assert done.returncode == 9 and len(pids) > 2

    def gone(pid):
        try:
            with open(f'/proc/{pid}/stat') as f:
                return f.read().rpartition(')')[2].split()[0] == 'Z'
        except OSError:
            return True
    for pid in pids:
        wait_for(lambda: gone(pid))
    subprocess.run(['rm', '-r', folder], check=True)
