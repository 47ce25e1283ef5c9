# SPDX-License-Identifier: Apache-2.0
"""This process and all that it starts see a machine without hardware counters: in sysfs, of which they get
a mount namespace of their own, and in perf_event_open(2), by a preloaded library. Needs root and a C compiler.

What it can't reach: statically linked programs, and those whose environment has lost LD_PRELOAD."""
import ctypes
import os
import subprocess
import tempfile

DEVICES = '/sys/bus/event_source/devices'
# What a machine without a PMU has; all other sources of events count by the CPU's hardware.
KEPT = ('breakpoint', 'kprobe', 'msr', 'power', 'software', 'tracepoint', 'uprobe')
CLONE_NEWNS = 0x20000
SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'helpers', 'hide_pmu.c')


class NotHidden(Exception):
    """Says why."""


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise NotHidden(f'{" ".join(argv)}: {done.stderr.strip()}')


def hide_in_sysfs(kept):
    links = {name: os.readlink(os.path.join(DEVICES, name)) for name in os.listdir(DEVICES) if name in kept}
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        raise NotHidden(f'unshare: {os.strerror(ctypes.get_errno())}')
    run('mount', '--make-rprivate', '/')
    run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'nodev', DEVICES)
    for name, target in links.items():
        os.symlink(target, os.path.join(DEVICES, name))


def library(folder):
    """The preloaded library, where also other users may read it."""
    path = os.path.join(folder, 'hide_pmu.so')
    run('cc', '-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', path, SOURCE, '-ldl')
    os.chmod(folder, 0o755)
    return path


def hide(kept=KEPT):
    """The folder to keep until the end, as a context; NotHidden if that can't be done here. To be called
    before there is a thread."""
    folder = tempfile.TemporaryDirectory(prefix='perf-prof-no-pmu-')
    path = library(folder.name)
    hide_in_sysfs(kept)
    os.environ['LD_PRELOAD'] = ' '.join(filter(None, [os.environ.get('LD_PRELOAD'), path]))
    return folder
