# SPDX-License-Identifier: Apache-2.0
"""perf-prof stat beside perf stat, and its runs beside each other."""
import contextlib
import csv
import json
import os
import pty
import pwd
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import pytest

from frame import requires
from frame.again import TRIES, attempts
from frame.declared import reachable

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; head -c 3000000 /dev/zero | tr a b >/dev/null'
EVENTS = 'task-clock,page-faults,context-switches'


def need(word):
    reason = requires.why_not(word)
    if reason:
        pytest.skip(reason)


def ours(prof, folder, *args):
    path = os.path.join(folder, 'ours.json')
    subprocess.run([prof, 'stat', '--json', '-o', path, *args], check=True,
                   stdout=subprocess.DEVNULL)
    with open(path) as f:
        return {e['event']: e for e in json.load(f)['events']}


def perfs(folder, *args):
    path = os.path.join(folder, 'perf.csv')
    subprocess.run(['perf', 'stat', '-x;', '-o', path, *args], check=True,
                   stdout=subprocess.DEVNULL)
    with open(path) as f:
        rows = [line.split(';') for line in f if ';' in line]
    return {row[2]: float(row[0]) for row in rows}


def test_a_file_is_whole_or_as_it_was(prof, tmp_path):
    """-o has its name at the end; what is killed leaves an older one. With -i it grows."""
    (tmp_path / 'counts').write_text('older')
    argv = [prof, 'stat', '-e', 'task-clock', '-o', 'counts']
    end = time.monotonic() + 20
    with subprocess.Popen([*argv, 'sleep', '20'], cwd=tmp_path) as stat:
        while not [n for n in os.listdir(tmp_path) if n.startswith('.counts')] and time.monotonic() < end:
            time.sleep(0.01)
        stat.kill()
    assert (tmp_path / 'counts').read_text() == 'older'
    subprocess.run([*argv, 'true'], cwd=tmp_path, check=True, timeout=20)
    assert "stats for 'true'" in (tmp_path / 'counts').read_text()
    with subprocess.Popen([*argv, '-i', '20', 'sleep', '20'], cwd=tmp_path) as stat:
        while (tmp_path / 'counts').read_text().count('task-clock') < 2 and time.monotonic() < end:
            time.sleep(0.01)
        stat.kill()
    assert (tmp_path / 'counts').read_text().count('task-clock') >= 2


@pytest.mark.slow
def test_agrees_with_perf_stat(prof, tmp_path):
    """The same command in turns: medians within the spread of either."""
    need('perf')
    got = {'ours': [], 'perf': []}
    for _ in range(7):
        mine = ours(prof, tmp_path, '-e', EVENTS, 'sh', '-c', WORK)
        got['ours'].append({name: e['value'] for name, e in mine.items()})
        got['perf'].append(perfs(tmp_path, '-e', EVENTS, 'sh', '-c', WORK))
    for name, slack in (('task-clock', 0), ('page-faults', 3), ('context-switches', 20)):
        a = [run[name] for run in got['ours']]
        b = [run[name] for run in got['perf']]
        spread = max(max(a) - min(a), max(b) - min(b))
        assert abs(statistics.median(a) - statistics.median(b)) <= spread + slack, (name, a, b)


def test_exact_counts_are_perfs(prof, storm, tmp_path):
    need('perf')
    need('tracefs')
    event = 'syscalls:sys_enter_getppid'
    for args in (['getppid', '12345'], ['threads', '3', '500'], ['fork', '3', '500']):
        mine = ours(prof, tmp_path, '-e', event, storm, *args)[event]['value']
        assert mine == perfs(tmp_path, '-e', event, storm, *args)[event]


def test_spread_is_that_of_the_runs(prof, tmp_path):
    """-r: stddev, standard error, least and most belong together."""
    runs = 5
    event = ours(prof, tmp_path, '-r', str(runs), '-e', 'task-clock', 'true')['task-clock']
    assert event['min'] <= event['value'] <= event['max']
    assert event['standard_error'] == pytest.approx(event['stddev'] / runs ** 0.5, rel=1e-6)


def test_cpus_add_up(prof, tmp_path):
    """Each CPU's clock is the time that passed."""
    need('cap_perfmon')
    path = os.path.join(tmp_path, 'out')
    subprocess.run([prof, 'stat', '--json', '-o', path, '-a', '-A', '-e', 'task-clock', 'sleep',
                    '0.3'], check=True)
    with open(path) as f:
        doc = json.load(f)
    assert len(doc['events']) == len(os.sched_getaffinity(0)) or len(doc['events']) == os.cpu_count()
    for event in doc['events']:
        assert event['value'] == pytest.approx(doc['elapsed_s']['mean'] * 1000, rel=0.1)


def test_threads_apart(prof):
    code = ('import threading, sys, os; go = threading.Event()\n'
            'def work():\n'
            '    go.wait(); [os.getppid() for _ in range(100)]; stay.wait()\n'
            'stay = threading.Event()\n'
            'ts = [threading.Thread(target=work, daemon=True) for _ in range(2)]\n'
            '[t.start() for t in ts]; print("ready", flush=True)\n'
            'sys.stdin.readline(); go.set(); sys.stdin.readline()')
    need('tracefs')
    event = 'syscalls:sys_enter_getppid'
    target = subprocess.Popen(['/usr/bin/python3', '-c', code], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        target.stdout.readline()
        with subprocess.Popen([prof, 'stat', '--json', '-i', '100', '--per-thread', '-e', event, '-p',
                               str(target.pid)], stdout=subprocess.PIPE, text=True) as process:
            first = json.loads(process.stdout.readline())
            target.stdin.write('go\n')
            target.stdin.flush()
            sums, names = [0, 0, 0], set()
            for _ in range(50):             # in one interval, or in two
                events = json.loads(process.stdout.readline())['events']
                names |= {e['thread'] for e in events}
                sums = [n + e['value'] for n, e in zip(sums, events)]
                if sum(sums) >= 200:
                    break
            target.stdin.close()            # it ends, and so does the counting
            process.wait(10)
    finally:
        target.kill()
        target.wait()
        target.stdout.close()
    assert [e['value'] for e in first['events']] == [0, 0, 0]
    assert len(names) == 3 and all(name.endswith(tuple('0123456789')) for name in names)
    assert sorted(sums) == [0, 100, 100]


def test_the_busiest_thread_comes_first(prof, tmp_path):
    """As text; programs have the order of ids."""
    need('tracefs')
    code = ('import os, threading\n'
            'go = threading.Event()\n'
            'def work(n): go.wait(); [os.getppid() for _ in range(n)]\n'
            'ts = [threading.Thread(target=work, args=(n,)) for n in (100, 300, 200)]\n'
            '[t.start() for t in ts]; print("ready", flush=True); open("go").read(); go.set()\n'
            '[t.join() for t in ts]; open("done", "w").write("done"); open("go").read()\n')
    os.mkfifo(tmp_path / 'go')
    os.mkfifo(tmp_path / 'done')
    for form, order in (([], [300, 200, 100, 0]), (['--json'], [0, 100, 300, 200])):
        with subprocess.Popen(['/usr/bin/python3', '-c', code], stdout=subprocess.PIPE, cwd=tmp_path) as one:
            one.stdout.readline()
            subprocess.run([prof, 'stat', *form, '--per-thread', '-e', 'syscalls:sys_enter_getppid', '-o', 'out', '-p', str(one.pid),
                            '--', 'sh', '-c', 'echo >go; read x <done'], cwd=tmp_path, timeout=20)
            one.kill()
        out = (tmp_path / 'out').read_text()
        assert (([e['value'] for e in json.loads(out)['events']] if form else
                 [int(line.split()[1]) for line in out.splitlines() if 'getppid' in line]) == order), out


def test_names_of_threads_are_harmless(prof, tmp_path):
    """Any bytes but a zero can be one."""
    code = ('import ctypes, sys; ctypes.CDLL(None).prctl(15, b"\\xff\\x1b[1m,\\n", 0, 0, 0)\n'
            'print("ready", flush=True); sys.stdin.readline()')
    target = subprocess.Popen(['/usr/bin/python3', '-c', code], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    path = tmp_path / 'out'
    args = ['-o', path, '--per-thread', '-p', str(target.pid), '-e', 'task-clock', '--', 'true']
    try:
        target.stdout.readline()
        subprocess.run([prof, 'stat', '--json', *args], check=True)
        events = json.loads(path.read_text(encoding='utf-8'))['events']
        assert [e['thread'] for e in events] == [f'\\xff\\x1b[1m,-{target.pid}']
        subprocess.run([prof, 'stat', '--csv', *args], check=True)
        assert f',"\\xff\\x1b[1m,-{target.pid}",task-clock,' in path.read_text(encoding='utf-8')
    finally:
        target.communicate()


def test_the_file_is_the_callers(prof, tmp_path):
    need('root')
    nobody = pwd.getpwnam('nobody')
    env = {**os.environ, 'SUDO_UID': str(nobody.pw_uid), 'SUDO_GID': str(nobody.pw_gid)}
    with tempfile.TemporaryDirectory() as theirs:
        os.chown(theirs, nobody.pw_uid, nobody.pw_gid)
        for more in ([], ['--vs', 'true', '-r', '1']):
            args = [prof, 'stat', '-e', 'task-clock', *more]
            path = os.path.join(theirs, f'file{len(more)}')
            subprocess.run([*args, '-o', path, '--', 'true'], check=True, env=env)
            assert os.stat(path).st_uid == nobody.pw_uid
            os.chmod(tmp_path, 0o755)
            done = subprocess.run([*args, '-o', tmp_path / 'file', '--', 'touch', tmp_path / 'ran'],
                                  capture_output=True, text=True, env=env)
            assert done.returncode == 1 and 'who ran sudo' in done.stderr
            assert not os.listdir(tmp_path), 'told before the command ran'


@pytest.mark.parametrize('form, told', [(['--json'], True), (['--csv'], True), ([], False),
                                        (['--json', '-o', 'counts'], False)])
def test_who_pipes_counts_on_learns_where_they_go(prof, tmp_path, form, told):
    """perf-prof stat --json -- CMD | jq gets nothing: whoever looks at the terminal is told why."""
    ours_end, theirs = pty.openpty()
    subprocess.run([prof, 'stat', '-e', 'task-clock', *form, '--', 'true'], cwd=tmp_path, check=True,
                   stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = ''
    with contextlib.suppress(OSError):      # EIO: nobody wrote
        while piece := os.read(ours_end, 65536):
            seen += piece.decode()
    os.close(ours_end)
    assert ('counts go to stderr' in seen and '-o FILE' in seen) == told, seen


def test_a_control_group(prof, storm):
    """Only what its members do is counted."""
    need('root')
    need('tracefs')
    mount = next((line.split()[1] for line in open('/proc/self/mounts')
                  if line.split()[2] == 'cgroup2'), None)
    if not mount:
        pytest.skip('needs a mounted cgroup v2')
    group = os.path.join(mount, f'perf-prof-test-{os.getpid()}')
    try:
        os.mkdir(group)
    except OSError as error:
        pytest.skip(f'needs to make a control group ({error.strerror})')
    event = 'syscalls:sys_enter_getppid'
    inside = f'echo $$ > {group}/cgroup.procs; {storm} getppid 777; echo $$ > {mount}/cgroup.procs'
    try:
        with subprocess.Popen([prof, 'stat', '--json', '-i', '100', '--cgroup', group, '-e', event],
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
        for command in 'stat', 'profile':
            run = [prof, command, '-v', '--seconds', '0.1', '--cgroup', group, '-e', 'cpu-clock']
            assert hint in subprocess.run(run, capture_output=True, text=True, timeout=60).stderr
        os.mkdir(f'{group}/inner')
        with subprocess.Popen(['sleep', '60']) as inside:
            with open(f'{group}/inner/cgroup.procs', 'w') as f:
                f.write(str(inside.pid))
            assert hint not in subprocess.run(run, capture_output=True, text=True, timeout=60).stderr
            inside.kill()
        os.rmdir(f'{group}/inner')
        for command in 'stat', 'page-faults':
            run = [prof, command, '--seconds', '0.1', '--cgroup', group, *(['-e', 'page-faults'] if command == 'stat' else [])]
            done = subprocess.run(run, capture_output=True, text=True, timeout=60)
            assert f'perf-prof: nothing happened: control group {group} has no tasks\n' in done.stderr, done
    finally:
        os.rmdir(group)


def compared(prof, folder, *args, runs=6, other='true'):
    """perf-prof stat --vs --json on stdout."""
    done = subprocess.run([prof, 'stat', '--json', '-r', str(runs), '-e', 'page-faults:u', '--vs', *args, '--', other],
                          cwd=folder, capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout), done


def by_turn(folder, name, commands):
    """A script that counts its runs as $n."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nn=$(($(cat {name}.n 2>/dev/null || echo 0) + 1)); echo $n >{name}.n\n{commands}\n')
    path.chmod(0o755)


def test_failed_runs_are_left_out(prof, tmp_path):
    """The one that fails takes three seconds, which are in no number."""
    by_turn(tmp_path, 'fails', '[ $n = 3 ] || exit 0; sleep 3; exit 7')
    found, done = compared(prof, tmp_path, './fails')
    assert done.returncode == 7
    assert done.stderr == 'perf-prof: B failed in 1 of 6 runs, with exit code 7: that run is left out\n'
    assert [found[k] for k in ('runs', 'a_failed', 'b_failed', 'a_exit_status', 'b_exit_status')] == [6, 0, 1, 0, 7]
    elapsed, = (e for e in found['events'] if e['event'] == 'elapsed')
    assert elapsed['b']['max'] < 3000 and elapsed['verdict'] in ('more', 'less', 'no difference shown')
    assert {'ratio', 'verdict'} <= set(found['cpu_ratio']) and set(found['elapsed_ratio']) <= {'ratio', 'low', 'high', 'verdict'}


@pytest.mark.parametrize('how, status, told', [
    ('exit 7', 7, 'with exit code 7'), ('kill -SEGV $$', 139, 'ended by signal 11 (Segmentation fault)'),
    ('exit $n', 3, 'the last one with exit code 3'),
])
def test_who_always_fails_cannot_win(prof, tmp_path, how, status, told):
    by_turn(tmp_path, 'fails', how)
    found, done = compared(prof, tmp_path, './fails', runs=3)
    assert done.returncode == status
    assert done.stderr == f'perf-prof: no winner: B failed in all 3 runs, {told}\n'
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
def test_time_on_no_cpu(prof, tmp_path, how, rows):
    """Asleep and waiting for a CPU, unless others than the first thread use the CPU: elapsed time without CPU time."""
    (tmp_path / 'waits.py').write_text(WAITS)
    found, done = compared(prof, tmp_path, f'{sys.executable} waits.py {how}', runs=3)
    assert done.returncode == 0, done
    row = {e['event']: e for e in found['events']}
    assert list(row)[-len(rows):] == rows and not {'asleep', 'waiting for CPU', 'waiting'} - set(rows) & set(row), row
    for side in 'ab':
        rest = row['elapsed'][side]['mean'] - row['user'][side]['mean'] - row['sys'][side]['mean']
        assert sum(row[name][side]['mean'] for name in rows) >= max(0, rest) - 1
    assert row[rows[0]]['b']['min'] >= 290


def test_waiting_for_a_cpu(prof, tmp_path):
    """Two of them on one CPU: each waits as long as the other one runs."""
    cpu = min(os.sched_getaffinity(0))
    (tmp_path / 'waits.py').write_text(WAITS)
    with subprocess.Popen(['taskset', '-c', str(cpu), 'sh', '-c', 'while :; do :; done']) as other:
        try:
            found, _ = compared(prof, tmp_path, f'taskset -c {cpu} {sys.executable} waits.py none', runs=2)
        finally:
            other.kill()
    row = {e['event']: e for e in found['events']}
    assert row['waiting for CPU']['b']['min'] >= 20 and row['asleep']['b']['min'] >= 290, row


def test_csv_has_the_same(prof, tmp_path):
    by_turn(tmp_path, 'fails', '[ $n != 2 ] || exit 7')
    done = subprocess.run([prof, 'stat', '--csv', '-r', '4', '-e', 'page-faults:u', '--vs', './fails', '--', 'true'],
                          cwd=tmp_path, capture_output=True, text=True, timeout=60)
    faults, elapsed, *_ = csv.DictReader(done.stdout.splitlines())
    assert faults['verdict'] == 'more' and float(faults['ratio_low']) > 1
    assert float(faults['ratio']) == pytest.approx(float(faults['b_mean']) / float(faults['a_mean']))
    assert float(elapsed['a_min']) <= float(elapsed['a_mean']) and float(elapsed['b_min']) <= float(elapsed['b_mean'])
    assert [elapsed[k] for k in ('runs', 'a_failed', 'b_failed', 'a_exit_status', 'b_exit_status')] == ['4', '0', '1', '0', '7']


@pytest.mark.deep
def test_the_outlier_is_named(prof, tmp_path):
    """Sleeps, not work: one run that takes longer by much more than a busy machine delays the others."""
    by_turn(tmp_path, 'cold', '[ $n = 1 ] && sleep 6 || sleep 0.5')
    args = [prof, 'stat', '-r', '3', '-e', 'page-faults:u', '--vs', './cold']
    done = subprocess.run([*args, '--', 'true'], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert re.search(r'^ B: run 1 took [6-9],\d+\.\d\d msec, the others [1-9][\d,.]+ to [1-9][\d,.]+ msec: a cold start\? '
                     r'--warmup 1 ', done.stderr, re.M), done.stderr
    (tmp_path / 'cold.n').unlink()
    done = subprocess.run([*args, '--warmup', '1', '--', 'true'], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert 'in turns' in done.stderr and not re.search('B: run 1 took [6-9],', done.stderr)


@pytest.mark.parametrize('vs', [[], ['--vs', 'true']])
def test_a_signal_while_commands_warm_up(prof, tmp_path, vs):
    (tmp_path / 'slow').write_text(f'#!/bin/sh\ntouch {tmp_path}/started\nexec sleep 60\n')
    (tmp_path / 'slow').chmod(0o755)
    with subprocess.Popen([prof, 'stat', '--warmup', '2', *vs, '--', tmp_path / 'slow'], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        while not (tmp_path / 'started').exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ''), err
    assert 'interrupted while commands ran to warm up (--warmup): nothing was counted' in err and 'elapsed' not in err


def test_cpu_time_is_decided_apart(prof, build, tmp_path):
    """Of user + sys where no row has it."""
    work = os.path.join(build, 'tests/helpers/works')
    busy = f"sh -c '{work} shares 300 >/dev/null'"
    found, done = compared(prof, tmp_path, busy)
    assert found['cpu_ratio']['verdict'] == 'more' and found['cpu_ratio']['low'] > 1, done
    times = {e['event']: e for e in found['events']}
    total = [times['user'][side]['mean'] + times['sys'][side]['mean'] for side in 'ab']
    assert found['cpu_ratio']['ratio'] == pytest.approx(total[1] / total[0], rel=1e-6)


def test_the_recipe_for_ci(prof, tmp_path):
    """The lines of docs/stat.md; with a lower level, as one slow run on a busy machine must not leave it open."""
    need('program:jq')
    with open(os.path.join(ROOT, 'docs/stat.md')) as f:
        line, = re.findall(r'^    (perf-prof stat --json .*\n.*)$', f.read(), re.M)
    line = line.replace('-r 20', '-r 4 --confidence 60')
    env = {**os.environ, 'PATH': f'{os.path.dirname(prof)}:{os.environ["PATH"]}'}
    for new, old, passes in (('sleep 0.5', 'sleep 0.01', False), ('sleep 0.01', 'sleep 0.5', True), ('exit 1', 'sleep 0.1', False),
                             (None, 'true', False), ('true', None, False)):
        for name, text in (('new', new), ('old', old)):
            (tmp_path / name).unlink(missing_ok=True)
            if text:
                (tmp_path / name).write_text(f'#!/bin/sh\n{text}\n')
                (tmp_path / name).chmod(0o755)
        failed = not new or not old or new == 'exit 1'      # then jq is not run

        def measure():
            done = subprocess.run(line, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
            right = (done.stdout, done.returncode == 0) == ('' if failed else f'{str(passes).lower()}\n', passes)
            return None if right else done
        attempts(measure)   # on a machine that is too busy, nothing is decided, and it passes


@pytest.mark.parametrize('more', [['-r', '4', '--', 'wc', '-l'], ['-r', '2', '--warmup', '1', '--vs', 'sh -c "wc -l >&2"', '--', 'sh', '-c', 'wc -l >&2']])
def test_each_run_reads_the_same_file(prof, tmp_path, more):
    (tmp_path / 'in').write_text('not read\n' + 'line\n' * 5)
    with open(tmp_path / 'in') as stdin:
        os.lseek(stdin.fileno(), len('not read\n'), os.SEEK_SET)
        done = subprocess.run([prof, 'stat', '-e', 'page-faults:u', *more], stdin=stdin, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and 'stdin' not in done.stderr, done.stderr
    counted = re.findall(r'^\s*(\d+)$', done.stdout + done.stderr, re.M)
    assert counted == ['5'] * (6 if '--vs' in more else 4), done


def decided(prof, folder, pattern, *words, runs=4, stdin=subprocess.DEVNULL, run=list, **more):
    """What a comparison says, once it has the pattern: where others have the CPUs, nothing may be decided."""
    for _ in range(TRIES):
        done = subprocess.run(run([prof, 'stat', '-r', str(runs), '-e', 'page-faults:u', '--confidence=60', *words]), cwd=folder, stdin=stdin,
                              capture_output=True, text=True, timeout=100, **more)
        if re.search(pattern, done.stderr, re.M):
            return done.stderr
    raise AssertionError(done)


def next_step(prof, tmp_path, stdin, run=list):
    """The lines below the verdict that say where the difference is."""
    said = decided(prof, tmp_path, ' A is faster: ', '--vs', 'sleep 0.2', '--', 'true', stdin=stdin, run=run)
    return said.partition(' which waits differ')[2]


def test_the_next_step_reads_the_same_file(prof, tmp_path):
    """If a shell can open it at the same place; it is left out if not."""
    need('tracefs')
    need('cap_perfmon')
    path = tmp_path / "a file's lines"
    path.write_text('line\n' * 5)
    with open(path) as stdin:
        lines = next_step(prof, tmp_path, stdin)
        name = str(path).replace("'", "'\\''")
        assert lines.count(f" < '{name}' > /dev/null\n") == 4, lines
        os.lseek(stdin.fileno(), 5, os.SEEK_SET)
        assert not next_step(prof, tmp_path, stdin)
    with open(path) as stdin:
        path.unlink()
        assert not next_step(prof, tmp_path, stdin)
        path.write_text('another')
        assert not next_step(prof, tmp_path, stdin)
    assert '<' not in next_step(prof, tmp_path, subprocess.DEVNULL)


def test_the_next_step_of_a_user_who_may_not_see_waits(prof, tmp_path):
    need('nobody')
    if int(open('/proc/sys/kernel/perf_event_paranoid').read()) < 0:
        pytest.skip('needs kernel.perf_event_paranoid above -1')
    for path in (tmp_path, *list(tmp_path.parents)[:2]):    # pytest's are its user's only
        os.chmod(path, 0o755)
    lines = next_step(reachable(prof, str(tmp_path)), tmp_path, subprocess.DEVNULL, requires.as_nobody)
    assert lines.startswith(', as root (writes a1.folded ') and lines.count('        sudo perf-prof profile -q --off-cpu ') == 2, lines
    assert ' they wait for, as root (writes a.waits ' in lines and lines.count('\n    sudo perf-prof waits -q --on -o ') == 2, lines


def test_the_next_step_of_children(prof, tmp_path):
    """Also if it is not known how long they slept and how long they waited for a CPU, which the heading says."""
    need('tracefs')
    need('cap_perfmon')
    vs = [word for seconds in ('0.01', '0.5') for word in ('--vs', f'sh -c "sleep {seconds}"; true')]
    said = decided(prof, tmp_path, r'^ waiting +msec .*  more$', *vs)
    command = 'perf-prof profile -q --off-cpu --flame-graph'
    assert said.endswith(f"""
 which waits differ, unless A or B waited for a CPU (writes a1.folded to a5.folded and b1.folded to b5.folded here):
    for i in 1 2 3 4 5; do
        {command} a$i.folded -- /bin/sh -c 'sh -c "sleep 0.01"; true' > /dev/null
        {command} b$i.folded -- /bin/sh -c 'sh -c "sleep 0.5"; true' > /dev/null
    done
    perf-prof diff --total a[1-5].folded --vs b[1-5].folded
 which locks, files and pipes they wait for (writes a.waits and b.waits here):
    perf-prof waits -q --on -o a.waits -- /bin/sh -c 'sh -c "sleep 0.01"; true' > /dev/null
    perf-prof waits -q --on -o b.waits -- /bin/sh -c 'sh -c "sleep 0.5"; true' > /dev/null
    cat a.waits b.waits

"""), said


def paste(prof, folder, lines, each=True):
    """What the printed lines of commands print, run in `folder`, whose perf-prof is the one under test. each: all must end well."""
    if not (folder / 'perf-prof').exists():
        (folder / 'perf-prof').symlink_to(prof)
    done = subprocess.run(['bash', *['-e'] * each, '-c', '\n'.join(re.findall('^    .*', lines, re.M))], cwd=folder,
                          stdin=subprocess.DEVNULL, env={**os.environ, 'PATH': f'{folder}:{os.environ["PATH"]}'}, capture_output=True,
                          text=True, timeout=200)
    assert done.returncode == 0, done
    return done.stdout


def test_the_next_step_names_what_they_wait_for(prof, tmp_path):
    """Also if the command prints much itself."""
    need('tracefs')
    need('cap_perfmon')
    job = 'seq 1000; { sleep %s; echo; } | cat'
    said = decided(prof, tmp_path, ' they wait for', '--vs', job % 0.01, '--vs', job % 0.4)
    printed = paste(prof, tmp_path, said.partition(' they wait for')[2])
    assert len(re.findall(r'^what was waited on', printed, re.M)) == 2 and re.search(r'^pipe:.* pipe ', printed, re.M), printed
    assert '\n999\n' not in printed


def test_the_next_step_for_time_in_the_kernel(prof, tmp_path):
    """The function that calls the kernel, with what it calls."""
    a, b = ('dd if=/dev/zero of=/dev/null bs=16M count=%d status=none' % n for n in (1, 150))
    said = decided(prof, tmp_path, 'with the kernel functions they call', '--vs', a, '--vs', b)
    command = 'perf-prof record -q -g -o'
    assert f"""
 which functions differ, with the kernel functions they call (writes a1.data to a5.data and b1.data to b5.data here):
    for i in 1 2 3 4 5; do
        {command} a$i.data -- {shlex.join(['/bin/sh', '-c', a])} > /dev/null
        {command} b$i.data -- {shlex.join(['/bin/sh', '-c', b])} > /dev/null
    done
    perf-prof diff --total a[1-5].data --vs b[1-5].data
""" in said, said


def test_the_next_steps_of_both_cpu_time_and_waits(prof, tmp_path):
    """The larger one is first."""
    need('tracefs')
    need('cap_perfmon')
    job = 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 1.5'
    said = decided(prof, tmp_path, ' which functions differ', '--vs', job, '--', 'true', runs=2)
    waits, functions = (said.find(f' which {what} differ') for what in ('waits', 'functions'))
    assert 0 < waits < functions, said


@pytest.mark.parametrize('how', ['python', 'shim', 'script', 'script of a shim', 'not both'])
def test_the_next_step_for_python(prof, tmp_path, how):
    """Its functions, if both are a Python that `profile --python` knows by its name, or a script that starts one; the lines work as they
    are."""
    python = os.path.realpath(sys.executable)
    if not re.fullmatch(r'python3\.(9|1[0-4])', os.path.basename(python)):
        pytest.skip(f'needs a Python from 3.9 to 3.14, not {python}')
    first = f'#!{python}' if how == 'script' else '#!/usr/bin/env python3'
    (tmp_path / 'job.py').write_text(f'{first}\nimport sys\ndef parse(n):\n    for i in range(n): pass\nparse(int(sys.argv[1]) * 1000000)\n')
    (tmp_path / 'job.py').chmod(0o755)
    (tmp_path / 'python3').write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    (tmp_path / 'python3').chmod(0o755)
    words = {'shim': 'python3 job.py', 'script': './job.py', 'script of a shim': './job.py'}.get(how, f'{python} job.py')
    a = 'true' if how == 'not both' else f'{words} 8'
    env = {**os.environ, 'PATH': f'{tmp_path}:{os.environ["PATH"]}'}
    compared = '--vs', f'{words} 24', '--', *a.split()
    if how == 'not both':
        decided(prof, tmp_path, ' which functions differ ', *compared, env=env)
        return
    lines = decided(prof, tmp_path, ' which Python functions differ ', *compared, env=env).partition(' here):\n')[2]
    assert f'        perf-prof profile -q -F 997 --python --flame-graph b$i.folded -- {words} 24 > /dev/null\n' in lines

    def measure():
        printed = paste(prof, tmp_path, lines.partition(' which ')[0], each=False)    # on a busy machine, a run can be too short
        return None if re.search(r' parse \(job.py:3\)', printed) else printed
    attempts(measure)


def test_the_next_step_for_python_that_waits(prof, tmp_path):
    python = os.path.realpath(sys.executable)
    if not re.fullmatch(r'python3\.(9|1[0-4])', os.path.basename(python)):
        pytest.skip(f'needs a Python from 3.9 to 3.14, not {python}')
    (tmp_path / 'job.py').write_text('import sys, time\ndef fetch(s): time.sleep(s)\nfetch(float(sys.argv[1]))\n')
    said = decided(prof, tmp_path, ' which Python functions differ in elapsed time ', '--vs', f'{python} job.py 0.8', '--', python, 'job.py', '0.1')
    assert ' which Python functions differ in elapsed time (writes a1.folded ' in said
    assert f'perf-prof profile -q -F 997 --python --idle --flame-graph b$i.folded -- {python} job.py 0.8 > /dev/null\n' in said


def test_a_pipe_is_read_once(prof):
    """And not at all if there is one run, or nothing in the pipe."""
    def run(given, *more):
        done = subprocess.run([prof, 'stat', '-e', 'page-faults:u', *more, '--', 'wc', '-c'], input=given, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.split(), done.stderr.count('stdin is a pipe, and each run reads what the runs before it have left')

    assert run('text', '-r', '3') == (['4', '0', '0'], 1)
    assert run('text') == (['4'], 0)
    r, w = os.pipe()
    done = subprocess.run([prof, 'stat', '-e', 'page-faults:u', '-r', '2', '--', 'true'], stdin=r, capture_output=True, text=True, timeout=60)
    os.close(r)
    os.close(w)
    assert done.returncode == 0 and 'stdin' not in done.stderr, done.stderr


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


@pytest.mark.skipif(requires.why_not('root') or not os.path.exists(UPROBES), reason='needs root and uprobes')
def test_returns_happen_in_the_program(prof, probed_return):
    """:u leaves out none of them, nor does trace refuse it."""
    job = ['--', sys.executable, '-c', 'import os\nfor _ in range(20): os.getppid()']
    done = subprocess.run([prof, 'stat', '-e', f'{probed_return}:u', *job], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and re.search(rf'^ +20 +{probed_return}:u', done.stderr, re.M) and 'always 0' not in done.stderr, done
    done = subprocess.run([prof, 'trace', '-e', f'{probed_return}:u', *job], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.count(probed_return) == 20, done


@pytest.mark.skipif(requires.why_not('root'), reason='needs root')
@pytest.mark.parametrize('shell', ['dash', 'bash'])
def test_a_pipeline_of_which_another_program_fails(prof, shell):
    """Its runs are left out, if the shell can tell."""
    path = shutil.which(shell)
    if not path:
        pytest.skip(f'needs {shell}')
    has = subprocess.run([path, '-o', 'pipefail', '-c', ':'], capture_output=True).returncode == 0
    line = f'mount --bind {os.path.realpath(path)} {os.path.realpath("/bin/sh")} && exec "$0" "$@"'
    done = subprocess.run(['unshare', '-m', 'bash', '-c', line, prof, 'stat', '-r', '2', '-e', 'page-faults:u', '--vs', 'false | cat', '--',
                           'true || false'], capture_output=True, text=True, timeout=60)
    assert ('as /bin/sh has no pipefail' in done.stderr) == (not has), done.stderr
    assert ('no winner: B failed in all 2 runs, with exit code 1' in done.stderr) == has, done.stderr
