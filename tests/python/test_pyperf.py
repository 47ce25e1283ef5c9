# SPDX-License-Identifier: Apache-2.0
"""pyperf's lower half: constants, perf_event_attr, the system call, ioctl, prctl, names."""
import contextlib
import copy
import errno
import gc
import os
import random
import re
import struct
import subprocess
import sys
import threading
import types

import pytest

from frame import requires
from frame.session import ran

HEADER = '/usr/include/linux/perf_event.h'

# The program of the blog, as printed; the tests put its imports and `flag` in front.
BLOG = '''
# 创建 event 属性
cycle_perf_event_attr = pyperf.perf_event_attr()
cycle_perf_event_attr.type = pyperf.PERF_TYPE_HARDWARE # 通用 CPU 事件类型
cycle_perf_event_attr.config = pyperf.PERF_COUNT_HW_CPU_CYCLES # 记录 CPU cycle
cycle_perf_event_attr.inherit = 1

# 其他参数
cpu = -1 # 所有cpu
pid = 0 # 监控本进程

# 打开事件
fd = pyperf.perf_event_open(cycle_perf_event_attr, pid, cpu, -1, flag)

time.sleep(1)
ret = os.read(fd, 8) # 所有字段均为 64 bit
value = struct.unpack("L", ret)[0]
'''
PAGES = 1000


def touch(pages=PAGES):
    """Makes exactly so many page faults, and what little Python adds."""
    import mmap
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        if hasattr(memory, 'madvise'):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1


@contextlib.contextmanager
def threads(n, work):
    """So many that do it meanwhile."""
    those = [threading.Thread(target=work) for _ in range(n)]
    for one in those:
        one.start()
    yield those
    for one in those:
        one.join(20)
        assert not one.is_alive()


def in_child(function):
    pid = os.fork()
    if not pid:
        try:
            function()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def blog(pyperf, event, sleep):
    """The value that the blog's program gets for `event` while sleep() runs."""
    text = BLOG
    if event:
        text = text.replace('PERF_TYPE_HARDWARE', 'PERF_TYPE_SOFTWARE').replace('PERF_COUNT_HW_CPU_CYCLES', event)
    names = {'pyperf': pyperf, 'os': os, 'struct': struct, 'time': types.SimpleNamespace(sleep=lambda _: sleep()), 'flag': 0}
    exec(text, names)
    os.close(names['fd'])
    return names['value']


# ---------------------------------------------------------------- the program of the blog

@pytest.mark.live('pmu')
def test_blog_as_printed(pyperf):
    assert blog(pyperf, None, lambda: sum(range(1000000))) > 1000000


@pytest.mark.live
def test_blog_counts_what_is_done_and_inherited(pyperf):
    touch(1)
    assert PAGES <= blog(pyperf, 'PERF_COUNT_SW_PAGE_FAULTS', touch) < PAGES + 100
    assert PAGES <= blog(pyperf, 'PERF_COUNT_SW_PAGE_FAULTS', lambda: in_child(touch))


# ---------------------------------------------------------------- constants

def header_constants(folder):
    """Every PERF_ name of the machine's header that is a number: name -> value."""
    with open(HEADER) as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    names = dict.fromkeys(re.findall(r'(?<!\w)(PERF_[A-Z0-9_]+)(?![\w(])', text))
    lines = [f'printf("{n} %llu\\n", (unsigned long long)({n}));' for n in names]
    source = os.path.join(folder, 'names.c')
    with open(source, 'w') as f:
        f.write('#include <stdio.h>\n#include <linux/perf_event.h>\nint main(void) {\n'
                + '\n'.join(line for line in lines if '("PERF_MEM_ ' not in line) + '\n}\n')
    program = source[:-2]
    subprocess.run(['cc', '-w', '-o', program, source], check=True)
    out = ran([program], check=True).stdout
    return {name: int(value) for name, value in (line.split() for line in out.splitlines())}


def test_constants_are_the_headers(pyperf, tmp_path):
    reason = requires.why_not('program:cc')
    if reason:
        pytest.skip(reason)
    constants = header_constants(str(tmp_path))
    assert len(constants) > 300
    ours = vars(pyperf)
    # what ends in _MAX is no ABI: it grows with the kernel
    wrong = {name: (value, ours.get(name)) for name, value in constants.items()
             if ours.get(name) != value
             and not ('MAX' in name and name in ours and ours[name] > value
                      and 'STACK' not in name)}
    assert wrong == {}


def test_mem_macro(pyperf):
    assert pyperf.PERF_MEM_S('LVL', 'L1') == 0x08 << 5
    assert pyperf.PERF_MEM_S('LVLNUM', 'NA') == 0xf << 33


# ---------------------------------------------------------------- perf_event_attr

def attr_fields(pyperf):
    return list(pyperf.perf_event_attr().asdict())


def test_every_field_of_the_header(pyperf):
    with open(HEADER) as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    body = text[text.index('struct perf_event_attr {'):]
    body = body[:body.index('\n};')]
    names = set(re.findall(r'(\w+)\s*(?::\s*\d+)?\s*[;,]', body)) - {'__u64', '__u32'}
    names = {name for name in names if not name.startswith('__')}
    assert names and names - set(attr_fields(pyperf)) == set()


def test_keywords_and_repr(pyperf):
    attr = pyperf.perf_event_attr(type=1, config=2, inherit=True, clockid=-3, sample_freq=99, freq=1)
    assert (attr.type, attr.config, attr.inherit, attr.clockid) == (1, 2, 1, -3)
    assert attr.sample_period == 99          # a union
    again = eval(repr(attr), {'perf_event_attr': pyperf.perf_event_attr})
    assert again == attr and again is not attr
    assert repr(pyperf.perf_event_attr()) == 'perf_event_attr(type=0)'


def test_every_field_keeps_its_extremes(pyperf):
    for name in attr_fields(pyperf):
        if name == 'size':
            continue
        attr = pyperf.perf_event_attr()
        low, high = 0, 1
        while True:         # the largest it takes, by trying
            try:
                setattr(attr, name, high * 2 + 1)
            except OverflowError as error:
                assert name in str(error) and str(high * 2 + 1) in str(error)
                break
            high = high * 2 + 1
        assert high in (1, 3, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**64 - 1), name
        setattr(attr, name, high)
        assert getattr(attr, name) == high, name
        setattr(attr, name, low)
        assert bytes(attr)[8:128] == bytes(pyperf.perf_event_attr())[8:128] or name == 'type'


@pytest.mark.parametrize('error, values', [(OverflowError, (-1, 2**64, 10**30, -10**30)), (TypeError, (None, 'x', 1.5, [], object()))])
def test_values_of_no_field(pyperf, error, values):
    attr = pyperf.perf_event_attr()
    for name in ('type', 'config', 'inherit', 'precise_ip', 'sample_max_stack', 'size'):
        for value in values:
            with pytest.raises(error, match=name):
                setattr(attr, name, value)
    assert attr == pyperf.perf_event_attr()


def test_unknown_deleted_positional(pyperf):
    attr = pyperf.perf_event_attr(config=7)
    with pytest.raises(AttributeError, match="no field 'confg'; did you mean 'config'"):
        attr.confg = 1
    with pytest.raises(TypeError, match="no field 'confg'; did you mean 'config'"):
        pyperf.perf_event_attr(confg=1)
    with pytest.raises(TypeError, match="no field 'zzzzzzz'$"):
        pyperf.perf_event_attr(zzzzzzz=1)
    with pytest.raises(AttributeError, match='config'):
        del attr.config
    assert attr.config == 7
    with pytest.raises(TypeError):
        pyperf.perf_event_attr(1)
    with pytest.raises(TypeError):
        hash(attr)


def test_fields_newer_than_the_header(pyperf):
    attr = pyperf.perf_event_attr(config3=5)
    assert attr.size == 136 and struct.unpack_from('Q', bytes(attr), 128)[0] == 5
    attr = pyperf.perf_event_attr(config4=6)
    assert attr.size == 144 and attr.config4 == 6


@pytest.mark.live
def test_size_is_bounded(pyperf):
    attr = pyperf.perf_event_attr(type=1, config=2)
    with pytest.raises(OverflowError):
        attr.size = 257
    for size in (1, 63, 256):
        attr.size = size
        assert len(bytes(attr)) == size
        try:
            os.close(pyperf.perf_event_open(attr, 0, -1, -1, 0))
        except OSError as error:
            assert error.errno in (errno.E2BIG, errno.EINVAL)


def test_text_fields_keep_their_text(pyperf):
    attr = pyperf.perf_event_attr(uprobe_path='/usr/bin/env')
    again = attr.copy()
    del attr
    gc.collect()
    import ctypes
    assert ctypes.string_at(again.config1) == b'/usr/bin/env'


@pytest.mark.live
def test_copies(pyperf):
    attr = pyperf.perf_event_attr(config=1)
    for other in (attr.copy(), copy.copy(attr), copy.deepcopy(attr)):
        other.config = 2
        assert attr.config == 1 and other.config == 2

    class Mine(pyperf.perf_event_attr):
        pass
    mine = Mine(config=3)
    mine.note = 'x'
    assert type(mine.copy()) is Mine
    os.close(pyperf.perf_event_open(Mine(type=1, config=9), 0, -1, -1, 0))


# ---------------------------------------------------------------- perf_event_open, ioc, prctl

@pytest.fixture
def faults(pyperf):
    fd = pyperf.perf_event_open(pyperf.perf_event_attr(type=1, config=2), 0, -1, -1, 0)
    yield fd
    os.close(fd)


def count(fd):
    return struct.unpack('Q', os.read(fd, 8))[0]


@pytest.mark.live
def test_ioc_and_prctl(pyperf, faults):
    assert not os.get_inheritable(faults)
    assert pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_ID) > 0
    assert pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_SET_OUTPUT, -1) == 0
    for off, on in ((lambda: pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_DISABLE, pyperf.PERF_IOC_FLAG_GROUP),
                     lambda: pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_ENABLE)),
                    (lambda: pyperf.prctl(pyperf.PR_TASK_PERF_EVENTS_DISABLE),
                     lambda: pyperf.prctl(pyperf.PR_TASK_PERF_EVENTS_ENABLE))):
        off()
        assert pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_RESET, 0) == 0
        touch()
        assert count(faults) == 0
        on()
        touch()
        assert count(faults) >= PAGES
    with pytest.raises(ValueError, match='PR_TASK_PERF_EVENTS_ENABLE'):
        pyperf.prctl(1)


@pytest.mark.live
def test_ioc_arguments(pyperf, faults):
    with open(os.devnull) as null:
        for fd, operation, argument, error, number in (
                (faults, 0x5401, 0, ValueError, None), (-1, pyperf.PERF_EVENT_IOC_ENABLE, 0, ValueError, None),
                (faults, pyperf.PERF_EVENT_IOC_PERIOD, 5, OSError, errno.EINVAL),       # a counting event
                (faults, pyperf.PERF_EVENT_IOC_PERIOD, -1, OverflowError, None),
                (faults, pyperf.PERF_EVENT_IOC_SET_FILTER, 5, TypeError, None),
                (faults, pyperf.PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0xdead, TypeError, None),
                (null, pyperf.PERF_EVENT_IOC_ENABLE, 0, OSError, errno.ENOTTY),
                (faults, pyperf.PERF_EVENT_IOC_QUERY_BPF, 0, OSError, errno.EINVAL)):   # no tracepoint
            with pytest.raises(error) as caught:
                pyperf.ioc(fd, operation, argument)
            assert number is None or caught.value.errno == number


@pytest.mark.live('tracefs')
def test_ioc_filter(pyperf):
    attr = pyperf.parse('sched:sched_switch')[0].attr
    fd = pyperf.perf_event_open(attr, -1, 0, -1, 0)
    pyperf.ioc(fd, pyperf.PERF_EVENT_IOC_SET_FILTER, 'prev_pid == 1')
    assert pyperf.ioc(fd, pyperf.PERF_EVENT_IOC_QUERY_BPF) == []
    with pytest.raises(OSError) as bare:
        pyperf.ioc(fd, pyperf.PERF_EVENT_IOC_SET_FILTER, 'nofield == 1')
    os.close(fd)
    with pyperf.Event('sched:sched_switch', -1, 0) as event:
        with pytest.raises(OSError) as own:
            event.set_filter('nofield == 1')
        assert own.value.errno == errno.EINVAL and 'prev_pid' in own.value.remedy
        with pytest.raises(OSError) as ioc:
            pyperf.ioc(event, pyperf.PERF_EVENT_IOC_SET_FILTER, 'nofield == 1')
        event.set_filter('prev_pid == 1')
    assert str(ioc.value) == str(own.value) != str(bare.value) and 'nofield' in str(own.value)


# ---------------------------------------------------------------- errors

@pytest.mark.live
@pytest.mark.parametrize('attr, flags, cause', [
    ({'pinned': 1}, 0, r'refuses pinned .*group leaders only'), ({'exclusive': 1}, 0, r'refuses exclusive .*group leaders only'),
    ({}, 'PERF_FLAG_FD_OUTPUT', 'PERF_FLAG_FD_OUTPUT: the event of group_fd needs a ring'),
    ({'type': 5, 'bp_addr': 4096, 'bp_type': 3}, None, 'bp_len = 0'), ({'type': 5, 'bp_addr': 4096, 'bp_type': 1}, None, 'bp_len = 0'),
    ({'type': 5, 'bp_addr': 1 << 63, 'bp_type': 2, 'exclude_kernel': 1}, None, 'bp_len = 0')])
def test_the_cause_of_a_refusal(pyperf, attr, flags, cause):
    with pyperf.Event('dummy', disabled=1) as leader, pytest.raises(pyperf.Error, match=cause):
        pyperf.perf_event_open(pyperf.perf_event_attr(**{'type': 1, 'config': 9, **attr}), 0, -1, -1 if flags is None else leader.fileno(),
                               getattr(pyperf, flags) if flags else 0)


@pytest.mark.live
def test_errors_are_oserrors_with_a_remedy(pyperf):
    with pytest.raises(FileNotFoundError) as caught:
        pyperf.perf_event_open(pyperf.perf_event_attr(type=4242), 0, -1)
    error = caught.value
    assert isinstance(error, pyperf.NotFoundError) and isinstance(error, pyperf.Error)
    assert error.errno == errno.ENOENT and '4242' in error.asked
    assert 'ENOENT' in error.said and error.remedy in str(error) and error.remedy
    with pytest.raises(ProcessLookupError):
        pyperf.perf_event_open(pyperf.perf_event_attr(type=1), 2**22 + 5)
    with pytest.raises(OSError, match=r'EINVAL.*pid=-1 \(all tasks\) and cpu=-1 \(all CPUs\) together'):
        pyperf.perf_event_open(pyperf.perf_event_attr(type=1), -1, -1)
    with pytest.raises(OSError, match='EBADF'):
        pyperf.perf_event_open(pyperf.perf_event_attr(type=1), 0, -1, 1000000)
    with pytest.raises(TypeError, match='perf_event_attr'):
        pyperf.perf_event_open(None)


def as_nobody(build, program):
    import shutil
    import tempfile
    with tempfile.TemporaryDirectory() as folder:       # nobody may not look into ours
        shutil.copytree(os.path.join(build, 'python/pyperf'), os.path.join(folder, 'pyperf'))
        os.chmod(folder, 0o755)
        return ran(requires.as_nobody([sys.executable, '-c', 'import pyperf\n' + program]),
                   env={**os.environ, 'PYTHONPATH': folder}, cwd='/')


@pytest.mark.live('nobody')
def test_denied_is_a_permission_error(pyperf, build):
    if not sys.executable.startswith('/usr/'):
        pytest.skip('needs a Python that nobody may run')
    if pyperf.paranoid() < 1:
        pytest.skip('needs kernel.perf_event_paranoid at 1 or above')
    done = as_nobody(build, 'try: pyperf.Event("cpu-clock", -1, 0)\n'
                            'except PermissionError as e: print(type(e).__name__, e.remedy)\n')
    assert done.stdout.startswith('DeniedError ') and 'perf_event_paranoid' in done.stdout, done


def test_own_error_has_all_attributes(pyperf):
    import pickle
    error = pickle.loads(pickle.dumps(pyperf.Error(5, 'x')))
    assert (error.errno, error.asked, error.said, error.remedy, error.at) == (5, '', '', '', None)


# ---------------------------------------------------------------- names

def test_parse(pyperf):
    one, two, three = pyperf.parse('task-clock:u,{page-faults,cpu-clock}')
    assert (one.label, one.attr.config, one.attr.exclude_kernel) == ('task-clock:u', 1, 1)
    assert (one.leader, two.leader, three.leader) == (0, 1, 1)
    assert [pyperf.label(p.attr) for p in (two, three)] == ['page-faults', 'cpu-clock']
    assert 'task-clock:u,{page-faults,cpu-clock}'[two.start:two.end] == 'page-faults'


def test_parse_tells_where(pyperf):
    with pytest.raises(pyperf.Error) as error:
        pyperf.parse('page-faults,nothing-like-it')
    assert error.value.at == 12
    for what, kind in (('page-faults\0', ValueError), (5, TypeError), (b'page-faults', TypeError), ('', pyperf.Error),
                       ('\udcff', UnicodeEncodeError)):
        with pytest.raises(kind):
            pyperf.parse(what)


def test_features(pyperf):
    rows = {row.name: row for row in pyperf.features()}
    assert len(rows) > 20
    for row in rows.values():
        assert row.what and bool(row.code) == bool(row.said)


def test_machine(pyperf):
    assert 'software' in pyperf.pmus()
    assert pyperf.max_stack() > 0 and -1 <= pyperf.paranoid() <= 4
    assert pyperf.context_name(pyperf.PERF_CONTEXT_KERNEL) == 'kernel'
    assert pyperf.context_name(5) is None
    assert pyperf.callchain_frames([pyperf.PERF_CONTEXT_KERNEL, 1, pyperf.PERF_CONTEXT_USER, 2]) == [('kernel', 1), ('user', 2)]


# ---------------------------------------------------------------- objects

UNTRIED = ('__class__', '__init__', '__new__', '__del__', '__reduce__', '__reduce_ex__', '__subclasshook__', '__init_subclass__',
           '__dir__', '__getattribute__')


def everything(o, but=UNTRIED):
    """Calls and reads all that an object has, with arguments of many kinds."""
    for name in dir(type(o)):
        if name in but:
            continue
        for args in ((), (1,), (None,), (o,), ('x',), (-1,), (2**70,), (1, 2, 3, 4)):
            try:
                member = getattr(o, name)
                if callable(member):
                    member(*args)
            except Exception as error:
                assert not isinstance(error, SystemError), (name, args, error)


def test_a_count_whose_times_lag(pyperf):
    """As a group gives it that was read without a system call, where the page has no clock."""
    with pytest.raises(pyperf.Error, match='without times'):
        pyperf.Count(5, 0, 0, 1, 0).estimate()
    assert pyperf.Count(5, 0, 0, 1, 0, stale=True).estimate() == (5, 1, True)
    assert pyperf.Count(5, 8, 4, 1, 0, stale=True).estimate() == (10, 0.5, False)


@pytest.mark.parametrize('words, options, error, said', [
    (('cpu-clock', -1, -1), {}, ValueError, 'pid -1 needs a cpu'), (('cpu-clock', -2, 0), {}, ValueError, 'pid -2'),
    (('cpu-clock', 0, -2), {}, ValueError, 'cpu -2'), (('cpu-clock',), {'cgroup': 0}, ValueError, 'cgroup'),
    (('cpu-clock', 2**40), {}, OverflowError, ''), (('page-faults',), {'sample_perid': 1}, TypeError, 'no field'),
    (('page-faults,cpu-clock',), {}, ValueError, '2 events'), ((5,), {}, TypeError, 'name or a perf_event_attr'),
    (('page-faults',), {'group': 5}, TypeError, 'expected an Event'), (('page-faults',), {'label': 5}, TypeError, 'label'),
])
def test_wrong_arguments(pyperf, words, options, error, said):
    with pytest.raises(error, match=said):
        pyperf.Event(*words, **options)


@pytest.mark.parametrize('text, at, word', [
    ('uprobe:plain@./shop0', 0, 'uprobe_path'), ('uprobe:f@shop', 0, 'uprobe_path'), ('kprobe:vfs_read', 0, 'kprobe_func'),
    ('usdt:shop:sold@./shop', 0, 'pev_attr_usdt'), ('task-clock,uretprobe:f@./x', 11, 'uprobe_path'),
    ('{task-clock, kretprobe:f}:S', 13, 'kprobe_func'),
])
def test_probes_are_not_names_here(pyperf, text, at, word):
    for function in pyperf.parse, pyperf.Event, pyperf.Group:
        with pytest.raises(pyperf.Error, match='is a probe of perf-prof') as caught:
            function(text)
        assert caught.value.at == at
        assert word in caught.value.remedy and 'perf-prof trace -e' in caught.value.remedy


@pytest.mark.parametrize('kind, fourth', [('perf_event_open', 'group_fd'), ('Event', 'cgroup'), ('Group', 'cgroup')])
def test_arguments_of_the_wrong_type(pyperf, kind, fourth):
    call, attr = getattr(pyperf, kind), pyperf.perf_event_attr(type=1, config=2)
    for name in 'pid', 'cpu', 'flags', fourth:
        with pytest.raises(TypeError, match=f"^{name} takes an integer, not '1'"):
            call(attr, **{name: '1'})
        with pytest.raises(OverflowError, match=f'^{name} takes .* to 2'):
            call(attr, **{name: 2 ** 70})
    with pytest.raises(TypeError, match='' if fourth == 'group_fd' else "no field 'sample_perid'; did you mean 'sample_period'"):
        call(attr, sample_perid=1)


def test_modifiers_that_an_object_can_not_mean(pyperf):
    with pytest.raises(ValueError, match='measure'):
        pyperf.Group('{page-faults,cpu-clock}:W')
    for make in (pyperf.Event, pyperf.Group, lambda what: pyperf.measure(what, lambda: None)):
        with pytest.raises(ValueError, match='--per-core'):
            make('msr/tsc,percore/' if os.path.exists('/sys/bus/event_source/devices/msr') else 'software/config=0,percore/')


def test_objects_whose_init_did_not_run(pyperf):
    classes = [pyperf.Event, pyperf.Group, pyperf.Ring, pyperf._pyperf._Event, pyperf._pyperf._Group, pyperf._pyperf._Ring]
    for cls in classes:
        o = cls.__new__(cls)
        assert o.closed
        repr(o)
        everything(o)
    attr = pyperf.perf_event_attr.__new__(pyperf.perf_event_attr)
    assert attr == pyperf.perf_event_attr()
    for cls in (pyperf.Record, pyperf.Sample, pyperf._pyperf._Drain):
        with pytest.raises(TypeError):
            cls()
        with pytest.raises(TypeError):
            cls.__new__(cls)


def test_attr_changed_while_it_is_opened(pyperf):
    attr = pyperf.perf_event_attr(type=1, config=2)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            attr.uprobe_path = 'x' * 100
            attr.config1 = 0
    with threads(1, change), contextlib.ExitStack() as last:
        last.callback(stop.set)
        for _ in range(300):
            with contextlib.suppress(OSError):
                pyperf.Event(attr).close()
                os.close(pyperf.perf_event_open(attr))


def test_decode_of_bad_bytes(pyperf):
    attr = pyperf.perf_event_attr(sample_type=1 << 5 | 1 << 10)      # CALLCHAIN, RAW
    good = struct.pack('IHHQQI4x', 9, 0, 32, 1, 5, 4)
    sample = pyperf.decode(good, attr)
    assert sample.callchain == (5,) and sample.raw == b'\0\0\0\0'
    for bad in (b'', good[:7], good[:-8], good[:8] + b'\xff' * 24,
                struct.pack('IHH', 9, 0, 0), struct.pack('IHH', 9, 0, 12) + b'1234',
                b'\0' * 70000):
        with pytest.raises(ValueError):
            pyperf.decode(bad, attr)
    with pytest.raises(TypeError):
        pyperf.decode('text', attr)
    with pytest.raises(TypeError):
        pyperf.decode(good, None)


def test_decode_of_random_bytes(pyperf):
    random.seed(1)
    decoded = 0
    for _ in range(20000):
        size = 8 * random.randrange(1, 40)
        attr = pyperf.perf_event_attr(sample_type=random.getrandbits(26), sample_id_all=1,
                                      read_format=random.getrandbits(5),
                                      branch_sample_type=random.getrandbits(20),
                                      sample_regs_user=random.getrandbits(random.choice((4, 64))),
                                      sample_regs_intr=random.getrandbits(4))
        body = bytes(random.choice((0, 1, 2, 255, random.getrandbits(8))) for _ in range(size - 8))
        data = struct.pack('IHH', random.randrange(25), random.getrandbits(16), size) + body
        try:
            record = pyperf.decode(data, attr)
        except ValueError:
            continue
        decoded += 1
        record.asdict(), str(record), repr(record)
        assert bytes(record) == data
    assert decoded > 1000
