# SPDX-License-Identifier: Apache-2.0
"""--record: perf reads in the file what the script was given."""
import re
import resource
import shutil
import signal
import struct

import pytest

from frame.session import EVENT, READY, Session, Storm, ran, until

pytestmark = pytest.mark.live('tracefs', 'root', 'perf')

SCRIPT = """
n = 0
def __sample__(e):
    global n
    n += 1
    print('event', e._event, e._pid, e._tid, e._cpu, e._time, len(e.get('_callchain') or []))
def __exit__():
    print('count', n)
"""


def perf_script(path, *fields):
    done = ran(['perf', 'script', '-f', '--ns', '-i', path, '-F', ','.join(fields)], timeout=120)
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
    return sorted((w[1], int(w[2]), int(w[3]), int(w[4]), int(w[5])) for w in map(str.split, out.splitlines()) if w[:1] == ['event'])


def of_storm(prof, storm, folder, *args, calls=3000, script=SCRIPT, **more):
    """--record of a storm that the run itself starts: all that happens is its own, and the run ends with it."""
    (folder / 's.py').write_text(script)
    done = ran([prof, 'python', '-m', '16M', '-o', 'out', '--record', 'perf.data', *args, 's.py', '--',
                storm, 'getppid', str(calls)], cwd=folder, **more)
    done.stdout = (folder / 'out').read_text()      # the storm has lines of its own
    return done, folder / 'perf.data'


@pytest.mark.parametrize('args', [
    ['-e', EVENT + ',syscalls:sys_exit_getppid'],
    ['-e', EVENT + ',sched:sched_switch', '--order', '-g'],
    ['-e', EVENT, '--buffer', '64M', '--monotonic'],
    ['-e', EVENT + '//alias=mine/,page-faults,profile/-F 200/'],
])
def test_perf_reads_the_same_events(prof, storm, tmp_path, args):
    done, path = of_storm(prof, storm, tmp_path, *args)
    assert (done.returncode, done.stderr) == (0, '')
    mine, his = ours(done.stdout), theirs(path)
    assert len(mine) >= 3000
    # an alias or a modifier is ours; perf shows the event
    assert sorted(e[1:] for e in mine) == sorted(e[1:] for e in his)
    lines = perf_script(path, 'comm,event', *(['trace'] if '-g' in args else [])).splitlines()
    assert len([line for line in lines if line.startswith(('           storm', 'storm'))]) >= 3000
    if '-g' in args:
        assert any(re.search(r'prev_comm=storm .* next_pid=\d+', line) for line in lines)
        depths = sorted(int(line.split()[6]) for line in done.stdout.splitlines() if line.startswith('event'))
        blocks = perf_script(path, 'pid,event,ip').strip().split('\n\n')
        assert sorted(len(b.splitlines()) - 1 for b in blocks) == depths and max(depths) > 1


def test_a_killed_run_leaves_a_file_that_opens(prof, storm, tmp_path):
    path = tmp_path / 'perf.data'
    with Storm(storm, 'getppid', 60000) as one, \
            Session(prof, tmp_path, READY + SCRIPT.replace('or []))', 'or []), flush=True)'), '-i', '50', '-m', '16M', '--record', path,
                    '-e', f'{EVENT}/common_pid=={one.pid}/') as session:
        session.wait_for('ready')
        one.run()
        until(lambda: path.exists() and path.stat().st_size >= 1 << 20)
        ended = session.stop(signal.SIGKILL)
    assert ended.code == -signal.SIGKILL
    his = theirs(path)
    assert len(his) > 1000 and set(his) <= set(ours(ended.stdout))


def test_a_full_disk_is_told_and_the_file_opens(prof, storm, tmp_path):
    done, path = of_storm(prof, storm, tmp_path, '-e', EVENT, calls=60000, script=SCRIPT.replace("    print('event'", "    e and ('event'"),
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    assert done.returncode == 1 and 'File too large' in done.stderr and 'can be read' in done.stderr
    assert done.stdout.splitlines()[-1] == 'count 60000'
    assert 1000 < len(theirs(path)) < 60000


def test_it_belongs_to_the_caller_and_an_old_file_is_kept(prof, storm, folder):
    (folder / 'perf.data').write_text('precious')
    shutil.chown(folder / 'perf.data', 'nobody')
    shutil.copy(storm, folder)
    done, path = of_storm(prof, './storm', folder, '--user', 'nobody', '-e', EVENT, calls=10)
    assert done.returncode == 0, done
    assert path.owner() == 'nobody' and path.stat().st_mode & 0o777 == 0o600
    assert len(theirs(path)) == 10 and (folder / 'perf.data.old').read_text() == 'precious'


CALLS = 5000
# What is printed while it runs would wake its reader, and be events: but for the one line that tells that all came.
REPLAYED = READY + f"""
import io, sys
text, stdout, n = io.StringIO(), sys.stdout, 0
def __sample__(e):
    global n
    sys.stdout = text
    chain = e.get('_callchain', e.get('callchain'))
    print('line', e.to_dict() if chain is None else
          (e._event, e._time, e._pid, e._tid, e._cpu, [sorted(f.items()) for f in chain]))
    e.print(timestamp=False)
    sys.stdout = stdout
    n += e._event == '{EVENT}'
    if n == {CALLS}:
        n += 1
        print('all', flush=True)
def __exit__():
    stdout.write(text.getvalue())
"""
SWITCH = 'sched:sched_switch/prev_pid=={pid} || next_pid=={pid}/alias=switch/stack/'      # of all CPUs, and of its own


@pytest.mark.deep
@pytest.mark.parametrize('args', [
    ['-e', f'{SWITCH},{EVENT},profile/-F 2000 -g/,page-faults/-g/', '-p', '{pid}', '--user-callchain'],
    ['-e', f'{SWITCH},profile/-F 500/,{EVENT}/common_pid=={{pid}}/'],
    ['-e', f'sched:sched_switch/next_pid+0=={{pid}}/,{EVENT}/common_pid+1=={{pid}}+1/'],  # filters of ours
    ['-e', f'{EVENT},context-switches', '-p', '{pid}', '--monotonic', '--buffer', '16M'],
])
def test_the_same_script_says_the_same_of_the_recording(prof, storm, tmp_path, args):
    """In the same order: fields, names of tasks, and functions of the kernel and of programs."""
    with Storm(storm, 'getppid', CALLS) as one, \
            Session(prof, tmp_path, REPLAYED, '-i', '50', '--record', 'perf.data', '--order', '-m', '64M',
                    *[a.replace('{pid}', str(one.pid)) for a in args]) as session:
        session.wait_for('ready')
        one.run()
        session.wait_for('all')
        live = session.stop()
    assert (live.code, live.stderr) == (0, '')
    done = ran([prof, 'python', '-I', 'perf.data', 's.py'], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, '')

    def lines(out):
        # _realtime is measured anew all the time; /proc has a kworker's work of now behind its name
        return [re.sub(r"'_realtime': \d+|(?<=kworker/)(\w+:\w+)[-+][\w-]*", r'\1', line).strip() for line in out.splitlines()
                if not line.startswith(('ready', 'Loaded', 'all'))]
    mine, read = lines(live.stdout), lines(done.stdout)
    assert len(mine) > CALLS
    differs = next((i for i, (one, other) in enumerate(zip(mine, read)) if one != other), min(len(mine), len(read)))
    assert (len(mine), mine[differs:differs + 3]) == (len(read), read[differs:differs + 3]), mine[differs - 3:differs]


def records(data):
    """(offset, type, size) of each, but for what follows the head of a TRACING_DATA record."""
    at, tracing_data = 16, 66
    while at < len(data):
        kind, _, size = struct.unpack_from('=IHH', data, at)
        yield at, kind, size
        at += size + (struct.unpack_from('=I', data, at + 8)[0] + 7) // 8 * 8 if kind == tracing_data else size


@pytest.mark.parametrize('config, lost', [(9, 0), (0, 1191)])      # a dummy of tasks; cpu-clock
def test_names_that_the_kernel_lost_are_no_lost_events(prof, recorded, tmp_path, config, lost):
    """They have a ring of their own: a run of its recording tells what the run itself did."""
    (tmp_path / 's.py').write_text('def __sample__(e): pass\ndef __lost__(a, b, n=0): print("lost")\ndef __exit__(): print("end")\n')
    with open(recorded('shares'), 'rb') as file:
        data = file.read()
    ids = {struct.unpack_from('=Q', data, at + 16)[0]: struct.unpack_from('=Q', data, at + size - 8)[0]
           for at, kind, size in records(data) if kind == 64}
    comm, sample = 3, 9
    at, size = next((at, size) for at, kind, size in records(data) if kind == comm)
    behind = [at + size for at, kind, size in records(data) if kind == sample][1]
    # as long as a sample_id is here: TID, TIME, CPU, IDENTIFIER
    record = struct.pack('=IHHQQ', 2, 0, 56, ids[config], 1191) + data[at + size - 32:at + size - 8] + struct.pack('=Q', ids[config])
    (tmp_path / 'perf.data').write_bytes(data[:behind] + record + data[behind:])
    done = ran([prof, 'python', '-I', 'perf.data', 's.py'], cwd=tmp_path)
    assert done.returncode == 0
    assert sum(map(int, re.findall(r'delivered, (\d+) lost', done.stderr))) == lost, done.stderr
    assert ('lost' in done.stdout.split()) == bool(lost) and (not done.stderr) == (not lost)
