# SPDX-License-Identifier: Apache-2.0
"""What the attacks share: a folder as /tmp is, a caller of sudo, and somebody else."""
import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import time

import pytest

from frame import requires

CALLER, STRANGER = pwd.getpwnam('nobody'), pwd.getpwnam('daemon')
PATIENCE = 180     # s: beside other load


def pytest_collection_modifyitems(items):
    reason = requires.why_not('root')
    for item in items:
        if reason and 'security' in item.path.parts:
            item.add_marker(pytest.mark.skip(reason=reason))


def folder_with(mode):
    path = pathlib.Path(tempfile.mkdtemp(prefix='perf-prof-security-'))
    os.chmod(path, mode)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def folder():
    """Root's, and everybody may look into it; pytest's own are root's alone."""
    yield from folder_with(0o755)


@pytest.fixture
def caller():
    """Keywords of subprocess.run() for a program that an unprivileged user runs."""
    return {'user': CALLER.pw_uid, 'group': CALLER.pw_gid, 'extra_groups': []}


@pytest.fixture
def sticky():
    """Everybody may write there, and remove what is theirs."""
    yield from folder_with(0o1777)


def sudo(user=CALLER):
    """The environment that sudo makes for its caller."""
    return {**os.environ, 'SUDO_UID': str(user.pw_uid), 'SUDO_GID': str(user.pw_gid), 'SUDO_USER': user.pw_name}


def as_root():
    return {name: value for name, value in os.environ.items() if not name.startswith('SUDO_')}


def run(*words, **more):
    """The ended process, and what it said."""
    if 'stdout' not in more:
        more.setdefault('capture_output', True)
    return subprocess.run([str(word) for word in words], text=True, timeout=PATIENCE, **more)


@contextlib.contextmanager
def running(*argv, **more):
    """A process that is killed at the end."""
    with subprocess.Popen(argv, **{'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, **more}) as process:
        try:
            yield process
        finally:
            process.kill()


def helper(build, folder):
    """A copy of the program whose functions have names, with a name of its own."""
    program = os.path.join(build, 'tests/helpers/callers')
    if not os.path.exists(program):
        pytest.skip('needs the helper callers')
    return pathlib.Path(shutil.copy(program, folder / f'shut{os.getpid()}'))


def wait_until(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'in vain'
        time.sleep(0.01)


def given(path, owner):
    """The path, which belongs to that user now."""
    os.chown(path, owner.pw_uid, owner.pw_gid)
    return path


def link(path, target, owner):
    path.symlink_to(target)
    os.lchown(path, owner.pw_uid, owner.pw_gid)
    return path
