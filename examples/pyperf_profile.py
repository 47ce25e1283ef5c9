#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In which library does your Python code spend its time?

    pyperf_profile.py

Samples this thread 2000 times a second of its CPU time while work() runs."""
import bisect
import collections
import hashlib
import json

import pyperf


def work():
    for _ in range(60):
        json.loads(json.dumps([list(range(2000))] * 20))
        hashlib.sha256(bytes(4 << 20)).digest()


def mappings():
    """Executable mappings of this process: their ends, and (start, path)."""
    rows = []
    with open('/proc/self/maps') as maps:
        for line in maps:
            span, mode, _, _, _, *path = line.split(maxsplit=5)
            if 'x' in mode:
                start, end = (int(address, 16) for address in span.split('-'))
                rows.append((end, start, path[0].strip() if path else 'anonymous'))
    return sorted(rows)


# every 500,000 ns of CPU time; a frequency could exceed kernel.perf_event_max_sample_rate
with pyperf.Event('cpu-clock', sample_period=500_000) as event, pyperf.Ring(event) as ring:
    work()
    event.disable()
    samples = list(ring)

rows = mappings()
ends = [end for end, _, _ in rows]
where = collections.Counter()
for sample in samples:
    if not isinstance(sample, pyperf.Sample):
        continue
    at = bisect.bisect_right(ends, sample.ip)
    inside = at < len(rows) and rows[at][1] <= sample.ip
    where[rows[at][2] if inside else f'({sample.cpu_mode})'] += 1

total = sum(where.values())
for path, n in where.most_common(8):
    print(f'{n / total:6.1%}  {path}')
print(f'{total} samples')
