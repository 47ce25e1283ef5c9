# SPDX-License-Identifier: Apache-2.0
"""perf-prof's own helpers are not watched; who gets the number of one that has ended is."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from frame.session import READY, Session, until

pytestmark = pytest.mark.live('tracefs', 'root')

LAST = '/proc/sys/kernel/ns_last_pid'
if not os.access(LAST, os.W_OK):
    pytestmark = pytest.mark.skip(reason=f'needs {LAST}, to choose a pid')

# Names in call chains are looked up by a helper.
SCRIPT = READY + '''
import collections
seen = collections.Counter()
def __sample__(e):
    if not seen[e._pid]:
        print('pid', e._pid, flush=True)
    seen[e._pid] += 1
    if seen[e._pid] < 300:
        str(e._callchain)
'''
FAULTS = '''
import mmap
while True:
    m = mmap.mmap(-1, 16 * mmap.PAGESIZE)
    m[0] = m[8 * mmap.PAGESIZE] = 1
    m.close()
'''


def helper_with(mark):
    """The process with that in its environment that parses files, or None."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError), open(f'/proc/{pid}/comm') as comm, open(f'/proc/{pid}/environ') as environ:
            if comm.read() == 'perf-prof-parse\n' and mark in environ.read():
                return int(pid)
    return None


def has_ended(pid):
    try:
        with open(f'/proc/{pid}/stat') as stat:
            return stat.read().rsplit(')', 1)[1].split()[0] == 'Z'
    except OSError:             # and somebody has waited for it
        return True


def start_as(pid, argv):
    """A process with that number; None: somebody else was faster."""
    with open(LAST, 'w') as last:
        last.write(str(pid - 1))
    process = subprocess.Popen(argv)
    if process.pid == pid:
        return process
    process.kill()
    process.wait()
    return None


def run_a_new_program(folder):
    path = tempfile.mktemp(dir=folder)
    shutil.copy('/bin/true', path)
    subprocess.run([path], check=True)


def test_a_stranger_with_the_number_of_a_helper_that_ended(prof, tmp_path, monkeypatch):
    monkeypatch.setenv('MARK', str(tmp_path))
    with Session(prof, tmp_path, SCRIPT, '-e', 'page-faults/-g/', '-m', '16M', '-i', '50') as session:
        session.wait_for('ready')
        # a machine may have nothing else to do
        pid = until(lambda: run_a_new_program(tmp_path) or helper_with(f'MARK={tmp_path}'))
        os.kill(pid, signal.SIGKILL)
        until(lambda: has_ended(pid))
        assert f'pid {pid}\n' not in session.out.data.decode()
        # its end is noticed with the next question about a program that was not seen yet
        until(lambda: run_a_new_program(tmp_path) or not os.path.exists(f'/proc/{pid}'))
        stranger = until(lambda: start_as(pid, [sys.executable, '-c', FAULTS]))
        try:
            session.wait_for(f'^pid {pid}$')
        finally:
            stranger.kill()
            stranger.wait()
        assert session.stop().code == 0
