# SPDX-License-Identifier: Apache-2.0
"""Events as batches of columns: live (Session), or from a recording (open())."""
import collections.abc
import copyreg
import errno
import operator
import os
import select
import sys
import threading
from typing import Any, Iterable, Iterator, List, Literal, Mapping, Optional, Protocol, Sequence, Tuple, TypeVar, Union

from . import _native
from ._frames import Frames as Rows
from ._keywords import checked, deprecated
from .stacks import Frames, Stacks

collections.abc.Mapping.register(_native.Event)   # so that pandas.DataFrame(batch) has the names of the columns


def _reduce(batch: _native.Batch) -> Any:
    """A pickle of a batch: its columns as lists."""
    kinds = tuple(batch[name].type for name in batch.columns)
    return _native._batch, (batch.columns, kinds, tuple(batch[name].to_pylist() for name in batch.columns), batch._names_events)


copyreg.pickle(_native.Batch, _reduce)
Texts = Union[str, Iterable[str]]
Numbers = Union[int, str, Iterable[int]]
Path = Union[str, 'os.PathLike[str]']
Named = Union[Texts, Mapping[str, str]]


class _Readable(Protocol):
    def read(self) -> bytes: ...


def _numbers(name: str, value: Numbers) -> str:
    """1, "1,3-5" or an iterable of numbers, as the option NAME takes them."""
    if isinstance(value, str):
        return value
    numbers: List[Any] = [value] if isinstance(value, int) or not hasattr(value, '__iter__') else list(value)
    if not numbers:
        raise ValueError(f'{name}={value!r}: expected at least one number')
    if all(hasattr(n, '__index__') and not isinstance(n, bool) for n in numbers):    # also those of NumPy
        return ','.join(str(operator.index(n)) for n in numbers)
    raise TypeError(f'{name}={value!r}: expected a number, a str such as "1,3-5", or a list of numbers')


def _either(name: str, value: Optional[Numbers], other: Optional[Numbers]) -> Optional[Numbers]:
    """The value of a parameter that had two names: pids and pid."""
    if value is not None and other is not None:
        raise TypeError(f'{name}= and {name[:-1]}= are the same parameter: give one of them')
    if other is not None:
        deprecated(f'{name[:-1]}=', f'{name}=')
    return other if value is None else value


def _targets(pids: Optional[Numbers], tids: Optional[Numbers], cpus: Optional[Numbers]) -> List[str]:
    return [f'--{name}={_numbers(name, value)}' for name, value in (('pids', pids), ('tids', tids), ('cpus', cpus))
            if value is not None]


def _texts(name: str, value: Texts) -> List[str]:
    """A str or an iterable of str, as a list."""
    if isinstance(value, str):
        return [value]
    texts = list(value) if hasattr(value, '__iter__') else None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise TypeError(f'{name}={value!r}: expected a str or a list of str')
    return texts


def _size(name: str, value: Union[int, str]) -> str:
    """Bytes, or a str with a unit."""
    if hasattr(value, '__index__') and not isinstance(value, bool):
        if operator.index(value) <= 0:
            raise ValueError(f'{name}={value}: expected a number of bytes above 0, or a str such as "16M"')
        return f'{operator.index(value)}B'
    if isinstance(value, str):
        return value
    raise TypeError(f'{name}={value!r}: expected a number of bytes, or a str such as "16M"')


def _fields(value: Optional[Texts]) -> Optional[List[str]]:
    return None if value is None else _texts('fields', value)


def _filter(value: Optional[str]) -> Optional[str]:
    if value is not None and not isinstance(value, str):
        raise TypeError(f'filter={value!r}: expected a str, such as "prev_pid > 0"')
    return value


# A span of time: seconds, or a text such as "5ms".
Time = Union[float, str]
_UNITS = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1, 'm': 60, 'h': 3600}


def _nanoseconds(seconds: Optional[Time], name: str = 'seconds') -> int:
    if seconds is None:
        return 0
    number: Any = seconds
    if isinstance(seconds, str):
        unit = seconds.lstrip('0123456789.')
        digits = seconds[:len(seconds) - len(unit)]
        number = float(digits) * _UNITS[unit] if unit in _UNITS and digits.count('.') <= 1 and digits.strip('.') else None
    if isinstance(number, bool) or not hasattr(number, '__float__'):
        raise TypeError(f'{name}={seconds!r}: expected a number of seconds, or a str such as "5ms"')
    number = float(number)
    if not 0 < number <= 31622400:
        raise ValueError(f'{name}={seconds}: expected a number above 0, at most 31622400 (366 days)')
    ns: int = round(number * 1e9)
    return max(ns, 1)


def _is_on(name: str, value: bool) -> bool:
    if isinstance(value, str) or value not in (True, False):
        raise TypeError(f'{name}={value!r}: expected True or False')
    return bool(value)


def _refuse_missing(line: str) -> None:
    """A line for the shell that is nothing but a program's path and its arguments: without such a program, the shell would end
    at once, and there would be an empty result."""
    import re   # takes long to import, and few need it
    path = line.split()[0] if re.fullmatch(r'[\w./+@:,%= -]+', line) and line.strip() else ''
    if '/' in path and '=' not in path and not os.path.lexists(path):
        raise FileNotFoundError(errno.ENOENT, f'{path}: there is no such program')


def _command(value: Union[None, str, Sequence[Path]]) -> Optional[List[str]]:
    if value is None:
        return None
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(f'command={value!r}: expected a line for the shell, or a list of a program and its arguments')
        _refuse_missing(value)
        return ['/bin/sh', '-c', value]
    if isinstance(value, bytes) or not hasattr(value, '__iter__'):
        raise TypeError(f'command={value!r}: expected a list such as ["sleep", "1"], or a str for the shell')
    command = list(value)
    if not command:
        raise ValueError('command=[]: expected a program and its arguments')
    for place, word in enumerate(command):
        if not isinstance(word, (str, bytes, os.PathLike)):
            raise TypeError(f'command={value!r}: its item {place} is {word!r}: expected a str or a path')
    return [os.fsdecode(word) for word in command]


# What `perf-prof ... --call-graph` calls the ways to find the user's part, and which parts else.
_CHAINS = {'auto': ['--call-graph=auto'], 'fp': ['--call-graph=fp', '--user-callchain'], 'kernel': ['-g', '--no-user-callchain'],
           'user': ['--call-graph=auto', '--no-kernel-callchain']}


def _callchains(value: Union[None, bool, str], fields: Optional[List[str]]) -> List[str]:
    if value is None:
        value = fields is not None and '_stack' in fields
    if isinstance(value, bool):
        return _CHAINS['auto'] if value else []
    if not isinstance(value, str):
        raise TypeError(f'callchains={value!r}: expected True, "auto", "fp", "dwarf", "user" or "kernel"')
    if value.split(',')[0] == 'dwarf':
        return [f'--call-graph={value}']
    if value not in _CHAINS:
        raise ValueError(f'callchains={value!r}: expected True, "auto", "fp", "dwarf" (or "dwarf,SIZE"), "user" or "kernel"')
    return _CHAINS[value]


def _named(name: str, value: Named) -> Tuple[Tuple[str, str], ...]:
    """Pairs of a column's name and what is in it."""
    pairs = tuple(value.items()) if isinstance(value, Mapping) else tuple((text, text) for text in _texts(name, value))
    if not all(isinstance(word, str) for pair in pairs for word in pair):
        raise TypeError(f'{name}={value!r}: expected a str, a list of str, or a dict from names to str')
    return pairs


REFUSALS = OSError, ValueError, RuntimeError


def _in_python(error: BaseException, used: Mapping[str, str] = {}) -> BaseException:
    """Messages of the command line name options: they become parameters."""
    from ._parameters import of_session
    return of_session(error, used)


def _note_in_python(text: str, used: Mapping[str, str]) -> str:
    if '-' not in text:
        return text
    from ._parameters import note_of_session
    return note_of_session(text, used)


class _Source(Protocol):
    def __iter__(self) -> Iterator[_native.Batch]: ...
    def _take(self) -> Union[_native.Batch, None, Literal[False]]: ...
    async def _ready(self) -> None: ...
    def fileno(self) -> int: ...


_S = TypeVar('_S', bound=_Source)


def _list(names: Sequence[str], most: int = 3) -> str:
    return ', '.join(names[:most]) + (f', … ({len(names)})' if len(names) > most else '')


class _Reading(Rows):
    """Ways to read batches, for sessions, recordings and aggregates."""

    def _about(self) -> str:
        return f'columns {_list(self.columns, 8)}'   # type: ignore[attr-defined]

    def __repr__(self) -> str:
        try:
            about = self._about()
        except ValueError:      # __init__() failed
            about = 'not begun'
        return f'<perf_prof.{type(self).__name__}: {about}>'

    def events(self: _Source) -> Iterator[_native.Event]:
        """The rows of all batches, one by one."""
        for batch in self:
            yield from batch

    def __aiter__(self: _S) -> _S:
        iter(self)   # complains if it is closed
        return self

    async def __anext__(self: _Source) -> _native.Batch:
        while True:
            batch = self._take()
            if batch is False:
                raise StopAsyncIteration
            if batch is not None:
                return batch
            await self._ready()

    async def _ready(self: _Source) -> None:
        """Waits for a batch. Each waiter has a descriptor of its own, because a loop takes one reader for each."""
        import asyncio   # takes long to import, and few need it
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        try:
            fd = os.dup(self.fileno())
        except ValueError:   # closed since: _take() knows what is left
            return
        try:
            loop.add_reader(fd, lambda: None if ready.done() else ready.set_result(None))
            await ready
        finally:
            loop.remove_reader(fd)
            os.close(fd)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError('a session gives batches, and is no array: session.df(), session.pl() and session.arrow() make a table of it')

    def __reduce__(self) -> Any:
        raise TypeError('a session cannot be pickled; its batches can be written through Arrow')


def _losses(session: _native.Session, more: Mapping[str, int] = {}) -> _native.Batch:
    """The gaps of a session, and rows without a time for what an aggregate or a stream has dropped: {cause: count}."""
    rows = session._gaps() + [(0, 0, -1, cause, count) for cause, count in more.items() if count]
    columns: List[List[Any]] = [list(column) for column in zip(*rows)] or [[] for _ in range(5)]
    starts, ends, cpus, causes, counts = columns
    return _native._batch(('start', 'end', 'cpu', 'cause', 'count'), ('uint64', 'uint64', 'int32', 'text', 'uint64'),
                          ([n or None for n in starts], [n or None for n in ends], [None if n < 0 else n for n in cpus],
                           causes, counts))


class _Claim:
    """Records that run() or sql() reads all batches of a session: a query may change their columns before the first one is read."""

    def __init__(self, name: str) -> None:
        self.name, self.thread = name, threading.get_ident()
        self.ended: List[bool] = []     # not empty: this thread has called close() meanwhile


_B = TypeVar('_B', bound='_Batches')


class _Batches(_Reading, _native.Session):
    """What sessions and recordings have in common. Iteration gives batches."""

    def _about(self) -> str:
        return f'{_list(self.event_names)}; {super()._about()}{"; closed" if self.closed else ""}'

    def __exit__(self, *exception: Any) -> None:
        try:
            if not any(exception):
                self._await_names()
        finally:
            super().__exit__(*exception)

    async def __aenter__(self: _B) -> _B:
        return self.__enter__()

    async def __aexit__(self, *exception: Any) -> None:
        import asyncio
        await asyncio.get_running_loop().run_in_executor(None, self.__exit__, *exception)    # it may wait for names

    @property
    def losses(self) -> _native.Batch:
        """The gaps in the events so far: when they start and end (ns of _time; null: not known), on which CPU, why, and how many
        events were lost. Of a session with more than 65,536 gaps these are the first ones; stats() counts all."""
        return _losses(self)

    @property
    def notes(self) -> List[str]:   # type: ignore[override]
        """Hints about the run, such as a frequency that was lowered."""
        if not self._named(1000):
            self._tell_naming()
        used = self.__dict__.get('_used', {})
        return [_note_in_python(text, used) for text in super().notes]

    def _claim(self, name: str) -> Optional[_Claim]:
        """For the method of that name, which is to have all batches. None: it has them already."""
        mine = _Claim(name)
        has = self.__dict__.setdefault('_claimed', mine)
        if has is mine:
            return mine
        if has.name == name:
            return None
        again = 'open() it again' if isinstance(self, Recording) else 'make another session'
        raise RuntimeError(f'{name}(): the events of this session go to its {has.name}(): {again}')

    def _unclaim(self) -> None:
        del self.__dict__['_claimed']

    def _await_names(self) -> None:
        """Of a session that has ended by itself: until its stacks have their names. After a Ctrl-C, closing does not wait."""
        if not self._named(1000):
            self._tell_naming()
            while not self._named(100):
                pass

    def _tell_naming(self) -> None:
        """One note that this takes long, which whoever sits in front of it sees."""
        if self.__dict__.setdefault('_told', False):
            return
        self.__dict__['_told'] = True
        text = 'looking up the names of call stacks, which takes long: files of the programs are still being read'
        self._note(text)
        if hasattr(sys, 'ps1') or (sys.stderr and sys.stderr.isatty()):
            print(f'perf-prof: {text}', file=sys.stderr)

    @property
    def event_names(self) -> Tuple[str, ...]:
        """The names of its events, as stream() takes them."""
        return tuple(self._tables)

    @checked
    def stream(self, event: str, *, buffer: int = 64 << 20) -> 'Stream':
        """The batches of one event alone: with the common columns and the event's own fields, and no others.

        event     its name, as in the column _event: "sched:sched_switch"
        buffer    so many bytes of rows wait while only other streams are read; what comes after that is dropped, and counted
                  in a row whose _event is lost:stream

        A session can have a stream for each of its events. Make all of them before you read the first one. They take all
        batches of the session. Lost events are rows in each stream, because it is not known which events were lost.
        """
        if not isinstance(event, str):
            raise TypeError(f'event={event!r}: expected the name of an event, such as "sched:sched_switch"')
        if isinstance(buffer, bool) or not isinstance(buffer, int):
            raise TypeError(f'buffer={buffer!r}: expected a number of bytes')
        if not 0 < buffer < 1 << 62:
            raise ValueError(f'buffer={buffer}: expected a number of bytes above 0')
        return Stream(self, event, buffer)

    @checked
    def run(self, callbacks: object, *, interval: Optional[Time] = None) -> None:
        """Calls the functions of a module or an object for each event, until the session ends. Their names are those of scripts
        for `perf-prof python`:

        sched__sched_switch(event), ...     for each event of that name; __sample__(event) for all others
        sched__sched_switch__batch(batch)   for many at once; __batch__(batch) for all others
        __lost__(start, end[, info])        when events were lost
        __interval__()                      every `interval` seconds; of a recording, by its clock
        __init__(), __exit__()              of a module: before the first event; of both: at the end

        An exception in a function ends the session, and run() raises it; so does Ctrl-C. close() in a function ends the session.
        """
        from .callbacks import run
        ns = _nanoseconds(interval, 'interval')
        run(self, callbacks, ns / 1e9 if ns else None, isinstance(self, Recording))

    def close(self) -> None:
        """Ends the session. A loop over its batches, in this thread or another, gets those that are ready, and ends; run() ends at
        once, if one of its functions calls this."""
        claim = self.__dict__.get('_claimed')
        if claim and claim.thread == threading.get_ident():
            claim.ended.append(True)
        try:
            self._await_names()
        finally:
            super().close()

    @property
    def stacks(self) -> Stacks:
        """The call stacks whose numbers are in the column _stack. They stay valid after the session has ended."""
        return Stacks(self, self.__dict__.setdefault('_frames', Frames()))     # a session must not keep itself

    @checked
    def sql(self, query: str, interval: Optional[Time] = None) -> Any:
        """Runs a query in DuckDB over all events until the session ends, and returns a DuckDB relation.

        Tables: each event by its name ("sched:sched_switch", or sched_switch), `events` (all of them) and `lost` (lost events).
        Call it before you read the session in another way: from a recording, it then decodes only what the query names.
        With interval=SECONDS, it returns an iterator of relations, one for each interval; each is valid until the next one.
        It needs DuckDB: pip install duckdb.
        """
        from .sql import run
        return run(self, query, interval)

    @checked
    def aggregate(self, key: Named = (), values: Named = 'count()', *, interval: Optional[Time] = None,
                  max_keys: int = 65536) -> 'Aggregate':
        """Counts, sums or histograms instead of events: batches with a row for each key. No Python code runs for each event.

        key       columns or expressions; () for one row over all events. A dict names them: {"prio": "next_prio / 10"}. "_stack"
                  is a number of `stacks`: session.stacks.folded(session.aggregate("_stack"))
        values    "count()", "count(EXPR)", "sum(EXPR)", "min(EXPR)", "max(EXPR)", "histogram(EXPR, 'log2')", "quantile(EXPR, 0.99)";
                  a list, or a dict from names to values. EXPR may be pair("START", "END", KEY): the ns from one event to another
        interval  seconds of the events' clock: a batch with new values for each interval; default: one batch, at the end
        max_keys  at most so many keys in an interval; events with other keys are counted in a row whose _event is lost:keys. With
                  quantile(), at most 64 * max_keys buckets of all keys: a key has one for each range of 3 % with values in it

        The aggregate takes all batches of the session. So call it only once, and before you read anything.
        """
        if isinstance(max_keys, bool) or not isinstance(max_keys, int):
            raise TypeError(f'max_keys={max_keys!r}: expected a number')
        if not 1 <= max_keys <= 1 << 24:
            raise ValueError(f'max_keys={max_keys}: expected 1 to {1 << 24}')
        keys = _named('key', key)
        if any(text == '_stack' for _, text in keys) and '_stack' not in self.columns:
            raise ValueError('key=_stack: the session has no column _stack: make it with callchains=True')
        return Aggregate(self, keys, _named('values', values), _nanoseconds(interval, 'interval'), max_keys,
                         not isinstance(self, Recording))


class Aggregate(_Reading, _native.Aggregate):
    """What aggregate() of a session or recording returns. Iteration gives batches."""

    def __init__(self, session: _Batches, keys: Tuple[Tuple[str, str], ...], values: Tuple[Tuple[str, str], ...], ns: int,
                 max_keys: int, live: bool) -> None:
        self._quantiles = None
        if any('quantile' in text for _, text in values):
            from ._quantiles import planned
            values, self._quantiles = planned(keys, values)
        if self._quantiles:
            max_keys = min(max_keys * 64, 1 << 24)      # a key for each bucket
        super().__init__(session, keys, values, ns, max_keys, live)
        self._session, self._names_events = session, any(name == '_event' for name, _ in keys)

    @property
    def columns(self) -> Tuple[str, ...]:   # type: ignore[override]
        columns = super().columns
        return self._quantiles.columns(columns) if self._quantiles else columns

    def __next__(self) -> _native.Batch:
        batch = super().__next__()
        return self._quantiles.batch(batch) if self._quantiles else batch

    def _take(self) -> Union[_native.Batch, None, Literal[False]]:
        batch = super()._take()
        return self._quantiles.batch(batch) if self._quantiles and batch is not None and batch is not False else batch

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """The batches as an Arrow stream, once."""
        if self._quantiles:
            raise TypeError('an aggregate with quantiles has batches, and is no Arrow stream: .pl(), .df() and .arrow() make a table '
                            'of it')
        return super().__arrow_c_stream__(requested_schema)

    @property
    def losses(self) -> _native.Batch:
        """As of the session, and what did not fit, without a time: the causes "keys" and "pairs"."""
        stats = self.stats()
        return _losses(self._session, {'keys': stats['lost_keys'], 'pairs': stats['dropped_pairs']})


class Stream(_Reading, _native.Stream):
    """What stream() of a session or recording returns: one event's rows. Iteration gives batches, once."""

    def __init__(self, session: _Batches, event: str, limit: int) -> None:
        super().__init__(session, event, limit)
        self._session = session

    @property
    def losses(self) -> _native.Batch:
        """As of the session, and what was dropped because the stream was not read, without a time: the cause "stream"."""
        return _losses(self._session, {'stream': self.stats()['dropped']})

    def _about(self) -> str:
        return f'{self.event}; {super()._about()}'


class Session(_Batches):
    """Events of the running kernel, from now on, as batches of columns.

    events    what `perf-prof ... -e` takes: "sched:sched_switch", "cycles:u", "rundelay/--than 5ms/"; or a list
    pids, tids, cpus, cgroup, container
              whom to watch; without any of them, and without command: all CPUs
    command   a program to start and watch, as a list, or a str for the shell; the session ends with it
    inherit   False: do not follow new threads and children of pids and tids
    fields    names of the columns; default: the common columns, and all fields of all events. Common columns
              (_time, _cpu, _pid, _tid, _comm) that are named here replace those that are always there. There is also
              _realtime, the time of day
    callchains
              True or "auto": sample call chains, of the kernel and of programs, and add the column _stack; "user" or
              "kernel": only that part; "fp", "dwarf" or "dwarf,SIZE": how callers in programs are found, as --call-graph.
              Default: True if `fields` has _stack, else False
    filter    an expression for events that have no filter of their own: "prev_pid > 0"
    order     False: in order on each CPU only, which saves time
    ring      bytes of each CPU's ring buffer (4 << 20, or "4M"); by default it grows if events are lost
    buffer    bytes behind the rings, for bursts
    seconds   the session ends after this time
    """

    @checked
    def __init__(self, events: Texts, *, pids: Optional[Numbers] = None, tids: Optional[Numbers] = None,
                 cpus: Optional[Numbers] = None, cgroup: Optional[Texts] = None, container: Optional[Texts] = None,
                 command: Union[None, str, Sequence[Path]] = None, inherit: bool = True, fields: Optional[Texts] = None,
                 callchains: Union[None, bool, str] = None, filter: Optional[str] = None, order: bool = True, ring: Union[None, int, str] = None,
                 buffer: Union[None, int, str] = None, seconds: Optional[Time] = None, pid: Optional[Numbers] = None,
                 tid: Optional[Numbers] = None, cpu: Optional[Numbers] = None) -> None:
        used = {}
        for name, value in ('pid', pid), ('tid', tid), ('cpu', cpu):
            if value is not None:
                used[f'{name}s'] = name
        pids, tids, cpus = _either('pids', pids, pid), _either('tids', tids, tid), _either('cpus', cpus, cpu)
        words = [f'--event={text}' for text in _texts('events', events)]
        if not words:
            raise ValueError('events=[]: expected the name of an event, such as "sched:sched_switch"')
        words += _targets(pids, tids, cpus)
        for option, name, paths in ('cgroups', 'cgroup', cgroup), ('container', 'container', container):
            if paths is not None:
                words += [f'--{option}={text}' for text in _texts(name, paths)]
        for option, name, size in ('mmap-pages', 'ring', ring), ('buffer', 'buffer', buffer):
            if size is not None:
                words.append(f'--{option}={_size(name, size)}')
        words += ['--order'] * _is_on('order', order) + ['--no-inherit'] * (not _is_on('inherit', inherit))
        names = _fields(fields)
        words += _callchains(callchains, names)
        program, ns, expression = _command(command), _nanoseconds(seconds), _filter(filter)
        self.__dict__['_used'] = used
        try:
            super().__init__(words, names, program, ns, expression)
        except REFUSALS as error:
            raise _in_python(error, used) from None


class Recording(_Batches):
    """The events of a recording, as batches of columns: what open() returns."""


def _descriptor(source: Any) -> Tuple[int, str]:
    """(descriptor or -1, name) of a path, a file object or bytes."""
    if isinstance(source, (str, os.PathLike)):
        return -1, os.fsdecode(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _memory(source), '<bytes>'
    name = getattr(source, 'name', None)
    name = name if isinstance(name, str) else '<file object>'
    try:
        return os.dup(source.fileno()), name
    except (AttributeError, OSError):   # io.BytesIO has fileno(), which raises
        pass
    read = getattr(source, 'read', None)
    data = read() if read else None
    if not isinstance(data, bytes):
        raise TypeError(f'{source!r}: expected a path, bytes, or a file object open for reading bytes')
    return _memory(data), name


def _memory(data: Union[bytes, bytearray, memoryview]) -> int:
    with os.fdopen(os.memfd_create('perf.data', os.MFD_CLOEXEC), 'w+b') as file:
        file.write(data)
        file.flush()
        file.seek(0)
        return os.dup(file.fileno())


def _await(fd: int) -> None:
    """Until the writer of a pipe has begun: Ctrl-C ends this, but not the making of a session."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    try:
        poll.poll()
    except BaseException:
        os.close(fd)
        raise


@checked
def open(source: Union[Path, bytes, bytearray, memoryview, _Readable], events: Optional[Texts] = None, *,
         pids: Optional[Numbers] = None, tids: Optional[Numbers] = None, cpus: Optional[Numbers] = None,
         fields: Optional[Texts] = None, callchains: Optional[bool] = None, filter: Optional[str] = None,
         time: Optional[str] = None) -> Recording:
    """Reads a recording of perf-prof or perf: a path, a file object, or its bytes.

    events, pids, tids, cpus, fields and filter choose, as for Session; events=None: all of the recording.
    callchains=True adds the column _stack, if the recording has call chains; so does _stack among `fields`.
    time="START,END" takes a part, in seconds of the recording's clock; either may be left out. It is read with the
    rights of this process; see the documentation about files from others.
    """
    words = [f'--event={text}' for text in _texts('events', events or ())]
    words += _targets(pids, tids, cpus)
    if callchains not in (None, True, False):
        raise TypeError(f'callchains={callchains!r}: expected True or False, as the recording has the chains that it has')
    words += ['-g'] * bool(callchains)
    if not (time is None or isinstance(time, str)):
        raise TypeError(f'time={time!r}: expected a str "START,END", in seconds of the recording\'s clock; either may be left out')
    words += [f'--time={time}'] * (time is not None)
    recording, fields, filter = Recording.__new__(Recording), _fields(fields), _filter(filter)
    fd, name = _descriptor(source)
    if fd >= 0:
        _await(fd)
    try:
        _native.Session.__init__(recording, words + [f'--input={name}'], fields, None, 0, filter, fd)
    except REFUSALS as error:
        raise _in_python(error) from None
    return recording
