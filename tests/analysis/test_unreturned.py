# SPDX-License-Identifier: Apache-2.0
"""syscalls names the threads that are still in a call, and on what, also those that are since before the run, in each mode."""
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import time

import pytest

from frame.analyses import RING

pytestmark = pytest.mark.live

CALLS = r'''
import os, socket, sys, threading, time
tid = lambda: threading.get_native_id()
tcp = socket.create_server(('127.0.0.1', 0))
try:
    other_tcp = socket.create_server(('::1', 0), family=socket.AF_INET6)
except OSError:
    other_tcp = socket.create_server(('127.0.0.1', 0))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('127.0.0.1', 0))
local = socket.socket(socket.AF_UNIX)
local.bind(sys.argv[1])
local.listen()
client = socket.create_connection(tcp.getsockname())
nameless, other = socket.socketpair()
pipe = os.pipe()[0]
where = lambda s: ('[%s]:%s' if s.family == socket.AF_INET6 else '%s:%s') % s.getsockname()[:2]
calls = [
    (lambda: other_tcp.accept(), 'accept4 tcp ' + where(other_tcp)),
    (lambda: client.recv(1), 'recvfrom tcp %s->%s:%s' % (where(client), *client.getpeername())),
    (lambda: udp.recv(1), 'recvfrom udp ' + where(udp)),
    (lambda: local.accept(), 'accept4 unix ' + sys.argv[1]),
    (lambda: nameless.recv(1), 'recvfrom ' + os.readlink('/proc/self/fd/%d' % nameless.fileno())),
    (lambda: os.read(pipe, 1), 'read ' + os.readlink('/proc/self/fd/%d' % pipe)),
]
def hang(call, text):
    os.write(1, ('%d %s\n' % (tid(), text)).encode())
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.02)
    call()
for call, text in calls[1:]:
    threading.Thread(target=hang, args=(call, text), daemon=True).start()
hang(*calls[0])
'''
LINE = re.compile(r'(.*) (\d+) is still in (.*?)(?:, called by (.*))?, (since before the run|for \d+\.\d+ ms): not in the table')


@pytest.fixture
def hanging(tmp_path):
    """A process whose threads hang in calls once the file `go` exists, and {tid: call on what}."""
    with subprocess.Popen([sys.executable, '-c', CALLS, tmp_path / 'socket', tmp_path / 'go'], stdout=subprocess.PIPE, text=True) as one:
        told = dict(one.stdout.readline().rstrip('\n').split(' ', 1) for _ in range(6))
        yield one, told
        one.kill()


# Numbers of calls: of the generic table, as on arm64, and of x86-64.
NUMBERS = {'accept4': '242', 'recvfrom': '207', 'read': '63', 'openat': '56', 'wait4': '260', 'poll': '73', 'pselect6': '72',
           'epoll_pwait': '22'}
if platform.machine() == 'x86_64':
    NUMBERS = {'accept4': '288', 'recvfrom': '45', 'read': '0', 'openat': '257', 'wait4': '61', 'poll': '7', 'select': '23',
               'pselect6': '270', 'epoll_wait': '232', 'epoll_pwait': '281'}


def wait_until_all_hang(pid, told):
    """Each thread in its call, of which /proc has the number once it is off the CPU."""
    end = time.monotonic() + 60
    for tid, text in told.items():
        numbers = {NUMBERS.get(name) for name in re.findall(r'\w+', text.split()[0])}
        while (now := pathlib.Path(f'/proc/{pid}/task/{tid}/syscall').read_text().split()[0]) not in numbers:
            assert time.monotonic() < end, (tid, text, now)
            os.sched_yield()


@pytest.fixture
def hung(hanging, tmp_path):
    """The same, and all of them hang."""
    (tmp_path / 'go').touch()
    wait_until_all_hang(hanging[0].pid, hanging[1])
    return hanging


def lines_of(text):
    """{tid: (call on what, since when)}"""
    return {m[2]: (m[3], m[5]) for m in map(LINE.fullmatch, text.splitlines()) if m}


PAIR = 'raw_syscalls:sys_enter,raw_syscalls:sys_exit'


@pytest.mark.deep
@pytest.mark.parametrize('options', [[], ['-e', PAIR], ['--errors'], ['--errors', '-e', PAIR]], ids=' '.join)
def test_since_before_the_run(hung, analyse, options):
    one, told = hung
    out = analyse('syscalls', *options, '-p', one.pid, '--seconds', '0.3').text
    assert lines_of(out) == {tid: (call, 'since before the run') for tid, call in told.items()}, out
    assert len(out.splitlines()) == 2 + len(told) + out.count('paths are not known'), out


def test_what_selects_tasks_and_calls_selects_those_that_hang(hung, analyse):
    one, told = hung

    def lines(*options):
        return lines_of(analyse('syscalls', '-p', one.pid, '--seconds', '0.3', *options).text)
    assert lines('--comm', '*').keys() == told.keys() and lines('--comm', '!*') == {}
    reads = {tid: (call, 'since before the run') for tid, call in told.items() if call.startswith('read ')}
    assert reads
    for enter in 'id==0', 'common_pid>0 && id<1':
        assert lines('-e', f'raw_syscalls:sys_enter/{enter}/,raw_syscalls:sys_exit') == reads, enter
    # what is not in the arguments of a call is not known of one that began before
    assert lines('-e', 'raw_syscalls:sys_enter/_comm!="x"/,raw_syscalls:sys_exit') == {}


def test_each_table_names_new_ones_once(hung, prof):
    one, told = hung
    out = subprocess.run([prof, 'syscalls', '-i', '100', '--seconds', '1', '-p', str(one.pid)], capture_output=True, text=True,
                         check=True, timeout=60).stdout
    for tid in told:
        assert out.count(f' {tid} is still in ') == 2, out     # when it is news, and in the end
    assert out.index(' is still in ') < out.rindex('\ncomm '), out


@pytest.mark.parametrize('options', [[], ['--errors'], ['-e', f'{PAIR}/ret<0/']], ids=' '.join)
def test_since_the_run_began(hanging, prof, tmp_path, options):
    one, told = hanging
    argv = [prof, 'syscalls', *RING, *options, '-p', str(one.pid), '-i', '100']
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as watcher:
        text = watcher.stdout.readline()
        (tmp_path / 'go').touch()
        went = time.monotonic()
        wait_until_all_hang(one.pid, told)
        hung_at = time.monotonic()
        while time.monotonic() - hung_at < 0.3:
            text += watcher.stdout.readline()       # a table each 100 ms
        watcher.send_signal(signal.SIGINT)
        text += watcher.communicate(timeout=60)[0]
    longest = (time.monotonic() - went) * 1e3
    lines = lines_of(text)
    assert {tid: call for tid, (call, _) in lines.items()} == told, text
    for _, since in lines.values():
        assert 100 <= float(re.fullmatch(r'for (.*) ms', since)[1]) <= longest, (text, longest)


ARGUMENTS = r'''
import os, select, subprocess, sys, threading
tid = lambda: threading.get_native_id()
fifo = sys.argv[1]
os.mkfifo(fifo)
sleeper = subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL)
pipes = [os.pipe()[0] for _ in range(5)]
name = lambda fd: os.readlink('/proc/self/fd/%d' % fd)
names = [name(fd) for fd in pipes]
poll = select.poll()
for fd in pipes:
    poll.register(fd, select.POLLIN)
wide = select.poll()
for _ in range(300):
    wide.register(os.dup(pipes[0]), select.POLLIN)
epoll = select.epoll()
epoll.register(pipes[0], select.EPOLLIN)
calls = [
    (lambda: os.open(fifo, os.O_RDONLY), 'openat ' + fifo),
    (lambda: os.waitpid(sleeper.pid, 0), 'wait4 child %d (sleep)' % sleeper.pid),
    (lambda: os.waitpid(-1, 0), 'wait4 any child: %d (sleep)' % sleeper.pid),
    (lambda: wide.poll(), 'poll %s, %s, %s and at least 253 more' % (names[0], names[0], names[0])),
    (lambda: poll.poll(), 'poll %s, %s, %s and 2 more' % tuple(names[:3])),
    (lambda: select.select([pipes[1]], [], []), '(select|pselect6) ' + names[1]),
    (lambda: epoll.poll(), '(epoll_wait|epoll_pwait) ' + names[0]),
]
def hang(call, text):
    os.write(1, ('%d %s\n' % (tid(), text)).encode())
    call()
for call, text in calls[1:]:
    threading.Thread(target=hang, args=(call, text), daemon=True).start()
hang(*calls[0])
'''


def test_paths_children_and_descriptors(analyse, tmp_path):
    """What only other arguments than the first tell, and memory."""
    fifo = tmp_path / 'fifo\x1b[31m'
    argv = ['/usr/bin/python3', '-c', ARGUMENTS, fifo]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as one:
        try:
            told = dict(one.stdout.readline().rstrip('\n').split(' ', 1) for _ in range(7))
            wait_until_all_hang(one.pid, told)
            out = analyse('syscalls', '-p', one.pid, '--seconds', '0.3').text
        finally:
            os.killpg(one.pid, signal.SIGKILL)
    lines = lines_of(out)
    assert set(lines) == set(told), out
    for tid, text in told.items():
        wanted = re.escape(text.replace('\x1b', '\\x1b')).replace(r'\(select\|pselect6\)', '(select|pselect6)').replace(
            r'\(epoll_wait\|epoll_pwait\)', '(epoll_wait|epoll_pwait)')
        assert re.fullmatch(wanted, lines[tid][0]), (text, out)


def test_functions_of_python(hung, analyse):
    """The innermost ones; of a program without Python, none."""
    one, told = hung
    out = analyse('syscalls', '-p', one.pid, '--seconds', '0.3').text
    for tid in told:
        line, = (line for line in out.splitlines() if f' {tid} is still in ' in line)
        assert re.search(r', called by (socket.accept .*)?<lambda> \(<string>:\d+\) < hang \(<string>:\d+\)( < .*)?, since ', line), out
    rows = analyse('syscalls', '--json', '-p', one.pid, '--seconds', '0.3').table('unreturned')['rows']
    assert {str(row['tid']): row['call'] for row in rows} == told and not any('duration' in row for row in rows), rows
    assert all(' (<string>:' in row['python'] for row in rows), rows
    with subprocess.Popen(['sleep', '600']) as sleeper:
        out = analyse('syscalls', '-p', sleeper.pid, '--seconds', '0.2').text
        sleeper.kill()
    assert re.search(r' is still in \w+, (for|since) ', out), out


def test_threads_of_the_kernel_are_in_no_call(analyse):
    """/proc/2/syscall says that it is in call 0."""
    if not os.path.exists('/proc/2/syscall') or os.path.exists('/proc/2/exe') and os.readlink('/proc/2/exe'):
        pytest.skip('needs kthreadd')
    assert 'is still in' not in analyse('syscalls', '-q', '-p', '2', '--seconds', '0.2').text


def test_at_the_end_of_a_recording(prof, hanging, analyse, tmp_path):
    """Three of them, or all; the call is known, and not what it waits on."""
    one, told = hanging
    path = tmp_path / 'hang.data'
    with subprocess.Popen([prof, 'record', '--usage-self', '50', '-e', PAIR, '-p', str(one.pid), '-o', path], stderr=subprocess.PIPE,
                          text=True) as recorder:
        assert recorder.stderr.readline()      # its loop runs: the events are on
        (tmp_path / 'go').touch()
        wait_until_all_hang(one.pid, told)
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=60)
    calls = {(tid, text.split()[0]) for tid, text in told.items()}
    line = re.compile(r'^\S+ (\d+) was still in (\w+)\(\d+\) at the end, for at least \d+\.\d{3} ms: not in the table$', re.M)
    some = analyse('syscalls', '-I', path).text
    assert len(line.findall(some)) == 3 and set(line.findall(some)) < calls, some
    assert '\n3 more threads were in a call (--full shows all)\n' in some
    assert set(line.findall(analyse('syscalls', '--full', '-i', '100', '-I', path).text)) == calls
    rows = analyse('syscalls', '--json', '-I', path).table('unreturned')['rows']
    assert {(str(row['tid']), row['call'].partition('(')[0]) for row in rows} == calls
    assert all('python' not in row and row['duration'] >= 0 for row in rows)


def test_exit_is_no_call_that_hangs(prof, analyse, tmp_path):
    path = tmp_path / 'exit.data'
    subprocess.run([prof, 'record', '-e', PAIR, '-o', path, '--', 'sh', '-c', 'true; true'], check=True, capture_output=True, timeout=60)
    assert ' was still in ' not in analyse('syscalls', '--errors', '-I', path).text      # which has no ends of other calls
    text = analyse('syscalls', '-I', path).text
    assert ' was still in ' not in text and re.search(r'^incomplete calls: 1 ended with their task', text, re.M), text
