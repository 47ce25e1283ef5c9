# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own: what it shows is read as a terminal would show it."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

from . import declared


class Screen:
    """with Screen(argv) as s: s.wait_for('KEY'); s.press('q'); s.ended()"""

    def __init__(self, argv, lines=24, columns=80, term='xterm', env=None, cwd=None, stderr=None):
        self.master, self.slave = pty.openpty()
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b''
        self.size(lines, columns)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            argv, stdin=self.slave, stdout=self.slave, stderr=stderr or self.slave, cwd=cwd,
            env={**declared.environment({'cmd': ''}), 'TERM': term, **(env or {})},
            preexec_fn=self._own_terminal)

    def _own_terminal(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def size(self, lines, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds=0.05, longest=1):
        """Reads what the program has written, for `longest` seconds at most: it may write faster than pyte can show."""
        until = time.monotonic() + longest
        while select.select([self.master], [], [], seconds)[0]:
            data = os.read(self.master, 65536)
            self.raw += data
            self.stream.feed(data)
            seconds = 0
            if time.monotonic() > until:
                break

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return '\n'.join(self.lines)

    def wait_for(self, pattern, seconds=20):
        """The match of the pattern in what is shown, once it is."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            over = self.process.poll() is not None
            self.read(longest=max(deadline - time.monotonic(), 1) if over else 1)
            found = re.search(pattern, self.text, re.M)
            if found:
                return found
            assert not over, f'ended, returncode {self.process.returncode}:\n{self.text}'
        raise AssertionError(f'/{pattern}/ never stood there:\n{self.text}')

    def ended(self, seconds=20):
        """The exit code, once all was read."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        assert self.process.poll() is not None, f'still running:\n{self.text}'
        self.read(longest=seconds)
        return self.process.returncode

    def modes(self):
        return termios.tcgetattr(self.slave)

    def is_restored(self):
        """Modes as before, the main screen, a cursor, plain keys."""
        def last(on, off):
            return self.raw.rfind(off) > self.raw.rfind(on)
        return (self.modes() == self.before and last(b'\x1b[?1049h', b'\x1b[?1049l') and
                self.raw.rfind(b'\x1b[?25l') < max(self.raw.rfind(b'\x1b[?25h'), self.raw.rfind(b'\x1b[?12l\x1b[?25h')))

    def signal(self, name):
        self.process.send_signal(getattr(signal, f'SIG{name}'))
