# SPDX-License-Identifier: Apache-2.0
"""--record: perf reads in the file what the script was given."""
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

import pytest

from frame import again, requires
from frame.session import EVENT, READY, Session, Storm

for word in ('tracefs', 'root', 'perf'):
    if requires.why_not(word):
        pytestmark = pytest.mark.skip(reason=requires.why_not(word))

SCRIPT = READY + """
n = 0
def __sample__(e):
    global n
    n += 1
    print('event', e._event, e._pid, e._tid, e._cpu, e._time, len(e.get('_callchain') or []))
def __exit__():
    print('count', n)
"""


def perf_script(path, *fields):
    done = subprocess.run(['perf', 'script', '-f', '--ns', '-i', path, '-F', ','.join(fields)],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def theirs(path):
    """(event, pid, tid, cpu, time) of each sample, as perf reads them."""
    found = re.findall(r'^ *(-?\d+)/(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +([\w:.-]+): *$',
                       perf_script(path, 'pid,tid,cpu,time,event'), re.M)
    # a task on its way out has no pid any more: -1, which we show as the kernel's u32
    return sorted((name, int(pid) % 2**32, int(tid) % 2**32, int(cpu), int(sec) * 10**9 + int(ns))
                  for pid, tid, cpu, sec, ns, name in found)


def ours(out):
    return sorted((w[1], int(w[2]), int(w[3]), int(w[4]), int(w[5]))
                  for w in map(str.split, out.splitlines()) if w[:1] == ['event'])


def recorded(prof, storm, folder, *args, calls=3000, stop=signal.SIGINT):
    with Storm(storm, 'getppid', calls) as one, \
            Session(prof, folder, SCRIPT, '-i', '50', '-m', '16M', '--record', 'perf.data',
                    *[a.replace('{pid}', str(one.pid)) for a in args]) as session:
        session.wait_for('ready')
        one.run()
        session.wait_for(r'event')
        time.sleep(0.2)
        ended = session.stop(stop)
    return ended, os.path.join(folder, 'perf.data')


@pytest.mark.parametrize('args', [
    ['-e', EVENT + '/common_pid=={pid}/'],
    ['-e', EVENT + ',syscalls:sys_exit_getppid', '-p', '{pid}'],
    ['-e', EVENT + '/common_pid=={pid}/,sched:sched_switch', '--order'],
    ['-e', EVENT, '-p', '{pid}', '--buffer', '64M', '--monotonic'],
    ['-e', EVENT + '/common_pid=={pid}/,page-faults,profile/-F 200/'],
])
def test_perf_reads_the_same_events(prof, storm, tmp_path, args):
    ended = again.lossless(lambda: recorded(prof, storm, tmp_path, *args)[0])
    assert ended.code == 0 and ended.stderr == ''
    path = tmp_path / 'perf.data'
    # what perf-prof itself does is recorded, but not all of it delivered
    mine, his = ([e for e in events if e[1] != ended.pid]
                 for events in (ours(ended.stdout), theirs(path)))
    assert len(mine) >= 3000
    # an alias or a modifier is ours; perf shows the event
    assert [e[1:] for e in sorted(mine, key=lambda e: e[1:])] == \
        [e[1:] for e in sorted(his, key=lambda e: e[1:])]


def test_fields_and_names(prof, storm, tmp_path):
    again.attempts(lambda: without_name(prof, storm, tmp_path))


def without_name(prof, storm, tmp_path):
    """Lines of perf without the name of the task. A task that ends while names are read has none, on a busy machine."""
    ended, path = recorded(prof, storm, tmp_path, '-e', 'sched:sched_switch', calls=10)
    assert ended.code == 0
    lines = perf_script(path, 'comm,event,trace').splitlines()
    assert len(lines) == ended.number('count')
    assert all(re.search(r'prev_comm=.* next_pid=\d+', line) for line in lines)
    return [line for line in lines if re.match(r' *:\d', line)]


def test_call_chains(prof, storm, tmp_path):
    ended, path = recorded(prof, storm, tmp_path, '-e', 'sched:sched_switch', '-g', calls=10)
    assert ended.code == 0
    depths = sorted(int(line.split()[6]) for line in ended.stdout.splitlines()
                    if line.startswith('event'))
    blocks = perf_script(path, 'pid,event,ip').strip().split('\n\n')
    assert sorted(len(b.splitlines()) - 1 for b in blocks) == depths


def test_a_killed_run_leaves_a_file_that_opens(prof, storm, tmp_path):
    path = tmp_path / 'perf.data'
    with Storm(storm, 'getppid', 60000) as one, \
            Session(prof, tmp_path, SCRIPT.replace('or []))', 'or []), flush=True)'), '-i', '50', '-m', '16M', '--record', path, '-e',
                    f'{EVENT}/common_pid=={one.pid}/') as session:
        session.wait_for('ready')
        one.run()
        deadline = time.monotonic() + 20
        while not path.exists() or path.stat().st_size < 1 << 20:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        ended = session.stop(signal.SIGKILL)
    assert ended.code == -signal.SIGKILL
    his = theirs(path)
    assert len(his) > 1000 and set(his) <= set(ours(ended.stdout))


def test_an_old_file_is_kept(prof, storm, tmp_path):
    (tmp_path / 'perf.data').write_text('precious')
    ended, path = recorded(prof, storm, tmp_path, '-e', EVENT, '-p', '{pid}', calls=10)
    assert ended.code == 0 and (tmp_path / 'perf.data.old').read_text() == 'precious'
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_full_disk_is_told_and_the_file_opens(prof, storm, tmp_path):
    (tmp_path / 's.py').write_text(READY + 'n = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
                                   'def __exit__(): print("count", n)\n')

    def little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

    with Storm(storm, 'getppid', 100000) as one:
        run = subprocess.Popen([prof, 'python', '-i', '50', '--record', 'perf.data', '-m', '16M', '-e',
                                EVENT, '-p', str(one.pid), 's.py'], cwd=tmp_path, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=little)
        assert any(line == 'ready\n' for line in iter(run.stdout.readline, ''))
        one.run()
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 1 and 'the run continues' in err and 'can be read' in err
    assert out.splitlines()[-1] == 'count 100000'
    assert 1000 < len(theirs(tmp_path / 'perf.data')) < 100000


def test_it_belongs_to_the_caller(prof, storm):
    import pathlib
    import pwd
    import tempfile
    nobody = pwd.getpwnam('nobody')
    folder = pathlib.Path(tempfile.mkdtemp(prefix='perf-prof-record-'))
    try:
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        os.chmod(folder, 0o755)
        ended, path = recorded(prof, storm, folder, '--user', 'nobody', '-e', EVENT, '-p', '{pid}',
                               calls=10)
        assert ended.code == 0 and os.stat(path).st_uid == nobody.pw_uid
        assert len(theirs(path)) == 10
    finally:
        shutil.rmtree(folder)


TRIES = 8

# What is printed while it runs would wake its reader, and be events.
REPLAYED = READY + """
import io, sys
text, stdout = io.StringIO(), sys.stdout
def __sample__(e):
    sys.stdout = text
    chain = e.get('_callchain', e.get('callchain'))
    print('line', e.to_dict() if chain is None else
          (e._event, e._time, e._pid, e._tid, e._cpu, [sorted(f.items()) for f in chain]))
    e.print(timestamp=False)
    sys.stdout = stdout
def __lost__(start, end):
    print('lost', start, end, file=text)
def __exit__():
    stdout.write(text.getvalue())
"""
SCHED = 'sched:sched_switch//alias=switch/stack/,sched:sched_wakeup,sched:sched_process_exit'


@pytest.mark.deep
@pytest.mark.parametrize('args', [
    ['-e', f'sched:sched_switch//alias=switch/stack/,{EVENT},profile/-F 2000 -g/,page-faults/-g/', '-p', '{pid}', '--user-callchain',
     '-m', '64M'],
    ['-e', f'{SCHED},{EVENT}/common_pid=={{pid}}/', '-m', '64M'],    # of everybody, perf-prof's own left out
    ['-e', f'{SCHED},profile/-F 500/,{EVENT}/common_pid=={{pid}}/', '-m', '64M'],
    ['-e', f'sched:sched_switch/next_pid+1>10/,{EVENT}/common_pid+1=={{pid}}+1/', '-m', '64M'],  # filters of ours
    ['-e', EVENT, '-p', '{pid}', '--buffer', '16M'],
    ['-e', f'{EVENT},context-switches', '-p', '{pid}', '--monotonic'],
])
def test_the_same_script_says_the_same_of_the_recording(prof, storm, tmp_path, args):
    """In the same order: fields, names of tasks, and functions of the kernel and of programs."""
    for _ in range(TRIES):
        with Storm(storm, 'getppid', 5000) as one, \
                Session(prof, tmp_path, REPLAYED, '-i', '50', '--record', 'perf.data', '--order',
                        *[a.replace('{pid}', str(one.pid)) for a in args]) as session:
            session.wait_for('ready')
            one.run()
            live = session.stop()
        assert live.code == 0
        if not live.lost:       # a busy machine has more events of everybody than a script can print
            break
    assert live.stderr == ''
    (tmp_path / 'replayed.py').write_text(REPLAYED)
    done = subprocess.run([prof, 'python', '-I', 'perf.data', 'replayed.py'], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ''

    def lines(out):
        # _realtime is measured anew all the time; /proc has a kworker's work of now behind its name
        return [re.sub(r"'_realtime': \d+|(?<=kworker/)(\w+:\w+)[-+][\w-]*", r'\1', line).strip() for line in out.splitlines()
                if not line.startswith(('ready', 'Loaded'))]
    mine, again = lines(live.stdout), lines(done.stdout)
    assert len(mine) > 5000 and 'lost' not in {line.split()[0] for line in mine}
    differs = next((i for i, (one, other) in enumerate(zip(mine, again)) if one != other), min(len(mine), len(again)))
    assert (len(mine), mine[differs:differs + 3]) == (len(again), again[differs:differs + 3]), mine[differs - 3:differs]


def records(data):
    """(offset, type, size) of each, but for what follows the head of a TRACING_DATA record."""
    at, tracing_data = 16, 66
    while at < len(data):
        kind, _, size = struct.unpack_from('=IHH', data, at)
        yield at, kind, size
        at += size + (struct.unpack_from('=I', data, at + 8)[0] + 7) // 8 * 8 if kind == tracing_data else size


@pytest.mark.parametrize('config, lost', [(9, 0), (1, 1191)])      # a dummy of tasks; task-clock
def test_names_that_the_kernel_lost_are_no_lost_events(prof, tmp_path, config, lost):
    """They have a ring of their own: a run of its recording tells what the run itself did."""
    (tmp_path / 's.py').write_text('def __sample__(e): pass\ndef __lost__(a, b, n=0): print("lost")\ndef __exit__(): print("end")\n')
    subprocess.run([prof, 'record', '-e', 'task-clock', '--', 'sh', '-c', 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done'],
                   cwd=tmp_path, check=True, capture_output=True)
    data = (tmp_path / 'perf.data').read_bytes()
    ids = {struct.unpack_from('=Q', data, at + 16)[0]: struct.unpack_from('=Q', data, at + size - 8)[0]
           for at, kind, size in records(data) if kind == 64}
    comm, sample = 3, 9
    at, size = next((at, size) for at, kind, size in records(data) if kind == comm)
    behind = [at + size for at, kind, size in records(data) if kind == sample][1]
    # as long as a sample_id is here: TID, TIME, CPU, IDENTIFIER
    record = struct.pack('=IHHQQ', 2, 0, 56, ids[config], 1191) + data[at + size - 32:at + size - 8] + struct.pack('=Q', ids[config])
    (tmp_path / 'perf.data').write_bytes(data[:behind] + record + data[behind:])
    done = subprocess.run([prof, 'python', '-I', 'perf.data', 's.py'], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert sum(map(int, re.findall(r'delivered, (\d+) lost', done.stderr))) == lost, done.stderr
    assert ('lost' in done.stdout.split()) == bool(lost) and (not done.stderr) == (not lost)
