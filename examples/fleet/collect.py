#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts recordings of many hosts into one Parquet dataset: HOST.data is of HOST, of the day of its last change (UTC).

    collect.py DATASET web-1.data web-2.data ...

On a host, without a recording between: perf_prof.sinks.parquet(perf_prof.Session(EVENTS), DATASET).
"""
import argparse
import datetime
import os

import perf_prof

EVENTS = ['sched:sched_switch', 'rundelay']     # who switched, and how long each wait for a CPU took

parser = argparse.ArgumentParser(description='Puts recordings of many hosts into one Parquet dataset.')
parser.add_argument('dataset', help='a folder')
parser.add_argument('recording', nargs='+', help='HOST.data')
options = parser.parse_args()

for path in options.recording:
    host = os.path.basename(path).removesuffix('.data')
    day = datetime.datetime.fromtimestamp(os.path.getmtime(path), datetime.timezone.utc).date()
    with perf_prof.open(path, EVENTS) as recording:
        written = perf_prof.sinks.parquet(recording, options.dataset, host=host, date=day)
    print(f'{host}: {written.rows} rows, {written.bytes} bytes in {written.files} files; {written.lost} events were lost')
