# SPDX-License-Identifier: Apache-2.0
"""pyperf in bad hands: closed and half-made objects, descriptors that go away, fork, threads,
interpreters, bytes that are no records. Nothing may crash; much of it runs under ASan, too."""
import ctypes
import errno
import gc
import os
import random
import resource
import struct
import subprocess
import sys
import threading
import weakref

import pytest

from test_pyperf import in_child, touch


def faults(pyperf, **fields):
    return pyperf.Event('page-faults:u', sample_period=1, **fields)


# ---------------------------------------------------------------- closed and half-made

def everything(o):
    """Calls and reads all that an object has, with arguments of many kinds."""
    for name in dir(type(o)):
        if name in ('__class__', '__init__', '__new__', '__del__', '__reduce__', '__reduce_ex__',
                    '__subclasshook__', '__init_subclass__', '__dir__', '__getattribute__'):
            continue
        for args in ((), (1,), (None,), (o,), ('x',), (-1,), (2**70,)):
            try:
                member = getattr(o, name)
                if callable(member):
                    member(*args)
            except Exception as error:
                assert not isinstance(error, SystemError), (name, args, error)


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


def test_objects_whose_init_did_not_run(pyperf):
    classes = [pyperf.Event, pyperf.Group, pyperf.Ring, pyperf._pyperf._Event, pyperf._pyperf._Group,
               pyperf._pyperf._Ring]
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


def test_open_objects_with_odd_arguments(pyperf):
    event = faults(pyperf)
    with event, pyperf.Ring(event) as ring, pyperf.Group('cpu-clock', 'dummy') as group:
        touch(2)
        record = next(iter(ring))
        for o in (record, pyperf.perf_event_attr()):
            everything(o)
        for o in (event, ring, group):
            for name in dir(o):
                if name.startswith('__') or name in ('wait', 'close', 'follow', 'signal', 'result'):
                    continue
                for args in ((), ('x',), (2**70,), (object(),), (1, 2, 3, 4)):
                    try:
                        getattr(o, name)(*args) if callable(getattr(o, name)) else None
                    except Exception as error:
                        assert not isinstance(error, SystemError), (name, args, error)


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
    ring = pyperf.Ring(pyperf.Group(pyperf.perf_event_attr(
        type=1, config=2, sample_period=1, sample_type=1, exclude_kernel=1))[0])
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
        with pyperf.Event(attr, sample_period=1, sample_type=1) as event, \
                pyperf.Ring(event, pages=1) as ring:
            [r.asdict() for r in ring]
        with pyperf.Group('page-faults', 'cpu-clock') as group:
            group.read()
            list(group)
        for bad in ('nothing-like-it', '{'):
            try:
                pyperf.parse(bad)
            except OSError:
                pass
        try:
            pyperf.perf_event_open(pyperf.perf_event_attr(type=4242))
        except OSError:
            pass

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
    threads = [threading.Thread(target=drain) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drain()
    assert not errors and len(seen) == len(set(seen)) >= 2000


def test_close_while_others_read(pyperf):
    for _ in range(30):
        event = faults(pyperf, wakeup_events=1)
        ring = pyperf.Ring(event, pages=8)
        group = pyperf.Group('page-faults', 'cpu-clock')

        def use():
            try:
                while True:
                    ring.wait(0.001)
                    for record in ring:
                        record.asdict()
                    group.read()
                    event.read()
            except ValueError:
                pass
        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        touch(20)
        for o in random.sample([ring, event, group], 3):
            o.close()
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()


def test_open_in_two_threads_at_once(pyperf):
    event = pyperf.Event.__new__(pyperf.Event)
    done = []

    def open_it():
        try:
            event.__init__('page-faults')
            done.append('open')
        except ValueError:
            done.append('refused')
    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == ['open', 'refused', 'refused', 'refused']


def test_attr_changed_while_it_is_opened(pyperf):
    attr = pyperf.perf_event_attr(type=1, config=2)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            attr.uprobe_path = 'x' * 100
            attr.config1 = 0
    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            try:
                pyperf.Event(attr).close()
                os.close(pyperf.perf_event_open(attr))
            except OSError:
                pass
    finally:
        stop.set()
        thread.join()


def run(program, build, **env):
    done = subprocess.run([sys.executable, '-X', 'dev', '-c', program], capture_output=True, text=True,
                          timeout=60, env={**os.environ, 'PYTHONPATH': os.path.join(build, 'python'),
                                           **env})
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
