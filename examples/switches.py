#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which tasks had the CPUs, for how long, and how often? Reads the CSV of a recording.

    perf-prof record -e sched:sched_switch -a -- sleep 5
    perf-prof script --csv -e sched:sched_switch | ./switches.py
"""
import csv
import sys
from collections import defaultdict

since, total, times = {}, defaultdict(int), defaultdict(int)
for row in csv.DictReader(sys.stdin):
    cpu, now = row['cpu'], int(row['time'])
    who = f'{row["prev_comm"]} {row["prev_pid"]}'
    if cpu in since:
        total[who] += now - since[cpu]
        times[who] += 1
    since[cpu] = now
print(f'{"task":<28}{"ms":>10}{"times":>8}')
for who in sorted(total, key=total.get, reverse=True)[:10]:
    print(f'{who:<28}{total[who] / 1e6:>10.3f}{times[who]:>8}')
