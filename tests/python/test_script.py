# SPDX-License-Identifier: Apache-2.0
"""perf-prof script: text as perf script has it, on every recording of tests/data/perfdata; JSON and
CSV say the same; what is hostile does no harm. No privilege is needed."""
import csv
import io
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import time

import pytest

from frame import corpus
from frame.corpus import bytes_of, path_of
from frame.session import Command, ran

sys.path.insert(0, corpus.DATA)
import foreign  # noqa: E402


class Script(Command):
    def __call__(self, path, *args, **more):
        return self.run('script', *args, path, **more).stdout

    def lines(self, *args, **more):
        return self(*args, **more).splitlines()

    def json(self, *args, **more):
        return [json.loads(line) for line in self.lines(*args, '--json', **more)]

    def csv(self, *args, **more):
        return list(csv.DictReader(io.StringIO(self(*args, '--csv', **more), newline=''), strict=True))


@pytest.fixture
def script(prof, tmp_path):
    return Script(prof, tmp_path)


# ---- against perf script

@pytest.mark.parametrize('name', corpus.names())
def test_text_is_that_of_perf_script(prof, name):
    row = corpus.compare(prof, name)
    assert row.equal, row.differences


def test_the_comparison_sees_differences(prof, monkeypatch):
    """Of each kind: a wrong number, a wrong text, a wrong address, a wrong name."""
    def changed(lines):
        return [line.replace(' 120', ' 121').replace('prio=1', 'prio=2').replace('42', '43') for line in lines]

    real = corpus.ours
    monkeypatch.setattr(corpus, 'ours', lambda *args: changed(real(*args)))
    row = corpus.compare(prof, 'several')
    assert not row.equal and any('fields' in d for d in row.differences), row
    assert any('trace' in d for d in row.differences)
    assert not corpus.same_frame('\t  401 main+0x10 (/bin/a)', '\t  401 other+0x11 (/bin/a)')
    assert not corpus.same_frame('\t  401 main+0x10 (/bin/a)', '\t  401 main+0x10 (/bin/b)')


PLACES = 'ip,sym,symoff,dso'


@pytest.fixture
def sampled(recorded):
    """With call chains."""
    if not shutil.which('perf'):
        pytest.skip('needs perf')
    return recorded('shares')


def of_perf(path, *args):
    said = ran(['perf', 'script', '-f', '-i', path, '--no-inline', *args], check=True).stdout
    return re.sub(r'/tmp/perf-vdso\.so-\w+', '[vdso]', said).splitlines()


def as_of_perf(lines):
    """perf does not name functions of a file without symbols, which we tell apart by its unwind table."""
    return [re.sub(r' [^ /]+\+0x[0-9a-f]+\+0x[0-9a-f]+ \(', ' [unknown] (', line) for line in lines]


def test_places_of_frames_are_those_of_perf(script, sampled):
    mine, both = (script.lines(sampled, '--no-inline', '-F', fields) for fields in (PLACES, PLACES + ',dsoff'))
    his = of_perf(sampled, '-F', PLACES)
    if corpus.has_offsets('perf'):
        compared = [[corpus.with_offset(line) for line in both]]
    else:
        compared = [as_of_perf(mine)]
        assert as_of_perf(both) == of_perf(sampled, '-F', PLACES + ',dsoff')
    for lines in compared:
        assert len(lines) == len(his) > 100
        assert not [(m, h) for m, h in zip(lines, his) if not corpus.same_frame(m, h)]
    frames = [re.match(r'\t *([0-9a-f]+) (.*)\(/.*\+0x([0-9a-f]+)\)$', line) for line in both]
    pairs = {(int(f[1], 16), int(f[3], 16)) for f in frames if f}
    assert len(pairs) > 3 and all(addr > offset and (addr - offset) % 4096 == 0 for addr, offset in pairs)
    assert mine == [re.sub(r'\+0x[0-9a-f]+\)$', ')', line) for line in both]


def test_places_of_samples_are_those_of_perf(script, sampled):
    mine = script.lines(sampled, '-F', PLACES + ',-callchain')
    his = of_perf(sampled, '-G', '-F', PLACES)
    assert len(mine) == len(his) > 20
    assert not [(m, h) for m, h in zip(mine, his) if not corpus.same_frame(f'\t{m}', f'\t{h}')]
    frames = [re.match(r' *([0-9a-f]+) .*\(/.*\+0x([0-9a-f]+)\)$', line)
              for line in script.lines(sampled, '-F', 'ip,dsoff,-callchain')]       # the file comes with it, as with perf
    rows = script.json(sampled, '-F', 'ip,dso,dsoff,-callchain')
    assert [(int(f[1], 16), int(f[2], 16)) for f in frames if f] == [(r['ip'], r['dsoff']) for r in rows
                                                                      if r['dsoff'] is not None and r['dso'].startswith('/')]
    assert [r['dsoff'] for r in rows] == [int(r['dsoff']) if r['dsoff'] else None for r in script.csv(
        sampled, '-F', 'ip,dso,dsoff,-callchain')]


def test_offsets_are_added_to_places_alone(script):
    """-F +dsoff adds no address to events that show none, such as tracepoints by default."""
    plain, more = (script.lines(path_of('several'), '--no-inline', *args) for args in ((), ('-F', '+dsoff')))
    traces = [line for line in plain if 'sched_switch: ' in line]
    assert len(traces) > 10 and [line for line in more if 'sched_switch: ' in line] == traces
    assert all(re.search(r'\(.*\)$', line) for line in script.lines(path_of('several'), '-F', 'dsoff'))


# ---- the parts that only a PMU brings

def write_recording(path, attr, ident, records, name):
    """A file of one event."""
    r = foreign.Recorder(False, 8)
    path.write_bytes(foreign.file_of(r, [(attr, [ident], name)], b''.join(records), foreign.machine(r, 'x86_64')))


BRANCHES = [(0x400100, 0x400200, 1 | 3 << 4), (0x400300, 0x400400, 2 | 4 | 8 | 77 << 4 | 4 << 20)]


@pytest.fixture
def loads(tmp_path):
    """Three samples with branches, weights, a data source, page sizes, a physical address."""
    r = foreign.Recorder(False, 8)
    addr, branch, data_src, txn, phys, data_page, code_page, weights = (1 << n for n in (3, 11, 15, 17, 19, 22, 23, 24))
    kinds = (foreign.IDENTIFIER | foreign.IP | foreign.TID | foreign.TIME | foreign.CPU | foreign.PERIOD | addr
             | branch | data_src | txn | phys | data_page | code_page | weights)
    attr = bytearray(r.attr(4, 0x1cd, kinds, r.flags('disabled', 'mmap', 'comm', 'sample_id_all', 'mmap2'), 1000))
    struct.pack_into('<Q', attr, 72, 1 | 1 << 3)
    records = [r.comm(500, 'first', 900)]
    for i in range(3):
        body = r.pack('QQIIQQIIQ', 12, 0x400010 + i, 500, 500, 1000 + i * 1000001, 0x7f0000000000 + i, 1, 0, 1000)
        body += r.pack('Q', i) + b''.join(r.pack('QQQ', *b) for b in BRANCHES[:i])
        body += r.pack('IHH', 300 + i, 400 + i, 5)
        body += r.pack('QQQQQ', 0x1e05080021, 2 | i << 32, 0x12345000 + i, 4096 << i, i << 21)
        records.append(r.record(9, 2, body))
    path = tmp_path / 'loads.data'
    write_recording(path, attr, 12, records, 'cpu/mem-loads/')
    return path


FIELDS = 'comm,tid,pid,time,cpu,event,period,addr,weight,ins_lat,ip,brstack,phys_addr,data_page_size,code_page_size'


def test_parts_of_a_pmu(script, loads):
    text = script.lines(loads, '-F', FIELDS)
    assert [line.split() for line in text[2:]] == [[
        'first', '500/500', '[001]', '0.002001:', '1000', 'cpu/mem-loads/:', '7f0000000002', '302', '402', '400012',
        '0x400100/0x400200/M/-/-/3/', '0x400300/0x400400/P/X/A/77/CALL', '12345002', '16K', '4M']]
    if shutil.which('perf'):
        done = ran(['perf', 'script', '-f', '-i', loads, '-F', FIELDS])
        if not done.returncode:
            said = re.sub(r'(/\d+/[A-Z]*)/-(?=\s)', r'\1', done.stdout)       # newer ones tell speculation, too
            assert [line.split() for line in text] == [line.split() for line in said.splitlines()]
    row = script.json(loads, '-F', '+brstack')[2]
    assert (row['weight'], row['ins_lat'], row['data_src'], row['transaction']) == (302, 402, 0x1e05080021, 2 | 2 << 32)
    assert (row['addr'], row['phys_addr'], row['data_page_size'], row['sym'], row['symoff']) == (
        0x7f0000000002, 0x12345002, 16384, None, None)
    assert row['brstack'][1] == {'from': 0x400300, 'to': 0x400400, 'mispred': False, 'predicted': True, 'in_tx': True,
                                 'abort': True, 'cycles': 77, 'type': 'CALL'}
    row = script.csv(loads, '-F', '+brstack')[2]
    assert row['brstack'] == '0x400100/0x400200/M/-/-/3/ 0x400300/0x400400/P/X/A/77/CALL' and row['symoff'] == ''


def test_the_default_of_raw_events_has_what_was_measured(script, loads):
    assert '7f0000000000' in script.lines(loads)[0] and ' 300 ' in script.lines(loads)[0]


# ---- JSON and CSV

@pytest.mark.parametrize('name', ['trace', 'several', 'chains', 'everything', 'group', 'ours', 'big32'])
def test_json_and_csv_say_the_same(script, name):
    rows, cells = script.json(path_of(name)), script.csv(path_of(name))
    assert len(rows) == len(cells) == len(script.json(path_of(name), '-F', 'time')) > 2
    taken = set(rows[0]) | {'stack', 'ip', 'addr', 'id', 'pid', 'comm', 'raw'}
    for row, cell in zip(rows, cells):
        stack, fields = row.pop('stack', None), row.pop('fields', {})
        for key, value in row.items():
            assert cell[key] == ('' if value is None else str(value)), key
        for key, value in fields.items():
            assert cell[f'fields.{key}' if key in taken else key] == str(value), key
        if stack:
            names = [f['symbol'] or hex(f['addr']) if 'symbol' in f else hex(f['addr']) for f in stack if not f['inlined']]
            assert cell['stack'].split(';') == names[::-1]


def test_columns_are_those_of_all_events(script):
    cells = script.csv(path_of('trace'))
    assert {'fields.comm', 'fields.pid', 'comm', 'pid', 'prev_comm', 'target_cpu'} <= set(cells[0])
    for cell in cells:
        wakeup = cell['event'] == 'sched:sched_wakeup'
        assert bool(cell['target_cpu']) == wakeup and bool(cell['prev_comm']) != wakeup
    some = script.csv(path_of('trace'), '-F', 'time,trace', '-e', 'sched:sched_wakeup')
    assert list(some[0]) == ['time', 'fields.comm', 'fields.pid', 'prio', 'target_cpu']


NASTY = ['\x1b[31mred', 'a"b,c', "=1+1", 'x\ny', '\\q', 'ümläut', '\udcff\udcfe', ' lead', '&<>']


@pytest.mark.parametrize('comm', NASTY)
def test_names_do_no_harm(script, tmp_path, comm):
    r = foreign.Recorder(False, 8)
    r.text = lambda text, unit=8: (lambda d: d + bytes(-len(d) % unit))(text.encode('utf-8', 'surrogateescape') + b'\0')
    attr = r.attr(1, 0, foreign.IDENTIFIER | foreign.IP | foreign.TID | foreign.TIME | foreign.CPU | foreign.PERIOD,
                  r.flags('disabled', 'mmap', 'comm', 'sample_id_all', 'mmap2'), 1000)
    sample = r.record(9, 2, r.pack('QQIIQIIQ', 12, 0x400010, 500, 500, 1000, 1, 0, 1000))
    path = tmp_path / 'nasty.data'
    write_recording(path, attr, 12, [r.comm(500, comm, 900), sample], 'clock\x1b]0;title\x07,"')
    raw = comm.encode('utf-8', 'surrogateescape')
    shown = ''.join(c if c.isprintable() and not '\udc80' <= c <= '\udcff' else
                    ''.join(f'\\x{b:02x}' for b in c.encode('utf-8', 'surrogateescape'))
                    for c in raw.decode('utf-8', 'surrogateescape'))
    name = 'clock\\x1b]0;title\\x07,"'
    text = script(path)
    assert text.strip('\n').isprintable() and shown in text and name in text and len(text.splitlines()) == 1
    assert [(row['comm'], row['event']) for row in script.json(path)] == [(shown, name)]
    assert [(row['comm'], row['event']) for row in script.csv(path)] == [(shown, name)]


# ---- which events, which fields

@pytest.mark.parametrize('name', [n for n in corpus.names() if n.endswith('group')])
def test_a_member_of_a_group_alone(script, name):
    """Its counts are in the samples of the leader, which is not shown then."""
    every = script.json(path_of(name))
    events = {row['event'] for row in every}
    assert len(events) > 1
    for event in sorted(events - {every[0]['event']}):
        assert script.json(path_of(name), '-e', event) == [row for row in every if row['event'] == event]


def test_fields_are_added_and_taken_away(script):
    path = path_of('several')
    every = script.lines(path)
    less = script.lines(path, '-F', '-cpu,-comm')
    assert [re.sub(r'^ *\S+ +(\d+) \[\d+\] ', r'\1 ', x).split() for x in every] == [x.split() for x in less]
    assert script.lines(path, '-F', '-cpu', '-F', 'tid') == [x.split()[1].rjust(5) + ' ' for x in every]
    assert script.lines(path, '-F', 'tid,-tid,event,+cpu') == script.lines(path, '-F', 'cpu,event')
    assert all(re.match(r' *\S+ +\d+ \[00\d\] [KU]      ?\d', x) for x in script.lines(path, '-F', '+misc'))
    assert all(x.startswith('\t') or not x or ' cpu-clock: ' in x for x in script.lines(path_of('chains')))
    assert len(script.lines(path_of('chains'), '-F', '-callchain')) == len(script.json(path_of('chains')))
    raw = script.json(path_of('trace'), '-F', 'raw', '-e', 'sched:sched_wakeup')[0]['raw']
    assert len(raw) % 8 == 0 and bytes.fromhex(raw)[8:24].rstrip(b'\0') == b'migration/0'


def test_threads_are_called_what_they_were_called_then(script):
    times = [(row['time'], row['comm']) for row in script.json(path_of('big64')) if row['pid'] == 500]
    assert {c for t, c in times if t < 1315} == {'first'} and {c for t, c in times if t > 1315} == {'second'}
    assert [x.split()[0] for x in script.lines(path_of('big64'), '-F', 'comm')] == [row['comm'] for row in script.json(path_of('big64'))]


# ---- where it goes

def test_output_is_whole_or_as_before(script, tmp_path):
    out, recording = tmp_path / 'out.txt', tmp_path / 'x.data'
    out.write_text('before')
    assert script(path_of('trace'), '-o', out) == '' and out.read_text() == script(path_of('trace'))
    shutil.copy(path_of('trace'), recording)
    before = recording.read_bytes()
    for path in (recording, tmp_path / '.' / 'x.data', os.path.relpath(recording, tmp_path)):
        script(recording, '-o', path, check=2, errors='is the recording itself')
    (tmp_path / 'link').symlink_to(recording)
    script(recording, '-o', tmp_path / 'link', check=2, errors='is the recording itself')
    assert recording.read_bytes() == before
    out.write_text('before')
    script(path_of('trace'), '-o', out, '-e', 'sched:no_such', check=2, errors='has no event')
    script(path_of('trace'), '-o', out, '-F', '+brstack', check=2, errors='was recorded with brstack')
    script(tmp_path / 'none.data', '-o', out, check=1, errors='No such file')
    assert out.read_text() == 'before'
    script(path_of('trace'), '-o', tmp_path / 'no' / 'out', check=1, errors='No such file')
    assert sorted(p.name for p in tmp_path.iterdir()) == ['link', 'out.txt', 'x.data']


def test_of_a_cut_recording_what_was_read_stays(script, tmp_path):
    whole = bytes_of('clock')
    at, size = struct.unpack_from('<QQ', whole, 40)
    (tmp_path / 'cut.data').write_bytes(whole[:at + size * 3 // 4])
    every = script.lines(path_of('clock'), '-F', 'time,event', '--ns')
    kept = script.lines('cut.data', '-F', 'time,event', '--ns', check=1, errors='cut.data: ')
    assert kept and len(kept) < len(every)
    times = [x.split()[0] for x in kept]
    assert times == sorted(times) and set(times) < {x.split()[0] for x in every}
    script('cut.data', '-F', 'time,event', '--ns', '-o', 'kept.txt', check=1, errors='cut.data: ')
    assert (tmp_path / 'kept.txt').read_text().splitlines() == kept


def test_a_reader_who_goes_away_and_a_full_disk(script, prof):
    done = ran(['bash', '-c', f'"{prof}" script --json "{path_of("amd64-7-several")}" | head -1; '
                'exit ${PIPESTATUS[0]}'])
    assert done.returncode == 0 and not done.stderr and json.loads(done.stdout)
    with open('/dev/full', 'w') as full:
        done = subprocess.run([prof, 'script', path_of('trace')], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and 'No space left on device' in done.stderr


def said_by(terminal, seconds):
    """What comes within that time; None at its end."""
    if not select.select([terminal], [], [], seconds)[0]:
        return b''
    try:
        return os.read(terminal, 4096) or None
    except OSError:
        return None


def test_progress_is_for_a_terminal(prof, tmp_path):
    """Of a pipe that brings a little at a time."""
    main, side = pty.openpty()
    with open(tmp_path / 'out', 'w') as out, open(path_of('pipe'), 'rb') as f:
        child = subprocess.Popen([prof, 'script', '-'], stdin=subprocess.PIPE, stdout=out, stderr=side)
        os.close(side)
        said, end = b'', time.monotonic() + 20
        while b' samples' not in said and time.monotonic() < end:
            child.stdin.write(f.read(1024))
            child.stdin.flush()
            said += said_by(main, 0.05)
        child.stdin.write(f.read())
        child.stdin.close()
        while (more := said_by(main, 20)) is not None:
            said += more
    os.close(main)
    assert child.wait(timeout=30) == 0
    said = re.sub(rb'\A(?:perf-prof: .*\r\n)+|(?:perf-prof: [^\r]*\r\n)+\Z', b'', said)      # hints: another kernel, other files
    assert re.match(rb'\r\x1b\[Kperf-prof: script: \d+ samples', said) and said.endswith(b'\r\x1b[K') and b'\n' not in said
    assert (tmp_path / 'out').read_text().count('\n') == 30
