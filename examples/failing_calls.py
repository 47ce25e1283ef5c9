#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which system calls of a command fail, how often, on which files, and what did that cost?

    failing_calls.py [--] ls /nowhere

Reads the tables that perf-prof writes with --json (docs/json.md)."""
import json
import subprocess
import sys
import tempfile

command = sys.argv[2:] if sys.argv[1:2] == ['--'] else sys.argv[1:]
with tempfile.NamedTemporaryFile('r') as out:
    done = subprocess.run(['perf-prof', 'syscalls', '--errors', '--json', '-o', out.name, '--', *command])
    tables = [json.loads(line) for line in out if line.startswith('{"table":')]
for table in tables:
    if table['table'] == 'errors':
        for row in table['rows']:
            print(f"{row['calls']:6} {row['call']:24} {row['error']:12} {row['total'] / 1e3:10.1f} us  {row.get('path', '')}".rstrip())
sys.exit(done.returncode)
