# SPDX-License-Identifier: Apache-2.0
"""Linux perf events: perf_event_open(2), and classes that use it.

The system call itself, with its own arguments and names:

    >>> import os, pyperf, struct
    >>> attr = pyperf.perf_event_attr()
    >>> attr.type = pyperf.PERF_TYPE_SOFTWARE
    >>> attr.config = pyperf.PERF_COUNT_SW_PAGE_FAULTS
    >>> fd = pyperf.perf_event_open(attr, 0, -1, -1, 0)   # this thread, all CPUs
    >>> faults = struct.unpack("Q", os.read(fd, 8))[0]
    >>> pyperf.ioc(fd, pyperf.PERF_EVENT_IOC_DISABLE, 0)
    0
    >>> os.close(fd)

To measure a piece of code, name events as for `perf stat -e`:

    >>> with pyperf.measure("task-clock,page-faults") as counts:
    ...     data = bytearray(64 << 20)
    >>> counts["page-faults"].value > 0
    True

An Event counts or samples. A Group does that for several events at the same time. A Ring holds the records:

    >>> with pyperf.Event("page-faults:u", sample_period=1) as event, pyperf.Ring(event) as ring:
    ...     data = bytearray(64 << 20)
    ...     addresses = [sample.ip for sample in ring]
    >>> len(addresses) > 0
    True

Values are what the kernel counted. If events had to share a counter, Count.share is the part of
the time in which the event was counted, and Count.estimate() extrapolates to the whole time.

If the kernel refuses something, Error is raised. It is an OSError and has what was asked, what
the kernel answered, and what to do. If privilege is missing, it is also a PermissionError.
docs/pyperf.md has more.
"""
import asyncio
import contextlib
import difflib
import errno
import os
import time
import warnings
from typing import (Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, NamedTuple,
                    Optional, Set, TYPE_CHECKING, Tuple, Union, cast)

try:
    from . import _pyperf
except ImportError as _error:
    if 'circular import' not in str(_error):
        raise
    raise ImportError('pyperf is not built in this folder: build it (make) and use build/python, or install it '
                      '(pip install ./python)') from None
from ._pyperf import *  # noqa: F401,F403
from ._pyperf import (DeniedError, Error, NotFoundError, NoTaskError, Record, Sample, __version__,
                      context_name, decode, ioc, label, max_stack, paranoid, perf_event_attr,
                      perf_event_open, pmus, prctl)

_OTHER = ('the distribution "pyperf" (a benchmark runner) is installed in the same folder, and each has replaced files of the other: '
          'keep them in environments of their own, or use perf_prof.raw of perf-prof, which is the same module')
_SHARED = os.path.join(os.path.dirname(__file__), '' if __name__ == 'pyperf' else '../../pyperf')   # else this is perf_prof.raw
_MIXED = all(os.path.exists(os.path.join(_SHARED, name)) for name in ('_runner.py', '_pyperf.pyi'))
if _MIXED and __name__ != 'pyperf':
    with contextlib.suppress(RuntimeWarning):       # python -W error: this module is whole
        warnings.warn('perf_prof.raw: `import pyperf` does not reliably import this module here: the distribution "pyperf" (a benchmark '
                      'runner) is installed in the same folder', RuntimeWarning, stacklevel=2)
elif _MIXED:
    warnings.warn(f'pyperf of perf-prof: {_OTHER}', RuntimeWarning, stacklevel=2)

    def __getattr__(name: str) -> Any:
        raise AttributeError(f'pyperf of perf-prof has no {name!r}; {_OTHER}')

__all__ = ['Count', 'Counts', 'DeniedError', 'Error', 'Estimate', 'Event', 'Feature', 'Group',
           'Measurement', 'NoTaskError', 'NotFoundError', 'PERF_MEM_S', 'Parsed', 'Record', 'Ring',
           'Sample', 'callchain_frames', 'context_name', 'decode', 'features', 'ioc', 'label',
           'max_stack', 'measure', 'paranoid', 'parse', 'perf_event_attr', 'perf_event_open',
           'pmus', 'prctl']
__all__ += [name for name, value in vars(_pyperf).items()
            if name.startswith(('PERF_', 'PR_TASK_', 'HW_BREAKPOINT_'))
            or (isinstance(value, type) and issubclass(value, Record) and name not in __all__)]

# A ring is not mapped in a child of fork(): touching it there would be a crash.
os.register_at_fork(after_in_child=_pyperf._forked)

_READ_FORMAT = (_pyperf.PERF_FORMAT_TOTAL_TIME_ENABLED | _pyperf.PERF_FORMAT_TOTAL_TIME_RUNNING
                | _pyperf.PERF_FORMAT_ID)
_NEW_FORMAT: List[int] = []     # _READ_FORMAT and what else this kernel knows, once that was tried
_SAMPLE_TYPE = (_pyperf.PERF_SAMPLE_IDENTIFIER | _pyperf.PERF_SAMPLE_IP | _pyperf.PERF_SAMPLE_TID
                | _pyperf.PERF_SAMPLE_TIME | _pyperf.PERF_SAMPLE_CPU | _pyperf.PERF_SAMPLE_PERIOD)


def PERF_MEM_S(a: str, s: str) -> int:
    """The kernel's macro of that name: PERF_MEM_S("LVL", "L1") is a bit of data_src."""
    value: int = getattr(_pyperf, f'PERF_MEM_{a}_{s}')
    shift: int = getattr(_pyperf, f'PERF_MEM_{a}_SHIFT')
    return value << shift


# ---------------------------------------------------------------- counts

class Estimate(NamedTuple):
    """An estimate of the count without multiplexing."""
    value: float
    share: float        #: of the time that it was seen, 0 to 1
    exact: bool         #: it was on all the time: value is the count


class Count(NamedTuple):
    """The value of a counter as the kernel returns it, never scaled."""
    value: int
    time_enabled: int   #: ns that it was enabled
    time_running: int   #: ns that it was on a counter; less = shared (multiplexed)
    id: int
    lost: Optional[int]     #: samples that found no room; None if that is not known (before Linux 6.0)
    stale: bool = False     #: the times lag behind the value: a group was read without a system call

    @property
    def share(self) -> float:
        """time_running / time_enabled; 1 if the event was counted all the time."""
        return self.time_running / self.time_enabled if self.time_enabled else 1.0

    def estimate(self) -> Estimate:
        """The count, extrapolated to the whole time. Raises Error if the event was never counted."""
        return Estimate(*_pyperf._estimate(self.value, self.time_enabled, self.time_running, self.stale))


class Counts(Dict[str, Count]):
    """Counts by event name. A second event with the same name is "name#2"."""
    result: Any = None      #: of the function that was measured

    def _add(self, name: str, values: Iterable[Any]) -> None:
        unique, n = name, 1
        while unique in self:
            n += 1
            unique = f'{name}#{n}'
        self[unique] = Count(*values)

    def __missing__(self, name: str) -> Count:
        near = difflib.get_close_matches(str(name), self, 1)
        there = f'did you mean {near[0]!r}?' if near else f"there are {', '.join(map(repr, self))}" if self else 'there are no counts'
        raise KeyError(f'no count of an event {name!r}: {there}')


# ---------------------------------------------------------------- events by name

class Parsed(NamedTuple):
    """An event of a list: what parse() returns."""
    label: str
    attr: perf_event_attr
    unit: Optional[str]                 #: of a PMU's event
    scale: float                        #: count * scale is in units
    leader: int                         #: index of its group's leader; its own if in none
    group_name: Optional[str]           #: of "name:{...}"
    cpus: Optional[Tuple[int, ...]]     #: CPUs of its PMU; None = all
    per_package: bool                   #: one counter per package
    snapshot: bool                      #: a level, not a count: don't subtract
    precise_max: bool                   #: ":P": as precise as can be had
    weak: bool                          #: ":W"
    group_read: bool                    #: ":S"
    percore: bool
    start: int                          #: where it stands in the text
    end: int


def parse(events: str) -> List[Parsed]:
    """Events of a list as `perf stat -e` takes it: "cycles:u,{task-clock,page-faults}",
    "sched:sched_switch", "msr/tsc/", "L1-dcache-loads", "r1a8", "mem:0x1000:w".

    If the text is wrong, Error.at is the position of the mistake."""
    return [Parsed(*event) for event in _pyperf._parse(events)]


class Feature(NamedTuple):
    """A feature of perf events, and whether this user can use it on this kernel."""
    name: str       #: "tracepoint-raw"
    group: str      #: "events", "targets", "samples", …
    what: str
    code: int       #: 0 = works, else errno
    partial: bool   #: works in user space only
    said: str       #: what refuses
    remedy: str     #: what to do about it


def features() -> List[Feature]:
    """All features, and whether this user can use them here. Each is tried: some milliseconds."""
    return [Feature(*row) for row in _pyperf._features()]


What = Union[str, perf_event_attr, Parsed]


def _read_format() -> int:
    """What an event by name reads: before Linux 6.0 there is no PERF_FORMAT_LOST."""
    if not _NEW_FORMAT:
        wanted = _READ_FORMAT | _pyperf.PERF_FORMAT_LOST
        attr = perf_event_attr(type=_pyperf.PERF_TYPE_SOFTWARE, config=_pyperf.PERF_COUNT_SW_DUMMY, read_format=wanted,
                               disabled=1, exclude_kernel=1, exclude_hv=1)
        try:
            os.close(perf_event_open(attr))
            _NEW_FORMAT.append(wanted)
        except Error as error:
            if error.errno != errno.EINVAL:     # nothing can be opened now
                return _READ_FORMAT
            _NEW_FORMAT.append(_READ_FORMAT)
    return _NEW_FORMAT[0]


def _parsed(what: What) -> List[Parsed]:
    """Every event of `what`; attrs are copies."""
    if isinstance(what, str):
        found = parse(what)
        for event in found:
            event.attr.read_format = _read_format()
            _refuse_percore(event)
        return found
    if isinstance(what, Parsed):
        _refuse_percore(what)
        attr = what.attr.copy()
        attr.read_format = attr.read_format or _read_format()
        return [what._replace(attr=attr, leader=0)]
    if isinstance(what, perf_event_attr):
        return [Parsed(label(what), what.copy(), None, 1.0, 0, None, None, False, False, False,
                       False, False, False, 0, 0)]
    raise TypeError(f'an event is a name or a perf_event_attr, not {what!r}')


def _refuse_percore(event: Parsed) -> None:
    if event.percore:
        raise ValueError(f'{event.label}: percore adds up the threads of a core, which one Event '
                         'does not do: open one per CPU, or use perf-prof stat --per-core')


def _counts_hits(attr: perf_event_attr) -> bool:
    """Whether the kernel would sample each hit instead of one in sample_period, if samples had their period."""
    clocks = (_pyperf.PERF_COUNT_SW_CPU_CLOCK, _pyperf.PERF_COUNT_SW_TASK_CLOCK)
    return (not attr.freq and attr.sample_period > 1
            and attr.type in (_pyperf.PERF_TYPE_SOFTWARE, _pyperf.PERF_TYPE_TRACEPOINT, _pyperf.PERF_TYPE_BREAKPOINT)
            and not (attr.type == _pyperf.PERF_TYPE_SOFTWARE and attr.config in clocks))


def _set_fields(attr: perf_event_attr, fields: Dict[str, Any], by_name: bool) -> None:
    """sample_freq says freq; an event that is given by name and samples tells what is usual."""
    if 'sample_freq' in fields:
        if 'sample_period' in fields:
            raise ValueError(f"sample_freq={fields['sample_freq']!r} and sample_period={fields['sample_period']!r} are one field "
                             'of the attr: give one of them')
        fields.setdefault('freq', 1)
    for name, value in fields.items():
        if not hasattr(attr, name):
            perf_event_attr(**{name: value})    # TypeError, with the nearest name
        setattr(attr, name, value)
    if by_name and attr.sample_period and 'sample_type' not in fields:
        attr.sample_type = _SAMPLE_TYPE & ~(_pyperf.PERF_SAMPLE_PERIOD if _counts_hits(attr) else 0)
        if attr.type == _pyperf.PERF_TYPE_TRACEPOINT:
            attr.sample_type |= _pyperf.PERF_SAMPLE_RAW
        attr.sample_id_all = 1


class Event(_pyperf._Event):
    """Event(event, pid=0, cpu=-1, *, cgroup=-1, group=None, label=None, flags=0, **fields)

    An open event. `event` is a name as in parse(), or a perf_event_attr. It counts from
    the start, unless disabled=1.

      pid     0 the calling thread, > 0 that thread, -1 all tasks (then give a cpu)
      cpu     -1 all CPUs, else that CPU
      cgroup  descriptor of a cgroup's folder (then give a cpu)
      group   the leader of the group that this Event joins
      flags   PERF_FLAG_*
      fields  of the attr: inherit=1, sample_period=1000, sample_freq=997, mmap2=1, …

    An event given by name also reads its times, for Count.share, and on Linux 6.0 how many samples
    were lost, for Count.lost. If it samples and you give
    no sample_type, samples have id, ip, pid, tid, time, cpu and period, and those of a
    tracepoint raw. With a sample_period above 1, those of software events, tracepoints and
    breakpoints have no period: each stands for sample_period of them. With
    PERF_SAMPLE_PERIOD the kernel would write one for each.

    A with statement closes it at its end."""

    unit: Optional[str]
    scale: float

    def __init__(self, event: What, pid: int = 0, cpu: int = -1, *, cgroup: int = -1,
                 group: Optional['Event'] = None, label: Optional[str] = None, flags: int = 0,
                 **fields: Any) -> None:
        found = _parsed(event)
        if len(found) != 1:
            raise ValueError(f'{event!r} is {len(found)} events: use a Group, or one Event for '
                             'each that parse() gives')
        one = found[0]
        _set_fields(one.attr, fields, not isinstance(event, perf_event_attr))
        if one.group_read:
            _read_with_leader([one.attr])
        self.unit, self.scale = one.unit, one.scale

        def opened(attr: perf_event_attr) -> None:
            super(Event, self).__init__(attr, pid, cpu, cgroup=cgroup, group=group,
                                        label=label or one.label, flags=flags)

        precise = [one.attr] if one.precise_max and 'precise_ip' not in fields else []
        _open_precisely(precise, lambda: opened(one.attr))

    def read(self) -> Count:
        """The count until now."""
        return Count(*self._read())


def _open_precisely(attrs: List[perf_event_attr], opened: Callable[[], None]) -> None:
    """":P": as precise as these can be had. Nothing but a sample has a skid."""
    for level in (3, 2, 1) if any(attr.sample_period for attr in attrs) else ():
        for attr in attrs:
            attr.precise_ip = level
        try:
            return opened()
        except DeniedError:
            raise
        except Error:
            pass
    for attr in attrs:
        attr.precise_ip = 0
    return opened()


def _read_with_leader(attrs: List[perf_event_attr]) -> None:
    """":S": where the leader samples, the others don't, and are read with its samples."""
    if not attrs[0].sample_period:
        return
    attrs[0].sample_type |= _pyperf.PERF_SAMPLE_READ | _pyperf.PERF_SAMPLE_TID
    for attr in attrs[1:]:
        attr.freq = attr.sample_period = 0


class Group(_pyperf._Group):
    """Group(*events, pid=0, cpu=-1, cgroup=-1, flags=0, **fields)

    Events that are counted at the same time, so that their counts can be compared. The first
    is the leader. Events are names (one text may have several) or perf_event_attrs. Fields
    apply to all events, `disabled` only to the leader. If one event cannot be opened, none is;
    ":W" (split a group that does not fit) works only in measure(). With ":S" and a sample_period,
    only the leader samples, and each sample has the counts of all.

    A group is a sequence of its Events; group["page-faults"] is the first of that name. A with statement closes it at its
    end."""

    def __init__(self, *events: What, pid: int = 0, cpu: int = -1, cgroup: int = -1,
                 flags: int = 0, **fields: Any) -> None:
        members: List[Parsed] = []
        opened = super().__init__
        for what in events:
            for one in _parsed(what):
                _set_fields(one.attr, dict(fields), not isinstance(what, perf_event_attr))
                members.append(one)
        if any(one.weak for one in members):
            raise ValueError('":W" lets a group be broken up, and a Group is all or nothing: use '
                             'measure(), or leave it out')
        if any(one.group_read for one in members):
            _read_with_leader([one.attr for one in members])
        _open_precisely(
            [one.attr for one in members if one.precise_max and 'precise_ip' not in fields],
            lambda: opened(Event, tuple((one.attr, one.label) for one in members), pid, cpu,
                           cgroup=cgroup, flags=flags))

    if TYPE_CHECKING:
        def __iter__(self) -> Iterator[Event]: ...

    def __getitem__(self, which: Union[int, str]) -> Event:
        """The Event at that place, or the first with that name."""
        if not isinstance(which, str):
            return cast(Event, super().__getitem__(which))
        found = [event for event in self if event.label == which]
        if not found:
            raise KeyError(f'{which}: the group has {", ".join(event.label for event in self)}')
        return found[0]

    def _counts(self, rows: Iterable[Tuple[str, Iterable[Any]]]) -> Counts:
        counts = Counts()
        for name, values in rows:
            counts._add(name, values)
        return counts

    def read(self) -> Counts:
        """All counts until now, read by one system call."""
        return self._counts(self._read())

    def end(self) -> Counts:
        """What was counted since begin(). May be called several times after one begin()."""
        return self._counts(self._end())


# ---------------------------------------------------------------- measuring

class Measurement(Counts):
    """What measure() returns: a context manager, which has the Counts at its end. In its block,
    read() has those until now."""

    def __init__(self, events: Iterable[What], options: Dict[str, Any]) -> None:
        super().__init__()
        self._events = [_parsed(what) for what in events]
        self._options = options
        self._groups: List[Group] = []

    def _open(self) -> None:
        for found in self._events:
            for leader in sorted({one.leader for one in found}):
                self._open_group([one for one in found if one.leader == leader])

    def _open_group(self, members: List[Parsed]) -> None:
        strict = [one._replace(weak=False) for one in members]
        try:
            self._groups.append(Group(*strict, disabled=1, **self._options))
        except Error as error:
            if error.errno != errno.EINVAL or not any(one.weak for one in members):
                raise
            for one in strict:
                self._groups.append(Group(one, disabled=1, **self._options))

    def _close(self) -> None:
        while self._groups:
            self._groups.pop().close()

    def __missing__(self, name: str) -> Count:
        if self._groups:
            raise KeyError(f'{name}: the block of measure() is not over, and the counts are there at its end; '
                           'read() has those until now')
        return super().__missing__(name)

    def __repr__(self) -> str:
        if self._groups:
            return '<Measurement: counts at the end of its block, or by read()>'
        return super().__repr__()

    def read(self) -> Counts:
        """The counts until now; after the block, those at its end."""
        counts = Counts(self)
        for group in self._groups:
            for name, values in group._read():
                counts._add(name, values)
        return counts

    def __enter__(self) -> 'Measurement':
        self.clear()
        try:
            self._open()
            for group in self._groups:
                group.enable()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *exc: Any) -> None:
        try:
            for group in self._groups:
                group.disable()
            for group in self._groups:
                for name, values in group._read():
                    self._add(name, values)
        finally:
            self._close()


def measure(events: Union[What, Iterable[What]], function: Optional[Callable[..., Any]] = None, *arguments: Any,
            pid: int = 0, cpu: int = -1, cgroup: int = -1, **fields: Any) -> Measurement:
    """Counts events while a block, or a function, runs.

        with measure("task-clock,page-faults") as counts:
            work()
        print(counts["page-faults"].value)      # counts.read() has them in the block

        counts = measure("task-clock", work)            # and counts.result
        counts = measure("task-clock", sorted, words)   # of sorted(words)

    It counts the calling thread; with inherit=1, also the threads and processes that this
    thread starts. Events in braces form a group, and all others are counted alone. A group
    with ":W" that does not fit the PMU is split into single events. To measure often, keep a
    Group and use its begin() and end()."""
    if (function is not None or arguments) and not callable(function):
        raise TypeError(f'measure() takes a function behind the events, not {function!r}; several '
                        'events are one text, "task-clock,page-faults", or a list')
    several = [events] if isinstance(events, (str, perf_event_attr, Parsed)) else events
    if not isinstance(several, Iterable):
        raise TypeError(f'measure(events={events!r}): expected the names of events, such as "task-clock,page-faults", '
                        'a perf_event_attr, or a list of them')
    measurement = Measurement(several, dict(fields, pid=pid, cpu=cpu, cgroup=cgroup))
    if function is not None:
        with measurement:
            measurement.result = function(*arguments)
    return measurement


# ---------------------------------------------------------------- rings

class Ring(_pyperf._Ring):
    """Ring(*events, pages=128, overwrite=False, aux_pages=0, aux_snapshot=False)

    The memory into which the kernel writes records of an event, or of several events of
    the same CPU or task. pages is a power of two.

    Iterating yields each record in the ring once, and never waits. wait() waits for records.
    follow() waits and yields them; in asyncio, `async for` does that.

    With overwrite=True (events with write_backward=1), the kernel overwrites the oldest
    records when the ring is full. Iterating starts with the newest record and goes back in
    time. Nothing is recorded while you iterate.

    PMUs that trace instructions (intel_pt, arm_spe_0, cs_etm) write into an AUX area of
    aux_pages, a power of two. aux_read() returns what is new. aux_chunks() yields each AUX
    record with its part of the trace. With aux_snapshot=True the area is overwritten until the
    event is disabled; then aux_read() returns what the area holds."""

    def __init__(self, *events: Event, pages: int = 0, overwrite: bool = False,
                 aux_pages: int = 0, aux_snapshot: bool = False) -> None:
        super().__init__(events, pages, overwrite=overwrite, aux_pages=aux_pages,
                         aux_snapshot=aux_snapshot)
        self._sleepers: Dict[asyncio.AbstractEventLoop, Set[asyncio.Future[None]]] = {}

    def close(self) -> None:
        """Unmaps the ring. Its records are lost, and a wait for it raises ValueError."""
        if not self.closed:
            for loop, sleepers in list(self._sleepers.items()):
                if loop is asyncio._get_running_loop():
                    _rouse(loop, self.fileno(), sleepers)
                elif not loop.is_closed():
                    loop.call_soon_threadsafe(_rouse, loop, self.fileno(), sleepers)
        super().close()

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def aux_chunks(self) -> Iterator[Tuple[_pyperf.Aux, bytes]]:
        """Each AUX record in the ring, with its part of the trace. Other records of the ring
        are skipped. If the flags of a record have PERF_AUX_FLAG_TRUNCATED, the trace after it
        was lost."""
        for record in self:
            if isinstance(record, _pyperf.Aux):
                yield record, self._aux_chunk(record.offset, record.size)

    def follow(self, timeout: Optional[float] = None) -> 'Iterator[_pyperf._AnyRecord]':
        """Records as they come, until the watched task has ended or `timeout` seconds are
        over. attr.wakeup_events or wakeup_watermark says after how many they come."""
        end = None if timeout is None else time.monotonic() + timeout
        left = timeout
        while True:
            try:
                self.wait(left)
            except NoTaskError:
                return
            yield from self
            if end is not None:
                left = end - time.monotonic()
                if left <= 0:
                    return

    async def __aiter__(self) -> 'AsyncIterator[_pyperf._AnyRecord]':
        """Records as they come, until the watched task has ended."""
        loop = asyncio.get_running_loop()
        while True:
            for record in list(self):
                yield record
            try:
                if self.wait(0):
                    continue
            except NoTaskError:
                return
            await self._readable(loop)

    async def _readable(self, loop: asyncio.AbstractEventLoop) -> None:
        """A loop has one reader of a descriptor: it wakes all who wait for the ring."""
        ready: asyncio.Future[None] = loop.create_future()
        sleepers = self._sleepers.setdefault(loop, set())
        if not sleepers:
            loop.add_reader(self.fileno(), _wake, sleepers)
        sleepers.add(ready)
        try:
            await ready
        finally:
            sleepers.discard(ready)
            if not sleepers:
                self._sleepers.pop(loop, None)
                if not self.closed:     # else close() saw to it
                    loop.remove_reader(self.fileno())


def _wake(sleepers: 'Set[asyncio.Future[None]]') -> None:
    for ready in sleepers:
        if not ready.done():
            ready.set_result(None)


def _rouse(loop: asyncio.AbstractEventLoop, fd: int, sleepers: 'Set[asyncio.Future[None]]') -> None:
    loop.remove_reader(fd)
    _wake(sleepers)


def callchain_frames(callchain: Iterable[int]) -> List[Tuple[str, int]]:
    """("kernel" | "user" | …, address) for each frame of a call chain, without its markers."""
    frames, context = [], 'user'
    for ip in callchain:
        name = context_name(ip)
        if name:
            context = name
        else:
            frames.append((context, ip))
    return frames
