# SPDX-License-Identifier: Apache-2.0
"""What the attacks share: a folder as /tmp is, a caller of sudo, and somebody else."""
import os
import pathlib
import pwd
import shutil
import tempfile

import pytest

from frame import requires

CALLER, STRANGER = pwd.getpwnam('nobody'), pwd.getpwnam('daemon')


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


def link(path, target, owner):
    path.symlink_to(target)
    os.lchown(path, owner.pw_uid, owner.pw_gid)
    return path
