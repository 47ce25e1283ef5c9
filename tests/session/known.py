# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder have in common."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(ROOT, 'tests', 'data', 'perfdata')
RECORDING = os.path.join(CORPUS, 'amd64-6.12-several.data')
EVENT = 'syscalls:sys_enter_getppid'
PATIENCE = 60

sys.path.insert(0, CORPUS)
import foreign  # noqa: E402


def lossy():
    """A recording of two CPUs: 10 and 11 events were lost within it, and 4 at its end."""
    r = foreign.Recorder(False, 8)
    parts = foreign.IP | foreign.TID | foreign.TIME | foreign.CPU | foreign.PERIOD | foreign.IDENTIFIER
    records = []
    for time in range(1000, 1020, 2):
        for cpu in 0, 1:
            records.append(r.record(9, 2, r.pack('QQIIQIIQ', 12, 0x400000, 500, 500, time + cpu, cpu, 0, 1)))
        if time in (1004, 1010):
            cpu = time == 1010
            records.append(r.record(2, 0, r.pack('QQ', 12, 10 + cpu) + r.trailer(500, 500, time + 1, cpu, 12)))
    records.append(r.record(13, 0, r.pack('Q', 25) + r.trailer(0, 0, 0, 0, 12)))
    return foreign.file_of(r, [(r.attr(1, 0, parts, r.flags('disabled', 'sample_id_all')), [12], 'cpu-clock')], b''.join(records),
                           foreign.machine(r, 'x86_64'))
