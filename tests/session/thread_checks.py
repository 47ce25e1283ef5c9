# SPDX-License-Identifier: Apache-2.0
"""Several threads and one session, batch or aggregate: `thread_checks.py NAME STORM RECORDING` runs the check NAME. They need
nothing but perf_prof, so that they run in any Python; those of LIVE watch STORM, which makes system calls, and need root."""
import contextlib
import os
import subprocess
import sys
import threading
import time

PATIENCE = 60
SEVERAL = 4
EVENT, SWITCH = 'syscalls:sys_enter_getppid', 'sched:sched_switch'
N = 20000


class Waits:
    """A program that begins its work once it may."""

    def __init__(self, path, *words):
        self.process = subprocess.Popen([path, '--wait', *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = int(self.process.stdout.readline().split()[1])

    def __enter__(self):
        return self

    def go(self):
        self.process.stdin.write(b'x')
        self.process.stdin.flush()

    def finish(self):
        """The end of a program that lingers."""
        self.process.stdin.close()
        self.process.wait(PATIENCE)

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def at_once(*functions):
    """What they return, each in a thread; they begin together."""
    begin, found = threading.Barrier(len(functions)), [None] * len(functions)

    def run(i):
        begin.wait(PATIENCE)
        try:
            found[i] = functions[i]()
        except Exception as error:
            found[i] = error
    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), found
    return found


def count(batches):
    return sum(len(batch) for batch in batches)


# ---- live sessions ----------------------------------------------------------------------


def share_a_session(perf_prof, storm, recording):
    """Each batch goes to one of them."""
    with Waits(storm, 'getppid', N) as one, perf_prof.Session(EVENT, pids=one.pid, ring='16M') as s:
        *counts, _ = at_once(*[lambda: count(s)] * SEVERAL, one.go)
        assert sum(counts) == N, counts


def close_while_others_read(perf_prof, storm, recording):
    with Waits(storm, 'getppid', 1 << 40, 100000) as one:
        one.go()
        for _ in range(5):
            s, begun = perf_prof.Session(EVENT, pids=one.pid), threading.Event()

            def read():
                rows = 0
                for batch in s:
                    rows += len(batch)
                    begun.set()
                return rows

            def close():
                begun.wait(PATIENCE)
                s.close()
                return s.closed
            *rows, closed, again = at_once(*[read] * SEVERAL, close, close)
            assert closed is True and again is True
            # who comes after the end gets an error; the batches are those of the others
            late = [row for row in rows if not isinstance(row, int)]
            assert all(isinstance(error, ValueError) and 'closed' in str(error) for error in late), late
            assert sum(row for row in rows if isinstance(row, int)) == s.stats()['rows'] > 0


def ask_for_numbers_meanwhile(perf_prof, storm, recording):
    with Waits(storm, 'getppid', N) as one, perf_prof.Session(EVENT, pids=one.pid, ring='16M') as s:
        ended = threading.Event()

        def read():
            try:
                return count(s)
            finally:
                ended.set()

        def ask():
            seen = [s.stats()]
            while not ended.is_set():
                seen.append(s.stats())
                assert s.columns and s.notes is not None and s.returncode is None and not s.closed
            assert all(before[name] <= after[name] for before, after in zip(seen, seen[1:]) for name in ('rows', 'batches', 'delivered'))
            return seen[-1]['lost']
        rows, *lost, _ = at_once(read, ask, ask, one.go)
        assert rows == N and lost == [0, 0], (rows, lost)


def share_an_aggregate(perf_prof, storm, recording):
    with Waits(storm, 'getppid', N) as one, perf_prof.Session(EVENT, pids=one.pid, ring='16M') as s:
        agg = s.aggregate('_tid', {'n': 'count()'}, interval=0.001)
        ended = threading.Event()

        def read():
            try:
                return sum(sum(batch['n']) for batch in agg)
            finally:
                ended.set()

        def ask():
            while not ended.is_set():
                assert agg.stats()['events'] <= N and 'n' in agg.columns
        *counts, _, _ = at_once(*[read] * SEVERAL, ask, one.go)
        assert sum(counts) == N == agg.stats()['events'], counts


# ---- recordings -------------------------------------------------------------------------


def begin_at_once(perf_prof, storm, recording):
    """Who reads first begins it; every row comes once."""
    rows = count(perf_prof.open(recording))
    for _ in range(20):
        s = perf_prof.open(recording)
        found = at_once(*[lambda: count(s)] * SEVERAL)
        assert sum(found) == rows, found


def begin_one_object_at_once(perf_prof, storm, recording):
    """One of them begins it; a second session would be in nobody's hands."""
    for _ in range(20):
        s, begun = perf_prof.Recording.__new__(perf_prof.Recording), threading.Event()

        def begin():
            try:
                super(perf_prof.Recording, s).__init__([f'--input={recording}'])
            finally:
                begun.set()

        def look():
            while not begun.is_set():
                with contextlib.suppress(ValueError):       # "has not begun"
                    assert '_time' in s.columns and s._tables and not s.closed
            return 'looked'
        *found, looked = at_once(*[begin] * SEVERAL, look)
        assert looked == 'looked' and found.count(None) == 1 and [type(one) for one in found].count(RuntimeError) == SEVERAL - 1, found
        assert count(s) > 0
        s.close()
    deadline = time.monotonic() + PATIENCE      # a thread that was joined may still be ending
    while len(os.listdir('/proc/self/task')) > 1:
        assert time.monotonic() < deadline, 'the thread of a session goes on'
        time.sleep(0.01)


def close_before_it_is_read(perf_prof, storm, recording):
    for _ in range(20):
        s = perf_prof.open(recording)
        found = at_once(lambda: count(s), s.close, s.close, lambda: s.__exit__(None, None, None))
        assert isinstance(found[0], int) or 'closed' in str(found[0]), found
        assert found[1:3] == [None] * 2 and s.closed


def read_columns_of_one_batch(perf_prof, storm, recording):
    batch = next(perf_prof.open(recording))
    rows = batch.to_pylist()

    def read():
        for _ in range(3):
            assert batch.to_pylist() == rows and [event.to_dict() for event in batch] == rows
            for name in batch.columns:
                column = batch[name]
                assert column.to_pylist() == [row[name] for row in rows] == list(column)
                if column.type not in ('text', 'bytes') and not column.null_count:
                    assert memoryview(column)[5:].tolist() == column[5:].to_pylist()
            assert perf_prof.concat([batch[:9], batch[9:]]).to_pylist() == rows
            assert len(batch.__arrow_c_array__()) == 2
        return True
    found = at_once(*[read] * SEVERAL)
    assert found == [True] * SEVERAL, found


def choose_columns_meanwhile(perf_prof, storm, recording):
    """What a query chooses changes the plans of a recording that nobody has read, once; others see those before or after."""
    for _ in range(20):
        s = perf_prof.open(recording)
        every = s.columns
        common = '_time', '_cpu', '_pid', '_tid', '_comm', '_event', '_lost'
        fewer = [(*common, 'prev_comm'), (*common, 'next_pid')]

        def choose(name):
            return s._choose([SWITCH], [name])

        def look():
            seen = set()
            for _ in range(50):
                seen.add(s.columns)
                assert s._tables and s.__arrow_c_schema__()
            return seen
        one, other, seen, rows = at_once(lambda: choose('prev_comm'), lambda: choose('next_pid'), look,
                                         lambda: count(s.aggregate('next_pid', {'n': 'sum(next_pid)'})))
        # or the aggregate took its batches first
        assert all(got in (True, False) or 'go to its aggregate()' in str(got) for got in (one, other)), (one, other)
        assert isinstance(seen, set) and seen | {s.columns} <= {every, *fewer}, seen
        assert isinstance(rows, int) and rows > 1 or 'there is no field next_pid' in str(rows), rows


def one_of_them_gets_the_aggregate(perf_prof, storm, recording):
    for _ in range(20):
        s = perf_prof.open(recording)
        found = at_once(*[lambda: count(s.aggregate((), 'count()'))] * SEVERAL)
        assert found.count(1) == 1 and [type(one) for one in found].count(ValueError) == SEVERAL - 1, found


def one_of_them_gets_the_stream(perf_prof, storm, recording):
    for _ in range(20):
        s = perf_prof.open(recording)
        found = at_once(*[s.__arrow_c_stream__] * SEVERAL)
        assert [type(one) for one in found].count(ValueError) == SEVERAL - 1, found


LIVE = share_a_session, close_while_others_read, ask_for_numbers_meanwhile, share_an_aggregate
CHECKS = {check.__name__: check for check in (
    *LIVE, begin_at_once, begin_one_object_at_once, close_before_it_is_read, read_columns_of_one_batch, choose_columns_meanwhile,
    one_of_them_gets_the_aggregate, one_of_them_gets_the_stream)}


def main(name, storm, recording):
    import perf_prof
    if hasattr(sys, 'setswitchinterval'):
        sys.setswitchinterval(1e-6)
    begin = time.monotonic()
    CHECKS[name](perf_prof, storm, recording)
    print(f'{name}: ok, {time.monotonic() - begin:.1f} s')


if __name__ == '__main__':
    main(*sys.argv[1:])
