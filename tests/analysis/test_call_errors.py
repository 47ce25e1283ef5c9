# SPDX-License-Identifier: Apache-2.0
"""syscalls --errors: calls that fail, on which path or address, and the stacks that make them."""
import csv
import os
import re
import shlex
import shutil
import subprocess

import pytest

from frame import failing, requires
from frame.analyses import RING

LIBC = '/lib/x86_64-linux-gnu/libc.so.6'
PAIR = 'raw_syscalls:sys_enter,raw_syscalls:sys_exit'
PYTHON = '/usr/bin/python3'
# Paths as a user's own probe reads them in libc, which every kernel with uprobes can do.
BY_LIBC = f'{PAIR},uprobe:open64@{LIBC}//args="path=+0($arg1):string"/'
OPENS = r'''
import os
for path in ['/nowhere/a'] * 5 + ['/nowhere/b'] * 3 + ['/nowhere/\x1b[31m', '/nowhere/' + 'x' * 200]:
    try:
        os.open(path, os.O_RDONLY)
    except OSError:
        pass
os.open('/dev/null', os.O_RDONLY)
try:
    os.read(99, 1)
except OSError:
    pass
'''
NOWHERE = {'/nowhere/a': 5, '/nowhere/b': 3, '/nowhere/\\x1b[31m': 1, '/nowhere/' + 'x' * 200: 1}


@pytest.fixture
def libc():
    for path in LIBC, '/sys/kernel/tracing/uprobe_events':
        if not os.path.exists(path):
            pytest.skip(f'needs {path}')


def paths_of(result, call='openat(257)'):
    """{path: calls} below /nowhere."""
    rows = result.table('errors')['rows']
    return {r['path']: r['calls'] for r in rows if r['call'] == call and r.get('path', '').startswith('/nowhere')}


def test_only_calls_that_fail(analyse, works):
    got = analyse('syscalls', '--errors', '--json', *RING, '--', works, 'calls')
    assert [t['table'] for t in got.lines] == ['errors']
    calls = got.rows('errors', 'call', 'error')
    assert calls['close(3)', 'EBADF']['calls'] == 7 and calls['close(3)', 'EBADF']['comm'] == 'works'
    assert got.rows('errors', 'tid').keys() == {got.pid}
    assert not [call for call, _ in calls if call.startswith(('getppid', 'clock_nanosleep'))]
    frequent = [row['calls'] for row in got.table('errors')['rows']]
    assert frequent == sorted(frequent, reverse=True)


def test_the_text_is_one_table(analyse, works):
    out = analyse('syscalls', '--errors', *RING, '--', works, 'calls').text
    lines, path = out.splitlines(), [] if 'paths are not known' in out else ['path']
    titles = [line.split() for line in lines if line.startswith('comm')]
    assert titles == [['comm', 'tid', 'call', 'error', 'calls', 'total(us)', 'max', *path]]
    assert not [line for line in lines if line.startswith('incomplete')]


def test_csv_has_the_same_rows(prof, works, tmp_path):
    subprocess.run([prof, 'syscalls', '--errors', '--csv', '-o', tmp_path / 'out', *RING, '--', works, 'calls'], check=True,
                   stdout=subprocess.DEVNULL)
    with open(tmp_path / 'out', encoding='utf-8') as table:
        rows = {(row['call'], row['error']): row['calls'] for row in csv.DictReader(table)}
    assert rows['close(3)', 'EBADF'] == '7'


def test_paths_of_a_probe_in_libc(analyse, libc):
    got = analyse('syscalls', '--errors', '--json', *RING, '-e', BY_LIBC, '--', PYTHON, '-c', OPENS)
    assert paths_of(got) == NOWHERE
    assert 'no_paths' not in got.table('errors')
    assert 'path' not in got.rows('errors', 'call', 'error')['read(0)', 'EBADF']     # it follows an open with a path


def test_paths_of_a_recording(analyse, prof, libc, tmp_path):
    subprocess.run([prof, 'record', '-q', *RING, '-o', tmp_path / 'in', '-e', BY_LIBC, '--', PYTHON, '-c', OPENS], check=True)
    assert paths_of(analyse('syscalls', '--errors', '--json', '-I', tmp_path / 'in')) == NOWHERE
    text = analyse('syscalls', '--errors', '-I', tmp_path / 'in').text
    assert '/nowhere/\\x1b[31m' in text and '\x1b' not in text


def test_a_recording_without_paths_says_so(analyse, prof, works, tmp_path):
    subprocess.run([prof, 'record', '-q', *RING, '-o', tmp_path / 'in', '-e', PAIR, '--', works, 'calls'], check=True,
                   stdout=subprocess.DEVNULL)
    said = f'{tmp_path}/in has no event with a field `path`'
    assert f'\npaths are not known: {said}\n' in analyse('syscalls', '--errors', '-I', tmp_path / 'in').text
    got = analyse('syscalls', '--errors', '--json', '-I', tmp_path / 'in')
    assert got.table('errors')['no_paths'] == said
    assert got.rows('errors', 'call')['close(3)']['calls'] == 7


def test_a_kernel_without_kprobes_says_so(analyse, works):
    if requires.why_not('no_kprobes'):
        pytest.skip(requires.why_not('no_kprobes'))
    out = analyse('syscalls', '--errors', *RING, '--', works, 'calls').text
    assert re.search(r'^paths are not known: this kernel has no kprobes \(CONFIG_KPROBE_EVENTS\);', out, re.M)


def test_that_paths_are_not_known_is_said_once(analyse, prof, works, tmp_path):
    subprocess.run([prof, 'record', '-q', *RING, '-o', tmp_path / 'in', '-e', PAIR, '--', works, 'calls'], check=True,
                   stdout=subprocess.DEVNULL)
    out = analyse('syscalls', '--errors', '-i', '10', '-I', tmp_path / 'in').text
    assert out.count('\ncomm ') + out.startswith('comm ') > 1 and out.count('paths are not known') == 1


def test_paths_of_the_kernel(analyse):
    """It has copied a path before the program overwrites it."""
    if requires.why_not('kprobes'):
        pytest.skip(requires.why_not('kprobes'))
    got = analyse('syscalls', '--errors', '--json', *RING, '--', PYTHON, '-c', failing.PROGRAM)
    if 'no_paths' in got.table('errors'):
        pytest.skip('needs ' + got.table('errors')['no_paths'])
    rows = got.rows('errors', 'call', 'path')
    assert rows['openat(257)', '/nowhere/a']['calls'] == 3 and ('openat(257)', '/nowhere/b') not in rows
    assert ('execve(59)', '/nowhere/program') in rows
    assert {path for call, path in rows if call == 'rename(82)'} <= {'/nowhere/old, /nowhere/new', '/nowhere/new, /nowhere/old'}
    assert {path for call, path in rows if call.startswith('connect')} == {'/nowhere/socket', '@nobody'}
    assert ('bind(49)', '/nowhere/bound') in rows
    with open('/sys/kernel/tracing/kprobe_events', encoding='ascii') as left:
        assert 'getname' not in ''.join(line for line in left if f'_{got.pid}_' in line)


MANY = r'''
import os
for i in range(10050):
    try:
        os.open('/nowhere/%d' % i, os.O_RDONLY)
    except OSError:
        pass
'''


def test_more_paths_than_are_kept(prof, libc, tmp_path):
    done = subprocess.run([prof, 'syscalls', '--errors', '--json', '-m', '64M', '-e', BY_LIBC, '--', PYTHON, '-c', MANY],
                          capture_output=True, text=True, timeout=60)
    assert re.search(r'^perf-prof: syscalls: more than 10000 paths since the last table: those after these are \[others\]', done.stderr,
                     re.M), done.stderr
    assert '"path":"[others]"' in done.stdout


def test_the_first_hundred_rows(prof, libc):
    many = MANY.replace('10050', '150')
    base = [prof, 'syscalls', '--errors', *RING, '-e', BY_LIBC]
    out = subprocess.run([*base, '--', PYTHON, '-c', many], capture_output=True, text=True, timeout=60).stdout
    assert re.search(r'^\.\.\. \d+ more \(--full shows all\)$', out, re.M) and len(re.findall('^python3 ', out, re.M)) == 100
    out = subprocess.run([*base, '--full', '--', PYTHON, '-c', many], capture_output=True, text=True, timeout=60).stdout
    assert len(re.findall(r' /nowhere/\d+$', out, re.M)) == 150


def test_a_narrow_terminal_has_room_for_paths(prof, libc):
    """Durations are left out first."""
    if not shutil.which('script'):
        pytest.skip('needs script')
    command = shlex.join([prof, 'syscalls', '--errors', *RING, '-e', BY_LIBC, '--', PYTHON, '-c', OPENS])
    out = subprocess.run(['script', '-qec', f'stty cols 80; {command}', '/dev/null'], capture_output=True, text=True, timeout=60,
                         stdin=subprocess.DEVNULL).stdout
    assert re.search(r'comm +tid +call +error +calls +path', out), out
    assert re.search(r' /nowhere/a\s*$', out, re.M), out


def test_stacks_show_who_calls(analyse, works):
    out = analyse('syscalls', '--errors', '--call-graph', 'dwarf', *RING, '--', works, 'calls').text
    stacks = out[out.index('\nmost failures, by stack\n'):]
    story = re.search(r'^ *[\d.]+%  works: close\(3\) EBADF, 7 times\n((?: {4}.*\n)+)', stacks, re.M)[1]
    assert 'calls+0x' in story and 'main+0x' in story and '[kernel.kallsyms]' not in story
    assert '-g needs' not in out
    got = analyse('syscalls', '--errors', '--call-graph', 'dwarf', '--json', *RING, '--', works, 'calls')
    row = got.rows('error stacks', 'call', 'error')['close(3)', 'EBADF']
    assert row['calls'] == 7 and re.search(r';main;calls(;|$)', row['stack'])


def test_the_stacks_that_are_not_shown_are_counted(analyse, tmp_path):
    """Each of twelve functions closes what is not open."""
    source = ['#include <unistd.h>', 'volatile int done;']
    source += [f'__attribute__((noinline)) static void fail{i}(void) {{ for (int n = 0; n < {20 + i}; n++) {{ close(900); done++; }} }}'
               for i in range(12)]
    (tmp_path / 'job.c').write_text('\n'.join([*source, 'int main(void) {', *(f'fail{i}();' for i in range(12)), '}']))
    subprocess.run(['gcc', '-O1', '-g', '-o', tmp_path / 'job', tmp_path / 'job.c'], check=True)
    command = 'syscalls', '--errors', '--call-graph', 'dwarf', *RING
    text = analyse(*command, '--', tmp_path / 'job').text
    assert len(re.findall(r' job: close\(3\) EBADF, \d+ times$', text, re.M)) == 10
    assert re.search(r'^\.\.\. \d+ more stacks, \d+\.\d\d% \(--full shows all\)$', text, re.M), text
    text = analyse(*command, '--full', '--', tmp_path / 'job').text
    assert ' more stacks' not in text and {int(n) for n in re.findall(r' fail(\d+)\+0x', text)} == set(range(12))


def test_the_table_of_errors_has_threads(analyse, works):
    by_task = analyse('syscalls', '--json', *RING, '--', works, 'calls')
    assert by_task.rows('errors', 'tid', 'call')[by_task.pid, 'close(3)']['calls'] == 7
    by_comm = analyse('syscalls', '--json', '--by', 'comm', *RING, '--', works, 'calls')
    assert by_comm.rows('errors', 'tid', 'call')[None, 'close(3)']['calls'] == 7
    by_pid = analyse('syscalls', '--json', '--by', 'pid', *RING, '--', works, 'calls')
    assert by_pid.rows('errors', 'pid', 'call')[by_pid.pid, 'close(3)']['calls'] == 7


FORKS = r'''
import os
for i in range(230):
    if os.fork() == 0:
        try:
            os.close(999)
        except OSError:
            os._exit(0)
    os.wait()
'''


@pytest.mark.parametrize('options', [[], ['--errors']])
def test_many_tasks_share_rows(analyse, options):
    """In text: with more than 200 tasks, those of the same name."""
    out = analyse('syscalls', *options, *RING, '--', PYTHON, '-c', FORKS).text
    assert re.search(r'^python3 +close\(3\) +EBADF +230 ', out, re.M), out


def test_the_source_has_only_calls_that_fail(analyse, works):
    out = analyse('trace', '-e', 'syscalls/--errors/', *RING, '--', works, 'calls').text
    assert len(re.findall(r'syscalls: close = -9 EBADF after', out)) == 7
    assert 'getppid' not in out and not re.search(r'syscalls: \w+ = \d', out)


def test_than_prints_only_calls_that_fail(analyse, works):
    out = analyse('syscalls', '--errors', '--than', '1ns', *RING, '--', works, 'calls').text
    assert len(re.findall(r'^\S+ \S+ works \d+ close\(3\) took ', out, re.M)) == 7
    assert not re.search(r' (getppid|clock_nanosleep)\(\d+\) took ', out)


def test_intervals_add_up(watch, waiting):
    one = waiting('calls')
    watcher = watch('syscalls', '--errors', *RING, '-p', one.pid)
    one.go()
    got = watcher.result()
    assert got.total('errors', 'call', 'error', of=['calls'])['close(3)', 'EBADF'] == [7]


def test_it_takes_no_value(analyse):
    assert analyse('syscalls', '--errors=ENOENT', code=2).err == 'perf-prof: syscalls: --errors takes no value, but has "ENOENT"\n'
