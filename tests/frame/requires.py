# SPDX-License-Identifier: Apache-2.0
"""What a test may require of the machine, each judged by trying or by capabilities,
never by uid: why_not("tracefs") is None, or the reason to skip."""
import ctypes
import functools
import os
import platform
import re
import shutil
import struct
import subprocess

from . import nokernel

PARANOID = '/proc/sys/kernel/perf_event_paranoid'
NOBODY = 65534
CAP_SYS_ADMIN, CAP_PERFMON = 21, 38


def has_capability(*numbers):
    with open('/proc/self/status') as status:
        effective = int(re.search(r'CapEff:\s*(\S+)', status.read()).group(1), 16)
    return any(effective >> n & 1 for n in numbers)


def root():
    return None if has_capability(CAP_SYS_ADMIN) else 'needs root (CAP_SYS_ADMIN)'


def cap_perfmon():
    if has_capability(CAP_SYS_ADMIN, CAP_PERFMON):
        return None
    return 'needs CAP_PERFMON'


def tracefs():
    try:
        with open('/sys/kernel/tracing/events/sched/sched_switch/id') as f:
            int(f.read())
        return None
    except OSError as error:
        return f'needs a readable tracefs ({error.strerror})'


def refusal(kind, flags, pid, cpu, how=0):
    """What the kernel says to event 0 of a type; None if it opens."""
    attr = struct.pack('=IIQQQQQ', kind, 64, 0, 0, 0, 0, flags).ljust(64, b'\0')
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(nokernel.number(),
                      ctypes.create_string_buffer(attr, 64), pid, cpu, -1, how)
    if fd < 0:
        return os.strerror(ctypes.get_errno())
    os.close(fd)
    return None


def events():
    """Can a task count events of its own?"""
    said = refusal(1, 1 | 1 << 5 | 1 << 6, 0, -1)
    return said and f'needs perf_event_open(2) ({said})'


def pmu():
    """Can a hardware counter of this task be opened?"""
    said = refusal(0, 1 | 1 << 5 | 1 << 6, 0, -1)
    return said and f'needs a hardware PMU ({said})'


def cgroup():
    """Can the root of the control groups be watched?"""
    with open('/proc/self/mounts') as f:
        mounts = [line.split() for line in f]
    found = sorted((m[2], m[1]) for m in mounts if m[2] == 'cgroup2' or
                   (m[2] == 'cgroup' and 'perf_event' in m[3].split(',')))
    if not found:
        return 'needs a mounted cgroup file system'
    folder = os.open(found[0][1], os.O_RDONLY)
    said = refusal(1, 1, folder, 0, 4)      # PERF_FLAG_PID_CGROUP
    os.close(folder)
    return said and f'needs control groups that perf can watch ({said})'


def no_pmu():
    return None if pmu() else 'needs a machine without a hardware PMU'


def kprobes():
    path = '/sys/kernel/tracing/kprobe_events'
    return None if os.path.exists(path) else 'needs kprobes (CONFIG_KPROBE_EVENTS)'


def msr():
    path = '/sys/bus/event_source/devices/msr/events/tsc'
    return None if os.path.exists(path) else 'needs the event source msr (x86)'


def no_kprobes():
    return None if kprobes() else 'needs a kernel without kprobes'


def perf():
    return program('perf')


def program(name):
    return None if shutil.which(name) else f'needs the program {name}'


def unshare():
    """A mount namespace of its own."""
    done = subprocess.run(['unshare', '-m', 'true'], capture_output=True, text=True)
    return None if done.returncode == 0 else f'needs unshare -m ({done.stderr.strip()})'


def nobody():
    done = subprocess.run(as_nobody(['true']), capture_output=True, text=True)
    return None if done.returncode == 0 else f'needs to become nobody ({done.stderr.strip()})'


READERS = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', 'session', 'readers', 'python'))


def arrow():
    done = subprocess.run(['/usr/bin/python3', '-c', 'import duckdb, polars, pyarrow'], capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': READERS})
    return None if done.returncode == 0 else 'needs pyarrow, Polars and DuckDB (tools/install-readers)'


def own_packages():
    """Root loads code from no place that others can change, as the clone of a user is."""
    folder = READERS
    while not os.geteuid() and folder != '/':
        owner = os.path.exists(folder) and os.stat(folder).st_uid
        if owner:
            return f'needs packages that only root can change: {folder} belongs to user {owner}'
        folder = os.path.dirname(folder)
    return None


def paranoid():
    try:
        with open(PARANOID) as f:
            level = f.read()
        with open(PARANOID, 'w') as f:
            f.write(level)
        return None
    except OSError as error:
        return f'needs to set perf_event_paranoid ({error.strerror})'


PROBES = {p.__name__: p for p in (events, root, cap_perfmon, tracefs, pmu, no_pmu, cgroup, kprobes, no_kprobes, msr, perf, unshare,
                                   nobody, arrow, own_packages, paranoid)}


def as_nobody(argv):
    return ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups',
            '--inh-caps=-all', '--'] + argv


def version(text):
    return tuple(int(n) for n in re.findall(r'\d+', text)[:2])


def of_the_kernel(word):
    """Whether what a test requires makes it `live`: any but programs and packages."""
    return word not in ('arrow', 'own_packages') and not word.startswith('program:')


@functools.lru_cache(None)
def why_not(word):
    """None if the machine has it, else the reason. ValueError for a word unknown here."""
    compare = re.fullmatch(r'(kernel|cpus)>=([\d.]+)', word)
    if compare and compare.group(1) == 'kernel':
        good = version(platform.release()) >= version(compare.group(2))
        return None if good else f'needs Linux {compare.group(2)}, this is {platform.release()}'
    if compare:
        have = len(os.sched_getaffinity(0))
        return None if have >= int(compare.group(2)) else f'needs {compare.group(2)} CPUs'
    if word.startswith('program:'):
        return program(word[len('program:'):])
    if word not in PROBES:
        raise ValueError(f"unknown requirement '{word}': {', '.join(sorted(PROBES))}, "
                         'kernel>=X.Y, cpus>=N, program:NAME')
    return PROBES[word]()
