# SPDX-License-Identifier: Apache-2.0
"""The fields of events that are no tracepoints, from bytes: every part of a sample alone, all of
them together, and records whose sizes lie. tests/helpers/sample_feed makes the events."""
import json
import random
import struct
import subprocess

import pytest

TID, TIME = 1 << 1, 1 << 2
BITS = {
    'identifier': 1 << 16, 'ip': 1 << 0, 'tid': TID, 'time': TIME, 'addr': 1 << 3, 'id': 1 << 6,
    'stream_id': 1 << 9, 'cpu': 1 << 7, 'period': 1 << 8, 'read': 1 << 4, 'callchain': 1 << 5,
    'raw': 1 << 10, 'branch_stack': 1 << 11, 'regs_user': 1 << 12, 'stack_user': 1 << 13,
    'weight': 1 << 14, 'data_src': 1 << 15, 'transaction': 1 << 17, 'regs_intr': 1 << 18,
    'phys_addr': 1 << 19, 'cgroup': 1 << 21, 'data_page_size': 1 << 22, 'code_page_size': 1 << 23,
    'aux': 1 << 20,
}
ORDER = list(BITS)                      # as the kernel writes them
# as the fields stand in an event
FIELDS = ['identifier', 'ip', 'pid', 'tid', 'time', 'addr', 'id', 'stream_id', 'cpu', 'period', 'callchain',
          'raw', 'read', 'branch_stack', 'regs_user', 'stack_user', 'weight', 'data_src', 'transaction',
          'regs_intr', 'phys_addr', 'aux', 'cgroup', 'data_page_size', 'code_page_size']
ALWAYS = ['_pid', '_tid', '_time', '_cpu', '_realtime', '_event']
ENABLED, RUNNING, ID, GROUP, LOST = 1, 2, 4, 8, 16
WEIGHT_STRUCT = 1 << 24
BIG = 0xfffffffffffffff0                # no number may come out negative
X86 = 'ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 r9 r10 r11 r12 r13 r14 r15'.split()
ARM64 = [f'x{i}' for i in range(30)] + ['lr', 'sp', 'pc']

LOOP = '''
import json, sys, sample_feed

def plain(v):
    if isinstance(v, bytes):
        return {'bytes': v.hex()}
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return [plain(x) for x in v] if isinstance(v, list) else v

for line in sys.stdin:
    request = json.loads(line)
    record = bytes.fromhex(request.pop('record'))
    try:
        e = event = sample_feed.event(record, **request)
        if e is not None:
            event = {k: plain(v) for k, v in e.to_dict().items()}
            for name in event:
                # real time is the clock's and a distance that is measured again every second
                assert name == '_realtime' or plain(getattr(e, name)) == event[name] == plain(e[name]), name
    except ValueError as error:
        event = str(error)
    print(json.dumps(event), flush=True)
'''


class Feed:
    def __init__(self, path):
        self.process = subprocess.Popen([path, '-c', LOOP], stdin=subprocess.PIPE, text=True, stdout=subprocess.PIPE)

    def __call__(self, body, sample_type, size=None, misc=0, **attr):
        """The event's fields; None for a record that contradicts itself."""
        total = 8 + len(body) if size is None else size
        record = struct.pack('=IHH', 9, misc, total & 0xffff) + body
        json.dump({'record': record.hex(), 'sample_type': sample_type, **attr}, self.process.stdin)
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f'sample_feed died: {self.process.wait()}'
        return json.loads(line)


@pytest.fixture(scope='module')
def feed(helper):
    feed = Feed(helper('sample_feed'))
    yield feed
    feed.process.stdin.close()
    assert feed.process.wait(timeout=20) == 0


def u64(*values):
    return struct.pack(f'={len(values)}Q', *values)


def as_bytes(data):
    return {'bytes': bytes(data).hex()}


# What each part looks like in a record, and as a field: (bytes, {field: value}, attr)
RAW = bytes(range(20))                  # with its size 24: no padding
STACK = bytes(range(64))
AUX = bytes(range(16))
BRANCHES = u64(1, 2, 3, 4, 5, 6)
REGS = {i: BIG - i for i in range(24) if i not in (12, 13, 14, 15)}
MASK = sum(1 << i for i in REGS)
REGS_DICT = {'abi': 2, **{X86[i]: v for i, v in REGS.items()}}

PARTS = {
    'tid': (struct.pack('=II', 4000000000, 4000000001), {'pid': 4000000000, 'tid': 4000000001}, {}),
    'time': (u64(1 << 62), {'time': 1 << 62}, {}),
    'cpu': (struct.pack('=II', 4000000002, 77), {'cpu': 4000000002}, {}),
    'read': (u64(BIG), {'read': {'value': BIG}}, {}),
    'callchain': (u64(3, 0xffffffffffffff80, 0xffffffff80000001, 0xffffffff80000002),
                  {'callchain': [0xffffffff80000001, 0xffffffff80000002]}, {}),
    'raw': (struct.pack('=I', 20) + RAW, {'raw': as_bytes(RAW)}, {}),
    'branch_stack': (u64(2) + BRANCHES, {'branch_stack': as_bytes(u64(2) + BRANCHES)}, {}),
    'regs_user': (u64(2, *REGS.values()), {'regs_user': REGS_DICT}, {'regs_user': MASK, 'arch': 1}),
    'regs_intr': (u64(2, *REGS.values()), {'regs_intr': REGS_DICT}, {'regs_intr': MASK, 'arch': 1}),
    'stack_user': (u64(64) + STACK + u64(40), {'stack_user': as_bytes(u64(64) + STACK)}, {}),
    'aux': (u64(16) + AUX, {'aux': as_bytes(u64(16) + AUX)}, {}),
}
for _name in BITS:
    PARTS.setdefault(_name, (u64(BIG - BITS[_name]), {_name: BIG - BITS[_name]}, {}))


def build_record(names):
    names = set(names) | {'tid', 'time'}         # which the stream adds to all
    body, fields, attr, sample_type = b'', {}, {}, 0
    for name in ORDER:
        if name in names:
            data, values, extra = PARTS[name]
            body += data
            fields.update(values)
            attr.update(extra)
            sample_type |= BITS[name]
    return body, sample_type, attr, fields


def check(event, fields):
    assert event is not None
    assert list(event) == ALWAYS + [f for f in FIELDS if f in fields]
    assert event['_pid'] == fields['pid'] and event['_tid'] == fields['tid']
    assert event['_time'] == fields['time']
    assert event['_cpu'] == 3 and event['_event'] == 'recorded'
    for name, value in fields.items():
        if name == 'callchain':
            assert [frame['addr'] for frame in event[name]] == value
        else:
            assert event[name] == value, name


@pytest.mark.parametrize('name', ORDER)
def test_each_part_alone(feed, name):
    body, sample_type, attr, fields = build_record([name])
    check(feed(body, sample_type, **attr), fields)


def test_all_parts_together(feed):
    body, sample_type, attr, fields = build_record(ORDER)
    assert len(fields) == len(FIELDS)
    check(feed(body, sample_type, **attr), fields)


def test_many_choices_of_parts(feed):
    chance = random.Random(4)
    for _ in range(500):
        names = [n for n in ORDER if chance.random() < 0.5]
        body, sample_type, attr, fields = build_record(names)
        check(feed(body, sample_type, **attr), fields)


@pytest.mark.parametrize('flags', range(32))
def test_read_has_the_keys_of_its_flags(feed, flags):
    head = TID | TIME | BITS['read']
    one = {'value': 10}
    words = [10]
    if flags & ID:
        one['id'] = 13
        words.append(13)
    if flags & LOST:
        one['lost'] = 14
        words.append(14)
    times = {}
    if flags & ENABLED:
        times['time_enabled'] = 11
    if flags & RUNNING:
        times['time_running'] = 12
    if flags & GROUP:
        body = u64(3, *times.values(), *(words * 3))
        expected = {'nr': 3, **times, 'cntr': [one] * 3}
    else:
        body = u64(words[0], *times.values(), *words[1:])
        expected = {'value': 10, **times, **{k: v for k, v in one.items() if k != 'value'}}
    # a call chain behind it is found, too
    body = struct.pack('=II', 1, 2) + u64(3) + body + u64(1, 0xffffffff80000001)
    event = feed(body, head | BITS['callchain'], read_format=flags)
    assert event['read'] == expected
    assert [frame['addr'] for frame in event['callchain']] == [0xffffffff80000001]


HEAD = struct.pack('=II', 1, 2) + u64(3)


@pytest.mark.parametrize('arch,abi,names', [(1, 2, X86), (2, 1, X86[:16]), (1, 1, X86[:16]), (3, 2, ARM64)],
                         ids=['x86_64', 'i386', 'i386-on-x86_64', 'arm64'])
def test_registers_by_name(feed, arch, abi, names):
    asked = len(X86 if arch == 1 else names)      # a 32-bit task has no values for the others
    mask = (1 << asked) - 1
    body = HEAD + u64(abi, *range(100, 100 + asked))
    event = feed(body, TID | TIME | BITS['regs_user'], regs_user=mask, arch=arch)
    assert event['regs_user'] == {'abi': abi, **dict(zip(names, range(100, 200)))}


# (what is in the record, its parts, more of the attr, {field: value})
SPECIAL = {
    'a group of none': (u64(0), BITS['read'], {'read_format': GROUP}, {'read': {'nr': 0, 'cntr': []}}),
    'registers of a kernel thread': (u64(0), BITS['regs_user'], {'regs_user': 0xff}, {'regs_user': {'abi': 0}}),
    'a register without a name': (u64(2, 5), BITS['regs_intr'], {'regs_intr': 1 << 30, 'arch': 1}, {'regs_intr': {'abi': 2, 'reg30': 5}}),
    # what lies behind them can't be found: None, not numbers of something else
    'registers of an unknown abi': (u64(9, 1, 2, 3, 4, 5), BITS['regs_user'] | BITS['weight'], {'regs_user': 3},
                                    {'regs_user': None, 'weight': None, '_tid': 2}),
    'a weight in a structure': (u64(BIG), WEIGHT_STRUCT, {}, {'weight': BIG}),
    'the stack of a kernel thread': (u64(0), BITS['stack_user'], {}, {'stack_user': as_bytes(u64(0))}),
    # the documented bytes are u64 nr and the entries, whatever else the PMU told
    'a hardware index': (u64(1, 77, 4, 5, 6), BITS['branch_stack'], {'branch_sample_type': 1 << 17},
                         {'branch_stack': as_bytes(u64(1, 4, 5, 6))}),
}


@pytest.mark.parametrize('body, parts, attr, fields', SPECIAL.values(), ids=SPECIAL)
def test_special_parts(feed, body, parts, attr, fields):
    event = feed(HEAD + body, TID | TIME | parts, **attr)
    assert {field: event[field] for field in fields} == fields


# Where a part says how long it is: a size that lies must not be believed.
SIZED = {'read': 1, 'callchain': 1, 'raw': 0, 'branch_stack': 1, 'stack_user': 1, 'aux': 1}


@pytest.mark.parametrize('name', SIZED)
@pytest.mark.parametrize('lie', [1, 9, 64, 4096, 65535, 1 << 31, 1 << 32, 1 << 61, 1 << 63, 2 ** 64 - 1])
def test_a_size_that_lies(feed, name, lie):
    word = struct.pack('=I', lie & 0xffffffff or 21) if name == 'raw' else u64(lie)
    attr = {'read_format': GROUP} if name == 'read' else {}
    assert feed(HEAD + word, TID | TIME | BITS[name], **attr) is None


def test_every_truncation(feed):
    """A record cut anywhere is told as damaged, or its parts are what they say."""
    body, sample_type, attr, fields = build_record(ORDER)
    for length in range(0, len(body), 4):
        event = feed(body[:length], sample_type, **attr)
        assert event is None or isinstance(event, str), length


@pytest.mark.deep
def test_noise(feed):
    chance = random.Random(7)
    for _ in range(2000):
        sample_type = TID | TIME | chance.getrandbits(25)
        if sample_type & BITS['weight']:
            sample_type &= ~WEIGHT_STRUCT
        words = [chance.choice([0, 1, 2, 3, chance.getrandbits(16), chance.getrandbits(64)]) for _ in range(chance.randrange(40))]
        event = feed(u64(*words), sample_type, read_format=chance.getrandbits(5),
                     regs_user=chance.getrandbits(24), regs_intr=chance.getrandbits(24),
                     branch_sample_type=chance.choice([0, 1 << 17]), arch=chance.randrange(5))
        assert event is None or event['_event'] == 'recorded'
