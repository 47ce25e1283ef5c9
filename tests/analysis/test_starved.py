# SPDX-License-Identifier: Apache-2.0
"""rundelay names threads that still wait for a CPU at its end, also those that do so since before the run."""
import os
import re
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.live, pytest.mark.slow]

VICTIM = 'import os, time; os.sched_setaffinity(0, {{{cpu}}}); print(1, flush=True); end = time.time() + 60\nwhile time.time() < end: pass'
HOG = 'import os, time; os.sched_setaffinity(0, {{{cpu}}}); os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); ' \
    'print(1, flush=True); end = time.time() + 30\nwhile time.time() < end: pass'


def start(code, **values):
    one = subprocess.Popen([sys.executable, '-c', code.format(**values)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return one, one.stdout.readline()


def rundelay(prof, pid):
    done = subprocess.run([prof, 'rundelay', '-p', str(pid), '--seconds', '0.3'], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


@pytest.mark.deep
@pytest.mark.alone
def test_a_thread_that_gets_no_cpu(prof):
    """The kernel leaves one twentieth of each second to others: at the end of one of three runs the thread waits."""
    here = min(os.sched_getaffinity(0))
    others = sorted(os.sched_getaffinity(1) - {here})        # this process may be kept on one
    if os.geteuid() or not others:
        pytest.skip('needs root and two CPUs')
    victim, _ = start(VICTIM, cpu=others[-1])
    line = rf'^\S+ {victim.pid} still waits for a CPU, (since before the run|for \d+\.\d+ ms): not in the table$'
    told, calm, hog, before = [], [], None, os.sched_getaffinity(0)
    os.sched_setaffinity(0, {here})
    try:
        for _ in range(3):
            hog, began = start(HOG, cpu=others[-1])
            if not began:
                pytest.skip(hog.communicate()[1].splitlines()[-1])
            told.append(rundelay(prof, victim.pid))
            hog.kill()
            hog.communicate()
            calm.append(rundelay(prof, victim.pid))
    finally:
        os.sched_setaffinity(0, before)
        for one in hog, victim:
            if one:
                one.kill()
                one.communicate()
    assert any(re.search(line, text, re.M) for text in told), told
    assert not all(re.search(line, text, re.M) for text in calm), calm      # alone it runs, whatever events are missing
