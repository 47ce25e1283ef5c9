# SPDX-License-Identifier: Apache-2.0
"""pyperf's upper half: Event, Group, Ring, records, asyncio."""
import asyncio
import errno
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from frame import requires
from test_pyperf import PAGES, touch

pytestmark = pytest.mark.live


# ---------------------------------------------------------------- counting

def test_event(pyperf):
    with pyperf.Event('page-faults') as event:
        touch()
        count = event.read()
        assert PAGES <= count.value < 2 * PAGES
        assert count.time_enabled >= count.time_running > 0 and count.id == event.id
        assert count.share == 1 and count.estimate() == (count.value, 1, True) and not count.stale
        assert event.label == 'page-faults' and repr(event) == "<Event 'page-faults'>"
        assert event.attr.config == pyperf.PERF_COUNT_SW_PAGE_FAULTS
        event.disable()
        event.reset()
        touch()
        assert event.read().value == 0
        event.enable()
        touch()
        assert event.read().value >= PAGES
    assert event.closed and repr(event) == "<closed Event 'page-faults'>"


def test_event_by_attr_is_left_as_it_is(pyperf):
    attr = pyperf.perf_event_attr(type=1, config=2, sample_period=1)
    with pyperf.Event(attr) as event:
        assert event.attr.read_format == 0 and event.attr.sample_type == 0
        assert event.read().time_enabled == 0
    with pyperf.Event(attr, sample_type=pyperf.PERF_SAMPLE_IP) as event:
        assert event.attr.sample_type == pyperf.PERF_SAMPLE_IP
    assert attr.sample_type == 0


def test_targets(pyperf):
    child = subprocess.Popen([sys.executable, '-c', 'input(); bytearray(8 << 20)'], stdin=subprocess.PIPE, text=True)
    with pyperf.Event('page-faults', child.pid) as event:
        child.communicate('\n', timeout=20)
        assert event.read().value >= 2048


@pytest.mark.live('root', 'cgroup')
def test_targets_of_root(pyperf):
    with pyperf.Event('cpu-clock', -1, 0) as event:
        assert event.read().value >= 0
    with open('/proc/self/mounts') as mounts:
        _, folder = min((kind, path) for _, path, kind, options, *_ in map(str.split, mounts)
                        if kind == 'cgroup2' or kind == 'cgroup' and 'perf_event' in options.split(','))
    fd = os.open(folder, os.O_RDONLY)
    with pyperf.Event('cpu-clock', cpu=0, cgroup=fd) as event:
        assert event.read().value >= 0
    os.close(fd)


def test_group_by_hand(pyperf):
    with pyperf.Event('page-faults', disabled=1) as leader:
        member = pyperf.Event('cpu-clock', group=leader)
        touch()
        assert member.read().value == 0         # follows the leader, which is off
        leader.enable()
        touch()
        assert member.read().value > 0
        member.close()


def test_group(pyperf):
    with pyperf.Group('page-faults', 'task-clock,minor-faults') as group:
        assert len(group) == 3 and [e.label for e in group] == ['page-faults', 'task-clock', 'minor-faults']
        group.reset()
        touch()
        counts = group.read()
        assert list(counts) == ['page-faults', 'task-clock', 'minor-faults']
        assert counts['page-faults'].value == counts['minor-faults'].value >= PAGES
        with pytest.raises(pyperf.Error, match=r'counts from begin\(\): that was not called'):
            group.end()
        group.begin()
        touch(10)
        delta = group.end()
        assert 10 <= delta['page-faults'].value < 110
        assert delta['page-faults'].time_enabled < counts['page-faults'].time_enabled
        group.map_self()
        assert group.read()['page-faults'].value >= PAGES + 10
        group.disable()
        member = group[1]
        assert member.id == counts['task-clock'].id
        assert group['minor-faults'].id == counts['minor-faults'].id
        with pytest.raises(IndexError):
            group[3]
        with pytest.raises(KeyError, match='cycles: the group has page-faults, task-clock, minor-faults'):
            group['cycles']
        member.close()          # its group's
        assert not member.closed
    assert group.closed and member.closed
    with pytest.raises(ValueError):
        member.read()
    with pytest.raises(ValueError):
        group.read()
    with pytest.raises(ValueError, match='already'):
        pyperf.Event('page-faults').__init__('page-faults')


def test_refused_periods(pyperf):
    with pyperf.Event('page-faults') as counts, pyperf.Event('page-faults', sample_period=9) as samples:
        with pytest.raises(pyperf.Error, match=r'set_period\(5\) of page-faults: .*EINVAL.*does not sample; open it with'):
            counts.set_period(5)
        with pytest.raises(pyperf.Error, match=r'set_period\(0\) of page-faults: .*EINVAL.*1 or more'):
            samples.set_period(0)
        with pytest.raises(TypeError, match=r"set_period\(\) takes an integer, not '5'"):
            samples.set_period('5')
        with pytest.raises(OverflowError, match=r'set_period\(\) takes 0 to'):
            samples.set_period(-1)
        with pytest.raises(pyperf.Error, match='period of an event to 0 .*1 or more'):
            pyperf.ioc(samples, pyperf.PERF_EVENT_IOC_PERIOD, 0)
        samples.set_period(7)
    with pyperf.Event('cpu-clock:u', sample_freq=1000) as clock:
        clock.set_period(100)
        with pytest.raises(pyperf.Error, match='above kernel.perf_event_max_sample_rate'):
            clock.set_period(3_276_800_000)


def test_group_is_all_or_nothing(pyperf):
    before = len(os.listdir('/proc/self/fd'))
    with pytest.raises(pyperf.Error):
        pyperf.Group('page-faults', pyperf.perf_event_attr(type=4242))
    with pytest.raises(pyperf.Error, match='empty'):
        pyperf.Group()
    assert len(os.listdir('/proc/self/fd')) == before
    with pyperf.Group('page-faults', 'page-faults') as group:
        assert list(group.read()) == ['page-faults', 'page-faults#2']
        with pytest.raises(pyperf.Error):
            pyperf.Group('cpu-clock').end()     # no begin


# ---------------------------------------------------------------- rings and records

def faults(pyperf, **fields):
    return pyperf.Event('page-faults:u', sample_period=1, **fields)


def test_every_sample_arrives(pyperf):
    with faults(pyperf) as event, pyperf.Ring(event, pages=64) as ring:
        event.disable()
        list(ring)
        event.reset()
        event.enable()
        touch()
        event.disable()
        samples = list(ring)
        assert len(samples) == event.read().value >= PAGES
        assert all(isinstance(s, pyperf.Sample) and s.name == 'SAMPLE' for s in samples)
        assert {(s.pid, s.tid) for s in samples} == {(os.getpid(), threading.get_native_id())}
        times = [s.time for s in samples]
        assert times == sorted(times)
        assert {s.period for s in samples} == {1} and {s.id for s in samples} == {event.id}
        assert samples[0].event == 'page-faults:u' and samples[0].cpu_mode == 'user'
        assert list(ring) == [] and not ring.ready and ring.damaged == 0
        assert ring.events == (event,) and ring.size == 64 * os.sysconf('SC_PAGESIZE')
    # records outlive all of it
    assert samples[5].ip and 'SAMPLE' in str(samples[5]) and samples[5].asdict()['period'] == 1


def test_missing_field_says_what_would_help(pyperf):
    with faults(pyperf, comm=1) as event, pyperf.Ring(event) as ring:
        touch(1)
        sample = next(iter(ring))
        assert not hasattr(sample, 'addr')
        with pytest.raises(AttributeError, match='PERF_SAMPLE_ADDR'):
            sample.addr
        with pytest.raises(AttributeError):
            sample.nothing
        with pytest.raises(AttributeError):
            sample.ip = 5


@pytest.mark.parametrize('bits, each', [((), 10), (('IP', 'PERIOD'), 1)])
def test_one_hit_in_a_period_is_sampled(pyperf, bits, each):
    """The kernel samples each hit if samples have their period."""
    fields = {'sample_type': sum(getattr(pyperf, f'PERF_SAMPLE_{bit}') for bit in bits)} if bits else {}
    with pyperf.Event('page-faults:u', sample_period=10, disabled=1, **fields) as event, pyperf.Ring(event, pages=64) as ring:
        event.enable()      # the ring is there for the first fault
        touch()
        event.disable()
        samples = [r for r in ring if isinstance(r, pyperf.Sample)]
        assert len(samples) == event.read().value // each >= PAGES // each
        assert {getattr(s, 'period', None) for s in samples} == ({1} if bits else {None})


def test_sample_fields(pyperf):
    kinds = ('IP', 'TID', 'TIME', 'ADDR', 'READ', 'CALLCHAIN', 'ID', 'CPU', 'PERIOD', 'STREAM_ID',
             'IDENTIFIER', 'REGS_USER', 'STACK_USER', 'WEIGHT', 'DATA_SRC', 'TRANSACTION')
    sample_type = sum(getattr(pyperf, f'PERF_SAMPLE_{kind}') for kind in kinds)
    fields = {'sample_type': sample_type, 'sample_regs_user': 0xff, 'sample_stack_user': 512, 'read_format': pyperf.PERF_FORMAT_ID}
    with faults(pyperf, **fields) as event, pyperf.Ring(event) as ring:
        import ctypes
        import mmap
        with mmap.mmap(-1, mmap.PAGESIZE) as memory:
            first = ctypes.c_char.from_buffer(memory)
            address = ctypes.addressof(first)
            memory[0] = 1
            del first
        sample = next(s for s in ring if s.name == 'SAMPLE' and s.addr == address)
        number = event.id
    assert sample.read[0][0] >= 1 and sample.read[0][3] == number
    frames = pyperf.callchain_frames(sample.callchain)
    assert frames and ('user', sample.ip) in frames
    assert len(sample.regs_user) == 8 and len(sample.stack) <= 512
    assert sample.weight == 0 and sample.transaction == 0 and sample.data_src_text
    assert sample.stream_id == sample.id == number
    assert set(sample.asdict()) > {'addr', 'callchain', 'stack', 'cpu'}
    assert pyperf.decode(bytes(sample), pyperf.perf_event_attr(**fields)).addr == sample.addr


def test_records_of_a_child(pyperf):
    """Which execs and ends."""
    child = subprocess.Popen([sys.executable, '-c', 'import os, time; input(); time.sleep(0.01); os.execvp("true", ["true"])'],
                             stdin=subprocess.PIPE, text=True)
    sample_type = pyperf.PERF_SAMPLE_TID | pyperf.PERF_SAMPLE_TIME | pyperf.PERF_SAMPLE_CPU
    with pyperf.Event('dummy', child.pid, sample_id_all=1, sample_type=sample_type, comm=1, comm_exec=1, task=1, mmap=1, mmap2=1,
                      context_switch=1) as event, pyperf.Ring(event) as ring:
        child.communicate('\n', timeout=20)
        records = list(ring.follow(20))
        with pytest.raises(ProcessLookupError):
            ring.wait(1)
    comm = next(r for r in records if isinstance(r, pyperf.Comm))
    assert (comm.comm, comm.exec, comm.pid, comm.type) == ('true', True, child.pid, pyperf.PERF_RECORD_COMM)
    mapped = [r for r in records if isinstance(r, pyperf.Mmap)]
    assert any('libc' in r.filename and r.prot & 4 for r in mapped) and mapped[0].name == 'MMAP2'
    end = next(r for r in records if r.name == 'EXIT')
    assert isinstance(end, pyperf.Task) and end.pid == child.pid and end.time > comm.time
    assert any(isinstance(r, pyperf.Switch) for r in records)
    assert all(r.cpu in range(os.cpu_count() + 64) for r in records)


def test_names_that_are_no_utf8(pyperf):
    import ctypes
    libc = ctypes.CDLL(None)
    with pyperf.Event('dummy', comm=1) as event, pyperf.Ring(event) as ring:
        with open('/proc/self/comm', 'rb') as f:
            old = f.read().rstrip(b'\n')
        libc.prctl(15, b'\xff\x1bx')
        libc.prctl(15, old)
        record = next(r for r in ring)
    assert record.comm == '\udcff\x1bx' and '\x1b' not in str(record)


def test_shared_ring(pyperf):
    first = faults(pyperf, sample_id_all=1)
    second = pyperf.Event('dummy', comm=1, sample_id_all=1, sample_type=first.attr.sample_type)
    with first, second, pyperf.Ring(first, second) as ring:
        touch(5)
        with open('/proc/self/comm', 'r+') as f:
            f.write(f.read().strip())
        by_name = {}
        for record in ring:
            by_name.setdefault(record.event, set()).add(record.name)
    assert by_name == {'page-faults:u': {'SAMPLE'}, 'dummy': {'COMM'}}


def test_shared_ring_of_different_layouts(pyperf):
    plain, other = pyperf.PERF_SAMPLE_IP, pyperf.PERF_SAMPLE_IP | pyperf.PERF_SAMPLE_TIME
    first, second = (faults(pyperf, sample_type=t) for t in (plain, other))
    with pytest.raises(ValueError, match='PERF_SAMPLE_IDENTIFIER'):
        pyperf.Ring(first, second)
    identified = pyperf.PERF_SAMPLE_IDENTIFIER
    # Two events: to two of the same software event, Linux 6.18 gives the first one's id.
    first, second = (pyperf.Event(event, sample_period=1, sample_id_all=1, label=name,
                                  sample_type=t | identified)
                     for event, t, name in (('page-faults:u', plain, 'a'),
                                            ('minor-faults:u', other, 'b')))
    with pyperf.Ring(first, second) as ring:
        touch(20)
        records = list(ring)
    assert {hasattr(r, 'time') for r in records if r.event == 'a'} == {False}
    assert {hasattr(r, 'time') for r in records if r.event == 'b'} == {True}


def test_shared_ring_of_equal_layouts(pyperf):
    """The id is in each sample with IDENTIFIER, whether or not other records have one."""
    plain = pyperf.PERF_SAMPLE_TID | pyperf.PERF_SAMPLE_TIME
    for bit in pyperf.PERF_SAMPLE_IDENTIFIER, pyperf.PERF_SAMPLE_ID:
        events = [pyperf.Event(name, sample_period=1, sample_type=plain | bit, comm=name == 'page-faults:u')
                  for name in ('page-faults:u', 'minor-faults:u')]
        with events[0], events[1], pyperf.Ring(*events) as ring:
            labels = {event.id: event.label for event in events}
            touch(20)
            with open('/proc/self/comm', 'r+') as f:
                f.write(f.read().strip())
            records = list(ring)
        names = {record.id: record.event for record in records if record.name == 'SAMPLE'}
        assert names == labels
        assert {record.event for record in records if record.name == 'COMM'} == {''}   # it has no id


def test_shared_ring_without_ids(pyperf):
    plain = pyperf.PERF_SAMPLE_TID | pyperf.PERF_SAMPLE_TIME
    first, second = (pyperf.Event(name, sample_period=1, sample_type=plain) for name in ('page-faults:u', 'minor-faults:u'))
    with first, second:
        with pytest.raises(ValueError, match='add PERF_SAMPLE_IDENTIFIER to sample_type'):
            pyperf.Ring(first, second)
        with pyperf.Ring(first):
            pass


@pytest.mark.parametrize('bits, said', [('TIME', None), ('TIME|TID', 'name all of its events')])
def test_records_put_into_a_ring(pyperf, bits, said):
    first, second = (pyperf.Event('page-faults:u', sample_period=1, disabled=i, sample_type=t) for i, t in enumerate(
        (pyperf.PERF_SAMPLE_TIME, sum(getattr(pyperf, 'PERF_SAMPLE_' + bit) for bit in bits.split('|')))))
    with first, second, pyperf.Ring(first) as ring:
        second.set_output(first)
        second.enable()
        touch(5)
        if said:
            with pytest.raises(ValueError, match=said):
                list(ring)
        else:
            assert {record.name for record in ring} == {'SAMPLE'}


def test_what_was_lost_is_in_records_and_counts(pyperf):
    (one,) = pyperf.parse('page-faults:u')
    for what in 'page-faults:u', one:
        with pyperf.Event(what, sample_period=1, disabled=1) as event, pyperf.Ring(event, pages=1) as ring:
            event.enable()      # before the ring was there, faults would have been counted only
            touch()
            got = sum(isinstance(r, pyperf.Sample) for r in ring)
            touch(10)           # a LOST record comes with the next that finds room
            event.disable()
            records = list(ring)
            lost = sum(r.lost for r in records if isinstance(r, pyperf.Lost))
            got += sum(isinstance(r, pyperf.Sample) for r in records)
            count = event.read()
            assert lost > 0 and got + lost == count.value and count.time_enabled
            assert count.lost in (lost, None)    # None: before Linux 6.0
    for what, lost in ('page-faults:u', 0), (pyperf.perf_event_attr(type=1, config=2, sample_period=1), None):
        with pyperf.Event(what) as event:
            assert event.read().lost in (lost, None)


def test_overwrite_ring(pyperf):
    with faults(pyperf, write_backward=1) as event, pyperf.Ring(event, pages=1, overwrite=True) as ring:
        touch()
        samples = [r for r in ring if r.name == 'SAMPLE']
        times = [s.time for s in samples]
        assert len(times) > 20 and times == sorted(times, reverse=True)
        touch(3)
        assert max(r.time for r in ring if r.name == 'SAMPLE') > times[0]
    with faults(pyperf) as event, pytest.raises(pyperf.Error, match='write_backward'):
        pyperf.Ring(event, overwrite=True)


def test_ring_arguments(pyperf):
    with faults(pyperf) as event, pyperf.Ring(event) as open_ring:
        for wrong, error, said in (
                (lambda: pyperf.Ring(event, pages=3), pyperf.Error, ''), (lambda: pyperf.Ring(event, pages=-1), ValueError, '-1'),
                (pyperf.Ring, TypeError, ''), (lambda: pyperf.Ring(event, 5), TypeError, ''),
                (lambda: open_ring.__init__(event), ValueError, ''), (lambda: open_ring.wait(-1), ValueError, ''),
                (lambda: open_ring.wait(float('nan')), ValueError, ''), (lambda: open_ring.wait('x'), TypeError, '')):
            with pytest.raises(error, match=said):
                wrong()


# ---------------------------------------------------------------- waiting

def test_wait(pyperf):
    with faults(pyperf, wakeup_events=1) as event, pyperf.Ring(event) as ring:
        event.disable()
        list(ring)
        start = time.monotonic()
        assert ring.wait(0.05) is False and ring.wait(0) is False
        assert 0.04 < time.monotonic() - start < 5
        event.enable()
        touch(1)
        assert ring.wait(10) is True and ring.ready


def test_wait_is_interrupted(pyperf):
    """A handler that raises ends the wait; one that doesn't, not (PEP 475)."""
    def raise_it(*_):
        raise KeyError
    old = signal.signal(signal.SIGALRM, raise_it)
    try:
        with pyperf.Event('dummy', wakeup_events=1) as event, pyperf.Ring(event) as ring:
            with pytest.raises(KeyError):
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                ring.wait(20)
            signal.signal(signal.SIGALRM, lambda *_: None)
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            start = time.monotonic()
            assert ring.wait(0.2) is False
            assert time.monotonic() - start > 0.15
    finally:
        signal.signal(signal.SIGALRM, old)


def test_close_wakes_a_waiting_thread(pyperf):
    event = pyperf.Event('dummy', wakeup_events=1)
    ring = pyperf.Ring(event)
    said = []

    def wait():
        try:
            ring.wait()
        except ValueError as error:
            said.append(str(error))
    thread = threading.Thread(target=wait)
    thread.start()
    end = time.monotonic() + 5      # else it closes before the wait, which is right, too
    while 'poll' not in (where := stack_of(thread.native_id)) and where and time.monotonic() < end:
        pass
    ring.close()
    thread.join(20)
    assert not thread.is_alive() and said == ['the ring is closed'] and ring.closed
    event.close()
    assert event.closed


def stack_of(tid):
    """Where the kernel has a thread ("do_poll…"); "" where it doesn't say."""
    try:
        with open(f'/proc/self/task/{tid}/wchan') as f:
            text = f.read()
        return '' if text == '0' and not requires.has_capability(21) else text
    except OSError:
        return ''


def test_asyncio(pyperf):
    async def follow(child, ring, seen):
        async for record in ring:
            seen.append(record.name)

    async def main():
        child = await asyncio.create_subprocess_exec(
            sys.executable, '-c', 'input(); import os; os.execvp("true", ["true"])',
            stdin=asyncio.subprocess.PIPE)
        event = pyperf.Event('dummy', child.pid, comm=1, task=1, watermark=1, wakeup_watermark=1)
        seen = []
        with event, pyperf.Ring(event) as ring:
            task = asyncio.create_task(follow(child, ring, seen))
            await asyncio.sleep(0)
            child.stdin.write(b'\n')
            await asyncio.wait_for(asyncio.gather(child.wait(), task), 20)
        return seen

    seen = asyncio.run(main())
    assert 'COMM' in seen and seen[-1] == 'EXIT'


def test_asyncio_readers_of_a_ring_that_is_closed(pyperf):
    """All who wait are woken, by a record as by close(), and nothing of it stays in the loop."""
    async def read(ring, seen):
        async for record in ring:
            seen.append(record.name)
            await asyncio.sleep(0)

    async def until(true, *tasks):
        while not true():
            for task in tasks:
                assert not task.done(), task
            await asyncio.sleep(0)

    async def main():
        seen, event = [], faults(pyperf, wakeup_events=1, disabled=1)     # the loop's own faults would keep it going
        ring = pyperf.Ring(event)
        tasks = [asyncio.create_task(read(ring, seen)) for _ in range(2)]
        await until(lambda: ring._sleepers, *tasks)
        event.enable()
        touch(3)
        event.disable()
        await until(lambda: len(seen) >= 3, *tasks)
        await until(lambda: sum(map(len, ring._sleepers.values())) == 2, *tasks)
        ring.close()
        event.close()
        for done in await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10):
            assert isinstance(done, ValueError), done
        with faults(pyperf, wakeup_events=1, disabled=1) as event, pyperf.Ring(event) as ring:
            task = asyncio.create_task(read(ring, seen))    # the same descriptor, most likely
            await until(lambda: ring._sleepers, task)
        await asyncio.wait([task], timeout=10)
        assert isinstance(task.exception(), ValueError)

    asyncio.run(asyncio.wait_for(main(), 20))


@pytest.mark.live('tracefs')
def test_tracepoint(pyperf):
    with pyperf.Event('syscalls:sys_enter_getppid', sample_period=1) as event, pyperf.Ring(event) as ring:
        for _ in range(3):
            os.getppid()
        event.disable()
        samples = list(ring)
        assert event.read().value == len(samples) == 3 and samples[0].raw


def test_breakpoint(pyperf):
    import ctypes
    word = ctypes.c_uint64(0)
    try:
        event = pyperf.Event(f'mem:{ctypes.addressof(word):#x}/8:w', exclude_kernel=1)
    except pyperf.Error as error:
        pytest.skip(f'needs breakpoints ({error.said})')
    with event:
        for _ in range(5):
            word.value += 1
        assert event.read().value == 5
        attr = event.attr
        attr.disabled = 1
        event.modify(attr)
        word.value += 1
        assert event.read().value == 5


@pytest.mark.live('root')
def test_uprobe(pyperf):
    """The attr that an event gives back points to text that is still there."""
    path = os.path.realpath('/bin/true')
    try:
        with open('/sys/bus/event_source/devices/uprobe/type') as f:
            attr = pyperf.perf_event_attr(type=int(f.read()), uprobe_path=path, probe_offset=0x1000)
        event = pyperf.Event(attr)
    except OSError as error:
        pytest.skip(f'needs uprobes ({error})')
    with event:
        del attr
        again = event.attr
    gc.collect()
    with pyperf.Event(again):
        pass
    with pyperf.Group(again, 'dummy') as group:
        again = group[0].attr
    del group
    gc.collect()
    import ctypes
    assert ctypes.string_at(again.uprobe_path) == path.encode()


# ---------------------------------------------------------------- modifiers of lists

def test_a_counting_group_asks_for_no_precision(pyperf):
    """:P and :S are about samples: where nothing samples they change nothing, as in perf."""
    with pyperf.Group('{page-faults,cpu-clock}:PS') as group:
        assert [event.attr.precise_ip for event in group] == [0, 0]
        assert not group[0].attr.sample_type & pyperf.PERF_SAMPLE_READ
        touch(3)
        assert group.read()['page-faults:P'].value >= 3
    with pyperf.measure('{page-faults,cpu-clock}:P') as counts:
        touch(3)
    assert counts['page-faults:P'].value >= 3


def test_precision_is_tried_for_all_of_a_group_that_samples(pyperf):
    attrs = [pyperf.perf_event_attr(sample_period=1), pyperf.perf_event_attr()]
    tried = []

    def opened():
        tried.append([attr.precise_ip for attr in attrs])
        if attrs[0].precise_ip > 1:
            raise pyperf.Error(errno.EOPNOTSUPP, 'no')
    pyperf._open_precisely(attrs, opened)
    assert tried == [[3, 3], [2, 2], [1, 1]]
    with pyperf.Group('{page-faults:u,dummy:u}:P', sample_period=1) as group:
        assert [event.attr.precise_ip for event in group] in ([3, 3], [0, 0])


def test_a_leader_that_samples_reads_its_group(pyperf):
    with pyperf.Group('{page-faults:u,dummy:u}:S', sample_period=1) as group:
        assert [event.attr.sample_period for event in group] == [1, 0]
        assert group[0].attr.sample_type & pyperf.PERF_SAMPLE_READ
        with pyperf.Ring(group[0]) as ring:
            touch(3)
            samples = [r for r in ring if r.type == pyperf.PERF_RECORD_SAMPLE]
    assert len(samples) >= 3
    assert all(len(sample.read) == 2 for sample in samples)


def test_a_weak_group_that_does_not_fit_is_broken_up(pyperf, monkeypatch):
    real, groups = pyperf.Group, []

    def group(*members, **options):
        groups.append([one.label for one in members])
        if len(members) > 2:
            raise pyperf.Error(errno.EINVAL, 'does not fit')
        return real(*members, **options)
    monkeypatch.setattr(pyperf, 'Group', group)
    names = ['page-faults', 'cpu-clock', 'context-switches']
    with pyperf.measure('{page-faults,cpu-clock,context-switches}:W') as counts:
        touch(3)
    assert groups == [names, *([name] for name in names)]
    assert list(counts) == names and counts['page-faults'].value >= 3
    with pytest.raises(pyperf.Error, match='does not fit'):
        with pyperf.measure('{page-faults,cpu-clock,context-switches}'):
            pass


# ---------------------------------------------------------------- AUX area

def test_an_event_that_traces_nothing_has_no_aux_area(pyperf):
    with pyperf.Event('page-faults:u', sample_period=1) as event:
        for options, error, said in (
                ({'aux_pages': 4}, pyperf.Error, 'intel_pt, arm_spe and cs_etm do'),
                ({'aux_pages': 4, 'aux_snapshot': True}, pyperf.Error, 'intel_pt, arm_spe and cs_etm do'),
                ({'aux_pages': 3}, pyperf.Error, '3 is not a power of two'), ({'aux_pages': -1}, ValueError, 'not -1'),
                ({'aux_pages': 2**31}, ValueError, f'not {2**31}'), ({'aux_pages': 4, 'overwrite': True}, ValueError, 'overwrite')):
            with pytest.raises(error, match=said):
                pyperf.Ring(event, **options)
        with pyperf.Ring(event) as ring:      # all that was refused left nothing behind
            assert ring.aux_size == 0
            with pytest.raises(ValueError, match='aux_pages=N'):
                ring.aux_read()
            touch(3)
            assert list(ring.aux_chunks()) == []
        with pytest.raises(ValueError, match='closed'):
            ring.aux_read()
