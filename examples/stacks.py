# SPDX-License-Identifier: Apache-2.0
"""Through which kernel functions do wake-ups come?

    perf-prof python -e sched:sched_wakeup -g -i 1000 stacks.py
    perf-prof python -e sched:sched_wakeup//stack/ -i 1000 stacks.py
"""
from collections import Counter

stacks = Counter()


def sched__sched_wakeup(event):
    names = [frame["symbol"] for frame in event._callchain if frame["kernel"]]
    stacks[" <- ".join(names[:5])] += 1


def __interval__():
    print(f"{'COUNT':>8}  STACK")
    for stack, n in stacks.most_common(5):
        print(f"{n:>8}  {stack}")
    print()


def __exit__():
    print(f"{len(stacks)} different stacks, {sum(stacks.values())} wake-ups")
