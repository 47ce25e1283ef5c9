# SPDX-License-Identifier: Apache-2.0
"""A Python program whose threads stay where they are known to be: one computes, one waits for an event, and the first
one waits for the end of stdin. Says "ready" when all are there."""
import sys
import threading

spinning, waiting = threading.Event(), threading.Event()


class Mill:
    def spin(self, n):
        while n:
            n += 1                          # line 13: it never ends

    def run(self):
        spinning.set()
        for _ in (1,):
            self.spin(1)                    # line 18


def wait_for(event):
    waiting.set()
    event.wait()                            # line 23


def odd(n):
    return sys.stdin.read() if not n else odd(n - 1)    # line 27


if __name__ == '__main__':
    depth = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    sys.setrecursionlimit(depth + 100)
    # a name that must not reach a terminal as it is
    odd.__code__ = odd.__code__.replace(co_name='o\x1b[31m\n')
    for work in (Mill().run, lambda: wait_for(threading.Event())):
        threading.Thread(target=work, daemon=True).start()
    spinning.wait()
    waiting.wait()
    print('ready', flush=True)
    odd(depth)                              # line 40
