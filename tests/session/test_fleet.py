# SPDX-License-Identifier: Apache-2.0
"""examples/fleet: what it answers about several hosts is what the commands say about each recording."""
import json
import os
import re
import subprocess

import pytest

from known import PATIENCE, ROOT

# examples/examples.toml runs it once. pyarrow frees what sanitizers do not know.
pytestmark = [pytest.mark.live, pytest.mark.deep, pytest.mark.slow]

QUESTIONS = 'Who switched most?', 'Who waited for a CPU?', 'Which stacks took CPU time, of all hosts?', 'What was lost?'
HOSTS = ['web-1', 'web-2', 'web-3']


@pytest.fixture(scope='module')
def fleet(tmp_path_factory, fleet_of):
    """(folder of the recordings and of all.folded, the answers)"""
    where = tmp_path_factory.mktemp('fleet')
    run = fleet_of(where, HOSTS)
    run('ask.py', where / 'set', '--flame-graph', where / 'all.folded')
    text = run('ask.py', where / 'set', '--rows', 1)
    assert [line for line in text.splitlines() if not line.startswith('  ')] == list(QUESTIONS)
    return where, json.loads(run('ask.py', where / 'set', '--json', '--rows', 1000000))


def table(prof, where, host, *words):
    done = subprocess.run([prof, *words, '-I', str(where / f'{host}.data'), '--json'], stdout=subprocess.PIPE, check=True, timeout=PATIENCE,
                          text=True)
    return json.loads(done.stdout)


def plain(names):
    """Without tasks of others whose names need escapes: JSON escapes control characters, too."""
    return {name: n for name, n in names.items() if name.isprintable() and '\\x' not in name}


def test_one_flame_graph_of_all_hosts(fleet, prof):
    """With the stacks of the answer; any build draws the picture that the help names."""
    where, answers = fleet
    rows = answers[QUESTIONS[2]]
    lines = (line.rsplit(' ', 1) for line in (where / 'all.folded').read_text().splitlines())
    assert sum(int(n) for _, n in lines) == sum(row['samples'] for row in rows) == sum(
        table(prof, where, host, 'report', '-e', 'cpu-clock')['samples'] for host in HOSTS) > 0
    assert [row['samples'] for row in rows] == sorted((row['samples'] for row in rows), reverse=True)
    with open(os.path.join(ROOT, 'examples', 'fleet', 'ask.py'), encoding='utf-8') as file:
        words = re.search('; perf-prof (flame-graph .*)', file.read())[1].split()
    subprocess.run([prof, *words], cwd=where, check=True, timeout=PATIENCE)
    assert '<svg' in (where / words[-1]).read_text()


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
