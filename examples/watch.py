#!/usr/bin/env -S perf-prof python -e sched:sched_process_exec,sched:sched_process_exit
# SPDX-License-Identifier: Apache-2.0
"""Which programs start and end? A script that is a command: chmod +x watch.py; ./watch.py"""
import time

started = {}


def clock(event):
    seconds, ns = divmod(event._realtime, 1_000_000_000)
    return time.strftime("%H:%M:%S", time.localtime(seconds)) + f".{ns // 1_000_000:03}"


def sched__sched_process_exec(event):
    started[event._pid] = event._time
    print(f"{clock(event)}  start  {event._pid:>7}  {event.filename}", flush=True)


def sched__sched_process_exit(event):
    if event._pid != event._tid:
        return                   # a thread; its process continues
    since = started.pop(event._pid, None)
    ran = f"after {(event._time - since) / 1e6:.1f} ms" if since else ""
    print(f"{clock(event)}  end    {event._pid:>7}  {event.comm} {ran}", flush=True)
