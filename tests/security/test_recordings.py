# SPDX-License-Identifier: Apache-2.0
"""Who has written a recording, or stacks, attacks what parses them: not with root's rights."""
import array
import contextlib
import fcntl
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import termios
import time

import pytest

from frame import requires
from security.conftest import CALLER, STRANGER, sudo

PATIENCE = 60
SCRIPT = 'def __sample__(event):\n    pass\n'
COMMANDS = {
    'report': ['report', '{file}'],
    'script': ['script', '{file}'],
    'script csv': ['script', '--csv', '{file}'],
    'convert': ['convert', '--to', 'folded', '{file}'],
    'convert csv': ['convert', '--to', 'csv', '{file}'],
    'diff': ['diff', '{file}', '{file}'],
    'flame-graph': ['flame-graph', '{file}', '{folder}/out.svg'],
    'before': ['report', '{recording}', '--flame-graph', '{folder}/out.svg', '--flame-graph-before', '{file}'],
    'trace': ['trace', '-I', '{file}'],
    'trace help': ['trace', '-I', '{file}', 'help'],
    'profile': ['profile', '-I', '{file}'],
    'top': ['top', '-I', '{file}', '-k', 'next_pid'],
    'task-state': ['task-state', '-I', '{file}'],
    'rundelay': ['rundelay', '-I', '{file}'],
    'syscalls': ['syscalls', '-I', '{file}'],
    'latency': ['latency', '-e', 'a:b//key=pid/', '-e', 'a:c//key=pid/', '-I', '{file}'],
    'kvm-exit': ['kvm-exit', '-I', '{file}'],
    'page-faults': ['page-faults', '-I', '{file}'],
    'python': ['python', '-I', '{file}', '{folder}/s.py'],
    'python help': ['python', '-I', '{file}', 'help'],
}


@pytest.fixture
def record(prof, sticky):
    """record(name, *options): a recording that belongs to the caller."""
    def run(name='r.data', *options, env=None, work=('sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done')):
        path = sticky / name
        subprocess.run([prof, 'record', '-e', 'cpu-clock', *options, '-o', path, '--', *work], env=env or sudo(), check=True,
                       capture_output=True, timeout=PATIENCE)
        return path
    return run


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, 'in vain'
        time.sleep(0.01)


@contextlib.contextmanager
def writer(fifo, process):
    """The end of a pipe that the process reads; it is closed when the process has ended."""
    end = None

    def opened():
        nonlocal end
        with contextlib.suppress(OSError):
            end = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        return end is not None or process.poll() is not None
    wait_until(opened)
    assert end is not None, process.communicate()
    try:
        yield end
    finally:
        os.close(end)


def unread(end):
    n = array.array('i', [0])
    fcntl.ioctl(end, termios.FIONREAD, n)
    return n[0]


def rights_of_the_reader(command, fifo, env):
    """/proc/PID/status once the first bytes were read."""
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            with writer(fifo, process) as end:
                os.write(end, b'PERFILE2')
                wait_until(lambda: not unread(end) or process.poll() is not None)
                assert process.poll() is None, process.communicate()
                status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
            process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return dict(line.split(':\t', 1) for line in status.splitlines() if ':\t' in line)


def assert_without_root(rights, uid):
    assert rights['Uid'].split() == [str(uid)] * 4
    assert '0' not in rights['Gid'].split() + rights['Groups'].split()
    assert {rights[f'Cap{kind}'] for kind in ('Inh', 'Prm', 'Eff', 'Bnd', 'Amb')} == {'0' * 16}
    assert rights['NoNewPrivs'] == '1'


@pytest.fixture
def fifo(sticky):
    path = sticky / 'fifo'
    os.mkfifo(path)
    return path


def command_of(prof, name, folder, fifo, recording):
    (folder / 's.py').write_text(SCRIPT)
    return [prof, *(word.format(file=fifo, folder=folder, recording=recording) for word in COMMANDS[name])]


@pytest.mark.parametrize('name', COMMANDS)
def test_sudo_reads_as_the_caller(prof, record, sticky, fifo, name):
    """The attacker's code would run where the first byte is parsed."""
    command = command_of(prof, name, sticky, fifo, record() if name == 'before' else None)
    assert_without_root(rights_of_the_reader(command, fifo, sudo()), CALLER.pw_uid)


@pytest.mark.parametrize('packed', [False, True], ids=['plain', 'gzip'])
@pytest.mark.parametrize('name', ['report', 'script', 'convert', 'diff', 'trace', 'python'])
def test_what_root_alone_may_open_is_read(prof, record, sticky, tmp_path, name, packed):
    """sudo said so; outputs are the caller's."""
    secret = tmp_path / 'secret'
    secret.mkdir(mode=0o700)
    data = record().read_bytes()
    (secret / 'r.data').write_bytes(gzip.compress(data) if packed else data)
    (secret / 'r.data').chmod(0o600)
    done = subprocess.run(command_of(prof, name, sticky, secret / 'r.data', None), env=sudo(), capture_output=True,
                          text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout or name == 'python'


def test_standard_input_is_read(prof, record):
    with open(record(), 'rb') as data:
        done = subprocess.run([prof, 'report', '-'], stdin=data, env=sudo(), capture_output=True, text=True,
                              timeout=PATIENCE)
    assert done.returncode == 0 and 'cpu-clock' in done.stdout, done.stderr


@pytest.mark.parametrize('name', ['out.svg', 'out.folded'])
def test_pictures_are_the_callers(prof, record, sticky, tmp_path, name):
    data = record('r.data', '-g')
    out = sticky / name
    done = subprocess.run([prof, 'report', data, '--flame-graph', out, '-o', sticky / 'text'], env=sudo(),
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_uid == (sticky / 'text').stat().st_uid == CALLER.pw_uid
    tmp_path.chmod(0o755)
    done = subprocess.run([prof, 'report', data, '--flame-graph', tmp_path / name], env=sudo(), capture_output=True,
                          text=True, timeout=PATIENCE)
    assert done.returncode == 1 and 'Permission denied' in done.stderr and not os.listdir(tmp_path)


@pytest.fixture
def shut(tmp_path, build):
    """A program whose functions have names, which root alone may read."""
    program = os.path.join(build, 'tests/helpers/callers')
    if not os.path.exists(program):
        pytest.skip('needs the helper callers')
    path = pathlib.Path(shutil.copy(program, tmp_path / f'shut{os.getpid()}'))
    path.chmod(0o700)
    return path


@pytest.mark.skipif(bool(requires.why_not('tracefs')), reason=str(requires.why_not('tracefs')))
def test_functions_of_roots_programs_have_names(prof, record, shut):
    data = record('r.data', '-e', 'syscalls:sys_enter_getppid', '-g', work=[shut, '3'])
    done = subprocess.run([prof, 'report', '--json', '-e', 'syscalls:sys_enter_getppid', data], env=sudo(),
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and {'inner', 'middle', 'outer'} <= set(words_of(done.stdout)), done.stdout + done.stderr


def words_of(text):
    """All strings in lines of JSON."""
    todo = [json.loads(line) for line in text.splitlines()]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (dict, list)):
            todo += item.values() if isinstance(item, dict) else item


@pytest.mark.alone
def test_functions_of_the_kernel_have_names(prof, record):
    """Also where its addresses are root's alone."""
    data = record('r.data', '-e', 'context-switches/period=1/', '-g', work=['sh', '-c', 'for i in 1 2 3; do sleep 0.01; done'])
    sysctl = pathlib.Path('/proc/sys/kernel/kptr_restrict')
    before = sysctl.read_text()
    try:
        sysctl.write_text('1')
        done = subprocess.run([prof, 'report', '-e', 'context-switches', data], env=sudo(), capture_output=True, text=True,
                              timeout=PATIENCE)
    finally:
        sysctl.write_text(before)
    assert 'schedule+0x' in done.stdout, done.stdout + done.stderr


# ---- root itself, and what somebody else wrote ---------------------------------------------------

PARSER = 2113929216


def as_root():
    return {name: value for name, value in os.environ.items() if not name.startswith('SUDO_')}


@pytest.mark.parametrize('name', [name for name in COMMANDS if name not in ('python', 'before', 'diff')])
def test_root_reads_a_strangers_as_nobody(prof, sticky, fifo, name):
    os.chown(fifo, STRANGER.pw_uid, STRANGER.pw_gid)
    rights = rights_of_the_reader(command_of(prof, name, sticky, fifo, None), fifo, as_root())
    assert_without_root(rights, PARSER)


def test_root_reads_its_own_as_root(prof, sticky, fifo):
    rights = rights_of_the_reader(command_of(prof, 'report', sticky, fifo, None), fifo, as_root())
    assert rights['Uid'].split() == ['0'] * 4


@pytest.fixture
def theirs(record):
    """A recording of a stranger's, in gzip's format or plain."""
    def make(*options, packed=False, **more):
        path = record('theirs.data', *options, env=as_root(), **more)
        if packed:
            path.write_bytes(gzip.compress(path.read_bytes()))
        os.chown(path, STRANGER.pw_uid, STRANGER.pw_gid)
        return path
    return make


OUTPUTS = {
    'report -o': ['report', '{file}', '-o', '{out}'],
    'picture': ['report', '{file}', '--flame-graph', '{out}.svg'],
    'picture without a suffix': ['report', '{file}', '--flame-graph', '{out}'],
    'script': ['script', '{file}', '-o', '{out}'],
    'script csv': ['script', '--csv', '{file}', '-o', '{out}.csv'],
    'convert': ['convert', '{file}', '--to', 'folded', '-o', '{out}'],
    'convert csv': ['convert', '{file}', '--to', 'csv', '-o', '{out}'],
    'diff': ['diff', '{file}', '{file}', '--flame-graph', '{out}.svg'],
    'trace': ['trace', '-I', '{file}', '-o', '{out}'],
}


@pytest.mark.parametrize('packed', [False, True], ids=['plain', 'gzip'])
@pytest.mark.parametrize('name', OUTPUTS)
def test_roots_outputs_are_written(prof, theirs, tmp_path, name, packed):
    """In a folder that is closed to all others, whole, and nothing is left beside them."""
    folder = tmp_path / 'closed'
    folder.mkdir(mode=0o700)
    data = theirs('-g', packed=packed)
    command = [word.format(file=data, out=folder / 'out') for word in OUTPUTS[name]]
    for _ in range(2):         # a new file, and one that is there
        done = subprocess.run([prof, *command], env=as_root(), capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        made, = folder.iterdir()
        assert made.stat().st_size > 100 and made.stat().st_uid == 0


@pytest.mark.parametrize('option', [[], ['-o']], ids=['operand', '-o'])
def test_stacks_of_a_stranger_are_drawn(prof, sticky, tmp_path, option):
    """Both files are open before root gives up its rights, and the keeper writes the picture."""
    folder = tmp_path / 'closed'
    folder.mkdir(mode=0o700)
    for name in 'old', 'new':
        path = sticky / f'{name}.folded'
        path.write_text(f'main;{name} 3\n')
        path.chmod(0o600)
        os.chown(path, STRANGER.pw_uid, STRANGER.pw_gid)
    subprocess.run([prof, 'flame-graph', '--before', sticky / 'old.folded', sticky / 'new.folded', *option,
                    folder / 'out.svg'], env=as_root(), check=True, timeout=PATIENCE)
    made, = folder.iterdir()
    assert 'new.folded against ' in made.read_text() and made.stat().st_uid == 0


def test_a_pipe_of_roots_is_written_to(prof, theirs, tmp_path):
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe, 0o600)
    with subprocess.Popen(['cat', pipe], stdout=subprocess.PIPE, text=True) as reader:
        subprocess.run([prof, 'convert', theirs('-g'), '--to', 'folded', '-o', pipe], env=as_root(), check=True,
                       timeout=PATIENCE)
        assert 'sh;' in reader.communicate(timeout=PATIENCE)[0]


def test_recordings_of_two_are_compared(prof, record, theirs, tmp_path):
    own = pathlib.Path(shutil.move(record('own.data', env=as_root()), tmp_path))
    own.chmod(0o600)
    done = subprocess.run([prof, 'diff', own, theirs()], env=as_root(), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and 'cpu-clock' in done.stdout, done.stderr


def test_a_pipe_of_roots_is_compared(prof, record, theirs, tmp_path):
    """The FIFO is opened before root gives up its rights. One program may write to both FIFOs, one after the other."""
    own = shutil.move(record('own.data', env=as_root()), tmp_path)
    data, pipes = theirs(), [tmp_path / name for name in ('first', 'second')]
    for pipe in pipes:
        os.mkfifo(pipe, 0o600)
    write = 'cat "$0" >"$1" && if [ "$2" ]; then cat "$0" >"$2"; fi'
    for sides in [pipes[0], data], [data, pipes[0]], pipes:
        with subprocess.Popen(['sh', '-c', write, own, *(side for side in sides if side in pipes)],
                              start_new_session=True) as writer:
            try:
                done = subprocess.run([prof, 'diff', *sides], env=as_root(), capture_output=True, text=True,
                                      timeout=PATIENCE)
                assert done.returncode == 0 and 'cpu-clock' in done.stdout, done.stderr
                assert not writer.wait(PATIENCE)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(writer.pid, signal.SIGKILL)


@pytest.mark.skipif(bool(requires.why_not('tracefs')), reason=str(requires.why_not('tracefs')))
def test_a_strangers_recording_has_names_of_roots_programs(prof, theirs, shut):
    data = theirs('-e', 'syscalls:sys_enter_getppid', '-g', work=[shut, '3'])
    done = subprocess.run([prof, 'report', '--json', '-e', 'syscalls:sys_enter_getppid', data], env=as_root(),
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and {'inner', 'middle', 'outer'} <= set(words_of(done.stdout)), done.stdout + done.stderr
