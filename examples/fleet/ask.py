#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries a dataset of many hosts (see collect.py) with DuckDB: who switched most, who waited for a CPU, what ran, and what is missing?

    ask.py DATASET
    ask.py DATASET --json
    ask.py DATASET --flame-graph all.folded; perf-prof flame-graph all.folded all.svg
"""
import argparse

import duckdb

import questions

parser = argparse.ArgumentParser(description='Asks a dataset of many hosts, by DuckDB.')
parser.add_argument('dataset', help='the folder that collect.py wrote')
parser.add_argument('--rows', type=int, default=10, help='rows of each answer; default: %(default)s')
parser.add_argument('--json', action='store_true', help='one object, for programs')
parser.add_argument('--flame-graph', metavar='FILE', help='instead: write the stacks of all hosts together as text, for perf-prof flame-graph')
options = parser.parse_args()

events = duckdb.read_parquet(f'{options.dataset}/**/*.parquet', hive_partitioning=True, union_by_name=True)
stacks = duckdb.read_parquet(f'{options.dataset}-stacks/**/*.parquet', hive_partitioning=True)


def query(sql):
    found = duckdb.execute(sql)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row)) for row in found.fetchall()]


if options.flame_graph:
    with open(options.flame_graph, 'w') as file:
        file.writelines(f'{row["stack"]} {row["samples"]}\n' for row in query(questions.FLAME_GRAPH))
else:
    questions.show(questions.ask(query, options.rows), options.json)
