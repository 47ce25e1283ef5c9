# SPDX-License-Identifier: Apache-2.0
"""--by: the same stretches by thread, by process and by name, of one recording; and what text does of itself when there
are very many tasks."""
import re
import subprocess
import sys
from collections import defaultdict

import pytest

from frame.analyses import RING

pytestmark = pytest.mark.live

# Threads, of which ten are called otherwise. More than the 200 that text shows by task, as a kernel may leave out switches.
COUNT = 240
THREADS = f'''
import os, threading, time
def nap(number):
    if number < 10:
        with open('/proc/thread-self/comm', 'w') as f:
            f.write('other')
    time.sleep(0.001)
    os.access('/nowhere', os.R_OK)
threads = [threading.Thread(target=nap, args=(i,)) for i in range({COUNT})]
for t in threads: t.start()
print(os.getpid(), *(t.native_id for t in threads))
for t in threads: t.join()
'''
COMMAND = [sys.executable, '-c', THREADS]
SAID = 'more than 200 tasks: those with the same name share a row; --by task shows each'


def summed(rows, *key):
    """{key: [calls, total]}"""
    sums = defaultdict(lambda: [0, 0])
    for row in rows:
        at = sums[tuple(row.get(k) for k in key)]
        at[:] = [at[0] + row['calls'], at[1] + row['total']]
    return sums


@pytest.fixture(scope='module')
def threads(prof, tmp_path_factory):
    """A recording of these, and their ids, that of the process first."""
    path = tmp_path_factory.mktemp('by') / 'threads.data'

    done = subprocess.run([prof, 'record', '-q', '-a', *RING, '-e', 'sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new', '-o',
                           path, '--', *COMMAND], capture_output=True, text=True, timeout=60, check=True)
    return path, [int(n) for n in done.stdout.split()]


@pytest.mark.parametrize('command, second', [('rundelay', 'cpu'), ('task-state', 'state')])
def test_a_row_is_a_thread_a_process_or_a_name(analyse, threads, command, second):
    path, ids = threads
    task, pid, comm = (analyse(command, '-I', path, '--json', '--by', by, before=['env']).table(command)
                       for by in ('task', 'pid', 'comm'))
    assert [t['columns'][1]['name'] for t in (task, pid, comm)] == ['tid', 'pid', 'tid']
    rows = [r for r in task['rows'] if r['tid'] in ids]
    assert len({r['tid'] for r in rows}) > 200
    assert summed([r for r in pid['rows'] if r['pid'] == ids[0]], second) == summed(rows, second)
    assert not {r['pid'] for r in pid['rows']} & set(ids[1:])
    assert summed(comm['rows'], second) == summed(task['rows'], second) == summed(pid['rows'], second)
    assert all('tid' not in row for row in comm['rows'])
    assert len({(r['comm'], r.get(second)) for r in comm['rows']}) == len(comm['rows'])
    other = summed([r for r in comm['rows'] if r['comm'] == 'other'], 'comm')
    assert other and other[('other',)][0] > 1       # of ten: the kernel doesn't tell of each beside load


def test_text_of_many_tasks_is_by_name_and_says_so(analyse, threads):
    path, _ = threads
    text, every, named = (analyse('rundelay', '-I', path, *by, before=['env']).text.partition('\nran meanwhile')[0]
                          for by in ([], ['--by', 'task'], ['--by', 'comm']))
    assert SAID in text and SAID not in every + named
    assert [re.search('^comm +(.*?) +total', t, re.M).group(1).split() for t in (text, every, named)] == \
        [['calls'], ['tid', 'calls'], ['calls']]
    others = len(re.findall('^other +[0-9]', every, re.M))
    calls = {comm: int(n) for comm, n in re.findall(r'^(\S.*?) +(\d+) +[\d.]+ ', text, re.M)}
    rows = analyse('rundelay', '-I', path, '--json', before=['env']).table('rundelay')['rows']
    assert calls['other'] == sum(r['calls'] for r in rows if r['comm'] == 'other')
    assert others == len({(r['tid'], r.get('cpu')) for r in rows if r['comm'] == 'other'}) > 1
    assert len({r['tid'] for r in rows}) > 200          # programs get what they got
    assert sum(calls.values()) == sum(r['calls'] for r in rows)
    assert SAID not in analyse('rundelay', '-I', path, '-p', '1', before=['env']).text


def test_calls_of_many_threads(analyse):
    text = analyse('syscalls', *RING, '--', *COMMAND).text
    assert SAID in text
    rows = re.findall(r'^(\S+) +access\(\d+\) +(\d+) .* (\d+)$', text, re.M)
    assert sum(int(calls) for _, calls, _ in rows) >= COUNT and dict((comm, int(n)) for comm, n, _ in rows)['other'] == 10
    assert sum(int(errors) for *_, errors in rows) >= COUNT       # added up, too
