# SPDX-License-Identifier: Apache-2.0
"""A guest: a kernel under QEMU without virtualization (TCG), so it runs anywhere. It gets
commands, runs them and ends; what they said comes back through a shared folder."""
import glob
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from . import initramfs
from .archive import Archive, Unavailable

# Debian's name of the architecture -> how its guests start
MACHINES = {
    # On a busy host the kernel's test of the timer fails, and it panics; and taking the TSC
    # for unstable, it lets its clock stand still whenever a tick is late.
    'amd64': ('qemu-system-x86_64', ['-cpu', 'max'], 'ttyS0 no_timer_check tsc=reliable'),
    'arm64': ('qemu-system-aarch64', ['-machine', 'virt,gic-version=3', '-cpu', 'max,pauth=off'],
              'ttyAMA0'),
    'riscv64': ('qemu-system-riscv64', ['-machine', 'virt', '-cpu', 'rv64'], 'ttyS0'),
    'armhf': ('qemu-system-arm', ['-machine', 'virt,highmem=off', '-cpu', 'cortex-a15'], 'ttyAMA0'),
    'i386': ('qemu-system-i386', ['-cpu', 'max'], 'ttyS0 no_timer_check tsc=reliable'),
    's390x': ('qemu-system-s390x', ['-machine', 's390-ccw-virtio', '-cpu', 'max'], 'ttysclp0'),
}
# Virtual time from executed instructions: what makes the emulated PMU count them. With
# sleep=off, time would leap by minutes whenever the guest waits for a file of the host.
ICOUNT = ['-icount', 'shift=0,sleep=on']


@dataclass
class Done:
    """What came of a command. code is None if the guest ended before it did."""
    code: int = None
    out: str = ''
    err: str = ''


@dataclass
class Run:
    """What came of a guest."""
    commands: list
    seconds: float
    console: str
    dmesg: str

    def trouble(self):
        """None, or why not every command came to an end."""
        if all(done.code is not None for done in self.commands):
            return None
        return f'the guest ended early, after {self.seconds:.0f} s\n{self.console[-4000:]}'


def read(path):
    try:
        with open(path, errors='replace') as f:
            return f.read()
    except OSError:
        return ''


@dataclass
class Guest:
    suite: str                      # of Debian, for the kernel
    arch: str
    root: str = None                # folder that is the system; None = busybox only
    shares: dict = field(default_factory=dict)      # name -> folder, read-only at /name
    memory: int = 512               # MiB
    cpus: int = 1
    qemu: list = field(default_factory=list)        # more arguments
    append: str = ''                # to the kernel's command line
    modules: tuple = ()             # loaded before the commands

    def __post_init__(self):
        self.program, self.machine, self.console = MACHINES[self.arch]
        if not shutil.which(self.program):
            raise Unavailable(f'needs {self.program}: tools/install-deps vm')
        self.version, self.kernel = Archive(self.suite, self.arch).kernel()
        self.initrd = initramfs.make(self.version, self.kernel, self.modules)

    @property
    def release(self):
        """Linux 6.1, as (6, 1)."""
        return tuple(int(n) for n in self.version.split('-')[0].split('+')[0].split('.')[:2])

    def _image(self):
        for where in ('boot/vmlinu[xz]-*', 'usr/lib/modules/*/vmlinu[xz]'):
            for path in glob.glob(os.path.join(self.kernel, where)):
                return path
        raise Unavailable(f'no kernel in {self.kernel}')

    def _argv(self, share):
        append = f'console={self.console} panic=-1 quiet {self.append}'
        argv = [self.program] + self.machine + [
            '-accel', 'tcg', '-m', str(self.memory), '-smp', str(self.cpus), '-display', 'none',
            '-monitor', 'none', '-serial', f'file:{share}/console', '-no-reboot',
            '-nic', 'none', '-kernel', self._image(), '-initrd', self.initrd]
        argv += self._virtfs('host', share, '')
        if self.root:
            argv += self._virtfs('root', self.root, ',readonly=on')
            append += ' vm_root'            # before the others, which lie in it
        for name, folder in self.shares.items():
            argv += self._virtfs(name, folder, ',readonly=on')
            append += f' vm_share={name}'
        return argv + ['-append', append] + self.qemu

    @staticmethod
    def _virtfs(tag, folder, more):
        return ['-virtfs', f'local,path={folder},mount_tag={tag},security_model=none,'
                           f'multidevs=remap{more}']

    def run(self, commands, seconds=120):
        """Runs the shell commands one after the other, in /host, a folder of this run.
        After `seconds` the guest is ended."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix='perf-prof-vm.') as share:
            os.chmod(share, 0o755)
            for i, command in enumerate(commands):
                with open(os.path.join(share, f'{i:02}.cmd'), 'w') as f:
                    f.write(f'cd /host\n{command}\n')
            try:
                qemu = subprocess.run(self._argv(share), stdin=subprocess.DEVNULL, timeout=seconds,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                told = qemu.stdout
            except subprocess.TimeoutExpired:
                told = f'ended after {seconds} s\n'
            return Run([self._done(os.path.join(share, f'{i:02}')) for i in range(len(commands))],
                       time.monotonic() - start, read(os.path.join(share, 'console')) + told,
                       read(os.path.join(share, 'dmesg')))

    @staticmethod
    def _done(path):
        code = read(f'{path}.code').strip()
        return Done(int(code) if code else None, read(f'{path}.out'), read(f'{path}.err'))
