#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts events of a command and of all that it starts, as `perf stat` does.

    pyperf_count.py task-clock,page-faults make -j4
"""
import os
import sys

import pyperf

events, command = ''.join(sys.argv[1:2]), sys.argv[2:]
if command[:1] == ['--']:
    del command[0]
if not command or events.startswith('-'):
    sys.exit('usage: pyperf_count.py EVENT[,EVENT...] [--] COMMAND [ARGUMENT...]')

# The child waits until its events are open; they count from its exec on.
go, stop = os.pipe()
child = os.fork()
if not child:
    os.close(stop)
    os.read(go, 1)
    os.execvp(command[0], command)

counters = [pyperf.Event(one, pid=child, inherit=1, disabled=1, enable_on_exec=1)
            for one in pyperf.parse(events)]
os.close(stop)
_, status = os.waitpid(child, 0)

for counter in counters:
    count = counter.read()
    note = '' if count.share == 1 else f'  (seen {count.share:.0%} of the time)'
    print(f'{count.value:>16,}  {counter.label}{note}')
sys.exit(os.waitstatus_to_exitcode(status))
