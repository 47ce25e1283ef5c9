#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long does a system call take in a command? A histogram for each of its programs.

    call_times.py read tar -cf /dev/null /etc
"""
import collections
import itertools
import sys

import perf_prof

call, command = sys.argv[1], sys.argv[2:]
enter, leave = f'syscalls:sys_enter_{call}', f'syscalls:sys_exit_{call}'
times = f'histogram(pair("{enter}", "{leave}", _tid), "log2")'

with perf_prof.Session([enter, leave], command=command, fields=['_time', '_tid', '_comm']) as session:
    sums = session.aggregate('_comm', {'ns': times})
    rows = list(sums.events())

lost = collections.Counter()
for gap in sums.losses:
    lost[gap.cause] += gap.count
for cause, count in lost.items():
    print(f'{count:,} events are not in it ({cause})', file=sys.stderr)
rows = sorted((row for row in rows if row._lost is None), key=lambda row: (row._comm or '', row.ns_low))
most = max((row.ns for row in rows), default=0)
for comm, buckets in itertools.groupby(rows, key=lambda row: row._comm):
    print(comm)
    for row in buckets:
        print(f'{row.ns_low:>14,} - {row.ns_high:>13,} ns {row.ns:>9,}  {"*" * -(-40 * row.ns // most)}')
sys.exit(session.returncode)
