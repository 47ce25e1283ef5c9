# SPDX-License-Identifier: Apache-2.0
"""The .deb packages, built on this system and in the root of Debian 13 that frame/debian.py keeps, each in a copy of our tree
that is kept, too; and clean roots of both, of which a test changes a copy in memory, with all that is mounted there."""
import contextlib
import glob
import os
import platform
import shutil
import subprocess

import pytest

from frame import debian, requires
from vm.archive import CACHE, Unavailable, locked, young

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = platform.freedesktop_os_release().get('VERSION_CODENAME') if os.path.exists('/etc/debian_version') else None
PLACE = os.path.join(CACHE, 'debs')
NAMES = 'perf-prof', 'libperfevent0', 'libperfevent-dev', 'python3-perf-prof'
# What was compiled the last time stays: it takes most of the time. Nobody debugs these packages.
BUILD = '''set -e
cd "$1" && rm -f ../*.deb ../*.changes && dh_clean
export DEB_CFLAGS_STRIP=-g DEB_BUILD_OPTIONS="nocheck noopt noautodbgsym terse parallel=2"
dpkg-buildpackage -b -nc -us -uc'''
# $1 is the root, $2 an empty folder, $3 the folder of the packages; what follows runs in the copy.
LAYER = '''set -e
base=$1 over=$2 debs=$3; shift 3
mount -t tmpfs tmp "$over"; cd "$over"; mkdir up work root
mount -t overlay overlay -o "lowerdir=$base,upperdir=up,workdir=work" root
mkdir root/debs; cp "$debs"/*.deb root/debs
exec "$@"'''
FETCH = '''export DEBIAN_FRONTEND=noninteractive
get() { apt-get -q -y --download-only install /debs/*.deb; }
get || { apt-get -q update && get; }'''


def run(argv, **more):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, errors='replace', timeout=1200, **more)


def done_well(argv):
    done = run(argv)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


class Copy:
    """A root in memory, as long as the process that holds it lives."""

    def __init__(self, base, debs, folder):
        inside = debian.inside(f'{folder}/root', 'sh', '-c', 'echo ready; exec cat')
        self.holder = subprocess.Popen(['unshare', '-m', 'sh', '-c', LAYER, 'sh', base, folder, debs, *inside],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == 'ready\n'

    def argv(self, script):
        return ['nsenter', '-t', str(self.holder.pid), '-m', 'env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root',
                'LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive', 'sh', '-ec', f'cd /root; {script}']

    def run(self, script):
        return done_well(self.argv(script))

    def files(self):
        """All but what apt and dpkg keep of their own work."""
        return set(self.run('find / -xdev -path /var/lib/dpkg -prune -o -path /var/lib/apt -prune -o -path /var/cache -prune '
                            '-o -path /var/log -prune -o -path /debs -prune -o -print').splitlines())

    def close(self):
        self.holder.communicate()


def built(release, stack):
    """The folder of the packages for a release of Debian."""
    to, tree, script = '', os.path.join(PLACE, 'built/perf-prof'), BUILD
    if release != HERE:
        to, tree = stack.enter_context(debian.made(release, ROOT)), '/home/debs/perf-prof'
        script = f'"$1"/tools/install-deps build && "$1"/tools/install-deps deb\n{BUILD}'
    debian.copy(ROOT, to + tree, f'{to}{tree}.copied')
    if not to:
        lacks = run(['dpkg-checkbuilddeps', f'{tree}/debian/control'])
        if lacks.returncode:
            pytest.skip(f'needs what tools/install-deps deb installs ({lacks.stderr.strip()})')
    argv = ['sh', '-c', script, 'sh', tree]
    done_well(debian.inside(to, *argv) if to else argv)
    return os.path.dirname(to + tree)


def clean(release, debs):
    """The folder of a clean root; apt has already fetched what the packages depend on."""
    base = os.path.join(PLACE, release)
    if not young(os.path.join(base, 'made')):
        shutil.rmtree(base, ignore_errors=True)
        shutil.rmtree(f'{base}.part', ignore_errors=True)
        debian.begin(release, f'{base}.part')
        os.rename(f'{base}.part', base)
    shutil.rmtree(f'{base}/debs', ignore_errors=True)
    os.mkdir(f'{base}/debs')
    for path in glob.glob(f'{debs}/*.deb'):
        shutil.copy(path, f'{base}/debs')
    debian.done_well(f'packages of {release}', debian.inside(base, 'sh', '-c', FETCH))
    shutil.rmtree(f'{base}/debs')
    return base


@pytest.fixture(scope='module', params=sorted({HERE or 'bookworm', 'trixie'}))
def release(request):
    return request.param


@pytest.fixture(scope='module')
def debs(release):
    """The folder with the packages."""
    if not HERE:
        pytest.skip('needs Debian')
    for word in 'root', 'program:debootstrap', 'program:dpkg-buildpackage', 'program:nsenter', 'unshare':
        if requires.why_not(word):
            pytest.skip(requires.why_not(word))
    with contextlib.ExitStack() as stack:
        stack.enter_context(locked(os.path.join(PLACE, f'{release}.lock')))
        try:
            yield built(release, stack)
        except Unavailable as unavailable:
            pytest.skip(f'needs packages of Debian {release} ({unavailable})')


@pytest.fixture(scope='module')
def root(release, debs, tmp_path_factory):
    """A clean root in which the packages are installed; root.before: the files of a root that has what they depend on."""
    try:
        base = clean(release, debs)
    except Unavailable as unavailable:
        pytest.skip(f'needs packages of Debian {release} ({unavailable})')
    copy = Copy(base, debs, tmp_path_factory.mktemp('over'))
    try:
        listed = copy.run('apt-get -s install /debs/*.deb')
        needed = {line.split()[1] for line in listed.splitlines() if line.startswith('Inst ')} - set(NAMES)
        copy.run(f'apt-get -q -y --no-install-recommends install {" ".join(sorted(needed))}')
        copy.before = copy.files()
        copy.run('apt-get -q -y install /debs/*.deb')
        yield copy
    finally:
        copy.close()
