# SPDX-License-Identifier: Apache-2.0
"""A software event that somebody else samples, too: the kernel (since 6.2) writes our sample with that one's id
and that one's size. It is ours all the same, live and recorded."""
import contextlib
import re
import shutil
import subprocess
import sys

import pytest

from frame.session import READY, Session, ran

# a third one that samples page faults may leave a size that tells nothing
pytestmark = [pytest.mark.live('tracefs', 'root'), pytest.mark.alone]

PAGES = 3000
TOUCHES = f'''
import mmap, os, sys
print(os.getpid(), flush=True)
while sys.stdin.readline():
    for _ in range({PAGES // 100}):
        m = mmap.mmap(-1, 100 * mmap.PAGESIZE)
        for i in range(100):
            m[i * mmap.PAGESIZE] = 1
        m.close()
    print(flush=True)
'''
SCRIPT = READY + '''
n = {}
def __sample__(e):
    n[e._event] = n.get(e._event, 0) + 1
    if e._event == 'page-faults' and n[e._event] == %d:
        print('enough', flush=True)
def __lost__(start, end):
    print('lost', flush=True)
def __exit__():
    print('n', sorted(n.items()))
''' % PAGES


@contextlib.contextmanager
def touching():
    with subprocess.Popen([sys.executable, '-c', TOUCHES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as work:
        work.stdout.readline()
        try:
            yield work
        finally:
            work.kill()


def touch(work):
    work.stdin.write('\n')
    work.stdin.flush()
    work.stdout.readline()


def others(pyperf, pid, parts=0):
    """Another program's sampling of the same: it is first in the kernel's list, since it came last."""
    return pyperf.Event('page-faults', pid, -1, sample_period=1,
                        sample_type=pyperf.PERF_SAMPLE_IDENTIFIER | pyperf.PERF_SAMPLE_TID | parts)


def faults(text):
    return dict(eval(re.search(r'^n (.*)$', text, re.M).group(1)))


def perf_counts(folder):
    done = ran(['perf', 'script', '-f', '-i', 'perf.data', '-F', 'event'], cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    return len(re.findall(r'^ *page-faults: *$', done.stdout, re.M))


def recorded_as_delivered(prof, folder, seen):
    """Also by perf, which refuses a whole file for one sample of an event that isn't there."""
    read = ran([prof, 'python', '-I', 'perf.data', 's.py'], cwd=folder)
    assert (read.returncode, read.stderr) == (0, '') and seen in (None, faults(read.stdout))
    if shutil.which('perf'):
        assert perf_counts(folder) == faults(read.stdout)['page-faults']
    return faults(read.stdout)['page-faults']


@pytest.mark.deep
@pytest.mark.parametrize('args', [['--order'], ['--record', 'perf.data']])
@pytest.mark.parametrize('events, chains', [('page-faults,cpu-clock', True), ('page-faults/-g/,cpu-clock', False),
                                            ('page-faults,context-switches', False)])     # told apart by their size
def test_they_are_delivered(pyperf, prof, tmp_path, events, chains, args):
    with touching() as work, Session(prof, tmp_path, SCRIPT, '-e', events, '-m', '16M', '-i', '20', '-p', str(work.pid), *args) as session:
        session.wait_for('ready')
        with others(pyperf, work.pid, chains * pyperf.PERF_SAMPLE_CALLCHAIN):
            touch(work)
            session.wait_for('enough|lost')
        ended = session.stop()
    assert (ended.code, ended.stderr) == (0, '')
    seen = faults(ended.stdout)
    assert PAGES <= seen['page-faults'] < 2 * PAGES
    if '--record' in args:
        recorded_as_delivered(prof, tmp_path, seen)


def test_what_nobody_can_tell_apart_is_lost(pyperf, prof, tmp_path):
    """It is told, and perf reads the recording."""
    with touching() as work, Session(prof, tmp_path, SCRIPT, '-e', 'page-faults,context-switches', '-m', '16M', '-i', '20',
                                     '--record', 'perf.data', '-p', str(work.pid)) as session:
        session.wait_for('ready')
        with others(pyperf, work.pid, pyperf.PERF_SAMPLE_CALLCHAIN):
            touch(work)
        touch(work)
        session.wait_for('enough')
        ended = session.stop()
    seen = faults(ended.stdout)['page-faults']
    assert ended.code == 0 and 2 * PAGES <= seen + ended.lost < 4 * PAGES
    if shutil.which('perf'):
        assert perf_counts(tmp_path) == seen


@pytest.mark.slow     # sanitizers touch pages
def test_record_alone(pyperf, prof, tmp_path):
    (tmp_path / 's.py').write_text(SCRIPT)
    with subprocess.Popen([prof, 'record', '-e', 'page-faults', '-m', '16M', '--', sys.executable, '-c', TOUCHES], cwd=tmp_path,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as record:
        with others(pyperf, int(record.stdout.readline()), pyperf.PERF_SAMPLE_CALLCHAIN):
            touch(record)
        err = record.communicate(timeout=60)[1]
    assert (record.returncode, err) == (0, '')
    assert PAGES <= recorded_as_delivered(prof, tmp_path, None) < 2 * PAGES
