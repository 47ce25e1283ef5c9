# SPDX-License-Identifier: Apache-2.0
"""Runs a command for which, and for whose children, this kernel has no events: perf_event_open(2) fails with EPERM,
as in a container. `make check` runs so, and what needs the kernel is found there, not on somebody else's machine.

    python3 tests/frame/nokernel.py COMMAND [ARGUMENT...]"""
import ctypes
import errno
import os
import platform
import struct
import sys

# System call numbers by machine; the generic table (arm64, riscv64, …) has 241.
PERF_EVENT_OPEN = {'x86_64': 298, 'i686': 336, 's390x': 331, 'ppc64le': 319, 'armv7l': 364}
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06      # instructions of BPF: a word, a jump, the verdict
ALLOW, ERRNO = 0x7fff0000, 0x00050000


def number():
    return PERF_EVENT_OPEN.get(platform.machine(), 241)


def deny():
    """From now on, in this process and its children."""
    code = b''.join(struct.pack('=HBBI', *one) for one in (
        (LOAD, 0, 0, 0), (EQUAL, 0, 1, number()), (RETURN, 0, 0, ERRNO | errno.EPERM), (RETURN, 0, 0, ALLOW)))
    instructions = ctypes.create_string_buffer(code, len(code))
    program = struct.pack('@HP', len(code) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid():
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), 'seccomp')


if __name__ == '__main__':
    deny()
    os.execvp(sys.argv[1], sys.argv[1:])
