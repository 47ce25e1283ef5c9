# SPDX-License-Identifier: Apache-2.0
"""Recordings of other machines and other recorders, which these tests write themselves: what is in them is shown,
and said as perf says it where perf reads them."""
import datetime
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from frame import corpus
from frame.session import Command, ran

sys.path.insert(0, corpus.DATA)
import foreign  # noqa: E402
from foreign import CHAIN, CPU, IDENTIFIER, IP, PERIOD, TID, TIME  # noqa: E402

COMMON = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
PLAIN = 'disabled', 'mmap', 'comm', 'task', 'sample_id_all', 'mmap2'
USER, KERNEL = 2**64 - 512, 2**64 - 128
R = foreign.Recorder(False, 8)


def attr(kind, config, sample_type=COMMON, period=1000, more=()):
    return R.attr(kind, config, sample_type, R.flags(*PLAIN, *more), period)


def sample(ident, time, ip=0x400100, chain=None, cpu=0, period=1000, misc=2, rest=b'', pid=500):
    body = R.pack('QQIIQIIQ', ident, ip, pid, pid, time, cpu, 0, period)
    if chain is not None:
        body += R.pack(f'{1 + len(chain)}Q', len(chain), *chain)
    return R.record(9, misc, body + rest)


class Foreign(Command):
    def write(self, events, records, features=None, name='x.data'):
        data = b''.join([R.comm(500, 'first', 900), R.mmap2(500, '/bin/first', 901), *records])
        self.path = self.folder / name
        self.path.write_bytes(foreign.file_of(R, events, data, foreign.machine(R, 'x86_64') | (features or {})))

    def __call__(self, *args, path=None, **more):
        return self.run(*args, path or self.path, **more).stdout

    def tables(self, *args):
        return [json.loads(line) for line in self('report', '--json', *args).splitlines()]

    def perf(self, *args):
        """Lines of perf's, or None: it is not there, or does not read this."""
        if not shutil.which('perf'):
            return None
        done = ran(['perf', args[0], '-f', '-i', self.path, *args[1:]], stdin=subprocess.DEVNULL)
        return None if done.returncode else done.stdout.splitlines()


    def pictures(self):
        """Of each kind: lines of folded, the weights of speedscope, samples and markers of firefox, a line of the flame graph's."""
        firefox = json.loads(self('convert', '--to', 'firefox'))['threads']
        self('report', '--flame-graph', 'x.folded')
        return (self('convert', '--to', 'folded').splitlines(), json.loads(self('convert', '--to', 'speedscope'))['profiles'][0]['weights'],
                [(t['samples']['length'], t['markers']['length']) for t in firefox],
                (self.folder / 'x.folded').read_text().splitlines()[0])


@pytest.fixture
def recording(prof, tmp_path):
    return Foreign(prof, tmp_path)


# ---- several kinds of CPUs

HYBRID = [('cpu_core/cycles/Pu', 'cpu_atom/cycles/Pu'), ('cpu_core/cycles:u/', 'cpu_atom/cycles:u/')]


def hybrid(recording, names, core, atom, *more):
    """So many samples of 1000 cycles on each; as hybrid CPUs have it, config says which kind of CPU."""
    events = [(attr(0, kind << 32, COMMON | CHAIN), [ident], name) for kind, ident, name in zip((4, 10), (12, 13), names)]
    records = [sample(12 + (i >= core), 1000 + i * 1000, chain=[USER, 0x400100 + i, 0x400500], cpu=int(i >= core))
               for i in range(core + atom)]
    recording.write(events + [(attr(1, 9, COMMON | CHAIN, 0), [14], 'dummy:u')] + list(more), records)


@pytest.mark.parametrize('names', HYBRID, ids=['new', 'old'])
def test_each_kind_of_cpu_has_its_section_and_its_name(recording, names):
    hybrid(recording, names, 4, 6)
    found = recording.tables()
    assert [(t['event'], t['samples'], t['weight']) for t in found] == [(names[0], 4, 4000), (names[1], 6, 6000)]
    for name, samples in zip(names, (4, 6)):
        assert [t['samples'] for t in recording.tables('-e', name)] == [samples]
        assert len(recording('script', '-e', name, '-F', 'time').splitlines()) == samples
    theirs = recording.perf('script', '-F', 'event,ip,dso')
    if theirs:
        offsets = corpus.has_offsets('perf')
        mine = recording('script', '-F', 'event,ip,dso' + ',dsoff' * offsets).splitlines()
        assert [line.split() for line in (map(corpus.with_offset, mine) if offsets else mine)] == [line.split() for line in theirs]


def test_a_kind_of_cpu_is_chosen_without_modifiers(recording):
    hybrid(recording, HYBRID[0], 4, 6)
    assert [t['samples'] for t in recording.tables('-e', 'cpu_atom/cycles/')] == [6]
    recording('report', '-e', 'cpu_atom/cycle/', check=2, errors=r'no event cpu_atom/cycle/\n.*\n.*\n.*did you mean '
              r'cpu_atom/cycles/Pu\?')


@pytest.mark.parametrize('core', [0, 4])
@pytest.mark.parametrize('names', HYBRID, ids=['new', 'old'])
def test_pictures_are_of_all_kinds_of_cpus(recording, names, core):
    hybrid(recording, names, core, 6)
    all_of_them = f'first;[unknown];[unknown] {1000 * (core + 6)}'
    folded = [all_of_them, f'# samples={core + 6} alike={core + 6} weight={1000 * (core + 6)} event={"+".join(names)} inlined=no']
    assert recording.pictures() == (folded, [1000 * (core + 6)], [(core + 6, 0)], all_of_them)
    assert recording('profile', '-q', '-I').splitlines()[0].endswith(f'{core + 6} samples of {"+".join(names)} every 1000, 0 lost')
    recording('diff', '-q', recording.path)
    one = recording('convert', '--to', 'folded', '-e', names[1]).splitlines()
    assert one[0] == 'first;[unknown];[unknown] 6000' and one[1].endswith(f'event={names[1]} inlined=no')


@pytest.mark.parametrize('trace', ['intel_pt//u', 'intel_pt/tsc=1/u', 'cs_etm/@tmc_etr0/u', 'arm_spe_0//'])
def test_cycles_beside_a_hardware_trace(recording, trace):
    """The trace comes first, and has no samples."""
    recording.write([(attr(8, 0x300e601, COMMON, 1), [11], trace), (attr(0, 0), [12], 'cycles:u')],
                    [R.aux_info(), R.aux(0, 1000, 950, 0)] + [sample(12, 1000 + i) for i in range(5)])
    assert [(t['event'], t['samples']) for t in recording.tables()] == [(trace, 0), ('cycles:u', 5)]
    folded, speedscope, firefox, flame = recording.pictures()
    assert (folded[0], speedscope, firefox, flame) == ('first;[unknown] 5000', [5000], [(5, 0)], 'first;[unknown] 5000')
    assert '5 samples of cycles:u' in recording('profile', '-q', '-I')


def test_no_picture_without_samples_where_others_have_some(recording):
    recording.write([(attr(0, 0), [11], 'cycles:u'), (attr(1, 2), [12], 'page-faults:u')],
                    [sample(12, 1000 + i, period=1) for i in range(5)])
    said = 'there are no samples of cycles:u, only of other events, such as -e page-faults:u$'
    for to in 'folded', 'speedscope', 'firefox':
        recording('convert', '--to', to, '-o', 'x', check=1, errors=said)
        assert not os.path.exists(recording.folder / 'x')
    recording('report', '--flame-graph', 'x.svg', check=1, errors=said)
    recording('profile', '-I', check=1, errors=said)
    assert not os.path.exists(recording.folder / 'x.svg')
    assert recording('convert', '--to', 'folded', '-e', 'page-faults:u').splitlines()[0] == 'first;[unknown] 5'


# ---- the kernel's modules

NF_TABLES, NVIDIA = 0xffffffffc0400000, 0xffffffffc1000000


def kernel_mmap(start, size, name, offset=0):
    return R.record(1, 1, R.pack('IIQQQ', 2**32 - 1, 0, start, size, offset) + R.text(name) + R.trailer(0, 0, 0, 0, 12))


def test_modules_are_called_as_the_recording_maps_them(recording):
    """Also where no table of symbols has them: their kernel is another one."""
    text = 0xffffffff81000000
    ips = [text + 0x100, NF_TABLES + 0x10, NF_TABLES + 0x7fff, NVIDIA + 0x20, NVIDIA + 0x100000, 0xffffffffc9000000]
    dsos = ['[kernel.kallsyms]', '[nf_tables]', '[nf_tables]', '[nvidia_uvm]', '[kernel.kallsyms]', '[kernel.kallsyms]']
    recording.write([(attr(0, 0, COMMON | CHAIN), [12], 'cycles')], [
        kernel_mmap(text, 0x1000000, '[kernel.kallsyms]_text', text), kernel_mmap(NF_TABLES, 0x8000, '[nf_tables]'),
        kernel_mmap(NVIDIA, 0x100000, '/lib/modules/5.10.0-foreign/updates/dkms/nvidia-uvm.ko.xz'),
        *(sample(12, 1000 + i, ip, [KERNEL, ip, NF_TABLES + 0x30], misc=1) for i, ip in enumerate(ips))])
    rows = [json.loads(line) for line in recording('script', '--json', '-F', 'ip,sym,dso').splitlines()]
    assert [row['stack'][0]['dso'] for row in rows] == dsos
    assert {row['stack'][1]['dso'] for row in rows} == {'[nf_tables]'}
    table, = recording.tables()
    assert {r['dso'] for r in table['rows']} == set(dsos)
    assert {f['dso'] for s in table['stacks'] for f in s['frames']} == set(dsos) if 'stacks' in table else True
    theirs = recording.perf('report', '--stdio', '--no-children', '-g', 'none', '-F', 'overhead,dso', '--sort', 'dso')
    if theirs:
        parts = {line.split()[1]: float(line.split()[0][:-1]) for line in theirs if line and line[0] == ' '}
        assert parts['[nf_tables]'] == pytest.approx(33.33) and parts['[nvidia_uvm]'] == pytest.approx(16.67)


# ---- call chains by the CPU's record of calls, and places that are told exactly

BRANCHES, CALL_STACK = 1 << 11, 1 << 11
CALLS = [(0x400210, 0x400100, 0), (0x400310, 0x400200, 0), (0x400410, 0x400300, 0)]
BY_CALLS = [0x400100, *(one[0] for one in CALLS)]
TEXT = 0xffffffff81000100


def lbr(*flags):
    made = bytearray(R.attr(0, 0, COMMON | CHAIN | BRANCHES, R.flags(*PLAIN, *flags), 1000))
    made[72:80] = R.pack('Q', 1 | CALL_STACK)
    return bytes(made)


def branches(all_of_them):
    return R.pack('Q', len(all_of_them)) + b''.join(R.pack('QQQ', *one) for one in all_of_them)


def stacks(recording):
    return [[f['addr'] for f in json.loads(line)['stack']] for line in recording('script', '--json', '-F', 'callchain').splitlines()]


@pytest.mark.parametrize('flags, samples, wanted', [
    ([], [(0x400120, [USER, 0x400120, 0x400999], CALLS), (TEXT, [KERNEL, TEXT, TEXT + 256, USER, 0x400120], CALLS),
          (TEXT, [KERNEL, TEXT, TEXT + 256], CALLS), (0x400130, [USER], CALLS[:1]), (0x400120, [USER, 0x400120, 0x400999], [])],
     [BY_CALLS, [TEXT, TEXT + 256, *BY_CALLS], [TEXT, TEXT + 256], BY_CALLS[:2], [0x400120, 0x400999]]),
    # as perf-prof itself asks for it: no part of the user, and so no mark where it would begin
    (['exclude_callchain_user'], [(TEXT, [KERNEL, TEXT], CALLS), (0x400120, [], CALLS), (TEXT, [KERNEL, TEXT], [])],
     [[TEXT, *BY_CALLS], BY_CALLS, [TEXT]])])
def test_callers_by_branches(recording, flags, samples, wanted):
    """The user's part is the branches', where there are any; the kernel's stays."""
    recording.write([(lbr(*flags), [12], 'cycles')], [
        sample(12, 1000 + i, ip, chain, misc=1 + (ip != TEXT), rest=branches(taken)) for i, (ip, chain, taken) in enumerate(samples)])
    assert stacks(recording) == wanted and recording.tables()[0]['samples'] == len(samples)
    theirs = None if flags else recording.perf('script', '-F', 'ip')
    if theirs:
        frames = [len(block.split()) for block in re.split(r'\n[ \t]*\n', '\n'.join(theirs)) if block.strip()]
        assert frames[:4] == [4, 6, 2, 2]


def test_branches_that_contradict_the_record_do_no_harm(recording):
    recording.write([(lbr(), [12], 'cycles')], [
        sample(12, 1000 + i, 0x400120, [USER, 0x400120], rest=R.pack('Q', n) + bytes(24)) for i, n in enumerate((2, 2**61, 2**64 - 1))])
    recording('script', '--json', '-F', 'callchain', errors='.*')
    recording('report', '-q', errors='.*')


def test_a_precise_sample_counts_where_it_says_it_was(recording):
    """The chain begins where the kernel came to look: it may be another function, or module."""
    precise = R.attr(0, 0, COMMON | CHAIN, R.flags(*PLAIN, 'precise_ip'), 1000)
    other = R.mmap2(500, '/lib/other', 902).replace(R.pack('Q', 0x400000), R.pack('Q', 0x900000), 1)
    recording.write([(precise, [12], 'cycles:p')], [
        other, sample(12, 1000, 0x400120, [USER, 0x900100, 0x400300]), sample(12, 2000, 0x400130, [USER, 0x400140, 0x400300])])
    rows = {r['dso']: r for r in recording.tables()[0]['rows']}
    assert rows['/bin/first']['self'] == 100 and rows['/lib/other']['self'] == 0 and rows['/lib/other']['total'] == 50
    theirs = recording.perf('report', '--stdio', '--no-children', '-g', 'none', '-F', 'overhead,dso', '--sort', 'dso')
    if theirs:
        assert [line.split() for line in theirs if line and line[0] == ' '] == [['100.00%', 'first']]
    assert recording('convert', '--to', 'folded').splitlines()[:2] == [
        'first;[unknown];[unknown] 1000', 'first;[unknown];[unknown];[unknown] 1000']
    plain = attr(0, 0, COMMON | CHAIN)
    recording.write([(plain, [12], 'cycles')], [other, sample(12, 1000, 0x400120, [USER, 0x900100, 0x400300])])
    assert {r['dso']: r['self'] for r in recording.tables()[0]['rows']} == {'/lib/other': 100, '/bin/first': 0}


# ---- where user space was, of other machines

REGS, STACK, BP_SP_IP = 1 << 12, 1 << 13, 0b111000000


def unwound():
    """A chain of the kernel's part, and registers and stack for the user's."""
    made = bytearray(R.attr(0, 0, COMMON | CHAIN | REGS | STACK, R.flags(*PLAIN, 'exclude_callchain_user'), 1000))
    made[80:92] = R.pack('QI', BP_SP_IP, 16)
    return bytes(made)


def registers(abi, word):
    """Where a frame pointer leads to 0x400200."""
    return R.pack('QQQQ', abi, 0x1000, 0x1000, 0x400100) + R.pack('Q', 16) + R.pack(f'2{word}', 0, 0x400200).ljust(16, b'\0') + R.pack('Q', 16)


@pytest.mark.parametrize('arch, event, chain, rest, wanted', [
    ('x86_64', unwound(), [], registers(2, 'Q'), [0x400100, 0x400200]),
    ('x86_64', unwound(), [], registers(1, 'I'), [0x400100, 0x400200]),
    ('i686', unwound(), [], registers(1, 'I'), [0x400100, 0x400200]),
    ('aarch64', unwound(), [], registers(1, 'I'), [0x400100]),
    ('armv7l', unwound(), [], registers(1, 'I'), [0x400100]),
    ('riscv64', unwound(), [], registers(2, 'Q'), [0x400100]),
    ('armv7l', attr(0, 0, COMMON | CHAIN), [USER, 0x400200, 0x400300], b'', [0x400100, 0x400200, 0x400300]),
    ('armv7l', attr(0, 0, COMMON | CHAIN), [USER, 0x400100, 0x400200], b'', [0x400100, 0x400200]),
])
def test_each_sample_has_at_least_its_own_place(recording, arch, event, chain, rest, wanted):
    recording.write([(event, [12], 'cycles')], [sample(12, 1000 + i, chain=chain, rest=rest) for i in range(3)], foreign.machine(R, arch))
    assert stacks(recording) == [wanted] * 3
    assert [(r['self'], r['dso']) for r in recording.tables()[0]['rows'] if r['self']] == [(100, '/bin/first')]
    assert recording.pictures()[0][0] == 'first;' + ';'.join(['[unknown]'] * len(wanted)) + ' 3000'


def test_a_precise_sample_of_an_idle_cpu_that_does_not_know_its_place(recording):
    """Its ip is 0, which the kernel takes for one of user space. Task 0 in user space is one of another PID namespace."""
    precise = attr(0, 0, COMMON | CHAIN, more=['precise_ip'])
    recording.write([(precise, [12], 'cycles:pp')], [sample(12, 1000 + i, ip, chain, misc=2, pid=0) for i, (ip, chain) in enumerate(
        [(0, [KERNEL, TEXT, TEXT + 0x100]), (0x400100, [USER, 0x400100])])])
    assert [row.split()[0] for row in recording('script', '-F', 'comm,time').splitlines()] == ['swapper', '<outside>']
    assert [r['comm'] for r in recording.tables('--sort', 'comm')[0]['rows']] == ['<outside>']


GUEST = {3: '[hypervisor]', 4: '[guest.kernel.kallsyms]', 5: '[guest.unknown]'}


@pytest.mark.parametrize('chain', [0, CHAIN])
def test_guests_are_not_the_host(recording, chain):
    """Each is a row and a frame of its own, at an address that the host's kernel has, too; the kernel walks no stack of theirs."""
    recording.write([(attr(0, 0, COMMON | chain), [12], 'cycles')], [
        kernel_mmap(TEXT - 0x100, 0x1000000, '[kernel.kallsyms]_text', TEXT - 0x100),
        *(sample(12, 1000 + misc, TEXT, [KERNEL, TEXT][:2 * (misc == 1)] if chain else None, misc=misc) for misc in (1, 3, 4, 5))])
    dsos = ['[kernel.kallsyms]', *GUEST.values()]
    assert sorted((r['dso'], r['self']) for r in recording.tables()[0]['rows']) == sorted((dso, 25) for dso in dsos)
    assert [json.loads(line)['dso'] for line in recording('script', '--json', '-F', 'ip,sym,dso').splitlines()] == dsos if not chain else True
    assert {'first;[guest.kernel.kallsyms] 1000', 'first;[guest.unknown] 1000'} <= set(recording.pictures()[0])
    shared = json.loads(recording('convert', '--to', 'firefox'))['shared']
    assert {shared['stringArray'][i] for i in shared['resourceTable']['name']} == set(dsos)
    assert sorted(shared['frameTable']['category']) == [2, 2, 3, 3]


# ---- groups whose leader was sampled

def read(attr_bytes, sample_type=COMMON | CHAIN | 1 << 4):
    """With the counts of its group in each sample."""
    made = bytearray(attr_bytes)
    made[24:40] = R.pack('QQ', sample_type & ~PERIOD, 4 | 8)
    return bytes(made)


def grouped(time, ip, clock, faults):
    return R.record(9, 2, R.pack('QQIIQII', 12, ip, 500, 500, time, 0, 0) + R.pack('QQQQQ', 2, clock, 12, faults, 13) +
                    R.pack('QQQ', 2, USER, ip))


def test_a_sample_of_a_group_weighs_what_its_count_went_on_by(recording):
    """As report has it, and perf: the period that was asked for is only how often the leader was looked at."""
    recording.write([(read(attr(1, 1)), [12], 'task-clock'), (read(attr(1, 2, period=0)), [13], 'page-faults')],
                    [grouped(1000 + i, 0x400100, clock, i) for i, clock in enumerate((1000, 2500, 7500))])
    assert [(t['samples'], t['weight']) for t in recording.tables('-e', 'task-clock')] == [(3, 7500)]
    assert recording('convert', '--to', 'folded').splitlines()[0] == 'first;[unknown] 7500'
    firefox, = json.loads(recording('convert', '--to', 'firefox'))['threads']
    assert sum(firefox['samples']['weight']) == pytest.approx(0.0075)
    theirs = recording.perf('script', '-F', 'event,period')
    if theirs:
        assert [int(line.split()[0]) for line in theirs if 'task-clock' in line] == [1000, 1500, 5000]
    assert recording('top', '-I').splitlines()[1:] == ['KEY  task-clock  page-faults  NAME', '500        7500            2  first']
    aliases = '-e', 'task-clock//alias=a/,task-clock//alias=b/'
    assert [(t['event'], t['samples'], t['weight']) for t in recording.tables(*aliases)] == [('a', 3, 7500), ('b', 3, 7500)]
    assert recording('top', *aliases, '-I').splitlines()[2].split() == ['500', '7500', '7500', 'first']


# ---- a pid that was used twice

def begins(pid, time, tid=None):
    return R.record(7, 0, R.pack('IIIIQ', pid, 1, tid or pid, 1, time) + R.trailer(pid, pid, time, 0, 12))


def test_processes_that_had_the_same_pid_are_two(recording):
    """Also if the first was there before the recording, and whatever exec does to the name."""
    recording.write([(attr(0, 0), [12], 'cycles')], [
        sample(12, 1000), begins(500, 1100), R.comm(500, 'sh', 1150), sample(12, 1200), R.comm(500, 'second', 1250), sample(12, 1300),
        begins(500, 1400, 501), sample(12, 1450), begins(500, 1500), sample(12, 1600), R.comm(500, 'third', 1700), sample(12, 1800)])
    assert sorted((r['comm'], r['pid'], r['count']) for r in recording.tables('--sort', 'pid')[0]['rows']) == [
        ('first', 500, 1000), ('second', 500, 3000), ('third', 500, 2000)]
    threads = json.loads(recording('convert', '--to', 'firefox'))['threads']
    assert [(t['pid'], t['tid'], t['name'], t['samples']['length']) for t in threads] == [
        ('500', 500, 'first', 1), ('500.1', 500, 'second', 3), ('500.2', 500, 'third', 2)]
    if re.search(r'protobuf-c: no$', recording.run('version', '--build-options').stdout, re.M) or not shutil.which('protoc'):
        return
    recording('convert', '--to', 'perfetto', '-o', 'x.pftrace')
    with open(recording.folder / 'x.pftrace', 'rb') as trace:
        text = ran(['protoc', '-I', os.path.join(corpus.DATA, '../../../src/export'), '--decode', 'perfetto.protos.Trace', 'perfetto.proto'],
                   stdin=trace).stdout
    # the same pid on a track with another uuid is another process for Perfetto, of which all is that follows
    assert re.findall(r'(?<=cmdline: ")[^"]*|(?<=uuid: )\d|perf_sample(?= {)', text) == (
        '1 2 first perf_sample 3 4 sh perf_sample second perf_sample perf_sample 5 6 <...> perf_sample third perf_sample'.split())


# ---- simpleperf, and perf of old

TRACE_TYPE = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | 1 << 10


def wakeup(number):
    return R.wakeup(500, 1000 + number, 0, number).replace(R.pack('QQ', 11, 0xc0001000 + number), R.pack('QQ', 12, 0x400100), 1)


def pipe_of(attrs, records):
    """The layout of pipes: an event is a record."""
    return b'PERFILE2' + R.pack('Q', 16) + b''.join(
        R.record(64, 0, one + b''.join(R.pack('Q', i) for i in ids)) for one, ids in attrs) + b''.join(records)


@pytest.mark.parametrize('padded', [4, 12, 60])
def test_formats_within_their_record(recording, padded):
    """As simpleperf writes TRACING_DATA: its size covers the bytes, not only their number."""
    text = R.tracing()
    text += bytes(-(len(text) + padded) % 8)
    inside = R.record(66, 0, R.pack('I', len(text)) + text + bytes((padded - 4) % 8))
    recording.path = recording.folder / 'x.data'
    recording.path.write_bytes(pipe_of([(attr(2, 316, TRACE_TYPE, 1), [12])], [inside, R.comm(500, 'first', 900), wakeup(0), wakeup(1)]))
    lines = recording('script', '-F', 'event,trace').splitlines()
    assert [line.split()[:3] for line in lines] == [['sched:sched_wakeup:', f'comm=task', f'pid={1000 + i}'] for i in (0, 1)]


@pytest.mark.parametrize('name', ['com.example.some.long.application', 'a' * 63])
def test_names_of_tasks_that_are_longer_than_the_kernels(recording, name):
    recording.write([(attr(0, 0), [12], 'cycles')], [R.comm(500, name, 950), sample(12, 1000)])
    assert recording('script', '-F', 'comm').split() == [name]
    assert recording('convert', '--to', 'folded').startswith(f'{name};')
    (recording.folder / 's.py').write_text('kept = []\ndef __sample__(e): kept.append(e); e.print()\n'
                                           'def __exit__(): kept[0].print()\n')
    assert re.findall(r'com\.example\S+|a{5,}', recording('python', '-q', 's.py', '-I')) == [name, name]
    theirs = recording.perf('script', '-F', 'comm')
    assert not theirs or [line.strip() for line in theirs if line.strip()] == [name]


def test_names_of_tracepoints_by_the_header_of_old(recording):
    """perf before 3.17 has a table of numbers and names, and no description of events beside it."""
    recording.write([(attr(2, 77), [12], None), (attr(2, 78), [13], None)], [sample(12, 1000), sample(13, 1001)])
    data = bytearray(recording.path.read_bytes())
    table = b''.join(R.pack('Q', n) + name.encode().ljust(64, b'\0') for n, name in ((77, 'sched:old_one'), (78, 'x' * 64)))
    data[56:72] = R.pack('QQ', len(data), len(table))
    recording.path.write_bytes(data + table)
    assert recording('script', '-F', 'event').split() == ['sched:old_one:', 'x' * 64 + ':']
    for size in (len(table) - 1, 2**63, 2**64 - 1, 72 * 4097):
        data[64:72] = R.pack('Q', size)
        recording.path.write_bytes(data + table)
        recording('script', '-F', 'event', errors='.*')


def test_names_of_tracepoints_by_records_of_old(recording):
    recording.path = recording.folder / 'x.data'
    named = R.record(65, 0, R.pack('Q', 77) + b'sched:old_one'.ljust(64, b'\0'))
    recording.path.write_bytes(pipe_of([(attr(2, 77), [12])], [named, R.record(65, 0, bytes(8)), R.comm(500, 'first', 900),
                                                               sample(12, 1000)]))
    assert recording('script', '-F', 'event').split() == ['sched:old_one:']


def pmus():
    root = '/sys/bus/event_source/devices'
    for name in sorted(os.listdir(root)) if os.path.isdir(root) else []:
        with open(f'{root}/{name}/type', encoding='ascii') as file:
            yield name, int(file.read())


@pytest.mark.parametrize('mapped', [False, True])
def test_another_machines_pmus_are_not_called_as_this_ones(recording, mapped):
    here = next(((name, kind) for name, kind in pmus() if kind >= 6), None)
    if not here:
        pytest.skip('this machine has no PMU with a type of its own')
    name, kind = here
    features = {16: R.pack('II', 1, kind) + R.string('their_pmu')} if mapped else {}
    recording.write([(attr(kind, 0x11), [12], None), (attr(0, 0), [13], None)], [sample(12, 1000)], features)
    wanted = 'their_pmu/config=0x11/' if mapped else f'{kind}:0x11'
    assert recording('script', '-F', 'event').split() == [f'{wanted}:']
    assert f'has no event {name}/' in ran([recording.prof, 'script', '-e', f'{name}/config=0x11/', recording.path]).stderr


# ---- what `perf sched record` has

def trace_format(name, number, *fields):
    """A tracepoint's, of (declaration, offset, size)."""
    rows = [('unsigned short common_type', 0, 2), ('unsigned char common_flags', 2, 1),
            ('unsigned char common_preempt_count', 3, 1), ('int common_pid', 4, 4), *fields]
    return f'name: {name}\nID: {number}\nformat:\n' + ''.join(
        f'\tfield:{declared};\toffset:{at};\tsize:{size};\tsigned:{int(declared.startswith(("int", "long", "pid_t")))};\n'
        for declared, at, size in rows) + '\nprint fmt: "pid"\n'


SWITCH, WAKING, WAKEUP_NEW, RUNTIME = 310, 311, 312, 313
WOKEN = ('char comm[16]', 8, 16), ('pid_t pid', 24, 4), ('int prio', 28, 4), ('int target_cpu', 32, 4)
SCHED = {
    'sched_switch': (SWITCH, ('char prev_comm[16]', 8, 16), ('pid_t prev_pid', 24, 4), ('int prev_prio', 28, 4),
                     ('long prev_state', 32, 8), ('char next_comm[16]', 40, 16), ('pid_t next_pid', 56, 4),
                     ('int next_prio', 60, 4)),
    'sched_waking': (WAKING, *WOKEN), 'sched_wakeup_new': (WAKEUP_NEW, *WOKEN),
    'sched_stat_runtime': (RUNTIME, ('char comm[16]', 8, 16), ('pid_t pid', 24, 4), ('u64 runtime', 32, 8)),
}
MS, BEGIN = 1000000, 1000000000


def traced(number, at, pid, data):
    raw = R.pack('HBBi', number, 0, 0, pid) + data
    raw += bytes(-(len(raw) + 4) % 8)
    return R.record(9, 1, R.pack('QQIIQIIQ', number, TEXT, pid, pid, BEGIN + at * MS, 0, 0, 1) + R.pack('I', len(raw)) + raw)


def switch(at, prev, state, following):
    def who(pid):
        return (b'swapper/0' if not pid else f'task{pid}'.encode()).ljust(16, b'\0')
    return traced(SWITCH, at, prev, who(prev) + R.pack('iiq', prev, 120, state) + who(following) + R.pack('ii', following, 120))


def woken(number, at, by, pid):
    return traced(number, at, by, f'task{pid}'.encode().ljust(16, b'\0') + R.pack('iii', pid, 120, 0))


def sched_record(recording, wakeups=('sched_waking', 'sched_wakeup_new'), more=()):
    names = ['sched_switch', *wakeups, 'sched_stat_runtime']
    for_8_ms = b'task500'.ljust(16, b'\0') + R.pack('iIQ', 500, 0, 8 * MS)
    records = [R.comm(500, 'task500', 950), R.comm(501, 'task501', 960), switch(0, 0, 0, 500), woken(WAKING, 2, 500, 501),
               switch(5, 500, 0, 501), switch(9, 501, 1, 500), traced(RUNTIME, 10, 500, for_8_ms), woken(WAKING, 12, 500, 501),
               switch(13, 500, 1, 501), switch(14, 501, 1, 0)]
    have = {SCHED[name][0] for name in names}
    records = [r for r in records if r[0] != 9 or int.from_bytes(r[8:16], 'little') in have]
    events = [(attr(2, SCHED[name][0], TRACE_TYPE, 1, more), [SCHED[name][0]], f'sched:{name}') for name in names]
    recording.write(events, records, {1: R.tracing(*(trace_format(name, *SCHED[name]) for name in names))})


def test_run_delays_of_perf_sched_record(recording):
    """Woken by sched_waking at 2 and 12 ms, 501 runs at 5 and 13; 500 is preempted from 5 to 9."""
    sched_record(recording)
    rows = {r['tid']: r for r in json.loads(recording('rundelay', '--json', '-I').splitlines()[0])['rows']}
    assert {tid: (r['calls'], r['total']) for tid, r in rows.items()} == {501: (2, 4 * MS), 500: (1, 4 * MS)}
    one, = json.loads(recording('rundelay', '--json', '-p', '500', '-I').splitlines()[0])['rows']
    assert (one['tid'], one['total']) == (500, 4 * MS)
    states = {(int(r['comm'][4:]), r['state']): r['total'] for r in
              json.loads(recording('task-state', '--json', '-I').splitlines()[0])['rows']}
    assert states[501, 'RD'] == 4 * MS and states[500, 'RD'] == 4 * MS and states[501, 'S'] == 3 * MS
    assert states[501, 'R'] == 5 * MS and states[500, 'R'] == 9 * MS
    assert 'sched_stat_runtime' not in recording('rundelay', '--than', '1ns', '-I')
    theirs = recording.perf('sched', 'timehist', '--state')
    found = re.findall(r'\[(50[01])\] +([\d.]+) +([\d.]+) +([\d.]+) +(\S+)', '\n'.join(theirs or []))
    if found:
        assert sum(float(delay) for tid, _, delay, _, _ in found if tid == '501') == pytest.approx(4)
        assert sum(float(at_work) for tid, _, _, at_work, _ in found if tid == '500') == pytest.approx(9)


STRETCHES = '''
import json
def rundelay(e): print(json.dumps([e.tid, 'RD', e.start, e.duration]))
def task_state(e): print(json.dumps([e.tid, e.state, e.start, e.duration]))
'''


@pytest.mark.parametrize('who', [[], ['-p', '501']], ids=['all', 'one'])
@pytest.mark.parametrize('source', ['rundelay', 'task-state'])
def test_sources_add_up_to_the_tables_of_perf_sched_record(recording, source, who):
    sched_record(recording)
    script = recording.folder / 'stretches.py'
    script.write_text(STRETCHES)
    done = ran([recording.prof, 'python', '-e', source, *who, '-I', recording.path, script])
    assert not done.returncode and not done.stderr, done
    seen = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('[')]
    sums = {}
    for tid, state, _, duration in seen:
        calls, total = sums.get((tid, state), (0, 0))
        sums[tid, state] = calls + 1, total + duration
    table = json.loads(recording(source, '--json', '--by', 'task', *who, '-I').splitlines()[0])
    assert sums == {(r['tid'], r.get('state', 'RD')): (r['calls'], r['total']) for r in table['rows']}
    assert [501, 'RD', BEGIN + 2 * MS, 3 * MS] in seen and [501, 'RD', BEGIN + 12 * MS, MS] in seen
    assert {tid for tid, *_ in seen} == ({501} if who else {500, 501})


ENTER, LEAVE = 320, 321


def calls(recording, machine, records):
    formats = R.tracing(trace_format('sys_enter', ENTER, ('long id', 8, 8), ('unsigned long args[6]', 16, 48)),
                        trace_format('sys_exit', LEAVE, ('long id', 8, 8), ('long ret', 16, 8)))
    recording.write([(attr(2, n, TRACE_TYPE, 1), [n], name) for n, name in ((ENTER, 'raw_syscalls:sys_enter'), (LEAVE, 'raw_syscalls:sys_exit'))],
                    records, foreign.machine(R, machine) | {1: formats.replace(b'sched\0', b'raw_syscalls\0')})


def enter(at, pid, number):
    return traced(ENTER, at, pid, R.pack('q6Q', number, *range(6)))


@pytest.mark.parametrize('machine, name', [('aarch64', 'write(64)'), ('x86_64', 'semget(64)'), ('armv7l', 'getppid(64)'), ('alpha', 'syscall(64)')])
def test_calls_have_the_names_of_their_machine(recording, machine, name):
    calls(recording, machine, [enter(1, 500, 64), traced(LEAVE, 2, 500, R.pack('qq', 64, 0))])
    assert [row['call'] for row in json.loads(recording('syscalls', '--json', '-I'))['rows']] == [name]


def test_calls_of_32_bits_by_the_mappings(recording):
    """perf records no registers."""
    calls_of_3 = [enter(1, 500, 20), traced(LEAVE, 2, 500, R.pack('qq', 20, 0)), enter(3, 501, 20), traced(LEAVE, 4, 501, R.pack('qq', 20, 0)),
                  R.record(3, 1 << 13, R.pack('II', 500, 500) + R.text('next') + R.trailer(500, 500, BEGIN + 5 * MS, 0, ENTER)),
                  enter(6, 500, 20), traced(LEAVE, 7, 500, R.pack('qq', 20, 0))]
    forks = R.record(7, 0, R.pack('IIIIQ', 501, 500, 501, 500, BEGIN) + R.trailer(500, 500, BEGIN, 0, ENTER))
    calls(recording, 'x86_64', [R.mmap2(500, '[vdso]', 902), forks, *calls_of_3])
    rows = json.loads(recording('syscalls', '--json', '--by', 'task', '-I'))['rows']
    assert sorted((row['tid'], row['call']) for row in rows) == [(500, 'getpid(20)'), (500, 'writev(20)'), (501, 'getpid(20)')]


def test_calls_end_with_their_task(recording):
    leaves = R.record(4, 0, R.pack('IIIIQ', 501, 1, 501, 1, BEGIN + 3 * MS) + R.trailer(501, 501, BEGIN + 3 * MS, 0, ENTER))
    calls(recording, 'x86_64', [enter(1, 500, 0), enter(2, 501, 231), leaves])
    text = recording('syscalls', '-I')
    assert 'incomplete calls: 1 still running at the end, 1 ended with their task\n' in text and '501 was still in' not in text


def test_what_has_no_wakeups_is_said(recording):
    for there, lacks in (('sched_wakeup_new',), 'sched_wakeup'), (('sched_waking',), 'sched_wakeup_new'):
        sched_record(recording, there)
        recording('rundelay', '-I', check=2, errors=rf'needs sched:{lacks}, which \S+ lacks; record with -a -e')
        recording('trace', '-e', 'rundelay', '-I', check=2, errors=rf'needs samples of sched:{lacks}, which \S+ lacks')


@pytest.mark.parametrize('command', [['rundelay'], ['task-state'], ['rundelay', '-p', '501'], ['trace', '-e', 'rundelay']], ids=' '.join)
def test_what_was_recorded_for_a_command_only_is_refused(recording, command):
    """The kernel records what the command's tasks do: neither who wakes them nor who runs in their place."""
    sched_record(recording, more=['inherit', 'enable_on_exec'])
    recording(*command, '-I', check=1, errors=rf'{command[-1] if "-e" in command else command[0]}: sched:sched_switch was recorded '
              'only for a command: the scheduler\'s events of other tasks, .*; record with -a$')
    assert recording('trace', '-e', 'sched:sched_switch', '-I').count('sched_switch') == 5
    sched_record(recording, more=['inherit'])                   # as perf record -a
    recording(*command, '-I')


# ---- files of another machine

def test_why_files_of_another_machine_have_no_names(recording):
    """Their inode is a number of that machine's."""
    recording.write([(attr(0, 0), [12], 'cycles')], [sample(12, 1000)])
    recording('report', '-v', errors='/bin/first: the recording has no build id of it, and no inode that is valid on this '
              'machine; its')


# ---- what is no recording, and what has no samples

@pytest.mark.parametrize('data, said', [
    (b'\x28\xb5\x2f\xfd' + bytes(60), 'compressed by zstd: unpack it by unzstd'),
    (b'perf 123/123 [000] 1.000001: 1 cycles: 400100 main+0x0 (/bin/a)\n', r'this is text, such as `perf script` prints'),
    (b'\x0a\x04\x08\x01\x10\x02\x12\x07\x08\x01' + bytes(20), 'looks like protobuf, as a profile of pprof is'),
    (b'\xfd7zXZ' + bytes(60), 'compressed by xz: unpack it by unxz'), (b'BZh91AY' + bytes(60), 'compressed by bzip2'),
    (b'\x7fELF' + bytes(60), r'begins with PERFILE2\n?$')], ids=['zstd', 'text', 'protobuf', 'xz', 'bzip2', 'elf'])
def test_what_people_take_for_a_recording_is_named(recording, data, said):
    recording.path = recording.folder / 'x.data'
    for size in (len(data), 16):
        recording.path.write_bytes(data[:size])
        recording('report', check=1, errors='this is not a recording' if size == 16 else said)


def test_a_hardware_trace_alone_is_said(recording):
    recording.write([(attr(8, 0, COMMON, 1), [12], 'intel_pt//u')], [R.aux_info(), R.aux(0, 1000, 950, 0)])
    recording('report', errors='1000 bytes of AUX areas .hardware traces., which perf-prof does not decode, and no samples')


def test_tasks_without_an_id_any_more_have_a_name_in_top(recording):
    """The kernel gives what exits, and is in no table of ids, the number -1."""
    recording.write([(attr(0, 0), [12], 'cycles')], [sample(12, 1000 + i, pid=500 if i % 4 else 2**32 - 1) for i in range(40)])
    lines = [line.split() for line in recording('top', '-e', 'cycles', '-I').splitlines()[2:]]
    assert sorted(lines) == [['-1', '10000', '[exiting]'], ['500', '30000', 'first']]
    lines = [line.split() for line in recording('top', '-e', 'cycles', '--only-comm', '-I').splitlines()[2:]]
    assert sorted(lines) == [['10000', '[exiting]'], ['30000', 'first']]


def test_an_empty_report_is_of_then(recording):
    clock = {29: R.pack('IIQQ', 1, 1, 1000000000 * 10**9, 5 * 10**9)}      # of 2001
    recording.write([(attr(0, 0), [12], 'cycles')], [], clock)
    table = json.loads(recording('report', '--json', errors='it has no samples'))
    assert datetime.datetime.fromisoformat(table['time']).year == 2001
    recording.write([(attr(0, 0), [12], 'cycles')], [])
    assert recording('report', errors='it has no samples').startswith('0.000000 report: 0 samples')


def test_a_header_without_events_is_said_plainly(recording):
    recording.write([(attr(0, 0), [12], 'cycles')], [])
    data = bytearray(recording.path.read_bytes())
    data[32:40] = R.pack('Q', 100)
    recording.path.write_bytes(data)
    recording('report', check=1, errors='100 bytes for events, and an event takes 144 bytes; expected 1 to 65536 whole events')
