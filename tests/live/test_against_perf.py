#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A second opinion: what libperfevent reads out of perf.data is what perf reads.

Small workloads are recorded by perf record; each record, by its offset in the file, is
compared with perf script -D, each sample with perf script -F, too.
Requires: perf, and that perf record may record (exit code 77 otherwise)."""
import collections
import os
import re
import shutil
import struct
import subprocess
import tempfile

import peers

LOOP = ['sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; /bin/true; /bin/echo >/dev/null']

# name, options of perf record, registers to compare by perf script -F
RECORDINGS = [
    ('clock', ['-e', 'cpu-clock', '-c', '500000'], []),
    ('chains', ['-e', 'cpu-clock', '-c', '500000', '-g', '-a'], []),
    ('everything', ['-e', 'cpu-clock', '-c', '1000000', '--call-graph', 'dwarf,512',
                    '--intr-regs=AX,BX,SP,IP,R8', '--user-regs=AX,SP,IP,R15', '-d', '--phys-data',
                    '--data-page-size', '--code-page-size', '--all-cgroups', '--switch-events',
                    '--namespaces', '-W'], ['iregs', 'uregs']),
    ('group', ['-e', '{cpu-clock/period=500000/,context-switches}:S'], []),
    ('tracepoints', ['-e', 'sched:sched_switch,sched:sched_wakeup,cpu-clock', '-a',
                     '--switch-events'], []),
    ('build ids', ['-e', 'cpu-clock', '--buildid-mmap'], []),
]

CONTEXTS = {'hypervisor': -32, 'kernel': -128, 'user': -512, 'user-deferred': -640,
            'guest': -2048, 'guest-kernel': -2176, 'guest-user': -2560}
MODES = {'': 0, 'kernel': 1, 'user': 2, 'hypervisor': 3, 'guest-kernel': 4, 'guest-user': 5}


def run(argv, **kwargs):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors='surrogateescape', stdin=subprocess.DEVNULL, **kwargs)
    return done.returncode, done.stdout, done.stderr


# ---------------------------------------------------------------- ours

class Ours:
    """One line of dump_perfdata."""

    def __init__(self, line):
        offset, rest = line.split(' ', 1)
        self.offset = int(offset, 16)
        self.line = line
        self.bad = rest.startswith('BAD ')
        self.type = rest.split()[0]
        self.body, _, self.trailer = rest.partition(' | ')
        misc = re.match(r'\S+ \(([^)]*)\)', rest)
        self.misc = misc.group(1).split() if misc else []

    def number(self, key, text=None):
        found = re.search(rf'(?:^| ){key} (0x[0-9a-f]+|\d+)', self.body if text is None else text)
        return int(found.group(1), 0) if found else None

    def word(self, key):
        """Of `key WORD`, quotes taken off."""
        text = self.body.rpartition(f' {key} ')[2]
        if not text.startswith('"'):
            return text
        plain = re.sub(r'\\(x..|.)', lambda m: chr(int(m.group(1)[1:], 16))
                       if m.group(1)[0] == 'x' else m.group(1), text[1:-1])
        return plain.encode('latin1').decode('utf-8', 'surrogateescape')

    def listed(self, key):
        found = re.search(rf' {key} (?:abi:\w+ )?\[([^]]*)\]', self.body)
        return found.group(1).split() if found else []

    def chain(self):
        return [int(ip, 16) if ip.startswith('0x') else CONTEXTS[ip[:-1]] % 2**64
                for ip in self.listed('callchain')]

    def regs(self, key):
        return {name: int(value, 16) for name, value in
                (reg.split(':') for reg in self.listed(key))}

    def time_and_cpu(self):
        text = self.body if self.type == 'SAMPLE' else self.trailer
        return self.number('time', text), self.number('cpu', text)


# ---------------------------------------------------------------- perf's

class Unread(Exception):
    """perf can't read what it recorded."""


def perf_dump(path):
    """offset -> lines of perf script -D about that record, hex dump left out."""
    code, out, err = run(['perf', 'script', '-D', '-i', path])
    if code:
        raise Unread(err)
    records, lines = {}, None
    for line in out.splitlines():
        head = re.match(r'(?:(\d+) )?(\d+) (0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_(.*)', line)
        if head:
            cpu, time, offset, rest = head.groups()
            lines = [(cpu, time), rest]
            records[int(offset, 16)] = lines
        elif lines is not None and line and not line.startswith('. '):
            lines.append(line)
    return records


def same(what, ours, theirs, record):
    if ours != theirs:
        raise AssertionError(f'{what}: {ours!r}, by perf {theirs!r}\n  {record.line}')


ALL_BITS = 0xffffffff


def hexes(pattern, lines):
    return [int(m.group(1), 16) for m in (re.match(pattern, line) for line in lines) if m]


def check_registers(key, title, o, lines):
    starts = [i for i, line in enumerate(lines) if line.startswith(f'... {title}: mask')]
    if not starts:
        return same(key, o.regs(key), {}, o)
    regs = {}
    for line in lines[starts[0] + 1:]:
        found = re.match(r'\.\.\.\. (\w+)\s+0x([0-9a-f]+)', line)
        if not found:
            break
        regs[found.group(1)] = int(found.group(2), 16)
    return same(key, o.regs(key), regs, o)


def check_reads(o, lines):
    reads = [(int(m.group(1), 16), int(m.group(2), 16)) for m in
             (re.match(r'\.\.\.\.\. id ([0-9a-f]+), value ([0-9a-f]+)', line) for line in lines) if m]
    ours = [(int(m.group(2)), int(m.group(1))) for m in
            (re.match(r'(\d+)/id:(\d+)', value) for value in o.listed('read')) if m]
    same('read', ours, reads, o)


def check_sample(o, lines):
    head = re.match(r'SAMPLE\(IP, 0x([0-9a-f]+)\): (-?\d+)/(-?\d+): (0x[0-9a-f]+|0) period: (\d+) addr: '
                    r'(0x[0-9a-f]+|0)', lines[0])
    assert head, lines[0]
    misc, pid, tid, ip, period, addr = head.groups()
    mode = next((m for m in o.misc if m in MODES), '')
    same('mode', MODES[mode], int(misc, 16) & 7, o)
    same('exact', 'exact-ip' in o.misc, bool(int(misc, 16) & 0x4000), o)
    # a task on its way out is -1 to the kernel, which perf shows with a sign
    same('pid', o.number('pid') & ALL_BITS, int(pid) & ALL_BITS, o)
    same('tid', o.number('tid') & ALL_BITS, int(tid) & ALL_BITS, o)
    same('ip', o.number('ip'), int(ip, 16), o)
    same('addr', o.number('addr') or 0, int(addr, 16), o)
    if o.number('period') is not None:
        same('period', o.number('period'), int(period), o)
    same('callchain', o.chain(), hexes(r'\.\.\.\.\.\s*\d+: ([0-9a-f]+)$', lines), o)
    for key, pattern in (('data_src', r' \. data_src: 0x([0-9a-f]+)'),
                         ('phys_addr', r' \.\. phys_addr: 0x([0-9a-f]+)')):
        theirs = hexes(pattern, lines)
        if theirs:
            same(key, o.number(key), theirs[0], o)
    stack = next((re.match(r'\.\.\. ustack: size (\d+)', line) for line in lines
                  if line.startswith('... ustack')), None)
    if stack:
        ours = re.search(r' stack (\d+)/(\d+) ', o.body)
        same('stack', ours and ours.group(1), stack.group(1), o)
    check_registers('uregs', 'user regs', o, lines)
    check_registers('iregs', 'intr regs', o, lines)
    check_reads(o, lines)


def check_mmap(o, lines):
    head = re.match(r'MMAP2? (-?\d+)/(\d+): \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0)'
                    r'([^]]*)\]: (\S+) (.*)', lines[0])
    pid, tid, addr, length, pgoff, file_id, prot, name = head.groups()
    same('pid', o.number('pid'), int(pid) % 2**32, o)
    same('tid', o.number('tid'), int(tid), o)
    same('addr', o.number('addr'), int(addr, 16), o)
    same('len', o.number('len'), int(length, 16), o)
    same('pgoff', o.number('pgoff'), int(pgoff, 16), o)
    same('file', o.word('file'), name, o)
    if o.type != 'MMAP2':
        return
    same('prot', f' {prot} file ' in o.body, True, o)
    if '<' in file_id:
        same('build-id', re.search(r'build-id ([0-9a-f]*)', o.body).group(1), file_id.strip(' <>'), o)
    else:
        dev, ino, gen = file_id.split()
        same('dev', re.search(r' dev (\S+)', o.body).group(1), dev, o)
        same('ino', o.number('ino'), int(ino), o)
        same('gen', o.number('gen'), int(gen), o)


def check_comm(o, lines):
    head = re.match(r'COMM( exec)?: (.*):(\d+)/(\d+)', '\n'.join(lines), re.S)     # a name may have a newline
    assert head, lines
    execed, comm, pid, tid = head.groups()
    same('exec', 'exec' in o.misc, bool(execed), o)
    same('comm', o.word('comm'), comm, o)
    same('ids', (o.number('pid'), o.number('tid')), (int(pid), int(tid)), o)


def check_task(o, lines):
    head = re.match(r'(?:FORK|EXIT)\((\d+):(\d+)\):\((\d+):(\d+)\)', lines[0])
    same('ids', [o.number(k) for k in ('pid', 'tid', 'ppid', 'ptid')],
         [int(g) for g in head.groups()], o)


def check_switch(o, lines):
    words = lines[0].split()
    same('out', 'out' in o.misc, 'OUT' in words, o)
    same('preempt', 'preempt' in o.misc, 'preempt' in words, o)
    wide = re.search(r'(?:next|prev) pid/tid:\s+(\d+)/(\d+)', lines[0])
    if wide:
        same('ids', (o.number('pid'), o.number('tid')), tuple(map(int, wide.groups())), o)


def check_namespaces(o, lines):
    theirs = re.findall(r'\d/(\w+): (\d+)/(0x[0-9a-f]+)', ' '.join(lines))
    same('namespaces', o.listed(r'tid \d+'), [f'{n}:{d}/{i}' for n, d, i in theirs], o)


def check_ksymbol(o, lines):
    head = re.match(r'KSYMBOL addr ([0-9a-f]+) len (\d+) type (\d+) flags 0x([0-9a-f]+) name (.*)',
                    lines[0])
    addr, length, _, flags, name = head.groups()
    same('addr', o.number('addr'), int(addr, 16), o)
    same('len', o.number('len'), int(length), o)
    same('flags', o.number('flags'), int(flags, 16), o)
    same('name', o.word('name'), name.strip(), o)


def check_bpf(o, lines):
    head = re.match(r'BPF_EVENT type (\d+), flags (\d+), id (\d+)', lines[0])
    same('id', o.number('id'), int(head.group(3)), o)
    same('flags', o.number('flags'), int(head.group(2)), o)


def check_cgroup(o, lines):
    head = re.match(r'CGROUP cgroup: (\d+) (.*)', lines[0])
    same('cgroup', (o.number('cgroup'), o.word('path')), (int(head.group(1)), head.group(2)), o)


def check_lost(o, lines):
    found = re.match(r'LOST(?:_SAMPLES)?.*?\blost[: ]\s*(\d+)', lines[0])
    if found:
        same('lost', o.number('lost'), int(found.group(1)), o)


def check_head_only(o, lines):
    """Of some perf prints no more than type, time and CPU; a busy machine is what brings them."""


CHECKS = {
    'SAMPLE': check_sample, 'MMAP': check_mmap, 'MMAP2': check_mmap, 'COMM': check_comm,
    'FORK': check_task, 'EXIT': check_task, 'SWITCH': check_switch,
    'SWITCH_CPU_WIDE': check_switch, 'NAMESPACES': check_namespaces, 'KSYMBOL': check_ksymbol,
    'BPF_EVENT': check_bpf, 'CGROUP': check_cgroup, 'LOST': check_lost, 'LOST_SAMPLES': check_lost,
    'THROTTLE': check_head_only, 'UNTHROTTLE': check_head_only,
}


# The kernel may say too large a size of them, beside others who listen: perf then takes what lies behind
# their sample_id for it, or can't read them (src/perfevent/decode/body.h).
OVERSTATED = 'KSYMBOL', 'BPF_EVENT', 'TEXT_POKE'


def check_records(ours, path, seen):
    theirs = perf_dump(path)
    for o in ours:
        if o.type == 'type':      # made by perf record, not by the kernel
            continue
        same('decodes', o.bad, False, o)
        if o.offset not in theirs:
            raise AssertionError(f'perf script -D has nothing at {o.line}')
        (cpu, time), *lines = theirs[o.offset]
        same('type', o.type, re.match(r'\w+', lines[0]).group(0), o)
        if o.type not in OVERSTATED:
            our_time, our_cpu = o.time_and_cpu()
            same('time', our_time or 0, int(time) % (2**64 - 1), o)     # all ones: perf saw none
            if our_cpu is not None and cpu is not None and our_time:
                same('cpu', our_cpu, int(cpu), o)
        CHECKS[o.type](o, lines)
        seen[o.type] += 1
    ours_at = {o.offset for o in ours}
    # what perf record made itself is not handed on
    missing = [hex(at) for at, lines in theirs.items()
               if at not in ours_at and re.match(r'\w+', lines[1]).group(0) in CHECKS]
    if missing:
        raise AssertionError(f'only perf has records at {missing}')


# ---------------------------------------------------------------- perf script -F

def text_row(o, extra):
    row = [f"{o.number('pid') & ALL_BITS}/{o.number('tid') & ALL_BITS}"]
    row.append(o.number('time'))
    row.append(o.number('ip'))
    for key in extra:
        row += sorted(o.regs(key).items())
    return tuple(map(str, row))


def perf_row(line):
    found = re.match(r'\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s*(.*)', line)
    assert found, line
    pid, tid, sec, nsec, rest = found.groups()
    row = [f'{int(pid) & ALL_BITS}/{int(tid) & ALL_BITS}', int(sec) * 10**9 + int(nsec)]
    words = rest.split()
    row.append(int(words[0], 16))
    abi = [i for i, word in enumerate(words) if word.startswith('ABI:')] + [len(words)]
    parts = [words[a + 1:b] for a, b in zip(abi, abi[1:])]
    for part in parts:
        regs = (word.split(':') for word in part if ':0x' in word)
        row += sorted((name, int(value, 16)) for name, value in regs)
    return tuple(map(str, row))


def check_fields(ours, path, extra):
    """All samples by perf script -F, in any order."""
    code, out, err = run(['perf', 'script', '-i', path, '--ns', '-G', '-F',
                          ','.join(['pid', 'tid', 'time', 'ip'] + extra)])
    if code:
        raise Unread(err)
    theirs = collections.Counter(perf_row(line) for line in out.splitlines() if line.strip())
    mine = collections.Counter(text_row(o, extra) for o in ours if o.type == 'SAMPLE')
    if mine != theirs:
        raise AssertionError(f'only ours {list((mine - theirs).items())[:3]}, '
                             f'only perf\'s {list((theirs - mine).items())[:3]}')


def check_raw(ours, path):
    """The raw bytes of sched_switch are where perf's tracepoint parser finds its fields."""
    _, out, _ = run(['perf', 'script', '-i', path, '--ns', '-F', 'pid,tid,time,event,trace'])
    theirs = {}
    for line in out.splitlines():
        found = re.match(r'\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}): sched:sched_switch:.* prev_pid=(\d+) .*'
                         r' next_pid=(\d+)', line)
        if found:
            _, tid, sec, nsec, prev, nxt = map(int, found.groups())
            theirs[(sec * 10**9 + nsec, tid)] = (prev, nxt)
    checked = 0
    for o in ours:
        raw = re.search(r' raw (\d+) ([0-9a-f]+)', o.body) if o.type == 'SAMPLE' else None
        key = (o.number('time'), o.number('tid'))
        if not raw or key not in theirs or int(raw.group(1)) < 60:
            continue
        data = bytes.fromhex(raw.group(2))
        same('prev_pid', struct.unpack_from('=i', data, 24)[0], theirs[key][0], o)
        same('next_pid', struct.unpack_from('=i', data, 56)[0], theirs[key][1], o)
        checked += 1
    if theirs and not checked:
        raise AssertionError('no raw bytes compared')


# ---------------------------------------------------------------- all

TRIES = 5


def compare(dump, name, options, extra, folder, seen):
    """Of a recording that perf itself can read."""
    for attempt in range(TRIES):
        try:
            return compare_once(dump, name, options, extra, folder, seen)
        except Unread as error:
            print(f'# {name}: perf does not read its own recording: {str(error).strip()[:200]}')
    return False


def compare_once(dump, name, options, extra, folder, seen):
    path = os.path.join(folder, 'perf.data')
    code, _, err = run(['perf', 'record', '-q', '-o', path] + options + ['--'] + LOOP)
    if code:
        print(f'# {name}: perf record refuses: {(err.strip().splitlines() or ["?"])[0]}')
        return False
    code, out, err = run([dump, path])
    if code:
        raise AssertionError(err)
    ours = [Ours(line) for line in out.splitlines()]
    check_records(ours, path, seen)
    samples = sum(o.type == 'SAMPLE' for o in ours)
    if name != 'group':     # there -F tells a sample once per member that had counted on
        check_fields(ours, path, extra)
    if name == 'tracepoints':
        check_raw(ours, path)
    print(f'# {name}: {len(ours)} records, {samples} samples agree')
    os.unlink(path)
    return True


def main(argv):
    if not shutil.which('perf'):
        print('needs perf (linux-perf)')
        return 77
    seen = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        done = [compare(argv[0], *recording, folder, seen) for recording in RECORDINGS]
    print('# ' + ', '.join(f'{n} {name}' for name, n in sorted(seen.items())))
    if not any(done):
        print('needs a perf record that may record')
        return 77
    return 0


peers.run(main)
