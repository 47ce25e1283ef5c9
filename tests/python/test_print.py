# SPDX-License-Identifier: Apache-2.0
"""event.print(): the layout, whose names stand in it, and where it goes."""
import ctypes
import re
import signal
import subprocess
import threading
import time

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

LINE = re.compile(r'(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) (?P<comm> *\S.{0,62}?) '
                  r'(?P<pid> *(?:\d+|-1)) (?P<flags>[db.][NnpLl.BbG][ZzHhs.][0-9a-f.]) '
                  r'\[(?P<cpu>\d{3,})\] (?P<time>\d+\.\d{6}): (?P<event>\w+:\w+): (?P<text>.*)')
PR_SET_NAME = 15


def set_name(name):
    """Of the calling thread."""
    assert ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0) == 0


def in_a_thread(function, *args):
    """Called by one that ends then."""
    thread = threading.Thread(target=function, args=args)
    thread.start()
    thread.join()


class Watching:
    """A run whose events are on, so that something can happen; its output with `until` in it."""

    def __init__(self, prof, folder, events, text, *args):
        script = folder / 's.py'
        script.write_text('def __interval__(): print("ready", flush=True)\n' + text)
        self.run = subprocess.Popen([prof, 'python', *args, '-i', '50', '-e', events, script],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.limit = threading.Timer(20, self.run.kill)
        self.limit.start()
        self.out = b''
        self.read('ready')

    def read(self, until):
        while until not in self.out.decode(errors='replace'):
            line = self.run.stdout.readline()
            assert line, (f'returncode {self.run.wait()}', self.out, self.run.stderr.read())
            self.out += line

    def end(self, until, cause):
        """After cause(), once more now and then: the kernel leaves out events of some tasks."""
        over = threading.Event()

        def repeat():
            cause()
            while not over.wait(0.5):
                cause()
        causing = threading.Thread(target=repeat)
        causing.start()
        try:
            self.read(until)
            self.run.send_signal(signal.SIGINT)
            rest, err = self.run.communicate()
        finally:
            over.set()
            causing.join()
            self.run.kill()
            self.limit.cancel()
        assert not err, err
        return (self.out + rest).decode()


def test_the_layout(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import time\n'
        'def __sample__(e):\n'
        '    print(repr((e._pid, e._tid, e._cpu, e._time, e._realtime)))\n'
        '    e.print()\n'
        '    e.print(timestamp=False)\n')
    out = python('s.py', event='sched:sched_switch', events=50).stdout.splitlines()[1:]
    assert len(out) == 150
    for told, line, short in zip(out[::3], out[1::3], out[2::3]):
        _, tid, cpu, ns, real = eval(told)
        at = LINE.fullmatch(line)
        assert at, line
        assert line == f'{at["stamp"]} {short}'
        assert len(at['comm']) >= 16 and len(at['pid']) >= 6
        assert int(at['pid']) in (tid, tid - 2**32) and int(at['cpu']) == cpu      # -1: of a thread that is gone
        assert at['time'] == f'{ns // 10**9}.{ns % 10**9 // 1000:06}'
        local = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(real // 10**9))
        # the offset between the clocks is measured anew now and then
        assert at['stamp'].startswith(local[:17])
        assert at['event'] == 'sched:sched_switch'
        prev, state = re.match(r'prev_comm=.* prev_pid=(\d+) prev_prio=\d+ prev_state=(\S+) ==> '
                               r'next_comm=.* next_pid=\d+ next_prio=\d+$', at['text']).groups()
        assert int(prev) == tid or tid == 2**32 - 1     # of a thread that is gone: no number any more
        assert re.fullmatch(r'(R|[SDTtXZPI](\|[SDTtXZPI])*)\+?', state)
        if not tid:
            assert at['comm'].strip() == 'swapper'


def idle_ticks():
    with open('/proc/stat') as stat:
        return int(stat.readline().split()[4])


def test_no_idle_task_without_a_name(python, tmp_path):
    before = idle_ticks()
    time.sleep(0.3)
    if idle_ticks() == before:
        pytest.skip('no CPU has an idle moment')
    (tmp_path / 's.py').write_text(
        'def __sample__(e):\n    if not e._pid: e.print(timestamp=False)\n')
    run = python('s.py', event='sched:sched_switch', events=0, until=' 0 ')
    lines = run.stdout.splitlines()[1:]
    assert lines and all(line.split()[:2] == ['swapper', '0'] for line in lines)


def test_a_thread_of_before_that_ends(prof, tmp_path):
    named = threading.Barrier(9)
    ends = [threading.Event() for _ in range(8)]

    def live(end):
        set_name(b'was here before')
        named.wait(10)
        end.wait()

    threads = [threading.Thread(target=live, args=(end,)) for end in ends]
    for thread in threads:
        thread.start()
    named.wait(10)
    tids = {thread.native_id for thread in threads}
    run = Watching(prof, tmp_path, 'sched:sched_process_exit',
                   f'def __sample__(e):\n    if e._tid in {tids}:\n'
                   '        e.print()\n        print("end", flush=True)\n')
    try:
        out = run.end('end\n', lambda: ends and ends.pop().set())
    finally:
        for end in ends:
            end.set()
    gone = re.findall(r'^\S+ \S+ (.*\S) +(\d+) \S+ \[', out, re.M)
    assert gone and all(name.strip() == 'was here before' and int(tid) in tids for name, tid in gone)


def test_short_lives(prof, tmp_path):
    """Whoever it was, a process that began and ended within the run has its name."""
    run = Watching(prof, tmp_path, 'sched:sched_process_exit',
                   'def __sample__(e):\n    e.print()\n    if e.comm == "all done": print("end", flush=True)\n')
    for _ in range(50):
        subprocess.run(['true'], check=True)
    out = run.end('end\n', lambda: in_a_thread(set_name, b'all done'))
    assert '<...>' not in out
    names = re.findall(r'^.{26} +(\S+) +\d+ .*: comm=true ', out, re.M)
    assert set(names) == {'true'}
    assert len(names) >= 10     # the kernel leaves out events of some tasks, now and then of a third


def test_a_kept_event_keeps_its_name(prof, tmp_path):
    run = Watching(prof, tmp_path, 'sched:sched_process_exec,sched:sched_process_exit',
                   'kept = []\n'
                   'def sched__sched_process_exec(e): kept.append(e)\n'
                   'def sched__sched_process_exit(e):\n'
                   '    if e.comm == "sleep": print("end", flush=True)\n'
                   'def __exit__():\n    for e in kept: e.print(timestamp=False)\n', '--order')
    out = run.end('end\n', lambda: subprocess.run(['sh', '-c', 'exec sleep 0.01'], check=True))
    pids = re.findall(r' sleep +(\d+) .*exec: filename=\S+sleep ', out)
    assert any(re.search(rf'^ +sh +{pid} .*exec: filename=\S+sh ', out, re.M) for pid in pids)


def test_control_characters_are_shown(prof, tmp_path):
    run = Watching(prof, tmp_path, 'sched:sched_process_exit',
                   'def __sample__(e):\n    if "red" in e.comm:\n        e.print()\n'
                   '        print("end", flush=True)\n')
    out = run.end('end\n', lambda: in_a_thread(set_name, b'\x1b[31mred\xff\xc2\x9b'))
    name = r'\x1b[31mred\xff\xc2\x9b'
    assert f' {name} ' in out and f'comm={name} pid=' in out
    assert '\x1b' not in out and '\x9b' not in out


def test_order_and_redirection(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import contextlib, io, sys\n'
        'n = 0\n'
        'def __sample__(e):\n'
        '    global n\n'
        '    n += 1\n'
        '    print("before", n)\n'
        '    e.print(timestamp=False)\n'
        '    print("after", n)\n'
        '    to = io.StringIO()\n'
        '    with contextlib.redirect_stdout(to):\n'
        '        e.print(timestamp=False)\n'
        '    assert to.getvalue().count("\\n") == 1 and " sched:sched_switch: " in to.getvalue()\n'
        '    sys.stdout, out = None, sys.stdout\n'
        '    e.print()\n'
        '    sys.stdout = out\n')
    lines = python('s.py', event='sched:sched_switch', events=20).stdout.splitlines()[1:]
    assert len(lines) == 60
    for i in range(20):
        assert lines[3 * i] == f'before {i + 1}' and lines[3 * i + 2] == f'after {i + 1}'
        assert ' sched:sched_switch: prev_comm=' in lines[3 * i + 1]


def test_a_stdout_that_refuses(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import sys\n'
        'class Full:\n'
        '    def write(self, text): raise ValueError("full")\n'
        '    def flush(self): pass\n'
        'def __sample__(e):\n'
        '    out, sys.stdout = sys.stdout, Full()\n'
        '    try:\n'
        '        e.print()\n'
        '    except ValueError as error:\n'
        '        print("refused", error, file=out)\n'
        '    finally:\n'
        '        sys.stdout = out\n')
    assert 'refused full' in python('s.py', event='sched:sched_switch').stdout


def test_functions_have_names(python, tmp_path):
    with open('/proc/kallsyms') as f:
        if not int(f.readline().split()[0], 16):
            pytest.skip('needs addresses in /proc/kallsyms')
    (tmp_path / 's.py').write_text('def __sample__(e): e.print()\n')
    out = python('s.py', event='timer:hrtimer_start', events=20).stdout
    names = re.findall(r' function=(\S+) expires=', out)
    assert len(names) == 20
    assert all(re.fullmatch(r'[A-Za-z_][\w.]*', name) for name in names)


def test_a_long_line_is_whole(prof, tmp_path):
    run = Watching(prof, tmp_path, 'sched:sched_process_exec',
                   'def sched__sched_process_exec(e):\n'
                   '    if e.filename.endswith("/.//true"):\n'
                   '        e.print()\n        print("end", flush=True)\n')
    path = '/' + './/' * 1300 + 'bin/.//true'
    out = run.end('end\n', lambda: subprocess.run([path], check=True))
    assert f'filename={path} pid=' in out
