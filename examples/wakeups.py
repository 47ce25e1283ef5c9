# SPDX-License-Identifier: Apache-2.0
"""Who is woken, how often, and on which CPUs? Who wakes whom?

    perf-prof python -e sched:sched_wakeup -i 1000 wakeups.py
    perf-prof python -e sched:sched_wakeup -i 1000 -- wakeups.py --top 5
"""
import argparse
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO

parser = argparse.ArgumentParser()
parser.add_argument("--top", type=int, default=10, help="rows to print")
options = parser.parse_args()

woken = Counter()       # (comm, tid)
cpus = {}               # (comm, tid) -> set of CPUs
wakers = Counter()      # (waker's tid, woken comm)
names = {}              # waker's tid -> its name


def name_of_waker(event):
    """The event's fields tell who is woken. What print() writes begins with who ran: the waker."""
    with redirect_stdout(StringIO()) as line:
        event.print(timestamp=False, callchain=False)
    return line.getvalue()[:16].strip()


def sched__sched_wakeup(event):
    key = event.comm, event.pid
    woken[key] += 1
    cpus.setdefault(key, set()).add(event.target_cpu)
    wakers[event._tid, event.comm] += 1
    if event._tid not in names:
        names[event._tid] = name_of_waker(event)


def __interval__():
    print(f"{'COMM':<16} {'PID':>8} {'COUNT':>8}  CPUS")
    for (comm, pid), n in woken.most_common(options.top):
        print(f"{comm:<16} {pid:>8} {n:>8}  {','.join(map(str, sorted(cpus[comm, pid])))}")
    print()
    woken.clear()
    cpus.clear()


def __exit__():
    print("most frequent wakers:")
    for (tid, comm), n in wakers.most_common(options.top):
        print(f"{n:>8}  {names[tid]} ({tid}) wakes {comm}")
