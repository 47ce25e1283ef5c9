# SPDX-License-Identifier: Apache-2.0
"""What is written goes through one door: no link of a stranger's is followed as root, and under sudo
nothing is written that the caller could not write."""
import contextlib
import os
import pwd
import signal
import subprocess

import pytest

from security.conftest import CALLER, STRANGER, given, link, run, running, sudo, wait_until

pytestmark = pytest.mark.live

ROOT = pwd.getpwuid(0)
COMMANDS = {
    'trace': ['trace', '-e', 'cpu-clock', '-N', '3', '-o'],
    'python': ['python', '-e', 'cpu-clock', '-o'],
    'stat -i': ['stat', '-e', 'task-clock', '-i', '10', '-o'],
    'stat': ['stat', '-e', 'task-clock', '-o'],
    'flame-graph': ['profile', '-g', '-N', '3', '--flame-graph'],
    'record': ['record', '-e', 'cpu-clock', '-N', '3', '-o'],
}
SCRIPT = 'def __init__():\n    raise SystemExit\ndef __sample__(event):\n    pass\n'
WORK = ['sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done']


@pytest.fixture
def write(prof, sticky):
    """write(name of a command, file): the ended process."""
    def start(name, path, env=None, **more):
        (sticky / 's.py').write_text(SCRIPT)
        command = [str(sticky / 's.py')] if name == 'python' else ['--', *WORK]
        return run(prof, *COMMANDS[name], path, *command, env=env, cwd=sticky, **more)
    return start


def precious(folder):
    path = folder / 'precious.folded'
    path.write_text('precious')
    path.chmod(0o600)
    return path


@pytest.mark.parametrize('name', COMMANDS)
def test_root_follows_no_link_of_a_strangers(write, sticky, tmp_path, name):
    """To a file of root's; to one that would be made; on the way. Nor a link of its own where others may lay one."""
    target, out = precious(tmp_path), sticky / 'out.folded'
    for to, owner, mode in (target, STRANGER, 0o1777), (tmp_path / 'made.folded', STRANGER, 0o1777), (tmp_path, STRANGER, 0o1777), (
            target, ROOT, 0o1777), (target, ROOT, 0o777), (target, ROOT, 0o1755):
        sticky.chmod(mode)
        done = write(name, link(out, to, owner) / 'precious.folded' if to == tmp_path else link(out, to, owner))
        assert target.read_text() == 'precious' and os.listdir(tmp_path) == ['precious.folded']
        if to == tmp_path:
            assert done.returncode == 1 and 'no symbolic link that belongs to another user' in done.stderr
        if owner == ROOT and name in ('trace', 'stat -i'):
            assert done.returncode == 1 and 'no symbolic link' in done.stderr
        out.unlink()


@pytest.mark.parametrize('name', ['trace', 'stat -i', 'python'])
def test_root_follows_its_own_links(write, tmp_path, name):
    target = precious(tmp_path)
    (tmp_path / 'folder').symlink_to('.')
    (tmp_path / 'second').symlink_to(target)
    (tmp_path / 'out.folded').symlink_to(f'folder/./../{tmp_path.name}/folder/second')
    done = write(name, tmp_path / 'out.folded')
    assert done.returncode == 0, done.stderr
    assert target.read_text() != 'precious'


@pytest.mark.parametrize('name', COMMANDS)
@pytest.mark.parametrize('kind', ['file', 'hard link', 'their folder'])
def test_root_writes_to_no_file_of_a_strangers(write, sticky, tmp_path, name, kind):
    """The stranger would read what root writes; by a hard link a file of root's would be overwritten."""
    target, out = precious(tmp_path), sticky / 'out.folded'
    if kind == 'file':
        out.write_text('precious')
        given(out, STRANGER)
    else:
        try:
            os.link(target, out)
        except OSError as error:
            pytest.skip(f'needs {tmp_path} and {sticky} on one file system ({error})')
    if kind == 'their folder':
        sticky.chmod(0o755)
        given(sticky, STRANGER)
    done = write(name, out)
    assert done.returncode == 1 and 'belongs to another user, or is a hard link' in done.stderr, done.stderr
    assert target.read_text() == out.read_text() == 'precious' and not (sticky / 'out.folded.old').exists()
    assert not [path for path in sticky.iterdir() if path.name.startswith('.out')]


@pytest.mark.parametrize('name', COMMANDS)
def test_root_writes_where_nobody_else_lays_files(write, tmp_path, name):
    """To its own file with two names, and to a user's file in that user's folder."""
    target, theirs = precious(tmp_path), tmp_path / 'theirs'
    os.link(target, tmp_path / 'second.folded')
    theirs.mkdir(mode=0o755)
    (theirs / 'out.folded').write_text('old')
    for path in theirs, theirs / 'out.folded':
        given(path, STRANGER)
    for out in tmp_path / 'second.folded', theirs / 'out.folded':
        done = write(name, out)
        assert done.returncode == 0 and out.read_bytes() != b'precious', done.stderr


@pytest.mark.parametrize('name', COMMANDS)
def test_the_caller_of_sudo_writes_nothing_of_roots(write, sticky, tmp_path, name):
    target = precious(tmp_path)
    tmp_path.chmod(0o755)
    for out in (link(sticky / 'out.folded', target, CALLER), target, tmp_path / 'new.folded'):
        done = write(name, out, sudo())
        if out.name != 'out.folded':
            assert done.returncode == 1 and 'Permission denied' in done.stderr
        assert target.read_text() == 'precious' and os.listdir(tmp_path) == ['precious.folded']


@pytest.mark.parametrize('name', COMMANDS)
def test_the_callers_file_is_the_callers(write, sticky, name):
    """And the caller's links are followed, also in a folder that is sticky: whose link it is decides."""
    out = link(sticky / 'link', sticky / 'target', CALLER) if name in ('trace', 'stat -i') else sticky / 'out.folded'
    done = write(name, out, sudo())
    assert done.returncode == 0, done.stderr
    assert (out.stat().st_uid, out.stat().st_gid) == (CALLER.pw_uid, CALLER.pw_gid)


@pytest.mark.parametrize('member', [True, False])
def test_the_callers_groups_count(prof, sticky, member):
    """A folder of a group that the caller is in, by a list of groups of this test's own."""
    folder, groups = sticky / 'team', sticky / 'group'
    folder.mkdir()
    os.chown(folder, 0, 54321)
    folder.chmod(0o770)
    with open('/etc/group') as now:
        groups.write_text(now.read() + f'perf-prof-team:x:54321:{CALLER.pw_name if member else ""}\n')
    apart = ['unshare', '--mount', 'sh', '-c', f'mount --bind {groups} /etc/group && exec "$@"', 'sh']
    if subprocess.run([*apart, 'true']).returncode:
        pytest.skip('needs mount namespaces')
    done = run(*apart, prof, *COMMANDS['trace'], folder / 'out.folded', '--', *WORK, env=sudo())
    assert done.returncode == (0 if member else 1), done.stderr
    assert (folder / 'out.folded').exists() == member


@contextlib.contextmanager
def tracing(prof, out, env=None):
    """trace of a program that works until the end; begins when the first lines are there."""
    with running('sh', '-c', 'while :; do sleep 0.01; done') as work, \
            running(prof, 'trace', '-e', 'context-switches/period=1/', '-p', str(work.pid), '-o', out, env=env) as trace:
        yield trace
        trace.terminate()
        trace.communicate()


@pytest.mark.parametrize('env', [None, sudo()], ids=['root', 'sudo'])
def test_a_link_that_is_laid_before_a_rotation(prof, sticky, tmp_path, env):
    """SIGUSR1 opens the file anew; the new one is a link now. The lines go on into the old file."""
    target, out, moved = precious(tmp_path), sticky / 'out.folded', sticky / 'out.1'
    with tracing(prof, out, env) as trace:
        wait_until(lambda: out.exists() and out.stat().st_size)
        out.rename(moved)
        link(out, target, STRANGER)
        trace.send_signal(signal.SIGUSR1)
        size = moved.stat().st_size
        wait_until(lambda: moved.stat().st_size > size + 3000)
        assert target.read_text() == 'precious'
        out.unlink()
        trace.send_signal(signal.SIGUSR1)
        wait_until(lambda: out.exists() and out.stat().st_size)     # honest rotations go on
    assert target.read_text() == 'precious'


@pytest.mark.parametrize('env', [None, sudo()], ids=['root', 'sudo'])
@pytest.mark.parametrize('out', ['/dev/stdout', '/dev/stderr', '-', '>(cat)', 'fifo'])
@pytest.mark.parametrize('name', ['trace', 'stat -i', 'stat'])
def test_descriptors_and_pipes_work(prof, sticky, name, out, env):
    fifo = sticky / 'fifo'
    os.mkfifo(fifo)
    os.chown(fifo, CALLER.pw_uid if env else 0, -1)
    reader = f'cat {fifo} & ' if out == 'fifo' else ''
    script = f'{reader}"$@" {fifo if out == "fifo" else out} -- "${{work[@]}}"; code=$?; wait; exit $code'
    done = run('bash', '-c', f'work=("${{@:1:{len(WORK)}}}"); shift {len(WORK)}; {script}', 'bash', *WORK, prof, *COMMANDS[name], env=env)
    assert done.returncode == 0, done.stderr
    assert '-clock' in (done.stderr if out == '/dev/stderr' else done.stdout)


def test_links_of_proc_lead_to_descriptors(prof, tmp_path):
    """The kernel alone can follow them."""
    with open(tmp_path / 'out', 'w') as out:
        done = run(prof, *COMMANDS['stat -i'], '/proc/self/fd/1', '--', *WORK, stdout=out, stderr=subprocess.PIPE)
    assert done.returncode == 0 and 'task-clock' in (tmp_path / 'out').read_text(), done.stderr
