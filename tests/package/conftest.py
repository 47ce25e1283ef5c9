# SPDX-License-Identifier: Apache-2.0
"""libperfevent as a user gets it: installed into a folder, found by pkg-config."""
import glob
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from frame import requires

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tools'))

C = ['cc', '-O2', '-g', '-Wall', '-Wextra', '-Wpedantic', '-Werror']


def run(argv, env=None, timeout=60, text_in='', **more):
    return subprocess.run([str(a) for a in argv], env={**os.environ, **(env or {})}, input=text_in,
                          timeout=timeout, capture_output=True, text=True, errors='replace', **more)


class Tree:
    """What `meson install` put below `root`."""

    def __init__(self, root):
        self.root = str(root)
        pc, = glob.glob(self.root + '/**/libperfevent.pc', recursive=True)
        self.pkgconfig = os.path.dirname(pc)
        self.lib = os.path.dirname(self.pkgconfig)
        self.man, = glob.glob(self.root + '/**/man', recursive=True)
        self.include = os.path.dirname(
            glob.glob(self.root + '/**/include/perfevent.h', recursive=True)[0])
        self.so = os.path.join(self.lib, 'libperfevent.so')
        self.env = {'PKG_CONFIG_PATH': self.pkgconfig, 'PKG_CONFIG_SYSROOT_DIR': self.root,
                    'LD_LIBRARY_PATH': self.lib}

    def flags(self, *options):
        done = run(['pkg-config', *options, 'libperfevent'], self.env)
        assert done.returncode == 0, done.stderr
        return shlex.split(done.stdout)

    def compile(self, source, program, compiler=tuple(C), static=False):
        """As a user would: cc source $(pkg-config --cflags --libs libperfevent)."""
        flags = self.flags('--cflags', '--libs', *(['--static'] if static else []))
        if static:
            flags = ['-l:libperfevent.a' if f == '-lperfevent' else f for f in flags]
        done = run([*compiler, source, '-o', program, *flags])
        assert done.returncode == 0, done.stderr
        return str(program)

    def run(self, program, *args, **more):
        return run([program, *args], self.env, **more)


def need(*words):
    """Skips the test, with the reason, where the machine lacks something."""
    for word in words:
        if word.startswith('pmu:'):
            why = None if os.path.isdir(f'/sys/bus/event_source/devices/{word[4:]}') else \
                f'needs the PMU {word[4:]} (CONFIG_KPROBE_EVENTS and the like)'
        else:
            why = requires.why_not(word)
        if why:
            pytest.skip(why)


@pytest.fixture(scope='session')
def installed(build, tmp_path_factory):
    """What `meson install` puts into a folder. It writes a log into the build folder, which may be another user's: this is
    one of links, with a place of its own for the log."""
    if not shutil.which('meson'):
        pytest.skip('needs the program meson')
    links, root = tmp_path_factory.mktemp('build'), tmp_path_factory.mktemp('installed')
    for name in set(os.listdir(build)) - {'meson-logs', 'meson-private'}:
        os.symlink(os.path.join(build, name), links / name)
    (links / 'meson-logs').mkdir()
    shutil.copytree(os.path.join(build, 'meson-private'), links / 'meson-private')
    done = run(['meson', 'install', '-C', links, '--no-rebuild'], {'DESTDIR': str(root)})
    assert done.returncode == 0, done.stdout + done.stderr
    return Tree(root)
