# SPDX-License-Identifier: Apache-2.0
"""How convert ends while it reads: by Ctrl-C, by kill -9; and what a terminal is shown meanwhile."""
import contextlib
import os
import pty
import re
import signal
import subprocess
import threading
import time

import pytest


@pytest.fixture(scope='module')
def recording_of_many(prof, storm, tmp_path_factory):
    """The bytes of a recording with 100000 events."""
    path = tmp_path_factory.mktemp('many') / 'in.data'
    done = subprocess.run([prof, 'record', '-m', '32M', '-o', path, '-e', 'syscalls:sys_enter_getppid', '--', storm,
                           'getppid', '100000'], capture_output=True, timeout=60)
    if done.returncode:
        pytest.skip(done.stderr.decode().strip())
    data = path.read_bytes()
    path.unlink()
    return data


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


def test_a_killed_one_leaves_none_of_that_name(half_way, tmp_path):
    (tmp_path / 'out').write_text('older')
    proc = half_way('--to', 'firefox', '-o', 'out')
    proc.kill()
    proc.wait()
    assert (tmp_path / 'out').read_text() == 'older'


@pytest.mark.parametrize('command, name', [
    ('convert --to pprof', 'pprof'), ('convert --to firefox', 'firefox'), ('convert --to perfetto', 'perfetto'),
    ('convert --to folded', 'folded'), ('convert --to speedscope', 'speedscope'), ('convert --to csv', 'csv'),
    ('convert --to jsonl', 'jsonl'), ('script', 'text'), ('script --json', 'json'),
], ids=lambda text: text.split()[-1])
@pytest.mark.parametrize('sent', [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_one_leaves_the_older_file(half_way, tmp_path, command, name, sent):
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


@pytest.fixture(scope='module')
def long_one(prof, storm, tmp_path_factory):
    """A recording that takes a while to read."""
    path = tmp_path_factory.mktemp('long') / 'long.data'
    subprocess.run([prof, 'record', '-q', '-m', '64M', '-o', path, '-e', 'syscalls:sys_enter_getppid', '--', storm,
                    'getppid', '2000000'], stdout=subprocess.DEVNULL, check=True, timeout=60)
    return path


@pytest.fixture
def interrupted(prof, long_one, tmp_path):
    """Runs a command, interrupts it when it has read a part of long_one, and returns exit code, stdout, stderr."""
    def once(args):
        proc = subprocess.Popen([prof, *args], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        drain = threading.Thread(target=lambda: out.append(proc.stdout.read()))
        out = []
        drain.start()
        while read_by(proc.pid) < long_one.stat().st_size // 4 and proc.poll() is None:
            time.sleep(0.001)
        in_time = proc.poll() is None and read_by(proc.pid) < long_one.stat().st_size // 2
        proc.send_signal(signal.SIGINT)
        errors = proc.stderr.read()
        drain.join()
        proc.stdout.close()
        proc.stderr.close()
        return in_time, (proc.wait(30), out[0], errors)

    def run(*args):
        for _ in range(4):
            in_time, result = once(args)
            if in_time or result[0]:        # else it had read all before the signal was sent
                break
        return result
    return run


@pytest.mark.deep
@PICTURES
def test_half_a_file_is_no_picture(interrupted, long_one, tmp_path, command, picture):
    """The table of what was read is shown; the picture's older file stays."""
    (tmp_path / picture).write_text('older')
    code, out, errors = interrupted(*command.split(), picture, '-I', long_one)
    assert errors == f'perf-prof: interrupted: the picture {picture} was not written\n' and code == 130
    assert 'getppid' in out or 'syscall ' in out
    assert os.listdir(tmp_path) == [picture] and (tmp_path / picture).read_text() == 'older'


@pytest.mark.parametrize('command', ['report', 'report --json', 'trace', 'top', 'python s.py'])
def test_half_a_file_is_said(interrupted, long_one, tmp_path, command):
    """The output covers what was read, and the last line reports how much that is."""
    (tmp_path / 's.py').write_text('n = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
                                   'def __exit__(): print("getppid", n)\n')
    command, *args = command.split()
    code, out, errors = interrupted(command, '-I', long_one, *args)
    found = re.search(rf'perf-prof: interrupted after (\d+) % of {re.escape(str(long_one))}: '
                      r'the output covers only that part\n\Z', errors)
    assert code == 130 and found and 0 < int(found[1]) < 100, errors
    assert 'getppid' in out


def test_half_a_file_is_not_compared(interrupted, long_one):
    code, out, errors = interrupted('diff', long_one, long_one)
    assert errors == f'perf-prof: interrupted while reading {long_one}: there is nothing to compare\n'
    assert (code, out) == (130, '')


def read_by(pid):
    """Bytes of all that the process has read."""
    with open(f'/proc/{pid}/io', encoding='ascii') as io:
        return int(re.search(r'rchar: (\d+)', io.read()).group(1))


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
    assert 0 < (tmp_path / 'got').read_text().count('sys_enter_getppid') < 100000


def all_of(terminal):
    """All that was written to the terminal, which nobody else has open any more; closes it."""
    text = b''
    with contextlib.suppress(OSError):      # EIO: its end
        while piece := os.read(terminal, 65536):
            text += piece
    os.close(terminal)
    return text.decode()


def test_report_shows_how_far_it_is(prof, recording_of_many):
    ours, theirs = pty.openpty()
    proc = subprocess.Popen([prof, 'report', '-I', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    proc.stdin.write(recording_of_many[:len(recording_of_many) // 2])
    proc.stdin.flush()
    time.sleep(1.0)          # nothing is shown of what takes less than a moment
    out, _ = proc.communicate(recording_of_many[len(recording_of_many) // 2:], timeout=30)
    shown = all_of(ours)
    assert proc.returncode == 0 and b'100000 samples' in out
    assert re.search(r'\r\x1b\[Kperf-prof: report: [1-9]\d* samples', shown)
    assert shown.endswith('\r\x1b[K')


def test_a_terminal_is_shown_how_far_it_is(half_way, recording_of_many, tmp_path):
    ours, theirs = pty.openpty()
    proc = half_way('--to', 'perfetto', '-o', 'out', stderr=theirs)
    os.close(theirs)
    time.sleep(1.0)          # nothing is shown of what takes less than a moment
    proc.communicate(recording_of_many[len(recording_of_many) // 2:], timeout=30)
    shown = all_of(ours)
    assert proc.returncode == 0
    assert re.search(r'\r\x1b\[Kperf-prof: convert: [1-9]\d* samples', shown)
    assert shown.endswith('\r\x1b[K')
