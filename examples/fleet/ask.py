#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a dataset of many hosts (see collect.py): who switched most, who waited for a CPU, and what is missing?

    ask.py DATASET
    ask.py DATASET --json
"""
import argparse
import json

import duckdb

QUESTIONS = {
    'Who switched most?': '''
        select host, prev_comm as command, count(*) as switches
        from events where event = 'sched:sched_switch'
        group by all order by switches desc, host, command limit $rows''',
    # From the wake-up, or from losing the CPU, until it runs.
    'Who waited for a CPU?': '''
        select host, comm as command, count(*) as waits, quantile_disc(duration, 0.99) / 1000 as p99_us, max(duration) / 1000 as max_us
        from events where event = 'rundelay'
        group by all order by p99_us desc, host, command limit $rows''',
    'What was lost?': '''
        select host, event, sum(_lost)::bigint as lost
        from events where event like 'lost:%'
        group by all order by lost desc, host, event limit $rows''',
}

parser = argparse.ArgumentParser(description='Asks a dataset of many hosts.')
parser.add_argument('dataset', help='the folder that collect.py wrote')
parser.add_argument('--rows', type=int, default=10, help='rows of each answer; default: %(default)s')
parser.add_argument('--json', action='store_true', help='one object, for programs')
options = parser.parse_args()

events = duckdb.read_parquet(f'{options.dataset}/**/*.parquet', hive_partitioning=True, union_by_name=True)
answers = {}
for question, query in QUESTIONS.items():
    found = duckdb.execute(query, {'rows': options.rows})
    names = [column[0] for column in found.description]
    answers[question] = [dict(zip(names, row)) for row in found.fetchall()]

if options.json:
    print(json.dumps(answers))
else:
    for question, rows in answers.items():
        print(question)
        for row in rows or [{'': 'nothing'}]:
            print('  ' + '  '.join(f'{name} {value}'.strip() for name, value in row.items()))
