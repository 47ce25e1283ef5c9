# SPDX-License-Identifier: Apache-2.0
"""A Python environment in which another user can put code that root would run."""
import os
import struct
import sys

import pytest

from security.conftest import CALLER, as_root, given, link, run

GROUP_AND_USER = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in (
    (1, 7, 0xffffffff), (2, 7, CALLER.pw_uid), (4, 5, 0xffffffff), (16, 7, 0xffffffff), (32, 5, 0xffffffff)))


def way(env):
    """bin/python3 leads through another user's folder."""
    theirs = env.parent / 'theirs'
    theirs.mkdir()
    link(theirs / 'python3', sys.executable, CALLER)
    given(theirs, CALLER)
    (env / 'bin/python3').unlink()
    (env / 'bin/python3').symlink_to('../../theirs/python3')
    return env / 'bin/../../theirs'


def acl(env):
    os.setxattr(env / 'bin', 'system.posix_acl_access', GROUP_AND_USER)
    return env / 'bin'


def pth(env):
    path = env / 'lib/python3.9/site-packages/theirs.pth'
    path.write_text('import os')
    return given(path, CALLER)


def folder_above(env):
    return given(env.parent, CALLER)


def loop(env):
    (env / 'bin/a').symlink_to('python3')
    (env / 'bin/python3').unlink()
    (env / 'bin/python3').symlink_to('a')
    return None


@pytest.mark.parametrize('attack', [None, way, acl, pth, folder_above, loop])
def test_what_another_user_can_change(prof, folder, attack):
    env = folder / 'env'
    for place in 'bin', 'lib/python3.9/site-packages':
        (env / place).mkdir(parents=True)
    (env / 'bin/python3').symlink_to('/usr/bin/env')     # it would print an error
    changed = attack and attack(env)
    done = run(prof, 'sql', '--venv', env, '-I', folder / 'x', 'SELECT 1', env=as_root())
    assert done.returncode
    assert (f'{changed} belongs to' in done.stderr) == bool(changed), done.stderr
