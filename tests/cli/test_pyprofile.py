# SPDX-License-Identifier: Apache-2.0
"""profile of Python programs: functions of which it is known which share of the time is theirs."""
import collections
import contextlib
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

from cli.test_dump import pythons

live = pytest.mark.live
deep = pytest.mark.deep
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARES = os.path.join(TESTS, 'helpers/shares.py')
PYTHON = '/usr/bin/python3'
TIMEOUT = 200
FEW = 100          # samples: fewer say too little


@contextlib.contextmanager
def ready(*argv):
    """A program that has said that it is, and waits for a line."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        assert one.stdout.readline().strip() in (b'ready', b'')
        yield one
        one.kill()


def readable(told):
    if 'may not be read' in told:
        pytest.skip(f'needs the right to read other processes ({told.strip()})')


@pytest.fixture
def profile(prof):
    def run(*args, code=0, **kwargs):
        done = subprocess.run([prof, 'profile', *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT, **kwargs)
        if done.returncode:
            readable(done.stderr)
        assert done.returncode == code, done.stderr
        return done
    return run


@pytest.fixture
def watched(prof):
    """watched([python, program...], option...): what profile -p prints of it, from its first function to its end."""
    def run(argv, *args):
        with ready(*argv) as one:
            with subprocess.Popen([prof, 'profile', '-p', str(one.pid), *map(str, args)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as watcher:
                one.stdin.write(b'\n')
                one.stdin.close()
                out, err = watcher.communicate(timeout=TIMEOUT)
        readable(err)
        assert not watcher.returncode, err
        return out
    return run


@live
def test_a_program_that_waits_has_a_hint(profile):
    with ready(PYTHON, SHARES) as one:
        told = profile('--seconds', '0.2', '-p', one.pid).stdout
        idle = profile('--seconds', '0.2', '--idle', '-p', one.pid).stdout
    assert '--idle also shows those that wait' in told and '--idle' not in idle
    assert re.search(r'wait_for\b', idle) and not re.search(r'wait_for\b', told), (idle, told)


WAITS = """
import threading
a, b = threading.Lock(), threading.Lock()
a.acquire(), b.acquire()
def serve(first):
    if first:
        a.acquire()
    else:
        b.acquire()
for i in range(4):
    threading.Thread(target=serve, args=(i % 2,), daemon=True).start()
print('ready', flush=True)
input()
"""


@live
def test_the_lines_at_which_threads_wait_are_stacks_of_their_own(profile, tmp_path):
    (tmp_path / 'job.py').write_text(WAITS)
    with ready(PYTHON, tmp_path / 'job.py') as one:
        text = profile('-q', '-g', '--seconds', '0.3', '--idle', '-p', one.pid).stdout
    shown = re.findall(r'^ *([\d.]+)%  .*\n    serve \(.*/job\.py:(\d+)\)$', text, re.M)
    assert {line for _, line in shown} == {'7', '9'} and all(30 < float(share) < 50 for share, _ in shown), text


def table_of(text):
    table = json.loads(text)
    if table['samples'] < FEW:
        pytest.skip(f'the machine is too busy: {table["samples"]} samples')
    return table


def row(table, function):
    return next(r for r in table['rows'] if r['function'] == function and r['dso'].startswith(SHARES))


REUSES = """
import time
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(20000))
for i in range(12):
    exec(compile('work(0.03)', f'<made {i % 3}>', 'exec'))
"""


@live
@pytest.mark.parametrize('version, python', pythons())
def test_code_that_takes_the_memory_of_code_that_was_freed(profile, tmp_path, version, python):
    """Names, lines and files of generated code are mostly where those of the code before it were."""
    (tmp_path / 'job.py').write_text(REUSES)
    table = table_of(profile('--python', '-q', '--json', '-F', 997, '--', python, '-S', tmp_path / 'job.py').stdout)
    shares = {r['dso']: r['total'] for r in table['rows'] if r['dso'].startswith('<made')}
    assert len(shares) == 3 and min(shares.values()) > 10, table['rows'][:8]


def check_shares(table, module):
    three, one = row(table, 'three_quarters'), row(table, 'one_quarter')
    share = three['self'] / (three['self'] + one['self'])
    # CPU time is known by ticks of the kernel, all of which may fall on one sample
    assert 0.5 < share < 0.93, table['rows']
    assert three['dso'] == f'{SHARES}:8' and one['dso'] == f'{SHARES}:15'
    assert three['self'] == three['total']
    assert row(table, '<module>')['total'] > module


@live
@pytest.mark.parametrize('version, python', pythons())
def test_functions_of_a_process(watched, version, python):
    """Without any option: that it is Python is seen."""
    table = table_of(watched([python, SHARES], '--json', '-F', '499'))
    assert table['event'] == 'python'
    check_shares(table, 90)
    assert not [r for r in table['rows'] if r['function'] == 'wait_for']


@live
def test_functions_of_a_command(profile):
    done = profile('--python', '--json', '-F', 499, '-o', '/dev/stderr', '--', PYTHON, SHARES, '--go')
    check_shares(table_of(done.stderr), 50)   # on a busy machine, the interpreter starts slowly


@live
@deep
def test_folded_stacks_say_that_they_are_of_a_command(profile, watched, tmp_path):
    """so diff compares their times"""
    profile('-q', '-F', 499, '--python', '--flame-graph', tmp_path / 'a.folded', '--', PYTHON, SHARES, '--go')
    watched([PYTHON, SHARES], '-q', '--flame-graph', tmp_path / 'b.folded')
    profile('-q', '--gil', '--flame-graph', tmp_path / 'c.folded', '--', PYTHON, SHARES, '--go')
    said = [' event=python time=command' in (tmp_path / name).read_text() for name in ('a.folded', 'b.folded', 'c.folded')]
    assert said == [True, False, False]


@live
@pytest.mark.soak     # shares of samples are those of CPU time on a machine at rest alone
def test_lines_and_files(watched):
    table = table_of(watched([PYTHON, SHARES], '--json', '--sort', 'dso,line', '-F', '997'))
    lines, files = collections.Counter(), collections.Counter()
    for r in table['rows']:
        lines[r['line']] += r['self']
        files[r['dso']] += r['self']
    three, one = (sum(lines[f'{SHARES}:{line}'] for line in loop) for loop in ((10, 11), (17, 18)))
    assert 0.5 < three / (three + one) < 0.93 and three + one > 90, lines
    assert files[SHARES] > 90, files


SLEEPS = """
import sys, time
def fetch(seconds): time.sleep(seconds)
def compute(): return sum(range(2000))
for _ in range(40):
    fetch(float(sys.argv[1]))
    compute()
"""


@live
def test_waits_of_commands_are_compared_by_time(prof, profile, tmp_path):
    """40 sleeps of 50 ms instead of 2 ms: 1.9 s more, however late perf-prof looks on a busy machine"""
    (tmp_path / 'job.py').write_text(SLEEPS)
    names = 'a1', 'b1', 'a2', 'b2'
    for name in names:
        profile('-q', '-F', 199, '--python', '--idle', '--flame-graph', f'{name}.folded', '--', PYTHON, 'job.py',
                {'a': '0.002', 'b': '0.050'}[name[0]], cwd=tmp_path)
    assert ' event=python-elapsed time=command' in (tmp_path / 'a1.folded').read_text()
    done = subprocess.run([prof, 'diff', '--json', 'a1.folded', 'a2.folded', '--vs', 'b1.folded', 'b2.folded'],
                          cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    fetch = next(r for r in json.loads(done.stdout)['rows'] if r['function'] == 'fetch (job.py:3)')
    assert fetch['time_change'] > 1e9 and 'verdict' in fetch, fetch


@live
def test_stacks_and_pictures(watched, tmp_path):
    text = watched([PYTHON, SHARES], '-g', '-F', '499', '--gil', '--flame-graph', tmp_path / 'out.folded')
    assert ' samples of Python stacks with the GIL, 499 Hz, 0 lost' in text
    assert f'    three_quarters ({SHARES}:1' in text and f'    <module> ({SHARES}:' in text
    folded = (tmp_path / 'out.folded').read_text()
    assert ';<module> (shares.py:1);three_quarters (shares.py:8) ' in folded


@live
def test_functions_of_the_interpreter(profile):
    with ready(PYTHON, SHARES, '--long') as one:
        one.stdin.write(b'\n')
        one.stdin.flush()
        assert 'three_quarters' not in profile('--no-python', '-e', 'cpu-clock:u', '--seconds', '0.2', '-p', one.pid).stdout


UNFIT = [('-e', 'cpu-clock'), ('-c', '100000'), ('-C', '0'), ('-a',), ('--call-graph', 'dwarf'), ('-N', '5'),
         ('--samples',), ('--exclude-user',), ('--sort', 'cpu'),
         ('--annotate', 'f'), ('--cgroup', '/'), ('--cgroups', '/')]


@pytest.mark.parametrize('args', UNFIT, ids=' '.join)
def test_options_that_need_events(profile, args):
    told = profile('--python', *args, '--', 'true', code=2).stderr
    assert told.split()[1].rstrip(':') in (args[0], '--exclude-...') and ' needs samples of an event' in told


@pytest.mark.parametrize('words, told', [
    ('--python --off-cpu -- true', 'expected --idle, which shows the time of threads'),
    ('--python', 'expected a process (-p PID) or a command'), ('--gil --no-python -p 1', '--gil is about Python functions'),
    ('--tasks --no-python -p 1', '--tasks is about Python functions'), ('--python -F 20000 -p 1', 'at most 10000 times a second'),
    ('--without f -- true', '--without f is about Python functions'), ('--without f -- true', '--python'),
])
def test_mistakes(profile, words, told):
    assert told in profile(*words.split(), code=2).stderr


@live
def test_programs_that_are_no_python(profile):
    with ready(PYTHON, SHARES) as one:
        told = profile('-p', one.pid, '--annotate', 'f', code=2).stderr
    assert '--annotate: it needs samples of an event' in told and '--no-python' in told
    with subprocess.Popen(['sleep', '60']) as other:
        told = profile('--python', '-p', other.pid, code=1).stderr
        other.kill()
    assert f'process {other.pid} is no CPython program' in told
    assert 'without --python, --gil, --idle and --tasks, profile shows the functions of any program' in told
    assert 'is no CPython program' in profile('--python', '--', 'sleep', '0.2', code=1).stderr


BUSY = 'import time; end = time.process_time() + 0.4\nwhile time.process_time() < end: pass'


@pytest.fixture
def as_nobody(prof):
    """as_nobody(word..., code): what profile --python says of that command, as nobody; UNREADABLE is an interpreter that nobody may
    execute, but not read."""
    if os.geteuid():
        pytest.skip('needs root')
    nobody = pwd.getpwnam('nobody')
    with tempfile.TemporaryDirectory() as folder:
        python = os.path.join(folder, 'python')
        shutil.copyfile(os.path.realpath(PYTHON), python)
        os.chmod(folder, 0o755)
        os.chmod(python, 0o711)

        def run(*words, code):
            argv = [python if word == 'UNREADABLE' else word for word in words]
            done = subprocess.run([prof, 'profile', '--python', '--', *argv], capture_output=True, text=True, timeout=TIMEOUT,
                                  user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])
            assert done.returncode == code, done.stderr
            return done
        yield run


@live
@pytest.mark.parametrize('first, code', [([PYTHON, '-c', f'{BUSY}\nimport subprocess, sys; subprocess.run(sys.argv[1:])'], 0),
                                         (['sh', '-c', '"$@"; sleep 0.5', 'sh'], 1)])
def test_a_child_that_may_not_be_read_is_named(as_nobody, first, code):
    """also where what was tried last is no Python program"""
    said = as_nobody(*first, 'UNREADABLE', '-c', 'import time; time.sleep(2)', code=code).stderr    # a busy machine looks seldom
    assert 'may not be read' in said and 'is not dumpable' in said and 'no CPython' not in said
    assert len(said.splitlines()) == 1


@live
def test_a_process_that_was_read_later_is_not_named(as_nobody):
    later = f'{BUSY}\nimport os, sys; os.execv(sys.argv[1], sys.argv[1:])'
    done = as_nobody('UNREADABLE', '-c', later, os.path.realpath(PYTHON), '-c', BUSY.replace('0.4', '0.8'), code=0)
    assert ': 0 samples' not in done.stdout, done
    assert 'may not be read' not in done.stderr, done.stderr


@live
@pytest.mark.parametrize('version, python', [p for p in pythons() if int(p[0].split('.')[1]) < 14])
def test_tasks_of_a_python_that_does_not_say(profile, version, python):
    """tests/newest has those that do."""
    with ready(python, SHARES) as one:
        told = profile('--tasks', '--idle', '--seconds', '0.1', '-p', one.pid).stderr
    said = f'--tasks: process {one.pid} runs Python {version.rpartition(".")[0]}'
    assert told.count(said) == 1 and 'does not say where its asyncio tasks are: expected 3.14' in told, told


# With 900 others, there are more than a page of the list of children has room for.
FORKS = '''import os, signal, sys
print('ready', flush=True)
sys.stdin.readline()
others = [os.posix_spawn('/bin/sleep', ['sleep', '300'], {}) for _ in range(int(sys.argv[2]))]
try:
    os.spawnv(os.P_WAIT, sys.executable, [sys.executable, sys.argv[1], '--go', '--long'])
finally:
    for pid in others:
        os.kill(pid, signal.SIGKILL)
'''


@live
@deep
@pytest.mark.skipif(not os.path.exists(f'/proc/self/task/{os.getpid()}/children'), reason='needs a kernel with /proc/PID/task/TID/children')
@pytest.mark.parametrize('option, others, seen', [('--inherit', 0, True), ('--no-inherit', 0, False), ('--inherit', 900, True)])
def test_processes_that_it_starts(watched, tmp_path, option, others, seen):
    (tmp_path / 'forks.py').write_text(FORKS)
    table = json.loads(watched([PYTHON, tmp_path / 'forks.py', SHARES, str(others)], '--python', option, '--json'))
    assert any(r['function'] == 'three_quarters' for r in table['rows']) == seen, table


@live
def test_tasks_have_their_present_names(profile):
    """Until exec(2), a command's process has the name of perf-prof."""
    name = os.path.basename(PYTHON)
    options = '--python', '-F', 997, '-o', '/dev/stderr', '--sort'
    done = profile(*options, 'comm,pid', '--json', '--', PYTHON, '-c', BUSY)
    assert {r['comm'] for r in table_of(done.stderr)['rows']} == {name}
    done = profile(*options, 'pid', '--', PYTHON, '-c', BUSY)
    assert f' {name} ' in done.stderr.splitlines()[-1]


CALLS_EXEC = '''import os, sys, time
def {0}():
    end = time.monotonic() + {2}
    while time.monotonic() < end: pass
def {1}():
    {0}()
    if sys.argv[1:]:
        os.execv(sys.argv[1], sys.argv[1:])
print('ready', flush=True)
sys.stdin.readline()
{1}()
'''


@live
@deep
@pytest.mark.parametrize('freq, seconds', [(199, 1), pytest.param(49, 2, marks=pytest.mark.slow)])
def test_programs_that_call_exec(watched, tmp_path, freq, seconds):
    """Both programs have functions at the same lines, which are seen in the same order."""
    (tmp_path / 'a.py').write_text(CALLS_EXEC.format('alpha', 'first', seconds))
    (tmp_path / 'b.py').write_text(CALLS_EXEC.format('beta', 'second', seconds))
    other = pythons()[0][1]       # with several Pythons, another one: the same one may be at the same addresses again
    table = table_of(watched([PYTHON, tmp_path / 'a.py', other, '-S', tmp_path / 'b.py'], '--python', '--json', '-F', freq))
    shares = {r['function']: r['total'] for r in table['rows']}
    assert shares['alpha'] > 10 and shares['beta'] > 10, shares
    assert shares['alpha'] + shares['beta'] < 101, shares


@live
@pytest.mark.soak     # a starved sampler does not find the interpreter in time
def test_a_script_that_ends_with_an_interpreter(profile, tmp_path):
    """after many other programs, as those of pyenv do; when it calls exec(2), perf-prof has looked at it for long"""
    (tmp_path / 'work.py').write_text('import time\ndef work():\n    while time.process_time() < 0.3: pass\nwork()\n')
    (tmp_path / 'python3').write_text(f'#!/bin/sh\nfor i in 1 2 3 4 5 6 7; do sleep 0.1; done\nexec {PYTHON} "$@"\n')
    (tmp_path / 'python3').chmod(0o755)
    told = profile('--python', '--json', '-F', 997, '--', tmp_path / 'python3', tmp_path / 'work.py')
    assert {r['function']: r['count'] for r in json.loads(told.stdout)['rows']}['work'] > 100e6, told
    told = profile('--python', '--', 'sh', '-c', 'for i in 1 2 3 4 5 6; do sleep 0.05; done', code=1).stderr
    assert 'is no CPython program' in told and 'there is no process' not in told


@pytest.fixture
def accounts(prof):
    """accounts(program, seconds): what threads used of that CPU time by their own clocks, and the table of profile."""
    with open('/proc/thread-self/schedstat', encoding='utf-8') as f:
        if f.read().split()[2:] in ([], ['0']):
            pytest.skip('needs a kernel that counts the CPU time of threads in schedstat (CONFIG_SCHED_INFO)')

    def run(program, seconds):
        with ready(PYTHON, program, str(seconds)) as one:
            with subprocess.Popen([prof, 'profile', '--json', '-p', str(one.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as watcher:
                one.stdin.write(b'\n')
                one.stdin.close()
                used = json.loads(one.stdout.readline())
                out, err = watcher.communicate(timeout=TIMEOUT)
        readable(err)
        return used, table_of(out)
    return run


@live
@deep
@pytest.mark.slow      # of times, not of memory
def test_shares_are_of_cpu_time(accounts):
    """Threads that wait for a CPU are ready to run, too. What each used is compared with its own clock."""
    starved = os.path.join(TESTS, 'helpers/starved.py')
    used, table = accounts(starved, 1)
    seen = {r['function']: r['total'] for r in table['rows'] if r['dso'].startswith(starved) and r['function'] in used}
    for name, own in used.items():
        assert abs(seen.get(name, 0) / sum(seen.values()) - own / sum(used.values())) < 0.15, (used, seen)
    if used['starved'] > 0.2 * sum(used.values()):
        pytest.skip(f'needs a kernel by which a thread of nice 19 gets less than its share of a CPU: {used}')


BESIDE = 'import time\nend = time.time() + 60\nwhile time.time() < end: pass'
ASKS = '''
import time
def counts():
    s = 0
    for i in range(100000):
        s += i
def asks():
    time.thread_time()
print(flush=True)
end = time.time() + 2
while time.time() < end:
    counts()
    asks()
'''


@live
@deep
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='needs two CPUs')
def test_where_a_thread_loses_its_cpu_is_not_where_it_used_it(profile, tmp_path):
    """The kernel takes the CPU away at the end of a system call, mostly, however short it was: asks() takes a few us of each 5 ms."""
    (tmp_path / 'asks.py').write_text(ASKS)
    beside = [subprocess.Popen([PYTHON, '-c', BESIDE]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        table = table_of(profile('--json', '--python', '--', PYTHON, tmp_path / 'asks.py').stdout)
    finally:
        for one in beside:
            one.kill()
            one.wait()
    seen = {r['function']: r['total'] for r in table['rows']}
    assert seen['counts'] > 50 and seen.get('asks', 0) < 25, table


@live
@deep
def test_cpu_time_of_threads_that_live_shortly(accounts):
    """What they use after their last sample is made up for. Before, the first thread seemed to have used most of the time."""
    program = os.path.join(TESTS, 'helpers/shortlived.py')
    used, table = accounts(program, 1.5)
    first = next(r['total'] for r in table['rows'] if r['function'] == '<module>' and r['dso'].startswith(program))
    assert abs(first / 100 - used['first'] / sum(used.values())) < 0.25, (used, table['rows'])


FRAMEWORK = """
import time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
def handler():
    spin(0.2)
def overhead():
    spin(0.2)
def framework():
    overhead()
    handler()
framework()
"""


@pytest.fixture
def functions(profile, tmp_path):
    """functions(option...): those of a framework that are in the table."""
    (tmp_path / 'program.py').write_text(FRAMEWORK)

    def run(*options):
        done = profile('--python', '-F', 997, '--json', *options, '--', sys.executable, 'program.py', cwd=tmp_path)
        return {r['function'] for r in table_of(done.stdout)['rows']}
    return run


@live
def test_stacks_below_a_function(functions, tmp_path):
    """Without the callers of handler(); other stacks are whole. A few may be read while they change, and stand for as long as
    the machine was away."""
    names = functions('--below', 'framework', '--flame-graph', 'a.folded')
    assert {'handler', 'overhead'} <= names and 'framework' not in names
    stacks = [line.split(';')[1:] for line in (tmp_path / 'a.folded').read_text().splitlines() if not line.startswith('#')]
    bases = collections.Counter()
    for stack in stacks:
        if stack[-1].startswith('spin '):
            bases[stack[0].split(' ')[0]] += int(stack[-1].rpartition(' ')[2])
    assert {base for base, ns in bases.items() if ns > sum(bases.values()) / 5} == {'handler', 'overhead'}, stacks


@live
def test_samples_without_a_function(functions):
    names = functions('--without', 'overhead')
    assert {'handler', 'spin', 'framework'} <= names and 'overhead' not in names
    # what --below cuts off does not count
    assert functions('--without', 'overhead', '--without', 'framework', '--below', 'framework') >= {'handler', 'spin'}
