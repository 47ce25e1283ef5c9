# SPDX-License-Identifier: Apache-2.0
r"""How long do woken tasks wait for a CPU?

    perf-prof python -e sched:sched_wakeup,sched:sched_switch --order -i 1000 latency.py

Prints percentiles of the time from wake-up to running once per interval, and at the end
a table by task. --order matters: a task is often woken on one CPU and runs on another.

A wake-up belongs to the task that wakes, so for one process don't use -p but filters:

    perf-prof python --order -i 1000 -e "sched:sched_wakeup/pid==PID/" \
        -e "sched:sched_switch/next_pid==PID||prev_pid==PID/" latency.py
"""
from collections import defaultdict

woken = {}                       # tid -> time of its wake-up, ns
latencies = []                   # us, of this interval
by_task = defaultdict(list)      # comm -> us
lost = 0


def sched__sched_wakeup(event):
    woken.setdefault(event.pid, event._time)


def sched__sched_switch(event):
    woken.pop(event.prev_pid, None)     # woken while still running: it did not wait
    since = woken.pop(event.next_pid, None)
    if since is None:
        return
    latency = (event._time - since) / 1000
    latencies.append(latency)
    by_task[event.next_comm].append(latency)


def __lost__(start, end):
    global lost
    lost += 1
    woken.clear()                # a switch may be missing: do not pair across the gap


def percentiles(values):
    values = sorted(values)
    pick = [values[min(len(values) - 1, int(len(values) * p / 100))] for p in (50, 95, 99)]
    return "p50 {:8.1f}  p95 {:8.1f}  p99 {:8.1f}  max {:8.1f} us".format(*pick, values[-1])


def __interval__():
    if latencies:
        print(f"{len(latencies):7} wake-ups  {percentiles(latencies)}")
        latencies.clear()


def __exit__():
    print(f"\n{'TASK':<16} {'WAKE-UPS':>8}  LATENCY")
    busiest = sorted(by_task.items(), key=lambda item: -len(item[1]))
    for comm, values in busiest[:15]:
        print(f"{comm:<16} {len(values):>8}  {percentiles(values)}")
    if lost:
        print(f"{lost} gaps: events were lost; -m 8M makes the rings larger")
