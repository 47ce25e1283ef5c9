# SPDX-License-Identifier: Apache-2.0
"""Very many batches go through a consumer: `many_batches.py RECORDING READERS NUMBER CONSUMER...` prints as JSON what memory is
used after a fifth of them, after three, and after all. The batches are those of the recording, which is opened again and again, of an
aggregate with a batch for each event, and of concat()."""
import collections
import ctypes
import gc
import itertools
import json
import os
import queue
import sys
import threading
import time

KEPT = 300          # batches, or what is left of them, at a time
FIELDS = '_time', '_tid', '_comm', 'prev_comm', 'next_pid'


# ---- what uses memory -------------------------------------------------------------------


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc, which adds up all arenas."""
    _fields_ = [(name, ctypes.c_size_t) for name in ('arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks',
                                                     'uordblks', 'fordblks', 'keepcost')]


def malloced():
    """Bytes; None where the C library does not say."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    ask.restype = Mallinfo
    info = ask()
    return info.uordblks + info.hblkhd


def resident():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def threads():
    """The fewest within a second: /proc shows a thread for a while after it was joined."""
    fewest, end = len(os.listdir('/proc/self/task')), time.monotonic() + 1
    while fewest > threading.active_count() and time.monotonic() < end:
        time.sleep(0.01)
        fewest = min(fewest, len(os.listdir('/proc/self/task')))
    return fewest


def used():
    import perf_prof
    from perf_prof import _native
    gc.collect()
    types = _native.Batch, _native.Column, _native.Event, _native.Session, _native.Aggregate, perf_prof.Recording, perf_prof.Aggregate
    return {'malloc': malloced(), 'blocks': sys.getallocatedblocks(), 'resident': resident(),
            'types': [sys.getrefcount(kind) for kind in types],
            'threads': threads(), 'descriptors': len(os.listdir('/proc/self/fd'))}


# ---- consumers: each has take(batch) and end() ------------------------------------------


class Consumer:
    """Keeps what left(batch) returns, KEPT of it at a time."""
    def __init__(self, left):
        self.left, self.kept = left, collections.deque(maxlen=KEPT)

    def take(self, batch):
        self.kept.append(self.left(batch))

    def end(self):
        self.kept.clear()


class OtherThread:
    """Another thread releases them."""
    def __init__(self):
        self.waiting = queue.Queue(KEPT)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while self.waiting.get() is not None:
            pass

    def take(self, batch):
        self.waiting.put(batch)

    def end(self):
        self.waiting.put(None)
        self.thread.join()


class Together:
    """Copies of several at a time."""
    def __init__(self):
        self.parts, self.copies = {}, collections.deque(maxlen=KEPT)

    def take(self, batch):
        import perf_prof
        parts = self.parts.setdefault(batch.columns, [])
        parts.append(batch[:3])
        if len(parts) == 3:
            self.copies.append(perf_prof.concat(parts))
            parts.clear()

    def end(self):
        self.parts.clear()
        self.copies.clear()


def forgotten_capsules(batch):
    return batch.__arrow_c_schema__(), batch.__arrow_c_array__(), batch[batch.columns[0]].__arrow_c_array__()


def taken_twice(batch):
    import pyarrow
    schema, array = batch.__arrow_c_array__()
    rows = pyarrow.RecordBatch._import_from_c_capsule(schema, array)
    for again in array, batch.__arrow_c_array__()[1]:       # the schema is gone in any case
        try:
            pyarrow.RecordBatch._import_from_c_capsule(schema, again)
        except pyarrow.ArrowInvalid:
            continue
        raise AssertionError('a capsule was taken twice')
    return rows['_event']


def errors(batch):
    for wrong in lambda: batch['nothing'], lambda: batch[len(batch)], lambda: batch[::2], lambda: memoryview(batch['_event']):
        try:
            wrong()
        except (KeyError, IndexError, ValueError, BufferError):
            continue
        raise AssertionError('no error')


def rows_of_arrow(batch):
    import pyarrow
    return pyarrow.record_batch(batch)


def array_of_numpy(batch):
    import numpy
    return numpy.asarray(batch['_lost'])


CONSUMERS = {
    'released at once': lambda: Consumer(lambda batch: None),
    'released late': lambda: Consumer(lambda batch: batch),
    'released by another thread': OtherThread,
    'one column kept': lambda: Consumer(lambda batch: batch['_event']),
    'a buffer kept': lambda: Consumer(lambda batch: memoryview(batch['_time'])),
    'a row kept': lambda: Consumer(lambda batch: batch[-1]),
    'an iterator kept': lambda: Consumer(iter),
    'a slice kept': lambda: Consumer(lambda batch: batch[:1]),
    'values kept': lambda: Consumer(lambda batch: batch.to_pylist()[:2]),
    'concat': Together,
    'capsules that nobody takes': lambda: Consumer(forgotten_capsules),
    'errors': lambda: Consumer(errors),
    'pyarrow': lambda: Consumer(rows_of_arrow),
    'pyarrow, one column kept': lambda: Consumer(lambda batch: rows_of_arrow(batch)['_event']),
    'pyarrow, capsules taken twice': lambda: Consumer(taken_twice),
    'numpy': lambda: Consumer(array_of_numpy),
}


# ---- batches ----------------------------------------------------------------------------


def batches_of(recording):
    """Of one opening; what is begun and not read to its end belongs to it, too."""
    import perf_prof
    with perf_prof.open(recording, fields=FIELDS) as s:
        for batch in s:
            yield batch
            yield from (perf_prof.concat([batch[at:at + 7]]) for at in range(0, len(batch), 7))
    yield from perf_prof.open(recording, fields=FIELDS).aggregate('_tid', {'n': 'count()'}, interval=5e-3)
    unread = perf_prof.open(recording, fields=FIELDS)
    yield next(unread)
    perf_prof.open(recording, fields=FIELDS).__arrow_c_stream__()
    perf_prof.open(recording, fields=FIELDS).aggregate('next_pid').__arrow_c_stream__()


def go_through(recording, number, consumers):
    """At least so many batches, in whole openings, which give back what they use. How many."""
    done, turns = 0, itertools.cycle(consumers)
    while done < number:
        for batch in batches_of(recording):
            next(turns).take(batch)
            done += 1
    for consumer in consumers:
        consumer.end()
    return done


def main(recording, readers, number, *names):
    sys.path.append(readers)
    done, after = 0, []
    for upto in int(number) // 5, int(number) // 5 * 3, int(number):
        done += go_through(recording, upto - done, [CONSUMERS[name]() for name in names])
        after.append(used())
    print(json.dumps({'batches': done, 'after': after}))


if __name__ == '__main__':
    main(*sys.argv[1:])
