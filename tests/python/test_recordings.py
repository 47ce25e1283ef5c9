# SPDX-License-Identifier: Apache-2.0
"""--input: what a script gets out of a recording is what perf script says of it, event by event.

The recordings of tests/data/perfdata lie there with the words of perf 6.1; no privilege is needed."""
import ast
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import pytest

from frame import corpus
from frame.corpus import bytes_of, nanoseconds, path_of, words
from frame.session import Command, ran

DATA, NAMES = corpus.DATA, corpus.names()
GROUPS = [n for n in NAMES if n.endswith(('group', 'pmu'))]     # of which the leader is sampled

SCRIPT = r'''
import io, json, sys
rows = []

def printed(e):
    old, sys.stdout = sys.stdout, io.StringIO()
    try:
        e.print(timestamp=False, callchain=False)
        return sys.stdout.getvalue()
    finally:
        sys.stdout = old

def __sample__(e):
    chain = e.get('_callchain', e.get('callchain'))
    rows.append([e._time, e._pid, e._tid, e._cpu, e.get('_period', e.get('period')), e._event,
                 printed(e), None if chain is None else [f['addr'] for f in chain]])

def __exit__():
    json.dump(rows, open('rows.json', 'w'))
'''

U32 = 2**32


class Replay(Command):
    def __call__(self, path, *args, script='rows.py', **more):
        return self.run('python', '-I', path, *args, script, **more)

    def rows(self, *args, **more):
        self(*args, **more)
        return json.loads((self.folder / 'rows.json').read_text())


@pytest.fixture
def replay(prof, build, tmp_path):
    if not os.path.isdir(os.path.join(build, 'python')):
        pytest.skip('needs a build with Python')
    (tmp_path / 'rows.py').write_text(SCRIPT)
    return Replay(prof, tmp_path)


def theirs(name):
    """(time, pid, tid, cpu, period, event, comm) of each sample, as perf reads them."""
    return [(time, pid % U32, tid % U32, -1 if cpu is None else cpu, *others)
            for time, pid, tid, cpu, *others in corpus.fields(name, words(name, 'script'), True)]


def ours(name, rows):
    return [(time, pid, tid, cpu, period, corpus.event_of(name, event), printed[:60].split(f' {tid} ')[0].strip())
            for time, pid, tid, cpu, period, event, printed, _ in rows]


def same(mine, his):
    """Row by row; of names those that perf has."""
    def rows(those):
        return sorted(those, key=lambda row: row[:-1])
    mine, his = rows(mine), rows(his)
    assert [row[:-1] for row in mine] == [row[:-1] for row in his]
    assert [(m[0], m[-1]) for m, h in zip(mine, his) if not corpus.NAMED_BY.fullmatch(h[-1])] == \
        [(h[0], h[-1]) for h in his if not corpus.NAMED_BY.fullmatch(h[-1])]


def fixed(row, his):
    return next((other[4] for other in his if other[:4] == row[:4]), None)


def compare_fields(name, rows):
    mine, his = ours(name, rows), theirs(name)
    if name in GROUPS:      # perf makes an event of each member; its leader is what was sampled
        his = [row for row in his if row[5].startswith(('cpu-clock', 'cycles'))]
        assert len(mine) > 2 and sorted((*row[:4], row[6]) for row in mine) == sorted((*row[:4], row[6]) for row in his)
        return
    assert len(mine) == len(his) > 2
    # of a fixed period the samples don't tell, and perf takes the event's
    mine = [(*row[:4], row[4] or fixed(row, his), *row[5:]) for row in mine]
    same(mine, his)
    times = [row[0] for row in mine]
    assert times == sorted(times)


def compare_texts(name, rows):
    his = [line.strip().split(': ', 1) for line in words(name, 'trace')]
    his = sorted((nanoseconds(name, *time.split('.')), text.strip()) for time, text in his)
    times = {time for time, _ in his}
    mine = sorted((row[0], row[6].split(f' {row[5]}: ', 1)[1].strip()) for row in rows
                  if row[0] in times and ':' in row[5] and f' {row[5]}: ' in row[6])
    assert mine == his


def compare_chains(name, rows):
    lines = [line.split() for line in words(name, 'chains')]
    his = [(int(time), [int(ip, 16) for ip in ips]) for time, *ips in lines]
    mine = [(row[0], row[7]) for row in rows if row[7]]
    if name.endswith('dwarf'):     # behind the kernel's part the user's is found by registers and stack
        mine = [(time, [ip for ip in ips if ip >> 63]) for time, ips in mine if ips[0] >> 63]
    assert his and sorted(his) == sorted(mine)


@pytest.mark.parametrize('name', NAMES)
def test_a_script_gets_what_perf_says(replay, name):
    """The fields of samples, the text of tracepoints, call chains."""
    rows = replay.rows(path_of(name))
    compare_fields(name, rows)
    if words(name, 'trace') is not None:
        compare_texts(name, rows)
    if words(name, 'chains') is not None:
        compare_chains(name, rows)


def test_the_table_of_recordings():
    """README.md beside them has each, and as many samples as perf script counts."""
    with open(os.path.join(DATA, 'README.md')) as f:
        table = re.findall(r'^\| `([\w.-]+)` .*\| (\d+) \|$', f.read(), re.M)
    assert dict(table) == {name: str(len(words(name, 'script'))) for name in NAMES}


def test_no_recording_names_the_machine_that_made_it():
    for name in NAMES:
        assert not re.search(rb'/(home|root)/', bytes_of(name)), name


@pytest.mark.parametrize('name', ['pipe', 's390x-6.12-pipe', 'ours'])
def test_a_pipe_is_read_like_a_file(replay, name):
    whole = replay.rows(path_of(name))
    with open(path_of(name)) as f, subprocess.Popen(['cat'], stdin=f, stdout=subprocess.PIPE) as cat:
        assert replay.rows('-', stdin=cat.stdout) == whole


def test_the_recorder_of_another_order_brings_the_same(replay):
    wanted = replay.rows(path_of('little32'))
    assert len(wanted) == 48
    assert replay.rows(path_of('big32')) == wanted
    assert [row[:6] for row in replay.rows(path_of('big64'))] == [row[:6] for row in wanted]


@pytest.mark.parametrize('order', ['big', 'little'])
def test_aux_areas_are_passed_over(replay, order):
    """Hardware traces lie between the records; perf 6.1 dies of these (SIGFPE)."""
    subprocess.run([os.path.join(DATA, 'foreign.py'), replay.folder / 'aux.data', order, '8', 'aux'], check=True)
    assert [row[:6] for row in replay.rows('aux.data')] == [row[:6] for row in replay.rows(path_of('little32'))]
    replay('aux.data', '-v', errors='aux.data: 4000 bytes of AUX areas .* were skipped')


# ---- which of them

def test_an_event_list_picks(replay):
    rows = replay.rows(path_of('several'))
    for item, event in (('sched:*', 'sched:sched_switch'), ('cpu-clock', 'cpu-clock'),
                        ('sched:sched_switch//alias=x/', 'sched:x'), ('profile', 'profile'),
                        ('faults', 'faults')):
        some = replay.rows(path_of('several'), '-e', item)
        assert {row[5] for row in some} == {event}
        original = {'sched:x': 'sched:sched_switch', 'profile': 'cpu-clock', 'faults': 'page-faults/period=40/'}.get(event, event)
        assert [row[:5] for row in some] == [row[:5] for row in rows if row[5] == original]


@pytest.mark.parametrize('name', NAMES)
def test_what_is_offered_for_an_unknown_event(replay, name):
    """Events with samples, by the names they were asked for: no dummy, no modifier that the kernel's defaults set."""
    for wrong in ('nosuch', 'dumy', 'dumm:u') if name == 'ours' else ['dumy']:
        said = replay(path_of(name), '-e', wrong, check=2, errors=None).stderr
        assert f'has no event {wrong}\n' in said
        expected = said.split('expected: ')[1]
        assert 'dummy' not in expected and not re.search(r':\w*(GH|HG)\b', expected), said


def test_two_events_of_one(replay):
    rows = replay.rows(path_of('trace'), '-e', 'sched:sched_switch/prev_prio<100/alias=a/,sched:sched_switch/prev_prio>=100/alias=b/')
    every = replay.rows(path_of('trace'), '-e', 'sched:sched_switch')
    assert [row[0] for row in rows] == [row[0] for row in every]
    assert {row[5] for row in rows} == {'sched:a', 'sched:b'}


@pytest.mark.parametrize('text, wanted', [
    ('prev_comm~"sw*"', lambda text: 'prev_comm=sw' in text),
    ('prev_pid==0 || next_pid==0', lambda text: re.search(r'(prev|next)_pid=0\b', text)),
    ('prev_pid<next_pid', lambda text: int(re.search(r'prev_pid=(\d+)', text)[1]) <
     int(re.search(r'next_pid=(\d+)', text)[1])),
])
def test_filters(replay, text, wanted):
    every = replay.rows(path_of('trace'), '-e', 'sched:sched_switch')
    some = replay.rows(path_of('trace'), '-e', f'sched:sched_switch/{text}/')
    assert some == [row for row in every if wanted(row[6])]
    assert 0 < len(some) < len(every)


def test_cpus_tasks_times_and_numbers(replay):
    path = path_of('trace')
    every = replay.rows(path)
    assert replay.rows(path, '-C', '1') == [row for row in every if row[3] == 1]
    pid = max({row[1] for row in every} - {0}, key=lambda p: sum(row[1] == p for row in every))
    assert replay.rows(path, '-p', str(pid), '--no-inherit') == [row for row in every if row[1] == pid]
    assert replay.rows(path, '-t', str(pid)) [:1] == [row for row in every if row[2] == pid][:1]
    assert replay.rows(path, '-N', '7') == every[:7]
    first, last = every[10][0], every[-10][0]
    span = ','.join(f'{t // 10**9}.{t % 10**9:09}' for t in (first, last))
    assert replay.rows(path, '--time', span) == [row for row in every if first <= row[0] <= last]
    assert replay.rows(path, '--time', span.split(',')[0] + ',') == [r for r in every if first <= r[0]]
    assert replay.rows(path, '--time', ',' + span.split(',')[1]) == [r for r in every if r[0] <= last]


def test_children_of_the_watched_are_watched(replay):
    every = replay.rows(path_of('trace'))
    shell = [row for row in every if ' sh ' in row[6][:22]][0][1]
    pids = {row[1] for row in replay.rows(path_of('trace'), '-p', str(shell))}
    assert shell in pids and len(pids) > 1
    assert {row[1] for row in replay.rows(path_of('trace'), '-p', str(shell), '--no-inherit')} == {shell}


def test_intervals_run_on_the_recording_s_clock(replay):
    every = replay.rows(path_of('little32'))
    (replay.folder / 'i.py').write_text(
        'n = 0\ndef __sample__(e):\n    global n\n    n += 1\n'
        'def __interval__(): print("tick", n)\n')
    first, last = every[0][0], every[-1][0]
    assert last - first < 10**6     # all within a millisecond
    assert 'tick' not in replay(path_of('little32'), '-i', '1', script='i.py').stdout
    every = replay.rows(path_of('trace'))
    out = replay(path_of('trace'), '-i', '1', script='i.py').stdout.split('tick ')[1:]
    start = every[0][0]
    assert [int(n) for n in out] == [sum(row[0] < start + (i + 1) * 10**6 for row in every) for i in range(len(out))]
    assert len(out) == (every[-1][0] - start) // 10**6


def record(kind, body, misc=0):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def test_a_task_that_has_another_s_id_counts_from_0(replay, prof):
    """What children inherit counts for each task, and ids of tasks come again."""
    READ, ID, INHERIT = 1 << 4, 1 << 2, 1 << 1
    attr = struct.pack('<IIQQQQQ', 1, 128, 1, 1000, 1 | 2 | 4 | READ | 1 << 16, ID, INHERIT).ljust(128, b'\0')
    data = b'PERFILE2' + struct.pack('<Q', 16) + record(64, attr + struct.pack('<Q', 7))
    for time, value in enumerate((100, 250, 40, 41), 1):
        data += record(9, struct.pack('<QQIIQQQ', 7, 0x1000, 1, 1, time, value, 7))
    (replay.folder / 'tids.data').write_bytes(data)
    (replay.folder / 'c.py').write_text('def __sample__(e): print(*e.counts.values())\n')
    assert replay('tids.data', script='c.py').stdout.split()[-4:] == ['100', '150', '40', '1']
    table = json.loads(subprocess.run([prof, 'report', '--json', 'tids.data'], cwd=replay.folder, check=True, capture_output=True).stdout)
    assert table['weight'] == 291


def test_rounds_as_large_as_their_rings_are_sorted(replay, prof):
    """As of perf record -m 8M on a busy machine."""
    attr = struct.pack('<IIQQQ', 1, 128, 0, 1000000, 1 | 2 | 4 | 128 | 1 << 10).ljust(128, b'\0')
    raw = struct.pack('<I', 65404) + bytes(65404)
    with open(replay.folder / 'large.data', 'wb') as f:
        f.write(b'PERFILE2' + struct.pack('<Q', 16) + record(64, attr + struct.pack('<Q', 1)) + record(68, b''))
        for time in [*range(2, 1000), 1]:
            f.write(record(9, struct.pack('<QIIQII', 0x1000, 1, 1, 1000 * time, time == 1, 0) + raw))
        f.write(record(68, b''))
    done = subprocess.run([prof, 'script', '-F', 'time', 'large.data'], cwd=replay.folder, check=True, capture_output=True, text=True)
    assert done.stderr == '' and done.stdout.split() == [f'{i / 1e6:.6f}:' for i in range(1, 1000)]


@pytest.mark.parametrize('step, first', [(1, U32 * U32 - 3000), (1 << 50, 1)])
def test_intervals_of_clocks_that_are_damaged(replay, step, first):
    """At the end of time, and over gaps of weeks before each event."""
    attr = struct.pack('<IIQQQ', 1, 128, 0, 1000000, 1 | 2 | 4 | 128).ljust(128, b'\0')
    data = b'PERFILE2' + struct.pack('<Q', 16) + record(64, attr + struct.pack('<Q', 1))
    for i in range(2000):
        data += record(9, struct.pack('<QIIQII', 0x1000, 1, 1, first + i * step, 0, 0))
    (replay.folder / 'clock.data').write_bytes(data)
    (replay.folder / 'i.py').write_text(
        'events = ticks = 0\ndef __sample__(e):\n    global events\n    events += 1\n'
        'def __interval__():\n    global ticks\n    ticks += 1\n'
        'def __exit__(): print(events, ticks)\n')
    out = replay('clock.data', '-i', '100000', script='i.py').stdout
    events, ticks = map(int, out.split()[-2:])
    assert events == 2000 and ticks < 1100000


def test_help_writes_a_template(replay):
    done = replay(path_of('several'), script='help')
    assert 'def sched__sched_switch(event)' in done.stdout and 'def cpu_clock(event)' in done.stdout


def test_names_of_events_are_no_code_and_no_controls(replay, prof):
    attr = struct.pack('<IIQQQ', 1, 128, 0, 1000, 1 | 2 | 4 | 1 << 16).ljust(128, b'\0')
    name = b'x"""\nimport os\n"""\x1b[31m\\"""\nimport os\n'
    data = b'PERFILE2' + struct.pack('<Q', 16) + record(64, attr + struct.pack('<Q', 7)) + \
        record(78, struct.pack('<QQ', 2, 7) + name.ljust(64, b'\0')) + record(9, struct.pack('<QQIIQ', 7, 0x1000, 1, 1, 1))
    (replay.folder / 'names.data').write_bytes(data)
    code = ast.parse(replay('names.data', script='help').stdout)
    assert not any(isinstance(node, ast.Import) for node in ast.walk(code))
    for command in 'trace', 'script', 'report', 'top':
        done = subprocess.run([prof, command, '-I', 'names.data'], cwd=replay.folder, capture_output=True)
        assert b'\x1b' not in done.stdout + done.stderr and not done.returncode, command


@pytest.mark.parametrize('mode', [0o600, 0o640, 0o644])
def test_pictures_and_exports_are_for_who_may_read_the_recording(prof, tmp_path, mode):
    path = shutil.copy(path_of('little32'), tmp_path / 'r.data')
    os.chmod(path, mode)
    ran([prof, 'report', '-I', path, '--flame-graph', tmp_path / 'r.svg'], check=True, umask=0o022)
    ran([prof, 'convert', path, '--to', 'folded', '-o', tmp_path / 'r.folded'], check=True, umask=0o022)
    assert [os.stat(tmp_path / name).st_mode & 0o777 for name in ('r.svg', 'r.folded')] == [mode] * 2


# ---- what can't be

@pytest.mark.parametrize('args, words', [
    (['--record', 'x'], '--record with --input'), (['--tsc'], '--tsc with --input'),
    (['--monotonic'], '--monotonic with --input'), (['--cgroups', '/x'], '--cgroups with --input'),
    (['--time', '3,2'], '--time 3,2: the end is before the start'), (['--time', '7'], 'expected START,END'),
    (['--time', 'x,'], 'expected START,END'), (['-e', 'sched:sched_swich'], 'did you mean sched:sched_switch'),
    (['-e', 'nothing'], 'has no event nothing'),
    (['-e', 'sched:sched_switch/nosuch>1/'], 'there is no field nosuch'),
    (['-e', 'sched:sched_switch/prev_comm.ustring=="x"/'], 'ustring'),
])
def test_wrong_usage(replay, args, words):
    replay(path_of('trace'), *args, check=2, errors=re.escape(words) if '?' not in words else words)


def test_time_needs_a_recording(prof, replay):
    done = ran([prof, 'python', '-e', 'cpu-clock', '--time', '1,2', 'rows.py'], cwd=replay.folder)
    assert done.returncode == 2 and 'add --input FILE' in done.stderr


def test_no_recording(replay, tmp_path):
    (tmp_path / 'empty').write_bytes(b'')
    (tmp_path / 'text').write_text('#!/bin/sh\necho this is none\n')
    for path, words in (('empty', 'it has 0 bytes'), ('text', 'this is not a recording'),
                        (str(tmp_path), 'is a directory'), ('nothing', 'No such file'),
                        ('/dev/zero', 'this is not a recording')):
        replay(path, check=1, errors=words)


def test_a_directory_with_one_file(replay, prof):
    """As perf record writes it; with --threads, there are more."""
    folder = replay.folder / 'x.dir'
    folder.mkdir()
    (folder / 'data').write_bytes(bytes_of('clock'))
    assert replay.rows('x.dir') == replay.rows(path_of('clock'))
    (folder / 'data.0').touch()
    replay('x.dir', check=1, errors='is a directory')


@pytest.mark.live('root')
def test_a_recording_in_the_place_of_a_command(prof, tmp_path):
    shutil.copy(path_of('trace'), tmp_path / 'perf.data')
    for name, code in (('perf.data', 127), ('./perf.data', 126)):
        done = ran([prof, 'task-state', name], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (code, f'perf-prof: {name} is a recording, not a program; did you mean -I {name}?\n')


@pytest.mark.parametrize('command', [['report'], ['trace'], ['profile', '-q'], ['top', '-e', 'sched:*'], ['python', 'rows.py']])
def test_no_output_replaces_the_recording_that_is_read(replay, prof, command):
    recording = replay.folder / 'perf.data'
    shutil.copy(path_of('trace'), recording)
    (replay.folder / 'link').symlink_to('perf.data')
    before = recording.read_bytes()
    for name in 'perf.data', './perf.data', 'link':
        done = ran([prof, command[0], '-I', 'perf.data', '-o', name, *command[1:]], cwd=replay.folder)
        assert done.returncode == 2 and f'-o {name} is the recording that is read' in done.stderr, done
    assert recording.read_bytes() == before


def test_a_file_through_a_pipe_is_told(replay):
    with open(path_of('clock')) as f, subprocess.Popen(['cat'], stdin=f, stdout=subprocess.PIPE) as cat:
        replay('-', stdin=cat.stdout, check=1, errors='file layout, which cannot be read from a pipe')


@pytest.mark.deep
@pytest.mark.parametrize('name', ['several', 'zstd', 'pipe', 'big64', 'ours', 's390x-6.12-pipe', 's390x-6.12-zstd', 'amd64-7-zstd',
                                  'i386-6.1-several', 'arm64-6.12-dwarf'])
def test_cut_anywhere(replay, name):
    """What is there is read; what is not is told, with its offset."""
    data = bytes_of(name)
    whole = {(row[0], row[1], row[5] if row[5][:10] != 'tracepoint' else '') for row in replay.rows(path_of(name))}
    most = 0
    for n in [len(data) * i // 13 + i for i in range(1, 13)] + [len(data) - 24]:
        (replay.folder / 'cut.data').write_bytes(data[:n])
        (replay.folder / 'rows.json').write_text('[]')
        done = ran([replay.prof, 'python', '-I', 'cut.data', 'rows.py'], cwd=replay.folder)
        assert done.returncode in (0, 1), done
        assert done.returncode == 0 or 'offset 0x' in done.stderr or 'cut' in done.stderr, done
        rows = json.loads((replay.folder / 'rows.json').read_text())
        assert {(row[0], row[1]) for row in rows} <= {row[:2] for row in whole}
        most = max(most, len(rows))
    assert most > len(whole) // 2


def test_damage_in_the_middle_is_passed_over(replay):
    """Of a record that can't be, no other is lost, and it is told."""
    data = bytearray(bytes_of('big64'))
    rows = replay.rows(path_of('big64'))
    first = data.index(b'\0\0\0\x09\0\x01')      # the first tracepoint's sample
    data[first + 6:first + 8] = b'\0\0'
    (replay.folder / 'bad.data').write_bytes(data)
    left = replay.rows('bad.data', check=1, errors=f'offset {first:#x}: a record of type 9 has a size of 0 bytes')
    assert len(left) == len(rows) - 1


def test_an_unfinished_file(replay):
    """A recorder that was killed leaves the size of its records at 0."""
    data = bytearray(bytes_of('clock'))
    at, size = (int.from_bytes(data[i:i + 8], 'little') for i in (40, 48))
    data[48:56] = bytes(8)
    (replay.folder / 'killed.data').write_bytes(data[:at + size])
    every = replay.rows(path_of('clock'))
    assert [row[:4] for row in replay.rows('killed.data', errors='recorder was killed')] == [row[:4] for row in every]


def test_a_recording_without_a_sample(replay, prof):
    attr = struct.pack('<IIQQQ', 1, 128, 0, 1000000, 1 | 2 | 4).ljust(128, b'\0')
    (replay.folder / 'none.data').write_bytes(b'PERFILE2' + struct.pack('<Q', 16) + record(64, attr + struct.pack('<Q', 1)))
    for args, code in ((['script'], 0), (['report'], 0), (['convert', '--to', 'pprof', '-o', 'x.pb'], 1)):
        done = subprocess.run([prof, *args, '-I', 'none.data'], cwd=replay.folder, capture_output=True, text=True)
        assert done.returncode == code and 'none.data: it has no samples' in done.stderr
    assert not (replay.folder / 'x.pb').exists()


IDENTIFIER, TIME, CALLCHAIN, ROUND = 1 << 16, 1 << 2, 1 << 5, struct.pack('=IHH', 68, 0, 8)


def rounds(n):
    """Of a recording in the layout of pipes: its head, and n rounds of 256 KiB each."""
    attr = struct.pack('=II6QI', 1, 128, 0, 1000, IDENTIFIER | TIME | CALLCHAIN, 0, 1 << 18, 0, 0).ljust(128, b'\0')
    yield b'PERFILE2' + struct.pack('=Q', 16) + struct.pack('=IHH', 64, 0, 144) + attr + struct.pack('=Q', 7)
    for time in range(n):
        sample = struct.pack('=IHHQQQ', 9, 2, 512, 7, time, 60) + bytes(range(240)) * 2
        yield sample * 512 + ROUND


@pytest.mark.parametrize('args, pipe', [
    (['report', '-I'], True), (['script', '-q', '-F', 'time', '-o', '/dev/null'], False), (['python', 'one.py', '-I'], False)])
@pytest.mark.slow     # sanitizers keep what was freed
def test_memory_stays_flat(prof, build, tmp_path, args, pipe):
    """A large recording takes no more of it than a small one."""
    if args[0] == 'python' and not os.path.isdir(os.path.join(build, 'python')):
        pytest.skip('needs a build with Python')
    (tmp_path / 'one.py').write_text('n = 0\ndef __sample__(e):\n    global n\n    n += 1\ndef __exit__(): print(n)\n')
    most = []
    for n in (32, 256):
        with open(tmp_path / 'large.data', 'wb') as f:
            f.writelines(rounds(n))
        cat = subprocess.Popen(['cat', 'large.data'], cwd=tmp_path, stdout=subprocess.PIPE)
        run = subprocess.Popen([prof, *args, '-' if pipe else 'large.data'], cwd=tmp_path, stdout=subprocess.DEVNULL,
                               stdin=cat.stdout if pipe else subprocess.DEVNULL)
        cat.stdout.close()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = status
        cat.wait()
        assert status == 0
        most.append(usage.ru_maxrss)
    assert most[1] < most[0] + 4096


@pytest.mark.parametrize('n', [0, 8, 16, 60])
def test_a_pipe_that_stalls_before_the_first_record(replay, prof, n):
    """Nothing has begun: the signal ends it, as it does any program that waits for its input."""
    with open(path_of('pipe'), 'rb') as f:
        head = f.read(n)
    with subprocess.Popen([prof, 'script', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdin.write(head)
        run.stdin.flush()
        deadline = time.monotonic() + 20        # some kernels don't tell
        while 'pipe' not in open(f'/proc/{run.pid}/wchan').read() and time.monotonic() < deadline:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        assert run.wait(20) == -signal.SIGINT and not run.stdout.read()
        run.stdin.close()


@pytest.mark.soak
def test_ctrl_c_while_python_starts(replay, prof):
    """It ends the run, without a word of Python's: whenever it comes. On a busy machine, the whole range is before or behind it."""
    (replay.folder / 's.py').write_text('def __sample__(e): pass\n')
    data = bytes_of('pipe')
    ends = set()
    for ms in [*range(2, 80, 2), 200, 1000]:
        with subprocess.Popen([prof, 'python', '-I', '-', 's.py'], cwd=replay.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            run.stdin.buffer.write(data)    # and waits for more
            run.stdin.flush()
            time.sleep(ms / 1000)
            run.send_signal(signal.SIGINT)
            assert run.wait(20) in (-signal.SIGINT, 130, 0)
            err = run.stderr.read()
            assert err in ('', 'perf-prof: interrupted while the script was being set up; nothing was traced\n'), ms
            ends.add(run.returncode)
    assert len(ends) > 1, ends              # before and behind it as well


def test_a_stalled_pipe_can_be_interrupted(replay, prof):
    data = bytes_of('pipe')
    (replay.folder / 's.py').write_text(
        'seen = 0\ndef __sample__(e):\n    global seen\n    seen += 1\n'
        '    if seen == 1: print("sample", flush=True)\ndef __exit__(): print("exit")\n')
    with subprocess.Popen([prof, 'python', '-I', '-', 's.py'], cwd=replay.folder, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdin.write(data[:-200])
        run.stdin.flush()
        while b'sample' not in run.stdout.readline():
            pass
        run.send_signal(signal.SIGINT)
        out, err = run.stdout.read(), run.stderr.read()
        run.stdin.close()
        assert run.wait(20) == 0 and b'exit' in out and not err


# ---- recorded in a PID namespace: who is outside has the id 0, as an idle CPU has

USER, KERNEL = 2, 1
SAMPLE, ATTR = 9, 64


def clock_samples(*samples):
    """A recording of cpu-clock: (misc, tid, chain) of each sample."""
    IP, TID, TIME, CHAIN = 1, 2, 4, 32
    attr = struct.pack('<IIQQQQQ', 1, 64, 0, 1000000, IP | TID | TIME | CHAIN, 0, 0) + bytes(16)
    rows = [record(SAMPLE, struct.pack(f'<QIIQQ{len(chain)}Q', chain[-1], tid, tid, 1000 + i, len(chain), *chain), misc)
            for i, (misc, tid, chain) in enumerate(samples)]
    return struct.pack('<8sQ', b'PERFILE2', 16) + record(ATTR, attr + struct.pack('<Q', 7)) + b''.join(rows)


def test_tasks_outside_are_not_idle(prof, tmp_path):
    of_kernel, of_user = 2**64 - 128, 2**64 - 512
    inside, outside = 0xffffffff81000000, 0x400000
    (tmp_path / 'n.data').write_bytes(clock_samples(
        (USER, 0, [of_user, outside]), (KERNEL, 0, [of_kernel, inside, of_user, outside]), (USER, 5, [of_user, outside]),
        (KERNEL, 0, [of_kernel, inside])))
    said = ran([prof, 'report', '-I', tmp_path / 'n.data'], check=True).stdout
    assert 'report: 3 samples of cpu-clock' in said and '25.0 % idle' in said
    lines = ran([prof, 'script', '-I', tmp_path / 'n.data', '--json'], check=True).stdout.splitlines()
    assert [(e['comm'], e['tid']) for e in map(json.loads, lines)] == [('<outside>', 0), ('<outside>', 0), (':5', 5), ('swapper', 0)]


def test_tasks_outside_are_told_by_their_tracepoints(prof, tmp_path):
    """Each sample's field common_pid has the id that its task has in the initial namespace."""
    data = bytearray(bytes_of('ours'))
    at, tid_at, patched = 16, None, 0
    while at < len(data):
        kind, _, size = struct.unpack_from('<IHH', data, at)
        if kind == ATTR and tid_at is None:
            sample_type = struct.unpack_from('<Q', data, at + 8 + 24)[0]
            tid_at = 8 + 8 * (sample_type >> 16 & 1) + 8 * (sample_type & 1)
        if kind == SAMPLE:
            struct.pack_into('<II', data, at + tid_at, 0, 0)
            patched += 1
        at += size if kind != 66 else size + struct.unpack_from('<I', data, at + 8)[0]
    (tmp_path / 'n.data').write_bytes(data)

    def tids(path):
        lines = ran([prof, 'script', '-I', path, '-e', 'sched:*', '--json'], check=True).stdout.splitlines()
        return [e['tid'] for e in map(json.loads, lines)]
    expected = tids(path_of('ours'))
    assert patched >= len(expected) and any(expected)
    assert tids(tmp_path / 'n.data') == expected
