# SPDX-License-Identifier: Apache-2.0
"""migrations: of a process that is moved to and fro, awake and asleep; and as perf's own text of the same recording."""
import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from frame.analyses import RING

pytestmark = pytest.mark.live

MOVES = 20
# Each round moves the process itself while it runs, and its child while that sleeps in read().
MOVED = f'''
import os, sys, time
here, there = map(int, sys.argv[1:])
os.sched_setaffinity(0, [here])
to, back = os.pipe(), os.pipe()
child = os.fork()
if not child:
    os.close(to[1])
    while os.read(to[0], 1):
        os.write(back[1], b'x')
    os._exit(0)
for i in range({MOVES}):
    cpu = [there if i % 2 == 0 else here]
    os.sched_setaffinity(0, cpu)
    while open(f'/proc/{{child}}/stat').read().rsplit(')', 1)[1].split()[0] != 'S':
        time.sleep(0.001)
    os.sched_setaffinity(child, cpu)
    os.write(to[1], b'x')
    os.read(back[0], 1)
print(os.getpid(), child)
'''


@pytest.fixture
def two():
    allowed = sorted(os.sched_getaffinity(1))       # of this process, `cpus` may have left one
    if len(allowed) < 2:
        pytest.skip('needs two CPUs')
    return allowed[:2]


@pytest.fixture
def moved(two, tmp_path):
    path = tmp_path / 'moved.py'
    path.write_text(MOVED)
    return [sys.executable, path, *map(str, two)]


def rows_of(table, tid):
    return {(r['reason'], r['from_cpu'], r['to_cpu']): r['calls'] for r in table['rows'] if r['tid'] == tid}


def test_who_moved_from_where_to_where_and_why(analyse, moved, two, tmp_path):
    here, there = two
    got = analyse('migrations', '--json', '--perins', '-o', tmp_path / 'out', *RING, '--', *moved)
    table = json.loads((tmp_path / 'out').read_text())
    parent, child = map(int, got.text.split())
    awake, asleep = rows_of(table, parent), rows_of(table, child)
    # a child that is not quite asleep is moved as one that runs, and a starved process is moved when it wakes up
    moves = [*awake, *asleep]
    assert {(way, to) for _, way, to in moves} == {(here, there), (there, here)}, (awake, asleep)
    assert {reason for reason, *_ in moves} == {'balance', 'wake-up'}, (awake, asleep)
    assert sum(awake.values()) + sum(asleep.values()) >= MOVES, (awake, asleep)


def test_a_source_has_each_move(analyse, moved, two, tmp_path):
    got = analyse('trace', '-o', tmp_path / 'out', '-e', 'migrations', *RING, '--', *moved)
    parent, child = map(int, got.text.split())
    moves = re.findall(r'migrations: \S+:(\d+) from CPU (\d+) to (\d+) \((?:balance|wake-up)\) after [\d.]+ us$',
                       (tmp_path / 'out').read_text(), re.M)
    assert sum(int(m[0]) in (parent, child) and {int(m[1]), int(m[2])} == set(two) for m in moves) >= MOVES


def test_as_perf_prints_the_same_recording(perf, analyse, moved, tmp_path):
    path = tmp_path / 'perf.data'
    events = [f'sched:sched_{e}' for e in ('waking', 'wakeup', 'wakeup_new', 'process_free', 'migrate_task')]
    subprocess.run([perf, 'record', '-q', '-a', '-m', '4M', '-o', path, '-e', ','.join(events), '--', *moved],
                   check=True, capture_output=True)
    text = subprocess.run([perf, 'script', '-i', path, '-F', 'event,trace'], capture_output=True, text=True).stdout
    theirs = Counter(re.findall(r'sched_migrate_task:.*? pid=(\d+) .*?orig_cpu=(\d+) dest_cpu=(\d+)', text))
    table = json.loads(analyse('migrations', '-I', path, '--json', '--perins').text)
    ours = Counter()
    for r in table['rows']:
        ours[str(r['tid']), str(r['from_cpu']), str(r['to_cpu'])] += r['calls']
    assert ours == theirs and sum(ours.values()) >= MOVES
    stayed = Counter()
    for r in table['rows']:
        stayed[r['tid']] += r['total']
    assert max(stayed.values()) <= table['seconds'] * 1e9       # stays of a thread follow each other, to its very end
    parts = analyse('migrations', '-I', path, '--json', '--perins', '-i', '50').text.splitlines()
    assert sum(r['total'] for part in parts for r in json.loads(part)['rows']) == sum(stayed.values())
    table = list(csv.reader(analyse('migrations', '-I', path, '--csv', '--by', 'comm').text.splitlines()))
    calls = table[0].index('calls')
    assert table[0][:4] == ['time', 'comm', 'tid', 'reason'] and sum(int(row[calls]) for row in table[1:]) == sum(theirs.values())


def test_a_heat_map(analyse, moved, tmp_path):
    got = analyse('migrations', '--json', '-o', tmp_path / 'out', '--heatmap', tmp_path / 'm.csv', '--', *moved)
    table = json.loads((tmp_path / 'out').read_text())
    drawn = sum(int(r['count']) for r in csv.DictReader((tmp_path / 'm.csv').open()))
    assert got.text and drawn == sum(r['calls'] for r in table['rows']) >= MOVES


def test_record_takes_the_perf_event_of_that_name(analyse, moved, tmp_path):
    analyse('record', '-q', '-o', tmp_path / 'r.data', '-e', 'migrations', '--', *moved)
    assert analyse('script', '-I', tmp_path / 'r.data', '-F', 'event').text.count('migrations') >= MOVES // 2
