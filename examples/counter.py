# SPDX-License-Identifier: Apache-2.0
"""How often does an event happen?

    perf-prof python -e sched:sched_wakeup -i 1000 counter.py
"""
count = 0
total = 0


def __sample__(event):
    global count
    count += 1


def __interval__():
    global count, total
    print(f"Events: {count}")
    total += count
    count = 0


def __exit__():
    print(f"Total: {total + count}")
