#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which processes does a command start, and which programs do they run? Uses asyncio.

    pyperf_tasks.py sh -c 'ls | wc -l'

The kernel maps no ring for an inherited event on all CPUs, so there is one event per CPU."""
import asyncio
import os
import sys

import pyperf

OPTIONS = dict(inherit=1, disabled=1, enable_on_exec=1, task=1, comm=1, comm_exec=1,
               watermark=1, wakeup_watermark=1, sample_id_all=1,
               sample_type=pyperf.PERF_SAMPLE_TID | pyperf.PERF_SAMPLE_TIME)


async def watch(ring, seen):
    async for record in ring:
        seen.append(record)


async def main(command):
    go, stop = os.pipe()
    os.set_inheritable(go, True)
    child = await asyncio.create_subprocess_exec(
        'sh', '-c', 'read line; exec "$@"', 'sh', *command, stdin=go)
    events = [pyperf.Event('dummy', child.pid, cpu, **OPTIONS) for cpu in os.sched_getaffinity(0)]
    rings = [pyperf.Ring(event, pages=16) for event in events]
    seen = []
    watchers = [asyncio.create_task(watch(ring, seen)) for ring in rings]
    os.write(stop, b'go\n')
    os.close(stop)
    await child.wait()
    await asyncio.gather(*watchers)         # each ends when its last task has ended

    seen.sort(key=lambda record: record.time)
    for record in seen:
        if record.name == 'FORK' and record.pid != record.ppid:
            print(f'{record.ppid} starts {record.pid}')
        elif record.name == 'COMM' and record.exec:
            print(f'{record.pid} runs {record.comm}')
        elif record.name == 'EXIT' and record.pid == record.tid:
            print(f'{record.pid} ends')


asyncio.run(main(sys.argv[1:]))
