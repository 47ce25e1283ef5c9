# SPDX-License-Identifier: Apache-2.0
"""Three threads on one CPU that compute without the GIL, one of which hardly gets the CPU (nice 19). When the first one has used the
CPU for as many seconds as the argument says, prints what each used, by its own clock, as JSON: {"first", "second", "starved"}."""
import hashlib
import json
import os
import sys
import threading
import time

SECONDS = float(sys.argv[1])
DATA = bytes(4 << 20)
used, over, go = {}, threading.Event(), threading.Event()


def compute():
    hashlib.sha256(DATA)


def clock():
    return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)


def first():
    while clock() - used['first'] < SECONDS:
        compute()
    over.set()


def second():
    while not over.is_set():
        compute()


def starved():
    while not over.is_set():
        compute()


def run(work, nice):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
    go.wait()
    used[work.__name__] = clock()
    work()
    used[work.__name__] = clock() - used[work.__name__]


if __name__ == '__main__':
    threads = [threading.Thread(target=run, args=args) for args in ((first, 0), (second, 0), (starved, 19))]
    for thread in threads:
        thread.start()
    print('ready', flush=True)
    sys.stdin.readline()
    go.set()
    for thread in threads:
        thread.join()
    print(json.dumps(used), flush=True)
