# SPDX-License-Identifier: Apache-2.0
"""event.print(): the layout, whose names stand in it, and where it goes."""
import re
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.live('tracefs', 'root')

LINE = re.compile(r'(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) (?P<comm> *\S.{0,62}?) '
                  r'(?P<pid> *(?:\d+|-1)) (?P<flags>[db.][NnpLl.BbG][ZzHhs.][0-9a-f.]) '
                  r'\[(?P<cpu>\d{3,})\] (?P<time>\d+\.\d{6}): (?P<event>\w+:\w+): (?P<text>.*)')
def shown(prof, folder, events, text, *command):
    """What a script prints of what the command does, and nobody else."""
    (folder / 's.py').write_text(text)
    done = subprocess.run([prof, 'python', '-m', '4M', '--order', '-e', events, 's.py', '--', *command], cwd=folder, capture_output=True,
                          timeout=60)
    assert (done.returncode, done.stderr) == (0, b''), done
    return done.stdout.decode().split('\n', 1)[1]


def test_the_layout(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import time\n'
        'def __sample__(e):\n'
        '    print(repr((e._pid, e._tid if e._tid < 2**31 else e.common_pid, e._cpu, e._time, e._realtime)))\n'
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
        assert (int(at['pid']), int(at['cpu'])) == (tid, cpu)      # of a thread that is gone: what the event itself says
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


NAMED = '''
import ctypes, sys, threading
def live():
    ctypes.CDLL(None).prctl(15, %r)
thread = threading.Thread(target=live)
thread.start()
thread.join()
'''


def test_control_characters_are_shown(prof, tmp_path):
    out = shown(prof, tmp_path, 'sched:sched_process_exit', 'def __sample__(e):\n    if "red" in e.comm: e.print()\n',
                sys.executable, '-c', NAMED % b'\x1b[31mred\xff\xc2\x9b')
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


def test_a_long_line_is_whole(prof, tmp_path):
    path = '/' + './/' * 1300 + 'bin/.//true'
    out = shown(prof, tmp_path, 'sched:sched_process_exec', 'def __sample__(e): e.print()\n', path)
    assert f'filename={path} pid=' in out
