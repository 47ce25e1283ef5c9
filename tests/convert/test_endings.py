# SPDX-License-Identifier: Apache-2.0
"""How convert ends while it reads: by Ctrl-C, by kill -9; and what a terminal is shown meanwhile."""
import contextlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

pytestmark = [pytest.mark.live, pytest.mark.slow]     # strace, below which sanitizers do not look for leaks


N = 60000


@pytest.fixture(scope='module')
def many(prof, storm, tmp_path_factory):
    """A recording with N events, which is read in several pieces."""
    path = tmp_path_factory.mktemp('many') / 'many.data'
    done = subprocess.run([prof, 'record', '-m', '32M', '-o', path, '-e', 'syscalls:sys_enter_getppid', '--', storm,
                           'getppid', str(N)], capture_output=True, timeout=60)
    if done.returncode:
        pytest.skip(done.stderr.decode().strip())
    return path


@pytest.fixture(scope='module')
def recording_of_many(many):
    return many.read_bytes()


@pytest.fixture
def half_way(prof, recording_of_many, tmp_path):
    """convert with half of a recording read, waiting for the rest of it."""
    procs = []

    def start(*args, command=('convert',), **more):
        proc = subprocess.Popen([prof, *command, '-I', '-', *args], cwd=tmp_path, stdin=subprocess.PIPE,
                                **{'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **more})
        procs.append(proc)
        proc.stdin.write(recording_of_many[:len(recording_of_many) // 2])
        proc.stdin.flush()       # more than a pipe holds: most of it was read by now
        deadline = time.monotonic() + 20
        while '-o' in args and not any(name.startswith('.out') for name in os.listdir(tmp_path)):
            assert time.monotonic() < deadline and proc.poll() is None
            time.sleep(0.01)
        while b'S' not in state_of(proc.pid):    # all that came was taken
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return proc
    yield start
    for proc in procs:
        proc.kill()
        proc.communicate()


def state_of(pid):
    with open(f'/proc/{pid}/stat', 'rb') as stat:
        return stat.read().rsplit(b')', 1)[1].split()[0]


def test_nothing_has_the_name_before_it_is_whole(half_way, recording_of_many, tmp_path):
    proc = half_way('--to', 'perfetto', '-o', 'out')
    assert not (tmp_path / 'out').exists()
    proc.communicate(recording_of_many[len(recording_of_many) // 2:], timeout=30)
    assert proc.returncode == 0
    assert os.listdir(tmp_path) == ['out']
    whole = (tmp_path / 'out').read_bytes()
    proc = half_way('--to', 'firefox', '-o', 'out')
    proc.kill()
    proc.wait()
    assert (tmp_path / 'out').read_bytes() == whole


@pytest.mark.parametrize('command, sent', [
    *((f'convert --to {name}', signal.SIGINT) for name in ('pprof', 'csv')),
    ('convert --to pprof', signal.SIGTERM), ('script', signal.SIGINT), ('script --json', signal.SIGINT)])
def test_an_interrupted_one_leaves_the_older_file(half_way, tmp_path, command, sent):
    (tmp_path / 'out').write_text('older')
    proc = half_way('-o', 'out', command=command.split())
    proc.send_signal(sent)
    out, errors = proc.communicate(timeout=30)
    assert (proc.returncode, out, errors) == (130, b'', b'perf-prof: interrupted: out was not changed\n'), errors
    assert os.listdir(tmp_path) == ['out'] and (tmp_path / 'out').read_text() == 'older'


PICTURES = pytest.mark.parametrize('command, picture', [
    ('report --flame-graph', 'out.folded'), ('report --flame-graph', 'out.svg'),
    ('latency -e syscalls:sys_enter_getppid -e syscalls:sys_enter_getppid//alias=next/ --heatmap', 'out.svg'),
])


@pytest.fixture
def interrupted(prof, many, tmp_path):
    """Runs a command that is interrupted when it reads the twelfth piece of the recording; returns exit code, stdout, stderr."""
    if not shutil.which('strace'):
        pytest.skip('needs the program strace')

    def run(*args):
        at_twelve = ['-e', 'trace=pread64', '-P', many, '-e', 'inject=pread64:signal=SIGINT:when=12']
        done = subprocess.run(['strace', '-f', '-qq', '-o', '/dev/null', *at_twelve, prof, *args], cwd=tmp_path,
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr
    return run


@PICTURES
def test_half_a_file_is_no_picture(interrupted, many, tmp_path, command, picture):
    """The table of what was read is shown; the picture's older file stays."""
    (tmp_path / picture).write_text('older')
    code, out, errors = interrupted(*command.split(), picture, '-I', many)
    assert errors == f'perf-prof: interrupted: the picture {picture} was not written\n' and code == 130
    assert 'getppid' in out or 'syscall ' in out
    assert os.listdir(tmp_path) == [picture] and (tmp_path / picture).read_text() == 'older'


@pytest.mark.parametrize('command', ['report', 'report --json', 'trace', 'top', 'python s.py'])
def test_half_a_file_is_said(interrupted, many, tmp_path, command):
    """The output covers what was read, and the last line reports how much that is."""
    (tmp_path / 's.py').write_text('n = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
                                   'def __exit__(): print("getppid", n)\n')
    command, *args = command.split()
    code, out, errors = interrupted(command, '-I', many, *args)
    found = re.search(rf'perf-prof: interrupted after (\d+) % of {re.escape(str(many))}: '
                      r'the output covers only that part\n\Z', errors)
    assert code == 130 and found and 0 < int(found[1]) < 100, errors
    assert 'getppid' in out


def test_half_a_file_is_not_compared(interrupted, many):
    code, out, errors = interrupted('diff', many, many)
    assert errors == f'perf-prof: interrupted while reading {many}: there is nothing to compare\n'
    assert (code, out) == (130, '')


@PICTURES
def test_what_came_through_a_pipe_is_a_picture(half_way, tmp_path, command, picture):
    """Ctrl-C ends both ends of `perf-prof record -o - | perf-prof report -I -`."""
    proc = half_way(command=[*command.split(), picture])
    proc.send_signal(signal.SIGINT)
    out, errors = proc.communicate(timeout=30)
    assert (proc.returncode, errors) == (0, b'')
    assert b'getppid' in out or b'syscall ' in out
    assert (tmp_path / picture).stat().st_size > 10


@pytest.mark.parametrize('command', ['convert --to csv -o -', 'convert --to firefox', 'script --csv'])
def test_an_interrupted_one_has_written_what_came_before(half_way, command, tmp_path):
    with open(tmp_path / 'got', 'wb') as got:
        proc = half_way(command=command.split(), stdout=got)
        proc.send_signal(signal.SIGINT)
        _, errors = proc.communicate(timeout=30)
    assert proc.returncode == 130
    assert errors.decode() == 'perf-prof: interrupted: standard output is incomplete\n'
    assert 0 < (tmp_path / 'got').read_text().count('sys_enter_getppid') < N


def shown_meanwhile(proc, terminal, data):
    """Writes the data into its standard input, the second half slowly until it shows how far it is: nothing is shown of what
    takes less than a moment. Returns its output, and what it wrote to the terminal, which is closed."""
    text, written, size = b'', 0, len(data) // 2
    while written < len(data) and b' samples' not in text:
        proc.stdin.write(data[written:written + size])
        proc.stdin.flush()
        written += size
        size = 1 << 15
        while select.select([terminal], [], [], 0.1)[0]:
            text += os.read(terminal, 65536)
    out, _ = proc.communicate(data[written:], timeout=30)
    with contextlib.suppress(OSError):      # EIO: its end
        while piece := os.read(terminal, 65536):
            text += piece
    os.close(terminal)
    return out, text.decode()


@pytest.mark.parametrize('command', ['report', 'convert --to perfetto -o out'])
def test_a_terminal_is_shown_how_far_it_is(prof, recording_of_many, tmp_path, command):
    ours, theirs = pty.openpty()
    words = command.split()
    proc = subprocess.Popen([prof, *words, '-I', '-'], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    out, shown = shown_meanwhile(proc, ours, recording_of_many)
    assert proc.returncode == 0 and (f'{N} samples' in out.decode() or (tmp_path / 'out').exists())
    assert re.search(rf'\r\x1b\[Kperf-prof: {words[0]}: [1-9]\d* samples', shown)
    assert shown.endswith('\r\x1b[K')
