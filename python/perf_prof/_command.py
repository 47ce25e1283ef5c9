# SPDX-License-Identifier: Apache-2.0
"""The command perf-prof as a child process: where it is, and one run of it.

It is looked for only where it came with this package, never in $PATH and the current directory: this process may be root's.
"""
import contextlib
import errno
import os
import select
import signal
import subprocess
import sys
from typing import Any, Dict, Iterator, List, NoReturn, Optional, Sequence

from ._parameters import Parameters, in_python
from ._program import PLACE

PATIENCE = 5.0           # seconds that a run has to end by itself, once it is to be abandoned
LOOK_MS = 100            # what a watched command writes to stderr is passed on so often
OURS = 'perf-prof: '     # begins each message of perf-prof
USAGE, INTERRUPTED, REFUSED, MISSING = 2, 130, 126, 127   # exit codes
PR_SET_PTRACER = 0x59616d61


def program() -> str:
    """The path of the perf-prof that belongs to this package."""
    import sysconfig
    here = os.path.dirname(os.path.realpath(__file__))
    package, path = PLACE
    if package and os.path.realpath(package) == here:
        return path
    for scheme in sysconfig.get_scheme_names():   # as pip installed it
        paths = sysconfig.get_paths(scheme)
        if os.path.dirname(here) in (os.path.realpath(paths.get(kind, '')) for kind in ('platlib', 'purelib')):
            path = os.path.join(paths['scripts'], 'perf-prof')
            if os.path.exists(path):
                return path
    raise FileNotFoundError(errno.ENOENT, 'the command perf-prof, which belongs to this package, is not where pip or the build '
                            'puts it; install both again', here)


class Refusal(Exception):
    """perf-prof failed: its exit code, and what it wrote."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)
        self.code, self.text = code, text


# Words of the kernel in a message, and what they are as an exception.
KINDS = ((ProcessLookupError, errno.ESRCH, ('there is no such process', 'there is no such thread', 'there is no process',
                                            'No such process')),
         (PermissionError, errno.EACCES, ('Permission denied', 'EACCES', 'EPERM', 'Operation not permitted', 'may not read',
                                          'not permitted')),
         (FileNotFoundError, errno.ENOENT, ('No such file or directory', 'there is no control group', 'there is no such control group')))


def _end(code: int) -> str:
    try:
        return f'perf-prof was ended by {signal.Signals(-code).name}'
    except ValueError:
        return f'perf-prof failed with exit code {code}'


def raise_refusal(refusal: Refusal, result: Any = None, parameters: Optional[Parameters] = None) -> NoReturn:
    """The exception for a failed run. What it had found is its attribute `result`. parameters: of who called."""
    text = in_python(refusal.text or _end(refusal.code), parameters or {}, True)
    error: BaseException
    if refusal.code in (INTERRUPTED, -signal.SIGINT):   # the latter: before it could watch
        error = KeyboardInterrupt(text)
    elif refusal.code == USAGE:
        error = ValueError(text)
    elif refusal.code == MISSING:
        error = FileNotFoundError(errno.ENOENT, text)
    elif refusal.code == REFUSED:
        error = PermissionError(errno.EACCES, text)
    else:
        error = next((kind(number, text) for kind, number, words in KINDS if any(word in text for word in words)),
                     RuntimeError(text))
    if result is not None:
        error.result = result   # type: ignore[attr-defined]
    raise error from None


def memory(name: str) -> int:
    """A descriptor of a file in memory."""
    return os.memfd_create(name, os.MFD_CLOEXEC)


def is_ours(line: str, after_ours: bool) -> bool:
    """Whether a line of stderr is perf-prof's, and not from the command that it watches. Its messages may go on: with a
    part of what it read, and what it expected there."""
    return line.startswith(OURS) or (after_ours and line.startswith(('  ', 'expected: ')))


def content(fd: int) -> str:
    """All that is in such a file."""
    size = os.fstat(fd).st_size
    parts, at = [], 0
    while at < size:
        part = os.pread(fd, size - at, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
    return b''.join(parts).decode('utf-8', 'backslashreplace')


@contextlib.contextmanager
def readable_by(pid: int) -> Iterator[None]:
    """That process may read the memory of this one, where Linux allows only a debugger's parents to do so (Yama)."""
    try:
        with open('/proc/sys/kernel/yama/ptrace_scope') as file:
            limited = file.read().strip() == '1'
    except OSError:
        limited = False
    if not limited:
        yield
        return
    import ctypes
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)
    try:
        yield
    finally:
        prctl(PR_SET_PTRACER, ctypes.c_ulong(0), 0, 0, 0)


class Run:
    """One run of perf-prof.

    words     the command's name, and its options
    command   a program to start and watch: it has our stdin, stdout and stderr. Without one, the run has a terminal
              session of its own, so that Ctrl-C comes to this process alone.
    files     descriptors that the run has, too
    prints    the result is what it prints: with a command, that has a file of its own
    endless   Ctrl-C ends the run, and is no error
    """

    def __init__(self, words: Sequence[str], command: Sequence[str] = (), files: Sequence[int] = (), endless: bool = False,
                 environ: Optional[Dict[str, str]] = None, pipes: bool = False, prints: bool = True) -> None:
        self.endless, self.watches, self.passed, self.after_ours = endless, bool(command) and not pipes, 0, False
        self.out, self.err, self.pidfd = memory('out'), memory('err'), -1
        self.parts: List[bytes] = []
        try:
            line = [program(), *words]
            if command:   # its output and that of perf-prof are not mixed
                line += ['-o', f'/dev/fd/{self.out}'] * prints + ['--', *command]
            self.process = subprocess.Popen(
                line, stderr=self.err, stdin=subprocess.PIPE if pipes else None if command else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes or not command else None, start_new_session=not command or pipes,
                pass_fds=[*files, *([self.out] if command and prints else [])], env=environ)
        except BaseException:
            self.close()
            raise
        with contextlib.suppress(OSError, AttributeError):   # nobody else may wait for our children
            self.pidfd = os.pidfd_open(self.process.pid)

    def close(self) -> None:
        for fd in self.out, self.err, self.pidfd:
            if fd >= 0:
                os.close(fd)
        self.out = self.err = self.pidfd = -1

    def abandon(self) -> None:
        """Ends it without a result."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait(self) -> None:
        """Until it has ended. Never without having ended it: neither an exception nor Ctrl-C leaves it behind."""
        try:
            try:
                self._follow()
            except KeyboardInterrupt:
                if not self.endless:
                    raise
                self.process.send_signal(signal.SIGINT)
                self._follow()
        except BaseException:
            self.abandon()
            raise

    def _follow(self) -> None:
        poll = select.poll()
        stdout = self.process.stdout
        if stdout:
            os.set_blocking(stdout.fileno(), False)
            poll.register(stdout, select.POLLIN)
        if self.pidfd >= 0:
            poll.register(self.pidfd, select.POLLIN)
        while self.pidfd >= 0 or stdout:
            ready = dict(poll.poll(LOOK_MS if self.watches else None))
            if stdout and not self._take(stdout.fileno()):
                poll.unregister(stdout)
                stdout = None
            self._pass_on()
            if self.pidfd in ready:
                break
        self.process.wait()
        self._pass_on(True)

    def _take(self, fd: int) -> bool:
        """What the pipe has. False at its end."""
        with contextlib.suppress(BlockingIOError):
            while True:
                part = os.read(fd, 1 << 20)
                if not part:
                    return False
                self.parts.append(part)
        return True

    def _pass_on(self, last: bool = False) -> None:
        """What the watched command wrote to its stderr since the last time, as far as its lines are complete."""
        if not self.watches:
            return
        text = os.pread(self.err, os.fstat(self.err).st_size - self.passed, self.passed)
        text = text if last else text[:text.rfind(b'\n') + 1]
        self.passed += len(text)
        for line in text.decode('utf-8', 'replace').splitlines(True):
            self.after_ours = is_ours(line, self.after_ours)
            if not self.after_ours:
                sys.stderr.write(line)

    @property
    def code(self) -> Optional[int]:
        """Its exit code; None: it is not known, because this process ignores the ends of its children."""
        return None if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN else self.process.returncode

    def output(self) -> str:
        return b''.join(self.parts).decode('utf-8', 'backslashreplace') + content(self.out)

    def messages(self) -> List[str]:
        """What perf-prof wrote to stderr. The last message may have more than one line."""
        found: List[str] = []
        ours = False
        for line in content(self.err).splitlines():
            ours = is_ours(line, ours) or not self.watches
            if line.startswith(OURS) or (ours and not found):
                found.append(line[len(OURS) * line.startswith(OURS):])
            elif ours:
                found[-1] += '\n' + line
        return found

    def __enter__(self) -> 'Run':
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.process.returncode is None:
            self.abandon()
        for stream in self.process.stdin, self.process.stdout:
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
        self.close()
