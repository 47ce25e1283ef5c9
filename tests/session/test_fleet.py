# SPDX-License-Identifier: Apache-2.0
"""examples/fleet: what it answers about several hosts is what the commands say about each recording."""
import collections
import json
import math
import os
import re
import subprocess
import sys

import pytest

from known import PATIENCE, ROOT

QUESTIONS = 'Who switched most?', 'Who waited for a CPU?', 'Which stacks took CPU time, of all hosts?', 'What was lost?'
HOSTS = ['web-1', 'web-2', 'web-3']


@pytest.fixture(scope='module')
def fleet(tmp_path_factory, fleet_of):
    """(folder of the recordings and of all.folded, the answers)"""
    where = tmp_path_factory.mktemp('fleet')
    run = fleet_of(where, HOSTS)
    run('ask.py', where / 'set', '--flame-graph', where / 'all.folded')
    return where, json.loads(run('ask.py', where / 'set', '--json', '--rows', 1000000))


def table(prof, where, host, *words):
    done = subprocess.run([prof, *words, '-I', str(where / f'{host}.data'), '--json'], stdout=subprocess.PIPE, check=True, timeout=PATIENCE,
                          text=True)
    return json.loads(done.stdout)


def plain(names):
    """Without tasks of others whose names need escapes: JSON escapes control characters, too."""
    return {name: n for name, n in names.items() if name.isprintable() and '\\x' not in name}


@pytest.mark.deep
def test_who_switched_most(fleet, prof):
    where, answers = fleet
    rows = answers[QUESTIONS[0]]
    for host in HOSTS:
        top = table(prof, where, host, 'top', '-e', 'sched:sched_switch//key=prev_comm/')
        assert top['lost'] == sum(row['lost'] for row in answers[QUESTIONS[3]] if row['host'] == host)
        assert plain({row['command']: row['switches'] for row in rows if row['host'] == host}) \
            == plain({row['key']: row['sched_switch'] for row in top['rows']})
    counts = [row['switches'] for row in rows]
    assert counts == sorted(counts, reverse=True) and sum(counts) > 0


def test_who_waited(fleet, prof, reader):
    """rundelay has a row for each thread, so the dataset is asked by thread, too."""
    where, answers = fleet
    events = reader('duckdb').read_parquet(f'{where}/set/**/*.parquet', hive_partitioning=True, union_by_name=True)
    waits = events.query('events', '''select host, tid, list(duration order by duration) from events where event = 'rundelay' group by all''')
    durations = {(host, tid): found for host, tid, found in waits.fetchall()}
    for host in HOSTS:
        told = {row['tid']: row for row in table(prof, where, host, 'rundelay')['rows']}
        mine = {tid: found for (name, tid), found in durations.items() if name == host}
        assert {tid: (row['calls'], row['total'], row['min'], row['max']) for tid, row in told.items()} \
            == {tid: (len(found), sum(found), found[0], found[-1]) for tid, found in mine.items()}
        for tid, found in mine.items():     # the command has a histogram: 3 % apart, and perhaps a neighbour
            rank = math.ceil(0.99 * len(found)) - 1
            near = found[max(rank - 1, 0):rank + 2]
            assert near[0] * 0.97 <= told[tid]['p99'] <= near[-1] * 1.03
        rows = [row for row in answers[QUESTIONS[1]] if row['host'] == host]
        assert sum(row['waits'] for row in rows) == sum(map(len, mine.values())) > 0
        assert max(row['max_us'] for row in rows) * 1000 == pytest.approx(max(found[-1] for found in mine.values()))
        assert all(row['p99_us'] <= row['max_us'] for row in rows)


OWN = {'sh', 'seq', 'sort', 'tail'}     # programs whose code and names stay the same


def stacks_of(lines):
    """{stack: number} of (stack, number), without the marks of kinds."""
    counts = collections.Counter()
    for stack, n in lines:
        counts[re.sub(r'_\[[ki]\](?=;|$)', '', stack)] += int(n)
    return counts


def test_which_stacks(fleet, prof, reader):
    """One flame graph of all hosts: what report draws of each, below the names of the tasks."""
    where, answers = fleet
    samples, expected = 0, []
    for host in HOSTS:
        table(prof, where, host, 'report', '-e', 'cpu-clock', '--flame-graph', str(where / f'{host}.folded'))
        *lines, last = (where / f'{host}.folded').read_text().splitlines()
        n, weight = (int(re.search(f' {name}=(\\d+)', last)[1]) for name in ('samples', 'weight'))
        samples += n
        for line in lines:      # all samples weigh the same
            task, rest = line.split(';', 1)
            expected += [(rest.rsplit(' ', 1)[0], int(rest.rsplit(' ', 1)[1]) * n // weight)] * (task in OWN)
    rows = answers[QUESTIONS[2]]
    assert sum(row['samples'] for row in rows) == samples > 0
    assert [row['samples'] for row in rows] == sorted((row['samples'] for row in rows), reverse=True)
    duckdb = reader('duckdb')
    events = duckdb.read_parquet(f'{where}/set/**/*.parquet', hive_partitioning=True, union_by_name=True).set_alias('events')
    stacks = duckdb.read_parquet(f'{where}/set-stacks/**/*.parquet', hive_partitioning=True)
    own = duckdb.sql(f"""select folded, count(*) from events join stacks using (host, _stack)
                         where event = 'cpu-clock' and _comm in {tuple(OWN)} group by all""").fetchall()
    assert stacks_of(own) == stacks_of(expected)
    drawn = stacks_of(line.rsplit(' ', 1) for line in (where / 'all.folded').read_text().splitlines())
    assert drawn == stacks_of((row['stack'], row['samples']) for row in rows) and all(drawn[stack] >= n for stack, n in stacks_of(own).items())


def test_text(fleet, folder, reader):
    where, _ = fleet
    packages = os.path.dirname(os.path.dirname(reader('duckdb').__file__))
    text = subprocess.run([sys.executable, os.path.join(ROOT, 'examples', 'fleet', 'ask.py'), str(where / 'set'), '--rows', '1'],
                          env={**os.environ, 'PYTHONPATH': packages}, check=True, stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout
    assert [line for line in text.splitlines() if not line.startswith('  ')] == list(QUESTIONS)


def test_the_picture_that_the_help_names(fleet, prof):
    """Any build draws it."""
    where, _ = fleet
    with open(os.path.join(ROOT, 'examples', 'fleet', 'ask.py'), encoding='utf-8') as file:
        words = re.search('; perf-prof (flame-graph .*)', file.read())[1].split()
    subprocess.run([prof, *words], cwd=where, check=True, timeout=PATIENCE)
    assert '<svg' in (where / words[-1]).read_text()
