# SPDX-License-Identifier: Apache-2.0
"""perf-prof top on the full screen of a terminal: what it shows, its keys, and how it leaves."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from frame import requires

pytest.importorskip('pyte', reason='needs python3-pyte')
from frame.screen import Screen  # noqa: E402

pytestmark = pytest.mark.live

EVENT = 'syscalls:sys_enter_getppid//top-by=1/top-add=-2/alias=n/'
ROW = re.compile(r'^ *(\d+) +(\d+) +(-?\d+)  (.*)$', re.M)
NAMED = ('import ctypes, os, time\n'
         'ctypes.CDLL(None).prctl(15, {name!r}, 0, 0, 0)\n'
         'while True:\n    ctypes.CDLL(None).getppid(); time.sleep(0.005)\n')


@pytest.fixture(autouse=True)
def needs(prof):
    reason = next(filter(None, map(requires.why_not, ('tracefs', 'root'))), None)
    if reason:
        pytest.skip(reason)
    if 'ncurses: no' in subprocess.run([prof, 'version', '--build-options'], capture_output=True, text=True).stdout:
        pytest.skip('needs a build with ncurses')


@pytest.fixture
def slow_and_fast(storm):
    """Pids of two storms, of 100 and of 1000 calls a second, until the test ends."""
    with contextlib.ExitStack() as stack:
        def start(rate):
            one = subprocess.Popen([storm, 'getppid', '10000000', str(rate)], stdout=subprocess.DEVNULL)
            stack.callback(one.wait)
            stack.callback(one.kill)
            return one.pid
        yield start(100), start(1000)


@pytest.fixture
def top(prof):
    """A screen with two storms at work; top() starts it."""
    with contextlib.ExitStack() as stack:
        def start(*args, event=EVENT, **kw):
            return stack.enter_context(Screen([prof, 'top', '-e', event, *map(str, args)], **kw))
        yield start


def rows(screen):
    return [(int(m[1]), int(m[2]), int(m[3]), m[4]) for m in ROW.finditer(screen.text)]


def wait_rows(screen, condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition(rows(screen)):
        assert time.monotonic() < deadline, screen.text
        screen.read()


def order(screen, *pids):
    wait_rows(screen, lambda r: [row[0] for row in r] == list(pids))


# ---------------------------------------------------------------- what it shows

def test_shows_a_table(top, slow_and_fast):
    slow, fast = slow_and_fast
    s = top('-i', 300, '-p', f'{slow},{fast}')
    order(s, fast, slow)
    assert re.match(r'perf-prof top  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}  \d+ events/s  2 rows  lost 0$', s.lines[0])
    assert s.lines[1] == 'by n.1, descending'
    assert re.fullmatch(r' *KEY +n\.1 +n\.-2  NAME', s.lines[2])
    assert s.lines[-1].startswith('q quit')
    for _, calls, less, name in rows(s):
        assert less == -2 * calls and name == 'storm'
    s.press('q')
    assert s.ended() == 0


@pytest.mark.slow
def test_without_i_it_is_once_a_second(top, slow_and_fast):
    s = top('-p', slow_and_fast[1])
    s.wait_for(r'waiting for the first interval')
    wait_rows(s, lambda r: r and 700 < r[0][1] < 1300)


def test_sort(top, slow_and_fast):
    slow, fast = slow_and_fast
    s = top('-i', 200, '-p', f'{slow},{fast}')
    order(s, fast, slow)
    for keys, state, column in (('3', r'^by n\.-2, descending', 2), ('r', r'^by n\.-2, ascending', 2),
                                ('<', r'^by n\.1, descending', 1), ('>', r'^by n\.-2, descending', 2),
                                ('>', r'^by NAME, ascending', 3), ('>', r'^by KEY, descending', 0),
                                ('<', r'^by NAME, ascending', 3), ('1r', r'^by KEY, ascending', 0),
                                ('9', r'^by KEY, ascending', 0)):
        s.press(keys)
        s.wait_for(state)
        down = 'descending' in state
        wait_rows(s, lambda r: len(r) == 2 and r == sorted(r, key=lambda row: row[column], reverse=down))


def test_pause_and_help(top, slow_and_fast):
    s = top('-i', 100, '-p', slow_and_fast[1])
    wait_rows(s, bool)
    s.press('p')
    s.wait_for('PAUSED')
    before = s.text
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        s.read()
    assert s.text == before
    s.press('r')                                # the table that stands there still obeys
    s.wait_for('ascending   PAUSED')
    s.press('h')
    s.wait_for('^q +quit')
    s.press('q')                                # only leaves the help
    s.wait_for('PAUSED')
    s.press(' ')
    wait_rows(s, lambda r: 'PAUSED' not in s.text and s.lines[0] != before.split('\n')[0])


def test_filter(top, slow_and_fast):
    slow, fast = slow_and_fast
    s = top('-i', 200, '-p', f'{slow},{fast}')
    order(s, fast, slow)
    s.press('/')
    s.wait_for(r'^only rows with: _')
    s.press(f'{slow}xé\x7f\x7f')                # characters go whole
    s.wait_for(f'^only rows with: {slow}_')
    s.press('\n')
    s.wait_for(f'only: {slow}')
    order(s, slow)
    s.press('/STORM\n')                         # in any case
    order(s, fast, slow)
    s.press('/nothing\x1b')                     # Esc leaves it as it was
    s.wait_for('only: STORM')
    s.press('/nosuch\n')
    wait_rows(s, lambda r: not r)
    s.press('/\n')
    order(s, fast, slow)
    assert 'only:' not in s.text


@pytest.mark.soak     # a terminal that is resized in the middle of a drawing may keep a part of it
def test_resize(top, slow_and_fast):
    slow, fast = slow_and_fast
    s = top('-i', 100, '-p', f'{slow},{fast}')
    order(s, fast, slow)
    for size in ((40, 120), (8, 30), (3, 10), (1, 1)):
        s.size(*size)
        drawn = len(s.raw)
        wait_rows(s, lambda _: len(s.raw) > drawn)
        assert all(len(line) <= size[1] for line in s.lines)
        s.size(24, 80)
        order(s, fast, slow)
    s.press('q')
    assert s.ended() == 0 and s.is_restored()


def test_as_many_rows_as_fit(top):
    s = top('-i', 200, event='raw_syscalls:sys_enter//key=_time%100/', lines=12)
    s.wait_for(r'^\.\.\. \d+ more$')
    assert sum(bool(re.match(r' *\d+ +\d+$', line)) for line in s.lines) == 12 - 5


def test_names_are_escaped(top):
    code = NAMED.format(name=b'\x1b[31mX\x07\xff\xe2\x82\xac')
    with subprocess.Popen([sys.executable, '-c', code]) as hostile:
        try:
            s = top('-i', 200, '-p', hostile.pid)
            s.wait_for(r'\\x1b\[31mX\\x07\\xff€')
            assert b'\x1b[31m' not in s.raw and b'\x07' not in s.raw
        finally:
            hostile.kill()


def test_keys_under_a_flood(top, storm):
    """Where nothing is ever idle a key is heard all the same."""
    with subprocess.Popen([storm, 'getppid', '100000000'], stdout=subprocess.DEVNULL) as flood:
        try:
            s = top('-i', 1000, event='raw_syscalls:sys_enter')
            s.wait_for('events/s')
            s.press('2')
            s.wait_for('^by sys_enter')
            s.press('q')
            assert s.ended() == 0 and s.is_restored()
        finally:
            flood.kill()


# ---------------------------------------------------------------- how it leaves

def test_what_stood_there_last_stays(top, slow_and_fast):
    s = top('-i', 200, '-p', slow_and_fast[1])
    wait_rows(s, bool)
    s.press('q')
    assert s.ended() == 0 and s.is_restored()
    after = s.raw[s.raw.rfind(b'\x1b[?1049l'):].decode()
    assert re.search(r'perf-prof top  .* events/s .*\r\n.*KEY +n\.1 +n\.-2 +NAME.*\r\n *\d+ +\d+ +-\d+  storm\r\n$', after)


@pytest.mark.parametrize('end', ['\x03', 'INT', 'TERM', 'HUP'])
def test_signals_end_it(top, slow_and_fast, end):
    s = top('-i', 200, '-p', slow_and_fast[1])
    wait_rows(s, bool)
    (s.press if end == '\x03' else s.signal)(end)
    assert s.ended() == 0 and s.is_restored()


@pytest.mark.slow                               # a sanitizer's own handlers stay
@pytest.mark.parametrize('name', ['QUIT', 'SEGV', 'ABRT', 'BUS', 'FPE', 'ILL'])
def test_signals_that_kill(top, slow_and_fast, name):
    s = top('-i', 200, '-p', slow_and_fast[1])
    wait_rows(s, bool)
    s.signal(name)
    assert s.ended() == -getattr(signal, f'SIG{name}')
    assert s.is_restored()


# A shell with jobs: the program is in the foreground; stopped, it goes on once there is a file.
JOBS = '''
import os, signal, sys, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if not pid:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[2], sys.argv[2:])
_, status = os.waitpid(pid, os.WUNTRACED)
print("stopped", os.WIFSTOPPED(status), flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
os.kill(pid, signal.SIGCONT)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
'''


@pytest.mark.slow
def test_suspended_and_continued(prof, slow_and_fast, tmp_path):
    argv = [sys.executable, '-c', JOBS, tmp_path / 'go', prof, 'top', '-e', EVENT, '-i', '200', '-p', str(slow_and_fast[1])]
    with Screen(argv) as s:
        wait_rows(s, bool)
        s.press('\x1a')
        s.wait_for('stopped True')
        assert s.is_restored()
        s.screen.reset()
        (tmp_path / 'go').touch()
        s.wait_for(r'^perf-prof top .*\n(.*\n)*q quit')
        s.press('q')
        assert s.ended() == 0 and s.is_restored()


def test_exit_n(top, slow_and_fast):
    s = top('-i', 10000, '-N', 20, '-p', slow_and_fast[1])
    assert s.ended() == 0 and s.is_restored()
    assert re.search(r'20 +-40  storm\r\n$', s.raw.decode())


@pytest.mark.slow
def test_the_target_ends(top, storm):
    with subprocess.Popen([storm, 'getppid', '3000', '1000'], stdout=subprocess.DEVNULL) as one:
        s = top('-i', 100, '-p', one.pid)
        assert s.ended() == 0 and s.is_restored()


MUCH = 'raw_syscalls:sys_enter//key=_time%10000/top-by=_time%77777777/'   # rows for a large screen, new ones each time


def wait_stuck(pid):
    """Until the program hangs in write(1, ...), as nobody reads its terminal."""
    deadline = time.monotonic() + 20
    since = None
    while since is None or time.monotonic() - since < 0.5:
        assert time.monotonic() < deadline, 'it never was stuck'
        with open(f'/proc/{pid}/syscall') as f:
            since = (since or time.monotonic()) if f.read().startswith('1 0x1 ') else None
        time.sleep(0.01)


def test_a_second_ctrl_c_where_nobody_reads(top, slow_and_fast):
    """It is stuck in writing to the terminal; the modes are as before all the same."""
    s = top('-i', 10, event=MUCH, lines=300, columns=300)
    s.wait_for('events/s')
    wait_stuck(s.process.pid)
    s.signal('INT')
    time.sleep(0.4)                             # what follows at once is the same request
    s.signal('INT')
    code = s.process.wait(60)
    assert s.modes() == s.before
    assert code in (130, 0)                     # 0: the terminal had just enough room for its last words


def test_ctrl_z_while_it_writes(prof, tmp_path):
    argv = [sys.executable, '-c', JOBS, tmp_path / 'go', prof, 'top', '-i', '10', '-e', MUCH]
    with Screen(argv, lines=300, columns=300) as s:
        s.wait_for('events/s')
        with open(f'/proc/{s.process.pid}/task/{s.process.pid}/children') as f:
            child = int(f.read().split()[0])
        wait_stuck(child)
        os.kill(child, signal.SIGTSTP)
        s.wait_for('stopped True')
        s.screen.reset()
        (tmp_path / 'go').touch()
        s.wait_for('q quit')
        s.press('q')
        assert s.ended() == 0


@pytest.mark.parametrize('apart', [False, True])
def test_stderr_waits_on_a_terminal_alone(top, slow_and_fast, tmp_path, apart):
    with open(tmp_path / 'stderr', 'wb') as f:
        s = top('-i', 200, '-v', '-p', slow_and_fast[1], **({'stderr': f} if apart else {}))
        wait_rows(s, bool)
        s.press('q')
        assert s.ended() == 0
    assert ('perf-prof: ' in (tmp_path / 'stderr').read_text()) == apart == (b'perf-prof: ' not in s.raw)
    enter, leave = s.raw.find(b'\x1b[?1049h'), s.raw.rfind(b'\x1b[?1049l')
    assert b'perf-prof: ' not in s.raw[enter:leave]


# ---------------------------------------------------------------- where there is no screen

def test_what_is_wrong_is_told_on_the_plain_terminal(top):
    s = top('-k', 'nosuch')
    assert s.ended() == 2
    assert 'there is no field nosuch' in s.text and b'\x1b[?1049h' not in s.raw


@pytest.mark.parametrize('term', ['dumb', 'nosuchterminal', ''])
def test_terminals_that_can_not(top, slow_and_fast, term):
    s = top('-i', 200, '-N', 300, '-p', slow_and_fast[1], term=term)
    assert s.ended() == 0
    assert 'KEY' in s.text and 'storm' in s.text and b'\x1b[?' not in s.raw


def test_a_command_has_the_terminal(top):
    s = top('--', 'sh', '-c', 'read x; echo got $x')
    s.press('q\n')
    assert s.ended() == 0
    assert 'got q' in s.text and b'\x1b[?1049h' not in s.raw


@pytest.mark.parametrize('option', [('--json',), ('-i', '0')])
def test_options_that_print(top, slow_and_fast, option):
    s = top(*option, '-N', 20, '-p', slow_and_fast[1])
    assert s.ended() == 0
    assert b'\x1b[?1049h' not in s.raw and 'storm' in s.text
