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

import pytest

from frame import requires
from security.conftest import CALLER, PATIENCE, STRANGER, as_root, given, helper, run, sudo, wait_until

pytestmark = pytest.mark.live

SCRIPT = 'def __sample__(event):\n    pass\n'
COMMANDS = {
    'report': ['report', '{file}'],
    'script': ['script', '{file}'],
    'convert': ['convert', '--to', 'folded', '{file}'],
    'diff': ['diff', '{file}', '{file}'],
    'flame-graph': ['flame-graph', '{file}', '{folder}/out.svg'],
    'before': ['report', '{recording}', '--flame-graph', '{folder}/out.svg', '--flame-graph-before', '{file}'],
    'trace': ['trace', '-I', '{file}'],
    'trace help': ['trace', '-I', '{file}', 'help'],
    'task-state': ['task-state', '-I', '{file}'],
    'latency': ['latency', '-e', 'a:b//key=pid/', '-e', 'a:c//key=pid/', '-I', '{file}'],
    'python': ['python', '-I', '{file}', '{folder}/s.py'],
    'python help': ['python', '-I', '{file}', 'help'],
}


@pytest.fixture
def record(prof, sticky):
    """record(name, *options): a recording that belongs to the caller."""
    def start(name='r.data', *options, env=None, work=('sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done')):
        path = sticky / name
        path.unlink(missing_ok=True)      # nobody writes to a stranger's
        run(prof, 'record', '-e', 'cpu-clock', *options, '-o', path, '--', *work, env=env or sudo(), check=True)
        return path
    return start


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


@pytest.mark.parametrize('name, packed', [('report', False), ('script', True), ('convert', False), ('diff', True), ('trace', True),
                                          ('python', False)])
def test_what_root_alone_may_open_is_read(prof, record, sticky, tmp_path, name, packed):
    """sudo said so; outputs are the caller's."""
    secret = tmp_path / 'secret'
    secret.mkdir(mode=0o700)
    data = record().read_bytes()
    (secret / 'r.data').write_bytes(gzip.compress(data) if packed else data)
    (secret / 'r.data').chmod(0o600)
    done = run(*command_of(prof, name, sticky, secret / 'r.data', None), env=sudo())
    assert done.returncode == 0, done.stderr
    assert done.stdout or name == 'python'


def test_standard_input_is_read(prof, record):
    with open(record(), 'rb') as data:
        done = run(prof, 'report', '-', stdin=data, env=sudo())
    assert done.returncode == 0 and 'cpu-clock' in done.stdout, done.stderr


@pytest.mark.parametrize('name', ['out.svg', 'out.folded'])
def test_pictures_are_the_callers(prof, record, sticky, tmp_path, name):
    data = record('r.data', '-g')
    out = sticky / name
    done = run(prof, 'report', data, '--flame-graph', out, '-o', sticky / 'text', env=sudo())
    assert done.returncode == 0, done.stderr
    assert out.stat().st_uid == (sticky / 'text').stat().st_uid == CALLER.pw_uid
    tmp_path.chmod(0o755)
    done = run(prof, 'report', data, '--flame-graph', tmp_path / name, env=sudo())
    assert done.returncode == 1 and 'Permission denied' in done.stderr and not os.listdir(tmp_path)


@pytest.fixture
def shut(tmp_path, build):
    """A program whose functions have names, which root alone may read."""
    path = helper(build, tmp_path)
    path.chmod(0o700)
    return path


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
        done = run(prof, 'report', '-e', 'context-switches', data, env=sudo())
    finally:
        sysctl.write_text(before)
    assert 'schedule+0x' in done.stdout, done.stdout + done.stderr


# ---- root itself, and what somebody else wrote ---------------------------------------------------

PARSER = 2113929216


@pytest.mark.parametrize('name', [name for name in COMMANDS if name not in ('python', 'before', 'diff')])
def test_root_reads_a_strangers_as_nobody(prof, sticky, fifo, name):
    """Its own as root."""
    if name == 'report':
        rights = rights_of_the_reader(command_of(prof, name, sticky, fifo, None), fifo, as_root())
        assert rights['Uid'].split() == ['0'] * 4
    rights = rights_of_the_reader(command_of(prof, name, sticky, given(fifo, STRANGER), None), fifo, as_root())
    assert_without_root(rights, PARSER)


@pytest.fixture
def theirs(record):
    """A recording of a stranger's, in gzip's format or plain."""
    def make(*options, packed=False, **more):
        path = record('theirs.data', *options, env=as_root(), **more)
        if packed:
            path.write_bytes(gzip.compress(path.read_bytes()))
        return given(path, STRANGER)
    return make


OUTPUTS = {
    'report -o': ['report', '{file}', '-o', '{out}'],
    'picture': ['report', '{file}', '--flame-graph', '{out}.svg'],
    'script': ['script', '{file}', '-o', '{out}'],
    'convert': ['convert', '{file}', '--to', 'folded', '-o', '{out}'],
    'diff': ['diff', '{file}', '{file}', '--flame-graph', '{out}.svg'],
    'trace': ['trace', '-I', '{file}', '-o', '{out}'],
}


@pytest.mark.parametrize('name', OUTPUTS)
def test_roots_outputs_are_written(prof, theirs, tmp_path, name):
    """In a folder that is closed to all others, whole, and nothing is left beside them; also to a pipe of root's."""
    folder, pipe = tmp_path / 'closed', tmp_path / 'pipe'
    folder.mkdir(mode=0o700)
    for packed in False, True:         # a new file, and one that is there
        data = theirs('-g', packed=packed)
        done = run(prof, *(word.format(file=data, out=folder / 'out') for word in OUTPUTS[name]), env=as_root())
        assert done.returncode == 0, done.stderr
        made, = folder.iterdir()
        assert made.stat().st_size > 100 and made.stat().st_uid == 0
    if name == 'convert':
        os.mkfifo(pipe, 0o600)
        with subprocess.Popen(['cat', pipe], stdout=subprocess.PIPE, text=True) as reader:
            run(prof, 'convert', data, '--to', 'folded', '-o', pipe, env=as_root(), check=True)
            assert 'sh;' in reader.communicate(timeout=PATIENCE)[0]


@pytest.mark.parametrize('option', [[], ['-o']], ids=['operand', '-o'])
def test_stacks_of_a_stranger_are_drawn(prof, sticky, tmp_path, option):
    """Both files are open before root gives up its rights, and the keeper writes the picture."""
    folder = tmp_path / 'closed'
    folder.mkdir(mode=0o700)
    for name in 'old', 'new':
        path = sticky / f'{name}.folded'
        path.write_text(f'main;{name} 3\n')
        given(path, STRANGER).chmod(0o600)
    run(prof, 'flame-graph', '--before', sticky / 'old.folded', sticky / 'new.folded', *option, folder / 'out.svg', env=as_root(), check=True)
    made, = folder.iterdir()
    assert 'new.folded against ' in made.read_text() and made.stat().st_uid == 0


def test_recordings_of_two_are_compared(prof, record, theirs, tmp_path):
    """A FIFO of root's is opened before root gives up its rights. One program may write to both FIFOs, one after the other."""
    own = pathlib.Path(shutil.move(record('own.data', env=as_root()), tmp_path))
    own.chmod(0o600)
    data, pipes = theirs(), [tmp_path / name for name in ('first', 'second')]
    for pipe in pipes:
        os.mkfifo(pipe, 0o600)
    write = 'cat "$0" >"$1" && if [ "$2" ]; then cat "$0" >"$2"; fi'
    for sides in [own, data], [pipes[0], data], [data, pipes[0]], pipes:
        with subprocess.Popen(['sh', '-c', write, own, *([side for side in sides if side in pipes] or ['/dev/null'])],
                              start_new_session=True) as writer:
            try:
                done = run(prof, 'diff', *sides, env=as_root())
                assert done.returncode == 0 and 'cpu-clock' in done.stdout, done.stderr
                assert not writer.wait(PATIENCE)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(writer.pid, signal.SIGKILL)


@pytest.mark.skipif(bool(requires.why_not('tracefs')), reason=str(requires.why_not('tracefs')))
@pytest.mark.parametrize('env, whose', [(sudo(), 'record'), (as_root(), 'theirs')], ids=['sudo', 'of a stranger'])
def test_functions_of_roots_programs_have_names(prof, request, shut, env, whose):
    options = ['r.data'] * (whose == 'record') + ['-e', 'syscalls:sys_enter_getppid', '-g']
    data = request.getfixturevalue(whose)(*options, work=[shut, '3'])
    done = run(prof, 'report', '--json', '-e', 'syscalls:sys_enter_getppid', data, env=env)
    assert done.returncode == 0 and {'inner', 'middle', 'outer'} <= set(words_of(done.stdout)), done.stdout + done.stderr
