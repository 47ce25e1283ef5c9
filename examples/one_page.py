#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What does a command do with its time? One page: its hottest functions, their flame graph, its system calls.

    one_page.py PAGE.html COMMAND [ARGUMENT...]

Runs the command twice, by two functions of perf_prof (docs/analyses.md)."""
import html
import sys

import perf_prof

page, *command = sys.argv[1:]
profile = perf_prof.profile(command=command, call_graph=True)
calls = perf_prof.syscalls(command=command)
parts = [f'<h1>{html.escape(" ".join(command))}</h1>']
for title, result in ('Functions', profile), ('Stacks', profile.flame_graph()), ('System calls', calls):
    parts += [f'<h2>{title}</h2>', result._repr_html_()]
with open(page, 'w', encoding='utf-8') as out:
    out.write('<!DOCTYPE html>\n<meta charset="utf-8">\n' + '\n'.join(parts))
functions = profile.rows['function'].to_pylist()
slowest = max(calls.rows.to_pylist(), key=lambda row: row['total'], default=None)
print('hottest function:', functions[0] if functions else 'none')
print('longest system call:', slowest['call'] if slowest else 'none')
