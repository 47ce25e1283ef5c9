# SPDX-License-Identifier: Apache-2.0
"""Half of the work in threads that live for two milliseconds or so, half in the first thread. When the process has used as many seconds of
CPU time as the argument says, prints what the first thread used of it and what the others, as JSON."""
import json
import sys
import threading
import time


def work():
    total = 0
    for i in range(40000):
        total += i & 7


def short():
    work()


def own():
    work()


if __name__ == '__main__':
    print('ready', flush=True)
    sys.stdin.readline()
    process, thread = time.process_time(), time.thread_time()
    while time.process_time() - process < float(sys.argv[1]):
        one = threading.Thread(target=short)
        one.start()
        one.join()
        own()
    process, thread = time.process_time() - process, time.thread_time() - thread
    print(json.dumps({'first': thread, 'others': process - thread}), flush=True)
