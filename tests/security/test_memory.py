# SPDX-License-Identifier: Apache-2.0
"""Memory of a watched process that never answers: a page that a FUSE file or userfaultfd keeps back."""
import pathlib
import platform
import sys

import pytest

from security.conftest import CALLER, run, running, wait_until

pytestmark = [pytest.mark.live, pytest.mark.skipif(platform.machine() != 'x86_64', reason='needs the number of userfaultfd')]

KEEPS_BACK = """
import ctypes, fcntl, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(323, os.O_CLOEXEC)
if fd < 0:
    sys.exit('no userfaultfd')
room = mmap.mmap(-1, 1 << 20)
at = ctypes.addressof(ctypes.c_char.from_buffer(room))
fcntl.ioctl(fd, 0xc018aa3f, struct.pack('QQQ', 0xaa, 0, 0))
fcntl.ioctl(fd, 0xc020aa00, struct.pack('QQQQ', at, 1 << 20, 1, 0))
os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
print('ready', flush=True)
libc.poll(ctypes.c_void_p(at), 1, -1)
"""


@pytest.mark.parametrize('command', ['dump {}', 'syscalls -p {} --seconds 1', 'waits -p {} --on --seconds 1'])
def test_arguments_that_are_kept_back(prof, command):
    with running(sys.executable, '-c', KEEPS_BACK, str(CALLER.pw_uid)) as held:
        if held.stdout.readline() != b'ready\n':
            pytest.skip('needs userfaultfd')
        done = run(prof, *command.format(held.pid).split())
        assert done.returncode == 0 and str(held.pid) in done.stdout + done.stderr, done.stderr
        with open(f'/proc/{held.pid}/status') as status:
            assert '\nTracerPid:\t0\n' in status.read()


TEXT = KEEPS_BACK.split('room =')[0] + """
def held():
    libc.pause()
held.__code__ = held.__code__.replace(co_filename='x' * (1 << 20))
at = id(held.__code__.co_filename) & -4096
fcntl.ioctl(fd, 0xc018aa3f, struct.pack('QQQ', 0xaa, 0, 0))
fcntl.ioctl(fd, 0xc020aa00, struct.pack('QQQQ', at, 4096, 1, 0))
os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
libc.prctl(4, 1, 0, 0, 0)
libc.madvise(ctypes.c_void_p(at), 4096, 4)
print('ready', flush=True)
held()
"""


@pytest.mark.parametrize('reader', ['root', 'caller'])
@pytest.mark.parametrize('command', ['dump {}', 'profile --python -p {} --seconds 1'])
def test_an_object_of_python_is_kept_back(prof, caller, command, reader):
    """Also from a reader with the same user id, who reads pages that are there without a thread."""
    with running(sys.executable, '-c', TEXT, str(CALLER.pw_uid)) as held:
        if held.stdout.readline() != b'ready\n':
            pytest.skip('needs userfaultfd')
        wait_until(lambda: pathlib.Path(f'/proc/{held.pid}/syscall').read_text().startswith('34 '))     # pause(2)
        done = run(prof, *command.format(held.pid).split(), **(caller if reader == 'caller' else {}))
        assert 'longer than a second' in done.stderr or done.returncode == 0, done
