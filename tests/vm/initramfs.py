# SPDX-License-Identifier: Apache-2.0
"""The small first file system of a guest: busybox, the modules that it needs to see our
folders, and `init`, which runs what it finds there."""
import gzip
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import tempfile

from .archive import CACHE, Unavailable, locked

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ('virtio_pci', '9pnet_virtio', '9p', 'overlay')
OPEN = {'.ko': open, '.xz': lzma.open, '.gz': gzip.open}


class Modules:
    """The modules of an unpacked kernel, by name."""

    def __init__(self, kernel):
        self.paths = {}
        for folder, _, names in os.walk(os.path.join(kernel, 'usr/lib/modules')):
            for name in names:
                found = re.fullmatch(r'(.*)\.ko(\.xz|\.gz|\.zst)?', name)
                if found:
                    self.paths[found.group(1).replace('-', '_')] = os.path.join(folder, name)
        if not self.paths:
            raise Unavailable(f'no modules in {kernel}')

    def bytes(self, name):
        path = self.paths[name]
        opener = OPEN.get(os.path.splitext(path)[1])
        if not opener:
            raise Unavailable(f'can\'t read the module {os.path.basename(path)}')
        with opener(path, 'rb') as f:
            return f.read()

    def ordered(self, wanted):
        """(name, bytes) of `wanted` and what they depend on, each after what it needs. What
        is no module here is built into the kernel."""
        done = {}

        def add(name):
            name = name.replace('-', '_')
            if name in done or name not in self.paths:
                return
            data = self.bytes(name)
            depends = re.search(rb'\0depends=([^\0]*)\0', data)
            for other in (depends.group(1).decode().split(',') if depends else []):
                add(other)
            done[name] = data

        for name in wanted:
            add(name)
        return list(done.items())


def make(version, kernel, extra=()):
    """Path of the initramfs for an unpacked kernel, made once. extra: further modules."""
    with open(os.path.join(HERE, 'init'), 'rb') as f:
        init = f.read()
    wanted = MODULES + tuple(extra)
    with open(__file__, 'rb') as f:         # what was packed otherwise is packed anew
        key = hashlib.sha256(f.read() + init + ' '.join(wanted).encode()).hexdigest()[:8]
    here = os.path.join(CACHE, 'initramfs')
    path = os.path.join(here, f'{version}-{key}.cpio.gz')
    with locked(here):
        if not os.path.exists(path):
            pack(path, init, Modules(kernel).ordered(wanted),
                 os.path.join(kernel, 'usr/bin/busybox'))
    return path


def pack(path, init, modules, busybox):
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)            # it becomes / of the guest, also for nobody
        for folder in 'bin dev proc sys tmp mods host root'.split():
            os.mkdir(os.path.join(top, folder))
        shutil.copy(busybox, os.path.join(top, 'bin/busybox'))
        with open(os.path.join(top, 'init'), 'wb') as f:
            f.write(init)
        os.chmod(os.path.join(top, 'init'), 0o755)
        for i, (name, data) in enumerate(modules):
            with open(os.path.join(top, 'mods', f'{i:02}-{name}.ko'), 'wb') as f:
                f.write(data)
        done = subprocess.run('find . | cpio -o -H newc --quiet -R 0:0 | gzip -1', shell=True,
                              cwd=top, stdout=subprocess.PIPE, check=True)
    with open(f'{path}.part', 'wb') as f:
        f.write(done.stdout)
    os.rename(f'{path}.part', path)
