#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes recordings of many hosts to one Parquet dataset. HOST.data is from HOST; its date is the day of its last change (UTC).

    collect.py DATASET web-1.data web-2.data ...

On a host, without a recording between: perf_prof.sinks.parquet(perf_prof.Session(EVENTS, callchains=True), DATASET).
"""
import argparse
import datetime
import os

import perf_prof

# Who switched, how long each wait for a CPU took, and what ran: samples with call stacks. Functions get their names here, from
# the files of this machine; so do this where it was recorded.
EVENTS = ['sched:sched_switch', 'rundelay', 'cpu-clock']

parser = argparse.ArgumentParser(description='Puts recordings of many hosts into one Parquet dataset.')
parser.add_argument('dataset', help='a folder')
parser.add_argument('recording', nargs='+', help='HOST.data')
options = parser.parse_args()

for path in options.recording:
    host = os.path.basename(path).removesuffix('.data')
    day = datetime.datetime.fromtimestamp(os.path.getmtime(path), datetime.timezone.utc).date()
    with perf_prof.open(path, EVENTS, callchains=True) as recording:
        written = perf_prof.sinks.parquet(recording, options.dataset, host=host, date=day)
    print(f'{host}: {written.rows} rows, {written.bytes} bytes in {written.files} files; {written.lost} events were lost')
