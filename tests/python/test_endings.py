# SPDX-License-Identifier: Apache-2.0
"""How a script ends the run, and what it leaves behind: exits, threads, children."""
import contextlib
import re
import signal
import subprocess

import pytest

from frame import requires

for word in ('tracefs', 'root'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

@contextlib.contextmanager
def flood():
    """More events than a small ring holds while its reader sleeps."""
    process = subprocess.Popen(['/usr/bin/python3', '-c', 'import os\nwhile True: os.getppid()'])
    try:
        yield
    finally:
        process.kill()
        process.wait()


HANDLERS = {
    'a handler': 'def __sample__(e):\n    print("sample", flush=True)\n    {}\n',
    '__interval__': 'def __sample__(e): pass\ndef __interval__():\n    print("tick", flush=True)\n    {}\n',
    '__print_stat__': 'import os, signal\ndef __sample__(e): os.kill(os.getpid(), signal.SIGUSR2)\n'
                      'def __print_stat__(indent):\n    {}\n',
}


@pytest.mark.deep
@pytest.mark.parametrize('where', HANDLERS)
@pytest.mark.parametrize('statement, code, said', [
    ('sys.exit(7)', 7, ''), ('sys.exit()', 0, ''), ('sys.exit(None)', 0, ''), ('sys.exit(0)', 0, ''),
    ('sys.exit(True)', 1, ''), ('sys.exit(256 + 3)', 3, ''), ('sys.exit(-1)', 255, ''),
    ('sys.exit("what went wrong")', 1, 'what went wrong\n'), ('raise SystemExit(4)', 4, ''),
    ('raise KeyboardInterrupt', 0, ''),
])
def test_exits(python, tmp_path, where, statement, code, said):
    (tmp_path / 's.py').write_text('import sys\n' + HANDLERS[where].format(statement)
                                   + 'def __exit__(): print("left")\n')
    done = python('-i', '20', 's.py', events=0, check=None)
    assert done.returncode == code
    assert done.stderr == said
    assert done.stdout.splitlines()[-1] == 'left'
    assert done.stdout.count('sample\n') <= 1 and done.stdout.count('tick\n') <= 1


def test_exit_in_lost(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import sys, time\nn = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
        '    if n == 1: time.sleep(0.5)\n'
        'def __lost__(a, b): sys.exit(5)\ndef __exit__(): print("left")\n')
    with flood():
        done = python('-m', '1', 's.py', event='syscalls:sys_enter_getppid', events=0, check=5)
    assert done.stdout.splitlines()[-1] == 'left'
    assert re.search('lost [1-9]', done.stderr), 'losses are told'


@pytest.mark.deep
@pytest.mark.parametrize('order', [[], ['--order']])
def test_seconds_end_a_run_whose_handler_is_too_slow(python, tmp_path, order):
    """The rings have events for hours: as after Ctrl-C, they are delivered for half a second, and the others counted."""
    (tmp_path / 's.py').write_text(
        'import time\nn = 0\ndef __sample__(e):\n    global n\n    n += 1\n    time.sleep(0.1)\n'
        'def __exit__(): print("left", n)\n')
    with flood():
        done = python('--seconds', '0.5', *order, 's.py', event='syscalls:sys_enter_getppid', events=0, check=None, timeout=100)
    assert not done.returncode and int(done.stdout.split()[-1]) > 0 and re.search('lost [1-9]', done.stderr), done


def test_ctrl_c_after_seconds_is_the_first(prof, tmp_path):
    """What the script prints at its end is not lost."""
    (tmp_path / 's.py').write_text(
        'import time\ndef __sample__(e): pass\ndef __exit__():\n    print("ending", flush=True)\n    time.sleep(2)\n    print("left")\n')
    with subprocess.Popen([prof, 'python', '-e', 'sched:sched_switch', '--seconds', '0.2', 's.py'], cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        while run.stdout.readline() not in ('ending\n', ''):
            pass
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 0 and out == 'left\n', (run.returncode, out, err)


@pytest.mark.deep
@pytest.mark.parametrize('options, remedy', [
    ('-m 1', '(-m 8M) or --buffer 256M'), ('-m 8M', '(-m 32M) or --buffer 256M'),
])
def test_the_first_loss_names_what_helps(python, tmp_path, options, remedy):
    """In its own line, and once; of each more than there is. A line a second is written at most: of losses in four
    seconds at least two are, also where this is away for a while."""
    (tmp_path / 's.py').write_text(
        'import sys, time\ndue = time.monotonic()\nseconds = [0]\ndef __sample__(e):\n    global due\n'
        '    if time.monotonic() > due:\n        time.sleep(1.2)\n        due = time.monotonic() + 0.1\n'
        'def __lost__(a, b):\n    if time.monotonic() > seconds[-1] + 1.05: seconds.append(time.monotonic())\n'
        '    if len(seconds) > 4: sys.exit(0)\n')
    with flood():
        done = python(*options.split(), 's.py', event='syscalls:sys_enter_getppid', events=0, check=None, timeout=120)
    told = re.findall('^perf-prof: lost ([0-9]+) events(.*)$', done.stderr, re.M)
    assert remedy in told[0][1] and len(told) > 1, done
    assert not any('--buffer' in rest for _, rest in told[1:]), done


def test_exit_tells_what_was_lost(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import sys, time\nn = 0\nlost = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
        '    if n == 1: time.sleep(0.5)\n    if lost: sys.exit(3)\n'
        'def __lost__(a, b, how):\n    global lost\n    lost += how["count"]\n'
        '    assert how["cause"] == "ring" and how["cpu"] >= 0\n'
        'def __exit__(): print("left", lost)\n')
    with flood():
        done = python('-m', '1', 's.py', event='syscalls:sys_enter_getppid', events=0, check=3)
    left = int(re.search(r'^left (\d+)$', done.stdout, re.M).group(1))
    told = [int(n) for n in re.findall(r'delivered, (\d+) lost', done.stderr)]
    assert left > 0 and told and told[0] >= left


@pytest.mark.deep
@pytest.mark.parametrize('handler, want', [
    ('def __lost__(start, end): print("lost", start, end)', r'^lost 0 0$'),
    ('def __lost__(start, end, how): print("lost", sorted(how))', r"^lost \['cause', 'count', 'cpu'\]$"),
    ('def __lost__(start, end, how=None): print("lost", how["count"] > 0)', '^lost True$'),
    ('def __lost__(*args): print("lost", len(args))', '^lost 3$'),
])
def test_what_lost_is_told(python, tmp_path, handler, want):
    (tmp_path / 's.py').write_text('import time\nn = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
                                   '    if n == 1: time.sleep(0.5)\n' + handler + '\n')
    with flood():
        done = python('-m', '1', 's.py', event='syscalls:sys_enter_getppid', events=20000, check=None)
    assert re.search(want, done.stdout, re.M), done


def test_the_times_around_a_loss(python, tmp_path):
    """With --order: the last sample before it on that CPU, and the first one after, in whose
    place it is told."""
    (tmp_path / 's.py').write_text("""
import time
last, after, told, wrong, slept = {}, {}, 0, [], False
def __sample__(e):
    global slept
    if e._cpu in after:
        if e._time != after.pop(e._cpu): wrong.append('after')
    last[e._cpu] = e._time
    if not slept:
        slept = True
        time.sleep(0.5)
def __lost__(start, end, how):
    global told
    if how['cause'] != 'ring': return
    told += 1
    if not start < end: wrong.append('order')
    if last[how['cpu']] != start: wrong.append('before')
    after[how['cpu']] = end
def __exit__(): print('told', told > 0, wrong)
""")
    with flood():
        done = python('-m', '1', '--order', 's.py', event='syscalls:sys_enter_getppid', events=50000,
                      check=None)
    assert done.stdout.splitlines()[-1] == 'told True []', done


@pytest.mark.parametrize('text', ['sys.exit({})\n', 'def __init__(): sys.exit({})\n'])
@pytest.mark.parametrize('value, code, said', [('7', 7, ''), ('', 0, ''), ('"no disk"', 1, 'no disk\n')])
def test_exits_before_the_run(python, tmp_path, text, value, code, said):
    (tmp_path / 's.py').write_text('import sys\n' + text.format(value) + 'def __sample__(e): print("sample")\n'
                                   'def __exit__(): print("left")\n')
    done = python('s.py', check=None)
    assert (done.returncode, done.stderr) == (code, said)
    was_loaded = 'def __init__' in text
    assert done.stdout == (f'Loaded module: {tmp_path}/s.py\n' if was_loaded else '')


def test_help_of_a_script_that_parses_its_arguments(python, tmp_path):
    (tmp_path / 's.py').write_text('import argparse\np = argparse.ArgumentParser()\np.add_argument("--foo")\n'
                                   'p.parse_args()\ndef __sample__(e): pass\n')
    done = python('--', 's.py', '--help')
    assert 'usage: s.py [-h] [--foo FOO]' in done.stdout
    done = python('--', 's.py', '--bar', check=2)
    assert 'unrecognized arguments: --bar' in done.stderr


@pytest.mark.parametrize('first, second, code', [('0', '6', 6), ('6', '0', 0), ('2', '', 0)])
def test_exit_in_exit(python, tmp_path, first, second, code):
    (tmp_path / 's.py').write_text(f'import sys\ndef __sample__(e): sys.exit({first})\n'
                                   f'def __exit__(): sys.exit({second})\n')
    assert python('s.py', events=0, check=code).returncode == code


def test_an_exit_that_raises(python, tmp_path):
    (tmp_path / 's.py').write_text('def __sample__(e): pass\ndef __exit__(): raise KeyError(1)\n')
    done = python('s.py', check=None)
    assert done.returncode == 1 and 'KeyError: 1' in done.stderr


def test_atexit_runs_behind_exit(python, tmp_path):
    (tmp_path / 's.py').write_text('import atexit\natexit.register(print, "atexit")\n'
                                   'def __sample__(e): pass\ndef __exit__(): print("exit")\n')
    assert python('s.py').stdout.splitlines()[1:] == ['exit', 'atexit']


# ---- threads --------------------------------------------------------------------------

def test_threads_run_while_nothing_happens(python, tmp_path):
    """Nothing ever calls the script, yet its thread counts."""
    (tmp_path / 's.py').write_text(
        'import threading, time\ndef work():\n    for i in range(200): time.sleep(0.001)\n'
        '    print("done", flush=True)\nthreading.Thread(target=work).start()\n'
        'def __sample__(e): print("sample")\n')
    done = python('s.py', event='sched:sched_wakeup/prio==77/', until='^done$', timeout=15)
    assert done.stdout.splitlines()[1:] == ['done']


def test_threads_are_waited_for(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import threading, time\nends = threading.Event()\n'
        'def work():\n    ends.wait()\n    time.sleep(0.3)\n    print("thread")\n'
        'def __init__(): threading.Thread(target=work).start()\n'
        'def __sample__(e): pass\ndef __exit__():\n    print("exit")\n    ends.set()\n')
    assert python('s.py').stdout.splitlines()[1:] == ['exit', 'thread']


def test_daemon_threads_are_not(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import threading, time\ndef work():\n    while True: sum(range(1000))\n'
        'def __init__(): threading.Thread(target=work, daemon=True).start()\n'
        'def __sample__(e): pass\ndef __exit__(): print("exit")\n')
    assert python('s.py', timeout=10).stdout.splitlines()[1:] == ['exit']


def test_an_exception_in_a_thread_does_not_end_the_run(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import threading\ndef work(): raise KeyError("boom")\n'
        'def __init__():\n    t = threading.Thread(target=work)\n    t.start()\n    t.join()\n'
        'def __sample__(e): print("sample")\n')
    done = python('s.py', check=None)
    assert done.returncode == 0 and 'sample' in done.stdout and "KeyError: 'boom'" in done.stderr


def test_a_signal_of_the_script(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import signal\ndef ring(*args): print("alarm", flush=True)\n'
        'def __init__():\n    signal.signal(signal.SIGALRM, ring)\n    signal.setitimer(signal.ITIMER_REAL, 0.5)\n'
        'def __sample__(e): print("sample")\n')
    done = python('s.py', event='sched:sched_wakeup/prio==77/', until='^alarm$', timeout=15)
    assert done.stdout.splitlines()[1:] == ['alarm']


# ---- children -------------------------------------------------------------------------

def test_subprocesses(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import subprocess\ndef __sample__(e):\n'
        '    print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())\n'
        '    p = subprocess.Popen(["sleep", "100"])\n    p.terminate()\n    print(p.wait(5))\n')
    assert python('s.py').stdout.splitlines()[1:] == ['child', '-15']


@pytest.mark.parametrize('method', ['fork', 'spawn', 'forkserver'])
def test_multiprocessing(python, tmp_path, method):
    (tmp_path / 'work.py').write_text('def double(x): return 2 * x\n')
    (tmp_path / 's.py').write_text(
        'import multiprocessing, work\ndef __sample__(e):\n'
        f'    with multiprocessing.get_context("{method}").Pool(2) as pool:\n'
        '        print(pool.map(work.double, [1, 2, 3]))\n')
    assert python('s.py', timeout=25).stdout.splitlines()[1:] == ['[2, 4, 6]']


def test_a_child_dies_of_a_signal_that_comes_before_its_first_step(python, tmp_path):
    """On one CPU a child begins when its parent waits. (So a busy machine kept multiprocessing's pool waiting.)"""
    (tmp_path / 's.py').write_text(
        'import collections, os, signal, time\nos.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])\n'
        'ends = collections.Counter()\n'
        'def __sample__(e):\n    for _ in range(100):\n        pid = os.fork()\n'
        '        if not pid:\n            time.sleep(20)\n            os._exit(3)\n'
        '        os.kill(pid, signal.SIGTERM)\n        status = os.wait()[1]\n        ends[status] += 1\n'
        '        if status != signal.SIGTERM: break\n'
        'def __exit__(): print(dict(ends))\n')
    assert python('s.py', timeout=60).stdout.splitlines()[1:] == [str({int(signal.SIGTERM): 100})]


def test_events_in_children(python, tmp_path):
    """An event in hand, and those kept, are there in a forked child; and come back out of it."""
    (tmp_path / 's.py').write_text(
        'import multiprocessing\nkept = []\n'
        'def fields(e): return {k: v for k, v in e if k != "_realtime"}\n'
        'def work(e, queue): queue.put((e, fields(e)))\n'
        'def __sample__(e):\n    kept.append(e)\n    q = multiprocessing.SimpleQueue()\n'
        '    p = multiprocessing.Process(target=work, args=(e, q))\n    p.start()\n'
        '    back, there = q.get()\n    p.join()\n'
        '    print(back == e, hash(back) == hash(e), there == fields(e), p.exitcode)\n'
        'def __exit__():\n    with multiprocessing.Pool(2) as pool:\n'
        '        print(pool.map(fields, kept) == [fields(e) for e in kept])\n')
    assert python('s.py', events=3, timeout=25).stdout.splitlines()[1:] == ['True True True 0'] * 3 + ['True']


@pytest.mark.parametrize('ending, code', [
    ('return', 0), ('sys.exit(7)', 7), ('sys.exit()', 0), ('os._exit(8)', 8)])
def test_a_child_that_comes_back_ends(python, tmp_path, ending, code):
    """Whatever it does there, the run stays its parent's."""
    (tmp_path / 's.py').write_text(
        f'import os, sys\nn = 0\ndef once():\n    if os.fork() == 0:\n        {ending}\n'
        '    else:\n        print(os.WEXITSTATUS(os.wait()[1]), flush=True)\n'
        'def __sample__(e):\n    global n\n    n += 1\n    if n == 3: once()\n'
        'def __exit__(): print("exit", n)\n')
    # the child has the parent's buffer, as in any Python
    done = python('s.py', events=10)
    assert done.stdout.splitlines()[1:] == [str(code), 'exit 10']


def test_a_child_that_comes_back_from_interval(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import os\ndef __sample__(e): pass\ndef __interval__():\n    if os.fork() == 0: return\n'
        '    print("child", os.wait()[1], flush=True)\ndef __exit__(): print("exit")\n')
    done = python('-i', '20', 's.py', until='child 0\nchild 0')
    assert set(done.stdout.splitlines()[1:-1]) == {'child 0'} and done.stdout.endswith('\nexit\n')


@pytest.mark.parametrize('ending, code', [('return', 0), ('sys.exit(7)', 7), ('raise OSError', 1)])
def test_a_child_that_comes_back_from_init(python, tmp_path, ending, code):
    (tmp_path / 's.py').write_text(
        f'import os, sys\ndef __init__():\n    if os.fork() == 0:\n        {ending}\n'
        '    print("child", os.WEXITSTATUS(os.wait()[1]), flush=True)\n'
        'def __sample__(e): print("sample")\ndef __exit__(): print("exit")\n')
    done = python('s.py', check=None)
    assert done.stdout.splitlines()[1:] == [f'child {code}', 'sample', 'exit']
    assert done.returncode == 0 and ('OSError' in done.stderr) == (code == 1)


def test_a_child_that_comes_back_from_lost(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import os, time\nn = 0\nasked = False\ndef __sample__(e):\n    global n\n    n += 1\n'
        '    if n == 1: time.sleep(0.5)\n'
        'def __lost__(a, b):\n    global asked\n    if asked: return\n    asked = True\n'
        '    if os.fork() == 0: return\n    print("child", os.wait()[1], flush=True)\n'
        'def __exit__(): print("exit")\n')
    with flood():
        done = python('-m', '1', 's.py', event='syscalls:sys_enter_getppid', events=20000, check=None)
    assert done.stdout.splitlines()[1:] == ['child 0', 'exit']


def test_a_child_that_comes_back_from_a_signal_handler(python, tmp_path):
    (tmp_path / 's.py').write_text(
        'import os, signal\ndef ring(*args):\n    if os.fork() == 0: return\n'
        '    print("child", os.wait()[1], flush=True)\n'
        'def __init__():\n    signal.signal(signal.SIGALRM, ring)\n    signal.setitimer(signal.ITIMER_REAL, 0.5)\n'
        'def __sample__(e): print("sample")\ndef __exit__(): print("exit")\n')
    done = python('s.py', event='sched:sched_wakeup/prio==77/', until='^child 0$', timeout=15)
    assert done.stdout.splitlines()[1:] == ['child 0', 'exit']


def test_an_event_in_a_child_after_other_forks(python, tmp_path):
    """A fork while no event was in hand doesn't stand for the one of a handler."""
    (tmp_path / 's.py').write_text(
        'import os\nn = 0\ndef fork(what):\n    pid = os.fork()\n    if pid == 0:\n        what()\n'
        '        os._exit(0)\n    return os.waitpid(pid, 0)[1]\n'
        'def __init__(): fork(int)\n'
        'def __interval__(): fork(int)\n'
        'def __sample__(e):\n    global n\n    n += 1\n'
        '    if n % 50 == 1: print(fork(lambda: repr(e)), fork(lambda: e.pid), fork(lambda: e.print()))\n')
    done = python('-i', '10', 's.py', events=300)
    assert done.stdout.splitlines()[1:] == ['0 0 0'] * 6
