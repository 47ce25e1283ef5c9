#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who wakes whom most? A Polars group-by over the wake-ups of each second, while they happen. As root, in an environment
with Polars, in a checkout:

    python3 -m venv v && v/bin/pip install . polars && v/bin/python examples/notebook/wakeups.py

It ends after --seconds, or with Ctrl-C. In a notebook, seconds() works as it is here.
"""
import argparse
import time

import perf_prof
import polars

FIELDS = ['_comm', 'comm', 'target_cpu']     # who woke whom, on which CPU


def seconds(session):
    """The rows of each second as a data frame."""
    frames, begin = [], time.monotonic()
    for batch in session:
        frames.append(batch.pl())
        if time.monotonic() - begin >= 1:
            yield polars.concat(frames)
            frames, begin = [], time.monotonic()
    if frames:
        yield polars.concat(frames)


def table(rows, top):
    return (rows.group_by(waker='_comm', woken='comm')
            .agg(polars.len().alias('wakeups'), polars.col('target_cpu').n_unique().alias('cpus'))
            .sort('wakeups', descending=True)
            .head(top))


def main():
    parser = argparse.ArgumentParser(description='Who wakes whom most? Each second, until Ctrl-C.')
    parser.add_argument('--seconds', type=float, help='end after this time; default: with Ctrl-C')
    parser.add_argument('--top', type=int, default=10, help='rows of each table; default: 10')
    options = parser.parse_args()
    with perf_prof.Session('sched:sched_wakeup', fields=FIELDS, seconds=options.seconds) as session:
        try:
            for rows in seconds(session):
                lost = sum(session.losses['count'])
                print(f'{len(rows)} wake-ups' + f', and {lost} were lost so far' * bool(lost))
                print(table(rows, options.top), flush=True)
        except KeyboardInterrupt:
            print()         # the table may lack its last newline
        print(f"{session.stats()['delivered']} wake-ups in all")


if __name__ == '__main__':
    main()
