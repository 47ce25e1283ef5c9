# SPDX-License-Identifier: Apache-2.0
"""The script of another user, beside the keeper that stays root: names of programs that the user can't
open come, and nothing else of them."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from frame import requires
from frame.session import READY, Session
from security.conftest import CALLER

if requires.why_not('tracefs'):
    pytestmark = pytest.mark.skip(reason=requires.why_not('tracefs'))

# With every sample: which of its descriptors show that file, by inode or by what is in them.
SPY = READY + """
import json, os
SECRET, INODE = %r, %r
def looks_like(fd):
    try:
        st = os.fstat(fd)
        if (st.st_dev, st.st_ino) == INODE:
            return True
        return os.pread(fd, 4, 0) == b'\\x7fELF' and SECRET in os.readlink(f'/proc/self/fd/{fd}')
    except OSError:
        return False
def __sample__(e):
    names = [f['symbol'] for f in e._callchain if not f['kernel'] and SECRET in f['dso']]
    seen = [fd for fd in map(int, os.listdir('/proc/self/fd')) if looks_like(fd)]
    print('sample', json.dumps([names, seen]), flush=True)
"""

# Asks the keeper by its own protocol for everything that it may know.
ASK = READY + """
import array, json, os, socket, struct
QUESTIONS = %r
def keeper():
    for fd in map(int, os.listdir('/proc/self/fd')):
        try:
            if os.readlink(f'/proc/self/fd/{fd}').startswith('socket:'):
                s = socket.socket(fileno=os.dup(fd))
                if s.type & 0xf == socket.SOCK_SEQPACKET:
                    return s
        except OSError:
            pass
def ask(s, kind, pid, text):
    s.send(struct.pack('Ii', kind, pid) + text.encode() + b'\\0')
    answer, control, *_ = s.recvmsg(8, 64)
    fds = array.array('i')
    for *_, data in control:
        fds.frombytes(data)
    head = [os.pread(fd, 18, 0).hex() for fd in fds]
    return [struct.unpack('i', answer[:4])[0], head]
_asked = False
def __interval__():
    global _asked
    if not _asked:
        _asked = True
        s = keeper()
        print('answers', json.dumps([ask(s, *q) for q in QUESTIONS]), flush=True)
def __sample__(e):
    pass
"""
ELF = '7f454c46'
FILE, PROC, MAPPED = 1, 2, 4


@pytest.fixture
def shut(sticky, build):
    """A program whose functions have names, in a folder that is root's alone."""
    program = os.path.join(build, 'tests/helpers/callers')
    if not os.path.exists(program):
        pytest.skip('needs the helper callers')
    folder = sticky / 'shut'
    folder.mkdir(mode=0o700)
    return pathlib.Path(shutil.copy(program, folder / f'shut{os.getpid()}'))


@pytest.fixture
def theirs(sticky):
    folder = sticky / 'theirs'
    folder.mkdir()
    os.chown(folder, CALLER.pw_uid, CALLER.pw_gid)
    return folder


@pytest.mark.parametrize('how', ['setuid', '0700', '0711', 'everybody'])
def test_names_come_and_no_descriptor(prof, shut, theirs, how):
    """`setuid`: as everybody may run it, but for the folder; through /proc/SCRIPT/fd it could be run."""
    shut.chmod({'setuid': 0o4755, '0700': 0o700, '0711': 0o711, 'everybody': 0o755}[how])
    st = shut.stat()
    script = SPY % (shut.name, (st.st_dev, st.st_ino))
    event = f'syscalls:sys_enter_getppid/comm~"{shut.name[:15]}*"/'
    with subprocess.Popen([shut, '--wait', '--linger', '1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        try:
            one.stdout.readline()
            args = [] if how == 'everybody' else ['-p', str(one.pid)]
            with Session(prof, theirs, script, '--user', CALLER.pw_name, *args, '-i', '50', '--user-callchain',
                         '-e', event) as session:
                session.wait_for('ready')
                one.stdin.write(b'x')
                one.stdin.flush()
                session.wait_for('sample')
                ended = session.stop()
        finally:
            one.kill()
    names, seen = json.loads(re.search(r'^sample (.*)$', ended.stdout, re.M).group(1))
    assert names[:3] == ['inner', 'middle', 'outer'] and seen == []


def ask(prof, folder, target, *questions, args=None):
    with Session(prof, folder, ASK % (questions,), '--user', CALLER.pw_name, *(args or ['-p', str(target)]), '-i', '50',
                 '-e', 'syscalls:sys_enter_getppid') as session:
        session.wait_for('answers')
        ended = session.stop()
    return json.loads(re.search(r'^answers (.*)$', ended.stdout, re.M).group(1))


@pytest.mark.parametrize('mode', [0o4755, 0o755, 0o700, 0o711])
def test_what_the_keeper_answers(prof, shut, theirs, mode):
    """By -p, of its target, of another process of root's, of what nobody runs."""
    shut.chmod(mode)
    with subprocess.Popen([shut, '--wait'], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one, \
            subprocess.Popen(['sleep', '100']) as other:
        try:
            one.stdout.readline()
            path = str(shut)
            nothing, of_target, not_there, maps, comm, exe = ask(
                prof, theirs, other.pid, (FILE, 0, path), (FILE, other.pid, path), (FILE, other.pid, path + 'x'),
                (PROC, one.pid, 'maps'), (PROC, one.pid, 'environ'), (MAPPED, one.pid, '0-0'))
            assert nothing == of_target == not_there        # one answer: it isn't there
            assert maps == comm == exe and maps[0] < 0 and not maps[1]
            by_path, by_exe, public = ask(prof, theirs, one.pid, (FILE, one.pid, path), (MAPPED, one.pid, '0-0'),
                                          (FILE, 0, '/bin/true'))
            for answer in by_path, by_exe:
                assert answer[0] == 0 and not answer[1][0].startswith(ELF)
            assert public[0] == 0 and public[1][0].startswith(ELF)
        finally:
            one.kill()
            other.kill()


def test_a_childs_maps_are_a_targets(prof, theirs):
    with subprocess.Popen(['sh', '-c', 'sleep 100 & echo $!; wait'], stdout=subprocess.PIPE, text=True) as shell:
        child = int(shell.stdout.readline())
        try:
            answer, = ask(prof, theirs, shell.pid, (PROC, child, 'maps'))
            assert answer[0] == 0
        finally:
            os.kill(child, 9)
            shell.kill()
