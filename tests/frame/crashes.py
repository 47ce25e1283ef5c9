# SPDX-License-Identifier: Apache-2.0
"""Which programs crashed: known by how they ended, whatever they or the test printed.

watch() replaces subprocess.Popen, and so subprocess.run, by one that notes each child that ended by a
signal which only a fault sends, with the status by which a shell or perf-prof passes that on, or with
the exit code of a sanitizer (frame/suites.py gives them 99)."""
import os
import signal
import subprocess

SIGNALS = frozenset((signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
                     signal.SIGSEGV, signal.SIGSYS))
SANITIZER = 99
OTHERS = 'perf',         # their crashes are not ours

seen = []       # a line for each crash since it was last emptied


def what(code):
    """What a crash with that return code is, else ''."""
    number = -code if code < 0 else code - 128
    if number in SIGNALS:
        return signal.Signals(number).name
    return 'a sanitizer' if code == SANITIZER else ''


class Watched(subprocess.Popen):
    """Notes when its return code becomes known, however the test asks for it. What it reads as text may hold
    names of others, which need not be UTF-8."""
    _code = None

    def __init__(self, *args, **more):
        if more.get('text') or more.get('universal_newlines'):
            more['errors'] = more.get('errors') or 'surrogateescape'
        super().__init__(*args, **more)

    @property
    def returncode(self):
        return self._code

    @returncode.setter
    def returncode(self, code):
        if code is not None and self._code is None and what(code):
            argv = [self.args] if isinstance(self.args, (str, bytes, os.PathLike)) else self.args
            argv = [os.fsdecode(arg) for arg in argv]
            if os.path.basename(argv[0]) not in OTHERS:
                seen.append(f'{what(code)}: {" ".join(argv)}')
        self._code = code


def watch():
    subprocess.Popen = Watched


def run(main, *args):
    """main(*args) of a test program by itself: what it returns or, if that is 1 and a child crashed, how
    that one ended."""
    watch()
    code = main(*args)
    if code != 1 or not seen:
        return code
    name = seen[0].split(':')[0]
    return 128 + signal.Signals[name] if name in signal.Signals.__members__ else SANITIZER
