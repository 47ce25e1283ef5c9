# SPDX-License-Identifier: Apache-2.0
"""Is there a perf_event_open(2) at all? Judged by calling it. And tracefs, which a fresh machine has not
mounted: before the first test, so that none finds it missing that another one then mounts."""
import ctypes
import errno
import os
import platform
import struct
import subprocess

from . import nokernel
from .result import FAILED, PASSED, SKIPPED, Result

TRACEFS = '/sys/kernel/tracing'
PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY = 1, 9
DISABLED_EXCLUDE_KERNEL_HV = 1 | 1 << 5 | 1 << 6


def perf_event_open():
    """0, or the errno of opening the most harmless event there is on this task."""
    attr = struct.pack('=IIQQQQQ', PERF_TYPE_SOFTWARE, 64, PERF_COUNT_SW_DUMMY, 0, 0, 0,
                       DISABLED_EXCLUDE_KERNEL_HV).ljust(64, b'\0')
    buf = ctypes.create_string_buffer(attr, 64)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(nokernel.number(), buf, 0, -1, -1, 0)
    if fd < 0:
        return ctypes.get_errno()
    os.close(fd)
    return 0


def check(suite):
    yield perf_events(suite)
    yield tracefs(suite)


def perf_events(suite):
    code = perf_event_open()
    if code == errno.ENOSYS or not os.path.exists('/proc/sys/kernel/perf_event_paranoid'):
        return Result(suite, 'perf_event_open', FAILED, output=(
            f'Linux {platform.release()} here has no perf_event_open(2): '
            'CONFIG_PERF_EVENTS is off, or a sandbox hides it. No other test can run.'))
    # A refusal is for the tests to name: each says what it requires and skips.
    name = f'perf_event_open ({os.strerror(code)})' if code else 'perf_event_open'
    return Result(suite, name, PASSED)


def tracefs(suite):
    """Mounts it where that is needed and may be done; the result says so."""
    if os.path.exists(os.path.join(TRACEFS, 'events')):
        return Result(suite, 'tracefs', PASSED)
    if not os.access(TRACEFS, os.X_OK):
        return Result(suite, 'tracefs', SKIPPED, f'{TRACEFS} is for root alone, or this kernel has none')
    done = subprocess.run(['mount', '-t', 'tracefs', 'nodev', TRACEFS], capture_output=True, text=True)
    if done.returncode:
        return Result(suite, 'tracefs', SKIPPED, f'tracefs is not mounted on {TRACEFS}: {done.stderr.strip()}')
    print(f'mounted tracefs on {TRACEFS}')
    return Result(suite, 'tracefs (mounted)', PASSED)
