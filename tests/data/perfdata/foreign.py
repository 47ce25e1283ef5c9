#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""foreign.py FILE big|little LONG [aux] - a recording as a machine of that byte order, with `long` of
so many bytes, would have made it: a tracepoint and a clock with call chains; with aux also a hardware
trace (of Arm's SPE: nothing but padding), which lies between the records."""
import struct
import sys

FORMAT = '''name: sched_wakeup
ID: 316
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;
\tfield:__data_loc char[] name;\toffset:36;\tsize:4;\tsigned:0;
\tfield:unsigned long word;\toffset:40;\tsize:{long};\tsigned:0;

print fmt: "comm=%s pid=%d prio=%d target_cpu=%03d name=%s word=%lu", REC->comm, REC->pid, REC->prio, REC->target_cpu, __get_str(name), REC->word
'''

IP, TID, TIME, ID, CPU, PERIOD, RAW, IDENTIFIER, CHAIN = (
    1, 2, 4, 1 << 6, 1 << 7, 1 << 8, 1 << 10, 1 << 16, 1 << 5)
PAGE, MIB = 4096, 1 << 20


class Recorder:
    def __init__(self, big, long):
        self.big, self.long = big, long

    def pack(self, fmt, *values):
        return struct.pack(('>' if self.big else '<') + fmt, *values)

    def flags(self, *names):
        """Bit-fields begin at the most significant bit on big-endian machines."""
        bits = {'disabled': 0, 'inherit': 1, 'mmap': 8, 'comm': 9, 'enable_on_exec': 12, 'task': 13, 'precise_ip': 15, 'sample_id_all': 18,
                'exclude_callchain_kernel': 21, 'exclude_callchain_user': 22, 'mmap2': 23}
        word = 0
        for name in names:
            word |= 1 << (63 - bits[name] if self.big else bits[name])
        return word

    def attr(self, kind, config, sample_type, flags, period=1):
        return self.pack('IIQQQQQIIQQQQIiQIHHII', kind, 128, config, period, sample_type, 4, flags, 0, 0, 0, 0,
                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0) + bytes(128 - 120)

    def record(self, kind, misc, body):
        assert len(body) % 8 == 0, (kind, len(body))
        return self.pack('IHH', kind, misc, 8 + len(body)) + body

    def trailer(self, pid, tid, time, cpu, ident):
        return self.pack('IIQIIQ', pid, tid, time, cpu, 0, ident)

    def text(self, text, unit=8):
        data = text.encode() + b'\0'
        return data + bytes(-len(data) % unit)

    def comm(self, pid, name, time):
        return self.record(3, 0, self.pack('II', pid, pid) + self.text(name) +
                           self.trailer(pid, pid, time, 0, 12))

    def mmap2(self, pid, path, time):
        return self.record(10, 2, self.pack('IIQQQIIQQII', pid, pid, 0x400000, MIB, 0, 8, 1, 77, 1, 5, 2) +
                           self.text(path) + self.trailer(pid, pid, time, 0, 12))

    def wakeup(self, pid, time, cpu, number):
        name = b'worker\0'
        size = 40 + self.long
        raw = self.pack('HBBi', 316, 1, 0, pid) + b'task'.ljust(16, b'\0') + \
            self.pack('iii', 1000 + number, 120, cpu) + self.pack('I', len(name) << 16 | size) + \
            self.pack('Q' if self.long == 8 else 'I', 4000000000 + number) + name
        raw += bytes(-(len(raw) + 4) % 8)
        return self.record(9, 1, self.pack('QQIIQIIQ', 11, 0xc0001000 + number, pid, pid, time, cpu, 0, 1) +
                           self.pack('I', len(raw)) + raw)

    def clock(self, pid, time, cpu, number):
        ips = [2**64 - 128, 0xffff000000001000 + number, 2**64 - 512, 0x400100 + number]
        return self.record(9, 2, self.pack('QQIIQIIQ', 12, ips[1], pid, pid, time, cpu, 0, 250000) +
                           self.pack('Q', len(ips)) + self.pack(f'{len(ips)}Q', *ips))

    def aux_info(self):
        return self.record(70, 0, self.pack('IIQQ', 4, 0, 8, 1))

    def aux(self, offset, size, time, cpu):
        """The kernel's word, and the area itself behind a record of perf's."""
        return self.record(11, 0, self.pack('QQQ', offset, size, 0) + self.trailer(500, 500, time, cpu, 12)) + \
            self.record(71, 0, self.pack('QQQIIII', size, offset, 0, cpu, 0xffffffff, cpu, 0)) + bytes(size)

    def sized(self, text):
        return self.pack('Q', len(text)) + text

    def tracing(self, *formats):
        """Of the system sched; without any, of what wakeup() makes."""
        texts = [text.encode() for text in formats or (FORMAT.replace('{long}', str(self.long)),)]
        return b'\x17\x08\x44tracing' + b'0.5\0' + bytes([self.big, self.long]) + self.pack('I', PAGE) + \
            b'header_page\0' + self.sized(
                b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
                + f'\tfield: local_t commit;\toffset:8;\tsize:{self.long};\tsigned:1;\n'.encode()
                + f'\tfield: char data;\toffset:{8 + self.long};\tsize:4080;\tsigned:1;\n'.encode()) + \
            b'header_event\0' + self.sized(b'# compressed entry header\n') + \
            self.pack('I', 0) + self.pack('I', 1) + b'sched\0' + \
            self.pack('I', len(texts)) + b''.join(map(self.sized, texts)) + \
            self.pack('I', 0) + self.pack('I', 0)

    def string(self, text):
        data = text.encode() + b'\0'
        data += bytes(-len(data) % 64)
        return self.pack('I', len(data)) + data


def records(r, aux):
    """Of two CPUs, in rounds; the second CPU's are earlier than they stand."""
    out = [r.aux_info()] if aux else []
    out += [r.comm(500, 'first', 900), r.mmap2(500, '/bin/first', 901)]
    time = 1000
    for round_ in range(4):
        for cpu in (0, 1):
            for i in range(6):
                number = round_ * 12 + cpu * 6 + i
                at = time + i * 20 + (0 if cpu else 10)
                make = r.clock if i % 3 == 2 else r.wakeup
                out.append(make(500 + cpu, at, cpu, number))
        if round_ == 1:
            out.append(r.comm(500, 'second', time + 115))
        if aux:
            out.append(r.aux(round_ * 1000, 1000, time + 190, round_ % 2))
        out.append(r.record(68, 0, b''))
        time += 200
    return b''.join(out)


def file_of(r, events, data, features):
    """The bytes of a file: events are (attr, ids, name), features {number: bytes}. Descriptions of
    events are added, unless no name is there."""
    desc = r.pack('II', len(events), 128)
    table, words = b'', b''
    for attr, ids, name in events:
        own = b''.join(r.pack('Q', i) for i in ids)
        table += bytes(attr) + r.pack('QQ', 104 + len(words), len(own))
        words += own
        desc += bytes(attr) + r.pack('I', len(ids)) + r.string(name or '') + own
    if any(name is not None for _, _, name in events):
        features = features | {12: desc}
    bits = [0] * 4
    for n in features:
        bits[n // 64] |= 1 << n % 64
    flags = b''.join(r.pack('Q', b) if r.long == 8 else r.pack('II', b & 0xffffffff, b >> 32) for b in bits)
    attrs_at = 104 + len(words)
    data_at = attrs_at + len(table)
    behind = data_at + len(data) + 16 * len(features)
    sections, bodies = b'', b''
    for n in sorted(features):
        sections += r.pack('QQ', behind + len(bodies), len(features[n]))
        bodies += features[n]
    magic = b'PERFILE2'[::-1] if r.big else b'PERFILE2'
    head = magic + r.pack('QQQQQQQQ', 104, 144, attrs_at, len(table), data_at, len(data), 0, 0) + flags
    return head + words + table + data + sections + bodies


def machine(r, arch):
    return {3: r.string('elsewhere'), 4: r.string('5.10.0-foreign'), 5: r.string('6.1'), 6: r.string(arch),
            7: r.pack('II', 2, 2)}


def main(path, order, long, aux=None):
    r = Recorder(order == 'big', int(long))
    common = IP | TID | TIME | CPU | PERIOD | IDENTIFIER
    wakeup = r.attr(2, 316, common | RAW, r.flags('disabled', 'inherit', 'sample_id_all'))
    clock = r.attr(1, 0, common | CHAIN, r.flags('disabled', 'mmap', 'comm', 'task', 'sample_id_all', 'mmap2'), 250000)
    features = machine(r, 'ppc' if r.long == 4 else 'ppc64' if r.big else 'i686') | {1: r.tracing()}
    with open(path, 'wb') as f:
        f.write(file_of(r, [(wakeup, [11], 'sched:sched_wakeup'), (clock, [12], 'cpu-clock')], records(r, aux), features))


if __name__ == '__main__':
    main(*sys.argv[1:])
