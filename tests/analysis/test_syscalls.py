# SPDX-License-Identifier: Apache-2.0
"""syscalls and latency: counts and times against the program's own, `perf trace -s`, `perf script`."""
import csv
import json
import os
import re
import subprocess

import pytest

from frame.analyses import RING, close_to

pytestmark = pytest.mark.live

KNOWN = {'getppid': (100, 0), 'close': (7, 7), 'openat': (5, 5), 'clock_nanosleep': (3, 0)}
NAP = 20000000     # ns
# thread, calls, errors, total ms
TRACED = re.compile(r'^ +(\w+) +(\d+) +(\d+) +([\d.]+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+%$', re.M)


def as_long_as_they_were(ns, text):
    """Of all three naps: as long as asked for at least, at most as long as the program was at it."""
    return 3 * NAP <= ns <= int(re.search(r'^naps (\d+)$', text, re.M).group(1))


def by_name(rows):
    return {re.sub(r'\(\d+\)$', '', call): row for call, row in rows.items()}


def test_known_calls_of_a_running_process(watch, waiting):
    one = waiting('calls')
    watcher = watch('syscalls', *RING, '-p', one.pid)
    one.go()
    got = watcher.result()
    calls = by_name(got.total('syscalls', 'call', of=('calls', 'errors', 'total')))
    for name, (count, errors) in KNOWN.items():
        assert calls[name][:2] == [count, errors], name
    assert as_long_as_they_were(calls['clock_nanosleep'][2], one.finish())
    failed = got.total('errors', 'call', 'error', of=['calls'])
    assert {row['comm'] for table in got.lines if table.get('table') == 'errors' for row in table['rows']} == {'works'}
    assert failed['close(3)', 'EBADF'] == [7] and failed['openat(257)', 'ENOENT'] == [5]


def test_counts_and_times_are_those_of_perf_trace(analyse, works, perf, tmp_path):
    """Of a recording of perf, by both."""
    path = tmp_path / 'perf.data'
    subprocess.run([perf, 'record', '-q', '-B', '-N', '-m', '16M', '-e', PAIR[1], '-e', PAIR[3], '-o', path, '--', works, 'calls'],
                   check=True, stdout=subprocess.DEVNULL)
    mine = by_name(analyse('syscalls', '--json', '-I', path, before=['env']).rows('syscalls', 'call'))
    done = subprocess.run([perf, 'trace', '-s', '-i', path], capture_output=True, text=True)
    if done.returncode == -11:
        pytest.skip('needs a perf trace that does not crash')
    theirs = {name: (int(n), int(errors), float(ms) * 1e6) for name, n, errors, ms in TRACED.findall(done.stdout + done.stderr)}
    theirs.pop('execve', None)      # begun before anybody counts
    assert set(KNOWN) <= set(theirs), done
    for name, (calls, errors, ns) in theirs.items():
        assert (mine[name]['calls'], mine[name]['errors']) == (calls, errors), name
        assert close_to(mine[name]['total'], ns, least=1000 * calls), (name, mine[name], ns)


SIGNALS = '\n'.join(['import os, signal', 'signal.signal(signal.SIGUSR1, lambda *_: None)',
                     'for _ in range(20): os.kill(os.getpid(), signal.SIGUSR1)'])


def test_the_return_from_a_signal_has_its_name(analyse, prof, tmp_path):
    """Its sys_exit event has the id -1. Live runs sample only sys_exit's id; a recording has that of sys_enter, too."""
    program = ['--', '/usr/bin/python3', '-c', SIGNALS]
    got = analyse('syscalls', '--json', *RING, *program)
    subprocess.run([prof, 'record', '-q', '-m', '16M', '-o', tmp_path / 'in', '-e', ','.join(PAIR[1::2]), *program], check=True)
    recorded = analyse('syscalls', '--json', '-I', tmp_path / 'in')
    for run in got, recorded:
        calls = {name: row['calls'] for name, row in by_name(run.rows('syscalls', 'call')).items()}
        assert calls['kill'] == calls['rt_sigreturn'] == 20 and 'syscall' not in calls


NAMED = '\n'.join([
    'import os, signal, time', 'signal.signal(signal.SIGALRM, lambda *_: None)', 'signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)',
    'for _ in range(5): signal.pause()', 'signal.setitimer(signal.ITIMER_REAL, 0)'])


def test_codes_of_the_kernel_have_names(analyse):
    """pause() that a signal ends: sys_exit shows a code that programs never see."""
    got = analyse('syscalls', '--json', *RING, '--', '/usr/bin/python3', '-c', NAMED)
    failed = got.rows('errors', 'call', 'error')
    interrupted = {error: row['calls'] for (call, error), row in failed.items() if call.startswith(('pause(', 'ppoll('))}
    assert interrupted == {'ERESTARTNOHAND': 5}, failed
    # the return from the signal has the register of the call that was interrupted, and never fails
    assert by_name(got.rows('syscalls', 'call'))['rt_sigreturn']['errors'] == 0
    assert not [call for call, _ in failed if call.startswith('rt_sigreturn')]


def test_csv_has_the_errors_of_each_row(analyse, recorded):
    lines = analyse('syscalls', '--csv', '-I', recorded('calls')).text.splitlines()
    rows = {row['call'].split('(')[0]: row for row in csv.DictReader(lines)}
    assert rows['close']['errnos'] == 'EBADF:7' and rows['openat']['errnos'].startswith('ENOENT:')
    assert rows['getppid']['errnos'] == ''
    for row in rows.values():
        assert sum(int(part.split(':')[1]) for part in row['errnos'].split()) == int(row['errors'])


def test_threads_and_children_have_rows(analyse, works):
    got = analyse('syscalls', '--json', *RING, '--', works, 'turns')
    naps = {tid: row['calls'] for (tid, call), row in got.rows('syscalls', 'tid', 'call').items()
            if call.startswith('clock_nanosleep')}
    assert list(naps.values()) == [12] * 3


def test_than_tells_each_long_call(analyse, works):
    got = analyse('syscalls', '--than', '15ms', '-g', *RING, '--', works, 'calls')
    stories = re.findall(r'^\S+ \S+ works \d+ clock_nanosleep\(230\) took ([\d.]+) us\n'
                         r'.*raw_syscalls:sys_enter: NR 230 .*\n((?: {4}.*\n)+)', got.text, re.M)
    assert len(stories) == 3
    assert as_long_as_they_were(1000 * sum(float(us) for us, _ in stories), got.text)
    for us, stack in stories:
        assert float(us) >= NAP / 1000
        assert 'calls+0x' in stack and 'main+0x' in stack


PAIR = ['-e', 'raw_syscalls:sys_enter', '-e', 'raw_syscalls:sys_exit']


def test_keys_pair_and_group(analyse, works):
    """A row for each key with --perins; what has no partner is counted."""
    got = analyse('latency', '-e', 'raw_syscalls:sys_enter//key=id/', '-e', 'raw_syscalls:sys_exit//key=id/',
                  '--perins', '--json', *RING, '--', works, 'calls')
    rows = got.rows('latency', 'key')
    assert rows[110]['calls'] == 100 and rows[230]['calls'] == 3 and rows[3]['calls'] >= 7
    assert as_long_as_they_were(rows[230]['total'], got.text)
    text = analyse('latency', '-e', 'raw_syscalls:sys_enter/id==110/', '-e', 'raw_syscalls:sys_exit/id==3/',
                   *RING, '--', works, 'calls').text
    incomplete = '(1 still open at the end, )?[89] ends without a start, 99 starts with another start before the end'
    assert re.search(f'^incomplete pairs: {incomplete}$', text, re.M), text


def test_both_roles_measure_from_one_to_the_next(analyse, works):
    got = analyse('latency', '-e', 'raw_syscalls:sys_enter/id==230/role=both/', '--json', *RING, '--', works,
                  'calls')
    row, = got.table('latency')['rows']
    assert row['calls'] == 2 and row['min'] >= NAP
    assert row['total'] <= int(re.search(r'^naps (\d+)$', got.text, re.M).group(1))


def test_only_between_shows_what_happened_meanwhile(analyse, works):
    got = analyse('latency', '-e', 'raw_syscalls:sys_enter/id==230/', '-e', 'sched:sched_switch//untraced/',
                  '-e', 'raw_syscalls:sys_exit/id==230/', '--than', '15ms', *RING, '--', works, 'calls')
    stories = re.split(r'^(?=.* took [\d.]+ us$)', got.text, flags=re.M)[1:]
    assert len(stories) == 3
    for story in stories:
        assert re.search(rf'sched:sched_switch: prev_comm=works prev_pid={got.pid} ', story)


@pytest.mark.parametrize('command', [['latency', *PAIR], ['rundelay'], ['page-faults'], ['profile', '--off-cpu']])
def test_intervals_have_times_of_their_own(watch, waiting, command):
    one = waiting('sleeps')
    watcher = watch(*command, *RING, '-p', one.pid)
    one.go()
    tables = [t for t in watcher.result().lines if t['table'] == command[0]]
    times = [t['time'] for t in tables]
    assert len(tables) >= 2 and times == sorted(times)     # the first before it began


def test_g_without_than_says_that_it_needs_one(analyse, works):
    said = '-g needs --than TIME: it prints the stacks of longer calls; with --errors, those of calls that fail; ' \
           'with --paths, of calls that use a path\n'
    assert said in analyse('syscalls', '-g', *RING, '--', works, 'calls').text
    assert said not in analyse('syscalls', '-g', '--than', '1s', *RING, '--', works, 'calls').text


CALLS = """
import os
os.access('/nowhere/a', 0)
try:
    os.mkdir('/nowhere/b')
except OSError:
    pass
"""


@pytest.mark.parametrize('options, names, expected', [
    ([], 'access,mkd*', {'access', 'mkdir'}),
    (['--paths'], 'mkdir', {'mkdir'}),
    (['--errors'], '?ccess', {'access'}),
    (['--match', '*'], 'mkdir', {'mkdir'}),
])
def test_calls_by_name(analyse, options, names, expected):
    if options and not os.path.exists('/sys/kernel/tracing/uprobe_events'):
        pytest.skip('needs uprobes')
    got = analyse('syscalls', *options, '--call', names, '--json', *RING, '--', '/usr/bin/python3', '-c', CALLS)
    found = {row['call'].partition('(')[0] for table in got.lines for row in table['rows']}
    assert found == expected


OTHERS = """
import os, signal
for _ in range(20000): os.getppid()
os.access('/nowhere/a', 0)
signal.signal(signal.SIGUSR1, lambda *_: None)
for _ in range(20): os.kill(os.getpid(), signal.SIGUSR1)
"""


@pytest.mark.parametrize('options, call, n', [
    (['--call', 'access,kill'], 'kill', 20), (['--call', 'rt_sigreturn'], 'rt_sigreturn', 20), (['--paths'], 'access', 1),
    (['--errors', '--match', '/nowhere/*'], 'access', 1), (['--errors', '--call', 'access'], 'access', 1),
])
def test_the_kernel_leaves_out_other_calls(prof, options, call, n):
    if '--call' not in options and not os.path.exists('/sys/kernel/tracing/uprobe_events'):
        pytest.skip('needs uprobes')
    done = subprocess.run([prof, 'syscalls', *options, '--json', '-v', *RING, '--', '/usr/bin/python3', '-c', OTHERS], check=True,
                          capture_output=True, text=True, timeout=120)
    rows = [row for line in done.stdout.splitlines() for row in json.loads(line).get('rows', ()) if row['call'].startswith(call + '(')]
    assert sum(row['calls'] for row in rows if row.get('path', '/nowhere/a') == '/nowhere/a') == n
    assert int(re.search(r'(\d+) counted by the kernel', done.stderr).group(1)) < 10000, done.stderr


def test_a_glob_for_no_path_keeps_calls_without_one(analyse):
    """'*' matches any text, also none."""
    got = analyse('syscalls', '--errors', '--match', '*', '--json', *RING, '--', '/usr/bin/python3', '-c',
                  'import os\ntry: os.read(99, 1)\nexcept OSError: pass')
    assert [row['error'] for row in got.lines[0]['rows'] if row['call'] == 'read(0)'] == ['EBADF']


def test_calls_that_are_left_out(analyse):
    rows = analyse('syscalls', '--call', '!close,!m*', '--json', *RING, '--', '/usr/bin/python3', '-c', 'import os').lines[0]['rows']
    calls = {row['call'].partition('(')[0] for row in rows}
    assert 'read' in calls and not [call for call in calls if call == 'close' or call[0] == 'm'], calls


@pytest.mark.parametrize('names, said', [
    ('open*,opne', "there is no system call 'opne'; did you mean open?"), ('!!read', "there is no system call '!read'"),
    ('openat,!read', 'names with ! leave out calls: give only these, or none'),
    ('!read,!opne', "there is no system call 'opne'; did you mean open?"), ('!', "there is no system call ''"),
])
def test_calls_that_cannot_be_chosen(analyse, names, said):
    assert f'--call {names}: {said}' in analyse('syscalls', '--call', names, '--', 'true', code=2).err


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='needs return probes that are system calls')
def test_calls_of_return_probes_are_no_calls_of_the_program(prof, analyse, compiled, tmp_path):
    """The kernel makes uretprobe(2) when a probed function returns; its end has the number -1."""
    compiled('__attribute__((noinline, noclone)) int probed(int n) { __asm__ volatile(""); return n + 1; }\n'
             'int main(void) { int n = 0; for (int i = 0; i < 100; i++) n = probed(n); return n != 100; }\n')
    done = subprocess.run([prof, 'record', '-q', '-o', tmp_path / 'r.data', '-e', f'uretprobe:probed@{tmp_path}/job,raw_syscalls:*', '--',
                           tmp_path / 'job'], capture_output=True, text=True, timeout=60)
    if done.returncode:
        pytest.skip(done.stderr.strip())
    text = analyse('syscalls', '-I', tmp_path / 'r.data').text
    open_calls = sum(map(int, re.findall(r'(\d+) (?:still|already|begun|ends|starts)', text)))
    assert 'mmap(' in text and 'uretprobe(' not in text and open_calls <= 3, text


@pytest.mark.parametrize('calls, told', [('read', True), ('read,openat', False)])
def test_calls_without_a_path_are_told(analyse, calls, told):
    out = analyse('syscalls', '--paths', '--call', calls, '--', 'true').text
    assert ('none of the calls of --call has a path as an argument, such as openat has' in out) == told, out
