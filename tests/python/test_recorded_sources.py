# SPDX-License-Identifier: Apache-2.0
"""Sources that make events, out of recordings: of other machines, and as the commands see them."""
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from frame.session import ran, waiting


DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data', 'perfdata')
SWITCHES = ['amd64-5.10-pipe', 'amd64-6.12-zstd', 'armhf-6.1-several', 'i386-6.1-pipe', 's390x-6.12-pipe', 'ours']
SWITCH = 'sched:sched_switch'
BETWEEN = f'latency/--start {SWITCH} --end {SWITCH} -k prev_pid/'

TO_JSON = '''
import io, json, sys
def text(e):
    old, sys.stdout = sys.stdout, io.StringIO()
    try:
        e.print(timestamp=False, callchain=False)
        return sys.stdout.getvalue().split(': ', 2)[2].strip()
    finally:
        sys.stdout = old
def __sample__(e):
    print(json.dumps({**e.to_dict(), 'line': text(e)}))
'''


def events(prof, folder, path, *args, check=0, errors=''):
    (folder / 's.py').write_text(TO_JSON)
    done = ran([prof, 'python', '-I', path, *args, 's.py'], cwd=folder)
    assert done.returncode == check and bool(errors) == bool(done.stderr), done
    assert re.search(errors, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


@pytest.mark.parametrize('name', SWITCHES)
def test_pairs_and_sums_of_any_machine(prof, tmp_path, name):
    """Of both byte orders and word sizes: against the same events, paired and added up here."""
    path = os.path.join(DATA, name + '.data')
    seen = events(prof, tmp_path, path, '-e', f'{SWITCH},{BETWEEN},top/--of {SWITCH} -k prev_pid -i 3600000/,'
                  f'trace/--of {SWITCH}/,top/--of {SWITCH} -k _cpu -i 3600000/alias=cpus/')
    switches, pairs, sums, lines, cpus = ([e for e in seen if e['_event'] == n] for n in (SWITCH, 'latency', 'top', 'trace', 'cpus'))
    assert len(switches) > 50
    last, counts, expected = {}, {}, []
    for e in switches:
        who = e['prev_pid']
        if who in last:
            expected.append((e['_time'], who, last[who], e['_time'] - last[who]))
        last[who] = e['_time']
        counts[who] = counts.get(who, 0) + 1
    assert [(e['_time'], e['key'], e['start'], e['duration']) for e in pairs] == expected
    assert {e['key']: e['value'] for e in sums} == counts
    assert all((e['time'], e['cpu'], e['pid'], e['tid']) == (e['_time'], e['_cpu'], e['_pid'], e['_tid']) for e in [*pairs, *sums])
    assert [e['rank'] for e in sums] == list(range(1, len(counts) + 1))
    on = [e['_cpu'] for e in switches]
    assert {e['key']: e['value'] for e in cpus} == {cpu % 2**32: on.count(cpu) for cpu in on}
    assert [e['_cpu'] for e in lines] == on
    assert [(e['_time'], e['text']) for e in lines] == [(e['_time'], e['line']) for e in switches]


def test_a_filter_and_a_limit(prof, tmp_path):
    """The list's own filter is not the source's; -N ends the source alone."""
    path = os.path.join(DATA, 'ours.data')
    seen = events(prof, tmp_path, path, '-e', f'{SWITCH}/prev_pid==0/alias=idle/,trace/--of {SWITCH} -N 3/')
    idle, lines = ([e for e in seen if e['_event'] == n] for n in ('sched:idle', 'trace'))
    assert len(lines) == 3 and len(idle) > 3 and {e['prev_pid'] for e in idle} == {0}


@pytest.mark.parametrize('source, errors', [
    ('syscalls', r'syscalls needs samples of raw_syscalls:sys_enter, which .*ours\.data lacks\n  syscalls\n  \^\n'
                 r'expected: a recording with -e raw_syscalls:sys_enter$'),
    ('kvm-exit', r'kvm-exit needs samples of kvm:kvm_exit, which'),
    ('top/--of sched:nothing -k pid/', r'top needs samples of sched:nothing, which'),
    (f'trace/--off {SWITCH}/', r'unknown option --off'),
])
def test_what_was_not_recorded(prof, tmp_path, source, errors):
    events(prof, tmp_path, os.path.join(DATA, 'ours.data'), '-e', source, check=2, errors=errors)


def test_script_shows_what_was_recorded(prof, tmp_path):
    done = ran([prof, 'script', '-I', os.path.join(DATA, 'ours.data'), '-e', f'trace/--of {SWITCH}/'], cwd=tmp_path)
    assert done.returncode == 2 and re.search(r'perf-prof makes \S*trace\S* from recorded events, .*: use trace -I', done.stderr)


# ---- as the commands have it -------------------------------------------------------------

# A thread that was there before the recording, and one of its own making.
WORK = '''
import ctypes, os, sys, threading, time
ctypes.CDLL(None).prctl(15, b'of_this_test')
def work():
    for i in range(50):
        time.sleep(0.002)
        os.stat('/')
        sum(range(20000))
def early():
    sys.stdin.read(1)
    work()
one = threading.Thread(target=early)
one.start()
print(os.getpid(), flush=True)
sys.stdin.read(1)
two = threading.Thread(target=work)
two.start()
work()
'''
SCHEDULER = 'sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new'
CALLS = 'raw_syscalls:sys_enter/comm=="of_this_test"/,raw_syscalls:sys_exit/comm=="of_this_test"/'


@pytest.fixture(scope='module')
def recording(prof, tmp_path_factory):
    """(the recording, the pid of a process of three threads that worked)"""
    path = tmp_path_factory.mktemp('recorded') / 'perf.data'
    with subprocess.Popen([sys.executable, '-c', WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as work:
        pid = int(work.stdout.readline())
        record = subprocess.Popen([prof, 'record', '-a', '-m', '64M', '-e', f'{SCHEDULER},{CALLS}', '-o', path], stderr=subprocess.PIPE)
        waiting(record)
        work.stdin.close()
        work.wait(20)
        record.send_signal(signal.SIGINT)
        _, said = record.communicate(timeout=20)
        assert record.returncode in (0, 130) and not said, said
    return path, pid


def sums(rows, key, calls=lambda row: 1, total=lambda row: row['duration']):
    """{value of the key: (how many, ns)}"""
    of = {}
    for row in rows:
        n, ns = of.get(row.get(key), (0, 0))
        of[row.get(key)] = n + calls(row), ns + total(row)
    return of


@pytest.mark.parametrize('command, key, args', [
    ('syscalls', 'call', ['-p']), ('task-state', 'state', ['-p']), ('task-state', 'state', []), ('rundelay', 'tid', [])])
@pytest.mark.live('tracefs', 'root')
def test_sources_tell_what_commands_add_up(prof, tmp_path, recording, command, key, args):
    recording, pid = recording
    if args:
        args = ['-p', str(pid)]
    seen = events(prof, tmp_path, recording, '-e', command, *args)
    assert len(seen) >= 10 and [e['_time'] for e in seen] == sorted(e['_time'] for e in seen)
    done = ran([prof, command, '-I', recording, '--json', *args], check=True)
    rows = json.loads(done.stdout.splitlines()[0])['rows']
    if command == 'syscalls':       # the table's names have numbers behind them
        rows = [{**row, 'call': row['call'].split('(')[0]} for row in rows]
    assert sums(seen, key) == sums(rows, key, lambda row: row['calls'], lambda row: row['total'])
    if args:
        assert {e['pid'] for e in seen} == {pid} and len({e['tid'] for e in seen}) >= 2


@pytest.mark.live('tracefs', 'root')
def test_each_source_has_its_own_targets(prof, tmp_path, recording):
    """rundelay needs the switches of everybody, trace those of whom -p names."""
    path, pid = recording
    log = f'trace/--of {SWITCH}/'

    def lines(*what):
        seen = events(prof, tmp_path, path, '-p', str(pid), '-e', ','.join(what))
        return {name: [(e['_time'], e['line']) for e in seen if e['_event'] == name] for name in ('rundelay', 'trace')}
    alone = {'rundelay': lines('rundelay')['rundelay'], 'trace': lines(log)['trace']}
    assert all(alone.values()) and lines('rundelay', log) == lines(log, 'rundelay') == alone


@pytest.mark.live('tracefs', 'root', 'program:perf')
def test_beside_a_group(prof, tmp_path):
    """The leader of a group stands in the list where sources look for what they watch."""
    subprocess.run(['perf', 'record', '-q', '-a', '-o', 'g.data', '-e', '{cpu-clock,page-faults}:S', '-e', SCHEDULER, '--',
                    'sleep', '0.1'], cwd=tmp_path, check=True, timeout=60)
    done = ran([prof, 'script', '-I', 'g.data', '-e', 'page-faults,rundelay'], cwd=tmp_path)
    assert done.returncode == 2 and 'perf-prof makes rundelay from recorded events' in done.stderr
