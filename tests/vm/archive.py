# SPDX-License-Identifier: Apache-2.0
"""Debian packages of another suite or architecture, fetched by an apt of its own: its
lists, its cache and its status lie in our cache folder, the machine's apt is untouched.
What was fetched once is kept, and looked for anew after a while."""
import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import time

CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'),
                     'perf-prof-vm')
KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
# Of a kernel's modules, those that no guest of ours can use and that take most room.
UNUSED = [f'--exclude=*/kernel/{d}/*' for d in (
    'drivers/gpu', 'drivers/media', 'drivers/net/wireless', 'drivers/net/ethernet',
    'drivers/infiniband', 'drivers/iio', 'drivers/staging', 'drivers/usb', 'sound')]
# Debian's kernels that are not called by their architecture.
FLAVOURS = {'i386': '686', 'armhf': 'armmp'}
DAYS_KEPT = 30              # then a newer kernel is looked for
FETCH_SECONDS = 300

APT_CONF = '''Dir::Etc::SourceList "{at}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State "{at}/state";
Dir::State::status "{at}/status";
Dir::Cache "{at}/cache";
APT::Architecture "{arch}";
APT::Architectures {{ "{arch}"; }};
APT::Sandbox::User "{user}";
APT::Install-Recommends "false";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "1";
Debug::NoLocking "true";
'''


class Unavailable(Exception):
    """Can't be had here; the text says what and why. A reason to skip."""


def mirror():
    """Where this machine gets Debian from, or where everyone can."""
    done = subprocess.run(['apt-get', 'indextargets', '--format', '$(REPO_URI)',
                           'Created-By: Packages', 'Origin: Debian', 'Label: Debian'],
                          capture_output=True, text=True)
    return (done.stdout.split() or ['http://deb.debian.org/debian'])[0]


@contextlib.contextmanager
def locked(path, how=fcntl.LOCK_EX):
    """Several runs share the cache: one at a time makes what is in `path`."""
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, '.lock'), 'w') as lock:
        fcntl.flock(lock, how)
        yield lock


def young(path):
    return os.path.exists(path) and time.time() - os.path.getmtime(path) < DAYS_KEPT * 86400


def unpack(debs, folder):
    """The files of the packages under `folder`, as a merged /usr has them."""
    for name in ('bin', 'sbin', 'lib', 'lib64'):
        os.makedirs(os.path.join(folder, 'usr', name), exist_ok=True)
        if not os.path.lexists(os.path.join(folder, name)):
            os.symlink(f'usr/{name}', os.path.join(folder, name))
    for deb in debs:
        data = subprocess.Popen(['dpkg-deb', '--fsys-tarfile', deb], stdout=subprocess.PIPE)
        done = subprocess.run(['tar', '-x', '-C', folder, '--keep-directory-symlink',
                               '--no-same-owner', '--exclude=./dev/*'] + UNUSED,
                              stdin=data.stdout, capture_output=True, text=True)
        if data.wait() or done.returncode:
            raise Unavailable(f'can\'t unpack {os.path.basename(deb)}: {done.stderr.strip()}')


class Archive:
    """The packages of one suite for one architecture."""

    def __init__(self, suite, arch):
        self.suite, self.arch = suite, arch
        self.at = os.path.join(CACHE, 'apt', f'{suite}-{arch}')
        self.updated = False

    def _apt(self, *argv, cwd=None):
        env = {**os.environ, 'APT_CONFIG': os.path.join(self.at, 'apt.conf'), 'LC_ALL': 'C'}
        try:
            done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=FETCH_SECONDS)
        except FileNotFoundError:
            raise Unavailable('needs apt, to fetch Debian kernels') from None
        except subprocess.TimeoutExpired:
            raise Unavailable(f'needs packages of Debian {self.suite} ({argv[1]} took longer '
                              f'than {FETCH_SECONDS} s)') from None
        if done.returncode:
            told = [line for line in done.stderr.splitlines() if line.startswith('E:')]
            raise Unavailable(f'needs packages of Debian {self.suite} {self.arch} '
                              f'({told[0][3:] if told else "apt failed"})')
        return done.stdout

    def _update(self):
        if self.updated:
            return
        if not os.path.exists(KEYRING):
            raise Unavailable(f'needs {KEYRING} (package debian-archive-keyring)')
        for name in ('state/lists/partial', 'cache/archives/partial', 'debs'):
            os.makedirs(os.path.join(self.at, name), exist_ok=True)
        user = 'root' if os.geteuid() == 0 else ''
        for name, text in (('status', ''),
                           ('apt.conf', APT_CONF.format(at=self.at, arch=self.arch, user=user)),
                           ('sources.list',
                            f'deb [signed-by={KEYRING}] {mirror()} {self.suite} main\n')):
            with open(os.path.join(self.at, name), 'w') as f:
                f.write(text)
        self._apt('apt-get', '-qq', 'update')
        self.updated = True

    def _depends(self, name, pattern):
        out = self._apt('apt-cache', 'depends', '--important', name)
        return re.findall(rf'^ +Depends: ({pattern})$', out, re.M)

    def _closure(self, name, pattern):
        """`name` and all it depends on whose names match."""
        names, at = [name], 0
        while at < len(names):
            names += [n for n in self._depends(names[at], pattern) if n not in names]
            at += 1
        return names

    def _download(self, names):
        """Paths of the packages."""
        folder = os.path.join(self.at, 'debs')
        paths = []
        for name in names:
            for old in glob.glob(os.path.join(folder, f'{name}_*.deb')):
                os.unlink(old)
            self._apt('apt-get', '-qq', 'download', name, cwd=folder)
            paths += glob.glob(os.path.join(folder, f'{name}_*.deb'))
        return paths

    def _make(self, folder, fetch, finish=None):
        """`folder` with what fetch() names unpacked, complete or not at all."""
        fresh = f'{folder}.part'
        shutil.rmtree(fresh, ignore_errors=True)
        debs = fetch()
        unpack(debs, fresh)
        for deb in debs:
            os.unlink(deb)
        if finish:
            finish(fresh)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(fresh, folder)

    def kernel(self):
        """(version, folder with boot/, usr/lib/modules/ and busybox) of the suite's newest
        kernel."""
        here = os.path.join(CACHE, 'kernels', f'{self.suite}-{self.arch}')
        note = os.path.join(here, 'current')
        with locked(here):
            if not young(note):
                try:
                    self._fetch_kernel(here, note)
                except Unavailable:
                    if not os.path.exists(note):    # an old one is better than none
                        raise
            with open(note) as f:
                version = f.read().strip()
        return version, os.path.join(here, version)

    def _fetch_kernel(self, here, note):
        self._update()
        names = self._closure(f'linux-image-{FLAVOURS.get(self.arch, self.arch)}',
                              r'linux-(?:image|binary|modules)-\S+')
        if len(names) < 2:
            raise Unavailable(f'Debian {self.suite} has no kernel for {self.arch}')
        version = re.sub(r'^linux-(image|binary|modules)-', '', names[1])
        if not os.path.isdir(os.path.join(here, version)):
            self._make(os.path.join(here, version),
                       lambda: self._download(names[1:] + ['busybox-static']))
        with open(note, 'w') as f:
            print(version, file=f)
        for old in os.listdir(here):
            if old not in (version, 'current', '.lock'):
                shutil.rmtree(os.path.join(here, old))

    def root(self, packages):
        """A folder with `packages` and all they depend on: to compile against, and to be a
        guest's root. No maintainer script has run there."""
        key = hashlib.sha256(' '.join(['1'] + sorted(packages)).encode()).hexdigest()[:8]
        here = os.path.join(CACHE, 'roots', f'{self.suite}-{self.arch}-{key}')
        with locked(os.path.dirname(here)):
            if not os.path.isdir(here):
                self._update()
                self._make(here, lambda: self._with_dependencies(packages), self._people)
        return here

    def _people(self, folder):
        """The users that maintainer scripts would have made."""
        for name, lines in (('passwd', 'root:x:0:0:root:/root:/bin/sh\n'
                                       'nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n'),
                            ('group', 'root:x:0:\nnogroup:x:65534:\n')):
            with open(os.path.join(folder, 'etc', name), 'w') as f:
                f.write(lines)

    def _with_dependencies(self, packages):
        folder = os.path.join(self.at, 'cache/archives')
        self._apt('apt-get', '-qq', '-y', '--download-only', 'install', *packages)
        return glob.glob(os.path.join(folder, '*.deb'))
