# SPDX-License-Identifier: Apache-2.0
"""The script of another user, beside the keeper that stays root: names of programs that the user can't
open come, and nothing else of them."""
import errno
import json
import os
import pathlib
import re
import subprocess

import pytest

from frame import requires
from frame.session import READY, Session
from security.conftest import CALLER, STRANGER, given, helper, running

pytestmark = pytest.mark.live

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
    folder = sticky / 'shut'
    folder.mkdir(mode=0o700)
    return helper(build, folder)


@pytest.fixture
def theirs(sticky):
    folder = sticky / 'theirs'
    folder.mkdir()
    return given(folder, CALLER)


@pytest.mark.parametrize('how', ['setuid', '0700', '0711', 'everybody'])
def test_names_come_and_no_descriptor(prof, shut, theirs, how):
    """`setuid`: as everybody may run it, but for the folder; through /proc/SCRIPT/fd it could be run."""
    shut.chmod({'setuid': 0o4755, '0700': 0o700, '0711': 0o711, 'everybody': 0o755}[how])
    st = shut.stat()
    script = SPY % (shut.name, (st.st_dev, st.st_ino))
    event = f'syscalls:sys_enter_getppid/comm~"{shut.name[:15]}*"/'
    with running(shut, '--wait', '--linger', '1') as one:
        one.stdout.readline()
        args = [] if how == 'everybody' else ['-p', str(one.pid)]
        with Session(prof, theirs, script, '--user', CALLER.pw_name, *args, '-i', '50', '--user-callchain', '-e', event) as session:
            session.wait_for('ready')
            one.stdin.write(b'x')
            one.stdin.flush()
            session.wait_for('sample')
            ended = session.stop()
    names, seen = json.loads(re.search(r'^sample (.*)$', ended.stdout, re.M).group(1))
    assert names[:3] == ['inner', 'middle', 'outer'] and seen == []


def ask(prof, folder, target, *questions, args=None, script=ASK):
    with Session(prof, folder, script % (questions,), '--user', CALLER.pw_name, *(args or ['-p', str(target)]), '-i', '50',
                 '-e', 'syscalls:sys_enter_getppid') as session:
        session.wait_for('answers')
        ended = session.stop()
    return json.loads(re.search(r'^answers (.*)$', ended.stdout, re.M).group(1))


@pytest.mark.parametrize('mode', [0o4755, 0o755, 0o700, 0o711])
def test_what_the_keeper_answers(prof, shut, theirs, mode):
    """By -p, of its target, of another process of root's, of what nobody runs."""
    shut.chmod(mode)
    with running(shut, '--wait') as one, running('sleep', '100') as other:
        one.stdout.readline()
        path = str(shut)
        nothing, of_target, not_there, maps, comm, exe = ask(
            prof, theirs, other.pid, (FILE, 0, path), (FILE, other.pid, path), (FILE, other.pid, path + 'x'),
            (PROC, one.pid, 'maps'), (PROC, one.pid, 'environ'), (MAPPED, one.pid, '0-0'))
        assert nothing == of_target == not_there        # one answer: it isn't there
        assert maps == comm == exe and maps[0] < 0 and not maps[1]
        by_path, by_exe, public = ask(prof, theirs, one.pid, (FILE, one.pid, path), (MAPPED, one.pid, '0-0'), (FILE, 0, '/bin/true'))
        for answer in by_path, by_exe:
            assert answer[0] == 0 and not answer[1][0].startswith(ELF)
        assert public[0] == 0 and public[1][0].startswith(ELF)


def test_a_childs_maps_are_a_targets(prof, theirs):
    with running('sh', '-c', 'sleep 100 >/dev/null & echo $!; wait') as shell:
        child = int(shell.stdout.readline())
        try:
            answer, = ask(prof, theirs, shell.pid, (PROC, child, 'maps'))
            assert answer[0] == 0
        finally:
            os.kill(child, 9)


# ---- perf maps, and who is in a control group ---------------------------------------------------

PERF_MAP = 3
SECRET_LINE = 'for its owner alone'


@pytest.fixture
def compiler():
    """compiler(mode): a process of a stranger's with a perf map."""
    running = []

    def start(mode):
        process = subprocess.Popen(['sleep', '100'], user=STRANGER.pw_uid, group=STRANGER.pw_gid, extra_groups=[])
        path = pathlib.Path(f'/tmp/perf-{process.pid}.map')
        running.append((process, path))
        path.write_text(f'{SECRET_LINE}\n1000 20 made_by_a_compiler\n{SECRET_LINE}\n')
        given(path, STRANGER).chmod(mode)
        return process.pid
    yield start
    for process, path in running:
        process.kill()
        process.wait()
        path.unlink()


READ = ASK.replace('os.pread(fd, 18, 0).hex()', 'os.pread(fd, 4096, 0).decode("latin-1")')


@pytest.mark.parametrize('mode', [0o600, 0o640, 0o644])
def test_of_a_perf_map_names_come(prof, theirs, compiler, mode):
    """All of it comes where the user can open it; else the functions, and not a byte beside them."""
    pid = compiler(mode)
    (rc, files), = ask(prof, theirs, pid, (PERF_MAP, pid, ''), script=READ)
    assert rc == 0 and '1000 20 made_by_a_compiler\n' in files[0]
    assert (SECRET_LINE in files[0]) == (mode == 0o644)


# What the answer shows is asked about as a perf map.
TICKET_AS_MAP = ASK.replace("    head = [", """    if kind == 4 and fds:
        s.sendmsg([struct.pack('Ii', 5, 5) + b'\\0'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        answer, control, *_ = s.recvmsg(8, 64)
        fds = array.array('i')
        for *_, data in control:
            fds.frombytes(data)
    head = [""")


def test_a_program_is_no_perf_map(prof, shut, theirs):
    """The keeper's parser of maps takes no tickets: lines of a program that look so would come."""
    with open(shut, 'ab') as program:
        program.write(b'\n1000 20 secret_of_the_program\n')
    with running(shut, '--wait') as one:
        one.stdout.readline()
        (rc, files), = ask(prof, theirs, one.pid, (MAPPED, one.pid, '0-0'), script=TICKET_AS_MAP)
        assert rc < 0 and not files


@pytest.fixture
def group():
    """A control group of its own, whose tasks can be watched."""
    reason = requires.why_not('cgroup')
    if reason:
        pytest.skip(reason)
    with open('/proc/self/mounts') as mounts:
        found = sorted((m[2], m[1]) for m in map(str.split, mounts) if m[2] == 'cgroup2' or
                       (m[2] == 'cgroup' and 'perf_event' in m[3].split(',')))
    folder = pathlib.Path(found[0][1], f'perf-prof-security-{os.getpid()}')
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f'needs control groups that can be made ({error})')
    (folder / 'below').mkdir()
    yield folder
    (folder / 'below').rmdir()
    folder.rmdir()


def test_of_a_control_group_its_tasks_are_targets(prof, theirs, group):
    """Not everybody: by --cgroups the maps of all of the machine's processes came."""
    with running('sleep', '100') as inside, running('sleep', '100') as below, running('sleep', '100') as outside:
        (group / 'cgroup.procs').write_text(str(inside.pid))
        (group / 'below/cgroup.procs').write_text(str(below.pid))
        answers = ask(prof, theirs, None, *((PROC, process.pid, 'maps') for process in (inside, below, outside)),
                      args=['--cgroups', group.name])
    assert [answer[0] for answer in answers] == [0, 0, -errno.ESRCH]
