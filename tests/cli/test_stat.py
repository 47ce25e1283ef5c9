# SPDX-License-Identifier: Apache-2.0
"""perf-prof stat: its runs beside each other, and its counts beside perf's. What it says of made-up numbers is in
tests/unit/test_counts_text.c. Without kernel events it has the context switches of getrusage(2), and the times."""
import contextlib
import csv
import json
import os
import pty
import pwd
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from frame import requires

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EVENT = 'syscalls:sys_enter_getppid'
SWITCHES = '-e', 'context-switches'


def need(*words):
    for reason in filter(None, map(requires.why_not, words)):
        pytest.skip(reason)


@pytest.fixture
def stat(prof, tmp_path):
    """stat(argument...): what a run in the test's folder gives."""
    def run(*args, code=0, **more):
        done = subprocess.run([prof, 'stat', *map(str, args)], **{'cwd': tmp_path, 'capture_output': True, 'text': True, 'timeout': 120, **more})
        assert code in (None, done.returncode), done
        return done
    return run


@pytest.fixture
def counted(stat, tmp_path):
    """counted(argument...): the document of --json."""
    def run(*args):
        stat('--json', '-o', 'ours.json', *args)
        return json.loads((tmp_path / 'ours.json').read_text())
    return run


@contextlib.contextmanager
def talking(code):
    """A Python program that has said that it is ready."""
    with subprocess.Popen(['/usr/bin/python3', '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == 'ready\n'
        try:
            yield program
        finally:
            program.kill()


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.live
def test_a_file_is_whole_or_as_it_was(prof, stat, tmp_path):
    """-o has its name at the end; what is killed leaves an older one. With -i it grows."""
    counts = tmp_path / 'counts'
    counts.write_text('older')
    argv = ['-e', 'task-clock', '-o', 'counts']
    with subprocess.Popen([prof, 'stat', *argv, 'sleep', '60'], cwd=tmp_path) as killed:
        wait_until(lambda: [n for n in os.listdir(tmp_path) if n.startswith('.counts')])
        killed.kill()
    assert counts.read_text() == 'older'
    stat(*argv, 'true')
    assert "stats for 'true'" in counts.read_text()
    with subprocess.Popen([prof, 'stat', *argv, '-i', '20', 'sleep', '60'], cwd=tmp_path) as killed:
        wait_until(lambda: counts.read_text().count('task-clock') >= 2)
        killed.kill()
    assert counts.read_text().count('task-clock') >= 2


@pytest.mark.live
def test_exact_counts_are_perfs(counted, storm, tmp_path):
    need('perf', 'tracefs')
    for args in (['getppid', '12345'], ['threads', '3', '500'], ['fork', '3', '500']):
        mine, = (e['value'] for e in counted('-e', EVENT, storm, *args)['events'])
        subprocess.run(['perf', 'stat', '-x;', '-o', tmp_path / 'csv', '-e', EVENT, storm, *args], check=True, stdout=subprocess.DEVNULL)
        assert re.search(rf'^{mine};;{EVENT};', (tmp_path / 'csv').read_text(), re.M)


def test_spread_is_that_of_the_runs(counted):
    """-r: stddev, standard error, least and most belong together."""
    event, = counted('-r', 5, *SWITCHES, 'true')['events']
    assert event['min'] <= event['value'] <= event['max']
    assert event['standard_error'] == pytest.approx(event['stddev'] / 5 ** 0.5, rel=1e-6)


@pytest.mark.live
def test_cpus_add_up(counted):
    """Each CPU's clock is the time that passed."""
    need('cap_perfmon')
    doc = counted('-a', '-A', '-e', 'task-clock', 'sleep', '1')
    assert len(doc['events']) == len(os.sched_getaffinity(0)) or len(doc['events']) == os.cpu_count()
    for event in doc['events']:
        assert event['value'] == pytest.approx(doc['elapsed_s']['mean'] * 1000, rel=0.4)


@pytest.mark.live
def test_threads_apart(prof):
    need('tracefs')
    code = ('import threading, sys, os; go = threading.Event()\n'
            'def work():\n'
            '    go.wait(); [os.getppid() for _ in range(100)]; stay.wait()\n'
            'stay = threading.Event()\n'
            'ts = [threading.Thread(target=work, daemon=True) for _ in range(2)]\n'
            '[t.start() for t in ts]; print("ready", flush=True)\n'
            'sys.stdin.readline(); go.set(); sys.stdin.readline()')
    with talking(code) as target, subprocess.Popen([prof, 'stat', '--json', '-i', '100', '--per-thread', '-e', EVENT, '-p', str(target.pid)],
                                                   stdout=subprocess.PIPE, text=True) as process:
        first = json.loads(process.stdout.readline())['events']
        target.stdin.write('go\n')
        target.stdin.flush()
        sums, names = [0, 0, 0], set()
        while sum(sums) < 200:              # in one interval, or in two
            events = json.loads(process.stdout.readline())['events']
            names |= {e['thread'] for e in events}
            sums = [n + e['value'] for n, e in zip(sums, events)]
        target.stdin.close()                # it ends, and so does the counting
        process.wait(60)
    assert [e['value'] for e in first] == [0, 0, 0]
    assert len(names) == 3 and all(name.endswith(tuple('0123456789')) for name in names)
    assert sorted(sums) == [0, 100, 100]


@pytest.mark.live
def test_the_busiest_thread_comes_first(stat, tmp_path):
    """As text; programs have the order of ids."""
    need('tracefs')
    code = ('import os, threading\n'
            'go = threading.Event()\n'
            'def work(n): go.wait(); [os.getppid() for _ in range(n)]\n'
            'ts = [threading.Thread(target=work, args=(n,)) for n in (100, 300, 200)]\n'
            f'os.chdir({str(tmp_path)!r})\n'
            '[t.start() for t in ts]; print("ready", flush=True); open("go").read(); go.set()\n'
            '[t.join() for t in ts]; open("done", "w").write("done"); open("go").read()\n')
    os.mkfifo(tmp_path / 'go')
    os.mkfifo(tmp_path / 'done')
    for form, order in (([], [300, 200, 100, 0]), (['--json'], [0, 100, 300, 200])):
        with talking(code) as one:
            stat(*form, '--per-thread', '-e', EVENT, '-o', 'out', '-p', one.pid, '--', 'sh', '-c', 'echo >go; read x <done; true')
        out = (tmp_path / 'out').read_text()
        assert (([e['value'] for e in json.loads(out)['events']] if form else
                 [int(line.split()[1]) for line in out.splitlines() if 'getppid' in line]) == order), out


@pytest.mark.live
@pytest.mark.parametrize('form, told', [('--json', '"thread": "\\\\xff\\\\x1b[1m,-{}",'), ('--csv', ',"\\xff\\x1b[1m,-{}",task-clock,'),
                                        ('--inherit', '\\xff\\x1b[1m,-{}')])
def test_names_of_threads_are_harmless(stat, tmp_path, form, told):
    """Any bytes but a zero can be one."""
    with talking('import ctypes, sys; ctypes.CDLL(None).prctl(15, b"\\xff\\x1b[1m,\\n", 0, 0, 0)\n'
                 'print("ready", flush=True); sys.stdin.readline()') as target:
        stat(form, '-o', 'out', '--per-thread', '-p', target.pid, '-e', 'task-clock', '--', 'true')
    text = (tmp_path / 'out').read_text(encoding='utf-8')
    assert told.format(target.pid) in text and '\x1b' not in text, text


@pytest.mark.live
def test_the_file_is_the_callers(stat, tmp_path):
    need('root')
    nobody = pwd.getpwnam('nobody')
    env = {**os.environ, 'SUDO_UID': str(nobody.pw_uid), 'SUDO_GID': str(nobody.pw_gid)}
    os.chmod(tmp_path, 0o755)
    with tempfile.TemporaryDirectory() as theirs:
        os.chown(theirs, nobody.pw_uid, nobody.pw_gid)
        for more in ([], ['--vs', 'true', '-r', '1']):
            path = os.path.join(theirs, f'file{len(more)}')
            stat(*SWITCHES, *more, '-o', path, '--', 'true', env=env)
            assert os.stat(path).st_uid == nobody.pw_uid
            done = stat(*SWITCHES, *more, '-o', 'file', '--', 'touch', 'ran', env=env, code=1)
            assert 'who ran sudo' in done.stderr
            assert not os.listdir(tmp_path), 'told before the command ran'


@pytest.mark.parametrize('form, told', [(['--json'], True), (['--csv'], True), ([], False), (['--json', '-o', 'counts'], False)])
def test_who_pipes_counts_on_learns_where_they_go(stat, form, told):
    """perf-prof stat --json -- CMD | jq gets nothing: whoever looks at the terminal is told why."""
    ours_end, theirs = pty.openpty()
    stat(*SWITCHES, *form, '--', 'true', stdout=subprocess.DEVNULL, stderr=theirs, capture_output=False)
    os.close(theirs)
    seen = ''
    with contextlib.suppress(OSError):      # EIO: nobody wrote
        while piece := os.read(ours_end, 65536):
            seen += piece.decode()
    os.close(ours_end)
    assert ('counts go to stderr' in seen and '-o FILE' in seen) == told, seen


@pytest.mark.live
def test_a_control_group(prof, stat, storm):
    """Only what its members do is counted."""
    need('root', 'tracefs')
    mount = next((line.split()[1] for line in open('/proc/self/mounts') if line.split()[2] == 'cgroup2'), None)
    if not mount:
        pytest.skip('needs a mounted cgroup v2')
    group = os.path.join(mount, f'perf-prof-test-{os.getpid()}')
    try:
        os.mkdir(group)
    except OSError as error:
        pytest.skip(f'needs to make a control group ({error.strerror})')

    def brief(command, *more):
        return subprocess.run([prof, command, '--seconds', '0.1', '--cgroup', group, *more], capture_output=True, text=True, timeout=60).stderr
    inside = f'echo $$ > {group}/cgroup.procs; {storm} getppid 777; echo $$ > {mount}/cgroup.procs'
    try:
        with subprocess.Popen([prof, 'stat', '--json', '-i', '100', '--cgroup', group, '-e', EVENT],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            lines = [process.stdout.readline()]      # it counts
            if not lines[0]:
                pytest.skip(f'needs events of control groups ({process.stderr.read().strip()})')
            subprocess.run(['sh', '-c', inside], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([storm, 'getppid', '100'], check=True, stdout=subprocess.DEVNULL)
            process.send_signal(signal.SIGINT)
            lines += process.stdout.read().splitlines()
        events = [e for line in lines for e in json.loads(line)['events']]
        assert {e['cgroup'] for e in events} == {group}
        assert 777 <= sum(e['value'] for e in events) <= 779      # the shell's own
        hint = f'control group {group} has no tasks now: only those that enter it are watched'
        assert hint in brief('stat', '-v', '-e', 'cpu-clock') and hint in brief('profile', '-v', '-e', 'cpu-clock')
        os.mkdir(f'{group}/inner')
        with subprocess.Popen(['sleep', '60']) as member:
            with open(f'{group}/inner/cgroup.procs', 'w') as f:
                f.write(str(member.pid))
            assert hint not in brief('profile', '-v', '-e', 'cpu-clock')
            member.kill()
        os.rmdir(f'{group}/inner')
        for said in brief('stat', '-e', 'page-faults'), brief('page-faults'):
            assert f'perf-prof: nothing happened: control group {group} has no tasks\n' in said, said
    finally:
        os.rmdir(group)


# ---------------------------------------------------------------- two commands

@pytest.fixture
def compared(stat):
    """compared(command, argument...): the document of --vs that command, and the run."""
    def run(other, *args, runs=6, code=0, own='true'):
        done = stat('--json', '-r', runs, *SWITCHES, '--vs', other, *args, '--', own, code=code)
        return json.loads(done.stdout), done.stderr
    return run


@pytest.fixture
def by_turn(tmp_path):
    """by_turn(name, commands): a script that counts its runs as $n."""
    def write(name, commands):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\nn=$(($(cat {name}.n 2>/dev/null || echo 0) + 1)); echo $n >{name}.n\n{commands}\n')
        path.chmod(0o755)
    return write


def test_failed_runs_are_left_out(compared, by_turn):
    """The one that fails takes three seconds, which are in no number."""
    by_turn('fails', '[ $n = 3 ] || exit 0; sleep 3; exit 7')
    found, said = compared('./fails', code=7)
    assert said == 'perf-prof: B failed in 1 of 6 runs, with exit code 7: that run is left out\n'
    assert [found[k] for k in ('runs', 'a_failed', 'b_failed', 'a_exit_status', 'b_exit_status')] == [6, 0, 1, 0, 7]
    elapsed, = (e for e in found['events'] if e['event'] == 'elapsed')
    assert elapsed['b']['max'] < 3000 and elapsed['verdict'] in ('more', 'less', 'no difference shown')
    assert {'ratio', 'verdict'} <= set(found['cpu_ratio']) and set(found['elapsed_ratio']) <= {'ratio', 'low', 'high', 'verdict'}


@pytest.mark.parametrize('how, status, told', [
    ('exit 7', 7, 'with exit code 7'), ('kill -SEGV $$', 139, 'ended by signal 11 (Segmentation fault)'),
    ('exit $n', 3, 'the last one with exit code 3'),
])
def test_who_always_fails_cannot_win(compared, by_turn, how, status, told):
    by_turn('fails', how)
    found, said = compared('./fails', runs=3, code=status)
    assert said == f'perf-prof: no winner: B failed in all 3 runs, {told}\n'
    assert (found['b_failed'], found['b_exit_status']) == (3, status)
    assert {'elapsed_ratio', 'cpu_ratio'}.isdisjoint(found) and not any('verdict' in e for e in found['events'])
    assert [e['event'] for e in found['events']][1:4] == ['elapsed', 'user', 'sys']


# Ends after it has used 0.1 s of CPU time, and waits for 0.3 s; `child` and `thread`: another one uses the CPU.
WAITS = '''
import subprocess, sys, threading, time
def work():
    while time.process_time() < 0.1: pass
if sys.argv[1] == 'child': subprocess.run([sys.executable, sys.argv[0], 'none'])
if sys.argv[1] == 'thread': (t := threading.Thread(target=work)).start(), t.join()
if sys.argv[1] == 'none': work()
time.sleep(0.3)
'''


@pytest.mark.parametrize('how, rows', [
    ('none', ['asleep', 'waiting for CPU']), ('child', ['waiting']), ('thread', ['waiting'])])
def test_time_on_no_cpu(compared, tmp_path, how, rows):
    """Asleep and waiting for a CPU, unless others than the first thread use the CPU: elapsed time without CPU time. CPU time is decided
    by user + sys, where no row has it."""
    (tmp_path / 'waits.py').write_text(WAITS)
    found, said = compared(f'{sys.executable} waits.py {how}', runs=2)
    row = {e['event']: e for e in found['events']}
    assert list(row)[-len(rows):] == rows and not {'asleep', 'waiting for CPU', 'waiting'} - set(rows) & set(row), row
    for side in 'ab':
        rest = row['elapsed'][side]['mean'] - row['user'][side]['mean'] - row['sys'][side]['mean']
        assert sum(row[name][side]['mean'] for name in rows) >= max(0, rest) - 1
    assert row[rows[0]]['b']['min'] >= 290
    a, b = (row['user'][side]['mean'] + row['sys'][side]['mean'] for side in 'ab')
    assert found['cpu_ratio']['ratio'] == pytest.approx(b / a, rel=1e-6)


def test_waiting_for_a_cpu(compared, tmp_path):
    """Two of them on one CPU: each waits as long as the other one runs."""
    cpu = min(os.sched_getaffinity(0))
    (tmp_path / 'waits.py').write_text(WAITS)
    with subprocess.Popen(['taskset', '-c', str(cpu), 'sh', '-c', 'while :; do :; done']) as other:
        try:
            found, _ = compared(f'taskset -c {cpu} {sys.executable} waits.py none', runs=1)
        finally:
            other.kill()
    row = {e['event']: e for e in found['events']}
    assert row['waiting for CPU']['b']['mean'] >= 20 and row['asleep']['b']['mean'] >= 290, row


def test_csv_has_the_same(stat, by_turn):
    by_turn('fails', '[ $n != 2 ] || exit 7')
    done = stat('--csv', '-r', 4, *SWITCHES, '--vs', './fails', '--', 'true', code=7)
    switches, elapsed, *_ = csv.DictReader(done.stdout.splitlines())
    assert switches['event'] == 'context-switches' and elapsed['verdict'] in ('more', 'less', 'no difference shown')
    assert float(elapsed['ratio']) == pytest.approx(float(elapsed['b_mean']) / float(elapsed['a_mean']))
    assert float(elapsed['a_min']) <= float(elapsed['a_mean']) and float(elapsed['b_min']) <= float(elapsed['b_mean'])
    assert [elapsed[k] for k in ('runs', 'a_failed', 'b_failed', 'a_exit_status', 'b_exit_status')] == ['4', '0', '1', '0', '7']


@pytest.mark.deep       # it sleeps for long
def test_the_outlier_is_named(stat, by_turn, tmp_path):
    """Sleeps, not work: one run that takes longer by much more than a busy machine delays the others."""
    by_turn('cold', '[ $n = 1 ] && sleep 6 || sleep 0.5')
    args = '-r', 3, *SWITCHES, '--vs', './cold'
    said = stat(*args, '--', 'true').stderr
    assert re.search(r'^ B: run 1 took [6-9],\d+\.\d\d msec, the others [1-9][\d,.]+ to [1-9][\d,.]+ msec: a cold start\? '
                     r'--warmup 1 ', said, re.M), said
    (tmp_path / 'cold.n').unlink()
    said = stat(*args, '--warmup', 1, '--', 'true').stderr
    assert 'in turns' in said and not re.search('B: run 1 took [6-9],', said)


@pytest.mark.parametrize('vs', [[], ['--vs', 'true']])
def test_a_signal_while_commands_warm_up(prof, tmp_path, vs):
    (tmp_path / 'slow').write_text(f'#!/bin/sh\ntouch {tmp_path}/started\nexec sleep 60\n')
    (tmp_path / 'slow').chmod(0o755)
    with subprocess.Popen([prof, 'stat', '--warmup', '2', *SWITCHES, *vs, '--', tmp_path / 'slow'], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        wait_until((tmp_path / 'started').exists)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ''), err
    assert 'interrupted while commands ran to warm up (--warmup): nothing was counted' in err and 'elapsed' not in err


@pytest.mark.live
@pytest.mark.parametrize('new, old, passes', [('sleep 2', 'sleep 0.01', False), ('sleep 0.01', 'sleep 0.1', True), ('exit 1', 'sleep 0.1', False),
                                              (None, 'true', False), ('true', None, False)])
def test_the_recipe_for_ci(prof, tmp_path, new, old, passes):
    """The lines of docs/compare.md; with a lower level, and differences that no busy machine hides."""
    need('program:jq', 'events')
    with open(os.path.join(ROOT, 'docs/compare.md')) as f:
        line, = re.findall(r'^(perf-prof stat --json .*\n.*)$', f.read(), re.M)
    for name, text in (('new', new), ('old', old)):
        if text:
            (tmp_path / name).write_text(f'#!/bin/sh\n{text}\n')
            (tmp_path / name).chmod(0o755)
    done = subprocess.run(line.replace('-r 20', '-r 2 --confidence 50'), shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env={**os.environ, 'PATH': f'{os.path.dirname(prof)}:{os.environ["PATH"]}'})
    failed = not new or not old or new == 'exit 1'      # then jq is not run
    assert (done.stdout, done.returncode == 0) == ('' if failed else f'{str(passes).lower()}\n', passes), done


# ---------------------------------------------------------------- stdin of the runs

@pytest.mark.parametrize('more', [['-r', '4', '--', 'wc', '-l'], ['-r', '2', '--warmup', '1', '--vs', 'sh -c "wc -l >&2"', '--', 'sh', '-c', 'wc -l >&2']])
def test_each_run_reads_the_same_file(stat, tmp_path, more):
    (tmp_path / 'in').write_text('not read\n' + 'line\n' * 5)
    with open(tmp_path / 'in') as stdin:
        os.lseek(stdin.fileno(), len('not read\n'), os.SEEK_SET)
        done = stat(*SWITCHES, *more, stdin=stdin)
    assert 'stdin' not in done.stderr, done.stderr
    counted = re.findall(r'^\s*(\d+)$', done.stdout + done.stderr, re.M)
    assert counted == ['5'] * (6 if '--vs' in more else 4), done


def test_a_pipe_is_read_once(stat):
    """And not at all if there is one run, or nothing in the pipe."""
    def run(given, *more):
        done = stat(*SWITCHES, *more, '--', 'wc', '-c', input=given)
        return done.stdout.split(), done.stderr.count('stdin is a pipe, and each run reads what the runs before it have left')

    assert run('text', '-r', '3') == (['4', '0', '0'], 1)
    assert run('text') == (['4'], 0)
    r, w = os.pipe()
    said = stat(*SWITCHES, '-r', 2, '--', 'true', stdin=r).stderr
    os.close(r)
    os.close(w)
    assert 'stdin' not in said, said


# ---------------------------------------------------------------- probes of another tool

UPROBES = '/sys/kernel/tracing/uprobe_events'


def define(line):
    fd = os.open(UPROBES, os.O_WRONLY | os.O_APPEND)
    os.write(fd, line.encode())
    os.close(fd)


@pytest.fixture
def probed_return():
    """A return probe of getppid() in a program, which another tool has made."""
    group = f'of_test_{os.getpid()}'
    libc = os.path.realpath(next(line.split()[-1] for line in open('/proc/self/maps') if '/libc.so' in line or '/libc-2' in line))
    symbols = subprocess.run(['nm', '-D', libc], capture_output=True, text=True).stdout
    address = re.search(r'^([0-9a-f]+) \w getppid(@|$)', symbols, re.M)[1]
    define(f'r:{group}/back {libc}:0x{address}\n')
    yield f'{group}:back'
    define(f'-:{group}/back\n')


@pytest.mark.live
@pytest.mark.skipif(requires.why_not('root') or not os.path.exists(UPROBES), reason='needs root and uprobes')
def test_returns_happen_in_the_program(prof, stat, probed_return):
    """:u leaves out none of them, nor does trace refuse it."""
    job = ['--', sys.executable, '-c', 'import os\nfor _ in range(20): os.getppid()']
    said = stat('-e', f'{probed_return}:u', *job).stderr
    assert re.search(rf'^ +20 +{probed_return}:u', said, re.M) and 'always 0' not in said, said
    done = subprocess.run([prof, 'trace', '-e', f'{probed_return}:u', *job], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.count(probed_return) == 20, done


@pytest.mark.live('events')
def test_sigusr2_prints_the_counts_so_far(prof):
    with subprocess.Popen([prof, 'stat', '-e', 'dummy', '--', 'sh', '-c', 'echo ready; exec cat'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == 'ready\n'
        run.send_signal(signal.SIGUSR2)
        assert run.stderr.readline() == 'stat: events 1: dummy 0\n'
        assert 'Performance counter stats' in run.communicate(timeout=30)[1] and run.returncode == 0
