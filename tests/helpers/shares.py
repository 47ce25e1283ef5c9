# SPDX-License-Identifier: Apache-2.0
"""Three quarters of the time in one function, a quarter in another, which do the same, while a second thread waits. --go: at
once, not after a line on stdin; --long: three times as long."""
import sys
import threading


def three_quarters(n):
    total = 0
    for i in range(n):                      # line 10
        total += i & 7                      # line 11
    return total


def one_quarter(n):
    total = 0
    for i in range(n):                      # line 17
        total += i & 7                      # line 18
    return total


def wait_for(event):
    event.wait()


if __name__ == '__main__':
    threading.Thread(target=wait_for, args=(threading.Event(),), daemon=True).start()
    print('ready', flush=True)
    if '--go' not in sys.argv:
        sys.stdin.readline()
    for _ in range(900 if '--long' in sys.argv else 300):
        three_quarters(60000)
        one_quarter(20000)
