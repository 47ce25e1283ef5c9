# SPDX-License-Identifier: Apache-2.0
"""How a script ends the run, and what it leaves behind: exits, threads, children."""
import contextlib
import re
import signal
import subprocess

import pytest

from frame.session import AWAY, overflowing, ran

live = pytest.mark.live('tracefs', 'root')

SAMPLES = 'import os, sys, threading, time\nn = 0\ndef __sample__(e):\n    global n\n    n += 1\n    '


def written(folder, text):
    (folder / 's.py').write_text(text)
    return 's.py'


def printed(done):
    return done.stdout.splitlines()[1:]


# ---- exits, of a recording

HANDLERS = {
    'a handler': 'def __sample__(e):\n    print("sample", flush=True)\n    {}\n',
    '__interval__': 'def __sample__(e): pass\ndef __interval__():\n    print("tick", flush=True)\n    {}\n',
    '__print_stat__': 'import os, signal\ndef __sample__(e): os.kill(os.getpid(), signal.SIGUSR2)\n'
                      'def __print_stat__(indent):\n    {}\n',
}
EXITS = [('sys.exit(7)', 7, ''), ('sys.exit()', 0, ''), ('sys.exit(0)', 0, ''), ('sys.exit(True)', 1, ''), ('sys.exit(256 + 3)', 3, ''),
         ('sys.exit(-1)', 255, ''), ('sys.exit("what went wrong")', 1, 'what went wrong\n'), ('raise SystemExit(4)', 4, ''),
         ('raise KeyboardInterrupt', 0, '')]


@pytest.mark.parametrize('where, statement, code, said', [('a handler', *one) for one in EXITS] +
                         [(where, *one) for where in ('__interval__', '__print_stat__') for one in (EXITS[0], EXITS[6], EXITS[8])])
def test_exits(replay, tmp_path, where, statement, code, said):
    done = replay('-i', '20', written(tmp_path, f'import sys\n{HANDLERS[where].format(statement)}def __exit__(): print("left")\n'),
                  events=0, check=None)
    assert (done.returncode, re.sub('^python: events .*\n', '', done.stderr)) == (code, said)    # SIGUSR2's own line
    assert printed(done)[-1] == 'left' and done.stdout.count('sample\n') <= 1 and done.stdout.count('tick\n') <= 1


@pytest.mark.parametrize('text', ['sys.exit({})\n', 'def __init__(): sys.exit({})\n'])
@pytest.mark.parametrize('value, code, said', [('7', 7, ''), ('', 0, ''), ('"no disk"', 1, 'no disk\n')])
def test_exits_before_the_run(replay, tmp_path, text, value, code, said):
    done = replay(written(tmp_path, 'import sys\n' + text.format(value) + 'def __sample__(e): print("sample")\n'
                                    'def __exit__(): print("left")\n'), check=None)
    assert (done.returncode, done.stderr) == (code, said)
    assert done.stdout == (f'Loaded module: {tmp_path}/s.py\n' if 'def __init__' in text else '')


def test_help_of_a_script_that_parses_its_arguments(replay, tmp_path):
    written(tmp_path, 'import argparse\np = argparse.ArgumentParser()\np.add_argument("--foo")\n'
                      'p.parse_args()\ndef __sample__(e): pass\n')
    assert 'usage: s.py [-h] [--foo FOO]' in replay('--', 's.py', '--help').stdout
    assert 'unrecognized arguments: --bar' in replay('--', 's.py', '--bar', check=2).stderr


@pytest.mark.parametrize('first, last, code', [('sys.exit(0)', 'sys.exit(6)', 6), ('sys.exit(6)', 'sys.exit(0)', 0),
                                               ('sys.exit(2)', 'sys.exit()', 0), ('pass', 'raise KeyError(1)', 1)])
def test_exit_in_exit(replay, tmp_path, first, last, code):
    done = replay(written(tmp_path, SAMPLES + f'{first}\ndef __exit__(): {last}\n'), check=code)
    assert ('KeyError: 1' in done.stderr) == (code == 1)


# ---- threads and children, of a recording

FORKED = 'os.WEXITSTATUS(os.wait()[1])'
PROGRAMS = {        # the script behind SAMPLES, and what it prints
    'atexit runs behind __exit__()': ('pass\nimport atexit\natexit.register(print, "atexit")\ndef __exit__(): print("exit")\n',
                                      ['exit', 'atexit']),
    'threads are waited for': (
        'pass\nends = threading.Event()\ndef work():\n    ends.wait()\n    time.sleep(0.1)\n    print("thread")\n'
        'def __init__(): threading.Thread(target=work).start()\ndef __exit__():\n    print("exit")\n    ends.set()\n', ['exit', 'thread']),
    'daemon threads are not': (
        'pass\ndef work():\n    while True: sum(range(1000))\n'
        'def __init__(): threading.Thread(target=work, daemon=True).start()\ndef __exit__(): print("exit")\n', ['exit']),
    'subprocesses': (
        'print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())\n'
        '    p = subprocess.Popen(["sleep", "100"])\n    p.terminate()\n    print(p.wait())\nimport subprocess\n', ['child', '-15']),
    # on one CPU a child begins when its parent waits: so a busy machine kept multiprocessing's pool waiting
    'a child dies of a signal that comes before its first step': (
        '''for _ in range(100):
        pid = os.fork()
        if not pid:
            time.sleep(20)
            os._exit(3)
        os.kill(pid, 15)
        status = os.wait()[1]
        ends[status] = ends.get(status, 0) + 1
        if status != 15: break
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
ends = {}
def __exit__(): print(ends)
''', [str({int(signal.SIGTERM): 100})]),
}


@pytest.mark.parametrize('text, lines', PROGRAMS.values(), ids=PROGRAMS)
def test_threads_and_children(replay, tmp_path, text, lines):
    assert printed(replay(written(tmp_path, SAMPLES + text))) == lines


def test_an_exception_in_a_thread_does_not_end_the_run(replay, tmp_path):
    done = replay(written(tmp_path, SAMPLES + 'print("sample")\ndef work(): raise KeyError("boom")\n'
                          'def __init__():\n    t = threading.Thread(target=work)\n    t.start()\n    t.join()\n'), check=None)
    assert done.returncode == 0 and 'sample' in done.stdout and "KeyError: 'boom'" in done.stderr


@pytest.mark.parametrize('method', ['fork', 'spawn', 'forkserver'])
def test_multiprocessing(replay, tmp_path, method):
    (tmp_path / 'work.py').write_text('def double(x): return 2 * x\n')
    text = (f'with multiprocessing.get_context("{method}").Pool(2) as pool:\n'
            '        print(pool.map(work.double, [1, 2, 3]))\nimport multiprocessing, work\n')
    assert printed(replay(written(tmp_path, SAMPLES + text))) == ['[2, 4, 6]']


def test_events_in_children(replay, tmp_path):
    """An event in hand, and those kept, are there in a forked child; and come back out of it."""
    written(tmp_path, '''
import multiprocessing
kept = []
def fields(e): return {k: v for k, v in e if k != "_realtime"}
def work(e, queue): queue.put((e, fields(e)))
def __sample__(e):
    kept.append(e)
    q = multiprocessing.SimpleQueue()
    p = multiprocessing.Process(target=work, args=(e, q))
    p.start()
    back, there = q.get()
    p.join()
    print(back == e, hash(back) == hash(e), there == fields(e), p.exitcode)
def __exit__():
    with multiprocessing.Pool(2) as pool:
        print(pool.map(fields, kept) == [fields(e) for e in kept])
''')
    assert printed(replay('s.py', events=3)) == ['True True True 0'] * 3 + ['True']


@pytest.mark.parametrize('ending, code', [('return', 0), ('sys.exit(7)', 7), ('sys.exit()', 0), ('os._exit(8)', 8), ('raise OSError', 1)])
def test_a_child_that_comes_back_ends(replay, tmp_path, ending, code):
    """Whatever it does there, the run stays its parent's."""
    once = f'def once():\n    if os.fork() == 0:\n        {ending}\n    else:\n        print({FORKED}, flush=True)\n'
    if code != 1:
        # the child has the parent's buffer, as in any Python
        written(tmp_path, f'{SAMPLES}if n == 3: once()\n{once}def __exit__(): print("exit", n)\n')
        assert printed(replay('s.py', events=10)) == [str(code), 'exit 10']
    done = replay(written(tmp_path, f'{SAMPLES}print("sample")\n{once}__init__ = once\ndef __exit__(): print("exit")\n'), check=None)
    assert printed(done) == [str(code), 'sample', 'exit']
    assert done.returncode == 0 and ('OSError' in done.stderr) == (code == 1)


def test_a_child_that_comes_back_from_interval(replay, tmp_path):
    done = replay('-i', '100', written(tmp_path, SAMPLES + 'pass\ndef __interval__():\n    if os.fork() == 0: return\n'
                                       '    print("child", os.wait()[1], flush=True)\ndef __exit__(): print("exit")\n'), events=0)
    assert set(printed(done)[:-1]) == {'child 0'} and printed(done)[-1] == 'exit'


def test_an_event_in_a_child_after_other_forks(replay, tmp_path):
    """A fork while no event was in hand doesn't stand for the one of a handler."""
    written(tmp_path, SAMPLES + '''if n % 50 == 1: print(fork(lambda: repr(e)), fork(lambda: e.next_pid), fork(lambda: e.print()))
def fork(what):
    pid = os.fork()
    if pid == 0:
        what()
        os._exit(0)
    return os.waitpid(pid, 0)[1]
def __init__(): fork(int)
def __interval__(): fork(int)
''')
    assert printed(replay('-i', '10', 's.py', event='sched:sched_switch', events=80)) == ['0 0 0'] * 2


# ---- while nothing happens

ALARM = 'def begin():\n    signal.signal(signal.SIGALRM, ring)\n    signal.setitimer(signal.ITIMER_REAL, 0.2)\n'


@pytest.mark.parametrize('text, said', [
    ('def work():\n    for i in range(200): time.sleep(0.001)\n    print("done", flush=True)\nbegin = threading.Thread(target=work).start\n',
     ['done']),
    (ALARM + 'def ring(*args): print("done", flush=True)\n', ['done']),
    (ALARM + 'def ring(*args):\n    if os.fork() == 0: return\n    print("child", os.wait()[1], "done", flush=True)\n', ['child 0 done'])],
    ids=['a thread', 'a signal', 'a child that comes back from a signal handler'])
@live
def test_what_a_script_does_while_nothing_happens(python, tmp_path, text, said):
    """Between the first interval, which tells that the run has begun, and the second one."""
    first = 'import signal\nbegan = []\ndef __interval__():\n    if not began: began.append(begin())\n'
    text = SAMPLES + 'print("sample")\n' + text + first
    assert printed(python('-i', '1000', written(tmp_path, text), event='sched:sched_wakeup/prio==77/', until='done$')) == said


@pytest.mark.parametrize('text', ['def __exit__():\n    print("ending", flush=True)\n    time.sleep(60)\n',
                                  'def __exit__(): threading.Thread(target=lambda: (print("ending", flush=True), time.sleep(60))).start()\n'])
@pytest.mark.parametrize('signo', [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_first_signal_after_the_run(replay, tmp_path, text, signo):
    written(tmp_path, SAMPLES + 'pass\n' + text)
    with subprocess.Popen([replay.prof, 'python', *replay.source, 's.py'], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        while run.stdout.readline() not in ('ending\n', ''):
            pass
        run.send_signal(signo)
        out, err = run.communicate(timeout=30)
    assert (run.returncode, out, err) == (130, '', 'perf-prof: interrupted\n')


# ---- losses

@pytest.fixture
def lose(prof, storm, tmp_path):
    """Runs a script, which away() of frame.session keeps from a small ring until 20,000 events do not fit into it."""
    def run(text, *options, check=0, calls=(20000, 1)):
        events, command = overflowing(storm, *calls)
        done = ran([prof, 'python', '-m', '1', *events, *options, written(tmp_path, AWAY + text), *command], cwd=tmp_path)
        assert done.returncode == check and re.search(r'delivered, [1-9]\d* lost', done.stderr), done
        lines = done.stdout.splitlines()
        return [line for line in lines if not re.match('Loaded|pid|calls', line)], int(re.search(r'(\d+) lost', done.stderr)[1])
    return run


KEEP = 'import os, sys\n__sample__ = away\ndef __exit__(): print("left")\n'


@live
def test_exit_in_lost(lose):
    assert lose(KEEP + 'def __lost__(a, b): sys.exit(5)\n', check=5)[0] == ['left']


@live
def test_exit_tells_what_was_lost(lose):
    lines, told = lose('import sys\nlost = 0\ndef __sample__(e):\n    away(e)\n    if lost: sys.exit(3)\n'
                       'def __lost__(a, b, how):\n    global lost\n    lost += how["count"]\n'
                       '    assert how["cause"] == "ring" and how["cpu"] >= 0\n'
                       'def __exit__(): print("left", lost)\n', check=3)
    assert 0 < int(lines[-1].split()[1]) <= told


@live
@pytest.mark.parametrize('handler, want', [
    ('def __lost__(start, end): print("lost", start, end)', 'lost 0 0'),
    ('def __lost__(start, end, how): print("lost", sorted(how))', "lost ['cause', 'count', 'cpu']"),
    ('def __lost__(start, end, how=None): print("lost", how["count"] > 0)', 'lost True'),
    ('def __lost__(*args): print("lost", len(args))', 'lost 3'),
    ('def __lost__(a, b):\n    if os.fork() == 0: return\n    print("child", os.wait()[1], flush=True)', 'child 0')])
def test_what_lost_is_told(lose, handler, want):
    """And a child that comes back from it ends."""
    lines, _ = lose(KEEP + handler + '\n')
    assert set(lines[:-1]) == {want} and lines[-1] == 'left'


@live
def test_the_times_around_a_loss(lose):
    """With --order: the last sample before it on that CPU, and the first one after, in whose
    place it is told."""
    assert lose("""
last, after, told, wrong = {}, {}, 0, []
def __sample__(e):
    away(e)
    if e._cpu in after:
        if e._time != after.pop(e._cpu): wrong.append('after')
    last[e._cpu] = e._time
def __lost__(start, end, how):
    global told
    if how['cause'] != 'ring': return
    told += 1
    if not start < end: wrong.append('order')
    if last[how['cpu']] != start: wrong.append('before')
    after[how['cpu']] = end
def __exit__(): print('told', told > 0, wrong)
""", '--order')[0] == ['told True []']


@contextlib.contextmanager
def flood():
    """More events than a script can take, for as long as it wants."""
    process = subprocess.Popen(['/usr/bin/python3', '-c', 'import os\nwhile True: os.getppid()'])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.deep
@live
@pytest.mark.parametrize('order', [[], ['--order']])
def test_seconds_end_a_run_whose_handler_is_too_slow(python, tmp_path, order):
    """The rings have events for hours: as after Ctrl-C, they are delivered for half a second, and the others counted."""
    written(tmp_path, SAMPLES + 'time.sleep(0.1)\ndef __exit__(): print("left", n)\n')
    with flood():
        done = python('--seconds', '0.5', *order, 's.py', event='syscalls:sys_enter_getppid', events=0, check=None, timeout=100)
    assert not done.returncode and int(done.stdout.split()[-1]) > 0 and re.search('lost [1-9]', done.stderr), done


@pytest.mark.deep
@live
@pytest.mark.parametrize('options, remedy', [('-m 1', '(-m 8M) or --buffer 256M'), ('-m 8M', '(-m 32M) or --buffer 256M')])
def test_the_first_loss_names_what_helps(python, tmp_path, options, remedy):
    """In its own line, and once; of each more than there is. A line a second is written at most: of losses in four
    seconds at least two are, also where this is away for a while."""
    written(tmp_path, 'import sys, time\ndue = time.monotonic()\nseconds = [0]\ndef __sample__(e):\n    global due\n'
                      '    if time.monotonic() > due:\n        time.sleep(1.2)\n        due = time.monotonic() + 0.1\n'
                      'def __lost__(a, b):\n    if time.monotonic() > seconds[-1] + 1.05: seconds.append(time.monotonic())\n'
                      '    if len(seconds) > 4: sys.exit(0)\n')
    with flood():
        done = python(*options.split(), 's.py', event='syscalls:sys_enter_getppid', events=0, check=None, timeout=120)
    told = re.findall('^perf-prof: lost ([0-9]+) events(.*)$', done.stderr, re.M)
    assert remedy in told[0][1] and len(told) > 1, done
    assert not any('--buffer' in rest for _, rest in told[1:]), done
