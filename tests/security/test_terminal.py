# SPDX-License-Identifier: Apache-2.0
"""Who shares root's terminal can't type into it: not a script that runs as another user, not a program behind --.

Where dev.tty.legacy_tiocsti is 0, the kernel refuses a script by itself, with EIO: that perf-prof's filter is there
shows in EPERM then. Root's program has CAP_SYS_ADMIN, for which the kernel makes an exception."""
import errno
import fcntl
import os
import pty
import select
import shutil
import subprocess
import termios
import time
import tty

import pytest

from frame import requires

pytestmark = pytest.mark.live

for word in ('nobody', 'program:setsid'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

PATIENCE = 30


class Terminal:
    """A terminal, raw: what is typed can be read at once by who has it, which is root."""

    def __init__(self):
        self.master, self.slave = pty.openpty()

    def start(self, *argv, **more):
        """It controls what is started here."""
        return subprocess.Popen(['setsid', '--ctty', '--wait', *map(str, argv)], stdin=self.slave, text=True, **more)

    def run(self, *argv):
        process = self.start(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def typed(self):
        return os.read(self.slave, 4096) if select.select([self.slave], [], [], 0)[0] else b''

    def read_until(self, word):
        """What was shown, up to that word."""
        shown, deadline = b'', time.monotonic() + PATIENCE
        while word not in shown:
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self.master], [], [], left)[0], shown
            shown += os.read(self.master, 4096)
        return shown

    def type(self, text):
        os.write(self.master, text)


@pytest.fixture
def terminal():
    made = Terminal()
    yield made
    os.close(made.master)
    os.close(made.slave)


@pytest.fixture
def raw(terminal):
    tty.setraw(terminal.slave)
    return terminal


@pytest.fixture
def typist(build, folder):
    """Tries every way, from a folder where everybody may run it."""
    return shutil.copy(os.path.join(build, 'tests/helpers/typist'), folder)


def refusals(text):
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if line[:1] in 'Tix'}


def assert_refused(done, terminal):
    said = refusals(done.stdout)
    assert len(said) >= 3 and set(said.values()) == {errno.EPERM}, (said, done.stderr)
    assert terminal.typed() == b''


def test_the_typist_types(raw, typist):
    """The attack works, or this file shows nothing."""
    done = raw.run(typist)
    assert refusals(done.stdout)['TIOCSTI'] == 0 and raw.typed().startswith(b'a')


ATTACK = """
import fcntl, os, subprocess, sys, termios
def types(fd):
    try:
        fcntl.ioctl(fd, termios.TIOCSTI, b'S')
    except OSError as error:
        return error.errno
    return 0
print('TIOCSTI:0', types(0))
print('TIOCSTI:tty', types(os.open('/dev/tty', os.O_RDWR)))
sys.stdout.flush()
subprocess.run([{typist!r}])
"""


@pytest.mark.parametrize('when', ['loaded', 'called'])
@pytest.mark.parametrize('how', ['user', 'sudo'])
def test_a_script_does_not_type(prof, raw, folder, typist, how, when):
    attack = ATTACK.format(typist=typist)
    if when == 'called':
        attack = 'def __init__():\n' + ''.join(f'    {line}\n' for line in attack.splitlines()) + '    sys.exit(3)\n'
    else:
        attack += 'def __init__(): sys.exit(3)\n'
    (folder / 's.py').write_text(attack + 'def __sample__(e): pass\n')
    sudo = ['env', 'SUDO_UID=65534', 'SUDO_GID=65534'] if how == 'sudo' else []
    user = ['--user', 'nobody'] if how == 'user' else []
    done = raw.run(*sudo, prof, 'python', *user, '-e', 'cpu-clock', folder / 's.py')
    assert done.returncode == 3, done.stderr
    assert_refused(done, raw)


@pytest.mark.parametrize('become', [[], ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']],
                         ids=['root', 'nobody'])
@pytest.mark.parametrize('command', [['stat', '-e', 'task-clock'], ['profile', '-e', 'cpu-clock']],
                         ids=lambda command: command[0])
def test_a_program_does_not_type(prof, raw, folder, typist, command, become):
    done = raw.run(prof, *command, '--', *become, typist)
    assert done.returncode == 0, done.stderr
    assert_refused(done, raw)


ASK = """
import os, sys
def __init__():
    print('isatty', sys.stdin.isatty(), sys.stdout.isatty(), os.get_terminal_size().columns, flush=True)
    print('got', input('name? '), flush=True)
def __interval__(): print('running', flush=True)
def __sample__(e): pass
def __exit__(): print('ended', flush=True)
"""


def test_the_terminal_is_as_before(prof, terminal, folder):
    """input() reads a line, the size is the terminal's, and Ctrl-C ends the run."""
    termios.tcsetwinsize(terminal.slave, (33, 99)) if hasattr(termios, 'tcsetwinsize') else \
        fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, b'\x21\0\x63\0\0\0\0\0')
    (folder / 's.py').write_text(ASK)
    process = terminal.start(prof, 'python', '--user', 'nobody', '-e', 'cpu-clock', '-p', os.getpid(), '-i', '50',
                             folder / 's.py', stdout=terminal.slave, stderr=terminal.slave)
    try:
        assert b'isatty True True 99' in terminal.read_until(b'name? ')
        terminal.type(b'ann\n')
        assert b'got ann' in terminal.read_until(b'running')
        terminal.type(b'\x03')
        terminal.read_until(b'ended')
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
