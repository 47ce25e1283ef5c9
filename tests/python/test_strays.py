# SPDX-License-Identifier: Apache-2.0
"""A software event that somebody else samples, too: the kernel (since 6.2) writes our sample with that one's id
and that one's size. It is ours all the same, live and recorded."""
import contextlib
import re
import shutil
import subprocess
import sys
import time

import pytest

from frame import again, requires
from frame.session import READY, Session

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

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
    done = subprocess.run(['perf', 'script', '-f', '-i', 'perf.data', '-F', 'event'], cwd=folder, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return len(re.findall(r'^ *page-faults: *$', done.stdout, re.M))


@pytest.mark.deep
@pytest.mark.parametrize('args', [[], ['--order'], ['--record', 'perf.data'], ['--record', 'perf.data', '--order']])
@pytest.mark.parametrize('events, chains', [('page-faults,cpu-clock', True), ('page-faults/-g/,cpu-clock', False),
                                            ('page-faults,context-switches', False)])     # told apart by their size
def test_they_are_delivered(pyperf, prof, tmp_path, events, chains, args):
    def run():
        with touching() as work, Session(prof, tmp_path, SCRIPT, '-e', events, '-m', '16M', '-i', '20', '-p', str(work.pid),
                                         *args) as session:
            session.wait_for('ready')
            with others(pyperf, work.pid, chains * pyperf.PERF_SAMPLE_CALLCHAIN):
                touch(work)
                session.wait_for('enough|lost')
            return session.stop()

    ended = again.lossless(run)     # a third one that samples them may leave a size that tells nothing
    assert (ended.code, ended.stderr) == (0, '')
    seen = faults(ended.stdout)['page-faults']
    assert PAGES <= seen < 2 * PAGES
    if '--record' not in args:
        return
    read = subprocess.run([prof, 'python', '-I', 'perf.data', 's.py'], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (read.returncode, read.stderr, faults(read.stdout)) == (0, '', faults(ended.stdout))
    if shutil.which('perf'):
        assert perf_counts(tmp_path) == seen


def test_what_nobody_can_tell_apart_is_lost(pyperf, prof, tmp_path):
    """It is told, and perf reads the recording."""
    with touching() as work, Session(prof, tmp_path, SCRIPT, '-e', 'page-faults,context-switches', '-m', '16M', '-i', '20',
                                     '--record', 'perf.data', '-p', str(work.pid)) as session:
        session.wait_for('ready')
        with others(pyperf, work.pid, pyperf.PERF_SAMPLE_CALLCHAIN):
            touch(work)
        for touches in range(2, 12):
            touch(work)
            if session.out.wait_for('enough', time.monotonic() + 2):    # unless a third one samples them, too
                break
        session.wait_for('enough')
        ended = session.stop()
    seen = faults(ended.stdout)['page-faults']
    assert ended.code == 0 and touches * PAGES <= seen + ended.lost < (touches + 2) * PAGES
    if shutil.which('perf'):
        assert perf_counts(tmp_path) == seen


def test_record_alone(pyperf, prof, tmp_path):
    """perf refuses a whole file for one sample of an event that isn't there."""
    (tmp_path / 's.py').write_text(SCRIPT)
    with subprocess.Popen([prof, 'record', '-e', 'page-faults', '-m', '16M', '--', sys.executable, '-c', TOUCHES], cwd=tmp_path,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as record:
        with others(pyperf, int(record.stdout.readline()), pyperf.PERF_SAMPLE_CALLCHAIN):
            touch(record)
        err = record.communicate(timeout=60)[1]
    assert (record.returncode, err) == (0, '')
    read = subprocess.run([prof, 'python', '-I', 'perf.data', 's.py'], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert read.returncode == 0 and read.stderr == ''
    assert PAGES <= faults(read.stdout)['page-faults'] < 2 * PAGES
    if shutil.which('perf'):
        assert perf_counts(tmp_path) == faults(read.stdout)['page-faults']
