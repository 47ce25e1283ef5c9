# SPDX-License-Identifier: Apache-2.0
"""dump: the stacks of a Python program of which it is known where each thread is, under each Python that this machine has."""
import ctypes
import functools
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

pytestmark = pytest.mark.live

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STACKS = os.path.join(TESTS, 'helpers/stacks.py')
TIMEOUT = 60


@functools.lru_cache(None)
def pythons():
    """{'3.11.2': path} of the interpreters in PATH, and of the one that runs this."""
    found = {}
    for path in ['/usr/bin/python3', sys.executable, *(shutil.which(f'python3.{n}') for n in range(9, 15))]:
        if not path or not os.path.exists(path):
            continue
        asked = subprocess.run([path, '-c', 'import platform; print(platform.python_version())'], capture_output=True, text=True)
        if not asked.returncode:
            found.setdefault(asked.stdout.strip(), path)
    return sorted((version, path) for version, path in found.items() if 9 <= int(version.split('.')[1]) <= 14)


@pytest.fixture
def program():
    """program(python, ...): stacks.py, with its threads in their places."""
    started = []

    def start(python, *args):
        one = subprocess.Popen([python, STACKS, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(one)
        assert one.stdout.readline() == b'ready\n'
        return one
    yield start
    for one in started:
        one.stdin.close()
        one.wait(TIMEOUT)


@pytest.fixture
def dump(prof):
    def run(*args, code=0, **kwargs):
        done = subprocess.run([prof, 'dump', *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT, **kwargs)
        if done.returncode and 'may not be read' in done.stderr and not kwargs:
            pytest.skip(f'needs the right to read other processes ({done.stderr.strip()})')
        assert done.returncode == code, done.stderr
        return done
    return run


@pytest.fixture
def settled(dump):
    """settled(process): what --json says when its first thread, which had to wait for the GIL, waits for stdin."""
    def look(one):
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            said = json.loads(dump('--json', one.pid).stdout)
            if any(t['tid'] == one.pid and t['state'] == 'idle' and t['frames'][0].get('line') == 27 for t in said['threads']):
                return said
        raise AssertionError(f'it never waits for stdin: {said}')
    return look


def thread_in(threads, function):
    """The one with a frame whose name ends so, as [(name, line)]."""
    for thread in threads:
        frames = [(f['function'].rpartition('.')[2], f.get('line')) for f in thread['frames'] if f.get('file') == STACKS]
        if any(name == function for name, _ in frames):
            return thread, frames
    raise AssertionError(f'no thread in {function}: {threads}')


@pytest.mark.parametrize('version, python', pythons())
def test_each_thread_is_where_it_is(settled, program, version, python):
    one = program(python)
    said = settled(one)
    assert said['pid'] == one.pid and STACKS in said['command']
    assert version.startswith(said['python']), version
    threads = said['threads']
    assert len(threads) == 3 and len({t['tid'] for t in threads}) == 3
    mill, frames = thread_in(threads, 'spin')
    assert frames[1:] == [('run', 18)] and frames[0][0] == 'spin' and frames[0][1] in (12, 13)
    assert mill['state'] == 'running'
    waiter, frames = thread_in(threads, 'wait_for')
    assert frames[0] == ('wait_for', 23) and waiter['state'] == 'idle' and not waiter['gil']
    assert waiter['frames'][0]['function'].endswith('wait') and waiter['frames'][0]['file'].endswith('threading.py')
    reader, frames = thread_in(threads, '<module>')
    assert reader['tid'] == one.pid and reader['state'] == 'idle'
    assert frames[-1] == ('<module>', 40) and [line for _, line in frames[:-1]] == [27] * 4


@pytest.mark.parametrize('version, python', pythons())
def test_as_py_spy_has_them(settled, program, version, python):
    py_spy = os.path.join(TESTS, 'convert/readers/py-spy/bin/py-spy')
    if not os.path.exists(py_spy):
        pytest.skip('needs py-spy (tools/install-readers)')
    if int(version.split('.')[1]) > 13:
        pytest.skip(f'needs a py-spy that reads Python {version}')
    one = program(python)
    threads = settled(one)['threads']
    done = subprocess.run([py_spy, 'dump', '--json', '--pid', str(one.pid)], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    escapes = {0x1b: r'\x1b', 0x0a: r'\x0a'}     # py-spy prints them as they are
    theirs = {t['os_thread_id']: [(f['name'].rpartition('.')[2].translate(escapes), f['filename'], f['line'])
                                  for f in t['frames']] for t in json.loads(done.stdout)}
    ours = {t['tid']: [(f['function'].rpartition('.')[2], f['file'], f['line']) for f in t['frames']] for t in threads}
    for thread in threads:
        skip = thread['state'] == 'running'      # its innermost line changes
        tid = thread['tid']
        assert ours[tid][skip:] == theirs[tid][skip:]


def test_text(dump, program, settled):
    one = program('/usr/bin/python3')
    settled(one)
    text = dump(one.pid).stdout
    assert text.startswith(f'{one.pid} /usr/bin/python3 {STACKS} (Python 3.')
    assert ': running, holds the GIL\n    ' in text and f'\nthread {one.pid} ' in text
    assert f'wait_for ({STACKS}:23)\n' in text
    assert '\x1b' not in text and text.count(f' ({STACKS}:27)\n') == 4
    only = dump('--gil', one.pid).stdout
    assert only.count('\nthread ') <= 1 and 'wait_for' not in only
    both = dump('--native', one.pid).stdout
    assert both.count(f' ({STACKS}:27)\n') == 4 and 'Py_BytesMain+0x' in both and '\x1b' not in both
    assert f'\nthread {one.pid} ' in both and '[Python functions' not in both


def test_deep_stacks(program, settled):
    one = program('/usr/bin/python3', 3000)
    _, frames = thread_in(settled(one)['threads'], '<module>')
    assert len(frames) == 3002


def test_processes_that_cannot_be_read_do_not_hide_others(dump, program):
    one = program('/usr/bin/python3')
    with subprocess.Popen(['sleep', '60']) as other, subprocess.Popen(['true']) as gone:
        gone.wait()
        done = dump(gone.pid, one.pid, other.pid, one.pid, code=1)
        said = [json.loads(line)['pid'] for line in dump('--json', one.pid, other.pid).stdout.splitlines()]
        other.kill()
    assert said == [one.pid, other.pid]
    assert done.stdout.startswith(f'{one.pid} ') and done.stdout.count(f'\n\n{one.pid} ') == 1
    assert f'\n\n{other.pid} sleep 60\n\nthread ' in done.stdout
    assert done.stderr == f'perf-prof: dump: there is no process {gone.pid}; `pgrep NAME` finds the number\n'
    assert not dump(one.pid, 'x', code=2).stdout


@pytest.mark.parametrize('option', ['-p', '--pids', '--pid'])
def test_processes_by_option(dump, option):
    with subprocess.Popen(['sleep', '60']) as one, subprocess.Popen(['sleep', '60']) as other:
        done = dump(option, f'{one.pid},{other.pid}')
        one.kill()
        other.kill()
    shown = [line.split()[0] for line in done.stdout.splitlines() if line.endswith(' sleep 60')]
    assert shown == [str(pid) for pid in sorted([one.pid, other.pid])]


@pytest.mark.parametrize('arg', ['', 'x', '0', '-1', '12x', '99999999999'])
def test_no_process_id(dump, arg):
    assert dump('--', arg, code=2).stderr.startswith(f'perf-prof: dump: {arg}: expected the id of a process')
    assert dump('-p', arg, code=2).stderr.startswith(f'perf-prof: -p {arg}: expected ids of processes')
    assert 'expected the id of a process: perf-prof dump PID' in dump(code=2).stderr


def test_without_proc(prof):
    line = f'umount -l /proc && exec {prof} dump 1'
    env = {**os.environ, 'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'}     # which needs /proc itself
    done = subprocess.run(['unshare', '-m', 'sh', '-c', line], capture_output=True, text=True, timeout=TIMEOUT, env=env)
    if 'unshare' in done.stderr or 'umount' in done.stderr:
        pytest.skip(f'needs root ({done.stderr.strip()})')
    assert done.returncode == 1
    said = [text for text in done.stderr.splitlines() if not text.startswith('==')]     # a sanitizer misses /proc, too
    assert said == ['perf-prof: dump: /proc is not mounted, from which processes are read; mount -t proc proc /proc']


def test_processes_that_have_ended(dump):
    with subprocess.Popen(['sleep', '60']) as other:
        assert 'process' in dump('--gil', other.pid, code=1).stderr
        other.kill()
    assert dump(other.pid, code=1).stderr == f'perf-prof: dump: there is no process {other.pid}; `pgrep NAME` finds the number\n'


@pytest.mark.deep
def test_a_program_that_takes_long_to_search(dump, storm):
    with subprocess.Popen([os.path.join(os.path.dirname(storm), 'imposter'), '30000'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b'ready\n'
        told = dump(one.pid, code=1).stderr
        one.stdin.close()
    assert f'process {one.pid} has mapped so many files that no CPython was found in 2 seconds' in told


def test_a_thread_of_the_kernel(dump):
    try:
        with open('/proc/2/stat', encoding='utf-8') as f:
            if '(kthreadd)' not in f.read():
                raise OSError
    except OSError:
        pytest.skip('needs threads of the kernel in /proc')
    assert 'process 2 is a kernel thread' in dump(2, code=1).stderr


# ---- native functions --------------------------------------------------------------------

def wait_until_asleep(pid):
    """All threads: a new one may not have reached its function yet."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        states = []
        for tid in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{tid}/stat', encoding='utf-8') as f:
                states.append(f.read().rpartition(')')[2].split()[0])
        if set(states) == {'S'}:
            return
        assert time.monotonic() < deadline, states
        time.sleep(0.01)


@pytest.fixture
def threads(build):
    """threads(n): a C program of n threads that wait in one_call()."""
    started = []

    def start(n):
        one = subprocess.Popen([os.path.join(build, 'tests/helpers/threads'), str(n)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        started.append(one)
        assert one.stdout.readline().startswith(b'pid ')
        wait_until_asleep(one.pid)
        return one
    yield start
    for one in started:
        one.kill()
        one.wait(TIMEOUT)


def names_of(thread):
    return [f.get('function') for f in thread['frames']]


def test_native_functions(dump, threads):
    one = threads(4)
    said = json.loads(dump('--json', one.pid).stdout)
    assert said['pid'] == one.pid and 'python' not in said
    main, *others = said['threads']
    assert main['tid'] == one.pid and 'main' in names_of(main) and '_start' in names_of(main)[-1:]
    assert len(others) == 4 and all('one_call' in names_of(t) and 'gil' not in t for t in others)
    frame = next(f for f in main['frames'] if f['function'] == 'main')
    assert frame['dso'].endswith('tests/helpers/threads') and frame['addr'] and frame['file'].endswith('threads.c')
    text = dump(one.pid).stdout
    assert text.count('\nthread ') == 5 and text.count(' one_call+0x') == 4
    # the threads go on: the system call that was interrupted still waits
    one.stdin.write(b'x')
    one.stdin.flush()
    assert one.stdout.readline() == b'calls 4\n'


DEADLOCK = '''
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_a, has_b;
static void *one(void *arg)
{
	pthread_mutex_lock(&a);
	sem_post(&has_a);
	sem_wait(&has_b);
	pthread_mutex_lock(&b);
	return NULL;
}
static void *two(void *arg)
{
	pthread_mutex_lock(&b);
	sem_post(&has_b);
	sem_wait(&has_a);
	pthread_mutex_lock(&a);
	return NULL;
}
int main(void)
{
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, two, NULL);
	pthread_join(threads[0], NULL);
}
'''


def in_mutexes(pid):
    """The threads behind the first one that wait in pthread_mutex_lock(): FUTEX_WAIT_PRIVATE, which semaphores don't use."""
    found = 0
    for tid in sorted(map(int, os.listdir(f'/proc/{pid}/task')))[1:]:
        with open(f'/proc/{pid}/task/{tid}/syscall', encoding='utf-8') as f:
            found += f.read().split()[2:3] == ['0x80']
    return found


def test_locks_and_their_holders(dump, tmp_path):
    (tmp_path / 'dead.c').write_text(DEADLOCK)
    job = tmp_path / 'dead'
    subprocess.run(['gcc', '-O1', '-pthread', '-o', job, tmp_path / 'dead.c'], check=True)
    with subprocess.Popen([job]) as run:
        try:
            end = time.monotonic() + TIMEOUT
            while in_mutexes(run.pid) < 2:
                assert time.monotonic() < end
                os.sched_yield()
            wait_until_asleep(run.pid)
            text, threads = dump(run.pid).stdout, json.loads(dump('--json', run.pid).stdout)['threads']
        finally:
            run.kill()
    main, one, two = [thread['tid'] for thread in threads]
    locks = [f'futex {name} ({job}) held by dead ({holder})' for name, holder in (('b', two), ('a', one))]
    said = [thread.get('waits_in', '') for thread in threads]
    assert said == [f'join of thread dead ({one})', *locks], text
    assert all(f'thread {tid} dead: idle, waits in {lock}\n' in text for tid, lock in zip((one, two), locks)), text
    ends = re.search(r'\n\ndeadlock: dead \((\d+)\) and dead \((\d+)\) wait for each other\'s locks\n$', text)
    assert sorted(map(int, ends.groups())) == [one, two]


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='needs x86-64')
def test_a_thread_that_only_waits_is_not_running(dump):
    """It runs for a moment between two waits: so its state must be that of its stack."""
    with subprocess.Popen([sys.executable, '-c', 'import time\nprint(flush=True)\nwhile True: time.sleep(5e-5)'],
                          stdout=subprocess.PIPE) as one:
        one.stdout.readline()
        threads = [json.loads(dump('--native', '--json', one.pid).stdout)['threads'][0] for _ in range(10)]
        one.kill()
    waits = [t for t in threads if 'nanosleep' in (names_of(t)[0] or '')]
    if not waits:
        pytest.skip(f'needs a Python that sleeps by clock_nanosleep(2), not {names_of(threads[0])[0]}')
    assert {t['state'] for t in waits} == {'idle'}


def test_a_stopped_program_stays_stopped(dump, threads):
    one = threads(1)
    os.kill(one.pid, signal.SIGSTOP)
    os.waitpid(one.pid, os.WUNTRACED)
    assert ' one_call+0x' in dump(one.pid).stdout
    with open(f'/proc/{one.pid}/stat', encoding='utf-8') as f:
        assert f.read().rpartition(')')[2].split()[0] == 'T'


def test_a_program_that_is_traced(dump, threads):
    one = threads(1)
    libc = ctypes.CDLL(None, use_errno=True)
    PTRACE_SEIZE = 0x4206
    if libc.ptrace(PTRACE_SEIZE, one.pid, None, None):
        pytest.skip(f'needs ptrace ({os.strerror(ctypes.get_errno())})')
    told = dump(one.pid, code=1).stderr
    assert f'process {one.pid} cannot be stopped: process {os.getpid()} ' in told and 'traces it' in told


@pytest.mark.parametrize('version, python', pythons())
@pytest.mark.parametrize('depth', [3, 500])
def test_python_functions_among_native_ones(dump, settled, program, version, python, depth):
    one = program(python, depth)
    scripts = settled(one)['threads']
    said = json.loads(dump('--native', '--json', one.pid).stdout)
    assert version.startswith(said['python'])
    for thread, alone in zip(said['threads'], scripts):
        assert thread['tid'] == alone['tid']
        if alone['state'] == 'idle':   # the other one may just begin or end a call
            assert 'merged' not in thread and '_PyEval_EvalFrameDefault' not in names_of(thread), names_of(thread)
            assert 'dso' in thread['frames'][-1]        # start_thread(), _start()
            assert 'dso' in thread['frames'][0]         # a system call
            assert [f for f in thread['frames'] if 'dso' not in f] == alone['frames']
    waiter, _ = thread_in(said['threads'], 'wait_for')
    names = names_of(waiter)
    python_at = next(i for i, f in enumerate(waiter['frames']) if 'dso' not in f)
    assert {True} & {bool(re.search('PyThread_acquire_lock|_PyParkingLot_Park', name or '')) for name in names[:python_at]}, names


@pytest.mark.parametrize('version, python', [one for one in pythons() if int(one[0].split('.')[1]) >= 12])
def test_trampolines_are_left_out(dump, program, settled, monkeypatch, version, python):
    """-X perf: beside each function that the interpreter's loop stands for."""
    monkeypatch.setenv('PYTHONPERFSUPPORT', '1')
    one = program(python)
    alone = next(t for t in settled(one)['threads'] if t['tid'] == one.pid)
    thread = next(t for t in json.loads(dump('--native', '--json', one.pid).stdout)['threads'] if t['tid'] == one.pid)
    if not os.path.exists(f'/tmp/perf-{one.pid}.map'):
        pytest.skip(f'needs a CPython with -X perf, which {version} here is not')
    assert 'merged' not in thread and [f for f in thread['frames'] if 'dso' not in f] == alone['frames']
    assert not [name for name in names_of(thread) if (name or '').startswith('py::')]


def test_root_without_the_right_is_not_sent_to_sudo(prof):
    if os.geteuid():
        pytest.skip('needs root')
    with subprocess.Popen(['sleep', '60']) as other:
        done = subprocess.run(['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace', '--', prof, 'dump',
                               str(other.pid)], capture_output=True, text=True, check=False)
        other.kill()
    if 'may not be read' not in done.stderr:
        pytest.skip(f'needs a kernel that refuses ({done.stderr})')
    assert 'sudo' not in done.stderr and 'CAP_SYS_PTRACE' in done.stderr


THREADS = '''import sys, threading
threading.stack_size(65536)
wait = threading.Event()
try:
    for _ in range(4200):
        threading.Thread(target=wait.wait, daemon=True).start()
except RuntimeError:
    print('few', flush=True)
else:
    print('ready', flush=True)
sys.stdin.readline()
'''


@pytest.mark.deep
def test_more_threads_than_are_read(dump, prof):
    with subprocess.Popen([sys.executable, '-c', THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        started = one.stdout.readline()
        try:
            if started != b'ready\n':
                pytest.skip('needs 4,200 threads')
            told = dump(one.pid, code=1).stderr
            done = subprocess.run([prof, 'profile', '--idle', '-p', str(one.pid)], capture_output=True, text=True, timeout=TIMEOUT)
        finally:
            one.kill()
    assert f'process {one.pid} has more than 4096 Python threads' in told
    assert done.returncode == 1 and told.replace('dump:', 'profile:') in done.stderr


NOT_DUMPABLE = 'import ctypes; ctypes.CDLL(None).prctl(4, 0); print("ready", flush=True); input()'


@pytest.mark.parametrize('command', [('dump',), ('profile', '--python', '-p')])
@pytest.mark.parametrize('as_root, mode, script, why', [
    (True, 0o755, 'print("ready", flush=True); input()', 'it belongs to another user: use sudo'),
    (False, 0o4755, 'print("ready", flush=True); input()', 'it runs a program that is set-user-ID or set-group-ID: use sudo'),
    (False, 0o711, 'print("ready", flush=True); input()', 'it is not dumpable: this user may not read its program'),
    (False, 0o755, NOT_DUMPABLE, 'it is not dumpable: '),
])
def test_a_refusal_says_what_is_special_about_the_process(prof, command, as_root, mode, script, why):
    if os.geteuid():
        pytest.skip('needs root')
    if subprocess.run(['cat', '/proc/sys/kernel/yama/ptrace_scope'], capture_output=True).stdout == b'3\n':
        pytest.skip('kernel.yama.ptrace_scope is 3')
    nobody = pwd.getpwnam('nobody')
    user = {'user': nobody.pw_uid, 'group': nobody.pw_gid, 'extra_groups': []}
    with tempfile.TemporaryDirectory() as folder:
        python = os.path.join(folder, 'python')
        shutil.copyfile(os.path.realpath('/usr/bin/python3'), python)
        os.chmod(folder, 0o755)
        os.chmod(python, mode)
        if mode & 0o4000 and os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip('set-user-ID programs are like others here')
        with subprocess.Popen([python, '-c', script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **({} if as_root else user)) as one:
            assert one.stdout.readline() == b'ready\n'
            done = subprocess.run([prof, *command, str(one.pid)], capture_output=True, text=True, timeout=TIMEOUT, **user)
            one.stdin.close()
    assert done.returncode == 1 and f'the memory of process {one.pid} may not be read' in done.stderr, done.stderr
    assert why in done.stderr and done.stderr.count('\n') == 1, done.stderr
