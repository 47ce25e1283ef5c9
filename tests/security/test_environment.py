# SPDX-License-Identifier: Apache-2.0
"""A Python environment in which another user can put code that root would run, and what a script gets of root's own."""
import json
import os
import struct
import sys

import pytest

from security.conftest import CALLER, as_root, given, link, run, sudo

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


LOOK = """
import json, os, sys
texts = open('/proc/self/environ').read().split(chr(0))
sizes = [os.stat(f'/proc/self/fd/{n}').st_size for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')]
print('saw', json.dumps([dict(os.environ), [t.partition('=')[0] for t in texts if t], sizes]))
def __init__(): sys.exit(3)
def __sample__(e): pass
"""
ROOTS = {'SECRET': 's', 'XDG_RUNTIME_DIR': '/run/user/0', 'SSH_AUTH_SOCK': '/root/s', 'PATH': os.environ['PATH'] + ':/root/bin'}
KEPT = {'LANG': 'C.UTF-8', 'LC_TIME': 'C', 'TERM': 'xterm', 'TZ': 'UTC', 'PYTHONPATH': '/usr/nothing'}
THEIRS = {'HOME': CALLER.pw_dir, 'USER': CALLER.pw_name, 'LOGNAME': CALLER.pw_name, 'SHELL': CALLER.pw_shell}


@pytest.mark.live
@pytest.mark.parametrize('how', ['user', 'user and sudo', 'sudo'])
def test_what_the_shell_of_root_had(prof, folder, how):
    """Descriptors are gone but for those of -o and --record, and with --user the environment; sudo has made the one that its caller gets."""
    (folder / 's.py').write_text(LOOK)
    with open(folder / 'secret', 'w+b') as secret, open(folder / 'out', 'wb') as out, open(folder / 'record', 'wb') as record:
        secret.truncate(54321)
        record.truncate(98765)
        done = run(prof, 'python', *(['--user', CALLER.pw_name] if 'user' in how else []), '-e', 'cpu-clock', '-o', f'/dev/fd/{out.fileno()}',
                   '--record', f'/dev/fd/{record.fileno()}', folder / 's.py',
                   pass_fds=[secret.fileno(), out.fileno(), record.fileno()], env={**(sudo() if 'sudo' in how else as_root()), **ROOTS, **KEPT})
    assert done.returncode == 3, done.stderr
    names, texts, sizes = json.loads((folder / 'out').read_text().partition('saw ')[2])
    assert 54321 not in sizes and 98765 in sizes and {**names, **THEIRS, **KEPT} == names
    if how == 'sudo':
        assert names['SECRET'] == 's'
    else:
        assert set(names) - {'LC_CTYPE'} == {*THEIRS, *KEPT, 'PATH'} and 'root' not in names['PATH']
        assert set(texts) <= {*KEPT, 'COLUMNS', 'LINES', 'COLORTERM', 'LANGUAGE'}
