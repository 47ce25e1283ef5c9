# SPDX-License-Identifier: Apache-2.0
"""`make check` in a root of another Debian, made by debootstrap from its packages alone, as an ordinary user. The root, its
packages and what was built there are kept in the cache of tests/vm; the tree is a copy of what git knows."""
import contextlib
import fcntl
import filecmp
import os
import re
import shutil
import subprocess

from vm.archive import CACHE, Unavailable, locked, mirror, young

from . import requires
from .execute import execute
from .result import FAILED, PASSED, SKIPPED, Result

WHO = 'tester'
TREE = f'/home/{WHO}/perf-prof'
# In a mount namespace of its own, so that nothing stays mounted; not by chroot(2), after which no user namespace can be made.
INSIDE = '''set -e
root=$1; shift
mount --bind "$root" "$root"
for dir in proc sys dev; do mkdir -p "$root/$dir"; mount --rbind "/$dir" "$root/$dir"; done
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cd "$root"; mkdir -p .old; pivot_root . .old; umount -l .old; exec /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
'''
# -O1 takes half the time to compile.
SETUP = "[ -e build-test/build.ninja ] || meson setup build-test -Doptimization=1 '-Dc_args=-g1 -Wno-format-truncation' >/dev/null"
CHECK = f'cd {TREE} && {{ {SETUP}; }} && chown -R {WHO} . && exec setpriv --reuid={WHO} --regid={WHO} --init-groups env HOME=/home/{WHO} make check'


def inside(root, *argv):
    return ['unshare', '-m', 'sh', '-c', INSIDE, 'sh', root, *argv]


def done_well(what, argv):
    code, out = execute(argv, '/')
    if code:
        raise Unavailable(f'{what}: {out.strip().splitlines()[-1] if out.strip() else f"exit code {code}"}')


@contextlib.contextmanager
def made(release, root):
    """The folder of such a root with what our tree needs. It stays while somebody uses it, and is made anew after a while."""
    here = os.path.join(CACHE, 'debian', release)
    with locked(os.path.join(CACHE, 'debian'), fcntl.LOCK_SH) as lock:
        if not young(os.path.join(here, 'made')):
            fcntl.flock(lock, fcntl.LOCK_EX)
            make(release, root, here)
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield here


def make(release, root, here):
    if not young(os.path.join(here, 'made')):       # nobody else has made it meanwhile
        fresh = f'{here}.part'
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            begin(release, fresh)
            install(root, fresh)
        except Unavailable:
            if not os.path.exists(os.path.join(here, 'made')):      # an old one is better than none
                raise
        else:
            shutil.rmtree(here, ignore_errors=True)
            os.rename(fresh, here)


def begin(release, here):
    done_well(f'debootstrap {release}', ['debootstrap', '--variant=minbase', release, here, mirror()])
    done_well('useradd', inside(here, 'useradd', '-m', '-K', 'HOME_MODE=0755', WHO))
    options = subprocess.run(['apt-config', 'dump'], capture_output=True, text=True).stdout
    with open(os.path.join(here, 'etc/apt/apt.conf.d/fetching'), 'w') as f:     # how this machine reaches its mirror
        f.write('\n'.join(re.findall(r'^Acquire::(?:https?|Check|Retries)\b.*', options, re.M)) + '\n')
    with open(os.path.join(here, 'made'), 'w'):
        pass


def install(root, here):
    copy(root, here + TREE, os.path.join(here, 'copied'))
    done_well(f'packages of {os.path.basename(here)}',
              inside(here, 'sh', '-c', f'cd {TREE} && tools/install-deps build && tools/install-deps test'))


def copy(root, tree, listed):
    """The files that git knows, beside what was made of them the last time: one with the same content stays as old as it is.
    listed: a file for their names."""
    os.makedirs(tree, exist_ok=True)
    names = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=root, capture_output=True,
                           check=True).stdout
    names = {name for name in names.split(b'\0') if name and os.path.exists(os.path.join(os.fsencode(root), name))}
    if os.path.exists(listed):
        with open(listed, 'rb') as f:
            gone = set(f.read().split(b'\0')) - names
        subprocess.run(['xargs', '-0', 'rm', '-f'], cwd=tree, input=b'\0'.join(gone), check=True)
    for name in map(os.fsdecode, names):
        of, to = os.path.join(root, name), os.path.join(tree, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.islink(of) or not os.path.exists(to) or os.stat(of).st_mode != os.stat(to).st_mode or not filecmp.cmp(of, to, False):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(to)
            shutil.copy(of, to, follow_symlinks=False)
    with open(listed, 'wb') as f:
        f.write(b'\0'.join(sorted(names)))


def run(label, root, release):
    lacks = requires.why_not('root') or requires.why_not('program:debootstrap') or requires.why_not('unshare')
    if lacks:
        yield Result(label, release, SKIPPED, lacks)
        return
    try:
        with made(release, root) as here, locked(os.path.join(CACHE, 'debian', f'{release}.check')):
            install(root, here)
            code, out = execute(inside(here, 'sh', '-c', CHECK), '/')
    except Unavailable as unavailable:
        yield Result(label, release, SKIPPED, f'needs packages of Debian {release} ({unavailable})')
        return
    yield from results(label, code, out)


def results(label, code, out):
    """One for all that passed inside, and each failure with what it says."""
    closing = re.search(r'^(\d+) passed, (\d+) failed, (\d+) skipped$', out, re.M)
    if closing and closing[1] != '0':
        yield Result(label, f'make check: {closing[0]}', PASSED)
    for block in re.findall(r'^FAILED (.*(?:\n    .*)*)', out, re.M):
        name, _, output = block.partition('\n')
        yield Result(label, name, FAILED, output=output)
    if not closing or (code and closing[2] == '0'):
        yield Result(label, 'make check', FAILED, f'exit code {code}', out)
