# SPDX-License-Identifier: Apache-2.0
"""Programs for guests: the static checks for any architecture, and the whole of perf-prof
for arm64, compiled against that architecture's Debian packages."""
import glob
import os
import re
import shutil
import subprocess

from frame.build import execute

from .archive import CACHE, Archive, Unavailable

COMPILERS = {'amd64': 'x86_64-linux-gnu-', 'arm64': 'aarch64-linux-gnu-',
             'riscv64': 'riscv64-linux-gnu-'}
CFLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-O1', '-g', '-Wall', '-Wextra', '-Wno-unused-parameter',
          '-Wno-missing-field-initializers', '-fno-strict-aliasing', '-static', '-pthread']
CROSS_FILE = '''# made by tests/vm/cross.py
[binaries]
c = ['{prefix}gcc', '--sysroot={root}']
ar = '{prefix}ar'
strip = '{prefix}strip'
pkgconfig = 'pkg-config'     # as Meson before 1.3 calls it
pkg-config = 'pkg-config'
[properties]
sys_root = '{root}'
pkg_config_libdir = '{root}/usr/lib/{triplet}/pkgconfig:{root}/usr/share/pkgconfig'
needs_exe_wrapper = true
[built-in options]
c_link_args = ['-Wl,-rpath-link={root}/usr/lib/{triplet}']
[host_machine]
system = 'linux'
cpu_family = '{family}'
cpu = '{family}'
endian = 'little'
'''


def compiler(arch):
    name = COMPILERS[arch] + 'gcc'
    if not shutil.which(name):
        raise Unavailable(f'needs {name}: tools/install-deps '
                          f'{"kernels" if arch == "riscv64" else "vm"}')
    return name


def checks(root, arch):
    """Path of the program of tests/vm/check for `arch`."""
    sources = [path for where in ('src/perfevent/**/*.c', 'tests/vm/check/*.c')
               for path in sorted(glob.glob(os.path.join(root, where), recursive=True))]
    folder = os.path.join(root, 'build-test', 'vm')
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, f'check-{arch}')
    execute(f'checks for {arch}',
            [compiler(arch)] + CFLAGS + ['-Isrc', '-Iinclude'] + sources + ['-o', program, '-lm'], root)
    return program


def packages(root):
    """What perf-prof and its C tests are compiled against and run with, by the names that
    tools/install-deps has for it."""
    done = subprocess.run([os.path.join(root, 'tools/install-deps'), '--list', 'build'],
                          capture_output=True, text=True, check=True)
    libraries = re.findall(r'^(?:lib\S+|uthash)-dev$', done.stdout, re.M)
    return libraries + ['libpython3-dev', 'python3-minimal', 'libcmocka-dev', 'busybox-static',
                        'dash', 'coreutils']


def suite_of_this_machine():
    """Debian's suite whose libraries fit our cross compiler."""
    with open('/etc/os-release') as f:
        fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', f.read(), re.M))
    return fields.get('VERSION_CODENAME', 'bookworm') if fields.get('ID') == 'debian' else 'bookworm'


def cross_file(project, arch='arm64'):
    """(cross file of meson, root whose packages it names) for the project's folder."""
    compiler(arch)
    root = Archive(suite_of_this_machine(), arch).root(packages(project))
    path = os.path.join(CACHE, f'{os.path.basename(root)}.cross')
    family = {'arm64': 'aarch64'}.get(arch, arch)
    with open(path, 'w') as f:
        f.write(CROSS_FILE.format(prefix=COMPILERS[arch], root=root, family=family,
                                  triplet=COMPILERS[arch][:-1]))
    return path, root


def program(builds, arch='arm64'):
    """(build folder, root to run it in) of perf-prof and its C tests."""
    path, root = cross_file(builds.root, arch)
    folder = os.path.join(builds.root, f'build-{arch}')
    forget_other_root(folder, root)
    return builds.get(f'build-{arch}', ['--cross-file', path, '-Dpython-bin=/usr/bin/python3', '-Doptimization=1',
                                            '-Dc_args=-Wno-format-truncation -g1']), root


def forget_other_root(folder, root):
    """Meson keeps the cross file of the first set-up: with other packages begin anew."""
    note = os.path.join(folder, 'made-for-root')
    if os.path.isdir(folder):
        try:
            with open(note) as f:
                if f.read() == root:
                    return
        except OSError:
            pass
        shutil.rmtree(folder)
    os.makedirs(folder)
    with open(note, 'w') as f:
        f.write(root)

