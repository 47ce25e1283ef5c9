# SPDX-License-Identifier: Apache-2.0
"""pyperf's lower half: constants, perf_event_attr, the system call, ioctl, prctl, names."""
import copy
import errno
import gc
import os
import re
import struct
import subprocess
import sys
import time

import pytest

from frame import requires

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
        text = text.replace('PERF_TYPE_HARDWARE', 'PERF_TYPE_SOFTWARE')
        text = text.replace('PERF_COUNT_HW_CPU_CYCLES', event)

    class FakeTime:
        pass
    FakeTime.sleep = staticmethod(lambda seconds: sleep())
    names = {'pyperf': pyperf, 'os': os, 'struct': struct, 'time': FakeTime, 'flag': 0}
    exec(text, names)
    os.close(names['fd'])
    return names['value']


# ---------------------------------------------------------------- the program of the blog

def test_blog_as_printed(pyperf):
    reason = requires.why_not('pmu')
    if reason:
        pytest.skip(reason)
    assert blog(pyperf, None, lambda: sum(range(1000000))) > 1000000


def test_blog_counts(pyperf):
    touch(1)
    assert PAGES <= blog(pyperf, 'PERF_COUNT_SW_PAGE_FAULTS', touch) < PAGES + 100


def test_blog_sleeps(pyperf):
    """Where it does sleep a second, that is a context switch or two, and no CPU time."""
    start = time.thread_time_ns()
    assert 1 <= blog(pyperf, 'PERF_COUNT_SW_CONTEXT_SWITCHES', lambda: time.sleep(1)) < 50
    used = blog(pyperf, 'PERF_COUNT_SW_TASK_CLOCK', lambda: time.sleep(0.2))
    assert used < time.thread_time_ns() - start + 10**7


def test_blog_inherits(pyperf):
    counted = blog(pyperf, 'PERF_COUNT_SW_PAGE_FAULTS', lambda: in_child(touch))
    assert counted >= PAGES


def test_blog_whole_program(build, pyperf):
    program = 'import os, struct, time, pyperf\nflag = 0\n' + BLOG + 'print(value)\n'
    program = program.replace('PERF_TYPE_HARDWARE', 'PERF_TYPE_SOFTWARE')
    program = program.replace('PERF_COUNT_HW_CPU_CYCLES', 'PERF_COUNT_SW_TASK_CLOCK')
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': os.path.join(build, 'python')})
    assert done.returncode == 0, done.stderr
    assert 0 < int(done.stdout) < 5 * 10**8      # ns on a CPU, while it slept a second


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
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
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


def test_defaults(pyperf):
    attr = pyperf.perf_event_attr()
    assert attr.size == 128
    assert {n: v for n, v in attr.asdict().items() if v} == {'size': 128}


def test_keywords_and_repr(pyperf):
    attr = pyperf.perf_event_attr(type=1, config=2, inherit=True, clockid=-3, sample_freq=99, freq=1)
    assert (attr.type, attr.config, attr.inherit, attr.clockid) == (1, 2, 1, -3)
    assert attr.sample_period == 99          # a union
    again = eval(repr(attr), {'perf_event_attr': pyperf.perf_event_attr})
    assert again == attr and again is not attr
    assert repr(pyperf.perf_event_attr()) == 'perf_event_attr(type=0)'


def test_bits_stand_where_the_kernel_reads_them(pyperf):
    attr = pyperf.perf_event_attr(disabled=1, exclude_kernel=1, precise_ip=3, sigtrap=1)
    flags = struct.unpack_from('Q', bytes(attr), 40)[0]
    assert flags == 1 | 1 << 5 | 3 << 15 | 1 << 37


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


@pytest.mark.parametrize('value', [-1, 2**64, 10**30, -10**30])
def test_out_of_range(pyperf, value):
    attr = pyperf.perf_event_attr()
    for name in ('type', 'config', 'inherit', 'precise_ip', 'sample_max_stack', 'size'):
        with pytest.raises(OverflowError, match=name):
            setattr(attr, name, value)
    assert attr == pyperf.perf_event_attr()


@pytest.mark.parametrize('value', [None, 'x', 1.5, [], object()])
def test_not_a_number(pyperf, value):
    attr = pyperf.perf_event_attr()
    with pytest.raises(TypeError, match='config'):
        attr.config = value


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


def test_descriptor_is_not_inherited(faults):
    assert not os.get_inheritable(faults)


def test_ioc(pyperf, faults):
    touch()
    assert count(faults) >= PAGES
    assert pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_DISABLE, 0) == 0
    assert pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_RESET, 0) == 0
    touch()
    assert count(faults) == 0
    pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_ENABLE)
    touch()
    assert count(faults) >= PAGES
    assert pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_ID) > 0


def test_ioc_arguments(pyperf, faults):
    ioc = pyperf.ioc
    with pytest.raises(ValueError, match='not a PERF_EVENT_IOC_'):
        ioc(faults, 0x5401, 0)
    with pytest.raises(OSError) as error:
        ioc(faults, pyperf.PERF_EVENT_IOC_PERIOD, 5)       # a counting event
    assert error.value.errno == errno.EINVAL
    with pytest.raises(OverflowError):
        ioc(faults, pyperf.PERF_EVENT_IOC_PERIOD, -1)
    with pytest.raises(TypeError):
        ioc(faults, pyperf.PERF_EVENT_IOC_SET_FILTER, 5)
    with pytest.raises(TypeError):
        ioc(faults, pyperf.PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0xdead)
    with pytest.raises(ValueError):
        ioc(-1, pyperf.PERF_EVENT_IOC_ENABLE, 0)
    with open(os.devnull) as null, pytest.raises(OSError) as error:
        ioc(null, pyperf.PERF_EVENT_IOC_ENABLE, 0)
    assert error.value.errno == errno.ENOTTY
    with pytest.raises(OSError) as error:
        ioc(faults, pyperf.PERF_EVENT_IOC_QUERY_BPF)       # no tracepoint
    assert error.value.errno == errno.EINVAL


def test_ioc_group_and_output(pyperf, faults):
    attr = pyperf.perf_event_attr(type=1, config=5)
    member = pyperf.perf_event_open(attr, 0, -1, faults, 0)
    pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_DISABLE, pyperf.PERF_IOC_FLAG_GROUP)
    pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_RESET, pyperf.PERF_IOC_FLAG_GROUP)
    touch()
    assert count(faults) == count(member) == 0
    pyperf.ioc(member, pyperf.PERF_EVENT_IOC_SET_OUTPUT, -1)
    os.close(member)


def test_ioc_filter(pyperf):
    reason = requires.why_not('tracefs')
    if reason:
        pytest.skip(reason)
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
        with pytest.raises(OSError) as ioc:
            pyperf.ioc(event, pyperf.PERF_EVENT_IOC_SET_FILTER, 'nofield == 1')
    assert str(ioc.value) == str(own.value) != str(bare.value) and 'nofield' in str(own.value)


def test_prctl(pyperf, faults):
    pyperf.prctl(pyperf.PR_TASK_PERF_EVENTS_DISABLE)
    pyperf.ioc(faults, pyperf.PERF_EVENT_IOC_RESET, 0)
    touch()
    assert count(faults) == 0
    pyperf.prctl(pyperf.PR_TASK_PERF_EVENTS_ENABLE)
    touch()
    assert count(faults) >= PAGES
    with pytest.raises(ValueError, match='PR_TASK_PERF_EVENTS_ENABLE'):
        pyperf.prctl(1)


# ---------------------------------------------------------------- errors

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
        return subprocess.run(requires.as_nobody([sys.executable, '-c', 'import pyperf\n' + program]),
                              env={**os.environ, 'PYTHONPATH': folder}, cwd='/',
                              capture_output=True, text=True)


def test_denied_is_a_permission_error(pyperf, build):
    reason = requires.why_not('nobody')
    if reason:
        pytest.skip(reason)
    if not sys.executable.startswith('/usr/'):
        pytest.skip('needs a Python that nobody may run')
    if pyperf.paranoid() < 1:
        pytest.skip('needs kernel.perf_event_paranoid at 1 or above')
    done = as_nobody(build, 'try: pyperf.Event("cpu-clock", -1, 0)\n'
                            'except PermissionError as e: print(type(e).__name__, e.remedy)\n')
    assert done.stdout.startswith('DeniedError ') and 'perf_event_paranoid' in done.stdout, done


def test_denied_offers_user_space_where_that_would_do(pyperf, build):
    reason = requires.why_not('nobody')
    if reason or pyperf.paranoid() != 2 or not sys.executable.startswith('/usr/'):
        pytest.skip(reason or 'needs kernel.perf_event_paranoid at 2, a Python that nobody may run')
    done = as_nobody(build, 'for what in "page-faults", "cycles", "page-faults:k":\n'
                            '    try:\n'
                            '        with pyperf.measure(what): pass\n'
                            '    except PermissionError as e: print(e.remedy)\n'
                            '    except FileNotFoundError: print("there is no such counter")\n'
                            'with pyperf.measure("task-clock:u,page-faults:u") as counts:\n'
                            '    data = bytearray(64 << 20)\n'
                            'print(counts["page-faults:u"].value > 0)\n')
    lines = done.stdout.splitlines()
    assert len(lines) == 4, done
    assert lines[0].startswith('user space only needs no privilege: page-faults:u '), done
    assert 'user space only' not in lines[2] and lines[3] == 'True', done


@pytest.mark.parametrize('pmu, capability', [('uprobe', 'CAP_SYS_ADMIN'), ('kprobe', 'CAP_PERFMON')])
def test_a_denied_probe_asks_for_no_level(pyperf, build, pmu, capability):
    """No value of kernel.perf_event_paranoid opens one."""
    reason = requires.why_not('nobody')
    if reason or not sys.executable.startswith('/usr/') or not os.path.exists(f'/sys/bus/event_source/devices/{pmu}'):
        pytest.skip(reason or f'needs the PMU {pmu}, a Python that nobody may run')
    done = as_nobody(build, f'kind = int(open("/sys/bus/event_source/devices/{pmu}/type").read())\n'
                            'attr = pyperf.perf_event_attr(type=kind, uprobe_path="/bin/true", probe_offset=0x1000)\n'
                            'try: pyperf.Event(attr)\n'
                            'except PermissionError as e: print(e.remedy)\n')
    assert capability in done.stdout and 'paranoid' not in done.stdout, done


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
    with pytest.raises(ValueError, match='NUL'):
        pyperf.parse('page-faults\0')
    with pytest.raises(TypeError):
        pyperf.parse(5)
    with pytest.raises(pyperf.Error):
        pyperf.parse('')
    with pytest.raises(UnicodeEncodeError):
        pyperf.parse('\udcff')


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
    assert pyperf.callchain_frames([pyperf.PERF_CONTEXT_KERNEL, 1, pyperf.PERF_CONTEXT_USER, 2]) == [
        ('kernel', 1), ('user', 2)]


@pytest.mark.parametrize('arguments, words', [
    ((-1, -1, -1, 0), ['pid=-1', 'cpu=-1', 'give a cpu']), ((0, -1, -1, 0x1000), ['flags=0x1000', 'PERF_FLAG_FD_NO_GROUP']),
    ((-7, -1, -1, 0), ['pid=-7', 'no such pid']), ((0, -7, -1, 0), ['cpu=-7', 'no such cpu']),
    ((0, -1, 2 ** 30, 0), ['group_fd=1073741824', 'descriptor']), ((0, -1, -1, 4), ['flags=0x4', 'PERF_FLAG_PID_CGROUP', 'cpu']),
])
def test_refused_arguments_have_names(pyperf, arguments, words):
    with pytest.raises(pyperf.Error) as caught:
        pyperf.perf_event_open(pyperf.perf_event_attr(type=1, config=2), *arguments)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize('name', ['pid', 'cpu', 'group_fd', 'flags'])
def test_arguments_of_the_wrong_type(pyperf, name):
    attr = pyperf.perf_event_attr(type=1, config=2)
    with pytest.raises(TypeError, match=f"^{name} takes an integer, not '1'"):
        pyperf.perf_event_open(attr, **{name: '1'})
    with pytest.raises(OverflowError, match=f'^{name} takes .* to 2'):
        pyperf.perf_event_open(attr, **{name: 2 ** 70})
