# SPDX-License-Identifier: Apache-2.0
"""profile of Python programs: functions of which it is known which share of the time is theirs."""
import collections
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

import pytest

from cli.test_dump import pythons
from frame.again import attempts

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARES = os.path.join(TESTS, 'helpers/shares.py')
PYTHON = '/usr/bin/python3'
TIMEOUT = 200
FEW = 100          # samples: fewer say too little


@pytest.fixture
def profile(prof):
    def run(*args, code=0, **kwargs):
        done = subprocess.run([prof, 'profile', *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT, **kwargs)
        if done.returncode and 'may not be read' in done.stderr:
            pytest.skip(f'needs the right to read other processes ({done.stderr.strip()})')
        assert done.returncode == code, done.stderr
        return done
    return run


@pytest.fixture
def watched(prof):
    """watched(python, option...): what profile -p prints of shares.py, from its first function to its end."""
    def run(python, *args, more=()):
        with subprocess.Popen([python, SHARES, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
            assert one.stdout.readline() == b'ready\n'
            with subprocess.Popen([prof, 'profile', '-p', str(one.pid), *args], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as watcher:
                one.stdin.write(b'\n')
                one.stdin.close()
                out, err = watcher.communicate(timeout=TIMEOUT)
        if 'may not be read' in err:
            pytest.skip(f'needs the right to read other processes ({err.strip()})')
        assert not watcher.returncode, err
        return out
    return run


def test_a_program_that_waits_has_a_hint(profile):
    with subprocess.Popen([PYTHON, SHARES], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b'ready\n'
        told = profile('--seconds', '0.2', '-p', one.pid).stdout
        idle = profile('--seconds', '0.2', '--idle', '-p', one.pid).stdout
        one.kill()
    assert '--idle also shows those that wait' in told and '--idle' not in idle


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
    exec(compile('work(0.07)', f'<made {i % 3}>', 'exec'))
"""


@pytest.mark.parametrize('version, python', pythons())
def test_code_that_takes_the_memory_of_code_that_was_freed(profile, tmp_path, version, python):
    """Names, lines and files of generated code are mostly where those of the code before it were."""
    (tmp_path / 'job.py').write_text(REUSES)
    table = table_of(profile('--python', '-q', '--json', '-F', 499, '--', python, '-S', tmp_path / 'job.py').stdout)
    shares = {r['dso']: r['total'] for r in table['rows'] if r['dso'].startswith('<made')}
    assert len(shares) == 3 and min(shares.values()) > 10, table['rows'][:8]


def check_shares(table, module=90):
    three, one = row(table, 'three_quarters'), row(table, 'one_quarter')
    share = three['self'] / (three['self'] + one['self'])
    # CPU time is known by ticks of the kernel, all of which may fall on one sample
    assert 0.5 < share < 0.93, table['rows']
    assert three['dso'] == f'{SHARES}:8' and one['dso'] == f'{SHARES}:15'
    assert three['self'] == three['total']
    assert row(table, '<module>')['total'] > module


@pytest.mark.parametrize('version, python', pythons())
def test_functions_of_a_process(watched, version, python):
    """Without any option: that it is Python is seen."""
    table = table_of(watched(python, '--json', '-F', '499'))
    assert table['event'] == 'python'
    check_shares(table)
    assert not [r for r in table['rows'] if r['function'] == 'wait_for']


def test_functions_of_a_command(profile):
    done = profile('--python', '--json', '-F', 499, '-o', '/dev/stderr', '--', PYTHON, SHARES, '--go')
    check_shares(table_of(done.stderr), module=50)   # on a busy machine, the interpreter starts slowly


@pytest.mark.deep
def test_folded_stacks_say_that_they_are_of_a_command(profile, watched, tmp_path):
    """so diff compares their times"""
    profile('-q', '-F', 499, '--python', '--flame-graph', tmp_path / 'a.folded', '--', PYTHON, SHARES, '--go')
    watched(PYTHON, '-q', '--flame-graph', str(tmp_path / 'b.folded'))
    profile('-q', '--gil', '--flame-graph', tmp_path / 'c.folded', '--', PYTHON, SHARES, '--go')
    said = [' event=python time=command' in (tmp_path / name).read_text() for name in ('a.folded', 'b.folded', 'c.folded')]
    assert said == [True, False, False]


def test_lines_and_files(watched):
    # for long: while the machine is busy elsewhere, all the time since the last sample belongs to one line
    table = table_of(watched(PYTHON, '--json', '--sort', 'line', '-F', '499', more=['--long']))
    lines = {r['line']: r['self'] for r in table['rows']}
    three, one = (sum(lines.get(f'{SHARES}:{line}', 0) for line in loop) for loop in ((10, 11), (17, 18)))
    assert 0.5 < three / (three + one) < 0.93 and three + one > 90, lines
    table = table_of(watched(PYTHON, '--json', '--sort', 'dso', '-F', '499'))
    assert table['rows'][0]['dso'] == SHARES and table['rows'][0]['self'] > 90


def test_threads_that_wait(watched):
    table = table_of(watched(PYTHON, '--json', '--idle', '-F', '499'))
    waits = row(table, 'wait_for')['total']
    assert waits > 20, table['rows']


SLEEPS = """
import sys, time
def fetch(seconds): time.sleep(seconds)
def compute(): return sum(range(2000))
for _ in range(100):
    fetch(float(sys.argv[1]))
    compute()
"""


def test_waits_of_commands_are_compared_by_time(prof, profile, tmp_path):
    """100 sleeps of 10 ms instead of 2 ms: 800 ms more, however late perf-prof looks on a busy machine"""
    (tmp_path / 'job.py').write_text(SLEEPS)

    def change():
        for name in ('a1', 'b1', 'a2', 'b2', 'a3', 'b3'):
            profile('-q', '-F', 499, '--python', '--idle', '--flame-graph', f'{name}.folded', '--', PYTHON, 'job.py',
                    {'a': '0.002', 'b': '0.010'}[name[0]], cwd=tmp_path)
        assert ' event=python-elapsed time=command' in (tmp_path / 'a1.folded').read_text()
        done = subprocess.run([prof, 'diff', '--json', *(f'a{i}.folded' for i in (1, 2, 3)), '--vs', *(f'b{i}.folded' for i in (1, 2, 3))],
                              cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        return next(r for r in json.loads(done.stdout)['rows'] if r['function'] == 'fetch (job.py:3)')
    attempts(change, lambda r: r['time_change'] > 400e6 and r['verdict'] in ('grew', 'more time'))


def test_stacks_and_pictures(watched, tmp_path):
    text = watched(PYTHON, '-g', '-F', '499', '--gil', '--flame-graph', str(tmp_path / 'out.folded'))
    assert ' samples of Python stacks with the GIL, 499 Hz, 0 lost' in text
    assert f'    three_quarters ({SHARES}:1' in text and f'    <module> ({SHARES}:' in text
    folded = (tmp_path / 'out.folded').read_text()
    assert ';<module> (shares.py:1);three_quarters (shares.py:8) ' in folded


def test_functions_of_the_interpreter(watched):
    assert 'three_quarters' not in watched(PYTHON, '--no-python', '-e', 'cpu-clock:u')


UNFIT = [('-e', 'cpu-clock'), ('-c', '100000'), ('-C', '0'), ('-a',), ('--call-graph', 'dwarf'), ('-N', '5'),
         ('--samples',), ('--exclude-user',), ('--sort', 'cpu'),
         ('--annotate', 'f'), ('--cgroup', '/'), ('--cgroups', '/')]


@pytest.mark.parametrize('args', UNFIT, ids=' '.join)
def test_options_that_need_events(profile, args):
    told = profile('--python', *args, '--', 'true', code=2).stderr
    assert told.split()[1].rstrip(':') in (args[0], '--exclude-...') and ' needs samples of an event' in told


def test_time_off_cpus_is_refused(profile):
    assert 'expected --idle, which shows the time of threads' in profile('--python', '--off-cpu', '--', 'true', code=2).stderr


def test_source_lines_of_a_python_program(profile):
    with subprocess.Popen([PYTHON, SHARES], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b'ready\n'
        told = profile('-p', one.pid, '--annotate', 'f', code=2).stderr
        one.kill()
    assert '--annotate: it needs samples of an event' in told and '--no-python' in told


def test_other_mistakes(profile):
    assert 'expected a process (-p PID) or a command' in profile('--python', code=2).stderr
    assert '--gil is about Python functions' in profile('--gil', '--no-python', '-p', 1, code=2).stderr
    assert '--tasks is about Python functions' in profile('--tasks', '--no-python', '-p', 1, code=2).stderr
    assert 'at most 10000 times a second' in profile('--python', '-F', 20000, '-p', 1, code=2).stderr
    with subprocess.Popen(['sleep', '60']) as other:
        told = profile('--python', '-p', other.pid, code=1).stderr
        other.kill()
    assert f'process {other.pid} is no CPython program' in told
    assert 'without --python, --gil, --idle and --tasks, profile shows the functions of any program' in told
    assert 'is no CPython program' in profile('--python', '--', 'sleep', '0.2', code=1).stderr


BUSY = 'import time; end = time.time() + 1\nwhile time.time() < end: pass'


@pytest.fixture
def unreadable():
    """(An interpreter that nobody may execute, but not read; the arguments that run a program as nobody)"""
    if os.geteuid():
        pytest.skip('needs root')
    nobody = pwd.getpwnam('nobody')
    with tempfile.TemporaryDirectory() as folder:
        python = os.path.join(folder, 'python')
        shutil.copyfile(os.path.realpath(PYTHON), python)
        os.chmod(folder, 0o755)
        os.chmod(python, 0o711)
        yield python, {'user': nobody.pw_uid, 'group': nobody.pw_gid, 'extra_groups': []}


@pytest.mark.parametrize('first, code', [([PYTHON, '-c', f'{BUSY}\nimport subprocess, sys; subprocess.run(sys.argv[1:])'], 0),
                                         (['sh', '-c', '"$@"; sleep 0.5', 'sh'], 1)])
def test_a_child_that_may_not_be_read_is_named(prof, unreadable, first, code):
    """also where what was tried last is no Python program"""
    python, as_nobody = unreadable
    done = subprocess.run([prof, 'profile', '--python', '--', *first, python, '-c', BUSY], capture_output=True, text=True,
                          timeout=TIMEOUT, **as_nobody)
    assert done.returncode == code, done.stderr
    assert 'may not be read' in done.stderr and 'is not dumpable' in done.stderr and 'no CPython' not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_process_that_was_read_later_is_not_named(prof, unreadable):
    python, as_nobody = unreadable
    later = f'{BUSY}\nimport os, sys; os.execv(sys.argv[1], sys.argv[1:])'
    done = subprocess.run([prof, 'profile', '--python', '--', python, '-c', later, os.path.realpath(PYTHON), '-c',
                           BUSY.replace('+ 1', '+ 3')], capture_output=True, text=True, timeout=TIMEOUT, **as_nobody)
    assert done.returncode == 0 and ': 0 samples' not in done.stdout, done
    assert 'may not be read' not in done.stderr, done.stderr


@pytest.mark.parametrize('version, python', [p for p in pythons() if int(p[0].split('.')[1]) < 14])
def test_tasks_of_a_python_that_does_not_say(profile, version, python):
    """tests/newest has those that do."""
    with subprocess.Popen([python, SHARES], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b'ready\n'
        told = profile('--tasks', '--idle', '--seconds', '0.1', '-p', one.pid).stderr
        one.kill()
    said = f'--tasks: process {one.pid} runs Python {version.rpartition(".")[0]}'
    assert told.count(said) == 1 and 'does not say where its asyncio tasks are: expected 3.14' in told, told


FORKS = '''import os, sys
print('ready', flush=True)
sys.stdin.readline()
os.spawnv(os.P_WAIT, sys.executable, [sys.executable, sys.argv[1], '--go', '--long'])
'''


@pytest.mark.deep
@pytest.mark.parametrize('option, seen', [('--inherit', True), ('--no-inherit', False)])
def test_processes_that_it_starts(prof, tmp_path, option, seen):
    (tmp_path / 'forks.py').write_text(FORKS)
    with subprocess.Popen([PYTHON, tmp_path / 'forks.py', SHARES], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b'ready\n'
        with subprocess.Popen([prof, 'profile', '--python', option, '--json', '-p', str(one.pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as watcher:
            one.stdin.write(b'\n')
            one.stdin.close()
            out, err = watcher.communicate(timeout=TIMEOUT)
    if 'may not be read' in err:
        pytest.skip(f'needs the right to read other processes ({err.strip()})')
    table = json.loads(out)
    if not os.path.exists(f'/proc/self/task/{os.getpid()}/children'):
        pytest.skip('needs a kernel with /proc/PID/task/TID/children')
    assert any(r['function'] == 'three_quarters' for r in table['rows']) == seen, table


MANY = '''import os, signal, sys
print('ready', flush=True)
sys.stdin.readline()
others = [os.posix_spawn('/bin/sleep', ['sleep', '300'], {}) for _ in range(900)]
try:
    os.spawnv(os.P_WAIT, sys.executable, [sys.executable, sys.argv[1], '--go', '--long'])
finally:
    for pid in others:
        os.kill(pid, signal.SIGKILL)
'''


@pytest.mark.deep
def test_many_processes_that_it_starts(prof, tmp_path):
    """More than a page of their list has room for."""
    (tmp_path / 'many.py').write_text(MANY)
    if not os.path.exists(f'/proc/self/task/{os.getpid()}/children'):
        pytest.skip('needs a kernel with /proc/PID/task/TID/children')
    with subprocess.Popen([PYTHON, tmp_path / 'many.py', SHARES], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b'ready\n'
        with subprocess.Popen([prof, 'profile', '--python', '--json', '-p', str(one.pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as watcher:
            one.stdin.write(b'\n')
            one.stdin.close()
            out, err = watcher.communicate(timeout=TIMEOUT)
    if 'may not be read' in err:
        pytest.skip(f'needs the right to read other processes ({err.strip()})')
    assert any(r['function'] == 'three_quarters' for r in json.loads(out)['rows']), out


def test_tasks_have_their_present_names(profile):
    """Until exec(2), a command's process has the name of perf-prof."""
    done = profile('--python', '--json', '--sort', 'comm,pid', '-F', 499, '-o', '/dev/stderr', '--', PYTHON, SHARES, '--go')
    names = {r['comm'] for r in table_of(done.stderr)['rows']}
    assert names == {os.path.basename(PYTHON)}
    done = profile('--python', '--sort', 'pid', '-F', 499, '-o', '/dev/stderr', '--', PYTHON, SHARES, '--go')
    assert f' {os.path.basename(PYTHON)} ' in done.stderr.splitlines()[-1]


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


@pytest.mark.deep
@pytest.mark.parametrize('freq, seconds', [(199, 1), pytest.param(49, 2, marks=pytest.mark.slow)])
def test_programs_that_call_exec(prof, tmp_path, freq, seconds):
    """Both programs have functions at the same lines, which are seen in the same order."""
    (tmp_path / 'a.py').write_text(CALLS_EXEC.format('alpha', 'first', seconds))
    (tmp_path / 'b.py').write_text(CALLS_EXEC.format('beta', 'second', seconds))
    other = pythons()[0][1]       # with several Pythons, another one: the same one may be at the same addresses again
    with subprocess.Popen([PYTHON, tmp_path / 'a.py', other, '-S', tmp_path / 'b.py'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b'ready\n'
        with subprocess.Popen([prof, 'profile', '--python', '--json', '-F', str(freq), '-p', str(one.pid)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watcher:
            one.stdin.write(b'\n')
            one.stdin.close()
            out, err = watcher.communicate(timeout=TIMEOUT)
    if 'may not be read' in err:
        pytest.skip(f'needs the right to read other processes ({err.strip()})')
    shares = {r['function']: r['total'] for r in table_of(out)['rows']}
    assert shares['alpha'] > 10 and shares['beta'] > 10, shares
    assert shares['alpha'] + shares['beta'] < 101, shares


def test_a_script_that_ends_with_an_interpreter(profile, tmp_path):
    """after many other programs, as those of pyenv do; when it calls exec(2), perf-prof has looked at it for long"""
    (tmp_path / 'work.py').write_text('import time\ndef work():\n    while time.process_time() < 0.3: pass\nwork()\n')
    (tmp_path / 'python3').write_text(f'#!/bin/sh\nfor i in 1 2 3 4 5 6 7; do sleep 0.1; done\nexec {PYTHON} "$@"\n')
    (tmp_path / 'python3').chmod(0o755)
    told = profile('--python', '--json', '-F', 997, '--', tmp_path / 'python3', tmp_path / 'work.py')
    assert {r['function']: r['count'] for r in json.loads(told.stdout)['rows']}['work'] > 150e6, told
    told = profile('--python', '--', 'sh', '-c', 'for i in 1 2 3 4 5 6; do sleep 0.05; done', code=1).stderr
    assert 'is no CPython program' in told and 'there is no process' not in told


@pytest.fixture
def accounts(prof):
    """accounts(program, seconds): what threads used of that CPU time by their own clocks, and the table of profile."""
    with open('/proc/thread-self/schedstat', encoding='utf-8') as f:
        if f.read().split()[2:] in ([], ['0']):
            pytest.skip('needs a kernel that counts the CPU time of threads in schedstat (CONFIG_SCHED_INFO)')

    def run(program, seconds):
        with subprocess.Popen([PYTHON, program, str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
            assert one.stdout.readline() == 'ready\n'
            with subprocess.Popen([prof, 'profile', '--json', '-p', str(one.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as watcher:
                one.stdin.write('\n')
                one.stdin.close()
                used = json.loads(one.stdout.readline())
                out, err = watcher.communicate(timeout=TIMEOUT)
        if 'may not be read' in err:
            pytest.skip(f'needs the right to read other processes ({err.strip()})')
        return used, table_of(out)
    return run


@pytest.mark.deep
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


@pytest.mark.deep
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='needs two CPUs')
def test_where_a_thread_loses_its_cpu_is_not_where_it_used_it(profile, tmp_path):
    """The kernel takes the CPU away at the end of a system call, mostly, however short it was: asks() takes a few us of each 5 ms."""
    (tmp_path / 'asks.py').write_text(ASKS)

    def share():
        beside = [subprocess.Popen([PYTHON, '-c', BESIDE]) for _ in range(2 * len(os.sched_getaffinity(0)))]
        try:
            table = table_of(profile('--json', '--python', '--', PYTHON, tmp_path / 'asks.py').stdout)
        finally:
            for one in beside:
                one.kill()
                one.wait()
        seen = {r['function']: r['total'] for r in table['rows']}
        assert seen['counts'] > 50 or seen.get('asks'), table
        return seen.get('asks', 0)
    attempts(share, lambda part: part < 5)


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
    spin(0.4)
def overhead():
    spin(0.4)
def framework():
    overhead()
    handler()
framework()
"""


def test_stacks_below_a_function(profile, tmp_path):
    """Without the callers of handler(); other stacks are whole. A few may be read while they change, and stand for as long as
    the machine was away."""
    (tmp_path / 'program.py').write_text(FRAMEWORK)
    command = ['--', sys.executable, 'program.py']
    profile('--python', '-F', 499, '--below', 'framework', '--flame-graph', 'a.folded', *command, cwd=tmp_path)
    stacks = [line.split(';')[1:] for line in (tmp_path / 'a.folded').read_text().splitlines() if not line.startswith('#')]
    bases = collections.Counter()
    for stack in stacks:
        if stack[-1].startswith('spin '):
            bases[stack[0].split(' ')[0]] += int(stack[-1].rpartition(' ')[2])
    assert {base for base, ns in bases.items() if ns > sum(bases.values()) / 5} == {'handler', 'overhead'}, stacks
    table = table_of(profile('--python', '-F', 499, '--below', 'framework', '--json', *command, cwd=tmp_path).stdout)
    names = {r['function'] for r in table['rows']}
    assert {'handler', 'overhead'} <= names and 'framework' not in names


def test_samples_without_a_function(profile, tmp_path):
    (tmp_path / 'program.py').write_text(FRAMEWORK)
    options = '--python', '-F', 499, '--json', '--without', 'overhead'
    table = table_of(profile(*options, '--', sys.executable, 'program.py', cwd=tmp_path).stdout)
    names = {r['function'] for r in table['rows']}
    assert {'handler', 'spin', 'framework'} <= names and 'overhead' not in names
    # what --below cuts off does not count
    table = table_of(profile(*options, '--without', 'framework', '--below', 'framework', '--', sys.executable, 'program.py',
                             cwd=tmp_path).stdout)
    assert {r['function'] for r in table['rows']} >= {'handler', 'spin'}
    done = profile('--without', 'f', '--', 'true', code=2)
    assert '--without f is about Python functions' in done.stderr and '--python' in done.stderr
