# SPDX-License-Identifier: Apache-2.0
"""pyperf in bad hands: closed and half-made objects, descriptors that go away, fork, threads,
interpreters, bytes that are no records. Nothing may crash; much of it runs under ASan, too."""
import contextlib
import ctypes
import errno
import gc
import os
import random
import resource
import sys
import weakref

import pytest

from frame.session import ran
from test_pyperf import UNTRIED, everything, in_child, threads, touch

pytestmark = pytest.mark.live


def faults(pyperf, **fields):
    return pyperf.Event('page-faults:u', sample_period=1, **fields)


# ---------------------------------------------------------------- closed and half-made

def test_closed_objects(pyperf):
    event = faults(pyperf)
    ring = pyperf.Ring(event)
    group = pyperf.Group('page-faults', 'cpu-clock')
    member = group[0]
    touch(3)
    drain = iter(ring)
    next(drain)
    for o in (ring, event, group):
        o.close()
        o.close()
    with pytest.raises(ValueError, match='closed'):
        next(drain)
    for o in (ring, event, group, member):
        assert o.closed
        everything(o)
    for call in (event.read, event.enable, event.fileno, ring.wait, ring.fileno, group.read,
                 member.read, event.__enter__, lambda: iter(ring), lambda: len(group),
                 lambda: pyperf.Ring(event), lambda: event.id, lambda: ring.size):
        with pytest.raises(ValueError, match='closed'):
            call()


def test_open_objects_with_odd_arguments(pyperf):
    event = faults(pyperf)
    with event, pyperf.Ring(event) as ring, pyperf.Group('cpu-clock', 'dummy') as group:
        touch(2)
        for o in (next(iter(ring)), pyperf.perf_event_attr()):
            everything(o)
        for o in (event, ring, group):
            everything(o, {*UNTRIED, '__exit__', 'wait', 'close', 'follow', 'signal', 'result'})


def test_descriptor_closed_behind_our_back(pyperf):
    event = faults(pyperf)
    ring = pyperf.Ring(event)
    os.close(event.fileno())
    with pytest.raises(OSError) as error:
        event.read()
    assert error.value.errno == errno.EBADF
    with pytest.raises(OSError):
        event.id
    list(ring)                  # the mapping is still there
    ring.close()
    event.close()


def test_event_stays_for_its_ring(pyperf):
    event = faults(pyperf, wakeup_events=1)
    ring = pyperf.Ring(event)
    touch(5)
    event.close()
    assert event.closed and len(list(ring)) >= 5
    touch(5)
    assert list(ring) == []     # it counts no more
    fd = ring.fileno()
    os.fstat(fd)
    ring.close()
    with pytest.raises(OSError):
        os.fstat(fd)


def test_members_keep_their_group(pyperf):
    group = pyperf.Group('page-faults', 'cpu-clock')
    member, gone = group[0], weakref.ref(group)
    del group
    gc.collect()
    touch(5)
    assert member.read().value >= 5
    ring = pyperf.Ring(pyperf.Group(pyperf.perf_event_attr(type=1, config=2, sample_period=1, sample_type=1, exclude_kernel=1))[0])
    touch(5)
    assert len(list(ring)) >= 5
    del member, ring
    gc.collect()
    assert gone() is None


def test_cycles_are_collected(pyperf):
    gc.collect()
    before = len(os.listdir('/proc/self/fd'))
    for _ in range(20):
        event = faults(pyperf)
        ring = pyperf.Ring(event, pages=1)
        touch(2)
        event.ring, event.records, event.drain = ring, list(ring), iter(ring)
        ring.me = ring
    del event, ring
    gc.collect()
    assert len(os.listdir('/proc/self/fd')) == before


def test_leaks(pyperf):
    """Opening and dropping a thousand times takes no memory and no descriptor."""
    def once():
        attr = pyperf.perf_event_attr(type=1, config=2, uprobe_path='/x')
        attr.config1 = 0
        with pyperf.Event(attr, sample_period=1, sample_type=1) as event, pyperf.Ring(event, pages=1) as ring:
            [r.asdict() for r in ring]
        with pyperf.Group('page-faults', 'cpu-clock') as group:
            group.read()
            list(group)
        for bad in ('nothing-like-it', '{'):
            with contextlib.suppress(OSError):
                pyperf.parse(bad)
        with contextlib.suppress(OSError):
            pyperf.perf_event_open(pyperf.perf_event_attr(type=4242))

    def size():
        with open('/proc/self/statm') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGESIZE')
    for _ in range(100):
        once()
    gc.collect()
    before, fds = size(), len(os.listdir('/proc/self/fd'))
    for _ in range(1000):
        once()
    gc.collect()
    assert len(os.listdir('/proc/self/fd')) == fds
    if 'libasan' not in os.environ.get('LD_PRELOAD', ''):
        assert size() - before < 2 << 20


def test_no_descriptors_left(pyperf):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    kept = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, limit[1]))
    try:
        with pytest.raises(OSError) as error:
            while True:
                kept.append(pyperf.Event('dummy'))
        assert error.value.errno == errno.EMFILE and error.value.remedy
        with pytest.raises(OSError):
            pyperf.Group('dummy', 'dummy', 'dummy')
        kept.pop()
        ring_event = pyperf.Event('dummy')
        with pytest.raises(OSError) as error:
            pyperf.Ring(ring_event)         # no eventfd to be had
        assert error.value.errno == errno.EMFILE
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


# ---------------------------------------------------------------- fork and threads

def test_ring_after_fork(pyperf):
    event = faults(pyperf)
    ring = pyperf.Ring(event, pages=8)
    touch(5)
    drain = iter(ring)
    next(drain)

    def child():
        assert ring.closed
        for call in (lambda: next(drain), lambda: list(ring), ring.wait, lambda: ring.ready):
            try:
                call()
            except ValueError as error:
                assert 'forked' in str(error)
            else:
                os._exit(3)
        assert event.read().value >= 5      # the parent's count
        with pyperf.Event('page-faults') as own, pyperf.Ring(faults(pyperf)) as other:
            touch(5)
            assert own.read().value >= 5 and len(list(other)) >= 5
        ring.close()
        event.close()
    in_child(child)
    assert len(list(drain)) >= 4            # the parent's ring is as it was
    ring.close()
    event.close()


def test_mapped_group_after_fork(pyperf):
    group = pyperf.Group('page-faults', 'task-clock')
    group.map_self()
    touch(5)

    def child():
        assert group.read()['page-faults'].value >= 5       # the parent's count
        group.begin()
        assert group.end()['page-faults'].value == 0
        group.close()
    in_child(child)
    assert group.read()['page-faults'].value >= 5
    group.close()


def test_many_threads_one_ring(pyperf):
    event = faults(pyperf, inherit=0)
    ring = pyperf.Ring(event, pages=64)
    touch(2000)
    seen, errors = [], []

    def drain():
        try:
            for record in ring:
                if record.name == 'SAMPLE':
                    seen.append(record.time)
        except Exception as error:
            errors.append(error)
    with threads(8, drain):
        pass
    drain()
    assert not errors and len(seen) == len(set(seen)) >= 2000


def test_close_while_others_read(pyperf):
    for _ in range(30):
        event = faults(pyperf, wakeup_events=1)
        ring = pyperf.Ring(event, pages=8)
        group = pyperf.Group('page-faults', 'cpu-clock')

        def use():
            with contextlib.suppress(ValueError):
                while True:
                    ring.wait(0.001)
                    for record in ring:
                        record.asdict()
                    group.read()
                    event.read()
        with threads(3, use):
            touch(20)
            for o in random.sample([ring, event, group], 3):
                o.close()


def test_open_in_two_threads_at_once(pyperf):
    event = pyperf.Event.__new__(pyperf.Event)
    done = []

    def open_it():
        try:
            event.__init__('page-faults')
            done.append('open')
        except ValueError:
            done.append('refused')
    with threads(4, open_it):
        pass
    assert sorted(done) == ['open', 'refused', 'refused', 'refused']


def run(program, build, **env):
    done = ran([sys.executable, '-X', 'dev', '-c', program], env={**os.environ, 'PYTHONPATH': os.path.join(build, 'python'), **env})
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


def test_interpreters(pyperf, build):
    """A module of its own in each (sub)interpreter, and after the end of one."""
    assert run('''
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
code = """
import mmap, pyperf
with pyperf.Event('page-faults:u', sample_period=1) as event, pyperf.Ring(event) as ring:
    mmap.mmap(-1, 4096)[0] = 1
    assert any(isinstance(r, pyperf.Sample) for r in ring)
try:
    pyperf.Event('nothing-like-it')
except pyperf.NotFoundError:
    pass
"""
import pyperf
for _ in range(3):
    try:
        one = interpreters.create(isolated=False)
    except TypeError:
        one = interpreters.create('legacy')
    assert not interpreters.run_string(one, code)
    interpreters.destroy(one)
exec(code)
print("done")
''', build) == 'done\n'


def test_end_of_the_interpreter_with_all_open(pyperf, build):
    assert run('''
import pyperf, threading
event = pyperf.Event('dummy', wakeup_events=1)
ring = pyperf.Ring(event)
group = pyperf.Group('page-faults', 'cpu-clock')
drain = iter(ring)
class Late:
    def __del__(self):
        try: event.read(); list(ring); pyperf.Event('nothing-like-it')
        except Exception: pass
late = Late()
threading.Thread(target=ring.wait, daemon=True).start()
print("done")
''', build) == 'done\n'


def test_imported_twice(pyperf, build):
    assert run('''
import gc, sys, pyperf
first = pyperf
kept = pyperf.Event('dummy')
for name in [n for n in sys.modules if n.startswith('pyperf')]:
    del sys.modules[name]
import pyperf
assert pyperf.Event is not first.Event
try:
    pyperf.Ring(kept)
except TypeError:
    print("another module's")
del first, kept
gc.collect()
''', build) == "another module's\n"


# ---------------------------------------------------------------- bytes that are no records

def test_damaged_ring_page(pyperf):
    """Whoever shares the ring's pages may write there: counted, not believed."""
    event = faults(pyperf)
    with event, pyperf.Ring(event, pages=1) as ring:
        touch(10)
        event.disable()
        page = None
        with open('/proc/self/maps') as maps:
            for line in maps:
                if 'anon_inode:[perf_event]' in line:
                    page = int(line.split('-')[0], 16)
        if page is None:
            pytest.skip('needs the ring in /proc/self/maps')
        head = ctypes.c_uint64.from_address(page + 1024)
        assert len(list(ring)) >= 10 and ring.damaged == 0
        true = head.value
        for wrong in (true + (1 << 40), true - 4096 * 3, 2**64 - 1, 3):
            head.value = wrong          # the kernel's own data pages can't be written
            list(ring)
            ring.ready
        assert ring.damaged >= 1
        assert ring.wait(0) in (True, False)
